"""Functions whose arguments lie in other dimensions of the call, picked by .map(), against NumPy."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import buffer, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)
SHAPES = [(1, 1), (3, 5), (5, 3), (33, 130)]


@pytest.fixture(scope="module")
def maps(generated: Loader) -> ModuleType:
    return generated("maps")


@pytest.mark.parametrize("layout", ["contiguous", "spread", "offset"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_vector_along_either_dimension(maps: ModuleType, shape: tuple[int, int], layout: str) -> None:
    x = buffer(shape, FLOAT, layout, numbers(shape, FLOAT, 1))
    by_row, by_column = numbers((shape[0],), FLOAT, 2), numbers((shape[1],), FLOAT, 3)
    rows = maps.weigh(x.tensor, by_row).to_numpy()
    np.testing.assert_array_equal(rows, x.array * by_row[:, None])
    for function in (
        maps.weigh.map(w=[1]),
        maps.weigh.map({"w": (1,), "x": [0, 1]}),
        maps.weigh.map(w=[0]).map(w=[1]),
        maps.weigh.options(variant="by_column"),
    ):
        columns = function(x.tensor, by_column).to_numpy()
        np.testing.assert_array_equal(columns, x.array * by_column[None, :])
    back = maps.weigh.map(w=[1]).map(w=[0])
    np.testing.assert_array_equal(back(x.tensor, by_row).to_numpy(), rows)
    x.check()


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_are_mapped_alike(maps: ModuleType, shape: tuple[int, int]) -> None:
    values, weights = numbers(shape, FLOAT, 1), numbers((shape[1],), FLOAT, 2)
    flow = numbers(shape, FLOAT, 3)
    x, w = kf.Tensor.from_numpy(values).with_grads(), kf.Tensor.from_numpy(weights).with_grads()
    weigh = maps.weigh.map(w=[1])
    y = weigh(x, w).with_grads(grad_in=kf.Tensor.from_numpy(flow))
    weigh.backward(x, w, y)
    assert x.grad is not None
    assert w.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), weights[None, :] * flow)
    exact = (values.astype(np.float64) * flow).sum(axis=0)
    np.testing.assert_allclose(w.grad.to_numpy(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_results_are_mapped_too(maps: ModuleType, shape: tuple[int, int]) -> None:
    x = numbers(shape, FLOAT, 1)
    out = buffer(shape[::-1], FLOAT, "spread")
    maps.turned.map(x=[1, 0], result=[0, 1])(x, out=out.tensor)
    out.array[...] = x.T
    out.check()
    encoder = kf.default_device().encoder()
    back = maps.turned.map(result=[1, 0]).append_to(encoder, kf.Tensor.from_numpy(x))
    encoder.submit()
    np.testing.assert_array_equal(back.to_numpy(), x)


REFUSALS: list[tuple[Callable[[ModuleType], Any], str, str]] = [
    (
        lambda m: m.weigh.map(w=[2]),
        "unknown-name",
        r"nothing was generated with w \[2\]; there is: weigh \(.*; its calls have rank 2, and those of "
        r'another rank are a function of their own: .*"w": \{"kind": …, "map": \[2\]\} among its "args"$',
    ),
    (
        lambda m: m.weigh.map(x=[1, 0], w=[0]),
        "unknown-name",
        r'; for that, its call needs "variants": \{"NAME": \{"map": \{"x": \[1, 0\], "w": \[0\]\}\}\}$',
    ),
    (lambda m: m.weigh.map(v=[1]), "unknown-name", r"v \[1\]; there is: .*w \[0\].*by_column.*w \[1\].*\)$"),
    (lambda m: m.weigh.map(w=[0, 1]), "unknown-name", r"w \[0, 1\]; there is: .*\)$"),
    (lambda m: m.plain.map(x=[1]), "unknown-name", r"there is: plain \(x \[0\], result \[0\]\)"),
    (lambda m: m.turned.map(x=[1, 0]), "unknown-name", r"more than one was generated with x \[1, 0\]"),
    (lambda m: m.weigh.map(3), "type-mismatch", r"as in \{\"w\": \[1\]\}, not 3"),
    (lambda m: m.weigh.map(w=1), "type-mismatch", "argument 'map'"),
    (lambda m: m.weigh.map(w=["x"]), "type-mismatch", "argument 'map'"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals(maps: ModuleType, number: int) -> None:
    call, code, message = REFUSALS[number]
    with pytest.raises(kf.ArgumentError, match=message) as caught:
        call(maps)
    assert caught.value.code == code


def test_copies_of_a_variant_share_what_describes_it(maps: ModuleType) -> None:
    """Classes of results too: they are the same for every copy."""
    weigh = maps.weigh
    assert weigh.map(w=[1]).__doc__ is weigh.map(w=[1]).__doc__
    assert weigh.options(variant="by_column").__doc__ is weigh.map(w=[1]).__doc__


def test_numbers_that_are_none_of_a_dimension(maps: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="expected a number of a dimension, found") as caught:
        maps.weigh.map(w=[2**70])
    assert caught.value.code == "value-range"
    with pytest.raises(kf.ArgumentError, match="expected a number from 0 to"):
        maps.turned.options(threads=[2**70])
    with pytest.raises(kf.ArgumentError, match=r" not .*True"):
        maps.weigh.map(w=[True])
    with pytest.raises(kf.ArgumentError, match=r" not .*True"):
        maps.turned.options(threads=[True])
