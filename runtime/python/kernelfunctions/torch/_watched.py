"""What the extension module calls where something watches a call: autograd, torch.func, tracing."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakValueDictionary, ref

import torch
from torch.overrides import handle_torch_function, has_torch_function

from kernelfunctions import _kf
from kernelfunctions.torch._autograd import call_eagerly, call_transformed
from kernelfunctions.torch._choice import Endings, choose, ending_of, endings_of, given_for
from kernelfunctions.torch._description import Call, Description, describe
from kernelfunctions.torch._errors import NoOperatorError, error, refuse
from kernelfunctions.torch._flat_call import FlatCall
from kernelfunctions.torch._fused_call import FusedCall
from kernelfunctions.torch._library import CallOperator
from kernelfunctions.torch._named import apply_of
from kernelfunctions.torch._plan import Plan
from kernelfunctions.torch._route import Route
from kernelfunctions.torch._slots import DEEPEST, RESERVED
from kernelfunctions.torch._traced import key_of_state, traced_call

_Parameter = torch.nn.Parameter
_Tensor = torch.Tensor
_autocast_is_on = torch._C._is_any_autocast_enabled
_functorch_is_active = torch._C._are_functorch_transforms_active
_dispatch_modes = torch._C._len_torch_dispatch_stack
_tracing_state = torch._C._get_tracing_state
_forward_mode = torch.autograd.forward_ad


class _Shared:
    """What functions share that are described alike, for as long as one of them lives."""

    __slots__ = ("__weakref__", "description", "endings", "models")

    def __init__(self, description: Description) -> None:
        self.description = description
        #: The last extents by which its overloads are told apart.
        self.endings = endings_of(description.calls)
        #: Plans that are no function's yet.
        self.models: dict[Any, Plan] = {}


#: By what tells descriptions apart.
_shared: "WeakValueDictionary[Any, _Shared]" = WeakValueDictionary()


class State:
    """What is known of a function, which keeps it: its calls, and how those with certain arguments go."""

    __slots__ = (
        "__weakref__",
        "_function",
        "description",
        "endings",
        "key",
        "operators",
        "outputs",
        "plans",
        "quick",
        "routes",
        "shared",
    )

    def __init__(self, function: _kf.Function, outputs: tuple[str, ...] | None = None) -> None:
        self._function = ref(function)
        self.outputs = outputs
        key = (outputs, *_kf.description_key(function))
        shared = _shared.get(key)
        if shared is None:
            shared = _shared[key] = _Shared(describe(function, outputs))
        self.shared = shared
        self.description = shared.description
        self.endings = shared.endings
        self.plans: dict[Any, Plan] = {}
        #: Those of them that _flat_call.py makes, by a key that is cheaper.
        self.quick: dict[Any, tuple[Any, Plan]] = {}
        #: Operators by the number of their call, and by kinds of arguments.
        self.operators: dict[int, CallOperator] = {}
        self.routes: dict[Any, Route] = {}
        #: By which traced calls name it; empty until one does.
        self.key = ""

    @property
    def function(self) -> _kf.Function:
        """The function, while it lives: a call holds it."""
        found: Any = self._function()
        return found  # type: ignore[no-any-return]

    def operator_of(self, call: Call) -> CallOperator:
        """Returns the operator of a call; raises NoOperatorError for one that can't be."""
        known = self.operators.get(call.number)
        if known is None:
            number = next(_configured) if self.description.configured else 0
            suffix = suffix_of(self.description, number)
            if self.outputs is not None:
                suffix += "_outputs_" + "_".join(self.outputs)
            known = self.operators[call.number] = CallOperator(self.function, self.description, call, suffix)
        return known


#: Numbers the operators of functions with globals or hooks.
_configured = count()


def register_calls(state: State) -> None:
    """Registers the operators of all calls that can be some: torch.ops.NAME.f."""
    for call in state.description.calls:
        with suppress(NoOperatorError):
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


def _fields_of(value: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    """Returns those attributes of an object that are fields of a struct."""
    if isinstance(value, type):
        return []
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def _key(value: Any, endings: Endings, fields: Sequence[str], depth: int = 0) -> Any:
    """What of an argument decides how a call goes; calls of one key have one plan."""
    kind = type(value)
    if kind is _Tensor or kind is _Parameter or isinstance(value, _Tensor):
        return kind, value.dtype, value.ndim, ending_of(value, endings)
    if kind in (int, float, bool) or depth > DEEPEST:
        return kind
    deeper = depth + 1
    if kind in (list, tuple):
        return (kind, *(_key(one, endings, fields, deeper) for one in value))
    if hasattr(value, "ndim") and hasattr(value, "dtype"):
        return kind, value.dtype, value.ndim
    held = value.items() if isinstance(value, Mapping) else _fields_of(value, fields)
    return (kind, *((name, _key(one, endings, fields, deeper)) for name, one in held))


def plan_of(state: State, args: Sequence[Any], kwargs: Mapping[str, Any], autocast: bool) -> Plan:
    """Returns how a call with these arguments goes; refuses what no overload takes."""
    endings, fields = state.endings, state.description.fields
    key = (autocast, *(_key(value, endings, fields) for value in args))
    if kwargs:
        key = (*key, *((name, _key(value, endings, fields)) for name, value in kwargs.items()))
    plan = state.plans.get(key)
    if plan is not None:
        return plan
    model = state.shared.models.get(key)
    if model is None:
        call, values = choose(state.function, state.description, args, kwargs, autocast)
        model = state.shared.models[key] = Plan(state.description, call, values)
    plan = state.plans[key] = model.of(state.function)
    return plan


def _is_autocast(state: State, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    if not _autocast_is_on():
        return False
    devices = {one.device.type for one in _tensors([*args, *kwargs.values()], state.description.fields)}
    return any(torch.is_autocast_enabled(device) for device in devices & {"cpu", "cuda"})


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
        held = [one for _, one in _fields_of(value, fields)]
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
        return traced_call(key_of_state(state), args, kwargs, False)
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
