"""torch tensors in plain functions, which nothing of PyTorch's watches."""

from types import ModuleType

import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def polynomial(x: torch.Tensor) -> torch.Tensor:
    return 2 * x * x + 8 * x - 1


def test_result_is_a_new_tensor_where_the_arguments_are(gradients: ModuleType, torch_device: str) -> None:
    x = torch.arange(5, dtype=torch.float32, device=torch_device)
    y = gradients.polynomial(2, 8, -1, x)
    assert type(y) is torch.Tensor
    assert y.device == x.device
    assert torch.equal(y, polynomial(x))


def test_given_output_is_written_in_place_and_returned(gradients: ModuleType, torch_device: str) -> None:
    x = torch.arange(5, dtype=torch.float32, device=torch_device)
    around = torch.full((9,), -7.0, device=torch_device)
    y = around[2:7]
    before = y._version
    assert gradients.polynomial(2, 8, -1, x, out=y) is y
    assert torch.equal(y, polynomial(x))
    assert torch.equal(around[[0, 1, 7, 8]], torch.full((4,), -7.0, device=torch_device))
    assert y._version > before


def test_gradient_of_a_leaf_is_added_to_its_grad(gradients: ModuleType, torch_device: str) -> None:
    x = torch.arange(5, dtype=torch.float32, device=torch_device).requires_grad_()
    for times in (1, 2):
        gradients.polynomial.backward(2, 8, -1, x)
        assert x.grad is not None
        assert torch.equal(x.grad, times * (4 * x.detach() + 8))
