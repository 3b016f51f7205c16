"""A network of two layers through Slang's own module for them, trained, against NumPy."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array
from loader import Loader

COUNT = 4 * 2 + 4 + 4 + 1
SAMPLES = 257


@pytest.fixture(scope="module", name="neural")
def fixture_neural(generated: Loader) -> ModuleType:
    return generated("neural")


def reference(parameters: Array, x: Array, flow: Array) -> tuple[Array, Array]:
    """What the network gives, and the gradient of its parameters."""
    wide = parameters.astype(np.float64)
    first, second = wide[:8].reshape(4, 2), wide[12:16]
    hidden = np.maximum(x @ first.T + wide[8:12], 0)
    inner = flow[:, None] * second * (hidden > 0)
    gradients = [(inner.T @ x).ravel(), inner.sum(0), flow @ hidden, [flow.sum()]]
    return hidden @ second + wide[16], np.concatenate(gradients)


def gradients_of(neural: ModuleType, parameters: kf.Tensor, x: kf.Tensor, flow: Array) -> Array:
    # Guards around them: what is given as an address is checked by nobody else.
    guarded = np.full(COUNT + 8, 77, np.float32)
    guarded[4 : 4 + COUNT] = 0
    made = kf.Tensor.from_numpy(guarded)
    neural.train(parameters.address, made[4 : 4 + COUNT].address, x, kf.Tensor.from_numpy(flow))
    parameters.device.wait()
    found = made.to_numpy()
    assert (found[:4] == 77).all()
    assert (found[4 + COUNT :] == 77).all()
    return found[4 : 4 + COUNT]


def test_gradients_and_training(neural: ModuleType) -> None:
    random = np.random.default_rng(1)
    weights = random.normal(0, 0.7, COUNT).astype(np.float32)
    points = random.uniform(-1, 1, (SAMPLES, 2)).astype(np.float32)
    flow = random.normal(size=SAMPLES).astype(np.float32)
    parameters = kf.Tensor.from_numpy(weights)
    x = kf.Tensor.from_numpy(points)
    value, gradients = reference(weights, points, flow)
    np.testing.assert_allclose(neural.infer(parameters.address, x).to_numpy(), value, rtol=1e-5, atol=1e-5)
    found = gradients_of(neural, parameters, x, flow)
    np.testing.assert_allclose(found, gradients, rtol=1e-4, atol=1e-4)

    wanted = points.max(1)
    losses = []
    for _ in range(60):
        error = neural.infer(parameters.address, x).to_numpy() - wanted
        losses.append(float((error**2).mean()))
        step = gradients_of(neural, parameters, x, 2 * error / SAMPLES)
        parameters = kf.Tensor.from_numpy(parameters.to_numpy() - np.float32(0.05) * step)
    assert losses[-1] < losses[0] / 3
