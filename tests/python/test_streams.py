"""Calls on the caller's CUDA streams: stream=."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

NUMBERS = np.arange(1000, dtype=np.float32) / 8


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def torch() -> Any:
    """PyTorch, whose streams are then of the device that the calls run on."""
    device = kf.default_device()
    if device.backend != "cuda":
        pytest.skip("needs a GPU with CUDA")
    torch = pytest.importorskip("torch")
    torch.cuda.set_device(device.info.index)
    return torch


class Protocol:
    """A stream as cuda.core has it."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def forms(stream: Any) -> list[Any]:
    return [stream, stream.cuda_stream, Protocol(stream.cuda_stream)]


def polynomial(x: Any) -> Any:
    return 2 * x * x + 8 * x - 1


def test_every_form_of_a_stream(torch: Any, gradients: ModuleType) -> None:
    stream = torch.cuda.Stream()
    x = kf.Tensor.from_numpy(NUMBERS)
    for form in [*forms(stream), torch.cuda.default_stream(), 0, None]:
        y = gradients.polynomial(2, 8, -1, x, stream=form)
        np.testing.assert_array_equal(y.to_numpy(), polynomial(NUMBERS))


def test_calls_wait_for_what_the_stream_does(torch: Any, gradients: ModuleType) -> None:
    stream = torch.cuda.Stream()
    x = kf.Tensor.from_numpy(NUMBERS)
    y = kf.Tensor.zeros(NUMBERS.shape)
    gradients.polynomial(2, 8, -1, x, out=y, stream=stream)
    stream.synchronize()
    for form in forms(stream):
        y.copy_from_numpy(np.zeros_like(NUMBERS))
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100_000_000)
        done = torch.cuda.Event()
        gradients.polynomial(2, 8, -1, x, out=y, stream=form)
        done.record(stream)
        assert not done.query(), "the call didn't wait for the stream"
        np.testing.assert_array_equal(y.to_numpy(), polynomial(NUMBERS))


def test_streams_share_tensors_in_order(torch: Any, gradients: ModuleType) -> None:
    streams = [torch.cuda.Stream() for _ in range(3)]
    x = kf.Tensor.from_numpy(np.full(1 << 20, 0.5, np.float32))
    y = kf.Tensor.empty(x.shape)
    for i in range(12):
        gradients.polynomial(0, 1, 0.125, x, out=y, stream=streams[i % 3])
        gradients.polynomial(0, 1, 0.125, y, out=x, stream=[*streams, None][i % 4])
    assert (x.to_numpy() == 0.5 + 24 * 0.125).all()


def test_host_data_goes_and_comes(torch: Any, generated: Loader, gradients: ModuleType) -> None:
    stream = torch.cuda.Stream()
    out = np.zeros_like(NUMBERS)
    assert gradients.polynomial(2, 8, -1, NUMBERS, out=out, stream=stream) is out
    np.testing.assert_array_equal(out, polynomial(NUMBERS))
    assert generated("calls").reserved(shape_=4, stream_=2, stream=stream) == 42
    x = kf.Tensor.from_numpy(NUMBERS).with_grads()
    a = kf.differentiable(2.0)
    gradients.polynomial.backward(a, 8, -1, x, stream=stream)
    assert a.grad == pytest.approx(float((NUMBERS.astype(np.float64) ** 2).sum()), rel=1e-5)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), 4 * NUMBERS + 8)


def test_a_graph_holds_the_calls(torch: Any, gradients: ModuleType) -> None:
    stream = torch.cuda.Stream()
    x = kf.Tensor.from_numpy(NUMBERS).with_grads()
    y = kf.Tensor.zeros(NUMBERS.shape)
    a = kf.Tensor.from_numpy(np.array([2], np.float32)).with_grads()

    def work() -> None:
        gradients.polynomial(a, 8, -1, x, out=y, stream=stream)
        gradients.polynomial.backward(a, 8, -1, x, y, stream=stream)

    work()
    stream.synchronize()
    assert x.grad is not None
    x.grad.copy_from_numpy(np.zeros_like(NUMBERS))
    y.copy_from_numpy(np.zeros_like(NUMBERS))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        work()
        with pytest.raises(kf.DeviceError, match=r"give a kf\.Tensor instead of numpy\.ndarray") as caught:
            gradients.polynomial(2, 8, -1, NUMBERS, out=y, stream=stream)
        assert caught.value.code == "stream-captured"
        with pytest.raises(kf.DeviceError, match="out="):
            gradients.polynomial(2, 8, -1, x, stream=stream)
    assert (y.to_numpy() == 0).all(), "captured, not run"
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    np.testing.assert_array_equal(y.to_numpy(), polynomial(NUMBERS))
    np.testing.assert_array_equal(x.grad.to_numpy(), 3 * (4 * NUMBERS + 8))


@pytest.mark.parametrize("stream", ["0", 1.5, True, [1], object()])
def test_what_is_no_stream(gradients: ModuleType, stream: object) -> None:
    with pytest.raises(kf.ArgumentTypeError, match="'stream': a CUDA stream is needed") as caught:
        gradients.polynomial(2, 8, -1, NUMBERS, stream=stream)
    assert caught.value.code == "type-mismatch"


def test_too_large_for_a_handle(gradients: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="is no stream's handle"):
        gradients.polynomial(2, 8, -1, NUMBERS, stream=1 << 70)


def test_encoders_take_no_stream(device: kf.Device, gradients: ModuleType) -> None:
    y = kf.Tensor.zeros(NUMBERS.shape)
    encoder = device.encoder()
    with pytest.raises(kf.ArgumentTypeError, match="runs where its encoder is submitted"):
        gradients.polynomial.append_to(encoder, 2, 8, -1, kf.Tensor.from_numpy(NUMBERS), out=y, stream=0)


def test_vulkan_has_no_streams(gradients: ModuleType) -> None:
    x = kf.Tensor.from_numpy(NUMBERS, kf.Device.open("vulkan"))
    with pytest.raises(kf.ArgumentError, match=r"'stream': .*takes no stream; CUDA devices do") as caught:
        gradients.polynomial(2, 8, -1, x, stream=0)
    assert caught.value.code == "device-mismatch"
