"""Fields of structs that have values in Slang where nobody gives them."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

#: Of `summed`, but for `rate`.
SUM = (0.9 - 0.5 + 1 + 0.5 - 128 + 100 + 7) + (1000 + 20 + 3 + 6) + 0.5 + 0.125 + (2 + 3 + 5 + 6)


@pytest.fixture(scope="module")
def defaults(generated: Loader) -> ModuleType:
    return generated("field_defaults")


def inner(defaults: ModuleType) -> Any:
    return defaults.Inner()


def test_every_type(defaults: ModuleType) -> None:
    made = defaults.Settings(rate=3, inner=inner(defaults))
    assert (made.beta, made.least, made.exact, made.small) == (0.9, -0.5, 1e-300, 0.5)
    assert (made.byte, made.large, made.lowest) == (-128, 2**64 - 1, -(2**63))
    assert made.on is True
    assert made.mode == 7
    assert (made.up, made.turn, made.weights) == ([0, 1, 0], [[1, 2], [3, 4]], [1, 2, 3])
    assert made.inner == defaults.Inner([2, 3], 3)
    assert made.other == defaults.Inner([4, 5], 6)
    assert defaults.summed(made) == pytest.approx(SUM + 3, rel=1e-6)
    assert defaults.summed(defaults.Settings(3, beta=1.9, inner=inner(defaults))) == pytest.approx(
        SUM + 4, rel=1e-6
    )


@pytest.mark.parametrize("nested", [lambda _: {}, inner, lambda _: {"steps": 3}])
def test_dicts(defaults: ModuleType, nested: Callable[[ModuleType], Any]) -> None:
    assert defaults.summed({"rate": 3, "inner": nested(defaults)}) == pytest.approx(SUM + 3, rel=1e-6)


def test_each_object_has_its_own(defaults: ModuleType) -> None:
    one, other = (defaults.Settings(rate=3, inner=inner(defaults)) for _ in range(2))
    one.up[0] = 5
    one.other.steps = 9
    assert other.up == [0, 1, 0]
    assert other.other.steps == 6


def test_what_has_no_default(defaults: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="Settings: field 'rate' is missing"):
        defaults.Settings(inner=inner(defaults))
    with pytest.raises(kf.ArgumentError, match="field 'inner' of Settings is missing"):
        defaults.summed({"rate": 3})
    with pytest.raises(kf.ArgumentError, match="Settings has no field 'bet'"):
        defaults.summed({"rate": 3, "inner": {}, "bet": 1})


@pytest.mark.parametrize("make", ["class", "dict"])
def test_fields_beside_tensors(defaults: ModuleType, make: str) -> None:
    values = np.array([1, 2, 3], np.float32)
    x = kf.Tensor.from_numpy(values).with_grads()
    adam = defaults.Adam(x) if make == "class" else {"value": x}
    np.testing.assert_allclose(defaults.stepped(adam, 10).to_numpy(), values - 0.9, rtol=1e-6)
    defaults.stepped.backward(adam, 10)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), np.ones(3))
    assert defaults.stepped({"value": 2}, 10) == pytest.approx(1.1)


# A tangent that lacks fields is 0 there, whatever they are by default.
def test_tangents_have_no_defaults(defaults: ModuleType) -> None:
    y, dy = defaults.stepped.jvp({"value": 2}, 10, tangents={"adam": {"value": 3}})
    assert (y, dy) == (pytest.approx(1.1), 3)


def test_constructors_of_what_holds_tensors(defaults: ModuleType) -> None:
    weights = kf.Tensor.from_numpy(np.arange(5, dtype=np.float32))
    at = np.array([0, 2], np.uint32)
    np.testing.assert_array_equal(defaults.Layer(weights).at(at).to_numpy(), [12, 16])
    np.testing.assert_array_equal(defaults.Layer(weights, offset=0, **{"from_": 2}).at(at).to_numpy(), [4, 8])
    np.testing.assert_array_equal(defaults.Layer(weights, scale=1).at(at).to_numpy(), [11, 13])


def test_constructors_that_do_not_agree(defaults: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="Either: field 'kind' is missing"):
        defaults.Either(2)
    assert defaults.told(defaults.Either(2, 3)) == 6


def test_globals(defaults: ModuleType) -> None:
    lens = defaults.Lens(1, inner=inner(defaults))
    assert (lens.gain, lens.inner.steps) == (0.9, 3)
    seen = defaults.seen.set(
        lens={"focus": 1, "inner": {}}, lenses=[lens, {"focus": 0, "inner": inner(defaults)}]
    )
    assert seen(2) == pytest.approx(1.8 + 1 + 3 + 90, rel=1e-6)
