"""Functions as PyTorch's own operators."""

from copy import deepcopy
from typing import Any

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._traced import key_of_state, traced_call
from kernelfunctions.torch._watched import register_calls, state_of


class Operator:
    """A function, with its configuration, as an operator of PyTorch."""

    def __init__(self, function: _kf.Function, before: tuple[Any, ...] = ()) -> None:
        self.function = function
        #: What goes first into every call: a method's object.
        self.before = before
        self.state = state_of(function)
        self.__name__ = function.name
        self.__doc__ = function.__doc__

        if not self.state.description.configured and self.state.description.launch is None:
            register_calls(function)
        self.key = key_of_state(self.state)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return traced_call(self.key, (*self.before, *args), kwargs)
        return self.function(*self.before, *args, **kwargs)

    def bound(self, this: Any) -> "Operator":
        """A method's operator for one object."""
        return Operator(self.function, (this,))

    def __reduce__(self) -> tuple[Any, ...]:
        return Operator, (self.function, self.before)

    def __copy__(self) -> "Operator":
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> "Operator":
        return Operator(self.function, deepcopy(self.before)) if self.before else self

    def __repr__(self) -> str:
        return f"<operator {self.state.description.module}.{self.function.name}>"


def operator(function: _kf.Function) -> Operator:
    """Returns a function as an operator: NAME.f.torch()."""
    return Operator(function)


def register(module: _kf.Module) -> None:
    """Registers the operators of a module's functions: NAME.torch.register()."""
    for name in module.functions:
        register_calls(module.function(name))
