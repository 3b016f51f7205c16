"""Structs with fields that their module keeps to itself, by value, in tensors and as objects."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, numbers
from loader import Loader

every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def closed(generated: Loader) -> ModuleType:
    return generated("closed")


def springs(closed: ModuleType, size: int) -> Array:
    made = np.zeros(size, closed.Spring.dtype)
    for seed, name in enumerate(made.dtype.names or ()):
        field = made[name]
        made[name] = numbers(field.shape, field.dtype, seed + 1)
    return made


@every_size
def test_tensors(closed: ModuleType, size: int) -> None:
    given = springs(closed, size)
    x = 3 - given["rest"]
    energy = given["stiffness"] * x * x / 2 + given["ends"] @ np.array([1, 2, 3], np.float32) + given["wear"]
    np.testing.assert_allclose(closed.energy(given, 3.0).to_numpy(), energy, rtol=1e-6, atol=1e-5)

    longer = closed.stretched(given, 2.0).to_numpy()
    expected = given.copy()
    expected["rest"] *= 2
    expected["pulls"] += 2
    expected["ends"] = 2
    np.testing.assert_array_equal(longer, expected)

    tensor = kf.Tensor.from_numpy(given)
    closed.Spring.pull(tensor, 0.5)
    expected = given.copy()
    expected["rest"] += np.float32(0.5)
    expected["pulls"] += 1
    np.testing.assert_array_equal(tensor.to_numpy(), expected)

    crates = np.zeros(size, closed.Crate_float.dtype)
    crates["inside"] = numbers((size,), np.dtype("float32"), 3)
    crates["count"] = np.arange(size)
    np.testing.assert_array_equal(closed.content(crates).to_numpy(), crates["inside"] * crates["count"])


@every_size
def test_gradients(closed: ModuleType, size: int) -> None:
    given = springs(closed, size)
    tensor = kf.Tensor.from_numpy(given).with_grads()
    closed.energy.backward(tensor, 3.0)
    assert tensor.grad is not None
    gradient, x = tensor.grad.to_numpy(), 3 - given["rest"]
    np.testing.assert_allclose(gradient["stiffness"], x * x / 2, rtol=1e-6)
    np.testing.assert_allclose(gradient["rest"], -given["stiffness"] * x, rtol=1e-6)
    np.testing.assert_array_equal(
        gradient["ends"], np.broadcast_to(np.array([1, 2, 3], np.float32), (size, 3))
    )
    np.testing.assert_array_equal(gradient["mid"], np.zeros((size, 3)))


def test_values_and_objects(closed: ModuleType) -> None:
    fields = {"rest": 2.0, "pulls": 4, "wear": 0.5, "ends": [1, 1, 1], "mid": [0, 8, 0]}
    spring = closed.Spring(stiffness=6.0, **fields)
    assert closed.energy(spring, 5.0) == 6 * 9 / 2 + 6 + 0.5
    assert spring.force(5.0) == 26
    stiffness = np.array([1, -2, 0.5], np.float32)
    np.testing.assert_array_equal(
        closed.Spring(stiffness=stiffness, **fields).force(5.0).to_numpy(), 3 * stiffness + 8
    )
    given = kf.differentiable(spring)
    closed.Spring.force.backward(given, 5.0)
    assert (given.grad.stiffness, given.grad.rest) == (3, -6)
    np.testing.assert_array_equal(given.grad.mid, [0, 1, 0])


@every_size
def test_entry_points_need_not_be_public(closed: ModuleType, size: int) -> None:
    told = kf.Buffer.from_numpy(np.array([7, 7], np.uint32), writable=True)
    closed.count_threads.threads(size)(size, told)
    np.testing.assert_array_equal(told.to_numpy(), [7 + size, 7])


@every_size
def test_what_is_public_nowhere(closed: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype("float32"), 1)
    np.testing.assert_array_equal(closed.worn(x).to_numpy(), x * x)
    np.testing.assert_array_equal(closed.worn_by(closed.Old(by=2), x).to_numpy(), x + 2)
    np.testing.assert_array_equal(closed.folded(x).to_numpy(), x + 14 * np.trunc(x))
    np.testing.assert_array_equal(closed.unfolded(x).to_numpy(), x - 1)
    handles = np.zeros(size, closed.Handle.dtype)
    handles["width"] = numbers((size, 3), np.dtype("float32"), 2)
    handles["cold"] = numbers((size,), np.dtype("float32"), 3)
    warmth = handles["width"][:, 0] - handles["cold"]
    np.testing.assert_array_equal(closed.Handle.warmth(handles).to_numpy(), warmth)


def test_gradients_of_what_is_public_nowhere(closed: ModuleType) -> None:
    given = kf.differentiable(closed.Handle(width=[1, 2, 3], cold=4))
    by = kf.differentiable([5.0, 6.0, 7.0])
    assert closed.held(given, by, closed.Grip.firm) == 2 * (5 + 12 + 21) + 25
    closed.held.backward(given, by, closed.Grip.firm)
    np.testing.assert_array_equal(given.grad.width, [10, 12, 14])
    np.testing.assert_array_equal(by.grad, [2 + 10, 4, 6])
