"""The way of a traced call to its operator, in tuples: what torch.compile follows without a graph break."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelfunctions import _kf
from kernelfunctions.torch._description import Call, Leaf, Parameter
from kernelfunctions.torch._errors import NoOperatorError, refuse
from kernelfunctions.torch._library import CallOperator
from kernelfunctions.torch._plan import is_changed_tensor
from kernelfunctions.torch._signature import GENERATORS, flat
from kernelfunctions.torch._slots import Slot, Step, changed_numbers, field_of

#: One argument of an operator: where its value lies (a place, or a keyword), the way from there, and what is
#: done with it. A "constant" is the value itself.
Taking = tuple[Any, tuple[Step, ...], str, Any]


#: Those that results come in, by number: torch.compile takes them from here.
classes: list[Any] = []


def number_of_class(kind: Any) -> int:
    """Returns the number of a class among `classes`."""
    if kind not in classes:
        classes.append(kind)
    return classes.index(kind)


class Route:
    """A plan's twin for tracing: how arguments become an operator's, and its results a call's."""

    def __init__(
        self, entry: CallOperator, args: Sequence[Any], kwargs: dict[str, Any], values: Sequence[Any]
    ) -> None:
        call = entry.call
        self.refusal = ""  # see Refusal
        self.name = call.text.partition("(")[0]
        #: Operators by name: torch.compile finds them there.
        self.op = entry.path_of(entry.op)
        self.functional = entry.path_of(entry.functional)
        self.out = entry.path_of(entry.out) if entry.out is not None else None
        self.has_shape = entry.signature.has_shape
        #: What gets the call's shape, where the operator takes none: arguments, and their dimensions of it.
        self.mapped = tuple(
            (i, tuple(one.leaf.map[: one.leaf.rank]))
            for i, one in enumerate(entry.signature.arguments)
            if one.type == "Tensor" and one.leaf is not None and one.leaf.map
        )
        self.rank = call.rank
        self.is_mutating = entry.is_mutating
        self.made = len(entry.signature.made)
        sources = _sources(call, len(args), kwargs)
        steps: list[Taking] = []
        for i, slot in zip(entry.plan.inputs, entry.signature.inputs, strict=True):
            source = sources[slot.owner]
            raw = kwargs[source] if isinstance(source, str) else None if source is None else args[source]
            is_given = _is_there(raw, slot.path)
            steps += _steps(call, slot, source if is_given else None, values[i])
            if slot.leaf is not None and slot.leaf.is_struct and not isinstance(values[i], _kf._TensorKind):
                reason = f"a traced call takes {slot.leaf.text} as a torch.Tensor"
                raise NoOperatorError(slot.name, reason)
            if is_changed_tensor(slot) and not isinstance(values[i], _kf._TensorKind):
                raise NoOperatorError(slot.name, "a traced call changes torch.Tensors alone: give one")
        self.steps = tuple(steps)
        #: Tensors that numbers and lists may stand for, with their types.
        self.numbers = tuple(
            (i, one.leaf.dtype)
            for i, one in enumerate(entry.signature.arguments)
            if one.type == "Tensor" and one.leaf is not None and one.leaf.passing == "tensor"
        )
        #: Which of the operator's arguments are changed.
        self.mutated = tuple(
            i for i, one in enumerate(entry.signature.arguments) if one.slot in entry.plan.mutated
        )
        self.outs = tuple(_outs(entry, sources, kwargs, args))
        self.results = number_of_class(call.results) if len(call.returned) > 1 else -1
        returned: list[tuple[Any, ...]] = []
        for parameter in call.returned:
            source = sources[call.parameters.index(parameter)]
            if parameter.role == "inout" and not changed_numbers(call, parameter):
                returned.append(("given", (source, ()), ()))
            else:
                returned.append(_result(call, parameter, parameter.role == "inout", source, ()))
        self.returned = tuple(returned)
        #: Whether the operator takes what the call is given as it is, and returns what the call does.
        self.is_plain = (
            not (kwargs or self.is_mutating or self.has_shape or self.outs)
            and len(args) == len(self.steps)
            and all(step[:2] == (i, ()) and step[2] == "number" for i, step in enumerate(self.steps))
            and all(isinstance(args[i], _kf._TensorKind) for i, _ in self.numbers)
            and len(returned) == 1
            and returned[0][0] == "made"
        )


def _sources(call: Call, count: int, kwargs: dict[str, Any]) -> list[Any]:
    """Returns where each parameter's argument is: a place, a keyword, or None."""
    places = [i for i, parameter in enumerate(call.parameters) if parameter.role != "result"]
    sources: list[Any] = [None] * len(call.parameters)
    for number, place in enumerate(places[:count]):
        sources[place] = number
    for place, parameter in enumerate(call.parameters):
        if parameter.keyword in kwargs:
            sources[place] = parameter.keyword
    return sources


def _steps(call: Call, slot: Slot, source: Any, value: Any) -> list[Taking]:
    """Returns how what an operator is given is taken. `source`: None of a default value, `value`."""
    leaf = slot.leaf
    if leaf is None:
        return _struct_steps(call, slot.parameter, source, slot.path, value)
    if leaf.passing != "generator":
        _check_extents(call, slot, value)
        return [_taking(leaf, source, slot.path, value)]
    names = [name for name, _ in GENERATORS[leaf.generator]]
    if source is None:
        return [(getattr(value, name), (), "constant", None) for name in names]
    return [(source, (*slot.path, (name, name)), "number", None) for name in names]


def _check_extents(call: Call, slot: Slot, value: Any) -> None:
    """Refuses lists and arrays of other extents than a vector's or matrix's: operators take them flat."""
    leaf = slot.leaf
    if leaf is None or leaf.passing != "value" or not isinstance(value, (list, tuple, np.ndarray)):
        return
    if np.shape(value) != leaf.extents:
        reason = f"{leaf.text} has shape {list(leaf.extents)}, not {list(np.shape(value))}"
        refuse("shape-mismatch", call.text.partition("(")[0], slot.name, reason)


def _struct_steps(
    call: Call, parameter: Parameter, source: Any, path: tuple[Step, ...], value: Any
) -> list[Taking]:
    if not parameter.fields:
        return [_taking(call.leaves[parameter.leaf], source, path, value)]
    steps: list[Taking] = []
    for field in parameter.fields:
        step = (field.name, field.keyword)
        found = source if _is_there(value, (step,)) else None
        steps += _struct_steps(call, field, found, (*path, step), field_of(parameter, value, field))
    return steps


def _taking(leaf: Leaf, source: Any, path: tuple[Step, ...], value: Any) -> Taking:
    is_flat = bool(leaf.extents) and not leaf.is_memory
    if source is None:
        return (flat(value, leaf.extents) if is_flat else value, (), "constant", None)
    return (source, path, "flat" if is_flat else "number", leaf.extents)


def _is_there(value: Any, path: Sequence[Step]) -> bool:
    """Whether dicts have what lies along a path: else it is a field's default value, a constant."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, tuple):
            if step[0] not in value and step[1] not in value:
                return False
            value = value[step[0] if step[0] in value else step[1]]
        elif isinstance(value, (list, tuple)) and isinstance(step, int):
            value = value[step]
        else:
            break
    return True


def _outs(entry: CallOperator, sources: list[Any], kwargs: dict[str, Any], args: Sequence[Any]) -> list[Any]:
    """Returns the name and the source of each output that is given."""
    call = entry.call
    given: dict[int, Any] = {}
    for place, parameter in enumerate(call.parameters):
        source = sources[place]
        if parameter.role not in ("out", "result") or source is None:
            continue
        value = kwargs[source] if isinstance(source, str) else args[source]
        if value is not None:
            given[parameter.leaf] = source
    if not given:
        return []
    leaves: tuple[Leaf, ...] = entry.signature.made
    if len(given) != len(leaves) or any(leaf.index not in given for leaf in leaves):
        refuse("missing-argument", entry.name, "out", "a traced call is given all of its outputs, or none")
    return [(name, given[leaf.index]) for name, leaf in zip(entry.out_names, leaves, strict=True)]


def _result(
    call: Call, parameter: Parameter, is_changed: bool, source: Any, path: tuple[Step, ...]
) -> tuple[Any, ...]:
    """Returns what comes back for a parameter; of one that is changed, the source is where it is given."""
    if parameter.form != "fields":
        is_given = is_changed and not changed_numbers(call, parameter)
        return ("given", (source, path), ()) if is_given else ("made", None, ())
    steps: list[Step] = [(field.name, field.keyword) for field in parameter.fields]
    if parameter.is_array:
        steps = list(range(len(steps)))
    fields = tuple(
        _result(call, field, is_changed, source, (*path, step))
        for field, step in zip(parameter.fields, steps, strict=True)
    )
    if parameter.is_array:
        return ("list", None, fields)
    made = parameter.made_as is not None
    names = tuple(field.keyword if made else field.name for field in parameter.fields)
    made_as = -1 if parameter.made_as is None else number_of_class(parameter.made_as)
    return ("struct", (made_as, names), fields)
