"""kernelfunctions with PyTorch. A stub, so that checking a program doesn't check what is behind it."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic

import torch  # type: ignore[import-not-found, unused-ignore]
from typing_extensions import TypeVar

from kernelfunctions._kf import Function, Module
from kernelfunctions._structs import BoundFunction

__all__ = ["FieldsModule", "FunctionModule", "Operator", "module", "operator", "register", "shared_pool"]

_Function = TypeVar("_Function", bound=Function)
_Called = TypeVar("_Called", bound=Function | BoundFunction, default=Any)

class Operator(Generic[_Called]):
    """A function, with its configuration, as an operator of PyTorch."""

    @property
    def __name__(self) -> str: ...
    @property
    def __doc__(self) -> str | None: ...  # type: ignore[override]
    @property
    def __call__(self) -> _Called:
        """Takes what the function takes."""
    @property
    def function(self) -> Function: ...
    @property
    def key(self) -> str:
        """What names it in traced code."""
    def bound(self, this: Any) -> Operator:
        """A method's operator for one object."""

def operator(function: _Function, *, outputs: Sequence[str] | None = None) -> Operator[_Function]:
    """Returns a function as an operator: NAME.f.torch().

    `outputs`: of its views (DiffTensorView), those that it writes; the others it reads. Autograd has to know.
    """

def register(module: Module) -> None:
    """Registers the operators of a module's functions: NAME.torch.register()."""

class FieldsModule(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """The fields of a struct that a FunctionModule holds, or the elements of an array of structs."""

class FunctionModule(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """A function some of whose arguments are the module's parameters and buffers: kf.torch.module() makes it.

    forward() takes the other arguments, in the function's order or by name.
    """

    @property
    def function(self) -> Function:
        """The function that is called."""
    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        """Calls the function with what the module holds and what is given."""

def module(
    function: Function | Operator | BoundFunction,
    parameters: Mapping[str, Any] | None = None,
    *,
    buffers: Mapping[str, Any] | None = None,
    copy: bool = True,
) -> FunctionModule:
    """Returns a torch.nn.Module that calls the function; the other arguments are given to forward().

    `parameters` are values by argument: {"weights": tensor, "ray.origin": tensor, "size": (64, 64)}. A tensor
    that the function has a gradient for becomes an nn.Parameter, another one a buffer; the tensors of a
    struct are a submodule's; what isn't a tensor stays as it is. `buffers` are tensors that are not trained.
    """

def shared_pool() -> torch.cuda.MemPool:
    """The current device's pool of memory that CUDA and Vulkan both have."""
