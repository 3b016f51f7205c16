"""torch tensors in plain functions, which nothing of PyTorch's watches."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


def polynomial(x: torch.Tensor) -> torch.Tensor:
    return 2 * x * x + 8 * x - 1


def ramp(device: str, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    count = int(np.prod(shape))
    return torch.arange(count, device=device).to(dtype).reshape(shape) / 8


FORMS: dict[str, Any] = {
    "contiguous": lambda device: ramp(device, 6),
    "strided": lambda device: ramp(device, 12)[1::2],
    "column": lambda device: ramp(device, 6, 3)[:, 1],
    "offset": lambda device: ramp(device, 9)[3:],
    "expanded": lambda device: ramp(device, 1).expand(6),
    "empty": lambda device: ramp(device, 6)[:0],
    "parameter": lambda device: torch.nn.Parameter(ramp(device, 6), requires_grad=False),
    "detached": lambda device: ramp(device, 6).requires_grad_().detach(),
    "negative": lambda device: torch.complex(ramp(device, 6), ramp(device, 6)).conj().imag,
    "inference": lambda device: torch.inference_mode()(ramp)(device, 6),
}


@pytest.mark.parametrize("form", FORMS)
def test_result_is_a_new_tensor_where_the_arguments_are(
    gradients: ModuleType, torch_device: str, form: str
) -> None:
    x = FORMS[form](torch_device)
    for _ in range(3):
        y = gradients.polynomial(2, 8, -1, x)
        assert type(y) is torch.Tensor
        assert y.device == x.device
        assert y.is_contiguous()
        assert not y.requires_grad
        assert torch.equal(y, polynomial(x.detach()).resolve_neg())


def test_given_output_is_written_in_place_and_returned(gradients: ModuleType, torch_device: str) -> None:
    x = ramp(torch_device, 5)
    around = torch.full((9, 2), -7.0, device=torch_device)
    expected = around.clone()
    y = around[2:7, 1]
    expected[2:7, 1] = polynomial(x)
    for _ in range(3):
        before = y._version
        assert gradients.polynomial(2, 8, -1, x, out=y) is y
        assert torch.equal(around, expected)
        assert y._version > before


def test_vectors_are_the_last_dimension(calls: ModuleType, torch_device: str) -> None:
    v = ramp(torch_device, 4, 3)
    assert torch.equal(calls.scale(v, 2.0), 2 * v)


def test_several_results_and_numbers(calls: ModuleType, torch_device: str) -> None:
    x = torch.tensor([1.5, 2.25], device=torch_device)
    whole, rest = calls.split(x)
    assert torch.equal(whole, x.floor())
    assert torch.equal(rest, x - x.floor())
    assert calls.add(1, 2) == 3
    assert isinstance(calls.split(kf.Tensor([1.5])).whole, kf.Tensor)


def test_inout_is_written_in_place(calls: ModuleType, torch_device: str) -> None:
    around = ramp(torch_device, 8)
    expected = around.clone()
    expected[2:5] += 0.5
    x = around[2:5]
    version = x._version
    assert calls.advance(x, 0.5) is x
    assert torch.equal(around, expected)
    assert x._version > version


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("narrow", torch.int8), ("wide", torch.int64), ("halve", torch.half)],
)
def test_element_types(calls: ModuleType, torch_device: str, name: str, dtype: torch.dtype) -> None:
    x = torch.arange(5, device=torch_device).to(dtype)
    y = getattr(calls, name)(x)
    assert y.dtype == dtype
    assert torch.equal(y.cpu(), x.cpu() / 2 if name == "halve" else x.cpu())
    flags = torch.tensor([True, False], device=torch_device)
    assert torch.equal(calls.negate(flags), ~flags)


def test_lists_and_arrays_beside_tensors(gradients: ModuleType, torch_device: str) -> None:
    x = ramp(torch_device, 3)
    a = np.array([1, 2, 3], np.float32)
    y = gradients.polynomial(a, [0, 1, 2], -1, x)
    assert type(y) is torch.Tensor
    expected = torch.tensor(a, device=torch_device) * x * x + torch.arange(3, device=torch_device) * x - 1
    assert torch.equal(y, expected)


def test_array_of_the_result_is_asked_for(gradients: ModuleType, torch_device: str) -> None:
    x = ramp(torch_device, 3)
    y = gradients.polynomial(2, 8, -1, x, out=np.ndarray)
    assert isinstance(y, np.ndarray)
    assert np.array_equal(y, polynomial(x).cpu().numpy())


def test_structs_of_tensors(generated: Loader, torch_device: str) -> None:
    tensors = generated("tensors")
    weights, bias, x = ramp(torch_device, 3, 4), ramp(torch_device, 3), ramp(torch_device, 4)
    layer = {"weights": weights, "bias": bias}
    y = tensors.layer_row(kf.grid((3,)), layer, x)
    assert type(y) is torch.Tensor
    assert torch.allclose(y, weights @ x + bias)


def test_tensors_taken_whole_and_threads(generated: Loader, torch_device: str) -> None:
    launch = generated("launch")
    x = torch.full((8,), -7.0, device=torch_device)
    version = x._version
    launch.fill.threads(5)(x, 3.0)
    assert x._version > version
    expected = torch.full((8,), -7.0, device=torch_device)
    expected[:5] = 3 + torch.arange(5, device=torch_device)
    assert torch.equal(x, expected)


def test_buffers_and_pointers(generated: Loader, torch_device: str) -> None:
    points = ramp(torch_device, 4, 3)
    i = torch.tensor([2, 0], dtype=torch.int32, device=torch_device)
    assert torch.equal(generated("buffers").gather(points, i), points[[2, 0]])
