"""PyTorch's setting of deterministic algorithms, for kernels."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._plan import Plan

_T = TypeVar("_T")


def backward_of(plan: Plan, run: Callable[[Any], _T]) -> _T:
    """Runs a backward pass: with sums that are the same bits each time, where PyTorch is set so."""
    if plan.description.deterministic is not None or not torch.are_deterministic_algorithms_enabled():
        return run(plan.backward)
    try:
        return run(plan.function.options(deterministic=True).backward)
    except _kf.Error as error:
        if error.code != "no-deterministic-kernel":
            raise
        _alert(plan.name)
        return run(plan.backward)


def _alert(name: str) -> None:
    text = (
        f"{name}.backward does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. "
    )
    cure = 'Say "backward": {"deterministic": "auto"} in its call spec'
    if not torch.is_deterministic_algorithms_warn_only_enabled():
        raise RuntimeError(
            text
            + f"{cure}, turn off determinism just for this operation, or use the 'warn_only=True' option."
        )
    warnings.warn(text + f"{cure}.", stacklevel=2)
