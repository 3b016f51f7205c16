"""CUDA tensors in functions that have kernels for Vulkan alone: one GPU by both, without the host."""

from types import ModuleType

import kernelfunctions as kf
import pytest
import torch
from loader import Loader

SIZES = [1, 3, 1000, 65_536, 100_001, 1 << 22]
POISON = -7.0


@pytest.fixture(scope="module", autouse=True)
def cuda(torch_device: str) -> None:
    if not torch_device.startswith("cuda"):
        pytest.skip("needs a GPU with CUDA")


@pytest.fixture(scope="module")
def functions(generated: Loader) -> ModuleType:
    return generated("vulkan_only")


def make(size: int, torch_device: str, shared: bool, value: float | None = None) -> torch.Tensor:
    """Of memory that Vulkan has, too, or of PyTorch's own allocator, which it has not."""

    def new() -> torch.Tensor:
        if value is not None:
            return torch.full((size,), value, device=torch_device)
        return torch.rand(size, device=torch_device)

    if not shared:
        return new()
    with torch.cuda.device(torch_device), torch.cuda.use_mem_pool(kf.torch.shared_pool()):
        return new()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_results(functions: ModuleType, torch_device: str, size: int, shared: bool) -> None:
    x, y = make(size, torch_device, shared), make(size, torch_device, shared)
    result = functions.polynomial(3, x, y)
    assert type(result) is torch.Tensor
    assert result.device == x.device
    torch.testing.assert_close(result, 3 * x * x + y)
    whole = make(size + 20, torch_device, shared, POISON)
    out = whole[10 : 10 + size]
    assert functions.polynomial(3, x, y, out=out) is out
    torch.testing.assert_close(out, 3 * x * x + y)
    assert (whole[:10] == POISON).all()
    assert (whole[-10:] == POISON).all()
    before = out.clone()
    functions.advance(out, 1.5)
    torch.testing.assert_close(out, before + 1.5)
    assert (whole[:10] == POISON).all()
    assert (whole[-10:] == POISON).all()


@pytest.mark.parametrize("shared", [False, True])
def test_order_with_the_stream(functions: ModuleType, torch_device: str, shared: bool) -> None:
    with torch.cuda.device(torch_device):
        x, y = make(1 << 20, torch_device, shared), make(1 << 20, torch_device, shared)
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()):
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                x.fill_(1)
                y.fill_(0)
                for _ in range(20):  # each needs what the one before it wrote, on the other side
                    y = functions.polynomial(1, x, y)
                    x.add_(y * 0)
                    functions.advance(y, 1.0)
                    y.mul_(1)
                found = y.clone()
            torch.cuda.synchronize()
            assert (found == 40).all()


def test_several_streams_at_once(functions: ModuleType, torch_device: str) -> None:
    with torch.cuda.device(torch_device):
        streams = [torch.cuda.Stream() for _ in range(4)]
        values = [torch.zeros(200_000, device=torch_device) for _ in streams]
        torch.cuda.synchronize()
        for _ in range(25):
            for stream, value in zip(streams, values, strict=True):
                with torch.cuda.stream(stream):
                    functions.advance(value, 1.0)
                    value.add_(1)
        torch.cuda.synchronize()
        for value in values:
            assert (value == 50).all()


@pytest.mark.parametrize("shared", [False, True])
def test_vectors_several_results_and_rows(functions: ModuleType, torch_device: str, shared: bool) -> None:
    v = make(3000, torch_device, shared).reshape(1000, 3)
    s = make(1000, torch_device, shared)
    scaled, squared = functions.scaled(v, s)
    torch.testing.assert_close(scaled, v * s[:, None])
    torch.testing.assert_close(squared, (v * v).sum(1))
    row = make(4096, torch_device, shared)
    torch.testing.assert_close(functions.row_sum(row), row.double().sum().float(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shared", [False, True])
def test_gradients(functions: ModuleType, torch_device: str, shared: bool) -> None:
    x = make(5000, torch_device, shared).requires_grad_()
    y = make(5000, torch_device, shared).requires_grad_()
    flow = torch.rand(5000, device=torch_device)
    functions.polynomial(3, x, y).backward(flow)
    assert x.grad is not None
    assert y.grad is not None
    torch.testing.assert_close(x.grad, 6 * x.detach() * flow)
    torch.testing.assert_close(y.grad, flow)


def test_strides(functions: ModuleType, torch_device: str) -> None:
    x = torch.rand(100, 50, device=torch_device)
    torch.testing.assert_close(functions.polynomial(2, x[:, 3], x[:, 4]), 2 * x[:, 3] ** 2 + x[:, 4])
    one = torch.rand(1, device=torch_device).expand(100)
    torch.testing.assert_close(functions.polynomial(2, one, x[:, 4]), 2 * one**2 + x[:, 4])
    before = x.clone()
    with pytest.raises(kf.ArgumentError, match="argument 'x': it is written, and its elements lie apart"):
        functions.advance(x[:, 3], 1.0)
    assert torch.equal(x, before)
    shared = make(5000, torch_device, True).reshape(100, 50)
    before = shared.clone()
    functions.advance(shared[:, 3], 1.0)
    before[:, 3] += 1
    torch.testing.assert_close(shared, before)


@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
def test_refusals_leave_tensors_as_they_are(functions: ModuleType, torch_device: str) -> None:
    x, y = torch.rand(1000, device=torch_device), torch.rand(1000, device=torch_device)
    out = torch.full((999,), POISON, device=torch_device)
    with pytest.raises(kf.ArgumentError):
        functions.polynomial(3, x, y, out=out)
    torch.cuda.synchronize()
    assert (out == POISON).all()
    graph = torch.cuda.CUDAGraph()
    with (
        pytest.raises(kf.DeviceError, match="captured into a CUDA graph"),
        torch.cuda.graph(graph),
    ):
        functions.polynomial(3, x, y)
    torch.testing.assert_close(functions.polynomial(3, x, y), 3 * x * x + y)


def test_memory_does_not_grow(functions: ModuleType, torch_device: str) -> None:
    x, y = torch.rand(100_000, device=torch_device), torch.rand(100_000, device=torch_device)

    def run(times: int) -> int:
        for _ in range(times):
            functions.polynomial(3, x, y)
        torch.cuda.synchronize()
        return int(torch.cuda.mem_get_info(torch.device(torch_device))[0])

    before = run(20)
    assert run(300) >= before - (1 << 20)


def test_shared_memory_is_given_back(functions: ModuleType, torch_device: str) -> None:
    for _ in range(5):
        x = make(1 << 22, torch_device, True)
        torch.testing.assert_close(functions.polynomial(1, x, x), x * x + x)
        del x
        torch.cuda.empty_cache()
