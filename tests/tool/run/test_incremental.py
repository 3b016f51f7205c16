"""Which kernels a run compiles when one thing of all that kernels are made of has changed since the last."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

MAIN = """import lib;
#define GAIN 2
static const float offset = 0.5;
struct Pair { float first; float second; float sum() { return first + second; } }
extension Pair { float difference() { return first - second; } }
float helper(float x) { return x * GAIN; }
float unused(float x) { return x; }
public float calls_helper(float x) { return helper(x); }
public float calls_library(float x) { return scaled(x) + offset; }
public float uses_pair(float x) { Pair p = { x, x }; return p.sum() * p.difference(); }
#ifdef FAST
public float branches(float x) { return x; }
#else
public float branches(float x) { return x + x; }
#endif
"""
LIB = """static const float scale = 3;
public float scaled(float x) { return x * scale; }
public float other(float x) { return x; }
"""
FUNCTIONS = ("branches", "calls_helper", "calls_library", "uses_pair")
SPEC = {
    "version": 1,
    "name": "steps",
    "modules": ["m.slang"],
    "targets": ["vulkan"],
    "calls": [{"function": name, "args": {"x": "value"}} for name in FUNCTIONS],
}

UNUSED = "float unused(float x) { return 2 * x;"

#: A file, what is replaced in it and by what, and the functions whose kernels that reaches.
CHANGES = {
    "nothing": ("m.slang", "", "", ()),
    "a comment": ("m.slang", "float helper", "// says what\n/* and\n how */ float helper", ()),
    "line breaks and blanks": ("m.slang", "{ return helper(x); }", "{\n    return helper( x );\n}", ()),
    "a function that no kernel reaches": ("m.slang", "float unused(float x) { return x;", UNUSED, ()),
    "a new function": ("m.slang", "float unused", "float more(float x) { return 7 * x; }\nfloat unused", ()),
    "a function that is called": ("m.slang", "x * GAIN", "GAIN * x + 1", ("calls_helper",)),
    "the function itself": ("m.slang", "scaled(x) + offset", "scaled(x) - offset", ("calls_library",)),
    "a macro": ("m.slang", "GAIN 2", "GAIN 4", ("calls_helper",)),
    "a constant": ("m.slang", "offset = 0.5", "offset = 0.75", ("calls_library",)),
    "a method": ("m.slang", "first + second", "first + 2 * second", ("uses_pair",)),
    "an extension": ("m.slang", "first - second", "first - 2 * second", ("uses_pair",)),
    "a branch": ("m.slang", "x + x", "x + x + x", ("branches",)),
    "an overload": (
        "m.slang",
        "float unused",
        "float helper(int x) { return x; }\nfloat unused",
        ("calls_helper",),
    ),
    "an operator": (
        "m.slang",
        "float unused",
        "Pair operator+(Pair a, Pair b) { return a; }\nfloat unused",
        FUNCTIONS,
    ),
    "an import": ("m.slang", "import lib;", "import lib;\nimport more;", FUNCTIONS),
    "an imported function": ("lib.slang", "x * scale", "x * scale + 1", ("calls_library",)),
    "an imported constant": ("lib.slang", "scale = 3", "scale = 4", ("calls_library",)),
    "an imported function that nobody calls": ("lib.slang", "return x;", "return x + 1;", ()),
    "a line that asks for its number": ("lib.slang", "return x;", "return x + __LINE__;", FUNCTIONS),
}


def compiled_for(said: str, what: str) -> set[str]:
    lines = [line.split(": ") for line in said.splitlines() if f"({what})" in line]
    return {name.split(".")[0] for how, name in lines if how == "compiled"}


@pytest.fixture
def run(build_dir: Path, tmp_path: Path) -> Callable[..., set[str]]:
    """Writes the project, runs kfgen and says of which functions it compiled kernels."""

    def run(files: dict[str, str], *options: str, cache: str | None = "cache", out: str = "out") -> set[str]:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        command = [str(build_dir / "tool" / "kfgen"), "generate", "steps.kf.json", "-v", "-o", out, *options]
        if "--no-cache" not in options and cache is not None:
            command += ["--cache-dir", cache]
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return compiled_for(done.stdout, "spirv")

    return run


def project(**changed: str) -> dict[str, str]:
    files = {"m.slang": MAIN, "lib.slang": LIB, "more.slang": "public float more_of(float x) { return x; }\n"}
    return files | {"steps.kf.json": json.dumps(SPEC)} | changed


def test_kernels_are_compiled_again_when_something_that_they_reach_has_changed(
    run: Callable[..., set[str]], tmp_path: Path
) -> None:
    assert run(project()) == set(FUNCTIONS)
    wrong = {}
    for what, (file, old, new, reached) in CHANGES.items():
        files = project()
        assert old in files[file], what
        files[file] = files[file].replace(old, new, 1)
        compiled = run(files)
        if compiled != set(reached):
            wrong[what] = compiled
    assert not wrong
    # All that is there now was kept: as it was, nothing is compiled.
    assert run(project()) == set()


def test_options_and_the_spec_count_as_far_as_kernels_depend_on_them(run: Callable[..., set[str]]) -> None:
    run(project())
    assert run(project(), "--namespace", "other::names") == set()
    assert run(project(), "-D", "FAST") == set(FUNCTIONS)
    calls = [{"function": name, "args": {"x": "value"}} for name in FUNCTIONS[1:]]
    more = SPEC | {"calls": [{"function": "branches", "args": {"x": ["value", "tensor[1]"]}}, *calls]}
    assert run(project(**{"steps.kf.json": json.dumps(more)})) == {"branches"}


def test_without_a_cache_every_kernel_is_compiled_though_nothing_changed(
    run: Callable[..., set[str]], tmp_path: Path
) -> None:
    assert run(project(), "--no-cache") == set(FUNCTIONS)
    first = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("steps.*")}
    assert run({}, "--no-cache") == set(FUNCTIONS)
    assert run({}, "--no-cache", "--dry-run") == set(FUNCTIONS)
    # What was the same isn't written again, and a run with a cache has nothing to do.
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("steps.*")} == first
    assert run({}) == set()


def test_the_cache_changes_no_byte(run: Callable[..., set[str]], tmp_path: Path) -> None:
    run(project())
    changed = MAIN.replace("x * GAIN", "x + GAIN").replace(
        "float unused", "// why\nfloat more(int n) { return n; }\nfloat unused"
    )
    assert run(project(**{"m.slang": changed})) == {"calls_helper"}
    assert run({}, "--no-cache", out="fresh") == set(FUNCTIONS)
    for name in ("steps.kfa", "steps.h", "steps.cpp"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes()


def test_a_damaged_entry_is_compiled_again(run: Callable[..., set[str]], tmp_path: Path) -> None:
    run(project())
    for entry in (tmp_path / "cache").glob("??/*"):
        entry.write_bytes(entry.read_bytes()[:-1])
    assert run(project(**{"m.slang": MAIN + "// changed\n"})) == set(FUNCTIONS)
    assert run(project()) == set()


def test_the_cache_is_in_the_users_folder_and_bounded(
    run: Callable[..., set[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KFGEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    kept = tmp_path / "home" / "kernelfunctions"
    # Below what the kernels take: most have to go again.
    run(project(), "--cache-size", "20K", cache=None)
    assert any(kept.glob("??/*"))
    assert sum(-(-entry.stat().st_size // 4096) * 4096 for entry in kept.glob("??/*")) <= 20 * 1024


CUDA_SPEC = SPEC | {
    "targets": [{"cuda": {"arch": ["sm_80"]}}],
    "calls": [
        {"function": name, "args": {"x": "value"}} for name in ("branches", "calls_helper", "uses_pair")
    ],
}


def test_a_change_reaches_the_same_kernels_for_cuda(build_dir: Path, tmp_path: Path) -> None:
    """NVRTC compiles each kernel by itself, and gives it the same bytes whatever the cache has."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}

    def run(main: str, *options: str) -> tuple[set[str], set[str], bytes]:
        for name, text in project(**{"m.slang": main, "steps.kf.json": json.dumps(CUDA_SPEC)}).items():
            (tmp_path / name).write_text(text)
        command = [
            str(build_dir / "tool" / "kfgen"),
            "generate",
            "steps.kf.json",
            "-v",
            "-o",
            "out",
            *options,
        ]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        artifact = (tmp_path / "out" / "steps.kfa").read_bytes()
        return compiled_for(done.stdout, "cuda"), compiled_for(done.stdout, "sm_80"), artifact

    kept = ("--cache-dir", "cache")
    functions = {"branches", "calls_helper", "uses_pair"}
    first = run(MAIN, *kept)
    assert first[:2] == (functions, functions)
    assert run(MAIN.replace("float helper", "// says what\nfloat helper"), *kept)[:2] == (set(), set())
    changed = MAIN.replace("x * GAIN", "GAIN * x + 1")
    warm = run(changed, *kept)
    assert warm[:2] == ({"calls_helper"}, {"calls_helper"})
    # One worker precompiles Slang's prelude, and three don't.
    for jobs in ("1", "3"):
        assert run(changed, "--no-cache", "-j", jobs)[2] == warm[2], jobs
    # What differs for Slang alone comes to the same CUDA source, which NVRTC has compiled before.
    same = run(MAIN.replace("float helper", "float helper(int n) { return n; }\nfloat helper"), *kept)
    assert same[:2] == ({"calls_helper"}, set())
    assert same[2] == first[2]
