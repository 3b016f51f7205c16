"""add_kernel_functions() with a stand-in for kfgen: what it runs, when, and what it refuses."""

import itertools
import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
GENERATORS = ["Ninja", "Unix Makefiles", "Ninja Multi-Config"]
#: How many commands run at a time.
JOBS = [1, 4]


class Project:
    """A copy of the consumer project, configured with one generator and built by so many jobs."""

    def __init__(self, folder: Path, generator: str, jobs: int) -> None:
        self.source = folder / "source with space" if generator == "Ninja" else folder / "source"
        self.build_dir = folder / "build"
        self.generator = generator
        self.jobs = jobs
        shutil.copytree(HERE / "consumer", self.source)

    def configure(self, *extra: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [
                *("cmake", "-S", self.source, "-B", self.build_dir, "-G", self.generator),
                f"-DKF_CMAKE_DIR={ROOT / 'cmake'}",
                f"-DKFGEN_EXECUTABLE={HERE / 'fake_kfgen.py'}",
                f"-DEXTRA_ARGUMENTS={';'.join(extra)}",
                *([] if self.generator == "Ninja Multi-Config" else ["-DCMAKE_BUILD_TYPE=Debug"]),
            ],
            capture_output=True,
            text=True,
            check=False,
        )

    def build(self) -> str:
        done = subprocess.run(
            ["cmake", "--build", self.build_dir, "--config", "Debug", "--parallel", str(self.jobs)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def set_up(self, *extra: str) -> None:
        done = self.configure(*extra)
        assert done.returncode == 0, done.stderr
        self.build()

    @property
    def output(self) -> Path:
        folder = self.build_dir / "numbers.generated"
        return folder / "Debug" if self.generator == "Ninja Multi-Config" else folder

    def app(self) -> str:
        folder = self.build_dir / "Debug" if self.generator == "Ninja Multi-Config" else self.build_dir
        return subprocess.run([folder / "app"], capture_output=True, text=True, check=True).stdout.strip()

    def runs(self) -> int:
        return len((self.output / "runs.log").read_text().splitlines())

    def command_line(self) -> list[str]:
        arguments: list[str] = json.loads((self.output / "numbers.kfa").read_text())
        return arguments


@pytest.fixture(params=itertools.product(GENERATORS, JOBS), ids=lambda pair: f"{pair[0]}-j{pair[1]}")
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    return Project(tmp_path, *request.param)


@pytest.fixture
def ninja(tmp_path: Path) -> Project:
    return Project(tmp_path, "Ninja", 4)


def test_builds_and_then_does_nothing(project: Project) -> None:
    project.set_up()
    assert project.app() == "41"
    assert project.runs() == 1
    project.build()
    project.build()
    assert project.runs() == 1


def test_what_kfgen_read_is_a_dependency(project: Project) -> None:
    project.set_up()
    (project.source / "numbers.slang").write_text("42 // another number\n")
    project.build()
    assert project.app() == "42"
    assert project.runs() == 2
    project.build()
    assert project.runs() == 2


def test_unchanged_output_compiles_nothing(project: Project) -> None:
    project.set_up()
    (project.source / "numbers.slang").write_text("41 // a comment changed\n")
    output = project.build()
    assert project.runs() == 2
    assert "Building CXX" not in output
    project.build()
    assert project.runs() == 2


def test_python_package(project: Project) -> None:
    project.set_up("PYTHON", "app.kernels")
    package = project.output / "app" / "kernels"
    assert {path.name for path in package.iterdir()} == {
        *("numbers.py", "numbers.pyi", "numbers.kfa", "py.typed"),
    }
    (project.source / "numbers.slang").write_text("43\n")
    project.build()
    assert (package / "numbers.py").read_text() == "value = 43\n"
    assert project.runs() == 2
    project.build()
    assert project.runs() == 2
    # kfgen refuses packages that can't be imported.
    arguments = project.command_line()
    assert arguments[arguments.index("--python-package") + 1] == "app.kernels"


def test_modules_of_one_package(project: Project) -> None:
    """Two targets write into one folder, at the same time."""
    shared = "PYTHON app.kernels OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/numbers.generated"
    lists = project.source / "CMakeLists.txt"
    lists.write_text(lists.read_text() + f"add_kernel_functions(more SPEC more.kf.json {shared})\n")
    spec = json.loads((project.source / "numbers.kf.json").read_text())
    (project.source / "more.kf.json").write_text(json.dumps(spec | {"name": "more"}))
    project.set_up(*shared.split()[:2])
    package = project.output / "app" / "kernels"
    files = {f"{name}.{suffix}" for name in ("numbers", "more") for suffix in ("py", "pyi", "kfa")}
    assert {path.name for path in package.iterdir()} == files | {"py.typed"}
    project.build()
    assert project.runs() == 2


def test_two_targets_of_one_spec_in_a_program(project: Project) -> None:
    lists = project.source / "CMakeLists.txt"
    other = (
        "add_kernel_functions(others SPEC numbers.kf.json NAME others DEFINITIONS OTHER ${EXTRA_ARGUMENTS})\n"
    )
    lists.write_text(lists.read_text() + other + "target_link_libraries(app PRIVATE others)\n")
    main = project.source / "main.cpp"
    text = main.read_text().replace('"numbers.h"', '"numbers.h"\n#include "others.h"')
    main.write_text(text.replace("numbers::value()", "numbers::value() + others::value()"))
    project.set_up("PYTHON", "app.kernels")
    assert project.app() == "82"
    folder = Path(str(project.output).replace("numbers.generated", "others.generated"))
    assert (folder / "app" / "kernels" / "others.py").exists()
    arguments = json.loads((folder / "others.kfa").read_text())
    assert arguments[arguments.index("--name") + 1] == "others"
    assert "--name" not in project.command_line()


def test_two_targets_of_one_name_are_refused(ninja: Project) -> None:
    """One program would find one header for both, and one folder would have the files of one."""
    lists = ninja.source / "CMakeLists.txt"
    text = lists.read_text()
    second = "add_kernel_functions(others SPEC numbers.kf.json"
    lists.write_text(text + f"{second})\ntarget_link_libraries(app PRIVATE others)\n")
    said = " ".join(ninja.configure().stderr.split())
    assert 'The INTERFACE_KF_NAME_numbers property of "others" does not agree' in said
    for more, first in (("OUTPUT_DIRECTORY numbers.generated", ()), ("NO_EMBED", ("NO_EMBED",))):
        lists.write_text(f"{text}{second} {more})\n")
        done = ninja.configure(*first)
        assert done.returncode != 0
        said = " ".join(done.stderr.split())
        assert "add_kernel_functions(others): the target 'numbers' has the NAME 'numbers' in the same" in said
    # Two programs may have one each.
    lists.write_text(f"{text}{second})\n")
    assert ninja.configure().returncode == 0


def test_tests_in_pytorch_lie_beside_the_module(ninja: Project) -> None:
    ninja.set_up("PYTHON", "app.kernels", "TORCH_TESTS")
    assert "--torch-tests" in ninja.command_line()
    for folder in (ninja.output, ninja.output / "app" / "kernels"):
        assert (folder / "numbers_torch_test.py").read_text() == "import numbers\n"
    subprocess.run(["ninja", "-C", ninja.build_dir, "clean"], check=True, capture_output=True)
    assert not (ninja.output / "numbers_torch_test.py").exists(), "the build doesn't know that it is made"


def test_arguments_reach_kfgen(ninja: Project) -> None:
    ninja.set_up(
        *("BACKENDS", "vulkan", "cuda", "NAMESPACE", "numbers", "INCLUDE_DIRECTORIES", "shaders"),
        *("DEFINITIONS", "A", "B=two words", "NO_EMBED"),
    )
    arguments = ninja.command_line()
    assert arguments[0] == str(ninja.source / "numbers.kf.json")
    assert arguments[arguments.index("--stamp") + 2 :] == [
        *("--backend", "vulkan", "--backend", "cuda", "--namespace", "numbers"),
        *("-I", str(ninja.source / "shaders"), "-D", "A", "-D", "B=two words", "--no-embed"),
    ]
    assert (ninja.build_dir / "numbers.kfa").exists()


@pytest.mark.parametrize(
    ("arguments", "how"), [([], "elf-"), (["EMBED", "incbin"], "incbin"), (["EMBED", "text"], "text")]
)
def test_ways_to_embed(ninja: Project, arguments: list[str], how: str) -> None:
    ninja.set_up(*arguments)
    line = ninja.command_line()
    assert line[line.index("--embed") + 1].startswith(how)
    assert ninja.app() == "41"


def test_no_object_file_for_other_machines(ninja: Project) -> None:
    lists = ninja.source / "CMakeLists.txt"
    text = lists.read_text()
    lists.write_text(text.replace("add_kernel", "set(CMAKE_SYSTEM_PROCESSOR riscv64)\nadd_kernel"))
    ninja.set_up()
    line = ninja.command_line()
    assert line[line.index("--embed") + 1] == "incbin"
    done = ninja.configure("EMBED", "object")
    assert "no object files for Linux on 'riscv64'" in " ".join(done.stderr.split())


@pytest.mark.parametrize(("processor", "machine"), [("AMD64", "x86_64"), ("ARM64", "arm64")])
def test_object_files_for_windows(ninja: Project, processor: str, machine: str) -> None:
    """The command for it; nothing here builds for Windows."""
    lists = ninja.source / "CMakeLists.txt"
    windows = f"set(UNIX)\nset(WIN32 1)\nset(CMAKE_SYSTEM_PROCESSOR {processor})\n"
    lists.write_text(lists.read_text().replace("add_kernel", windows + "add_kernel"))
    done = ninja.configure()
    assert done.returncode == 0, done.stderr
    rules = (ninja.build_dir / "build.ninja").read_text()
    assert f"--embed coff-{machine}" in rules
    assert "numbers.kfa.obj" in rules


def test_specs_may_have_comments(ninja: Project) -> None:
    spec = ninja.source / "numbers.kf.json"
    spec.write_text("// A module.\n" + spec.read_text())
    assert ninja.configure().returncode == 0


def test_header_installs(ninja: Project, tmp_path: Path) -> None:
    ninja.set_up()
    subprocess.run(
        ["cmake", "--install", ninja.build_dir, "--prefix", tmp_path / "prefix"],
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "prefix" / "include" / "numbers.h").exists()


def test_device_header_is_an_output_too(ninja: Project, tmp_path: Path) -> None:
    spec = ninja.source / "numbers.kf.json"
    spec.write_text(json.dumps(json.loads(spec.read_text()) | {"outputs": ["cuda_header"]}))
    ninja.set_up()
    header = ninja.output / "numbers.cuh"
    assert header.exists()
    subprocess.run(["ninja", "-C", ninja.build_dir, "clean"], check=True, capture_output=True)
    assert not header.exists(), "the build doesn't know that it is made"
    ninja.build()
    install = ["cmake", "--install", str(ninja.build_dir), "--prefix", str(tmp_path / "prefix")]
    subprocess.run(install, check=True, capture_output=True)
    assert (tmp_path / "prefix" / "include" / "numbers.cuh").exists()


def test_headers_of_structs_are_compiled_as_the_target_is(project: Project) -> None:
    spec = project.source / "numbers.kf.json"
    structs = [{"slang": "Ray", "header": "ray.h", "type": "Ray"}]
    spec.write_text(json.dumps(json.loads(spec.read_text()) | {"structs": structs}))
    lists = project.source / "CMakeLists.txt"
    linked = """
add_library(scene INTERFACE)
target_include_directories(scene INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/scene headers")
target_compile_definitions(scene INTERFACE WIDE=1 "TEXT=\\"a b\\"")
target_compile_definitions(scene INTERFACE $<$<COMPILE_LANGUAGE:C>:FOR_C>)
target_compile_options(scene INTERFACE -Wall -fshort-enums $<$<COMPILE_LANGUAGE:CXX>:-mavx2> -O1)
target_link_libraries(numbers PUBLIC scene)
set_target_properties(numbers PROPERTIES CXX_STANDARD 23)
"""
    lists.write_text(lists.read_text().replace("LANGUAGES CXX", "LANGUAGES C CXX") + linked)
    project.set_up()
    options = project.output / "numbers.cxx_options"
    assert f"@{options}" in project.command_line()
    words = shlex.split(options.read_text())
    assert words[0] == "--cxx-option=-std=c++23"
    for folder in (project.source, project.source / "scene headers"):
        assert f"--cxx-option=-I{folder}" in words
    definitions = ["--cxx-option=-DWIDE=1", '--cxx-option=-DTEXT="a b"']
    assert words[-4:] == [*definitions, "--cxx-option=-fshort-enums", "--cxx-option=-mavx2"]
    lists.write_text(lists.read_text().replace("WIDE=1", "WIDE=2"))
    project.build()
    assert project.runs() == 2
    project.build()
    assert project.runs() == 2


def test_cross_compiling_names_the_target(ninja: Project) -> None:
    spec = ninja.source / "numbers.kf.json"
    structs = [{"slang": "Ray", "header": "ray.h", "type": "Ray"}]
    spec.write_text(json.dumps(json.loads(spec.read_text()) | {"structs": structs}))
    lists = ninja.source / "CMakeLists.txt"
    cross = "set(CMAKE_CROSSCOMPILING ON)\nset(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)\nadd_kernel"
    lists.write_text(lists.read_text().replace("add_kernel", cross))
    done = ninja.configure()
    assert done.returncode == 0, done.stderr
    words = shlex.split((ninja.output / "numbers.cxx_options").read_text())
    assert words[0] == "--cxx-option=--target=aarch64-linux-gnu"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["COLOUR", "red"], "unknown arguments: COLOUR"),
        (["BACKENDS", "metal"], "unknown backend 'metal'"),
        (["SPEC", "missing.kf.json"], "the spec does not exist"),
        (["SPEC", "nameless.kf.json"], 'can\'t read "name"'),
        (["SPEC", "misnamed.kf.json"], "must be an identifier, not 'a-b'"),
        (["NAMESPACE"], "no value after: NAMESPACE"),
        (["NAME", "a-b"], "add_kernel_functions(numbers): NAME must be an identifier, not 'a-b'"),
        (["EMBED", "hex"], "unknown EMBED 'hex'; known: object, incbin, text"),
        (["EMBED", "text", "NO_EMBED"], "EMBED text contradicts NO_EMBED"),
        (["STATIC", "SHARED"], "a library is STATIC or SHARED"),
        (["SHARED"], "there is no kf::runtime_shared"),
        (["SHARED_RUNTIME"], "there is no kf::runtime_shared"),
        (["TORCH_TESTS"], "TORCH_TESTS needs PYTHON <package>"),
        (
            ["SPEC", "m.slang"],
            "SPEC takes a spec, NAME.kf.json, and m.slang is a Slang module; 'kfgen init m.slang' writes one",
        ),
        (["PYTHON", "2d"], "PYTHON 2d: Python can't import such a package: its name is words of letters"),
        (["PYTHON", "my-kernels"], "PYTHON my-kernels: Python can't import such a package"),
        (["PYTHON", "my..kernels"], "PYTHON my..kernels: Python can't import such a package"),
    ],
)
def test_refuses(ninja: Project, extra: list[str], message: str) -> None:
    (ninja.source / "nameless.kf.json").write_text("{}")
    (ninja.source / "misnamed.kf.json").write_text('{"name": "a-b"}')
    done = ninja.configure(*extra)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())


def test_needs_a_kfgen(ninja: Project) -> None:
    lists = ninja.source / "CMakeLists.txt"
    lists.write_text(lists.read_text().replace("add_kernel", "unset(KFGEN_EXECUTABLE CACHE)\nadd_kernel"))
    done = ninja.configure()
    assert done.returncode != 0
    assert "no kfgen: set KFGEN_EXECUTABLE" in done.stderr
