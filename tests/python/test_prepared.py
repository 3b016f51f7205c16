"""Prepared calls: settled once, run often with other values, against NumPy."""

import gc
import pickle
import threading
import weakref
from collections import namedtuple
from dataclasses import make_dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, array, buffer, numbers, tensor
from loader import Loader
from refusals import refusal

FLOAT = np.dtype(np.float32)
INT = np.dtype(np.int32)


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def structs(generated: Loader) -> ModuleType:
    return generated("structs")


@pytest.fixture(scope="module")
def generators(generated: Loader) -> ModuleType:
    return generated("generators")


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.mark.parametrize("layout", ["contiguous", "strided", "offset"])
@pytest.mark.parametrize("size", SIZES)
def test_runs_again_with_other_values(calls: ModuleType, size: int, layout: str) -> None:
    x = buffer((size,), INT, layout, numbers((size,), INT, 1))
    out = buffer((size,), INT, layout)
    prepared = calls.add.prepare(x.tensor, 5, out=out.tensor)
    out.check()  # nothing ran
    assert prepared() is prepared.result is out.tensor
    out.array[...] = x.array + 5
    out.check()
    prepared.set(b=-7)
    out.check()
    prepared()
    out.array[...] = x.array - 7
    out.check()
    x.whole_tensor.copy_from_numpy(x.whole_array + 1)
    prepared()
    out.array[...] = x.array - 6
    out.check()


def test_results_are_written_by_each_run(calls: ModuleType) -> None:
    x = tensor(np.arange(33, dtype=FLOAT) / 4)
    prepared = calls.split.prepare(x)
    whole, rest = prepared.result
    assert prepared() is prepared.result
    np.testing.assert_array_equal(whole.to_numpy(), np.floor(x.to_numpy()))
    x.copy_from_numpy(np.full(33, 2.5, FLOAT))
    prepared()
    np.testing.assert_array_equal(whole.to_numpy(), np.full(33, 2, FLOAT))
    np.testing.assert_array_equal(rest.to_numpy(), np.full(33, 0.5, FLOAT))


def test_vectors_and_narrow_scalars(calls: ModuleType) -> None:
    s = tensor(np.arange(4, dtype=FLOAT))
    prepared = calls.scale.prepare((1, 2, 3), s)
    for vector in [(4, 5, 6), np.array([7, 8, 9], FLOAT), [0.5, 1, 2], {"x": 1, "y": 2, "z": 3}, 2]:
        prepared.set(v=vector)
        prepared()
        expected = np.broadcast_to(np.array([1, 2, 3] if isinstance(vector, dict) else vector, FLOAT), (3,))
        np.testing.assert_array_equal(prepared.result.to_numpy(), np.outer(s.to_numpy(), expected))


def test_gradients_accumulate(gradients: ModuleType) -> None:
    for size in [1, 33, 4097]:
        x = tensor(np.arange(size, dtype=FLOAT) % 7).with_grads()
        a = tensor(np.array([2], FLOAT)).with_grads()
        y = gradients.polynomial(a, 3, 4, x)
        backward = gradients.polynomial.backward.prepare(a, 3, 4, x, y)
        backward()
        backward.set(b=10)
        backward()
        values = x.to_numpy()
        np.testing.assert_allclose(array(x.grad), 2 * (2 * 2 * values) + 3 + 10)
        np.testing.assert_allclose(array(a.grad), [2 * np.sum(values * values, dtype=np.float64)], rtol=1e-6)
        assert backward.result is None


def test_gradients_that_are_overwritten(gradients: ModuleType) -> None:
    x = tensor(np.arange(33, dtype=FLOAT)).with_grads()
    a = tensor(np.array([1], FLOAT)).with_grads()
    y = gradients.replaced(a, 1, 1, x)
    backward = gradients.replaced.backward.prepare(a, 1, 1, x, y)
    for b in [1, 5]:
        backward.set(b=b)
        backward()
        np.testing.assert_array_equal(array(x.grad), 2 * np.arange(33, dtype=FLOAT) + b)
        np.testing.assert_array_equal(array(a.grad), [np.sum(np.arange(33.0) ** 2)])


def test_fields_of_structs(structs: ModuleType) -> None:
    ray = {"pos": (1, 2, 3), "dir": (1, 0, 0)}
    t = tensor(np.arange(5, dtype=FLOAT))

    def expected(pos: Any, direction: Any) -> Any:
        return np.array(pos) + np.array(direction) * t.to_numpy()[:, None] * np.array(pos)[[2, 0, 1]]

    prepared = structs.raytrace.prepare(ray, t)
    prepared.set({"ray.dir": (0, 1, 2)})
    prepared()
    np.testing.assert_allclose(prepared.result.to_numpy(), expected((1, 2, 3), (0, 1, 2)))
    prepared.set(ray={"pos": (4, 5, 6)})
    prepared()
    np.testing.assert_allclose(prepared.result.to_numpy(), expected((4, 5, 6), (0, 1, 2)))
    prepared.set(ray=SimpleNamespace(pos=(1, 1, 1), dir=(2, 2, 2)))
    prepared()
    np.testing.assert_allclose(prepared.result.to_numpy(), expected((1, 1, 1), (2, 2, 2)))
    prepared.set(ray=structs.Ray(pos=(3, 1, 1), dir=(2, 2, 3)))
    prepared()
    np.testing.assert_allclose(prepared.result.to_numpy(), expected((3, 1, 1), (2, 2, 3)))
    text = refusal(kf.ArgumentError, lambda: prepared.set(ray={"position": 1}))
    assert "no field 'position'" in text
    assert "'ray.pos' and 'ray.dir'" in text
    by_field = structs.raytrace.prepare({"pos": tensor(np.ones((5, 3), FLOAT)), "dir": (1, 1, 1)}, t)
    by_field.set(ray={"dir": (2, 2, 2)})
    by_field()
    np.testing.assert_allclose(by_field.result.to_numpy(), expected((1, 1, 1), (2, 2, 2)))
    text = refusal(kf.ArgumentTypeError, lambda: by_field.set({"ray.pos": (1, 1, 1)}))
    assert "raytrace: argument 'ray.pos': set: what it reads in memory is settled" in text


def test_structs_are_set_as_calls_take_them(structs: ModuleType) -> None:
    t = tensor(np.arange(5, dtype=FLOAT))
    pos, direction = (1, 2, 3), (0, 1, 0)
    expected = structs.raytrace({"pos": pos, "dir": direction}, t).to_numpy()
    record = np.array([(pos, direction)], structs.Ray.dtype)
    swapped: Any = namedtuple("swapped", ["dir", "pos"])
    more: Any = namedtuple("more", ["pos", "dir", "q"])
    typed = {"_type": "Ray", "pos": pos, "dir": direction}
    for value in (record[0], record.reshape(()), swapped(direction, pos), typed):
        prepared = structs.raytrace.prepare({"pos": (9, 9, 9), "dir": (9, 9, 9)}, t)
        prepared.set(ray=value)
        np.testing.assert_array_equal(prepared().to_numpy(), expected)
        np.testing.assert_array_equal(structs.raytrace(value, t).to_numpy(), expected)
    others: list[Any] = [
        make_dataclass("More", ["pos", "dir", "q"])(pos, direction, 1),
        more(pos, direction, 1),
        structs.Light(color=pos, power=1),
        typed | {"_type": "Light"},
    ]
    for value in others:
        text = refusal(kf.ArgumentTypeError, lambda value=value: prepared.set(ray=value))
        assert "raytrace: argument 'ray': Ray has no field '" in text
        refusal(kf.ArgumentTypeError, lambda value=value: structs.raytrace(value, t))
    np.testing.assert_array_equal(prepared().to_numpy(), expected)


def test_large_structs_in_memory(structs: ModuleType) -> None:
    scene: dict[str, Any] = {
        "lights": [{"color": (1, 2, 3), "power": 2.0}, {"color": (0, 1, 0), "power": 1.0}],
        "basis": np.eye(3, dtype=FLOAT),
        "scale": 0.5,
        "count": 2,
        "on": True,
        "tint": [1.0, 2.0, 3.0],
    }
    rays = structs.Ray(pos=(1, 2, 3), dir=(1, 0, 0))
    given = kf.Tensor.from_numpy(
        np.array([((1, 2, 3), (1, 0, 0)), ((0, 1, 1), (2, 1, 0))], structs.Ray.dtype)
    )
    del rays
    prepared = structs.shade.prepare(scene, given)
    prepared()
    np.testing.assert_allclose(prepared.result.to_numpy(), structs.shade(scene, given).to_numpy())
    changes: list[dict[str, Any]] = [
        {"scale": 3.0},
        {"count": 9, "basis": 2 * np.eye(3, dtype=FLOAT)},
        {"tint": [2, 5, 7]},
        {"on": False},
    ]
    for changed in changes:
        scene.update(changed)
        prepared.set(scene=changed)
        prepared()
        np.testing.assert_allclose(prepared.result.to_numpy(), structs.shade(scene, given).to_numpy())
    scene["lights"] = [{"color": (4, 4, 4), "power": 2.0}, {"color": (0, 1, 9), "power": 1.0}]
    prepared.set({"scene.lights.color": [[4, 4, 4], [0, 1, 9]]})
    prepared()
    np.testing.assert_allclose(prepared.result.to_numpy(), structs.shade(scene, given).to_numpy())
    text = refusal(kf.ArgumentTypeError, lambda: prepared.set(scene={"lights": scene["lights"]}))
    assert 'set one field at a time, as in set({"scene.lights.color": …})' in text


def test_generators(generators: ModuleType) -> None:
    out = kf.Tensor.empty((33,), np.uint32)
    prepared = generators.hash_1.prepare(kf.wang_hash(seed=1), out=out)
    for seed in [1, 2, 77]:
        prepared.set(i=kf.wang_hash(seed=seed))
        prepared()
        again = kf.Tensor.empty((33,), np.uint32)
        generators.hash_1(kf.wang_hash(seed=seed), out=again)
        np.testing.assert_array_equal(out.to_numpy(), again.to_numpy())
    steps = generators.steps.prepare(kf.range(0, 20, 2))
    steps.set(i=kf.range(5, 15))
    steps()
    np.testing.assert_array_equal(steps.result.to_numpy(), np.arange(5, 15))
    text = refusal(kf.ArgumentError, lambda: steps.set(i=kf.range(5)))
    assert "argument 'i': set: it has shape [5], and the call was prepared for [10]" in text
    assert "range" in refusal(kf.ArgumentError, lambda: steps.set(i=kf.wang_hash()))
    assert "range" in refusal(kf.ArgumentError, lambda: steps.set(i=3))


def test_globals(scene: ModuleType) -> None:
    x = tensor(np.array([1, 2, 3], FLOAT))
    prepared = scene.gained.set({"look.gain": 10}).prepare(x)
    prepared()
    np.testing.assert_array_equal(prepared.result.to_numpy(), [11, 21, 31])
    prepared.set({"look.gain": 2})
    prepared()
    np.testing.assert_array_equal(prepared.result.to_numpy(), [3, 5, 7])


def test_hooks_run_when_it_is_prepared(scene: ModuleType, calls: ModuleType) -> None:
    x = tensor(np.array([1, 2, 3], FLOAT))
    seen = []

    def hook(context: kf.HookContext) -> None:
        seen.append(1)
        context.set({"look.gain": 5})
        calls.advance.append_to(context.encoder, x, 1)

    prepared = scene.gained.hook(hook).prepare(x)
    assert seen == [1]
    prepared()
    np.testing.assert_array_equal(prepared.result.to_numpy(), [11, 16, 21])
    prepared()
    np.testing.assert_array_equal(prepared.result.to_numpy(), [16, 21, 26])
    assert seen == [1]


def test_what_cannot_be_prepared_is_refused_by_name(calls: ModuleType, gradients: ModuleType) -> None:
    x = tensor(np.arange(4, dtype=INT))
    text = refusal(kf.ArgumentError, lambda: calls.add.prepare(1, 2))
    assert "argument 'result'" in text or "out" in text
    assert "a value can't be an output of a prepared call" in text
    assert "tensor[0]" in text
    text = refusal(kf.ArgumentTypeError, lambda: calls.add.prepare(np.arange(4, dtype=INT), 2))
    assert (
        "add: argument 'a': a prepared call reads the same memory whenever it runs: give a kf.Tensor" in text
    )
    text = refusal(kf.ArgumentTypeError, lambda: calls.add.prepare([1, 2], 2))
    assert "instead of a list" in text
    text = refusal(kf.ArgumentTypeError, lambda: calls.add.prepare(x, 2, out=np.zeros(4, INT)))
    assert "a prepared call writes whenever it runs: give a kf.Tensor, not a NumPy array" in text
    text = refusal(kf.ArgumentTypeError, lambda: calls.add.prepare(x, 2, out=np.ndarray))
    assert "it can't make a NumPy array" in text
    text = refusal(kf.ArgumentTypeError, lambda: calls.add.prepare(x, 2, stream=1))
    assert "p(stream=…)" in text
    text = refusal(kf.ArgumentError, lambda: calls.advance.prepare(1.0, 2.0))
    assert "prepared" in text
    values = kf.Tensor.from_numpy(np.ones(4, FLOAT)).with_grads()
    y = gradients.product(2, values)
    text = refusal(
        kf.ArgumentError, lambda: gradients.product.backward.prepare(kf.differentiable(2), values, y)
    )
    assert "a value's gradient can't be an output of a prepared call" in text
    assert "no argument 'd'" in refusal(kf.ArgumentError, lambda: calls.add.prepare(x, d=2))


def test_what_cannot_be_set_is_refused_and_changes_nothing(calls: ModuleType) -> None:
    x = tensor(np.arange(4, dtype=INT))
    prepared = calls.add.prepare(x, 2)
    assert "add: set: no value 'c'; it has 'b'" in refusal(kf.ArgumentError, lambda: prepared.set(b=1, c=2))
    assert "2147483648" in refusal(kf.ArgumentError, lambda: prepared.set(b=2**31))
    assert "argument 'b'" in refusal(kf.ArgumentTypeError, lambda: prepared.set(b=1.5))
    refusal(kf.ArgumentError, lambda: prepared.set(b=x))
    refusal(kf.ArgumentError, lambda: prepared.set(b=[1, 2]))
    refusal(kf.ArgumentTypeError, lambda: prepared.set(b="2"))
    refusal(kf.ArgumentTypeError, lambda: prepared.set([("b", 2)]))
    assert "argument 'a'" in refusal(kf.ArgumentTypeError, lambda: prepared.set(a=x))
    assert "settled" in refusal(kf.ArgumentTypeError, lambda: prepared.set(out=x))
    assert "without any" in refusal(kf.ArgumentTypeError, lambda: prepared(1))
    assert "set(b=…)" in refusal(kf.ArgumentError, lambda: prepared(b=1))
    refusal(TypeError, kf.Prepared)
    refusal(TypeError, lambda: pickle.dumps(prepared))
    assert repr(prepared) == "<prepared call of add>"
    prepared()
    np.testing.assert_array_equal(prepared.result.to_numpy(), np.arange(4) + 2)


def test_encoders_take_it_as_it_is(calls: ModuleType, device: kf.Device) -> None:
    x = tensor(np.zeros(3, FLOAT))
    prepared = calls.advance.prepare(x, 1)
    encoder = device.encoder()
    assert prepared.append_to(encoder) is x
    prepared.set(dt=10)
    prepared.append_to(encoder)
    np.testing.assert_array_equal(x.to_numpy(), [0, 0, 0])
    encoder.submit()
    np.testing.assert_array_equal(x.to_numpy(), [11, 11, 11])
    assert "kf.Encoder" in refusal(kf.ArgumentTypeError, lambda: prepared.append_to(3))
    refusal(kf.ArgumentError, lambda: prepared.append_to(encoder))


def test_it_keeps_its_memory(calls: ModuleType) -> None:
    x = tensor(np.arange(4097, dtype=INT))
    out = kf.Tensor.empty((4097,), INT)
    prepared = calls.add.prepare(x, 1, out=out)
    del x
    gc.collect()
    others = [kf.Tensor.zeros((4097,), INT) for _ in range(8)]
    prepared()
    np.testing.assert_array_equal(out.to_numpy(), np.arange(4097) + 1)
    gone = weakref.ref(prepared)
    del prepared, others
    gc.collect()
    assert gone() is None
    np.testing.assert_array_equal(out.to_numpy(), np.arange(4097) + 1)


def test_threads_share_it(calls: ModuleType) -> None:
    x = tensor(np.zeros(33, FLOAT))
    prepared = calls.advance.prepare(x, 1)

    def work() -> None:
        for _ in range(50):
            prepared()
            prepared.set(dt=1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(x.to_numpy(), np.full(33, 200, FLOAT))


def test_launches_keep_their_count(generated: Loader) -> None:
    launch = generated("launch")
    x = buffer((33,), FLOAT, "offset")
    prepared = launch.fill.threads(20).prepare(x.tensor, 0.5)
    x.check()
    prepared()
    x.array[:20] = np.arange(20) + 0.5
    x.check()
    prepared.set(value=3)
    prepared()
    x.array[:20] = np.arange(20) + 3
    x.check()
    with kf.Graph() as g:
        launch.fill.threads(5)(x.tensor, 7)
        launch.fill(x.tensor, 1).launchRaw(blockSize=256, gridSize=0)
    assert len(g) == 2
    g.replay()
    x.array[:5] = np.arange(5) + 7
    x.check()


def test_forward_derivatives(generated: Loader) -> None:
    polynomial = generated("jvp").polynomial
    values = np.arange(33, dtype=FLOAT)
    x, dx = tensor(values), tensor(np.ones(33, FLOAT))
    prepared = polynomial.jvp.prepare(1, 2, 3, x, tangents={"x": dx})
    y, dy = prepared.result
    prepared()
    np.testing.assert_array_equal(y.to_numpy(), values * values + 2 * values + 3)
    np.testing.assert_array_equal(dy.to_numpy(), 2 * values + 2)
    prepared.set(b=10)
    prepared()
    np.testing.assert_array_equal(dy.to_numpy(), 2 * values + 10)


def test_sums_begin_anew(generated: Loader) -> None:
    accumulate = generated("accumulate")
    for size in [0, 1, 33, 4097]:
        x = tensor(np.ones(size, FLOAT))
        out = kf.Tensor.from_numpy(np.full(1, 77, FLOAT))
        prepared = accumulate.sum_float.prepare(x, out=out)
        with kf.Graph() as g:
            accumulate.sum_float(x, out=out)
            accumulate.sum_float(x, out=out)
        for run in [prepared, prepared, g.replay, g.replay]:
            run()
            np.testing.assert_array_equal(out.to_numpy(), [size])
