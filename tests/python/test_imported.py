"""Functions of modules that the spec's module imports, called by the modules' names."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, numbers
from loader import Loader

every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def imported(generated: Loader) -> ModuleType:
    return generated("imported")


def gradient_of(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


@every_size
def test_two_functions_of_one_name_and_type(imported: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype("float32"), 1)
    np.testing.assert_array_equal(imported.reflected(x).to_numpy(), 2 * x)
    np.testing.assert_allclose(imported.film_reflected(x).to_numpy(), x**3, rtol=1e-6)
    own, other = (kf.Tensor.from_numpy(x).with_grads() for _ in range(2))
    imported.reflected.backward(own)
    imported.film_reflected.backward(other)
    np.testing.assert_array_equal(gradient_of(own), np.full(size, 2, np.float32))
    np.testing.assert_allclose(gradient_of(other), 3 * x * x, rtol=1e-6)


@every_size
def test_a_module_in_a_folder(imported: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype("float32"), 2)
    lens = imported.Lens(power=0.5, height=3.0)
    np.testing.assert_allclose(imported.focus(lens, x).to_numpy(), 0.5 * x * x + 3, rtol=1e-6)
    lenses = np.zeros(size, imported.Lens.dtype)
    lenses["power"] = numbers((size,), np.dtype("float32"), 3)
    given, distance = kf.Tensor.from_numpy(lenses).with_grads(), kf.Tensor.from_numpy(x).with_grads()
    imported.focus.backward(given, distance)
    np.testing.assert_allclose(gradient_of(given)["power"], x * x, rtol=1e-6)
    np.testing.assert_allclose(gradient_of(distance), 2 * lenses["power"] * x, rtol=1e-6, atol=1e-6)
    tangent = imported.focus.jvp(lens, x, tangents={"distance": np.ones_like(x)}, out=np.ndarray)[1]
    np.testing.assert_allclose(tangent, x, rtol=1e-6)


def test_an_overload(imported: ModuleType) -> None:
    np.testing.assert_array_equal(imported.focus(np.array([2, 4], np.float32)).to_numpy(), [0.5, 0.25])


@every_size
def test_types_that_the_module_only_imports(imported: ModuleType, size: int) -> None:
    wave = numbers((size,), np.dtype("float32"), 4)
    glass = kf.differentiable(imported.Glass(index=1.5, slope=2.0))
    np.testing.assert_allclose(imported.index_at(glass.value, wave).to_numpy(), 2 * wave**2 + 1.5, rtol=1e-6)
    imported.index_at.backward(glass, wave)
    np.testing.assert_allclose(glass.grad.slope, np.sum(wave.astype(np.float64) ** 2), rtol=1e-5)
    assert glass.grad.index == size


def test_a_module_that_an_imported_one_imports(imported: ModuleType) -> None:
    depth = np.array([1, -3], np.float32)
    np.testing.assert_array_equal(imported.clear(depth, 4.0).to_numpy(), 4 * depth)
    np.testing.assert_array_equal(imported.clear(depth).to_numpy(), 0.5 * depth)


def test_a_generic_function_in_a_namespace(imported: ModuleType) -> None:
    rays = np.arange(12, dtype=np.float32).reshape(4, 3)
    by = np.array([1, 2, -1], np.float32)
    np.testing.assert_array_equal(imported.scaled(rays, by).to_numpy(), rays * by)


@every_size
def test_members(imported: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype("float32"), 5)
    lens = imported.Lens(power=0.25, height=2.0)
    np.testing.assert_allclose(lens.bend(x).to_numpy(), x / 2, rtol=1e-6, atol=1e-7)
    tensor = kf.Tensor.from_numpy(x).with_grads()
    imported.Lens.bend.backward(lens, tensor)
    np.testing.assert_allclose(gradient_of(tensor), np.full(size, 0.5), rtol=1e-6)
    assert imported.Lens.twice(1.5) == 3
    made = imported.lens_of(x).to_numpy()
    np.testing.assert_array_equal(made["power"], x)
    np.testing.assert_array_equal(made["height"], np.ones(size))
    both = imported.add(lens, made).to_numpy()
    np.testing.assert_array_equal(both["power"], np.float32(0.25) + x)
    np.testing.assert_array_equal(both["height"], np.ones(size))


@every_size
def test_a_type_of_the_importing_module(imported: ModuleType, size: int) -> None:
    x = kf.Tensor.from_numpy(numbers((size,), np.dtype("float32"), 6)).with_grads()
    film = kf.differentiable(imported.Coating(depth=3.0))
    values = x.to_numpy()
    np.testing.assert_allclose(imported.passed(film.value, x).to_numpy(), 3 * values**2, rtol=1e-6)
    imported.passed.backward(film, x)
    np.testing.assert_allclose(gradient_of(x), 6 * values, rtol=1e-6)
    np.testing.assert_allclose(film.grad.depth, np.sum(values.astype(np.float64) ** 2), rtol=1e-5)


@every_size
def test_the_specs_own_module(imported: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype("float32"), 7)
    lens = imported.Lens(power=0.5, height=1.0)
    np.testing.assert_allclose(imported.seen(lens, x).to_numpy(), 2.5 * x, rtol=1e-6)
