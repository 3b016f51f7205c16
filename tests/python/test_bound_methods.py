"""Methods of one object, configured as functions are, against NumPy."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from arrays import numbers
from loader import Loader

FLOAT = np.dtype(np.float32)
SHAPES = [(1, 1), (3, 5), (33, 130)]
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def module(generated: Loader) -> ModuleType:
    return generated("globals")


def tensor(values: Array) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.ascontiguousarray(values))


def close(found: Any, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_calls(module: ModuleType, shape: tuple[int, int]) -> None:
    x, rows, columns = numbers(shape, FLOAT, 1), numbers(shape[:1], FLOAT, 2), numbers(shape[1:], FLOAT, 3)
    lamp = module.Lamp(power=3.0)
    shine = lamp.shine.set({"look.gain": 2})
    by_column = shine.map(w=[1])
    close(shine(x, rows).to_numpy(), 6.0 * x * rows[:, None])
    for one in (by_column, shine.options(variant="by_column"), by_column.map(w=[0]).map({"w": (1,)})):
        close(one(x, columns).to_numpy(), 6.0 * x * columns)
    close(by_column.set({"look.gain": 5}).call(x, columns).to_numpy(), 15.0 * x * columns)
    hooked = by_column.hook(lambda context: context.set({"look.gain": 7}))
    close(hooked(x, columns).to_numpy(), 21.0 * x * columns)
    # A configured copy changes neither the method that it was made of nor the class's.
    close(by_column(x, columns).to_numpy(), 6.0 * x * columns)
    with pytest.raises(kf.ArgumentError, match=r"look\.gain"):
        lamp.shine(x, rows)
    encoder = kf.default_device().encoder()
    recorded = by_column.append_to(encoder, tensor(x), tensor(columns))
    encoder.submit()
    close(recorded.to_numpy(), 6.0 * x * columns)


@pytest.mark.parametrize("shape", SHAPES)
def test_derivatives_inherit(module: ModuleType, shape: tuple[int, int]) -> None:
    values, weights, flow = (
        numbers(shape, FLOAT, 1),
        numbers(shape[1:], FLOAT, 2),
        numbers(shape, FLOAT, 3),
    )
    lamp = module.Lamp(power=kf.differentiable(3.0))
    shine = module.Lamp(power=3.0).shine.set({"look.gain": 2}).map(w=[1])
    x, w = tensor(values).with_grads(), tensor(weights).with_grads()
    y = shine(x, w).with_grads(grad_in=tensor(flow))
    shine.backward(x, w, y)
    wide = values.astype(np.float64) * flow
    close(x.grad.to_numpy() if x.grad else None, 6.0 * weights * flow)
    close(w.grad.to_numpy() if w.grad else None, 6.0 * wide.sum(axis=0))
    given = kf.differentiable({"power": 3.0})
    module.Lamp.shine.set({"look.gain": 2}).map(w=[1]).backward(given, x, w, y)
    close(given.grad["power"], np.float64(2.0) * (wide * weights).sum())
    result, tangent = shine.jvp(x, w, tangents={"w": np.ones(shape[1], np.float32)})
    close(result.to_numpy(), 6.0 * values * weights)
    close(tangent.to_numpy(), 6.0 * values)
    assert "Lamp.shine" in repr(lamp.shine.backward)


def test_ways_to_accumulate(module: ModuleType) -> None:
    x, weights = numbers((3, 5), FLOAT, 1), numbers((3,), FLOAT, 2)
    shine = module.Lamp(power=3.0).shine.set({"look.gain": 2})
    y = shine(x, weights)
    summed = tensor(weights).with_grads()
    for one in (shine, shine.accumulate({"w.grad": "push"}).accumulate({"w.grad": "sum"})):
        one.backward(x, summed, y)
    close(summed.grad.to_numpy() if summed.grad else None, 2 * 6.0 * x.sum(axis=1))
    pushed = tensor(weights).with_grads(grad_out=kf.Tensor.zeros((3, 5)))
    shine.accumulate({"w.grad": "push"}).backward(x, pushed, y)
    close(pushed.grad_out.to_numpy() if pushed.grad_out else None, 6.0 * x)


def test_launches(module: ModuleType) -> None:
    fill = module.Lamp(power=3.0).fill.set({"look.gain": 2})
    for launched, count in ((fill.threads(5), 5), (fill.threads(3, 1, 1), 3), (fill.groups(1), 9)):
        x = tensor(np.full(9, 7, np.float32))
        assert launched(x) is None
        close(x.to_numpy(), np.where(np.arange(9) < count, 6.0, 7.0))
    x = tensor(np.full(9, 7, np.float32))
    fill(x).launchRaw(blockSize=256, gridSize=1)
    close(x.to_numpy(), np.full(9, 6.0))
    out = kf.Tensor.zeros(9).with_grads(grad_in=tensor(np.arange(9, dtype=np.float32)))
    lamp = module.Lamp(power=3.0)
    given = kf.differentiable({"power": 3.0})
    module.Lamp.fill.set({"look.gain": 2}).threads(9).backward(given, out)
    close(given.grad["power"], np.float64(72))
    with pytest.raises(kf.ArgumentError, match="no input carries a gradient"):
        lamp.fill.set({"look.gain": 2}).backward(out).launchRaw(blockSize=256, gridSize=1)


def test_facts(module: ModuleType) -> None:
    shine = module.Lamp(power=3.0).shine
    assert shine.name == "Lamp.shine"
    assert shine.globals == ["look.gain"]
    assert shine.signatures == module.Lamp.shine.signatures
    assert repr(shine.map(w=[1])).startswith("<kernel method Lamp.shine")
    assert type(shine.options(deterministic=False)) is kf.BoundFunction


REFUSALS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda lamp: lamp.shine.map(w=[2]), "w \\[2\\]"),
    (lambda lamp: lamp.shine.map(3), "argument 'map'"),
    (lambda lamp: lamp.shine.set(tint=(1, 1, 1)), "tint"),
    (lambda lamp: lamp.shine.options(variant="wide"), "wide"),
    (lambda lamp: lamp.shine.accumulate(result="first"), "result"),
    (lambda lamp: lamp.shine.typeconformance({"IVal": ["Val10"]}), "IVal"),
    (lambda lamp: lamp.shine.threads(3), "a call for each element"),
    (lambda lamp: lamp.shine.groups(3), "a call for each element"),
    (lambda lamp: lamp.fill.threads(0.5), "threads"),
    (lambda lamp: lamp.shine.hook(3), "hook"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals(module: ModuleType, number: int) -> None:
    configure, message = REFUSALS[number]
    with pytest.raises(kf.ArgumentError, match=message):
        configure(module.Lamp(power=3.0))
