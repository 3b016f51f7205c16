"""Calls that are made again and again, with arguments of the same types and of others in between: what an
earlier call resolved to must never be taken for one that it doesn't fit."""

import gc
import itertools
import math
import random
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

FLOAT, INT = np.dtype(np.float32), np.dtype(np.int32)


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


# Subclasses, which no earlier call says anything of: calls with them are looked at from the start each time.
Float = type("float", (float,), {})
Int = type("int", (int,), {})
Tensor: Any = type("Tensor", (kf.Tensor,), {})


def disguised(value: Any) -> Any:
    if type(value) is float:
        return Float(value)
    if type(value) is int:
        return Int(value)
    if type(value) is kf.Tensor:
        return Tensor(value.to_numpy())
    if type(value) in (list, tuple):
        return type(value)(disguised(one) for one in value)
    return value


def copied(value: Any) -> Any:
    return kf.Tensor.from_numpy(value.to_numpy()) if type(value) is kf.Tensor else value


def plain(value: Any) -> Any:
    """What can be compared: kinds, dtypes, shapes and bytes."""
    if isinstance(value, kf.Tensor):
        array = value.to_numpy()
        return ("tensor", array.dtype, array.shape, array.tobytes())
    if isinstance(value, np.ndarray):
        return ("array", value.dtype, value.shape, value.tobytes())
    if isinstance(value, tuple):
        return (type(value).__name__, tuple(plain(one) for one in value))
    return (type(value).__name__, repr(value))


def outcome(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    try:
        return plain(call(*given, **named))
    except Exception as error:
        return (type(error).__name__, str(error))


def arguments(dtype: Any) -> list[Any]:
    shapes = [(), (3,), (2, 3), (3, 3), (2, 2), (4, 2, 3)]
    arrays = [np.asarray(np.arange(math.prod(shape)).reshape(shape) % 5, dtype) for shape in shapes]
    others = [np.ones(3, one) for one in (bool, np.int8, np.int64, np.float16, np.float64)]
    tensors = [kf.Tensor.from_numpy(one) for one in arrays]
    tensors += [kf.Tensor.from_numpy(one) for one in (*others, np.ones(3, FLOAT), np.ones(3, INT))]
    numbers: list[float] = [0, 1, -1, 127, 128, 300, -129, 2**31, 2**40, 2**63, 2**64, -(2**70), 10**400]
    numbers += [0.0, 1.5, -2.25, 1e39, 70000.0, math.nan, math.inf, True, False]
    scalars = [np.int32(3), np.float32(1.5), np.float64(2.5), np.bool_(True), np.array([1, 2, 3], dtype)]
    lists = [(1, 2, 3), [1.5, 2, 3], (1, 2), [True, 1, 2], (True, False, True), [1], (), [[1, 2, 3]]]
    return [*tensors, *numbers, *scalars, *lists, None, "x", ((1.0,), 2)]


FUNCTIONS: dict[str, Any] = {
    "add": INT,
    "scale": FLOAT,
    "total": FLOAT,
    "narrow": np.int8,
    "wide": np.int64,
    "unsigned_wide": np.uint64,
    "halve": np.float16,
    "negate": bool,
    "advance": FLOAT,
    "split": FLOAT,
    "split_any": FLOAT,
    "quotient": INT,
}


@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS.items())
def test_any_types_in_any_order(calls: ModuleType, name: str, dtype: Any) -> None:
    """What a call does, or refuses, in the same words, is the same as if it were the first."""
    function = getattr(calls, name)
    values = arguments(dtype)
    some = random.Random(name)
    count = 2 if name in ("add", "scale", "advance", "quotient") else 1
    pairs: list[Any] = list(itertools.product(values, repeat=count))
    chosen = pairs if count == 1 else some.sample(pairs, 250)
    expected = [outcome(function, *map(disguised, given)) for given in chosen]
    for _ in range(3):
        order = list(range(len(chosen))) * 2
        some.shuffle(order)
        for i in order:
            assert outcome(function, *map(copied, chosen[i])) == expected[i], (name, chosen[i])


def test_overloads_by_extents_alone(generated: Loader) -> None:
    """Of two float tensors of rank 2, vectors of two and of three."""
    conversions = generated("conversions")
    pairs, triples, others = (kf.Tensor(np.ones((4, width), FLOAT)) for width in (2, 3, 4))
    for _ in range(3):
        for given, expected in ((pairs, 2), (triples, 3), (triples, 3), (pairs, 2)):
            assert conversions.which_rows(given).to_numpy().tolist() == [expected] * 4
        with pytest.raises(kf.ArgumentError):
            conversions.which_rows(others)
        assert conversions.which((1.0, 2.0)) == 2
        assert conversions.which((1.0, 2.0, 3.0)) == 3
        assert conversions.which([1, 2]) == 2
        with pytest.raises(kf.ArgumentError, match="could be a float2 or a float3"):
            conversions.which(1.0)


def test_outputs_that_are_given_or_not(calls: ModuleType) -> None:
    x = kf.Tensor.from_numpy(np.array([1.25, -0.5], FLOAT))
    whole, rest = (kf.Tensor.from_numpy(np.full(2, 7, FLOAT)) for _ in range(2))
    for _ in range(3):
        assert [one.to_numpy().tolist() for one in calls.split(x)] == [[1, -1], [0.25, 0.5]]
        both = calls.split(x, whole=whole, rest=rest)
        assert both.whole is whole
        assert both.rest is rest
        some = calls.split(x, None, rest)
        assert some.rest is rest
        assert some.whole is not whole
        assert type(both) is type(some)
        assert calls.split(1.25) == (1.0, 0.25)
        assert isinstance(calls.split(x, np.ndarray, rest).whole, np.ndarray)
    assert whole.to_numpy().tolist() == [1, -1]
    with pytest.raises(kf.ArgumentError, match="given twice"):
        calls.split(x, whole, rest, whole=whole)
    i = kf.Tensor.from_numpy(np.array([7, 9], INT))
    out = kf.Tensor.empty([2], INT)
    for _ in range(3):
        result = calls.quotient(i, 4, out=out)
        assert result[0] is out
        assert result.rest.to_numpy().tolist() == [3, 1]
        assert calls.quotient(i, 4)[0].to_numpy().tolist() == [1, 2]


def test_keywords_in_any_order(calls: ModuleType) -> None:
    i = kf.Tensor.from_numpy(np.array([7, 9], INT))
    out = kf.Tensor.empty([2], INT)
    values = {"x": i, "y": 4, "out": out, "rest": None}
    names = list(values)
    for order in [*itertools.permutations(names)] * 2:
        # Names that are made anew are the same names.
        for made in (str, lambda name: "".join(list(name))):
            result = calls.quotient(**{made(name): values[name] for name in order})
            assert result[0] is out
            assert result.rest.to_numpy().tolist() == [3, 1]
    for _ in range(3):
        assert calls.reserved(shape_=4, stream_=2) == 42
        assert calls.reserved(4, stream_=2) == 42
        assert calls.reserved(stream_=2, shape_=4, shape=None, stream=None) == 42
        assert calls.reserved(4, 2, shape=()) == 42
        with pytest.raises(kf.ArgumentError, match="no argument 'shape__'"):
            calls.reserved(4, stream_=2, shape__=1)
        with pytest.raises(kf.ArgumentError, match="argument 'stream_': not given"):
            calls.reserved(4)


def test_shapes(calls: ModuleType) -> None:
    x = kf.Tensor.from_numpy(np.full(3, 0.25, FLOAT))
    for _ in range(3):
        assert calls.simmer(x, shape=3).shape == (3,)
        assert calls.simmer(x, shape=(3,)).shape == (3,)
        assert calls.simmer(x, shape=[3]).shape == (3,)
        for wrong in (4, (4,), (3, 3)):
            with pytest.raises(kf.ArgumentError):
                calls.simmer(x, shape=wrong)
        with pytest.raises(kf.ArgumentError, match="-1 is not an extent"):
            calls.simmer(x, shape=-1)
        with pytest.raises(kf.ArgumentError, match="is not an extent"):
            calls.simmer(x, shape=2**70)


def test_globals_apart_from_keywords(scene: ModuleType) -> None:
    shade = scene.shade
    for tint in ((1.0, 2.0, 3.0), [1, 2, 3], 2.0):
        was_set = shade.set(tint=tint)
        expected = outcome(shade.set(tint=disguised(tint)), Float(1.0))
        for _ in range(3):
            assert outcome(was_set, 1.0) == expected
            with pytest.raises(kf.ArgumentError, match="no argument 'tint'"):
                shade(1.0, tint=tint)
            with pytest.raises(kf.ArgumentError, match="'tint', which it reads, isn't set"):
                shade(1.0)


def test_errors_in_between(calls: ModuleType) -> None:
    x, three = (kf.Tensor.from_numpy(np.arange(n, dtype=INT)) for n in (2, 3))
    out = kf.Tensor.from_numpy(np.full(2, -7, INT))
    for _ in range(5):
        assert calls.add(x, 5, out=out) is out
        for wrong in (three, 2**31, 1.5, True, "5", None, np.float32(1)):
            out.copy_from_numpy(np.full(2, -7, INT))
            with pytest.raises(kf.ArgumentError):
                calls.add(x, wrong, out=out)
            assert out.to_numpy().tolist() == [-7, -7], "a call that is refused writes nothing"
        with pytest.raises(kf.ArgumentError, match="shape"):
            calls.add(x, 5, out=three)
        assert calls.add(x, np.int32(5)).to_numpy().tolist() == [5, 6]


def test_backward(gradients: ModuleType) -> None:
    """With gradients, without, and of numbers."""
    function = gradients.polynomial
    x = np.array([1, 2, 3], FLOAT)

    def run(backward: Any) -> list[Any]:
        given: list[Any] = [kf.Tensor.from_numpy(np.array([v], FLOAT)).with_grads() for v in (2, 8, -1)]
        points: Any = kf.Tensor.from_numpy(x).with_grads()
        flow = function(*given, points).with_grads(grad_in=np.ones(3, FLOAT))
        for _ in range(3):
            backward(*given, points, flow)
        return [one.grad.to_numpy().tolist() for one in (*given, points)]

    expected = [[3 * 14.0], [3 * 6.0], [3 * 3.0], [3 * (4 * v + 8.0) for v in (1, 2, 3)]]
    assert run(function.backward) == expected
    assert run(lambda a, b, c, p, r: function.backward(a, b, c, p, out=r)) == expected
    assert run(lambda a, b, c, p, r: function.backward(out=r, x=p, c=c, b=b, a=a)) == expected
    a = kf.differentiable(2.0)
    for _ in range(2):
        function.backward(a, 8.0, -1.0, kf.Tensor.from_numpy(x).with_grads(), None)
    assert a.grad == 28.0


def test_recorded(calls: ModuleType, device: kf.Device) -> None:
    x, out = kf.Tensor.from_numpy(np.array([1, 2], INT)), kf.Tensor.from_numpy(np.full(2, -7, INT))
    for k in range(3):
        with device.encoder() as encoder:
            assert calls.add.append_to(encoder, x, k, out=out) is out
            later = calls.add.append_to(encoder, out, x)
        assert out.to_numpy().tolist() == [1 + k, 2 + k]
        assert later.to_numpy().tolist() == [2 + k, 4 + k]
        with pytest.raises(kf.ArgumentError, match="submit"):
            calls.add.append_to(encoder, x, k, out=out)
        with device.encoder() as encoder:
            single = calls.add.append_to(encoder, k, k)
        assert single.item() == calls.add(k, k) == 2 * k


def test_generators(generated: Loader) -> None:
    """Of two kinds, beside numbers and tensors, which the same parameter takes."""
    steps = generated("generators").steps
    for k in range(4):
        assert steps(kf.range(2, 5 + k)).to_numpy().tolist() == list(range(2, 5 + k))
        assert steps(kf.range(6, 2, -2)).to_numpy().tolist() == [6, 4]
        assert steps(kf.grid((3,), (k,))).to_numpy().tolist() == [k, k + 1, k + 2]
        assert steps(kf.Tensor(np.array([k, 9], INT))).to_numpy().tolist() == [k, 9]
        assert steps(k) == k
        for wrong in (kf.grid((3, 2)), kf.wang_hash(), kf.rand_float(0, 1)):
            with pytest.raises(kf.ArgumentError, match="no overload takes"):
                steps(wrong)


def test_streams(calls: ModuleType, device: kf.Device) -> None:
    """What is no stream, or of no use here, is refused in the same words each time."""
    x = kf.Tensor.from_numpy(np.array([1, 2], INT))
    for _ in range(3):
        assert calls.add(x, 5, stream=None).to_numpy().tolist() == [6, 7]
        for wrong in (1.5, "0", object, True):
            with pytest.raises(kf.ArgumentError, match="argument 'stream': a CUDA stream is needed"):
                calls.add(x, 5, stream=wrong)
        if device.info.backend == "vulkan":
            with pytest.raises(kf.ArgumentError, match="argument 'stream': "):
                calls.add(x, 5, stream=0)
            continue
        assert calls.add(x, 5, stream=0).to_numpy().tolist() == [6, 7]
        assert calls.add(x, stream=0, b=6).to_numpy().tolist() == [7, 8]


def test_another_device(calls: ModuleType) -> None:
    """Tensors of devices that were opened one after the other, the last ones gone."""
    expected = [6, 7, 8]
    for _ in range(3):
        device = kf.Device.open(kf.default_device().info.id)
        x = kf.Tensor(np.array([1, 2, 3], INT), device=device)
        y = kf.Tensor(np.array([1, 2, 3], INT))
        assert calls.add(x, 5).to_numpy().tolist() == expected
        assert calls.add(y, 5).to_numpy().tolist() == expected
        if device != kf.default_device():
            with pytest.raises(kf.ArgumentError, match="opened another time"):
                calls.add(x, y)
        del x, device
        gc.collect()


def test_threads(calls: ModuleType) -> None:
    """Each has types of its own, so that they make room for each other's."""
    kinds: list[tuple[Any, ...]] = [
        (kf.Tensor(np.full(4, k, INT)), k) if k % 2 else (kf.Tensor(np.full((2, 2), k, INT)), k)
        for k in range(6)
    ]
    failures: list[Any] = []

    def work(k: int) -> None:
        value, number = kinds[k]
        out = kf.Tensor.empty(value.shape, INT)
        forms: list[Callable[[], Any]] = [
            lambda: calls.add(value, number, out=out),
            lambda: calls.add(a=value, b=number),
            lambda: calls.add(b=number, a=value),
            lambda: calls.add(value, b=number),
            lambda: calls.add(value, number),
        ]
        try:
            for i in range(200):
                result = forms[(i + k) % len(forms)]()
                if i % 20 == 0:
                    assert (result.to_numpy() == 2 * k).all()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(kinds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def leaking(calls: ModuleType, gradients: ModuleType) -> Iterator[tuple[str, Callable[[], Any]]]:
    i, out = kf.Tensor.from_numpy(np.array([7, 9], INT)), kf.Tensor.empty([2], INT)
    x = kf.Tensor.from_numpy(np.array([1.25, -0.5], FLOAT)).with_grads()
    a, b, c = (kf.Tensor.from_numpy(np.array([v], FLOAT)).with_grads() for v in (2, 8, -1))
    result = gradients.polynomial(a, b, c, x).with_grads()
    hooked = calls.add.hook(lambda context: None)
    encoder = kf.default_device().encoder
    yield "out", lambda: calls.add(i, 4, out=out)
    yield "made", lambda: calls.add(i, 4)
    yield "keywords", lambda: calls.add(b=4, a=i, out=None)
    yield "several", lambda: calls.split(x)
    yield "backward", lambda: gradients.polynomial.backward(a, b, c, x, result)
    yield "hook", lambda: hooked(i, 4, out=out)
    yield "recorded", lambda: calls.add.append_to(encoder(), i, 4, out=out)
    yield "list", lambda: calls.add(i, b=4, shape=(2,))
    yield "refused", lambda: outcome(calls.add, i, 2**31, out=out)
    yield "odd", lambda: outcome(calls.add, i, out=out)


@pytest.mark.parametrize("number", range(10))
def test_nothing_is_left_behind(calls: ModuleType, gradients: ModuleType, number: int) -> None:
    _, call = list(leaking(calls, gradients))[number]
    held = [cell.cell_contents for cell in call.__closure__ or ()] + [None, 4]
    for _ in range(20):
        call()
    kf.default_device().wait()
    gc.collect()
    before = [sys.getrefcount(one) for one in held]
    tracemalloc.start()
    for _ in range(10_000):
        call()
    gc.collect()
    current, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kf.default_device().wait()
    after = [sys.getrefcount(one) for one in held]
    # None and 4 belong to others, too.
    assert after[:-2] == before[:-2]
    assert all(abs(now - then) < 100 for now, then in zip(after[-2:], before[-2:], strict=True))
    assert current < 1 << 16
