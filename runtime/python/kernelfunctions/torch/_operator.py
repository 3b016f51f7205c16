"""Functions as PyTorch's own operators."""

from typing import Any

from kernelfunctions import _kf
from kernelfunctions.torch import _host
from kernelfunctions.torch._watched import is_watched, state_of, watched_call


class Operator:
    """A function, with its configuration, as an operator of PyTorch."""

    def __init__(self, function: _kf.Function, before: tuple[Any, ...] = ()) -> None:
        self.function = function
        #: What goes first into every call: a method's object.
        self.before = before
        self.state = state_of(function)
        self.__name__ = function.name
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not is_watched((*self.before, *args), kwargs):
            return _host.call(self.function, (*self.before, *args), kwargs)
        return watched_call(self.function, (*self.before, *args), kwargs)

    def bound(self, this: Any) -> "Operator":
        """A method's operator for one object."""
        return Operator(self.function, (this,))

    def __repr__(self) -> str:
        return f"<operator {self.state.description.module}.{self.function.name}>"


def operator(function: _kf.Function) -> Operator:
    """Returns a function as an operator: NAME.f.torch()."""
    return Operator(function)
