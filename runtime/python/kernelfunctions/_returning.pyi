"""What type checkers know of functions whose results' type was chosen."""

from typing import Any, Generic, overload

import numpy.typing as npt
from typing_extensions import TypeVar

from kernelfunctions._kf import Function, Tensor
from kernelfunctions.typing import ArrayRequest, TensorRequest, TorchRequest

_Torch = TypeVar("_Torch", default=Any)
_Result_co = TypeVar("_Result_co", covariant=True, default=Any)

class Returning(Function, Generic[_Result_co]):
    """A function whose result is of the type that return_type() was given."""

    def __call__(self, *args: Any, **kwargs: Any) -> _Result_co: ...
    def call(self, *args: Any, **kwargs: Any) -> _Result_co: ...
    @overload  # type: ignore[override]
    def return_type(self, type: None, /) -> Function: ...
    @overload
    def return_type(self, type: ArrayRequest, /) -> Returning[npt.NDArray[Any]]: ...
    @overload
    def return_type(self, type: TensorRequest, /) -> Returning[Tensor]: ...
    @overload
    def return_type(self, type: TorchRequest[_Torch], /) -> Returning[_Torch]: ...
