"""Names for what generated stubs accept; they hold no code."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelfunctions._kf import Buffer, Differentiable, Grid, RandFloat, Range, Tensor, WangHash

#: One bool, integer or floating-point number.
BoolValue: TypeAlias = bool | np.bool_
IntValue: TypeAlias = int | np.integer[Any]
FloatValue: TypeAlias = float | np.floating[Any] | np.integer[Any]
#: A number that may carry a gradient.
DiffValue: TypeAlias = FloatValue | Differentiable[Any]
#: One vector, matrix or array: lists nested as it is, or an array of its shape.
VectorValue: TypeAlias = list[Any] | tuple[Any, ...] | npt.NDArray[Any]
DiffVectorValue: TypeAlias = VectorValue | Differentiable[Any]
#: A struct of any kind: generated stubs have a type of its own for each.
StructValue: TypeAlias = Any
#: What feeds a tensor: a tensor, a buffer, an array of exactly its dtype, nested lists (a str is none).
TensorValue: TypeAlias = Tensor | Buffer | npt.NDArray[Any] | list[Any] | tuple[Any, ...] | range
#: What an out, inout or result tensor is written to: a tensor, or a writable array to copy it into.
OutValue: TypeAlias = Tensor | Buffer | npt.NDArray[Any]
#: None once threads() or groups() has said how many threads run; else what takes it by launchRaw().
LaunchResult: TypeAlias = Any
#: Memory that calls reach through pointers.
MemoryValue: TypeAlias = Tensor | Buffer | Sequence[Tensor | Buffer]
#: Tangents of a forward derivative, by argument: of the arguments' types and shapes.
Tangents: TypeAlias = Mapping[str, Any]
#: A field of a struct that some function takes field by field.
FieldValue: TypeAlias = TensorValue | FloatValue | Differentiable[Any] | Grid | Range | WangHash | RandFloat
#: Asks for an output as a new NumPy array.
ArrayRequest: TypeAlias = type[npt.NDArray[Any]] | Literal["numpy"]


class HasComponents(Protocol):
    """An object with x, y and perhaps z and w."""

    @property
    def x(self) -> Any: ...
    @property
    def y(self) -> Any: ...


#: A vector by its components' names: {"x": 1, "y": 2}.
ComponentsValue: TypeAlias = Mapping[str, Any] | HasComponents


class HasCudaStream(Protocol):
    """A stream of PyTorch's."""

    @property
    def cuda_stream(self) -> int: ...


class IsCudaStream(Protocol):
    """A stream by CUDA's protocol: returns its version and the handle."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


#: A CUDA stream: its handle, or an object that has one.
Stream: TypeAlias = int | HasCudaStream | IsCudaStream

__all__ = [
    "ArrayRequest",
    "BoolValue",
    "ComponentsValue",
    "DiffValue",
    "DiffVectorValue",
    "FieldValue",
    "FloatValue",
    "HasComponents",
    "HasCudaStream",
    "IntValue",
    "IsCudaStream",
    "MemoryValue",
    "OutValue",
    "Stream",
    "StructValue",
    "Tangents",
    "TensorValue",
    "VectorValue",
]
