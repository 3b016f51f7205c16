"""An application with this project's sources inside: what of them it compiles."""

import subprocess
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

LISTS = """
cmake_minimum_required(VERSION 3.25)
project(Application LANGUAGES CXX)
add_subdirectory("${KF_SOURCE_DIR}" kernelfunctions)
add_executable(app "${CONSUMER}/main.cpp")
"""
LINKED = """
add_kernel_functions(numbers SPEC "${CONSUMER}/numbers.kf.json")
target_link_libraries(app PRIVATE numbers)
"""


def planned(folder: Path, lists: str, *options: str) -> list[str]:
    """Returns the objects and libraries of a build that isn't run."""
    (folder / "CMakeLists.txt").write_text(lists)
    settings = {
        **{"KF_BUILD_TOOL": "OFF", "KFGEN_EXECUTABLE": str(HERE / "fake_kfgen.py")},
        **{"KF_SOURCE_DIR": str(ROOT), "CONSUMER": str(HERE / "consumer")},
        # What only kfgen is made of needn't be installed.
        **{f"CMAKE_DISABLE_FIND_PACKAGE_{name}": "ON" for name in ("nlohmann_json", "CLI11", "Slang")},
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    build = folder / "build"
    configure = ["cmake", "--fresh", "-S", str(folder), "-B", str(build), "-G", "Ninja", *defined, *options]
    done = subprocess.run(configure, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        ["ninja", "-C", build, "-t", "inputs", "all"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line for line in listed if line.endswith((".o", ".a")) or ".so" in line]


def compiled(steps: list[str]) -> list[str]:
    """Those that compile a source of this project's."""
    return [step for step in steps if step.startswith("kernelfunctions/") and step.endswith(".o")]


def test_what_is_not_linked_is_not_compiled(tmp_path: Path) -> None:
    steps = planned(tmp_path, LISTS)
    assert [Path(step).name for step in steps] == ["main.cpp.o"]


def test_the_runtime_alone_is_compiled_in_few_steps(tmp_path: Path) -> None:
    steps = planned(tmp_path, LISTS + LINKED)
    assert 0 < len(compiled(steps)) <= 20, steps
    libraries = {Path(step).name for step in steps if step.endswith(".a")}
    assert libraries == {"libkf_artifact.a", "libkf_runtime.a", "libnumbers.a"}


def test_an_applications_own_choice_counts(tmp_path: Path) -> None:
    steps = planned(tmp_path, LISTS + LINKED, "-DCMAKE_UNITY_BUILD=OFF")
    assert len(compiled(steps)) > 100


def test_what_is_asked_for_is_built(tmp_path: Path) -> None:
    """Rules of installation install everything."""
    steps = planned(tmp_path, LISTS, "-DKF_INSTALL=ON", "-DKF_SHARED_RUNTIME=ON")
    assert any("libkf_runtime.so" in step for step in steps), steps
