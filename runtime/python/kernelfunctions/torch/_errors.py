"""Errors with the function's and the argument's names: the runtime's own classes and ids."""

from typing import NoReturn

from kernelfunctions._kf import _error as error

__all__ = ["error", "refuse"]


def refuse(code: str, name: str, argument: str, reason: str) -> NoReturn:
    """Raises the error that names what is wrong; `argument` is empty where it is none in particular."""
    where = f"{name}: argument '{argument}': " if argument else f"{name}: "
    raise error(code, where + reason)
