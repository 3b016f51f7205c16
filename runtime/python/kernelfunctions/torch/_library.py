"""Calls as operators of torch.library: for torch.compile, torch.export and whatever traces."""

import ctypes
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch.library import Library

from kernelfunctions import _kf
from kernelfunctions._kf import flat_backward
from kernelfunctions.torch._autograd import compute_gradients, refuse_second
from kernelfunctions.torch._batching import batched_operator
from kernelfunctions.torch._choice import tensor_kind
from kernelfunctions.torch._description import Call, Description, Leaf
from kernelfunctions.torch._errors import NoOperatorError, error, refuse
from kernelfunctions.torch._gradients import flat_gradients
from kernelfunctions.torch._named import apply_of
from kernelfunctions.torch._plan import Cell, Plan
from kernelfunctions.torch._shapes import made_shape
from kernelfunctions.torch._signature import Signature, identifier, mutated_tensor
from kernelfunctions.torch._slots import slots_of

_lock = threading.Lock()
_functorch_is_active = torch._C._are_functorch_transforms_active
_libraries: dict[str, Library] = {}
_defined: dict[str, Any] = {}

_DEVICES = ("CPU", "CUDA")
_AUTOCAST_KEYS = ("AutocastCPU", "AutocastCUDA")
_AUTOCAST = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU) | torch._C.DispatchKeySet(
    torch._C.DispatchKey.AutocastCUDA
)


def _kept_library(module: str) -> Library:
    """Returns a library that stays to the process's end: PyTorch 2.13 may abort when it takes one back.

    (A fault of its table of operators, which depends on their names.)
    """
    finalizers: Any = vars(weakref.finalize)["_registry"]
    before = set(finalizers)
    library = Library(module, "FRAGMENT")
    for finalizer in set(finalizers) - before:
        finalizer.atexit = False
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library.m))
    return library


def _define(module: str, schema: str, owner: Any) -> bool:
    """Defines an operator; False where it is there already, for the same function."""
    qualified = f"{module}::{schema.partition('(')[0]}"
    known = _defined.get(qualified)
    if known is not None:
        if known != (schema, owner):
            text = (
                f"torch.ops.{qualified.replace('::', '.')} is an operator of another function already: "
                "two modules of one name can't both be PyTorch's; give one another name in its call spec"
            )
            raise error("unknown-name", text)
        return False
    if module not in _libraries:
        _libraries[module] = _kept_library(module)
    _libraries[module].define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    _defined[qualified] = (schema, owner)
    return True


def _resolve(module: str, name: str, overload: str) -> Any:
    return getattr(getattr(getattr(torch.ops, module), name), overload)


class CallOperator:
    """One call as operators: itself, its backward pass, and what they are without changing arguments."""

    def __init__(self, function: _kf.Function, description: Description, call: Call, suffix: str) -> None:
        self.signature = Signature(call)
        self.call = call
        self.name = description.name
        self.module = identifier(description.module)
        tensors = [
            tensor_kind(slot.leaf.dtype, slot.leaf.ndim)
            if slot.leaf is not None and slot.leaf.is_memory
            else None
            for slot in self.signature.inputs
        ]
        given = iter(tensors)
        slots = [None if slot.is_output else next(given) for slot in slots_of(call)]
        #: Operators are the process's, and so is what they call.
        self.function = function
        self.globals = _kf._tensors_of_globals(function)
        self.plan = Plan(description, call, slots, is_traced=True).of(function)
        if not self.plan.tensors:
            raise NoOperatorError("", "it takes no tensor")
        if not self.plan.outputs:
            raise NoOperatorError(
                "", "it returns nothing and changes no argument: it writes to globals alone"
            )
        self.is_mutating = bool(self.plan.mutated)
        self.base = identifier(description.name) + suffix
        self.overload = self._overload(description)
        self.is_first = not any(map(_can_be_operator, description.calls[: call.number]))
        self.owner = (description.module, description.name, suffix, call.text)
        with _lock:
            self._register()

    def _overload(self, description: Description) -> str:
        name = self.signature.overload
        alike = 1
        for call in description.calls[: self.call.number]:
            with suppress(NoOperatorError):
                alike += Signature(call).overload == name
        return name if alike == 1 else f"{name}_{alike}"

    def path_of(self, op: Any) -> tuple[str, str, str]:
        """Returns where an operator lies in torch.ops."""
        return self.module, op._schema.name.partition("::")[2], op._overloadname

    def _register(self) -> None:
        made = len(self.signature.made)
        #: What the device's keys have of the operator that autograd follows.
        self.kernel: Callable[..., Any] = self._forward
        if self.plan.is_quick and self.signature.is_direct and not self.signature.has_shape:
            self.kernel = self._forward_straight
        self.op = self._operator(self.base, self.overload, False, made, self.kernel, self._forward_fake)
        self.functional = self.op
        if self.is_mutating:
            self.kernel = self._functional
            self.functional = self._operator(
                f"{self.base}_functional",
                self.overload,
                True,
                made + len(self.plan.mutated),
                self._functional,
                self._functional_fake,
            )
        # Of a number that changes, nothing is given that could be written.
        is_whole = all(leaf.is_made for leaf in self.signature.made)
        self.out = self._register_out() if made and is_whole else None
        self.backward_op = self._register_backward() if self.call.backward else None
        self._register_autograd()

    # Names and schemas.

    def _operator(
        self,
        base: str,
        overload: str,
        functional: bool,
        results: int,
        kernel: Callable[..., Any],
        fake: Callable[..., Any],
    ) -> Any:
        name = f"{base}.{overload}"
        text = ["()", "Tensor"][results] if results < 2 else "(" + ", ".join(["Tensor"] * results) + ")"
        schema = f"{name}({self.signature.inputs_text(functional)}) -> {text}"
        mutated = () if functional else tuple(self._places_of(self.plan.mutated))
        return self._implement(base, overload, schema, kernel, fake, mutated, True)

    def _implement(
        self,
        base: str,
        overload: str,
        schema: str,
        kernel: Callable[..., Any],
        fake: Callable[..., Any],
        mutated: Sequence[int],
        takes_as_cast: bool,
    ) -> Any:
        is_new = _define(self.module, schema, self.owner)
        op = _resolve(self.module, base, overload)
        if not is_new:
            return op
        library = _libraries[self.module]
        name = schema.partition("(")[0]
        kernel = self._watching_globals(kernel)
        for device in _DEVICES:
            library.impl(name, kernel, device)
        torch.library.register_fake(f"{self.module}::{name}", fake, lib=library)
        if mutated:
            library.impl(name, _bumping(op, mutated), "ADInplaceOrView", with_keyset=True)
        if takes_as_cast:
            for key in _AUTOCAST_KEYS:
                library.impl(name, self._casting(op), key, with_keyset=True)
        self._name_first(base, schema, op)
        return op

    def _watching_globals(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Refuses tensors that require gradients and were put into globals' objects after tracing.

        Traced code guards the tensors that it knows.
        """
        known = self.globals
        if not self.function.globals:
            return kernel

        def watching(*given: Any) -> Any:
            for one in _kf._tensors_of_globals(self.function):
                if one.requires_grad and not any(one is other for other in known):
                    refuse(
                        "not-differentiable",
                        self.name,
                        "",
                        "an object that a global is set to has a tensor that requires grad, which it hadn't "
                        "when the call was traced, and globals carry no gradients: put its detach() there",
                    )
            return kernel(*given)

        return watching

    def _casting(self, op: Any) -> Callable[..., Any]:
        """Returns the kernel of torch.autocast(): it casts what is read to the types that are taken."""
        wanted = {
            i: one.leaf.dtype
            for i, one in enumerate(self.signature.arguments)
            if one.type == "Tensor" and one.leaf is not None and one.leaf.is_cast_by_autocast
        }

        def kernel(_keyset: Any, *given: Any) -> Any:
            cast = list(given)
            for i, dtype in wanted.items():
                if given[i].is_floating_point() and given[i].dtype != torch.float64:
                    cast[i] = given[i].to(dtype)
            with torch._C._ExcludeDispatchKeyGuard(_AUTOCAST):
                return op(*cast)

        return kernel

    def _name_first(self, short: str, schema: str, op: Any) -> None:
        """Gives the first overload a short name, too: an operator that calls it."""
        if self.is_first and _define(self.module, f"{short}({schema.partition('(')[2]}", self.owner):
            _libraries[self.module].impl(short, op, "CompositeImplicitAutograd")

    def _places_of(self, slots: Sequence[int]) -> list[int]:
        return [i for i, one in enumerate(self.signature.arguments) if one.slot in slots]

    def _register_out(self) -> Any:
        overload = f"{self.overload}_out"
        self.out_names = names = _output_names(
            self.call, self.signature.made, {one.name for one in self.signature.arguments}
        )
        outs = ", ".join(
            f"{mutated_tensor(number)} {name}"
            for number, name in enumerate(names, len(self.signature.arguments))
        )
        schema = f"{self.base}.{overload}({self.signature.inputs_text(False)}, *, {outs}) -> ()"
        is_new = _define(self.module, schema, self.owner)
        op = _resolve(self.module, self.base, overload)
        if not is_new:
            return op
        library = _libraries[self.module]
        name = schema.partition("(")[0]

        def kernel(*given: Any, **outs: torch.Tensor) -> None:
            self._forward_out(given, [outs[name] for name in names])

        def fake(*given: Any, **outs: torch.Tensor) -> None:
            for leaf, made, out in zip(
                self.signature.made, self._made_fake(given), outs.values(), strict=True
            ):
                self._check_out(leaf, made, out)

        for device in _DEVICES:
            library.impl(name, kernel, device)
        torch.library.register_fake(f"{self.module}::{name}", fake, lib=library)
        library.impl(
            name, _bumping(op, self._places_of(self.plan.mutated), names), "ADInplaceOrView", with_keyset=True
        )
        library.impl(name, _refusing_gradients(op, self.name), "Autograd", with_keyset=True)
        self._name_first(f"{self.base}.out", schema, op)
        return op

    # Kernels.

    def _split(self, given: Sequence[Any], symbolic: bool = False) -> tuple[list[Any], dict[str, Any] | None]:
        """Returns what slots are given, and the shape."""
        count = len(self.signature.arguments)
        shape = given[count] if len(given) > count else None
        return self.signature.decode(given[:count], symbolic), {"shape": tuple(shape)} if shape else None

    def _run(self, given: Sequence[Any], in_place: bool) -> tuple[torch.Tensor, ...]:
        values, more = self._split(given)
        return self.plan.run(Cell(more), values, in_place)

    def _forward(self, *given: Any) -> Any:
        made = self._run(given, in_place=True)[len(self.plan.mutated) :]
        return _results(made)

    def _forward_straight(self, *given: Any) -> Any:
        return self.plan.function(*given)

    def _functional(self, *given: Any) -> Any:
        return _results(self._run(given, in_place=False))

    def _forward_out(self, given: Sequence[Any], outs: Sequence[torch.Tensor]) -> None:
        made = self._run(given, in_place=True)[len(self.plan.mutated) :]
        for leaf, one, out in zip(self.signature.made, made, outs, strict=True):
            self._check_out(leaf, one, out)
            out.copy_(one)

    def _check_out(self, leaf: Leaf, made: torch.Tensor, out: torch.Tensor) -> None:
        if out.dtype != made.dtype:
            refuse(
                "type-mismatch",
                self.name,
                leaf.name,
                f"expected out tensor to have dtype {made.dtype}, but got {out.dtype} instead",
            )
        if out.shape != made.shape:
            refuse(
                "shape-mismatch",
                self.name,
                leaf.name,
                f"expected out tensor to have shape {list(made.shape)}, but got {list(out.shape)} instead",
            )

    # Fake kernels.

    def _like(self, values: Sequence[Any]) -> torch.Tensor:
        like = values[self.plan.tensors[0]]
        for i in self.plan.tensors:
            if values[i].device != like.device:
                first = self.plan.slot(self.plan.tensors[0]).name
                reason = (
                    "expected all tensors to be on the same device, but found at least two devices, "
                    f"{values[i].device} and {like.device} (argument '{first}')"
                )
                refuse("device-mismatch", self.name, self.plan.slot(i).name, reason)
        result: torch.Tensor = like
        return result

    def _made_fake(self, given: Sequence[Any]) -> list[torch.Tensor]:
        values, more = self._split(given, symbolic=True)
        like = self._like(values)
        shape = self.plan.shape(values, more)
        return [like.new_empty(made_shape(leaf, shape), dtype=leaf.dtype) for leaf in self.signature.made]

    def _forward_fake(self, *given: Any) -> Any:
        return _results(self._made_fake(given))

    def _functional_fake(self, *given: Any) -> Any:
        values, _ = self._split(given, symbolic=True)
        changed = [torch.empty_like(values[i]) for i in self.plan.mutated]
        return _results([*changed, *self._made_fake(given)])

    # Gradients.

    def _register_backward(self) -> Any:
        outputs = self.plan.outputs
        taken = {one.name for one in self.signature.arguments}
        flows = []
        for output in outputs:
            name = f"grad_{identifier(output.leaf.name)}"
            while name in taken:
                name += "_"
            taken.add(name)
            flows.append(f"Tensor? {name}")
        plan_backward, plan_gradients = self.plan.backward, self.plan.gradients
        assert plan_backward is not None
        inputs = self.signature.inputs_text(True).replace("shape=None", "shape")
        base = f"{self.base}_backward"
        name = f"{base}.{self.overload}"
        schema = f"{name}({', '.join([*flows, inputs])}, bool[] needs) -> Tensor[]"

        def kernel(*given: Any) -> list[torch.Tensor]:
            flowing, values, more, needs = self._parted(given, symbolic=False)
            return list(compute_gradients(self.plan, more, needs, flowing, values))

        def straight(*given: Any) -> list[torch.Tensor]:
            needs = given[-1]
            if given[0] is not None:
                # What an operator returns may not share memory.
                flow, values = self.plan.outputs[0].leaf.laid_out(given[0]), given[1:-1]
                made = flat_backward(plan_backward, flow, values, (None, *needs), plan_gradients, True)
                if made is None:
                    made = flat_gradients(self.plan, flow, values, (False, *needs))
                return [one for one in made if one is not None]
            return kernel(*given)

        def fake(*given: Any) -> list[torch.Tensor]:
            _, values, _, needs = self._parted(given, symbolic=True)
            return [self.plan.gradient_like(i, values[i]) for i, needed in enumerate(needs) if needed]

        qualified = f"{self.module}::{name}"
        is_known = qualified in _defined
        made = straight if self.kernel == self._forward_straight else kernel
        op = self._implement(base, self.overload, schema, made, fake, (), False)
        if not is_known:
            followed = _followed_kernel(op, _keep_nothing, lambda _ctx, *_flows: refuse_second(self.plan))
            self._follow(name, made, followed)
            self._batch(name, op)
        return op

    def _follow(self, name: str, kernel: Callable[..., Any], followed: Callable[..., Any]) -> None:
        chosen = _unfollowed(self._watching_globals(kernel), followed)
        _libraries[self.module].impl(name, chosen, "Autograd", with_keyset=True)

    def _batch(self, name: str, op: Any) -> None:
        torch.library.register_vmap(
            f"{self.module}::{name}",
            lambda info, in_dims, *given: batched_operator(op, info, in_dims, given),
            lib=_libraries[self.module],
        )

    def _parted(
        self, given: Sequence[Any], symbolic: bool
    ) -> tuple[Sequence[Any], list[Any], dict[str, Any] | None, Sequence[bool]]:
        """Returns what a backward pass is given: what flows in, values, the shape, what is needed."""
        count = len(self.plan.outputs)
        values, more = self._split(given[count:-1], symbolic)
        return given[:count], values, more, given[-1]

    def _register_autograd(self) -> None:
        name = f"{self.functional._schema.name}"
        if self.functional._overloadname != "default":
            name += f".{self.functional._overloadname}"
        key = f"autograd {name}"
        if key in _defined:
            return
        _defined[key] = True
        plan = self.plan
        arguments = self.signature.arguments

        def setup(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
            outputs = output if isinstance(output, tuple) else (output,)
            kept = list(inputs)
            for i, one in enumerate(arguments):
                if one.slot in plan.left:
                    kept[i] = outputs[plan.left[one.slot]]
            ctx.save_for_backward(*(one for one in kept if isinstance(one, torch.Tensor)))
            ctx.given = [None if isinstance(one, torch.Tensor) else one for one in inputs]
            ctx.tensors = [i for i, one in enumerate(inputs) if isinstance(one, torch.Tensor)]
            ctx.set_materialize_grads(False)
            fixed = [
                one for one, known in zip(outputs, plan.outputs, strict=True) if not known.differentiable
            ]
            if fixed:
                ctx.mark_non_differentiable(*fixed)

        def backward(ctx: Any, *flows: Any) -> Any:
            if self.backward_op is None:
                plan.refuse_backward()
            given = list(ctx.given)
            for i, tensor in zip(ctx.tensors, ctx.saved_tensors, strict=True):
                given[i] = tensor
            needs = [False] * len(plan.inputs)
            for i, one in enumerate(arguments):
                needs[one.slot] = bool(ctx.needs_input_grad[1 + i]) and plan.differentiable[one.slot]
            found: list[Any] = [None] * len(given)
            if any(needs):
                if self.signature.has_shape and len(given) == len(arguments):
                    given.append(None)
                gradients = iter(self.backward_op(*flows, *given, needs))
                for i, one in enumerate(arguments):
                    if needs[one.slot]:
                        found[i] = next(gradients)
            return tuple(found)

        name = name.partition("::")[2]
        self._follow(name, self.kernel, _followed_kernel(self.functional, setup, backward))
        self._batch(name, self.functional)


def _takes_tensors(call: Call) -> bool:
    return any(leaf.is_memory and not leaf.is_made for leaf in call.leaves)


def _can_be_operator(call: Call) -> bool:
    with suppress(NoOperatorError):
        return _takes_tensors(call) and bool(Signature(call).arguments)
    return False


def _results(tensors: Sequence[torch.Tensor]) -> Any:
    if len(tensors) < 2:
        return tensors[0] if tensors else None
    return tuple(tensors)


def _output_names(call: Call, made: Sequence[Leaf], taken: set[str]) -> list[str]:
    names = []
    for leaf in made:
        name = "out" if leaf.role == "result" and leaf.name == "result" else identifier(leaf.name)
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


#: Backends whose kernels are ours.
_BACKENDS = (torch._C.DispatchKey.CPU, torch._C.DispatchKey.CUDA)


def _unfollowed(kernel: Callable[..., Any], followed: Callable[..., Any]) -> Callable[..., Any]:
    """Returns autograd's kernel: that of the device, where it follows nothing and nothing else looks on.

    Compiled code calls operators so; another way through the dispatcher takes a third of a short call's time.
    """
    after = torch._C._after_autograd_keyset
    is_grad_enabled = torch.is_grad_enabled
    forward_mode = torch.autograd.forward_ad
    # Newer than PyTorch 2.6.
    any_requires_grad = getattr(torch._C, "_any_requires_grad", _any_requires_grad)

    def chosen(keyset: Any, *given: Any) -> Any:
        if (
            (keyset & after).highestPriorityTypeId() in _BACKENDS
            and not (is_grad_enabled() and any_requires_grad(*given))
            and forward_mode._current_level < 0
        ):
            return kernel(*given)
        return followed(keyset, *given)

    return chosen


def _keep_nothing(_ctx: Any, _inputs: Sequence[Any], _output: Any) -> None:
    pass


def _followed_kernel(
    op: Any, keep: Callable[[Any, Sequence[Any], Any], None], backward: Callable[..., Any]
) -> Callable[..., Any]:
    """Returns autograd's kernel where it follows a call.

    What torch.library.register_autograd() makes is refused by torch.func.grad(), for which it is of the wrong
    form; but each level of it comes here, where nothing is left to be done but autograd's own work.
    """
    after = torch._C._after_autograd_keyset
    name = str(op._schema.name).partition("::")[2]

    # Derives from the class for one level: in transforms, PyTorch 2.14's apply() refuses a
    # torch.autograd.Function of this form.
    class Followed(torch.autograd.function._SingleLevelFunction):
        @staticmethod
        def forward(ctx: Any, keyset: Any, *given: Any) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                output = op.redispatch(keyset & after, *given)
            keep(ctx, given, output)
            return output

        @staticmethod
        def backward(ctx: Any, *flows: Any) -> Any:
            return None, *backward(ctx, *flows)

        @staticmethod
        def jvp(_ctx: Any, *_tangents: Any) -> Any:
            reason = (
                "an operator has no forward derivative; the function itself may have one, where nothing "
                "traces the call, as torch.compile(), torch.export() and torch.func.linearize() do"
            )
            refuse("not-differentiable", name, "", reason)

        setup_context = staticmethod(torch.autograd.Function.setup_context)

    apply = apply_of(Followed, name)

    def followed(keyset: Any, *given: Any) -> Any:
        if not _functorch_is_active():
            return apply(keyset, *given)
        with enable_single_level_autograd_function():
            return apply(keyset, *given)

    return followed


def _any_requires_grad(*given: Any) -> bool:
    return any(isinstance(one, torch.Tensor) and one.requires_grad for one in given)


def _bumping(op: Any, mutated: Sequence[int], names: Sequence[str] = ()) -> Callable[..., Any]:
    """Returns a kernel that counts changes, so that autograd sees those of what it has saved."""
    after = torch._C._after_ADInplaceOrView_keyset

    def kernel(keyset: Any, *given: Any, **named: Any) -> Any:
        for i in mutated:
            torch.autograd.graph.increment_version(given[i])
        for name in names:
            torch.autograd.graph.increment_version(named[name])
        return op.redispatch(keyset & after, *given, **named)

    return kernel


def _refusing_gradients(op: Any, name: str) -> Callable[..., Any]:
    after = torch._C._after_autograd_keyset

    def kernel(keyset: Any, *given: Any, **named: Any) -> Any:
        every = [one for one in (*given, *named.values()) if isinstance(one, torch.Tensor)]
        if torch.is_grad_enabled() and any(one.requires_grad for one in every):
            text = (
                f"{name}(): functions with out=... arguments don't support automatic differentiation, "
                "but one of the arguments requires grad."
            )
            raise error("not-differentiable", text)
        with torch._C._AutoDispatchBelowAutograd():
            return op.redispatch(keyset & after, *given, **named)

    return kernel
