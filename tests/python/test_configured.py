"""Configured copies of functions as Python objects: what they hold, and what they leave behind."""

import gc
import inspect
import sys
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import buffer
from loader import Loader

FLOAT = np.dtype(np.float32)


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.fixture(scope="module")
def launch(generated: Loader) -> ModuleType:
    return generated("launch")


def blocks_after(make: Callable[[], object]) -> int:
    """How many blocks of Python's memory are left over after 100,000 of what is made and let go of."""
    for _ in range(100):
        make()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(100_000):
        make()
    gc.collect()
    return sys.getallocatedblocks() - before


def test_copies_leave_nothing_behind(scene: ModuleType, launch: ModuleType) -> None:
    value, tensor = object(), kf.Tensor.zeros(3)
    both = scene.lit.set({"look.gain": value}, scene={"count": 1, "weights": tensor})

    def refused() -> None:
        with pytest.raises(kf.ArgumentError):
            scene.shade.set(tin=value)
        with pytest.raises(kf.ArgumentError):
            launch.fill.threads(-1)

    held = (value, tensor, scene.lit, scene.shade, launch.fill)
    before = [sys.getrefcount(one) for one in held]
    assert blocks_after(lambda: scene.shade.set(tint=value)) < 100
    assert blocks_after(lambda: both.set({"look.gain": tensor})) < 100
    assert blocks_after(lambda: both.set(scene={"count": value})) < 100
    assert blocks_after(lambda: launch.fill.threads(40, 2)) < 100
    for _ in range(100):
        refused()
    assert [sys.getrefcount(one) for one in held] == before


def test_a_copy_holds_what_is_set_once(scene: ModuleType) -> None:
    held = (object(), kf.Tensor.zeros(3))
    before = [sys.getrefcount(one) for one in held]
    both = scene.lit.set({"look.gain": held[0]}, scene={"count": 1, "weights": held[1]})
    assert [sys.getrefcount(one) for one in held] == [count + 1 for count in before]
    del both
    assert [sys.getrefcount(one) for one in held] == before


def test_calls_leave_nothing_behind(scene: ModuleType, launch: ModuleType) -> None:
    x, out = kf.Tensor.zeros(4), kf.Tensor.zeros(4)
    gain = float("2.5")
    held = (x, out, gain, scene.gained, launch.fill)

    def calls() -> None:
        for _ in range(300):
            scene.gained.set({"look.gain": gain})(x, out=out)
            scene.gained.set({"look.gain": gain}).call(x=x, out=out)
            launch.fill.threads(4)(out, gain)
            with pytest.raises(kf.ArgumentError):
                scene.gained(x, out=out)

    calls()
    before = [sys.getrefcount(one) for one in held]
    calls()
    assert [sys.getrefcount(one) for one in held] == before


def test_threads_configure_the_same_function(scene: ModuleType) -> None:
    """Each sees its own values, and the function that they share stays as it was."""
    shared = scene.lit.set(
        scene={"light": {"color": (1, 1, 1), "power": 1.0}, "weights": [1, 2, 4], "count": 0}
    )
    x = np.arange(1, 6, dtype=FLOAT)
    wrong: list[int] = []

    def run(gain: int) -> None:
        for count in range(40):
            copied = shared.set({"look.gain": gain}, scene={"count": count % 3, "light": {"power": 2.0}})
            if not np.array_equal(copied(x).to_numpy(), x * x * 2 * gain * [1, 2, 4][count % 3]):
                wrong.append(gain)

    threads = [threading.Thread(target=run, args=(gain,)) for gain in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    with pytest.raises(kf.ArgumentError, match=r"look\.gain"):
        shared(x)


def test_names_need_not_be_interned(scene: ModuleType) -> None:
    x, out = np.array([1, 2], FLOAT), buffer((2, 3), FLOAT, "spread")
    tint, x_name, out_name = ("".join([*word]) for word in ("tint", "x", "out"))
    shade = scene.shade.set(**{tint: (1, 2, 3)})
    shade(**{x_name: x, out_name: out.tensor})
    out.array[...] = x[:, None] * np.array([1, 2, 3], FLOAT)
    out.check()
    with pytest.raises(kf.ArgumentError, match="given twice"):
        shade(x, **{x_name: x})


def test_cycles_are_collected(scene: ModuleType) -> None:
    """Those through its attributes, and through what is set of a global."""

    class Held:
        def __init__(self) -> None:
            self.function = scene.shade.set(tint=self)
            self.function.owner = self.function

    held = Held()
    gone = [weakref.ref(held), weakref.ref(held.function)]
    del held
    gc.collect()
    assert [one() for one in gone] == [None, None]


def test_attributes(scene: ModuleType) -> None:
    """Those that Python's own functions have; what a copy is told is its own."""
    shade = scene.shade.set(tint=2.0)
    assert (shade.__name__, shade.__qualname__) == ("shade", "shade")
    assert shade.__doc__ == scene.shade.__doc__
    assert shade.__doc__ is not None
    assert "shade(" in shade.__doc__
    assert shade.__module__ == "kernelfunctions._kf"
    shade.__name__ = "other"
    shade.__doc__ = "My own."
    shade.mine = 3
    assert (shade.__name__, shade.__doc__, shade.mine) == ("other", "My own.", 3)
    assert (scene.shade.__name__, shade.set(tint=1.0).__name__) == ("shade", "shade")
    del shade.__name__, shade.mine
    assert shade.__name__ == "shade"
    for name in ("mine", "__name__"):
        with pytest.raises(AttributeError, match=name):
            delattr(shade, name)
    with pytest.raises(AttributeError):
        shade.globals = []
    assert str(inspect.signature(shade.set)) == "(values=None, /, **named)"
    assert repr(shade) == f"<kernel function {shade.signatures[0]}, and 1 more overload>"


def test_a_function_is_no_value_that_python_could_make(scene: ModuleType) -> None:
    kinds: list[Any] = [kf.Function, kf.Backward, kf.Fused, kf.Jvp]
    for kind in kinds:
        with pytest.raises(TypeError, match="cannot create"):
            kind()
    shade = scene.shade.set(tint=2.0)
    assert shade != scene.shade.set(tint=2.0)
    assert len({shade, shade, scene.shade}) == 2


def test_classes_stay_as_they_are(scene: ModuleType) -> None:
    """Calls would pass by another __call__. What is made anew each time has no attributes of its own."""
    kinds: list[Any] = [kf.Function, kf.Backward, kf.Fused, kf.Jvp]
    for kind in kinds:
        with pytest.raises(TypeError, match="immutable"):
            kind.__call__ = lambda self: 7
    with pytest.raises(AttributeError, match="mine"):
        scene.lit.backward.mine = 3


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda f: f.set({}, {}), r"set\(\) takes at most 1 positional argument \(2 given\)"),
    (lambda f: f.map({}, {}), r"map\(\) takes at most 1 positional argument \(2 given\)"),
    (lambda f: f.accumulate({}, {}), r"accumulate\(\) takes at most 1 positional argument \(2 given\)"),
    (lambda f: f.options(True), r"a dict is needed"),
    (lambda f: f.hook(), r"hook\(\)"),
    (lambda f: f.threads(x=1), r"threads\(\)"),
    (lambda f: f.append_to(), r"append_to\(\) takes a kf\.Encoder first"),
    (lambda f: f.append_to(3), r"append_to\(\) takes a kf\.Encoder first, not 3"),
    (lambda f: kf.Function.set(3), "set"),  # type: ignore[type-var]
    (lambda f: f.set(values=3), "no global 'values'; it reaches tint"),
    (lambda f: f.set({3: 4}), "no global '3'; it reaches tint"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_arguments(scene: ModuleType, number: int) -> None:
    act, message = WRONG[number]
    with pytest.raises(TypeError, match=message):
        act(scene.shade)
