"""Slang's warnings are kfgen's own: printed once with place and id, and errors with --werror."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

MODULE = """\
import parts;
float3 half_of(float3 v)
{
    return v * 0.5;
    v = v * 2;
    return v;
}
[Differentiable]
float scaled(float x, int first)
{
    float s = 0;
    [MaxIters(6)]
    for (int i = first; i < 6; ++i)
    {
        s += x * i;
    }
    return s * part(x);
}
"""
PARTS = """\
#warning parts.slang will go
[Differentiable]
float part(float x)
{
    float never;
    return x + detach(never);
}
"""
CALLS = [
    {"function": "half_of", "args": {"v": ["value", "tensor[1]"]}},
    {
        "function": "scaled",
        "args": {"x": ["value", "tensor[1]"], "first": ["value", "tensor[1]"]},
        "backward": True,
    },
]
WARNINGS = [
    ("parts.slang", 1, 2, "slang-E15901"),
    ("parts.slang", 6, 22, "slang-E41016"),
    ("m.slang", 5, 5, "slang-E41000"),
]


class Project:
    """A spec, its modules, and the kfgen of a build."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.kfgen = build / "tool" / "kfgen"
        self.folder = folder
        self.spec = folder / "m.kf.json"
        self.output = folder / "out"
        spec = {"version": 1, "name": "m", "modules": ["m.slang"], "targets": ["vulkan"], "calls": CALLS}
        self.spec.write_text(json.dumps(spec))
        (folder / "m.slang").write_text(MODULE)
        (folder / "parts.slang").write_text(PARTS)

    def run(self, command: str, *options: object) -> "subprocess.CompletedProcess[str]":
        arguments = [command, self.spec, *options]
        if command == "generate":
            arguments += ["-o", self.output]
        done = subprocess.run(
            [self.kfgen, *map(str, arguments)],
            env=os.environ | {"KFGEN_CACHE_DIR": str(self.folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        # Where a run takes long, it says how far it is.
        done.stderr = re.sub(r"^\[\d+/\d+\] .*\n", "", done.stderr, flags=re.MULTILINE)
        return done

    def lines(self, severity: str = "warning") -> list[str]:
        """What each line of the diagnostics begins with."""
        return sorted(
            f"{self.folder / file}:{line}:{column}: {severity}: " for file, line, column, _ in WARNINGS
        )


@pytest.fixture
def project(build_dir: Path, tmp_path: Path) -> Project:
    return Project(build_dir, tmp_path)


def starts(text: str) -> list[str]:
    """What the messages begin with, without the lines of the source below them."""
    lines = [line for line in text.splitlines() if not line.startswith(" ")]
    return sorted(": ".join(line.split(": ")[:2]) + ": " for line in lines)


@pytest.mark.parametrize("command", ["generate", "check", "list"])
def test_every_command_warns_once(project: Project, command: str) -> None:
    done = project.run(command)
    assert done.returncode == 0, done.stderr
    assert starts(done.stderr) == project.lines()
    for _, _, _, name in WARNINGS:
        assert done.stderr.count(f"[{name}]") == 1
    assert "'never'" in done.stderr
    assert project.run(command, "-q").stderr == ""
    found = [json.loads(line) for line in project.run(command, "--error-format", "json").stderr.splitlines()]
    places = sorted((Path(one["file"]).name, one["line"], one["column"], one["id"]) for one in found)
    assert places == sorted(WARNINGS)
    assert {one["severity"] for one in found} == {"warning"}


@pytest.mark.parametrize("command", ["generate", "check", "list"])
@pytest.mark.parametrize("more", [[], ["-q"]])
def test_werror_writes_nothing(project: Project, command: str, more: list[str]) -> None:
    done = project.run(command, "--werror", *more)
    assert done.returncode == 1
    assert starts(done.stderr) == project.lines("error")
    assert done.stdout == ""
    assert not project.output.exists()


def test_a_run_that_changes_nothing_warns_again(project: Project) -> None:
    first = project.run("generate")
    header = project.output / "m.h"
    written = header.stat().st_mtime_ns
    again = project.run("generate", "-v")
    assert again.stdout == "nothing changed\n"
    assert again.stderr == first.stderr
    stopped = project.run("generate", "--werror", "--stamp", project.folder / "stamp")
    assert stopped.returncode == 1
    assert starts(stopped.stderr) == project.lines("error")
    assert not (project.folder / "stamp").exists()
    assert project.run("generate", "--werror").returncode == 1
    assert header.stat().st_mtime_ns == written


def test_kept_kernels_keep_their_warnings(project: Project) -> None:
    first = project.run("generate")
    for path in project.output.iterdir():
        path.unlink()
    assert project.run("generate").stderr == first.stderr


def test_a_pragma_silences_and_then_werror_is_fine(project: Project) -> None:
    (project.folder / "parts.slang").write_text(
        PARTS.replace("#warning parts.slang will go", "#pragma warning(disable : 41016)")
    )
    (project.folder / "m.slang").write_text(MODULE.replace("    v = v * 2;\n    return v;\n", ""))
    done = project.run("generate", "--werror")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert (project.output / "m.kfa").exists()


def test_errors_do_not_hide_warnings(project: Project) -> None:
    (project.folder / "m.slang").write_text(MODULE + "float broken() { return nowhere; }\n")
    done = project.run("check")
    assert done.returncode == 1
    assert "error: undefined identifier 'nowhere'" in done.stderr
    assert f"{project.folder / 'parts.slang'}:1:2: warning: " in done.stderr


def test_defaults_that_hosts_lack(project: Project) -> None:
    """A value that only running code tells, and short forms of calls that would mean two functions."""
    (project.folder / "m.slang").write_text(
        """
int counted() { int n = 0; for (int i = 0; i < 3; ++i) n += i; return n; }
struct Settings { float x; int n = counted(); int m = 4; }
float set(Settings s) { return s.x * s.n; }
uniform Settings global;
float read(float x) { return x * global.n; }
float g(float x, float k = 3) { return x * k; }
float h(float x, int2 k = 3) { return x + k.x; }
"""
    )
    calls = [
        {"function": "set", "args": {"s": "value"}},
        {"function": "read", "args": {"x": "value"}},
        {"function": "g", "name": "f", "args": {"x": "value", "k": "value"}},
        {"function": "h", "name": "f", "args": {"x": "value", "k": "value"}},
    ]
    spec = {"version": 1, "name": "m", "modules": ["m.slang"], "targets": ["vulkan"], "calls": calls}
    project.spec.write_text(json.dumps(spec))
    done = project.run("generate")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("[field-default]") == 1
    assert "'Settings.n'" in done.stderr
    assert "[default-ambiguous]" in done.stderr
    assert project.run("generate", "--werror").returncode == 1
