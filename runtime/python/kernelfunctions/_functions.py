"""Functions by the keys by which traced code names them."""

from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from kernelfunctions._kf import Function, _tensors_of_globals

_numbers = count()

#: Functions by the keys by which traced code names them, which are strings that it guards.
_functions: "WeakValueDictionary[str, Function]" = WeakValueDictionary()


def attributes_of(function: Function) -> dict[str, Any]:
    key = f"{function.name} {next(_numbers)}"
    _functions[key] = function
    return {"_torch_key": key, "_torch_globals": _tensors_of_globals(function)}


def function_of(key: str) -> Function:
    """Returns the function that traced code names by a key."""
    return _functions[key]
