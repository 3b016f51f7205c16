"""Lists of torch.Tensors are no tensors; outputs are asked for as torch.Tensors while autograd watches."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader
from refusals import refusal


@pytest.fixture(scope="module")
def containers(generated: Loader) -> ModuleType:
    return generated("containers")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def rows(*, requires_grad: bool = False) -> list[torch.Tensor]:
    return [torch.tensor([1.0, 2, 3, 4], requires_grad=requires_grad), torch.tensor([5.0, 6, 7, 8])]


def test_lists_of_tensors_are_refused(containers: ModuleType) -> None:
    """Nothing drops a gradient: what autograd should follow is no list."""
    b = torch.ones(2, 4)
    mix = containers.mix_float_4
    expected = "a list of torch.Tensors is no tensor, and autograd wouldn't follow it: torch.stack(list)"
    for requires_grad in (False, True):
        for other in (b, b.numpy(), kf.Tensor(b.numpy()), b.clone().requires_grad_()):
            for given in (rows(requires_grad=requires_grad), tuple(rows(requires_grad=requires_grad))):
                text = refusal(kf.ArgumentError, lambda given=given, other=other: mix(given, other))
                assert "argument 'a'" in text, text
                if not (isinstance(other, torch.Tensor) and other.requires_grad):
                    assert expected in text, text
    assert expected in refusal(kf.ArgumentError, lambda: kf.Tensor(rows()))
    mixed: list[Any] = [kf.Tensor([1.0, 2, 3, 4]), rows()[1]]
    assert expected in refusal(kf.ArgumentError, lambda: mix(mixed, b.numpy()))
    one = torch.tensor(1.0, requires_grad=True)
    assert expected in refusal(kf.ArgumentError, lambda: mix([one, 2.0, 3.0, 4.0], b.numpy()))
    stacked = torch.stack(rows(requires_grad=True))
    mix(stacked, b).sum().backward()


def test_outputs_asked_for_while_autograd_watches(gradients: ModuleType) -> None:
    x = torch.tensor([1.0, 2, 3], requires_grad=True)
    expected = (2 * x * x + 8 * x - 1).detach()
    slope = (4 * x + 8).detach()
    polynomial = gradients.polynomial
    calls: list[Callable[[], torch.Tensor]] = [
        lambda: polynomial(2, 8, -1, x, out="torch"),
        lambda: polynomial(2, 8, -1, x, out=torch.Tensor),
        lambda: polynomial.return_type(torch.Tensor)(2, 8, -1, x),
        lambda: polynomial.return_type("torch")(2, 8, -1, x, out="torch"),
    ]
    for call in calls:
        for _ in range(3):  # one that is known is called another way
            x.grad = None
            found = call()
            assert found.requires_grad
            torch.testing.assert_close(found.detach(), expected)
            found.sum().backward()
            torch.testing.assert_close(x.grad, slope)
    for refused in (
        lambda: polynomial(2, 8, -1, x, out="tensor"),
        lambda: polynomial(2, 8, -1, x, out=np.ndarray),
        lambda: polynomial(2, 8, -1, x, out=torch.empty(3)),
    ):
        text = refusal(kf.ArgumentError, refused)
        assert "functions with out=... arguments don't support automatic differentiation" in text
    for form in (kf.Tensor, "numpy"):
        text = refusal(kf.ArgumentError, lambda form=form: polynomial.return_type(form)(2, 8, -1, x))
        assert "argument 'return_type': PyTorch follows the call" in text
    with torch.no_grad():
        assert isinstance(polynomial(2, 8, -1, x, out="numpy"), np.ndarray)
        assert isinstance(polynomial.return_type(kf.Tensor)(2, 8, -1, x), kf.Tensor)
