"""The watch for NaNs and infinities, on a device."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

HUGE = 3e38  # whose tenfold no float holds


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def buffers(generated: Loader) -> ModuleType:
    return generated("buffers")


@pytest.fixture(scope="module")
def rays(generated: Loader) -> ModuleType:
    return generated("struct_tensors")


@pytest.fixture(autouse=True)
def watch(device: kf.Device) -> Iterator[None]:
    device.check = "nan"
    yield
    device.check = None


def found(call: Callable[[], Any]) -> str:
    """What the watch says of the call, without the call's number."""
    with pytest.raises(kf.Error) as caught:
        call()
    assert type(caught.value) is kf.Error
    assert caught.value.code == "not-finite"
    start, _, rest = str(caught.value).removeprefix("KF_CHECK=nan: ").partition(", call ")
    number, _, what = rest.partition(": ")
    assert number.isdigit()
    assert what.endswith("; all that the call was given is finite")
    return f"{start}: {what.partition(';')[0]}"


def test_check_is_a_setting_of_the_device(device: kf.Device, calls: ModuleType) -> None:
    assert device.check == "nan"
    device.check = None
    assert device.check is None
    assert np.isinf(calls.scale(np.array([1, 2, HUGE], np.float32), 10)).any()
    with pytest.raises(kf.ArgumentError, match="'nans' is no check"):
        device.check = "nans"  # type: ignore[assignment]


def test_outputs(calls: ModuleType) -> None:
    v = np.ones((4, 3), np.float32)
    calls.scale(v, 10)
    v[2, 1] = HUGE
    assert found(lambda: calls.scale(v, 10)) == "scale, forward pass: argument 'result' has inf at [2, 1]"
    assert found(lambda: calls.scale(kf.Tensor(v), -10)).endswith("has -inf at [2, 1]")
    assert found(lambda: calls.scale(v[::-1], 10)).endswith("has inf at [1, 1]")
    out = kf.Tensor.zeros((4, 3))
    assert found(lambda: calls.scale(v, 10, out=out)).endswith("has inf at [2, 1]")
    # NumPy's arrays that are written, and numbers.
    assert found(lambda: calls.scale(v, 10, out=np.zeros_like(v))).endswith("has inf at [2, 1]")
    assert found(lambda: calls.total([HUGE, HUGE, 0])) == "total, forward pass: argument 'result' has inf"
    assert found(lambda: calls.advance(HUGE, HUGE)) == "advance, forward pass: argument 'x' has inf"
    assert found(lambda: calls.advance(kf.Tensor([1, HUGE]), HUGE)).endswith("argument 'x' has inf at [1]")


def test_what_is_given_is_not_the_calls(calls: ModuleType) -> None:
    v = np.ones((4, 3), np.float32)
    v[0, 0] = np.nan
    assert np.isnan(calls.scale(v, 1)[0, 0])
    assert np.isnan(calls.scale(np.ones((4, 3), np.float32), np.nan)).all()
    assert calls.total([np.inf, 0, 0]) == np.inf
    # Integers have none.
    calls.add(np.array([0x7FC00000], np.int32), 0)


def test_gradients(gradients: ModuleType) -> None:
    x = kf.Tensor([1.0, 2, 3]).with_grads()
    y = kf.Tensor.zeros((3,)).with_grads(grad_in=np.array([1, HUGE, 1], np.float32))
    message = "polynomial, backward pass: the gradient of argument 'x' has inf at [1]"
    assert found(lambda: gradients.polynomial.backward(2, 8, -1, x, y)) == message
    a = kf.differentiable(2.0)
    assert "the gradient of argument 'a' has inf" in found(
        lambda: gradients.polynomial.backward(a, 8, -1, kf.Tensor([HUGE]))
    )


def test_structs_and_buffers(buffers: ModuleType, rays: ModuleType) -> None:
    particles = np.zeros(3, buffers.Particle.dtype)
    particles["velocity"] = 1
    particles["weight"] = 1
    particles["velocity"][2, 0] = HUGE
    new = kf.Buffer.from_numpy(np.zeros(3, buffers.Particle.dtype), writable=True)
    step = found(lambda: buffers.step_particles(particles, new, np.arange(3, dtype=np.int32), 10.0))
    assert step == "step_particles, forward pass: argument 'particles.position' has inf at [2, 0]"
    plain = np.zeros((2, 2), rays.Plain.dtype)
    plain["h"][1, 0] = 60000  # whose double no half holds
    change = found(lambda: rays.change(np.arange(2, dtype=np.int32), kf.Tensor(plain)))
    assert change == "change, forward pass: argument 'all.h' has inf at [1, 1]"


def test_calls_that_run_later(calls: ModuleType, device: kf.Device) -> None:
    v = kf.Tensor(np.array([[1, 2, HUGE]], np.float32))
    out, other = kf.Tensor.zeros((1, 3)), kf.Tensor.zeros((1, 3))
    encoder = device.encoder()
    calls.scale.append_to(encoder, v, 1, out=out)
    calls.scale.append_to(encoder, out, 10, out=other)
    assert found(encoder.submit) == "scale, forward pass: argument 'result' has inf at [0, 2]"
    prepared = calls.scale.prepare(v, 1, out=out)
    prepared()
    prepared.set(s=10)
    assert found(prepared).endswith("has inf at [0, 2]")
    with kf.Graph() as graph:
        calls.scale(v, 10, out=out)
    assert found(graph.replay).endswith("has inf at [0, 2]")
    # What is found is found once: from then on it is given.
    calls.scale(out, 1, out=other)


def test_the_environment_turns_it_on(calls: ModuleType, generated: Loader) -> None:
    program = """
import numpy as np, kernelfunctions as kf
from kf_calls import calls
try:
    calls.scale(np.float32([[1, 2, 3e38]]), 10)
except kf.Error as error:
    print(error)
"""
    path = os.pathsep.join([*sys.path, os.environ["PYTHONPATH"]])
    for value, printed in {
        "nan": "KF_CHECK=nan: scale, forward pass, call 1: argument 'result' has inf at [0, 2]; all that the "
        "call was given is finite\n",
        "": "",
    }.items():
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": path, "KF_CHECK": value},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == printed
