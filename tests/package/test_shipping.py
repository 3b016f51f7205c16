"""Kernels in libraries of a project's own, and programs that need the runtime and nothing else."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from roots import make_root, put

HERE = Path(__file__).parent
Run = Callable[..., str]


@pytest.fixture(scope="module")
def kernels(prefix: Path, tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """The installation of a project that has only kernels."""
    folder = tmp_path_factory.mktemp("kernels")
    configure = ["cmake", "-S", HERE / "library", "-B", folder / "build", "-G", "Ninja"]
    run(*configure, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "build")
    run("cmake", "--install", folder / "build", "--prefix", folder / "installed")
    return folder / "installed"


def configure_program(build: Path, *prefixes: Path, further: str = "") -> list[str]:
    command = ["cmake", "-S", str(HERE / "program"), "-B", str(build), "-G", "Ninja"]
    found = ";".join(str(prefix) for prefix in prefixes)
    return [*command, f"-DCMAKE_PREFIX_PATH={found}", f"-DFURTHER_LIBRARIES={further}"]


@pytest.fixture(scope="module")
def program(
    build_dir: Path, kernels: Path, tmp_path_factory: pytest.TempPathFactory, run: Run
) -> tuple[Path, Path]:
    """A program of such kernels, and the runtime that it was built with, where there is no kfgen."""
    folder = tmp_path_factory.mktemp("program")
    for component in ("runtime", "development"):
        run("cmake", "--install", build_dir, "--component", component, "--prefix", folder / "sdk")
    run(*configure_program(folder / "build", folder / "sdk", kernels))
    run("cmake", "--build", folder / "build")
    run("cmake", "--install", folder / "build", "--prefix", folder / "installed")
    return folder / "installed" / "bin" / "program", folder / "sdk"


def test_a_program_has_one_runtime(program: tuple[Path, Path], kernels: Path, run: Run) -> None:
    """Neither it nor the shared library of kernels has one of its own."""
    assert "U kf::Device::open()" in run("nm", "-C", program[0])
    for file in (program[0], kernels / "lib" / "libscale.so"):
        loading = [line for line in run("nm", "-C", file).splitlines() if " kf::detail::load_own(" in line]
        assert {line.split()[0] for line in loading} == {"U"}


def test_two_runtimes_in_a_program_are_refused(
    program: tuple[Path, Path], kernels: Path, tmp_path: Path
) -> None:
    command = configure_program(tmp_path, program[1], kernels, further="kf::runtime")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert 'INTERFACE_KF_RUNTIME property of "kf::runtime" does not agree' in said
    assert said.count("CMake Error") == 1, said


def loaded_with(file: Path) -> set[Path]:
    """The shared libraries that a file needs, and their loader."""
    listing = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", listing)}


def test_a_container_needs_the_runtime_only(
    program: tuple[Path, Path], kernels: Path, build_dir: Path, tmp_path: Path, run: Run
) -> None:
    """In it are the program, its kernels, the runtime and a driver; no shell, compiler, kfgen or Slang."""
    root = tmp_path / "root"
    make_root(root)
    (root / "app" / "bin").mkdir(parents=True)
    shutil.copy(program[0], root / "app" / "bin")
    run("cmake", "--install", build_dir, "--component", "runtime", "--prefix", root / "app")
    shutil.copy(kernels / "lib" / "libscale.so", root / "app" / "lib")
    drivers = [
        *Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"),
        *Path("/usr/lib").glob("*-linux-gnu*/libvulkan.so.1"),
        *Path("/usr/lib").glob("*-linux-gnu*/libvulkan_lvp.so"),
    ]
    assert len(drivers) == 3, drivers
    libraries = [*drivers[1:], root / "app" / "lib" / "libkf_runtime.so.0.1"]
    for file in {*drivers, *(needed for library in libraries for needed in loaded_with(library))}:
        put(root, file)
    put(root, Path("/etc/ld.so.cache"))

    names = {path.name for path in root.rglob("*") if path.is_file()}
    assert not [name for name in names if re.search(r"slang|kfgen|^(sh|bash|cc|ld|as|clang|gcc)$", name)]
    enter = ["chroot"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
    # Without /proc the loader doesn't know where the program lies.
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_LIBRARY_PATH": "/app/lib"}
    ran = subprocess.run(
        [*enter, root, "/app/bin/program"], capture_output=True, text=True, check=False, env=environment
    )
    assert ran.stdout == "3 5 7 ", ran.stdout + ran.stderr
