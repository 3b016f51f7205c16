"""Where the Python tests find what was built: build/release, or the folder that KF_BUILD_DIR names."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILD = Path(os.environ.get("KF_BUILD_DIR", ROOT / "build" / "release")).resolve()

# The package kernelfunctions, for this process and for the programs that tests start.
sys.path.insert(0, str(BUILD / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(BUILD / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
)


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """The build tree under test."""
    return BUILD


@pytest.fixture(scope="session")
def source_dir() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def generated_folder(build_dir: Path) -> Callable[[str], Path]:
    """The folder of what kfgen wrote for a target of add_kernel_functions()."""

    def folder(target: str) -> Path:
        name = f"{target}.generated"
        return next((path for path in build_dir.rglob(name)), build_dir.parent / "generated" / name)

    return folder
