"""What kernelfunctions.torch asks of the extension module, which has these names: see _kf.pyi."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernelfunctions._kf import ArgumentError, Function

__all__ = [
    "_check_gradients_of_globals",
    "_error",
    "_resolve_call",
    "_tensors_of_globals",
    "_trace_calls",
    "describe_calls",
    "description_key",
]

def description_key(function: Function) -> tuple[Any, ...]:
    """Equal for functions that are described alike, as long as one of them lives."""

def describe_calls(function: Function) -> dict[str, Any]:
    """What a function's calls take and give, as dicts and lists."""

def _resolve_call(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raises what a call that autograd doesn't watch raises where no overload takes its arguments."""

def _error(code: str, text: str) -> ArgumentError:
    """Returns the error of this id, of the class that all errors of that id have."""

def _check_gradients_of_globals(function: Function) -> None: ...
def _tensors_of_globals(function: Function) -> tuple[Any, ...]: ...
def _trace_calls(call: Callable[..., Any], attributes_of: Callable[[Function], dict[str, Any]]) -> None: ...
