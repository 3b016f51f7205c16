"""Generic functions, overloads and interfaces: forward and backward against NumPy, over whole buffers."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array, Buffer, buffer, numbers
from loader import Loader

LAYOUTS = ["contiguous", "spread", "offset"]
SIZES = [0, 1, 31, 33]

every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def generics(generated: Loader) -> ModuleType:
    return generated("generics")


def filled(shape: tuple[int, ...], dtype: Any, layout: str, seed: int) -> Buffer:
    return buffer(shape, np.dtype(dtype), layout, numbers(shape, np.dtype(dtype), seed))


def empty(shape: tuple[int, ...], dtype: Any, layout: str) -> Buffer:
    return buffer(shape, np.dtype(dtype), layout)


def check_all(*buffers: Buffer) -> None:
    for checked in buffers:
        checked.check()


class Backward:
    """One backward call of f(x): the gradient that flows out of x, in poisoned buffers."""

    def __init__(self, function: Any, x: Buffer, layout: str, others: tuple[Any, ...] = ()) -> None:
        self.flow = filled(function(x.tensor, *others).shape, x.array.dtype, layout, 8)
        self.grad = filled(x.array.shape, x.array.dtype, layout, 6)
        self.x = x
        out = empty(self.flow.array.shape, x.array.dtype, layout)
        function.backward(
            x.tensor.with_grads(grad_out=self.grad.tensor),
            *others,
            out.tensor.with_grads(grad_in=self.flow.tensor),
        )
        out.check()

    def check(self, by_output: Array) -> None:
        """`by_output`: d result / d x, of x's shape, times the output's gradient."""
        self.grad.array += by_output.astype(self.grad.array.dtype)
        check_all(self.grad, self.flow, self.x)


# ---- Generic functions ----


@pytest.mark.parametrize(
    ("shape", "k_shape"), [((33,), ()), ((33,), (33,)), ((2, 5, 7), ()), ((2, 5, 7), (7,))]
)
@every_layout
def test_stated(generics: ModuleType, shape: tuple[int, ...], k_shape: tuple[int, ...], layout: str) -> None:
    x, out = filled(shape, np.float32, layout, 1), empty(shape, np.float32, layout)
    k = numbers(k_shape, np.dtype(np.float32), 2)
    given = float(k) if k_shape == () else k
    generics.scale(x.tensor, given, out=out.tensor)
    out.array[...] = x.array * k
    check_all(out, x)
    backward = Backward(generics.scale, x, layout, (given,))
    backward.check(backward.flow.array * k)


def test_stated_values(generics: ModuleType) -> None:
    assert generics.scale(3, 0.5) == 1.5
    x = kf.differentiable(3.0)
    generics.scale.backward(x, 0.5)
    assert x.grad == 0.5
    assert generics.biggest() == 7.0


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@every_layout
@every_size
def test_inferred(generics: ModuleType, dtype: Any, layout: str, size: int) -> None:
    x, out = filled((size,), dtype, layout, 1), empty((size,), dtype, layout)
    generics.scale(x.tensor, 0.5, out=out.tensor)
    out.array[...] = x.array * dtype(0.5)
    check_all(out, x)
    backward = Backward(generics.scale, x, layout, (0.5,))
    backward.check(backward.flow.array * dtype(0.5))


@every_layout
@every_size
def test_batched_over_components(generics: ModuleType, layout: str, size: int) -> None:
    """float3 is no __BuiltinFloatingPointType: each component is a call."""
    x, out = filled((size, 3), np.float32, layout, 1), empty((size, 3), np.float32, layout)
    generics.scale_parts(x.tensor, -2, out=out.tensor)
    out.array[...] = x.array * np.float32(-2)
    check_all(out, x)
    backward = Backward(generics.scale_parts, x, layout, (-2,))
    backward.check(backward.flow.array * np.float32(-2))


@pytest.mark.parametrize(("dtype", "extents"), [(np.int32, ()), (np.float32, (3,)), (np.float16, (2, 2))])
@every_layout
@every_size
def test_one_function_for_all_numbers(
    generics: ModuleType, dtype: Any, extents: tuple[int, ...], layout: str, size: int
) -> None:
    x, out = filled((size, *extents), dtype, layout, 1), empty((size, *extents), dtype, layout)
    k = numbers(extents, np.dtype(dtype), 2)
    generics.add_any(x.tensor, int(k) if extents == () else k, out=out.tensor)
    with np.errstate(over="ignore"):
        out.array[...] = x.array + k
    check_all(out, x)


@pytest.mark.parametrize(("dtype", "count"), [(np.float32, 3), (np.float64, 2)])
@every_layout
@every_size
def test_extents_of_vectors(generics: ModuleType, dtype: Any, count: int, layout: str, size: int) -> None:
    v, out = filled((size, count), dtype, layout, 1), empty((size,), dtype, layout)
    generics.sum_vector(v.tensor, out=out.tensor)
    out.array[...] = (v.array * v.array).sum(1)
    check_all(out, v)
    backward = Backward(generics.sum_vector, v, layout)
    backward.check(2 * v.array * backward.flow.array[:, None])


def test_the_extent_of_a_value(generics: ModuleType) -> None:
    assert generics.sum_vector([1, 2, 3, 4]) == 30
    with pytest.raises(kf.ArgumentError):
        generics.sum_vector([1, 2, 3, 4, 5])


@every_layout
@every_size
def test_stated_extents_of_rows(generics: ModuleType, layout: str, size: int) -> None:
    v, out = filled((size, 4), np.float32, layout, 1), empty((size,), np.float32, layout)
    generics.sum_rows(v.tensor, out=out.tensor)
    out.array[...] = (v.array * v.array).sum(1)
    check_all(out, v)
    backward = Backward(generics.sum_rows, v, layout)
    backward.check(2 * v.array * backward.flow.array[:, None])
    with pytest.raises(kf.ArgumentError):
        generics.sum_rows(np.zeros((3, 5), np.float32))


@pytest.mark.parametrize(("name", "count"), [("sum_array", 5), ("sum_three", 3)])
@every_layout
@every_size
def test_extents_of_arrays(generics: ModuleType, name: str, count: int, layout: str, size: int) -> None:
    function = getattr(generics, name)
    x, w = filled((size, count), np.float32, layout, 1), filled((size, count), np.float32, layout, 2)
    out = empty((size,), np.float32, layout)
    function(x.tensor, w.tensor, out=out.tensor)
    out.array[...] = (x.array * w.array).sum(1)
    check_all(out, x, w)
    backward = Backward(function, x, layout, (w.tensor,))
    backward.check(w.array * backward.flow.array[:, None])


@every_layout
@every_size
def test_extents_of_matrices(generics: ModuleType, layout: str, size: int) -> None:
    m, out = filled((size, 2, 3), np.float32, layout, 1), empty((size, 2, 3), np.float32, layout)
    generics.grow(m.tensor, 0.25, out=out.tensor)
    out.array[...] = m.array * np.float32(0.25)
    check_all(out, m)
    backward = Backward(generics.grow, m, layout, (0.25,))
    backward.check(backward.flow.array * np.float32(0.25))


def test_a_broadcast_factor_gets_the_sum(generics: ModuleType) -> None:
    m = numbers((33, 2, 3), np.dtype(np.float32), 1)
    k = kf.Tensor.from_numpy(np.array([2], np.float32)).with_grads()
    generics.grow.backward(m, k)
    assert k.grad is not None
    assert k.grad.to_numpy().tolist() == [m.astype(np.float64).sum()]


@every_size
def test_members_of_namespaces_and_generic_types(generics: ModuleType, size: int) -> None:
    x, y = numbers((size, 2), np.dtype(np.int32), 1), empty((size, 2), np.int32, "spread")
    result = generics.copy_pairs(x, y.tensor)
    y.array[...] = x
    y.check()
    np.testing.assert_array_equal(result[0].to_numpy() if isinstance(result, tuple) else result.to_numpy(), x)
    halves = numbers((size, 3), np.dtype(np.float32), 2)
    np.testing.assert_array_equal(generics.Maker_float.twice(halves).to_numpy(), halves + halves)


# ---- Overloads ----


@every_layout
@every_size
def test_overloads_by_extent(generics: ModuleType, layout: str, size: int) -> None:
    one, two = filled((size,), np.float32, layout, 1), filled((size, 2), np.float32, layout, 2)
    out = empty((size,), np.float32, layout)
    generics.measure(one.tensor, out=out.tensor)
    out.array[...] = 2 * one.array
    check_all(out, one)
    generics.measure(two.tensor, out=out.tensor)
    out.array[...] = 3 * two.array[:, 0] + two.array[:, 1]
    check_all(out, two)
    of_one = Backward(generics.measure, one, layout)
    of_one.check(2 * of_one.flow.array)
    of_two = Backward(generics.measure, two, layout)
    of_two.check(of_two.flow.array[:, None] * np.array([3, 1], np.float32))


def test_overloads_of_values(generics: ModuleType) -> None:
    assert generics.measure(4) == 20
    assert generics.measure(np.arange(3, dtype=np.int32)).to_numpy().tolist() == [0, 5, 10]
    x = numbers((33,), np.dtype(np.float32), 1)
    with pytest.raises(kf.ArgumentError):
        generics.measure(x.astype(np.float64))


def test_overloads_by_count(generics: ModuleType) -> None:
    x = numbers((33,), np.dtype(np.float32), 1)
    np.testing.assert_array_equal(generics.measure(x, 2), x * 2)
    np.testing.assert_array_equal(generics.measure(y=2, x=x), x * 2)
    np.testing.assert_array_equal(generics.measure(x), x * 2)
    written = np.full_like(x, 77)
    assert generics.measure(x, 3, out=written) is written
    np.testing.assert_array_equal(written, x * 3)
    a, k = kf.Tensor.from_numpy(x).with_grads(), kf.differentiable(3.0)
    flow = generics.measure(a, k)
    generics.measure.backward(a, k, flow)
    assert a.grad is not None
    np.testing.assert_array_equal(a.grad.to_numpy(), np.full_like(x, 3))
    np.testing.assert_allclose(k.grad, x.sum(), rtol=1e-6)
    for arguments, keywords in [((x, 1, 2), {}), ((), {"x": x, "z": 1}), ((), {})]:
        with pytest.raises(kf.ArgumentError, match="measure: no overload takes these") as caught:
            generics.measure(*arguments, **keywords)
        assert caught.value.code == "no-overload"
    with pytest.raises(kf.ArgumentError, match=r"(?s)'y': expected float, found a list"):
        generics.measure(x, [1, 2])


def test_overloads_by_name(generics: ModuleType) -> None:
    assert generics.by_name(a=1, b=2) == 21
    assert generics.by_name(a=1, c=2) == 201
    assert generics.by_name(1.5, 2) == 21
    assert generics.by_name(1, 2.5) == 251
    np.testing.assert_array_equal(generics.by_name(np.array([3, 4], np.int32), 1), [103, 104])
    np.testing.assert_array_equal(generics.by_name(np.array([3, 4], np.float32), 1), [13, 14])
    with pytest.raises(kf.ArgumentError, match="by_name: several overloads take these arguments: name them"):
        generics.by_name(1, 2)


def test_overloads_by_outputs(generics: ModuleType) -> None:
    x = np.array([1.5, -2.25], np.float32)
    np.testing.assert_array_equal(generics.parts(x), [1, -3])
    both = generics.parts(x, 4)
    np.testing.assert_array_equal(both.whole, [1, -3])
    np.testing.assert_array_equal(both.result, [4, 4])
    whole = kf.Tensor.zeros(2)
    assert generics.parts(x, whole) is whole
    np.testing.assert_array_equal(whole, [1, -3])
    assert generics.parts(x, 4, whole=whole).whole is whole


@every_layout
@every_size
def test_generic_overloads(generics: ModuleType, layout: str, size: int) -> None:
    one, three = filled((size,), np.float32, layout, 1), filled((size, 3), np.float32, layout, 2)
    out = empty((size,), np.float32, layout)
    generics.norm(one.tensor, out=out.tensor)
    out.array[...] = one.array * one.array
    check_all(out, one)
    generics.norm(three.tensor, out=out.tensor)
    out.array[...] = 3 * three.array.sum(1)
    check_all(out, three)
    of_one = Backward(generics.norm, one, layout)
    of_one.check(2 * one.array * of_one.flow.array)
    of_three = Backward(generics.norm, three, layout)
    of_three.check(np.repeat(3 * of_three.flow.array[:, None], 3, 1))


# ---- Interfaces ----


@every_layout
@every_size
def test_interfaces(generics: ModuleType, layout: str, size: int) -> None:
    shape, k = filled((size,), np.float32, layout, 1), filled((size,), np.float32, layout, 2)
    out = empty((size,), np.float32, layout)
    generics.area(shape.tensor, k.tensor, out=out.tensor)
    out.array[...] = shape.array * shape.array * k.array
    check_all(out, shape, k)
    backward = Backward(generics.area, shape, layout, (k.tensor,))
    backward.check(2 * shape.array * k.array * backward.flow.array)


def test_interface_values(generics: ModuleType) -> None:
    assert generics.area(3, 2) == 18
    shape, k = kf.differentiable(3.0), kf.differentiable(2.0)
    generics.area.backward(shape, k)
    assert (shape.grad, k.grad) == (12, 9)


@pytest.mark.parametrize(("dtype", "extents"), [(np.float32, (2,)), (np.int32, ())])
@every_layout
def test_what_an_interface_does_not_differentiate(
    generics: ModuleType, dtype: Any, extents: tuple[int, ...], layout: str
) -> None:
    whole = np.random.default_rng(3).integers(-4, 5, (33, *extents)).astype(dtype)
    sized = buffer(whole.shape, np.dtype(dtype), layout, whole)
    sizes = (whole[:, 0] * whole[:, 1] if extents else whole * 2).astype(np.float32)
    k, twice, out = (
        filled((33,), np.float32, layout, 2),
        empty((33,), np.float32, layout),
        empty((33,), np.float32, layout),
    )
    generics.fill(sized.tensor, k.tensor, twice.tensor, out=out.tensor)
    out.array[...] = k.array * sizes
    twice.array[...] = k.array * 2
    check_all(out, twice, sized, k)
    grad = filled((33,), np.float32, layout, 6)
    generics.fill.backward(sized.tensor, k.tensor.with_grads(grad_out=grad.tensor), twice.tensor, out.tensor)
    grad.array += sizes + np.float32(2)
    check_all(grad, sized, k)
