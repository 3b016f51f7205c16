"""Tests of functions in PyTorch, for pytest: what `kfgen generate --torch-tests` writes inherits them.

A class of tests is one call of one function. It says what the call takes and gives, and has the tests of its
bases: Operator for what takes tensors, Gradients and Tangents for what has derivatives.

    class TestScale(testing.Operator, testing.Gradients):
        function = lights.scale
        arguments = {"x": testing.tensor("float32", "i", 3, gradient=True), "by": testing.value("float32")}
        results = {"return": testing.tensor("float32", "i", 3, gradient=True)}

Arguments are random: numbers from 0.1 to 0.9, integers 0, 1 and 2, in tensors as many different ones as there
are. Where functions need others, a module
NAME_torch_inputs, beside NAME_torch_test.py or on the import path, may hold

- `extents`: `{"scale": {"i": 5}}`, the extents of dimensions by function;
- `def scale(arguments)`: changes the arguments before a call, a dict of tensors and numbers by name ("x";
  "ray.origin" and "layers[1]" where structs and arrays are given so). A method's is `Type_method`;
- `outputs`: `{"scale": ["out"]}`, the views (`TensorView`) that a function writes; the others it reads.
  Functions with gradients of views need it;
- `other_derivatives`: `{"scale"}`, functions whose derivatives are meant to differ from differences;
- `left_out`: `{"scale": "takes addresses"}`, functions that can't be tested so, and why.

KF_TEST_TORCH_DEVICE says where tensors are: "cpu", if it isn't set, or "cuda".
"""

import functools
import importlib
import importlib.util
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelfunctions import _kf

Array = npt.NDArray[Any]
Arguments = dict[str, Any]

#: Of dimensions whose extent nothing says: calls' elements are found in whole tensors, by place.
_EXTENTS = {"i": 3, "j": 2, "k": 2, "u": 4, "v": 3, "w": 3}

#: The smallest one of whole tensors' extents: integers are from 0 to below it.
_SMALLEST = 3

#: By how much derivatives may differ from differences, relative to the sum of their parts' sizes.
_TOLERANCES = {"float16": 0.03, "float32": 0.005, "float64": 1e-5}
_STEPS = {"float16": 2.0**-4, "float32": 2.0**-7, "float64": 2.0**-10}
#: What a number's rounding is, relative to it.
_ROUNDING = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
#: Inputs that are tried until differences with two steps agree.
_TRIALS = 8


@dataclass(frozen=True)
class Leaf:
    """What one argument or result is, or a field of one."""

    form: str
    scalar: str
    #: Extents: numbers, and the names of dimensions: i, j, k … of the call's, u, v … of whole tensors.
    shape: tuple[str | int, ...]
    #: Integers that an enum has.
    values: Sequence[int] = ()
    #: The call writes to what is given.
    written: bool = False
    #: The call reads what is given.
    read: bool = True
    #: The call may read or write what is given: a TensorView.
    view: bool = False
    gradient: bool = False
    tangent: bool = False
    #: The function takes the whole tensor.
    whole: bool = False
    contiguous: bool = False
    #: Calls add to the same elements.
    combined: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.form == "tensor"

    @property
    def is_floating(self) -> bool:
        return self.scalar.startswith("float")


def tensor(scalar: str, *shape: str | int, **options: Any) -> Leaf:
    """A torch.Tensor of that dtype and shape."""
    return Leaf("tensor", scalar, shape, **options)


def value(scalar: str, *shape: str | int, **options: Any) -> Leaf:
    """A number, or nested lists of them."""
    return Leaf("value", scalar, shape, **options)


def device() -> torch.device:
    """Where the tests' tensors are."""
    return torch.device(os.environ.get("KF_TEST_TORCH_DEVICE", "cpu"))


def array(result: Any) -> Array:
    """A tensor or a number as a NumPy array."""
    return np.asarray(result.detach().cpu().numpy() if isinstance(result, torch.Tensor) else result)


class Inputs:
    """What the module NAME_torch_inputs says of arguments; nothing where there is none."""

    def __init__(self, module: str) -> None:
        self._module: Any = None
        if importlib.util.find_spec(module) is not None:
            self._module = importlib.import_module(module)

    def extents(self, function: str) -> dict[str, int]:
        found: Mapping[str, Mapping[str, int]] = getattr(self._module, "extents", {})
        return dict(found.get(function, {}))

    def adapt(self, function: str, arguments: Arguments) -> None:
        """Changes a call's arguments to those that the function needs."""
        change: Callable[[Arguments], None] | None = getattr(self._module, function, None)
        if change is not None:
            change(arguments)

    def outputs(self, function: str) -> list[str] | None:
        """The views that the function writes; None where that isn't said."""
        found: Mapping[str, list[str]] = getattr(self._module, "outputs", {})
        return found.get(function)

    def has_other_derivative(self, function: str) -> bool:
        return function in getattr(self._module, "other_derivatives", ())

    def why_left_out(self, function: str) -> str | None:
        reasons: Mapping[str, str] = getattr(self._module, "left_out", {})
        return reasons.get(function)


def _steps(path: str) -> tuple[str | int, ...]:
    """The way to "net.layers[1].w": "net", "layers", 1, "w"."""
    words = re.findall(r"[^.\[\]]+|\[\d+\]", path)
    return tuple(int(word[1:-1]) if word.startswith("[") else word for word in words)


def _nested(fields: Mapping[tuple[str | int, ...], Any]) -> Any:
    """Structs as dicts and arrays as lists, of values by their ways."""
    if () in fields:
        return fields[()]
    parts: dict[str | int, dict[tuple[str | int, ...], Any]] = {}
    for way, one in fields.items():
        parts.setdefault(way[0], {})[way[1:]] = one
    made = {step: _nested(part) for step, part in parts.items()}
    return list(made.values()) if isinstance(next(iter(made), ""), int) else made


def _field(held: Any, step: str | int) -> Any:
    if isinstance(step, int) or isinstance(held, Mapping):
        return held[step]
    # A name that Python keeps for itself has a _ behind it.
    return getattr(held, step if hasattr(held, step) else step + "_")


class _FirstOperator(TorchDispatchMode):
    """Notes the first of a library's operators that is called, and its arguments."""

    def __init__(self, library: str) -> None:
        super().__init__()
        self._library = library
        self.found: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.found is None and func.namespace == self._library:
            self.found = (func, args, dict(kwargs or {}))
        return func(*args, **(kwargs or {}))


class _Call:
    """One call of a function, with arguments by their paths."""

    function: ClassVar[Any]
    arguments: ClassVar[Mapping[str, Leaf]]
    results: ClassVar[Mapping[str, Leaf]]
    #: Extents of dimensions that the elements of arguments give the call.
    extents: ClassVar[Mapping[str, int]] = {}
    #: Whether arguments with an extent of 1 may stand beside longer ones.
    broadcasts: ClassVar[bool] = True
    #: The dimensions of the call's shape, where arguments don't give all of it.
    shape: ClassVar[tuple[str, ...]] = ()
    _inputs: ClassVar[Inputs]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "arguments" in cls.__dict__:
            module = cls.__module__.rpartition(".")[2].removesuffix("_torch_test")
            cls._inputs = Inputs(module + "_torch_inputs")

    def setup_method(self) -> None:
        """Leaves out, as pytest does, what the inputs' module says."""
        reason = self._inputs.why_left_out(self._name)
        if reason is not None:
            import pytest  # noqa: PLC0415

            pytest.skip(reason)

    # ---- Arguments and results ----

    @property
    def _name(self) -> str:
        """What the inputs' module calls the function."""
        return str(self.function.name).replace(".", "_")

    @property
    def _leaves(self) -> dict[str, Leaf]:
        """The arguments, where views are either read or written, as far as is known."""
        outputs = self._inputs.outputs(self._name)
        leaves = dict(self.arguments)
        for path, leaf in leaves.items():
            if leaf.view:
                is_output = outputs is None or path in outputs or path.rstrip("_") in outputs
                leaves[path] = replace(leaf, written=is_output, read=outputs is None or not is_output)
        return leaves

    @property
    def _called(self) -> Any:
        """The function; where views have gradients, its operator that knows which ones it writes."""
        outputs = self._inputs.outputs(self._name)
        if outputs is None or not any(leaf.view and leaf.gradient for leaf in self.arguments.values()):
            return self.function
        return self._operator

    @property
    def _operator(self) -> Any:
        outputs = self._inputs.outputs(self._name)
        return self.function.torch() if outputs is None else self.function.torch(outputs=outputs)

    def _extents(self, more: int) -> dict[str, int]:
        free = {name: extent + more for name, extent in _EXTENTS.items()}
        return {**free, **self._inputs.extents(self._name), **self.extents}

    def _made(self, seed: int = 0, more: int = 0) -> Arguments:
        """Random arguments. `more`: what to add to the extents of all dimensions that are free."""
        extents = self._extents(more)
        made: Arguments = {}
        for path, leaf in self.arguments.items():
            random = np.random.default_rng([zlib.crc32(f"{type(self).__name__} {path}".encode()), seed])
            shape = [extents.get(name, 2) if isinstance(name, str) else name for name in leaf.shape]
            if leaf.is_floating:
                numbers: Any = random.uniform(0.1, 0.9, shape)
            elif leaf.values:
                numbers = random.choice(np.asarray(leaf.values), shape)
            elif leaf.is_tensor and leaf.scalar != "bool":
                # Places in whole tensors, for each call another one while there are some.
                count = max(1, int(np.prod(shape)))
                numbers = (random.permutation(count) % (_SMALLEST + more))[: int(np.prod(shape))].reshape(
                    shape
                )
            else:
                numbers = random.integers(0, 2, shape)
            filled = np.asarray(numbers).astype(leaf.scalar)
            made[path] = torch.from_numpy(filled).to(device()) if leaf.is_tensor else filled.tolist()
        self._inputs.adapt(self._name, made)
        return made

    def _tensors(self, arguments: Arguments) -> dict[str, torch.Tensor]:
        return {path: one for path, one in arguments.items() if isinstance(one, torch.Tensor)}

    @property
    def _given_back(self) -> dict[str, Leaf]:
        """What the call leaves behind: the tensors that it writes to, and its results."""
        written = {path: leaf for path, leaf in self._leaves.items() if leaf.written and leaf.is_tensor}
        return {**written, **self.results}

    def _call_shape(self, arguments: Arguments) -> tuple[int, ...]:
        """The call's shape, where arguments don't give all of it."""
        found = self._extents(0)
        for path, one in self._tensors(arguments).items():
            sizes = zip(self.arguments[path].shape, one.shape, strict=True)
            found |= {name: size for name, size in sizes if isinstance(name, str)}
        return tuple(found[name] for name in self.shape)

    def _of_tensors(self, arguments: Arguments, function: Any = None) -> Callable[..., dict[str, Any]]:
        """The call as a function of its tensors alone, to what it leaves behind, by path.

        The numbers stay as they are; what is written to is copied. torch.compile can trace it.
        """
        called = self._called if function is None else function
        ways = {path: _steps(path) for path in arguments}
        tensors = list(self._tensors(arguments))
        numbers = {path: one for path, one in arguments.items() if path not in tensors}
        if self.shape:
            ways["shape"] = ("shape",)
            numbers["shape"] = self._call_shape(arguments)
        written = [path for path in tensors if self._leaves[path].written]
        results = {path: _steps(path) for path in self.results}
        roots = list(dict.fromkeys(way[0] for way in results.values()))

        def call(*given: torch.Tensor) -> dict[str, Any]:
            named: dict[str, Any] = dict(numbers)
            for path, one in zip(tensors, given, strict=True):
                named[path] = one.clone() if path in written else one
            structured: dict[Any, Any] = _nested({ways[path]: one for path, one in named.items()})
            if "this" in structured:
                this = structured.pop("this")
                returned = called(this, **structured)
            else:
                returned = called(**structured)
            if len(roots) == 1:
                returned = (returned,)
            found = {path: named[path] for path in written}
            for path, way in results.items():
                held = returned[roots.index(way[0])]
                for step in way[1:]:
                    held = _field(held, step)
                found[path] = held
            return found

        return call

    def _check_same(
        self, found: Mapping[str, Any], expected: Mapping[str, Any], what: str, loose: bool = False
    ) -> None:
        """Compares results. `loose`: they may be rounded differently, since other kernels made them."""
        assert list(found) == list(expected), f"{what}: {list(found)} instead of {list(expected)}"
        for name, other in expected.items():
            left, right = array(found[name]), array(other)
            assert left.shape == right.shape, f"{what}: '{name}' has shape {left.shape}, not {right.shape}"
            # Numbers of Python's know no precision.
            if isinstance(other, torch.Tensor):
                assert left.dtype == right.dtype, f"{what}: '{name}' is of {left.dtype}, not {right.dtype}"
            rounding = _ROUNDING.get(left.dtype.name, 0.0) * 64 if loose else 0.0
            np.testing.assert_allclose(
                *(left, right), rtol=rounding, atol=rounding, equal_nan=True, err_msg=f"{what}: '{name}'"
            )


class Operator(_Call):
    """Tests of any call that takes tensors."""

    #: The tests of torch.library.opcheck that run.
    opchecks: ClassVar[tuple[str, ...]] = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_aot_dispatch_dynamic",
    )

    def test_operator(self) -> None:
        """The operator gives what the function gives."""
        arguments = self._made()
        tensors = self._tensors(arguments).values()
        expected = self._of_tensors(arguments)(*tensors)
        found = self._of_tensors(arguments, self._operator)(*tensors)
        self._check_same(found, expected, "the operator")

    def test_opcheck(self) -> None:
        """torch.library.opcheck: the schema, the fake kernel, autograd's registration, and tracing."""
        overload, given, named = self._operator_call(self._made())
        torch.library.opcheck(overload, given, named, test_utils=self.opchecks)

    def test_vmap(self) -> None:
        samples = [self._made(seed) for seed in range(2)]
        call = self._of_tensors(samples[0])
        batched = self._batched(samples[0])
        tensors = [list(self._tensors(sample).values()) for sample in samples]
        given = [
            torch.stack([sample[k] for sample in tensors]) if is_batched else tensors[0][k]
            for k, is_batched in enumerate(batched)
        ]
        found = torch.func.vmap(call, in_dims=tuple(0 if one else None for one in batched))(*given)
        alone = [
            call(
                *(one[number] if is_batched else one for one, is_batched in zip(given, batched, strict=True))
            )
            for number in range(2)
        ]
        expected: dict[str, Any] = {}
        for path, one in alone[0].items():
            every = [sample[path] for sample in alone]
            expected[path] = torch.stack(every) if isinstance(one, torch.Tensor) else np.asarray(every)
        self._check_same(found, expected, "vmap", loose=True)

    def test_compile(self) -> None:
        """torch.compile traces it whole, and for all extents."""
        self._compile(backward=False)

    def test_export(self) -> None:
        arguments = self._made()
        tensors = tuple(self._tensors(arguments).values())
        call = self._of_tensors(arguments, self._operator)

        class Exported(torch.nn.Module):
            def forward(self, *given: torch.Tensor) -> dict[str, Any]:
                return call(*given)

        exported = torch.export.export(Exported(), tensors).module()
        self._check_same(exported(*tensors), call(*tensors), "the exported program")

    # ---- Help ----

    def _operator_call(self, arguments: Arguments) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """What of torch.ops the call comes down to, and its arguments."""
        tensors = self._tensors(arguments)
        library = _kf.describe_calls(self.function)["module"]
        with _FirstOperator(library) as first, torch.no_grad():
            self._of_tensors(arguments, self._operator)(*tensors.values())
        assert first.found is not None, f"no operator of torch.ops.{library} was called"
        overload, given, named = first.found
        gradients = any(leaf.gradient for leaf in self.arguments.values())
        mutates = overload._schema.is_mutable

        def watched(one: Any) -> Any:
            is_watched = (
                isinstance(one, torch.Tensor) and one.is_floating_point() and gradients and not mutates
            )
            return one.detach().clone().requires_grad_() if is_watched else one

        return overload, tuple(map(watched, given)), {key: watched(one) for key, one in named.items()}

    def _batched(self, arguments: Arguments) -> list[bool]:
        """Which tensors get a batch: the first one, and those that are written to."""
        leaves = [self._leaves[path] for path in self._tensors(arguments)]
        return [leaf.written or number == 0 for number, leaf in enumerate(leaves)]

    def _compile(self, backward: bool) -> None:
        """Compares what is compiled with eager calls, for two sets of extents."""
        torch._dynamo.reset()
        call = self._of_tensors(self._made())
        traced = self._of_tensors(self._made(), self._operator)
        compiled = torch.compile(traced, fullgraph=True, dynamic=True, backend="aot_eager")
        # What gives the call its shape is a number, which stays as it is.
        for more in (0,) if self.shape else (0, 1):
            arguments = self._made(more=more)
            found = self._with_gradients(compiled, arguments, backward)
            expected = self._with_gradients(call, arguments, backward)
            self._check_same(found, expected, "torch.compile")

    def _with_gradients(
        self, call: Callable[..., dict[str, Any]], arguments: Arguments, backward: bool
    ) -> dict[str, Any]:
        """Results, and the gradients of their sum with random weights."""
        moving = [path for path, leaf in self._leaves.items() if leaf.gradient and leaf.read]
        watched = {
            path: one.detach().requires_grad_(backward and path in moving)
            for path, one in self._tensors(arguments).items()
        }
        results = call(*watched.values())
        if not backward:
            return results
        inputs = {f"{path}.grad": one for path, one in watched.items() if one.requires_grad}
        outputs = [one for one in results.values() if isinstance(one, torch.Tensor)]
        return {**results, **dict(zip(inputs, _grad(outputs, list(inputs.values())), strict=True))}


def _random_weights(shapes: Sequence[Sequence[int]]) -> list[Array]:
    """A weight for each element of each result, the same ones in every call."""
    random = np.random.default_rng(1)
    return [np.asarray(random.uniform(0.5, 1.5, tuple(shape))) for shape in shapes]


def _weights(outputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The same as tensors, for gradients to flow in."""
    numbers = _random_weights([one.shape for one in outputs])
    return [
        torch.from_numpy(weight).to(one.device, one.dtype)
        for weight, one in zip(numbers, outputs, strict=True)
    ]


def _grad(
    results: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor], create_graph: bool = False
) -> tuple[torch.Tensor, ...]:
    """The gradients of the results' weighted sum; zeros of what nothing depends on."""
    pairs = [
        (one, weight) for one, weight in zip(results, _weights(results), strict=True) if one.requires_grad
    ]
    found: tuple[torch.Tensor, ...] = torch.autograd.grad(
        [one for one, _ in pairs],
        inputs,
        [weight for _, weight in pairs],
        create_graph=create_graph,
        materialize_grads=True,
    )
    return found


@dataclass
class _Difference:
    """One difference of the results' weighted sum."""

    change: float
    #: By how much the tensor's elements were moved in all.
    moved: Array
    #: The sum of the sizes of what was added up.
    size: float
    step: float


class _Derivatives(_Call):
    """What tests of gradients and of tangents share: differences of the forward kernel's results."""

    def _scalars(self) -> list[str]:
        """The types of numbers, the most precise one first."""
        leaves = [leaf for leaf in (*self.arguments.values(), *self.results.values()) if leaf.is_floating]
        return sorted((leaf.scalar for leaf in leaves), key=lambda scalar: _ROUNDING[scalar])

    def _differentiable(self, results: Mapping[str, Any], derivative: str) -> list[Any]:
        """The results that have such a derivative, "gradient" or "tangent"."""
        leaves = self._given_back
        return [one for path, one in results.items() if getattr(leaves[path], derivative)]

    def _moving(self, derivative: str) -> list[str]:
        """The tensors that results are differentiated by."""
        leaves = {path: leaf for path, leaf in self._leaves.items() if leaf.is_tensor and leaf.read}
        return [path for path, leaf in leaves.items() if getattr(leaf, derivative)]

    def _difference(self, arguments: Arguments, path: str, step: float, derivative: str) -> _Difference:
        """What the results' weighted sum changes by, when one tensor moves along a random direction."""
        call = self._of_tensors(arguments)
        tensors = {name: one.detach() for name, one in self._tensors(arguments).items()}
        start = array(tensors[path])
        random = np.random.default_rng(2)
        direction = random.choice([-1.0, 1.0], start.shape) * random.uniform(0.5, 1.0, start.shape)
        values: list[list[Array]] = []
        moved: list[Array] = []
        for sign in (1, -1):
            at = np.asarray((start.astype(np.float64) + sign * step * direction).astype(start.dtype))
            with torch.no_grad():
                results = call(*{**tensors, path: torch.from_numpy(at).to(tensors[path].device)}.values())
            values.append(
                [array(one).astype(np.float64) for one in self._differentiable(results, derivative)]
            )
            moved.append(at.astype(np.float64))
        change = size = 0.0
        for weight, up, down in zip(_random_weights([one.shape for one in values[0]]), *values, strict=True):
            change += float(np.sum(weight * (up - down)))
            size += float(np.sum(np.abs(weight * up)))
        return _Difference(change, moved[0] - moved[1], size, 2 * step)


class Gradients(_Derivatives):
    """Tests of calls with a backward pass."""

    def test_gradients(self) -> None:
        """The gradients through autograd are those of the function."""
        if self._inputs.has_other_derivative(self._name):
            return
        if set(self._scalars()) == {"float64"}:
            self._gradcheck(self._made())
            return
        for path in self._moving("gradient"):
            _compare(self, path, "gradient", functools.partial(self._gradient, path))

    def test_compiled_gradients(self) -> None:
        assert isinstance(self, Operator)
        self._compile(backward=True)

    def test_functional_gradients(self) -> None:
        """torch.func.vjp gives what autograd gives."""
        arguments = self._made()
        names = self._moving("gradient")
        call = self._of_inputs(arguments)
        inputs = [self._tensors(arguments)[path] for path in names]
        results, pull = torch.func.vjp(call, *inputs)
        found = dict(zip(names, pull(tuple(_weights(results))), strict=True))
        watched = [one.detach().requires_grad_() for one in inputs]
        expected = dict(zip(names, _grad(call(*watched), watched), strict=True))
        self._check_same(found, expected, "torch.func.vjp")

    def test_no_second_derivatives(self) -> None:
        """A second derivative is refused, not 0."""
        arguments = self._made()
        inputs = [
            self._tensors(arguments)[path].detach().requires_grad_() for path in self._moving("gradient")
        ]
        results = self._of_inputs(arguments)(*inputs)
        again = [one for one in _grad(results, inputs, create_graph=True) if one.requires_grad]
        assert again, "the gradients don't know that they can't be differentiated"
        try:
            torch.autograd.grad([one.sum() for one in again], inputs, allow_unused=True)
        except RuntimeError as error:
            assert str(self.function.name) in str(error), f"the error names no function: {error}"
            return
        raise AssertionError("a second derivative wasn't refused")

    def _of_inputs(self, arguments: Arguments) -> Callable[..., tuple[Any, ...]]:
        """The call from the tensors that have gradients to the results that do."""
        call = self._of_tensors(arguments)
        tensors = self._tensors(arguments)
        paths = self._moving("gradient")

        def of_inputs(*given: torch.Tensor) -> tuple[Any, ...]:
            changed = {**tensors, **dict(zip(paths, given, strict=True))}
            return tuple(self._differentiable(call(*changed.values()), "gradient"))

        return of_inputs

    def _gradcheck(self, arguments: Arguments) -> None:
        inputs = [
            self._tensors(arguments)[path].detach().requires_grad_() for path in self._moving("gradient")
        ]
        forward = isinstance(self, Tangents)
        torch.autograd.gradcheck(self._of_inputs(arguments), tuple(inputs), check_forward_ad=forward)

    def _gradient(self, path: str, arguments: Arguments) -> Array:
        inputs = {name: self._tensors(arguments)[name].detach() for name in self._moving("gradient")}
        inputs[path].requires_grad_()
        results = self._of_inputs(arguments)(*inputs.values())
        assert any(one.requires_grad for one in results), f"no result requires gradients where '{path}' does"
        return array(_grad(results, [inputs[path]])[0]).astype(np.float64)


class Tangents(_Derivatives):
    """Tests of calls with a forward derivative."""

    def test_tangents(self) -> None:
        """torch.func.jvp gives the function's derivative."""
        if self._inputs.has_other_derivative(self._name):
            return
        for path in self._moving("tangent"):
            _compare(self, path, "tangent", functools.partial(self._part_along, path))

    def _change(self, arguments: Arguments, path: str, along: Array) -> float:
        """What the results' weighted sum changes by along a direction, by torch.func.jvp."""
        call = self._of_tensors(arguments)
        tensors = self._tensors(arguments)

        def of_one(one: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(self._differentiable(call(*{**tensors, path: one}.values()), "tangent"))

        direction = torch.as_tensor(along).to(tensors[path].device, tensors[path].dtype)
        results, tangents = torch.func.jvp(of_one, (tensors[path],), (direction,))
        weights = _random_weights([one.shape for one in results])
        return sum(
            float(np.sum(weight * array(tangent).astype(np.float64)))
            for weight, tangent in zip(weights, tangents, strict=True)
        )

    def _part_along(self, path: str, arguments: Arguments) -> Array:
        """A gradient that is the tangents' along the differences' direction, and nothing across it."""
        difference = self._difference(arguments, path, _STEPS[self._scalars()[-1]] / 2, "tangent")
        direction = difference.moved / difference.step
        squared = float(np.sum(direction * direction))
        return direction * (self._change(arguments, path, direction) / squared if squared else 0.0)


def _compare(call: _Derivatives, path: str, derivative: str, gradient: Callable[[Arguments], Array]) -> None:
    """Compares a gradient with differences, by a direction; where these bend too much, with other inputs."""
    scalar = call._scalars()[-1]
    tried: list[str] = []
    for seed in range(_TRIALS):
        arguments = call._made(seed)
        wide = call._difference(arguments, path, _STEPS[scalar], derivative)
        near = call._difference(arguments, path, _STEPS[scalar] / 2, derivative)
        slopes = (wide.change / wide.step, near.change / near.step)
        bend = abs(slopes[0] - slopes[1])
        found = gradient(arguments)
        slope = float(np.sum(found * near.moved)) / near.step
        rounding = 4 * _ROUNDING[scalar] * near.size / near.step
        scale = max(float(np.sum(np.abs(found * near.moved))) / near.step, abs(slopes[1]))
        if not np.isfinite([*slopes, slope]).all() or bend > 0.1 * scale + 2 * rounding:
            tried.append(f"{slopes[0]:.4g}, {slopes[1]:.4g}")
            continue
        allowed = _TOLERANCES[scalar] * scale + bend + rounding
        assert abs(slope - slopes[1]) <= allowed, (
            f"'{path}': the derivative along a direction is {slope:.6g}, "
            f"differences {slopes[1]:.6g} +- {allowed:.2g}"
        )
        return
    raise AssertionError(
        f"'{path}': differences depend on the step ({'; '.join(tried)}): state other inputs, or name the "
        "function among 'other_derivatives'"
    )
