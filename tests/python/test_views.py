"""Views of tensors by Slang's own names, TensorView and DiffTensorView, in functions."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from arrays import array, buffer, tensor
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

rng = np.random.default_rng(16)
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def views(generated: Loader) -> ModuleType:
    return generated("views")


def floats(*shape: int) -> npt.NDArray[np.float32]:
    return rng.uniform(-2, 2, shape).astype(np.float32)


# ---- Plain views ----


@pytest.mark.parametrize("layout", ["contiguous", "spread", "offset"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (33, 7)])
def test_elements_are_read_and_written_by_every_index(
    views: ModuleType, shape: tuple[int, int], layout: str
) -> None:
    a = buffer(shape, np.dtype(np.float32), layout, floats(*shape))
    b = buffer((shape[1], shape[0]), np.dtype(np.float32), layout)
    views.transposed(a.tensor, b.tensor, shape=shape)
    b.array[...] = (4 * a.array.T + 1) * 2 + 1
    b.check(1e-6)
    a.check()


def expanded(kind: str, values: Array, shape: tuple[int, ...]) -> Any:
    """Elements that share memory, which NumPy's are read-only for."""
    if kind == "numpy":
        return np.broadcast_to(values, shape)
    torch = pytest.importorskip("torch")
    return torch.from_numpy(values).expand(shape)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_views_that_are_only_read_may_share_memory(views: ModuleType, kind: str) -> None:
    row = floats(1, 7)
    b = np.full((7, 5), 77, np.float32)
    views.transposed(expanded(kind, row, (5, 7)), b, shape=(5, 7))
    np.testing.assert_allclose(b, np.broadcast_to((4 * row.T + 1) * 2 + 1, (7, 5)), 1e-6)
    one = floats(1)
    out = np.full(6, 77, np.float32)
    views.square(expanded(kind, one, (6,)), out, shape=(6,))
    np.testing.assert_allclose(out, np.broadcast_to(one * one, 6), 1e-6)
    overlapping = np.lib.stride_tricks.sliding_window_view(floats(9), 5)
    b = np.full((5, 5), 77, np.float32)
    views.transposed(overlapping, b, shape=(5, 5))
    np.testing.assert_allclose(b, (4 * overlapping.T + 1) * 2 + 1, 1e-6)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_views_that_are_written_must_not_share_memory(views: ModuleType, kind: str) -> None:
    a = floats(5, 7)
    with pytest.raises(kf.ArgumentError, match=r"transposed: argument 'b': .*written"):
        views.transposed(a, expanded(kind, floats(1, 5), (7, 5)), shape=(5, 7))
    with pytest.raises(kf.ArgumentError, match=r"square: argument 'output': .*written"):
        views.square(floats(6), expanded(kind, floats(1), (6,)), shape=(6,))


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_what_functions_do_with_views_is_followed(views: ModuleType, kind: str) -> None:
    a, values = floats(1), floats(1)
    pointed, own, b = floats(6), floats(1), np.full(6, 77, np.float32)
    shared = {
        "a": expanded(kind, a, (6,)),
        "row": {"values": expanded(kind, values, (6,)), "scale": 3},
        "own": expanded(kind, own, (6,)),  # whose derivative nobody takes here
    }
    views.by_helpers(**shared, pointed=pointed, b=b, shape=(6,))
    beside = np.array([2, 2, 2, 2, 2, 1], np.float32) * a
    np.testing.assert_allclose(b, beside + 4 * values + pointed + own, 1e-5)
    for name in ("pointed", "b"):
        given = {"pointed": pointed, "b": b} | {name: expanded(kind, floats(1), (6,))}
        with pytest.raises(kf.ArgumentError, match=rf"argument '{name}': .*written"):
            views.by_helpers(**shared, **given, shape=(6,))


def test_more_calls_than_elements_are_left_out(views: ModuleType) -> None:
    a = buffer((3, 5), np.dtype(np.float32), "contiguous", floats(3, 5))
    b = buffer((5, 3), np.dtype(np.float32), "contiguous")
    views.transposed(a.tensor, b.tensor, shape=(7, 9))
    b.array[...] = (4 * a.array.T + 1) * 2 + 1
    b.check(1e-6)


def test_views_say_how_they_lie(views: ModuleType) -> None:
    whole = tensor(np.zeros((4, 6, 8), np.float16))
    for view in (whole, whole[1:3, :, ::2], whole.transpose(2, 0, 1)):
        found = tensor(np.full(8, 77, np.uint32))
        views.facts(view, found, shape=(1,))
        wanted = [3, *view.shape, *(2 * stride for stride in view.strides), 77]
        np.testing.assert_array_equal(array(found), wanted)
    found = tensor(np.full(8, 77, np.uint32))
    views.facts(whole[0, 2, 1::3], found, shape=(1,))
    np.testing.assert_array_equal(array(found), [1, 3, 77, 77, 6, 77, 77, 77])


def test_every_rank(views: ModuleType) -> None:
    shapes = [(1, 2, 3), (1, 2, 1, 3), *((1, 2) * (rank // 2) + (3,) * (rank % 2) for rank in range(5, 9))]
    shapes[3] = (1, 2, 1, 2, 1, 3)
    shapes[5] = (1, 2, 1, 2, 1, 2, 1, 3)
    values = [rng.integers(-9, 9, shape).astype(np.int32) for shape in shapes]
    given = [tensor(value) for value in values]
    views.every_rank(*given, shape=(3,))
    for one, value in zip(given, values, strict=True):
        index = tuple(d % 2 for d in range(value.ndim - 1))
        value[index] *= 2
        np.testing.assert_array_equal(array(one), value)


def test_atomic_operations(views: ModuleType) -> None:
    count = 1000
    values = rng.integers(-(2**20), 2**20, count).astype(np.int32)
    start = np.array([[5, 5, 5, -1], [0, 0, 0, 5]], np.int32)
    all_, total = tensor(start), tensor(np.array([0.5, 7, 0.5], np.float32))
    seen = tensor(np.zeros(count + 1, np.uint32))
    small = values % 1000
    views.combine(tensor(small), all_, total, seen, shape=(count,))
    got = array(all_)
    assert got[0, 0] == 5 + small.sum()
    assert got[0, 1] == min(5, small.min())
    assert got[0, 2] == max(5, small.max())
    assert got[0, 3] == np.bitwise_and.reduce(small)
    assert got[1, 0] == np.bitwise_or.reduce(small)
    assert got[1, 1] == np.bitwise_xor.reduce(small)
    assert got[1, 2] == 7
    assert got[1, 3] in small
    np.testing.assert_array_equal(array(total), np.array([0.5 + small.sum(), 3, 2.5], np.float32))
    turns = array(seen)
    assert turns[0] == count
    np.testing.assert_array_equal(np.sort(turns[1:]), np.arange(count))


def test_atomic_operations_of_other_sizes(views: ModuleType) -> None:
    values = rng.integers(-(2**40), 2**40, 100)
    all_ = tensor(np.array([3, 3, 3, 3, 3], np.int64))
    total, halves = tensor(np.array([0.5])), tensor(np.zeros(2, np.float16))
    views.combine_wide(tensor(values), all_, total, halves, shape=(100,))
    wanted = [
        3 + values.sum(),
        min(3, values.min()),
        max(3, values.max()),
        3 ^ np.bitwise_xor.reduce(values),
        7,
    ]
    np.testing.assert_array_equal(array(all_), wanted)
    np.testing.assert_array_equal(array(total), [0.5 + float(values.sum())])
    np.testing.assert_array_equal(array(halves), [50, 50])


def test_pointers(views: ModuleType) -> None:
    a, b = floats(5, 3), np.full((5, 3), 77, np.float32)
    target = tensor(np.full((5, 6), 77, np.float32))
    views.by_pointer(tensor(a), target[:, ::2], shape=(5, 3))
    np.testing.assert_array_equal(array(target[:, ::2]), a + a[0, 0])
    np.testing.assert_array_equal(array(target[:, 1::2]), b)


def test_vectors_halves_and_bools(views: ModuleType) -> None:
    colors, flags = floats(9, 3), rng.integers(0, 2, 9).astype(np.bool_)
    given = tensor(colors)
    halves, turned = tensor(np.full((9, 3), 77, np.float16)), tensor(flags)
    views.moved(given, halves, turned, shape=(9,))
    np.testing.assert_array_equal(array(halves), colors[:, ::-1].astype(np.float16))
    np.testing.assert_array_equal(array(turned), ~flags)
    np.testing.assert_array_equal(array(given), 2 * colors)


def test_views_may_lie_in_one_another(views: ModuleType) -> None:
    """Which of them is written is the function's own affair."""
    a = floats(4, 4)
    whole = tensor(np.zeros((8, 4), np.float32))
    whole[:4].copy_from_numpy(a)
    views.by_pointer(whole, whole[4:], shape=(4, 4))
    np.testing.assert_array_equal(array(whole), np.concatenate([a, a + a[0, 0]]))


def test_numpy_arrays_are_written(views: ModuleType) -> None:
    a, b = floats(3, 5), np.full((5, 3), 77, np.float32)
    views.transposed(a, b, shape=(3, 5))
    np.testing.assert_allclose(b, (4 * a.T + 1) * 2 + 1, rtol=1e-6)


# ---- Gradients ----


def differentiable(values: Array, gradient: Array | None = None) -> kf.Tensor:
    made = tensor(values).with_grads()
    if gradient is not None:
        assert made.grad is not None
        made.grad.copy_from_numpy(gradient.astype(values.dtype))
    return made


@pytest.mark.parametrize("size", [1, 31, 4097])
def test_loads_add_and_stores_take(views: ModuleType, size: int) -> None:
    x, flow, start = floats(size), floats(size), floats(size)
    given, out = differentiable(x, start), differentiable(np.full(size, 77, np.float32), flow)
    views.square(given, out, shape=(size,))
    np.testing.assert_array_equal(array(out), x * x)
    np.testing.assert_array_equal(array(out.grad), flow)
    views.square.backward(given, out, shape=(size + 5,))
    np.testing.assert_allclose(
        array(given.grad), start + 2 * x.astype(np.float64) * flow, rtol=1e-5, atol=1e-6
    )
    np.testing.assert_array_equal(array(out.grad), 0)
    np.testing.assert_array_equal(array(out), x * x)


def test_gradients_in_views_of_buffers(views: ModuleType) -> None:
    x, flow = floats(33), floats(33)
    gradients = buffer((33,), np.dtype(np.float32), "strided", np.zeros(33))
    flows = buffer((33,), np.dtype(np.float32), "offset", flow)
    given = tensor(x).with_grads(grad_out=gradients.tensor)
    out = tensor(x).with_grads(grad_in=flows.tensor)
    for _ in range(3):  # launches that were bound before, too
        gradients.tensor.copy_from_numpy(np.zeros(33, np.float32))
        flows.tensor.copy_from_numpy(flow)
        views.square.backward(given, out, shape=(33,))
        gradients.array[...] = 2 * x * flow
        flows.array[...] = 0
        gradients.check(1e-5)
        flows.check()


def test_a_missing_gradient_is_one(views: ModuleType) -> None:
    x = floats(9)
    given = differentiable(x)
    views.square.backward(given, tensor(x), shape=(9,))
    np.testing.assert_allclose(array(given.grad), 2 * x, rtol=1e-6)


def test_the_same_bits_each_time(views: ModuleType) -> None:
    x, flow = floats(300), floats(300)
    given, out = differentiable(x), differentiable(x, flow)
    views.square.options(deterministic=True).backward(given, out, shape=(300,))
    np.testing.assert_allclose(array(given.grad), 2 * x.astype(np.float64) * flow, rtol=1e-6)
    np.testing.assert_array_equal(array(out.grad), 0)


def test_two_gradients_are_refused(views: ModuleType) -> None:
    x = floats(5)
    zeros = np.zeros(5, np.float32)
    both = tensor(x).with_grads(grad_in=zeros, grad_out=zeros.copy())
    with pytest.raises(kf.Error, match="two gradients, grad_in and grad_out"):
        views.square.backward(both, tensor(x), shape=(5,))


def test_forward_derivatives(views: ModuleType) -> None:
    x, tangent = floats(7), floats(7)
    out, out_tangent = tensor(np.zeros(7, np.float32)), tensor(np.zeros(7, np.float32))
    views.square.jvp(tensor(x), out, tangents={"input": tangent, "output": out_tangent}, shape=(7,))
    np.testing.assert_array_equal(array(out), x * x)
    np.testing.assert_allclose(array(out_tangent), 2 * x * tangent, rtol=1e-6)


def test_doubles_and_halves(views: ModuleType) -> None:
    x, flow = rng.uniform(-2, 2, 37), rng.uniform(-2, 2, 37)
    small = (np.arange(37) % 4 + 1).astype(np.float16)
    flow = np.round(flow)
    given, halves, out = differentiable(x), differentiable(small), differentiable(np.zeros(37), flow)
    views.wide_square(given, halves, out, shape=(37,))
    np.testing.assert_allclose(array(out), x * x + small[0] * small.astype(np.float64))
    views.wide_square.backward(given, halves, out, shape=(37,))
    np.testing.assert_allclose(array(given.grad), 2 * x * flow)
    wanted = small[0] * flow
    wanted[0] += (small * flow).sum()
    np.testing.assert_allclose(array(halves.grad), wanted.astype(np.float16), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(array(out.grad), 0)


def test_loads_and_stores_once_and_uniform(views: ModuleType) -> None:
    a, b, c, flow = floats(9, 7), floats(1), floats(9, 7), floats(9, 7)
    given = [differentiable(one) for one in (a, b, c)]
    out = differentiable(np.zeros((9, 7), np.float32), flow)
    views.once(*given, out, shape=(9, 7))
    np.testing.assert_allclose(array(out), a * b * c, rtol=1e-6)
    views.once.backward(*given, out, shape=(9, 7))
    np.testing.assert_allclose(array(given[0].grad), flow * b * c, rtol=1e-5)
    np.testing.assert_allclose(array(given[1].grad), [(flow.astype(np.float64) * a * c).sum()], rtol=1e-4)
    np.testing.assert_allclose(array(given[2].grad), flow * b * a, rtol=1e-5)
    np.testing.assert_array_equal(array(out.grad), flow)


def test_what_goes_through_a_tensor_keeps_its_gradient(views: ModuleType) -> None:
    """Of what is stored twice, the second store takes the gradient."""
    a, flow = floats(65), floats(65)
    given, between = differentiable(a), differentiable(np.zeros(65, np.float32))
    out = differentiable(np.zeros(65, np.float32), flow)
    views.through(given, between, out, shape=(65,))
    x = a.astype(np.float64)
    np.testing.assert_allclose(array(out), x**4 + 3 * x**2, rtol=1e-5)
    views.through.backward(given, between, out, shape=(65,))
    np.testing.assert_allclose(array(given.grad), flow * (4 * x**3 + 6 * x), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(array(between.grad), 0)
    np.testing.assert_array_equal(array(out.grad), 0)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (17, 33)])
def test_neighbours_in_an_image(views: ModuleType, shape: tuple[int, int]) -> None:
    image, flow = floats(*shape), floats(*shape)
    squares = np.pad(image.astype(np.float64) ** 2, 1)
    inside = np.pad(np.ones(shape), 1)
    height, width = shape

    def gathered(values: Array) -> Array:
        parts = [values[y : y + height, x : x + width] for y in range(3) for x in range(3)]
        return np.asarray(np.sum(parts, axis=0))

    count = gathered(inside)
    given = differentiable(image)
    means = views.box(given, shape=shape)
    np.testing.assert_allclose(array(means), gathered(squares) / count, rtol=1e-5)
    views.box.backward(given, means.with_grads(grad_in=flow))
    wanted = 2 * image * gathered(np.pad(flow / count, 1))
    np.testing.assert_allclose(array(given.grad), wanted, rtol=1e-4, atol=1e-5)


def test_a_derivative_of_its_own_adds_to_a_plain_view(views: ModuleType) -> None:
    weights, x, flow = floats(5), floats(64), floats(64)
    gradients = tensor(np.zeros(5, np.float32))
    given = differentiable(x)
    result = views.weigh(tensor(weights), gradients, given)
    np.testing.assert_allclose(array(result), weights[np.arange(64) % 5] * x, rtol=1e-6)
    np.testing.assert_array_equal(array(gradients), 0)
    views.weigh.backward(tensor(weights), gradients, given, result.with_grads(grad_in=flow))
    wanted = np.zeros(5)
    np.add.at(wanted, np.arange(64) % 5, x.astype(np.float64) * flow)
    np.testing.assert_allclose(array(gradients), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(array(given.grad), weights[np.arange(64) % 5] * flow, rtol=1e-6)


@pytest.mark.parametrize("absent", ["", "a", "b"])
def test_a_derivative_of_its_own_changes_gradients(views: ModuleType, absent: str) -> None:
    """Where a view has no gradient, there is 0 to read, and what is stored goes nowhere."""
    a, b, start, flow = floats(65), floats(65), floats(65), floats(65)
    given = {
        name: tensor(values) if name == absent else differentiable(values, start)
        for name, values in (("a", a), ("b", b))
    }
    result = views.product(**given, shape=(65,))
    np.testing.assert_allclose(array(result), a * b, rtol=1e-6)
    views.product.backward(**given, result=result.with_grads(grad_in=flow))
    for name, other in (("a", b), ("b", a)):
        if name == absent:
            assert given[name].grad is None
        else:
            wanted = 2 * (start + other.astype(np.float64) * flow) + 1
            np.testing.assert_allclose(array(given[name].grad), wanted, rtol=1e-4, atol=1e-5)


def test_loads_of_extensions_have_their_derivatives(views: ModuleType) -> None:
    """Written as Slang's core module writes its own, by indices of any length."""
    a, b, flow = floats(5, 8), floats(5, 7), floats(5, 7)
    given, factors = differentiable(a, start := floats(5, 8)), differentiable(b)
    out = differentiable(np.zeros((5, 7), np.float32), flow)
    views.by_extension(given, factors, out, shape=(5, 7))
    sums = a[:, :-1].astype(np.float64) + a[:, 1:]
    np.testing.assert_allclose(array(out), sums**2 * b, rtol=1e-5)
    views.by_extension.backward(given, factors, out, shape=(5, 7))
    wanted = start.astype(np.float64)
    wanted[:, :-1] += 2 * sums * b * flow
    wanted[:, 1:] += 2 * sums * b * flow
    np.testing.assert_allclose(array(given.grad), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(array(factors.grad), sums**2 * flow, rtol=1e-5)
    tangent, out_tangent = floats(5, 8), tensor(np.zeros((5, 7), np.float32))
    views.by_extension.jvp(
        tensor(a), tensor(b), out, tangents={"a": tangent, "out": out_tangent}, shape=(5, 7)
    )
    moved = tangent[:, :-1].astype(np.float64) + tangent[:, 1:]
    np.testing.assert_allclose(array(out_tangent), 2 * sums * b * moved, rtol=1e-4, atol=1e-5)


def test_structs_of_views(views: ModuleType) -> None:
    a, b, flow = floats(33), floats(33), floats(33)
    pair = {"a": tensor(a), "b": differentiable(b)}
    result = views.at_both(pair, shape=(33,))
    np.testing.assert_allclose(array(result), a * b * b, rtol=1e-6)
    views.at_both.backward(pair, result.with_grads(grad_in=flow))
    np.testing.assert_allclose(array(pair["b"].grad), 2 * a * b * flow, rtol=1e-5)


def test_the_parts_of_a_differentiable_view(views: ModuleType) -> None:
    b = floats(5)
    given = tensor(b)
    views.swapped_gradient(given, shape=(5,))
    np.testing.assert_array_equal(array(given), b + 1)


# ---- Shapes of programs that Slang has been wrong about ----


def differences(f: Any, x: Array, step: float = 1e-6) -> Array:
    """Central differences of the sum of f, at each element."""
    gradient = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        high, low = x.copy(), x.copy()
        high[index] += step
        low[index] -= step
        gradient[index] = (f(high) - f(low)) / (2 * step)
    return gradient


def test_nested_loops_of_a_dense_layer(views: ModuleType) -> None:
    weights, x = floats(3, 7), floats(4, 7)

    def loss(w: Array, rows: Array) -> float:
        total = 0.0
        for row in rows:
            for line in w:
                one = row[0]
                for weight, value in zip(line, row, strict=True):
                    one = one * 0.5 + weight * value
                total += one * one
        return total

    given, rows = differentiable(weights), differentiable(x)
    result = views.dense(given, rows, shape=(4,))
    w64, x64 = weights.astype(np.float64), x.astype(np.float64)
    np.testing.assert_allclose(array(result).sum(), loss(w64, x64), rtol=1e-4)
    views.dense.backward(given, rows, result)
    of_weights = differences(lambda w: loss(w, x64), w64)
    of_x = differences(lambda r: loss(w64, r), x64)
    np.testing.assert_allclose(array(given.grad), of_weights, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(array(rows.grad), of_x, rtol=1e-3, atol=1e-4)


def test_the_largest_of_a_row(views: ModuleType) -> None:
    x = floats(9, 8)
    given = differentiable(x)
    result = views.largest(given, shape=(9,))
    np.testing.assert_allclose(array(result), x.max(axis=1) ** 2, rtol=1e-6)
    views.largest.backward(given, result)
    wanted = np.zeros((9, 8))
    wanted[np.arange(9), x.argmax(axis=1)] = 2 * x.max(axis=1)
    np.testing.assert_allclose(array(given.grad), wanted, rtol=1e-5)


@pytest.mark.parametrize("limit", [-1, 0, 4, 9])
def test_loads_that_control_flow_leaves_out(views: ModuleType, limit: int) -> None:
    x = floats(6, 8)

    def loss(rows: Array) -> float:
        total = 0.0
        for row in rows:
            one = 0.0
            for k in range(min(limit + 1, 8)):
                if k % 2 == 0:
                    one += row[k] ** 2
                elif one > 1:
                    one += row[k - 1] * row[k]
            total += one
        return total

    given = differentiable(x)
    result = views.chosen(given, limit, shape=(6,))
    np.testing.assert_allclose(array(result).sum(), loss(x.astype(np.float64)), rtol=1e-5, atol=1e-6)
    views.chosen.backward(given, limit, result)
    np.testing.assert_allclose(
        array(given.grad), differences(loss, x.astype(np.float64)), rtol=1e-3, atol=1e-4
    )


# ---- In arrays ----


class Network:
    """Three layers of tanh(W x + b), and what NumPy says of them in doubles."""

    def __init__(self, count: int) -> None:
        self.weights = [floats(4, 4) / 2 for _ in range(3)]
        self.bias = [floats(4) for _ in range(3)]
        self.features = floats(count, 4)
        self.flow = floats(count, 4)
        self.given = [[with_zeros(w), with_zeros(b)] for w, b in zip(self.weights, self.bias, strict=True)]
        self.image = kf.Tensor.from_numpy(np.full((count, 4), 77, np.float32)).with_grads(
            grad_in=kf.Tensor.from_numpy(self.flow)
        )

    def layers(self, kind: Any = dict) -> list[Any]:
        return [kind(weights=w, bias=b) for w, b in self.given]

    def check(self) -> None:
        values = [self.features.astype(np.float64)]
        for w, b in zip(self.weights, self.bias, strict=True):
            values.append(np.tanh(values[-1] @ w.astype(np.float64).T + b))
        np.testing.assert_allclose(array(self.image), values[-1], rtol=1e-5, atol=1e-5)
        flow = self.flow.astype(np.float64)
        for k in (2, 1, 0):
            flow = flow * (1 - values[k + 1] ** 2)
            for found, wanted in zip(self.given[k], (flow.T @ values[k], flow.sum(0)), strict=True):
                if found.grad is None:
                    continue
                np.testing.assert_allclose(array(found.grad), wanted, rtol=1e-4, atol=1e-4)
            flow = flow @ self.weights[k]


def with_zeros(values: Array) -> kf.Tensor:
    return kf.Tensor.from_numpy(values).with_grads()


@pytest.mark.parametrize("count", [1, 33])
@pytest.mark.parametrize("kind", ["dicts", "objects", "parameters"])
def test_networks_have_arrays_of_layers(views: ModuleType, kind: str, count: int) -> None:
    """A multilayer perceptron, whose gradients go to the views of each layer."""
    net = Network(count)
    features = with_zeros(net.features)
    if kind == "parameters":
        function = views.render_views
        given: Any = ([w for w, _ in net.given], tuple(b for _, b in net.given))
    else:
        function = views.render
        given = ({"layers": net.layers()} if kind == "dicts" else views.MLP_4_3(net.layers(views.Linear_4)),)
    function(*given, features, net.image, shape=(count,))
    function.backward(*given, features, net.image, shape=(count,))
    net.check()


@pytest.mark.parametrize("absent", ["weights", "bias", "one layer"])
@pytest.mark.parametrize("kind", ["dicts", "parameters"])
def test_views_without_gradients_get_none(views: ModuleType, kind: str, absent: str) -> None:
    """The derivative of a layer, written by hand, adds to the gradients of both of its views."""
    net = Network(33)
    for k, (w, b) in enumerate(zip(net.weights, net.bias, strict=True)):
        if absent == "weights" or (absent, k) == ("one layer", 1):
            net.given[k][0] = tensor(w)
        if absent == "bias" or (absent, k) == ("one layer", 1):
            net.given[k][1] = tensor(b)
    if kind == "parameters":
        function = views.render_views
        given: Any = ([w for w, _ in net.given], [b for _, b in net.given])
    else:
        function = views.render
        given = ({"layers": net.layers()},)
    features = kf.Tensor.from_numpy(net.features)
    function(*given, features, net.image, shape=(33,))
    function.backward(*given, features, net.image, shape=(33,))
    net.check()


def test_indices_choose_layers(views: ModuleType) -> None:
    """Which element of an array a call takes, and an iteration, nobody knows before."""
    count = 65
    net = Network(count)
    first = rng.integers(0, 3, count, dtype=np.int32)
    x = with_zeros(floats(count))
    mlp = {"layers": net.layers()}
    y = views.select(mlp, first, x)
    value, slope = array(x).astype(np.float64), np.ones(count)
    inputs = [value]
    weights, bias = (np.array(one, np.float64) for one in (net.weights, net.bias))
    for k in range(2):
        layer = (first + k) % 3
        value = weights[layer, layer, k] * value + bias[layer, k]
        inputs.append(value)
    np.testing.assert_allclose(array(y), value, rtol=1e-5, atol=1e-5)
    views.select.backward(mlp, first, x, y)
    weight_grads, bias_grads = np.zeros_like(weights), np.zeros_like(bias)
    for k in (1, 0):
        layer = (first + k) % 3
        np.add.at(weight_grads[:, :, k], (layer, layer), slope * inputs[k])
        np.add.at(bias_grads[:, k], layer, slope)
        slope = slope * weights[layer, layer, k]
    np.testing.assert_allclose(array(x.grad), slope, rtol=1e-5, atol=1e-5)
    for k, (w, b) in enumerate(net.given):
        np.testing.assert_allclose(array(w.grad), weight_grads[k], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(array(b.grad), bias_grads[k], rtol=1e-4, atol=1e-4)


def test_arrays_have_words(views: ModuleType) -> None:
    (text,) = views.render_views.signatures
    assert "(weights: [3 of float tensor[2]], bias: [3 of float tensor[1]], features: " in text
    (text,) = views.render.signatures
    assert "(mlp: {layers: [3 of {weights: float tensor[2], bias: float tensor[1]}]}, features: " in text


def test_what_no_array_of_layers_is_is_refused(views: ModuleType) -> None:
    net = Network(2)
    layers = net.layers()
    image = net.image.to_numpy()
    features = with_zeros(net.features)
    other, wide = net.given[0][0], np.zeros((4, 4))
    first, second, third = layers
    for given, message in (
        (layers[:2], r"'mlp\.layers': a list of 3 is needed for 'Linear<4>\[3\]', found 2"),
        ([*layers, first], r"'mlp\.layers': a list of 3 .* found 4"),
        (first, r"'mlp\.layers': a list of 3 .*, not "),
        (other, r"'mlp\.layers': a list of 3 .*, not "),
        ([first, second, third | {"bias": other}], r"'mlp\.layers\[2\]\.bias': expected float tensor\[1\]"),
        ([first, second | {"weights": wide}, third], r"'mlp\.layers\[1\]\.weights': .*float64"),
        ([first, second | {"scale": 1}, third], r"'mlp\.layers\[1\]': Linear<4> has no field 'scale'"),
        ([first, {"weights": other}, third], r"'mlp\.layers\[1\]': field 'bias' .* is missing"),
        ([first, None, third], r"'mlp\.layers\[1\]\.weights': not given"),
    ):
        with pytest.raises(kf.ArgumentError, match=message):
            views.render({"layers": given}, features, net.image, shape=(2,))
    np.testing.assert_array_equal(net.image.to_numpy(), image)


def test_a_written_view_has_a_place_for_each_element(generated: Loader) -> None:
    """A call that was right before changes nothing: several threads would write to one element."""
    square = generated("views").square
    x = kf.Tensor(np.arange(6, dtype=np.float32))
    for _ in range(2):
        y = kf.Tensor(np.full(6, -7, np.float32))
        square(x, y, shape=(6,))
        np.testing.assert_array_equal(y.to_numpy(), x.to_numpy() ** 2)
        single = kf.Tensor(np.full(1, -7, np.float32))
        with pytest.raises(
            kf.ArgumentRuntimeError, match="square: argument 'output': it may be written"
        ) as caught:
            square(x, single.broadcast_to(6), shape=(6,))
        assert caught.value.code == "aliasing"
        assert single.item() == -7
        # What is only read may share its elements.
        square(single.broadcast_to(6), y, shape=(6,))
        np.testing.assert_array_equal(y.to_numpy(), np.full(6, 49))
