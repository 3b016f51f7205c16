"""What the tests of installed packages share: an installation, and how programs are run."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs a program that has to succeed, and gives what it printed."""

    def run(*command: str | Path, cwd: Path | None = None) -> str:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=cwd
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def prefix(build_dir: Path, tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """Where everything is installed, and then was moved to."""
    first = tmp_path_factory.mktemp("installed") / "first"
    run("cmake", "--install", build_dir, "--prefix", first)
    return first.rename(first.with_name("moved"))
