"""Profiles on a device, names of tensors, and labels of calls in NVTX's ranges."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader
from refusals import refusal


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.mark.usefixtures("device")
def test_table_and_trace(
    calls: ModuleType, gradients: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    v = kf.Tensor.ones((1 << 16, 3))
    few = kf.Tensor.ones((64, 3))
    x = kf.Tensor.ones((1 << 16,)).with_grads()
    path = tmp_path / "trace.json"
    calls.scale(few, 2)
    with kf.profile(trace=path) as profile:
        for _ in range(3):
            calls.scale(v, 2)
        calls.scale(few, 2)
        gradients.polynomial.backward(2, 8, -1, x)
        assert calls.total([1, 2, 3]) == 6
    calls.scale(v, 3)
    made = profile.calls
    assert [(one.function, one.pass_) for one in made] == [
        *[("scale", "forward")] * 4,
        ("polynomial", "backward"),
        ("total", "forward"),
    ]
    assert [one.bytes for one in made] == [*[2 * v.nbytes] * 3, 2 * few.nbytes, 3 * x.nbytes, 0]
    assert all(one.duration > 0 for one in made)
    starts = [one.start for one in made]
    assert starts == sorted(starts)
    assert min(one.duration for one in made[:3]) > 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["function", "pass", "calls", "total", "ms", "us", "a", "call", "MB", "GB/s"]
    assert len(lines) == 4
    assert profile.table().splitlines() == lines == str(profile).splitlines()
    (scale,) = (line.split() for line in lines if line.startswith("scale"))
    assert scale[1:3] == ["forward", "4"]
    assert scale[5] == f"{(6 * v.nbytes + 2 * few.nbytes) / 1e6:.1f}"
    events = json.loads(path.read_text())["traceEvents"]
    assert [event["name"] for event in events[1:]] == [*["scale"] * 4, "polynomial.backward", "total"]
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in events[1:])
    assert events[1]["args"]["bytes"] == 2 * v.nbytes


@pytest.mark.usefixtures("device")
def test_longer_kernels_take_longer(calls: ModuleType) -> None:
    few, many = kf.Tensor.ones((64,)), kf.Tensor.ones((1 << 20,))
    calls.simmer(few)
    with kf.profile(show=False) as profile:
        calls.simmer(few)
        calls.simmer(many)
    first, second = profile.calls
    assert second.duration > first.duration
    assert second.start >= first.start + 0.9 * first.duration


def test_calls_that_run_later(
    calls: ModuleType, device: kf.Device, capsys: pytest.CaptureFixture[str]
) -> None:
    v = kf.Tensor.ones((100, 3))
    out = kf.Tensor.zeros((100, 3))
    prepared = calls.scale.prepare(v, 1, out=out)
    with kf.Graph() as graph:
        calls.scale(v, 10, out=out)
        calls.scale(out, 10, out=out)
    with kf.profile(device, show=False) as profile:
        prepared()
        graph.replay()
        encoder = device.encoder()
        calls.scale.append_to(encoder, v, 1, out=out)
        encoder.submit()
    assert len(profile.calls) == 4
    assert {one.bytes for one in profile.calls} == {2 * v.nbytes}
    assert capsys.readouterr().out == ""


def test_refusals(device: kf.Device, tmp_path: Path) -> None:
    profile = kf.profile(show=False)
    assert "it hasn't begun" in refusal(kf.ArgumentError, profile.table)
    with profile:
        assert "another profile of the device is on" in refusal(
            kf.ArgumentError, kf.profile(device).__enter__
        )
    assert "it was begun already" in refusal(kf.ArgumentError, profile.__enter__)
    assert "can't write" in refusal(kf.Error, lambda: profile.write_trace(tmp_path / "none" / "trace.json"))
    assert "device= takes a kf.Device" in refusal(kf.ArgumentError, lambda: kf.profile(3))  # type: ignore[arg-type]
    # An error in the block ends the profile, and is what is raised.
    with pytest.raises(ZeroDivisionError), kf.profile():
        print(1 / 0)
    with kf.profile(show=False) as again:
        pass
    assert again.calls == []


def test_names(calls: ModuleType, device: kf.Device) -> None:
    x = kf.Tensor.from_numpy(np.ones((4, 3), np.float32), name="positions")
    assert x.name == "positions"
    assert x[1:].name == x.T.name == x.with_grads().name == x.detach().name == "positions"
    assert "name='positions'" in repr(x)
    assert kf.Tensor.zeros(3).name is None
    for made in (
        kf.Tensor([1.0], name="one"),
        kf.Tensor.empty(1, name="one"),
        kf.Tensor.zeros(1, np.int32, device=device, name="one"),
        kf.Tensor.ones(1, name="one"),
    ):
        assert made.name == "one"
    assert "a str is needed" in refusal(kf.ArgumentError, lambda: kf.Tensor.zeros(1, name=3))  # type: ignore[call-overload]
    bad = kf.Tensor.zeros((5, 3), name="velocities")
    message = refusal(kf.ArgumentError, lambda: calls.scale(x, 1, out=bad))
    assert "argument 'result' (tensor 'velocities'): " in message, message
    assert "float32 tensor 'positions' of shape (4, 3)" in refusal(kf.ArgumentError, lambda: kf.profile(x))  # type: ignore[arg-type]
    device.check = "nan"
    try:
        huge = kf.Tensor(np.full((1, 3), 3e38, np.float32), name="huge")
        out = kf.Tensor.zeros((1, 3), name="scaled")
        assert "argument 'result' (tensor 'scaled') has inf at [0, 0]" in refusal(
            kf.Error, lambda: calls.scale(huge, 10, out=out)
        )
    finally:
        device.check = None


@pytest.mark.usefixtures("calls")
def test_ranges(source_dir: Path, tmp_path: Path) -> None:
    """A tool that is loaded as NVIDIA's are sees each call."""
    source = source_dir / "tests" / "runtime" / "core" / "nvtx_tool.cpp"
    tool = tmp_path / "tool.so"
    subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", source, "-o", tool], check=True)
    program = """
import numpy as np, kernelfunctions as kf
from kf_calls import calls
v = kf.Tensor.ones((4, 3), name="points")
calls.scale(v, 10)
with kf.Graph() as graph:
    calls.scale(v, 10)
    calls.scale(v, 20)
graph.replay()
calls.scale.prepare(v, 1)()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*sys.path, os.environ["PYTHONPATH"]]),
            "NVTX_INJECTION64_PATH": str(tool),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "push scale(v='points')",
        "pop",
        "push graph of 2 calls",
        "pop",
        "push scale(v='points')",
        "pop",
    ]
