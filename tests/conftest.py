"""Where the Python tests find what was built: build/release, or the folder that KF_BUILD_DIR names."""

import os
import sys
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
