"""Arguments that run code of their own in the middle of a call: what it lets go of, the call still has."""

import gc
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

FLOAT = np.dtype(np.float32)


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def structs(generated: Loader) -> ModuleType:
    return generated("structs")


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.fixture(scope="module")
def jvp(generated: Loader) -> ModuleType:
    return generated("jvp")


def test_a_list_that_its_item_empties(calls: ModuleType) -> None:
    class Vector:
        y, z = 2.0, 3.0

        @property
        def x(self) -> float:
            vectors.clear()
            gc.collect()
            return 1.0

    vectors: list[Vector] = [Vector() for _ in range(3)]
    assert np.array_equal(calls.total(vectors).to_numpy(), np.full(3, 6, FLOAT))
    assert vectors == []


def test_a_shape_that_its_extent_empties(calls: ModuleType) -> None:
    class Extent:
        def __index__(self) -> int:
            shape.clear()
            gc.collect()
            return -1

        def __repr__(self) -> str:
            return "an extent of mine"

    shape: list[Any] = [Extent()]
    with pytest.raises(kf.ArgumentError, match="an extent of mine is not an extent"):
        calls.simmer(np.ones(3, FLOAT), shape=shape)


def test_a_differentiable_value_that_is_replaced(structs: ModuleType) -> None:
    """By a field of that value, which nothing else holds."""
    seen: list[bool] = []

    class Ray:
        _fields = ("pos", "dir")
        armed = False

        def __init__(self, **_zeros: object) -> None:
            self.dir = (1.0, 2.0, 3.0)

        @property
        def pos(self) -> tuple[float, float, float]:
            if Ray.armed:
                Ray.armed = False
                seen.append(True)
                value.value = 0.0
                gc.collect()
            return (1.0, 2.0, 3.0)

    value: Any = kf.differentiable(0.0)
    for _ in range(20):
        value.value = Ray()
        Ray.armed = True
        with pytest.raises((AttributeError, TypeError)):
            structs.raytrace.backward(value, 2.0)
    assert len(seen) == 20


def test_a_tensor_that_is_replaced(structs: ModuleType) -> None:
    class Changing:
        dir = (1.0, 2.0, 3.0)

        @property
        def pos(self) -> tuple[float, float, float]:
            scales.value = kf.Tensor.zeros(2)
            gc.collect()
            return (1.0, 2.0, 3.0)

    scales = kf.differentiable(kf.Tensor.zeros(2))
    assert structs.raytrace(Changing(), scales).shape == (2, 3)


def test_tangents_that_a_key_empties(jvp: ModuleType) -> None:
    class Name:
        def __init__(self, name: str) -> None:
            self.name = name

        def __str__(self) -> str:
            tangents.clear()
            gc.collect()
            return self.name

    tangents: dict[Any, Any] = {Name(name): float(f"{number}.5") for number, name in enumerate("abx")}
    value, tangent = jvp.polynomial.jvp(1.0, 2.0, 3.0, 4.0, tangents=tangents)
    assert (value, tangent) == jvp.polynomial.jvp(1.0, 2.0, 3.0, 4.0, tangents={"a": 0.5, "b": 1.5, "x": 2.5})


def test_a_struct_of_a_global_that_a_key_empties(scene: ModuleType) -> None:
    class Name(str):
        __slots__ = ()

        def __hash__(self) -> int:
            if armed:
                fields.clear()
                gc.collect()
            return 7

        def __eq__(self, other: object) -> bool:
            if armed:
                fields.clear()
                gc.collect()
            return False

    armed: list[int] = []
    fields: dict[Any, Any] = {Name(f"field{number}"): [number] for number in range(5)}
    armed.append(1)
    scene.lit.set(scene={"light": fields})
    assert fields == {}


def test_a_hooked_argument_that_a_value_empties(scene: ModuleType) -> None:
    class Value:
        __slots__ = ()

        def __getattr__(self, name: str) -> Any:
            values.clear()
            gc.collect()
            if name == "__dict__":
                return {"inner": 1}
            raise AttributeError(name)

    hooked = scene.plain.hook(lambda context: context.encoder)
    values: Any = {number: Value() for number in range(5)}
    with pytest.raises(kf.ArgumentTypeError, match="is needed"):
        hooked(values)
    values = [Value(), Value()]
    assert hooked(values).shape == (0,)


def test_what_holds_itself(scene: ModuleType, calls: ModuleType) -> None:
    values: dict[str, Any] = {}
    values["pos"] = values
    with pytest.raises(RecursionError):
        scene.lit.set(scene=values)
    with pytest.raises(RecursionError):
        kf.differentiable(values)
    numbers: list[Any] = []
    numbers.append(numbers)
    with pytest.raises(kf.ArgumentTypeError, match="nest more than"):
        calls.total(numbers)


def test_what_nests_deep(scene: ModuleType) -> None:
    """Not all the 10000 levels that Python lets C code go since 3.12: a thread's stack may be too small."""
    values: dict[str, Any] = {}
    for _ in range(2000):
        values = {"pos": values}
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        scene.lit.set(scene=values)
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        kf.differentiable(values)


def test_arguments_that_call_without_an_end(calls: ModuleType, structs: ModuleType) -> None:
    """Calls need more of the stack than Python's limit leaves for each."""

    class Ray:
        dir = (1.0, 2.0, 3.0)

        @property
        def pos(self) -> Any:
            return structs.raytrace(Ray(), 1.0)

    with pytest.raises(RecursionError, match="calls from within arguments of other calls"):
        structs.raytrace(Ray(), 1.0)

    class Vector:
        y, z = 2.0, 3.0

        @property
        def x(self) -> Any:
            return calls.total(self)

    with pytest.raises(RecursionError, match="calls from within arguments of other calls"):
        calls.total(Vector())
    assert calls.total((1.0, 2.0, 3.0)) == 6


def test_what_an_argument_raises_is_raised(calls: ModuleType, structs: ModuleType) -> None:
    """Not left behind for whatever is called next."""

    class Raising:
        pos = dir = (1.0, 2.0, 3.0)

        @property  # type: ignore[misc]
        def __class__(self) -> type:
            raise LookupError("mine")

    for value in (Raising(), [Raising()], (1, 2, Raising())):
        with pytest.raises(LookupError, match="mine"):
            calls.total(value)
    with pytest.raises(LookupError, match="mine"):
        structs.raytrace(Raising(), 1.0)


def test_what_the_key_of_a_dict_raises_is_raised(structs: ModuleType) -> None:
    class Fields(dict[Any, Any]):
        """Not a plain dict, which is looked into in another way."""

    class Key:
        """Found in the place of the field that it says it is."""

        def __hash__(self) -> int:
            return hash("pos")

        def __eq__(self, other: object) -> bool:
            raise LookupError("mine")

        def __str__(self) -> str:
            return "pos"

    for make in (Fields, dict):
        with pytest.raises(LookupError, match="mine"):
            structs.raytrace(make({Key(): (1.0, 2.0, 3.0), "dir": (1.0, 2.0, 3.0)}), 1.0)
