"""kfgen check --gradients of every spec with gradients, as a user runs it, by the release build.

The C++ test gradients_test.cpp checks them on other devices, and some under sanitizers. `./bootstrap test`
runs this file first, because it leaves the driver's code for these kernels in Mesa's cache.
"""

import importlib.util
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# Functions whose derivatives are meant to be others, so that tests can tell who was called.
# "product" changes gradients that it finds. "through" loads what it has stored, and the check's backward pass
# has what was there before.
MEANT_TO_DIFFER = {
    "gradients": {"squashed", "twice_rough"},
    "jvp": {"scaled"},
    "fused": {"given"},
    "views": {"product", "through"},
}
# No result depends on it: a load that whole subgroups share hides that, and views are only stored to.
NOT_EXERCISED = {
    ("each_once", "all.power"),
    ("square", "output"),
    ("wide_square", "output"),
    ("through", "between"),
    ("through", "out"),
    ("by_extension.jvp", "out"),
}
SHAPES = {"neural_texture": {"w0": (16, 21), "w1": (16, 17), "w2": (3, 17)}}

# Specs of many kernels, by the artifacts that the build made. Of a spec with loops all kernels are compiled
# anew, to see what loops do past their limits; the smaller specs below go that way.
ARTIFACTS = ["strategy", "containers", "accumulate", "struct_tensors", "jvp", "fused", "launch", "views"]
# The ones that take longest come first, so that no core waits for the last of them.
SPECS = [
    *(
        f"tests/python/specs/{name}"
        for name in (
            "gradients",
            "members",
            "structs",
            "tensors",
            "generics",
            "inferred",
            "matrix",
            "generators",
            "conversions",
        )
    ),
    "tests/runtime/devices/devices",
    *(
        f"samples/{name}/{name}"
        for name in ("neural_texture", "differentiable_tensors", "methods", "polynomial", "raytrace_structs")
    ),
]


# Specs whose kernels an older Slang compiles as well: loops, structs, methods, generics.
OLDER = [
    "tests/python/specs/members",
    "tests/python/specs/inferred",
    "samples/raytrace_structs/raytrace_structs",
]


@pytest.fixture(scope="module")
def older_slang(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which kfgen loads the older Slang of slangpy's wheel, whose optimiser it has, too."""
    linked = subprocess.run(
        ["ldd", build_dir / "tool" / "kfgen"], capture_output=True, text=True, check=True
    ).stdout
    (name,) = re.findall(r"libslang-compiler\S+(?= =>)", linked)
    wheel = importlib.util.find_spec("slangpy")
    if wheel is None or not wheel.submodule_search_locations:
        pytest.fail("the wheel of slangpy is missing, which the tests need for an older Slang")
    folder = tmp_path_factory.mktemp("slang")
    (older,) = Path(wheel.submodule_search_locations[0]).glob("libslang-compiler.so.*")
    assert older.name != name, "Slang is as old as slangpy's: nothing would be compared"
    (folder / name).symlink_to(older)
    (optimiser,) = older.parent.glob("libslang-glslang-*")
    (folder / optimiser.name).symlink_to(optimiser)
    return {"LD_LIBRARY_PATH": str(folder)}


@pytest.mark.parametrize("checked", OLDER)
def test_gradients_are_right_with_an_older_slang(
    checked: str, build_dir: Path, generated_folder: Callable[[str], Path], older_slang: dict[str, str]
) -> None:
    check_gradients(checked, build_dir, generated_folder, older_slang)


def test_the_older_slang_is_used(build_dir: Path, older_slang: dict[str, str], tmp_path: Path) -> None:
    def kfgen(*words: str | Path) -> str:
        environment = {**os.environ, **older_slang}
        command = [build_dir / "tool" / "kfgen", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    kfgen("generate", ROOT / "samples" / "add" / "add.kf.json", "-o", tmp_path)
    assert "slang 2026.12" in kfgen("inspect", tmp_path / "add.kfa")


@pytest.mark.parametrize("checked", [*ARTIFACTS, *SPECS])
def test_gradients_are_right(checked: str, build_dir: Path, generated_folder: Callable[[str], Path]) -> None:
    check_gradients(checked, build_dir, generated_folder, {})


def check_gradients(
    checked: str, build_dir: Path, generated_folder: Callable[[str], Path], environment: dict[str, str]
) -> None:
    name = Path(checked).name
    subject = ROOT / f"{checked}.kf.json"
    if checked in ARTIFACTS:
        subject = generated_folder(f"kf_python_{name}") / f"{name}.kfa"
    shapes = [
        f"--shape={argument}={','.join(map(str, extents))}"
        for argument, extents in SHAPES.get(name, {}).items()
    ]
    command = [build_dir / "tool" / "kfgen", "check", subject, "--gradients"]
    backend = [] if checked in ARTIFACTS else ["--backend", "vulkan"]
    options = [*backend, "--device", "vulkan", "--format", "json", *shapes]
    # Generating the specs has left their kernels there.
    cache = {"KFGEN_CACHE_DIR": os.environ.get("KFGEN_CACHE_DIR", str(ROOT / "build" / "kernels"))}
    done = subprocess.run(
        [str(word) for word in (*command, *options)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **cache, **environment},
    )
    report = json.loads(done.stdout)
    differing = MEANT_TO_DIFFER.get(name, set())
    statuses = []
    for call in report["calls"]:
        function = call["function"].split(".jvp")[0]
        assert not call.get("failure"), call
        for one in call["inputs"]:
            if one["status"] == "not checked":
                statuses.append(one["status"])
            if one["status"] in ("no gradient", "not checked", "unused"):
                continue
            expected = "WRONG" if function in differing else "right"
            if {(function, one["name"]), (call["function"], one["name"])} & NOT_EXERCISED:
                expected = "not exercised"
            assert one["status"] == expected, (call["overload"], one)
            statuses.append(expected)
    assert "right" in statuses
    assert report["kernels_not_run"] == []
    assert done.returncode == (1 if set(statuses) != {"right"} else 0), done.stderr
