"""What "debug_print" and "checked" make of kernels, and what they refuse."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

WITH = """
import kf;
float halved(float x)
{
    printf("half of %f\\n", x);
    assert(x > 0, "lengths");
    return x / 2;
}
[Differentiable]
float first(IDiffTensor<float, 1> x)
{
    if (x.shape[0] > 1)
    {
        printf("%f", x[0]);
    }
    return x[0] * 2;
}
"""
WITHOUT = "".join(
    line for line in WITH.splitlines(keepends=True) if "printf" not in line and "assert" not in line
)


class Generator:
    """Runs kfgen on one module with two functions."""

    def __init__(self, kfgen: Path, folder: Path) -> None:
        self.kfgen = kfgen
        self.folder = folder

    def run(self, text: str, *options: str, **call: Any) -> subprocess.CompletedProcess[str]:
        (self.folder / "m.slang").write_text(text)
        calls = [
            {"function": "halved", "args": {"x": "tensor[1]"}, **call},
            {"function": "first", "args": {"x": "tensor[1]"}, "backward": True, **call},
        ]
        spec = {"version": 1, "name": "m", "modules": ["m.slang"], "targets": ["vulkan"], "calls": calls}
        (self.folder / "m.kf.json").write_text(json.dumps(spec))
        return subprocess.run(
            [self.kfgen, "generate", "m.kf.json", "-o", "out", "--no-cache", *options],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def kernels(self, text: str, *options: str, **call: Any) -> dict[str, bytes]:
        """The code of each kernel."""
        done = self.run(text, *options, **call)
        assert done.returncode == 0, done.stderr
        images = self.folder / "images"
        shutil.rmtree(images, ignore_errors=True)
        subprocess.run(
            [self.kfgen, "inspect", self.folder / "out" / "m.kfa", "--extract", images], check=True
        )
        return {path.name: path.read_bytes() for path in images.glob("*.spv")}


@pytest.fixture
def generator(build_dir: Path, tmp_path: Path) -> Generator:
    return Generator(build_dir / "tool" / "kfgen", tmp_path)


def test_without_the_options_code_is_as_if_nothing_was_said(generator: Generator) -> None:
    plain = generator.kernels(WITHOUT)
    assert generator.kernels(WITH) == plain
    assert generator.kernels(WITH, debug_print=False, checked=False) == plain
    assert generator.kernels(WITH, "--debug-print").keys() == plain.keys()
    assert generator.kernels(WITH, "--debug-print") != plain
    assert generator.kernels(WITHOUT, "--checked") != plain
    assert generator.kernels(WITHOUT, checked=True) == generator.kernels(WITHOUT, "--checked")


def test_wrong_formats_are_errors_at_their_place(generator: Generator) -> None:
    done = generator.run(WITH.replace('"half of %f\\n", x', '"half of %s\\n", x'), "--debug-print")
    assert done.returncode == 1
    assert "m.slang:5:21: error: printf: there is no conversion '%s' [printf-format]" in done.stderr
    done = generator.run(WITH.replace('"half of %f\\n", x', '"half of %d\\n", x'), "--debug-print")
    assert done.returncode == 1
    expected = (
        "m.slang:5:28: error: printf: the conversion prints an integer, or a vector of them, not (float)"
    )
    assert expected in done.stderr


def test_what_cannot_be_checked_is_refused(generator: Generator) -> None:
    for type_name, kind in (
        ("float*", "pointer"),
        ("StructuredBuffer<Row>", "buffer"),
    ):
        (generator.folder / "b.slang").write_text(
            f"struct Row {{ float* values; int count; }};\nfloat f({type_name} b, float x) {{ return x; }}\n"
        )
        call = {"function": "f", "args": {"b": kind, "x": "tensor[1]"}, "checked": True}
        spec = {"version": 1, "name": "b", "modules": ["b.slang"], "targets": ["vulkan"], "calls": [call]}
        (generator.folder / "b.kf.json").write_text(json.dumps(spec))
        done = subprocess.run(
            [generator.kfgen, "generate", "b.kf.json", "-o", "out"],
            cwd=generator.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "argument 'b' of 'f' is a '" in done.stderr
        assert "whose indices can't be checked [checked-argument]" in done.stderr


def test_a_checked_variant_leaves_other_kernels_as_they_are(generator: Generator) -> None:
    (generator.folder / "b.slang").write_text(
        "float f(StructuredBuffer<float> b, RWTexture2D<float> t, int i)\n"
        "{ t[int2(i, 0)] = 1; return b[i]; }\n"
    )

    def kernels(**more: Any) -> dict[str, bytes]:
        call = {"function": "f", "args": {"b": "buffer", "t": "rwtexture2d", "i": "tensor[1]"}, **more}
        spec = {"version": 1, "name": "b", "modules": ["b.slang"], "targets": ["vulkan"], "calls": [call]}
        (generator.folder / "b.kf.json").write_text(json.dumps(spec))
        generate: list[str | Path] = [generator.kfgen, "generate", "b.kf.json", "-o", "out", "--no-cache"]
        subprocess.run(generate, cwd=generator.folder, check=True)
        images = generator.folder / "images"
        shutil.rmtree(images, ignore_errors=True)
        artifact = generator.folder / "out" / "b.kfa"
        inspect: list[str | Path] = [generator.kfgen, "inspect", artifact, "--extract", images]
        subprocess.run(inspect, check=True)
        return {path.name: path.read_bytes() for path in images.glob("*.spv")}

    plain = kernels()
    both = kernels(variants={"safe": {"checked": True}})
    assert plain.items() < both.items()
    assert b"kf_check_access" in b"".join(both[name] for name in both.keys() - plain.keys())
    assert b"kf_check_access" not in b"".join(plain.values())
