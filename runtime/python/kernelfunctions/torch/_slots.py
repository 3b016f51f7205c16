"""What is passed into a call one by one: its leaves, and structs that go whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelfunctions.torch._description import Call, Leaf, Parameter

#: So deep lists and structs are looked into. What nests deeper, or holds itself, no call takes.
DEEPEST = 14

#: Keywords of a call that are none of its parameters.
RESERVED = ("shape", "stream", "reads", "writes")

#: One step into an argument: an element's number, or a field's name and the attribute that holds it.
Step = int | tuple[str, str]


@dataclass(eq=False)
class Slot:
    """One thing that the host passes into a call: a leaf, or a struct by value or of tensors."""

    parameter: Parameter
    #: Null for a struct that is passed whole.
    leaf: Leaf | None
    #: Which parameter it belongs to, and the way from there: field names, and numbers in arrays.
    owner: int
    path: tuple[Step, ...]
    #: As messages have it: "ray.origin".
    name: str

    @property
    def is_output(self) -> bool:
        """Whether the call makes it, unless it is given."""
        return self.parameter.role in ("out", "result")


def slots_of(call: Call) -> tuple[Slot, ...]:
    """Returns what is passed into a call and comes out of it, in the parameters' order."""
    found: list[Slot] = []
    for owner, parameter in enumerate(call.parameters):
        _add_slots(call, parameter, owner, (), parameter.name, found)
    return tuple(found)


def _add_slots(
    call: Call,
    parameter: Parameter,
    owner: int,
    path: tuple[Step, ...],
    name: str,
    found: list[Slot],
) -> None:
    if parameter.form == "fields":
        for number, field in enumerate(parameter.fields):
            step: Step = number if parameter.is_array else (field.name, field.keyword)
            label = f"{name}[{number}]" if parameter.is_array else f"{name}.{field.name}"
            _add_slots(call, field, owner, (*path, step), label, found)
        return
    leaf = call.leaves[parameter.leaf] if parameter.form == "leaf" else None
    if leaf is not None and leaf.passing == "nothing":
        return
    found.append(Slot(parameter, leaf, owner, path, name))


def leaf_paths(
    call: Call, parameter: Parameter, path: tuple[Step, ...] = ()
) -> list[tuple[Leaf, tuple[Step, ...]]]:
    """Returns a parameter's leaves, and the ways to them."""
    if parameter.form != "fields":
        return [(call.leaves[parameter.leaf], path)] if parameter.form == "leaf" else []
    found: list[tuple[Leaf, tuple[Step, ...]]] = []
    for number, field in enumerate(parameter.fields):
        step: Step = number if parameter.is_array else (field.name, field.keyword)
        found += leaf_paths(call, field, (*path, step))
    return found


def changed_numbers(call: Call, parameter: Parameter) -> list[tuple[Leaf, tuple[Step, ...]]]:
    """Returns what of an argument the call changes that is a number: it comes back as another one."""
    return [
        (leaf, path)
        for leaf, path in leaf_paths(call, parameter)
        if leaf.role == "inout" and leaf.passing == "value"
    ]


def field_of(parameter: Parameter, value: Any, field: Parameter) -> Any:
    """Returns a field of what is given for a struct: a dict's entry, an attribute, or its default value."""
    if not isinstance(value, Mapping):
        return getattr(value, field.keyword)
    for name in (field.name, field.keyword):
        if name in value:
            return value[name]
    return parameter.made_as._defaults[field.keyword]
