"""kf.Texture.adopt(): images that an application made itself."""

import gc
import re
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from foreign_images import GENERAL, READ_ONLY, CudaImage, VulkanImage
from loader import Loader
from texels import Format, mip
from vulkan_application import VulkanApplication

Make = Callable[..., tuple[Any, dict[str, Any]]]
EXTENTS = (33, 7)


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("texture_calls")


@pytest.fixture(params=["vulkan", "cuda"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes images, and says how each is adopted."""
    if not any(one.backend == request.param for one in kf.devices()):
        pytest.skip(f"needs a GPU: there is no device of {request.param}'s")
    images: list[Any] = []
    if request.param == "cuda":

        def on_cuda(format: str, layout: int = GENERAL, mips: int = 1, layers: int = 1) -> Any:
            images.append(CudaImage(0, EXTENTS, format, mips, layers))
            return images[-1], {"is_mipmapped": mips > 1, "device": kf.Device.open("cuda:0")}

        yield on_cuda
        gc.collect()
        for image in images:
            image.destroy()
        return
    with VulkanApplication() as application:
        devices = [kf.Device.adopt(**application.handles())]

        def on_vulkan(format: str, layout: int = GENERAL, mips: int = 1, layers: int = 1) -> Any:
            images.append(VulkanImage(application, EXTENTS, format, layout, mips, layers))
            return images[-1], {"layout": layout, "device": devices[0]}

        yield on_vulkan
        devices.pop().wait()
        gc.collect()
        for image in images:
            image.destroy()


@pytest.mark.parametrize("format", ["rgba8", "r32f", "rgba16f"])
@pytest.mark.parametrize("layout", [GENERAL, READ_ONLY])
def test_copies(make: Make, layout: int, format: str) -> None:
    image, how = make(format, layout, mips=3, layers=2)
    form = Format(format)
    texture = kf.Texture.adopt(image.handle, EXTENTS, format, mips=3, layers=2, writable=True, **how)
    assert (texture.shape, texture.mips, texture.layers) == (EXTENTS, 3, 2)
    levels = []
    for i in range(3):
        levels.append(form.texels((2, *mip(EXTENTS, i)), i))
        texture.mip(i).copy_from_numpy(levels[-1])
    again = kf.Texture.adopt(image.handle, EXTENTS, format, mips=3, layers=2, writable=True, **how)
    for i in range(3):
        np.testing.assert_array_equal(again.mip(i).to_numpy(), levels[i])


def test_calls_read_and_write_them(make: Make, calls: ModuleType) -> None:
    image, how = make("rgba8")
    form = Format("rgba8")
    texture = kf.Texture.adopt(image.handle, EXTENTS, "rgba8", writable=True, **how)
    texels = form.texels(EXTENTS, 1)
    texture.copy_from_numpy(texels)
    y, x = np.indices(EXTENTS)
    at = np.stack([x, y], -1).reshape(-1, 2).astype(np.int32)
    found = calls.at(texture, kf.Tensor.from_numpy(at, texture.device)).to_numpy()
    np.testing.assert_allclose(found, form.read(texels).reshape(-1, 4), rtol=0, atol=1e-6)
    calls.put(texture, EXTENTS, (0, 0.2, 0.6, 1))
    expected = np.broadcast_to(np.array([0, 51, 153, 255], np.uint8), (*EXTENTS, 4))
    np.testing.assert_array_equal(texture.to_numpy(), expected)


class Owner:
    """Something that can be told to be gone."""


def test_an_owner_is_kept(make: Make) -> None:
    image, how = make("rgba8")
    owner = Owner()
    gone = weakref.ref(owner)
    texture = kf.Texture.adopt(image.handle, EXTENTS, "rgba8", owner=owner, **how)
    view = texture.mip(0)
    texels = Format("rgba8").texels(EXTENTS)
    texture.copy_from_numpy(texels)
    del owner, texture
    gc.collect()
    assert gone() is not None
    np.testing.assert_array_equal(view.to_numpy(), texels)
    del view
    how["device"].wait()
    gc.collect()
    kf.Tensor.zeros(3, device=how["device"]).to_numpy()
    assert gone() is None


def test_refusals(make: Make) -> None:
    image, how = make("rgba8")
    for handle, text in ((0, "null"), ("7", "an int, not '7'"), (True, "an int, not True"), (1.5, "not 1.5")):
        with pytest.raises(kf.ArgumentError, match=re.escape(text)):
            kf.Texture.adopt(handle, EXTENTS, "rgba8", **how)  # type: ignore[arg-type]
    with pytest.raises(kf.ArgumentError, match="format"):
        kf.Texture.adopt(image.handle, EXTENTS, "bgra8", **how)
