"""What the extension module calls where something watches a call: autograd, torch.func, tracing."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._autograd import call_eagerly, call_transformed
from kernelfunctions.torch._choice import (
    RESERVED,
    Endings,
    MisfitError,
    bind,
    ending_of,
    endings_of,
    values_of,
)
from kernelfunctions.torch._description import Call, Description, describe
from kernelfunctions.torch._errors import refuse
from kernelfunctions.torch._flat_call import flat_apply
from kernelfunctions.torch._fused_call import fused_apply
from kernelfunctions.torch._library import CallOperator
from kernelfunctions.torch._overloads import choose
from kernelfunctions.torch._plan import Plan
from kernelfunctions.torch._route import Route
from kernelfunctions.torch._traced import key_of_state, traced_call

_Parameter = torch.nn.Parameter
_Tensor = torch.Tensor
_autocast_is_on = torch._C._is_any_autocast_enabled
_functorch_is_active = torch._C._are_functorch_transforms_active
_dispatch_modes = torch._C._len_torch_dispatch_stack
_tracing_state = torch._C._get_tracing_state
_forward_mode = torch.autograd.forward_ad


#: What functions share that are described alike: one of them, its description, and plans.
_shared: dict[Any, tuple[_kf.Function, Description, dict[Any, Plan]]] = {}


class State:
    """What is known of a function: its calls, and how those with arguments of certain types go."""

    __slots__ = (
        "description",
        "endings",
        "function",
        "key",
        "models",
        "operators",
        "outputs",
        "plans",
        "quick",
        "routes",
    )

    def __init__(self, function: _kf.Function, outputs: tuple[str, ...] | None = None) -> None:
        self.function = function
        self.outputs = outputs
        key = (outputs, *_kf.description_key(function))
        shared = _shared.get(key)
        if shared is None:
            # The function keeps what the key is made of.
            shared = _shared[key] = (function, describe(function, outputs), {})
        self.description: Description = shared[1]
        #: The last extents by which its overloads are told apart.
        self.endings = endings_of(self.description.calls)
        #: Those of functions that are described alike, made for the first of them.
        self.models: dict[Any, Plan] = shared[2]
        self.plans: dict[Any, Plan] = {}
        #: Those of them that _flat_call.py makes, by a key that is cheaper.
        self.quick: dict[Any, tuple[Any, Plan]] = {}
        #: Operators by the number of their call, and by kinds of arguments.
        self.operators: dict[int, CallOperator] = {}
        self.routes: dict[Any, Route] = {}
        #: By which traced calls name it; empty until one does.
        self.key = ""

    def operator_of(self, call: Call) -> CallOperator:
        """Returns the operator of a call; raises MisfitError for one that can't be."""
        known = self.operators.get(call.number)
        if known is None:
            suffix = suffix_of(self.description, len(_configured))
            if self.outputs is not None:
                suffix += "_outputs_" + "_".join(self.outputs)
            if self.description.configured:
                _configured.append(self.function)
            known = self.operators[call.number] = CallOperator(self.function, self.description, call, suffix)
        return known


#: Functions with globals or hooks, whose operators are numbered.
_configured: list[_kf.Function] = []


def register_calls(state: State) -> None:
    """Registers the operators of all calls that can be some: torch.ops.NAME.f."""
    for call in state.description.calls:
        with suppress(MisfitError):
            state.operator_of(call)


def suffix_of(description: Description, number: int) -> str:
    """Returns what tells the operators of a configured function from those of the plain one."""
    suffix = "" if description.deterministic is None else f"_deterministic_{int(description.deterministic)}"
    if description.launch is not None:
        in_groups, *count = description.launch
        suffix += ("_groups_" if in_groups else "_threads_") + "_".join(map(str, count))
    return suffix + (f"_configured_{number}" if description.configured else "")


def state_of(function: _kf.Function) -> State:
    """Returns what is known of a function."""
    known: State | None = function.__dict__.get("_torch_state")
    if known is None:
        known = function.__dict__["_torch_state"] = State(function)
        # Where the extension looks for calls that are made again, before it asks watched_call().
        function.__dict__["_torch_quick"] = known.quick
    return known


def state_with(function: _kf.Function, outputs: tuple[str, ...]) -> State:
    """Returns what is known of a function of whose views these are written."""
    states: dict[Any, State] = function.__dict__.setdefault("_torch_states", {})
    if outputs not in states:
        states[outputs] = State(function, outputs)
    return states[outputs]


def call_with(state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Makes a call of a function whose written views are known, whether something watches it or not."""
    if not (_functorch_is_active() or _dispatch_modes() or _is_forward_mode() or _autocast_is_on()):
        needs = torch.is_grad_enabled() and any(
            one.requires_grad for one in _tensors([*args, *kwargs.values()])
        )
        if not needs:
            return state.function(*args, **kwargs)
    return _call(state, args, kwargs)


def _key(value: Any, endings: Endings) -> Any:
    """What of an argument decides how a call goes; calls of one key have one plan."""
    kind = type(value)
    if kind is _Tensor or kind is _Parameter or isinstance(value, _Tensor):
        return kind, value.dtype, value.ndim, ending_of(value, endings)
    if kind in (list, tuple):
        return (kind, *(_key(one, endings) for one in value))
    if isinstance(value, Mapping):
        return (kind, *((name, _key(one, endings)) for name, one in value.items()))
    if hasattr(value, "ndim"):
        return kind, value.dtype, value.ndim
    names = getattr(kind, "_fields", None) or getattr(value, "__dict__", None)
    if names and not isinstance(value, type):
        return (kind, *(_key(getattr(value, name), endings) for name in names))
    return kind


def plan_of(state: State, args: Sequence[Any], kwargs: Mapping[str, Any], autocast: bool) -> Plan:
    """Returns how a call with these arguments goes; refuses what no overload takes."""
    endings = state.endings
    key = (autocast, *(_key(value, endings) for value in args))
    if kwargs:
        key = (*key, *((name, _key(value, endings)) for name, value in kwargs.items()))
    plan = state.plans.get(key)
    if plan is not None:
        return plan
    model = state.models.get(key)
    if model is None:
        try:
            call, values = choose(state.description, args, kwargs, autocast)
        except MisfitError as misfit:
            refuse(misfit.kind, state.description.name, misfit.argument, misfit.reason)
        model = state.models[key] = Plan(state.function, state.description, call, values)
    plan = state.plans[key] = model if model.function is state.function else model.of(state.function)
    return plan


def _is_autocast(args: Sequence[Any]) -> bool:
    if not _autocast_is_on():
        return False
    device = next((value.device.type for value in args if isinstance(value, _Tensor)), "cpu")
    return bool(torch.is_autocast_enabled(device))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, _Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif not isinstance(value, type):
        names = getattr(type(value), "_fields", None) or getattr(value, "__dict__", None) or ()
        yield from _tensors([getattr(value, name) for name in names])


def _argument_of(state: State, tensor: torch.Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Returns the name of the argument that the tensor is in; "" where overloads leave that open."""
    lists = [
        [one.keyword for one in call.parameters if one.role != "result"] for call in state.description.calls
    ]
    if all(names == lists[0] for names in lists):
        for name, value in (*zip(lists[0], args, strict=False), *kwargs.items()):
            if any(one is tensor for one in _tensors(value)):
                return name
    return ""


def _is_traced(state: State, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether some argument is of a class that takes operators into its own hands."""
    found = False
    for one in _tensors([*args, *kwargs.values()]):
        kind = type(one)
        if kind is _Tensor or kind is _Parameter or kind.__torch_dispatch__ is _disabled:
            continue
        if kind.__name__ == "DTensor":
            reason = "a DTensor isn't taken: give its to_local(), and make a DTensor of the result"
            refuse(TypeError, state.description.name, _argument_of(state, one, args, kwargs), reason)
        found = True
    return found


_disabled = torch._C._disabled_torch_dispatch_impl


def watched_call(function: _kf.Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Makes a call that something watches."""
    return _call(state_of(function), args, kwargs)


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
            return traced_call(key_of_state(state), args, kwargs, False)
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
    if _dispatch_modes() > 0 or _is_traced(state, args, kwargs):
        return traced_call(key_of_state(state), args, kwargs, False)
    plan = plan_of(state, args, kwargs, _is_autocast(args))
    if (
        plan.is_quick
        and not (kwargs or state.endings)
        and all(type(one) in (_Tensor, _Parameter, *_NUMBERS) for one in args)
    ):
        apply = flat_apply if plan.fused is None else fused_apply
        state.quick[_flat_key(args)] = apply, plan
        if not _functorch_is_active() and not _is_forward_mode():
            return apply(plan, *args)
    if plan.unstated and plan.call.backward:
        reason = (
            "it is a DiffTensorView, which a call may read or write, and autograd has to know which: "
            f"{plan.name}.torch(outputs=[...]) names those that it writes"
        )
        refuse(RuntimeError, plan.name, plan.unstated[0], reason)
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


def _split(
    state: State, plan: Plan, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Returns what goes into the call, and its reserved keywords; refuses outputs that are given."""
    slots = plan.slots
    every = values_of(plan.call, slots, bind(plan.call, args, kwargs))
    for slot, value in zip(slots, every, strict=True):
        if slot.is_output and value is not None:
            raise RuntimeError(
                f"{plan.name}(): functions with out=... arguments don't support automatic differentiation, "
                f"but one of the arguments requires grad (argument '{slot.name}' is given)"
            )
    return [every[i] for i in plan.inputs], {name: kwargs[name] for name in RESERVED if name in kwargs}
