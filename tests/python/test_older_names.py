"""Shaders that have tensors by the names of earlier releases of SlangPy."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from arrays import array, tensor
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

rng = np.random.default_rng(36)
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def older(generated: Loader) -> ModuleType:
    return generated("older_names")


def floats(*shape: int) -> npt.NDArray[np.float32]:
    return rng.uniform(-2, 2, shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (33, 7)])
def test_buffers_are_read_and_written(older: ModuleType, shape: tuple[int, int]) -> None:
    """A vector's x is along the last dimension, an array's first number along the first."""
    values = floats(*shape)
    read = older.read_slice(kf.grid(shape), tensor(values))
    np.testing.assert_array_equal(array(read), 2 * values)
    whole = tensor(np.full((shape[0] + 1, shape[1] + 2), 77, np.float32))
    numbers = whole[1:, 1:-1]
    numbers.copy_from_numpy(values)
    older.add_one(kf.grid(shape), numbers)
    wanted = np.full((shape[0] + 1, shape[1] + 2), 77, np.float32)
    wanted[1:, 1:-1] = (values + 1) * 2 + shape[0]
    np.testing.assert_allclose(array(whole), wanted, rtol=1e-6)


def test_elements_by_get_and_set(older: ModuleType) -> None:
    given = rng.integers(-9, 9, (4, 6)).astype(np.int32)
    to, total = tensor(np.full((4, 6), 77, np.int32)), tensor(np.array([10], np.int32))
    read = older.pick(kf.grid((4, 6)), tensor(given), to, total)
    np.testing.assert_array_equal(array(to), 3 * given + 2)
    np.testing.assert_array_equal(array(read), 3 * given + 2)
    np.testing.assert_array_equal(array(total), [10 + given.sum() + given.size])


def test_a_layer_and_its_gradients(older: ModuleType) -> None:
    weights, x, flow, before = floats(5, 9), floats(9), floats(5), floats(5)
    w, given = tensor(weights).with_grads(), tensor(x).with_grads()
    y = tensor(before).with_grads(grad_in=flow)
    older.linear.backward(kf.grid((5,)), w, given, y)
    np.testing.assert_array_equal(array(y), before)
    sums = weights.astype(np.float64) @ x
    np.testing.assert_allclose(array(w.grad), np.outer(2 * sums * flow, x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(array(given.grad), (2 * sums * flow) @ weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(array(y.grad), flow)
    older.linear(kf.grid((5,)), w, given, y)
    np.testing.assert_allclose(array(y), sums**2 + before, rtol=1e-4, atol=1e-5)


def test_gradients_flow_in_and_out(older: ModuleType) -> None:
    values, flow = floats(3, 5), floats(3, 5)
    out = np.zeros((3, 5), np.float32)
    numbers = tensor(values).with_grads(grad_in=flow, grad_out=out)
    older.update.backward(kf.grid((3, 5)), numbers)
    np.testing.assert_allclose(array(numbers.grad_out), flow * (2 * values + 1), rtol=1e-5, atol=1e-6)
    older.update(kf.grid((3, 5)), numbers)
    np.testing.assert_allclose(array(numbers), values * values + values, rtol=1e-5, atol=1e-6)


def test_a_derivative_of_its_own(older: ModuleType) -> None:
    x, flow = floats(7), floats(7)
    given = tensor(x).with_grads()
    result = older.use_halved(kf.grid((7,)), given)
    np.testing.assert_array_equal(array(result), x / 2)
    older.use_halved.backward(kf.grid((7,)), given, result.with_grads(grad_in=flow))
    np.testing.assert_allclose(array(given.grad), 3 * flow, rtol=1e-6)


def test_contexts(older: ModuleType) -> None:
    down, across = np.indices((3, 5), np.int32)
    expected = np.stack([across, down, down, np.full((3, 5), 7)], axis=-1)
    np.testing.assert_array_equal(array(older.turned(kf.grid((3, 5)))), expected)
