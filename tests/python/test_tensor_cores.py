"""A network on CUDA's tensor cores, through Slang's own module for them, against NumPy.

Its spec is in tests/gpu/specs: compiling it takes longer than machines without tensor cores are worth.
"""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array
from loader import Loader

SIZES = [(32, 4), (3, 32)]  # of the layers' matrices
COUNT = sum(rows * columns + rows for rows, columns in SIZES)
SLOPE = 0.25


@pytest.fixture(scope="module", name="cores")
def fixture_cores(generated: Loader) -> ModuleType:
    if kf.default_device().backend != "cuda":
        pytest.skip("needs a GPU with CUDA")
    return generated("tensor_cores")


def layers(parameters: Array) -> list[tuple[Array, Array]]:
    found = []
    for rows, columns in SIZES:
        weights, parameters = np.split(parameters, [rows * columns])
        bias, parameters = np.split(parameters, [rows])
        found.append((weights.reshape(rows, columns), bias))
    return found


def reference(parameters: Array, x: Array, flow: Array) -> tuple[Array, Array]:
    """What the network gives, and the gradient of its parameters."""
    (first, first_bias), (second, second_bias) = layers(parameters.astype(np.float64))
    inner = x @ first.T + first_bias
    hidden = np.where(inner > 0, inner, SLOPE * inner)
    back = (flow @ second) * np.where(inner > 0, 1, SLOPE)
    parts = [back.T @ x, back.sum(0), flow.T @ hidden, flow.sum(0)]
    return hidden @ second.T + second_bias, np.concatenate([part.ravel() for part in parts])


def smooth(random: np.random.Generator, parameters: Array, count: int) -> Array:
    """Samples for which no unit is so near its kink that a half could be on its other side."""
    weights, bias = layers(parameters)[0]
    drawn = random.normal(size=(3 * count, 4)).astype(np.float32)
    found: Array = drawn[(np.abs(drawn @ weights.T + bias) > 0.01).all(1)][:count]
    return found


# The tensor cores multiply halves, so a product has 11 bits.
def assert_near(found: Array, wanted: Array) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0.01, atol=0.01 * np.abs(wanted).max())


@pytest.mark.parametrize("groups", [1, 2, 33])
def test_values_and_gradients(cores: ModuleType, groups: int) -> None:
    random = np.random.default_rng(groups)
    count = 32 * groups
    parameters = random.normal(0, 0.5, COUNT).astype(np.float32)
    x = smooth(random, parameters, count)
    flow = random.normal(size=(count, 3)).astype(np.float32)
    values, gradients = reference(parameters, x, flow)
    given = kf.Tensor.from_numpy(parameters)
    points = kf.Buffer.from_numpy(x)
    guarded = kf.Buffer.from_numpy(np.full((count + 2, 3), 77, np.float32), writable=True)
    cores.infer.threads(count)(given, points, guarded)
    assert_near(guarded.to_numpy()[:count], values)
    assert (guarded.to_numpy()[count:] == 77).all()

    around = np.full(COUNT + 8, 77, np.float32)
    around[4:-4] = 0
    made = kf.Tensor.from_numpy(around)
    cores.train.threads(count)(given, made[4:-4], points, kf.Buffer.from_numpy(flow))
    found = made.to_numpy()
    assert_near(found[4:-4], gradients)
    assert (found[:4] == 77).all() and (found[-4:] == 77).all()


def test_training(cores: ModuleType) -> None:
    random = np.random.default_rng(5)
    parameters = random.normal(0, 0.5, COUNT).astype(np.float32)
    x = random.uniform(-1, 1, (256, 4)).astype(np.float32)
    wanted = np.stack([x.max(1), x.prod(1), np.abs(x).sum(1)], 1)
    points = kf.Buffer.from_numpy(x)
    losses = []
    for _ in range(120):
        given = kf.Tensor.from_numpy(parameters)
        out = kf.Buffer.from_numpy(np.zeros((256, 3), np.float32), writable=True)
        cores.infer.threads(256)(given, points, out)
        error = out.to_numpy() - wanted
        losses.append(float((error**2).mean()))
        made = kf.Tensor.zeros((COUNT,))
        flow = (2 * error / error.size).astype(np.float32)
        cores.train.threads(256)(given, made, points, kf.Buffer.from_numpy(flow))
        parameters -= np.float32(0.3) * made.to_numpy()
    assert losses[-1] < 0.1 * losses[0], losses
