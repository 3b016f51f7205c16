"""Arguments whose value the spec states, against the spec's own numbers and float64 references."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, buffer, numbers
from loader import Loader

SPEC = json.loads((Path(__file__).parent / "specs" / "constants.kf.json").read_text(encoding="utf-8"))
CALLS = {call.get("name", call["function"]): call for call in SPEC["calls"]}
# Functions that give back what they are given, by the type that their names begin with.
SAME = [name for name, call in CALLS.items() if call["function"].startswith(("same<", "same_color"))]
COLORS = {"red": 3, "green": 7}


@pytest.fixture(scope="module")
def constants(generated: Loader) -> ModuleType:
    return generated("constants")


def stated(name: str) -> Any:
    value = CALLS[name]["args"]["k"]["value"]
    return COLORS[value] if isinstance(value, str) else value


def floats(size: int, seed: int) -> Array:
    return numbers((size,), np.dtype(np.float32), seed)


def gradient(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


def flowing_into(flow: Array) -> kf.Tensor:
    """An output into whose backward pass this gradient flows."""
    return kf.Tensor.from_numpy(np.zeros_like(flow)).with_grads(grad_in=flow)


@pytest.mark.parametrize("layout", ["contiguous", "spread", "offset"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SAME)
def test_values(constants: ModuleType, name: str, size: int, layout: str) -> None:
    """Every call gets the number that the spec states, to the last bit."""
    value = np.array(stated(name), np.dtype(name[: name.rindex("_")].replace("_", "")))
    out = buffer((size, *value.shape), value.dtype, layout)
    assert getattr(constants, name)(np.zeros(size, np.int32), out=out.tensor) is out.tensor
    out.array[...] = value
    out.check()


@pytest.mark.parametrize("size", SIZES)
def test_arrays(constants: ModuleType, size: int) -> None:
    """Their elements lie in the order of the parameter's declaration."""
    i = np.arange(size, dtype=np.int32)
    k = np.array(stated("same_count"))
    np.testing.assert_array_equal(constants.same_count(i).to_numpy(), k[i % 3])
    k = np.array(stated("same_pair"))
    np.testing.assert_array_equal(constants.same_pair(i).to_numpy(), k[i % 2, i // 2 % 2])
    k = np.array(stated("same_nested"))
    np.testing.assert_array_equal(constants.same_nested(i).to_numpy(), k[i % 2, i // 2 % 3])


@pytest.mark.parametrize("size", SIZES)
def test_as_if_it_were_passed(constants: ModuleType, size: int) -> None:
    """Forward and backward are those of the function with the same number from the host."""
    x = floats(size, 1)
    np.testing.assert_array_equal(constants.cube(x).to_numpy(), constants.power(x, 3).to_numpy())
    given = kf.Tensor.from_numpy(x).with_grads()
    constants.cube.backward(given, result=flowing_into(floats(size, 2)))
    np.testing.assert_allclose(gradient(given), 3 * x.astype(np.float64) ** 2 * floats(size, 2), rtol=1e-5)


def test_a_value(constants: ModuleType) -> None:
    assert constants.cube(2.0) == 8
    value, tangent = constants.cube.jvp(2.0, tangents={"x": 1.0})
    assert (value, tangent) == (8, 12)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (31, 1), (1, 33), (33, 31), (3, 1367), (257, 64)])
def test_shared_gradients(constants: ModuleType, shape: tuple[int, int], deterministic: bool) -> None:
    """A constant is no reason to leave the kernels that walk rows."""
    x = kf.Tensor.from_numpy(numbers(shape, np.dtype(np.float32), 3)).with_grads()
    b = kf.Tensor.from_numpy(floats(shape[1], 4)).with_grads()
    flowing = numbers(shape, np.dtype(np.float32), 5)
    constants.doubled.options(deterministic=deterministic).backward(x, b, result=flowing_into(flowing))
    np.testing.assert_array_equal(gradient(x), 2 * flowing)
    np.testing.assert_allclose(gradient(b), flowing.astype(np.float64).sum(0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", SIZES)
def test_derivatives(constants: ModuleType, size: int) -> None:
    x = floats(size, 6)
    tangent = floats(size, 7)
    y, dy = constants.mix_all.jvp(x, tangents={"x": tangent})
    slope = 1 * 1 + 2 * 0.25 + 3
    np.testing.assert_allclose(dy.to_numpy(), slope * tangent, rtol=1e-5)
    np.testing.assert_allclose(y.to_numpy(), slope * x.astype(np.float64) + 0.5 + 4, rtol=1e-5, atol=1e-5)
    given = kf.Tensor.from_numpy(x).with_grads()
    constants.mix_all.backward(given)
    np.testing.assert_allclose(gradient(given), np.full(size, slope), rtol=1e-6)
    given = kf.Tensor.from_numpy(x).with_grads()
    np.testing.assert_allclose(constants.loss.fused(given).to_numpy(), 0.25 * x + 1, rtol=1e-6)
    np.testing.assert_array_equal(gradient(given), np.full(size, 0.25))
    vectors = kf.Tensor.from_numpy(numbers((size, 3), np.dtype(np.float32), 8)).with_grads()
    constants.weigh.backward(vectors)
    np.testing.assert_array_equal(gradient(vectors), np.tile([1, 2, 4], (size, 1)))
    halves = kf.Tensor.from_numpy(numbers((size,), np.dtype(np.float16), 9)).with_grads()
    constants.scale_half.backward(halves)
    np.testing.assert_array_equal(gradient(halves), np.full(size, 1.5))


@pytest.mark.parametrize("size", SIZES)
def test_a_field(constants: ModuleType, size: int) -> None:
    """The host gives the fields that have no constant."""
    origin = kf.Tensor.from_numpy(numbers((size, 3), np.dtype(np.float32), 10)).with_grads()
    ray = {"origin": origin, "direction": [1, 2, -4]}
    expected = origin.to_numpy() + np.array([0.5, 1, -2], np.float32)
    np.testing.assert_allclose(constants.at(ray).to_numpy(), expected, rtol=1e-6, atol=1e-6)
    constants.at.backward(ray)
    np.testing.assert_array_equal(gradient(origin), np.ones((size, 3)))


def test_it_is_not_passed(constants: ModuleType) -> None:
    with pytest.raises(TypeError, match="cube"):
        constants.cube(2.0, 3)
    with pytest.raises(TypeError, match="n"):
        constants.cube(2.0, n=3)
