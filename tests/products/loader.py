"""Imports the modules that were generated for these tests."""

import importlib
from collections.abc import Callable
from types import ModuleType

Loader = Callable[[str], ModuleType]


def load(name: str) -> ModuleType:
    """The module of specs/NAME.kf.json."""
    return importlib.import_module(f"kf_{name}.{name}")
