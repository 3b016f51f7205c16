"""What PyTorch's profiler shows of calls."""

from types import ModuleType

import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def counts(profile: torch.profiler.profile) -> dict[str, int]:
    return {event.key: event.count for event in profile.key_averages() if "gradients" in event.key}


def test_functions_are_shown_by_name(gradients: ModuleType, torch_device: str) -> None:
    x = torch.ones(8, device=torch_device)
    leaf = torch.ones(8, device=torch_device, requires_grad=True)
    gradients.product(x, 2)
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profile:
        gradients.product(x, 2)  # known, and made in the short way
        gradients.product(x, x)
        gradients.polynomial(2, 8, -1, leaf).sum().backward()
        gradients.polynomial.torch()(2.0, 8.0, -1.0, leaf).sum().backward()
        gradients.polynomial.backward(2, 8, -1, leaf.detach().requires_grad_())
    assert counts(profile) == {
        "gradients.product": 2,
        "gradients.polynomial": 2,
        "gradients.polynomial.backward": 3,
    }
    gradients.product(x, 2)
    with torch.profiler.profile(activities=activities) as profile:
        pass
    assert counts(profile) == {}


def test_operators_are_shown_by_theirs(gradients: ModuleType, torch_device: str) -> None:
    gradients.torch.register()
    x = torch.ones(8, device=torch_device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        torch.ops.gradients.weighted(torch.ones((8, 3), device=torch_device), x)
    found = counts(profile)
    assert found["gradients::weighted"] == 1
    assert found["gradients.weighted"] == 1
