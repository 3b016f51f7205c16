"""torch.func.vmap over calls: the batch becomes part of a dimension of the call, or one call a sample."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch._subclasses import FakeTensorMode

from kernelfunctions.torch._description import Leaf
from kernelfunctions.torch._errors import refuse
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
        for place, (value, dim) in enumerate(zip(values, dims, strict=True)):
            leaf_or_none = self.plan.slot(place).leaf
            if dim is not None and (leaf_or_none is None or 0 not in leaf_or_none.map):
                return None
            # Arrays and lists aren't repeated for each sample.
            if leaf_or_none is not None and leaf_or_none.is_memory and not isinstance(value, torch.Tensor):
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


def _by_sample(
    call: Callable[..., Any], size: int, values: Sequence[Any], dims: Sequence[Any], like: Callable[..., Any]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Makes one call for each sample, and returns their outputs together, and the outputs' dimensions.

    `like` returns tensors of the shapes and types that a call of a sample makes: a batch may be of none.
    """
    if size > 0:
        return _stacked([call(*_selected(values, dims, i)) for i in range(size)])
    made = like([_first(value, dim) for value, dim in zip(values, dims, strict=True)])
    outputs = tuple(
        None if one is None else torch.empty((0, *one.shape), dtype=one.dtype, device=one.device)
        for one in made
    )
    return outputs, tuple(None if one is None else 0 for one in outputs)


def _made_by_operator(op: Callable[..., Any], sample: Sequence[Any]) -> Sequence[Any]:
    with FakeTensorMode() as mode:
        made = op(*(mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for one in sample))
    return (made,) if isinstance(made, torch.Tensor) else made


def _stacked(samples: list[Sequence[Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Returns outputs of calls of single samples together, and their dimensions."""
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
    return _by_sample(
        partial(apply, plan, cell),
        info.batch_size,
        values,
        in_dims,
        lambda sample: plan.outputs_like(sample, cell.more),
    )


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
    return _by_sample(
        partial(apply, plan, more, needs, count, None),
        info.batch_size,
        tensors,
        in_dims,
        lambda sample: [one for one, need in zip(sample[count:], needs, strict=True) if need],
    )


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
    plan, more, count = head

    def like(sample: Sequence[Any]) -> list[Any]:
        outputs = plan.outputs_like(sample[:count], more)
        return [
            one if known.differentiable else None for one, known in zip(outputs, plan.outputs, strict=True)
        ]

    return _by_sample(partial(apply, *head), info.batch_size, tensors, in_dims, like)


def batched_operator(op: Callable[..., Any], info: Any, in_dims: Any, given: Any) -> Any:
    """Calls an operator of torch.library for a whole batch, sample by sample."""
    in_dims = _of_tensors(given, in_dims)
    forms = []

    def call(*sample: Any) -> Any:
        made = op(*sample)
        forms.append(type(made))
        return (made,) if isinstance(made, torch.Tensor) else made

    joined, dims = _by_sample(call, info.batch_size, given, in_dims, partial(_made_by_operator, call))
    if forms[0] is list:  # of backward passes
        return list(joined), list(dims)
    return (joined, dims) if forms[0] is tuple else (joined[0], dims[0])


#: Whether a gradient is a batch of torch.autograd.grad(is_grads_batched=True), which isn't torch.func's.
is_batch_of_flows = torch._C._functorch.is_legacy_batchedtensor


#: kVmapNumLevels of PyTorch.
_MOST_LEVELS = 64


def derivatives_of_batch(
    name: str, flows: Sequence[Any], compute: Callable[[list[Any]], Sequence[Any]]
) -> tuple[Any, ...]:
    """Computes gradients or tangents for each sample of what flows in, by `compute`, and returns a batch."""
    level = _level_of(flows)
    if level is None:
        reason = "batches of batches of derivatives aren't taken: torch.func.vmap() has them"
        refuse("not-differentiable", name, "", reason)
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
    return isinstance(flow, torch.Tensor) and bool(is_batch_of_flows(flow))
