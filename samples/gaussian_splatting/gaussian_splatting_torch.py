"""Fits a picture by Gaussians in the plane: kernels draw them, and PyTorch's Adam moves them.

gaussian_splatting.png shows the picture and what was learned of it. On a GPU there is time for more:
--size 512 --across 64 --steps 2000.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import kernelfunctions as kf
import numpy as np
import torch
from kf_samples.gaussian_splatting import conic_of, rasterize, scenery

sys.path.append(str(Path(__file__).parents[1]))
from picture import enlarged, loss_curve, save_png

TILE = 16


class Rasterize(torch.autograd.Function):
    """The kernel's raw launches, forward and backward, as a function of PyTorch's."""

    @staticmethod
    def forward(
        ctx: Any, centers: torch.Tensor, conics: torch.Tensor, colors: torch.Tensor, height: int, width: int
    ) -> torch.Tensor:
        picture = torch.empty(height, width, 3, device=centers.device)
        groups = ((width + TILE - 1) // TILE, (height + TILE - 1) // TILE, 1)
        # A launch could write to any of its views. By .data autograd knows that these stay as they are.
        rasterize(centers.data, conics.data, colors.data, picture).launchRaw(
            blockSize=(TILE, TILE, 1), gridSize=groups
        )
        ctx.save_for_backward(centers, conics, colors, picture)
        ctx.groups = groups
        return picture

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, flow: torch.Tensor) -> Any:
        given = [kf.differentiable(tensor.data) for tensor in ctx.saved_tensors]
        centers, conics, colors, picture = given
        picture.grad = flow.contiguous()
        rasterize.groups(*ctx.groups).backward(centers, conics, colors, picture)
        return centers.grad, conics.grad, colors.grad, None, None


class Splats(torch.nn.Module):
    """Gaussians, those in front first."""

    def __init__(self, across: int) -> None:
        super().__init__()
        count = across * across
        steps = (torch.arange(across) + 0.5) / across
        self.centers = torch.nn.Parameter(torch.cartesian_prod(steps, steps).flip(1))
        self.spreads = torch.nn.Parameter(torch.full((count, 2), float(np.log(0.6 / across))))
        self.angles = torch.nn.Parameter(torch.zeros(count))
        self.colors = torch.nn.Parameter(torch.zeros(count, 4))

    def forward(self, height: int, width: int) -> torch.Tensor:
        conics = conic_of(self.spreads, self.angles)  # a plain call, which autograd sees
        drawn: torch.Tensor = Rasterize.apply(self.centers, conics, torch.sigmoid(self.colors), height, width)
        return drawn


def fit(wanted: torch.Tensor, across: int, steps: int) -> tuple[Splats, list[float]]:
    """Gaussians that look like a picture, and how the mean squared error fell."""
    splats = Splats(across).to(wanted.device)
    height, width, _ = wanted.shape
    optimizer = torch.optim.Adam(
        [
            {"params": [splats.centers], "lr": 0.1 / across},
            {"params": [splats.spreads, splats.angles], "lr": 0.05},
            {"params": [splats.colors], "lr": 0.1},
        ]
    )
    losses = []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(splats(height, width), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return splats, torch.stack(losses).tolist()


def picture_to_learn(size: int, device: str) -> torch.Tensor:
    return scenery(kf.grid((size, size)), (size, size), out=torch.empty(size, size, 3, device=device))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=64, help="of the picture, in pixels along each side")
    parser.add_argument("--across", type=int, default=10, help="Gaussians along each side")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()

    wanted = picture_to_learn(options.size, options.device)
    splats, losses = fit(wanted, options.across, options.steps)
    print(loss_curve(losses))
    with torch.no_grad():
        learned = splats(options.size, options.size)
    page = torch.cat([wanted, learned], dim=1).cpu().numpy()
    save_png(Path("gaussian_splatting.png"), enlarged(page, max(1, 256 // options.size)))
    print("the picture and what was learned of it: gaussian_splatting.png")


if __name__ == "__main__":
    main()
