"""An installed package serves a project that knows nothing else: find_package, add_kernel_functions, run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]
CONSUMER = Path(__file__).parent / "consumer"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, to be changed."""
    return shutil.copytree(CONSUMER, tmp_path_factory.mktemp("source") / "consumer")


@pytest.fixture(scope="module")
def consumer(prefix: Path, source: Path, tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    folder = tmp_path_factory.mktemp("consumer")
    configure = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    run(*configure, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder)
    return folder


def test_kernels_inside_the_program(consumer: Path, run: Run) -> None:
    assert run(consumer / "app").split() == ["2", "4", "6"]


def test_kernels_of_one_spec_twice(consumer: Path, run: Run) -> None:
    assert run(consumer / "twice").split() == ["6", "12", "18"]


def test_kernels_beside_the_program(consumer: Path, tmp_path: Path, run: Run) -> None:
    assert run(consumer / "beside").split() == ["3", "4", "5"]

    # Without its file the program says which one it wants.
    lonely = tmp_path / "beside"
    lonely.write_bytes((consumer / "beside").read_bytes())
    lonely.chmod(0o755)
    done = subprocess.run([lonely], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "offset.kfa" in done.stdout


def test_kernels_beside_a_library(consumer: Path, tmp_path: Path, run: Run) -> None:
    assert run(consumer / "bin" / "apart") == "3"

    run("cmake", "--install", consumer, "--prefix", tmp_path)
    assert run(tmp_path / "bin" / "apart") == "3"

    # The loader may have found it by a path that leads elsewhere by now.
    done = subprocess.run(
        [tmp_path / "bin" / "apart"],
        cwd=tmp_path,
        env={**os.environ, "LD_LIBRARY_PATH": "lib"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "3"

    (tmp_path / "lib" / "offset.kfa").unlink()
    done = subprocess.run([tmp_path / "bin" / "apart"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "lib/offset.kfa" in done.stdout


def test_second_build_does_nothing(consumer: Path, run: Run) -> None:
    assert "no work to do" in run("cmake", "--build", consumer)


def test_python_module_is_generated_too(consumer: Path) -> None:
    package = consumer / "scale.generated" / "consumer"
    files = {f"{name}.{suffix}" for name in ("scale", "scale_again") for suffix in ("py", "pyi", "kfa")}
    assert {path.name for path in package.iterdir()} == files | {"py.typed"}
    program = """
from consumer import scale, scale_again
assert scale_again.scale(3, [1, 2, 3]).to_numpy().tolist() == [3, 6, 9]
print(scale.scale(2, [1, 2, 3]).to_numpy().tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=package.parent, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[2.0, 4.0, 6.0]", done.stderr


def test_python_package_is_installed(prefix: Path, consumer: Path, tmp_path: Path) -> None:
    folder = Path((consumer / "python_path").read_text())
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    assert folder == prefix / "lib" / version / "site-packages"
    names = {path.name for path in (folder / "kernelfunctions").iterdir()}
    assert {"__init__.py", "_kf.pyi", "_structs.py", "typing.py", "py.typed", "torch"} < names
    assert (folder / "kernelfunctions" / "torch" / "__init__.py").is_file()
    program = """
import kernelfunctions as kf
from consumer import scale
print(kf.__file__)
print(scale.scale(2, [1, 2, 3]).to_numpy().tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(consumer / "scale.generated")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == [
        str(folder / "kernelfunctions" / "__init__.py"),
        "[2.0, 4.0, 6.0]",
    ], done.stderr


def test_gradients_are_checked(prefix: Path, consumer: Path) -> None:
    """The program for that is installed beside kfgen. What has no gradients doesn't pass for checked."""
    artifact = consumer / "scale.generated" / "scale.kfa"
    command: list[str | Path] = [prefix / "bin" / "kfgen", "check", artifact, "--gradients"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "factor  no gradient  the call has no backward pass" in done.stdout
    assert "not passed: nothing was compared" in done.stdout


def test_python_is_a_component_of_its_own(build_dir: Path, tmp_path: Path, run: Run) -> None:
    run("cmake", "--install", build_dir, "--component", "runtime", "--prefix", tmp_path / "runtime")
    assert {path.name for path in (tmp_path / "runtime" / "lib").iterdir()} == {
        *("libkf_runtime.so.0.1", "libkf_runtime.so.0.1.0"),
    }
    assert not list((tmp_path / "runtime").rglob("kernelfunctions"))
    run("cmake", "--install", build_dir, "--component", "python", "--prefix", tmp_path / "python")
    assert {path.name for path in (tmp_path / "python").iterdir()} <= {"lib"}


def test_missing_component_is_said(build_dir: Path, tmp_path: Path, run: Run) -> None:
    prefix = tmp_path / "prefix"
    run("cmake", "--install", build_dir, "--component", "development", "--prefix", prefix)
    done = subprocess.run(
        ["cmake", "-S", CONSUMER, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "without its component tool" in " ".join(done.stderr.split())


def test_compiler_caches_see_other_kernels(
    consumer: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """The sources that kfgen writes change with the artifact, which isn't among what ccache reads."""
    monkeypatch.delenv("CCACHE_DISABLE", raising=False)
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    module = source / "scale.slang"
    first = module.read_text()

    def printed(text: str) -> list[str]:
        module.write_text(text)
        run("cmake", "--build", consumer, "--target", "app")
        return run(consumer / "app").split()

    assert printed(first.replace("factor * x", "factor * x + 1")) == ["3", "5", "7"]
    assert printed(first) == ["2", "4", "6"]
    assert printed(first.replace("factor * x", "factor * x + 1")) == ["3", "5", "7"]
    # The third time the sources are the first's again.
    statistics = dict(line.split("\t") for line in run("ccache", "--print-stats").splitlines())
    assert int(statistics["cache_miss"]) == 2
    assert int(statistics["direct_cache_hit"]) == 1


def test_the_project_of_the_page(prefix: Path, source_dir: Path, tmp_path: Path, run: Run) -> None:
    """docs/cmake.md, from an empty folder."""
    page = (source_dir / "docs" / "cmake.md").read_text()
    for name, language in [("polynomial.slang", "slang"), ("CMakeLists.txt", "cmake"), ("main.cpp", "cpp")]:
        (tmp_path / name).write_text(page.split(f"```{language}\n", 1)[1].split("```")[0])
    run(prefix / "bin" / "kfgen", "init", tmp_path / "polynomial.slang")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "app") == "3 14 39 84 "
    assert "prints `3 14 39 84`" in page
