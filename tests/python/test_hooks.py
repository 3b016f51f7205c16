"""Hooks, which are called before each dispatch of a function, against NumPy."""

import gc
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, buffer, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)
SCENE = {"light": {"color": (1, 1, 1), "power": 3.0}, "weights": [1, 2, 4], "count": 1}


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.fixture(scope="module")
def launch(generated: Loader) -> ModuleType:
    return generated("launch")


@pytest.fixture(scope="module")
def members(generated: Loader) -> ModuleType:
    return generated("members")


@pytest.mark.parametrize("size", SIZES)
def test_values_are_for_one_dispatch(scene: ModuleType, size: int) -> None:
    x = numbers((size,), FLOAT, 1)
    gains = iter([2.0, 3.0, 5.0, 7.0])
    kept = scene.gained.set({"look.gain": 100})
    hooked = kept.hook(lambda context: context.set({"look.gain": next(gains)}))
    np.testing.assert_array_equal(hooked(x).to_numpy(), 2 * x + 1)
    np.testing.assert_array_equal(hooked.call(x).to_numpy(), 3 * x + 1)
    np.testing.assert_array_equal(kept(x).to_numpy(), 100 * x + 1)
    np.testing.assert_array_equal(hooked.options(variant="small")(x).to_numpy(), 5 * x + 1)
    np.testing.assert_array_equal(hooked.set({"look.gain": 9})(x).to_numpy(), 7 * x + 1)


class Brightness:
    def __init__(self, module: ModuleType) -> None:
        self.tint = (1, 2, 3)
        self.calls = 0
        self.shade = module.shade.hook(self.before)

    def before(self, context: kf.HookContext) -> None:
        self.calls += 1
        context.set(tint=self.tint)


def test_a_bound_method(scene: ModuleType) -> None:
    x = np.array([1, 2], FLOAT)
    bright = Brightness(scene)
    np.testing.assert_array_equal(bright.shade(x).to_numpy(), x[:, None] * np.array([1, 2, 3], FLOAT))
    bright.tint = (4, 5, 6)
    np.testing.assert_array_equal(bright.shade(x).to_numpy(), x[:, None] * np.array([4, 5, 6], FLOAT))
    assert bright.calls == 2


@pytest.mark.parametrize("attribute", [None, "backward", "jvp"])
def test_an_object_that_holds_what_it_hooks_is_collected(scene: ModuleType, attribute: str | None) -> None:
    class Scene:
        def __init__(self) -> None:
            hooked = scene.lit.hook(self.before)
            self.function = hooked if attribute is None else getattr(hooked, attribute)

        def before(self, context: kf.HookContext) -> None:
            context.set(scene=SCENE)

    held = weakref.ref(Scene())
    gc.collect()
    assert held() is None


def test_an_object_that_holds_a_call_without_threads_is_collected(launch: ModuleType) -> None:
    class Held:
        call: object = None

    held = Held()
    held.call = launch.fill(held)
    gone = weakref.ref(held)
    del held
    with pytest.warns(RuntimeWarning, match="dropped without launchRaw"):
        gc.collect()
    assert gone() is None


def test_hooks_compose_in_order(scene: ModuleType) -> None:
    x = np.array([1, 2], FLOAT)
    order: list[str] = []

    def first(context: kf.HookContext) -> None:
        order.append("first")
        context.set({"look.gain": 2}, scene=SCENE)

    def second(context: kf.HookContext) -> None:
        order.append("second")
        context.set(scene={"count": 2})

    one = scene.lit.hook(first)
    both = one.hook(second)
    np.testing.assert_array_equal(both(x).to_numpy(), x * x * 3 * 4 * 2)
    assert order == ["first", "second"]
    np.testing.assert_array_equal(one(x).to_numpy(), x * x * 3 * 2 * 2)
    assert order == ["first", "second", "first"]


@pytest.mark.parametrize("size", SIZES)
def test_derivatives_are_hooked_alike(scene: ModuleType, size: int) -> None:
    values, flow = numbers((size,), FLOAT, 1), numbers((size,), FLOAT, 2)
    calls: list[kf.HookContext] = []

    def configure(context: kf.HookContext) -> None:
        calls.append(context)
        context.set({"look.gain": 2.0, "scene": SCENE})

    lit = scene.lit.hook(configure)
    x = kf.Tensor.from_numpy(values).with_grads()
    y = lit(x).with_grads(grad_in=kf.Tensor.from_numpy(flow))
    lit.backward(x, y)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), 2 * values * 12 * flow)
    _, tangent = lit.jvp(values, tangents={"x": flow})
    np.testing.assert_array_equal(tangent.to_numpy(), 2 * values * 12 * flow)
    encoder = kf.default_device().encoder()
    lit.backward.append_to(encoder, x, y)
    encoder.submit()
    np.testing.assert_array_equal(x.grad.to_numpy(), 4 * values * 12 * flow)
    assert len(calls) == 4


@pytest.mark.parametrize("size", SIZES)
def test_commands_come_right_before_the_call(scene: ModuleType, size: int) -> None:
    """What a hook records writes what the call reads."""
    steps = buffer((size,), FLOAT, "offset")
    out = buffer((size,), FLOAT, "offset")
    ones = np.ones(size, FLOAT)
    fill = scene.tabulate.set(table=steps.tensor, steps=ones).threads(size)
    factors = iter([2.0, 3.0, 5.0])
    hooked = scene.tabulate.set(table=out.tensor, steps=steps.tensor).threads(size)
    hooked = hooked.hook(lambda context: fill.append_to(context.encoder, next(factors)))
    hooked(10.0)
    steps.array[:] = 2
    out.array[:] = 20
    steps.check()
    out.check()
    encoder = kf.default_device().encoder()
    hooked.append_to(encoder, 10.0)
    steps.check()
    out.check()
    encoder.submit()
    steps.array[:] = 3
    out.array[:] = 30
    steps.check()
    out.check()


def test_launches_by_threads(launch: ModuleType) -> None:
    called: list[int] = []
    x = buffer((5,), FLOAT, "offset")
    hooked = launch.fill.hook(lambda _: called.append(1))
    hooked.threads(5)(x.tensor, 2.5)
    x.array[:] = 2.5 + np.arange(5)
    x.check()
    waiting = hooked(x.tensor, 1.0)
    assert called == [1]
    with pytest.raises(kf.ArgumentError):
        waiting.launchRaw(blockSize=(1,), gridSize=(1,))
    assert called == [1, 1]
    x.check()


def test_methods_of_objects(members: ModuleType) -> None:
    called: list[int] = []
    scaler = members.Scaler(scale=10.0, bias=1.0)
    hooked = scaler.scale_value.hook(lambda _: called.append(1))
    assert hooked(2.0) == scaler.scale_value(2.0)
    assert called == [1]


class NoSceneError(Exception):
    pass


@pytest.mark.parametrize("recorded", [False, True])
def test_what_a_hook_raises_is_raised(scene: ModuleType, recorded: bool) -> None:
    """The same object, before anything runs: neither the call, nor what earlier hooks recorded."""
    raised = NoSceneError("no scene")
    table = buffer((4,), FLOAT, "offset")
    out = buffer((4,), FLOAT, "offset")
    x = kf.Tensor.from_numpy(np.ones(4, FLOAT))
    fill = scene.tabulate.set(table=table.tensor, steps=np.ones(4, FLOAT)).threads(4)

    def fail(context: kf.HookContext) -> None:
        fill.append_to(context.encoder, 9.0)
        raise raised

    hooked = scene.plain.hook(lambda context: fill.append_to(context.encoder, 8.0)).hook(fail)
    encoder = kf.default_device().encoder()
    with pytest.raises(NoSceneError) as caught:
        hooked.append_to(encoder, x, out=out.tensor) if recorded else hooked(x, out=out.tensor)
    assert caught.value is raised
    encoder.submit()
    table.check()
    out.check()


def test_nothing_runs_where_the_call_is_refused(scene: ModuleType) -> None:
    table = buffer((4,), FLOAT, "offset")
    out = buffer((3,), FLOAT, "offset")
    fill = scene.tabulate.set(table=table.tensor, steps=np.ones(4, FLOAT)).threads(4)
    hooked = scene.plain.hook(lambda context: fill.append_to(context.encoder, 8.0))
    with pytest.raises(kf.ArgumentError, match=r"shape|extent"):
        hooked(np.ones(4, FLOAT), out=out.tensor)
    table.check()
    out.check()


def test_a_hook_may_call_its_own_function(scene: ModuleType) -> None:
    x = np.array([1, 2], FLOAT)
    inner: list[Any] = []

    def once(context: kf.HookContext) -> None:
        if not inner:
            inner.append(None)
            inner[0] = hooked(x).to_numpy()
        context.set({"look.gain": len(inner) + 1})

    hooked = scene.gained.hook(once)
    np.testing.assert_array_equal(hooked(x).to_numpy(), 2 * x + 1)
    np.testing.assert_array_equal(inner[0], 2 * x + 1)


def test_endless_recursion_is_pythons_error(scene: ModuleType) -> None:
    hooked: Any = scene.plain.hook(lambda _: hooked(np.ones(2, FLOAT)))
    with pytest.raises(RecursionError):
        hooked(np.ones(2, FLOAT))


def test_threads_share_a_hooked_function(scene: ModuleType) -> None:
    gains = threading.local()
    hooked = scene.gained.hook(lambda context: context.set({"look.gain": gains.value}))
    x = np.arange(5, dtype=FLOAT)
    wrong: list[int] = []

    def run(gain: int) -> None:
        gains.value = gain
        wrong.extend(gain for _ in range(50) if not np.array_equal(hooked(x).to_numpy(), gain * x + 1))

    threads = [threading.Thread(target=run, args=(gain,)) for gain in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_context_ends_with_its_call(scene: ModuleType) -> None:
    x = np.ones(2, FLOAT)
    contexts: list[kf.HookContext] = []
    encoders: list[kf.Encoder] = []

    def keep(context: kf.HookContext) -> None:
        contexts.append(context)
        encoders.append(context.encoder)
        context.set({"look.gain": 1})

    scene.gained.hook(keep)(x)
    uses: list[Callable[[], Any]] = [
        lambda: contexts[0].set({"look.gain": 2}),
        lambda: contexts[0].encoder,
        lambda: scene.plain.append_to(encoders[0], x),
        encoders[0].submit,
    ]
    for use in uses:
        with pytest.raises(kf.ArgumentError, match=r"over|after its call") as caught:
            use()
        assert caught.value.code == "hook-context"


async def waits(_: kf.HookContext) -> None:
    pass


REFUSALS: list[tuple[Callable[[ModuleType], Any], str, str]] = [
    (lambda m: m.plain.hook(3), "type-mismatch", r"plain: argument 'hook': a callable is needed.*not 3"),
    (lambda m: m.plain.hook(waits)(1.0), "type-mismatch", "is a coroutine function"),
    (lambda m: m.shade.hook(lambda c: c.set(tin=1))(1.0), "unknown-name", "no global 'tin'; it reaches tint"),
    (lambda m: m.plain.hook(lambda c: c.set(tint=1))(1.0), "unknown-name", "'tint'; it reaches none"),
    (lambda m: m.shade.hook(lambda c: c.set(3))(1.0), "type-mismatch", "a dict of globals is needed"),
    (lambda m: m.shade.hook(lambda c: c.set(tint=(1, 2)))(1.0), "shape-mismatch", r"globals\.tint"),
    (lambda m: m.shade.hook(lambda _: None)(1.0), "missing-argument", "the global 'tint'"),
    (lambda m: m.plain.hook(lambda c: c.encoder.submit())(1.0), "hook-context", "isn't submitted"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals(scene: ModuleType, number: int) -> None:
    call, code, message = REFUSALS[number]
    with pytest.raises(kf.ArgumentError, match=message) as caught:
        call(scene)
    assert caught.value.code == code


def test_objects_that_lead_back_to_themselves_are_looked_through_once(scene: ModuleType) -> None:
    """A context looks for the device of its encoder in what the function is given."""
    asked = 0

    class Node:
        light, weights, count = SCENE["light"], SCENE["weights"], SCENE["count"]

        def __init__(self, parent: "Node | None") -> None:
            self.parent = parent
            self.children = [] if parent is None else [parent]

        @property
        def brothers(self) -> "Any":
            nonlocal asked
            asked += 1
            return tuple(self.parent.children) if self.parent else tuple(self.children)

    root = Node(None)
    root.children = [Node(root) for _ in range(64)]
    for child in root.children:
        child.__dict__["brothers"] = None
    lit = scene.lit.set({"look.gain": 1.0, "scene": root}).hook(lambda context: context.encoder)
    np.testing.assert_array_equal(lit(np.ones(1, FLOAT)).to_numpy(), [6])
    assert asked <= 65


def test_a_finished_encoder_calls_no_hook(scene: ModuleType) -> None:
    called: list[int] = []
    encoder = kf.default_device().encoder()
    encoder.submit()
    with pytest.raises(kf.ArgumentError, match="already submitted"):
        scene.plain.hook(lambda _: called.append(1)).append_to(encoder, np.ones(2, FLOAT))
    assert called == []
