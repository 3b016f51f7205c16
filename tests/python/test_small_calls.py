"""Calls of little data, which kernels read and write where the host has it: numbers, and NumPy in and out."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array
from loader import Loader

pytestmark = pytest.mark.usefixtures("host_memory")

# Around what a launch, and what the host's memory, takes: 64 KiB are 16384 floats.
SIZES = [0, 1, 2, 3, 31, 32, 33, 255, 4097, 16383, 16384, 16385, 20001]


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def poisoned(size: int, dtype: Any, value: Any) -> tuple[Array, Array]:
    """An array of `size` elements between others, and all of them."""
    whole = np.full(size + 16, value, dtype)
    return whole[8 : 8 + size], whole


def is_around(whole: Array, value: Any) -> bool:
    return bool((whole[:8] == value).all() and (whole[-8:] == value).all())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("narrow", np.int8, lambda x: x),
        ("wide", np.int64, lambda x: x),
        ("halve", np.float16, lambda x: x * np.float16(0.5)),
        ("negate", np.bool_, lambda x: ~x),
    ],
)
def test_arrays_of_every_size(
    calls: ModuleType, name: str, dtype: type, expected: Callable[[Array], Array], size: int
) -> None:
    x: Array = np.random.default_rng(size).integers(0, 100, size).astype(dtype)
    before = x.copy()
    function = getattr(calls, name)
    given, whole = poisoned(size, dtype, dtype(1))
    assert function(x, out=given) is given
    np.testing.assert_array_equal(given, expected(x))
    assert is_around(whole, dtype(1))
    np.testing.assert_array_equal(function(x, out=np.ndarray), expected(x))
    result = function(x)
    assert isinstance(result, kf.Tensor)
    np.testing.assert_array_equal(result.to_numpy(), expected(x))
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("size", SIZES)
def test_several_arrays_come_back_at_once(calls: ModuleType, size: int) -> None:
    # Vulkan leaves remainders of negative numbers open.
    x = np.random.default_rng(1).integers(0, 1000, size).astype(np.int32)
    y = np.random.default_rng(2).integers(1, 50, size).astype(np.int32)
    rest, whole = poisoned(size, np.int32, -7)
    quotient = calls.quotient(x, y, rest, out=np.ndarray)
    if isinstance(quotient, tuple):
        quotient = quotient[0]
    np.testing.assert_array_equal(quotient, (np.abs(x) // y) * np.sign(x))
    np.testing.assert_array_equal(rest, np.fmod(x, y))
    assert is_around(whole, -7)


@pytest.mark.parametrize("size", SIZES)
def test_arrays_that_are_read_and_written(calls: ModuleType, size: int) -> None:
    x, whole = poisoned(size, np.float32, 9)
    x[:] = np.arange(size)
    strided = np.zeros((size, 3), np.float32)
    strided[:, 1] = x
    assert calls.advance(x, 0.5) is x
    calls.advance(strided[:, 1], 0.5)
    np.testing.assert_array_equal(x, np.arange(size, dtype=np.float32) + 0.5)
    np.testing.assert_array_equal(strided, np.stack([np.zeros_like(x), x, np.zeros_like(x)], 1))
    assert is_around(whole, 9)


def test_vectors_broadcast_and_odd_strides(calls: ModuleType) -> None:
    v = np.random.default_rng(3).random((257, 3)).astype(np.float32)
    s = np.random.default_rng(4).random(257).astype(np.float32)
    out = np.empty((257, 3), np.float32)
    calls.scale(v[::-1], s, out=out)
    np.testing.assert_array_equal(out, v[::-1] * s[:, None])
    np.testing.assert_array_equal(calls.scale(v, s[:1], out=np.ndarray), v * s[0])
    np.testing.assert_array_equal(calls.scale(v.tolist(), 2, out=np.ndarray), v * np.float32(2))
    a = np.arange(300, dtype=np.int32).reshape(100, 3)
    for b in (np.arange(3, dtype=np.int32), np.array([5], np.int32)):
        np.testing.assert_array_equal(calls.add(a, b, out=np.ndarray), a + b)
    # Few elements each, and many calls.
    tall = np.arange(20_000, dtype=np.int32).reshape(-1, 1)
    np.testing.assert_array_equal(
        calls.add(np.broadcast_to(tall, (20_000, 3)), a[0], out=np.ndarray), tall + a[0]
    )


def test_tensors_beside_arrays(calls: ModuleType) -> None:
    a = np.arange(1000, dtype=np.int32)
    tensor = kf.Tensor.from_numpy(a * 10)
    results = [calls.add(a + i, tensor) for i in range(200)]  # none is waited for
    out = kf.Tensor.zeros([1000], np.int32)
    for i in range(50):
        calls.add(a + i, a, out=out)
    np.testing.assert_array_equal(out.to_numpy(), 2 * a + 49)
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result.to_numpy(), a * 11 + i)
    np.testing.assert_array_equal(calls.add(results[0], tensor, out=np.ndarray), a * 21)


def test_numbers(calls: ModuleType) -> None:
    for i in range(300):
        assert calls.add(i, -2 * i) == -i
        assert calls.split(i + 0.25) == (i, 0.25)
    assert calls.advance(1.5, 2) == 3.5
    assert calls.wide(2**62 + 1) == 2**62 + 1
    assert calls.unsigned_wide(2**64 - 1) == 2**64 - 1
    assert calls.narrow(-128) == -128
    assert calls.halve(3) == 1.5
    assert calls.negate(True) is False
    np.testing.assert_array_equal(calls.scale([1, 2, 3], 2), [2, 4, 6])
    assert calls.total([1, 2, 3]) == 6
    out = np.zeros((), np.int32)
    assert calls.add(1, 2, out=out) is out
    assert out == 3


def test_gradients_of_numbers(gradients: ModuleType) -> None:
    for i in range(1, 100):
        x, y = kf.differentiable(float(i)), kf.differentiable(2.0)
        gradients.product.backward(x, y)
        assert (x.grad, y.grad) == (2, i)
        flowing = kf.differentiable(0.0)
        flowing.grad = 10.0
        gradients.product.backward(x, y, flowing)
        assert (x.grad, y.grad) == (22, 11 * i)
    v, w = kf.differentiable([1.0, 2.0, 3.0]), kf.differentiable(3.0)
    gradients.weighted.backward(v, w)
    np.testing.assert_array_equal(v.grad, [3, 6, 9])
    assert w.grad == 14
    # Many calls add to one number.
    a = kf.differentiable(2.0)
    numbers = np.arange(1000, dtype=np.float32)
    gradients.polynomial.backward(a, 8, -1, numbers)
    assert a.grad == pytest.approx(float((numbers.astype(np.float64) ** 2).sum()), rel=1e-6)


def test_a_refused_call_leaves_arrays_alone(calls: ModuleType) -> None:
    x = np.arange(6, dtype=np.int32)
    out, whole = poisoned(5, np.int32, -1)
    with pytest.raises(ValueError, match=r"result|out"):
        calls.add(x, x, out=out)
    assert (whole == -1).all()
    readonly = np.zeros(6, np.int32)
    readonly.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        calls.add(x, x, out=readonly)
    same = np.zeros(7, np.int32)
    with pytest.raises(ValueError, match="memory"):
        calls.quotient(x, x + 1, same[:6], out=same[1:])
    assert (same == 0).all()
    np.testing.assert_array_equal(calls.add(x, x, out=np.ndarray), 2 * x)


def test_calls_of_many_threads(calls: ModuleType) -> None:
    wrong: list[str] = []

    def work(seed: int) -> None:
        x = np.full(32 + seed, seed, np.int32)
        out = np.zeros_like(x)
        for i in range(200):
            if calls.add(seed, i) != seed + i:
                wrong.append(f"{seed} + {i}")
            calls.add(x, i, out=out)
            if not (out == seed + i).all():
                wrong.append(f"array {seed} + {i}: {out}")

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class InterruptedWaitError(Exception):
    pass


def test_an_interrupted_wait_leaves_outputs_alone_and_memory_in_use(calls: ModuleType) -> None:
    busy = kf.Tensor.from_numpy(np.random.default_rng(1).random(1 << 14, np.float32))
    x = np.arange(32, dtype=np.int32)
    out, whole = poisoned(32, np.int32, -1)

    def stop(number: int, frame: FrameType | None) -> None:
        raise InterruptedWaitError

    def wait_longer_and_longer(act: Callable[[], object]) -> None:
        for power in range(20):
            out[:] = -1
            for _ in range(1 << power):
                calls.simmer(busy)
            act()

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for act in (lambda: calls.add(x, x, out=out), lambda: calls.add(1, 2)):
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with pytest.raises(InterruptedWaitError):
                wait_longer_and_longer(act)
            assert (out == -1).all() or (out == 2 * x).all()
            assert is_around(whole, -1)
            for i in range(100):
                assert calls.add(i, 7) == i + 7
                np.testing.assert_array_equal(calls.add(x, np.int32(i), out=np.ndarray), x + i)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
