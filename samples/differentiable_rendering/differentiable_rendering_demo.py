"""Fits the colors of materials, of a lamp and of a floor's texture to a picture, through a path tracer.

differentiable_rendering_start.png, _target.png and _fitted.png show the pictures, _loss.png how the error
fell.
"""

import kernelfunctions as kf
import numpy as np
from kf_samples.differentiable_rendering import (
    Camera,
    Colors,
    Light,
    Material,
    Node,
    Scene,
    Sphere,
    Triangle,
    adam,
    compare,
    render,
    shown,
)
from PIL import Image

WIDTH, HEIGHT = 72, 54
SIDE = 16  # the floor's texture
STEPS = 80
RATE = 0.08
PATHS = 4  # a pixel, for a step
FINE_PATHS = 32  # and for pictures that are kept; llvmpipe ends threads whose loops take many more

DIFFUSE, METAL = range(2)
FLOOR, LAMP, CLAY, GOLD, BLUE = range(5)

# ---- What is known ----
materials = np.zeros(5, Material.dtype)
materials[GOLD]["kind"], materials[GOLD]["parameter"] = METAL, 0.1
spheres = [((-1.3, 1, -0.3), 1, CLAY), ((1, 0.9, -0.8), 0.9, GOLD), ((0.3, 0.5, 1.2), 0.5, BLUE)]
triangles = [
    ((-4, 0, -4), (0, 0, 8), (8, 0, 8), FLOOR),
    ((-4, 0, -4), (8, 0, 8), (8, 0, 0), FLOOR),
    ((-1.5, 5, -1.5), (3, 0, 0), (3, 0, 3), LAMP),
    ((-1.5, 5, -1.5), (3, 0, 3), (0, 0, 3), LAMP),
]


def seen(zoom: int) -> tuple[kf.Grid, Scene]:
    """The pixels of a picture, and the scene as it is seen in it."""
    size = (WIDTH * zoom, HEIGHT * zoom)
    return kf.grid((size[1], size[0])), Scene(
        camera=Camera((0, 2.6, 6.4), (0, -0.28, -0.96), (0.48, 0, 0), (0, 0.3456, -0.1008), size),
        light=Light((-1.5, 5, -1.5), (3, 0, 0), (0, 0, 3), (0, 0, 0)),
        sky=(0.5, 0.62, 0.8),
        ground=(0.3, 0.27, 0.25),
        sphere_count=len(spheres),
        spheres=kf.Buffer.from_numpy(np.array(spheres, Sphere.dtype)),
        triangles=kf.Buffer.from_numpy(np.array(triangles, Triangle.dtype)),
        # The tree is a leaf with all of them.
        nodes=kf.Buffer.from_numpy(np.array([((-4, 0, -4), 0, (4, 5, 4), len(triangles))], Node.dtype)),
        materials=kf.Buffer.from_numpy(materials),
    )


def colors(values: kf.Tensor) -> Colors[kf.Tensor, kf.Tensor]:
    """All that is learned lies in one tensor: the materials' colors, then the floor's texels."""
    return Colors(materials=values[:5], floor=values[5:].reshape(SIDE, SIDE, 3))


def colors_to_learn(values: kf.Tensor, gradients: kf.Tensor) -> Colors[kf.Tensor, kf.Tensor]:
    value, gradient = colors(values), colors(gradients)
    return Colors(
        materials=value.materials.with_grads(grad_out=gradient.materials),
        floor=value.floor.with_grads(grad_out=gradient.floor),
    )


def save(name: str, values: kf.Tensor) -> np.ndarray:
    """Draws a larger picture with these colors; returns its pixels."""
    pixels, scene = seen(2)
    picture: kf.Tensor = render(pixels, 0, FINE_PATHS, scene, colors(values))
    levels = shown(picture).to_numpy().repeat(3, axis=0).repeat(3, axis=1)
    Image.fromarray(levels).save(f"differentiable_rendering_{name}.png")
    return picture.to_numpy()


# ---- What is looked for, and where the fit starts ----
y, x = np.mgrid[:SIDE, :SIDE]
board = np.where(((x // 2 + y // 2) % 2)[..., None], (0.2, 0.24, 0.3), (0.75, 0.73, 0.7))
colors_of_materials = [(0, 0, 0), (0.8, 0.7, 0.55), (0.75, 0.2, 0.12), (1, 0.71, 0.29), (0.1, 0.3, 0.65)]
wanted = np.concatenate([colors_of_materials, board.reshape(-1, 3)]).astype(np.float32)
learned = kf.Tensor.from_numpy(np.full_like(wanted, 0.5))
start_picture, target_picture = save("start", learned), save("target", kf.Tensor.from_numpy(wanted))

# ---- The fit ----
pixels, scene = seen(1)
target, reference = (
    render(pixels, 0, paths, scene, colors(kf.Tensor.from_numpy(wanted))) for paths in (FINE_PATHS, PATHS)
)
gradients, mean, variance = (kf.Tensor.zeros(wanted.shape) for _ in range(3))
given = colors_to_learn(learned, gradients)
losses = []
for step in range(STEPS):
    # By the same paths as the reference's, so that there is no noise in it.
    error, _ = compare(render(pixels, 0, PATHS, scene, given), reference)
    losses.append(error.to_numpy().mean(dtype=np.float64))
    # The derivative is by other paths than the error: what both had in common would pull the fit aside.
    picture = render(pixels, 2 * step + 1, PATHS, scene, given)
    _, flow = compare(picture, target)
    render.backward(pixels, 2 * step + 2, PATHS, scene, given, picture.with_grads(grad_in=flow))
    adam(learned, mean, variance, gradients, RATE * (1 - step / STEPS), step + 1)
fitted_picture = save("fitted", learned)

# The losses from the first down to a thousandth, by their logarithms.
curve = np.full((HEIGHT, STEPS), 255, np.uint8)
for step, loss in enumerate(losses):
    height = 1 + np.log10(max(loss / losses[0], 1e-3)) / 3
    curve[HEIGHT - max(int(height * HEIGHT), 1) :, step] = 80
Image.fromarray(curve.repeat(6, axis=0).repeat(5, axis=1)).save("differentiable_rendering_loss.png")


def say(what: str, right: bool) -> None:
    print(f"{what}: {'yes' if right else 'no'}")


start_error, fitted_error = (np.mean((one - target_picture) ** 2) for one in (start_picture, fitted_picture))
say("the picture's error fell to less than a hundredth", bool(fitted_error < start_error / 100))
found = learned.to_numpy()[LAMP:5]
say("the colors of the lamp and the balls are found", bool(np.abs(found - wanted[LAMP:5]).max() < 0.06))
print("the pictures and how the loss fell: differentiable_rendering_*.png")
