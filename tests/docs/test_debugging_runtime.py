"""The cases of docs/debugging.md that need no other kernels: a NaN."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages import page_blocks, run


@pytest.fixture
def files(source_dir: Path, build_dir: Path, tmp_path: Path) -> Path:
    """A folder with the page's files, and the module of its spec."""
    for block in page_blocks((source_dir / "docs" / "debugging.md").read_text()):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
    run(build_dir / "tool" / "kfgen", "generate", tmp_path / "unit.kf.json", "-o", tmp_path, "--python")
    return tmp_path


def shown(source_dir: Path, command: str) -> str:
    """What the page shows below the command."""
    text = (source_dir / "docs" / "debugging.md").read_text()
    (found,) = (block.text for block in page_blocks(text) if block.text.startswith(f"$ {command}\n"))
    return found.split("\n", 1)[1]


def printed(folder: Path, file: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])
    return subprocess.run(
        [sys.executable, file],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_nan(files: Path, source_dir: Path) -> None:
    quiet = printed(files, "nan.py")
    assert quiet.stdout == shown(source_dir, "python nan.py"), quiet.stderr
    checked = printed(files, "nan.py", KF_CHECK="nan")
    assert checked.returncode != 0
    assert checked.stdout == ""
    assert checked.stderr.splitlines()[-1:] == shown(source_dir, "KF_CHECK=nan python nan.py").splitlines()
