"""torch.func.vmap over calls: the batch becomes part of a dimension of the call, or one call a sample."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from kernelfunctions.torch._description import Leaf
from kernelfunctions.torch._plan import Cell, Plan


class _Merging:
    """How a batch becomes part of a call's first dimension, so that one launch does."""

    def __init__(self, plan: Plan, size: int, values: Sequence[Any], dims: Sequence[int | None]) -> None:
        self.plan = plan
        self.size = size
        #: Extent of the first dimension in each sample's call; None where merging can't be.
        self.extent = self._extent(values, dims)

    def _extent(self, values: Sequence[Any], dims: Sequence[int | None]) -> int | None:
        call = self.plan.call
        if call.rank == 0 or call.dispatch != "elements" or call.strict_broadcasting:
            return None
        for leaf in call.leaves:
            # What counts calls, or has extents in its element, is another in a larger call.
            if leaf.generator or leaf.call_rank > leaf.rank or leaf.combined:
                return None
            if leaf.role != "in" and 0 not in leaf.map:
                return None
        samples = [_first(value, dim) for value, dim in zip(values, dims, strict=True)]
        for place, dim in enumerate(dims):
            leaf_or_none = self.plan.slot(place).leaf
            if dim is not None and (leaf_or_none is None or 0 not in leaf_or_none.map):
                return None
        extent = self.plan.shape(samples, None)[0]
        return int(extent)

    def merged(self, value: Any, dim: int | None, leaf: Leaf | None) -> Any:
        """Returns a value for the call of the whole batch."""
        if leaf is None or not isinstance(value, torch.Tensor) or 0 not in leaf.map:
            return value
        place = leaf.map.index(0)
        batched = value.unsqueeze(place) if dim is None else value.movedim(dim, place)
        shape = list(batched.shape)
        shape[place] = self.size
        shape[place + 1] = self.extent
        return batched.expand(shape).flatten(place, place + 1)

    def parted(self, tensor: Any, leaf: Leaf) -> tuple[Any, int | None]:
        """Returns what came out, by samples, and the dimension that they are along."""
        if tensor is None:
            return None, None
        place = leaf.map.index(0)
        return tensor.unflatten(place, (self.size, self.extent)), place


def _of_tensors(values: Sequence[Any], dims: Sequence[Any]) -> list[int | None]:
    """Returns the dimensions of tensors; a struct by value has a tree of them, which are all None."""
    return [dim if isinstance(one, torch.Tensor) else None for one, dim in zip(values, dims, strict=True)]


def _first(value: Any, dim: int | None) -> Any:
    """Returns a sample, of which the shape counts: a batch may have none."""
    if dim is None:
        return value
    if value.shape[dim] == 0:
        return value.new_empty([extent for d, extent in enumerate(value.shape) if d != dim])
    return value.select(dim, 0)


def _selected(values: Sequence[Any], dims: Sequence[Any], sample: int) -> list[Any]:
    return [
        value if dim is None else value.select(dim, sample) for value, dim in zip(values, dims, strict=True)
    ]


def _stacked(samples: list[Sequence[Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Returns outputs of calls of single samples together, and their dimensions."""
    if not samples:
        raise ValueError("vmap over a batch of 0 samples: this call is made once for each")
    joined = [None if one[0] is None else torch.stack(list(one)) for one in zip(*samples, strict=True)]
    return tuple(joined), tuple(None if one is None else 0 for one in joined)


def _leaves(plan: Plan) -> list[Leaf | None]:
    return [plan.slot(place).leaf for place in range(len(plan.inputs))]


def batched_call(apply: Callable[..., Any], info: Any, in_dims: Any, cell: Cell, given: Any) -> Any:
    """Makes calls of a whole batch. `given`: a plan, and values; `in_dims`: of the values."""
    plan, *values = given
    in_dims = _of_tensors(values, in_dims)
    if not cell.more:
        merging = _Merging(plan, info.batch_size, values, in_dims)
        if merging.extent is not None:
            taken = [
                merging.merged(value, dim, leaf)
                for value, dim, leaf in zip(values, in_dims, _leaves(plan), strict=True)
            ]
            outputs = apply(plan, cell, *taken)
            parted = [
                merging.parted(one, output.leaf) for one, output in zip(outputs, plan.outputs, strict=True)
            ]
            return tuple(one for one, _ in parted), tuple(dim for _, dim in parted)
    samples = [apply(plan, cell, *_selected(values, in_dims, i)) for i in range(info.batch_size)]
    return _stacked(samples)


def batched_gradients(apply: Callable[..., Any], info: Any, in_dims: Any, head: Any, tensors: Any) -> Any:
    """Computes gradients for a whole batch. `head`: a plan, its call's keywords, what is needed, flows."""
    plan, more, needs, count = head
    in_dims = _of_tensors(tensors, in_dims)
    values, dims = tensors[count:], in_dims[count:]
    leaves = _leaves(plan)
    merging = _Merging(plan, info.batch_size, values, dims)
    are_own = all(
        leaf is not None and 0 in leaf.map for leaf, need in zip(leaves, needs, strict=True) if need
    )
    if not more and merging.extent is not None and are_own:
        flows = [
            merging.merged(flow, dim, output.leaf)
            for flow, dim, output in zip(tensors[:count], in_dims[:count], plan.outputs, strict=True)
        ]
        taken = [
            merging.merged(value, dim, leaf) for value, dim, leaf in zip(values, dims, leaves, strict=True)
        ]
        found = apply(plan, more, needs, count, None, *flows, *taken)
        kept = [
            (value, dim, leaf)
            for value, dim, leaf, need in zip(values, dims, leaves, needs, strict=True)
            if need
        ]
        parted = [_gradient_of(merging, one, *kept[i]) for i, one in enumerate(found)]
        return tuple(one for one, _ in parted), tuple(dim for _, dim in parted)
    samples = [
        apply(plan, more, needs, count, None, *_selected(tensors, in_dims, i)) for i in range(info.batch_size)
    ]
    return _stacked(samples)


def _gradient_of(
    merging: _Merging, gradient: torch.Tensor, value: torch.Tensor, dim: int | None, leaf: Leaf | None
) -> tuple[Any, int | None]:
    """Returns a gradient by samples: summed where a sample's value was broadcast."""
    assert leaf is not None
    parted, place = merging.parted(gradient, leaf)
    assert place is not None
    if _first(value, dim).shape[place] == 1 and merging.extent != 1:
        parted = parted.sum(place + 1, keepdim=True)
    return parted, place


def batched_tangents(apply: Callable[..., Any], info: Any, in_dims: Any, head: Any, tensors: Any) -> Any:
    """Computes tangents of a whole batch, sample by sample."""
    in_dims = _of_tensors(tensors, in_dims)
    samples = [apply(*head, *_selected(tensors, in_dims, i)) for i in range(info.batch_size)]
    return _stacked(samples)


def batched_operator(op: Callable[..., Any], info: Any, in_dims: Any, given: Any) -> Any:
    """Calls an operator of torch.library for a whole batch, sample by sample."""
    in_dims = _of_tensors(given, in_dims)
    samples = [op(*_selected(given, in_dims, i)) for i in range(info.batch_size)]
    if samples and isinstance(samples[0], torch.Tensor):
        return torch.stack(samples), 0
    joined, dims = _stacked(samples)
    # Backward passes return lists.
    return (list(joined), list(dims)) if isinstance(samples[0], list) else (joined, dims)


#: Whether a gradient is a batch of torch.autograd.grad(is_grads_batched=True), which isn't torch.func's.
is_batch_of_flows = torch._C._functorch.is_legacy_batchedtensor


#: kVmapNumLevels of PyTorch.
_MOST_LEVELS = 64


def gradients_of_batch(
    name: str, flows: Sequence[Any], compute: Callable[[list[Any]], Sequence[Any]]
) -> tuple[Any, ...]:
    """Computes gradients for each sample of what flows in, by `compute`, and returns them as a batch."""
    level = _level_of(flows)
    if level is None:
        raise RuntimeError(
            f"{name}: batches of batches of gradients aren't taken: torch.func.vmap() has them"
        )
    parts = [torch._remove_batch_dim(one, level, 0, 0) if _is_batch(one) else None for one in flows]
    count = next(len(one) for one in parts if one is not None)
    samples = [
        compute([flow if part is None else part[i] for flow, part in zip(flows, parts, strict=True)])
        for i in range(count)
    ]
    joined, _ = _stacked(samples)
    return tuple(None if one is None else torch._add_batch_dim(one, 0, level) for one in joined)


def _level_of(flows: Sequence[Any]) -> int | None:
    """Returns the level of torch's vmap that all batches are of; None where some are of several.

    Asks the tensors: a GPU's backward passes run on a thread of PyTorch's own, which has no level.
    """
    batches = [one for one in flows if _is_batch(one)]
    for level in range(1, _MOST_LEVELS + 1):
        if not any(is_batch_of_flows(torch._remove_batch_dim(one, level, 0, 0)) for one in batches):
            return level
    return None


def _is_batch(flow: Any) -> bool:
    return flow is not None and is_batch_of_flows(flow)
