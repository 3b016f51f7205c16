"""torch.func.vmap over calls."""

from typing import Any


def batched_call(function: Any, info: Any, in_dims: Any, plan: Any, cell: Any, values: Any) -> Any:
    raise NotImplementedError


def batched_gradients(function: Any, info: Any, in_dims: Any, head: Any, tensors: Any) -> Any:
    raise NotImplementedError


def batched_operator(operator: Any, info: Any, in_dims: Any, given: Any) -> Any:
    raise NotImplementedError
