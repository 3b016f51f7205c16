"""Compresses a picture as BC1, quickly and thoroughly: link-time constants, variants and globals."""

import kernelfunctions as kf
import numpy as np
from kf_samples.block_compression import Block, compress

SIDE = 64
WEIGHTS = (2, 4, 1)


def expand(colors: np.ndarray) -> np.ndarray:
    """Colors of 5, 6 and 5 bits as three of 8."""
    red, green, blue = colors >> 11, colors >> 5 & 63, colors & 31
    return np.stack([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], -1)


def palette(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    a, b = expand(high), expand(low)
    return np.stack([a, b, (2 * a + b) // 3, (a + 2 * b) // 3], -2)


def by_plain_code(blocks: np.ndarray, tries: int) -> tuple[np.ndarray, np.ndarray]:
    """What blocks [n, 16, 3] become: colors and indices."""
    low, high = blocks.min(axis=1), blocks.max(axis=1)
    best_colors, best_indices = np.zeros((2, len(blocks)), np.int64)
    least = np.full(len(blocks), 2**31 - 1)
    scale = np.array([31, 63, 31])
    for k in range(tries):
        inset = (high - low) * k // 16
        bits = [(color * scale + 127) // 255 @ [1 << 11, 1 << 5, 1] for color in (high - inset, low + inset)]
        ends = np.sort(bits, axis=0)
        difference = blocks[:, :, None] - palette(ends[1], ends[0])[:, None]
        distances = difference**2 @ np.array(WEIGHTS)
        indices = distances.argmin(axis=2) @ (1 << 2 * np.arange(16))
        error = distances.min(axis=2).sum(axis=1)
        better = error < least
        best_colors = np.where(better, ends[1] | ends[0] << 16, best_colors)
        best_indices = np.where(better, indices, best_indices)
        least = np.minimum(error, least)
    return best_colors, best_indices


def decoded(blocks: np.ndarray) -> np.ndarray:
    """The pixels of compressed blocks, [n, 16, 3]."""
    colors = palette(blocks["colors"] & 0xFFFF, blocks["colors"] >> 16).astype(np.int64)
    indices = blocks["indices"][:, None] >> 2 * np.arange(16) & 3
    return np.take_along_axis(colors, indices[..., None].astype(np.int64), axis=1)


# A picture of rings, and its pixels as the kernel and as plain code want them.
y, x = np.mgrid[:SIDE, :SIDE]
ring = (x * x + y * y) // 16
picture = np.stack([ring % 256, (255 - 3 * x) % 256, (ring // 2 + 2 * y) % 256], -1)
pixels = (picture @ [1, 1 << 8, 1 << 16]).astype(np.uint32)
per_side = SIDE // 4
blocks = picture.reshape(per_side, 4, per_side, 4, 3).swapaxes(1, 2).reshape(-1, 16, 3)

given = kf.Buffer.from_numpy(pixels.ravel())
ready = compress.set(image={"blocks": (per_side, per_side), "weights": WEIGHTS})
for name, function, tries in [
    ("quick", ready, 1),
    ("thorough", ready.options(variant="thorough"), 5),
]:
    compressed = kf.Buffer.empty(per_side * per_side, Block.dtype)
    function.threads(per_side, per_side)(given, compressed)
    found = compressed.to_numpy()
    colors, indices = by_plain_code(blocks, tries)
    same = np.array_equal(found["colors"], colors) and np.array_equal(found["indices"], indices)
    error = int(np.sum((decoded(found) - blocks) ** 2 @ np.array(WEIGHTS)))
    print(f"{name}: the same bits as by plain code: {'yes' if same else 'no'}, error {error}")
