"""The shapes of what calls make, by the rules that the binder has. Extents may be symbolic."""

from collections.abc import Sequence
from typing import Any

import torch

from kernelfunctions.torch._description import Call, Leaf
from kernelfunctions.torch._errors import refuse

Shape = Sequence[Any]


def _is_one(extent: Any) -> bool:
    """Whether it is broadcast. An extent that depends on data counts as another one, as PyTorch has it."""
    return _guarded("guard_or_false", extent, 1)


def _are_equal(extent: Any, other: Any) -> bool:
    """Whether extents are equal; of one that depends on data, compiled code checks it when it runs."""
    if not _guarded("guard_or_true", extent, other):
        return False
    if not isinstance(extent, int) or not isinstance(other, int):
        torch._check(extent == other)
    return True


def _guarded(name: str, extent: Any, other: Any) -> bool:
    if isinstance(extent, int) and isinstance(other, int):
        return extent == other
    from torch.fx.experimental import symbolic_shapes  # noqa: PLC0415

    # Newer than PyTorch 2.6.
    return bool(getattr(symbolic_shapes, name, bool)(extent == other))


class _Broadcast:
    """A call's shape, while arguments give it their extents."""

    def __init__(self, name: str, rank: int, shape: Shape | None) -> None:
        if shape is not None and len(shape) != rank:
            refuse("shape-mismatch", name, "shape", f"expected {rank} extents, found {len(shape)}")
        self.name = name
        self.shape: list[Any] = [1] * rank if shape is None else list(shape)
        self.owners: list[Leaf | None] = [None] * rank
        self.fed = [shape is not None] * rank

    def feed(self, leaf: Leaf, extents: Shape) -> None:
        """Takes what a leaf gives; None among its extents is one that isn't known yet."""
        for k, d in enumerate(leaf.map):
            extent = extents[k]
            if extent is None:
                continue
            self.fed[d] = True
            if extent is self.shape[d] or _is_one(extent):
                continue
            if _is_one(self.shape[d]):
                self.shape[d] = extent
                self.owners[d] = leaf
            elif not _are_equal(self.shape[d], extent):
                owner = self.owners[d]
                other = f" of argument '{owner.name}'" if owner is not None else ""
                reason = f"dimension {k} of shape {list(extents)}: extent {extent} doesn't broadcast with "
                reason += f"extent {self.shape[d]}{other} (equal extents do, and 1)"
                refuse("shape-mismatch", self.name, leaf.name, reason)


def call_shape(name: str, call: Call, given: dict[int, Shape], shape: Shape | None = None) -> list[Any]:
    """Returns a call's shape. `given`: the shape of what is given for a leaf, elements' extents last."""
    broadcast = _Broadcast(name, call.rank, shape)
    for outputs in (False, True):
        for leaf in call.leaves:
            if (leaf.role != "in") is not outputs:
                continue
            extents = given.get(leaf.index)
            if extents is None and outputs:
                extents = _fixed_extents(leaf)
            if extents is not None:
                broadcast.feed(leaf, extents)
    for d, is_fed in enumerate(broadcast.fed):
        if not is_fed:
            reason = f"no argument gives dimension {d} of the call's shape: give the output or the shape"
            refuse("shape-mismatch", name, "", reason)
    if call.strict_broadcasting:
        _check_strict(name, call, given, broadcast.shape)
    return broadcast.shape


def _fixed_extents(leaf: Leaf) -> list[Any] | None:
    """The extents that an output which isn't given has in its element, whatever the call's shape is."""
    if leaf.rank >= leaf.call_rank:
        return None
    return [None if k < leaf.rank else leaf.extents[k - leaf.rank] for k in range(leaf.call_rank)]


def _check_strict(name: str, call: Call, given: dict[int, Shape], shape: list[Any]) -> None:
    for leaf in call.leaves:
        extents = given.get(leaf.index)
        if leaf.role != "in" or extents is None or leaf.call_rank == 0:
            continue
        for d, extent in enumerate(shape):
            own = extents[leaf.map.index(d)] if d in leaf.map else None
            if own is None or own != extent:
                reason = f"broadcasting is forbidden (strict_broadcasting): shape {list(extents)} has no "
                reason += f"extent {extent} for dimension {d} of the call"
                refuse("shape-mismatch", name, leaf.name, reason)


def made_shape(leaf: Leaf, shape: Shape) -> list[Any]:
    """Returns the shape of an output that the call makes: an empty one for a number."""
    single = leaf.combined and leaf.call_rank == len(shape)
    extents: list[Any] = []
    for k, d in enumerate(leaf.map):
        extents.append((1 if single else shape[d]) if k < leaf.rank else leaf.extents[k - leaf.rank])
    return extents + list(leaf.trailing)
