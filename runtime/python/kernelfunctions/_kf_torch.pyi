"""What kernelfunctions.torch asks of the extension module, which has these names: see _kf.pyi."""

from collections.abc import Callable, Sequence
from typing import Any

from kernelfunctions._kf import ArgumentError, Function

__all__ = [
    "_TensorKind",
    "_call_shape",
    "_check_gradients_of_globals",
    "_choose_call",
    "_error",
    "_tensors_of_globals",
    "_trace_calls",
    "describe_calls",
    "description_key",
]

def description_key(function: Function) -> tuple[Any, ...]:
    """Equal for functions that are described alike, as long as one of them lives."""

def describe_calls(function: Function) -> dict[str, Any]:
    """What a function's calls take and give, as dicts and lists."""

class _TensorKind:
    """A torch.Tensor of which no more is known; `shape`: None for extents that aren't."""

    def __init__(self, dtype: Any, shape: tuple[int | None, ...]) -> None: ...
    @property
    def dtype(self) -> Any: ...

def _choose_call(
    function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], casts: bool, overload: int = -1
) -> tuple[int, list[Any]]:
    """Returns the overload that a watched call means, and what is given for its slots."""

def _call_shape(
    function: Function,
    overload: int,
    given: Sequence[tuple[int, int, bool, Any, Sequence[int]]],
    shape: Sequence[int] | None,
) -> list[int]:
    """Returns a call's shape, by the rules that the binder has."""

def _error(code: str, text: str) -> ArgumentError:
    """Returns the error of this id, of the class that all errors of that id have."""

def _check_gradients_of_globals(function: Function) -> None: ...
def _tensors_of_globals(function: Function) -> tuple[Any, ...]: ...
def _trace_calls(call: Callable[..., Any], attributes_of: Callable[[Function], dict[str, Any]]) -> None: ...
