"""Entry points, and functions that are launched by threads, against NumPy."""

import gc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, buffer, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)


@pytest.fixture(scope="module")
def launch(generated: Loader) -> ModuleType:
    return generated("launch")


def threads(function: kf.Function, *count: int) -> kf.Function:
    return function.threads(*count)


def groups_that_cover(function: kf.Function, *count: int) -> kf.Function:
    """As many groups of 32 threads along x as hold so many threads."""
    return function.groups((count[0] + 31) // 32, *count[1:])


@pytest.mark.parametrize("launched", [threads, groups_that_cover])
@pytest.mark.parametrize("layout", ["contiguous", "spread", "offset"])
@pytest.mark.parametrize("size", SIZES)
def test_groups_share_memory(
    launch: ModuleType, size: int, layout: str, launched: Callable[..., kf.Function]
) -> None:
    x = numbers((size,), FLOAT, 1)
    out = buffer((size,), FLOAT, layout)
    assert launched(launch.prefix_sum, size)(size, x, out.tensor) is None
    sums = [np.cumsum(x[i : i + 32].astype(np.float64)) for i in range(0, size, 32)]
    out.array[...] = np.concatenate(sums) if size > 0 else x
    out.check()


@pytest.mark.parametrize("launched", [threads, groups_that_cover])
@pytest.mark.parametrize("size", [0, 32, 4096])
def test_functions_that_are_launched_in_groups_share_memory(
    launch: ModuleType, size: int, launched: Callable[..., kf.Function]
) -> None:
    x = numbers((size,), FLOAT, 1)
    out = buffer((size,), FLOAT, "spread")
    out.tensor.copy_from_numpy(x)
    launched(launch.turn, size)(out.tensor)
    out.array[...] = x.reshape(-1, 32)[:, ::-1].reshape(size)
    out.check()


@pytest.mark.parametrize("shape", [(1, 1, 1), (8, 8, 8), (9, 17, 33), (40, 3, 5)])
def test_tiles(launch: ModuleType, shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    a, b = numbers((rows, inner), FLOAT, 1), numbers((inner, columns), FLOAT, 2)
    out = buffer((rows, columns), FLOAT, "spread")
    launch.product.threads(columns, rows)(a, b, out.tensor)
    out.array[...] = a.astype(np.float64) @ b.astype(np.float64)
    out.check()


@pytest.mark.parametrize("name", ["places", "struct_places"])
def test_every_thread_knows_its_place(launch: ModuleType, name: str) -> None:
    told = kf.Tensor.zeros((6, 4, 8, 10), np.int32)
    getattr(launch, name).groups(2, 2, 2)(told)
    z, y, x = np.mgrid[:6, :4, :8]
    expected = [x, y, z, x // 4, y // 2, z // 3, x % 4, y % 2, z % 3, z % 3 * 8 + y % 2 * 4 + x % 4]
    np.testing.assert_array_equal(told.to_numpy(), np.stack(expected, -1))


@pytest.mark.parametrize("size", SIZES)
def test_cuda_names(launch: ModuleType, size: int) -> None:
    out = buffer((size,), np.dtype(np.int32), "contiguous")
    call = launch.cuda_places(out.tensor)
    out.check()
    call.launchRaw(blockSize=(16, 1, 1), gridSize=((size + 15) // 16, 1, 1))
    out.array[...] = np.arange(size) + 16000
    out.check()


def test_variants_have_groups_of_their_own(launch: ModuleType) -> None:
    out = buffer((20,), np.dtype(np.int32), "contiguous")
    wide = launch.cuda_places.options(variant="wide")
    wide.threads(20)(out.tensor)
    out.array[...] = np.arange(20) + 8000
    out.check()
    with pytest.raises(kf.ArgumentError, match=r"it was generated for \(8, 4, 1\)"):
        wide(out.tensor).launchRaw(blockSize=(16, 1, 1), gridSize=(2, 1, 1))
    # The other way round, a count is kept by the variant.
    launch.cuda_places.threads(20).options(threads=[8, 4])(out.tensor)
    out.check()


def test_subgroups(launch: ModuleType) -> None:
    sums = kf.Tensor.zeros((64,), np.int32)
    launch.lane_sums.groups(2)(sums)
    lanes = sums.to_numpy()
    # The device's own number, which fills each group.
    assert (lanes == lanes[0]).all()
    assert lanes[0] in (4, 8, 16, 32)


@pytest.mark.parametrize("size", SIZES)
def test_functions_run_for_no_more_threads_than_asked(launch: ModuleType, size: int) -> None:
    out = buffer((size + 5,), FLOAT, "offset")
    launch.fill.threads(size)(out.tensor, 2.5)
    out.array[:size] = 2.5 + np.arange(size)
    out.check()


@pytest.mark.parametrize("shape", [(1, 1), (7, 9), (16, 16), (33, 31), (0, 3), (3, 0)])
def test_planes(launch: ModuleType, shape: tuple[int, int]) -> None:
    out = buffer((shape[0] + 1, shape[1] + 2), FLOAT, "contiguous")
    launch.fill_plane.threads(shape[1], shape[0])((1, 10), out.tensor)
    y, x = np.mgrid[: shape[0], : shape[1]]
    out.array[: shape[0], : shape[1]] = x + 10 * y
    out.check()


def test_spaces_and_types(launch: ModuleType) -> None:
    space = buffer((4, 5, 7), np.dtype(np.int32), "contiguous")
    launch.fill_space.threads(7, 5, 3)(space.tensor)
    z, y, x = np.mgrid[:3, :5, :7]
    space.array[:3] = x + 10 * y + 100 * z
    space.check()
    halves = buffer((33,), np.dtype(np.float16), "contiguous")
    launch.fill_each.threads(31)(halves.tensor)
    halves.array[:31] = np.arange(31) / 4
    halves.check()


def gradient(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["squares", "square_kernel"])
def test_gradients(launch: ModuleType, name: str, size: int) -> None:
    """A value's gradient is the sum over all threads; launches add to what gradients hold."""
    values, flow = numbers((size,), FLOAT, 1), numbers((size,), FLOAT, 2)
    x = kf.Tensor.from_numpy(values).with_grads()
    y = kf.Tensor.zeros((size,), FLOAT).with_grads(grad_in=kf.Tensor.from_numpy(flow))
    weight = kf.differentiable(np.float32(3))
    arguments: list[Any] = [weight, x, y]
    if name == "squares":
        arguments.insert(0, 0.5)
    function = getattr(launch, name).threads(size)
    function(*arguments)
    exact = values.astype(np.float64)
    np.testing.assert_allclose(
        y.to_numpy(), 3 * exact**2 + (0.5 if name == "squares" else 0), rtol=1e-6, atol=1e-6
    )
    for times in (1, 2):
        function.backward(*arguments)
        np.testing.assert_allclose(gradient(x), times * 6 * exact * flow, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(weight.grad, times * (exact**2 * flow).sum(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("size", SIZES)
def test_deterministic_gradients(launch: ModuleType, size: int) -> None:
    """The same bits each time, also of a gradient that sums up all of the tensor's."""
    random = np.random.default_rng(size)
    x = random.uniform(-2, 2, size).astype(FLOAT)
    exact = x.astype(np.float64)
    kernel = launch.square_kernel.threads(size).options(deterministic=True)
    for extent in {1, size}:
        found = set()
        for _ in range(5):
            weight = kf.differentiable(3.0)
            given = kf.Tensor.from_numpy(x).with_grads(grad_out=np.ones(extent, FLOAT))
            kernel.backward(weight, given, kf.Tensor.zeros((size,)))
            found.add(gradient(given).tobytes() + FLOAT.type(weight.grad).tobytes())
            wanted = 6 * exact if extent == size else np.atleast_1d((6 * exact).sum())
            np.testing.assert_allclose(gradient(given), 1 + wanted, rtol=1e-5, atol=1e-4)
            np.testing.assert_allclose(weight.grad, (exact**2).sum(), rtol=1e-5)
        assert len(found) == 1


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (7, 9), (33, 31)])
def test_half_gradients(launch: ModuleType, shape: tuple[int, int], deterministic: bool) -> None:
    random = np.random.default_rng(3)
    weights, x = (random.uniform(-1, 1, shape).astype(np.float16) for _ in range(2))
    wide = [value.astype(np.float64) for value in (weights, x)]
    function = launch.half_squares.threads(shape[1], shape[0]).options(deterministic=deterministic)
    y = kf.Tensor.zeros(shape, np.float16)
    for kept in [shape, (1, shape[1]), (shape[0], 1), (1, 1)]:
        given = kf.Tensor.from_numpy(weights).with_grads()
        given_x = kf.Tensor.from_numpy(x).with_grads(grad_out=np.zeros(kept, np.float16))
        function.backward(given, given_x, y)
        wanted = np.zeros(shape)
        wanted[:, 0] = (wide[1] ** 2).sum(axis=1)
        np.testing.assert_allclose(gradient(given), wanted, rtol=2e-3, atol=2e-3)
        axes = tuple(d for d in range(2) if kept[d] == 1)
        each = 2 * wide[0][:, :1] * wide[1]
        limit = 2e-3 * (np.abs(each).sum(axis=axes, keepdims=True) + 1)
        assert np.all(np.abs(gradient(given_x) - each.sum(axis=axes, keepdims=True)) <= limit)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["squares", "square_kernel"])
def test_tangents(launch: ModuleType, name: str, size: int) -> None:
    """Each thread reads the tangents of what it reads, and writes those of what it writes."""
    random = np.random.default_rng(size)
    x, dx = (random.uniform(-2, 2, size).astype(FLOAT) for _ in range(2))
    y, dy = buffer((size,), FLOAT, "offset"), buffer((size,), FLOAT, "offset")
    function = getattr(launch, name).threads(size)
    shift = [0.5] if name == "squares" else []
    exact = x.astype(np.float64)
    for d_x in (np.zeros_like(x), dx):
        tangents: dict[str, Any] = {"weight": 2.0, "y": dy.tensor}
        if d_x is dx:
            tangents["x"] = kf.Tensor.from_numpy(dx)
        function.jvp(*shift, 3.0, kf.Tensor.from_numpy(x), y.tensor, tangents=tangents)
        y.array[...] = 3 * exact**2 + (0.5 if name == "squares" else 0)
        dy.array[...] = 2 * exact**2 + 6 * exact * d_x
        y.check(1e-5)
        np.testing.assert_allclose(dy.tensor.to_numpy(), dy.array, rtol=1e-5, atol=1e-5)


def test_recorded(launch: ModuleType) -> None:
    out = buffer((40,), FLOAT, "contiguous")
    filled = launch.fill.threads(33)
    encoder = kf.default_device().encoder()
    filled.append_to(encoder, out.tensor, 1.0)
    out.check()
    encoder.submit()
    out.array[:33] = 1 + np.arange(33)
    out.check()
    # The copy is a value: what it was made of has no count.
    with pytest.raises(kf.ArgumentError, match="nothing says how many threads run"):
        launch.fill.append_to(kf.default_device().encoder(), out.tensor, 1.0)


REFUSALS: list[tuple[Callable[[ModuleType, kf.Tensor], Any], str]] = [
    (lambda m, x: m.fill.threads(1, 2, 3, 4), r"as in threads\(x, y, z\), not 4"),
    (lambda m, x: m.fill.threads(), r"as in threads\(x, y, z\), not 0"),
    (lambda m, x: m.fill.threads(-1), r"from 0 to 2\^32 - 1, found -1"),
    (lambda m, x: m.fill.groups(2**32), r"from 0 to 2\^32 - 1, found 4294967296"),
    (lambda m, x: m.fill.threads(1.5), "an integer is needed, not 1.5"),
    (lambda m, x: m.fill.groups(1, 2**31)(x, 1), "groups of threads along y are more than the device runs"),
    (lambda m, x: m.fill.threads(3)(x, 1, shape=(3,)), "takes no shape"),
    (
        lambda m, x: m.cuda_places(kf.Tensor.zeros((4,), np.int32)).launchRaw(blockSize=8, gridSize=2),
        r"groups of \(8, 1, 1\) threads were asked for, and it was generated for \(16, 1, 1\)",
    ),
    (lambda m, x: m.fill.threads(3)(kf.Tensor.zeros((3, 3), FLOAT), 1), "argument 'x'"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals_leave_everything_as_it_was(launch: ModuleType, number: int) -> None:
    call, message = REFUSALS[number]
    out = buffer((8,), FLOAT, "contiguous")
    with pytest.raises(kf.ArgumentError, match=message):
        call(launch, out.tensor)
    out.check()


def test_functions_of_elements_have_no_threads(generated: Loader) -> None:
    with pytest.raises(kf.ArgumentError, match="makes a call for each element"):
        generated("constants").power.threads(3)


def test_a_call_that_nobody_launches_warns(launch: ModuleType) -> None:
    out = buffer((8,), FLOAT, "contiguous")
    with pytest.warns(RuntimeWarning, match=r"fill: a call was dropped without launchRaw\(\)"):
        launch.fill(out.tensor, 1)
        gc.collect()
    out.check()
