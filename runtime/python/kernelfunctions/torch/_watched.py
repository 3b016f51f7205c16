"""What the extension module calls where something watches a call: autograd, torch.func, tracing."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function

from kernelfunctions import _kf
from kernelfunctions.torch._autograd import call_eagerly, call_transformed
from kernelfunctions.torch._choice import given_for
from kernelfunctions.torch._errors import error, refuse
from kernelfunctions.torch._flat_call import FlatCall
from kernelfunctions.torch._fused_call import FusedCall
from kernelfunctions.torch._named import apply_of
from kernelfunctions.torch._plan import Plan
from kernelfunctions.torch._slots import DEEPEST, RESERVED
from kernelfunctions.torch._state import State, fields_of, plan_of, state_of
from kernelfunctions.torch._traced import is_cast, traced_call

_Parameter = torch.nn.Parameter
_Tensor = torch.Tensor
_autocast_is_on = torch._C._is_any_autocast_enabled
_functorch_is_active = torch._C._are_functorch_transforms_active
_dispatch_modes = torch._C._len_torch_dispatch_stack
_tracing_state = torch._C._get_tracing_state
_forward_mode = torch.autograd.forward_ad


def _is_followed(state: State, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether autograd or a transform follows a call."""
    if _functorch_is_active() or _is_forward_mode():
        return True
    every = _tensors([*args, *kwargs.values()], state.description.fields)
    return torch.is_grad_enabled() and any(one.requires_grad for one in every)


def call_with(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Makes a call of a function whose written views are known, whether something watches it or not."""
    if not (_dispatch_modes() or _autocast_is_on() or _is_followed(state, args, kwargs)):
        # The function itself may write any view, and so is taken to write all.
        with ExitStack() as kept:
            for one in _views_read(state, args, kwargs):
                kept.enter_context(torch.autograd._unsafe_preserve_version_counter(one))
            return state.function(*args, **kwargs)
    return _call(state, args, kwargs)


def _call_of_these(state: State, _function: _kf.Function, *args: Any, **kwargs: Any) -> Any:
    return call_with(state, args, kwargs)


def _given(plan: Plan, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Returns what a call gives for each slot of its plan."""
    return given_for(plan.function, plan.call, args, kwargs, bool(plan.casts))


def _views_read(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Returns the views that a call only reads, of memory that it doesn't write."""
    plan = plan_of(state, args, kwargs, False)
    values = _given(plan, args, kwargs)
    read: list[torch.Tensor] = []
    written: set[int] = set()
    for slot, value in zip(plan.slots, values, strict=True):
        if slot.leaf is None or not isinstance(value, _Tensor) or value.is_inference():
            continue
        if slot.leaf.access == "view_read":
            read.append(value)
        elif slot.leaf.is_mutated or slot.is_output:
            written.add(value.untyped_storage().data_ptr())
    return [one for one in read if one.untyped_storage().data_ptr() not in written]


def _is_autocast(state: State, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    return _autocast_is_on() and is_cast([*args, *kwargs.values()], state.description.fields)


def _tensors(value: Any, fields: Sequence[str], depth: int = 0) -> Iterator[torch.Tensor]:
    """Yields the tensors in arguments, and in what has `fields` of structs."""
    if isinstance(value, _Tensor):
        yield value
        return
    if depth > DEEPEST or isinstance(value, int | float | str):
        return
    if isinstance(value, list | tuple):
        held: Any = value
    elif isinstance(value, Mapping):
        held = list(value.values())
    else:
        held = [one for _, one in fields_of(value, fields)]
    for one in held:
        yield from _tensors(one, fields, depth + 1)


def _argument_of(state: State, tensor: torch.Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Returns the name of the argument that the tensor is in; "" where overloads leave that open."""
    lists = [
        [one.keyword for one in call.parameters if one.role != "result"] for call in state.description.calls
    ]
    if all(names == lists[0] for names in lists):
        for name, value in (*zip(lists[0], args, strict=False), *kwargs.items()):
            if any(one is tensor for one in _tensors(value, state.description.fields)):
                return name
    return ""


def _derived(state: State, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """Returns tensors of classes that may take functions or operators into their own hands."""
    every = _tensors([*args, *kwargs.values()], state.description.fields)
    return [one for one in every if type(one) is not _Tensor and type(one) is not _Parameter]


def _is_traced(
    state: State, args: Sequence[Any], kwargs: Mapping[str, Any], derived: Sequence[torch.Tensor]
) -> bool:
    """Whether one of those is of a class that takes operators into its own hands."""
    found = False
    for one in derived:
        kind = type(one)
        if kind.__torch_dispatch__ is _disabled:
            continue
        reason = _NOT_TAKEN.get(kind.__name__)
        if reason is not None:
            refuse("type-mismatch", state.description.name, _argument_of(state, one, args, kwargs), reason)
        found = True
    return found


_disabled = torch._C._disabled_torch_dispatch_impl

#: Classes of PyTorch's own that have operators of their own, which kernels are none of.
_NOT_TAKEN = {
    "DTensor": "a DTensor isn't taken: give its to_local(), and make a DTensor of the result",
    "NestedTensor": "a nested tensor isn't taken: give its values(), and make a nested tensor of the result",
}


def watched_call(function: _kf.Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Makes a call that something watches."""
    return _call(state_of(function), args, kwargs)


def call_with_casts(function: _kf.Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Makes a call that was refused for its tensors' types, with those that torch.autocast() gives them.

    Returns NotImplemented where it gives them no others.
    """
    state = state_of(function)
    try:
        plan = plan_of(state, args, kwargs, _is_autocast(state, args, kwargs))
        is_given = any(
            slot.is_output and value is not None
            for slot, value in zip(plan.slots, _given(plan, args, kwargs), strict=True)
        )
    except _kf.ArgumentError:
        return NotImplemented
    return NotImplemented if is_given or not plan.casts else _call(state, args, kwargs)


def _is_forward_mode() -> bool:
    return bool(_forward_mode._current_level >= 0)


def _flat_key(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What of plain tensors and numbers decides how a call goes; the extension makes the same key."""
    key: list[Any] = []
    for value in args:
        kind = type(value)
        if kind is _Tensor or kind is _Parameter:
            key.append(value.dtype)
            key.append(value.ndim)
        else:
            key.append(kind)
    return tuple(key)


_NUMBERS = (float, int, bool)


def _call_in_jit(state: State, args: tuple[Any, ...], kwargs: dict[str, Any], tracing: Any) -> Any:
    """Makes a call under torch.jit.trace(), which records operators."""
    if not getattr(_jit, "is_recorded", False):
        _jit.is_recorded = True
        try:
            return traced_call(state, args, kwargs)
        finally:
            _jit.is_recorded = False
    # The operator's own kernel, of which nothing is recorded.
    torch._C._set_tracing_state(None)
    try:
        return state.function(*args, **kwargs)
    finally:
        torch._C._set_tracing_state(tracing)


#: Of each thread, whether torch.jit.trace() records an operator of ours.
_jit = threading.local()


def _call(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tracing = _tracing_state()
    if tracing is not None:
        return _call_in_jit(state, args, kwargs, tracing)
    derived = _derived(state, args, kwargs)
    if derived and has_torch_function(derived):
        called = state.function if state.outputs is None else partial(_call_of_these, state, state.function)
        return handle_torch_function(called, derived, *args, **kwargs)
    # Globals may hold tensors of such classes, too, which are taken as plain ones.
    with torch._C.DisableTorchFunctionSubclass():
        return _call_taken(state, args, kwargs, derived)


def _call_taken(
    state: State, args: tuple[Any, ...], kwargs: dict[str, Any], derived: Sequence[torch.Tensor]
) -> Any:
    """Makes a call that no class of its tensors has taken over."""
    if _dispatch_modes() > 0 or _is_traced(state, args, kwargs, derived):
        return traced_call(state, args, kwargs)
    plan = plan_of(state, args, kwargs, _is_autocast(state, args, kwargs))
    if (
        plan.is_quick
        and not (kwargs or state.endings)
        and all(type(one) in (_Tensor, _Parameter, *_NUMBERS) for one in args)
    ):
        apply = apply_of(FlatCall if plan.fused is None else FusedCall, plan.name)
        state.quick[_flat_key(args)] = apply, plan
        if not _functorch_is_active() and not _is_forward_mode():
            return apply(plan, *args)
    _refuse_unfollowed(state, plan, args, kwargs)
    if not kwargs and plan.is_plain:
        values: Sequence[Any] = args
        more = None
    else:
        values, more = _split(state, plan, args, kwargs)
    if plan.casts:
        cast = list(values)
        for i, dtype in plan.casts:
            cast[i] = values[i].to(dtype)
        values = cast
    if _functorch_is_active():
        return call_transformed(plan, more, values)
    return call_eagerly(plan, more, values)


def _refuse_unfollowed(state: State, plan: Plan, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuses what autograd can't follow."""
    if plan.unstated and plan.call.backward:
        reason = (
            "it is a DiffTensorView, which a call may read or write, and autograd has to know which: "
            f"{plan.name}.torch(outputs=[...]) names those that it writes"
        )
        refuse("not-differentiable", plan.name, plan.unstated[0], reason)
    if plan.untracked and _is_followed(state, args, kwargs):
        reason = "the call changes it, and autograd follows changes of torch.Tensors alone: give one"
        refuse("not-differentiable", plan.name, plan.untracked[0], reason)
    if plan.unfollowed and _is_followed(state, args, kwargs):
        reason = (
            "it comes back as structs, which autograd can't follow: give it the key 'fields' in the call "
            "spec, for a tensor for each field, or call under torch.no_grad()"
        )
        refuse("not-differentiable", plan.name, plan.unfollowed[0], reason)


def _split(
    state: State, plan: Plan, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Returns what goes into the call, and its reserved keywords; refuses outputs that are given."""
    slots = plan.slots
    every = _given(plan, args, kwargs)
    for slot, value in zip(slots, every, strict=True):
        if slot.is_output and value is not None:
            text = (
                f"{plan.name}(): functions with out=... arguments don't support automatic differentiation, "
                f"but one of the arguments requires grad (argument '{slot.name}' is given)"
            )
            raise error("not-differentiable", text)
    return [every[i] for i in plan.inputs], {name: kwargs[name] for name in RESERVED if name in kwargs}
