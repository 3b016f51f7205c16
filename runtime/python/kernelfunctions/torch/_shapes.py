"""The shapes of what calls make, by the binder's rules. Extents may be symbolic."""

from collections.abc import Sequence
from typing import Any

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._description import Call, Leaf

Shape = Sequence[Any]

#: What is given for a leaf: a tensor's dtype, or None, and its shape, elements' extents last.
Given = tuple[Leaf, torch.dtype | None, Shape]


def call_shape(
    function: _kf.Function, call: Call, given: Sequence[Given], shape: Shape | None = None
) -> list[Any]:
    """Returns a call's shape; refuses what the call itself would refuse."""
    every = [extents for _, _, extents in given] + ([] if shape is None else [shape])
    if all(isinstance(extent, int) for extents in every for extent in extents):
        return _bound(function, call, given, shape)
    feeds: list[list[Any]] = [[] if shape is None else [shape[d]] for d in range(call.rank)]
    for leaf, _, extents in given:
        for d, extent in zip(leaf.map, extents, strict=False):
            feeds[d].append(extent)
    # What depends on data counts as what the others are, as PyTorch has it, and compiled code checks it.
    usual = [next((one for one in map(_hint, feed) if one not in (None, 1)), 1) for feed in feeds]
    numbers = [(leaf, dtype, _numbers(leaf, extents, usual)) for leaf, dtype, extents in given]
    stated = None if shape is None else [_known(extent, usual[d]) for d, extent in enumerate(shape)]
    made = _bound(function, call, numbers, stated)
    for (leaf, _, extents), (_, _, known) in zip(given, numbers, strict=True):
        for k in range(len(extents) - len(leaf.trailing), len(extents)):
            _require(extents[k], known[k])
    return [_settled(feed, extent) for feed, extent in zip(feeds, made, strict=True)]


def _bound(
    function: _kf.Function, call: Call, given: Sequence[Given], shape: Sequence[int] | None
) -> list[int]:
    parties = [(leaf.first, leaf.count, leaf.is_struct, dtype, extents) for leaf, dtype, extents in given]
    return _kf._call_shape(function, call.number, parties, shape)


def _hint(extent: Any) -> int | None:
    """Returns what an extent is where the code is traced; None for one that depends on data."""
    if isinstance(extent, int):
        return extent
    return int(extent.node.hint) if extent.node.has_hint() else None


def _known(extent: Any, otherwise: int) -> int:
    hint = _hint(extent)
    return otherwise if hint is None else hint


def _numbers(leaf: Leaf, extents: Shape, usual: Sequence[int]) -> list[int]:
    inner = len(extents) - len(leaf.map) - len(leaf.trailing)
    others = [*(usual[d] for d in leaf.map), *[1] * inner, *leaf.trailing]
    return [_known(extent, other) for extent, other in zip(extents, others, strict=False)]


def _settled(feed: Sequence[Any], extent: int) -> Any:
    """Returns the extent of one of the call's dimensions, and has traced code guard that it is that."""
    alike = [one for one in feed if _hint(one) == (None if extent == 1 else extent)]
    owner = next((one for one in alike if isinstance(one, int)), alike[0] if alike else extent)
    for one in feed:
        _require(one, 1 if _hint(one) == 1 else owner)
    return owner


def _require(extent: Any, other: Any) -> None:
    if not isinstance(extent, int) and extent is not other:
        torch._check(extent == other)


def made_shape(leaf: Leaf, shape: Shape) -> list[Any]:
    """Returns the shape of an output that the call makes: an empty one for a number."""
    return [shape[-1 - extent] if extent < 0 else extent for extent in leaf.made]
