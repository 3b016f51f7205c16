"""Derivatives of unrolled loops over tensors: their values, and that they compile within limits."""

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

extern static const int N;

/// The sum of a whole product's squares, by one thread.
[Differentiable]
float product(no_diff int unused, IDiffTensor<float, 2> a, IDiffTensor<float, 2> b)
{
    float sum = 0;
    [ForceUnroll]
    for (int i = 0; i < N; ++i)
    {
        [ForceUnroll]
        for (int j = 0; j < N; ++j)
        {
            float element = 0;
            [ForceUnroll]
            for (int k = 0; k < N; ++k)
                element += a[i, k] * b[k, j];
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
    for (int i = 0; i < N; ++i)
    {
        float element = 0;
        [ForceUnroll]
        for (int k = 0; k < N; ++k)
            element += weights[i, k] * x[row, k];
        sum += element * element;
    }
    return sum;
}
"""
TENSOR = {"kind": "tensor[2]", "layout": "contiguous"}
INDICES = {"kind": "tensor[1]", "layout": "contiguous"}
CALLS = {
    "product": {"unused": INDICES, "a": TENSOR, "b": TENSOR},
    "layer": {"row": INDICES, "weights": TENSOR, "x": TENSOR},
}


@pytest.fixture(scope="module")
def generate(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    def generate(name: str, functions: list[str], n: int, *options: str) -> Path:
        """Compiles the functions for `n`; returns the folder of what was made."""
        folder = tmp_path_factory.mktemp("unrolled")
        (folder / "unrolled.slang").write_text(SLANG)
        spec = {
            "version": 1,
            "name": name,
            "modules": ["unrolled.slang"],
            "constants": {"N": n},
            "targets": ["vulkan", {"cuda": {"arch": ["sm_80"]}}],
            "calls": [
                {"function": function, "args": CALLS[function], "backward": True} for function in functions
            ],
        }
        (folder / f"{name}.kf.json").write_text(json.dumps(spec))
        command = [str(build_dir / "tool" / "kfgen"), "generate", f"{name}.kf.json", "-o", "out", "--python"]
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run(
            [*command, "--no-cache", *options],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return folder / "out"

    return generate


@pytest.mark.parametrize(("function", "n"), [("product", 4), ("layer", 8)])
def test_many_loads_compile_within_limits(generate: Callable[..., Path], function: str, n: int) -> None:
    """128 loads. The limits are of one kernel: seconds of processor time, and memory."""
    generate(f"large_{function}", [function], n, "--timeout", "12", "--max-memory", "800M")


@pytest.fixture(scope="module")
def unrolled(generate: Callable[..., Path]) -> ModuleType:
    """Few loads: drivers inline and unroll, too, which takes llvmpipe a minute for 128 loads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(generate("few_unrolled", list(CALLS), 2)))
        return importlib.import_module("few_unrolled")


def tensor_of(values: Floats) -> kf.Tensor:
    return kf.Tensor.from_numpy(values).with_grads()


def gradient(tensor: kf.Tensor) -> Floats:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


@pytest.fixture
def random() -> Callable[..., Floats]:
    generator = np.random.default_rng(39)
    return lambda *shape: generator.uniform(-1, 1, shape).astype(np.float32)


def test_a_product_of_matrices(unrolled: ModuleType, random: Callable[..., Floats]) -> None:
    values = [random(2, 2), random(2, 2)]
    a, b = (tensor_of(value) for value in values)
    threads = kf.Tensor.from_numpy(np.zeros(33, np.int32))
    y = unrolled.product(threads, a, b)
    unrolled.product.backward(threads, a, b, y)
    first, second = (value.astype(np.float64) for value in values)
    product = first @ second
    np.testing.assert_allclose(y.to_numpy(), np.full(33, (product**2).sum()), rtol=1e-5)
    np.testing.assert_allclose(gradient(a), 33 * 2 * product @ second.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(gradient(b), 33 * 2 * first.T @ product, rtol=1e-5, atol=1e-5)


def test_a_layer(unrolled: ModuleType, random: Callable[..., Floats]) -> None:
    values = [random(2, 2), random(31, 2)]
    weights, x = (tensor_of(value) for value in values)
    rows = kf.Tensor.from_numpy(np.arange(31, dtype=np.int32))
    y = unrolled.layer(rows, weights, x)
    unrolled.layer.backward(rows, weights, x, y)
    matrix, inputs = (value.astype(np.float64) for value in values)
    outputs = inputs @ matrix.T
    np.testing.assert_allclose(y.to_numpy(), (outputs**2).sum(1), rtol=1e-5)
    np.testing.assert_allclose(gradient(weights), 2 * outputs.T @ inputs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(gradient(x), 2 * outputs @ matrix, rtol=1e-5, atol=1e-5)
