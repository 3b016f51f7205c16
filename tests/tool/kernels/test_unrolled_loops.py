"""Derivatives of unrolled loops over tensors: what they cost to compile, which kfgen limits here, and their values."""

import importlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest

Floats = npt.NDArray[np.float32]

SLANG = """
import kf;

[Differentiable]
float norm(no_diff int b, IDiffTensor<float, 2> a)
{
    float sum = 0;
    [ForceUnroll]
    for (int k = 0; k < 64; ++k)
        sum += a[b, k] * a[b, k];
    return sum;
}

[Differentiable]
float product_of<let N : int>(int2 at, IDiffTensor<float, 2> a, IDiffTensor<float, 2> b)
{
    float sum = 0;
    [ForceUnroll]
    for (int k = 0; k < N; ++k)
        sum += a[at.y, k] * b[k, at.x];
    return sum;
}

/// The sum of a whole product's squares, by one thread.
[Differentiable]
float product(no_diff int unused, IDiffTensor<float, 2> a, IDiffTensor<float, 2> b)
{
    float sum = 0;
    [ForceUnroll]
    for (int i = 0; i < 4; ++i)
    {
        [ForceUnroll]
        for (int j = 0; j < 4; ++j)
        {
            const float element = product_of<4>(int2(j, i), a, b);
            sum += element * element;
        }
    }
    return sum;
}

[Differentiable]
float layer(no_diff int row, IDiffTensor<float, 2> weights, IDiffTensor<float, 2> x)
{
    float sum = 0;
    [ForceUnroll]
    for (int i = 0; i < 8; ++i)
    {
        float element = 0;
        [ForceUnroll]
        for (int k = 0; k < 8; ++k)
            element += weights[i, k] * x[row, k];
        sum += element * element;
    }
    return sum;
}
"""
# Two jobs on a small machine have as much.
LIMITS = ("--timeout", "12", "--max-memory", "800M")


@pytest.fixture(scope="module")
def unrolled(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The module, whose kernels were compiled within the limits, for all targets."""
    folder = tmp_path_factory.mktemp("unrolled")
    (folder / "unrolled_loops.slang").write_text(SLANG)
    calls = [
        {"function": "norm", "args": {"b": "tensor[1]", "a": "tensor[2]"}},
        {"function": "product", "args": {"unused": "tensor[1]", "a": "tensor[2]", "b": "tensor[2]"}},
        {"function": "layer", "args": {"row": "tensor[1]", "weights": "tensor[2]", "x": "tensor[2]"}},
    ]
    spec = {
        "version": 1,
        "name": "unrolled_loops",
        "modules": ["unrolled_loops.slang"],
        "targets": ["vulkan", {"cuda": {"arch": ["sm_80"]}}],
        "calls": [call | {"backward": True} for call in calls],
    }
    (folder / "unrolled_loops.kf.json").write_text(json.dumps(spec))
    command = [str(build_dir / "tool" / "kfgen"), "generate", "unrolled_loops.kf.json", "-o", "out"]
    command += ["--python", "--no-cache", *LIMITS]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder / "out"))
        return importlib.import_module("unrolled_loops")


def tensor_of(values: Floats) -> kf.Tensor:
    return kf.Tensor.from_numpy(values).with_grads()


def gradient(tensor: kf.Tensor) -> Floats:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


@pytest.fixture
def random() -> Callable[..., Floats]:
    generator = np.random.default_rng(39)
    return lambda *shape: generator.uniform(-1, 1, shape).astype(np.float32)


def test_the_norm_of_a_row(unrolled: ModuleType, random: Callable[..., Floats]) -> None:
    values = random(5, 64)
    a = tensor_of(values)
    rows = kf.Tensor.from_numpy(np.array([4, 0, 2, 2], np.int32))
    y = unrolled.norm(rows, a)
    unrolled.norm.backward(rows, a, y)
    doubles = values.astype(np.float64)
    np.testing.assert_allclose(y.to_numpy(), (doubles**2).sum(1)[[4, 0, 2, 2]], rtol=1e-5)
    times = np.array([1, 0, 2, 0, 1], np.float64)[:, None]
    np.testing.assert_allclose(gradient(a), 2 * doubles * times, rtol=1e-5)


def test_a_product_of_matrices(unrolled: ModuleType, random: Callable[..., Floats]) -> None:
    values = [random(4, 4), random(4, 4)]
    a, b = (tensor_of(value) for value in values)
    threads = kf.Tensor.from_numpy(np.zeros(33, np.int32))
    y = unrolled.product(threads, a, b)
    unrolled.product.backward(threads, a, b, y)
    first, second = (value.astype(np.float64) for value in values)
    product = first @ second
    np.testing.assert_allclose(y.to_numpy(), np.full(33, (product**2).sum()), rtol=1e-5)
    np.testing.assert_allclose(gradient(a), 33 * 2 * product @ second.T, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gradient(b), 33 * 2 * first.T @ product, rtol=1e-4, atol=1e-4)


def test_a_layer(unrolled: ModuleType, random: Callable[..., Floats]) -> None:
    values = [random(8, 8), random(31, 8)]
    weights, x = (tensor_of(value) for value in values)
    rows = kf.Tensor.from_numpy(np.arange(31, dtype=np.int32))
    y = unrolled.layer(rows, weights, x)
    unrolled.layer.backward(rows, weights, x, y)
    matrix, inputs = (value.astype(np.float64) for value in values)
    outputs = inputs @ matrix.T
    np.testing.assert_allclose(y.to_numpy(), (outputs**2).sum(1), rtol=1e-5)
    np.testing.assert_allclose(gradient(weights), 2 * outputs.T @ inputs, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gradient(x), 2 * outputs @ matrix, rtol=1e-4, atol=1e-4)
