"""Calls in code that torch.compile traces: they go to operators, or break the graph."""

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from kernelfunctions._kf import ArgumentError, _check_gradients_of_globals
from kernelfunctions.torch._choice import Endings
from kernelfunctions.torch._errors import NoOperatorError
from kernelfunctions.torch._state import state_of_key
from kernelfunctions.torch._traced import any_requires_grad, call_along, kinds_of, route_of
from kernelfunctions.torch._watched import call_with


def _call_itself(key: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Makes the call as it is made where nothing is traced."""
    state = state_of_key(key)
    if state.outputs is not None:
        return call_with(state, tuple(args), kwargs)
    return state.function(*args, **kwargs)


class Refusal:
    """Why a call can't be traced, in a route's place."""

    def __init__(self, reason: str) -> None:
        self.refusal = reason


def _constant_route(key: str, kinds: Any, named: Any, autocast: bool) -> Any:
    state = state_of_key(key)
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


def _constant_words(key: str) -> tuple[Endings, Sequence[str]]:
    state = state_of_key(key)
    return state.endings, state.description.fields


setattr(_constant_words, "_dynamo_marked_constant", True)  # noqa: B010


def compiled_call(
    key: str, args: Sequence[Any], kwargs: dict[str, Any], tensors: Sequence[torch.Tensor] = ()
) -> Any:
    """Makes a call of the function with a key. `tensors`: those that its globals are set to."""
    kinds, named, autocast = kinds_of(args, kwargs, *_constant_words(key))
    # What is asked of tensors is guarded: one that begins to require gradients has the call traced anew.
    if tensors:
        any_requires_grad(tensors)
    route = _constant_route(key, kinds, named, autocast)
    if route.refusal:
        # The call itself is made then, where the graph may be broken, and raises its own error.
        if _constant_says_why():
            torch._dynamo.graph_break(msg=route.refusal)
        torch._dynamo.graph_break()
        # An operator's own frame goes on here, behind the break.
        return _call_itself(key, args, kwargs)
    if route.is_plain:
        module, name, overload = route.op
        return getattr(getattr(getattr(torch.ops, module), name), overload)(*args)
    return call_along(route, args, kwargs)
