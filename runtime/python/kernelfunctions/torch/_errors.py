"""Errors with the function's and the argument's names: the runtime's own classes and ids."""

from typing import NoReturn

from kernelfunctions._kf import ArgumentError
from kernelfunctions._kf import _error as error

__all__ = ["NoOperatorError", "error", "refuse"]


class NoOperatorError(Exception):
    """Why a call can't be an operator of PyTorch's."""

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(reason)
        self.argument = argument
        self.reason = reason

    def of(self, name: str) -> ArgumentError:
        """Returns the error of a function's call."""
        where = f"{name}: argument '{self.argument}': " if self.argument else f"{name}: "
        return error("type-mismatch", where + self.reason)


def refuse(code: str, name: str, argument: str, reason: str) -> NoReturn:
    """Raises the error that names what is wrong; `argument` is empty where it is none in particular."""
    where = f"{name}: argument '{argument}': " if argument else f"{name}: "
    raise error(code, where + reason)
