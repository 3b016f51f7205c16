"""Losses, with gradients that calls share in every way and type, in one launch: against float64."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array, buffer
from loader import Loader
from sharing import COLUMNS, ROWS, SHARING, TOLERANCE, Placed, check, reduced

RUNS = 20
LOSSES: dict[str, tuple[type[np.floating], tuple[int, ...]]] = {
    "affine": (np.float32, ()),
    "affine_half": (np.float16, ()),
    "affine_double": (np.float64, ()),
    "dot3": (np.float32, (3,)),
    "dot_half3": (np.float16, (3,)),
    "dot_matrix": (np.float32, (2, 3)),
}


@pytest.fixture(scope="module")
def strategy(generated: Loader) -> ModuleType:
    return generated("strategy")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(13)


def uniform(rng: np.random.Generator, shape: tuple[int, ...], scalar: type[np.floating]) -> Array:
    return rng.uniform(-2, 2, shape).astype(scalar)


@pytest.mark.parametrize("layout", ["contiguous", "offset", "spread"])
@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("name", LOSSES)
def test_strategies(
    strategy: ModuleType, rng: np.random.Generator, name: str, sharing: str, layout: str
) -> None:
    """Losses come as from a call, gradients as from a backward one; nothing else in any buffer changes."""
    scalar, element = LOSSES[name]
    values = [uniform(rng, shape + element, scalar) for shape in [(ROWS, COLUMNS), *SHARING[sharing]]]
    flow = uniform(rng, (ROWS, COLUMNS), scalar)
    x64, w64, b64 = (value.astype(np.float64) for value in values)
    axes = tuple(range(2, 2 + len(element)))
    losses = (x64 * w64 + b64).sum(axis=axes)
    sizes = (np.abs(x64 * w64) + np.abs(b64)).sum(axis=axes)
    flow64 = np.broadcast_to(flow.astype(np.float64).reshape(ROWS, COLUMNS, *(1 for _ in element)), x64.shape)
    parts = [flow64 * w64, flow64 * x64, flow64]
    wanted = [reduced(part, value.shape) for part, value in zip(parts, values, strict=True)]
    terms = [reduced(np.abs(part), value.shape) for part, value in zip(parts, values, strict=True)]
    inputs = [Placed(value, layout) for value in values]
    tolerance = TOLERANCE[np.dtype(scalar).itemsize]
    first: list[Array] = []
    for turn in range(1 + RUNS):
        for one in inputs:
            one.reset()
        into = buffer((ROWS, COLUMNS), np.dtype(scalar), layout)
        function = getattr(strategy, name).options(deterministic=turn > 0)
        result = into.tensor.with_grads(grad_in=kf.Tensor.from_numpy(flow))
        function.fused(*(one.tensor for one in inputs), out=result)
        found = into.tensor.to_numpy()
        assert np.all(np.abs(found.astype(np.float64) - losses) <= tolerance * (1 + sizes))
        into.array[...] = found
        into.check()
        gradients = [one.gradient() for one in inputs]
        if turn < 2:
            for gradient, target, size in zip(gradients, wanted, terms, strict=True):
                check(gradient, target, size)
            first = gradients
        for gradient, before in zip(gradients, first, strict=True):
            assert gradient.tobytes() == before.tobytes()


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("shape", [(3, 24), (2, 25), (7, 31), (33, 33), (2, 1000), (1, 4097), (5, 0)])
@pytest.mark.parametrize("shared", ["rows", "columns"])
def test_rows(
    strategy: ModuleType, rng: np.random.Generator, shared: str, shape: tuple[int, int], deterministic: bool
) -> None:
    """Kernels that walk rows store each loss once, also in place of an input."""
    x = uniform(rng, shape, np.float32)
    w = uniform(rng, (shape[0], 1) if shared == "rows" else (1, shape[1]), np.float32)
    places = [
        Placed(x, "contiguous"),
        Placed(w, "contiguous"),
        Placed(np.ones((1, 1), np.float32), "contiguous"),
    ]
    tensors = [one.tensor for one in places]
    function = strategy.affine.options(deterministic=deterministic)
    result = function.fused(*tensors, out=tensors[0])
    assert result is tensors[0]
    np.testing.assert_allclose(result.to_numpy(), x * w.astype(np.float64) + 1, rtol=2e-6, atol=2e-6)
    check(places[0].gradient(), np.broadcast_to(w, shape), np.abs(np.broadcast_to(w, shape)))
    x64 = x.astype(np.float64)
    check(places[1].gradient(), reduced(x64, w.shape), reduced(np.abs(x64), w.shape))
    assert places[2].gradient().item() == 1 + x.size


@pytest.mark.parametrize("count", [0, 1, 31, 33, 4097])
@pytest.mark.parametrize("weights", [1, 7, 4097])
@pytest.mark.parametrize(
    ("name", "scalar"), [("pick", np.float32), ("pick_double", np.float64), ("pick_half", np.float16)]
)
def test_gathers(
    strategy: ModuleType,
    rng: np.random.Generator,
    name: str,
    scalar: type[np.floating],
    weights: int,
    count: int,
) -> None:
    at = rng.integers(0, weights, count).astype(np.int32)
    x = uniform(rng, (count,), scalar)
    held = uniform(rng, (weights,), scalar)
    wanted, size = np.zeros(weights), np.zeros(weights)
    np.add.at(wanted, at, x.astype(np.float64))
    np.add.at(size, at, np.abs(x.astype(np.float64)))
    tolerance = TOLERANCE[np.dtype(scalar).itemsize]
    seen: set[Any] = set()
    for turn in range(4):
        tensor = kf.Tensor.from_numpy(held).with_grads()
        function = getattr(strategy, name).options(deterministic=turn > 0)
        losses = function.fused(at, tensor, x, out=np.ndarray)
        np.testing.assert_allclose(losses, held[at].astype(np.float64) * x, rtol=tolerance, atol=tolerance)
        assert tensor.grad is not None
        found = tensor.grad.to_numpy()
        assert np.all(np.abs(found.astype(np.float64) - wanted) <= tolerance * (1 + size))
        if turn > 0:
            seen.add(found.tobytes())
    assert len(seen) == 1


def test_batches_of_tensors(strategy: ModuleType, rng: np.random.Generator) -> None:
    at = rng.integers(0, 5, (3, 1001)).astype(np.int32)
    x = uniform(rng, (3, 1001), np.float32)
    held = uniform(rng, (3, 1, 5), np.float32)
    weights = kf.Tensor.from_numpy(held).with_grads()
    losses = strategy.pick_in_batch.fused(at, weights, x, out=np.ndarray)
    np.testing.assert_allclose(losses, held[np.arange(3)[:, None], 0, at] * x.astype(np.float64), rtol=1e-6)
    wanted = [[x[b][at[b] == i].astype(np.float64).sum() for i in range(5)] for b in range(3)]
    assert weights.grad is not None
    np.testing.assert_allclose(weights.grad.to_numpy()[:, 0], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [0, 1, 31, 33, 4097])
@pytest.mark.parametrize("shared", [True, False])
def test_arrays(strategy: ModuleType, rng: np.random.Generator, count: int, shared: bool) -> None:
    x = uniform(rng, (3, count, 5), np.float32)
    w = uniform(rng, (1 if shared else 3, 1, 5), np.float32)
    for deterministic in (False, True):
        places = [Placed(x, "contiguous"), Placed(w, "contiguous")]
        function = strategy.affine_array.options(deterministic=deterministic)
        losses = function.fused(*(one.tensor for one in places), out=np.ndarray)
        np.testing.assert_allclose(losses, (x * w.astype(np.float64)).sum(axis=-1), rtol=1e-5, atol=1e-5)
        check(places[0].gradient(), np.broadcast_to(w, x.shape), np.abs(np.broadcast_to(w, x.shape)))
        x64 = x.astype(np.float64)
        check(places[1].gradient(), reduced(x64, (*w.shape,)), reduced(np.abs(x64), (*w.shape,)))


@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (1, 129), (5, 129)])
def test_structs(strategy: ModuleType, rng: np.random.Generator, shape: tuple[int, int]) -> None:
    lines = np.zeros(shape, strategy.Line.dtype)
    lines["direction"] = uniform(rng, (*shape, 3), np.float32)
    lines["offset"] = uniform(rng, shape, np.float32)
    points = uniform(rng, (5, 129, 3), np.float32)
    direction = lines["direction"].astype(np.float64)
    for deterministic in (False, True):
        line = kf.Tensor.from_numpy(lines).with_grads()
        losses = strategy.distance.options(deterministic=deterministic).fused(line, points, out=np.ndarray)
        np.testing.assert_allclose(
            losses, (direction * points).sum(axis=-1) + lines["offset"], rtol=1e-5, atol=1e-5
        )
        assert line.grad is not None
        found = line.grad.to_numpy()
        wanted = reduced(points.astype(np.float64), (*shape, 3))
        np.testing.assert_allclose(found["direction"], wanted, rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(found["offset"], 5 * 129 / lines.size)
        np.testing.assert_array_equal(found["id"], 0)


def test_options(strategy: ModuleType) -> None:
    """A loss without deterministic kernels is refused where it would have to sum."""
    x = kf.Tensor.from_numpy(np.ones(33, np.float32)).with_grads()
    one = kf.Tensor.from_numpy(np.ones(1, np.float32)).with_grads()
    assert strategy.affine3.fused is None
    fused = strategy.blend_fast.options(deterministic=True).fused
    with pytest.raises(kf.ArgumentError, match=r"argument 'y'.*deterministic") as error:
        fused(x, one, x)
    assert error.value.code == "no-deterministic-kernel"
    assert fused(x, x, x).to_numpy().tolist() == [2] * 33
    assert x.grad is not None and x.grad.to_numpy().tolist() == [3] * 33
    y = kf.differentiable(2.0)
    strategy.blend.fused(x, y, 1)
    assert y.grad == 33
