"""Losses whose gradients come with them, in one launch, where the loss is one sum."""

from typing import Any

import torch

from kernelfunctions._kf import with_gradients
from kernelfunctions.torch._flat_call import FlatCall
from kernelfunctions.torch._plan import Plan

_is_deterministic = torch.are_deterministic_algorithms_enabled


class FusedCall(FlatCall):
    """One call of a sum: what flows into it later only scales the gradients that came with it."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, *values: Any) -> torch.Tensor:  # type: ignore[override]
        ctx.plan = plan
        needs = ctx.needs_input_grad
        ctx.places = places = []
        if _is_deterministic() or not any(needs[i + 1] for i in plan.rooms):
            return FlatCall.forward(ctx, plan, *values)
        given = list(values)
        rooms = []
        for i in plan.rooms:
            if needs[i + 1] or plan.is_required[i]:
                room = plan.gradient_like(i, values[i])
                if needs[i + 1]:
                    places.append(i + 1)
                    rooms.append(room)
                given[i] = with_gradients(values[i], None, room, plan.is_new[i])
        output = plan.fused(*given)
        # Autograd sees changes in place of what it saves, though nothing of it is read again, and frees it.
        ctx.save_for_backward(*[values[i] for i in plan.tensors], *rooms)
        ctx.constants = [None if isinstance(one, torch.Tensor) else one for one in values]
        ctx.set_materialize_grads(False)
        return output

    @staticmethod
    def backward(ctx: Any, flow: Any) -> Any:
        saved = ctx.saved_tensors  # refuses what has been changed since, and what is gone
        count = len(ctx.plan.tensors)
        if torch.is_grad_enabled() or flow is None or not ctx.places:
            return FlatCall.gradients(ctx, flow, saved[:count])
        scale = flow.reshape(())
        found: list[Any] = [None] * len(ctx.needs_input_grad)
        for place, room in zip(ctx.places, saved[count:], strict=True):
            found[place] = room * scale.to(room.dtype)
        return tuple(found)
