"""Which overload a call of torch tensors means, and what is said where none is."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch.utils._python_dispatch import _disable_current_modes

from kernelfunctions import _kf
from kernelfunctions.torch._choice import MisfitError, bind, cost_of, is_cast_by_autocast, slots_of, values_of
from kernelfunctions.torch._description import Call, Description, Leaf
from kernelfunctions.torch._errors import refuse

#: So many overloads are shown where none fits.
_MOST_SHOWN = 3


def choose(
    description: Description, args: Sequence[Any], kwargs: Mapping[str, Any], autocast: bool
) -> tuple[Call, list[Any]]:
    """Returns the overload that is meant, and what is given for its slots; raises MisfitError."""
    best: tuple[int, Call, list[Any]] | None = None
    refusals: list[tuple[Call, MisfitError]] = []

    def casts(value: torch.Tensor, leaf: Leaf) -> bool:
        return autocast and leaf.is_cast_by_autocast and is_cast_by_autocast(value)

    for call in description.calls:
        slots = slots_of(call)
        try:
            values = values_of(call, slots, bind(call, args, kwargs))
            cost = sum(cost_of(slot, value, casts) for slot, value in zip(slots, values, strict=True))
        except MisfitError as misfit:
            refusals.append((call, misfit))
            continue
        if best is None or cost < best[0]:
            best = (cost, call, values)
    if best is not None:
        return best[1], best[2]
    # What has the wrong extents alone is nearer than what has the wrong type or rank.
    refusals = [one for one in refusals if one[1].code == "shape-mismatch"] or refusals
    if len(refusals) == 1:
        raise refusals[0][1]
    text = "no overload takes these arguments; candidates:"
    for call, why in refusals[:_MOST_SHOWN]:
        argument = f"argument '{why.argument}': " if why.argument else ""
        text += f"\n  {call.text}\n    {argument}{why.reason}"
    if len(refusals) > _MOST_SHOWN:
        text += f"\n  and {len(refusals) - _MOST_SHOWN} more: '{description.name}.signatures' lists them"
    raise MisfitError("", text, "no-overload")


def refuse_call(
    function: _kf.Function, args: Sequence[Any], kwargs: Mapping[str, Any], misfit: MisfitError
) -> NoReturn:
    """Raises what the same call raises where nothing watches it, or else why it was refused here."""
    forward_mode = torch.autograd.forward_ad._set_fwd_grad_enabled(False)
    with torch.no_grad(), forward_mode, _disable_current_modes():
        _kf._resolve_call(function, tuple(args), dict(kwargs))
    refuse(misfit.code, function.name, misfit.argument, misfit.reason)
