"""Fits a picture by a sum of Gaussians, without PyTorch: structs of buffers, and an optimiser of its own.

gaussian_fit.ppm shows the picture and what was learned of it, gaussian_fit.csv how the loss fell.
"""

import pathlib
from typing import Any

import kernelfunctions as kf
import numpy as np
from kf_samples.gaussian_fit import Moments, Outlines, Parameter, Splats, adam, draw, paint

SIDE = 64
STEPS = 100
ACROSS = 7
COUNT = ACROSS * ACROSS
ZOOM = 4


def parameter(values: Any) -> Parameter[kf.Buffer, kf.Buffer]:
    flat = np.array(values, np.float32).ravel()
    return Parameter(kf.Buffer.from_numpy(flat, writable=True), kf.Buffer.zeros(flat.size))


y, x = (np.mgrid[:ACROSS, :ACROSS] + 0.5) / ACROSS
outlines = Outlines(
    centers=parameter(np.stack([x, y], -1)),
    spreads=parameter(np.full(2 * COUNT, np.log(0.5 / ACROSS))),
    angles=parameter(np.zeros(COUNT)),
)
splats = Splats(outlines, colors=parameter(np.full(3 * COUNT, 0.3)), count=COUNT)
# What is learned, how fast, and what the optimiser remembers of it.
learned = [
    (one, rate, kf.Buffer.zeros(one.values.size, Moments.dtype))
    for one, rate in [
        (outlines.centers, 0.005),
        (outlines.spreads, 0.05),
        (outlines.angles, 0.05),
        (splats.colors, 0.02),
    ]
]

canvas = {"size": (SIDE, SIDE)}
wanted = kf.Buffer.empty((SIDE * SIDE, 3))
drawn = kf.Buffer.empty((SIDE * SIDE, 3))
losses = kf.Buffer.empty(SIDE * SIDE)
paint.set(canvas=canvas).threads(SIDE, SIDE)(wanted)
draw_all = draw.set(canvas=canvas).threads(SIDE, SIDE)

history = []
for step in range(STEPS + 1):
    draw_all(splats, wanted, drawn, losses)
    history.append(float(losses.to_numpy().sum(dtype=np.float64)))
    for one, rate, moments in learned:
        adam.set(step=step + 1, rate=rate).threads(one.values.size)(one.values, one.gradients, moments)

pathlib.Path("gaussian_fit.csv").write_text(
    "step,loss\n" + "".join(f"{step},{loss:.6g}\n" for step, loss in enumerate(history))
)
pictures = [
    one.to_numpy().reshape(SIDE, SIDE, 3).repeat(ZOOM, axis=0).repeat(ZOOM, axis=1) for one in (wanted, drawn)
]
levels = (np.concatenate(pictures, axis=1).clip(0, 1) * 255 + 0.5).astype(np.uint8)
header = f"P6 {levels.shape[1]} {levels.shape[0]} 255\n"
pathlib.Path("gaussian_fit.ppm").write_bytes(header.encode() + levels.tobytes())

fell = history[-1] < history[0] / 10
print("the loss fell to less than a tenth:", "yes" if fell else "no")
print("the picture and what was learned of it: gaussian_fit.ppm; the losses: gaussian_fit.csv")
