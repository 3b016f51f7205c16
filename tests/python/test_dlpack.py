"""DLPack in and out: from_dlpack(), __dlpack__(), and what both refuse."""

import ctypes
import gc
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import dlpack_by_hand as by_hand
import kernelfunctions as kf
import numpy as np
import pytest
from arrays import DTYPES, SIZES, Array, numbers
from dlpack_by_hand import Producer
from loader import Loader
from refusals import refusal

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
versions = pytest.mark.parametrize("versioned", [False, True], ids=["unversioned", "versioned"])
kinds = pytest.mark.parametrize("kind", [kf.Tensor, kf.Buffer])
POISON = 77


@pytest.fixture(autouse=True)
def on_the_cpu(device: kf.Device) -> None:
    """What is taken here lies on the CPU; where it goes is the default device's affair."""
    assert device


def poisoned(array: Array) -> tuple[Array, Array]:
    """A copy of an array amid a larger one, and all bytes of that."""
    whole = np.full(array.nbytes + 128, POISON, np.uint8)
    view = whole[64 : 64 + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view, whole


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "contiguous": lambda a: a,
    "reversed": lambda a: a[::-1, ::-1],
    "transposed": lambda a: a.T,
    "strided": lambda a: a[::2, 1::2],
    "expanded": lambda a: np.broadcast_to(a[:1], (3, *a[:1].shape)),
    "sliced": lambda a: a[1:, 1:],
}


# --- In -----------------------------------------------------------------------------------------


@every_dtype
@versions
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_dtype_and_layout(dtype: np.dtype[Any], versioned: bool, layout: str) -> None:
    view, whole = poisoned(numbers((4, 6), dtype, 1))
    given = LAYOUTS[layout](view)
    before = whole.copy()
    producer = Producer(given, versioned)
    tensor = kf.Tensor.from_dlpack(producer)
    assert (tensor.dtype, tensor.shape, tensor.is_contiguous) == (dtype, given.shape, True)
    np.testing.assert_array_equal(tensor.to_numpy(), given)
    assert producer.deleted == 1, "the copy is made: nothing is kept"
    np.testing.assert_array_equal(whole, before)
    assert producer.asked == [{"max_version": (1, 3)}], "the CPU has no streams"


@versions
@pytest.mark.parametrize("size", SIZES)
def test_every_size(versioned: bool, size: int) -> None:
    array = np.arange(size, dtype=np.float32)
    for producer in (
        Producer(array, versioned),
        Producer(array, versioned, null_strides=True),
        Producer(array, versioned, byte_offset=64),
        Producer(array[:0], versioned, null_data=True),
        Producer(array.reshape(1, size, 1), versioned, null_strides=True),
        Producer(np.array(size, np.int64), versioned, null_strides=True),
        Producer(array, versioned, has_deleter=False),
        Producer(array, versioned, device=by_hand.CUDA_HOST),
    ):
        np.testing.assert_array_equal(kf.Tensor.from_dlpack(producer).to_numpy(), producer.array)
        assert producer.deleted == (1 if producer.has_deleter else 0)


@versions
def test_capsules_are_taken_once(versioned: bool) -> None:
    producer = Producer(np.arange(3), versioned)
    capsule = producer.capsule()
    np.testing.assert_array_equal(kf.Tensor.from_dlpack(capsule).to_numpy(), producer.array)
    used = "used_dltensor" + ("_versioned" if versioned else "")
    assert repr(capsule).startswith(f'<capsule object "{used}"')
    assert refusal(kf.ArgumentTypeError, lambda: kf.Tensor.from_dlpack(capsule)) == (
        f"Tensor.from_dlpack: argument 'x': a capsule named '{used}' is given where DLPack has "
        "'dltensor_versioned' or 'dltensor': a capsule can be taken once"
    )
    assert producer.deleted == 1


def test_read_only_memory_is_copied() -> None:
    array = np.arange(3.0)
    producer = Producer(array, flags=by_hand.READ_ONLY)
    tensor = kf.Tensor.from_dlpack(producer)
    tensor.copy_from_numpy(np.zeros(3))
    np.testing.assert_array_equal(array, np.arange(3.0))
    assert not kf.Buffer.from_dlpack(producer).writable
    assert kf.Buffer.from_dlpack(producer, writable=True).writable
    array.flags.writeable = False
    np.testing.assert_array_equal(kf.Tensor.from_dlpack(array).to_numpy(), array)


DTYPES_OF_OTHERS = {
    "bfloat16": (4, 16, 1),
    "complex64": (5, 64, 1),
    "float32 in vectors of 4": (2, 32, 4),
    "uint4": (1, 4, 1),
    "float8": (2, 8, 1),
    "float128": (2, 128, 1),
    "bool of 1 bits": (6, 1, 1),
    "float8_e4m3fn": (10, 8, 1),
    "float4_e2m1fn in vectors of 2": (17, 4, 2),
    "of DLPack's code 99 and 8 bits": (99, 8, 1),
}


@kinds
@versions
@pytest.mark.parametrize("name", DTYPES_OF_OTHERS)
def test_dtypes_that_kernels_lack(kind: Any, versioned: bool, name: str) -> None:
    producer = Producer(np.zeros(4), versioned, dtype=DTYPES_OF_OTHERS[name])
    assert refusal(kf.ArgumentTypeError, lambda: kind.from_dlpack(producer)) == (
        f"{kind.__name__}.from_dlpack: argument 'x': kernels have no dtype {name}: bool, int8 to int64, "
        "uint8 to uint64 and float16 to float64 are known"
    )
    assert producer.deleted == 1, "what is refused is let go as well"


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another kind of device": (
        {"device": by_hand.VULKAN},
        "tensors of the CPU and of CUDA devices are taken, not of DLPack's device type 7 (Vulkan)",
    ),
    "an unknown kind of device": (
        {"device": (99, 0)},
        "tensors of the CPU and of CUDA devices are taken, not of DLPack's device type 99",
    ),
    "a later version": (
        {"version": (2, 1)},
        "the tensor comes by DLPack 2.1, and versions 0 and 1 are known",
    ),
    "no memory": ({"null_data": True}, "the tensor has no memory"),
    "a negative extent": ({"shape": [-1]}, "its shape has the extent -1"),
    "no shape": ({"null_shape": True}, "it has no shape"),
    "many dimensions": ({"shape": [1] * 40}, "a tensor of 40 dimensions; at most"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_tensors_that_are_refused(name: str) -> None:
    how, text = REFUSED[name]
    array = np.zeros((2,) if "shape" not in how else (1,) * len(how["shape"]), np.float32)
    producer = Producer(array, **how)
    message = refusal(kf.ArgumentError, lambda: kf.Tensor.from_dlpack(producer))
    assert message.startswith(f"Tensor.from_dlpack: argument 'x': {text}")
    assert producer.deleted == 1


class Unlike:
    """An object whose __dlpack__() does as it is told."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __dlpack__(self, stream: Any = None) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def __dlpack_device__(self) -> tuple[int, int]:
        return by_hand.CPU


@pytest.mark.parametrize("said", [1, None, (1,), ("cpu", 0), (1, 2**70), (1, -(2**31) - 1)], ids=repr)
def test_devices_of_other_types_are_refused(said: Any) -> None:
    class Elsewhere(Unlike):
        def __dlpack_device__(self) -> Any:
            return said

    message = refusal(kf.ArgumentTypeError, lambda: kf.Tensor.from_dlpack(Elsewhere(None)))
    assert "__dlpack_device__() returns a pair of ints, and this one returned" in message


class NoDevice:
    def __dlpack__(self) -> Any:
        raise AssertionError


def test_producers_of_older_versions_are_asked_again() -> None:
    producer = Producer(np.arange(3), versioned=False)
    np.testing.assert_array_equal(
        kf.Tensor.from_dlpack(Unlike(producer.capsule())).to_numpy(), producer.array
    )


def test_what_is_no_tensor() -> None:
    needed = "an object with __dlpack__() or __cuda_array_interface__ is needed, not"
    for given, name in ((3, "an int"), ([1, 2], "a list"), (None, "a NoneType")):
        assert refusal(kf.ArgumentTypeError, lambda x=given: kf.Tensor.from_dlpack(x)) == (
            f"Tensor.from_dlpack: argument 'x': {needed} {name}"
        )
    assert "must have __dlpack_device__(), too, and a NoDevice hasn't" in refusal(
        kf.ArgumentTypeError, lambda: kf.Tensor.from_dlpack(NoDevice())
    )
    assert "__dlpack__() returns a capsule, and this one returned 5" in refusal(
        kf.ArgumentTypeError, lambda: kf.Tensor.from_dlpack(Unlike(5))
    )
    with pytest.raises(BufferError, match="no way"):
        kf.Tensor.from_dlpack(Unlike(BufferError("no way")))
    with pytest.raises(TypeError, match="copy"):
        kf.Tensor.from_dlpack(np.zeros(3), copy="no")  # type: ignore[arg-type]


def test_calls_take_what_is_read(generated: Loader) -> None:
    gradients = generated("gradients")
    x, y = Producer(np.arange(3, dtype=np.float32)), Producer(np.zeros(3, np.float32))
    hint = ": kf.Tensor.from_dlpack(x) takes it"
    wanted = 2 * x.array**2 + 8 * x.array - 1
    np.testing.assert_array_equal(gradients.polynomial(2, 8, -1, x).to_numpy(), wanted)
    message = refusal(kf.ArgumentTypeError, lambda: gradients.polynomial(2, 8, -1, x.array, out=y))
    assert "an output is written to a kf.Tensor or a NumPy array, not to" in message
    assert message.endswith(hint)
    result = gradients.polynomial(2, 8, -1, kf.Tensor.from_dlpack(x))
    np.testing.assert_array_equal(result.to_numpy(), wanted)


def test_copy_and_device(device: kf.Device) -> None:
    array = np.arange(3.0)
    tensor = kf.Tensor.from_dlpack(array, copy=True, device=device)
    assert tensor.device == device
    np.testing.assert_array_equal(tensor.to_numpy(), array)
    read_only = Producer(array, flags=by_hand.READ_ONLY)
    assert refusal(kf.ArgumentError, lambda: kf.Tensor.from_dlpack(read_only, copy=False)) == (
        "Tensor.from_dlpack: argument 'x': the tensor lies in the CPU's memory, and is copied to "
        f"{device.info.id}: copy=False can't be kept; leave it out to get a copy"
    )


def test_a_driver_that_is_the_cpu_shares_its_memory(device: kf.Device, generated: Loader) -> None:
    x, whole_x = poisoned(np.arange(1000, dtype=np.float32))
    y, whole_y = poisoned(np.zeros(1000, np.float32))
    producer = Producer(x)
    if not device.info.is_cpu:
        with pytest.raises(kf.ArgumentError, match="copy=False can't be kept"):
            kf.Tensor.from_dlpack(producer, copy=False)
        return
    given = kf.Tensor.from_dlpack(producer, copy=False)
    out = kf.Tensor.from_dlpack(y[::-1], copy=False)
    for number in range(3):
        x += number
        generated("gradients").polynomial(2, 8, -1, given[:500], out=out[:500])
        device.wait()
        np.testing.assert_array_equal(y[:499:-1], 2 * x[:500] ** 2 + 8 * x[:500] - 1)
        np.testing.assert_array_equal(y[:500], 0)
        np.testing.assert_array_equal(np.from_dlpack(out), y[::-1])
    for whole in (whole_x, whole_y):
        assert (whole[:64] == POISON).all()
        assert (whole[-64:] == POISON).all()
    assert producer.deleted == 0
    del given
    device.wait()
    assert producer.deleted == 1
    misaligned = Producer(whole_x[1:5].view(np.float32))
    with pytest.raises(kf.ArgumentError, match="whose first element isn't aligned to its size"):
        kf.Tensor.from_dlpack(misaligned, copy=False)
    buffer = kf.Buffer.from_dlpack(Producer(x, flags=by_hand.READ_ONLY), copy=False)
    x[3] = 100
    assert buffer.to_numpy()[3] == 100
    with pytest.raises(kf.ArgumentError, match="isn't contiguous, as buffers are"):
        kf.Buffer.from_dlpack(x[::2], copy=False)


def test_tensors_of_our_own(device: kf.Device) -> None:
    tensor = kf.Tensor.from_numpy(np.arange(6.0).reshape(2, 3)).with_grads()
    same = kf.Tensor.from_dlpack(tensor, copy=False)
    assert (same.address, same.grad) == (tensor.address, None)
    other = kf.Tensor.from_dlpack(tensor[:, ::-1], copy=True, device=device)
    assert other.address != tensor.address
    np.testing.assert_array_equal(other.to_numpy(), tensor.to_numpy()[:, ::-1])
    buffer = kf.Buffer.from_dlpack(tensor)
    assert (buffer.writable, buffer.address) == (False, tensor.address)
    assert kf.Buffer.from_dlpack(tensor.T).address != tensor.address
    assert "isn't contiguous" in refusal(
        kf.ArgumentError, lambda: kf.Buffer.from_dlpack(tensor.T, copy=False)
    )
    assert kf.Tensor.from_dlpack(buffer).address != tensor.address, "calls may write to it"
    assert "read-only" in refusal(kf.ArgumentError, lambda: kf.Tensor.from_dlpack(buffer, copy=False))


def test_deleters_are_called_by_any_thread() -> None:
    producers = [Producer(np.arange(100, dtype=np.float32)) for _ in range(50)]

    def take() -> None:
        for producer in producers:
            kf.Tensor.from_dlpack(producer)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [producer.deleted for producer in producers] == [4] * 50


# --- The C exchange API -------------------------------------------------------------------------

KEPT: list[Any] = []  # what DLPack wants to live as long as the process


def exchange_capsule(number: int, asked: list[int], *, major: int = 1, previous: int = 0) -> Any:
    """An exchange API by which every object is a tensor of `number`, which it says is CUDA's of the CPU."""
    producer = Producer(np.full(3, number, np.int32))

    def from_object(_object: Any, out: Any) -> int:
        asked.append(number)
        out[0] = ctypes.addressof(producer.managed())
        return 0

    def fill(_object: Any, _out: Any) -> int:
        raise AssertionError

    def stream(_type: int, _id: int, out: Any) -> int:
        out[0] = 0
        return 0

    functions = (
        None,
        by_hand.FromObject(from_object),
        None,
        by_hand.FillTensor(fill),
        by_hand.CurrentStream(stream),
    )
    api = by_hand.ExchangeApi(major, 3, previous or None, *functions)
    KEPT.append((api, producer))
    return by_hand.python.PyCapsule_New(ctypes.addressof(api), b"dlpack_exchange_api", None)


def exchanging(capsule: Any) -> Any:
    """An object of a new class that offers this exchange API."""
    members = {
        "__dlpack_c_exchange_api__": capsule,
        "__dlpack__": lambda _self, **_keywords: Producer(np.full(3, -1, np.int32)).capsule(),
        "__dlpack_device__": lambda _self: by_hand.CUDA,
    }
    return type("Exchanging", (), members)()


def test_classes_are_known_while_they_live() -> None:
    asked: list[int] = []
    for number in range(200):  # of which some have the address of one that is gone
        value = kf.Tensor.from_dlpack(exchanging(exchange_capsule(number, asked))).to_numpy()
        np.testing.assert_array_equal(value, np.full(3, number))
        if number % 50 == 0:
            gc.collect()
    assert asked == list(range(200))


def test_exchange_apis_of_other_versions() -> None:
    asked: list[int] = []
    old = exchange_capsule(5, asked)
    address = by_hand.python.PyCapsule_GetPointer(old, b"dlpack_exchange_api")
    newer = exchanging(exchange_capsule(6, asked, major=2, previous=address))
    np.testing.assert_array_equal(kf.Tensor.from_dlpack(newer).to_numpy(), np.full(3, 5))
    for other in (exchanging(exchange_capsule(7, asked, major=2)), exchanging(None), exchanging(3)):
        np.testing.assert_array_equal(kf.Tensor.from_dlpack(other).to_numpy(), np.full(3, -1))
    assert asked == [5]


# --- Out ----------------------------------------------------------------------------------------


def exported(source: Any, versioned: bool, **keywords: Any) -> by_hand.Told:
    capsule = source.__dlpack__(max_version=(1, 0) if versioned else None, **keywords)
    managed = by_hand.taken(capsule, versioned)
    del capsule
    gc.collect()
    told = by_hand.told_by(managed)
    by_hand.delete(managed)
    return told


@every_dtype
@versions
def test_copies_for_the_cpu(dtype: np.dtype[Any], versioned: bool) -> None:
    array = numbers((4, 6), dtype, 2)
    tensor = kf.Tensor.from_numpy(array)
    for source, expected in ((tensor, array), (tensor[::-1, 1::2], array[::-1, 1::2])):
        told = exported(source, versioned, dl_device=by_hand.CPU)
        np.testing.assert_array_equal(told.values, expected)
        assert told.values.dtype == dtype
        assert told.device == by_hand.CPU
        assert told.address % 64 == 0
        assert told.flags == (by_hand.IS_COPIED if versioned else 0)
        assert told.version == ((1, 3) if versioned else (0, 0))


@versions
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (1, 4097)])
def test_shapes_that_go_out(versioned: bool, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    for source in (kf.Tensor.from_numpy(array), kf.Buffer.from_numpy(array)):
        told = exported(source, versioned, dl_device=by_hand.CPU)
        np.testing.assert_array_equal(told.values, array)
        assert told.values.shape == shape
        assert (told.address == 0) == (array.size == 0)


@versions
def test_capsules_that_nobody_takes(versioned: bool) -> None:
    tensor = kf.Tensor.zeros((1 << 16,))
    for _ in range(100):
        tensor.__dlpack__(max_version=(1, 0) if versioned else None)


def test_numpy_takes_tensors() -> None:
    array = np.arange(6.0).reshape(2, 3)
    for source in (kf.Tensor.from_numpy(array), kf.Buffer.from_numpy(array)):
        if source.device.backend == "cuda":
            pytest.skip("NumPy takes no memory of a GPU")
        result = np.from_dlpack(source)
        np.testing.assert_array_equal(result, array)
        result[...] = 0
        np.testing.assert_array_equal(source.to_numpy(), array)
        np.testing.assert_array_equal(np.from_dlpack(source, copy=True, device="cpu"), array)
        with pytest.raises(BufferError, match="the CPU gets a copy: copy=False can't be kept"):
            np.from_dlpack(source, copy=False)


def test_a_result_is_waited_for() -> None:
    tensor = kf.Tensor.zeros((1 << 20,))
    for number in range(5):
        tensor.copy_from_numpy(np.full(1 << 20, number, np.float32))
        capsule = tensor.__dlpack__(dl_device=by_hand.CPU)
        np.testing.assert_array_equal(kf.Tensor.from_dlpack(capsule).to_numpy()[::1000], number)


def test_devices_that_are_told(device: kf.Device) -> None:
    for source in (kf.Tensor.zeros((2,)), kf.Buffer.zeros(2)):
        on_gpu = device.backend == "cuda"
        assert source.__dlpack_device__() == ((2, device.info.index) if on_gpu else by_hand.CPU)
        with pytest.raises(BufferError, match=r"can be had there or on the CPU, \(1, 0\), not on \(8, 0\)"):
            source.__dlpack__(dl_device=by_hand.METAL)
        if not on_gpu:
            assert not hasattr(source, "__cuda_array_interface__")
            with pytest.raises(ValueError, match="a copy on the CPU has no stream, and stream=1 is given"):
                source.__dlpack__(stream=1)
            assert source.__dlpack__(stream=-1)


def test_structs_have_no_capsules() -> None:
    dtype = np.dtype([("a", np.float32), ("b", np.int32)])
    tensor = kf.Tensor.from_numpy(np.zeros(3, dtype))
    with pytest.raises(BufferError, match=r"DLPack has no structs: the tensor of structs \(a, b\) of shape"):
        tensor.__dlpack__()
    assert not hasattr(tensor, "__cuda_array_interface__")


@pytest.mark.parametrize("wrong", [1, (1,), ("a", "b"), "ab", (1.0, 0), (1, 2**70), (2**31, 0)], ids=repr)
def test_words_of_other_types(wrong: Any) -> None:
    tensor = kf.Tensor.zeros((2,))
    with pytest.raises(TypeError, match="max_version= takes a pair of ints or None, not"):
        tensor.__dlpack__(max_version=wrong)
    with pytest.raises(TypeError, match="dl_device= takes a pair of ints or None, not"):
        tensor.__dlpack__(dl_device=wrong)
    with pytest.raises(TypeError, match="copy= takes True, False or None, not"):
        tensor.__dlpack__(copy=wrong)
    with pytest.raises(kf.ArgumentTypeError, match=r"Tensor\.__dlpack__: it takes"):
        tensor.__dlpack__(wrong)  # type: ignore[call-arg]


# --- __cuda_array_interface__ -------------------------------------------------------------------


class Interface:
    def __init__(self, interface: Any) -> None:
        self.__cuda_array_interface__ = interface


def interface(**changed: Any) -> Interface:
    told = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}
    return Interface({name: value for name, value in (told | changed).items() if value != "missing"})


INTERFACES: dict[str, tuple[Any, str]] = {
    "no dict": (Interface(3), "its __cuda_array_interface__ is no dict but 3"),
    "a mask": (interface(mask=3), "its __cuda_array_interface__ has a mask, and kernels know none"),
    "no data": (interface(data="missing"), "has no 'shape', 'typestr' or 'data'"),
    "data alone": (interface(data=4096), r"has no (address, read_only) as 'data' but 4096"),
    "a list": (interface(shape=[4]), "has no tuple as 'shape' but [4]"),
    "an extent": (interface(shape=(-4,)), "has the shape (-4,)"),
    "half an extent": (interface(shape=(0.5,)), "has 'shape' (0.5,)"),
    "complex": (interface(typestr="<c8"), "kernels have no dtype complex64: bool, int8 to"),
    "a byte order": (interface(typestr=">f4"), "kernels have no dtype >f4"),
    "structs": (interface(typestr="|V8"), "kernels have no dtype |V8"),
    "strides between elements": (
        interface(strides=(6,)),
        "the strides, (6,) bytes, aren't whole elements of 4 bytes: give a contiguous copy",
    ),
    "other strides": (interface(strides=(4, 4)), "has the shape (4,) and the strides (4, 4)"),
    "no memory": (interface(data=(0, False)), "the tensor has no memory"),
}


@pytest.mark.parametrize("name", INTERFACES)
def test_interfaces_that_are_refused(name: str) -> None:
    given, text = INTERFACES[name]
    message = refusal(kf.ArgumentError, lambda: kf.Tensor.from_dlpack(given))
    assert message.startswith("Tensor.from_dlpack: argument 'x': ")
    assert text in message


def test_cuda_memory_without_cuda() -> None:
    if any(one.backend == "cuda" for one in kf.devices()):
        return
    for given in (interface(), Producer(np.zeros(3), device=by_hand.CUDA)):
        with pytest.raises(kf.DeviceError, match="no device 'cuda:0'"):
            kf.Tensor.from_dlpack(given)
        if isinstance(given, Producer):
            assert given.deleted == 1
            assert given.asked == [{"stream": 1, "max_version": (1, 3)}]


# --- The program's end --------------------------------------------------------------------------


def test_programs_end_with_tensors_on_the_way() -> None:
    program = textwrap.dedent(
        """
        import sys
        import kernelfunctions as kf, numpy as np
        kept = kf.Tensor.from_numpy(np.arange(3.0))
        capsule = kept.__dlpack__(max_version=(1, 0))
        sys.kept = [kept, capsule, kept.__dlpack__(dl_device=(1, 0))]
        if kept.device.backend != "cuda":
            sys.array = np.from_dlpack(kept)
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
