"""The samples with PyTorch: against plain PyTorch and NumPy in double precision, fits and pictures."""

import importlib.util
import re
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch


@pytest.fixture(scope="module")
def sample(source_dir: Path, generated_folder: Callable[[str], Path]) -> Callable[[str], ModuleType]:
    """Imports a sample's script, `neural_texture/neural_texture_torch`."""

    def imported(path: str) -> ModuleType:
        folder = generated_folder(path.partition("/")[0])
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        file = source_dir / "samples" / f"{path}.py"
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
        return module

    return imported


def png_pixels(path: Path) -> np.ndarray:
    """The levels of a PNG file whose rows aren't filtered; checks that its parts are whole."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    parts, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        part = data[at + 4 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(part),)
        parts[part[:4]] = part[4:]
        at += 12 + length
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *kind = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert kind == [8, 2, 0, 0, 0]
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def levels(pixels: torch.Tensor | np.ndarray) -> np.ndarray:
    numbers = np.asarray(pixels.detach().cpu() if isinstance(pixels, torch.Tensor) else pixels, np.float64)
    rounded: np.ndarray = (numbers.clip(0, 1) * 255).round()
    return rounded


def near(path: Path, expected: np.ndarray, pixels: slice = slice(None)) -> None:
    """The picture's columns are those, but for rounding."""
    found = png_pixels(path)[:, pixels].astype(np.float64)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1


def run(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: Any, *options: object
) -> list[float]:
    """Runs a script in a folder; the losses that it printed."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [script.__name__, *map(str, options)])
    script.main()
    return [float(loss) for loss in re.findall(r"loss (\S+)", capsys.readouterr().out)]


def composed(centers: torch.Tensor, conics: torch.Tensor, colors: torch.Tensor, size: Any) -> torch.Tensor:
    """Gaussians over each other, by plain PyTorch."""
    axes = [(torch.arange(n, dtype=torch.float64, device=centers.device) + 0.5) / n for n in size]
    y, x = torch.meshgrid(*axes, indexing="ij")
    dx, dy = x - centers[:, 0, None, None], y - centers[:, 1, None, None]
    a, b, c = conics.T[..., None, None]
    cover = colors[:, 3, None, None] * torch.exp(-0.5 * (a * dx * dx + 2 * b * dx * dy + c * dy * dy))
    cover = torch.where(cover < 1 / 255, 0, cover.clamp(max=0.99))
    clear = torch.cumprod(torch.cat([torch.ones_like(cover[:1]), 1 - cover[:-1]]), 0)
    return torch.einsum("nhw,nc->hwc", clear * cover, colors[:, :3])


def test_gaussians_are_drawn_as_by_plain_pytorch(
    sample: Callable[[str], ModuleType], torch_device: str
) -> None:
    """Picture and gradients, in more Gaussians than a group looks at together, and tiles that are cut off."""
    script = sample("gaussian_splatting/gaussian_splatting_torch")
    size = (40, 24)
    torch.manual_seed(1)
    count = 300
    learned = [
        torch.rand(count, 2),
        torch.rand(count, 2) * 1.5 - 4,
        torch.rand(count) * 6 - 3,
        torch.rand(count, 4),
    ]
    flow = torch.randn(*size, 3)

    given = [x.to(torch_device).requires_grad_() for x in learned]
    centers, spreads, angles, colors = given
    drawn = script.Rasterize.apply(centers, script.conic_of(spreads, angles), colors, *size)
    found = torch.autograd.grad(drawn, given, flow.to(torch_device))

    exact = [x.double().requires_grad_() for x in learned]
    centers, spreads, angles, colors = exact
    turn = torch.stack([angles.cos(), -angles.sin(), angles.sin(), angles.cos()], -1).view(-1, 2, 2)
    matrix = turn @ torch.diag_embed(torch.exp(-2 * spreads)) @ turn.mT
    conics = torch.stack([matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 1, 1]], -1)
    wanted = composed(centers, conics, colors, size)
    expected = torch.autograd.grad(wanted, exact, flow.double())

    torch.testing.assert_close(drawn.detach().cpu().double(), wanted.detach(), rtol=0, atol=2e-6)
    for one, exactly in zip(found, expected, strict=True):
        scale = exactly.abs().max()
        torch.testing.assert_close(one.cpu().double() / scale, exactly / scale, rtol=0, atol=1e-5)


def test_gaussian_splatting(
    sample: Callable[[str], ModuleType],
    torch_device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    script = sample("gaussian_splatting/gaussian_splatting_torch")
    side = 48
    losses = run(
        script, monkeypatch, tmp_path, capsys,
        "--size", side, "--across", 8, "--steps", 100, "--device", torch_device,
    )  # fmt: skip
    assert losses[-1] < losses[0] / 20
    position = (np.arange(side) + 0.5) / side
    y, x = np.meshgrid(position, position, indexing="ij")
    scenery = np.array([0.2, 0.4, 0.8]) + y[..., None] * np.array([0.7, 0.2, -0.4])
    scenery[np.hypot(x - 0.7, y - 0.3) < 0.15] = [1, 0.9, 0.4]
    scenery[y > 0.7 + 0.1 * np.sin(7 * x)] = [0.15, 0.4, 0.2]
    zoom = 256 // side
    expected = levels(scenery).repeat(zoom, axis=0).repeat(zoom, axis=1)
    near(tmp_path / "gaussian_splatting.png", expected, slice(zoom * side))
    learned = png_pixels(tmp_path / "gaussian_splatting.png")[:, zoom * side :]
    assert np.mean((learned / 255.0 - expected / 255) ** 2) == pytest.approx(losses[-1], rel=0.3)


def test_bezier(
    sample: Callable[[str], ModuleType],
    torch_device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    script = sample("tensor_views/bezier_torch")
    t = torch.linspace(0, 1, 70, device=torch_device)
    controls = torch.tensor([[-1, -0.5], [-1, 1], [0, -2], [1, 1], [1, -0.5]], device=torch_device)
    exact = np.linspace(0, 1, 70)
    weights = np.stack([[1, 4, 6, 4, 1][k] * exact**k * (1 - exact) ** (4 - k) for k in range(5)], -1)
    curve = weights @ controls.cpu().double().numpy()
    np.testing.assert_allclose(script.curve_of(t, controls).cpu(), curve, atol=1e-6)

    losses = run(script, monkeypatch, tmp_path, capsys, "--device", torch_device)
    assert losses[-1] < losses[0] / 1000
    pixels = png_pixels(tmp_path / "bezier.png")
    assert pixels.shape == (256, 256, 3)
    # What is drawn lies on the curve and its control points, and nowhere else.
    points = (np.concatenate([curve, controls.cpu().numpy()]) / 5 + 0.5) * 256
    for x, y in points.round().astype(int):
        assert pixels[y, x].any(), (x, y)
    lit = np.argwhere(pixels.any(axis=-1))[:, None, ::-1]
    assert np.abs(lit - points).max(axis=-1).min(axis=1).max() < 6


def test_neural_texture(
    sample: Callable[[str], ModuleType],
    torch_device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    script = sample("neural_texture/neural_texture_torch")
    size = 32
    losses = run(
        script, monkeypatch, tmp_path, capsys,
        "--size", size, "--steps", 50, "--device", torch_device, "--backend", "aot_eager",
    )  # fmt: skip
    assert losses[-1] < losses[0] / 20
    table = np.loadtxt(tmp_path / "neural_texture.csv", delimiter=",", skiprows=1)
    assert table.shape == (51, 2) and table[-1, 1] == pytest.approx(losses[-1], rel=0.01)


def network(weights: list[np.ndarray], size: int) -> np.ndarray:
    """What the network draws, by NumPy."""
    position = (np.arange(size) + 0.5) / size
    y, x = np.meshgrid(position, position, indexing="ij")
    values = np.stack(
        [f(p * np.pi * 2**k) for k in range(5) for p in (x, y) for f in (np.sin, np.cos)], axis=-1
    )
    for layer, weight in enumerate(weights):
        values = values @ weight[:, :-1].T + weight[:, -1]
        if layer < 2:
            values = np.maximum(values, 0.01 * values)
    return values


def test_neural_texture_is_that_of_numpy(sample: Callable[[str], ModuleType], torch_device: str) -> None:
    """What is drawn, and the first loss, before training and after some."""
    script = sample("neural_texture/neural_texture_torch")
    size = 8
    for steps in (0, 10):
        module, losses = script.train(size, steps, torch_device, "eager")
        weights = [x.detach().cpu().double().numpy() for x in module.parameters()]
        page = script.page(list(module.parameters()), size, torch_device).numpy()
        drawn = page[:, page.shape[1] // 2 :]
        if not steps:
            continue
        np.testing.assert_allclose(drawn, network(weights, script.ZOOM * size), atol=1e-4)
    first = [script.first_weights(k, torch_device).cpu().double().numpy() for k in range(3)]
    wanted = page[:: script.ZOOM, : page.shape[1] // 2 : script.ZOOM]
    assert losses[0] == pytest.approx(np.mean((network(first, size) - wanted) ** 2), rel=1e-5)
