"""The functions of a generated module, configured together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kernelfunctions._kf import Function, _named_globals

if TYPE_CHECKING:
    from typing_extensions import Self


class ModuleFunctions:
    """The functions of a generated module as attributes, with the same values of global parameters.

    A module's own set() makes one; the module stays as it is.
    """

    def __init__(self, name: str, functions: Mapping[str, Function]) -> None:
        self.__name__ = name
        self._functions = dict(functions)
        for member, function in functions.items():
            setattr(self, member, function)

    def set(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> "Self":
        """Returns a copy whose functions have these global parameters set, each those that it reaches.

        What isn't named stays as it is, fields of a struct that is given as a dict too.
        """
        reached = sorted({name for function in self._functions.values() for name in function.globals})
        values = _named_globals(self.__name__, reached, values)
        named = _named_globals(self.__name__, reached, named)
        functions = {}
        for member, function in self._functions.items():
            chosen = {name: value for name, value in values.items() if name in function.globals}
            more = {name: value for name, value in named.items() if name in function.globals}
            functions[member] = function.set(chosen).set(more) if chosen or more else function
        return type(self)(self.__name__, functions)

    def __repr__(self) -> str:
        return f"<functions of {self.__name__}>"
