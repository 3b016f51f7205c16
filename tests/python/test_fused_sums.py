"""Losses that are combined, with their gradients, in one launch: against float64, in whole buffers."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, buffer
from loader import Loader
from sharing import COLUMNS, ROWS, TOLERANCE, Placed, check, reduced

pytestmark = pytest.mark.usefixtures("float_atomics")

RUNS = 20
SHAPES = {
    "everything": (1, 1),
    "rows": (ROWS, 1),
    "columns": (1, COLUMNS),
    "nothing": (ROWS, COLUMNS),
}
LOSSES: dict[str, type[np.floating]] = {
    "loss": np.float32,
    "loss_half": np.float16,
    "loss_double": np.float64,
}


@pytest.fixture(scope="module")
def accumulate(generated: Loader) -> ModuleType:
    return generated("accumulate")


def some(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


def wide(*arrays: Array) -> list[Array]:
    return [array.astype(np.float64) for array in arrays]


def expect_sum(found: Array, terms: Array, shape: tuple[int, ...]) -> None:
    limit = TOLERANCE[found.dtype.itemsize] * (reduced(np.abs(terms), shape) + 1)
    assert np.all(np.abs(found.astype(np.float64) - reduced(terms, shape)) <= limit)


def gradient_of(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


@pytest.mark.parametrize("layout", ["contiguous", "offset", "spread"])
@pytest.mark.parametrize("of", SHAPES)
@pytest.mark.parametrize("to", SHAPES)
@pytest.mark.parametrize("name", LOSSES)
def test_sums(accumulate: ModuleType, name: str, to: str, of: str, layout: str) -> None:
    """`of`: the shape of an input; `to`: that of the sums, into which other numbers than 1 flow."""
    dtype = LOSSES[name]
    a, x, flow = some(SHAPES[of], dtype, 1), some((ROWS, COLUMNS), dtype, 2), some(SHAPES[to], dtype, 3)
    a64, x64, flow64 = wide(a, x, flow)
    parts = [np.broadcast_to(x64 * x64 * flow64, x.shape), 2 * a64 * x64 * flow64]
    inputs = [Placed(a, layout), Placed(x, layout)]
    first: list[bytes] = []
    for turn in range(1 + RUNS if layout == "spread" else 2):
        for one in inputs:
            one.reset()
        out = buffer(flow.shape, np.dtype(dtype), "offset")
        function = getattr(accumulate, name).options(deterministic=turn > 0)
        function.fused(*(one.tensor for one in inputs), out=out.tensor.with_grads(grad_in=flow))
        found = out.tensor.to_numpy()
        gradients = [one.gradient() for one in inputs]
        if turn < 2:
            expect_sum(found, a64 * x64 * x64, flow.shape)
            for gradient, part in zip(gradients, parts, strict=True):
                check(gradient, reduced(part, gradient.shape), reduced(np.abs(part), gradient.shape))
            first = [array.tobytes() for array in (found, *gradients)]
        out.array[...] = found
        out.check()
        assert [array.tobytes() for array in (found, *gradients)] == first


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LOSSES)
def test_sizes(accumulate: ModuleType, name: str, size: int, deterministic: bool) -> None:
    a, x = some((1, 1), LOSSES[name], 5), some((3, size), LOSSES[name], 7)
    a64, x64 = wide(a, x)
    given, x_given = (kf.Tensor.from_numpy(value).with_grads() for value in (a, x))
    made = getattr(accumulate, name).options(deterministic=deterministic).fused(given, x_given)
    assert made.shape == (1, 1)
    expect_sum(made.to_numpy(), a64 * x64 * x64, (1, 1))
    expect_sum(gradient_of(given), x64 * x64, (1, 1))
    expect_sum(gradient_of(x_given), 2 * a64 * x64, (3, size))


@pytest.mark.parametrize("name", ["loss", "loss_half"])
@pytest.mark.parametrize("size", SIZES)
def test_pushed_gradients(accumulate: ModuleType, size: int, name: str) -> None:
    a, x = some((1, 1), LOSSES[name], 9), some((3, size), LOSSES[name], 11)
    a64, x64 = wide(a, x)
    function = getattr(accumulate, name).accumulate({"a.grad": "push"})
    pushed = buffer(x.shape, np.dtype(LOSSES[name]), "offset", np.ones_like(x))
    given = kf.Tensor.from_numpy(a).with_grads(grad_out=pushed.tensor)
    made = function.fused(given, kf.Tensor.from_numpy(x))
    expect_sum(made.to_numpy(), a64 * x64 * x64, (1, 1))
    pushed.array[...] = pushed.tensor.to_numpy()
    few = TOLERANCE[x.dtype.itemsize]
    np.testing.assert_allclose(pushed.array.astype(np.float64), 1 + x64 * x64, rtol=few, atol=few)
    pushed.check()
    fresh = kf.Tensor.from_numpy(a).with_grads()
    function.fused(fresh, kf.Tensor.from_numpy(x))
    assert gradient_of(fresh).shape == x.shape
    np.testing.assert_allclose(gradient_of(fresh).astype(np.float64), x64 * x64, rtol=few, atol=few)


@pytest.mark.parametrize("size", SIZES)
def test_other_ways(accumulate: ModuleType, size: int) -> None:
    a, x = some((size, 5), np.float32, 13), some((size, 5), np.float32, 15)
    a64, x64 = wide(a, x)
    losses = a64 * x64 * x64
    none = accumulate.loss.accumulate(result="none")
    np.testing.assert_allclose(
        none.fused(kf.Tensor.from_numpy(a).with_grads(), x).to_numpy(), losses, rtol=1e-5
    )
    for shape in [(1, 1), (size, 1), (1, 5), (size, 5)]:
        given = kf.Tensor.from_numpy(a).with_grads()
        out = buffer(shape, np.dtype(np.float32), "offset")
        accumulate.loss.accumulate(result="first").fused(given, kf.Tensor.from_numpy(x), out=out.tensor)
        wanted = losses[: shape[0], : shape[1]] if size > 0 else np.zeros(shape)
        np.testing.assert_allclose(out.tensor.to_numpy(), wanted, rtol=1e-5)
        out.array[...] = out.tensor.to_numpy()
        out.check()
        gradient = np.zeros_like(x64)
        gradient[: shape[0], : shape[1]] = (x64 * x64)[: shape[0], : shape[1]]
        np.testing.assert_allclose(gradient_of(given), gradient, rtol=1e-5)
    if size > 1:
        with pytest.raises(kf.ArgumentError, match="an output is never broadcast"):
            none.fused(kf.Tensor.from_numpy(a).with_grads(), x, out=kf.Tensor.zeros((1, 5), np.float32))
    one = kf.Tensor.from_numpy(a[:1]).with_grads()
    accumulate.loss.accumulate({"a.grad": "first"}).fused(one, kf.Tensor.from_numpy(x))
    np.testing.assert_allclose(gradient_of(one), (x64 * x64)[:1], rtol=1e-5)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_values(accumulate: ModuleType, size: int, deterministic: bool) -> None:
    x = some((size,), np.float32, 17)
    (x64,) = wide(x)
    a = kf.differentiable(3.0)
    counted = accumulate.counted.options(deterministic=deterministic)
    for turn in (1, 2):
        made = counted.fused(a, kf.Tensor.from_numpy(x))
        assert made.count == size
        np.testing.assert_allclose(made.result, (3 * x64 * x64).sum(), rtol=1e-5)
        np.testing.assert_allclose(a.grad, turn * (x64 * x64).sum(), rtol=1e-5)


def test_recorded(accumulate: ModuleType) -> None:
    a, x = some((1, 1), np.float32, 19), some((3, 33), np.float32, 21)
    given = kf.Tensor.from_numpy(a).with_grads()
    encoder = kf.default_device().encoder()
    made = accumulate.loss.fused.append_to(encoder, given, kf.Tensor.from_numpy(x))
    encoder.submit()
    a64, x64 = wide(a, x)
    expect_sum(made.to_numpy(), a64 * x64 * x64, (1, 1))
    expect_sum(gradient_of(given), x64 * x64, (1, 1))


def test_refused(accumulate: ModuleType) -> None:
    x = kf.Tensor.from_numpy(some((3, 33), np.float32, 23))
    a = kf.Tensor.from_numpy(some((1, 1), np.float32, 25)).with_grads()
    assert a.grad is not None
    with pytest.raises(kf.ArgumentError, match="shares memory with argument 'result'"):
        accumulate.loss.fused(a, x, out=a.grad)
    flow = kf.Tensor.ones((1, 1), np.float32)
    with pytest.raises(kf.ArgumentError, match="shares memory with the gradient of 'result', which is read"):
        accumulate.loss.fused(a, x, out=flow.with_grads(grad_in=flow))
    with pytest.raises(kf.ArgumentError, match="shares memory with argument 'x'"):
        accumulate.loss.fused(a, x, out=x[:1, :1])
    with pytest.raises(kf.ArgumentError, match="no input carries a gradient"):
        accumulate.loss.fused(kf.Tensor.ones((1, 1), np.float32), x)
    assert gradient_of(a).tolist() == [[0]]
