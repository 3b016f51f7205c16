"""What a call reads that shares memory with what it changes in place."""

from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from kernelfunctions.torch._errors import refuse
from kernelfunctions.torch._plan import Plan


def shared_with_changed(plan: Plan, values: Sequence[Any]) -> tuple[int, ...]:
    """Returns the values that are read and lie where one is changed: afterwards they are others.

    Refuses what PyTorch's own operators refuse: tensors that share some elements and not all, of which a
    thread would read what another one has changed.
    """
    shared = []
    for i in plan.tensors:
        if i in plan.mutated or i in plan.numbers:
            continue
        for j in plan.mutated:
            if not _meet(values[i], values[j]):
                continue
            same = _is_same(values[i], values[j])
            in_place = same and _is_mapped(plan, i) and _is_mapped(plan, j)
            # Elements may lie between each other's, as those of t[::2] and t[1::2].
            if not in_place and (same or (_is_dense(values[i]) and _is_dense(values[j]))):
                _refuse_overlap(plan, i, j)
            shared.append(i)
            break
    return tuple(shared)


def _is_mapped(plan: Plan, i: int) -> bool:
    """Whether each call has an element of its own, and not all of them the whole tensor."""
    leaf = plan.slot(i).leaf
    return leaf is not None and bool(leaf.map)


def _range(tensor: torch.Tensor) -> tuple[int, int]:
    span = sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride(), strict=True))
    begin = tensor.data_ptr()
    return begin, begin + (span + 1) * tensor.element_size()


def _meet(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.numel() == 0 or b.numel() == 0 or a.device != b.device:
        return False
    (begin, end), (other_begin, other_end) = _range(a), _range(b)
    return begin < other_end and other_begin < end


def _is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return (a.data_ptr(), a.dtype, a.shape, a.stride()) == (b.data_ptr(), b.dtype, b.shape, b.stride())


def _refuse_overlap(plan: Plan, i: int, j: int) -> NoReturn:
    reason = (
        f"it shares memory with '{plan.slot(j).name}', which the call changes: some elements of the input "
        "tensor and the written-to tensor refer to a single memory location. Please clone() the tensor "
        "before performing the operation."
    )
    refuse("aliasing", plan.name, plan.slot(i).name, reason)


def _is_dense(tensor: torch.Tensor) -> bool:
    begin, end = _range(tensor)
    filled = bool(end - begin == tensor.numel() * tensor.element_size())
    return filled and torch._debug_has_internal_overlap(tensor) == 0
