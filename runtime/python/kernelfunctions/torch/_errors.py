"""Errors with the function's and the argument's names, in PyTorch's words."""

from typing import NoReturn


def where(name: str, argument: str) -> str:
    """Returns "polynomial: argument 'x': ", or "polynomial: "."""
    return f"{name}: argument '{argument}': " if argument else f"{name}: "


def refuse(kind: type[Exception], name: str, argument: str, reason: str) -> NoReturn:
    """Raises the error that names what is wrong; `argument` is empty where it is none in particular."""
    raise kind(where(name, argument) + reason)
