"""Remainders of integers, whose sign is the first operand's, as in C and in NumPy's fmod()."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def integers(generated: Loader) -> Any:
    return generated("integers")


def pairs(dtype: str) -> tuple[Array, Array]:
    """Every pair of small numbers, and of limits and random numbers; no division by 0, no overflow."""
    limits = np.iinfo(dtype)
    random = np.random.default_rng(3).integers(limits.min, limits.max, 40, dtype=dtype, endpoint=True)
    small = np.arange(max(limits.min, -9), 10, dtype=dtype)
    numbers = np.concatenate([small, np.array([limits.min, limits.max, limits.max - 1], dtype), random])
    a, b = (np.ascontiguousarray(one.ravel()) for one in np.meshgrid(numbers, numbers))
    defined = (b != 0) & ~((a == limits.min) & (b.astype(np.int64) == -1))
    return a[defined], b[defined]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint32"])
def test_every_type(integers: Any, dtype: str) -> None:
    a, b = pairs(dtype)
    found = getattr(integers, f"left_{dtype}")(a, b).to_numpy()
    np.testing.assert_array_equal(found, np.fmod(a, b))


def test_vectors(integers: Any) -> None:
    a, b = (one[: len(one) // 3 * 3].reshape(-1, 3) for one in pairs("int32"))
    np.testing.assert_array_equal(integers.left_of_vectors(a, b).to_numpy(), np.fmod(a, b))


def test_constants(integers: Any) -> None:
    a, _ = pairs("int32")
    np.testing.assert_array_equal(integers.left_by_three(a).to_numpy(), np.fmod(a, 3))
    np.testing.assert_array_equal(integers.left_by_minus_three(a).to_numpy(), np.fmod(a, -3))
    assert integers.left_of_constants() == -100 + 10 - 1


@pytest.mark.parametrize("count", [1, 7, 4096])
def test_indices_that_wrap(integers: Any, count: int) -> None:
    i = np.arange(-3 * count, 3 * count + 1, dtype=np.int32)
    np.testing.assert_array_equal(integers.wrapped(i, count).to_numpy(), i % count)
