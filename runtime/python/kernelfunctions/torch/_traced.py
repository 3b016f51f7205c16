"""Calls that are traced: by make_fx, fake tensors and torch.jit.trace(). They go to operators."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from kernelfunctions._kf import ArgumentError, Tensor
from kernelfunctions._vectors import HostVector
from kernelfunctions.torch._choice import Endings, choose, ending_of, tensor_kind
from kernelfunctions.torch._errors import NoOperatorError, refuse
from kernelfunctions.torch._route import Route, Taking, classes
from kernelfunctions.torch._signature import flat
from kernelfunctions.torch._slots import DEEPEST, slots_of
from kernelfunctions.torch._state import State


def _kind(value: Any, endings: Endings, fields: Sequence[str], depth: int = 0) -> Any:
    """What of an argument decides how a call is traced; made of what is constant in a graph."""
    if isinstance(value, torch.Tensor):
        return ("tensor", value.dtype, value.ndim, ending_of(value, endings))
    is_opened = depth <= DEEPEST
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields") and is_opened:
        return ("list", *[_kind(one, endings, fields, depth + 1) for one in value])
    if isinstance(value, dict) and is_opened:
        return ("dict", *[(name, _kind(one, endings, fields, depth + 1)) for name, one in value.items()])
    if value is None or isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat)):
        return _kind_of_number(value)
    if type(value) is np.ndarray:
        return ("array", value.dtype, value.shape)
    is_opened = is_opened and not isinstance(value, type)
    found = [] if not is_opened else [name for name in fields if hasattr(value, name)]
    held = [(name, _kind(getattr(value, name), endings, fields, depth + 1)) for name in found]
    return ("dict", *held) if held else ("object", type(value))


def _kind_of_number(value: Any) -> Any:
    # By words: to Python, False, 0 and 0.0 are one key.
    if value is None or isinstance(value, bool):
        return ("none",) if value is None else ("bool",)
    return ("int",) if isinstance(value, (int, torch.SymInt)) else ("float",)


#: By kind, what stands for numbers.
_NUMBERS = {"none": None, "bool": False, "int": 0, "float": 0.0}


def _stand_in(kind: Any) -> Any:
    """Returns something of a kind."""
    word = kind[0]
    if word == "tensor":
        return tensor_kind(kind[1], kind[2], kind[3])
    if word in _NUMBERS:
        return _NUMBERS[word]
    if word == "list":
        return [_stand_in(one) for one in kind[1:]]
    if word == "dict":
        return {name: _stand_in(one) for name, one in kind[1:]}
    if word == "array":
        return np.zeros(kind[2], kind[1])
    # Generators' classes will do.
    return kind[1]() if issubclass(kind[1], HostVector | np.generic) else kind[1]


def route_of(state: State, kinds: Any, named: Any, autocast: bool) -> Route:
    """Returns the way of a call with arguments of these kinds; raises NoOperatorError."""
    key = (kinds, named, autocast)
    known = state.routes.get(key)
    if known is not None:
        return known
    args = [_stand_in(one) for one in kinds]
    kwargs = {name: _stand_in(one) for name, one in named}
    call, values = choose(state.function, state.description, args, kwargs, autocast)
    known = state.routes[key] = Route(state.operator_of(call), args, kwargs, values)
    return known


def _route_taken(
    state: State, kinds: Any, named: Any, autocast: bool, args: Sequence[Any], kwargs: dict[str, Any]
) -> Route:
    """Returns the way of a call, or raises what is wrong with it."""
    try:
        return route_of(state, kinds, named, autocast)
    except NoOperatorError as why:
        refused = why.of(state.description.name)
    except ArgumentError as error:
        refused = error
    # Says it of what is given itself, or takes that, of which tracing knows less.
    call, values = choose(state.function, state.description, args, kwargs, autocast)
    for slot, value in zip(slots_of(call), values, strict=True):
        if isinstance(value, Tensor):
            reason = "a traced call takes a torch.Tensor, not a kf.Tensor"
            refuse("type-mismatch", state.description.name, slot.name, reason)
        if slot.leaf is not None and slot.leaf.passing == "value" and isinstance(value, torch.Tensor):
            reason = "expected a number, found a tensor: it would have to be read while the call is traced"
            refuse("type-mismatch", state.description.name, slot.name, reason)
    raise refused


def traced_call(state: State, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Makes a call through its operator, where nothing traces this code itself."""
    kinds, named, autocast = kinds_of(args, kwargs, state.endings, state.description.fields)
    return call_along(_route_taken(state, kinds, named, autocast, args, kwargs), args, kwargs)


# What follows is traced by torch.compile: loops over tuples, and little else. Each function and constant that
# it meets costs a guard in every call of what is compiled, so calls of plain tensors meet few.


def kinds_of(args: Sequence[Any], kwargs: dict[str, Any], endings: Endings, fields: Sequence[str]) -> Any:
    """Returns what of arguments decides how a call is traced: kinds, also by keyword, and autocast."""
    kinds: list[Any] = []
    for one in args:
        if not endings and isinstance(one, torch.Tensor):
            kinds.append(("tensor", one.dtype, one.ndim, None))
        else:
            kinds.append(_kind(one, endings, fields))
    named: tuple[Any, ...] = ()
    if kwargs:
        named = tuple([(name, _kind(one, endings, fields)) for name, one in kwargs.items()])
    autocast = False
    if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
        autocast = is_cast([*args, *kwargs.values()], fields)
    return (*kinds,), named, autocast


def call_along(route: Route, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Calls the operator of a route."""
    given = [_taken(step, args, kwargs) for step in route.steps]
    for i, dtype in route.numbers:
        if not isinstance(given[i], torch.Tensor):
            device = _device_of(given)
            if isinstance(given[i], (list, tuple, np.ndarray)):
                given[i] = torch.tensor(given[i], dtype=dtype, device=device)
            else:
                given[i] = torch.full((), given[i], dtype=dtype, device=device)
    changed = [given[i] for i in route.mutated]
    shape = kwargs.get("shape")
    if route.has_shape:
        given.append(shape)
    elif shape is not None:
        _expand(route, given, shape)
    if route.outs:
        outs = {name: _at(source, args, kwargs) for name, source in route.outs}
        _found(route.out)(*given, **outs)
        return _returned(route, args, kwargs, list(outs.values()))
    if not route.is_mutating or not torch.is_grad_enabled() or not any_requires_grad(given):
        return _returned(route, args, kwargs, _listed(_found(route.op)(*given), route.made))
    for i in route.mutated:
        given[i] = given[i].clone()  # which autograd may keep, whatever becomes of the argument
    outputs = _listed(_found(route.functional)(*given), len(changed) + route.made)
    for i in range(len(changed)):
        changed[i].copy_(outputs[i])
    return _returned(route, args, kwargs, outputs[len(changed) :])


def _expand(route: Route, given: list[Any], shape: Sequence[Any]) -> None:
    """Gives arguments a call's shape: where they have one element along a dimension, that is repeated."""
    if len(shape) != route.rank:
        refuse("shape-mismatch", route.name, "shape", f"expected {route.rank} extents, found {len(shape)}")
    for i, dimensions in route.mapped:
        extents = [1] * (len(dimensions) - given[i].ndim) + list(given[i].shape)  # a number has none
        for k, d in enumerate(dimensions):
            if extents[k] != shape[d] and (extents[k] != 1 or i in route.mutated):
                reason = f"dimension {d} has extent {shape[d]}, and a tensor has {extents[k]} there"
                refuse("shape-mismatch", route.name, "shape", reason)
            extents[k] = shape[d]
        given[i] = given[i].expand(extents)


def _found(path: Any) -> Any:
    module, name, overload = path
    return getattr(getattr(getattr(torch.ops, module), name), overload)


def _at(source: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return kwargs[source] if isinstance(source, str) else args[source]


def _taken(step: Taking, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Returns one argument of the operator."""
    source, path, what, detail = step
    if what == "constant":
        return source
    value = _along(source, path, args, kwargs)
    return flat(value, detail) if what == "flat" else value


def _along(source: Any, path: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Returns an argument, or what lies along a path in it."""
    value = _at(source, args, kwargs)
    for one in path:
        if isinstance(one, int):
            value = value[one]
        elif isinstance(value, dict):
            value = value[one[0] if one[0] in value else one[1]]
        else:
            value = getattr(value, one[1])
    return value


def is_cast(values: Sequence[Any], fields: Sequence[str]) -> bool:
    """Whether torch.autocast() is on for a tensor among these values or in what has `fields` of structs."""
    return _is_cast_on("cpu", values, fields) or _is_cast_on("cuda", values, fields)


def _is_cast_on(device: str, values: Sequence[Any], fields: Sequence[str], depth: int = 0) -> bool:
    """Whether autocast is on for a device, and a tensor there is among these values or what they hold."""
    if not torch.is_autocast_enabled(device) or depth > DEEPEST:
        return False
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.device.type == device:
                return True
            continue
        if value is None or isinstance(value, (bool, int, float, str, type)):
            continue
        held: list[Any] = []
        if isinstance(value, dict):
            held = list(value.values())
        elif isinstance(value, (list, tuple)):
            held = list(value)
        else:
            held = [getattr(value, name) for name in fields if hasattr(value, name)]
        if _is_cast_on(device, held, fields, depth + 1):
            return True
    return False


def _device_of(values: Sequence[Any]) -> Any:
    for value in values:
        if isinstance(value, torch.Tensor):
            return value.device
    return None


def any_requires_grad(values: Sequence[Any]) -> bool:
    """Whether some value is a tensor that requires gradients."""
    for value in values:  # noqa: SIM110
        if isinstance(value, torch.Tensor) and value.requires_grad:
            return True
    return False


def _listed(outputs: Any, count: int) -> list[Any]:
    if count == 0:
        return []
    return [outputs] if count == 1 else list(outputs)


def _returned(route: Route, args: Sequence[Any], kwargs: dict[str, Any], made: list[Any]) -> Any:
    items = [_built(one, args, kwargs, made) for one in route.returned]
    if len(items) < 2:
        return items[0] if items else None
    return classes[route.results](*items)


def _built(result: Any, args: Sequence[Any], kwargs: dict[str, Any], made: list[Any]) -> Any:
    """Returns a result, a struct or an array; takes tensors that were made from the front of the list."""
    what, detail, fields = result
    if what == "made":
        return made.pop(0)
    if what == "given":
        return _along(detail[0], detail[1], args, kwargs)
    values = [_built(field, args, kwargs, made) for field in fields]
    if what == "list":
        return values
    kind, names = detail
    named = dict(zip(names, values, strict=True))
    return named if kind < 0 else classes[kind](**named)
