"""Every dtype, kind, layout and size against NumPy, over whole poisoned buffers, forward and backward."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, SIZES, Buffer, buffer, mixed, numbers, shape_of
from loader import Loader

FLOATS = [dtype for dtype in DTYPES if dtype.kind == "f"]

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_float = pytest.mark.parametrize("dtype", FLOATS, ids=str)
# The full spec has kernels for tensors of different ranks and for values beside tensors of all of them.
every_mixed_dtype = pytest.mark.parametrize(
    "dtype",
    [pytest.param(dtype, marks=[] if dtype == np.float32 else pytest.mark.full) for dtype in DTYPES],
    ids=str,
)
every_mixed_float = pytest.mark.parametrize(
    "dtype",
    [pytest.param(dtype, marks=[] if dtype == np.float32 else pytest.mark.full) for dtype in FLOATS],
    ids=str,
)
every_rank = pytest.mark.parametrize("rank", [1, 3])
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def matrix(generated: Loader) -> ModuleType:
    return generated("matrix")


def mix(matrix: ModuleType, dtype: np.dtype[Any]) -> Any:
    return getattr(matrix, f"mix_{dtype}")


@every_dtype
def test_values(matrix: ModuleType, dtype: np.dtype[Any]) -> None:
    for seed in range(8):
        a, b = numbers((2,), dtype, seed)
        result = mix(matrix, dtype)(a.item(), b.item())
        expected = mixed(np.asarray(a), np.asarray(b)).item()
        assert type(result) is type(expected)
        assert result == expected


@every_dtype
@every_rank
@every_layout
@every_size
def test_tensors(matrix: ModuleType, dtype: np.dtype[Any], rank: int, layout: str, size: int) -> None:
    shape = shape_of(rank, size)
    a = buffer(shape, dtype, layout, numbers(shape, dtype, 1))
    b = buffer(shape, dtype, layout, numbers(shape, dtype, 2))
    out = buffer(shape, dtype, layout)
    result = mix(matrix, dtype)(a.tensor, b.tensor, out=out.tensor)
    assert result is out.tensor
    out.array[...] = mixed(a.array, b.array)
    for checked in (out, a, b):
        checked.check()
    fresh = mix(matrix, dtype)(a.tensor, b.tensor)
    assert fresh.dtype == dtype
    np.testing.assert_array_equal(fresh.to_numpy(), out.array)


@every_mixed_dtype
@every_layout
@every_size
def test_broadcasting(matrix: ModuleType, dtype: np.dtype[Any], layout: str, size: int) -> None:
    tall = buffer((2, size, 3), dtype, layout, numbers((2, size, 3), dtype, 3))
    row = buffer((3,), dtype, layout, numbers((3,), dtype, 4))
    one = numbers((1,), dtype, 5)[0]
    function = mix(matrix, dtype)
    np.testing.assert_array_equal(function(tall.tensor, row.tensor).to_numpy(), mixed(tall.array, row.array))
    np.testing.assert_array_equal(function(row.tensor, tall.tensor).to_numpy(), mixed(row.array, tall.array))
    np.testing.assert_array_equal(function(tall.tensor, one.item()).to_numpy(), mixed(tall.array, one))
    np.testing.assert_array_equal(
        function(tall.tensor[:, :, :1], tall.tensor).to_numpy(), mixed(tall.array[:, :, :1], tall.array)
    )


@every_dtype
@every_rank
@every_layout
@every_size
def test_numpy_arrays(matrix: ModuleType, dtype: np.dtype[Any], rank: int, layout: str, size: int) -> None:
    """The same views as NumPy arrays: inputs are never written, outputs only inside the view."""
    shape = shape_of(rank, size)
    a = buffer(shape, dtype, layout, numbers(shape, dtype, 1))
    b = buffer(shape, dtype, layout, numbers(shape, dtype, 2))
    out = buffer(shape, dtype, layout)
    before = a.whole_array.copy(), b.whole_array.copy()
    expected = out.whole_array.copy()
    result = mix(matrix, dtype)(a.array, b.array, out=out.array)
    assert result is out.array
    np.testing.assert_array_equal(out.array, mixed(a.array, b.array))
    np.testing.assert_array_equal(a.whole_array, before[0])
    np.testing.assert_array_equal(b.whole_array, before[1])
    out.array[...] = True if dtype == np.bool_ else 77
    np.testing.assert_array_equal(out.whole_array, expected)


def with_gradient(values: Buffer, gradient: Buffer) -> kf.Tensor:
    return values.tensor.with_grads(grad_out=gradient.tensor)


@every_float
@every_rank
@every_layout
@every_size
def test_backward(matrix: ModuleType, dtype: np.dtype[Any], rank: int, layout: str, size: int) -> None:
    """Gradients are added to what the buffers hold; nothing else is touched."""
    shape = shape_of(rank, size)
    a = buffer(shape, dtype, layout, numbers(shape, dtype, 1))
    b = buffer(shape, dtype, layout, numbers(shape, dtype, 2))
    grad_a = buffer(shape, dtype, layout, numbers(shape, dtype, 6))
    grad_b = buffer(shape, dtype, layout, numbers(shape, dtype, 7))
    flow = buffer(shape, dtype, layout, numbers(shape, dtype, 8))
    out = buffer(shape, dtype, layout)
    result = out.tensor.with_grads(grad_in=flow.tensor)
    mix(matrix, dtype).backward(with_gradient(a, grad_a), with_gradient(b, grad_b), result)
    grad_a.array += flow.array * (b.array + dtype.type(1))
    grad_b.array += flow.array * a.array
    for checked in (grad_a, grad_b, a, b, flow, out):
        checked.check()


@every_mixed_float
@every_layout
@every_size
def test_backward_of_broadcasts(matrix: ModuleType, dtype: np.dtype[Any], layout: str, size: int) -> None:
    """A row under a block: its gradient is summed over the block's first two dimensions."""
    shape = (2, size, 3)
    a = buffer(shape, dtype, layout, numbers(shape, dtype, 1) / 4)
    row = buffer((3,), dtype, layout, numbers((3,), dtype, 2))
    grad_a = buffer(shape, dtype, layout, np.zeros(shape, dtype))
    grad_row = buffer((3,), dtype, layout, np.ones(3, dtype))
    mix(matrix, dtype).backward(with_gradient(a, grad_a), with_gradient(row, grad_row))
    grad_a.array += row.array + dtype.type(1)
    grad_row.array[...] = 1 + a.array.astype(np.float64).sum((0, 1))
    grad_a.check()
    grad_row.check(tolerance={2: 2e-3, 4: 1e-5, 8: 1e-12}[dtype.itemsize])


@every_mixed_float
@every_layout
@every_size
def test_backward_of_differentiable_values(
    matrix: ModuleType, dtype: np.dtype[Any], layout: str, size: int
) -> None:
    x = buffer((size,), dtype, layout, np.abs(numbers((size,), dtype, 1)))
    scale = kf.differentiable(0.5)
    mix(matrix, dtype).backward(x.tensor, scale)
    expected = x.array.astype(np.float64).sum()
    tolerance = {2: 2e-3, 4: 1e-5, 8: 1e-12}[dtype.itemsize]
    assert scale.grad == pytest.approx(expected, rel=tolerance, abs=0)
    mix(matrix, dtype).backward(x.tensor, scale)
    assert scale.grad == pytest.approx(2 * expected, rel=tolerance, abs=0)
    assert scale.value == 0.5


@every_float
def test_backward_of_a_single_call(matrix: ModuleType, dtype: np.dtype[Any]) -> None:
    a, b = kf.differentiable(3.0), kf.differentiable(-2.0)
    mix(matrix, dtype).backward(a, b)
    assert (a.grad, b.grad) == (-1.0, 3.0)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.kind != "f"], ids=str)
def test_only_floats_have_a_backward_pass(matrix: ModuleType, dtype: np.dtype[Any]) -> None:
    assert mix(matrix, dtype).backward is None
