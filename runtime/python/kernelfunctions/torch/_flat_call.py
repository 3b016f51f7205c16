"""The calls that training makes most: positional tensors and numbers in, one new tensor out."""

from collections.abc import Sequence
from typing import Any

import torch

from kernelfunctions._kf import flat_backward
from kernelfunctions.torch._autograd import WatchedCall
from kernelfunctions.torch._batching import derivatives_of_batch, is_batch_of_flows
from kernelfunctions.torch._gradients import flat_gradients
from kernelfunctions.torch._plan import Plan

_functorch_is_active = torch._C._are_functorch_transforms_active
_is_grad_enabled = torch.is_grad_enabled


class FlatCall(WatchedCall):
    """One call of a flat plan, where no transform of torch.func is active."""

    #: See _named.py.
    is_called_straight = True

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
        if not plan.carries_flow or plan.is_constant(ctx.needs_input_grad[1:]):
            ctx.mark_non_differentiable(output)
        return output

    @staticmethod
    def backward(ctx: Any, flow: Any) -> Any:
        return FlatCall.gradients(ctx, flow, ctx.saved_tensors)

    @staticmethod
    def gradients(ctx: Any, flow: Any, saved: tuple[Any, ...]) -> Any:
        """Returns the gradients of what the call was given, whose tensors these are."""
        plan: Plan = ctx.plan
        kept: tuple[Any, ...] = saved if plan.takes_tensors else _values(ctx, plan, saved)
        needs = ctx.needs_input_grad
        if plan.backward is None:
            plan.refuse_backward()
        if flow is None:
            return (None,) * len(needs)
        if _is_grad_enabled() or _functorch_is_active():
            # The way of calls that are anything but flat.
            return WatchedCall.gradients_of(plan, None, (flow,), list(kept), needs[1:], 1)
        flow = plan.outputs[0].leaf.laid_out(flow)
        made = flat_backward(plan.backward, flow, kept, needs, plan.gradients)
        if made is not None:
            return made
        if is_batch_of_flows(flow):
            return derivatives_of_batch(
                plan.name, [flow], lambda flows: flat_gradients(plan, flows[0], kept, needs)
            )
        return flat_gradients(plan, flow, kept, needs)

    setup_context = staticmethod(torch.autograd.Function.setup_context)


def _values(ctx: Any, plan: Plan, saved: Sequence[Any]) -> tuple[Any, ...]:
    values = list(ctx.constants)
    for i, tensor in zip(plan.tensors, saved, strict=True):
        values[i] = tensor
    return tuple(values)
