"""Filters a noisy picture: a blur that shares what it reads in groups, a bilateral filter, and mips."""

import kernelfunctions as kf
import numpy as np
from kf_samples.image_filters import bilateral, blur, halve
from PIL import Image

WIDTH, HEIGHT = 128, 96
RADIUS = 8  # of the blur, as the kernel has it


def say(what: str, right: bool) -> None:
    print(f"{what}: {'yes' if right else 'no'}")


def noise(x: np.ndarray, y: np.ndarray, channel: int) -> np.ndarray:
    """From -28 to 28."""
    state = (x * 73856093 ^ y * 19349663 ^ channel * 83492791) & 0xFFFFFFFF
    state = (state ^ state >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
    state = (state ^ state >> 12) * 0x297A2D39 & 0xFFFFFFFF
    result: np.ndarray = (state >> 16) % 57 - 28
    return result


def picture() -> np.ndarray:
    """Red, green, blue and alpha, [h, w, 4]: a disc and a bar before a slope, under noise."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.int64)
    slope = [40 + x, 60 + y, 150 - x // 2]
    disc = (x - 45) ** 2 + (y - 45) ** 2 < 30**2
    bar = (x > 85) & (x < 105) & (y > 15) & (y < 80)
    colors = [
        np.select([disc, bar], there, slope[c]) for c, there in enumerate([(220, 40), (90, 180), (60, 90)])
    ]
    noisy = [np.clip(color + noise(x, y, c), 0, 255) for c, color in enumerate(colors)]
    return np.stack([*noisy, np.full_like(x, 255)], -1).astype(np.uint8)


def gaussian(spread: float) -> np.ndarray:
    weights: np.ndarray = np.exp(-(np.arange(-RADIUS, RADIUS + 1) ** 2) / (2 * spread**2))
    weights /= weights.sum()
    return weights


def plain_blur(pixels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    for axis in (1, 0):
        wide = np.pad(pixels, [(RADIUS, RADIUS) if axis == k else (0, 0) for k in range(3)], "edge")
        windows = np.lib.stride_tricks.sliding_window_view(wide, len(weights), axis)
        pixels = windows @ weights
    return pixels


def plain_bilateral(pixels: np.ndarray, radius: int, spread: float, color_spread: float) -> np.ndarray:
    wide = np.pad(pixels, [(radius, radius), (radius, radius), (0, 0)], "edge")
    total, weights = np.zeros(pixels.shape), np.zeros((*pixels.shape[:2], 1))
    for y, x in np.ndindex(2 * radius + 1, 2 * radius + 1):
        colors = wide[y : y + HEIGHT, x : x + WIDTH]
        apart = np.sum((colors - pixels) ** 2, axis=-1, keepdims=True) / color_spread**2
        weight = np.exp(-((x - radius) ** 2 + (y - radius) ** 2) / (2 * spread**2) - apart / 2)
        total += weight * colors
        weights += weight
    return total / weights


given = picture()
source = kf.Texture.from_numpy(given, "rgba8")
pixels = given / 255.0

# ---- Blurred along rows, then along columns ----
rows, blurred, smooth = (kf.Texture.empty(source.shape, "rgba32f") for _ in range(3))
weights = kf.Buffer.from_numpy(gaussian(2.5).astype(np.float32))
launched = blur.threads(WIDTH, HEIGHT)
launched(source, rows, weights, False)
launched(rows, blurred, weights, True)
expected = plain_blur(pixels, gaussian(2.5))
say("a blur as by plain code", np.allclose(blurred.to_numpy(), expected, atol=1e-5))

# ---- Without noise, but with edges ----
bilateral(source.shape, source, 5, 3.0, 0.25, out=smooth)
expected = plain_bilateral(pixels, 5, 3.0, 0.25)
say("a bilateral filter as by plain code", np.allclose(smooth.to_numpy(), expected, atol=1e-4))

# ---- Mips, each made from the one before ----
chain = kf.Texture.empty(source.shape, "rgba32f", mips=0)
chain.copy_from_numpy(pixels.astype(np.float32))
linear = kf.Sampler(filter="linear", address="clamp")
for i in range(1, chain.mips):
    height, width = chain.mip(i).shape
    halve((height, width), (width, height), chain.mip(i - 1), linear, out=chain.mip(i))
generated = kf.Texture.empty(source.shape, "rgba32f", mips=0)
generated.copy_from_numpy(pixels.astype(np.float32))
generated.generate_mips()
levels = [chain.mip(i).to_numpy() for i in range(chain.mips)]
same = [np.allclose(generated.mip(i).to_numpy(), level, atol=1e-3) for i, level in enumerate(levels)]
say("mips as generate_mips() makes them", all(same))
means = levels[0].reshape(HEIGHT // 2, 2, WIDTH // 2, 2, 4).mean(axis=(1, 3))
say("the first one has means of four", np.allclose(levels[1], means, atol=1e-3))

# Beside each other: the picture, both filters, and the mips one below the other.
page = np.zeros((HEIGHT, 3 * WIDTH + WIDTH // 2, 4), np.float32)
page[:, :WIDTH], page[:, WIDTH : 2 * WIDTH], page[:, 2 * WIDTH : 3 * WIDTH] = (
    pixels,
    blurred.to_numpy(),
    smooth.to_numpy(),
)
top = 0
for level in levels[1:]:
    height, width, _ = level.shape
    page[top : top + height, 3 * WIDTH : 3 * WIDTH + width] = level
    top += height
Image.fromarray((page[..., :3].clip(0, 1) * 255 + 0.5).astype(np.uint8)).save("image_filters.png")
