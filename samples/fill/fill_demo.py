"""Fills textures by a function that is called for pixels, and by a kernel; draws with the function."""

import kernelfunctions as kf
import numpy as np
from kf_samples.fill import fill, main
from PIL import Image

SIDE = 256


def say(what: str, right: bool) -> None:
    print(f"{what}: {'yes' if right else 'no'}")


texture = kf.Texture.empty((SIDE, SIDE), "rgba32f")
fill(pixel=texture.shape, color=(1, 0, 0), texture=texture)

other = kf.Texture.empty((SIDE, SIDE), "rgba32f")
main.set(color=(1, 0, 0), out=other).threads(SIDE, SIDE)()

filled = texture.to_numpy()
say("all red", bool(np.all(filled == np.array([1, 0, 0, 1], np.float32))))
say("the same by the kernel", np.array_equal(filled, other.to_numpy()))

# A row of colors, broadcast to all rows, from blue on the left to yellow on the right; then a square.
share = np.linspace(0, 1, SIDE, dtype=np.float32)
colors = np.stack([share, 0.25 + 0.5 * share, 1 - share], -1)
fill(texture.shape, kf.Tensor.from_numpy(colors[None]), texture)
quarter = SIDE // 4
fill(kf.grid((2 * quarter, 2 * quarter), offset=(quarter, quarter)), (1, 0, 0), texture)
expected = np.ones((SIDE, SIDE, 4), np.float32)
expected[..., :3] = colors
expected[quarter:-quarter, quarter:-quarter] = 1, 0, 0, 1
drawn = texture.to_numpy()
say("a square before columns of colors", np.array_equal(drawn, expected))
Image.fromarray((drawn[..., :3] * 255 + 0.5).astype(np.uint8)).save("fill.png")
