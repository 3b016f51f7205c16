"""Generic functions whose parameters follow from generators and whole tensors, and vectors of one."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array, Buffer, buffer, numbers
from loader import Loader

LAYOUTS = ["contiguous", "spread", "offset"]
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.fixture(scope="module")
def inferred(generated: Loader) -> ModuleType:
    return generated("inferred")


def places(shape: tuple[int, ...]) -> Array:
    """The index of each element, in NumPy's order."""
    return np.moveaxis(np.indices(shape), 0, -1)


def filled(shape: tuple[int, ...], dtype: Any, layout: str, seed: int = 1) -> Buffer:
    return buffer(shape, np.dtype(dtype), layout, numbers(shape, np.dtype(dtype), seed))


@pytest.mark.parametrize("shape", [(0,), (33,), (5, 7), (0, 3), (2, 3, 4, 5)])
def test_grid_makes_vectors(inferred: ModuleType, shape: tuple[int, ...]) -> None:
    out = buffer((*shape, len(shape)), np.dtype(np.int32), "contiguous")
    out.array[...] = places(shape)[..., ::-1]
    inferred.indices(kf.grid(shape), out=out.tensor)
    out.check()


def test_grid_makes_what_is_stated(inferred: ModuleType) -> None:
    found = inferred.unsigned_indices(kf.grid((2, 3, 4))).to_numpy()
    assert found.dtype == np.uint32
    np.testing.assert_array_equal(found, places((2, 3, 4))[..., ::-1])


@pytest.mark.parametrize("shape", [(31,), (3, 1, 5), (2, 1, 2, 3, 1, 2)])
def test_grid_makes_arrays(inferred: ModuleType, shape: tuple[int, ...]) -> None:
    found = inferred.listed(kf.grid(shape, offset=(-4,) * len(shape), stride=(3,) * len(shape))).to_numpy()
    np.testing.assert_array_equal(found, places(shape) * 3 - 4)


@pytest.mark.parametrize("size", [0, 1, 33, 4097])
def test_range_takes_the_others_type(inferred: ModuleType, size: int) -> None:
    steps = kf.range(5, 5 + 3 * size, 3)
    found = inferred.counted(steps, 7).to_numpy()
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.arange(5, 5 + 3 * size, 3) * 7)
    big = np.full(size, 2**40, np.int64)
    found = inferred.counted(steps, big).to_numpy()
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.arange(5, 5 + 3 * size, 3) * 2**40)


def test_random_numbers(inferred: ModuleType) -> None:
    floats = inferred.noise(kf.rand_float(-1, 3, seed=9), shape=(4097,)).to_numpy()
    assert floats.dtype == np.float32
    assert floats.min() >= -1
    assert floats.max() < 3
    assert abs(floats.mean() - 1) < 0.1
    hashes = inferred.noise(kf.wang_hash(seed=9), shape=(4097,)).to_numpy()
    assert hashes.dtype == np.uint32
    scaled = np.float32(hashes >> 9) / np.float32(2**23) * np.float32(4) - np.float32(1)
    np.testing.assert_array_equal(floats, scaled)
    threes = inferred.noise_of_three(kf.rand_float(-1, 3, seed=9), shape=(31,)).to_numpy()
    assert threes.shape == (31, 3)
    np.testing.assert_array_equal(threes[:, 0], floats[:31])


@pytest.mark.parametrize(
    ("shape", "dtype"), [((33,), "float32"), ((5, 7), "float16"), ((2, 3, 1, 4), "float32")]
)
@every_layout
def test_call_id_is_as_long_as_the_call(
    inferred: ModuleType, shape: tuple[int, ...], dtype: str, layout: str
) -> None:
    x = filled(shape, dtype, layout)
    found = inferred.placed(x.tensor).to_numpy()
    expected = np.where(x.array[..., None] > 0, places(shape)[..., ::-1], -1)
    np.testing.assert_array_equal(found, expected)
    x.check()


@every_layout
def test_whole_tensors(inferred: ModuleType, layout: str) -> None:
    x = filled((5, 7), np.float32, layout)
    assert inferred.first(x.tensor) == x.array[0, 0]
    y = filled((9,), np.int32, layout)
    assert inferred.first(y.tensor) == y.array[0]
    pairs = filled((2, 3, 4, 2), np.float32, "contiguous")
    np.testing.assert_array_equal(inferred.first(pairs.tensor), pairs.array[0, 0, 0])


def test_tensors_of_one_rank_and_more(inferred: ModuleType) -> None:
    x, y = np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32)
    assert inferred.extents(x, y, 2) == (5 + 900) * 2
    batch = np.zeros((31, 4, 5), np.float32)
    np.testing.assert_array_equal(inferred.extents(x, batch, 2).to_numpy(), np.full(31, 1810))


@every_layout
def test_gradient_of_a_generic_tensor(inferred: ModuleType, layout: str) -> None:
    x, grad = filled((33,), np.float32, layout), filled((33,), np.float32, layout, 2)
    inferred.squares.backward(x.tensor.with_grads(grad_out=grad.tensor))
    grad.array += 2 * x.array
    grad.check(1e-6)
    rows, grads = filled((5, 31), np.float64, layout), filled((5, 31), np.float64, layout, 2)
    result = inferred.squares(rows.tensor)
    np.testing.assert_allclose(result.to_numpy(), (rows.array**2).sum(-1))
    inferred.squares.backward(rows.tensor.with_grads(grad_out=grads.tensor), result)
    grads.array += 2 * rows.array
    grads.check(1e-12)
    x.check()
    rows.check()


# ---- Vectors of one ----


def test_a_vector_of_one_is_a_list_of_one(inferred: ModuleType) -> None:
    assert list(inferred.square_one([3])) == [9]
    assert list(inferred.square_one(np.array([0.5], np.float32))) == [0.25]
    assert list(inferred.invert([True])) == [False]
    with pytest.raises(kf.ArgumentError):
        inferred.square_one([1, 2])


@pytest.mark.parametrize("size", [0, 1, 31, 4097])
@every_layout
def test_vectors_of_one(inferred: ModuleType, size: int, layout: str) -> None:
    x, out = filled((size, 1), np.float32, layout), buffer((size, 1), np.dtype(np.float32), layout)
    inferred.square_one(x.tensor, out=out.tensor)
    out.array[...] = x.array**2
    out.check()
    grad = filled((size, 1), np.float32, layout, 2)
    inferred.square_one.backward(x.tensor.with_grads(grad_out=grad.tensor), out.tensor)
    grad.array += 2 * x.array
    grad.check()
    x.check()


@every_layout
def test_vectors_of_one_of_small_types(inferred: ModuleType, layout: str) -> None:
    x, out = filled((33, 1), np.float16, layout), buffer((33, 1), np.dtype(np.float16), layout)
    inferred.square_half(x.tensor, out=out.tensor)
    out.array[...] = x.array**2
    out.check()
    grad = filled((33, 1), np.float16, layout, 2)
    inferred.square_half.backward(x.tensor.with_grads(grad_out=grad.tensor), out.tensor)
    grad.array += 2 * x.array
    grad.check()
    bits = np.array([[True], [False]] * 31)
    np.testing.assert_array_equal(inferred.invert(bits).to_numpy(), ~bits)
