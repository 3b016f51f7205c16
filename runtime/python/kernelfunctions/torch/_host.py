"""Calls with torch tensors, until the extension module takes them itself: CPU tensors as NumPy arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from kernelfunctions import _kf


class _WithGradients:
    def __init__(self, value: Any, grad_in: Any = None, grad_out: Any = None) -> None:
        self.value, self.grad_in, self.grad_out = value, grad_in, grad_out


def with_gradients(value: Any, grad_in: Any = None, grad_out: Any = None) -> Any:
    """Returns one argument of a backward call with exactly these gradients."""
    return _WithGradients(value, grad_in, grad_out)


def _array(tensor: torch.Tensor) -> Any:
    return tensor.detach().resolve_neg().numpy()


def _given(value: Any, after: list[Any]) -> Any:
    if isinstance(value, torch.Tensor):
        return _array(value)
    if isinstance(value, _WithGradients):
        if not isinstance(value.value, torch.Tensor):
            return value.value
        tensor = _kf.Tensor.from_numpy(_array(value.value))
        grads: dict[str, Any] = {}
        if value.grad_in is not None:
            grads["grad_in"] = _array(value.grad_in)
        if value.grad_out is not None:
            grads["grad_out"] = _array(value.grad_out)
        if grads:
            tensor = tensor.with_grads(**grads)
        if value.grad_out is not None:
            after.append((tensor, value.grad_out))
        return tensor
    if isinstance(value, dict):
        return {name: _given(one, after) for name, one in value.items()}
    if isinstance(value, list):
        return [_given(one, after) for one in value]
    return value


def _taken(value: Any, known: Mapping[int, torch.Tensor]) -> Any:
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, _kf.Tensor):
        return torch.from_numpy(value.to_numpy())
    if isinstance(value, tuple):
        items = [_taken(one, known) for one in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if hasattr(value, "_fields"):
        for name in value._fields:
            setattr(value, name, _taken(getattr(value, name), known))
    return value


def call(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Calls a function, its derivative or its backward pass."""
    after: list[Any] = []
    given = [_given(one, after) for one in args]
    named = {name: _given(one, after) for name, one in kwargs.items()}
    pairs = [*zip(given, args, strict=True), *((named[name], kwargs[name]) for name in kwargs)]
    known = {id(array): one for array, one in pairs if isinstance(one, torch.Tensor)}
    result = function(*given, **named)
    for tensor, target in after:
        target.copy_(torch.from_numpy(np.array(tensor.grad_out.to_numpy())))
    return _taken(result, known)
