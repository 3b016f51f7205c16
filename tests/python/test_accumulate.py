"""Results and gradients that calls share, combined as the call says: against float64, in whole buffers."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import LAYOUTS, SIZES, Array, buffer
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

RUNS = 20
ROWS, COLUMNS = 33, 129
SHAPES = {
    "everything": (1, 1),
    "rows": (ROWS, 1),
    "columns": (1, COLUMNS),
    "nothing": (ROWS, COLUMNS),
}
TYPES: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
    "sum_float": (np.float32, ()),
    "sum_half": (np.float16, ()),
    "sum_double": (np.float64, ()),
    "sum_int": (np.int32, ()),
    "sum_uint": (np.uint32, ()),
    "sum_int8": (np.int8, ()),
    "sum_uint8": (np.uint8, ()),
    "sum_int16": (np.int16, ()),
    "sum_uint16": (np.uint16, ()),
    "sum_int64": (np.int64, ()),
    "sum_uint64": (np.uint64, ()),
    "same_bytes": (np.int8, (3,)),
    "same3": (np.float32, (3,)),
    "same_half3": (np.float16, (3,)),
    "same_int3": (np.int32, (3,)),
    "same_matrix": (np.float32, (2, 3)),
}
SCALARS = [name for name in TYPES if name.startswith("sum_")]
TOLERANCE = {2: 2e-3, 4: 2e-6, 8: 1e-14}


@pytest.fixture(scope="module")
def accumulate(generated: Loader) -> ModuleType:
    return generated("accumulate")


def some(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.uniform(-2, 2, shape).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def added(x: Array, shape: tuple[int, ...]) -> Array:
    """Summed over the dimensions that `shape` has with extent 1: in float64, or in integers that wrap."""
    axes = tuple(d for d in range(len(shape)) if shape[d] == 1)
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    return np.asarray(wide.sum(axis=axes, keepdims=True, dtype=wide.dtype))


def check(found: Array, x: Array, shape: tuple[int, ...]) -> None:
    """To a few roundings of the largest that is added up."""
    if x.dtype.kind == "f":
        limit = TOLERANCE[x.dtype.itemsize] * (added(np.abs(x), shape) + 1)
        assert np.all(np.abs(found.astype(np.float64) - added(x, shape)) <= limit)
    else:
        np.testing.assert_array_equal(found, added(x, shape))


@pytest.mark.parametrize("layout", ["contiguous", "offset", "spread"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TYPES)
def test_sums(accumulate: ModuleType, name: str, shape: str, layout: str) -> None:
    dtype, element = TYPES[name]
    x = some((ROWS, COLUMNS, *element), dtype, 1)
    given = buffer(x.shape, np.dtype(dtype), layout, x)
    out = buffer((*SHAPES[shape], *element), np.dtype(dtype), "offset")
    function = getattr(accumulate, name)
    function(given.tensor, out=out.tensor)
    check(out.tensor.to_numpy(), x, SHAPES[shape])
    out.array[...] = out.tensor.to_numpy()
    out.check()
    function.options(deterministic=True)(given.tensor, out=out.tensor)
    first = out.tensor.to_numpy()
    check(first, x, SHAPES[shape])
    out.array[...] = first
    out.check()
    for _ in range(RUNS - 1):
        function.options(deterministic=True)(given.tensor, out=out.tensor)
        assert out.tensor.to_numpy().tobytes() == first.tobytes()
    given.check()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SCALARS)
def test_sizes(accumulate: ModuleType, name: str, layout: str, size: int) -> None:
    dtype, _ = TYPES[name]
    x = some((size,), dtype, size)
    given = buffer(x.shape, np.dtype(dtype), layout, x)
    out = buffer((1,), np.dtype(dtype), "offset")
    getattr(accumulate, name)(given.tensor, out=out.tensor)
    check(out.tensor.to_numpy(), x, (1,))
    out.array[...] = out.tensor.to_numpy()
    out.check()
    made = getattr(accumulate, name)(given.tensor)
    assert made.shape == (1,)
    check(made.to_numpy(), x, (1,))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", SIZES)
def test_long_integers_in_atomic_tensors(accumulate: ModuleType, size: int, layout: str) -> None:
    at = (np.arange(size) * size // 3 % 7).astype(np.int32)
    x = some((size,), np.int64, 57)
    start = some((7,), np.int64, 59)
    sums = buffer((7,), np.dtype(np.int64), layout, start)
    counts = buffer((7,), np.dtype(np.uint64), layout, np.zeros(7, np.uint64))
    given = buffer((size,), np.dtype(np.int64), layout, x)
    accumulate.tally(kf.Tensor.from_numpy(at), given.tensor, sums.tensor, counts.tensor)
    np.add.at(start, at, x)
    sums.array[...] = start
    counts.array[...] = np.bincount(at, minlength=7)
    sums.check()
    counts.check()


@pytest.mark.parametrize("size", SIZES)
def test_first_and_none(accumulate: ModuleType, size: int) -> None:
    x = some((size, 5), np.float32, 3)
    first = accumulate.sum_float.accumulate(result="first")
    for shape in [(1, 1), (size, 1), (1, 5), (size, 5)]:
        out = buffer(shape, np.dtype(np.float32), "offset")
        first(kf.Tensor.from_numpy(x), out=out.tensor)
        out.array[...] = x[: shape[0], : shape[1]] if size > 0 else 0
        out.check()
    none = accumulate.sum_float.accumulate({"result": "none"})
    np.testing.assert_array_equal(none(kf.Tensor.from_numpy(x)).to_numpy(), x)
    if size > 1:
        with pytest.raises(kf.ArgumentError, match="an output is never broadcast"):
            none(kf.Tensor.from_numpy(x), out=kf.Tensor.zeros((1, 5), np.float32))
    back = none.accumulate(result="sum")(kf.Tensor.from_numpy(x))
    check(back.to_numpy(), x, (1, 1))


@pytest.mark.parametrize("size", SIZES)
def test_an_output_without_a_dimension(accumulate: ModuleType, size: int) -> None:
    x = some((size, 7), np.float32, 5)
    found = accumulate.rows(kf.Tensor.from_numpy(x))
    assert found.shape == (size,)
    check(found.to_numpy().reshape(size, 1), x, (size, 1))


@pytest.mark.parametrize("size", SIZES)
def test_values(accumulate: ModuleType, size: int) -> None:
    x = some((size, 3), np.float32, 7)
    found = accumulate.ten.accumulate(result="sum")(x)
    check(np.reshape(found, (1, 3)), x * np.float32(10), (1, 3))
    first = accumulate.ten.accumulate(result="first")(x)
    np.testing.assert_array_equal(first, x[0] * np.float32(10) if size > 0 else np.zeros(3))
    most, count = accumulate.split(kf.Tensor.from_numpy(x[:, 0].copy()))
    check(np.reshape(most, (1,)), x[:, 0] * np.float32(2), (1,))
    assert count.to_numpy().tolist() == [size]
    if size > 1:
        with pytest.raises(kf.ArgumentError, match="an output is never broadcast"):
            accumulate.ten(x)


def test_the_demo(accumulate: ModuleType) -> None:
    inputs = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
    summed = accumulate.ten.accumulate(result="sum")
    np.testing.assert_array_equal(summed(kf.Tensor.from_numpy(inputs)), [120, 150, 180])


@pytest.mark.parametrize("size", [*SIZES, 100_000])
def test_structs(accumulate: ModuleType, size: int) -> None:
    x = some((size, 3), np.float32, 9)
    n = np.arange(size, dtype=np.int32)
    found = accumulate.gather(kf.Tensor.from_numpy(x), kf.Tensor.from_numpy(n)).to_numpy()
    assert found.shape == (1,)
    check(found["direction"], x, (1, 3))
    assert found["count"][0] == n.sum(dtype=np.int32)
    with np.errstate(over="ignore"):
        assert found["weight"][0] == np.float16(size)


def test_what_outputs_must_be(accumulate: ModuleType) -> None:
    x = kf.Tensor.from_numpy(some((4, 6), np.float32, 11))
    with pytest.raises(kf.ArgumentError, match="its extents are the call's, or 1"):
        accumulate.sum_float(x, out=kf.Tensor.zeros((2, 6), np.float32))
    with pytest.raises(kf.ArgumentError, match="must be contiguous"):
        accumulate.sum_float(x, out=kf.Tensor.zeros((1, 12), np.float32)[:, ::2])
    with pytest.raises(kf.ArgumentError, match="calls add to it while others read"):
        accumulate.sum_float(x, out=x[:1])
    with pytest.raises(kf.ArgumentError, match=r"no choice 'x\.grad'; there is: 'result'"):
        accumulate.sum_float.accumulate({"x.grad": "sum"})
    with pytest.raises(
        kf.ArgumentError, match="no way 'push' for 'result'; there is: 'sum', 'first', 'none'"
    ):
        accumulate.sum_float.accumulate(result="push")
    with pytest.raises(kf.ArgumentError, match=r"no choice 'result'; there is: 'a\.grad'"):
        accumulate.weigh_value.accumulate(result="sum")


def test_names_and_ways_are_strings(accumulate: ModuleType) -> None:
    function: Any = accumulate.sum_float
    with pytest.raises(TypeError, match="a dict is needed"):
        function.accumulate("sum")
    with pytest.raises(TypeError, match="are strings"):
        function.accumulate(result=3)


def test_functions_stay_as_they_are(accumulate: ModuleType) -> None:
    names = accumulate._module.functions
    assert "sum_float" in names
    assert not any("accumulate" in name for name in names)
    one = accumulate.weigh.accumulate({"a.grad": "push"}).options(deterministic=True)
    assert one.accumulate({}).name == one.name
    assert accumulate.weigh.name == "weigh"


def test_results_are_given_one_by_one(accumulate: ModuleType) -> None:
    x = kf.Tensor.from_numpy(some((5,), np.float32, 61))
    a = kf.differentiable(3.0)
    results = accumulate.counted(a, x)
    with pytest.raises(
        kf.ArgumentTypeError, match=r"'count': .* by name, count=results\.count, out=results\.result$"
    ):
        accumulate.counted.backward(a, x, results)
    accumulate.counted.backward(a, x, count=results.count, out=results.result)
    np.testing.assert_allclose(a.grad, (x.to_numpy().astype(np.float64) ** 2).sum(), rtol=1e-6)


def test_recorded(accumulate: ModuleType) -> None:
    x = some((4097,), np.float32, 13)
    out = kf.Tensor.from_numpy(np.full(1, 77, np.float32))
    encoder = kf.default_device().encoder()
    accumulate.sum_float.append_to(encoder, kf.Tensor.from_numpy(x), out=out)
    made = accumulate.sum_float.append_to(encoder, kf.Tensor.from_numpy(x))
    encoder.submit()
    check(out.to_numpy(), x, (1,))
    check(made.to_numpy(), x, (1,))


def gradient_of(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


def gradients(a: Array, x: Array, flow: Array | float) -> Array:
    wide = x.astype(np.float64)
    return np.asarray(np.broadcast_to(wide * wide * flow, np.broadcast_shapes(a.shape, x.shape)))


def weighed(name: str, shape: str, seed: int) -> tuple[Array, Array]:
    """What weigh() and weigh_half() take."""
    dtype = np.float32 if name == "weigh" else np.float16
    return some(SHAPES[shape], dtype, seed), some((ROWS, COLUMNS), dtype, seed + 1)


@pytest.mark.parametrize("layout", ["contiguous", "offset", "spread"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["push", "first"])
@pytest.mark.parametrize("name", ["weigh", "weigh_half"])
def test_gradients_without_sums(accumulate: ModuleType, name: str, way: str, shape: str, layout: str) -> None:
    a, x = weighed(name, shape, 15)
    dtype = x.dtype
    flow = some((ROWS, COLUMNS), dtype, 19)
    rows, columns = x.shape if way == "push" else a.shape
    kept = buffer((rows, columns), dtype, layout, np.ones((rows, columns), dtype))
    given = buffer(a.shape, dtype, layout, a).tensor.with_grads(grad_out=kept.tensor)
    x_given = kf.Tensor.from_numpy(x).with_grads()
    result = kf.Tensor.from_numpy(flow).with_grads(grad_in=flow)
    getattr(accumulate, name).accumulate({"a.grad": way}).backward(given, x_given, result)
    kept.array[...] = kept.tensor.to_numpy()
    wanted = 1 + gradients(a, x, flow.astype(np.float64))[:rows, :columns]
    rtol, atol = 4 * float(np.finfo(dtype).eps), 1e-2 if name == "weigh_half" else 1e-5
    np.testing.assert_allclose(kept.array, wanted, rtol=rtol, atol=atol)
    kept.check()
    both = 2 * a.astype(np.float64) * x.astype(np.float64) * flow.astype(np.float64)
    np.testing.assert_allclose(gradient_of(x_given), both, rtol=rtol, atol=atol)


def test_other_gradients(accumulate: ModuleType) -> None:
    a, x = some((1, 1), np.float32, 25), some((ROWS, COLUMNS), np.float32, 27)
    x_given = kf.Tensor.from_numpy(x)
    start = np.full((1, 1), 5, np.float32)
    wanted = gradients(a, x, 1.0).sum()
    for way, expected in [("sum", 5 + wanted), ("overwrite", wanted)]:
        given = kf.Tensor.from_numpy(a).with_grads(grad_out=start)
        accumulate.weigh.accumulate({"a.grad": way}).backward(given, x_given)
        assert given.grad_out is not None
        np.testing.assert_allclose(given.grad_out.to_numpy().item(), expected, rtol=1e-6)
    none = accumulate.weigh.accumulate({"a.grad": "none"})
    with pytest.raises(kf.ArgumentError, match="calls share elements of its gradient"):
        none.backward(kf.Tensor.from_numpy(a).with_grads(), x_given)
    own = kf.Tensor.from_numpy(some(x.shape, np.float32, 29)).with_grads()
    none.backward(own, x_given)
    np.testing.assert_allclose(gradient_of(own), x.astype(np.float64) ** 2, rtol=1e-6)
    with pytest.raises(kf.ArgumentError, match="its gradient has shape"):
        wide = kf.Tensor.from_numpy(a).with_grads(grad_out=np.zeros(x.shape, np.float32))
        accumulate.weigh.backward(wide, x_given)


@pytest.mark.parametrize("size", SIZES)
def test_pushed_gradients_get_their_shape(accumulate: ModuleType, size: int) -> None:
    """One that with_grads() made, not of the call's shape, is replaced; one that is, is added to."""
    a, x = some((1, 1), np.float32, 49), some((3, size), np.float32, 51)
    wanted = x.astype(np.float64) ** 2
    push = accumulate.weigh.accumulate({"a.grad": "push"})
    given = kf.Tensor.from_numpy(a).with_grads()
    for times in (1, 2):
        push.backward(given, kf.Tensor.from_numpy(x))
        np.testing.assert_allclose(gradient_of(given), times * wanted, rtol=1e-6)
    wrapped = kf.differentiable(a)
    push.backward(wrapped, kf.Tensor.from_numpy(x))
    np.testing.assert_allclose(wrapped.grad, wanted, rtol=1e-6)
    vectors = kf.Tensor.from_numpy(some((1, 3), np.float32, 53)).with_grads()
    x3 = some((2, size, 3), np.float32, 55)
    accumulate.weigh3.accumulate({"a.grad": "push"}).backward(vectors, kf.Tensor.from_numpy(x3))
    np.testing.assert_allclose(gradient_of(vectors), x3.astype(np.float64) ** 2, rtol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_pushed_gradients_along_a_map(accumulate: ModuleType, size: int) -> None:
    a, x = some((3,), np.float32, 55), some((3, size), np.float32, 57)
    wanted = x.astype(np.float64) ** 2
    push = accumulate.weigh_rows.accumulate({"a.grad": "push"})
    made = kf.Tensor.from_numpy(a).with_grads()
    kept = kf.Tensor.ones(x.shape)
    for given, start in [(made, 0), (kf.Tensor.from_numpy(a).with_grads(grad_out=kept), 1)]:
        push.backward(given, kf.Tensor.from_numpy(x))
        np.testing.assert_allclose(gradient_of(given), start + wanted, rtol=1e-6)
    np.testing.assert_allclose(kept.to_numpy(), 1 + wanted, rtol=1e-6)


def test_given_and_viewed_gradients_are_not_replaced(accumulate: ModuleType) -> None:
    x = kf.Tensor.from_numpy(some((3, 4), np.float32, 59))
    push = accumulate.weigh_rows.accumulate({"a.grad": "push"})
    whole = kf.Tensor.ones((5,)).with_grads()
    given = kf.Tensor.ones((3,)).with_grads(grad_out=kf.Tensor.zeros((3, 2)))
    for tensor, found in [(whole[1:4], r"\[3\]"), (whole[3:0:-1], r"\[3\]"), (given, r"\[3, 2\]")]:
        grad = tensor.grad
        with pytest.raises(
            kf.ArgumentError, match=rf'\(accumulate "push"\): expected shape \[3, 4\], found {found}'
        ):
            push.backward(tensor, x)
        assert grad is not None and not grad.to_numpy().any()
    pushed = kf.Tensor.ones((3,)).with_grads(grad_out=kf.Tensor.zeros((3, 3)))
    with pytest.raises(kf.ArgumentError, match=r"the tensor has shape \[3\] and its gradient, to push to, "):
        pushed[::-1]
    assert pushed.detach()[1:].shape == (2,)


@pytest.mark.parametrize("size", SIZES)
def test_vectors(accumulate: ModuleType, size: int) -> None:
    a, x = some((size, 3), np.float32, 31), some((5, size, 3), np.float32, 33)
    wanted = x.astype(np.float64) ** 2
    pushed = kf.Tensor.from_numpy(a).with_grads(grad_out=np.zeros_like(x))
    accumulate.weigh3.accumulate({"a.grad": "push"}).backward(pushed, kf.Tensor.from_numpy(x))
    assert pushed.grad_out is not None
    np.testing.assert_allclose(pushed.grad_out.to_numpy(), wanted, rtol=1e-6)
    for way, expected in [("sum", wanted.sum(axis=0)), ("first", wanted[0])]:
        given = kf.Tensor.from_numpy(a).with_grads()
        accumulate.weigh3.accumulate({"a.grad": way}).backward(given, kf.Tensor.from_numpy(x))
        np.testing.assert_allclose(gradient_of(given), expected, rtol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_a_values_gradient(accumulate: ModuleType, size: int) -> None:
    x = some((size,), np.float32, 35)
    wanted = x.astype(np.float64) ** 2
    for way, expected in [("sum", wanted.sum()), ("first", wanted[0] if size > 0 else 0)]:
        a = kf.differentiable(3.0)
        accumulate.weigh_value.accumulate({"a.grad": way}).backward(a, kf.Tensor.from_numpy(x))
        np.testing.assert_allclose(a.grad, expected, rtol=1e-5)


@pytest.mark.parametrize("size", SIZES)
def test_a_value_gets_a_list(accumulate: ModuleType, size: int) -> None:
    """Of the call's shape: added to one of that shape, in the place of another."""
    x = some((size,), np.float32, 63)
    wanted = x.astype(np.float64) ** 2
    push = accumulate.weigh_value.accumulate({"a.grad": "push"})
    a = kf.differentiable(3.0)
    for times in (1, 2):
        push.backward(a, kf.Tensor.from_numpy(x))
        assert a.grad.shape == (size,)
        np.testing.assert_allclose(a.grad, times * wanted, rtol=1e-6)
    push.backward(a, kf.Tensor.from_numpy(np.ones(7, np.float32)))
    np.testing.assert_array_equal(a.grad, np.ones(7, np.float32))
    flow = some((size,), np.float32, 65)
    a = kf.differentiable(3.0)
    push.backward(a, x, kf.Tensor.zeros((size,)).with_grads(grad_in=flow))
    np.testing.assert_allclose(a.grad, wanted * flow, rtol=1e-5, atol=1e-6)


def test_a_vectors_list(accumulate: ModuleType) -> None:
    x = some((5, 3), np.float32, 67)
    push = accumulate.weigh3_value.accumulate({"a.grad": "push"})
    vector = kf.differentiable(np.array([1, 2, 3], np.float32))
    push.backward(vector, kf.Tensor.from_numpy(x))
    np.testing.assert_allclose(vector.grad, x.astype(np.float64) ** 2, rtol=1e-6)
    number = kf.differentiable(2.0)
    push.backward(number, kf.Tensor.from_numpy(x[::2]))
    np.testing.assert_allclose(number.grad, (x[::2].astype(np.float64) ** 2).sum(axis=1), rtol=1e-6)
    encoder = kf.default_device().encoder()
    with pytest.raises(kf.ArgumentError, match="a value's gradient can't be an output of a recorded call"):
        push.backward.append_to(encoder, number, kf.Tensor.from_numpy(x))


def test_a_list_of_more(accumulate: ModuleType) -> None:
    """An array's gradient may be smaller than it, too."""
    a, x = some((4, 3), np.float32, 69), some((4, 3), np.float32, 71)
    for shape in [(1, 3), (4, 1), (1, 1)]:
        wrapped = kf.differentiable(a)
        wrapped.grad = np.ones(shape, np.float32)
        accumulate.weigh.backward(wrapped, kf.Tensor.from_numpy(x))
        axes = tuple(d for d in range(2) if shape[d] == 1)
        wanted = 1 + (x.astype(np.float64) ** 2).sum(axis=axes, keepdims=True)
        np.testing.assert_allclose(wrapped.grad, wanted, rtol=1e-5)


@pytest.mark.parametrize("flowing", ["missing", "whole", "one for all"])
@pytest.mark.parametrize("layout", ["contiguous", "spread"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("way", ["backward", "fused"])
def test_gradients_of_the_first(
    accumulate: ModuleType, way: str, deterministic: bool, shape: str, layout: str, flowing: str
) -> None:
    """What flows into an element flows to the call that gave it alone."""
    rows, columns = SHAPES[shape]
    a, x = some((1, COLUMNS), np.float32, 57), some((ROWS, COLUMNS), np.float32, 59)
    flow = np.ones((rows, columns), np.float32)
    out = kf.Tensor.from_numpy(np.zeros_like(flow))
    if flowing != "missing":
        flow = some((rows, columns) if flowing == "whole" else (1, 1), np.float32, 61)
        out = out.with_grads(grad_in=kf.Tensor.from_numpy(flow).broadcast_to((rows, columns)))
    given = [buffer(one.shape, one.dtype, layout, one).tensor.with_grads() for one in (a, x)]
    first = accumulate.loss.accumulate(result="first").options(deterministic=deterministic)
    if way == "fused":
        first.fused(*given, out=out)
        wide = a.astype(np.float64) * x.astype(np.float64) ** 2
        np.testing.assert_allclose(out.to_numpy(), wide[:rows, :columns], rtol=1e-5, atol=1e-5)
    else:
        first.backward(*given, out)
    flows = np.zeros((ROWS, COLUMNS))
    flows[:rows, :columns] = flow
    wide = x.astype(np.float64)
    wanted = (wide * wide * flows).sum(axis=0, keepdims=True)
    np.testing.assert_allclose(gradient_of(given[0]), wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gradient_of(given[1]), 2 * a * wide * flows, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("deterministic", [False, True])
def test_gradients_of_sums(accumulate: ModuleType, shape: str, deterministic: bool) -> None:
    """What flows into an element of a sum flows to each call."""
    a, x = some((ROWS, COLUMNS), np.float32, 37), some((ROWS, COLUMNS), np.float32, 39)
    flow = some(SHAPES[shape], np.float32, 41)
    summed = accumulate.weigh.accumulate(result="sum").options(deterministic=deterministic)
    inputs = [kf.Tensor.from_numpy(value).with_grads() for value in (a, x)]
    out = kf.Tensor.from_numpy(np.zeros_like(flow)).with_grads(grad_in=flow)
    summed(*inputs, out=out)
    check(out.to_numpy(), a * x * x, SHAPES[shape])
    summed.backward(*inputs, out)
    wide = [value.astype(np.float64) for value in (a, x)]
    np.testing.assert_allclose(gradient_of(inputs[0]), wide[1] ** 2 * flow, rtol=1e-6)
    np.testing.assert_allclose(gradient_of(inputs[1]), 2 * wide[0] * wide[1] * flow, rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_tangents_of_sums(accumulate: ModuleType, shape: str) -> None:
    a, x, dx = (some((ROWS, COLUMNS), np.float32, seed) for seed in (43, 45, 47))
    summed = accumulate.weigh.accumulate(result="sum")
    out = kf.Tensor.zeros(SHAPES[shape], np.float32)
    y, dy = summed.jvp(a, x, tangents={"x": dx}, out=out)
    check(y.to_numpy(), a * x * x, SHAPES[shape])
    assert dy.shape == (1, 1)
    check(dy.to_numpy(), 2 * a * x * dx, (1, 1))
