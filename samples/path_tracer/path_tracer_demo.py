"""Traces paths through a scene, by a kernel that was written without kernelfunctions and by a function that
is called for pixels; a hook moves its camera.

usage: path_tracer_demo.py [WIDTH HEIGHT FRAMES], which then says how many paths it traces in a second, too.
"""

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import kernelfunctions as kf
import numpy as np
from kf_samples.path_tracer import accumulate, depth, develop, main, raytrace
from PIL import Image

if TYPE_CHECKING:
    from path_tracer.scene import DIFFUSE, GLASS, METAL, SPHERES, ball, camera, lamp_and_floor, orbit, scene
else:  # beside this file
    from scene import DIFFUSE, GLASS, METAL, SPHERES, ball, camera, lamp_and_floor, orbit, scene

PATHS_A_PIXEL = 4
WIDTH, HEIGHT, FRAMES = (160, 120, 4) if len(sys.argv) < 4 else map(int, sys.argv[1:])


def say(what: str, right: bool) -> None:
    print(f"{what}: {'yes' if right else 'no'}")


def mean_of_frames(
    frames: int, color: kf.Texture, trace: Callable[[int], object]
) -> tuple[kf.Texture, float]:
    """The mean of frames that `trace(frame)` puts into `color`; and how many paths a second were traced."""
    trace(0)  # A driver may compile at the first call.
    kf.default_device().wait()
    mean = kf.Texture.empty(color.shape, "rgba32f")
    start = time.perf_counter()
    for frame in range(frames):
        trace(frame)
        accumulate(frame, color, mean)
    kf.default_device().wait()
    height, width = color.shape
    return mean, frames * width * height * PATHS_A_PIXEL / (time.perf_counter() - start)


def developed(color: kf.Texture) -> np.ndarray:
    """Bytes as a screen takes them, red, green, blue and alpha."""
    shown = kf.Texture.empty(color.shape, "rgba8")
    develop(color, 1.0, shown=shown)
    return shown.to_numpy()


# ---- The picture, in both ways ----
triangles, fields = scene()
output = kf.Texture.empty((HEIGHT, WIDTH), "rgba32f")
look = {"g_scene": {**fields, "camera": orbit(0.04, (WIDTH, HEIGHT))}}
kernel = main.set(look, g_output=output).threads(WIDTH, HEIGHT)
function = raytrace.set(look)
by_kernel, kernel_speed = mean_of_frames(FRAMES, output, lambda frame: kernel.set(g_frame=frame)())
by_function, function_speed = mean_of_frames(
    FRAMES, output, lambda frame: function(frame=frame, pixel=output.shape, res=output)
)
same = np.array_equal(by_kernel.to_numpy(), by_function.to_numpy())
say("the same picture by the kernel and by the function", same)
Image.fromarray(developed(by_function)).save("path_tracer.png")
if len(sys.argv) == 4:
    print(
        f"million paths a second: {kernel_speed / 1e6:.2f} by the kernel,"
        f" {function_speed / 1e6:.2f} by the function"
    )


# ---- Rays against plain code, which looks for what they meet without the tree ----
def plain_depth(directions: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """How far rays get, directions [n, 3]."""
    nearest = np.full(len(directions), 1e30)
    for center, radius, _ in SPHERES:
        way = origin - center
        half_b = directions @ way
        root = half_b**2 - way @ way + radius**2
        found = -half_b - np.sqrt(np.maximum(root, 0))
        nearest = np.where(root >= 0, np.minimum(nearest, found), nearest)
    corner, edge1, edge2 = (triangles[name].astype(float) for name in ("corner", "edge1", "edge2"))
    across = np.cross(directions[:, None], edge2)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1 / np.sum(edge1 * across, -1)
        u = np.sum((origin - corner) * across, -1) * inverse
        other = np.cross(origin - corner, edge1)
        v = directions @ other.T * inverse
        found = np.where((u >= 0) & (v >= 0) & (u + v <= 1), np.sum(edge2 * other, -1) * inverse, 1e30)
    result: np.ndarray = np.minimum(nearest, found.min(axis=1))
    return result


small = orbit(0.04, (40, 30))
depths = depth.set(g_scene={**fields, "camera": small})((30, 40)).to_numpy()
rows, columns = np.mgrid[:30, :40] + 0.5
forward, right, up = (np.array(small[name]) for name in ("forward", "right", "up"))
ways = forward + (columns / 20 - 1)[..., None] * right + (1 - rows / 15)[..., None] * up
directions = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
expected = plain_depth(directions.reshape(-1, 3), np.array(small["position"])).reshape(30, 40)
# Rays that meet an edge may pass it.
different = np.count_nonzero(np.abs(depths - expected) > 1e-3 * expected)
say("rays meet what they meet without the tree", bool(different <= 2))


# ---- Known brightness ----
def mean_red(fields: dict[str, object], size: int, frames: int, view: dict[str, object]) -> float:
    color = kf.Texture.empty((size, size), "rgba32f")
    traced = raytrace.set(g_scene={**fields, "camera": view})
    mean, _ = mean_of_frames(frames, color, lambda frame: traced(frame, color.shape, res=color))
    return float(mean.to_numpy()[..., 0].mean())


# What takes no light away can't be seen under a sky that is white everywhere.
view = camera((0, 0, 4), (0, 0, 0), 35, (24, 24))
balls = [mean_red(ball(*kind), 24, 1, view) for kind in ((DIFFUSE, 0.0), (METAL, 0.0), (GLASS, 1.5))]
say("white balls can't be seen under a white sky", np.allclose(balls, 1, atol=1e-3))

# The lamp's light on the floor below it is an integral over the lamp.
view = camera((0, 4, 0), (0, 0, 0), 2, (16, 16))
x, z = np.mgrid[:100, :100] / 50 - 0.99
light = 10 * np.mean(25 / (x**2 + z**2 + 25) ** 2) * 4
found = mean_red(lamp_and_floor(0.5, 10), 16, 4, view)
say("the lamp's light on the floor", bool(np.isclose(found, light * 0.5 / np.pi, rtol=0.01)))

# ---- A hook moves the camera before each frame; the frames lie beside each other ----
ORBIT = 4
turn = 0.0


def move(context: kf.HookContext) -> None:
    global turn  # noqa: PLW0603
    context.set(g_scene={"camera": orbit(turn, (80, 60))})
    turn += 1 / ORBIT


color, other = (kf.Texture.empty((60, 80), "rgba32f") for _ in range(2))
turning = raytrace.set(g_scene={**fields, "camera": orbit(0, (80, 60))}).hook(move)
strip, is_right = [], True
for frame in range(ORBIT):
    turning(7, color.shape, res=color)
    strip.append(developed(color))
    # The same as where the camera was set before.
    raytrace.set(g_scene={**fields, "camera": orbit(frame / ORBIT, (80, 60))})(7, other.shape, res=other)
    is_right = is_right and np.array_equal(color.to_numpy(), other.to_numpy())
say("a hook moves the camera", is_right)
Image.fromarray(np.concatenate(strip, axis=1)).save("path_tracer_orbit.png")
