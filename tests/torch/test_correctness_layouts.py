"""Layouts and dtypes of PyTorch's tensors, of what goes in, comes out and flows back, against NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from loader import Loader

Array = npt.NDArray[Any]
Layout = Callable[[torch.Tensor], torch.Tensor]

POISON = 77
ROWS = 5


@dataclass(frozen=True)
class Case:
    """A function and what it computes, for arguments of these dtypes and shapes (the first extent is n)."""

    spec: str
    name: str
    arguments: tuple[tuple[str, tuple[int, ...]], ...]
    #: The results, of the arguments as float64 or int64.
    results: Callable[..., tuple[Array, ...]]
    #: The gradients of the first result's sum, weighted by the first parameter; None where there are none.
    gradients: Callable[..., tuple[Array, ...]] | None = None

    @property
    def label(self) -> str:
        return f"{self.spec}.{self.name}-{self.arguments[0][0]}"


def rows(weights: Array) -> Array:
    """A weight for each row, beside a vector's components."""
    return weights[:, None]


CASES = [
    Case("calls", "add", (("int32", (5,)), ("int32", (5,))), lambda a, b: (a + b,)),
    Case("calls", "add", (("int32", (5, 3)), ("int32", (3,))), lambda a, b: (a + b,)),
    Case("calls", "split", (("float32", (5,)),), lambda x: (np.floor(x), x - np.floor(x))),
    Case("calls", "split_any", (("float32", (5, 3)),), lambda x: (np.floor(x), x - np.floor(x))),
    Case("calls", "quotient", (("int32", (5,)), ("int32", (5,))), lambda x, y: (x // y, x % y)),
    Case("calls", "scale", (("float32", (5, 3)), ("float32", (5,))), lambda v, s: (v * rows(s),)),
    Case("calls", "total", (("float32", (5, 3)),), lambda v: (v.sum(-1),)),
    Case("calls", "narrow", (("int8", (5,)),), lambda x: (x,)),
    Case("calls", "wide", (("int64", (5,)),), lambda x: (x,)),
    Case("calls", "halve", (("float16", (5,)),), lambda x: (x / 2,)),
    Case("calls", "negate", (("bool", (5,)),), lambda x: (1 - x,)),
    Case("tensors", "row_sum", (("float32", (5, 3)),), lambda row: (row.sum(-1),)),
    Case(
        *("gradients", "product", (("float32", (5, 3)), ("float32", (5, 3)))),
        lambda x, y: (x * y,),
        lambda w, x, y: (w * y, w * x),
    ),
    Case(
        *("gradients", "product", (("float32", (5, 3)), ("float32", (3,)))),
        lambda x, y: (x * y,),
        lambda w, x, y: (w * y, (w * x).sum(0)),
    ),
    Case(
        *("gradients", "weighted", (("float32", (5, 3)), ("float32", (5,)))),
        lambda v, w: (w * (v * [1, 2, 3]).sum(-1),),
        lambda flow, v, w: (rows(flow * w) * [1, 2, 3], flow * (v * [1, 2, 3]).sum(-1)),
    ),
    Case(
        *("gradients", "scaled", (("float32", (5,)), ("float32", (5, 3)))),
        lambda a, b: (rows(a) * b,),
        lambda w, a, b: ((w * b).sum(-1), w * rows(a)),
    ),
    Case(
        *("gradients", "wide", (("float64", (5,)), ("float64", (5, 3)))),
        lambda a, b: (rows(a) + b,),
        lambda w, a, b: (w.sum(-1), w),
    ),
    Case(
        *("gradients", "narrow", (("float16", (5,)), ("float16", (5, 3)))),
        lambda a, b: (rows(a) * b,),
        lambda w, a, b: ((w * b).sum(-1), w * rows(a)),
    ),
    Case(
        *("jvp", "cubed", (("float16", (5, 3)), ("float16", (3,)))),
        lambda x, y: (x**3 * y,),
        lambda w, x, y: (w * 3 * x**2 * y, (w * x**3).sum(0)),
    ),
    Case(
        *("jvp", "cubed", (("float64", (5, 3)), ("float64", (3,)))),
        lambda x, y: (x**3 * y,),
        lambda w, x, y: (w * 3 * x**2 * y, (w * x**3).sum(0)),
    ),
]
DIFFERENTIABLE = [case for case in CASES if case.gradients is not None]


# ---- Layouts: each returns a tensor of the same values, in memory of its own with poison around them ----


def storage(like: torch.Tensor, size: int) -> torch.Tensor:
    return torch.full((size,), POISON, dtype=torch.int32, device=like.device).to(like.dtype)


def contiguous(values: torch.Tensor) -> torch.Tensor:
    return values.clone(memory_format=torch.contiguous_format)


def sliced(values: torch.Tensor) -> torch.Tensor:
    """Behind an offset, with the tensor's own strides."""
    memory = storage(values, values.numel() + 12)
    view = memory[5 : 5 + values.numel()].view(values.shape)
    view.copy_(values)
    return view


def spread(values: torch.Tensor) -> torch.Tensor:
    """Every second element along each dimension of a larger tensor."""
    memory = storage(values, int(np.prod([2 * extent + 1 for extent in values.shape])))
    view = memory.view([2 * extent + 1 for extent in values.shape])[
        tuple(slice(1, None, 2) for _ in values.shape)
    ]
    view.copy_(values)
    return view


def transposed(values: torch.Tensor) -> torch.Tensor:
    """Its first dimension is the one in which elements lie beside each other."""
    turned = sliced(values.permute(*reversed(range(values.dim()))).contiguous())
    return turned.permute(*reversed(range(values.dim())))


def expanded(values: torch.Tensor) -> torch.Tensor:
    """The first row again and again, with a stride of 0."""
    return sliced(values[:1]).expand(values.shape)


def empty(values: torch.Tensor) -> torch.Tensor:
    """Without rows, where it has the n of the cases; what is shared among rows stays."""
    return values[:0].clone() if values.shape[0] == ROWS else values.clone()


def negated(values: torch.Tensor) -> torch.Tensor:
    """With the negative bit: memory holds the opposite."""
    if values.dtype == torch.bool:
        return values.clone()
    view: torch.Tensor = torch._neg_view(sliced(-values))
    assert view.is_neg()
    return view


def parameter(values: torch.Tensor) -> torch.Tensor:
    if not values.is_floating_point():
        return values.clone()
    return torch.nn.Parameter(sliced(values), requires_grad=False)


LAYOUTS = [contiguous, sliced, spread, transposed, expanded, empty, negated, parameter]


# ---- Comparing ----


def made(case: Case, device: str) -> list[torch.Tensor]:
    """Small numbers that are exact in halves, none of them 0."""
    random = np.random.default_rng(len(case.label))
    values = []
    for dtype, shape in case.arguments:
        numbers = random.integers(1, 9, shape) % 2 if dtype == "bool" else random.integers(1, 9, shape)
        scaled = numbers / 4 if dtype.startswith("float") else numbers
        values.append(torch.from_numpy(np.asarray(scaled.astype(dtype))).to(device))
    return values


def exactly(tensor: torch.Tensor) -> Array:
    """The values as float64, or int64."""
    found = tensor.detach().resolve_neg().cpu().numpy()
    return np.asarray(found.astype(np.float64 if tensor.is_floating_point() else np.int64))


def tolerance(dtype: torch.dtype) -> float:
    return {torch.float16: 4e-3, torch.float32: 1e-6, torch.float64: 1e-14}.get(dtype, 0.0)


def check(found: torch.Tensor, expected: Array, dtype: torch.dtype, what: str) -> None:
    assert isinstance(found, torch.Tensor), what
    assert found.dtype == dtype, what
    assert tuple(found.shape) == expected.shape, what
    relative = tolerance(dtype)
    np.testing.assert_allclose(exactly(found), expected, rtol=relative, atol=relative, err_msg=what)


def whole_memory(tensor: torch.Tensor) -> Array:
    """All that the tensor's storage holds."""
    return np.frombuffer(bytes(tensor.untyped_storage().cpu()), np.uint8)


def results_of(returned: Any) -> list[torch.Tensor]:
    return list(returned) if isinstance(returned, tuple) else [returned]


def result_dtypes(case: Case, arguments: list[torch.Tensor]) -> list[torch.dtype]:
    return [arguments[0].dtype] * len(case.results(*map(exactly, arguments)))


@pytest.fixture(params=CASES, ids=lambda case: case.label)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture(params=DIFFERENTIABLE, ids=lambda case: case.label)
def differentiable(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


def function_of(generated: Loader, case: Case) -> Any:
    module: ModuleType = generated(case.spec)
    return getattr(module, case.name)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments(case: Case, layout: Layout, generated: Loader, torch_device: str) -> None:
    arguments = [layout(values) for values in made(case, torch_device)]
    before = [whole_memory(one) for one in arguments]
    results = results_of(function_of(generated, case)(*arguments))
    expected = case.results(*map(exactly, arguments))
    dtypes = result_dtypes(case, arguments)
    assert len(results) == len(expected)
    for found, wanted, dtype in zip(results, expected, dtypes, strict=True):
        check(found, np.asarray(wanted), dtype, case.label)
        assert found.device == torch.empty(0, device=torch_device).device
    for one, memory in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(whole_memory(one), memory)


@pytest.mark.parametrize("layout", [contiguous, sliced, spread, transposed, empty])
def test_outputs_that_are_given(case: Case, layout: Layout, generated: Loader, torch_device: str) -> None:
    arguments = made(case, torch_device)
    if layout is empty:
        arguments = [empty(one) for one in arguments]
    function = function_of(generated, case)
    names = {"split": ["whole", "rest"], "split_any": ["whole", "rest"], "quotient": ["out", "rest"]}
    expected = [np.asarray(one) for one in case.results(*map(exactly, arguments))]
    dtypes = result_dtypes(case, arguments)
    outputs = {}
    for name, wanted, dtype in zip(names.get(case.name, ["out"]), expected, dtypes, strict=True):
        fill = torch.full(wanted.shape, 3, device=torch_device).to(dtype)
        outputs[name] = layout(fill)
    surroundings = [whole_memory(one).copy() for one in outputs.values()]
    returned = results_of(function(*arguments, **outputs))
    for (name, given), found, wanted, dtype, before in zip(
        outputs.items(), returned, expected, dtypes, surroundings, strict=True
    ):
        assert found is given, name
        check(given, wanted, dtype, f"{case.label}: {name}")
        # Put back what was there: then nothing else may have changed.
        given.fill_(3)
        np.testing.assert_array_equal(whole_memory(given), before)


@pytest.mark.parametrize("layout", [one for one in LAYOUTS if one is not empty])
def test_gradients(differentiable: Case, layout: Layout, generated: Loader, torch_device: str) -> None:
    arguments = [layout(values).detach().requires_grad_() for values in made(differentiable, torch_device)]
    result = function_of(generated, differentiable)(*arguments)
    weights = torch.ones_like(result)
    result.backward(weights)
    assert differentiable.gradients is not None
    expected = differentiable.gradients(exactly(weights), *map(exactly, arguments))
    for argument, wanted in zip(arguments, expected, strict=True):
        assert argument.grad is not None
        check(argument.grad, np.asarray(wanted), argument.dtype, differentiable.label)


@pytest.mark.parametrize("layout", [contiguous, sliced, spread, transposed, expanded, negated])
def test_gradients_that_flow_in(
    differentiable: Case, layout: Layout, generated: Loader, torch_device: str
) -> None:
    arguments = [values.requires_grad_() for values in made(differentiable, torch_device)]
    result = function_of(generated, differentiable)(*arguments)
    numbers = np.random.default_rng(3).integers(1, 5, tuple(result.shape)) / 2
    weights = layout(torch.from_numpy(numbers).to(result.dtype).to(torch_device))
    before = whole_memory(weights)
    result.backward(weights)
    assert differentiable.gradients is not None
    expected = differentiable.gradients(exactly(weights), *map(exactly, arguments))
    for argument, wanted in zip(arguments, expected, strict=True):
        assert argument.grad is not None
        check(argument.grad, np.asarray(wanted), argument.dtype, differentiable.label)
    np.testing.assert_array_equal(whole_memory(weights), before)


def test_gradients_of_nothing(differentiable: Case, generated: Loader, torch_device: str) -> None:
    arguments = [empty(values).requires_grad_() for values in made(differentiable, torch_device)]
    result = function_of(generated, differentiable)(*arguments)
    assert result.numel() == 0
    result.backward(torch.empty_like(result))
    for argument in arguments:
        assert argument.grad is not None
        check(argument.grad, np.zeros(tuple(argument.shape)), argument.dtype, differentiable.label)


@pytest.mark.parametrize("layout", [contiguous, sliced, spread, transposed])
def test_tensors_that_are_changed(layout: Layout, generated: Loader, torch_device: str) -> None:
    x = layout(torch.arange(5, dtype=torch.float32, device=torch_device))
    before = whole_memory(x).copy()
    assert generated("calls").advance(x, 0.5) is x
    np.testing.assert_array_equal(exactly(x), np.arange(5) + 0.5)
    x.copy_(torch.arange(5))
    np.testing.assert_array_equal(whole_memory(x), before)


@pytest.mark.parametrize(
    "tensor",
    [
        lambda device: torch.zeros(4, dtype=torch.bfloat16, device=device),
        lambda device: torch.zeros(4, dtype=torch.complex64, device=device),
        lambda device: torch.zeros(4, device=device).to_sparse(),
        lambda device: torch.zeros(4, device="meta"),
        lambda device: torch.quantize_per_tensor(torch.zeros(4), 0.1, 0, torch.qint8),
        lambda device: torch.zeros(4, dtype=torch.complex64, device=device).conj(),
    ],
    ids=["bfloat16", "complex", "sparse", "meta", "quantized", "conjugate"],
)
def test_refusals_name_the_argument(
    tensor: Callable[[str], torch.Tensor], generated: Loader, torch_device: str
) -> None:
    other = torch.ones(4, device=torch_device)
    with pytest.raises((TypeError, ValueError, RuntimeError), match=r"product: argument 'y'"):
        generated("gradients").product(other, tensor(torch_device))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int32, torch.bool])
def test_other_dtypes_are_refused(dtype: torch.dtype, generated: Loader, torch_device: str) -> None:
    x = torch.ones(4, device=torch_device)
    for first in (x, x.clone().requires_grad_()):
        with pytest.raises(TypeError, match=r"product_of_packed: argument 'y'"):
            generated("gradients").product_of_packed(first, torch.ones(4, device=torch_device).to(dtype))


def test_negative_outputs_are_refused(generated: Loader, torch_device: str) -> None:
    x = torch.ones(4, device=torch_device)
    out = torch._neg_view(torch.ones(4, device=torch_device))
    with pytest.raises((TypeError, ValueError, RuntimeError), match=r"negative"):
        generated("gradients").product(x, x, out=out)


def test_outputs_of_one_element_for_many_are_refused(generated: Loader, torch_device: str) -> None:
    x = torch.ones(4, device=torch_device)
    out = torch.zeros(1, device=torch_device).expand(4)
    with pytest.raises((TypeError, ValueError, RuntimeError), match=r"out|result"):
        generated("gradients").product(x, x, out=out)
    assert out[0] == 0


def test_zero_dimensions(generated: Loader, torch_device: str) -> None:
    """A tensor without dimensions stands for a number, with its gradient; on a GPU it would be read back."""
    gradients = generated("gradients")
    x = torch.tensor(3.0, device=torch_device, requires_grad=True)
    y = torch.tensor([1.0, 2.0, 4.0], device=torch_device, requires_grad=True)
    if x.is_cuda:
        with pytest.raises(TypeError, match=r"no overload takes \(a float32 torch.Tensor of shape \(\)"):
            gradients.product(x, y)
        return
    result = gradients.product(x, y)
    np.testing.assert_array_equal(exactly(result), [3, 6, 12])
    result.sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.shape == ()
    assert x.grad == 7
    np.testing.assert_array_equal(exactly(y.grad), [3, 3, 3])
