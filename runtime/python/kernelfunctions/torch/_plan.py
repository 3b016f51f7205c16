"""How a call with torch tensors of certain types goes: which overload, and what autograd knows of it."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NoReturn
from weakref import ref

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._description import Call, Description, Leaf, Parameter
from kernelfunctions.torch._errors import refuse
from kernelfunctions.torch._shapes import Given, call_shape, made_shape
from kernelfunctions.torch._slots import Slot, Step, changed_numbers, leaf_paths, slots_of


class Cell:
    """What one call gave, besides its tensors: opaque to PyTorch."""

    __slots__ = ("before", "copied", "more", "raw")

    def __init__(self, more: Mapping[str, Any] | None) -> None:
        self.more = more
        self.raw: Any = None
        #: Values that a backward pass needs as they were before the call, by number.
        self.copied: tuple[int, ...] = ()
        #: By value's number, what tensors held that the call has changed.
        self.before: dict[int, torch.Tensor] = {}


class Output:
    """A tensor that comes out of a call, for autograd: one that was made, or one that was changed."""

    __slots__ = ("differentiable", "is_changed_number", "leaf", "path", "returned", "value")

    def __init__(
        self, leaf: Leaf, value: int | None, returned: int, path: tuple[Step, ...], differentiable: bool
    ) -> None:
        self.leaf = leaf
        #: Of one that was changed, its number among the values.
        self.value = value
        #: Its place among what the call returns, and the way from there; -1 where it doesn't come back.
        self.returned = returned
        self.path = path
        self.differentiable = differentiable
        #: Whether it is what a number has become that the call was given.
        self.is_changed_number = value is None and leaf.role == "inout"


def _is_sum(call: Call, loss: Leaf) -> bool:
    """Whether a call's result is one sum over all of its threads: what flows into it scales its gradients."""
    is_whole = not loss.trailing and loss.map == tuple(range(call.rank))
    return loss.combined and loss.accumulate == "sum" and is_whole


def _structs_of(call: Call, parameter: Parameter) -> list[Leaf]:
    """Returns the leaves of a parameter that are passed together, as structs."""
    if parameter.form in ("tensor", "value"):
        return list(call.leaves[parameter.leaf : parameter.leaf + parameter.leaves])
    return [leaf for field in parameter.fields for leaf in _structs_of(call, field)]


def nest(parameter: Parameter, items: Any) -> Any:
    """Returns a parameter's argument from what its slots are given, in order: an iterator."""
    if parameter.form != "fields":
        return next(items)
    if parameter.is_array:
        return [nest(field, items) for field in parameter.fields]
    return {field.name: nest(field, items) for field in parameter.fields if not field.is_hidden}


class Plan:
    """One call, for arguments of the types that it was made for. Immutable, shared by threads."""

    def __init__(
        self,
        description: Description,
        call: Call,
        values: Sequence[Any],
        is_traced: bool = False,
        is_named: bool = True,
    ) -> None:
        self._function: Any = None
        self.name = description.name
        self.description = description
        self.call = call
        self.slots = slots_of(call)
        #: Those that go in, and what is given for them.
        self.inputs = tuple(i for i, slot in enumerate(self.slots) if not slot.is_output)
        taken = [values[i] for i in self.inputs]
        slots = [self.slots[i] for i in self.inputs]
        leaves = [slot.leaf for slot in slots]
        self.tensors = tuple(
            i for i, value in enumerate(taken) if isinstance(value, torch.Tensor | _kf._TensorKind)
        )
        self.numbers = tuple(i for i in self.tensors if _passing(slots[i]) in ("value", "generator"))
        self.mutated = tuple(i for i in self.tensors if i not in self.numbers and _is_mutated(slots[i]))
        self.casts = tuple(
            (i, leaf.dtype)
            for i in self.tensors
            if (leaf := slots[i].leaf) is not None
            and leaf.is_cast_by_autocast
            and not is_traced
            and taken[i].dtype != leaf.dtype
        )
        self.differentiable = tuple(
            call.backward
            and (leaf := slot.leaf) is not None
            and leaf.differentiable
            and leaf.gradient != "never"
            for slot in slots
        )
        #: Of those, what is only written: what it holds afterwards is nothing that a backward pass reads.
        self.stood_in = tuple(
            i for i in self.mutated if (leaf := slots[i].leaf) is not None and leaf.access in ("write", "add")
        )
        #: Of what is changed, what is read as well: a backward pass needs it as it was.
        self.copied = tuple(
            i
            for i in self.mutated
            if (leaf := slots[i].leaf) is not None and leaf.access not in ("write", "add", "view_written")
        )
        #: Views of which nobody has said whether the call writes them.
        self.unstated = tuple(
            slot.name
            for slot in slots
            if slot.leaf and slot.leaf.access == "view" and slot.leaf.differentiable
        )
        #: What comes back as structs, in no tensors of PyTorch's, and would have gradients.
        self.unfollowed = tuple(
            parameter.name
            for parameter in call.returned
            if call.backward and any(leaf.differentiable for leaf in _structs_of(call, parameter))
        )
        #: What is changed in no tensors of PyTorch's, but in an array or a list, and would have gradients.
        self.untracked = tuple(
            slot.name
            for i, slot in enumerate(slots)
            if i not in self.tensors and is_changed_tensor(slot) and self.differentiable[self.inputs[i]]
        )
        self.outputs = self._outputs()
        #: Views that the call writes, and which outputs they are: a backward pass loads what is left there.
        self.left = {
            output.value: number
            for number, output in enumerate(self.outputs)
            if output.value is not None and output.leaf.access == "view_written"
        }
        #: How many differentiable numbers it changes.
        self.changes_numbers = sum(
            leaf.differentiable
            for parameter in call.parameters
            if call.backward and parameter.role == "inout"
            for leaf in call.leaves[parameter.leaf : parameter.leaf + parameter.leaves]
            if leaf.role == "inout" and leaf.passing == "value"
        )
        #: Whether all that goes in is tensors, and whether gradients flow into the first output.
        self.takes_tensors = len(self.tensors) == len(self.inputs)
        self.carries_flow = bool(self.outputs) and self.outputs[0].differentiable
        self.is_flat = all(parameter.form != "fields" for parameter in call.parameters)
        #: How many are given by place: where names have told overloads apart, none but a method's object.
        self.leading = 0
        roles = () if is_named and _are_named_apart(description.calls) else ("in", "inout")
        for parameter in call.parameters:
            if parameter.role not in roles and parameter.name != "this":
                break
            self.leading += 1
        #: Whether what goes in is all positional.
        self.is_plain = self.is_flat and all(
            parameter.role in ("out", "result") for parameter in call.parameters[self.leading :]
        )
        self.is_simple = (
            len(call.returned) == len(self.outputs) == 1
            and call.returned[0].form == "leaf"
            and not self.mutated
            and not self.numbers
        )
        self.backward: Any = None  # see of()
        #: Whether a backward pass takes gradients for each value: bare tensors that require some are leaves.
        self.has_gradients = tuple(
            call.backward
            and (leaf := slot.leaf) is not None
            and leaf.differentiable
            and (leaf.is_mutated or leaf.gradient != "never")
            for slot in slots
        )
        self.is_required = tuple(leaf is not None and leaf.gradient == "required" for leaf in leaves)
        #: Whether the backward pass stores its gradient: what the memory held before doesn't count.
        self.is_new = tuple(
            leaf is not None and leaf.passing == "tensor" and leaf.accumulate != "push" for leaf in leaves
        )
        #: How _kf.flat_backward() makes them.
        self.gradients = bytes(
            ((2 if leaf is not None and leaf.overwrite else 1) + 4 * self.is_required[i])
            if i in self.tensors and self.has_gradients[i]
            else 0
            for i, leaf in enumerate(leaves)
        )
        #: Values whose gradients may be asked for.
        self.rooms = tuple(i for i in self.tensors if self.differentiable[i])
        #: The fused pass, of a loss that is one sum: what flows in later is one number.
        self.fused: Any = None  # see of()
        self._is_fused = call.fused and len(self.outputs) == 1 and _is_sum(call, self.outputs[0].leaf)
        #: Whether _flat_call.py may make it.
        self.is_quick = (
            self.is_simple
            and len(self.outputs) == 1
            and self.is_plain
            and not self.numbers
            and not self.casts
            and self.outputs[0].leaf.passing == "tensor"
            and self.leading == len(call.parameters) - 1
            and all(leaf is None or leaf.accumulate != "push" for leaf in leaves)
        )

    def of(self, function: _kf.Function) -> "Plan":
        """Returns the same for a function that is described alike, which it doesn't keep alive.

        Functions keep their plans, and graphs of autograd keep what their backward passes call.
        """
        other = copy(self)
        other._function = ref(function)
        other.backward = function.backward if self.call.backward else None
        other.fused = function.fused if self._is_fused else None
        return other

    @property
    def function(self) -> _kf.Function:
        """The function, while it lives: a call holds it."""
        found: _kf.Function = self._function()
        return found

    def slot(self, value: int) -> Slot:
        """The slot of a value that goes in."""
        return self.slots[self.inputs[value]]

    def _outputs(self) -> tuple[Output, ...]:
        found = []
        for value in self.mutated:
            leaf = self.slot(value).leaf
            assert leaf is not None
            place, path = self._place_of(leaf)
            found.append(Output(leaf, value, place, path, self.carries(leaf)))
        for place, parameter in enumerate(self.call.returned):
            is_changed = parameter.role == "inout"
            for leaf, path in (changed_numbers if is_changed else leaf_paths)(self.call, parameter):
                found.append(Output(leaf, None, place, path, self.carries(leaf)))
        return tuple(found)

    def _place_of(self, leaf: Leaf) -> tuple[int, tuple[Step, ...]]:
        """Returns where what is changed comes back: its place among results, and the way from there."""
        for place, parameter in enumerate(self.call.returned):
            for one, path in leaf_paths(self.call, parameter):
                if one is leaf:
                    return place, path
        return -1, ()

    def carries(self, leaf: Leaf) -> bool:
        """Whether gradients flow in through an output; without a backward pass, whether they would."""
        return leaf.is_floating and (leaf.differentiable or not self.call.backward)

    def is_constant(self, needs: Sequence[bool]) -> bool:
        """Whether what requires gradients has none here: the outputs don't depend on it, then.

        `needs`: whether each value requires one.
        """
        return bool(self.call.backward) and not self.mutated and not any(needs[i] for i in self.rooms)

    # Forward.

    def arguments(self, values: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Returns positional and named arguments of a call that is given these values."""
        if self.is_plain:
            return values, {}
        items = iter(values)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for place, parameter in enumerate(self.call.parameters):
            if parameter.role in ("out", "result"):
                continue
            value = nest(parameter, items)
            if place < self.leading:
                positional.append(value)
            else:
                named[parameter.keyword] = value
        return positional, named

    def run(self, cell: Cell, values: Sequence[Any], in_place: bool) -> tuple[torch.Tensor, ...]:
        """Makes the call, and returns its outputs. Those that it changes are changed in place, or copies."""
        if self.mutated or self.numbers:
            values = self._prepared(values, in_place)
        args, named = self.arguments(values)
        if cell.more:
            named = {**named, **cell.more}
        raw = cell.raw = self.function(*args, **named)
        outputs: list[torch.Tensor] = []
        for output in self.outputs:
            if output.value is not None:
                outputs.append(values[output.value])
                continue
            item = self._returned(raw, output)
            if isinstance(item, _kf.Tensor):
                # Of a call whose only torch tensors were numbers.
                item = torch.from_dlpack(item)
            elif not isinstance(item, torch.Tensor):
                # A number, which autograd follows as a tensor.
                given = (one.device for one in values if isinstance(one, torch.Tensor))
                item = torch.tensor(item, dtype=output.leaf.dtype, device=next(given, None))
            outputs.append(item)
        return tuple(outputs)

    def _returned(self, raw: Any, output: Output) -> Any:
        """Returns an output, of what a call returned; None where a struct that it is in has no tangent."""
        item = raw if len(self.call.returned) == 1 else raw[output.returned]
        for step in output.path:
            item = None if item is None else _step(item, step)
        return item

    def _prepared(self, values: Sequence[Any], in_place: bool) -> list[Any]:
        changed = list(values)
        for i in self.numbers:
            changed[i] = number_of(self.name, self.slot(i), values[i])
        for i in self.mutated:
            if not in_place:
                changed[i] = values[i].clone()
        return changed

    def result(self, cell: Cell, outputs: Sequence[torch.Tensor]) -> Any:
        """Returns what the call returned, with these tensors for its own."""
        if self.is_simple:
            return outputs[0]
        returned = len(self.call.returned)
        if returned == 0:
            return None
        items = [cell.raw] if returned == 1 else list(cell.raw)
        for output, tensor in zip(self.outputs, outputs, strict=True):
            if output.returned < 0:
                continue
            if not output.path:
                items[output.returned] = tensor
                continue
            owner = items[output.returned]
            for step in output.path[:-1]:
                owner = _step(owner, step)
            _put(owner, output.path[-1], tensor)
        return items[0] if returned == 1 else type(cell.raw)(*items)

    # Forward derivatives.

    def tangents(
        self, values: Sequence[Any], tangents: Sequence[Any], more: Mapping[str, Any] | None
    ) -> tuple[Any, ...]:
        """Returns the tangents of the outputs; `tangents`: those of the values, None for none."""
        values = self._prepared(values, in_place=False)
        given: list[Any] = list(tangents)
        for i in range(len(values)):
            leaf = self.slot(i).leaf
            if leaf is None or not leaf.is_floating or (self.call.backward and not leaf.differentiable):
                given[i] = None
            elif i in self.numbers and given[i] is not None:
                given[i] = given[i].tolist()
            elif i in self.mutated:
                like = torch.zeros_like(values[i]) if given[i] is None else given[i].clone()
                given[i] = like
        items = iter(given)
        named = {}
        for parameter in self.call.parameters:
            if parameter.role in ("out", "result"):
                continue
            tangent = _present(nest(parameter, items))
            if tangent is not None:
                named[parameter.keyword] = tangent
        args, keywords = self.arguments(values)
        keywords = {**keywords, **(more or {}), "tangents": named}
        jvp: Any = self.function.jvp
        _, raw = jvp(*args, **keywords)
        found: list[Any] = []
        for output in self.outputs:
            if not output.differentiable:
                found.append(None)
                continue
            if output.value is not None and output.returned < 0:
                found.append(given[output.value])
                continue
            item = self._returned(raw, output)
            if item is not None and not isinstance(item, torch.Tensor):
                item = torch.tensor(item, dtype=output.leaf.dtype)
            found.append(item)
        return tuple(found)

    def backward_arguments(self, items: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Returns arguments of a backward pass, from what slots are given."""
        if not self.is_flat:
            left = iter(items)
            items = [nest(parameter, left) for parameter in self.call.parameters]
        rest = self.call.parameters[self.leading :]
        named = {one.keyword: item for one, item in zip(rest, items[self.leading :], strict=True)}
        return items[: self.leading], named

    def gradient_like(self, place: int, value: torch.Tensor) -> torch.Tensor:
        """Returns memory for the gradient of a value, zeros where it isn't new."""
        leaf = self.slot(place).leaf
        assert leaf is not None
        packed = leaf.accumulate == "push" or leaf.overwrite or leaf.contiguous
        form = torch.contiguous_format if packed else torch.preserve_format
        if leaf.accumulate == "push" or self.is_new[place]:
            return torch.empty_like(value, memory_format=form)
        return torch.zeros_like(value, memory_format=form)

    def refuse_backward(self) -> NoReturn:
        """Refuses to differentiate a function without a backward pass."""
        reason = (
            'it has no backward pass, but a gradient of its result was asked for; say "backward": true in '
            "the call spec, for a [Differentiable] function, or detach its arguments"
        )
        refuse("not-differentiable", self.name, "", reason)

    def outputs_like(self, values: Sequence[Any], more: Mapping[str, Any] | None) -> list[torch.Tensor]:
        """Returns tensors of the shapes and types of what a call makes."""
        like: torch.Tensor = values[self.tensors[0]]
        shape = self.shape(values, more)
        return [
            like.new_empty(made_shape(one.leaf, shape), dtype=one.leaf.dtype)
            if one.value is None
            else values[one.value]
            for one in self.outputs
        ]

    def shape(self, values: Sequence[Any], more: Mapping[str, Any] | None) -> list[Any]:
        """Returns the call's shape."""
        given: list[Given] = []
        for place, value in enumerate(values):
            leaf = self.slot(place).leaf
            extents = None if leaf is None else _extents_of(leaf, value)
            if leaf is not None and extents is not None:
                dtype = value.dtype if isinstance(value, torch.Tensor) else None
                given.append((leaf, dtype, extents))
        return call_shape(self.function, self.call, given, (more or {}).get("shape"))


def _extents_of(leaf: Leaf, value: Any) -> Any:
    """Returns the shape that a value gives its leaf; None where it takes no part in the call's."""
    if leaf.passing == "value":
        return leaf.extents
    if leaf.generator == "grid":
        return value.shape
    if leaf.generator == "range":
        # Of numbers that may be symbolic.
        return [-((value.start - value.stop) // value.step)]
    has_shape = hasattr(value, "shape")
    if leaf.passing == "pointer" or not leaf.map or not (has_shape or leaf.is_memory):
        return None
    if has_shape:
        return value.shape
    return _lengths_of(value, leaf.rank) if leaf.is_struct else torch.tensor(value).shape


def _lengths_of(value: Any, depth: int) -> list[int]:
    """Returns how long lists are that are nested so deep."""
    lengths: list[int] = []
    while len(lengths) < depth and isinstance(value, list | tuple):
        lengths.append(len(value))
        value = value[0] if value else None
    return lengths + [0] * (depth - len(lengths))


def _step(owner: Any, step: Step) -> Any:
    """Returns a field of a result: an object of a generated class, a dict, a list."""
    if isinstance(step, int):
        return owner[step]
    return owner[step[0]] if isinstance(owner, dict) else getattr(owner, step[1])


def _put(owner: Any, step: Step, value: Any) -> None:
    if isinstance(step, int):
        owner[step] = value
    elif isinstance(owner, dict):
        owner[step[0]] = value
    else:
        setattr(owner, step[1], value)


def _present(tangent: Any) -> Any:
    """Leaves out of a struct's tangent what has none; None where nothing is left."""
    if isinstance(tangent, dict):
        kept = {name: one for name, field in tangent.items() if (one := _present(field)) is not None}
        return kept or None
    if isinstance(tangent, list):
        kept_items = [_present(one) for one in tangent]
        return kept_items if any(one is not None for one in kept_items) else None
    return tangent


def _are_named_apart(calls: Sequence[Call]) -> bool:
    """Whether some overloads have other names than others for what is given by place."""
    names = {tuple(one.keyword for one in call.parameters if one.role in ("in", "inout")) for call in calls}
    return len(names) > 1


def _passing(slot: Slot) -> str:
    return slot.leaf.passing if slot.leaf is not None else ""


def is_changed_tensor(slot: Slot) -> bool:
    """Whether the call changes a tensor that is given for it."""
    return slot.leaf is not None and slot.leaf.passing == "tensor" and slot.leaf.is_mutated


def _is_mutated(slot: Slot) -> bool:
    return slot.leaf is not None and slot.leaf.is_mutated


def number_of(name: str, slot: Slot, value: Any) -> Any:
    """Returns the number, or the numbers, that a tensor on the host holds."""
    if value.device.type != "cpu":
        reason = (
            f"expected a number, found a tensor on {value.device}, which would have to be read back: give a "
            "number, or a tensor where the call spec has one"
        )
        refuse("type-mismatch", name, slot.name, reason)
    # An array says its type, which tells overloads apart. What is changed comes back as another number.
    return value.tolist() if slot.parameter.role != "in" else value.detach().resolve_neg().numpy()
