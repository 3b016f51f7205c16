"""What is known of functions that PyTorch calls: their overloads, and how calls with certain arguments go."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any
from weakref import WeakValueDictionary, ref

import torch

from kernelfunctions import _kf
from kernelfunctions._functions import function_of
from kernelfunctions.torch._choice import Endings, choose, ending_of, endings_of
from kernelfunctions.torch._description import Call, Description, describe
from kernelfunctions.torch._errors import NoOperatorError
from kernelfunctions.torch._library import CallOperator
from kernelfunctions.torch._plan import Plan
from kernelfunctions.torch._route import Route
from kernelfunctions.torch._slots import DEEPEST


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


#: By key, so that what is traced names one by a constant: a string, as numbers may become symbolic.
_states: "WeakValueDictionary[str, State]" = WeakValueDictionary()
_numbers = count()


def key_of_state(state: State) -> str:
    """Returns the key by which traced calls name a function."""
    if not state.key:
        state.key = f"{state.description.module}.{state.description.name} {next(_numbers)}"
        _states[state.key] = state
    return state.key


def state_of_key(key: str) -> State:
    """Returns what is known of the function that a key names."""
    known = _states.get(key)
    if known is None:
        known = _states[key] = state_of(function_of(key))
    return known


def fields_of(value: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    """Returns those attributes of an object that are fields of a struct."""
    if isinstance(value, type):
        return []
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)]


def _key(value: Any, endings: Endings, fields: Sequence[str], depth: int = 0) -> Any:
    """What of an argument decides how a call goes; calls of one key have one plan."""
    kind = type(value)
    if kind is torch.Tensor or kind is torch.nn.Parameter or isinstance(value, torch.Tensor):
        return kind, value.dtype, value.ndim, ending_of(value, endings)
    if kind in (int, float, bool) or depth > DEEPEST:
        return kind
    deeper = depth + 1
    if kind in (list, tuple):
        return (kind, *(_key(one, endings, fields, deeper) for one in value))
    if hasattr(value, "ndim") and hasattr(value, "dtype"):
        return kind, value.dtype, value.ndim
    held = value.items() if isinstance(value, Mapping) else fields_of(value, fields)
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
        model = state.shared.models[key] = Plan(state.description, call, values, is_named=bool(kwargs))
    plan = state.plans[key] = model.of(state.function)
    return plan
