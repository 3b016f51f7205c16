"""Gradients that calls share in every way and type: against float64; deterministic ones bit for bit."""

import contextlib
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array
from loader import Loader
from sharing import COLUMNS, ROWS, SHARING, TOLERANCE, Placed, check, reduced

pytestmark = pytest.mark.usefixtures("float_atomics")

RUNS = 20
TYPES: dict[str, tuple[type[np.floating], tuple[int, ...]]] = {
    "affine": (np.float32, ()),
    "affine_half": (np.float16, ()),
    "affine_double": (np.float64, ()),
    "affine3": (np.float32, (3,)),
    "affine_half3": (np.float16, (3,)),
    "affine_matrix": (np.float32, (2, 3)),
}


@pytest.fixture(scope="module")
def strategy(generated: Loader) -> ModuleType:
    return generated("strategy")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.fixture
def options() -> Iterator[Callable[..., None]]:
    yield kf.set_options
    kf.set_options()


@pytest.mark.parametrize("layout", ["contiguous", "offset", "spread"])
@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("name", TYPES)
def test_strategies(
    strategy: ModuleType, rng: np.random.Generator, name: str, sharing: str, layout: str
) -> None:
    scalar, element = TYPES[name]
    shapes = [(ROWS, COLUMNS), *SHARING[sharing]]
    values = [rng.uniform(-2, 2, shape + element).astype(scalar) for shape in shapes]
    flow = rng.uniform(-2, 2, (ROWS, COLUMNS, *element)).astype(scalar)
    x64, w64, _ = (value.astype(np.float64) for value in values)
    flow64 = flow.astype(np.float64)
    parts = [flow64 * w64, flow64 * x64, flow64]
    wanted = [reduced(part, value.shape) for part, value in zip(parts, values, strict=True)]
    terms = [reduced(np.abs(part), value.shape) for part, value in zip(parts, values, strict=True)]
    function = getattr(strategy, name)
    inputs = [Placed(value, layout) for value in values]
    result = kf.Tensor.from_numpy(flow).with_grads(grad_in=flow)

    def run(deterministic: bool) -> list[Array]:
        for one in inputs:
            one.reset()
        function.options(deterministic=deterministic).backward(*(one.tensor for one in inputs), result)
        return [one.gradient() for one in inputs]

    for found, target, size in zip(run(deterministic=False), wanted, terms, strict=True):
        check(found, target, size)
    first = run(deterministic=True)
    for found, target, size in zip(first, wanted, terms, strict=True):
        check(found, target, size)
    for _ in range(RUNS - 1):
        for found, before in zip(run(deterministic=True), first, strict=True):
            assert found.tobytes() == before.tobytes()


@pytest.mark.parametrize("count", [0, 1, 31, 33, 4097])
@pytest.mark.parametrize("shared", [True, False])
def test_arrays(strategy: ModuleType, rng: np.random.Generator, count: int, shared: bool) -> None:
    x = rng.uniform(-2, 2, (3, count, 5)).astype(np.float32)
    w = rng.uniform(-2, 2, (1 if shared else 3, 1, 5)).astype(np.float32)
    results = []
    for deterministic in [False, *[True] * RUNS]:
        inputs = [Placed(x, "contiguous"), Placed(w, "contiguous")]
        strategy.affine_array.options(deterministic=deterministic).backward(*(one.tensor for one in inputs))
        results.append([one.gradient() for one in inputs])
    wanted = reduced(x.astype(np.float64), (w.shape[0], 1, 5))
    for found in (results[0], results[1]):
        check(found[0], np.broadcast_to(w, x.shape), np.abs(np.broadcast_to(w, x.shape)))
        check(found[1], wanted, reduced(np.abs(x.astype(np.float64)), (w.shape[0], 1, 5)))
    assert all(found[1].tobytes() == results[1][1].tobytes() for found in results[2:])


@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (1, 129), (5, 129)])
def test_structs(strategy: ModuleType, rng: np.random.Generator, shape: tuple[int, int]) -> None:
    """Field by field, and nothing to the field that has no gradient."""
    lines = np.zeros(shape, strategy.Line.dtype)
    lines["direction"] = rng.uniform(-2, 2, (*shape, 3))
    points = rng.uniform(-2, 2, (5, 129, 3)).astype(np.float32)
    found = []
    for deterministic in [False, *[True] * RUNS]:
        line = kf.Tensor.from_numpy(lines).with_grads()
        point = kf.Tensor.from_numpy(points).with_grads()
        strategy.distance.options(deterministic=deterministic).backward(line, point)
        assert line.grad is not None and point.grad is not None
        found.append(line.grad.to_numpy())
        np.testing.assert_array_equal(
            point.grad.to_numpy(), np.broadcast_to(lines["direction"], points.shape)
        )
    wanted = reduced(points.astype(np.float64), (*shape, 3))
    for gradient in (found[0], found[1]):
        np.testing.assert_allclose(gradient["direction"], wanted, rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(gradient["offset"], 5 * 129 / math.prod(shape))
        np.testing.assert_array_equal(gradient["id"], 0)
    assert all(gradient.tobytes() == found[1].tobytes() for gradient in found[2:])


def rounded_sum(values: Array, scalar: type[np.floating]) -> float:
    total = math.fsum(values)
    return float(scalar(np.float32(total) if scalar is np.float16 else total))


def test_sums_that_a_cpu_would_end_early_are_refused(strategy: ModuleType) -> None:
    """llvmpipe ends a loop after 65,535 iterations, and a group's threads round all of the sums."""
    text = "argument 'weights': its gradient has 16700000 scalars, but "
    is_cpu = kf.default_device().info.is_cpu
    at = np.zeros(3, np.int32)
    x = np.ones(3, np.float16)
    weights = kf.Tensor.zeros(16_700_000, np.float16).with_grads()
    with pytest.raises(kf.ArgumentError, match=text) if is_cpu else contextlib.nullcontext():
        strategy.pick_half.backward(at, weights, x, kf.Tensor.ones(3, np.float16))
    assert weights.grad is not None
    few = kf.Tensor.zeros(16_600_000, np.float16).with_grads()
    strategy.pick_half.backward(at, few, x, kf.Tensor.ones(3, np.float16))
    assert few.grad is not None
    assert few.grad[:2].to_numpy().tolist() == [3, 0]


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
    """Deterministic sums are exact and rounded once: math.fsum() is the reference, to the bit."""
    at = rng.integers(0, weights, count).astype(np.int32)
    x = (rng.uniform(-2, 2, count) * 10.0 ** rng.integers(-3, 3, count)).astype(scalar)
    function = getattr(strategy, name)
    wanted = [x[at == i].astype(np.float64) for i in range(weights)]

    def run(deterministic: bool) -> Array:
        tensor = kf.Tensor.from_numpy(np.ones(weights, scalar)).with_grads()
        function.options(deterministic=deterministic).backward(at, tensor, x)
        assert tensor.grad is not None
        return tensor.grad.to_numpy()

    np.testing.assert_allclose(
        run(deterministic=False).astype(np.float64),
        [part.sum() for part in wanted],
        rtol=2e-3 if scalar is np.float16 else 1e-5,
        atol=TOLERANCE[np.dtype(scalar).itemsize] * max([1, *(np.abs(part).sum() for part in wanted)]),
    )
    exact = np.array([rounded_sum(part, scalar) for part in wanted], scalar)
    for _ in range(RUNS):
        np.testing.assert_array_equal(run(deterministic=True), exact)


@pytest.mark.parametrize("count", [0, 1, 31, 33, 4097])
@pytest.mark.parametrize("weights", [1, 3, 200])
@pytest.mark.parametrize(
    ("name", "scalar"),
    [("pick_all", np.float32), ("pick_all_in_96", np.float32), ("pick_all_half", np.float16)],
)
def test_gathers_that_all_calls_share(
    strategy: ModuleType,
    rng: np.random.Generator,
    name: str,
    scalar: type[np.floating],
    weights: int,
    count: int,
) -> None:
    """Of more elements than a subgroup keeps the sums of, and of one that only some lanes read."""
    at = rng.integers(0, weights, count).astype(np.int32)
    at[: count // 2] = weights // 2
    x = rng.uniform(-2, 2, count).astype(np.float32)
    held = np.arange(weights + 2).astype(scalar)
    before = rng.integers(-8, 8, weights + 2).astype(scalar)
    gradient = kf.Tensor.from_numpy(before)
    tensor = kf.Tensor.from_numpy(held)[1 : weights + 1].with_grads(grad_out=gradient[1 : weights + 1])
    getattr(strategy, name).backward(at, tensor, x)
    factors = np.arange(weights) % 3 + 1
    wanted = before.astype(np.float64)
    wanted[1 : weights + 1] += factors * x.astype(np.float64).sum()
    wanted[1 : weights + 1] += np.bincount(at[x > 0], minlength=weights)
    # Each call's gradient of a half is one.
    rounding = 2.0**-11 if scalar is np.float16 else 1e-6
    np.testing.assert_allclose(
        gradient.to_numpy().astype(np.float64),
        wanted,
        rtol=rounding,
        atol=rounding * (np.abs(x).sum() * 3 + count + 8),
    )


@pytest.mark.parametrize("weights", [1, 2, 3, 4])
def test_gathers_of_few_elements_lose_nothing(strategy: ModuleType, weights: int) -> None:
    """Lanes that share an element add to it once: beside 2^26 a single 1 is nothing."""
    count, large = 65536, 2.0**26
    tensor = kf.Tensor.from_numpy(np.ones(weights, np.float32))
    gradient = kf.Tensor.from_numpy(np.full(weights, large, np.float32))
    at = (np.arange(count) % weights).astype(np.int32)
    strategy.pick.backward(at, tensor.with_grads(grad_out=gradient), np.ones(count, np.float32))
    found = gradient.to_numpy().astype(np.float64) - large
    np.testing.assert_allclose(found, np.bincount(at), rtol=0.05)


def test_gathers_from_two_tensors_do_not_meet(strategy: ModuleType) -> None:
    """Tensors all start at multiples of 256 bytes. Beside 2^31 a subgroup's sum alone rounds to nothing."""
    count, blocks, large = 65536, 32, 2.0**31
    memory = kf.Tensor.from_numpy(np.full(64 * (blocks + 1), large, np.float32))
    slope = kf.Tensor.from_numpy(np.ones(1, np.float32)).with_grads(grad_out=memory[0:1])
    x = np.ones(count, np.float32)
    whole = 0
    for block in range(1, blocks + 1):
        at = slice(64 * block, 64 * block + 1)
        offset = kf.Tensor.from_numpy(np.ones(1, np.float32)).with_grads(grad_out=memory[at])
        strategy.line_of_two.backward(slope, offset, x)
        whole += int(memory[at].to_numpy()[0] == large + count)
    assert whole >= 3 * blocks // 4
    untouched = np.delete(memory.to_numpy(), np.s_[::64])
    np.testing.assert_array_equal(untouched, np.full(untouched.shape, large))


def test_gathers_of_vectors_in_batches(strategy: ModuleType, rng: np.random.Generator) -> None:
    at = rng.integers(0, 5, 4097).astype(np.int32)
    x = rng.uniform(-2, 2, (4097, 3)).astype(np.float32)
    wanted = np.zeros((5, 2, 3))
    for i in range(5):
        wanted[i, 1] = [math.fsum(x[at == i, k].astype(np.float64)) for k in range(3)]
    wanted[0, 0, 0] = 4097
    batch_at = rng.integers(0, 5, (3, 1001)).astype(np.int32)
    batch_x = rng.uniform(-2, 2, (3, 1001)).astype(np.float32)
    batch_wanted = [
        [math.fsum(batch_x[b][batch_at[b] == i].astype(np.float64)) for i in range(5)] for b in range(3)
    ]
    for _ in range(RUNS):
        weights = kf.Tensor.zeros((5, 2, 3)).with_grads()
        strategy.pick3.options(deterministic=True).backward(at, weights, x)
        assert weights.grad is not None
        np.testing.assert_array_equal(weights.grad.to_numpy(), wanted.astype(np.float32))
        batches = kf.Tensor.zeros((3, 1, 5)).with_grads()
        strategy.pick_in_batch.options(deterministic=True).backward(batch_at, batches, batch_x)
        assert batches.grad is not None
        np.testing.assert_array_equal(batches.grad.to_numpy()[:, 0], np.array(batch_wanted, np.float32))


@pytest.mark.parametrize(("name", "scalar"), [("pick", np.float32), ("pick_double", np.float64)])
def test_exact_sums_of_extremes(strategy: ModuleType, name: str, scalar: type[np.floating]) -> None:
    info = np.finfo(scalar)
    tiny = info.smallest_subnormal
    half_way = scalar(1) + info.eps
    cases = [
        [info.max, -info.max, tiny],
        [info.max, info.max],
        [-info.max, -info.max, info.max],
        [tiny, tiny, -tiny, 3 * tiny],
        [scalar(1), info.eps / 2],
        [half_way, info.eps / 2],
        [scalar(1), info.eps / 2, tiny],
        [-half_way, -info.eps / 2, tiny],
        [scalar(2**20), scalar(-(2.0**-20)), scalar(-(2**20))],
        [np.inf, scalar(1)],
        [-np.inf, scalar(1)],
        [np.inf, -np.inf],
        [np.nan, scalar(1)],
        [scalar(-0.0), scalar(1), scalar(-1)],
    ]
    wanted = [
        scalar(0), np.inf, -info.max, 4 * tiny, scalar(1), scalar(1) + 2 * info.eps, scalar(1) + info.eps,
        -half_way, scalar(-(2.0**-20)), np.inf, -np.inf, np.nan, np.nan, scalar(0),
    ]  # fmt: skip
    wanted[0] = tiny
    at = np.array([i for i, case in enumerate(cases) for _ in case], np.int32)
    x = np.array([value for case in cases for value in case], scalar)
    weights = kf.Tensor.from_numpy(np.zeros(len(cases), scalar)).with_grads()
    getattr(strategy, name).options(deterministic=True).backward(at, weights, x)
    assert weights.grad is not None
    found = weights.grad.to_numpy()
    device = weights.device.info
    if scalar == np.float32 and device.backend == "vulkan" and "denorm_preserve" not in device.features:
        # Vulkan lets such a device take subnormal numbers as 0 or not; all else is exact either way.
        flushed = list(wanted)
        flushed[0], flushed[3], flushed[6], flushed[7] = scalar(0), scalar(0), scalar(1), -half_way - info.eps
        if found[0] == 0:
            wanted = flushed
    np.testing.assert_array_equal(found, np.array(wanted, scalar))


def test_differentiable_values(strategy: ModuleType, rng: np.random.Generator) -> None:
    x = rng.uniform(-2, 2, (129, 1001)).astype(np.float32)
    seen = set()
    for _ in range(RUNS):
        w, b = kf.differentiable(2.0), kf.differentiable(3.0)
        strategy.affine_values.options(deterministic=True).backward(x, w, b)
        assert b.grad == x.size
        seen.add(w.grad)
    assert len(seen) == 1
    assert seen.pop() == pytest.approx(x.astype(np.float64).sum(), rel=1e-5, abs=1e-2)


def test_options(strategy: ModuleType, options: Callable[..., None]) -> None:
    x = kf.Tensor.from_numpy(np.ones(33, np.float32)).with_grads()
    one = kf.Tensor.from_numpy(np.ones(1, np.float32)).with_grads()
    # What is always deterministic ignores False.
    y, z = kf.differentiable(2.0), kf.differentiable(0.0)
    strategy.blend.options(deterministic=False).backward(x, y, z)
    assert (y.grad, z.grad) == (33, 33)
    # What never is can be called where nothing is shared.
    refused = pytest.raises(kf.ArgumentError, match=r"argument 'y'.*deterministic")
    with refused as error:
        strategy.blend_fast.options(deterministic=True).backward(x, one, x)
    assert error.value.code == "no-deterministic-kernel"
    assert one.grad is not None and one.grad.to_numpy().tolist() == [0]
    y_tensor = kf.Tensor.from_numpy(np.full(33, 2, np.float32)).with_grads()
    z_tensor = kf.Tensor.from_numpy(np.full(33, 3, np.float32)).with_grads()
    strategy.blend_fast.options(deterministic=True).backward(x, y_tensor, z_tensor)
    # For all functions, but those that say otherwise; a launch that is remembered is not taken for another.
    strategy.blend_fast.backward(x, one, z_tensor)
    options(deterministic=True)
    with refused:
        strategy.blend_fast.backward(x, one, z_tensor)
    strategy.blend_fast.options(deterministic=False).backward(x, one, z_tensor)
    options()
    strategy.blend_fast.backward(x, one, z_tensor)
    assert one.grad.to_numpy().tolist() == [99]


def test_options_of_a_block(strategy: ModuleType, options: Callable[..., None]) -> None:
    """They go before those of the process and of blocks around, and end with the block, whatever ends it."""
    x, z = (kf.Tensor.from_numpy(np.ones(33, np.float32)).with_grads() for _ in range(2))
    one = kf.Tensor.from_numpy(np.ones(1, np.float32)).with_grads()

    def refused() -> bool:
        try:
            strategy.blend_fast.backward(x, one, z)
        except kf.ArgumentError as error:
            assert error.code == "no-deterministic-kernel"
            return True
        return False

    decorated = kf.options(deterministic=True)(refused)
    assert not refused()
    assert decorated()
    with kf.options(deterministic=True):
        assert refused()
        with kf.options():
            assert refused()
        with pytest.raises(ZeroDivisionError), kf.options(deterministic=False):
            assert not refused()
            raise ZeroDivisionError
        assert refused()
        # Another thread is in no block.
        with ThreadPoolExecutor(1) as pool:
            assert not pool.submit(refused).result()
    assert not refused()
    options(deterministic=True)
    assert refused()
    with kf.options(deterministic=False):
        assert not refused()
    assert decorated()
    with pytest.raises(TypeError, match="expected True, False or None"), kf.options(deterministic=1):  # type: ignore[arg-type]
        pass


def test_wrong_options(strategy: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="no option 'speed'; there is: deterministic"):
        strategy.blend.options(speed=1)
    with pytest.raises(TypeError, match="expected True, False or None"):
        strategy.blend.options(deterministic=1)
    with pytest.raises(kf.ArgumentError, match="no option 'device'"):
        kf.set_options(device=None)  # type: ignore[call-arg]


def test_one_gradient_of_two_inputs(strategy: ModuleType, rng: np.random.Generator) -> None:
    """Each call adds to its element twice, while others share that of the third input."""
    values = rng.uniform(-2, 2, (ROWS, COLUMNS)).astype(np.float32)
    flow = rng.uniform(-2, 2, values.shape).astype(np.float32)
    x = kf.Tensor.from_numpy(values).with_grads()
    b = kf.Tensor.zeros((ROWS, 1)).with_grads()
    strategy.affine.backward(x, x, b, kf.Tensor.from_numpy(values).with_grads(grad_in=flow))
    assert x.grad is not None and b.grad is not None
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * values * flow, rtol=1e-6)
    np.testing.assert_allclose(b.grad.to_numpy(), flow.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 31, 300])
@pytest.mark.parametrize("way", ["half", "deterministic"])
def test_one_gradient_of_two_inputs_that_calls_share(
    strategy: ModuleType, rng: np.random.Generator, way: str, columns: int
) -> None:
    """Their sums are beside the gradient, each input's apart, and are added to it in turn."""
    dtype = np.float16 if way == "half" else np.float32
    affine = strategy.affine_half if way == "half" else strategy.affine.options(deterministic=True)
    shared = rng.integers(-2, 3, (1, columns)).astype(dtype)
    values = rng.integers(-2, 3, (ROWS, columns)).astype(dtype)
    flow = rng.integers(-2, 3, values.shape).astype(dtype)
    for _ in range(20):
        s = kf.Tensor.from_numpy(shared).with_grads()
        affine.backward(
            kf.Tensor.from_numpy(values), s, s, kf.Tensor.from_numpy(values).with_grads(grad_in=flow)
        )
        assert s.grad is not None
        np.testing.assert_array_equal(s.grad.to_numpy(), ((values + 1) * flow).sum(axis=0, keepdims=True))


def test_gradients_that_overlap_are_refused(strategy: ModuleType) -> None:
    shared = kf.Tensor.zeros((5, 33))
    x = kf.Tensor.zeros((5, 33)).with_grads()
    w = kf.Tensor.zeros((5, 1)).with_grads(grad_out=shared[:, :1])
    b = kf.Tensor.zeros((1, 33)).with_grads(grad_out=shared[:1])
    with pytest.raises(kf.ArgumentError, match="its deterministic gradient shares memory") as error:
        strategy.affine.options(deterministic=True).backward(x, w, b)
    assert error.value.code == "aliasing"
