"""Global parameters, which .set() gives values, against NumPy."""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, buffer, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)
SCENE = {"light": {"color": (1, 1, 1), "power": 3.0}, "weights": [1, 2, 4], "count": 1}


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.mark.parametrize("layout", ["contiguous", "strided", "offset"])
@pytest.mark.parametrize("size", SIZES)
def test_values(scene: ModuleType, size: int, layout: str) -> None:
    x = buffer((size,), FLOAT, layout, numbers((size,), FLOAT, 1))
    shaded = scene.shade.set(tint=(1, 2, 3))
    np.testing.assert_array_equal(shaded(x.tensor).to_numpy(), x.array[:, None] * np.array([1, 2, 3], FLOAT))
    gained = scene.gained.set({"look.gain": 4})
    np.testing.assert_array_equal(gained(x.tensor).to_numpy(), 4 * x.array + 1)
    x.check()
    np.testing.assert_array_equal(shaded(2.0), [2, 4, 6])


def test_a_copy_is_a_value(scene: ModuleType) -> None:
    """Neither later copies nor what was given to set() changes it."""
    given = {"light": {"color": [1, 1, 1], "power": 3.0}, "weights": [1, 2, 4], "count": 1}
    first = scene.lit.set({"look.gain": 2.0}, scene=given)
    second = first.set(scene={"count": 2})
    third = first.set({"look.gain": 4})
    given["count"] = 0
    x = np.array([3], FLOAT)
    for function, factor in ((first, 3 * 2 * 2), (second, 3 * 4 * 2), (third, 3 * 2 * 4)):
        np.testing.assert_array_equal(function(x).to_numpy(), x * x * factor)
    light = scene.Light(color=[1, 1, 1], power=3.0)
    of_objects = first.set(scene=scene.Scene(light=light, weights=[1, 2, 4], count=2))
    np.testing.assert_array_equal(of_objects(x).to_numpy(), second(x).to_numpy())
    assert scene.lit.globals == ["look.gain", "scene"]
    assert scene.plain.globals == []


def test_variants_keep_globals(scene: ModuleType) -> None:
    x = np.array([1, 2], FLOAT)
    set_first = scene.gained.set({"look.gain": 4}).options(variant="small")
    set_last = scene.gained.options(variant="small").set({"look.gain": 4})
    for function in (set_first, set_last):
        np.testing.assert_array_equal(function(x).to_numpy(), [5, 9])


@pytest.mark.parametrize("size", SIZES)
def test_gradients(scene: ModuleType, size: int) -> None:
    """A derivative has the globals of its function, and no gradient goes to them."""
    values, flow = numbers((size,), FLOAT, 1), numbers((size,), FLOAT, 2)
    lit = scene.lit.set({"look.gain": 2.0, "scene": SCENE})
    x = kf.Tensor.from_numpy(values).with_grads()
    y = lit(x).with_grads(grad_in=kf.Tensor.from_numpy(flow))
    lit.backward(x, y)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), 2 * values * 12 * flow)
    _, tangent = lit.jvp(values, tangents={"x": flow})
    np.testing.assert_array_equal(tangent.to_numpy(), 2 * values * 12 * flow)


@pytest.mark.parametrize("size", SIZES)
def test_tensors(scene: ModuleType, size: int) -> None:
    out = buffer((size + 3,), FLOAT, "offset")
    steps: Array = numbers((size + 3,), FLOAT, 1)
    filled = scene.tabulate.set(table=out.tensor, steps=steps).threads(size)
    filled(3.0)
    out.array[:size] = 3 * steps[:size]
    out.check()
    encoder = kf.default_device().encoder()
    filled.append_to(encoder, 2.0)
    encoder.submit()
    out.array[:size] = 2 * steps[:size]
    out.check()


@pytest.mark.parametrize("kind", [list, partial(np.array, dtype=FLOAT)])
def test_later_changes_of_what_was_set_change_nothing(scene: ModuleType, kind: Callable[[Any], Any]) -> None:
    """One list or array, set of three functions in a loop, also inside of dicts."""
    steps, weights = kind([0.0, 2.0]), kind([0.0, 1.0, 1.0])
    light = {"color": weights, "power": 1.0}
    values = {"look.gain": 1.0, "scene": {"light": light, "weights": weights, "count": 0}}
    functions = []
    for i in range(3):
        steps[0] = weights[0] = float(i + 1)
        out = np.zeros(2, np.float32)
        functions.append((scene.tabulate.set(table=out, steps=steps).threads(2), scene.lit.set(values), out))
    steps[0] = weights[0] = 100.0
    light["power"] = 100.0
    for i, (tabulate, lit, out) in enumerate(functions):
        tabulate(2.0)
        np.testing.assert_array_equal(out, [2 * (i + 1), 4])
        expected = scene.lit.set(
            {
                "look.gain": 1.0,
                "scene": {
                    "light": {"color": [i + 1, 1, 1], "power": 1},
                    "weights": [i + 1, 1, 1],
                    "count": 0,
                },
            }
        )
        assert lit([3.0]).to_numpy() == expected([3.0]).to_numpy() != 0


def test_modules_are_set_the_same_way(scene: ModuleType) -> None:
    steps, out = np.array([1.0, 2.0], np.float32), np.zeros(2, np.float32)
    configured = scene.set(table=out, steps=steps)
    steps[:] = -1
    configured.tabulate.threads(2)(2.0)
    np.testing.assert_array_equal(out, [2, 4])


@pytest.mark.parametrize("size", SIZES)
def test_a_derivative_adds_to_a_global(scene: ModuleType, size: int) -> None:
    weights, flows = numbers((7,), FLOAT, 1), buffer((7,), FLOAT, "contiguous", numbers((7,), FLOAT, 2))
    i, x, flow = np.arange(size, dtype=np.int32) % 7, numbers((size,), FLOAT, 3), numbers((size,), FLOAT, 4)
    held = {"weights_of": kf.Tensor.from_numpy(weights), "flows": flows.tensor}
    scene.clear_flows.set(flows=flows.tensor).threads(40)()
    flows.array[...] = 0
    flows.check()
    given = kf.Tensor.from_numpy(x).with_grads()
    y = scene.weighed.set(held)(i, given)
    np.testing.assert_array_equal(y.to_numpy(), weights[i] * x)
    scene.weighed.set(held).backward(i, given, y.with_grads(grad_in=kf.Tensor.from_numpy(flow)))
    assert given.grad is not None
    np.testing.assert_allclose(given.grad.to_numpy(), weights[i] * flow, rtol=1e-6)
    expected = np.zeros(7)
    np.add.at(expected, i, flow.astype(np.float64) * x)
    found = flows.tensor.to_numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
    flows.array[...] = found
    flows.check()


REFUSALS: list[tuple[Callable[[ModuleType], Any], str]] = [
    (lambda m: m.shade(1.0), r"the global 'tint', which it reads, isn't set: set\(\)"),
    (lambda m: m.lit.set(scene=SCENE)(np.ones(2, FLOAT)), "the global 'look.gain', which it reads"),
    (lambda m: m.shade.set(tin=1), "no global 'tin'; it reaches tint"),
    (lambda m: m.plain.set(tint=1), "no global 'tint'; it reaches none"),
    (lambda m: m.shade.set(3), r"a dict of globals is needed, as in \{\"tint\": 2\}, not 3"),
    (lambda m: m.shade.set(tint=(1, 2))(1.0), r"globals\.tint"),
    (lambda m: m.lit.set({"look.gain": 1, "scene": {"count": 1}})(np.ones(2, FLOAT)), r"globals\.scene"),
    (lambda m: m.shade(1.0, tint=(1, 2, 3)), "no argument 'tint'"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals(scene: ModuleType, number: int) -> None:
    call, message = REFUSALS[number]
    with pytest.raises(kf.ArgumentError, match=message):
        call(scene)


@pytest.mark.parametrize("size", SIZES)
def test_arrays_of_memory(scene: ModuleType, size: int) -> None:
    """Buffers, pointers, tensors and structs of buffers in arrays are set as lists."""
    tables, others = numbers((3, size), FLOAT, 31), numbers((3, 2, size), FLOAT, 32)
    given = [kf.Tensor.from_numpy(row) for row in others[0]]
    shelves = [{"books": kf.Buffer.from_numpy(row), "height": k + 2} for k, row in enumerate(others[1])]
    values: dict[str, Any] = {
        "tables": [kf.Buffer.from_numpy(row) for row in tables],
        "rows": given,
        "shelves": (shelves[0], scene.Shelf(**shelves[1])),
        "grids": [kf.Tensor.from_numpy(row) for row in others[2]],
    }
    i = np.arange(size, dtype=np.int32)
    expected = (
        tables[i % 3, i] + others[0][i & 1, i] + others[1][i & 1, i] * (2 + (i & 1)) + others[2][i & 1, i]
    )
    for function in (scene.gathered.set(values), scene.gathered.set(**values)):
        np.testing.assert_allclose(function(i).to_numpy(), expected, rtol=1e-5, atol=1e-5)
    for name, wrong, message in (
        ("tables", values["tables"][:2], "'globals.tables': a list of 3 is needed for .*, found 2"),
        ("rows", given[0], "'globals.rows': a list of 2 is needed"),
        (
            "shelves",
            [shelves[0], {"books": i, "height": 1}],
            r"'globals.shelves\[1\].books': expected float buffer",
        ),
        ("grids", [given[0], i], r"'globals.grids\[1\]': expected float tensor"),
    ):
        with pytest.raises(kf.ArgumentError, match=message):
            scene.gathered.set(values).set({name: wrong})(i)
