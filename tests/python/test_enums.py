"""Enums as values, in tensors, arrays, structs and whole tensors: classes over their integers."""

import pickle
from enum import IntEnum, IntFlag
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import LAYOUTS, SIZES, Array, buffer, shape_of
from loader import Loader

every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_size = pytest.mark.parametrize("size", SIZES)


class Color(IntEnum):
    """As in specs/enums.slang."""

    RED = 0
    GREEN = 5
    BLUE = -7


NONE, SOME = 0, 200

# Each function, the integers of its enum, and which one each of them becomes.
TURNS: dict[str, tuple[str, dict[int, int]]] = {
    "turned_color": ("int32", {0: 5, 5: -7, -7: 0}),
    "turned_wide": ("int64", {-1: 2**32, 2**32: -1}),
    "turned_tiny": ("int8", {-128: 127, 127: -128}),
    "turned_largest": ("uint64", {0: 2**64 - 1, 2**64 - 1: 0}),
    "toggled": ("uint8", {NONE: SOME, SOME: NONE}),
    "toggled_lamp": ("uint16", {0: 40000, 40000: 0}),
}


@pytest.fixture(scope="module")
def enums(generated: Loader) -> ModuleType:
    return generated("enums")


def picked(values: Any, shape: tuple[int, ...], dtype: str, seed: int = 1) -> Array:
    return np.random.default_rng(seed).choice(np.array(list(values), dtype), shape)


def colors_of(*shape: int, seed: int = 1) -> Array:
    return picked([color.value for color in Color], shape, "int32", seed)


def floats(*shape: int, seed: int = 2) -> Array:
    return (np.random.default_rng(seed).integers(-16, 17, shape) / 4).astype(np.float32)


@pytest.mark.parametrize("function", TURNS)
def test_value(enums: ModuleType, function: str) -> None:
    for given, expected in TURNS[function][1].items():
        found = getattr(enums, function)(given)
        assert isinstance(found, IntEnum)
        assert found == expected


def test_classes(enums: ModuleType) -> None:
    names = {
        "Color": {"red": 0, "green": 5, "blue": -7},
        "Lamp": {"off": 0, "on": 40000},
        "Largest": {"bottom": 0, "top": 2**64 - 1},
        "Shade": {"dark": 0, "light": 100},
    }
    for name, members in names.items():
        found = getattr(enums, name)
        assert issubclass(found, IntEnum)
        assert name in enums.__all__
        assert {member.name: member.value for member in found} == members
    assert pickle.loads(pickle.dumps(enums.Color.blue)) is enums.Color.blue
    assert kf.Tensor.zeros(3, enums.Small).dtype == np.uint8


def test_names_are_taken(enums: ModuleType) -> None:
    assert enums.turned_color("green") is enums.Color.blue
    assert enums.turned_color(enums.Color.blue) is enums.Color.red
    assert enums.turned_largest("bottom") is enums.Largest.top
    assert enums.weighed("green", 3.0) == 9.0
    assert enums.middle(["red", "blue", enums.Color.green]) is enums.Color.blue
    np.testing.assert_array_equal(enums.turned_color(["red", "green"]).to_numpy(), [5, -7])
    np.testing.assert_array_equal(enums.crossed([["none", "some"], [0, 200]]), [[0, 0], [200, 200]])
    # One name may be another number elsewhere.
    assert enums.same(["some", "none"], "some").to_numpy().tolist() == [True, False]
    part = enums.Part(smalls=["none", "none", "some"], weight=3.0, color="green")
    assert enums.worth(part) == 9.0
    assert enums.worth({"smalls": ["none"] * 3, "weight": 3.0, "color": "red"}) == 3.0
    assert part.worth(2.0) == 6.0
    listed = [{"smalls": ["none"] * 3, "weight": 2.0, "color": "blue"}] * 2
    np.testing.assert_array_equal(enums.worth(listed).to_numpy(), [2.0, 2.0])
    made = enums.made("blue", 2.0)
    assert made.color is enums.Color.blue
    prepared = enums.weighed.prepare("green", kf.Tensor.from_numpy(np.array([3.0], np.float32)))
    assert prepared().to_numpy() == 9.0
    prepared.set(color="blue")
    assert prepared().to_numpy() == 9.0
    x = kf.differentiable(3.0)
    enums.weighed.backward("green", x)
    assert x.grad == 6.0


def test_flags(enums: ModuleType) -> None:
    channels = enums.Channels
    assert issubclass(channels, IntFlag)
    assert [channel.value for channel in channels] == [1, 2, 4, 8]
    assert enums.inverted(channels.red | channels.alpha) == channels.green | channels.blue
    assert isinstance(enums.inverted("red | alpha"), channels)
    assert enums.inverted("red|alpha") == 6
    assert enums.inverted(0) == 15
    with pytest.raises(kf.ArgumentError, match="'channels': 16 is no value of Channels, nor are its bits"):
        enums.inverted(16)


def test_what_a_kernel_makes_up_stays_an_integer(enums: ModuleType) -> None:
    for _ in range(3):
        assert enums.forged(5) is enums.Color.green
        assert type(enums.forged(3)) is int


def test_members_of_int_enums(enums: ModuleType) -> None:
    assert enums.turned_color(Color.GREEN) == Color.BLUE
    assert enums.weighed(Color.GREEN, 3.0) == 9.0
    assert enums.weighed(color=Color.BLUE, x=3.0) == 9.0
    assert enums.made(Color.BLUE, 2.0).color == Color.BLUE


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("function", TURNS)
@every_size
@every_layout
def test_tensors(enums: ModuleType, function: str, size: int, rank: int, layout: str) -> None:
    dtype, turns = TURNS[function]
    shape = shape_of(rank, size)
    given = buffer(shape, np.dtype(dtype), layout, picked(turns, shape, dtype))
    out = buffer(shape, np.dtype(dtype), layout)
    out.array[...] = np.vectorize(turns.get, otypes=[dtype])(given.array)
    getattr(enums, function)(given.tensor, out=out.tensor)
    out.check()
    given.check()
    np.testing.assert_array_equal(getattr(enums, function)(given.tensor).to_numpy(), out.array)


@every_size
@pytest.mark.parametrize("varying", [False, True])
def test_gradients_beside_an_enum(enums: ModuleType, size: int, varying: bool) -> None:
    host, flow = floats(size), floats(size, seed=3).astype(np.float64)
    color: Any = colors_of(size) if varying else Color.GREEN
    green = np.broadcast_to(np.asarray(color), (size,)) == Color.GREEN
    x = kf.Tensor.from_numpy(host).with_grads()
    result = enums.weighed(color, x)
    np.testing.assert_array_equal(result.to_numpy(), np.where(green, host * host, 3 * host))
    derivative = np.where(green, 2 * host, 3)
    enums.weighed.backward(color, x, result.with_grads(grad_in=kf.Tensor.from_numpy(flow.astype(np.float32))))
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), derivative * flow)
    primal, tangent = enums.weighed.jvp(color, host, tangents={"x": flow.astype(np.float32)})
    np.testing.assert_array_equal(primal.to_numpy(), result.to_numpy())
    np.testing.assert_array_equal(tangent.to_numpy(), derivative * flow)


def test_gradient_of_a_broadcast_number(enums: ModuleType) -> None:
    colors, x = colors_of(33, 129), kf.differentiable(1.5)
    enums.weighed.backward(colors, x)
    assert x.grad == np.where(colors == Color.GREEN, 3.0, 3.0).sum()


@every_size
@every_layout
def test_outputs(enums: ModuleType, size: int, layout: str) -> None:
    numbers = np.arange(size, dtype=np.int32) % 3 - 1
    small = buffer((size,), np.dtype(np.uint8), layout, picked([NONE, SOME, 7], (size,), "uint8"))
    color = buffer((size,), np.dtype(np.int32), layout)
    color.array[...] = np.where(numbers > 0, Color.BLUE, Color.RED)
    enums.told(numbers, color.tensor, small.tensor)
    small.array[small.array == SOME] = NONE
    color.check()
    small.check()


@every_size
def test_arrays(enums: ModuleType, size: int) -> None:
    given = colors_of(size, 3)
    by_trailing = given.reshape(size, 1, 3)
    np.testing.assert_array_equal(enums.middle(by_trailing).to_numpy(), given[:, 1:2])
    tensor = kf.Tensor.from_numpy(np.ascontiguousarray(given))
    np.testing.assert_array_equal(enums.mirrored(tensor).to_numpy(), given[:, ::-1])
    smalls = picked([NONE, SOME], (size, 2, 2), "uint8")
    np.testing.assert_array_equal(enums.crossed(smalls).to_numpy(), smalls.transpose(0, 2, 1))


def test_arrays_by_value(enums: ModuleType) -> None:
    assert enums.middle([Color.RED, Color.BLUE, Color.GREEN]) == Color.BLUE
    assert list(enums.mirrored([Color.RED, Color.GREEN, Color.BLUE])) == [-7, 5, 0]
    np.testing.assert_array_equal(enums.crossed([[0, 200], [0, 200]]), [[0, 0], [200, 200]])


def parts_of(enums: ModuleType, size: int) -> Array:
    parts = np.zeros(size, enums.Part.dtype)
    parts["smalls"] = picked([NONE, SOME], (size, 3), "uint8")
    parts["weight"] = floats(size)
    parts["color"] = colors_of(size)
    return parts


def test_layout_of_a_struct(enums: ModuleType) -> None:
    expected = {"smalls": ("u1", 0, (3,)), "weight": ("f4", 4, ()), "color": ("i4", 8, ())}
    found = enums.Part.dtype
    assert {name: (f[0].base.str[1:], f[1], f[0].shape) for name, f in found.fields.items()} == expected
    assert found.itemsize == 12


@every_size
def test_structs(enums: ModuleType, size: int) -> None:
    parts = parts_of(enums, size)
    some = parts["smalls"][:, 2] == SOME
    weight = parts["weight"]
    wanted = np.where(some, weight * weight, weight)
    np.testing.assert_array_equal(enums.worth(parts).to_numpy(), wanted)
    by_field = {
        "smalls": kf.Tensor.from_numpy(np.ascontiguousarray(parts["smalls"])),
        "weight": kf.Tensor.from_numpy(np.ascontiguousarray(weight)).with_grads(),
        "color": Color.BLUE,
    }
    np.testing.assert_array_equal(enums.worth(by_field).to_numpy(), wanted)
    enums.worth.backward(by_field)
    derivative = np.where(some, 2 * weight, 1)
    np.testing.assert_array_equal(by_field["weight"].grad.to_numpy(), derivative)  # type: ignore[attr-defined]
    whole = kf.Tensor.from_numpy(parts).with_grads()
    enums.worth.backward(whole)
    expected = np.zeros_like(parts)
    expected["weight"] = derivative
    assert whole.grad is not None
    np.testing.assert_array_equal(whole.grad.to_numpy(), expected)


@every_size
def test_results_that_are_structs(enums: ModuleType, size: int) -> None:
    colors = colors_of(size)
    found = enums.made(colors, 2.5).to_numpy()
    expected = np.zeros(size, enums.Part.dtype)
    expected["smalls"] = [NONE, SOME, NONE]
    expected["weight"] = 2.5
    expected["color"] = colors
    np.testing.assert_array_equal(found, expected)


def test_methods(enums: ModuleType) -> None:
    part = enums.Part(smalls=[0, 0, 0], weight=3.0, color=Color.GREEN)
    assert part.worth(2.0) == 6.0
    given = kf.differentiable(part)
    enums.Part.worth.backward(given, 2.0)
    assert given.grad.weight == 2.0
    parts = parts_of(enums, 33)
    found = enums.Part.worth(kf.Tensor.from_numpy(parts), 2.0).to_numpy()
    green = parts["color"] == Color.GREEN
    np.testing.assert_array_equal(found, np.where(green, parts["weight"] * 2, -parts["weight"]))


@every_layout
def test_tensor_parameters(enums: ModuleType, layout: str) -> None:
    given = buffer((4097,), np.dtype(np.int32), layout, colors_of(4097))
    assert enums.matches(given.tensor, Color.GREEN) == (given.array == Color.GREEN).sum()
    rows = colors_of(31, 33)
    np.testing.assert_array_equal(enums.matches(rows, -7).to_numpy(), (rows == -7).sum(-1))
    smalls = picked([NONE, SOME], (4097,), "uint8")
    enums.paint(given.tensor, smalls, kf.range(4097))
    given.array[smalls == SOME] = Color.BLUE
    given.check()


def test_tensor_parameters_of_arrays(enums: ModuleType) -> None:
    pairs = picked([NONE, SOME, 3], (33, 2), "uint8")
    tensor = kf.Tensor.from_numpy(pairs)
    enums.toggle(tensor, kf.range(33))
    np.testing.assert_array_equal(tensor.to_numpy(), pairs[:, ::-1])


@every_size
def test_tensor_parameters_of_structs(enums: ModuleType, size: int) -> None:
    parts = parts_of(enums, size)
    green = parts["color"] == Color.GREEN
    found = enums.weight_of(parts, Color.GREEN, kf.range(size)).to_numpy()
    np.testing.assert_array_equal(found, np.where(green, parts["weight"], 0))
    given = kf.Tensor.from_numpy(parts).with_grads()
    worth = enums.worth_of(given, kf.range(size)).to_numpy()
    np.testing.assert_array_equal(worth, np.where(green, parts["weight"] ** 2, 5 * parts["weight"]))
    enums.worth_of.backward(given, kf.range(size))
    expected = np.zeros_like(parts)
    expected["weight"] = np.where(green, 2 * parts["weight"], 5)
    assert given.grad is not None
    np.testing.assert_array_equal(given.grad.to_numpy(), expected)


def test_overloads_and_generics(enums: ModuleType) -> None:
    assert enums.chosen_color(Color.RED) == 1
    assert enums.chosen_int(0) == 2
    smalls = picked([NONE, SOME], (33,), "uint8")
    np.testing.assert_array_equal(enums.same(smalls, SOME).to_numpy(), smalls == SOME)
    wides = picked([-1, 2**32], (33,), "int64")
    np.testing.assert_array_equal(enums.same(wides, -1).to_numpy(), wides == -1)


@every_size
def test_types_of_an_imported_module(enums: ModuleType, size: int) -> None:
    shades = picked([0, 100], (size,), "uint8")
    np.testing.assert_array_equal(enums.opposite(shades).to_numpy(), 100 - shades)
    swatches = np.zeros(size, enums.Swatch.dtype)
    swatches["amount"] = floats(size)
    swatches["shade"] = shades
    x = floats(size, seed=5)
    given = kf.Tensor.from_numpy(swatches).with_grads()
    light = shades == 100
    expected = np.where(light, swatches["amount"] * x, x)
    np.testing.assert_array_equal(enums.shaded(given, x).to_numpy(), expected)
    enums.shaded.backward(given, x)
    gradient = np.zeros_like(swatches)
    gradient["amount"] = np.where(light, x, 0)
    assert given.grad is not None
    np.testing.assert_array_equal(given.grad.to_numpy(), gradient)


COLORS = "Color: red = 0, green = 5, blue = -7"
REFUSED: list[tuple[str, Any, str]] = [
    ("toggled", 256, "256"),
    ("toggled", -1, "-1"),
    ("toggled", 1, "argument 'small': 1 is no value of Small: none = 0, some = 200"),
    ("toggled", np.array([1.0, 2.0], np.float32), "float"),
    ("turned_color", 1.5, "1.5"),
    ("turned_color", "gren", "Color has no member 'gren': red = 0, green = 5, blue = -7"),
    ("turned_color", "some", "Color has no member 'some'"),
    ("turned_color", 2**31, "2147483648"),
    ("turned_color", 3, f"turned_color: argument 'color': 3 is no value of {COLORS}"),
    ("turned_color", np.int32(3), f"argument 'color': 3 is no value of {COLORS}"),
    ("turned_tiny", 128, "128"),
    ("turned_tiny", 0, "argument 'tiny': 0 is no value of Tiny: less = -128, more = 127"),
    ("turned_wide", 1, "argument 'wide': 1 is no value of Wide: low = -1, high = 4294967296"),
    ("turned_largest", 1, f"1 is no value of Largest: bottom = 0, top = {2**64 - 1}"),
    ("mirrored", [0, 5, 6], f"argument 'colors\\[2\\]': 6 is no value of {COLORS}"),
    (
        "worth",
        {"smalls": [0, 1, 0], "weight": 1.0, "color": 0},
        "argument 'part.smalls\\[1\\]': 1 is no value",
    ),
    (
        "worth",
        {"smalls": [0] * 3, "weight": 1.0, "color": 1},
        f"argument 'part.color': 1 is no value of {COLORS}",
    ),
    ("worth", {"smalls": [0] * 3, "weight": 1.0, "color": "pink"}, "Color has no member 'pink'"),
    # A parameter that is no enum takes no names.
    ("chosen_int", "red", "str"),
]


@pytest.mark.parametrize(("function", "value", "says"), REFUSED)
def test_what_is_no_value(enums: ModuleType, function: str, value: Any, says: str) -> None:
    for _ in range(2):
        with pytest.raises(kf.ArgumentError, match=says):
            getattr(enums, function)(value)


def test_known_calls_are_checked(enums: ModuleType) -> None:
    for _ in range(4):
        assert enums.turned_color(0) is enums.Color.green
    with pytest.raises(kf.ArgumentError, match="3 is no value of Color"):
        enums.turned_color(3)
    prepared = enums.weighed.prepare(5, kf.Tensor.from_numpy(np.array([3.0], np.float32)))
    with pytest.raises(kf.ArgumentError, match="argument 'color': 3 is no value of Color"):
        prepared.set(color=3)
    with pytest.raises(kf.ArgumentError, match="no member 'pink'"):
        prepared.set(color="pink")
