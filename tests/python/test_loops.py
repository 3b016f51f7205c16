"""Gradients through nested loops, and through loops that break, return and continue, against float64."""

from collections.abc import Callable
from types import ModuleType

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

Doubles = npt.NDArray[np.complex128]
XS = np.array([0.75, -0.5, 0.25, 1.0], np.float32)


@pytest.fixture(scope="module")
def loops(generated: Loader) -> ModuleType:
    return generated("loops")


def gradient(tensor: kf.Tensor) -> npt.NDArray[np.float32]:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


def derivative(
    function: Callable[[Doubles], Doubles],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Values and derivatives at XS, by a complex step: exact to the last digits."""
    step = 1e-30
    result = function(XS.astype(np.complex128) + 1j * step)
    return result.real, result.imag / step


def test_layer(loops: ModuleType) -> None:
    weights = np.random.default_rng(4).uniform(-1, 1, (3, 8)).astype(np.float32)
    w = kf.Tensor.from_numpy(weights).with_grads()
    x = kf.Tensor.from_numpy(XS).with_grads()
    y = loops.layer(w, x)
    loops.layer.backward(w, x, y)
    sums = 0.5 * weights.astype(np.float64).sum(1)
    xs = XS.astype(np.float64)
    np.testing.assert_allclose(y.to_numpy(), (sums**2).sum() * xs**2, rtol=1e-5)
    np.testing.assert_allclose(gradient(x), 2 * (sums**2).sum() * xs, rtol=1e-5)
    expected = np.broadcast_to((sums * (xs**2).sum())[:, None], (3, 8))
    np.testing.assert_allclose(gradient(w), expected, rtol=1e-5)


def iterated(x: Doubles, rows: int) -> Doubles:
    total = 0 * x
    for _ in range(2):
        s = x
        for column in range(7):
            s = s * x + 0.25 * s * s
            if column <= rows:
                total = total + s
        total = total + s * s
    return total


def deep(x: Doubles, _: int) -> Doubles:
    s = x
    for i in range(3):
        for j in (1, 2):
            if i == 1 and j == 1:
                continue
            for _k in range(3):
                s = 0.5 * s + 0.25 * x * s * s
            if i == 2:
                break
    return s


def left_by_return(x: Doubles, last: int) -> Doubles:
    s = x
    for _ in range(min(last, 9)):
        s = s * s * 0.5 + x
    return s * x if last <= 9 else s


def skipping(x: Doubles, skipped: int) -> Doubles:
    s = x
    for _ in range(4 if 1 <= skipped <= 5 else 5):
        s = s * x + 0.5
    return s


def endless(x: Doubles, last: int) -> Doubles:
    s = x
    for _ in range(last - 1 if last >= 2 else last):
        s = s * x + 0.5
    return s


def part_in_loop(x: Doubles, n: int) -> Doubles:
    return sum([x, x**3, x][:n], 0 * x) * x**3


def part_in_some(x: Doubles, n: int) -> Doubles:
    parts = [(x * i) ** 3 for i in range(1, n + 1)]
    return sum(parts, 0 * x) + sum((part**2 for part in parts[1::2]), 0 * x)


def array_in_loop(x: Doubles, n: int) -> Doubles:
    return sum((x ** (i + 2) for i in range(n)), 0 * x)


def drained_twice(x: Doubles, n: int) -> Doubles:
    first = x * x + 2 * x
    return first + 1.5 + (0.25 + 0.25 * n) * x + 0.25


@pytest.mark.parametrize(
    ("name", "reference", "argument"),
    [
        ("iterated", iterated, 3),
        ("iterated", iterated, 9),
        ("deep_three", deep, 0),
        *[("left_by_break", lambda x, last: x ** min(last, 9), last) for last in (1, 5, 9, 20)],
        *[("left_by_return", left_by_return, last) for last in (1, 5, 9, 20)],
        *[("skipping", skipping, skipped) for skipped in (0, 1, 3, 5)],
        *[("endless", endless, last) for last in (0, 1, 2, 8)],
        *[("part_in_loop", part_in_loop, n) for n in (2, 3)],
        *[("part_in_some", part_in_some, n) for n in (1, 3, 5)],
        *[("array_in_loop", array_in_loop, n) for n in (1, 3)],
        *[("drained_twice", drained_twice, n) for n in (2, 3)],
    ],
)
def test_loops(
    loops: ModuleType, name: str, reference: Callable[[Doubles, int], Doubles], argument: int
) -> None:
    function = getattr(loops, name)
    x = kf.Tensor.from_numpy(XS).with_grads()
    arguments = (x,) if name == "deep_three" else (x, argument)
    y = function(*arguments)
    function.backward(*arguments, y)
    value, slope = derivative(lambda z: reference(z, argument))
    np.testing.assert_allclose(y.to_numpy(), value, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(gradient(x), slope, rtol=1e-3, atol=1e-5)


def test_long_loops_run_to_their_end(loops: ModuleType) -> None:
    """llvmpipe ends a thread's loops after 65,535 iterations, and threads make several calls."""
    x = kf.Tensor.from_numpy(np.ones(2 * 262_144, np.float32))
    for one in (x[::2], x[::2][:20_000], x[:20_000]):
        assert set(loops.counted(8_000, one).to_numpy()) == {8_000}
