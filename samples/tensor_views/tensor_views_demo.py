"""Fits a Bézier curve and a triangle with soft edges, by kernels as slang-torch's users write them."""

from collections.abc import Callable
from typing import Any

import kernelfunctions as kf
import numpy as np
from kf_samples.tensor_views import Camera, bezier, compare, descend, rasterize

SAMPLES = 100
SIDE = 32
CAMERA = Camera(center=(0, 0), half_size=(1, 1))
SOFTNESS = 0.1
STEPS = 200


def tensor(values: object) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.float32))


def say(what: str, right: bool) -> None:
    print(f"{what}: {'yes' if right else 'no'}")


def fit(forward: Any, backward: Any, start: object, wanted: np.ndarray, rate: float) -> kf.Tensor:
    """Gradient descent from `start` to what draws `wanted`. Nothing of it waits for the GPU."""
    x = tensor(start).with_grads()
    flow = tensor(np.zeros_like(wanted))
    y = tensor(np.zeros_like(wanted)).with_grads(grad_in=flow)
    target = tensor(wanted)
    rows, columns = wanted.shape
    assert x.grad is not None
    for _ in range(STEPS):
        forward(x, y)
        compare(y, target, flow).launchRaw(
            blockSize=(16, 16, 1), gridSize=((columns + 15) // 16, (rows + 15) // 16, 1)
        )
        backward(x, y)
        descend(x, x.grad, rate).launchRaw(blockSize=(16, 16, 1), gridSize=(1, 1, 1))
    return x


def gradient(forward: Callable[[np.ndarray], np.ndarray], x: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """Central differences of a function in NumPy."""
    result = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        step = np.zeros(x.shape)
        step[i] = 1e-5
        result[i] = np.sum(flow * (forward(x + step) - forward(x - step))) / 2e-5
    return result


def report(
    name: str, forward: Any, backward: Any, reference: Any, start: object, goal: object, rate: float
) -> None:
    x = np.array(start, np.float64)
    wanted = reference(np.array(goal, np.float64))
    flow = np.cos(np.arange(wanted.size)).reshape(wanted.shape)
    given = tensor(x).with_grads()
    drawn = tensor(np.zeros_like(wanted)).with_grads(grad_in=tensor(flow))
    forward(given, drawn)
    backward(given, drawn)
    assert given.grad is not None
    say(f"{name} as by plain code", np.allclose(drawn.to_numpy(), reference(x), atol=1e-5))
    expected = gradient(reference, x, flow)
    say("  its gradient too", np.allclose(given.grad.to_numpy(), expected, rtol=1e-3, atol=1e-3))

    fitted = fit(forward, backward, start, wanted, rate).to_numpy()
    errors = [np.sum((reference(at) - wanted) ** 2) for at in (x, fitted.astype(np.float64))]
    say("  fitted, with less than a hundredth of the error", errors[1] < errors[0] / 100)


# ---- A curve of degree 4, whose samples are fitted ----
t = np.linspace(0, 1, SAMPLES)
t_tensor = tensor(t)
weights = np.stack([[1, 4, 6, 4, 1][k] * t**k * (1 - t) ** (4 - k) for k in range(5)], -1)
grid = ((SAMPLES + 63) // 64, 1, 1)
report(
    "curve",
    lambda x, y: bezier(t_tensor, x, y).launchRaw(blockSize=(64, 1, 1), gridSize=grid),
    lambda x, y: bezier.groups(*grid).backward(t_tensor, x, y),
    lambda controls: weights @ controls,
    [[-1, 0], [-0.5, 0], [0, 0], [0.5, 0], [1, 0]],
    [[-1, -0.5], [-1, 1], [0, -2], [1, 1], [1, -0.5]],
    0.04,
)


# ---- A triangle, seen as how much of each pixel it covers ----
def triangle(vertices: np.ndarray) -> np.ndarray:
    axis = (np.arange(SIDE) + 0.5) / SIDE * 2 - 1
    point = np.stack(np.meshgrid(axis, axis), -1)
    cover = np.ones((SIDE, SIDE))
    for u, v in zip(vertices, np.roll(vertices, -1, axis=0), strict=True):
        edge, to_point = v - u, point - u
        left = (edge[0] * to_point[..., 1] - edge[1] * to_point[..., 0]) / np.linalg.norm(edge)
        cover /= 1 + np.exp(-left / SOFTNESS)
    return cover


launch = {"blockSize": (8, 8, 1), "gridSize": (SIDE // 8, SIDE // 8, 1)}
report(
    "triangle",
    lambda x, y: rasterize(CAMERA, SOFTNESS, x, y).launchRaw(**launch),
    lambda x, y: rasterize.threads(SIDE, SIDE).backward(CAMERA, SOFTNESS, x, y),
    triangle,
    [[-0.3, -0.3], [0.3, -0.3], [0, 0.3]],
    [[-0.7, -0.4], [0.8, -0.6], [0.1, 0.7]],
    0.002,
)
