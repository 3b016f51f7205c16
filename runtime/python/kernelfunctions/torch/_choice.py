"""Which of a function's calls is meant: the rules of docs/runtime.md, for torch tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kernelfunctions._kf import Sampler, Texture
from kernelfunctions.torch._description import Call, Leaf, Parameter

#: Costs as in the runtime: an int for a float, one number for a vector, a number for memory.
_INT_AS_FLOAT = 20
_NUMBER_AS_VECTOR = 50
_NUMBER_AS_MEMORY = 100
#: An extent that the call itself will refuse, and says most about.
_WRONG_EXTENT = 1000
#: Dimensions of a tensor of scalars hold structs.
_SCALARS_AS_STRUCTS = 30
#: A tensor that would have to be read for a number, and one that autocast would cast.
_TENSOR_AS_NUMBER = 10
_CAST = 5

#: What generators are in Python.
GENERATOR_CLASSES = {"grid": "Grid", "range": "Range", "wang_hash": "WangHash", "rand_float": "RandFloat"}


class MisfitError(Exception):
    """Why a value isn't for an argument."""

    def __init__(self, argument: str, reason: str, code: str = "type-mismatch") -> None:
        super().__init__(reason)
        self.argument = argument
        self.reason = reason
        self.code = code

    def text(self, name: str) -> str:
        """Returns what is said of a function's call."""
        return f"{name}: argument '{self.argument}': {self.reason}" if self.argument else f"{name}: {self}"


#: So deep lists and structs are looked into. What nests deeper, or holds itself, no call takes.
DEEPEST = 14

#: Keywords of a call that are none of its parameters.
RESERVED = ("shape", "stream", "reads", "writes")

#: One step into an argument: an element's number, or a field's name and the attribute that holds it.
Step = int | tuple[str, str]


#: For tensors of so many dimensions, the last extents by which overloads are told apart: () are any.
Endings = tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]


def endings_of(calls: Sequence[Call]) -> Endings:
    """Returns the last extents that some overload wants of a tensor, and another one doesn't."""
    wanted: dict[tuple[str, int], dict[tuple[int, ...], None]] = {}
    for call in calls:
        for leaf in call.leaves:
            if leaf.passing == "tensor" and not leaf.is_made:
                wanted.setdefault((leaf.name, leaf.ndim), {})[leaf.trailing] = None
    found: dict[int, dict[tuple[int, ...], None]] = {}
    for (_, ndim), every in wanted.items():
        if len(every) > 1:
            found.setdefault(ndim, {}).update(every)
    return tuple((ndim, tuple(every)) for ndim, every in found.items())


def ending_of(value: torch.Tensor, endings: Endings) -> Any:
    """Returns those last extents that a tensor has; None where they decide nothing. Can be traced."""
    for ndim, every in endings:
        if ndim != value.ndim:
            continue
        found = []
        for extents in every:
            fits = True
            for i in range(len(extents)):
                if value.shape[ndim - len(extents) + i] != extents[i]:
                    fits = False
            if fits:
                found.append(extents)
        return tuple(found)
    return None


class TensorKind:
    """A tensor of which no more is known than its dtype, how many dimensions it has, and its ending."""

    shape = None

    def __init__(self, dtype: torch.dtype, ndim: int, ending: Any = None) -> None:
        self.dtype = dtype
        self.ndim = ndim
        self.ending = ending

    def dim(self) -> int:
        return self.ndim

    def is_floating_point(self) -> bool:
        return bool(self.dtype.is_floating_point)


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


def field_of(value: Any, step: Step, name: str) -> Any:
    """Returns a field of a struct: a dict's entry, an attribute, an element of a list."""
    if isinstance(step, int):
        return value[step]
    field, attribute = step
    if isinstance(value, Mapping):
        if field in value:
            return value[field]
        if attribute in value:
            return value[attribute]
        raise MisfitError(name, f"expected a field '{field}', found {', '.join(map(str, value)) or 'none'}")
    if hasattr(value, attribute):
        return getattr(value, attribute)
    raise MisfitError(name, f"expected a struct with the field '{field}', found {type(value).__name__}")


def bind(call: Call, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Returns what is given for each parameter, None for what isn't."""
    places = [i for i, parameter in enumerate(call.parameters) if parameter.role != "result"]
    if len(args) > len(places):
        raise MisfitError("", f"expected at most {len(places)} arguments, found {len(args)}")
    given: list[Any] = [None] * len(call.parameters)
    for place, value in zip(places, args, strict=False):
        given[place] = value
    names = {parameter.keyword: i for i, parameter in enumerate(call.parameters)}
    for keyword, value in kwargs.items():
        if keyword in RESERVED:
            continue
        if keyword not in names:
            raise MisfitError("", f"no parameter '{keyword}'; it has {', '.join(names)}")
        place = names[keyword]
        if given[place] is not None and place < len(args):
            raise MisfitError(keyword, "it is given twice")
        given[place] = value
    for place, (parameter, value) in enumerate(zip(call.parameters, given, strict=True)):
        if value is None and parameter.role in ("in", "inout"):
            raise MisfitError(parameter.name, "it is missing")
        if parameter.role in ("in", "inout"):
            _check_fields(parameter, value, parameter.name)
            given[place] = _completed(parameter, value)
    return given


def _completed(parameter: Parameter, value: Any) -> Any:
    """Returns a struct that is given as a dict with the default values of the fields that it lacks."""
    if isinstance(value, (list, tuple)) and parameter.is_array:
        return [_completed(field, one) for field, one in zip(parameter.fields, value, strict=False)]
    if not isinstance(value, Mapping) or not parameter.fields:
        return value
    defaults = getattr(parameter.made_as, "_defaults", {})
    known = dict(value)
    for field in parameter.fields:
        key = field.name if field.name in known else field.keyword
        if key in known:
            known[key] = _completed(field, known[key])
        elif key in defaults and field.role == "in":
            known[key] = defaults[key]
    return known


def _check_fields(parameter: Parameter, value: Any, name: str) -> None:
    """Refuses a dict with fields that a struct lacks, at any depth."""
    if parameter.form != "fields" or value is None:
        return
    if parameter.is_array:
        if isinstance(value, (list, tuple)):
            for number, (field, one) in enumerate(zip(parameter.fields, value, strict=False)):
                _check_fields(field, one, f"{name}[{number}]")
        return
    if not isinstance(value, Mapping):
        return
    known = {field.keyword: field for field in parameter.fields}
    known |= {field.name: field for field in parameter.fields}
    for key, one in value.items():
        if key == "_type":
            continue
        if key not in known or (known[key].is_hidden and one is not None):
            raise MisfitError(name, f"it has no field '{key}'; it has {', '.join(known)}")
        _check_fields(known[key], one, f"{name}.{key}")


def values_of(call: Call, slots: Sequence[Slot], given: Sequence[Any]) -> list[Any]:
    """Returns what is given for each slot."""
    values: list[Any] = []
    for slot in slots:
        value = given[slot.owner]
        for step in slot.path:
            if value is None or (slot.is_output and isinstance(value, type)):
                break
            value = field_of(value, step, slot.name)
        values.append(value)
    return values


def is_cast_by_autocast(value: Any) -> bool:
    """Whether torch.autocast() casts a tensor, which leaves doubles as they are."""
    return bool(value.is_floating_point()) and value.dtype != torch.float64


def cost_of(slot: Slot, value: Any, casts: Callable[[torch.Tensor, Leaf], bool]) -> int:
    """Returns what it costs that a value stands for a slot; raises MisfitError where it can't."""
    leaf = slot.leaf
    if isinstance(value, Texture | Sampler) or (leaf and leaf.passing in ("texture", "sampler")):
        reason = "textures and samplers are no arguments of PyTorch's operators: detach() the tensors, or "
        raise MisfitError(slot.name, reason + "call under torch.no_grad()")
    if value is None and slot.is_output:
        return 0
    if leaf is None:
        if isinstance(value, (torch.Tensor, TensorKind)):
            reason = f"expected {slot.parameter.type}, found a tensor: give it field by field"
            raise MisfitError(slot.name, reason)
        if slot.parameter.form == "tensor":
            return _cost_of_structs(slot, value)
        _check_numbers(slot.parameter, value, slot.name)
        return 0
    if isinstance(value, (torch.Tensor, TensorKind)):
        return _cost_of_tensor(slot, leaf, value, casts)
    if leaf.passing == "generator":
        return _cost_of_generator(slot, leaf, value)
    return (_cost_of_other_memory if leaf.is_memory else _cost_of_value)(slot, leaf, value)


def _check_numbers(parameter: Parameter, value: Any, name: str) -> None:
    """Refuses tensors in a struct that is passed by value, and structs with other fields."""
    if parameter.extents or not parameter.fields:
        return
    if isinstance(value, Mapping):
        known = {one for field in parameter.fields for one in (field.name, field.keyword)}
        unknown = [one for one in value if one != "_type" and one not in known]
        if unknown:
            raise MisfitError(name, f"{parameter.type} has no field '{unknown[0]}'")
    for field in parameter.fields:
        label = f"{name}.{field.name}"
        found = field_of(value, (field.name, field.keyword), label)
        if isinstance(found, (torch.Tensor, TensorKind)):
            raise MisfitError(label, f"expected {parameter.type} by value, found a tensor in it")
        _check_numbers(field, found, label)


def _cost_of_generator(slot: Slot, leaf: Leaf, value: Any) -> int:
    kind = value if isinstance(value, type) else type(value)
    if kind.__name__ != GENERATOR_CLASSES[leaf.generator]:
        raise MisfitError(slot.name, f"expected {leaf.text}, found {kind.__name__}")
    if leaf.generator == "grid" and value is not kind and len(value.shape) != leaf.call_rank:
        raise MisfitError(slot.name, f"expected {leaf.text}, found one of rank {len(value.shape)}")
    return 0


def _cost_of_tensor(slot: Slot, leaf: Leaf, value: Any, casts: Callable[[torch.Tensor, Leaf], bool]) -> int:
    if leaf.passing == "pointer":
        return 0
    cost = 0
    if not leaf.any_bytes and value.dtype != leaf.dtype:
        if not casts(value, leaf):
            reason = f"expected scalar type {_word(leaf.dtype)} but found {_word(value.dtype)}"
            raise MisfitError(slot.name, f"{reason}; to({leaf.dtype}) converts it")
        cost = _CAST
    if leaf.passing == "buffer":
        return cost
    if leaf.passing == "generator":
        raise MisfitError(slot.name, f"expected {leaf.text}, found a tensor")
    if leaf.passing == "value":
        if value.shape is None:
            reason = "expected a number, found a tensor: it would have to be read while the call is traced"
            raise MisfitError(slot.name, reason)
        if tuple(value.shape) != leaf.extents:
            reason = f"expected {leaf.text}, found a tensor of shape {list(value.shape)}"
            raise MisfitError(slot.name, reason, "shape-mismatch")
        return cost + _TENSOR_AS_NUMBER
    if value.dim() != leaf.ndim:
        reason = f"expected {leaf.ndim} dimensions ({leaf.text}), found {value.dim()}"
        raise MisfitError(slot.name, reason, "rank-mismatch")
    return cost + (_cost_of_extents(slot, leaf, value) if leaf.passing == "tensor" else 0)


def _cost_of_extents(slot: Slot, leaf: Leaf, value: Any) -> int:
    cost = _SCALARS_AS_STRUCTS if leaf.is_struct else 0
    if not isinstance(value, TensorKind):
        fits = tuple(value.shape[leaf.call_rank + leaf.inner_rank :]) == leaf.trailing
        return cost if fits else cost + _WRONG_EXTENT
    if value.ending is not None and leaf.trailing not in value.ending:
        reason = f"expected {list(leaf.trailing)} as its last extents ({leaf.text}), found others"
        raise MisfitError(slot.name, reason, "shape-mismatch")
    return cost


def _cost_of_other_memory(slot: Slot, leaf: Leaf, value: Any) -> int:
    if leaf.is_struct:
        return _cost_of_structs(slot, value)
    if isinstance(value, bool | int | float):
        if leaf.passing == "pointer" and type(value) is int:
            return _NUMBER_AS_MEMORY
        if leaf.passing == "tensor" and leaf.ndim == 0:
            return _NUMBER_AS_MEMORY
        raise MisfitError(slot.name, f"expected {leaf.text}, found {type(value).__name__}")
    dimensions = _depth(value) if isinstance(value, list | tuple) else getattr(value, "ndim", leaf.ndim)
    if leaf.passing == "tensor" and dimensions != leaf.ndim:
        raise MisfitError(slot.name, f"expected {leaf.ndim} dimensions ({leaf.text}), found {dimensions}")
    return 0


def _cost_of_structs(slot: Slot, value: Any) -> int:
    """Takes what else holds structs: a kf.Tensor, an array or a list of some, which the call looks into."""
    is_list = isinstance(value, list | tuple) and not hasattr(value, "_fields")
    if not is_list and not (hasattr(value, "ndim") and hasattr(value, "dtype")):
        reason = f"expected a tensor or a list of {slot.parameter.type} structs, found {type(value).__name__}"
        raise MisfitError(slot.name, reason)
    return 0


def _depth(value: Any) -> int:
    """Returns how deep lists are nested, up to more than any call takes: one may hold itself."""
    depth = 0
    while isinstance(value, list | tuple) and depth < DEEPEST:
        depth += 1
        value = value[0] if value else None
    return depth


def _cost_of_value(slot: Slot, leaf: Leaf, value: Any) -> int:
    if isinstance(value, bool):
        if leaf.scalar != "bool":
            raise MisfitError(slot.name, f"expected {leaf.text}, found bool")
        return _NUMBER_AS_VECTOR if leaf.extents else 0
    if isinstance(value, int | torch.SymInt):
        if leaf.scalar == "bool":
            raise MisfitError(slot.name, f"expected {leaf.text}, found int")
        return (_INT_AS_FLOAT if leaf.is_floating else 0) + (_NUMBER_AS_VECTOR if leaf.extents else 0)
    if isinstance(value, float | torch.SymFloat):
        if not leaf.is_floating:
            raise MisfitError(slot.name, f"expected {leaf.text}, found float")
        return _NUMBER_AS_VECTOR if leaf.extents else 0
    if isinstance(value, list | tuple):
        if not leaf.extents or len(value) != leaf.extents[0]:
            raise MisfitError(
                slot.name, f"expected {leaf.text}, found a {type(value).__name__} of {len(value)}"
            )
        return 0
    if isinstance(value, str) or (hasattr(value, "address") and hasattr(value, "device")):
        raise MisfitError(slot.name, f"expected {leaf.text}, found {type(value).__name__}")
    return 0


def _word(dtype: torch.dtype) -> str:
    """Returns "Float" for torch.float32, as PyTorch's own messages have it."""
    words = {"float16": "Half", "float32": "Float", "float64": "Double", "int32": "Int", "int64": "Long"}
    words |= {"int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "bfloat16": "BFloat16"}
    name = str(dtype).removeprefix("torch.")
    return words.get(name, name)
