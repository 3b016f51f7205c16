"""Trains a small network that holds a picture.

neural_texture.ppm shows the picture, what the network learned of it, drawn larger, and how the loss fell.
"""

import math
import pathlib

import kernelfunctions as kf
import numpy as np
from kf_samples.neural_texture import adam, loss, reference, start_weight, texel

STEPS = 200
SIZE = (64, 64)  # width, height
LAYERS = [(16, 20), (16, 16), (3, 16)]  # outputs, inputs
ZOOM = 3

pixels = kf.grid((SIZE[1], SIZE[0]))
expected = reference(pixels, SIZE)

weights = []
for seed, (outputs, inputs) in enumerate(LAYERS):
    random = kf.rand_float(-1, 1, seed=seed, hash_seed=True)
    weights.append(start_weight(random, inputs, shape=(outputs, inputs + 1)).with_grads())
w0, w1, w2 = weights
moments = [(kf.Tensor.zeros(w.shape, np.float32), kf.Tensor.zeros(w.shape, np.float32)) for w in weights]

history = []
for step in range(STEPS + 1):
    losses = loss(pixels, SIZE, expected, w0, w1, w2)
    history.append(float(losses.to_numpy().sum(dtype=np.float64)))
    # The gradients of the last step are replaced: the spec says "overwrite".
    loss.backward(pixels, SIZE, expected, w0, w1, w2, losses)
    for weight, (mean, variance) in zip(weights, moments, strict=True):
        assert weight.grad is not None
        adam(weight, mean, variance, weight.grad, 0.02, step + 1)
    if step % 40 == 0:
        # A star for each factor of two above 1/1024.
        stars = "*" * max(0, int(math.log2(history[-1] * 1024)))
        print(f"step {step:3}: loss {history[-1]:.2g} {stars}")


def curve(width: int, height: int) -> np.ndarray:
    """The losses on a logarithmic scale, from 1 at the top to 1/1024 at the bottom: white on black."""
    picture = np.zeros((height, width, 3))
    for x in range(width):
        value = history[x * STEPS // (width - 1)]
        y = min(max(int(-math.log2(value) / 10 * height), 0), height - 1)
        picture[y, x] = 1
    return picture


# A network has no pixels: it is drawn at another size than it was trained at.
large = (SIZE[0] * ZOOM, SIZE[1] * ZOOM)
learned = texel(kf.grid((large[1], large[0])), large, w0, w1, w2).to_numpy()
wanted = expected.to_numpy().repeat(ZOOM, axis=0).repeat(ZOOM, axis=1)
page = np.concatenate([np.concatenate([wanted, learned], axis=1), curve(2 * large[0], 96)])
levels = (page.clip(0, 1) * 255 + 0.5).astype(np.uint8)
header = f"P6 {levels.shape[1]} {levels.shape[0]} 255\n"
pathlib.Path("neural_texture.ppm").write_bytes(header.encode() + levels.tobytes())
print("the picture, what was learned of it and the loss curve: neural_texture.ppm")
