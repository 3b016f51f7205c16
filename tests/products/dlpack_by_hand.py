"""DLPack's structs by ctypes: capsules made by hand, and what the library's own capsules say."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

CPU, CUDA, CUDA_HOST, VULKAN, METAL = (1, 0), (2, 0), (3, 0), (7, 0), (8, 0)
READ_ONLY, IS_COPIED = 1, 2
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    """What "dltensor" leads to."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """What "dltensor_versioned" leads to."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


FromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
FillTensor = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
CurrentStream = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("from_object", FromObject),
        ("to_object", ctypes.c_void_p),
        ("fill", FillTensor),
        ("stream", CurrentStream),
    ]


NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


def dtype_of(dtype: Any) -> tuple[int, int, int]:
    found = np.dtype(dtype)
    return CODES[found.kind], 8 * found.itemsize, 1


@dataclass
class Producer:
    """A library's tensor over `array`, of which everything can be said otherwise."""

    array: Array
    versioned: bool = True
    version: tuple[int, int] = (1, 0)
    flags: int = 0
    device: tuple[int, int] = CPU
    dtype: tuple[int, int, int] | None = None
    shape: Sequence[int] | None = None
    null_shape: bool = False
    null_strides: bool = False
    byte_offset: int = 0
    null_data: bool = False
    has_deleter: bool = True
    deleted: int = 0  # how often the deleter was called
    asked: list[dict[str, Any]] = field(default_factory=list)  # what __dlpack__() was called with
    kept: list[Any] = field(default_factory=list)

    def managed(self) -> Managed | Versioned:
        shape = self.array.shape if self.shape is None else self.shape
        strides = [s // self.array.itemsize for s in self.array.strides]
        extents = (ctypes.c_int64 * len(shape))(*shape)
        steps = (ctypes.c_int64 * len(shape))(*strides[: len(shape)])
        dtype = DataType(*(self.dtype or dtype_of(self.array.dtype)))
        data = None if self.null_data else self.array.ctypes.data - self.byte_offset
        tensor = Tensor(
            data,
            Device(*self.device),
            len(shape),
            dtype,
            None if self.null_shape else extents,
            None if self.null_strides else steps,
            self.byte_offset,
        )

        def delete(_managed: int) -> None:
            self.deleted += 1

        deleter = Deleter(delete)
        address = ctypes.cast(deleter, ctypes.c_void_p).value if self.has_deleter else None
        made: Managed | Versioned
        if self.versioned:
            made = Versioned(*self.version, None, address, self.flags, tensor)
        else:
            made = Managed(tensor, None, address)
        self.kept.append((made, extents, steps, deleter))
        return made

    def capsule(self) -> Any:
        return python.PyCapsule_New(ctypes.addressof(self.managed()), NAMES[self.versioned], None)

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked.append(keywords)
        return self.capsule()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


@dataclass
class Told:
    """What a capsule of the library's own says, and its elements, copied."""

    values: Array
    device: tuple[int, int]
    strides: tuple[int, ...]
    address: int
    flags: int
    version: tuple[int, int]


def told_by(managed: Managed | Versioned) -> Told:
    tensor = managed.tensor
    kind = {code: letter for letter, code in CODES.items()}[tensor.dtype.code]
    dtype = np.dtype(bool if kind == "b" else f"{kind}{tensor.dtype.bits // 8}")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim])
    values = np.empty(shape, dtype)
    if tensor.device.type == CPU[0] and values.size:
        for index in np.ndindex(shape):
            at = tensor.data + tensor.byte_offset + dtype.itemsize * int(np.dot(index, strides))
            values[index] = np.frombuffer(ctypes.string_at(at, dtype.itemsize), dtype)[0]
    told = Told(values, (tensor.device.type, tensor.device.id), strides, tensor.data or 0, 0, (0, 0))
    if isinstance(managed, Versioned):
        told.flags, told.version = managed.flags, (managed.major, managed.minor)
    return told


def taken(capsule: Any, versioned: bool) -> Managed | Versioned:
    """Takes a capsule over, as a consumer: delete() is to be called."""
    pointer = python.PyCapsule_GetPointer(capsule, NAMES[versioned])
    python.PyCapsule_SetName(capsule, b"used_" + NAMES[versioned])
    return (Versioned if versioned else Managed).from_address(pointer)


def delete(managed: Managed | Versioned) -> None:
    """Calls the deleter without Python's lock, as other libraries' threads do."""
    assert managed.deleter
    Deleter(managed.deleter)(ctypes.addressof(managed))
