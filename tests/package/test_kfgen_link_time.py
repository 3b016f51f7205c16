"""Values of link-time declarations: what kfgen says of missing ones, and that others make other kernels."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

SOURCE = """extern static const int N;
extern static const int taken = 2;
float power(float x) { float r = 1; for (int i = 0; i < N; ++i) r *= x; return r * taken; }
"""


class Project:
    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.write("power.slang", SOURCE)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def generate(self, **more: Any) -> "subprocess.CompletedProcess[str]":
        spec = {
            "version": 1,
            "name": "power",
            "modules": ["power.slang"],
            "calls": [{"function": "power", "args": {"x": "value"}}],
        }
        self.write("power.kf.json", json.dumps(spec | more, indent=1))
        return subprocess.run(
            [self.program, "generate", "power.kf.json", "-o", "out", "--cache-dir", "cache"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def artifact(self) -> bytes:
        return (self.folder / "out" / "power.kfa").read_bytes()


@pytest.fixture(name="project")
def fixture_project(build_dir: Path, tmp_path: Path) -> Project:
    return Project(build_dir / "tool" / "kfgen", tmp_path)


def test_a_missing_value_is_an_error_at_its_declaration(project: Project) -> None:
    done = project.generate()
    assert done.returncode == 1, done.stderr
    place = f"{project.folder}/power.slang:1:25"
    assert f"{place}: error: the link-time constant 'N' has no value" in done.stderr
    assert done.stderr.count("[link-missing]") == 1
    assert not (project.folder / "out").exists()


def test_values_and_linked_files_are_inputs(project: Project) -> None:
    assert project.generate(constants={"N": 3}).returncode == 0
    first = project.artifact()
    assert project.generate(constants={"N": 4}).returncode == 0
    assert project.artifact() != first, "another value, another kernel"
    assert project.generate(constants={"N": 3}).returncode == 0
    assert project.artifact() == first

    project.write("values.slang", "export static const int N = 3;\n")
    assert project.generate(link=["values.slang"]).returncode == 0
    assert f"{project.folder}/values.slang" in (project.folder / "out" / "power.d").read_text()
    linked = project.artifact()
    project.write("values.slang", "export static const int N = 4;\n")
    assert project.generate(link=["values.slang"]).returncode == 0
    assert project.artifact() != linked

    again = project.generate(link=["values.slang"], constants={"N": 4})
    assert again.returncode == 1
    assert "power.kf.json" in again.stderr
    assert "[link-twice]" in again.stderr
    missing = project.generate(link=["none.slang"])
    assert missing.returncode == 1
    assert "power.kf.json:" in missing.stderr
    assert "cannot read the Slang module" in missing.stderr
