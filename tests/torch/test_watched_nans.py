"""The watch for NaNs and infinities, through PyTorch."""

from collections.abc import Iterator
from types import ModuleType

import kernelfunctions as kf
import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(autouse=True)
def watch(gradients: ModuleType, torch_device: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KF_CHECK", "nan")
        device = kf.Device.open("cuda:0" if torch_device == "cuda" else kf.default_device().info.id)
    before = kf.default_device()
    kf.set_device(device)
    yield
    kf.set_device(before)


def test_autograd(gradients: ModuleType, torch_device: str) -> None:
    function = gradients.polynomial.torch()
    x = torch.tensor([1.0, 2.0, 3e38], device=torch_device)
    with pytest.raises(
        kf.Error, match=r"polynomial, forward pass, call \d+: argument 'result' has inf at \[2\]"
    ):
        function(2.0, 8.0, -1.0, x)
    x = torch.tensor([1.0, 2.0, 3.0], device=torch_device, requires_grad=True)
    y = function(2.0, 8.0, -1.0, x)
    with pytest.raises(
        kf.Error, match=r"backward pass, call \d+: the gradient of argument 'x' has inf at \[1\]"
    ):
        y.backward(torch.tensor([1.0, 3e38, 1.0], device=torch_device))
    # What is given isn't the call's fault.
    assert torch.isnan(function(2.0, 8.0, -1.0, torch.full((3,), torch.nan, device=torch_device))).all()


def test_plain_calls(gradients: ModuleType, torch_device: str) -> None:
    x = torch.tensor([1.0, 3e38], device=torch_device)
    with pytest.raises(kf.Error, match=r"argument 'result' has inf at \[1\]"):
        gradients.product(x, 10)
