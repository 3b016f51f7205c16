"""Generators against NumPy, bit for bit: indices, grids, ranges and random numbers, forward and backward."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, Buffer, buffer, numbers
from loader import Loader

LAYOUTS = ["contiguous", "spread", "offset"]
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def generators(generated: Loader) -> ModuleType:
    return generated("generators")


# ---- The formulas of docs/spec.md ----


def wang(x: Any) -> Any:
    with np.errstate(over="ignore"):
        x = np.asarray(x, np.uint32)
        x = (x ^ np.uint32(61)) ^ (x >> np.uint32(16))
        x = x * np.uint32(9)
        x = x ^ (x >> np.uint32(4))
        x = x * np.uint32(0x27D4EB2D)
        return x ^ (x >> np.uint32(15))


def hashes(index: Any, components: int = 1, seed: int = 0, warmup: int = 0, hash_seed: bool = False) -> Array:
    """The random numbers of the calls with these flat indices; the last dimension is the components."""
    index = np.asarray(index, np.uint64)
    low, high = index.astype(np.uint32), (index >> np.uint64(32)).astype(np.uint32)
    with np.errstate(over="ignore"):
        state = wang(low ^ (high * np.uint32(0x9E3779B9)) ^ (wang(seed) if hash_seed else np.uint32(seed)))
    for _ in range(warmup):
        state = wang(state)
    taken = []
    for _ in range(components):
        taken.append(state)
        state = wang(state)
    return np.stack(taken, -1)


def floats(index: Any, components: int = 1, low: float = 0, high: float = 1, **options: Any) -> Array:
    taken = hashes(index, components, **options)
    fraction = (np.uint32(0x3F800000) | (taken >> np.uint32(9))).view(np.float32) - np.float32(1)
    least, bound = np.float32(low), np.float32(high)
    result: Array = np.minimum(fraction * (bound - least) + least, np.nextafter(bound, least))
    return result


def flat(shape: tuple[int, ...]) -> Array:
    return np.arange(int(np.prod(shape))).reshape(shape)


def indices(shape: tuple[int, ...]) -> Array:
    """In NumPy's order; the last dimension is the components."""
    return np.moveaxis(np.indices(shape), 0, -1)


def check(function: Any, arguments: tuple[Any, ...], expected: Array, layout: str, trailing: int = 0) -> None:
    """Into a poisoned buffer, whose view has the call's shape and `trailing` dimensions more."""
    out = buffer(expected.shape, expected.dtype, layout)
    assert function(*arguments, out=out.tensor) is out.tensor
    out.array[...] = expected
    out.check()


SHAPES_2 = [(0, 3), (1, 1), (31, 1), (1, 33), (33, 31), (3, 1367)]
SHAPES_3 = [(2, 0, 3), (1, 1, 1), (31, 1, 3), (2, 33, 5), (3, 1, 1367)]


# ---- call_id and thread_id ----


@every_layout
@every_size
def test_call_ids(generators: ModuleType, layout: str, size: int) -> None:
    expected = np.arange(size)
    check(generators.id_int, (), expected.astype(np.int32), layout)
    check(generators.id_int64, (), expected.astype(np.int64), layout)
    check(generators.id_int_1, (), expected.astype(np.int32)[:, None], layout)
    check(generators.thread_1, (), expected.astype(np.uint32), layout)
    check(generators.thread_int64, (), expected.astype(np.int64), layout)
    given = generators.id_int(shape=size)
    np.testing.assert_array_equal(given.to_numpy(), expected.astype(np.int32), strict=True)


@every_layout
@pytest.mark.parametrize("shape", SHAPES_2)
def test_call_ids_of_two_dimensions(generators: ModuleType, layout: str, shape: tuple[int, ...]) -> None:
    check(generators.id_int_2, (), indices(shape).astype(np.int32), layout)
    check(generators.id_int2, (), indices(shape)[..., ::-1].astype(np.int32), layout)
    check(generators.thread_2, (), flat(shape).astype(np.uint32), layout)
    zero = np.zeros(shape)
    check(generators.thread_int3, (), np.stack([flat(shape), zero, zero], -1).astype(np.int32), layout)
    check(generators.thread_uint_3, (), np.stack([zero, zero, flat(shape)], -1).astype(np.uint32), layout)
    given = generators.id_int2(shape=shape)
    np.testing.assert_array_equal(given.to_numpy(), indices(shape)[..., ::-1])


@every_layout
@pytest.mark.parametrize("shape", SHAPES_3)
def test_call_ids_of_three_dimensions(generators: ModuleType, layout: str, shape: tuple[int, ...]) -> None:
    check(generators.id_uint_3, (), indices(shape).astype(np.uint32), layout)
    check(generators.id_int3, (), indices(shape)[..., ::-1].astype(np.int32), layout)
    check(generators.id_long3, (), indices(shape)[..., ::-1].astype(np.int64), layout)
    check(generators.thread_3, (), flat(shape).astype(np.uint32), layout)


@every_layout
@every_size
def test_call_ids_beside_tensors(generators: ModuleType, layout: str, size: int) -> None:
    """The tensor gives the shape; groups of 32 and 256 threads make the same."""
    x = buffer((3, size), np.dtype(np.float32), layout, numbers((3, size), np.dtype(np.float32), 1))
    row, column = np.indices((3, size)).astype(np.float32)
    expected = 100 * row + column + x.array
    for function in (generators.added_id, generators.added_small):
        check(function, (x.tensor,), expected, layout)
        np.testing.assert_array_equal(function(x.array).to_numpy(), expected)
    x.check()


def test_call_ids_follow_broadcasting(generators: ModuleType) -> None:
    row, column = np.indices((4, 33)).astype(np.float32)
    x = np.ones(33, np.float32)
    np.testing.assert_array_equal(generators.added_id(x, shape=(4, 33)).to_numpy(), 100 * row + column + 1)


@every_layout
@every_size
def test_out_parameters(generators: ModuleType, layout: str, size: int) -> None:
    into = buffer((size,), np.dtype(np.int64), layout)
    assert generators.written(into.tensor) is into.tensor
    into.array[...] = np.arange(size)
    into.check()
    np.testing.assert_array_equal(generators.written(shape=size).to_numpy(), into.array)


# ---- grid and range ----


@every_layout
@every_size
def test_grids_of_one_dimension(generators: ModuleType, layout: str, size: int) -> None:
    expected = -5 + 3 * np.arange(size)
    grid = kf.grid(size, offset=-5, stride=3)
    check(generators.steps, (grid,), expected.astype(np.int32), layout)
    check(generators.grid_int_1, (grid,), expected.astype(np.int32)[:, None], layout)
    np.testing.assert_array_equal(generators.steps(grid).to_numpy(), expected)
    np.testing.assert_array_equal(generators.steps(kf.grid((size,))).to_numpy(), np.arange(size))


@every_layout
@pytest.mark.parametrize("shape", SHAPES_2)
def test_grids_of_two_dimensions(generators: ModuleType, layout: str, shape: tuple[int, ...]) -> None:
    for offset, stride in [((0, 0), (1, 1)), ((10, -20), (2, -3)), ((2**40, -(2**50)), (2**33, 2**34 + 1))]:
        grid = kf.grid(shape, offset=offset, stride=stride)
        expected = np.asarray(offset) + indices(shape) * np.asarray(stride)
        check(generators.grid_long2, (grid,), expected[..., ::-1].astype(np.int64), layout)
        if offset[0] < 2**31:
            check(generators.grid_int2, (grid,), expected[..., ::-1].astype(np.int32), layout)
            check(generators.grid_int_2, (grid,), expected.astype(np.int32), layout)


@every_layout
@pytest.mark.parametrize("shape", SHAPES_3)
def test_grids_of_three_dimensions(generators: ModuleType, layout: str, shape: tuple[int, ...]) -> None:
    offset, stride = (7, 100, 1000), (5, 3, 2)
    expected = np.asarray(offset) + indices(shape) * np.asarray(stride)
    grid = kf.grid(shape, offset, stride)
    check(generators.grid_uint_3, (grid,), expected.astype(np.uint32), layout)
    check(generators.grid_long3, (grid,), expected[..., ::-1].astype(np.int64), layout)


@every_layout
def test_mapped_grids(generators: ModuleType, layout: str) -> None:
    expected = indices((33, 5)) * [10, 100]  # dimension 0 of the grid is dimension 1 of the call
    found = expected.transpose(1, 0, 2)[..., ::-1].astype(np.int32)
    check(generators.grid_mapped, (kf.grid((33, 5), stride=(10, 100)),), found, layout)
    x = np.arange(4, dtype=np.float32)
    row, _, column = np.indices((3, 4, 5)).astype(np.float32)
    check(generators.added_mapped, (kf.grid((3, 5)), x), 100 * row + column + x[:, None], layout)


@every_layout
def test_grids_broadcast(generators: ModuleType, layout: str) -> None:
    """An extent of 1 stays at its offset."""
    row, column = np.indices((31, 33)).astype(np.float32)
    x = buffer((31, 33), np.dtype(np.float32), layout, numbers((31, 33), np.dtype(np.float32), 1))
    check(generators.added, (kf.grid((31, 1), (0, 7), (1, 5)), x.tensor), 100 * row + 7 + x.array, layout)
    check(generators.added, (kf.grid((1, 33), (7, 0)), x.tensor), 700 + column + x.array, layout)
    check(generators.added, (kf.grid((31, 33)), 0.5), 100 * row + column + np.float32(0.5), layout)
    check(generators.added_strict, (kf.grid((31, 33)), x.tensor), 100 * row + column + x.array, layout)
    with pytest.raises(kf.ArgumentError, match=r"'at': broadcasting is forbidden") as caught:
        generators.added_strict(kf.grid((31, 1)), x.tensor)
    assert caught.value.code == "shape-mismatch"


RANGES = [
    (0, 0, 1),
    (0, 1, 1),
    (3, 34, 1),
    (100, -100, -7),
    (-5, 60000, 13),
    (5, 5, -1),
    (0, 4097, 1),
    (7, 0, 1),
]


@every_layout
@pytest.mark.parametrize("given", RANGES)
def test_ranges(generators: ModuleType, layout: str, given: tuple[int, int, int]) -> None:
    expected = np.arange(*given)
    check(generators.steps, (kf.range(*given),), expected.astype(np.int32), layout)
    check(generators.long_range, (kf.range(*given),), expected.astype(np.int64), layout)
    np.testing.assert_array_equal(generators.steps(kf.range(*given)).to_numpy(), expected)


def test_long_ranges(generators: ModuleType) -> None:
    top, low = 2**63 - 1, -(2**63)
    for given in [
        (low, top, 2**62),
        (top, low, -(2**61)),
        (low, low + 3, 1),
        (top - 3, top, 1),
        (0, top, 2**60),
    ]:
        found = generators.long_range(kf.range(*given)).to_numpy()
        np.testing.assert_array_equal(found, np.array(list(range(*given)), np.int64))
    found = generators.unsigned_long_range(kf.range(0, top, 2**60)).to_numpy()
    np.testing.assert_array_equal(found, np.array(list(range(0, top, 2**60)), np.uint64))
    found = generators.unsigned_range(kf.range(2**31, 2**32, 2**29)).to_numpy()
    np.testing.assert_array_equal(found, np.arange(2**31, 2**32, 2**29, dtype=np.uint32))
    np.testing.assert_array_equal(generators.steps(kf.range(5)).to_numpy(), np.arange(5))


# ---- Random numbers ----

OPTIONS: list[dict[str, Any]] = [
    {},
    {"seed": 1},
    {"seed": 2**32 - 1, "warmup": 3},
    {"seed": 7, "hash_seed": True, "warmup": 1},
    {"seed": np.uint8(9), "warmup": np.int64(2), "hash_seed": np.bool_(True)},
]
every_option = pytest.mark.parametrize("options", OPTIONS)


@every_option
@every_layout
@every_size
def test_hashes(generators: ModuleType, options: dict[str, Any], layout: str, size: int) -> None:
    generator = kf.wang_hash(**options)
    options = {name: int(value) for name, value in options.items()}
    expected = hashes(flat((size,)), 5, **options)
    check(generators.hash_1, (generator,), expected[:, 0], layout)
    check(generators.hash_int, (generator,), expected[:, 0].view(np.int32), layout)
    check(generators.hash_uint2, (generator,), expected[:, :2], layout)
    check(generators.hash_uint4, (generator,), expected[:, :4], layout)
    check(generators.hash_uint_5, (generator,), expected, layout)
    six = hashes(flat((size,)), 6, **options)
    check(generators.hash_uint2x3, (generator,), six.reshape(size, 2, 3), layout)
    check(generators.hash_uint2_3, (generator,), six.reshape(size, 3, 2), layout)


@every_layout
def test_hashes_count_calls(generators: ModuleType, layout: str) -> None:
    """Whatever the call's shape is, and a call of rank 0 is the first."""
    generator = kf.wang_hash(3)
    assert generators.hash_0(generator) == hashes(0, seed=3)[0]
    check(generators.hash_2, (generator,), hashes(flat((31, 33)), seed=3)[..., 0], layout)
    check(generators.hash_3, (generator,), hashes(flat((3, 1, 1367)), seed=3)[..., 0], layout)


def test_known_hashes(generators: ModuleType) -> None:
    """What SlangPy's documentation prints for a 4 x 4 array of int2."""
    found = generators.hash_uint2(kf.wang_hash(), shape=2).to_numpy().astype(np.int32)
    np.testing.assert_array_equal(found, [[-1062647446, -1219659480], [663891101, 1738326990]])


def test_hashes_past_32_bits(generators: ModuleType) -> None:
    index = np.array(
        [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40 + 12345, 2**62 + 1], np.int64
    )
    for seed, warmup in [(0, 0), (5, 2)]:
        found = generators.hash_of(index, seed, warmup).to_numpy()
        np.testing.assert_array_equal(found, hashes(index, seed=seed, warmup=warmup)[:, 0])
        assert len(set(found.tolist())) == len(index)
    seeds = hashes(flat((33,)), seed=4)[:, 0]
    expected = [hashes(i, seed=int(s))[0] for i, s in enumerate(seeds)]
    np.testing.assert_array_equal(
        generators.hash_twice(kf.range(33), kf.wang_hash(4), 0).to_numpy(), expected
    )


BOUNDS = [(0, 1), (-1, 1), (2, 3), (0, 10), (-0.1, 0.3), (1, 1.0000001192092896), (-3e38, 3e37), (0, 1e-45)]


@pytest.mark.parametrize("bounds", BOUNDS)
@every_layout
@every_size
def test_floats(generators: ModuleType, bounds: tuple[float, float], layout: str, size: int) -> None:
    generator = kf.rand_float(*bounds, seed=11, warmup=1)
    expected = floats(flat((size,)), 5, *bounds, seed=11, warmup=1)
    assert expected.dtype == np.float32
    assert bool(np.all(expected >= np.float32(bounds[0]))) and bool(np.all(expected < np.float32(bounds[1])))
    check(generators.random_1, (generator,), expected[:, 0], layout)
    check(generators.random_float3, (generator,), expected[:, :3], layout)
    check(generators.random_float_5, (generator,), expected, layout)
    check(generators.random_float2x2, (generator,), expected[:, :4].reshape(size, 2, 2), layout)


@every_option
def test_seeds_of_floats(generators: ModuleType, options: dict[str, Any]) -> None:
    plain = {name: int(value) for name, value in options.items()}
    found = generators.random_2(kf.rand_float(**options), shape=(31, 33)).to_numpy()
    np.testing.assert_array_equal(found, floats(flat((31, 33)), **plain)[..., 0])
    assert generators.random_0(kf.rand_float(**options)) == floats(0, **plain)[0]


def test_numbers_look_random(generators: ModuleType) -> None:
    found = generators.random_float3(kf.rand_float(), shape=1 << 16).to_numpy()
    np.testing.assert_allclose(found.mean(0), 0.5, atol=0.01)
    np.testing.assert_allclose(found.var(0), 1 / 12, atol=0.01)
    np.testing.assert_allclose(np.corrcoef(found.T), np.eye(3), atol=0.02)


# ---- Backward ----


def tracked(given: Buffer, gradient: Buffer) -> kf.Tensor:
    return given.tensor.with_grads(grad_out=gradient.tensor)


@every_layout
@every_size
def test_gradients(generators: ModuleType, layout: str, size: int) -> None:
    dtype = np.dtype(np.float32)
    x = buffer((3, size), dtype, layout, numbers((3, size), dtype, 1))
    grad = buffer((3, size), dtype, layout, numbers((3, size), dtype, 2))
    flow = buffer((3, size), dtype, layout, numbers((3, size), dtype, 3))
    # Bounds of which every product is exact.
    generator, w = kf.rand_float(1, np.nextafter(np.float32(1), np.float32(2))), kf.differentiable(2.0)
    row, column = np.indices((3, size)).astype(np.float32)
    factor = row + 2 * column + 1
    result = generators.weighted(generator, x.tensor, 2.0)
    np.testing.assert_array_equal(result.to_numpy(), factor * x.array * 2)
    generators.weighted.backward(generator, tracked(x, grad), w, result.with_grads(grad_in=flow.tensor))
    grad.array += factor * 2 * flow.array
    for checked in (grad, x, flow):
        checked.check()
    assert w.grad == pytest.approx((factor.astype(np.float64) * x.array * flow.array).sum(), rel=1e-5)


@every_layout
@every_size
def test_gradients_beside_random_numbers(generators: ModuleType, layout: str, size: int) -> None:
    """The backward pass makes the forward pass's numbers again, in groups of any size."""
    dtype = np.dtype(np.float32)
    generator = kf.rand_float(-1, 1, seed=5)
    for function in (generators.noisy, generators.noisy_small):
        x = buffer((size,), dtype, layout, numbers((size,), dtype, 1))
        grad = buffer((size,), dtype, layout, np.zeros(size, dtype))
        noise = floats(flat((size,)), 1, -1, 1, seed=5)[:, 0]
        result = function(generator, x.tensor)
        np.testing.assert_array_equal(result.to_numpy(), noise * x.array)
        function.backward(generator, tracked(x, grad), result)
        grad.array[...] = noise
        grad.check()
    x = buffer((size, 3), dtype, layout, numbers((size, 3), dtype, 1))
    grad = buffer((size, 3), dtype, layout, np.zeros((size, 3), dtype))
    noise = floats(flat((size,)), 3, -1, 1, seed=5)
    result = generators.shaken(generator, x.tensor)
    np.testing.assert_array_equal(result.to_numpy(), noise * x.array)
    generators.shaken.backward(generator, tracked(x, grad), result)
    grad.array[...] = noise
    grad.check()


def test_recorded_calls(generators: ModuleType) -> None:
    encoder = kf.default_device().encoder()
    out = kf.Tensor.zeros((33,), np.uint32)
    generators.hash_1.append_to(encoder, kf.wang_hash(1), out=out)
    ids = generators.id_int2.append_to(encoder, shape=(2, 3))
    encoder.submit()
    np.testing.assert_array_equal(out.to_numpy(), hashes(flat((33,)), seed=1)[:, 0])
    np.testing.assert_array_equal(ids.to_numpy(), indices((2, 3))[..., ::-1])


# ---- The host's objects ----


def test_objects() -> None:
    grid = kf.grid(np.array([2, 3]), offset=[1, 2], stride=(np.int32(4), -5))
    assert (grid.shape, grid.offset, grid.stride) == ((2, 3), (1, 2), (4, -5))
    assert repr(grid) == "grid((2, 3), offset=(1, 2), stride=(4, -5))"
    spread = kf.range(1, 10, 2)
    assert (spread.start, spread.stop, spread.step, repr(spread)) == (1, 10, 2, "range(1, 10, 2)")
    hashed = kf.wang_hash(1, warmup=2, hash_seed=True)
    assert (hashed.seed, hashed.warmup, hashed.hash_seed) == (1, 2, True)
    random = kf.rand_float(-1, 2)
    assert (random.min, random.max, random.seed, random.warmup, random.hash_seed) == (-1, 2, 0, 0, False)
    with pytest.raises(AttributeError):
        random.seed = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "code", "text"),
    [
        (lambda: kf.grid((1.5, 2)), "type-mismatch", "grid: argument 'shape': 1.5 is a float"),  # type: ignore[arg-type]
        (lambda: kf.grid(True), "type-mismatch", "grid: argument 'shape': True is a bool"),
        (lambda: kf.grid("12"), "type-mismatch", "an int or a sequence of ints is needed, not '12'"),  # type: ignore[arg-type]
        (lambda: kf.grid(()), "rank-mismatch", "1 to 8 dimensions, not 0"),
        (lambda: kf.grid([1] * 9), "rank-mismatch", "1 to 8 dimensions, not 9"),
        (lambda: kf.grid((2, -1)), "value-range", "grid: argument 'shape': -1 is not an extent"),
        (lambda: kf.grid(2**63), "value-range", "9223372036854775808 doesn't fit an int64"),
        (lambda: kf.grid((2, 2), offset=3), "shape-mismatch",
         "'offset': the grid has 2 dimensions, this has 1"),
        (lambda: kf.grid(2, stride=(1, 1)), "shape-mismatch",
         "'stride': the grid has 1 dimensions, this has 2"),
        (lambda: kf.range(0, 3, 0), "value-range", "range: argument 'step': it can't be 0"),
        (lambda: kf.range(0.5, 3), "type-mismatch", "range: argument 'start': 0.5 is a float"),  # type: ignore[arg-type]
        (lambda: kf.wang_hash(-1), "value-range", "'seed': -1 doesn't fit a uint32"),
        (lambda: kf.wang_hash(2**32), "value-range", "'seed': 4294967296 doesn't fit a uint32"),
        (lambda: kf.wang_hash(0, 1.0), "type-mismatch", "'warmup': 1.0 is a float"),  # type: ignore[arg-type]
        (lambda: kf.wang_hash(hash_seed=1), "type-mismatch", "'hash_seed': 1 is not a bool"),  # type: ignore[arg-type]
        (lambda: kf.rand_float("0"), "type-mismatch", "rand_float: argument 'min': '0'"),  # type: ignore[arg-type]
        (lambda: kf.rand_float(0, 1e39), "value-range", "'max': 1e+39 doesn't fit a float32"),
    ],
)  # fmt: skip
def test_wrong_objects(make: Any, code: str, text: str) -> None:
    with pytest.raises(kf.ArgumentError) as caught:
        make()
    assert caught.value.code == code
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        ("id_int", (), "missing-argument", "no argument gives dimension 0 of the call's shape"),
        ("id_int", (3,), "type-mismatch", "1 positional arguments where at most 0 are taken"),
        ("hash_1", (), "missing-argument", "hash_1: argument 'i': not given"),
        ("hash_1", (3,), "type-mismatch", "argument 'i': expected wang_hash, found a whole number"),
        ("hash_1", (kf.rand_float(),), "type-mismatch", "expected wang_hash, found a rand_float"),
        ("grid_int2", (kf.grid(3),), "type-mismatch", "argument 'i': expected grid[2], found a grid[1]"),
        ("grid_int2", ([[1, 2]],), "type-mismatch", "expected grid[2], found a list of shape (1, 2)"),
        ("steps", (kf.wang_hash(),), "no-overload", "no overload takes (a wang_hash)"),
        ("noisy", (kf.rand_float(), kf.range(3)), "type-mismatch",
         "'x': expected float tensor[1], found a range"),
        ("noisy", (kf.rand_float(2, 1), [1.0]), "value-range", "the second greater"),
        ("noisy", (kf.rand_float(0, float("inf")), [1.0]), "value-range", "both must be finite"),
        ("noisy", (kf.rand_float(float("nan"), 1), [1.0]), "value-range", "both must be finite"),
        ("noisy", (kf.rand_float(-3e38, 3e38), [1.0]), "value-range", "their distance a float"),
        ("noisy", (kf.rand_float(warmup=1025), [1.0]), "value-range", "warmup 1025 is above 1024"),
        ("steps", (kf.range(2**31 - 1, 2**31 + 1),), "value-range",
         "'i': its values, 2147483647 to 2147483648, don't fit the parameter's type, int"),
        ("unsigned_range", (kf.range(-1, 3),), "value-range", "its values, -1 to 2, don't fit"),
        ("long_range", (kf.grid(3),), "type-mismatch", "expected range, found a grid[1]"),
        ("grid_long2", (kf.grid((3, 3), stride=(2**62, 2**62)),), "value-range", "pass what 64 bits hold"),
    ],
)  # fmt: skip
def test_refused(generators: ModuleType, name: str, arguments: tuple[Any, ...], code: str, text: str) -> None:
    with pytest.raises(kf.ArgumentError) as caught:
        getattr(generators, name)(*arguments)
    assert caught.value.code == code
    assert text in str(caught.value)
    assert str(caught.value).startswith(name + ": ")


def test_refused_keywords(generators: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="no argument 'i'"):
        generators.id_int(i=3, shape=2)
    out = buffer((2, 3, 2), np.dtype(np.int32), "contiguous")
    with pytest.raises(kf.ArgumentError, match="never broadcast"):
        generators.grid_int2(kf.grid((2, 2)), out=out.tensor)
    out.check()
