"""Losses with their gradients in one launch: against float64 references, and forward then backward calls."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import LAYOUTS, SIZES, Array, Buffer, buffer
from loader import Loader


@pytest.fixture(scope="module")
def fused(generated: Loader) -> ModuleType:
    return generated("fused")


def some(shape: tuple[int, ...], seed: int, dtype: Any = np.float32) -> Array:
    return (np.random.default_rng(seed).random(shape) + 0.25).astype(dtype)


def wide(*arrays: Array) -> list[Array]:
    return [array.astype(np.float64) for array in arrays]


def tracked(values: Array) -> kf.Tensor:
    return kf.Tensor.from_numpy(values).with_grads()


def gradient(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


def expect(found: Buffer, wanted: Array) -> None:
    """In the view; and nothing beside it has changed."""
    np.testing.assert_allclose(found.tensor.to_numpy(), wanted, rtol=2e-5, atol=1e-5)
    found.array[...] = found.tensor.to_numpy()
    found.check()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", SIZES)
def test_lines(fused: ModuleType, size: int, layout: str) -> None:
    x = buffer((size,), np.dtype(np.float32), layout, some((size,), 1))
    flow = buffer((size,), np.dtype(np.float32), layout, some((size,), 2))
    into = buffer((size,), np.dtype(np.float32), layout)
    y = tracked(some((size,), 3))
    a, b = kf.differentiable(2.0), kf.differentiable(0.5)
    result = fused.line.fused(a, b, x.tensor.with_grads(grad_out=flow.tensor), y, out=into.tensor)
    x64, y64, flow64 = wide(x.array, y.to_numpy(), flow.array)
    error = 2 * x64 + 0.5 - y64
    assert result is into.tensor
    expect(into, error**2)
    expect(flow, flow64 + 4 * error)
    x.check()
    assert a.grad == pytest.approx((2 * error * x64).sum(), rel=2e-5)
    assert b.grad == pytest.approx((2 * error).sum(), rel=2e-5)
    np.testing.assert_allclose(gradient(y), -2 * error, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("extent", [1, 4097])
def test_gradients_accumulate(fused: ModuleType, extent: int) -> None:
    a, b, x, y = (tracked(some((n,), seed)) for seed, n in enumerate((extent, 1, 4097, 4097)))
    losses = fused.line.fused(a, b, x, y)
    once = gradient(a)
    again = fused.line.fused(a, b, x, y)
    np.testing.assert_array_equal(losses.to_numpy(), again.to_numpy())
    np.testing.assert_allclose(gradient(a), 2 * once, rtol=1e-5)
    a64, b64, x64, y64 = wide(*(tensor.to_numpy() for tensor in (a, b, x, y)))
    each = 4 * (a64 * x64 + b64 - y64) * x64
    np.testing.assert_allclose(
        gradient(a), each if extent > 1 else each.sum(keepdims=True), rtol=2e-5, atol=1e-5
    )


def test_values(fused: ModuleType) -> None:
    a = kf.differentiable(3.0)
    assert fused.line.fused(a, 1, 2, 5) == 4
    assert a.grad == 8
    assert fused.line.fused.call(a, 1, x=2, y=5) == 4
    assert a.grad == 16


@pytest.mark.parametrize("name", ["half", "double"])
@pytest.mark.parametrize("size", [1, 33])
def test_precisions(fused: ModuleType, name: str, size: int) -> None:
    dtype = {"half": np.float16, "double": np.float64}[name]
    a, b, x, y = (
        tracked(some(shape, seed, dtype))
        for seed, shape in enumerate([(size,), (5, 1), (5, size), (5, size)])
    )
    losses = getattr(fused, f"line_{name}").fused(a, b, x, y, out=np.ndarray)
    a64, b64, x64, y64 = wide(*(tensor.to_numpy() for tensor in (a, b, x, y)))
    error = a64 * x64 + b64 - y64
    rtol, atol = {"half": (4e-3, 2e-2), "double": (1e-12, 1e-12)}[name]
    np.testing.assert_allclose(losses, error**2, rtol=rtol, atol=atol)
    np.testing.assert_allclose(gradient(a), (2 * error * x64).sum(axis=0), rtol=rtol, atol=atol)
    np.testing.assert_allclose(gradient(b), (2 * error).sum(axis=1, keepdims=True), rtol=rtol, atol=atol)
    np.testing.assert_allclose(gradient(x), 2 * error * a64, rtol=rtol, atol=atol)


@pytest.mark.parametrize("batched", [False, True])
def test_matrices_and_arrays(fused: ModuleType, batched: bool) -> None:
    m, v, target = some((65, 2, 3) if batched else (2, 3), 1), some((65, 2, 3), 2), some((65, 2), 3)
    matrix: Any = tracked(m) if batched else kf.differentiable(m)
    vectors, aims = tracked(v), tracked(target)
    losses = fused.fit.fused(matrix, vectors, aims, 0.5, out=np.ndarray)
    m64, v64, target64 = wide(m, v, target)
    along = v64[:, 0] + 2 * v64[:, 1]
    error = np.einsum("...ij,nj->ni" if not batched else "nij,nj->ni", m64, along) - target64
    np.testing.assert_allclose(losses, 0.5 * (error**2).sum(axis=1), rtol=2e-5, atol=1e-5)
    each = np.einsum("ni,nj->nij", error, along)
    wanted = each if batched else each.sum(axis=0)
    np.testing.assert_allclose(gradient(matrix) if batched else matrix.grad, wanted, rtol=2e-5, atol=1e-4)
    assert not gradient(aims).any(), "not among the inputs that are differentiated"


def test_structs_and_outputs_without_gradients(fused: ModuleType) -> None:
    balls = np.zeros(33, fused.Ball.dtype)
    balls["center"], balls["radius"], balls["id"] = some((33, 3), 1), some((33,), 2), np.arange(33)
    at = some((33, 3), 3)
    tensor, points = tracked(balls), tracked(at)
    made = fused.distance.fused(tensor, points)
    assert made.id.to_numpy().tolist() == list(range(33))
    apart = at.astype(np.float64) - balls["center"]
    np.testing.assert_allclose(
        made.result.to_numpy(), (apart**2).sum(axis=1) - balls["radius"] ** 2.0, rtol=1e-4, atol=1e-6
    )
    found = gradient(tensor)
    np.testing.assert_allclose(found["center"], -2 * apart, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found["radius"], -2 * balls["radius"], rtol=1e-5)
    np.testing.assert_allclose(gradient(points), 2 * apart, rtol=1e-5, atol=1e-5)
    ball = kf.differentiable({"center": [1, 2, 3], "radius": 2, "id": 5})
    made = fused.distance.fused(ball, at, out=np.ndarray)
    apart = at.astype(np.float64) - [1, 2, 3]
    np.testing.assert_allclose(made.result, (apart**2).sum(axis=1) - 4, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ball.grad["center"], (-2 * apart).sum(axis=0), rtol=1e-5, atol=1e-4)
    assert ball.grad["radius"] == pytest.approx(-4 * 33)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (31, 7), (65, 33)])
def test_gathers(fused: ModuleType, rows: int, columns: int) -> None:
    w, x, target = tracked(some((rows, columns), 1)), tracked(some((columns,), 2)), some((rows,), 3)
    losses = fused.row_error.fused(kf.grid((rows,)), w, x, target, out=np.ndarray)
    w64, x64 = wide(w.to_numpy(), x.to_numpy())
    error = w64 @ x64 - target
    np.testing.assert_allclose(losses, error**2, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient(w), 2 * np.outer(error, x64), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gradient(x), 2 * error @ w64, rtol=1e-4, atol=1e-4)


def test_given_derivatives_and_flows(fused: ModuleType) -> None:
    """What flows into the result is 1, or what the tensor for it carries."""
    x = tracked(some((33,), 1))
    fused.given.fused(x)
    np.testing.assert_allclose(gradient(x), np.full(33, 7), rtol=1e-6)
    flowing = some((33,), 2)
    fused.given.fused(x, out=kf.Tensor.zeros((33,), np.float32).with_grads(grad_in=flowing))
    np.testing.assert_allclose(gradient(x), 7 + 7 * flowing, rtol=1e-6)


def test_the_same_call_again(fused: ModuleType) -> None:
    """Launches that are remembered are those of the pass."""
    x, other = tracked(some((33,), 1)), tracked(some((33,), 2))
    for turn in range(1, 4):
        y = fused.given(x)
        assert not np.array_equal(y.to_numpy(), np.zeros(33))
        np.testing.assert_array_equal(fused.given.fused(x).to_numpy(), x.to_numpy())
        np.testing.assert_array_equal(fused.given.fused(other).to_numpy(), other.to_numpy())
        fused.given.backward(x, y)
        np.testing.assert_allclose(gradient(x), np.full(33, 14 * turn), rtol=1e-6)
        np.testing.assert_allclose(gradient(other), np.full(33, 7 * turn), rtol=1e-6)


def test_recorded(fused: ModuleType) -> None:
    x = tracked(some((33,), 1))
    encoder = kf.default_device().encoder()
    y = fused.given.fused.append_to(encoder, x)
    encoder.submit()
    np.testing.assert_array_equal(y.to_numpy(), x.to_numpy())
    np.testing.assert_allclose(gradient(x), np.full(33, 7), rtol=1e-6)


def test_refused(generated: Loader, fused: ModuleType) -> None:
    assert generated("gradients").polynomial.fused is None
    assert repr(fused.given.fused) == "<fused pass of given>"
    plain = kf.Tensor.ones((3,), np.float32)
    cases: list[tuple[Callable[[], Any], str, str]] = [
        (lambda: fused.given.fused(plain), "missing-gradient", "fused: no input carries a gradient"),
        (lambda: fused.given.fused(plain, plain), "type-mismatch", "2 positional arguments"),
        (
            lambda: fused.given.fused(tracked(np.ones(3, np.float32)), out=plain[:2]),
            "shape-mismatch",
            "'result'",
        ),
    ]
    for call, code, text in cases:
        with pytest.raises(kf.Error) as caught:
            call()
        assert caught.value.code == code, str(caught.value)
        assert text in str(caught.value)
    x = tracked(np.ones(3, np.float32))
    assert x.grad is not None
    with pytest.raises(kf.Error, match="shares memory"):
        fused.given.fused(x, out=x.grad)
    assert gradient(x).tolist() == [0, 0, 0]
