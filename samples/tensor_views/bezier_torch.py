"""Fits a Bézier curve by PyTorch's Adam, without autograd: the backward pass adds to a tensor's own .grad.

bezier.png shows the points to fit in green, the curve in white and its control points in red.
"""

import argparse
import sys
from pathlib import Path

import kernelfunctions as kf
import numpy as np
import torch
from kf_samples.tensor_views import bezier

sys.path.append(str(Path(__file__).parents[1]))
from picture import loss_curve, save_png

GROUP = 64


def curve_of(t: torch.Tensor, controls: torch.Tensor) -> torch.Tensor:
    curve = torch.empty(len(t), 2, device=t.device)
    groups = ((len(t) + GROUP - 1) // GROUP, 1, 1)
    bezier(t, controls.data, curve).launchRaw(blockSize=(GROUP, 1, 1), gridSize=groups)
    return curve


def fit(
    t: torch.Tensor, wanted: torch.Tensor, start: torch.Tensor, steps: int
) -> tuple[torch.Tensor, list[float]]:
    """Control points whose curve goes through the points that are wanted, and how the squared error fell."""
    controls = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([controls], lr=0.05)
    backward = bezier.threads(len(t)).backward
    losses = []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        curve = kf.differentiable(curve_of(t, controls))
        error = curve.value - wanted
        losses.append(error.square().sum())
        curve.grad = 2 * error
        backward(t, controls, curve)  # adds to controls.grad
        optimizer.step()
    return controls.detach(), torch.stack(losses).tolist()


def draw(side: int, *layers: tuple[torch.Tensor, tuple[float, float, float], int]) -> np.ndarray:
    """Draws points as squares over each other; the picture is [-2.5, 2.5]²."""
    pixels = np.zeros((side, side, 3))
    for points, color, size in layers:
        for x, y in ((points.cpu().numpy() / 5 + 0.5) * side).round().astype(int):
            pixels[max(0, y - size) : y + size + 1, max(0, x - size) : x + size + 1] = color
    return pixels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100, help="points of the curve")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()

    t = torch.linspace(0, 1, options.samples, device=options.device)
    goal = torch.tensor([[-1, -0.5], [-1, 1], [0, -2], [1, 1], [1, -0.5]], device=options.device)
    start = torch.tensor([[-1, 0], [-0.5, 0], [0, 0], [0.5, 0], [1.0, 0]], device=options.device)
    wanted = curve_of(t, goal)
    controls, losses = fit(t, wanted, start, options.steps)
    print(loss_curve(losses))
    layers = (
        (wanted, (0, 0.8, 0), 3),
        (curve_of(t, controls), (1.0, 1.0, 1.0), 1),
        (controls, (1.0, 0.0, 0.0), 2),
    )
    page = draw(256, *layers)
    save_png(Path("bezier.png"), page)
    print("the points, the curve and its control points: bezier.png")


if __name__ == "__main__":
    main()
