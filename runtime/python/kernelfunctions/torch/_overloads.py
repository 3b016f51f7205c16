"""Which overload a call of torch tensors means, and what is said where none is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kernelfunctions.torch._choice import MisfitError, Slot, TensorKind, bind, cost_of, slots_of, values_of
from kernelfunctions.torch._description import Call, Description, Leaf


def choose(
    description: Description, args: Sequence[Any], kwargs: Mapping[str, Any], autocast: bool
) -> tuple[Call, list[Any]]:
    """Returns the overload that is meant, and what is given for its slots; raises MisfitError."""
    best: tuple[int, Call, list[Any]] | None = None
    refusals: list[_Refused] = []

    def casts(value: torch.Tensor, leaf: Leaf) -> bool:
        return autocast and value.is_floating_point() and leaf.is_floating and leaf.passing == "tensor"

    for call in description.calls:
        slots = slots_of(call)
        values: list[Any] | None = None
        try:
            values = values_of(call, slots, bind(call, args, kwargs))
            cost = sum(cost_of(slot, value, casts) for slot, value in zip(slots, values, strict=True))
        except MisfitError as misfit:
            refusals.append(_Refused(call, misfit, values))
            continue
        if best is None or cost < best[0]:
            best = (cost, call, values)
    if best is not None:
        return best[1], best[2]
    raise _nearest(description.name, refusals, casts)


@dataclass
class _Refused:
    """An overload that a call isn't for, and why; no values where its arguments have no places."""

    call: Call
    misfit: MisfitError
    values: list[Any] | None


#: So many overloads are shown where none fits.
_MOST_SHOWN = 3


def _nearest(name: str, refusals: list[_Refused], casts: Any) -> MisfitError:
    """Returns what is said of overloads of which none fits: of those that are nearest to the call."""
    distances = [_distance(one, casts) for one in refusals]
    nearest = [one for one, distance in zip(refusals, distances, strict=True) if distance == min(distances)]
    reasons = {(one.misfit.argument, one.misfit.reason) for one in nearest}
    if len(refusals) == 1 or (len(reasons) == 1 and nearest[0].values is None):
        return nearest[0].misfit
    text = "no overload takes these arguments; candidates:"
    for one in nearest[:_MOST_SHOWN]:
        argument = f"argument '{one.misfit.argument}': " if one.misfit.argument else ""
        text += f"\n  {one.call.text}\n    {argument}{one.misfit.reason}"
    left = len(refusals) - len(nearest[:_MOST_SHOWN])
    if left:
        text += f"\n  and {left} more, not nearer: '{name}.signatures' lists them"
    return MisfitError("", text)


def _distance(refused: _Refused, casts: Any) -> int:
    """Returns how much of a call would have to be different for an overload."""
    if refused.values is None:
        return 1000
    distance = 0
    for slot, value in zip(slots_of(refused.call), refused.values, strict=True):
        try:
            cost_of(slot, value, casts)
        except MisfitError:
            distance += 1 if _has_rank(slot, value) else 2
    return distance


def _has_rank(slot: Slot, value: Any) -> bool:
    leaf = slot.leaf
    if leaf is None or leaf.passing != "tensor" or not isinstance(value, torch.Tensor | TensorKind):
        return False
    return value.dim() == leaf.ndim
