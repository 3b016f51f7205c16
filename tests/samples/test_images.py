"""Samples with images, at sizes that groups don't divide, against SciPy."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")

SIZES = [(1, 1), (7, 33), (33, 7), (33, 257)]


@pytest.fixture(scope="module")
def sample(generated_folder: Callable[[str], Path]) -> Callable[[str], ModuleType]:
    def imported(name: str) -> ModuleType:
        folder = str(generated_folder(name))
        if folder not in sys.path:
            sys.path.append(folder)
        return importlib.import_module(f"kf_samples.{name}")

    return imported


def image(size: tuple[int, int], seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random((*size, 4), np.float32)


def written(size: tuple[int, int]) -> kf.Texture:
    """A texture that is to be written; poison shows what isn't."""
    return kf.Texture.from_numpy(np.full((*size, 4), np.nan, np.float32), "rgba32f", writable=True)


@pytest.mark.parametrize("size", SIZES)
def test_fill(sample: Callable[[str], ModuleType], size: tuple[int, int]) -> None:
    fill = sample("fill")
    by_function, by_kernel = written(size), written(size)
    fill.fill(by_function.shape, (0.25, 0.5, 2), by_function)
    fill.main.set(color=(0.25, 0.5, 2), out=by_kernel).threads(size[1], size[0])()
    expected = np.broadcast_to(np.array([0.25, 0.5, 2, 1], np.float32), (*size, 4))
    np.testing.assert_array_equal(by_function.to_numpy(), expected)
    np.testing.assert_array_equal(by_kernel.to_numpy(), expected)


@pytest.mark.parametrize("size", SIZES)
def test_blur(sample: Callable[[str], ModuleType], size: tuple[int, int]) -> None:
    pixels, spread, radius = image(size), 2.5, 8
    weights = np.exp(-(np.arange(-radius, radius + 1) ** 2) / (2 * spread**2))
    given = kf.Buffer.from_numpy((weights / weights.sum()).astype(np.float32))
    rows, blurred = written(size), written(size)
    blur = sample("image_filters").blur.threads(size[1], size[0])
    blur(kf.Texture.from_numpy(pixels, "rgba32f"), rows, given, False)
    blur(rows, blurred, given, True)
    wide = pixels.astype(np.float64)
    expected = ndimage.gaussian_filter(wide, spread, radius=radius, mode="nearest", axes=(0, 1))
    np.testing.assert_allclose(blurred.to_numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("size", SIZES[:3])
def test_bilateral(sample: Callable[[str], ModuleType], size: tuple[int, int]) -> None:
    """A gray image, since SciPy's own filters see one channel."""
    pixels = image(size)
    pixels[..., 1] = pixels[..., 2] = pixels[..., 0]
    smooth, radius, spread, color_spread = written(size), 3, 2.0, 0.3
    source = kf.Texture.from_numpy(pixels, "rgba32f")
    sample("image_filters").bilateral(size, source, radius, spread, color_spread, out=smooth)
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    near = np.exp(-(x**2 + y**2) / (2 * spread**2)).ravel()

    def mean(window: np.ndarray) -> float:
        difference = window - window[len(window) // 2]
        weights = near * np.exp(-3 * difference**2 / (2 * color_spread**2))
        return float(weights @ window / weights.sum())

    wide = pixels[..., 0].astype(np.float64)
    expected = ndimage.generic_filter(wide, mean, size=2 * radius + 1, mode="nearest")
    found = smooth.to_numpy()
    np.testing.assert_allclose(found[..., :3], np.stack([expected] * 3, -1), atol=1e-5)
    np.testing.assert_array_equal(found[..., 3], 1)


@pytest.mark.parametrize("size", SIZES)
def test_mips(sample: Callable[[str], ModuleType], size: tuple[int, int]) -> None:
    """Each level by the function, by generate_mips() and by SciPy's interpolation of the level before."""
    pixels = image(size)
    chains = [kf.Texture.empty(size, "rgba32f", mips=0) for _ in range(2)]
    for chain in chains:
        chain.copy_from_numpy(pixels)
    by_function, generated = chains
    generated.generate_mips()
    linear = kf.Sampler(filter="linear", address="clamp")
    finer = pixels
    for i in range(1, by_function.mips):
        coarser = by_function.mip(i)
        height, width = coarser.shape
        sample("image_filters").halve(
            (height, width), (width, height), by_function.mip(i - 1), linear, out=coarser
        )
        y, x = ((np.arange(n) + 0.5) * finer.shape[k] / n - 0.5 for k, n in enumerate((height, width)))
        places = np.meshgrid(y, x, indexing="ij")
        expected = np.stack(
            [ndimage.map_coordinates(finer[..., c], places, order=1, mode="nearest") for c in range(4)], -1
        )
        # GPUs interpolate with weights of 8 bits.
        np.testing.assert_allclose(coarser.to_numpy(), expected, atol=1 / 128)
        np.testing.assert_allclose(generated.mip(i).to_numpy(), coarser.to_numpy(), atol=1 / 128)
        finer = coarser.to_numpy()
