"""What pip installs: the wheels of kernelfunctions and kfgen, in virtual environments with nothing else."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

LARGEST = {"kernelfunctions": 2_000_000, "kfgen": 30_000_000}
PROGRAM = """\
import kernelfunctions as kf
import numpy as np
from polynomial import polynomial

x = kf.Tensor.from_numpy(np.array([1, 2, 3, 4], np.float32)).with_grads()
y = polynomial(2, 8, -1, x)
polynomial.backward(2, 8, -1, x, y)
print(y.to_numpy().tolist(), x.grad.to_numpy().tolist())
"""
PRINTED = "[9.0, 23.0, 41.0, 63.0] [12.0, 16.0, 20.0, 24.0]\n"


def run(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Returns what a program prints that succeeds, in an environment that says nothing of Python or Slang."""
    told = {"PYTHONPATH", "PYTHONHOME", "SLANG_ROOT", "VULKAN_SDK", "LD_LIBRARY_PATH", "KFGEN_CACHE_DIR"}
    inherited = {name: value for name, value in os.environ.items() if name not in told}
    done = subprocess.run(
        command, cwd=cwd, env={**inherited, **(env or {})}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


class Environment:
    """A virtual environment with NumPy alone, in a folder whose name has spaces."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        self.folder = folder / "an environment"
        self.wheels = wheels
        self.python = self.folder / "bin" / "python"
        run(sys.executable, "-m", "venv", "--without-pip", self.folder)
        self.packages = next(self.folder.glob("lib/python*/site-packages"))
        for path in Path(sysconfig.get_path("platlib")).iterdir():
            if re.fullmatch(r"numpy(|\.libs|-.*\.dist-info)", path.name):
                (self.packages / path.name).symlink_to(path)

    def pip(self, *arguments: str) -> str:
        pip = (sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check")
        return run(*pip, *arguments)

    def install(self, *requirements: str) -> None:
        self.pip("install", "-q", "--no-index", "--find-links", str(self.wheels), *requirements)

    def files(self) -> set[Path]:
        return {path.relative_to(self.folder) for path in self.folder.rglob("*")}


@pytest.fixture(scope="module")
def wheels(build_dir: Path, source_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    run(sys.executable, source_dir / "cmake" / "wheels.py", "--build", build_dir, "--output", folder)
    return folder


@pytest.fixture(scope="module")
def tool(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Where kernels are generated."""
    environment = Environment(tmp_path_factory.mktemp("tool"), wheels)
    environment.install("kernelfunctions[tool]")
    return environment


@pytest.fixture(scope="module")
def runtime(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Where programs run."""
    environment = Environment(tmp_path_factory.mktemp("runtime"), wheels)
    environment.install("kernelfunctions")
    return environment


def shown(source_dir: Path, language: str) -> str:
    """The last block in a language of the page on installing, before it comes to building from source."""
    page = (source_dir / "docs" / "installing.md").read_text().partition("## From source")[0]
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return found[-1]


@pytest.fixture(scope="module")
def project(tool: Environment, source_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's Slang file, what the installed kfgen made of it, and a program."""
    folder = tmp_path_factory.mktemp("a project")
    (folder / "polynomial.slang").write_text(shown(source_dir, "slang"))
    (folder / "program.py").write_text(PROGRAM)
    kfgen = tool.folder / "bin" / "kfgen"

    def generate(made: str) -> None:
        command = (kfgen, "generate", "polynomial.kf.json", "-o", made, "--python")
        run(*command, "--cache-dir", "cache", cwd=folder)

    # The spec that kfgen writes compiles as it is; the page's is edited.
    run(kfgen, "init", "polynomial.slang", cwd=folder)
    generate("started")
    (folder / "polynomial.kf.json").write_text(shown(source_dir, "json"))
    generate("made")
    return folder


def wheel(folder: Path, name: str) -> Path:
    (found,) = folder.glob(f"{name}-*.whl")
    return found


def version(source_dir: Path) -> str:
    """CMake's, which is the only one that is written down."""
    found = re.search(r"project\(KernelFunctions VERSION (\S+)", (source_dir / "CMakeLists.txt").read_text())
    assert found
    return found[1]


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith("/"):
                yield name, archive.read(name)


def metadata(path: Path) -> Message:
    (found,) = (data for name, data in members(path) if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(found)


def sources(folder: Path) -> set[str]:
    """A package's files in the repository, from its name on."""
    paths = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder.parent).as_posix() for path in paths}


def dist_info(name: str, version: str, *more: str) -> set[str]:
    files = {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE", *more}
    return {f"{name}-{version}.dist-info/{file}" for file in files}


def test_kernelfunctions_is_its_package_and_nothing_else(wheels: Path, source_dir: Path) -> None:
    extension = "kernelfunctions/_kf" + sysconfig.get_config_var("EXT_SUFFIX")
    package = sources(source_dir / "runtime" / "python" / "kernelfunctions")
    assert {
        "kernelfunctions/py.typed",
        "kernelfunctions/_kf.pyi",
        "kernelfunctions/torch/__init__.pyi",
    } < package
    texts = [f"licenses/runtime/{folder}third_party_licenses.txt" for folder in ("", "python/")]
    about = dist_info("kernelfunctions", version(source_dir), *texts)
    assert {name for name, _ in members(wheel(wheels, "kernelfunctions"))} == package | {extension} | about


def test_kfgen_has_slang_beside_it(wheels: Path, source_dir: Path) -> None:
    names = {name for name, _ in members(wheel(wheels, "kfgen"))}
    package = sources(source_dir / "tool" / "python" / "kfgen") | {"kfgen/kfgen", "kfgen/kfgen-check"}
    about = dist_info("kfgen", version(source_dir), "entry_points.txt", "licenses/third_party_licenses.txt")
    assert package | about < names
    libraries = r"libslang-compiler\.so\.[0-9.]+|libslang-gls(lang|l-module)-[0-9.]+\.so"
    slang = rf"kfgen/({libraries}|slang-standard-module-.*)"
    rest = names - package - about
    assert {name for name in rest if not re.fullmatch(slang, name)} == set()
    assert sum(name.startswith("kfgen/libslang-") for name in rest) == 3


def test_licences_are_those_of_the_slang_inside(wheels: Path) -> None:
    """Another release of Slang may have other libraries in it: look them up, and name the release."""
    held = dict(members(wheel(wheels, "kfgen")))
    (text,) = (data.decode() for name, data in held.items() if name.endswith("third_party_licenses.txt"))
    (release,) = (
        found[1] for name in held if (found := re.search(r"libslang-compiler\.so\.0\.([0-9.]+)$", name))
    )
    assert f"\nSlang {release} (" in text
    assert f"the revisions that Slang {release} names" in text
    for library in (
        "LZ4",
        "miniz",
        "mimalloc",
        "unordered_dense",
        "cmark",
        "fast_float",
        "SPIRV-Tools",
        "glslang",
    ):
        assert f"\n{library} (" in text


@pytest.mark.parametrize("name", LARGEST)
def test_size(wheels: Path, name: str) -> None:
    assert wheel(wheels, name).stat().st_size < LARGEST[name]


def test_tags_say_what_each_needs(wheels: Path) -> None:
    """An extension needs one version of Python, a program any; both need a C library no older than some."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    for name, tag in {"kernelfunctions": f"{python}-{python}", "kfgen": "py3-none"}.items():
        assert re.fullmatch(rf"{name}-[0-9.]+-{tag}-manylinux_2_\d+_\w+\.whl", wheel(wheels, name).name)


@pytest.mark.parametrize("name", LARGEST)
def test_nothing_of_this_machine(
    wheels: Path, tmp_path: Path, source_dir: Path, build_dir: Path, name: str
) -> None:
    """No path of the build is in any file, and no library is looked for but beside those that need it."""
    ours = {
        os.fsencode(path) for path in (source_dir, build_dir, Path(sys.prefix), Path(sys.prefix).resolve())
    }
    searched = set()
    for member, data in members(wheel(wheels, name)):
        assert [path for path in ours if path + b"/" in data] == [], member
        if data.startswith(b"\x7fELF"):
            file = tmp_path / "file"
            file.write_bytes(data)
            searched |= set(re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run("readelf", "-d", file)))
    # Slang's own libraries have the second.
    assert searched <= ({"$ORIGIN", "$ORIGIN/../lib:$ORIGIN"} if name == "kfgen" else set())


def test_there_is_one_version(wheels: Path, tool: Environment, source_dir: Path, build_dir: Path) -> None:
    expected = version(source_dir)
    for name in LARGEST:
        assert metadata(wheel(wheels, name))["Version"] == expected
    assert metadata(wheel(wheels, "kernelfunctions")).get_all("Requires-Dist") == [
        "numpy>=1.24",
        f'kfgen=={expected}; extra == "tool"',
    ]
    said = run(tool.python, "-c", "import kernelfunctions; print(kernelfunctions.__version__)")
    assert said == f"{expected}\n"
    commands: list[list[str | Path]] = [
        [tool.folder / "bin" / "kfgen"],
        [tool.python, "-m", "kfgen"],
        [build_dir / "tool" / "kfgen"],
    ]
    for command in commands:
        assert run(*command, "--version") == f"kfgen {expected}\n"


def test_a_newcomers_first_program(
    tool: Environment, project: Path, source_dir: Path, tmp_path: Path
) -> None:
    """The page's commands, in a folder with its two files, and a longer program."""
    for name in ("polynomial.slang", "polynomial.kf.json"):
        (tmp_path / name).write_bytes((project / name).read_bytes())
    path = {"PATH": os.pathsep.join([str(tool.folder / "bin"), os.environ["PATH"]])}
    cache = {"KFGEN_CACHE_DIR": str(project / "cache")}
    printed = run("bash", "-ec", shown(source_dir, "sh"), cwd=tmp_path, env=path | cache)
    assert printed.splitlines()[-1] == "[ 9. 23. 41. 63.]"
    assert run(tool.python, "program.py", cwd=project, env={"PYTHONPATH": "made"}) == PRINTED


def test_artifacts_need_the_runtime_alone(runtime: Environment, project: Path, tmp_path: Path) -> None:
    listed = json.loads(runtime.pip("list", "--format", "json"))
    assert {entry["name"] for entry in listed} == {"kernelfunctions", "numpy"}
    for name in ("polynomial.py", "polynomial.kfa"):
        (tmp_path / name).write_bytes((project / "made" / name).read_bytes())
    (tmp_path / "program.py").write_text(PROGRAM)
    opened = tmp_path / "opened"
    logged = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(opened)}
    assert run(runtime.python, tmp_path / "program.py", env=logged) == PRINTED
    (log,) = tmp_path.glob("opened.*")
    libraries = {Path(name).name for name in re.findall(r"file=(\S+)", log.read_text(errors="replace"))}
    assert "libvulkan.so.1" in libraries
    assert [name for name in libraries if re.search("slang|torch", name)] == []


def test_both_kfgens_write_the_same(build_dir: Path, project: Path, tmp_path: Path) -> None:
    command = (
        build_dir / "tool" / "kfgen",
        "generate",
        project / "polynomial.kf.json",
        "-o",
        tmp_path / "made",
    )
    run(*command, "--python", "--cache-dir", tmp_path / "cache")

    def made_in(folder: Path) -> list[str]:
        # Other tests have imported what lies beside the first.
        return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")

    made = made_in(project / "made")
    assert made == made_in(tmp_path / "made")
    compared = {name for name in made if re.search(r"\.(h|cpp|kfa|py|pyi)$", name)}
    assert len(compared) == 5
    for name in compared:
        assert (project / "made" / name).read_bytes() == (tmp_path / "made" / name).read_bytes(), name


def test_gradients_are_checked(tool: Environment, project: Path) -> None:
    """The program for that is in the wheel."""
    artifact = project / "made" / "polynomial.kfa"
    assert "polynomial" in run(tool.folder / "bin" / "kfgen", "check", artifact, "--gradients")


def test_nvrtc_is_found_where_pip_puts_it(tool: Environment, project: Path) -> None:
    """What `pip install kfgen[cuda]` installs: its files are those of the tests' own environment."""
    (tool.packages / "nvidia").symlink_to(Path(sysconfig.get_path("platlib")) / "nvidia")
    command = (tool.folder / "bin" / "kfgen", "generate", "polynomial.kf.json", "-o", "for_cuda")
    run(*command, "--backend", "cuda", "--cache-dir", "cache", cwd=project)
    assert (project / "for_cuda" / "polynomial.kfa").is_file()


#: A part of the loader that finds no libclang but that of an environment.
NO_SYSTEM_LIBCLANG = """\
#include <stdint.h>
#include <string.h>
unsigned la_version(unsigned version) { return version; }
char* la_objsearch(const char* name, uintptr_t* cookie, unsigned flag) {
    return strstr(name, "libclang") && !strstr(name, "/site-packages/") ? 0 : (char*)name;
}
"""
RAY = """\
#include <array>
#include <cstdint>
namespace app {
struct Ray { std::uint32_t id; std::array<float, 3> origin; };
}
"""


def test_libclang_is_found_where_pip_puts_it(tool: Environment, wheels: Path, tmp_path: Path) -> None:
    """What `pip install kfgen[structs]` installs: its files are those of the tests' own environment."""
    assert 'libclang>=14; extra == "structs"' in (
        metadata(wheel(wheels, "kfgen")).get_all("Requires-Dist") or []
    )
    (tmp_path / "audit.c").write_text(NO_SYSTEM_LIBCLANG)
    run("cc", "-shared", "-fPIC", "audit.c", "-o", "audit.so", cwd=tmp_path)
    (tmp_path / "ray.h").write_text(RAY)
    (tmp_path / "rays.slang").write_text(
        "struct Ray { float3 origin; }; float3 start(Ray r) { return r.origin; }"
    )
    spec = {
        "version": 1,
        "name": "rays",
        "modules": ["rays.slang"],
        "structs": [{"slang": "Ray", "header": "ray.h", "type": "app::Ray"}],
        "calls": [{"function": "start", "args": {"r": "tensor[1]"}}],
    }
    (tmp_path / "rays.kf.json").write_text(json.dumps(spec))
    command: list[str | Path] = [
        tool.folder / "bin" / "kfgen",
        "generate",
        "rays.kf.json",
        "-o",
        "made",
        "--no-cache",
    ]
    environment = {**os.environ, "LD_AUDIT": str(tmp_path / "audit.so"), "KFGEN_LIBCLANG": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "[libclang-missing]" in done.stderr
    assert "`pip install kfgen[structs]`" in done.stderr
    (tool.packages / "clang").symlink_to(Path(sysconfig.get_path("platlib")) / "clang")
    run(*command, cwd=tmp_path, env=environment)
    assert "offsetof(app::Ray, origin) == 4" in (tmp_path / "made" / "rays.h").read_text()


def test_the_program_for_build_systems(tool: Environment) -> None:
    program = run(tool.python, "-c", "import kfgen; print(kfgen.executable())").strip()
    assert run(program, "--version").startswith("kfgen ")


def test_devices_are_listed(runtime: Environment) -> None:
    listed = run(runtime.python, "-m", "kernelfunctions").splitlines()
    assert listed[0].startswith("kernelfunctions ")
    assert listed[1].split() == ["DEVICE", "BACKEND", "NAME", "DRIVER"]
    ids = [line.split()[0] for line in listed[2:-1] if not line.startswith(" ")]
    assert listed[3].split()[0] == "features:"
    assert max(map(len, listed)) < 200
    assert listed[-1].removeprefix("Used where none is named: ") in ids


def test_what_to_install_where_there_is_no_device(runtime: Environment) -> None:
    none = {"VK_DRIVER_FILES": "/none.json", "VK_ICD_FILENAMES": "/none.json", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [runtime.python, "-m", "kernelfunctions"],
        env={**os.environ, "PYTHONPATH": "", **none},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("no device to run kernels on: ")
    assert "apt install libvulkan1 mesa-vulkan-drivers" in done.stderr


def test_listing_devices_ends_without_a_traceback(runtime: Environment) -> None:
    """Where nobody reads it, where nothing can be written, and where there is nothing to say."""

    def listed(redirected: str, *words: str) -> "subprocess.CompletedProcess[str]":
        program = f'"$0" -m kernelfunctions "$@" {redirected}'
        command = ["bash", "-c", program, str(runtime.python), *words]
        environment = {**os.environ, "PYTHONPATH": ""}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert listed("| true").stderr == ""
    full = listed(">/dev/full")
    assert full.returncode == 1
    assert full.stderr == (
        "python -m kernelfunctions: standard output can't be written: No space left on device\n"
    )
    unknown = listed("", "cuda")
    assert unknown.returncode == 2
    assert unknown.stderr.endswith("error: unrecognized arguments: cuda\n")
    assert listed("", "--help").stdout.startswith("usage: python -m kernelfunctions")


def test_uninstalling_leaves_nothing(wheels: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path, wheels)
    before = environment.files()
    environment.install("kernelfunctions[tool]")
    run(environment.python, "-c", "import kernelfunctions, kfgen")
    environment.pip("uninstall", "-q", "-y", "kernelfunctions", "kfgen")
    assert environment.files() == before


#: Stands in for the compiler: each source has to be there, and becomes the object of NOTHING.
NO_COMPILER = """\
#!/bin/sh
for word; do
    case $previous in
        -o) object=$word ;;
        -c) test -f "$word" || { echo "$word is missing"; exit 1; } ;;
        -MF) echo "nothing:" >"$word" ;;
    esac
    previous=$word
done
cp "${0%/*}/nothing.o" "$object"
"""
#: The build runs one of its programs, which writes FOLDER/NAME.slang-module for each NAME.slang.
NOTHING = """\
#include <stdio.h>
#include <string.h>
__attribute__((weak)) int main(int count, char** words) {
    for (int i = 2; i < count; ++i) {
        char path[4096];
        snprintf(path, sizeof path, "%s%s-module", words[1], strrchr(words[i], '/'));
        fclose(fopen(path, "w"));
    }
    return 0;
}
"""


@pytest.mark.parametrize(("name", "source"), [("kernelfunctions", "."), ("kfgen", "source")])
def test_pip_builds_source_distributions(
    wheels: Path, source_dir: Path, tmp_path: Path, name: str, source: str
) -> None:
    """All of `pip install .` but the compiler: such a wheel has the files of the packed one."""
    project = source_dir / ("." if name == "kernelfunctions" else "tool/python")
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    run(sys.executable, "-c", build, tmp_path, cwd=project)
    archive = tmp_path / f"{name}-{version(source_dir)}.tar.gz"
    assert archive.stat().st_size < 3_000_000

    (tmp_path / "nothing.c").write_text(NOTHING)
    run("cc", "-fPIC", "-c", "nothing.c", cwd=tmp_path)
    launcher = tmp_path / "no_compiler"
    launcher.write_text(NO_COMPILER)
    launcher.chmod(0o755)
    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation")
    defined = [f"cmake.define.CMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX")]
    options = [f"--config-settings={define}" for define in defined]
    run(*pip, "--no-cache-dir", "-w", tmp_path / "built", *options, archive)
    built = wheel(tmp_path / "built", name)
    assert metadata(built).as_bytes() == metadata(wheel(wheels, name)).as_bytes()
    assert {file for file, _ in members(built)} == {file for file, _ in members(wheel(wheels, name))}

    # Headers are no inputs of a build until something is compiled.
    run("tar", "-xf", archive, "-C", tmp_path)
    root = tmp_path / f"{name}-{version(source_dir)}"
    for folder in ("runtime", "tool") if name == "kfgen" else ("runtime",):
        for header in (source_dir / folder).rglob("*.h"):
            assert (root / source / header.relative_to(source_dir)).is_file(), header
    assert (root / "LICENSE").read_text() == (source_dir / "LICENSE").read_text()
