"""Names for what generated stubs accept; they hold no code."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelfunctions._generators import Grid, RandFloat, Range, WangHash
from kernelfunctions._kf import (
    Buffer,
    Differentiable,
    Sampler,
    Tensor,
    Texture,
)

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from kernelfunctions._returning import Returning as Returning  # noqa: PLC0414

    _Torch = TypeVar("_Torch", default=Any)
    _Torch_co = TypeVar("_Torch_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    _Torch = TypeVar("_Torch")
    _Torch_co = TypeVar("_Torch_co", covariant=True)


class TorchTensor(Protocol[_Torch_co]):
    """A torch.Tensor, told by what it has: types are checked without PyTorch, too.

    TorchTensor[T] is one whose like is a T: an nn.Parameter is a TorchTensor[torch.Tensor].
    """

    @property
    def requires_grad(self) -> bool: ...
    @property
    def is_sparse(self) -> bool: ...
    def clone(self) -> _Torch_co: ...


#: One bool, integer or floating-point number.
BoolValue: TypeAlias = bool | np.bool_
IntValue: TypeAlias = int | np.integer[Any]
FloatValue: TypeAlias = float | np.floating[Any] | np.integer[Any]
#: A number that may carry a gradient.
DiffValue: TypeAlias = FloatValue | Differentiable[FloatValue]
#: One vector, matrix or array: lists nested as it is, or an array of its shape.
VectorValue: TypeAlias = list[Any] | tuple[Any, ...] | npt.NDArray[Any]
DiffVectorValue: TypeAlias = VectorValue | Differentiable[VectorValue | FloatValue | Mapping[str, Any]]
#: A struct of any kind: generated stubs have a type of its own for each.
StructValue: TypeAlias = Any
#: What feeds a tensor: a tensor, a buffer, an array of exactly its dtype, nested lists (a str is none).
TensorValue: TypeAlias = Tensor | Buffer | npt.NDArray[Any] | list[Any] | tuple[Any, ...] | range
#: The same, or one of PyTorch's.
TorchValue: TypeAlias = TensorValue | TorchTensor[_Torch]
#: What may carry a gradient.
DiffTensorValue: TypeAlias = TensorValue | Differentiable[TensorValue]
DiffTorchTensor: TypeAlias = TorchTensor[_Torch] | Differentiable[TorchTensor[_Torch]]
DiffTorchValue: TypeAlias = TorchValue[_Torch] | Differentiable[TorchValue[_Torch]]
#: What an out, inout or result tensor is written to: a tensor, or a writable array to copy it into.
OutValue: TypeAlias = Tensor | Buffer | npt.NDArray[Any] | TorchTensor[Any]
#: The same in a backward pass, where it may carry the gradient that flows in.
DiffOutValue: TypeAlias = OutValue | Differentiable[OutValue]
#: None once threads() or groups() has said how many threads run; else what takes it by launchRaw().
LaunchResult: TypeAlias = Any
#: A texture that has a sampler, or one and its sampler.
SampledTexture: TypeAlias = Texture | tuple[Texture, Sampler]
#: Memory that calls reach through pointers.
MemoryValue: TypeAlias = Tensor | Buffer | Sequence[Tensor | Buffer]
#: Tangents of a forward derivative, by argument: of the arguments' types and shapes.
Tangents: TypeAlias = Mapping[str, Any]
#: A field of a struct that some function takes field by field.
FieldValue: TypeAlias = (
    TorchValue[_Torch]
    | FloatValue
    | Differentiable[Any]
    | Grid
    | Range
    | WangHash
    | RandFloat
    | Texture
    | Sampler
)
#: Asks for an output as a new NumPy array, as a kf.Tensor, or as one of PyTorch's.
ArrayRequest: TypeAlias = type[npt.NDArray[Any]] | Literal["numpy"]
TensorRequest: TypeAlias = type[Tensor] | Literal["tensor"]
TorchRequest: TypeAlias = type[TorchTensor[_Torch]] | Literal["torch"]


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
    "DiffOutValue",
    "DiffTensorValue",
    "DiffTorchTensor",
    "DiffTorchValue",
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
    "SampledTexture",
    "Stream",
    "StructValue",
    "Tangents",
    "TensorRequest",
    "TensorValue",
    "TorchRequest",
    "TorchTensor",
    "TorchValue",
    "VectorValue",
]
