"""An installed package serves a project that knows nothing else: find_package, add_kernel_functions, run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONSUMER = Path(__file__).parent / "consumer"


def run(*command: str | Path) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build_dir, "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def consumer(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("consumer")
    run("cmake", "-S", CONSUMER, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder)
    return folder


def test_kernels_inside_the_program(consumer: Path) -> None:
    assert run(consumer / "app").split() == ["2", "4", "6"]


def test_kernels_beside_the_program(consumer: Path, tmp_path: Path) -> None:
    assert run(consumer / "beside").split() == ["3", "4", "5"]

    # Without its file the program says which one it wants.
    lonely = tmp_path / "beside"
    lonely.write_bytes((consumer / "beside").read_bytes())
    lonely.chmod(0o755)
    done = subprocess.run([lonely], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "offset.kfa" in done.stdout


def test_kernels_beside_a_library(consumer: Path, tmp_path: Path) -> None:
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


def test_second_build_does_nothing(consumer: Path) -> None:
    assert "no work to do" in run("cmake", "--build", consumer)


def test_python_module_is_generated_too(consumer: Path) -> None:
    package = consumer / "scale.generated" / "consumer"
    assert {path.name for path in package.iterdir()} == {"scale.py", "scale.pyi", "scale.kfa", "py.typed"}
    program = "from consumer import scale; print(scale.scale(2, [1, 2, 3]).to_numpy().tolist())"
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
    """The program for that is installed beside kfgen."""
    artifact = consumer / "scale.generated" / "scale.kfa"
    printed = run(prefix / "bin" / "kfgen", "check", artifact, "--gradients")
    assert "factor  no gradient  the call has no backward pass" in printed


def test_python_is_a_component_of_its_own(build_dir: Path, tmp_path: Path) -> None:
    run("cmake", "--install", build_dir, "--component", "runtime", "--prefix", tmp_path / "runtime")
    assert not list((tmp_path / "runtime").rglob("kernelfunctions"))
    run("cmake", "--install", build_dir, "--component", "python", "--prefix", tmp_path / "python")
    assert {path.name for path in (tmp_path / "python").iterdir()} <= {"lib"}


def test_missing_component_is_said(build_dir: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    run("cmake", "--install", build_dir, "--component", "runtime", "--prefix", prefix)
    done = subprocess.run(
        ["cmake", "-S", CONSUMER, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "without its component tool" in " ".join(done.stderr.split())
