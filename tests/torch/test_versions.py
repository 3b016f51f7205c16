"""What works with every PyTorch from 2.6 on, by its exchange API for tensors or without: see versions.sh."""

import os
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from loader import Loader

if os.environ.get("KF_TEST_WITHOUT_EXCHANGE") and hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    delattr(torch.Tensor, "__dlpack_c_exchange_api__")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def parameters(device: str, tracked: bool = True) -> list[torch.Tensor]:
    numbers = [torch.tensor([value], device=device) for value in (2.0, 8.0, -1.0)]
    x = torch.linspace(-1, 1, 33, device=device)
    return [one.requires_grad_(tracked) for one in (*numbers, x)]


def right(x: torch.Tensor) -> torch.Tensor:
    numbers = x.detach().cpu().double()
    return 2 * numbers * numbers + 8 * numbers - 1


def has_right_gradients(given: list[torch.Tensor]) -> None:
    x = given[-1].detach().cpu().double()
    wanted = [(x * x).sum(), x.sum(), torch.tensor(float(x.numel())), 4 * x + 8]
    for one, exact in zip(given, wanted, strict=True):
        assert one.grad is not None
        torch.testing.assert_close(
            one.grad.cpu().double(), exact.double().expand(one.shape), rtol=1e-5, atol=1e-4
        )


def test_plain_calls(gradients: ModuleType, torch_device: str) -> None:
    given = parameters(torch_device, tracked=False)
    made = gradients.polynomial(*given)
    assert isinstance(made, torch.Tensor) and made.device == given[-1].device
    torch.testing.assert_close(made.cpu().double(), right(given[-1]), rtol=1e-6, atol=1e-5)

    poisoned = torch.full([37], np.nan, device=torch_device)
    assert gradients.polynomial(*given, out=poisoned[2:-2]) is not None
    torch.testing.assert_close(poisoned[2:-2].cpu().double(), right(given[-1]), rtol=1e-6, atol=1e-5)
    assert poisoned[:2].isnan().all() and poisoned[-2:].isnan().all()


def test_views_and_numbers(gradients: ModuleType, torch_device: str) -> None:
    strided = torch.linspace(-1, 1, 66, device=torch_device)[::2]
    made = gradients.polynomial(2, 8, torch.tensor([-1.0], device=torch_device).expand(33), strided)
    torch.testing.assert_close(made.cpu().double(), right(strided), rtol=1e-6, atol=1e-5)


def test_autograd(gradients: ModuleType, torch_device: str) -> None:
    given = parameters(torch_device)
    made = gradients.polynomial(*given)
    assert made.requires_grad
    made.sum().backward()
    has_right_gradients(given)
    with torch.no_grad():
        assert not gradients.polynomial(*given).requires_grad


def test_operators(gradients: ModuleType, torch_device: str) -> None:
    given = parameters(torch_device)
    operator = gradients.polynomial.torch()
    operator(*given).sum().backward()
    has_right_gradients(given)


@pytest.mark.parametrize("form", ["function", "operator"])
def test_compiled(gradients: ModuleType, torch_device: str, form: str) -> None:
    torch._dynamo.reset()
    given = parameters(torch_device)
    called = gradients.polynomial if form == "function" else gradients.polynomial.torch()
    compiled = torch.compile(lambda *values: called(*values) * 2, backend="aot_eager", fullgraph=True)
    made = compiled(*given)
    torch.testing.assert_close(made.detach().cpu().double(), 2 * right(given[-1]), rtol=1e-6, atol=1e-5)
    (made.sum() / 2).backward()
    has_right_gradients(given)


def test_wrong_arguments_are_named(gradients: ModuleType, torch_device: str) -> None:
    a, b, c, x = parameters(torch_device)
    with pytest.raises((TypeError, RuntimeError), match="argument 'x'"):
        gradients.polynomial(a, b, c, x.detach().to(torch.bfloat16))


def test_all_of_this_without_the_exchange_api() -> None:
    """As with PyTorch older than 2.10: in a process whose tensors offer DLPack's ordinary protocol alone."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, __file__, "-k", "not without_the_exchange_api"],
        env={**os.environ, "KF_TEST_WITHOUT_EXCHANGE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
