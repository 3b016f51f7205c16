"""Calls that are traced: by torch.compile, torch.export, make_fx and fake tensors. They go to operators."""

import inspect
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import torch

from kernelfunctions._kf import ArgumentError, _check_gradients_of_globals
from kernelfunctions._torch_functions import function_of
from kernelfunctions._vectors import HostVector
from kernelfunctions.torch._choice import Endings, choose, ending_of, tensor_kind
from kernelfunctions.torch._errors import NoOperatorError, refuse
from kernelfunctions.torch._route import Route, Taking, classes
from kernelfunctions.torch._signature import flat
from kernelfunctions.torch._slots import DEEPEST

if TYPE_CHECKING:
    from kernelfunctions.torch._watched import State

#: By key, so that what is traced names one by a constant: a string, as numbers may become symbolic.
_states: "WeakValueDictionary[str, State]" = WeakValueDictionary()
_numbers = count()


def key_of_state(state: "State") -> str:
    """Returns the key by which traced calls name a function."""
    if not state.key:
        state.key = f"{state.description.module}.{state.description.name} {next(_numbers)}"
        _states[state.key] = state
    return state.key


def _state(key: str) -> "State":
    """Returns what is known of the function that a key names."""
    known = _states.get(key)
    if known is None:
        from kernelfunctions.torch._watched import state_of  # noqa: PLC0415

        known = _states[key] = state_of(function_of(key))
    return known


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
    is_opened = is_opened and not isinstance(value, type)
    found = [] if not is_opened else [name for name in fields if hasattr(value, name)]
    if not found:
        return ("object", type(value))
    return ("dict", *[(name, _kind(getattr(value, name), endings, fields, depth + 1)) for name in found])


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
    # Generators' classes will do.
    return kind[1]() if issubclass(kind[1], HostVector | np.generic) else kind[1]


def route_of(state: "State", kinds: Any, named: Any, autocast: bool) -> Route:
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
    state: "State", kinds: Any, named: Any, autocast: bool, args: Sequence[Any], kwargs: dict[str, Any]
) -> Route:
    """Returns the way of a call, or raises what is wrong with it."""
    try:
        return route_of(state, kinds, named, autocast)
    except NoOperatorError as why:
        refused = why.of(state.description.name)
    except ArgumentError as error:
        refused = error
    choose(state.function, state.description, args, kwargs, autocast)  # says it of what is given itself
    raise refused


def _call_itself(key: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Makes the call as it is made where nothing is traced."""
    from kernelfunctions.torch._watched import call_with  # noqa: PLC0415

    state = _state(key)
    if state.outputs is not None:
        return call_with(state, tuple(args), kwargs)
    return state.function(*args, **kwargs)


class Refusal:
    """Why a call can't be traced, in a route's place."""

    def __init__(self, reason: str) -> None:
        self.refusal = reason


def _constant_route(key: str, kinds: Any, named: Any, autocast: bool) -> Any:
    state = _state(key)
    if not _has_tensor((kinds, named)):
        return Refusal(f"{state.description.name}: none of its arguments is a torch.Tensor")
    if _is_forward_mode():
        return Refusal(f"{state.description.name}: forward derivatives can't be traced")
    try:
        _check_gradients_of_globals(state.function)
        return route_of(state, kinds, named, autocast)
    except NoOperatorError as why:
        return Refusal(str(why.of(state.description.name)))
    except ArgumentError as error:
        # Numbers are stood in for.
        return Refusal(str(error).partition("\n  given: ")[0])


# What torch.compiler.assume_constant_result() does, which imports all of Dynamo for it: over a second.
setattr(_constant_route, "_dynamo_marked_constant", True)  # noqa: B010


def _is_forward_mode() -> bool:
    levels = torch._C._functorch.get_interpreter_stack() or ()
    forward = torch._C._functorch.TransformType.Jvp
    return torch.autograd.forward_ad._current_level >= 0 or any(one.key() == forward for one in levels)


def _has_tensor(kinds: Any) -> bool:
    if not isinstance(kinds, tuple):
        return False
    return kinds[:1] == ("tensor",) or any(_has_tensor(one) for one in kinds)


def _constant_says_why() -> bool:
    """Whether a graph's break can be told its reason, which came after PyTorch 2.6."""
    return "msg" in inspect.signature(torch._dynamo.graph_break).parameters


setattr(_constant_says_why, "_dynamo_marked_constant", True)  # noqa: B010


def _constant_endings(key: str) -> Endings:
    return _state(key).endings


setattr(_constant_endings, "_dynamo_marked_constant", True)  # noqa: B010


def _constant_fields(key: str) -> Sequence[str]:
    return _state(key).description.fields


setattr(_constant_fields, "_dynamo_marked_constant", True)  # noqa: B010


# What follows is traced by torch.compile: loops over tuples, and little else. Each function and constant that
# it meets costs a guard in every call of what is compiled, so calls of plain tensors meet few.


def traced_call(
    key: str,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    is_dynamo: bool,
    tensors: Sequence[torch.Tensor] = (),
) -> Any:
    """Makes a call through its operator. `is_dynamo`: whether torch.compile traces this code itself.

    `tensors`: those that the function's globals are set to.
    """
    endings, fields = _constant_endings(key), _constant_fields(key)
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
        every = [*args, *kwargs.values()]
        autocast = _is_cast_on("cpu", every, fields) or _is_cast_on("cuda", every, fields)
    if is_dynamo:
        # What is asked of tensors is guarded: one that begins to require gradients has the call traced anew.
        if tensors:
            _any_requires_grad(tensors)
        route = _constant_route(key, (*kinds,), named, autocast)
        if route.refusal:
            # The call itself is made then, where the graph may be broken, and raises its own error.
            if _constant_says_why():
                torch._dynamo.graph_break(msg=route.refusal)
            torch._dynamo.graph_break()
            # An operator's own frame goes on here, behind the break.
            return _call_itself(key, args, kwargs)
    else:
        route = _route_taken(_state(key), (*kinds,), named, autocast, args, kwargs)
    if route.is_plain:
        module, name, overload = route.op
        return getattr(getattr(getattr(torch.ops, module), name), overload)(*args)
    return _call_along(route, args, kwargs)


def _call_along(route: Route, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    given = [_taken(step, args, kwargs) for step in route.steps]
    for i, dtype in route.numbers:
        if not isinstance(given[i], torch.Tensor):
            device = _device_of(given)
            if isinstance(given[i], (list, tuple)):
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
    if not route.is_mutating or not torch.is_grad_enabled() or not _any_requires_grad(given):
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


def _any_requires_grad(values: Sequence[Any]) -> bool:
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
