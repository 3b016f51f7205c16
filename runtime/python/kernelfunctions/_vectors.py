# ruff: noqa: N801
"""Slang's vectors and matrices on the host: float3(1, 0, 0) is a NumPy array that can't be written to."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from kernelfunctions._kf import ArgumentTypeError

if TYPE_CHECKING:
    from typing_extensions import Self


def _error(text: str) -> ArgumentTypeError:
    error = ArgumentTypeError(text)
    error.code = "type-mismatch"
    return error


#: By scalar type and shape: what arithmetic results are made of.
_classes: "dict[tuple[np.dtype[Any], tuple[int, ...]], type[HostVector]]" = {}


class HostVector(np.ndarray[Any, np.dtype[Any]]):
    """A vector or matrix of Slang's: immutable, with NumPy's arithmetic."""

    _dtype: ClassVar["np.dtype[Any]"]
    _shape: ClassVar[tuple[int, ...]]

    def __init_subclass__(cls, *, scalar: npt.DTypeLike, shape: tuple[int, ...], **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._dtype = np.dtype(scalar)
        cls._shape = shape
        _classes.setdefault((cls._dtype, shape), cls)

    def __new__(cls, *components: Any) -> "Self":
        """Takes one number for each component (of matrices row by row), one number for all of them, or
        vectors, lists and arrays that together have as many."""
        name = cls.__name__
        given = components or (0,)
        try:
            parts = [np.asarray(part) for part in given]
        except ValueError as error:
            raise _error(f"{name}: {error}") from None
        for part in parts:
            if part.dtype.kind not in "biuf" or (cls._dtype.kind != "f" and part.dtype.kind == "f"):
                raise _error(f"{name}: {part.tolist()!r:.60} has no {cls._dtype} components")
        flat = np.concatenate([part.reshape(-1) for part in parts])
        count = int(np.prod(cls._shape))
        if flat.size not in (1, count):
            raise _error(f"{name}: {flat.size} components are given for {count}")
        with np.errstate(over="ignore"):
            values = flat.astype(cls._dtype)
        if cls._dtype.kind in "iu" and not np.array_equal(values, flat):
            raise _error(f"{name}: {flat.tolist()!r:.60} doesn't fit {cls._dtype} components")
        made = np.broadcast_to(values.reshape(-1 if flat.size == 1 else cls._shape), cls._shape)
        return cls._frozen(made)

    @classmethod
    def _frozen(cls, values: npt.NDArray[Any]) -> "Self":
        made = np.array(values, cls._dtype).view(cls)
        made.flags.writeable = False
        return made

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """A result of the shape and scalars of some class is of that class."""
        plain = np.asarray(array)
        if plain.ndim == 0:
            return plain[()]
        found = _classes.get((plain.dtype, plain.shape))
        return plain if found is None else found._frozen(plain)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __getattr__(self, name: str) -> Any:
        """The components of a vector: v.x, v.xy, v.bgr."""
        for letters in ("xyzw", "rgba"):
            places = [letters.find(letter) for letter in name]
            if len(self._shape) == 1 and min(places) >= 0 and max(places) < self._shape[0]:
                plain = np.asarray(self)
                if len(places) == 1:
                    return plain[places[0]]
                found = _classes.get((plain.dtype, (len(places),)))
                return plain[places] if found is None else found._frozen(plain[places])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles keep what they name: the class and its components."""
        return type(self), (np.asarray(self).tolist(),)

    def __copy__(self) -> "Self":
        return self

    def __deepcopy__(self, memo: Any) -> "Self":
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, np.asarray(self).tolist()))})"


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        """Makes a new value: vectors don't change."""
        return getattr(np.ndarray, f"__{name}__")(self, other)

    return operate


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    setattr(HostVector, f"__i{_name}__", _in_place(_name))


class bool2(HostVector, scalar=np.bool_, shape=(2,)): ...


class bool3(HostVector, scalar=np.bool_, shape=(3,)): ...


class bool4(HostVector, scalar=np.bool_, shape=(4,)): ...


class int8_t2(HostVector, scalar=np.int8, shape=(2,)): ...


class int8_t3(HostVector, scalar=np.int8, shape=(3,)): ...


class int8_t4(HostVector, scalar=np.int8, shape=(4,)): ...


class int16_t2(HostVector, scalar=np.int16, shape=(2,)): ...


class int16_t3(HostVector, scalar=np.int16, shape=(3,)): ...


class int16_t4(HostVector, scalar=np.int16, shape=(4,)): ...


class int2(HostVector, scalar=np.int32, shape=(2,)): ...


class int3(HostVector, scalar=np.int32, shape=(3,)): ...


class int4(HostVector, scalar=np.int32, shape=(4,)): ...


class int64_t2(HostVector, scalar=np.int64, shape=(2,)): ...


class int64_t3(HostVector, scalar=np.int64, shape=(3,)): ...


class int64_t4(HostVector, scalar=np.int64, shape=(4,)): ...


class uint8_t2(HostVector, scalar=np.uint8, shape=(2,)): ...


class uint8_t3(HostVector, scalar=np.uint8, shape=(3,)): ...


class uint8_t4(HostVector, scalar=np.uint8, shape=(4,)): ...


class uint16_t2(HostVector, scalar=np.uint16, shape=(2,)): ...


class uint16_t3(HostVector, scalar=np.uint16, shape=(3,)): ...


class uint16_t4(HostVector, scalar=np.uint16, shape=(4,)): ...


class uint2(HostVector, scalar=np.uint32, shape=(2,)): ...


class uint3(HostVector, scalar=np.uint32, shape=(3,)): ...


class uint4(HostVector, scalar=np.uint32, shape=(4,)): ...


class uint64_t2(HostVector, scalar=np.uint64, shape=(2,)): ...


class uint64_t3(HostVector, scalar=np.uint64, shape=(3,)): ...


class uint64_t4(HostVector, scalar=np.uint64, shape=(4,)): ...


class half2(HostVector, scalar=np.float16, shape=(2,)): ...


class half3(HostVector, scalar=np.float16, shape=(3,)): ...


class half4(HostVector, scalar=np.float16, shape=(4,)): ...


class float2(HostVector, scalar=np.float32, shape=(2,)): ...


class float3(HostVector, scalar=np.float32, shape=(3,)): ...


class float4(HostVector, scalar=np.float32, shape=(4,)): ...


class double2(HostVector, scalar=np.float64, shape=(2,)): ...


class double3(HostVector, scalar=np.float64, shape=(3,)): ...


class double4(HostVector, scalar=np.float64, shape=(4,)): ...


class bool2x2(HostVector, scalar=np.bool_, shape=(2, 2)): ...


class bool2x3(HostVector, scalar=np.bool_, shape=(2, 3)): ...


class bool2x4(HostVector, scalar=np.bool_, shape=(2, 4)): ...


class bool3x2(HostVector, scalar=np.bool_, shape=(3, 2)): ...


class bool3x3(HostVector, scalar=np.bool_, shape=(3, 3)): ...


class bool3x4(HostVector, scalar=np.bool_, shape=(3, 4)): ...


class bool4x2(HostVector, scalar=np.bool_, shape=(4, 2)): ...


class bool4x3(HostVector, scalar=np.bool_, shape=(4, 3)): ...


class bool4x4(HostVector, scalar=np.bool_, shape=(4, 4)): ...


class int2x2(HostVector, scalar=np.int32, shape=(2, 2)): ...


class int2x3(HostVector, scalar=np.int32, shape=(2, 3)): ...


class int2x4(HostVector, scalar=np.int32, shape=(2, 4)): ...


class int3x2(HostVector, scalar=np.int32, shape=(3, 2)): ...


class int3x3(HostVector, scalar=np.int32, shape=(3, 3)): ...


class int3x4(HostVector, scalar=np.int32, shape=(3, 4)): ...


class int4x2(HostVector, scalar=np.int32, shape=(4, 2)): ...


class int4x3(HostVector, scalar=np.int32, shape=(4, 3)): ...


class int4x4(HostVector, scalar=np.int32, shape=(4, 4)): ...


class uint2x2(HostVector, scalar=np.uint32, shape=(2, 2)): ...


class uint2x3(HostVector, scalar=np.uint32, shape=(2, 3)): ...


class uint2x4(HostVector, scalar=np.uint32, shape=(2, 4)): ...


class uint3x2(HostVector, scalar=np.uint32, shape=(3, 2)): ...


class uint3x3(HostVector, scalar=np.uint32, shape=(3, 3)): ...


class uint3x4(HostVector, scalar=np.uint32, shape=(3, 4)): ...


class uint4x2(HostVector, scalar=np.uint32, shape=(4, 2)): ...


class uint4x3(HostVector, scalar=np.uint32, shape=(4, 3)): ...


class uint4x4(HostVector, scalar=np.uint32, shape=(4, 4)): ...


class half2x2(HostVector, scalar=np.float16, shape=(2, 2)): ...


class half2x3(HostVector, scalar=np.float16, shape=(2, 3)): ...


class half2x4(HostVector, scalar=np.float16, shape=(2, 4)): ...


class half3x2(HostVector, scalar=np.float16, shape=(3, 2)): ...


class half3x3(HostVector, scalar=np.float16, shape=(3, 3)): ...


class half3x4(HostVector, scalar=np.float16, shape=(3, 4)): ...


class half4x2(HostVector, scalar=np.float16, shape=(4, 2)): ...


class half4x3(HostVector, scalar=np.float16, shape=(4, 3)): ...


class half4x4(HostVector, scalar=np.float16, shape=(4, 4)): ...


class float2x2(HostVector, scalar=np.float32, shape=(2, 2)): ...


class float2x3(HostVector, scalar=np.float32, shape=(2, 3)): ...


class float2x4(HostVector, scalar=np.float32, shape=(2, 4)): ...


class float3x2(HostVector, scalar=np.float32, shape=(3, 2)): ...


class float3x3(HostVector, scalar=np.float32, shape=(3, 3)): ...


class float3x4(HostVector, scalar=np.float32, shape=(3, 4)): ...


class float4x2(HostVector, scalar=np.float32, shape=(4, 2)): ...


class float4x3(HostVector, scalar=np.float32, shape=(4, 3)): ...


class float4x4(HostVector, scalar=np.float32, shape=(4, 4)): ...


class double2x2(HostVector, scalar=np.float64, shape=(2, 2)): ...


class double2x3(HostVector, scalar=np.float64, shape=(2, 3)): ...


class double2x4(HostVector, scalar=np.float64, shape=(2, 4)): ...


class double3x2(HostVector, scalar=np.float64, shape=(3, 2)): ...


class double3x3(HostVector, scalar=np.float64, shape=(3, 3)): ...


class double3x4(HostVector, scalar=np.float64, shape=(3, 4)): ...


class double4x2(HostVector, scalar=np.float64, shape=(4, 2)): ...


class double4x3(HostVector, scalar=np.float64, shape=(4, 3)): ...


class double4x4(HostVector, scalar=np.float64, shape=(4, 4)): ...
