"""CUDA memory that is shared with PyTorch, CuPy and JAX: where it lies, and in what order it is used."""

import gc
import importlib
from types import ModuleType
from typing import Any

import dlpack_by_hand as by_hand
import kernelfunctions as kf
import numpy as np
import pytest
from arrays import DTYPES, numbers
from loader import Loader

COUNT = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def cuda() -> kf.Device:
    device = kf.default_device()
    if device.backend != "cuda":
        pytest.skip("needs a GPU with CUDA")
    return device


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"needs a GPU machine with {name}")


@pytest.fixture(scope="module")
def torch(cuda: kf.Device) -> Any:
    torch = library("torch")
    torch.cuda.set_device(cuda.info.index)
    return torch


@pytest.fixture(scope="module")
def cupy(cuda: kf.Device) -> Any:
    cupy = library("cupy")
    cupy.cuda.Device(cuda.info.index).use()
    return cupy


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def polynomial(x: Any) -> Any:
    return 2 * x * x + 8 * x - 1


# --- Any consumer: capsules by hand -------------------------------------------------------------


@pytest.mark.parametrize("versioned", [False, True])
def test_capsules_lead_to_the_memory_itself(cuda: kf.Device, versioned: bool) -> None:
    tensor = kf.Tensor.from_numpy(np.arange(24, dtype=np.int16).reshape(4, 6))[1:, ::-2]
    for stream in (None, 1, 2, -1):
        capsule = tensor.__dlpack__(stream=stream, max_version=(1, 0) if versioned else None)
        managed = by_hand.taken(capsule, versioned)
        told = managed.tensor
        assert (told.data, told.byte_offset) == (tensor.address, 0)
        assert (told.device.type, told.device.id) == (2, cuda.info.index)
        assert (tuple(told.shape[:2]), tuple(told.strides[:2])) == (tensor.shape, tensor.strides)
        by_hand.delete(managed)


def test_flags_and_copies(cuda: kf.Device) -> None:
    array = np.arange(5, dtype=np.float32)
    read_only = kf.Buffer.from_numpy(array)
    managed = by_hand.taken(read_only.__dlpack__(max_version=(1, 0)), versioned=True)
    assert (managed.flags, managed.tensor.data) == (by_hand.READ_ONLY, read_only.address)
    by_hand.delete(managed)
    with pytest.raises(BufferError, match="the buffer is read-only, which consumers of DLPack 0 can't"):
        read_only.__dlpack__()
    managed = by_hand.taken(read_only.__dlpack__(copy=True, max_version=(1, 0)), versioned=True)
    assert (managed.flags, managed.tensor.device.type) == (by_hand.IS_COPIED, 2)
    assert managed.tensor.data != read_only.address
    by_hand.delete(managed)
    host = by_hand.taken(read_only.__dlpack__(dl_device=by_hand.CPU, max_version=(1, 0)), versioned=True)
    np.testing.assert_array_equal(by_hand.told_by(host).values, array)
    by_hand.delete(host)
    for wrong in (0, -2):
        with pytest.raises(ValueError, match=f"stream={wrong} is no stream"):
            read_only.__dlpack__(stream=wrong, max_version=(1, 0))
    with pytest.raises(BufferError, match="not on"):
        read_only.__dlpack__(dl_device=(2, cuda.info.index + 1))
    np.testing.assert_array_equal(np.from_dlpack(kf.Tensor.from_numpy(array), device="cpu"), array)


def test_the_interface_tells_of_the_memory() -> None:
    tensor = kf.Tensor.from_numpy(np.arange(6, dtype=np.float64).reshape(2, 3))
    assert tensor.__cuda_array_interface__ == {
        "shape": (2, 3),
        "typestr": "<f8",
        "data": (tensor.address, False),
        "version": 3,
        "strides": None,
        "stream": 1,
    }
    assert tensor[:, ::2].__cuda_array_interface__["strides"] == (24, 16)
    assert kf.Buffer.from_numpy(np.zeros(3)).__cuda_array_interface__["data"][1], "read-only"
    flags = kf.Tensor.from_numpy(np.zeros(3, bool)).__cuda_array_interface__
    assert flags["typestr"] == "|b1"


def test_interfaces_come_in() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    tensor = kf.Tensor.from_numpy(array)

    class Holder:
        def __init__(self, interface: dict[str, Any]) -> None:
            self.__cuda_array_interface__ = interface
            self.kept = tensor

    for view, expected in ((tensor, array), (tensor[::-1, 1::2], array[::-1, 1::2])):
        for version in (2, 3):
            told = view.__cuda_array_interface__ | {"version": version}
            if version == 2:
                del told["stream"]
            shared = kf.Tensor.from_dlpack(Holder(told), copy=False)
            assert shared.address == view.address
            np.testing.assert_array_equal(shared.to_numpy(), expected)
    empty = kf.Tensor.from_dlpack(Holder(tensor[:0].__cuda_array_interface__))
    assert empty.shape == (0, 6)
    read_only = tensor.__cuda_array_interface__ | {"data": (tensor.address, True)}
    assert kf.Tensor.from_dlpack(Holder(read_only)).address != tensor.address
    assert kf.Buffer.from_dlpack(Holder(read_only)).address == tensor.address
    misaligned = tensor.__cuda_array_interface__ | {"data": (tensor.address + 2, False), "shape": (2,)}
    with pytest.raises(kf.ArgumentError, match="whose first element isn't aligned to its size"):
        kf.Tensor.from_dlpack(Holder(misaligned))
    far = tensor.__cuda_array_interface__ | {"strides": (1 << 62, 4)}
    with pytest.raises(kf.ArgumentError, match="lead out of memory"):
        kf.Tensor.from_dlpack(Holder(far))


# --- PyTorch ------------------------------------------------------------------------------------


def test_calls_use_memory_of_pytorch(torch: Any, gradients: ModuleType) -> None:
    given = torch.arange(1000, dtype=torch.float32, device="cuda") / 8
    x = kf.Tensor.from_dlpack(given)
    around = torch.full((1020,), -7.0, device="cuda")
    y = kf.Tensor.from_dlpack(around[10:1010])
    gradients.polynomial(2, 8, -1, x, out=y)
    kf.default_device().wait()
    assert torch.equal(around[10:1010], polynomial(given))
    assert torch.equal(around[:10], torch.full((10,), -7.0, device="cuda"))
    assert torch.equal(around[1010:], torch.full((10,), -7.0, device="cuda"))


def test_what_pytorchs_stream_does_comes_first(torch: Any, gradients: ModuleType) -> None:
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        for number in range(1, 6):
            given = torch.zeros(COUNT, device="cuda")
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(20_000_000)
                given += number
                x = kf.Tensor.from_dlpack(given)
            y = gradients.polynomial(2, 8, -1, x)
            assert (y.to_numpy() == polynomial(number)).all()


def test_what_calls_do_comes_first_in_pytorch(torch: Any, gradients: ModuleType) -> None:
    x = kf.Tensor.from_numpy(np.full(COUNT, 3, np.float32))
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            y = kf.Tensor.zeros((COUNT,))
            for _ in range(200):
                gradients.polynomial(2, 8, -1, x, out=y)
            result = torch.from_dlpack(y) + 1
            assert (result == polynomial(3) + 1).all()


def test_memory_isnt_used_anew_too_early(torch: Any) -> None:
    for number in range(1, 20):
        result = torch.from_dlpack(kf.Tensor.from_numpy(np.full(COUNT, number, np.float32)))
        torch.cuda._sleep(5_000_000)
        total = result * 2
        del result
        others = [kf.Tensor.zeros((COUNT,)) for _ in range(3)]
        assert (total == 2 * number).all()
        del others
        gc.collect()


def test_memory_goes_back_to_pytorch(torch: Any, gradients: ModuleType) -> None:
    device = kf.default_device()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(20):
        x = kf.Tensor.from_dlpack(torch.ones(COUNT, device="cuda"))
        gradients.polynomial(2, 8, -1, x)
    del x
    device.wait()
    assert torch.cuda.memory_allocated() == before


def test_a_current_device_other_than_the_tensors(torch: Any) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs 2 GPUs")
    with torch.cuda.device(0):
        given = torch.arange(10, dtype=torch.float32, device="cuda:1")
        tensor = kf.Tensor.from_dlpack(given)
        assert (tensor.device.info.id, tensor.address) == ("cuda:1", given.data_ptr())
        assert torch.equal(torch.from_dlpack(tensor), given)
        copy = kf.Tensor.from_dlpack(given, device=kf.Device.open("cuda:0"))
        assert (copy.device.info.id, copy.to_numpy().tolist()) == ("cuda:0", given.tolist())
        with pytest.raises(kf.ArgumentError, match=r"copied to cuda:0: copy=False can't be kept"):
            kf.Tensor.from_dlpack(given, device=kf.Device.open("cuda:0"), copy=False)


def test_pytorchs_memory_on_a_vulkan_device(torch: Any) -> None:
    if not any(one.backend == "vulkan" for one in kf.devices()):
        pytest.skip("needs a GPU with Vulkan")
    given = torch.arange(10, dtype=torch.float32, device="cuda")
    copy = kf.Tensor.from_dlpack(given, device=kf.Device.open("vulkan"))
    assert (copy.device.backend, copy.to_numpy().tolist()) == ("vulkan", given.tolist())


# --- CuPy and JAX -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cupy(cupy: Any, dtype: np.dtype[Any]) -> None:
    array = numbers((4, 6), dtype, 3)
    given = cupy.asarray(array)
    for view, expected in (
        (given, array),
        (given[::-1, 1::2], array[::-1, 1::2]),
        (given[:, :0], array[:, :0]),
    ):
        tensor = kf.Tensor.from_dlpack(view, copy=False)
        np.testing.assert_array_equal(tensor.to_numpy(), expected)
        back = cupy.from_dlpack(tensor)
        np.testing.assert_array_equal(cupy.asnumpy(back), expected)
        by_interface = cupy.asarray(tensor)
        np.testing.assert_array_equal(cupy.asnumpy(by_interface), expected)
        if view.size:
            assert tensor.address == view.data.ptr == back.data.ptr == by_interface.data.ptr


def test_calls_with_cupys_memory(cupy: Any, gradients: ModuleType) -> None:
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)):
        with stream:
            given = cupy.arange(COUNT, dtype=cupy.float32) % 100
            y = gradients.polynomial(2, 8, -1, kf.Tensor.from_dlpack(given))
            assert bool((cupy.from_dlpack(y) == polynomial(given)).all())


@pytest.mark.parametrize(
    "dtype", [np.dtype(name) for name in ("int32", "float16", "float32", "bool")], ids=str
)
def test_jax(cuda: kf.Device, gradients: ModuleType, dtype: np.dtype[Any]) -> None:
    jax = library("jax")
    array = numbers((4, 6), dtype, 3)
    given = jax.device_put(array, jax.devices("cuda")[cuda.info.index])
    tensor = kf.Tensor.from_dlpack(given)  # a copy where JAX says that it is read-only
    np.testing.assert_array_equal(tensor.to_numpy(), array)
    buffer = kf.Buffer.from_dlpack(given, copy=False)
    assert buffer.address == given.unsafe_buffer_pointer()
    np.testing.assert_array_equal(np.asarray(jax.numpy.from_dlpack(tensor)), array)
    if dtype == np.float32:
        y = jax.numpy.from_dlpack(gradients.polynomial(2, 8, -1, tensor[1]))
        np.testing.assert_array_equal(np.asarray(y + 0), polynomial(array[1]))
