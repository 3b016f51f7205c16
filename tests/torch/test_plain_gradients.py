"""Backward calls of torch tensors, without autograd."""

from types import ModuleType

import kernelfunctions as kf
import pytest
import torch
from kernelfunctions import _kf
from loader import Loader


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture
def x(torch_device: str) -> torch.Tensor:
    return torch.arange(5, dtype=torch.float32, device=torch_device)


def test_gradient_of_a_leaf_is_added_to_its_grad(gradients: ModuleType, x: torch.Tensor) -> None:
    leaf = x.clone().requires_grad_()
    for times in (1, 2):
        gradients.polynomial.backward(2, 8, -1, leaf)
        assert leaf.grad is not None
        assert torch.equal(leaf.grad, times * (4 * x + 8))
    # Nothing is left behind by a call that was refused.
    other = x.clone().requires_grad_()
    with pytest.raises(kf.ArgumentError):
        gradients.polynomial.backward(2, 8, torch.ones(3, device=x.device), other)
    assert other.grad is None


def test_what_flows_in_is_the_grad_of_the_output(gradients: ModuleType, x: torch.Tensor) -> None:
    leaf = x.clone().requires_grad_()
    y = torch.empty_like(x).requires_grad_()
    y.grad = torch.full_like(x, 3)
    gradients.polynomial.backward(2, 8, -1, leaf, y)
    assert leaf.grad is not None
    assert torch.equal(leaf.grad, 3 * (4 * x + 8))


def test_differentiable(gradients: ModuleType, x: torch.Tensor) -> None:
    given = kf.differentiable(x)
    assert given.value is x
    assert torch.equal(given.grad, torch.zeros_like(x))
    a = kf.differentiable(2.0)
    gradients.polynomial.backward(a, 8, -1, given)
    gradients.polynomial.backward(2, 8, -1, given)
    assert torch.equal(given.grad, 2 * (4 * x + 8))
    assert a.grad == float((x * x).sum())
    own = torch.ones_like(x)
    given.grad = own
    gradients.polynomial.backward(2, 8, -1, given)
    assert given.grad is own
    assert torch.equal(own, 1 + 4 * x + 8)
    with pytest.raises(kf.ArgumentError, match="has no derivative"):
        kf.differentiable(torch.arange(3))


def test_exactly_these_gradients(gradients: ModuleType, x: torch.Tensor) -> None:
    around = torch.full((9, 2), -7.0, device=x.device)
    expected = around.clone()
    expected[2:7, 0] += 2 * (4 * x + 8)
    flow = torch.full((1,), 2.0, device=x.device).expand(5)
    leaf = x.clone().requires_grad_()  # whose own grad is left alone
    for _ in range(2):
        around.fill_(-7)
        gradients.polynomial.backward(
            2,
            8,
            -1,
            _kf.with_gradients(leaf, grad_out=around[2:7, 0]),
            _kf.with_gradients(flow, flow),
        )
        assert torch.equal(around, expected)
    assert leaf.grad is None
    total = torch.zeros(1, device=x.device)
    gradients.polynomial.backward(2, 8, -1, _kf.with_gradients(x, grad_out=total))
    assert torch.equal(total, (4 * x + 8).sum()[None])


def test_gradients_that_calls_share(gradients: ModuleType, x: torch.Tensor) -> None:
    ones = [torch.ones(1, device=x.device) for _ in range(3)]
    sums = [torch.zeros(1, device=x.device) for _ in range(3)]
    for times in (1, 2, 3):
        given = [_kf.with_gradients(one, grad_out=total) for one, total in zip(ones, sums, strict=True)]
        gradients.polynomial.backward(*given, x)
        expected = [(x * x).sum(), x.sum(), torch.tensor(5.0, device=x.device)]
        assert torch.allclose(torch.cat(sums), times * torch.stack(expected))


@pytest.mark.parametrize("count", [5, 5000, 0])
def test_gradients_that_are_new(gradients: ModuleType, torch_device: str, count: int) -> None:
    x = torch.linspace(0, 1, count, device=torch_device)
    ones = [torch.ones(1, device=x.device) for _ in range(3)]
    sums = [torch.full((1,), float("nan"), device=x.device) for _ in range(3)]
    around = torch.full((count + 2, 2), float("nan"), device=x.device)
    of_x = around[1:-1, 0]
    for _ in range(2):  # what the first pass left doesn't count either
        given = [_kf.with_gradients(one, None, total, True) for one, total in zip(ones, sums, strict=True)]
        gradients.polynomial.backward(*given, _kf.with_gradients(x, None, of_x, is_new=True))
    expected = [(x * x).sum(), x.sum(), torch.tensor(float(count), device=x.device)]
    assert torch.allclose(torch.cat(sums), torch.stack(expected))
    assert torch.allclose(of_x, 2 * x + 1)
    assert around.isnan().sum() == count + 4


def test_gradient_of_a_number(gradients: ModuleType, x: torch.Tensor) -> None:
    total = torch.ones((), device=x.device)
    gradients.polynomial.backward(_kf.with_gradients(2.0, grad_out=total), 8, -1, x)
    assert total == 1 + (x * x).sum()


def test_wrong_gradients_are_refused(gradients: ModuleType, x: torch.Tensor) -> None:
    backward = gradients.polynomial.backward
    with pytest.raises(
        kf.ArgumentError, match=r"'x': with_grads: grad_out: expected shape \[5\], found \[4\]"
    ):
        backward(2, 8, -1, _kf.with_gradients(x, grad_out=x[:4].clone()))
    with pytest.raises(kf.ArgumentError, match="'x': with_grads: grad_out: expected float, found double"):
        backward(2, 8, -1, _kf.with_gradients(x, grad_out=x.double()))
    with pytest.raises(kf.ArgumentError, match="'x': it requires grad and isn't a leaf"):
        backward(2, 8, -1, x.clone().requires_grad_() * 2)
