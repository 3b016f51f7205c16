"""Operators as functions of the host: their names, values and gradients over whole buffers."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, numbers
from loader import Loader

every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def operators(generated: Loader) -> ModuleType:
    return generated("operators")


def lines(operators: ModuleType, size: int, seed: int = 1) -> Array:
    made = np.zeros(size, operators.Line.dtype)
    made["slope"] = numbers((size,), np.dtype("float32"), seed) + 9
    made["offset"] = numbers((size,), np.dtype("float32"), seed + 1)
    return made


def check(result: kf.Tensor | None, slope: Array, offset: Array) -> None:
    assert result is not None
    np.testing.assert_array_equal(result.to_numpy()["slope"], slope)
    np.testing.assert_array_equal(result.to_numpy()["offset"], offset)


@every_size
def test_plain_operators(operators: ModuleType, size: int) -> None:
    a, b = lines(operators, size), lines(operators, size, 5)
    line = operators.Line(slope=2, offset=-3)
    check(operators.multiply(a, b), a["slope"] * b["slope"], a["slope"] * b["offset"] + a["offset"])
    check(operators.multiply(line, b), 2 * b["slope"], 2 * b["offset"] - 3)
    check(operators.scale(4, a), 4 * a["slope"], 4 * a["offset"])
    check(operators.subtract(a, line), a["slope"] - 2, a["offset"] + 3)
    check(operators.negate(a), -a["slope"], -a["offset"])
    check(operators.shift_left(a, 3), a["slope"], a["offset"] + 3 * a["slope"])
    np.testing.assert_array_equal(operators.is_flatter(a, line).to_numpy(), a["slope"] < 2)
    slope = float(a["slope"][0]) if size else 0.0
    np.testing.assert_array_equal(
        operators.less_equal(a, operators.Line(slope, 0)).to_numpy(), a["slope"] <= slope
    )
    inverse = operators.bit_not(line)
    assert (inverse.slope, inverse.offset) == (0.5, 1.5)


@every_size
def test_operators_that_write(operators: ModuleType, size: int) -> None:
    a = lines(operators, size)
    tensor = kf.Tensor.from_numpy(a)
    operators.increment(tensor)
    check(tensor, a["slope"], a["offset"] + 1)
    operators.multiply_assign(tensor, 2)
    check(tensor, 2 * a["slope"], 2 * (a["offset"] + 1))
    operators.Line.subtract_assign(tensor, 3)
    check(tensor, 2 * a["slope"], 2 * (a["offset"] + 1) - 3)


@every_size
def test_members(operators: ModuleType, size: int) -> None:
    a, x = lines(operators, size), numbers((size,), np.dtype("float32"), 7)
    line = operators.Line(slope=2, offset=-3)
    np.testing.assert_array_equal(line.apply(x).to_numpy(), 2 * x - 3)
    check(operators.Line.add(a, line), a["slope"] + 2, a["offset"] - 3)
    same = (a["slope"] == 2) & (a["offset"] == -3)
    np.testing.assert_array_equal(operators.Line.equal(a, line).to_numpy(), same)
    places = (np.arange(size) % 2).astype(np.int32)
    np.testing.assert_array_equal(line.at(places).to_numpy(), np.where(places == 0, 2, -3))


def test_generic_operators(operators: ModuleType) -> None:
    first = operators.Both_float(first=2.5, second=0)
    np.testing.assert_array_equal(
        operators.first_times(first, np.array([1, 2, -4], np.float32)).to_numpy(), [2.5, 5, -10]
    )
    vectors = operators.divide(
        operators.Both_float3(first=[2, 4, 6], second=[1, 1, 1]),
        operators.Both_float3(first=[2, 2, 4], second=[4, 2, 1]),
    )
    np.testing.assert_array_equal(vectors.first, [1, 2, 1.5])
    np.testing.assert_array_equal(vectors.second, [0.25, 0.5, 1])
    given = np.array([(7, 9), (-7, 20)], operators.Both_int.dtype)
    parts = operators.divide(given, operators.Both_int(first=2, second=3)).to_numpy()
    assert parts.tolist() == [(3, 3), (-3, 6)]
    boxes = np.array([(1,), (5,)], operators.Box.dtype)
    widths = operators.bit_or(boxes, operators.Box(width=3)).to_numpy()["width"]
    np.testing.assert_array_equal(widths, [3, 5])


@every_size
def test_gradients(operators: ModuleType, size: int) -> None:
    a, b = lines(operators, size), lines(operators, size, 5)
    left, right = kf.Tensor.from_numpy(a).with_grads(), kf.Tensor.from_numpy(b).with_grads()
    operators.multiply.backward(left, right)
    check(left.grad, b["slope"] + b["offset"], np.ones(size))
    check(right.grad, a["slope"], a["slope"])

    k = kf.differentiable(4.0)
    operators.scale.backward(k, a)
    np.testing.assert_allclose(k.grad, (a["slope"] + a["offset"]).sum(dtype=np.float64), rtol=1e-6)

    negated = kf.Tensor.from_numpy(a).with_grads()
    operators.negate.backward(negated)
    check(negated.grad, -np.ones(size), -np.ones(size))

    line, x = kf.differentiable(operators.Line(slope=2, offset=-3)), numbers((size,), np.dtype("float32"), 7)
    points = kf.Tensor.from_numpy(x).with_grads()
    operators.Line.apply.backward(line, points)
    assert points.grad is not None
    np.testing.assert_array_equal(points.grad.to_numpy(), np.full(size, 2))
    assert line.grad.slope == pytest.approx(float(x.sum(dtype=np.float64)))
    assert line.grad.offset == size

    places = (np.arange(size) % 2).astype(np.int32)
    line = kf.differentiable(operators.Line(slope=2, offset=-3))
    operators.Line.at.backward(line, places)
    assert (line.grad.slope, line.grad.offset) == ((size + 1) // 2, size // 2)
