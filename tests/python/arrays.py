"""Tensors inside poisoned buffers, each with the NumPy array that must stay equal to it."""

from dataclasses import dataclass
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
DTYPES = [np.dtype(name) for name in NAMES.split()]
LAYOUTS = ["contiguous", "strided", "offset"]
SIZES = [0, 1, 31, 33, 4097]


def tensor(values: npt.NDArray[Any]) -> kf.Tensor:
    """A tensor on the default device with these values."""
    return kf.Tensor.from_numpy(values)


def array(given: kf.Tensor | None) -> Array:
    """The values of a tensor that there must be, such as a gradient."""
    assert given is not None
    return given.to_numpy()


def shape_of(rank: int, size: int) -> tuple[int, ...]:
    """A shape with an extent of `size`."""
    return {1: (size,), 3: (2, size, 3)}[rank]


def view(whole: Any, shape: tuple[int, ...], layout: str) -> Any:
    """The view of `shape` in a buffer made by base_shape(); of tensors and arrays alike. "strided" is for the
    shapes of shape_of(), "spread" has gaps along every dimension of any shape."""
    count = int(np.prod(shape, dtype=np.int64))
    if layout == "contiguous":
        return whole[64 : 64 + count].reshape(*shape)
    if layout == "offset":
        return whole[7 : 7 + count].reshape(*shape)
    if layout == "spread":
        steps = [slice(2 * n, 0, -2) if d % 2 == 0 else slice(1, 1 + 2 * n, 2) for d, n in enumerate(shape)]
        return whole[tuple(steps)]
    if len(shape) == 1:
        return whole[3 : 3 + 2 * shape[0] : 2]
    return whole[4:0:-2, 2 : 2 + shape[1], ::3]


def base_shape(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    if layout == "spread":
        return tuple(2 * n + 2 for n in shape)
    if layout != "strided":
        return (int(np.prod(shape, dtype=np.int64)) + 128,)
    return (2 * shape[0] + 9,) if len(shape) == 1 else (6, shape[1] + 5, 8)


@dataclass
class Buffer:
    """A poison-filled buffer and a view of it, on the device and in NumPy."""

    tensor: kf.Tensor
    whole_tensor: kf.Tensor
    array: Array
    whole_array: Array

    def check(self, tolerance: float = 0.0) -> None:
        """Whole buffers, so that a write outside the view shows."""
        found = self.whole_tensor.to_numpy()
        if tolerance == 0.0:
            np.testing.assert_array_equal(found, self.whole_array)
        else:
            np.testing.assert_allclose(found, self.whole_array, rtol=tolerance)


def buffer(shape: tuple[int, ...], dtype: np.dtype[Any], layout: str, values: Array | None = None) -> Buffer:
    poison = True if dtype == np.bool_ else 77
    whole = np.full(base_shape(shape, layout), poison, dtype)
    array = view(whole, shape, layout)
    if values is not None:
        array[...] = values
    whole_tensor = kf.Tensor.from_numpy(whole)
    tensor = view(whole_tensor, shape, layout)
    assert tensor.shape == array.shape == shape
    return Buffer(tensor, whole_tensor, array, whole)


def numbers(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Array:
    """Small numbers whose sums and products are exact, even in float16."""
    random = np.random.default_rng(seed)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        return (random.integers(-16, 17, shape) / 4).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def mixed(a: Array, b: Array) -> Array:
    """What the kernels of specs/matrix.slang compute."""
    if a.dtype == np.bool_:
        return np.asarray(a != b)
    if a.dtype.kind == "f":
        return np.asarray(a * b + a, a.dtype)
    with np.errstate(over="ignore"):
        return np.asarray(a * a.dtype.type(3) - b, a.dtype)
