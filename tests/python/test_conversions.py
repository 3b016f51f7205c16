"""Python values that become vectors and structs: numbers, names, lists of objects, arrays of structs."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

Array = npt.NDArray[Any]
SIZES = [0, 1, 31, 33, 4097]


@pytest.fixture(scope="module")
def conversions(generated: Loader) -> Any:
    return generated("conversions")


class Point(NamedTuple):
    x: float
    y: float
    z: float


@dataclass
class Thing:
    weight: float
    place: Any
    count: int


def gradient_of(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


def items(conversions: Any, *shape: int) -> Array:
    random = np.random.default_rng(len(shape))
    made = np.zeros(shape, conversions.Item.dtype)
    made["weight"] = random.uniform(-1, 1, shape)
    made["place"] = random.uniform(-1, 1, (*shape, 3))
    made["count"] = random.integers(-9, 9, shape)
    return made


@pytest.mark.parametrize("number", [2, 2.5, np.float64(2.5), np.int8(2), np.float32(0.5)])
def test_a_number_is_every_component(conversions: Any, number: Any) -> None:
    assert conversions.scale([1, 2, 3], number).tolist() == [number, 2 * number, 3 * number]
    assert conversions.scale(number, number).tolist() == [number * number] * 3
    assert conversions.halves(number).tolist() == [number] * 2


@pytest.mark.parametrize("size", SIZES)
def test_numbers_beside_tensors(conversions: Any, size: int) -> None:
    v = np.random.default_rng(1).uniform(-1, 1, (size, 3)).astype(np.float32)
    expected = v.astype(np.float64) * 3
    np.testing.assert_allclose(conversions.scale(v, 3).to_numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(conversions.scale(3, kf.Tensor.from_numpy(v)).to_numpy(), expected, rtol=1e-6)
    by_name = conversions.scale({"x": 1, "y": 2, "z": 3}, v).to_numpy()
    np.testing.assert_allclose(by_name, v.astype(np.float64) * [1, 2, 3], rtol=1e-6)


def test_the_gradient_of_a_number_is_its_components_sum(conversions: Any) -> None:
    v = np.random.default_rng(2).uniform(-1, 1, (4097, 3)).astype(np.float32)
    by = kf.differentiable(2.0)
    x = kf.Tensor.from_numpy(v).with_grads()
    y = conversions.scale(x, by)
    conversions.scale.backward(x, by, y)
    assert isinstance(by.grad, float)
    np.testing.assert_allclose(by.grad, v.astype(np.float64).sum(), rtol=1e-4)
    np.testing.assert_array_equal(gradient_of(x), np.full_like(v, 2))


@pytest.mark.parametrize(
    "value",
    [
        {"x": 1, "y": 2.5, "z": -3},
        {"z": -3, "y": 2.5, "x": 1},
        SimpleNamespace(x=1, y=2.5, z=-3),
        Point(1, 2.5, -3),
        [1, 2.5, -3],
        (1, 2.5, -3),
        np.array([1, 2.5, -3], np.float32),
    ],
)
def test_vectors_by_name(conversions: Any, value: Any) -> None:
    assert conversions.scale(value, 2).tolist() == [2, 5, -6]


def test_lists_of_vectors_by_name(conversions: Any) -> None:
    vectors = [{"x": 1, "y": 2}, {"x": 3, "y": 4}]
    assert conversions.rows(vectors) == 14
    assert conversions.rows([vectors, vectors, [[5, 6], [7, 8]]]).to_numpy().tolist() == [14, 14, 58]
    assert conversions.scale([{"x": 1, "y": 2, "z": 3}] * 4, 1).shape == (4, 3)
    assert conversions.steps({"x": 1, "y": 2, "z": 3, "w": 4}).tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        ("corner", 1.0, "argument 'm': expected float2x2, found a floating number"),
        ("total", 1.0, "argument 'numbers': expected float[4], found a floating number"),
        ("total", [1, 2, 3], "a float[4] has shape [4], not [3]"),
        ("total", {"x": 1, "y": 2, "z": 3, "w": 4}, "expected float[4], found x, y, z, w of whole numbers"),
        ("rows", [1, 2], "argument 'm': expected float2[2], found a list of shape (2,) of whole numbers"),
        ("steps", 1.5, "argument 'by': expected int4, found a floating number"),
        ("steps", 2.0, "argument 'by': expected int4, found a floating number"),
        ("steps", True, "argument 'by': expected int4, found a bool"),
        ("steps", 2**31, "argument 'by': 2147483648 doesn't fit an int32"),
        (
            "steps",
            {"x": 1, "y": 2, "z": 3, "w": 4.5},
            "argument 'by': expected int4, found x, y, z, w of float",
        ),
        ("steps", {"x": 1, "y": 2, "z": 3}, "an int4 has shape [4], not [3]"),
        ("steps", {"x": 1, "y": 2, "z": 3, "w": 4, "v": 5}, "x, y, z and w, from x on, and no other fields"),
        ("steps", {"x": 1, "z": 2}, "x, y, z and w, from x on, and no other fields, unlike {'x': 1, 'z': 2}"),
        ("steps", {"x": 1}, "x, y, z and w, from x on, and no other fields, unlike {'x': 1}"),
        (
            "steps",
            {"x": 1, "y": [2], "z": 3, "w": 4},
            'y is a number here, not [2] (a list): "fields" in the',
        ),
        ("steps", {"x": 1, "y": 2, "z": None, "w": 4}, "z is a number here, not None (a NoneType)"),
        ("steps", {"y": 1, "z": 2}, "not {'y': 1, 'z': 2} (a dict)"),
        ("halves", 1e6, "1000000.0 doesn't fit a float16"),
        ("which", 1.0, "a floating number could be a float2 or a float3: give every component"),
    ],
)
def test_what_does_not_fit_a_vector(conversions: Any, function: str, value: Any, text: str) -> None:
    with pytest.raises(kf.ArgumentError) as caught:
        getattr(conversions, function)(value)
    assert text in str(caught.value)
    assert "nothing" not in str(caught.value)


def test_arrays_of_another_rank_or_dtype(conversions: Any) -> None:
    """Ranks of tensors of vectors don't count the vectors, so that the shape is said too."""
    with pytest.raises(kf.ArgumentError) as caught:
        conversions.scale(np.zeros((2, 4, 3), np.float32), 1)
    text = "argument 'v': expected float3 tensor[1] (shape (d0, 3)), found a float32 array"
    assert text in str(caught.value)
    with pytest.raises(kf.ArgumentError) as caught:
        conversions.scale(np.zeros((4, 3)), 1)
    text = "expected float3 tensor[1], found a float64 array of shape (4, 3); astype(np.float32) converts it"
    assert text in str(caught.value)


def test_a_number_goes_to_the_number(conversions: Any) -> None:
    assert conversions.which_or_number(1.0) == 1
    assert conversions.which_or_number({"x": 1, "y": 2}) == 2
    assert conversions.which([1, 2]) == 2
    assert conversions.which({"x": 1, "y": 2, "z": 3}) == 3


def test_fields_that_are_vectors(conversions: Any) -> None:
    for place in (4, [4, 4, 4], {"x": 4, "y": 4, "z": 4}, Point(4, 4, 4)):
        assert conversions.value_of({"weight": 1, "place": place, "count": 2}) == 241
    with pytest.raises(kf.ArgumentError, match=r"'item\.weight'.*has no x, y, z and w"):
        conversions.value_of({"weight": {"x": 1, "y": 2}, "place": 1, "count": 2})
    with pytest.raises(kf.ArgumentError, match=r"'item\.place'.*shape \[3\]"):
        conversions.value_of({"weight": 1, "place": {"x": 1, "y": 2}, "count": 2})


def test_lists_of_structs(conversions: Any) -> None:
    item = conversions.Item
    listed = [{"weight": 1, "place": 2, "count": 3}, item(4, [5, 5, 5], 6), Thing(7, (8, 8, 8), 9)]
    expected = [321, 654, 987]
    assert conversions.value_of(listed).to_numpy().tolist() == expected
    assert conversions.value_of(tuple(listed)).to_numpy().tolist() == expected
    assert conversions.value_of([listed, listed]).to_numpy().tolist() == [expected, expected]
    assert item.load(listed).to_numpy().tolist() == [3, 24, 63]
    assert conversions.value_of([]).shape == (0,)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"count": 1.5}, "argument 'item[1].count': 1.5 is a float where an int32 is needed"),
        ({"count": 2**40}, "argument 'item[1].count': 1099511627776 doesn't fit an int32"),
        ({"size": 1}, "argument 'item[1]': Item has no field 'size' = 1 (an int)"),
        ({"_type": "Box"}, "argument 'item[1]': Item has no field '_type' = 'Box' (a str)"),
        ({"place": [1, 2]}, "argument 'item[1].place': [1, 2] has shape [2]"),
    ],
)
def test_wrong_structs_in_lists(conversions: Any, change: dict[str, Any], text: str) -> None:
    item = {"weight": 1, "place": 2, "count": 3}
    with pytest.raises(kf.ArgumentError) as caught:
        conversions.value_of([item, item | change])
    assert text in str(caught.value)


def test_lists_of_structs_are_only_read(conversions: Any) -> None:
    item = {"weight": 1, "place": 2, "count": 3}
    with pytest.raises(kf.ArgumentError, match=r"it is written: give a kf\.Tensor or a NumPy array of Item"):
        conversions.Item.grow([item], 1)
    with pytest.raises(kf.ArgumentError, match=r"argument 'item\[1\]': a list of 1 is needed"):
        conversions.value_of([[item], [item, item]])


def test_dicts_may_say_their_type(conversions: Any) -> None:
    assert conversions.value_of({"_type": "Item", "weight": 1, "place": 2, "count": 3}) == 321


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("on_device", [False, True])
def test_arrays_of_structs(conversions: Any, size: int, on_device: bool) -> None:
    host = items(conversions, size, 2)
    given = kf.Tensor.from_numpy(host) if on_device else host
    expected = host["weight"][:, 0].astype(np.float64) * host["place"][:, 1, 1]
    np.testing.assert_allclose(conversions.pair(given).to_numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(conversions.pair(given[::2]).to_numpy(), expected[::2], rtol=1e-6)
    if size > 0:
        np.testing.assert_allclose(conversions.pair(host[0]), expected[0], rtol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_gradients_of_arrays_of_structs(conversions: Any, size: int) -> None:
    host = items(conversions, size, 2)
    given = kf.Tensor.from_numpy(host).with_grads()
    conversions.pair.backward(given, conversions.pair(given))
    gradient = gradient_of(given)
    expected = np.zeros_like(host)
    expected["weight"][:, 0] = host["place"][:, 1, 1]
    expected["place"][:, 1, 1] = host["weight"][:, 0]
    for field in ("weight", "place", "count"):
        np.testing.assert_array_equal(gradient[field], expected[field])


@pytest.mark.parametrize("size", SIZES)
def test_arrays_of_structs_are_returned(conversions: Any, size: int) -> None:
    weight = np.random.default_rng(3).uniform(-1, 1, size).astype(np.float32)
    expected = np.zeros((size, 2), conversions.Item.dtype)
    expected["weight"] = np.stack([weight, weight + np.float32(1)], -1)
    expected["place"] = [[[1, 2, 3], [2, 4, 6]]]
    expected["count"] = [[0, 1]]
    place = {"x": 1, "y": 2, "z": 3}
    np.testing.assert_array_equal(conversions.make_pair(weight, place).to_numpy(), expected)
    np.testing.assert_array_equal(conversions.make_pair(weight, place, out=np.ndarray), expected)
    # Into the middle of more, of which the rest must stay as it is.
    around = np.zeros((size + 2, 2), conversions.Item.dtype)
    around[:] = (7, (7, 7, 7), 7)
    device = kf.Tensor.from_numpy(around)
    conversions.make_pair(weight, place, out=device[1 : size + 1])
    around[1 : size + 1] = expected
    np.testing.assert_array_equal(device.to_numpy(), around)


def test_written_arrays_of_structs(conversions: Any) -> None:
    host = items(conversions, 33, 2)
    expected = host.copy()
    expected["weight"][:, 0] += np.float32(0.5)
    expected["count"][:, 1] += 1
    device = kf.Tensor.from_numpy(host)
    assert conversions.heavier(device, 0.5) is device
    np.testing.assert_array_equal(device.to_numpy(), expected)
    conversions.heavier(host, 0.5)
    np.testing.assert_array_equal(host, expected)


@pytest.mark.parametrize(
    ("shape", "cut", "text"),
    [
        ((3, 3), np.s_[:], "dimension 1 of shape [3, 3]: expected extent 2, found 3"),
        ((3,), np.s_[:], "a list of 2 Item is needed, found 3"),
        ((3, 4), np.s_[:, ::2], "one after the other"),
    ],
)
def test_wrong_arrays_of_structs(conversions: Any, shape: tuple[int, ...], cut: Any, text: str) -> None:
    host = items(conversions, *shape)
    given = host if len(shape) == 1 else kf.Tensor.from_numpy(host)[cut]
    with pytest.raises(kf.ArgumentError) as caught:
        conversions.pair(given)
    assert text in str(caught.value)


@pytest.mark.parametrize("size", SIZES)
def test_methods_of_extensions(conversions: Any, size: int) -> None:
    host = items(conversions, size)
    item = conversions.Item
    given = kf.Tensor.from_numpy(host).with_grads()
    result = item.scaled(given, 3)
    np.testing.assert_allclose(result.to_numpy(), host["weight"].astype(np.float64) * 3, rtol=1e-6)
    item.scaled.backward(given, 3, result)
    np.testing.assert_array_equal(gradient_of(given)["weight"], np.full(size, 3, np.float32))
    item.grow(host, 1)
    np.testing.assert_array_equal(host["weight"], given.to_numpy()["weight"] + np.float32(1))


def test_forward_derivatives_on_objects(conversions: Any, device: kf.Device) -> None:
    item = conversions.Item(weight=2, place=0, count=0)
    assert item.scaled.jvp(4, tangents={"by": 3}) == (8, 6)
    assert item.scaled.jvp.call(4, tangents={"this": {"weight": 5}}) == (8, 20)
    assert item.load.jvp is None
    assert "scaled" in repr(item.scaled.jvp)
    encoder = device.encoder()
    recorded = item.scaled.jvp.append_to(encoder, 4, tangents={"by": 3})
    encoder.submit()
    assert [one.item() for one in recorded] == [8, 6]


def test_extensions_on_objects_and_of_generics(conversions: Any) -> None:
    assert conversions.Item(weight=2, place=0, count=0).scaled(4) == 8
    assert conversions.Item.twice(4) == 8
    box = conversions.Box_float(size=3)
    assert (box.plus(1), box.squared()) == (4, 9)
    assert box.times_float(1.5) == 4.5
    boxes = np.array([(2,), (4,)], conversions.Box_float.dtype)
    for dtype in (np.float16, np.float64):
        by = np.array([1.5, -0.25], dtype)
        for found, wanted in [(box.times(by), by * 3), (conversions.Box_float.times(boxes, by), by * [2, 4])]:
            assert found.dtype == dtype
            np.testing.assert_array_equal(found.to_numpy(), wanted)
