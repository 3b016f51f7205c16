"""What kfgen makes of specialization constants that a spec sets, or leaves to run time."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODULE = """\
[SpecializationConstant] const int taps = 2;
[SpecializationConstant] const uint width = 8;
extern static const int plain = 3;
static const uint sum = width + 1;
groupshared float tile[width * 2];

[Differentiable]
float power(float x)
{
    float product = 1;
    [MaxIters(16)]
    for (int i = 0; i < taps; ++i)
        product *= x;
    return product;
}

[Differentiable]
float unrolled(float x)
{
    float product = 1;
    [ForceUnroll]
    for (int i = 0; i < taps; ++i)
        product *= x;
    return product;
}

float weighed(float x[taps])
{
    return x[0];
}

float doubled(float x) { return 2 * x * plain; }

[shader("compute")] [numthreads(width * 2, 1, 1)]
void turned(uint3 id : SV_DispatchThreadID, uint at : SV_GroupIndex, RWStructuredBuffer<float> y)
{
    tile[at] = y[id.x];
    GroupMemoryBarrierWithGroupSync();
    y[id.x] = tile[width * 2 - 1 - at];
}

[shader("compute")] [numthreads(width + 1, 1, 1)]
void computed(uint3 id : SV_DispatchThreadID, RWStructuredBuffer<float> y) { y[id.x] = 1; }

#define MARKED [SpecializationConstant]
MARKED const int hidden = 4;
float secret(float x) { return x * hidden; }
"""

POWER = {"function": "power", "args": {"x": "tensor[1]"}}
TURNED = {"function": "turned", "args": {"y": "rwbuffer"}}
CUDA = [{"cuda": {"arch": ["sm_90"]}}]

Generate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(name="generate")
def fixture_generate(build_dir: Path, tmp_path: Path) -> Generate:
    (tmp_path / "m.slang").write_text(MODULE)

    def generate(calls: list[dict[str, Any]], **spec: Any) -> subprocess.CompletedProcess[str]:
        text = {
            "version": 1,
            "name": "m",
            "modules": ["m.slang"],
            "targets": ["vulkan"],
            "calls": calls,
            **spec,
        }
        (tmp_path / "m.kf.json").write_text(json.dumps(text))
        return subprocess.run(
            [build_dir / "tool" / "kfgen", "generate", "m.kf.json", "-o", "out", "-v"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return generate


@pytest.fixture(name="inspected")
def fixture_inspected(build_dir: Path, tmp_path: Path) -> Callable[[], str]:
    def inspected() -> str:
        command: list[str | Path] = [build_dir / "tool" / "kfgen", "inspect", tmp_path / "out" / "m.kfa"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return inspected


@pytest.mark.parametrize(
    ("constants", "size"), [({}, 16), ({"width": 4}, 8), ({"width": [32, 16]}, 64), ({"taps": [1]}, 16)]
)
def test_group_sizes_follow_constants(
    generate: Generate, inspected: Callable[[], str], constants: dict[str, Any], size: int
) -> None:
    done = generate([TURNED], constants=constants)
    assert done.returncode == 0, done.stderr
    assert f"group {size} x 1 x 1 threads" in inspected()


def test_group_sizes_of_variants(generate: Generate, inspected: Callable[[], str]) -> None:
    variants = {"wide": {"constants": {"width": 16}}}
    assert generate([{**TURNED, "variants": variants}], constants={"width": 4}).returncode == 0
    assert re.findall(r"group (\d+) x 1 x 1", inspected()) == ["8", "32"]


def test_cuda_has_code_for_each_combination(generate: Generate, inspected: Callable[[], str]) -> None:
    calls = [POWER, TURNED, {"function": "doubled", "args": {"x": "tensor[1]"}}]
    done = generate(calls, constants={"taps": [2, 3], "width": [8, 16]}, targets=["vulkan", *CUDA])
    assert done.returncode == 0, done.stderr
    kernels = inspected().split("\nkernel ")[1:]
    images = {kernel.split(": ")[1].split("\n")[0]: kernel.count("cubin sm_90") for kernel in kernels}
    assert images.pop("turned.forward") == 4
    assert {name: count for name, count in images.items() if name.startswith("power")} == dict.fromkeys(
        [name for name in images if name.startswith("power")], 4
    )
    assert all(count == 1 for name, count in images.items() if name.startswith("doubled"))
    turned = next(kernel for kernel in kernels if ": turned.forward\n" in kernel)
    found = dict.fromkeys(re.findall(r"for the constants (.*)", turned))
    assert list(found) == ["2, 8", "2, 16", "3, 8", "3, 16"]
    assert "constants at run time: taps (int; 2, 3), width (uint; 8, 16)" in inspected()


@pytest.mark.parametrize(
    ("calls", "spec", "message"),
    [
        (
            [{"function": "computed", "args": {"y": "rwbuffer"}}],
            {"constants": {"width": [8]}},
            r"m.slang:43:6: error: \[numthreads\(width\+1, 1, 1\)\] of 'computed' is no product of numbers "
            r"and constants that are known here, and run time chooses 'width' \[group-size\]",
        ),
        (
            [TURNED],
            {"constants": {"width": [8, 513]}},
            r"m.kf.json:1:\d+: error: with 'width' = 513 'turned' has groups of \[1026, 1, 1\]; expected 1",
        ),
        (
            [{**TURNED, "backward": True}],
            {"constants": {"width": [8]}},
            r"m.kf.json:1:\d+: error: run time chooses the group size of 'turned'",
        ),
        (
            [{"function": "weighed", "args": {"x": "tensor[1]"}}],
            {"constants": {"taps": [2]}},
            r"m.kf.json:1:\d+: error: 'taps' is listed for run time to choose, and the size of the parameter "
            r"'x' of 'weighed' depends on it \[constant-at-run-time\]",
        ),
        (
            [{"function": "doubled", "args": {"x": "tensor[1]"}}],
            {"constants": {"plain": [3, 4]}},
            r"m.kf.json:1:\d+: error: the link-time constant 'plain' has a list of values, which are for "
            r"specialization constants",
        ),
        (
            [{"function": "unrolled", "args": {"x": "tensor[1]"}}],
            {"constants": {"taps": [2]}},
            r"m.slang:22:5: error: (.|\n)*leaves 'taps' to run time; where Slang needs a value",
        ),
        (
            [{"function": "secret", "args": {"x": "tensor[1]"}}],
            {},
            r"m.kf.json:1:\d+: error: '.*' depends on the specialization constant 'hidden'",
        ),
        (
            [POWER],
            {"constants": {"taps": [2, True]}},
            r"m.kf.json:1:\d+: error: .*'taps': true is no value of 'int'",
        ),
        ([POWER], {"constants": {"taps": []}}, r"m.kf.json:1:\d+: error: "),
        ([POWER], {"constants": {"tips": [2]}}, "no module declares a link-time constant 'tips'"),
    ],
)
def test_what_is_refused(
    generate: Generate, calls: list[dict[str, Any]], spec: dict[str, Any], message: str
) -> None:
    done = generate(calls, **spec)
    assert done.returncode == 1
    assert re.search(message, done.stderr), done.stderr
