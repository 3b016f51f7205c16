"""Textures among torch.Tensors: calls take both, and what PyTorch watches refuses textures by name."""

import re
from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader

SIZE = (5, 7)


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("texture_calls")


@pytest.fixture(scope="module")
def texture(torch_device: str) -> kf.Texture:
    """A texture on the device that calls of such tensors run on."""
    texels = np.random.default_rng(1).integers(0, 256, (*SIZE, 4), np.uint8)
    device = kf.Device.open("cuda:0") if torch_device.startswith("cuda") else None
    return kf.Texture.from_numpy(texels, "rgba8", device=device)


def pixels(texture: kf.Texture, torch_device: str) -> torch.Tensor:
    return torch.tensor(texture.to_numpy(), device=torch_device).float() / 255


def test_results(calls: ModuleType, texture: kf.Texture, torch_device: str) -> None:
    b = torch.rand(*SIZE, 4, device=torch_device)
    for _ in range(3):
        result = calls.mixed(texture, b, 0.25)
        assert type(result) is torch.Tensor
        assert result.device == b.device
        torch.testing.assert_close(result, torch.lerp(pixels(texture, torch_device), b, 0.25))
    given = torch.zeros(*SIZE, 4, device=torch_device)
    assert calls.mixed(texture, b, 0.5, out=given) is given
    torch.testing.assert_close(given, torch.lerp(pixels(texture, torch_device), b, 0.5))


def test_textures_are_written(calls: ModuleType, texture: kf.Texture, torch_device: str) -> None:
    target = kf.Texture.empty(SIZE, "rgba32f", device=texture.device)
    x = torch.rand(*SIZE, 4, device=torch_device)
    for _ in range(3):
        assert calls.paint_doubled(x, out=target) is target
        np.testing.assert_array_equal(target.to_numpy(), 2 * x.cpu().numpy())
    made = calls.paint_doubled(x)
    assert type(made) is kf.Texture
    np.testing.assert_array_equal(made.to_numpy(), 2 * x.cpu().numpy())


def test_gradients_are_asked_for_by_hand(calls: ModuleType, texture: kf.Texture, torch_device: str) -> None:
    tint = torch.rand(*SIZE, 4, device=torch_device)
    given = kf.Tensor.from_numpy(tint.cpu().numpy(), device=texture.device).with_grads()
    calls.tinted.backward(texture, given, calls.tinted(texture, given))
    assert given.grad is not None
    expected = pixels(texture, torch_device).cpu()
    torch.testing.assert_close(torch.from_numpy(given.grad.to_numpy()), expected)


def test_watched_calls_refuse_them(calls: ModuleType, texture: kf.Texture, torch_device: str) -> None:
    tint = torch.rand(*SIZE, 4, device=torch_device, requires_grad=True)
    words = re.escape(
        "tinted: argument 'pixel': textures and samplers are no arguments of PyTorch's operators: "
        "detach() the tensors, or call under torch.no_grad()"
    )
    with pytest.raises((TypeError, ValueError), match=words):
        calls.tinted(texture, tint)
    with torch.no_grad():
        result = calls.tinted(texture, tint)
    torch.testing.assert_close(result, pixels(texture, torch_device) * tint.detach())
    torch.testing.assert_close(calls.tinted(texture, tint.detach()), result)


def test_other_devices_are_refused(calls: ModuleType, texture: kf.Texture, torch_device: str) -> None:
    if not torch_device.startswith("cuda") or not any(one.backend == "vulkan" for one in kf.devices()):
        pytest.skip("needs a GPU with CUDA, and Vulkan")
    other = kf.Texture.empty(SIZE, "rgba8", device=kf.Device.open("vulkan"))
    for tensor in (torch.rand(*SIZE, 4, device=torch_device), kf.Tensor.zeros((*SIZE, 4))):
        with pytest.raises(kf.ArgumentError, match=r"same device|device"):
            calls.mixed(other, tensor, 0.5)
