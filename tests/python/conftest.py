"""Where the Python tests find the kernels generated for them: the folders that KF_TEST_MODULES names."""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import kernelfunctions as kf

Loader = Callable[[str], ModuleType]


@pytest.fixture(scope="session")
def generated(build_dir: Path) -> Loader:
    """Imports the generated module of a spec: generated("calls") is kf_calls.calls."""
    named = os.environ.get("KF_TEST_MODULES", "")
    found = sorted((build_dir / "tests" / "python").glob("*.generated"))
    sys.path[:0] = named.split(":") if named else [str(path) for path in found]

    def load(name: str) -> ModuleType:
        return importlib.import_module(f"kf_{name}.{name}")

    return load


@pytest.fixture(scope="session")
def device() -> "kf.Device":
    """The default device; tests of tensors need one."""
    import kernelfunctions as kf  # noqa: PLC0415

    return kf.default_device()
