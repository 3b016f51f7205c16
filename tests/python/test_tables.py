"""Tables of constants, read at indices that are known at run time."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, numbers
from loader import Loader

every_size = pytest.mark.parametrize("size", SIZES)

#: As in specs/tables.slang.
WEIGHTS = np.arange(24.0)
SHIFTS = 3 * np.arange(24.0) - 7
DIRECTIONS = np.stack([np.arange(24.0) * 0.5, np.arange(24.0) * 0.25, -np.arange(24.0)], axis=1)


@pytest.fixture(scope="module")
def tables(generated: Loader) -> ModuleType:
    return generated("tables")


def indices(size: int, count: int, step: int = 7) -> Array:
    return (np.arange(size, dtype=np.int32) * step) % count


@every_size
def test_structs(tables: ModuleType, size: int) -> None:
    i, x = indices(size, 24), numbers((size,), np.dtype("float32"), 1)
    at = np.stack([np.ones(size), x, np.full(size, 2)], axis=1)
    expected = WEIGHTS[i] * x + SHIFTS[i] + (DIRECTIONS[i] * at).sum(axis=1)
    np.testing.assert_allclose(tables.weighed(i, x).to_numpy(), expected, rtol=1e-6, atol=1e-5)


@every_size
def test_gradients(tables: ModuleType, size: int) -> None:
    i, x = indices(size, 24), numbers((size,), np.dtype("float32"), 1)
    tensor = kf.Tensor.from_numpy(x).with_grads()
    tables.curve.backward(i, tensor)
    assert tensor.grad is not None
    expected = 2 * WEIGHTS[i] * x + DIRECTIONS[i, 1]
    np.testing.assert_allclose(tensor.grad.to_numpy(), expected, rtol=1e-6, atol=1e-5)


@every_size
def test_arrays_in_structs(tables: ModuleType, size: int) -> None:
    i, j = indices(size, 6), indices(size, 3, 2)
    weights = np.array([[k, k + 0.5, -1.25] for k in range(6)])
    np.testing.assert_array_equal(tables.grouped(i, j).to_numpy(), weights[i, j] + i * (i * i))


@every_size
def test_matrices(tables: ModuleType, size: int) -> None:
    i, j = indices(size, 4, 3), indices(size, 3, 2)
    matrices = np.array([[[k, 2, 3], [4, 5, -k]] for k in range(4)])
    np.testing.assert_array_equal(tables.of_matrices(i, j).to_numpy(), matrices[i, j & 1, j])


@every_size
def test_tables_of_functions(tables: ModuleType, size: int) -> None:
    i = indices(size, 20)
    steps = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4])
    changed = np.array([2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5, 2, 3, 5, 3])
    expected = steps[i] + 1000 * changed[(i + 1) % 20] + 1000000 * (changed[i] + 100)
    np.testing.assert_array_equal(tables.local(i).to_numpy(), expected)
