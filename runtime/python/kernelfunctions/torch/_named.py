"""Classes of calls by the function's name, which autograd, its anomaly mode and the profiler show."""

from collections.abc import Callable
from functools import cache
from typing import Any

from torch._C import _FunctionBase


@cache
def named(kind: Any, name: str) -> Any:
    """Returns a class derived from a torch.autograd.Function whose node in graphs is called NAMEBackward."""
    made = type(kind)(name, (kind,), {"__module__": kind.__module__})
    node = made._backward_cls
    if getattr(kind, "is_called_straight", False) and hasattr(node, "apply"):
        # Autograd calls backward() itself then, and not by way of a function of PyTorch's that looks for it.
        node.apply = made.backward
    return made


@cache
def apply_of(kind: Any, name: str) -> Callable[..., Any]:
    """Returns its apply(), without that one's own checks, which take as long as a call."""
    apply: Callable[..., Any] = _FunctionBase.__dict__["apply"].__get__(None, named(kind, name))
    return apply
