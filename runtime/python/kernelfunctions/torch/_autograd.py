"""Calls that autograd, forward-mode derivatives and torch.func's transforms watch."""

from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from kernelfunctions.torch._batching import (
    batched_call,
    batched_gradients,
    batched_tangents,
    derivatives_of_batch,
    is_batch_of_flows,
)
from kernelfunctions.torch._errors import refuse
from kernelfunctions.torch._gradients import GradientPass
from kernelfunctions.torch._named import apply_of, named
from kernelfunctions.torch._overlaps import shared_with_changed
from kernelfunctions.torch._plan import Cell, Plan

_functorch_is_active = torch._C._are_functorch_transforms_active


def _save(ctx: Any, plan: Plan, cell: Cell, values: Sequence[Any], outputs: Sequence[torch.Tensor]) -> None:
    """Keeps what derivatives take: the values from before the call, and of written views from after it."""
    kept: list[Any] = [values[i] for i in plan.tensors]
    if cell.before:
        kept = [cell.before.get(i, values[i]) for i in plan.tensors]
    for i, place in plan.left.items():
        kept[plan.tensors.index(i)] = outputs[place]
    if plan.stood_in:
        # What is only written is stood in for: it needn't stay as it is now.
        kept = [None if i in plan.stood_in else one for i, one in zip(plan.tensors, kept, strict=True)]
        ctx.written = {i: values[i].shape for i in plan.stood_in}
    ctx.save_for_backward(*kept)
    ctx.plan = plan
    ctx.more = cell.more
    ctx.constants = [None if isinstance(value, torch.Tensor) else value for value in values]
    ctx.set_materialize_grads(False)
    ctx.is_transformed = _functorch_is_active()
    is_followed = ctx.is_transformed or torch.autograd.forward_ad._current_level >= 0
    is_constant = not is_followed and plan.is_constant(ctx.needs_input_grad[2:])
    fixed = [
        one
        for one, output in zip(outputs, plan.outputs, strict=True)
        if is_constant or not output.differentiable
    ]
    if fixed:
        ctx.mark_non_differentiable(*fixed)


def _values(ctx: Any) -> list[Any]:
    values = list(ctx.constants)
    plan: Plan = ctx.plan
    for i, tensor in zip(plan.tensors, ctx.saved_tensors, strict=True):
        values[i] = tensor
    return values


def refuse_second(plan: Plan) -> NoReturn:
    """Refuses second derivatives."""
    reason = (
        "its gradient can't be differentiated again (double backward): kernels have first derivatives "
        "alone. Take the gradient without create_graph=True"
    )
    refuse("not-differentiable", plan.name, "", reason)


def refuse_tangents(plan: Plan) -> None:
    """Refuses a function without a forward derivative."""
    if not plan.description.jvp:
        reason = 'it has no forward derivative; say "forward_diff": true in the call spec'
        refuse("not-differentiable", plan.name, "", reason)


class Gradients(torch.autograd.Function):
    """The backward pass of a call, where something watches that, too."""

    @staticmethod
    def forward(
        plan: Plan, more: Any, needs: Any, flows: int, _marker: Any, *tensors: Any
    ) -> tuple[torch.Tensor, ...]:
        return compute_gradients(plan, more, needs, tensors[:flows], tensors[flows:])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = inputs[0]
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *_flows: Any) -> Any:
        refuse_second(ctx.plan)

    @staticmethod
    def jvp(ctx: Any, *_tangents: Any) -> Any:
        refuse_second(ctx.plan)

    @staticmethod
    def vmap(
        info: Any, in_dims: Any, plan: Plan, more: Any, needs: Any, flows: int, _marker: Any, *tensors: Any
    ) -> Any:
        head = (plan, more, needs, flows)
        return batched_gradients(Gradients.apply, info, in_dims[5:], head, tensors)


def compute_gradients(
    plan: Plan, more: Any, needs: Sequence[bool], flows: Sequence[Any], values: Sequence[Any]
) -> tuple[torch.Tensor, ...]:
    """Returns the gradients of those values that need one."""
    found = GradientPass(plan, values, flows, needs, more).run(plan.backward)
    return tuple(one for one in found if one is not None)


class WatchedCall(torch.autograd.Function):
    """One call. Takes a plan, a cell, and what goes into the call."""

    @staticmethod
    def forward(plan: Plan, cell: Cell, *values: Any) -> tuple[torch.Tensor, ...]:
        return plan.run(cell, values, in_place=False)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        plan, cell, *values = inputs
        _save(ctx, plan, cell, values, output)
        if plan.description.jvp:
            ctx.save_for_forward(*(values[i] for i in plan.tensors))

    @staticmethod
    def backward(ctx: Any, *flows: Any) -> Any:
        plan: Plan = ctx.plan
        if plan.backward is None:
            plan.refuse_backward()
        values = _values(ctx)
        count = len(plan.inputs)
        needs = ctx.needs_input_grad[2 : 2 + count]
        nothing = (None,) * (len(ctx.needs_input_grad) - 2 - count)
        if all(flow is None for flow in flows):
            return (None,) * len(ctx.needs_input_grad)
        if plan.stood_in:
            like = next(one for one in flows if one is not None)
            for i, shape in ctx.written.items():
                leaf = plan.slot(i).leaf
                values[i] = like.new_empty(shape, dtype=leaf.dtype if leaf is not None else None)
        found = WatchedCall.gradients_of(plan, ctx.more, flows, values, needs, 2, ctx.is_transformed)
        return found + nothing

    @staticmethod
    def gradients_of(
        plan: Plan,
        more: Any,
        flows: Sequence[Any],
        values: list[Any],
        needs: Sequence[bool],
        before: int,
        is_transformed: bool = False,
    ) -> tuple[Any, ...]:
        """Returns gradients of values, behind `before` times None.

        `is_transformed`: of a call that was made inside a transform of torch.func, which may have ended.
        """
        nothing = (None,) * before
        wanted = tuple(needed and known for needed, known in zip(needs, plan.differentiable, strict=True))
        if not any(wanted):
            return nothing + (None,) * len(wanted)
        if torch.is_grad_enabled() or _functorch_is_active():
            # Gradients are told apart from constants, though all that they are made of is saved copies.
            is_transformed = is_transformed or _functorch_is_active()
            marker = None if is_transformed else torch.zeros((), requires_grad=True)
            found = iter(Gradients.apply(plan, more, wanted, len(flows), marker, *flows, *values))
            return (*nothing, *(next(found) if needed else None for needed in wanted))

        def compute(flows: Sequence[Any]) -> Sequence[Any]:
            return GradientPass(plan, values, flows, wanted, more).run(plan.backward)

        if any(flow is not None and is_batch_of_flows(flow) for flow in flows):
            return nothing + derivatives_of_batch(plan.name, flows, compute)
        return (*nothing, *compute(flows))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        plan: Plan = ctx.plan
        refuse_tangents(plan)
        values = _values(ctx)

        def compute(given: Sequence[Any]) -> Any:
            return Tangents.of(plan, ctx.more, values, given)

        given = tangents[2 : 2 + len(plan.inputs)]
        if any(isinstance(one, torch.Tensor) and is_batch_of_flows(one) for one in given):
            return derivatives_of_batch(plan.name, given, compute)
        return compute(given)

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, cell: Cell, *values: Any) -> Any:
        return batched_call(WatchedCall.apply, info, in_dims[2:], cell, (plan, *values))


class EagerCall(WatchedCall):
    """The same where no transform of torch.func is active: without what that costs.

    Takes copies of what the call reads and changes, too, behind its values: autograd knows their origin.
    """

    @staticmethod
    def forward(ctx: Any, plan: Plan, cell: Cell, *values: Any) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        if cell.copied:
            cell.before = dict(zip(cell.copied, values[len(plan.inputs) :], strict=True))
            values = values[: len(plan.inputs)]
        outputs = plan.run(cell, values, in_place=True)
        _save(ctx, plan, cell, values, outputs)
        if plan.mutated:
            ctx.mark_dirty(*(values[i] for i in plan.mutated))
        if plan.description.jvp:
            ctx.save_for_forward(*(values[i] for i in plan.tensors))
        return outputs

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        plan: Plan = ctx.plan
        found = list(WatchedCall.jvp(ctx, *tangents))
        # PyTorch wants tangents of what is changed in place to be changed in place.
        for place, i in enumerate(plan.mutated):
            if tangents[2 + i] is not None and found[place] is not None:
                found[place] = tangents[2 + i].copy_(found[place])
        return tuple(found)

    setup_context = staticmethod(torch.autograd.Function.setup_context)


class Tangents(torch.autograd.Function):
    """The forward derivative of a call: takes its values, then their tangents."""

    @staticmethod
    def of(plan: Plan, more: Any, values: Sequence[Any], tangents: Sequence[Any]) -> Any:
        """Returns the tangents of a call's outputs."""
        if not _functorch_is_active():
            with torch.no_grad(), torch.autograd.forward_ad._set_fwd_grad_enabled(False):
                return Tangents.forward(plan, more, len(values), *values, *tangents)
        return Tangents.apply(plan, more, len(values), *values, *tangents)

    @staticmethod
    def forward(plan: Plan, more: Any, count: int, *tensors: Any) -> tuple[Any, ...]:
        return plan.tangents(tensors[:count], tensors[count:], more)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = inputs[0]

    @staticmethod
    def backward(ctx: Any, *_flows: Any) -> Any:
        refuse_second(ctx.plan)

    @staticmethod
    def jvp(ctx: Any, *_tangents: Any) -> Any:
        refuse_second(ctx.plan)

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, more: Any, count: int, *tensors: Any) -> Any:
        return batched_tangents(Tangents.apply, info, in_dims[3:], (plan, more, count), tensors)


def call_eagerly(plan: Plan, more: Any, values: Sequence[Any]) -> Any:
    """Makes a call that autograd or forward-mode derivatives watch."""
    cell = Cell(more)
    cell.copied = plan.copied
    if plan.mutated:
        cell.copied = (*plan.copied, *shared_with_changed(plan, values))
    copies = [values[i].clone() for i in cell.copied]
    return plan.result(cell, apply_of(EagerCall, plan.name)(plan, cell, *values, *copies))


def call_transformed(plan: Plan, more: Any, values: Sequence[Any]) -> Any:
    """Makes a call inside a transform of torch.func."""
    cell = Cell(more)
    apply = named(WatchedCall, plan.name).apply
    if not plan.mutated:
        return plan.result(cell, apply(plan, cell, *values))
    # Changed in place afterwards, by what transforms understand; what is saved stays as it was.
    taken = list(values)
    for i in plan.mutated:
        taken[i] = values[i].clone()
    outputs = list(apply(plan, cell, *taken))
    for place, i in enumerate(plan.mutated):
        outputs[place] = values[i].copy_(outputs[place])
    return plan.result(cell, outputs)
