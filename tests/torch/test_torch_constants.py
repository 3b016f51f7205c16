"""PyTorch's gradients and operators of functions with constants that run time chooses."""

from types import ModuleType
from typing import Any

import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module", name="module")
def fixture_module(generated: Loader, torch_device: str) -> ModuleType:
    if torch_device != "cpu":
        pytest.skip("needs tensors on the CPU: CUDA has code for listed values alone")
    return generated("run_time_constants")


def power(x: torch.Tensor, taps: int = 3, gain: float = 0.75) -> torch.Tensor:
    return gain * x.double() ** taps


def inputs(torch_device: str) -> torch.Tensor:
    values = torch.linspace(-2, 2, 33, device=torch_device)
    return values.requires_grad_()


@pytest.mark.parametrize("chosen", [{}, {"taps": 2}, {"taps": 5, "gain": -2.0}, {"taps": 1}])
def test_backward_has_the_same_constants(
    module: ModuleType, torch_device: str, chosen: dict[str, Any]
) -> None:
    function = module.power.options(constants=chosen) if chosen else module.power
    x, wide = inputs(torch_device), inputs(torch_device)
    y = function(x)
    # Another choice in between changes nothing.
    other = module.power.options(constants={"taps": 4})(x.detach())
    y.backward(torch.ones_like(y))
    wanted = power(wide, **chosen)
    wanted.backward(torch.ones_like(wanted))
    torch.testing.assert_close(y.double(), wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(x.grad, wide.grad, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(other.double(), power(x.detach(), 4), rtol=1e-5, atol=1e-5)


def test_operators(module: ModuleType, torch_device: str) -> None:
    x = inputs(torch_device)
    for taps, gain in [(3, 0.75), (2, 0.5), (2, -0.5), (2, 1e5), (2, 1e-5)]:
        operator = module.power.options(constants={"taps": taps, "gain": gain}).torch()
        y = operator(x)
        (gradient,) = torch.autograd.grad(y.sum(), x)
        torch.testing.assert_close(y.double(), power(x, taps, gain), rtol=1e-5, atol=1e-9)
        (wanted,) = torch.autograd.grad(power(x, taps, gain).sum(), x)
        torch.testing.assert_close(gradient, wanted, rtol=1e-5, atol=1e-9)


def test_traced(module: ModuleType, torch_device: str) -> None:
    square = module.power.options(constants={"taps": 2})
    cube = module.power.options(constants={"taps": 3, "gain": 2})

    def both(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = square(x) + cube(x)
        return result

    x = inputs(torch_device)
    compiled = torch.compile(both, backend="aot_eager", fullgraph=True)(x)
    (gradient,) = torch.autograd.grad(compiled.sum(), x)
    wanted = power(x, 2) + power(x, 3, 2)
    torch.testing.assert_close(compiled.double(), wanted, rtol=1e-5, atol=1e-5)
    (slope,) = torch.autograd.grad(wanted.sum(), x)
    torch.testing.assert_close(gradient, slope, rtol=1e-5, atol=1e-5)
