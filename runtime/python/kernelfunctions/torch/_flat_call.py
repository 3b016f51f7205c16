"""The calls that training makes most: positional tensors and numbers in, one new tensor out."""

from collections.abc import Sequence
from typing import Any

import torch
from torch._C import _FunctionBase

from kernelfunctions._kf import flat_backward, with_gradients
from kernelfunctions.torch._autograd import WatchedCall
from kernelfunctions.torch._plan import Plan

_functorch_is_active = torch._C._are_functorch_transforms_active
zeros_like = torch.zeros_like
_is_grad_enabled = torch.is_grad_enabled
_is_deterministic = torch.are_deterministic_algorithms_enabled

#: Gradients of at most so many elements share one fill with zeros on a GPU.
_SMALL = 1 << 16


class FlatCall(WatchedCall):
    """One call of a flat plan, where no transform of torch.func is active."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, *values: Any) -> torch.Tensor:  # type: ignore[override]
        output = plan.function(*values)
        # What save_for_backward() and set_materialize_grads() set, without a call of Python's for each.
        if plan.takes_tensors:
            ctx.to_save = values
        else:
            tensors = plan.tensors
            ctx.to_save = tuple([values[i] for i in tensors])
            ctx.constants = constants = list(values)
            for i in tensors:
                constants[i] = None
        ctx.plan = plan
        ctx.materialize_grads = False
        if not plan.carries_flow:
            ctx.mark_non_differentiable(output)
        return output

    @staticmethod
    def backward(ctx: Any, flow: Any) -> Any:
        plan: Plan = ctx.plan
        saved = ctx.saved_tensors
        kept: tuple[Any, ...] = saved if plan.takes_tensors else _values(ctx, plan, saved)
        needs = ctx.needs_input_grad
        if plan.backward is None:
            plan.refuse_backward()
        if flow is None:
            return (None,) * len(needs)
        if _is_grad_enabled() or _is_deterministic() or _functorch_is_active():
            # The way of calls that are anything but flat.
            return WatchedCall.gradients_of(plan, None, (flow,), list(kept), needs[1:], 1)
        made = flat_backward(plan.backward, flow, kept, needs, plan.gradients)
        if made is not None:
            return made
        values = list(kept)
        found: list[Any] = [None] * len(needs)
        rooms = _joined(plan, values, needs) if flow.is_cuda and len(plan.rooms) > 1 else None
        for i in plan.tensors:
            value = values[i]
            if not plan.has_gradients[i]:
                if value.requires_grad:
                    values[i] = value.detach()
                continue
            room = rooms.get(i) if rooms is not None else None
            if room is None and (needs[i + 1] or plan.is_required[i]):
                room = zeros_like(value) if plan.is_added[i] else plan.gradient_like(i, value)
            if needs[i + 1]:
                found[i + 1] = room
            values[i] = with_gradients(value, None, room)
        plan.backward(*values, out=with_gradients(flow, flow))
        return tuple(found)

    setup_context = staticmethod(torch.autograd.Function.setup_context)


flat_apply = _FunctionBase.__dict__["apply"].__get__(None, FlatCall)


def take_backward(kind: Any) -> None:
    """Has autograd call backward() itself, and not by way of a function of PyTorch's that looks for it."""
    node = getattr(kind, "_backward_cls", None)
    if node is not None and hasattr(node, "apply"):
        node.apply = kind.backward


take_backward(FlatCall)


def _values(ctx: Any, plan: Plan, saved: Sequence[Any]) -> tuple[Any, ...]:
    values = list(ctx.constants)
    for i, tensor in zip(plan.tensors, saved, strict=True):
        values[i] = tensor
    return tuple(values)


def _joined(plan: Plan, values: Sequence[Any], needs: Sequence[bool]) -> dict[int, torch.Tensor] | None:
    """Returns where small gradients on a GPU go, zeros by one kernel; None where that saves none."""
    places = [
        i
        for i in plan.rooms
        if needs[i + 1] and plan.is_added[i] and values[i].numel() <= _SMALL and values[i].is_contiguous()
    ]
    if len(places) < 2:
        return None
    like = values[places[0]]
    places = [i for i in places if values[i].dtype == like.dtype]
    sizes = [values[i].numel() for i in places]
    # Pieces of an unsafe split have versions of their own, as tensors of their own would.
    pieces = torch.unsafe_split_with_sizes(like.new_zeros(sum(sizes)), sizes)
    return {
        i: piece if values[i].dim() == 1 else piece.view(values[i].shape)
        for i, piece in zip(places, pieces, strict=True)
    }
