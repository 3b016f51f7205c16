"""Traces rays that come as structs, one by one and in tensors, or field by field."""

from dataclasses import dataclass
from typing import Any

import kernelfunctions as kf
import numpy as np
from kf_samples.raytrace_structs import Ray, raytrace


def text(values: Any) -> str:
    if isinstance(values, kf.Tensor):
        values = values.to_numpy()
    if np.ndim(values) == 0:
        return f"{values:g}"
    return "[" + ",".join(text(value) for value in values) + "]"


print("one ray:", text(raytrace({"pos": [1, 1, 2], "dir": [1, -1, 0.5]})))

positions = [[1, 1, 2], [2, 3, 0], [0, 0, 4]]
directions = [[1, -1, 0.5]] * 3
rows = np.array([[pos, dir] for pos, dir in zip(positions, directions, strict=True)], np.float32)

# One memory in three shapes: numbers, a row of six a ray, and two vectors a ray.
for shape in [(18,), (3, 6), (3, 2, 3)]:
    rays = kf.Tensor.from_numpy(rows.reshape(shape)).view(Ray).with_grads()
    colors = raytrace(rays)
    raytrace.backward(rays, colors)
    print(f"array of structs, {len(shape)}-D: {text(colors)}")
    assert rays.grad is not None
    gradient = rays.grad.view("float32").to_numpy().reshape(3, 2, 3)
    print("  gradients:", text(gradient[:, 0]), text(gradient[:, 1]))


@dataclass
class Rays:
    """Any object with the fields will do."""

    pos: Any
    dir: Any


pos = kf.Tensor.from_numpy(np.array(positions, np.float32)).with_grads()
dir = kf.Tensor.from_numpy(np.array(directions, np.float32)).with_grads()
colors = raytrace(Rays(pos, dir))
raytrace.backward(Rays(pos, dir), colors)
print("structure of arrays:", text(colors))
print("  gradients:", text(pos.grad), text(dir.grad))

# The rays are parallel: one direction does for all, and its gradient is their sum.
pos = pos.with_grads()
sun = kf.differentiable([1, -1, 0.5])
colors = raytrace(Ray(pos=pos, dir=sun))
raytrace.backward(Ray(pos=pos, dir=sun), colors)
print("mixed:", text(colors))
print("  gradients:", text(pos.grad), text(sun.grad))
