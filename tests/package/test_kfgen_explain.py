"""`kfgen explain` on real specs: against what `kfgen inspect` says of their artifacts, and their images."""

import json
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Explain = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(name="kfgen")
def fixture_kfgen(build_dir: Path, tmp_path: Path) -> Explain:
    def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        command = [str(build_dir / "tool" / "kfgen"), *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)

    return run


def summaries(text: str) -> dict[int, str]:
    """What is said of each kernel, by its number, without what other kernels share."""
    found = re.findall(r"^kernel (\d+): (.*\n(?:  .*\n)*)", text, re.MULTILINE)
    return {int(number): re.sub(r", shared by \d+ kernels", "", lines) for number, lines in found}


def texts(text: str) -> dict[tuple[int, str], str]:
    """The text below each title, by the kernel's number and what it is."""
    parts = re.split(r"^-- kernel (\d+): .*, (.+)\n", text, flags=re.MULTILINE)[1:]
    return {(int(parts[i]), parts[i + 1]): parts[i + 2] for i in range(0, len(parts), 3)}


def instructions(spirv: bytes) -> int:
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    count, at = 0, 5
    while at < len(words):
        count, at = count + 1, at + (words[at] >> 16)
    return count


# A differentiable function with overloads and forward derivatives; launches; textures; buffers.
@pytest.mark.parametrize(
    ("spec", "target", "function"),
    [
        ("samples/polynomial/polynomial.kf.json", "polynomial", "polynomial"),
        ("tests/python/specs/launch.kf.json", "kf_python_launch", "half_squares"),
        ("tests/python/specs/textures.kf.json", "kf_python_textures", ""),
        ("tests/python/specs/buffers.kf.json", "kf_python_buffers", ""),
    ],
)
def test_says_what_the_artifact_has(
    spec: str,
    target: str,
    function: str,
    kfgen: Explain,
    source_dir: Path,
    generated_folder: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    (artifact,) = generated_folder(target).glob("*.kfa")
    inspected = kfgen("inspect", artifact)
    assert inspected.returncode == 0, inspected.stderr
    assert kfgen("inspect", artifact, "--extract", tmp_path / "images").returncode == 0
    manifest = json.loads((tmp_path / "images" / "manifest.json").read_text())
    function = function or manifest["functions"][0]["name"]
    done = kfgen("explain", source_dir / spec, function, "--backend", "vulkan")
    assert done.returncode == 0, done.stderr

    listed = next(one for one in manifest["functions"] if one["name"] == function)
    expected = {k for one in listed["overloads"] for numbers in one["kernels"].values() for k in numbers}
    explained, of_artifact, shown = summaries(done.stdout), summaries(inspected.stdout), texts(done.stdout)
    assert expected <= explained.keys()
    for number, summary in explained.items():
        # Targets that the artifact has beside Vulkan.
        same = re.sub(
            r"cuda block \d+ bytes, |  (cubin|ptx) .*\n    entry point .*\n", "", of_artifact[number]
        )
        assert summary.startswith(same)
        assert "block on vulkan\n    offset  bytes  field\n         0 " in summary
        kernel = manifest["kernels"][number]
        image = next(one for one in kernel["images"] if one["format"] == "spirv")
        binary = (tmp_path / "images" / image["file"]).read_bytes()
        spirv = shown[number, "SPIR-V"]
        assert len(re.findall(r"^ *(?:%\w+ = )?Op\w+", spirv, re.MULTILINE)) == instructions(binary)
        assert f'"{image["entry_point"]}"' in spirv
        assert f"void {kernel_entry(image['entry_point'])}(" in shown[number, "Slang"]
    assert {number for number, _ in shown} == set(explained)


def kernel_entry(entry_point: str) -> str:
    """The entry point's name as kfgen wrote it, before what its code relies on was added."""
    return entry_point.rpartition("_")[0]


SPEC = """{"version": 1, "name": "digits", "modules": ["digits.slang"],
"targets": ["vulkan", {"cuda": {"arch": ["sm_80", "sm_90"]}}],
"calls": [{"function": "common_digit", "args": {"number": "tensor[1]"}},
          {"function": "square", "args": {"x": "tensor[1]"}, "backward": true}]}"""
MODULE = """uint common_digit(uint number)
{
    uint counts[10] = {};
    do
    {
        counts[number % 10] += 1;
        number /= 10;
    } while (number != 0);
    uint best = 0;
    for (uint digit = 1; digit < 10; ++digit)
    {
        if (counts[digit] > counts[best])
            best = digit;
    }
    return best;
}
[Differentiable]
float square(float x) { return x * x; }
"""


@pytest.fixture(name="spec")
def fixture_spec(tmp_path: Path) -> Path:
    (tmp_path / "digits.slang").write_text(MODULE)
    path = tmp_path / "digits.kf.json"
    path.write_text(SPEC)
    return path


def told_by(cubin: bytes, attribute: int) -> int:
    """A number that ptxas wrote into the .nv.info of a kernel."""
    found = re.search(re.escape(bytes([4, attribute, 8, 0])) + b".{4}(.{4})", cubin, re.DOTALL)
    assert found
    return int.from_bytes(found[1], "little")


def test_tells_registers_and_memory_of_cuda_kernels(kfgen: Explain, spec: Path, tmp_path: Path) -> None:
    shows = [word for what in ("summary", "code", "ptx") for word in ("--show", what)]
    command = ["explain", spec, "common_digit", "--kernel", "contiguous", "--cache-dir", tmp_path / "cache"]
    done = kfgen(*command, *shows)
    assert done.returncode == 0, done.stderr
    ((number, summary),) = summaries(done.stdout).items()
    shown = texts(done.stdout)
    assert list(shown) == [(number, text) for text in ("SPIR-V", "CUDA", "PTX for sm_80", "PTX for sm_90")]
    assert "__global__ void kf_common_digit_forward_contiguous(" in shown[number, "CUDA"]
    assert len(shown[number, "CUDA"].splitlines()) < 500, "without the prelude"
    # What is kept says the same, and is what generate takes.
    assert kfgen(*command, *shows).stdout == done.stdout
    made = kfgen("generate", spec, "-o", "out", "--cache-dir", tmp_path / "cache", "-v")
    assert "cached: common_digit.forward.contiguous (sm_90)" in made.stdout
    assert kfgen("inspect", "out/digits.kfa", "--extract", "images").returncode == 0
    for architecture in ("sm_80", "sm_90"):
        name = f"common_digit.forward.contiguous.{architecture}.cubin"
        cubin = (tmp_path / "images" / name).read_bytes()
        registers, frame = told_by(cubin, 0x2F), told_by(cubin, 0x11)
        # Counters are chosen by the data, so they can't be in registers.
        assert frame == 4 * 10
        expected = (
            f"{registers} registers, {frame} bytes of stack, 0 spilled, 0 read back, 0 of shared memory"
        )
        assert f"  {architecture}: {expected}\n" in summary
        assert f".target {architecture}" in shown[number, f"PTX for {architecture}"]


def test_what_is_shown_and_of_which_kernels(kfgen: Explain, spec: Path) -> None:
    done = kfgen("explain", spec, "square", "--show", "slang", "--kernel", "backward")
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^-- kernel \d+: ([\w.]+), Slang", done.stdout, re.MULTILINE)
    assert names
    assert all(name.startswith("square.backward.") for name in names)
    assert done.stdout.startswith("square, 1 overload\n  (x: tensor<float>[1]) -> tensor<float>[1], rank 1\n")
    assert summaries(done.stdout) == {}


def test_unknown_names_are_errors(kfgen: Explain, spec: Path) -> None:
    def stderr(*arguments: str | Path) -> str:
        done = kfgen("explain", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    assert stderr(spec, "squares") == (
        f"{spec}: error: the spec has no function 'squares' [explain-unknown]\n"
        "    note: did you mean 'square'?\n"
        "    note: functions: common_digit, square\n"
    )
    assert stderr(spec, "common_digit", "--kernel", "backward") == (
        f"{spec}: error: 'common_digit' has no kernel 'backward' [explain-unknown]\n"
        "    note: kernel 0: common_digit.forward.contiguous\n"
        "    note: kernel 1: common_digit.forward.strided\n"
    )
    assert stderr(spec, "square", "--backend", "vulkan", "--show", "ptx") == (
        f"{spec}: error: there is no PTX to show: the spec's targets don't have 'cuda' [explain-unknown]\n"
        "    note: --backend cuda compiles for it\n"
    )
    assert "'kfgen explain' takes a function of the spec, and none is given" in stderr(spec)
    broken = spec.with_name("broken.kf.json")
    broken.write_text(SPEC.replace('"square"', '"cube"'))
    done = kfgen("explain", broken, "cube", "--error-format", "json")
    assert (done.returncode, json.loads(done.stderr)["severity"]) == (1, "error")
