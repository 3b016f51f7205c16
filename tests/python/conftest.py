"""Where the Python tests find the kernels generated for them: the folders that KF_TEST_MODULES names."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loader import Loader, load

if TYPE_CHECKING:
    import kernelfunctions as kf


@pytest.fixture(scope="session")
def generated(build_dir: Path) -> Loader:
    """generated("calls") is the module of specs/calls.kf.json."""
    named = os.environ.get("KF_TEST_MODULES", "")
    folders = (build_dir / "tests" / "python", build_dir.parent / "generated")
    found = sorted(path for folder in folders for path in folder.glob("kf_python_*.generated"))
    sys.path[:0] = named.split(":") if named else [str(path) for path in found]
    return load


@pytest.fixture(scope="session")
def device() -> "kf.Device":
    """The default device; tests of tensors need one."""
    import kernelfunctions as kf  # noqa: PLC0415

    return kf.default_device()
