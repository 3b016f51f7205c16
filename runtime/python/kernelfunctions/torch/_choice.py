"""Which overload a watched call means: the extension chooses, by descriptions of its tensors."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._description import Call, Description
from kernelfunctions.torch._errors import refuse
from kernelfunctions.torch._slots import slots_of


def choose(
    function: _kf.Function,
    description: Description,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    casts: bool,
) -> tuple[Call, list[Any]]:
    """Returns the overload that is meant, and what is given for its slots. `casts`: by torch.autocast()."""
    number, values = _kf._choose_call(function, tuple(args), dict(kwargs), casts)
    call = description.calls[number]
    for leaf in call.leaves:
        if leaf.is_texture:
            reason = (
                "textures and samplers are no arguments of PyTorch's operators: detach() the tensors, or "
            )
            refuse("type-mismatch", description.name, leaf.name, reason + "call under torch.no_grad()")
    return call, values


def given_for(
    function: _kf.Function, call: Call, args: Sequence[Any], kwargs: Mapping[str, Any], casts: bool
) -> list[Any]:
    """Returns what is given for the slots of an overload that is known."""
    return _kf._choose_call(function, tuple(args), dict(kwargs), casts, call.number)[1]


#: For tensors of so many dimensions, the last extents by which overloads are told apart, the longest first.
Endings = tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]


def endings_of(calls: Sequence[Call]) -> Endings:
    """Returns the last extents that some overload wants of a tensor, and another one doesn't."""
    wanted: dict[Any, set[tuple[int, ...]]] = {}
    for call in calls:
        for slot in slots_of(call):
            if slot.leaf is None or slot.leaf.passing != "tensor" or slot.is_output:
                continue
            for key in (slot.name, (slot.owner, slot.path)):
                wanted.setdefault((key, slot.leaf.ndim), set()).add(slot.leaf.trailing)
    found: dict[int, set[tuple[int, ...]]] = {}
    for (_, ndim), every in wanted.items():
        if len(every) > 1:
            found.setdefault(ndim, set()).update(every)
    return tuple((ndim, tuple(sorted(every, key=len, reverse=True))) for ndim, every in found.items())


def ending_of(value: torch.Tensor, endings: Endings) -> Any:
    """Returns a tensor's last extents as far as they decide, 0 for others; None where none do.

    Can be traced.
    """
    for ndim, every in endings:
        if ndim != value.ndim:
            continue
        for extents in every:
            fits = True
            for i in range(len(extents)):
                if value.shape[ndim - len(extents) + i] != extents[i]:
                    fits = False
            if fits:
                return (0,) * (len(every[0]) - len(extents)) + extents
        return (0,) * len(every[0])
    return None


def tensor_kind(dtype: torch.dtype, ndim: int, ending: Sequence[int] | None = None) -> Any:
    """Returns what stands for a tensor of which no more is known."""
    ending = tuple(ending or ())
    return _kf._TensorKind(dtype, (None,) * (ndim - len(ending)) + ending)
