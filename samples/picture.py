"""Pictures as PNG files, for the samples with PyTorch; picture.h writes those of the samples in C++."""

import struct
import zlib
from pathlib import Path

import numpy as np


def save_png(path: Path, pixels: np.ndarray) -> None:
    """Writes rows of red, green and blue, from 0 to 1."""
    levels = (np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)
    height, width, _ = levels.shape
    # Each row begins with the number of its filter; 0 is none.
    rows = np.pad(levels.reshape(height, 3 * width), ((0, 0), (1, 0)))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows.tobytes())), chunk(b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def enlarged(pixels: np.ndarray, zoom: int) -> np.ndarray:
    """Draws each pixel as a square of pixels, zoom along each side."""
    return pixels.repeat(zoom, axis=0).repeat(zoom, axis=1)


def loss_curve(losses: list[float], lines: int = 6) -> str:
    """Draws how a loss fell: some of its steps, with a star for each factor of two above the least."""
    steps = sorted({round(k * (len(losses) - 1) / (lines - 1)) for k in range(lines)})
    least = min(losses[step] for step in steps)
    return "\n".join(
        f"step {step:4}: loss {losses[step]:.2e} {'*' * (1 + round(float(np.log2(losses[step] / least))))}"
        for step in steps
    )
