"""Modules with functions that have the names of Slang's own, which kernels must not call in their stead."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, numbers
from loader import Loader

every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def own_words(generated: Loader) -> ModuleType:
    return generated("own_words")


@every_size
def test_every_call_is_made(own_words: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype("float32"), 1)
    np.testing.assert_array_equal(own_words.squared(x).to_numpy(), x * x)
    np.testing.assert_array_equal(
        own_words.smallest(np.ones(size, np.uint32)).to_numpy(), np.full(size, 1234)
    )


@every_size
def test_derivatives(own_words: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype("float32"), 1)
    tensor = kf.Tensor.from_numpy(x).with_grads()
    own_words.squared.backward(tensor)
    assert tensor.grad is not None
    np.testing.assert_array_equal(tensor.grad.to_numpy(), 2 * x)
    flowing = numbers((size,), np.dtype("float32"), 2)
    value, tangent = own_words.squared.jvp(x, tangents={"x": flowing}, out=np.ndarray)
    np.testing.assert_array_equal(value, x * x)
    np.testing.assert_array_equal(tangent, 2 * x * flowing)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (31, 33), (33, 130), (3, 4097)])
def test_rows(own_words: ModuleType, shape: tuple[int, int]) -> None:
    x = numbers(shape, np.dtype("float32"), 3)
    by = np.array(1.5, np.float32)
    np.testing.assert_array_equal(own_words.scaled(x, by).to_numpy(), x * by)
