"""Results: numbers, tensors, NumPy arrays on request, given ones, and several at once."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, buffer, numbers
from loader import Loader

INT = np.dtype(np.int32)
FLOAT = np.dtype(np.float32)
REQUESTS = [np.ndarray, "numpy"]
every_request = pytest.mark.parametrize("request_", REQUESTS)


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def containers(generated: Loader) -> ModuleType:
    return generated("containers")


def same(found: Any, expected: Any) -> None:
    """An array of exactly this dtype, shape and these elements."""
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, expected, strict=True)


def test_numbers_and_tensors(calls: ModuleType) -> None:
    assert type(calls.add(1, 2)) is int
    assert type(calls.total([1.0, 2.0, 3.0])) is float
    assert type(calls.negate(True)) is bool
    assert type(calls.add([1, 2], 2)) is kf.Tensor
    same(calls.scale([1, 2, 3], 2.0), np.array([2, 4, 6], np.float32))


@every_request
@pytest.mark.parametrize("size", SIZES)
def test_arrays_on_request(calls: ModuleType, request_: Any, size: int) -> None:
    a = numbers((size,), INT, 1)
    same(calls.add(a, 2, out=request_), a + np.int32(2))
    rows = numbers((3, size), INT, 2)
    same(calls.add(rows, a, out=request_), rows + a)
    same(calls.add.call(kf.Tensor.from_numpy(rows)[:, ::-1], a, out=request_), rows[:, ::-1] + a)
    v = numbers((size, 3), FLOAT, 3)
    same(calls.scale(v, 2.0, out=request_), v * np.float32(2))
    same(calls.total(v, out=request_), v.sum(1))


@every_request
def test_arrays_of_one_value(calls: ModuleType, containers: ModuleType, request_: Any) -> None:
    same(calls.add(1, 2, out=request_), np.array(3, np.int32))
    same(calls.halve(3, out=request_), np.array(1.5, np.float16))
    same(calls.negate(True, out=request_), np.array(False))
    same(calls.scale([1, 2, 3], 2.0, out=request_), np.array([2, 4, 6], np.float32))
    m = numbers((2, 3), FLOAT, 1)
    same(containers.mix_float2x3(m, m, out=request_), m * m + m)
    v = numbers((5,), np.dtype(np.float64), 2)
    same(containers.mix_double_5(v, v, out=request_), v * v + v)


@every_request
def test_arrays_among_several_results(calls: ModuleType, request_: Any) -> None:
    x = np.array([1.5, -2.25, 3.75], np.float32)
    parts = calls.split(x, whole=request_)
    assert type(parts.rest) is kf.Tensor
    same(parts.whole, np.floor(x))
    parts = calls.split(x, request_, request_)
    same(parts.whole, np.floor(x))
    same(parts.rest, x - np.floor(x))
    parts = calls.split(2.5, rest=request_)
    assert type(parts.whole) is float
    same(parts.rest, np.array(0.5, np.float32))
    y = np.array([7, 9, 11], np.int32)
    outcome = calls.quotient(y, 4, out=request_)
    same(outcome.result, y // 4)
    np.testing.assert_array_equal(outcome.rest.to_numpy(), y % 4)


@pytest.mark.parametrize("layout", ["contiguous", "spread", "offset"])
@pytest.mark.parametrize("size", SIZES)
def test_given_ones(calls: ModuleType, layout: str, size: int) -> None:
    x = numbers((size,), FLOAT, 1)
    whole, rest = buffer((size,), FLOAT, layout), buffer((size,), FLOAT, layout)
    parts = calls.split(x, whole.tensor, rest=rest.array)
    assert parts.whole is whole.tensor
    assert parts.rest is rest.array
    np.testing.assert_array_equal(rest.array, x - np.floor(x))
    rest.array[...] = 77
    np.testing.assert_array_equal(rest.whole_array, np.full_like(rest.whole_array, 77))
    whole.array[...] = np.floor(x)
    whole.check()


def test_requests_that_cant_be(calls: ModuleType) -> None:
    a = np.array([1, 2], np.int32)
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: calls.add(np.ndarray, 1), "add: argument 'a'"),
        (lambda: calls.add(a, 1, out=np.generic), "out=np.ndarray makes a new array"),
        (lambda: calls.split(a.astype(np.float32), "numpy", whole=np.ndarray), "'whole': given twice"),
        (lambda: calls.advance(np.ndarray, 1.0), "advance: argument 'x'"),
        (
            lambda: calls.add.append_to(kf.default_device().encoder(), a, 1, out=np.ndarray),
            "a recorded call writes when the encoder is submitted",
        ),
    ]
    for make, text in cases:
        with pytest.raises(kf.ArgumentError) as caught:
            make()
        assert text in str(caught.value)
        assert caught.value.code == "type-mismatch"


def test_requests_of_backward_calls(containers: ModuleType) -> None:
    m = kf.Tensor.from_numpy(np.ones((5, 2, 3), np.float32)).with_grads()
    with pytest.raises(kf.ArgumentError, match="a backward pass takes the output itself"):
        containers.mix_float2x3.backward(m, m.detach(), np.ndarray)
