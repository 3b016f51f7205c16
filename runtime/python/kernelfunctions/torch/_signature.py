"""How one call looks as an operator of PyTorch: its schema, and its arguments one by one."""

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from kernelfunctions import _kf
from kernelfunctions.torch._description import Call, Leaf, Parameter
from kernelfunctions.torch._errors import NoOperatorError
from kernelfunctions.torch._slots import Slot, changed_numbers, slots_of


@dataclass(eq=False)
class Argument:
    """One argument of an operator: a tensor, or numbers."""

    name: str
    #: "Tensor", "float", "SymInt[]".
    type: str
    #: Which of the call's slots that go in it belongs to.
    slot: int
    leaf: Leaf | None = None


def mutated_tensor(number: int) -> str:
    """Returns the type of a tensor that is written; no other of the schema has its number."""
    return f"Tensor({chr(ord('a') + number) if number < 26 else f'a{number}'}!)"


def identifier(path: str) -> str:
    """Returns "layers_0_weights" for "layers[0].weights"."""
    word = "_".join(part for part in re.split(r"\W+", path) if part).lstrip("_") or "_"
    if keyword.iskeyword(word):
        return f"{word}_"  # graphs are written as Python, with names of arguments
    return f"field{word}" if word[0].isdigit() else word


#: What a generator is given: the attributes of its object, with their types in schemas.
GENERATORS: dict[str, tuple[tuple[str, str], ...]] = {
    "grid": (("shape", "SymInt[]"), ("offset", "SymInt[]"), ("stride", "SymInt[]")),
    "range": (("start", "SymInt"), ("stop", "SymInt"), ("step", "SymInt")),
    "wang_hash": (("seed", "SymInt"), ("warmup", "SymInt"), ("hash_seed", "bool")),
    "rand_float": (
        ("min", "float"),
        ("max", "float"),
        ("seed", "SymInt"),
        ("warmup", "SymInt"),
        ("hash_seed", "bool"),
    ),
}


def _scalar_type(leaf: Leaf) -> str:
    if leaf.scalar == "bool":
        return "bool"
    return "float" if leaf.is_floating else "SymInt"


def _number_type(leaf: Leaf) -> str:
    return _scalar_type(leaf) + ("[]" if leaf.extents else "")


#: Of an operator, its backward pass included: PyTorch's own limit.
_MOST_ARGUMENTS = 64


class Signature:
    """A call as an operator. Raises NoOperatorError for one that can't be."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.inputs = tuple(slot for slot in slots_of(call) if not slot.is_output)
        self.made = tuple(self._made())
        arguments: list[Argument] = []
        for number, slot in enumerate(self.inputs):
            arguments += self._arguments(number, slot)
        self.arguments = tuple(_renamed(arguments))
        self.has_shape = _needs_shape(call)
        most = len(self.arguments) + self.has_shape + (len(self.made) + 1 if call.backward else 0)
        if most > _MOST_ARGUMENTS:
            raise NoOperatorError("", f"PyTorch's operators have at most {_MOST_ARGUMENTS} arguments")
        #: Whether each slot is one tensor or number.
        self.is_direct = all(_is_direct(slot) for slot in self.inputs)

    def _made(self) -> Iterator[Leaf]:
        for parameter in self.call.returned:
            if parameter.role != "inout":
                yield from _leaves(self.call, parameter)
            else:
                yield from (leaf for leaf, _ in changed_numbers(self.call, parameter))

    def _arguments(self, number: int, slot: Slot) -> list[Argument]:
        leaf = slot.leaf
        owner = self.call.parameters[slot.owner]
        name = identifier(owner.keyword + slot.name[len(owner.name) :])
        if leaf is None:
            if slot.parameter.form == "tensor":
                reason = (
                    "PyTorch has no tensors of structs with fields of several types: give it field by field"
                )
                raise NoOperatorError(slot.name, reason)
            return [Argument(*one, number) for one in _struct_numbers(self.call, slot.parameter, name)]
        if leaf.passing == "generator":
            kinds = GENERATORS[leaf.generator]
            return [Argument(f"{name}_{field}", kind, number, leaf) for field, kind in kinds]
        return [Argument(name, "Tensor" if leaf.is_memory else _number_type(leaf), number, leaf)]

    def decode(self, given: Sequence[Any], symbolic: bool = False) -> list[Any]:
        """Returns what the slots are given, from an operator's arguments, whose numbers may be symbolic."""
        if self.is_direct:
            return list(given)
        left = iter(given)
        values: list[Any] = []
        for slot in self.inputs:
            leaf = slot.leaf
            if leaf is None:
                values.append(_struct_of(self.call, slot.parameter, left))
            elif leaf.passing == "generator":
                fields = [next(left) for _ in GENERATORS[leaf.generator]]
                values.append(_generator_of(leaf, fields, symbolic))
            elif leaf.is_memory or not leaf.extents:
                values.append(next(left))
            else:
                values.append(_shaped(list(next(left)), leaf.extents))
        return values

    def inputs_text(self, functional: bool) -> str:
        """Returns the arguments of a schema."""
        texts = []
        for number, one in enumerate(self.arguments):
            mutated = not functional and one.leaf is not None and one.leaf.is_mutated and one.type == "Tensor"
            texts.append(f"{mutated_tensor(number) if mutated else one.type} {one.name}")
        if self.has_shape:
            texts.append("SymInt[]? shape=None")
        return ", ".join(texts)

    @property
    def overload(self) -> str:
        """A name that tells it from others of its function, and stays as long as what it takes does."""
        return "_".join(f"{one.name}_{_overload_word(one)}" for one in self.arguments)


def _overload_word(argument: Argument) -> str:
    leaf = argument.leaf
    if leaf is None or leaf.passing == "generator":
        return argument.type.replace("[]", "s")
    word = "x".join([leaf.scalar, *map(str, leaf.extents)])
    if argument.type != "Tensor":
        return word
    return f"{word}_{leaf.passing}" + (str(leaf.rank) if leaf.passing == "tensor" else "")


def _renamed(arguments: list[Argument]) -> Iterator[Argument]:
    taken = {"shape", "needs"}
    for one in arguments:
        name = one.name
        while name in taken:
            name += "_"
        taken.add(name)
        yield Argument(name, one.type, one.slot, one.leaf)


def _needs_shape(call: Call) -> bool:
    """Whether what goes in may leave a dimension of the call open."""
    fed = {d for leaf in call.leaves if leaf.role not in ("out", "result") for d in _feeds(leaf)}
    return call.dispatch == "elements" and len(fed) < call.rank


def _feeds(leaf: Leaf) -> tuple[int, ...]:
    return () if leaf.passing == "nothing" or leaf.generator in ("wang_hash", "rand_float") else leaf.map


def _is_direct(slot: Slot) -> bool:
    leaf = slot.leaf
    return leaf is not None and leaf.passing != "generator" and (leaf.is_memory or not leaf.extents)


def _leaves(call: Call, parameter: Parameter) -> Iterator[Leaf]:
    if parameter.form in ("value", "tensor"):
        raise NoOperatorError(
            parameter.name, f"{parameter.type} is none of PyTorch's types: return it field by field"
        )
    if parameter.form == "leaf":
        yield call.leaves[parameter.leaf]
    for field in parameter.fields:
        yield from _leaves(call, field)


def _struct_numbers(call: Call, parameter: Parameter, name: str) -> Iterator[tuple[str, str]]:
    if parameter.extents:
        raise NoOperatorError(parameter.name, "arrays of structs are given field by field")
    if not parameter.fields:
        yield name, _number_type(call.leaves[parameter.leaf])
    for field in parameter.fields:
        yield from _struct_numbers(call, field, identifier(f"{name}.{field.name}"))


def _struct_of(call: Call, parameter: Parameter, left: Iterator[Any]) -> Any:
    if parameter.fields:
        return {field.name: _struct_of(call, field, left) for field in parameter.fields}
    leaf = call.leaves[parameter.leaf]
    return _shaped(list(next(left)), leaf.extents) if leaf.extents else next(left)


def flat(value: Any, extents: tuple[int, ...]) -> list[Any]:
    """Returns a vector's or matrix's components, row by row; a number stands for all of a vector's."""
    if isinstance(value, dict):
        return [value[name] for name in "xyzw"[: extents[0]]]
    if not isinstance(value, (list, tuple)):
        if hasattr(value, "tolist"):
            value = value.tolist()
        elif hasattr(value, "x"):
            return [getattr(value, name) for name in "xyzw"[: extents[0]]]
        if not isinstance(value, list):
            return [value] * extents[0]
    components: list[Any] = []
    for one in value:
        if isinstance(one, (list, tuple)):
            components += flat(one, extents[1:])
        else:
            components.append(one)
    return components


def _shaped(flat: list[Any], extents: tuple[int, ...]) -> list[Any]:
    if len(extents) < 2:
        return flat
    step = len(flat) // extents[0]
    return [_shaped(flat[i * step : (i + 1) * step], extents[1:]) for i in range(extents[0])]


def _generator_of(leaf: Leaf, fields: list[Any], symbolic: bool) -> Any:
    if symbolic:
        names = [name for name, _ in GENERATORS[leaf.generator]]
        return SimpleNamespace(**dict(zip(names, fields, strict=True)))
    if leaf.generator == "grid":
        return _kf.grid(tuple(fields[0]), tuple(fields[1]), tuple(fields[2]))
    if leaf.generator == "range":
        return _kf.range(*fields)
    if leaf.generator == "wang_hash":
        return _kf.wang_hash(*fields)
    return _kf.rand_float(*fields)
