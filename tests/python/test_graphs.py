"""Graphs: calls that are recorded once and run often, against NumPy."""

import gc
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import DTYPES, SIZES, Array, array, buffer, numbers, tensor
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
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.fixture(scope="module")
def sums(generated: Loader) -> ModuleType:
    return generated("sums")


@pytest.mark.parametrize("layout", ["contiguous", "strided", "offset"])
@pytest.mark.parametrize("size", SIZES)
def test_calls_run_in_order(calls: ModuleType, size: int, layout: str) -> None:
    x = buffer((size,), INT, layout, numbers((size,), INT, 1))
    out = buffer((size,), INT, layout)
    with kf.Graph() as g:
        y = calls.add(x.tensor, 5)
        z = calls.add(y, 1, out=out.tensor)
    assert z is out.tensor
    assert len(g) == 2
    out.check()  # nothing ran
    g.replay()
    out.array[...] = x.array + 6
    out.check()
    g.set(b=-2)
    out.check()
    g.replay()
    out.array[...] = x.array - 4
    out.check()
    # With what comes before and after.
    calls.add(x.tensor, 0, out=x.tensor)
    g.replay()
    calls.add(out.tensor, 100, out=out.tensor)
    out.array[...] = x.array + 96
    out.check()
    x.check()


def test_nodes_have_values_of_their_own(calls: ModuleType) -> None:
    x = tensor(np.arange(33, dtype=INT))
    first, second = calls.add.node(), calls.add.node()
    with kf.Graph() as g:
        y = first(x, 1)
        z = second(y, 10)
    second.set(b=20)
    g.replay()
    np.testing.assert_array_equal(z.to_numpy(), np.arange(33) + 21)
    first.set({"b": 2})
    g.replay()
    np.testing.assert_array_equal(z.to_numpy(), np.arange(33) + 22)
    g.set({"b": 5})
    g.replay()
    np.testing.assert_array_equal(y.to_numpy(), np.arange(33) + 5)
    np.testing.assert_array_equal(z.to_numpy(), np.arange(33) + 10)
    assert "the node has its call" in refusal(kf.ArgumentError, lambda: first(x, 1))
    assert "no value 'c'" in refusal(kf.ArgumentError, lambda: first.set(c=1))
    assert "node" in repr(first)


def test_hazards_between_calls(calls: ModuleType) -> None:
    for size in [33, 4097]:
        a = tensor(np.zeros(size, FLOAT))
        b = tensor(np.zeros(size, FLOAT))
        with kf.Graph() as g:
            for _ in range(5):
                calls.advance(a, 1)
                calls.advance(b, 2)
                whole, _ = calls.split(a)
                calls.split(b, whole=a)
                calls.split(whole, whole=b)
        g.replay()
        g.replay()
        x, y = 0, 0
        for _ in range(10):
            x, y = x + 1, y + 2
            x, y = y, x
        np.testing.assert_array_equal(a.to_numpy(), np.full(size, x, FLOAT))
        np.testing.assert_array_equal(b.to_numpy(), np.full(size, y, FLOAT))


def test_views_of_one_tensor(calls: ModuleType) -> None:
    whole = tensor(np.zeros(64, FLOAT))
    with kf.Graph() as g:
        calls.advance(whole[:32], 1)
        calls.advance(whole[16:48], 10)
        calls.advance(whole[::2], 100)
    for _ in range(3):
        g.replay()
    expected = np.zeros(64, FLOAT)
    expected[:32] += 3
    expected[16:48] += 30
    expected[::2] += 300
    np.testing.assert_array_equal(whole.to_numpy(), expected)


def test_gradients_and_training(gradients: ModuleType, calls: ModuleType) -> None:
    for size in [1, 33, 4097]:
        values = np.arange(size, dtype=FLOAT) % 5
        x = tensor(values).with_grads()
        a = tensor(np.array([2], FLOAT)).with_grads()
        with kf.Graph() as g:
            y = gradients.polynomial(a, 3, 4, x)
            gradients.polynomial.backward(a, 3, 4, x, y)
        for b in [1, 2, 3]:
            g.set(b=b)
            g.replay()
        np.testing.assert_allclose(y.to_numpy(), 2 * values * values + 3 * values + 4)
        np.testing.assert_allclose(array(x.grad), 3 * 4 * values + 6)
        np.testing.assert_allclose(array(a.grad), [3 * np.sum(values * values, dtype=np.float64)], rtol=1e-5)
        # Overwritten ones hold the last call's alone.
        y = gradients.replaced(a, 1, 1, x)
        with kf.Graph() as g:
            gradients.replaced.backward(a, 1, 1, x, y)
            gradients.replaced.backward(a, 7, 1, x, y)
        g.replay()
        g.replay()
        np.testing.assert_array_equal(array(x.grad), 4 * values + 7)


@pytest.mark.parametrize("recorded", [True, False])
def test_long_lists_keep_the_arguments_of_each_call(gradients: ModuleType, recorded: bool) -> None:
    """Thousands of calls on memory of their own, whose arguments fill many pieces of the device's memory."""
    count = 4000
    values = (np.arange(8 * count, dtype=FLOAT) % 7).reshape(count, 8)
    factors = np.arange(count, dtype=FLOAT) % 5
    x = tensor(values).with_grads()
    a, b, c = (tensor(factors + i).with_grads() for i in range(3))
    g, encoder = kf.Graph(), kf.default_device().encoder()
    calls = [(a[i : i + 1], b[i : i + 1], c[i : i + 1], x[i, ::2]) for i in range(count)]
    f = gradients.polynomial
    if recorded:
        with g:
            results = [f(*given) for given in calls]
            for given, y in zip(calls, results, strict=True):
                f.backward(*given, y)
        g.replay()
    else:
        results = [f.append_to(encoder, *given) for given in calls]
        for given, y in zip(calls, results, strict=True):
            f.backward.append_to(encoder, *given, y)
        encoder.submit()
    every_other = values[:, ::2]
    expected = factors[:, None] * every_other**2 + (factors + 1)[:, None] * every_other + factors[:, None] + 2
    np.testing.assert_array_equal([y.to_numpy() for y in results], expected)
    grad = np.zeros_like(values)
    grad[:, ::2] = 2 * factors[:, None] * every_other + factors[:, None] + 1
    np.testing.assert_array_equal(array(x.grad), grad)
    np.testing.assert_array_equal(array(a.grad), (every_other**2).sum(1))
    np.testing.assert_array_equal(array(b.grad), every_other.sum(1))
    np.testing.assert_array_equal(array(c.grad), np.full(count, 4))


def test_temporary_memory(sums: ModuleType) -> None:
    """Many calls read the same elements. What they add is small integers, so that no order rounds."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, 5, (2, 257)).astype(INT)
    i, j = (tensor(along) for along in places)
    once = np.zeros((5, 5))
    np.add.at(once, tuple(places), 1)
    values = np.zeros((5, 5), sums.Mixed.dtype)
    values["direction"], values["weight"] = (1, 0, 0), 1
    for deterministic in [False, True]:
        block = tensor(values).with_grads()
        function = sums.weigh_mixed.options(deterministic=deterministic)
        out = function(block, i, j)
        with kf.Graph() as g:
            function.backward(block, i, j, out)
            function.backward(block, i, j, out)
        prepared = function.backward.prepare(block, i, j, out)
        g.replay()
        prepared()
        function.backward(block, i, j, out)
        g.replay()
        found = array(block.grad)
        np.testing.assert_array_equal(found["weight"], 6 * once)
        np.testing.assert_array_equal(found["direction"], 6 * once[..., None] * [1, 2, 4])


def test_prepared_calls_are_copied(calls: ModuleType, structs: ModuleType) -> None:
    x = tensor(np.arange(33, dtype=INT))
    prepared = calls.add.prepare(x, 1)
    with kf.Graph() as g:
        assert prepared() is prepared.result
        prepared.set(b=2)
        y = calls.add(prepared(), 0)
    prepared.set(b=50)
    g.replay()
    np.testing.assert_array_equal(y.to_numpy(), np.arange(33) + 2)
    prepared()
    np.testing.assert_array_equal(prepared.result.to_numpy(), np.arange(33) + 50)
    assert len(g) == 3
    # A struct that lies in memory.
    scene: dict[str, Any] = {
        "lights": [{"color": (1, 2, 3), "power": 2.0}, {"color": (0, 1, 0), "power": 1.0}],
        "basis": np.eye(3, dtype=FLOAT),
        "scale": 0.5,
        "count": 2,
        "on": True,
        "tint": [1.0, 2.0, 3.0],
    }
    rays = kf.Tensor.from_numpy(np.array([((1, 2, 3), (1, 0, 0)), ((0, 1, 1), (2, 1, 0))], structs.Ray.dtype))
    one = structs.shade.prepare(scene, rays)
    with kf.Graph() as g:
        one()
    one.set(scene={"scale": 7})
    g.replay()
    np.testing.assert_allclose(one.result.to_numpy(), structs.shade(scene, rays).to_numpy())
    g.set(scene={"scale": 3})
    one()
    np.testing.assert_allclose(one.result.to_numpy(), structs.shade({**scene, "scale": 7}, rays).to_numpy())
    g.replay()
    np.testing.assert_allclose(one.result.to_numpy(), structs.shade({**scene, "scale": 3}, rays).to_numpy())


def test_globals_and_launches(scene: ModuleType) -> None:
    x = tensor(np.array([1, 2, 3], FLOAT))
    with kf.Graph() as g:
        y = scene.gained.set({"look.gain": 10})(x)
    g.replay()
    np.testing.assert_array_equal(y.to_numpy(), [11, 21, 31])
    g.set({"look.gain": 1})
    g.replay()
    np.testing.assert_array_equal(y.to_numpy(), [2, 3, 4])


def test_a_block_that_raises_records_nothing(calls: ModuleType) -> None:
    x = tensor(np.zeros(4, FLOAT))
    g = kf.Graph()
    with pytest.raises(ZeroDivisionError), g:
        calls.advance(x, 1)
        _ = 1 / 0
    assert "ended with an exception" in refusal(kf.ArgumentError, g.replay)
    calls.advance(x, 1)  # runs
    np.testing.assert_array_equal(x.to_numpy(), np.ones(4, FLOAT))
    # A call that is refused leaves nothing behind.
    with kf.Graph() as g:
        calls.advance(x, 1)
        refusal(kf.ArgumentError, lambda: calls.add(tensor(np.zeros(3, INT)), tensor(np.zeros(4, INT))))
    assert len(g) == 1
    g.replay()
    np.testing.assert_array_equal(x.to_numpy(), np.full(4, 2, FLOAT))


def test_a_block_that_nobody_ends_keeps_its_graph(calls: ModuleType) -> None:
    """Calls of its thread go there, so it must live until then."""
    x = tensor(np.zeros(4, FLOAT))
    blocks: list[kf.Graph] = []

    def leave_open() -> None:
        graph = kf.Graph()
        blocks.append(weakref.proxy(graph))
        graph.__enter__()
        del graph
        gc.collect()
        blocks.extend(kf.Graph() for _ in range(8))
        calls.advance(x, 1)
        assert len(blocks[0]) == 1

    thread = threading.Thread(target=leave_open)
    thread.start()
    thread.join()
    assert "the thread that it began in" in refusal(kf.ArgumentError, lambda: blocks[0].__exit__(*[None] * 3))
    assert x.to_numpy().sum() == 0
    with kf.Graph() as graph:
        calls.advance(x, 1)
    known = weakref.ref(graph)
    del graph
    gc.collect()
    assert known() is None


def test_what_is_refused(calls: ModuleType) -> None:
    x = tensor(np.arange(4, dtype=INT))
    g = kf.Graph()
    assert "nothing is recorded yet" in refusal(kf.ArgumentError, g.replay)
    prepared = calls.add.prepare(x, 1)
    with kf.Graph() as done:
        prepared()
    with g:
        text = refusal(kf.ArgumentError, lambda: calls.add(1, 2))
        assert "a value can't be an output of a prepared call" in text
        text = refusal(kf.ArgumentTypeError, lambda: calls.add(np.arange(4, dtype=INT), 2))
        assert "give a kf.Tensor instead of a ndarray" in text or "ndarray" in text
        refusal(kf.ArgumentTypeError, lambda: calls.add(x, 2, out=np.ndarray))
        refusal(kf.ArgumentTypeError, lambda: calls.add(x, 2, stream=1))
        assert "is being recorded" in refusal(kf.ArgumentError, g.replay)
        assert "is being recorded" in refusal(kf.ArgumentError, lambda: g.set(b=1))
        assert "recording another graph" in refusal(kf.ArgumentError, done.replay)
        assert "recording another graph" in refusal(kf.ArgumentError, kf.Graph().__enter__)
    g.replay()  # of no calls
    assert len(g) == 0
    assert "is recorded" in refusal(kf.ArgumentError, g.__enter__)
    assert "no call has a value 'b'" in refusal(kf.ArgumentError, lambda: g.set(b=1))
    assert "no value 'c'; it has 'b'" in refusal(kf.ArgumentError, lambda: done.set(b=1, c=1))
    node = calls.add.node()
    assert "with kf.Graph()" in refusal(kf.ArgumentError, lambda: node(x, 1))
    assert "no call yet" in refusal(kf.ArgumentError, lambda: node.set(b=1))
    assert repr(done) == "<graph of 1 calls>"


def test_other_calls_run_meanwhile(calls: ModuleType, device: kf.Device) -> None:
    x = tensor(np.zeros(4, FLOAT))
    with kf.Graph() as g:
        calls.advance(x, 1)
        encoder = device.encoder()
        calls.advance.append_to(encoder, x, 10)
        encoder.submit()
        thread = threading.Thread(target=lambda: calls.advance(x, 100))
        thread.start()
        thread.join()
        found: list[Array] = []
        thread = threading.Thread(target=lambda: found.append(x.to_numpy()))
        thread.start()
        thread.join()
        np.testing.assert_array_equal(found[0], np.full(4, 110, FLOAT))
    g.replay()
    np.testing.assert_array_equal(x.to_numpy(), np.full(4, 111, FLOAT))


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "offset"])
def test_fills_are_recorded(
    calls: ModuleType, device: kf.Device, layout: str, dtype: np.dtype[Any], watched: bool
) -> None:
    """In their place among calls, before the first and behind the last, too; the calls may run one by one."""
    x = buffer((33,), dtype, layout, numbers((33,), dtype, 1))
    y = buffer((33,), FLOAT, layout)
    value, zero = (True, False) if dtype == np.dtype(bool) else (3, 0)
    with kf.Graph() as g:
        y.tensor.fill(1)
        x.tensor.fill(value)
        calls.advance(y.tensor, 4)
        y.tensor[3] = 7
        y.tensor[4:6].fill(8)
        calls.advance(y.tensor, 10)
        x.tensor[2] = zero
    assert len(g) == 2
    x.check()
    y.check()
    device.check = "nan" if watched else None
    try:
        for _ in range(2):
            g.replay()
            x.array[...] = value
            x.array[2] = zero
            y.array[...] = 15
            y.array[3], y.array[4:6] = 17, 18
            x.check()
            y.check()
            calls.advance(y.tensor, 100)
            calls.advance(y.tensor, 100)
    finally:
        device.check = None


def test_gradients_are_zeroed_by_each_replay(gradients: ModuleType) -> None:
    values = np.arange(33, dtype=FLOAT)
    x = tensor(values).with_grads()
    y = gradients.polynomial(2, 3, 4, x)
    with kf.Graph() as g:
        x.zero_grad()
        gradients.polynomial.backward(2, 3, 4, x, y)
    with kf.Graph() as other:
        assert x.grad is not None
        x.grad.fill(0)
        gradients.polynomial.backward(2, 3, 4, x, y)
    for graph in [g, other, g]:
        for _ in range(3):
            graph.replay()
        np.testing.assert_allclose(array(x.grad), 4 * values + 3)


def test_graphs_of_fills_alone(calls: ModuleType) -> None:
    x = tensor(np.ones(4, FLOAT))
    with kf.Graph() as g:
        x.fill(5)
    calls.advance(x, 1)
    np.testing.assert_array_equal(x.to_numpy(), np.full(4, 2, FLOAT))
    g.replay()
    np.testing.assert_array_equal(x.to_numpy(), np.full(4, 5, FLOAT))
    assert len(g) == 0
    known = weakref.ref(x)
    del x
    gc.collect()
    assert known() is None
    g.replay()
    with pytest.raises(ZeroDivisionError), kf.Graph() as g:
        y = tensor(np.zeros(4, FLOAT))
        y.fill(1)
        _ = 1 / 0
    assert y.to_numpy().sum() == 0


def test_new_tensors_are_made_once(calls: ModuleType) -> None:
    with kf.Graph() as g:
        x = tensor(np.ones(4, FLOAT))
        zeros = kf.Tensor.zeros((4,))
        ones = kf.Tensor.ones((4,), "float64")
        texture = kf.Texture.from_numpy(np.zeros((3, 4, 1), np.uint8), "r8", kind="2d")
        calls.advance(x, 1)
        calls.advance(zeros, 2)
    assert ones.to_numpy().sum() == 4
    assert not texture.to_numpy().any()
    g.replay()
    g.replay()
    np.testing.assert_array_equal(x.to_numpy(), np.full(4, 3, FLOAT))
    np.testing.assert_array_equal(zeros.to_numpy(), np.full(4, 4, FLOAT))


def test_changes_that_are_not_recorded_are_refused(calls: ModuleType) -> None:
    x = tensor(np.zeros((4, 4), FLOAT))
    bytes_ = tensor(np.zeros(8, np.uint8))
    texture = kf.Texture.from_numpy(np.zeros((4, 4, 1), FLOAT), "r32f", kind="2d", mips=2)
    target = tensor(np.ones((4, 4), FLOAT))
    grad = tensor(np.ones((4, 4), FLOAT))
    skewed = x.with_grads(grad_in=grad.T, grad_out=grad.T)
    changes: list[tuple[Callable[[], Any], str]] = [
        (lambda: x.copy_from_numpy(np.ones((4, 4), FLOAT)), "write: "),
        (lambda: x.__setitem__(0, np.ones(4, FLOAT)), "write: "),
        (lambda: x.T.fill(1), "fill of a view with gaps: "),
        (lambda: x[:, 1].fill(1), "fill of a view with gaps: "),
        (skewed.zero_grad, "fill of a view with gaps: "),
        (texture.generate_mips, "generate_mips: "),
        (lambda: texture.copy_from(target), "copy_from: "),
        (lambda: texture.copy_from_numpy(np.ones((4, 4, 1), FLOAT)), "write"),
        (lambda: texture.copy_from_numpy(np.ones((2, 2, 1), FLOAT), offset=(1, 1)), "write_region: "),
        (lambda: texture.copy_to(target), "copy_to: "),
        (texture.to_tensor, "copy_to: "),
        (lambda: kf.Texture.from_tensor(target, "r32f"), "copy_from: "),
    ]
    with kf.Graph() as g:
        bytes_[3] = 5
        for change, name in changes:
            text = refusal(kf.ArgumentError, change)
            assert name in text and "this thread is recording a graph" in text, text
        calls.advance(x[0], 1)
    assert x.to_numpy().sum() == 0
    assert grad.to_numpy().sum() == target.to_numpy().sum() == 16
    assert texture.to_numpy().sum() == 0
    g.replay()
    assert x.to_numpy().sum() == 4
    assert bytes_.to_numpy().tolist() == [0, 0, 0, 5, 0, 0, 0, 0]


def test_reads_of_what_the_graph_writes_are_refused(calls: ModuleType) -> None:
    x = tensor(np.zeros(4, FLOAT))
    filled, other = tensor(np.zeros(1, FLOAT)), tensor(np.arange(4, dtype=FLOAT))
    with kf.Graph() as g:
        assert x.to_numpy().sum() == 0
        calls.advance(x, 1)
        y, _ = calls.split(other)
        filled.fill(2)
        for read in (x.to_numpy, x[1].item, y.to_numpy, filled.item, lambda: np.asarray(x)):
            text = refusal(kf.ArgumentError, read)
            assert "read: the graph that this thread is recording writes to it" in text
        assert "..." in repr(x)
        assert other.to_numpy().tolist() == [0, 1, 2, 3]
    g.replay()
    assert x.to_numpy().tolist() == [1] * 4
    assert filled.item() == 2


def test_reads_of_what_hooks_write_are_refused(calls: ModuleType, generated: Loader) -> None:
    paint = generated("texture_calls").paint
    canvas = kf.Texture.from_numpy(np.zeros((5, 7, 4), FLOAT), "rgba32f", writable=True)
    buffer, x = tensor(np.zeros(4, FLOAT)), tensor(np.zeros(4, FLOAT))

    def hook(context: kf.HookContext) -> None:
        paint.set(canvas=canvas).append_to(context.encoder, (5, 7), (1, 2, 3, 4))
        calls.advance.append_to(context.encoder, buffer, 1)

    with kf.Graph() as g:
        calls.advance.hook(hook)(x, 1)
        kf.Tensor.zeros((0,)).copy_from_numpy(np.zeros(0, FLOAT))  # of nothing
        for read in (canvas.to_numpy, buffer.to_numpy):
            assert "the graph that this thread is recording writes to it" in refusal(kf.ArgumentError, read)
    g.replay()
    assert canvas.to_numpy().sum() == 5 * 7 * 10
    assert buffer.to_numpy().tolist() == [1] * 4


def test_threads_replay_and_set(calls: ModuleType) -> None:
    x = tensor(np.zeros(33, FLOAT))
    with kf.Graph() as g:
        calls.advance(x, 1)
        calls.advance(x, 1)

    def work() -> None:
        for _ in range(25):
            g.replay()
            g.set(dt=1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(x.to_numpy(), np.full(33, 200, FLOAT))


def test_many_changes(calls: ModuleType) -> None:
    x = tensor(np.zeros(4097, FLOAT))
    with kf.Graph() as g:
        for _ in range(20):
            calls.advance(x, 1)
    for step in range(1, 101):
        g.set(dt=step)
        g.replay()
    np.testing.assert_array_equal(x.to_numpy(), np.full(4097, 20 * 5050, FLOAT))
