"""The cases of docs/debugging.md that run: a NaN, a wrong index, printing and a profile."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pages import page_blocks, run


@pytest.fixture
def files(source_dir: Path, build_dir: Path, tmp_path: Path) -> Path:
    """A folder with the page's files, and the module of its spec."""
    for block in page_blocks((source_dir / "docs" / "debugging.md").read_text()):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
    for spec in ("unit", "shift", "steps"):
        run(
            build_dir / "tool" / "kfgen", "generate", tmp_path / f"{spec}.kf.json", "-o", tmp_path, "--python"
        )
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


@pytest.mark.parametrize("file", ["index.py", "print.py"])
def test_reports(files: Path, source_dir: Path, file: str) -> None:
    done = printed(files, file)
    assert done.returncode != 0
    assert done.stdout + done.stderr.splitlines()[-1] + "\n" == shown(source_dir, f"python {file}"), (
        done.stderr
    )


def test_a_profile(files: Path, source_dir: Path) -> None:
    """Times, rates and the widths of columns are the device's own."""

    def words(text: str) -> list[list[str]]:
        rows = [line.split() for line in text.splitlines()]
        for row in rows[1:-1]:
            for i in (3, 4, 6):
                assert re.fullmatch(r"\d+\.\d+", row[i])
                row[i] = "N"
        return [rows[0], *sorted(rows[1:-1]), rows[-1]]

    done = printed(files, "slow.py")
    assert words(done.stdout) == words(shown(source_dir, "python slow.py")), done.stderr
    events = json.loads((files / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events[1:]] == [*["unit"] * 3, "brightness", "unit"]


def test_cpp(
    source_dir: Path, build_dir: Path, generated_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    text = (source_dir / "docs" / "debugging.md").read_text()
    (code,) = (block.text for block in page_blocks(text) if "kf::Profile" in block.text)
    include, body = code.split("\n", 1)
    (tmp_path / "main.cpp").write_text(
        f"""#include <cstdio>
{include}
#include "polynomial.h"
int main() {{
const kf::Device device = kf::Device::open();
const polynomial::Module module(device);
const auto x = device.tensor<float>({{1, 2, 3, 4}});
{body}}}
"""
    )
    run(
        "g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", source_dir / "runtime" / "include",
        "-I", generated_folder("polynomial"), tmp_path / "main.cpp", "-o", tmp_path / "app",
        build_dir / "samples" / "polynomial" / "libpolynomial.a",
        build_dir / "runtime" / "core" / "libkf_runtime.a", "-ldl",
    )  # fmt: skip
    lines = run(tmp_path / "app", cwd=tmp_path).splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["function", "pass", "calls"],
        ["polynomial", "forward", "1"],
    ]
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"][1]["name"] == "polynomial"
