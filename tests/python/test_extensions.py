"""Members from interfaces and extensions, and functions named as Slang's own, over whole buffers."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import LAYOUTS, SIZES, Array, Buffer, buffer, numbers
from loader import Loader

every_size = pytest.mark.parametrize("size", SIZES)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.fixture(scope="module")
def extensions(generated: Loader) -> ModuleType:
    return generated("extensions")


def filled(shape: tuple[int, ...], dtype: str, layout: str = "contiguous", seed: int = 1) -> Buffer:
    return buffer(shape, np.dtype(dtype), layout, numbers(shape, np.dtype(dtype), seed))


def structs(dtype: Any, size: int) -> Array:
    """Structs of floats, each a small multiple of 1/4."""
    made = np.zeros(size, dtype)
    for number, name in enumerate(dtype.names):
        made[name] = numbers((size,), dtype[name], number + 3)
    return made


def check_gradients(
    function: Any, given: Array, arguments: tuple[Any, ...], expected: dict[str, Array]
) -> None:
    """`expected`: d result / d field, where 1 flows in; added to what was there."""
    start = structs(given.dtype, given.size)
    gradients = kf.Tensor.from_numpy(start)
    function.backward(kf.Tensor.from_numpy(given).with_grads(grad_out=gradients), *arguments)
    wanted = start.copy()
    for name, values in expected.items():
        wanted[name] += values
    np.testing.assert_array_equal(gradients.to_numpy(), wanted)


# ---- What an interface gives to all that conform to it ----


@every_size
def test_default_methods(extensions: ModuleType, size: int) -> None:
    squares, circles = structs(extensions.Square.dtype, size), structs(extensions.Circle.dtype, size)
    width, radius = squares["width"], circles["radius"]
    np.testing.assert_array_equal(extensions.Square.doubled(squares, 3.0).to_numpy(), 6 * width**2)
    np.testing.assert_array_equal(extensions.Circle.doubled(circles, 3.0).to_numpy(), 9 * radius**2 - 1)
    np.testing.assert_array_equal(extensions.Square.tripled(squares, 3.0).to_numpy(), 9 * width**2)
    frames = structs(extensions.Frame_float.dtype, size)
    area = frames["width"] * frames["height"]
    np.testing.assert_array_equal(extensions.Frame_float.doubled(frames, 3.0).to_numpy(), 6 * area)


@every_size
def test_gradients_of_default_methods(extensions: ModuleType, size: int) -> None:
    squares, circles = structs(extensions.Square.dtype, size), structs(extensions.Circle.dtype, size)
    frames = structs(extensions.Frame_float.dtype, size)
    width, radius = squares["width"], circles["radius"]
    check_gradients(extensions.Square.doubled, squares, (0.5,), {"width": 2 * width})
    check_gradients(extensions.Square.tripled, squares, (0.5,), {"width": 3 * width})
    check_gradients(extensions.Circle.doubled, circles, (0.5,), {"radius": 3 * radius})
    check_gradients(
        extensions.Frame_float.doubled, frames, (0.5,), {"width": frames["height"], "height": frames["width"]}
    )
    scale = kf.differentiable(0.5)
    extensions.Square.doubled.backward(kf.Tensor.from_numpy(squares).with_grads(), scale)
    assert scale.grad == (2 * width**2).sum()


def test_default_methods_of_one_object(extensions: ModuleType) -> None:
    square = extensions.Square(width=3.0)
    assert square.doubled(2.0) == 36.0
    given = kf.differentiable(square)
    extensions.Square.doubled.backward(given, 2.0)
    assert given.grad.width == 24.0
    value, tangent = extensions.Square.doubled.jvp(square, 2.0, tangents={"scale": 1.0})
    assert (value, tangent) == (36.0, 18.0)
    assert square.twice_grown(2.0).width == 7.0
    assert extensions.Square.sides() == 4
    assert extensions.Circle.sides() == 0


@every_size
def test_default_methods_that_give_their_type(extensions: ModuleType, size: int) -> None:
    squares, circles = structs(extensions.Square.dtype, size), structs(extensions.Circle.dtype, size)
    grown = squares.copy()
    grown["width"] += 1
    np.testing.assert_array_equal(extensions.Square.twice_grown(squares, 0.5).to_numpy(), grown)
    by = numbers((size,), np.dtype(np.float32), 9)
    found = extensions.Circle.twice_grown(circles, by).to_numpy()
    np.testing.assert_array_equal(found["radius"], circles["radius"] * by * by)
    check_gradients(extensions.Square.twice_grown, squares, (0.5,), {"width": np.ones(size)})
    check_gradients(extensions.Circle.twice_grown, circles, (by,), {"radius": by * by})
    tensor = kf.Tensor.from_numpy(squares)
    extensions.Square.grow(tensor, 1.0)
    np.testing.assert_array_equal(tensor.to_numpy(), grown)


@every_size
def test_interface_parameters(extensions: ModuleType, size: int) -> None:
    squares, circles = structs(extensions.Square.dtype, size), structs(extensions.Circle.dtype, size)
    width, radius = squares["width"], circles["radius"]
    tensors = kf.Tensor.from_numpy(squares), kf.Tensor.from_numpy(circles)
    np.testing.assert_array_equal(extensions.measured(tensors[0], 3.0).to_numpy(), 6 * width**2 + 1)
    np.testing.assert_array_equal(extensions.measured(tensors[1], 3.0).to_numpy(), 9 * radius**2)
    np.testing.assert_array_equal(extensions.measured_any(tensors[0], 2.0).to_numpy(), 10 * width**2)
    np.testing.assert_array_equal(extensions.measured_any(tensors[1], 2.0).to_numpy(), 24 * radius**2 - 1)
    check_gradients(extensions.measured, squares, (0.5,), {"width": 2 * width})
    check_gradients(extensions.measured_any, circles, (0.5,), {"radius": 12 * radius})


def test_interfaces_without_derivatives_and_in_namespaces(extensions: ModuleType) -> None:
    items = np.zeros(33, extensions.Item.dtype)
    items["cents"] = np.arange(33)
    np.testing.assert_array_equal(extensions.Item.total(items, 4).to_numpy(), items["cents"] * 4)
    np.testing.assert_array_equal(extensions.Item.weight(items, 0.5).to_numpy(), np.full(33, 1.5))


# ---- Extensions of some of a generic struct's types ----


@every_size
def test_partly_specialised_structs(extensions: ModuleType, size: int) -> None:
    with_float = structs(extensions.Pair_half_float.dtype, size)
    found = extensions.Pair_half_float.sum(with_float, 2.0).to_numpy()
    np.testing.assert_array_equal(found, 2 * (with_float["first"].astype(np.float32) + with_float["second"]))
    with_int = np.zeros(size, extensions.Pair_half_int.dtype)
    with_int["second"] = np.arange(size)
    np.testing.assert_array_equal(
        extensions.Pair_half_int.sum(with_int, 3).to_numpy(), 3 * with_int["second"]
    )
    x = numbers((size,), np.dtype(np.float16), 5)
    np.testing.assert_array_equal(extensions.Pair_half_float.turned(x).to_numpy(), -x)
    both = extensions.Pair_half_float.both(with_float, 1.25).to_numpy()
    np.testing.assert_array_equal(both, np.tile([1.25, 2.5], (size, 1)))
    rows = np.zeros(size, extensions.Row_float_5.dtype)
    rows["values"] = numbers((size, 5), np.dtype(np.float32), 6)
    np.testing.assert_array_equal(extensions.Row_float_5.total(rows).to_numpy(), rows["values"].sum(-1))


# ---- Extensions of scalars, vectors and enums: functions of the module ----


@every_size
@every_layout
def test_scalars(extensions: ModuleType, size: int, layout: str) -> None:
    x, out = filled((size,), "float32", layout), buffer((size,), np.dtype(np.float32), layout)
    out.array[...] = x.array**3
    extensions.cubed(x.tensor, out=out.tensor)
    out.check()
    grad = filled((size,), "float32", layout, 2)
    extensions.cubed.backward(x.tensor.with_grads(grad_out=grad.tensor))
    grad.array += 3 * x.array**2
    grad.check()
    x.check()


def test_single_scalars(extensions: ModuleType) -> None:
    assert extensions.cubed(1.5) == 3.375
    given = kf.differentiable(2.0)
    extensions.cubed.backward(given)
    assert given.grad == 12.0
    np.testing.assert_array_equal(
        extensions.of_int(np.arange(33, dtype=np.int32)).to_numpy(), np.arange(33) / 2
    )
    assert extensions.cubed(np.full((5, 7), 2, np.float32)).to_numpy().tolist() == [[8.0] * 7] * 5


@every_size
@every_layout
def test_vectors(extensions: ModuleType, size: int, layout: str) -> None:
    v = buffer((3 * size,), np.dtype(np.float32), layout, numbers((3 * size,), np.dtype(np.float32), 1))
    x, y, z = v.array.reshape(size, 3).T
    if layout != "strided":
        rows = v.tensor.reshape(size, 3)
        found = extensions.turned(rows, 2.0).to_numpy()
        np.testing.assert_array_equal(found, x * 2 + y * z)
    by = filled((size,), "float32", layout, 4)
    given = kf.Tensor.from_numpy(v.array.reshape(size, 3).copy()).with_grads()
    extensions.turned.backward(given, by.tensor)
    assert given.grad is not None
    np.testing.assert_array_equal(given.grad.to_numpy(), np.stack([by.array, z, y], -1))
    flipped = kf.Tensor.from_numpy(v.array.reshape(size, 3).copy())
    extensions.flip(flipped)
    np.testing.assert_array_equal(flipped.to_numpy(), -v.array.reshape(size, 3))
    v.check()


@every_size
def test_vectors_of_any_length(extensions: ModuleType, size: int) -> None:
    two, three = numbers((size, 2), np.dtype(np.float16), 1), numbers((size, 3), np.dtype(np.float64), 2)
    np.testing.assert_array_equal(extensions.largest_of_two(two).to_numpy(), two.max(-1))
    np.testing.assert_array_equal(extensions.largest_of_three(three).to_numpy(), three.max(-1))


@every_size
def test_methods_of_enums(extensions: ModuleType, size: int) -> None:
    colors = np.where(np.arange(size) % 3 == 1, 200, 0).astype(np.uint8)
    np.testing.assert_array_equal(extensions.is_green(colors).to_numpy(), colors == 200)
    assert extensions.is_green(200) is True


@every_size
def test_constructors(extensions: ModuleType, size: int) -> None:
    a, b = numbers((size,), np.dtype(np.float32), 1), np.arange(size, dtype=np.int32)
    wanted = np.stack([a, b.astype(np.float32), np.full(size, 7, np.float32)], -1)
    np.testing.assert_array_equal(extensions.make_three(a, b).to_numpy(), wanted)
    np.testing.assert_array_equal(extensions.make_color(a, 0).to_numpy(), np.where(a > 0, 200, 0))


# ---- Functions named as Slang's own are ----


@every_size
def test_names_of_slangs_own(extensions: ModuleType, size: int) -> None:
    x = numbers((size,), np.dtype(np.float32), 1)
    wanted = np.select([x < -1, x > 1], [-1000, 1000], x)
    np.testing.assert_array_equal(extensions.clamp(x, -1, 1).to_numpy(), wanted)
    np.testing.assert_array_equal(extensions.lerp(x, 2.0, 0.25).to_numpy(), x + (2 - x) * 0.25 + 100)
    half = x.astype(np.float16)
    found = extensions.lerp_half(half, 2.0, 0.25).to_numpy()
    np.testing.assert_allclose(found, half + (2 - half) * 0.25 + 100, rtol=2e-3)
    given = kf.Tensor.from_numpy(x).with_grads()
    extensions.lerp.backward(given, 2.0, 0.25)
    assert given.grad is not None
    np.testing.assert_array_equal(given.grad.to_numpy(), np.full(size, 0.75))
