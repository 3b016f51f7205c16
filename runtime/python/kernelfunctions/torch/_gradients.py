"""The backward pass of a call: which gradients flow in, and where those of its values go."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from kernelfunctions import _kf
from kernelfunctions._kf import with_gradients
from kernelfunctions.torch._description import Leaf
from kernelfunctions.torch._errors import refuse
from kernelfunctions.torch._plan import Plan, number_of
from kernelfunctions.torch._shapes import made_shape
from kernelfunctions.torch._slots import Slot


class GradientPass:
    """One backward pass. `values`: from before the call; `flows`: of its outputs, None for none."""

    def __init__(
        self,
        plan: Plan,
        values: Sequence[Any],
        flows: Sequence[torch.Tensor | None],
        needs: Sequence[bool],
        more: Mapping[str, Any] | None,
    ) -> None:
        self.plan = plan
        self.values = values
        self.flows = flows
        self.needs = needs
        self.more = more
        self.found: list[Any] = [None] * len(values)
        self._numbers: list[tuple[int, Any]] = []
        self._pushed: list[int] = []
        self._shape: list[Any] | None = None

    def run(self, backward: Any) -> list[torch.Tensor | None]:
        """Returns the gradient of each value that needs one."""
        if self.plan.changes_numbers:
            return self._corrected(backward)
        return self._run(backward)

    def _corrected(self, backward: Any) -> list[torch.Tensor | None]:
        """Returns gradients of a call that changes numbers, into which kernels have 1 flow in.

        Gradients are linear in what flows in: those of that 1 alone are taken away, or scaled.
        """
        changed = [place for place, output in enumerate(self.plan.outputs) if output.is_changed_number]
        flows: list[Any] = [self.flows[place] for place in changed if self.flows[place] is not None]
        if flows and self.plan.changes_numbers > 1:
            names = ", ".join(f"'{self.plan.outputs[place].leaf.name}'" for place in changed)
            reason = (
                f"{names}: gradients can't flow into several numbers that one call changes: give tensors, "
                "of a call that takes some"
            )
            refuse("not-differentiable", self.plan.name, "", reason)
        found = self._run(backward)
        none = [torch.zeros_like(flow) if flow is not None else None for flow in self.flows]
        alone = GradientPass(self.plan, self.values, none, self.needs, self.more)._run(backward)
        scale = flows[0] - 1 if flows else -1
        return [
            one if one is None or other is None else one + other * scale
            for one, other in zip(found, alone, strict=True)
        ]

    def _run(self, backward: Any) -> list[torch.Tensor | None]:
        items: list[Any] = []
        place = -1
        for slot in self.plan.slots:
            if slot.is_output:
                items.append(self._output(slot.leaf))
            else:
                place += 1
                items.append(self._input(place, slot))
        args, named = self.plan.backward_arguments(items)
        if self.more:
            named = {**named, **self.more}
        backward(*args, **named)
        for place, number in self._numbers:
            value = self.values[place]
            self.found[place] = torch.tensor(number.grad, dtype=value.dtype, device=value.device)
        for place in self._pushed:
            leaf = self.plan.slot(place).leaf
            assert leaf is not None
            self.found[place] = _gathered(self.found[place], leaf, self.values[place])
        return [one if needed else None for one, needed in zip(self.found, self.needs, strict=True)]

    def _output(self, leaf: Leaf | None) -> Any:
        # Outputs come back in another order than parameters have: the result first.
        made = [place for place, output in enumerate(self.plan.outputs) if output.leaf is leaf]
        if leaf is None or not made or not self.plan.carries(leaf):
            return None
        flow = self.flows[made[0]]
        if flow is None:
            # Without one, 1 would flow in.
            like = next(one for one in self.flows if one is not None)
            flow = like.new_zeros((), dtype=leaf.dtype).expand(made_shape(leaf, self.shape()))
        if leaf.passing != "value":
            flow = leaf.laid_out(flow)
            return with_gradients(flow, flow)
        given = _kf.differentiable(flow.tolist())
        given.grad = flow.tolist()
        return given

    def _input(self, place: int, slot: Slot) -> Any:
        leaf = slot.leaf
        value = self.values[place]
        if leaf is None or not isinstance(value, torch.Tensor):
            return value
        plan = self.plan
        needed = plan.differentiable[place] and (self.needs[place] or leaf.gradient == "required")
        if place in plan.numbers:
            number = number_of(plan.name, slot, value)
            if needed:
                number = _kf.differentiable(number)
                self._numbers.append((place, number))
            return number
        if not plan.has_gradients[place]:
            return value.detach() if value.requires_grad else value
        flow = None
        if place in plan.mutated and leaf.differentiable:
            flow = self.flows[plan.mutated.index(place)]
            if flow is None:
                flow = torch.zeros_like(value)
            elif leaf.access == "view_written":
                flow = flow.clone()  # a store takes its element's gradient
            flow = leaf.laid_out(flow)
        if needed:
            self.found[place] = self._room(place, value, leaf)
        return with_gradients(value, flow, self.found[place], plan.is_new[place])

    def _room(self, place: int, value: torch.Tensor, leaf: Leaf) -> torch.Tensor:
        """Returns where the gradient of a value goes."""
        if leaf.accumulate == "push":
            self._pushed.append(place)
            return value.new_zeros([*self.shape(), *leaf.trailing])
        return self.plan.gradient_like(place, value)

    def shape(self) -> list[Any]:
        """Returns the call's shape."""
        if self._shape is None:
            self._shape = self.plan.shape(self.values, self.more)
        return self._shape


def flat_gradients(plan: Plan, flow: Any, kept: Sequence[Any], needs: Sequence[bool]) -> tuple[Any, ...]:
    """Returns the gradients of a quick plan's call, which takes what it is given as it is.

    `flow`: laid out as the kernel wants it. `needs`, and what is returned: one for the plan first.
    """
    values = list(kept)
    found: list[Any] = [None] * len(needs)
    for i in plan.tensors:
        value = values[i]
        if not plan.has_gradients[i]:
            if value.requires_grad:
                values[i] = value.detach()
            continue
        room = plan.gradient_like(i, value) if needs[i + 1] or plan.is_required[i] else None
        if needs[i + 1]:
            found[i + 1] = room
        values[i] = with_gradients(value, None, room, plan.is_new[i])
    assert plan.backward is not None
    plan.backward(*values, out=with_gradients(flow, flow))
    return tuple(found)


def _gathered(pushed: torch.Tensor, leaf: Leaf, value: torch.Tensor) -> torch.Tensor:
    """Sums gradients that were pushed, one for each call, to those of a tensor's elements."""
    rank = pushed.dim() - len(leaf.trailing)
    others = [d for d in range(rank) if d not in leaf.map]
    order = [*others, *leaf.map, *range(rank, pushed.dim())]
    return pushed.permute(order).sum_to_size(value.shape).contiguous()
