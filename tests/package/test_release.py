"""What users get of a release build: small, and free of anything but the C and C++ runtime libraries."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ALLOWED = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|gcc_s|stdc\+\+)\.so\.\d+)")
LARGEST_RUNTIME = 1_700_000
LARGEST_SAMPLE = 1_200_000


@pytest.fixture(scope="module")
def release(source_dir: Path) -> Path:
    """The release build, made by ./bootstrap test before."""
    folder = source_dir / "build" / "release"
    assert folder.exists(), "build it first: ./bootstrap build"
    return folder


def needed(program: Path) -> set[str]:
    listing = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", listing))


def test_kfgen_has_no_drivers(release: Path) -> None:
    """They are kfgen-check's, which it starts. Nothing that kfgen links may bring them back."""

    def symbols(program: str) -> list[str]:
        command = ["nm", "-C", str(release / "tool" / program)]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return listing.splitlines()

    driver = re.compile(r"\bkf::(vulkan|cuda)::|\bkf::Device::open\b")
    assert [line for line in symbols("kfgen") if driver.search(line)] == []
    assert [line for line in symbols("kfgen-check") if driver.search(line)] != []
    for library in (b"libvulkan.so", b"libcuda.so"):
        assert library not in (release / "tool" / "kfgen").read_bytes()


def demos(source_dir: Path) -> list[str]:
    lines = (source_dir / "samples" / "demo.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_demo_programs_need_nothing_else(release: Path, source_dir: Path) -> None:
    programs = [line for line in demos(source_dir) if not line.endswith(".py")]
    assert programs
    for line in programs:
        others = {name for name in needed(release / "samples" / line) if not ALLOWED.fullmatch(name)}
        assert not others, line


def test_python_extension_needs_nothing_else(release: Path) -> None:
    extension = next((release / "python" / "kernelfunctions").glob("_kf.*.so"))
    assert {name for name in needed(extension) if not ALLOWED.fullmatch(name)} == set()


def test_runtime_is_small(release: Path, tmp_path: Path) -> None:
    """All of it in one stripped library: what it can add to a program at most. The archive is larger, for it
    holds what only the linker needs."""
    library = release / "runtime" / "core" / "libkf_runtime.a"
    linked = tmp_path / "libkf_runtime.so"
    whole = ["-Wl,--whole-archive", str(library), "-Wl,--no-whole-archive", "-Wl,--exclude-libs,ALL"]
    subprocess.run(["c++", "-shared", "-s", *whole, "-o", str(linked), "-ldl", "-lpthread"], check=True)
    assert linked.stat().st_size < LARGEST_RUNTIME


def test_programs_have_the_drivers_of_their_kernels(release: Path, tmp_path: Path) -> None:
    """Those of samples/add are for Vulkan. It has nothing of CUDA's, and is small."""
    program = release / "samples" / "add" / "add_demo"
    listing = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    assert " kf::vulkan::" in listing
    assert [line for line in listing.splitlines() if "kf::cuda::" in line] == []
    stripped = tmp_path / "add"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    assert stripped.stat().st_size < LARGEST_SAMPLE
    environment = os.environ | {"KF_DEVICE": "cuda:0"}
    done = subprocess.run([program], capture_output=True, text=True, check=False, env=environment)
    assert (
        "no device 'cuda:0': this program has the driver of vulkan alone, for which its kernels were "
        'generated; add "cuda" to a spec\'s targets'
    ) in done.stderr


def test_demo(source_dir: Path, tmp_path: Path) -> None:
    """`./bootstrap demo` prints what each sample, in C++ and in Python, is to print, after its name.

    The samples open nothing of Slang's: they run as where it was taken away after the build.
    """
    logged = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "opened")}
    # Unlike the tests' kernels, those of samples run so long that optimising them pays.
    around = {name: value for name, value in os.environ.items() if name != "GALLIVM_PERF"}
    done = subprocess.run(
        [source_dir / "bootstrap", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**around, "PYTHONPATH": "", **logged},
    )
    assert done.returncode == 0, done.stdout
    printed: dict[str, list[str]] = {}
    for section in done.stdout.split("==> ")[1:]:
        title, *lines = section.splitlines()
        printed[title.removeprefix("build/release/")] = lines
    programs = demos(source_dir)
    assert programs
    for program in programs:
        name = program.split("/")[0]
        expected = (source_dir / "tests" / "samples" / f"{name}.txt").read_text().splitlines()
        assert printed[f"samples/{program}"] == expected, done.stdout
    # A process a file; one that replaces itself by another program starts a second list in it.
    ran = 0
    for log in tmp_path.iterdir():
        text = log.read_text(errors="replace")
        program = re.findall(r"transferring control: (\S+)", text)[-1]
        if not re.search(r"_demo$|/python3$", program):
            continue
        opened = set(re.findall(r"file=(\S+)", text))
        ran += "libvulkan.so.1" in opened
        assert not {name for name in opened if "slang" in Path(name).name}, program
    assert ran == len(programs)
