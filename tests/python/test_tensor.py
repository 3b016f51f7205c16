"""kf.Tensor and kf.Device: making, reading, views, gradients."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import DTYPES, SIZES, Array, numbers

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def grid() -> tuple[Array, kf.Tensor]:
    array = np.arange(3 * 4 * 5, dtype=np.int32).reshape(3, 4, 5)
    return array, kf.Tensor.from_numpy(array)


@every_dtype
@pytest.mark.parametrize("size", SIZES)
def test_round_trip(dtype: np.dtype[Any], size: int) -> None:
    array = numbers((size, 3), dtype, size)
    tensor = kf.Tensor.from_numpy(array)
    assert (tensor.shape, tensor.dtype, tensor.strides) == ((size, 3), dtype, (3, 1))
    assert (tensor.ndim, tensor.size, tensor.nbytes) == (2, 3 * size, array.nbytes)
    result = tensor.to_numpy()
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, array)


@every_dtype
def test_rank_0(dtype: np.dtype[Any]) -> None:
    array = numbers((), dtype, 1)
    tensor = kf.Tensor.from_numpy(np.asarray(array))
    assert (tensor.shape, tensor.size) == ((), 1)
    assert tensor.item() == array.item()
    with pytest.raises(TypeError):
        len(tensor)


@every_dtype
def test_zeros_ones_empty(dtype: np.dtype[Any]) -> None:
    np.testing.assert_array_equal(kf.Tensor.zeros((3, 5), dtype).to_numpy(), np.zeros((3, 5), dtype))
    np.testing.assert_array_equal(kf.Tensor.ones([7], dtype).to_numpy(), np.ones(7, dtype))
    assert kf.Tensor.empty(4, dtype).shape == (4,)
    assert kf.Tensor.zeros(2).dtype == np.float32


def test_uploads_of_strided_arrays() -> None:
    array = np.arange(60, dtype=np.int64).reshape(3, 4, 5)
    for view in (array[::2, ::-1, 1::2], array.transpose(2, 0, 1), np.broadcast_to(array[0, 0], (6, 5))):
        np.testing.assert_array_equal(kf.Tensor.from_numpy(view).to_numpy(), view)


def test_construction_from_lists() -> None:
    cases: list[tuple[Any, Any]] = [
        ([1, 2], np.int32),
        ([[1.5], [2]], np.float32),
        ([True, False], np.bool_),
        (3, np.int32),
    ]
    for value, dtype in cases:
        tensor = kf.Tensor(value)
        assert tensor.dtype == dtype
        np.testing.assert_array_equal(tensor.to_numpy(), np.array(value, dtype))
    assert kf.Tensor([1, 255], np.uint8).dtype == np.uint8
    assert kf.Tensor([]).shape == (0,)
    assert kf.Tensor([[], []]).shape == (2, 0)
    assert kf.Tensor(range(3)).to_numpy().tolist() == [0, 1, 2]
    assert kf.Tensor((np.float32(1.5), 2)).to_numpy().tolist() == [1.5, 2.0]


INDICES = [
    np.s_[0], np.s_[-1], np.s_[1, 2], np.s_[1, 2, 3], np.s_[:], np.s_[1:], np.s_[:, 1:3], np.s_[..., 2],
    np.s_[1, ...], np.s_[::2], np.s_[:, ::3, ::2], np.s_[::-1], np.s_[:, 3:0:-2], np.s_[2::-1, ..., ::-2],
    np.s_[5:], np.s_[2:1], np.s_[None], np.s_[:, None, 1], np.s_[..., None], np.s_[-2:, -3:-1],
    np.s_[100:0:-1], np.s_[np.int64(1)], np.s_[()], np.s_[1:2, ::-1],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing(index: Any) -> None:
    array, tensor = grid()
    expected = array[index]
    view = tensor[index]
    assert view.shape == expected.shape
    np.testing.assert_array_equal(view.to_numpy(), expected)
    if expected.size > 1:
        moving = [extent > 1 for extent in expected.shape]
        strides = [stride // array.itemsize for stride in expected.strides]
        assert [s for s, m in zip(view.strides, moving, strict=True) if m] == [
            s for s, m in zip(strides, moving, strict=True) if m
        ]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing_through_views(index: Any) -> None:
    array, tensor = grid()
    values = numbers(array[index].shape, array.dtype, 5)
    view = tensor[index]
    view.copy_from_numpy(values)
    if array[index].ndim == 0:
        array[index] = values.item()
    else:
        array[index][...] = values
    np.testing.assert_array_equal(tensor.to_numpy(), array)


@pytest.mark.parametrize("index", [3, -4, (0, 4), (0, 0, 0, 0), (..., ...)], ids=str)
def test_indices_out_of_range(index: Any) -> None:
    _, tensor = grid()
    with pytest.raises(IndexError) as caught:
        tensor[index]
    assert isinstance(caught.value, kf.ArgumentError)
    assert caught.value.code == "index-range"


@pytest.mark.parametrize("index", ["a", 1.0, True, [0, 1], np.array([0, 1])], ids=str)
def test_indices_of_other_types(index: Any) -> None:
    _, tensor = grid()
    with pytest.raises(kf.ArgumentTypeError, match="ints, slices"):
        tensor[index]


def test_iteration_and_length() -> None:
    array, tensor = grid()
    assert len(tensor) == 3
    rows = list(tensor)
    assert len(rows) == 3
    for row, expected in zip(rows, array, strict=True):
        np.testing.assert_array_equal(row.to_numpy(), expected)


def test_transposes_reshapes_and_broadcasts() -> None:
    array, tensor = grid()
    np.testing.assert_array_equal(tensor.T.to_numpy(), array.T)
    np.testing.assert_array_equal(tensor.transpose().to_numpy(), array.T)
    np.testing.assert_array_equal(tensor.transpose(1, 2, 0).to_numpy(), array.transpose(1, 2, 0))
    np.testing.assert_array_equal(tensor.transpose(-1, 0, 1).to_numpy(), array.transpose(-1, 0, 1))
    np.testing.assert_array_equal(tensor.reshape(4, 15).to_numpy(), array.reshape(4, 15))
    np.testing.assert_array_equal(tensor.reshape((60,)).to_numpy(), array.reshape(60))
    row = tensor[0, 0]
    wide = row.broadcast_to((2, 3, 5))
    assert wide.strides == (0, 0, 1)
    np.testing.assert_array_equal(wide.to_numpy(), np.broadcast_to(array[0, 0], (2, 3, 5)))
    assert tensor.is_contiguous
    assert not tensor.T.is_contiguous


def test_wrong_views() -> None:
    _, tensor = grid()
    for broken in (
        lambda: tensor.broadcast_to((3, 4, 6)),
        lambda: tensor.broadcast_to((4, 5)),
        lambda: tensor.T.reshape(60),
        lambda: tensor.reshape(7),
        lambda: tensor.transpose(0, 1),
        lambda: tensor.transpose(0, 0, 1),
        lambda: tensor[0, 0].broadcast_to((2, 5)).copy_from_numpy(np.zeros((2, 5), np.int32)),
    ):
        with pytest.raises(kf.ArgumentError):
            broken()


def test_copy_from_numpy() -> None:
    array, tensor = grid()
    tensor[:, 1].copy_from_numpy(-array[:, 1])
    array[:, 1] *= -1
    np.testing.assert_array_equal(tensor.to_numpy(), array)
    with pytest.raises(kf.ArgumentTypeError, match="float32"):
        tensor.copy_from_numpy(array.astype(np.float32))
    with pytest.raises(kf.ArgumentError, match=r"\(4, 5\).*\(3, 4, 5\)"):
        tensor.copy_from_numpy(array[0])
    np.testing.assert_array_equal(tensor.to_numpy(), array)


def test_views_outlive_their_tensor() -> None:
    view = kf.Tensor.from_numpy(np.arange(10, dtype=np.float32))[3:7]
    gc.collect()
    kf.Tensor.zeros(10)
    assert view.to_numpy().tolist() == [3, 4, 5, 6]


def test_gradients() -> None:
    tensor = kf.Tensor.from_numpy(np.ones((2, 3), np.float32))
    assert tensor.grad is None
    tracked = tensor.with_grads()
    assert tensor.grad is None
    assert tracked.grad is not None
    assert tracked.grad_in is not None
    assert tracked.grad_out is not None
    assert tracked.grad_in.address == tracked.grad_out.address == tracked.grad.address
    assert tracked.address == tensor.address
    np.testing.assert_array_equal(tracked.grad.to_numpy(), np.zeros((2, 3)))
    tracked.grad.copy_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    row = tracked[1, ::-1].grad
    assert row is not None
    assert row.to_numpy().tolist() == [5, 4, 3]
    assert tracked.detach().grad is None


def test_given_gradients() -> None:
    tensor = kf.Tensor.zeros((2, 3))
    flow = kf.Tensor.ones((2, 3))
    given = tensor.with_grads(grad_in=flow)
    assert given.grad_out is None
    assert given.grad is not None
    assert given.grad.address == flow.address
    both = tensor.with_grads(grad_in=flow, grad_out=np.full((2, 3), 2, np.float32))
    assert both.grad is not None
    assert both.grad.to_numpy().tolist() == [[2] * 3] * 2
    array = np.zeros((2, 3), np.float32)
    copied = tensor.with_grads(grad_out=array).grad
    assert copied is not None
    copied.copy_from_numpy(np.ones((2, 3), np.float32))
    assert not array.any(), "an array is copied"
    with pytest.raises(kf.ArgumentError):
        tensor.with_grads(grad_in=kf.Tensor.ones((3, 2)))
    with pytest.raises(kf.ArgumentTypeError):
        tensor.with_grads(grad_in=kf.Tensor.ones((2, 3), np.float64))
    with pytest.raises(kf.ArgumentTypeError):
        kf.Tensor.zeros(3, np.int32).with_grads()
    call: Any = tensor.with_grads
    for wrong in (flow, 5, None, np.zeros(3)):
        with pytest.raises(kf.ArgumentTypeError, match=r"'zero': True or False is needed, not .*grad_out="):
            call(wrong)
    for zero in (True, False, np.True_, np.False_):
        assert call(zero).grad.shape == (2, 3)


def test_repr() -> None:
    small = repr(kf.Tensor([1.0, 2.5]))
    assert "[1. , 2.5]" in small
    assert "shape=(2,)" in small
    assert "dtype=float32" in small
    large = repr(kf.Tensor.zeros((1000, 1000)))
    assert "0." not in large.replace("vulkan:0", "").replace("cuda:0", "")
    assert "with grads" in repr(kf.Tensor.zeros(2).with_grads())


def test_numpy_sees_a_copy() -> None:
    array, tensor = grid()
    np.testing.assert_array_equal(np.asarray(tensor), array)
    assert np.asarray(tensor, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="device memory"):
        tensor.__array__(copy=False)


def test_items_of_one_element_only() -> None:
    assert kf.Tensor([[7]]).item() == 7
    assert kf.Tensor([True]).item() is True
    with pytest.raises(kf.ArgumentError):
        kf.Tensor([1, 2]).item()


def test_differentiable() -> None:
    scalar = kf.differentiable(5.0)
    assert (scalar.value, scalar.grad) == (5.0, 0.0)
    scalar.value, scalar.grad = 6.0, 1.0
    assert (scalar.value, scalar.grad) == (6.0, 1.0)
    vector = kf.differentiable([1.0, 2.0, 3.0])
    assert vector.grad.tolist() == [0, 0, 0]
    tensor = kf.differentiable(kf.Tensor.zeros(3))
    assert tensor.grad.to_numpy().tolist() == [0, 0, 0]
    assert "5.0" in repr(kf.differentiable(5.0))
    for wrong in ("5", None, kf.grid((3,)), object(), [[1], None], {"x": "5"}):
        with pytest.raises(kf.ArgumentTypeError, match=r"'value': .*not"):
            kf.differentiable(wrong)
        with pytest.raises(kf.ArgumentTypeError, match=r"'value': .*not"):
            scalar.value = wrong  # type: ignore[assignment]
        with pytest.raises(kf.ArgumentTypeError, match=r"'grad': .*not"):
            scalar.grad = wrong
    assert (scalar.value, scalar.grad) == (6.0, 1.0)


def test_devices(device: kf.Device) -> None:
    found = kf.devices()
    assert found
    assert [info.id for info in found] == [f"{info.backend}:{info.index}" for info in found]
    again = kf.Device.open(found[0].id)
    assert again.name == found[0].name
    assert again == again  # noqa: PLR0124
    assert kf.Tensor.zeros(3, device=again).device == again
    assert device.info.id in repr(device)
    device.flush()
    device.wait()


def test_threads_open_one_default_device() -> None:
    before = kf.default_device()
    try:
        kf.set_device(None)
        start = threading.Barrier(8)

        def made(_: int) -> kf.Device:
            start.wait()
            return kf.Tensor.zeros(1).device

        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(made, range(8)))
        assert all(device == kf.default_device() for device in found)
    finally:
        kf.set_device(before)


def test_the_default_device() -> None:
    before = kf.default_device()
    try:
        other = kf.Device.open(before.info.id)
        kf.set_device(other)
        assert kf.default_device() == other
        assert kf.Tensor.zeros(1).device == other
        kf.set_device(before.info.id)
        assert kf.default_device().info.id == before.info.id
        with pytest.raises(kf.ArgumentTypeError):
            kf.set_device(3)  # type: ignore[arg-type]
    finally:
        kf.set_device(before)


def test_what_the_device_cannot_hold_is_not_copied() -> None:
    """A broadcast array has few elements of its own; a copy on the host would have them all."""
    huge = np.broadcast_to(np.float32(1), (1 << 40,))
    flat = kf.Tensor.zeros(3)
    makers: list[Callable[[], kf.Tensor]] = [
        lambda: kf.Tensor.from_numpy(huge),
        lambda: kf.Tensor(huge),
        lambda: (
            flat.broadcast_to((1 << 38, 3))
            .detach()
            .with_grads(grad_in=np.broadcast_to(huge[:1], (1 << 38, 3)))
        ),
    ]
    for make in makers:
        tracemalloc.start()
        with pytest.raises(kf.DeviceError) as caught:
            make()
        assert caught.value.code == "out-of-memory"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()


MEMORY = """
import resource
from pathlib import Path
import numpy as np
import kernelfunctions as kf

device = kf.default_device()
size = 256 << 20
wide = np.broadcast_to(np.zeros(1, np.uint8), (size,))
pages = int(Path("/proc/self/statm").read_text().split()[0])
room = size * 3 // 2 if device.info.is_cpu else size // 2
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room, before[1]))
try:
    kf.Tensor.from_numpy(wide)
except MemoryError as error:
    print(isinstance(error, kf.Error), "256. MiB" in str(error))
resource.setrlimit(resource.RLIMIT_AS, before)
print(kf.Tensor.from_numpy(wide[:5]).to_numpy().tolist())
"""


def test_a_copy_without_memory_is_a_memory_error() -> None:
    found = subprocess.run(
        [sys.executable, "-c", MEMORY],
        # Else a thread of the driver's may reserve addresses for an arena of its own in between.
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (found.stdout, found.stderr) == ("False True\n[0, 0, 0, 0, 0]\n", "")


@pytest.mark.parametrize("protocol", range(6))
def test_pickle_is_refused(protocol: int) -> None:
    class Derived(kf.Tensor):
        pass

    given: list[Any] = [kf.differentiable(1.0), kf.default_device(), kf.default_device().encoder()]
    for one in [*given, kf.Buffer.from_numpy(np.ones(2, np.float32)), kf.devices()[0]]:
        with pytest.raises(
            TypeError, match=rf"cannot pickle 'kernelfunctions\._kf\.{type(one).__name__}' object"
        ):
            pickle.dumps(one, protocol)
        with pytest.raises(TypeError, match="cannot pickle"):
            copy.copy(one)
    # Copies would be of kf.Tensor.
    for take in (lambda one: pickle.dumps(one, protocol), copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'Derived' object"):
            take(Derived([1.0]))
