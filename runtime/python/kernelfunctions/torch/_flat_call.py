"""The calls that training makes most: positional tensors and numbers in, one new tensor out."""

from collections.abc import Sequence
from typing import Any

import torch
from torch._C import _FunctionBase

from kernelfunctions._kf import with_gradients
from kernelfunctions.torch._autograd import WatchedCall
from kernelfunctions.torch._plan import Plan

_functorch_is_active = torch._C._are_functorch_transforms_active
_is_grad_enabled = torch.is_grad_enabled
_is_deterministic = torch.are_deterministic_algorithms_enabled

#: Gradients of at most so many elements share one fill with zeros on a GPU.
_SMALL = 1 << 16
#: Elements between them, so that each is aligned as memory of its own would be.
_ALIGNMENT = 64


class FlatCall(WatchedCall):
    """One call of a flat plan, where no transform of torch.func is active."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, *values: Any) -> torch.Tensor:  # type: ignore[override]
        output = plan.function(*values)
        tensors = plan.tensors
        if len(tensors) == len(values):
            ctx.save_for_backward(*values)
        else:
            ctx.save_for_backward(*[values[i] for i in tensors])
            ctx.constants = constants = list(values)
            for i in tensors:
                constants[i] = None
        ctx.plan = plan
        ctx.set_materialize_grads(False)
        if not plan.outputs[0].differentiable:
            ctx.mark_non_differentiable(output)
        return output

    @staticmethod
    def backward(ctx: Any, flow: Any) -> Any:
        plan: Plan = ctx.plan
        values = _values(ctx)
        needs = ctx.needs_input_grad
        if plan.backward is None:
            plan.refuse_backward()
        if flow is None:
            return (None,) * len(needs)
        if _is_grad_enabled() or _is_deterministic() or _functorch_is_active():
            return _watched_backward(plan, flow, values, needs)
        found: list[Any] = [None] * len(needs)
        rooms = _rooms(plan, values, needs)
        for i in plan.tensors:
            value = values[i]
            if not plan.has_gradients[i]:
                if value.requires_grad:
                    values[i] = value.detach()
                continue
            room = rooms.get(i)
            if needs[i + 1]:
                found[i + 1] = room
            values[i] = with_gradients(value, None, room)
        plan.backward(*values, out=with_gradients(flow, flow))
        return tuple(found)

    setup_context = staticmethod(torch.autograd.Function.setup_context)


flat_apply = _FunctionBase.__dict__["apply"].__get__(None, FlatCall)


def _values(ctx: Any) -> list[Any]:
    plan: Plan = ctx.plan
    saved = ctx.saved_tensors
    if len(saved) == len(plan.inputs):
        return list(saved)
    values = list(ctx.constants)
    for i, tensor in zip(plan.tensors, saved, strict=True):
        values[i] = tensor
    return values


def _watched_backward(plan: Plan, flow: Any, values: list[Any], needs: Sequence[bool]) -> Any:
    """Takes the way of calls that are anything but flat."""
    return WatchedCall.gradients_of(plan, None, (flow,), values, needs[1:], 1)


def _rooms(plan: Plan, values: Sequence[Any], needs: Sequence[bool]) -> dict[int, torch.Tensor]:
    """Returns where gradients go. Small ones on a GPU are filled with zeros by one kernel."""
    wanted = [i for i in plan.rooms if needs[i + 1] or plan.is_required[i]]
    if len(wanted) > 1 and values[wanted[0]].is_cuda:
        like = values[wanted[0]]
        joined = [
            i
            for i in wanted
            if plan.is_zeroed[i]
            and (value := values[i]).dtype == like.dtype
            and value.numel() <= _SMALL
            and value.is_contiguous()
        ]
        if len(joined) > 1:
            rooms = _joined(values, joined, like)
            rooms.update((i, plan.gradient_like(i, values[i])) for i in wanted if i not in rooms)
            return rooms
    return {i: plan.gradient_like(i, values[i]) for i in wanted}


def _joined(values: Sequence[Any], places: Sequence[int], like: torch.Tensor) -> dict[int, torch.Tensor]:
    sizes: list[int] = []
    for i in places:
        count = values[i].numel()
        sizes += (count, -count % _ALIGNMENT)
    # Pieces of an unsafe split have versions of their own, as tensors of their own would.
    pieces = torch.unsafe_split_with_sizes(like.new_zeros(sum(sizes)), sizes)
    return {i: piece.view(values[i].shape) for i, piece in zip(places, pieces[::2], strict=True)}
