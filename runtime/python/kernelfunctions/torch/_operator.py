"""Functions as PyTorch's own operators."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._compiled import compiled_call
from kernelfunctions.torch._state import key_of_state, register_calls, state_of, state_with
from kernelfunctions.torch._watched import call_with


class Operator:
    """A function, with its configuration, as an operator of PyTorch."""

    def __init__(
        self, function: _kf.Function, before: tuple[Any, ...] = (), outputs: tuple[str, ...] | None = None
    ) -> None:
        self.function = function
        #: What goes first into every call: a method's object.
        self.before = before
        #: The views that calls write; None where nobody has said it.
        self.outputs = outputs
        self.state = state_of(function) if outputs is None else state_with(function, outputs)
        self.__name__ = function.name
        self.__doc__ = function.__doc__
        if not self.state.description.configured and self.state.description.launch is None:
            register_calls(self.state)
        self.key = key_of_state(self.state)
        self.globals = _kf._tensors_of_globals(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_dynamo_compiling():
            return compiled_call(self.key, (*self.before, *args), kwargs, self.globals)
        if self.outputs is not None:
            return call_with(self.state, (*self.before, *args), kwargs)
        return self.function(*self.before, *args, **kwargs)

    def bound(self, this: Any) -> "Operator":
        """A method's operator for one object."""
        return Operator(self.function, (this,), self.outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Operator, (self.function, self.before, self.outputs)

    def __copy__(self) -> "Operator":
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> "Operator":
        return Operator(self.function, deepcopy(self.before), self.outputs) if self.before else self

    def __repr__(self) -> str:
        return f"<operator {self.state.description.module}.{self.function.name}>"


def operator(function: _kf.Function, *, outputs: Sequence[str] | None = None) -> Operator:
    """Returns a function as an operator: NAME.f.torch().

    `outputs`: of its views (DiffTensorView), those that it writes; the others it reads. Autograd has to know.
    """
    return Operator(function, (), None if outputs is None else tuple(sorted(outputs)))


def register(module: _kf.Module) -> None:
    """Registers the operators of a module's functions: NAME.torch.register()."""
    for name in module.functions:
        register_calls(state_of(module.function(name)))
