"""Slang's own Optional, Tuple and DifferentialPair, everywhere and with gradients, against NumPy."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from arrays import array, tensor
from generating import Generator
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def own(generated: Loader) -> ModuleType:
    return generated("slang_structs")


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(np.float32)


def optionals(dtype: Any, values: Array, there: Array) -> Array:
    """A structured array; where there is none, a value that nobody may read."""
    made: Array = np.zeros(len(values), dtype)
    made["value"] = values
    made["has_value"] = there
    return made


# ---- Optional ----


def test_optional_takes_a_value_or_none(own: ModuleType) -> None:
    assert own.or_one(2.5) == 2.5
    assert own.or_one(None) == 1
    assert own.or_one(own.Optional_float(3, True)) == 3
    assert own.or_one({"value": 4, "has_value": True}) == 4
    assert own.or_one({"value": 4, "has_value": False}) == 1
    assert own.or_one(np.array((5, True), own.Optional_float.dtype)[()]) == 5
    assert own.or_one(0) == 0, "a value, though false"


def test_optional_comes_back_as_a_value_or_none(own: ModuleType) -> None:
    assert own.root(4) == 2
    assert own.root(-4) is None
    assert own.both(True, False) is False
    assert own.both(True, True) is True
    assert own.both(None, True) is None


def test_optional_vectors_and_structs(own: ModuleType) -> None:
    x = numbers(3)
    tint = np.array([1, 2, 4], np.float32)
    np.testing.assert_array_equal(array(own.tinted(tint, tensor(x))), x[:, None] * tint)
    np.testing.assert_array_equal(array(own.tinted([1, 2, 4], tensor(x))), x[:, None] * tint)
    np.testing.assert_array_equal(array(own.tinted(None, tensor(x))), np.repeat(x[:, None], 3, axis=1))
    light = own.Light(tint=[1, 2, 3], id=4, power=0.5)
    made = own.brighter(light, 2)
    np.testing.assert_array_equal(made.tint, [1, 2, 3])
    assert (made.id, made.power) == (8, 2.5)
    assert own.brighter({"tint": [1, 2, 3], "id": 4, "power": 0.5}, 2) == made
    assert own.brighter(None, 2) is None
    assert own.brighter(light, -1) is None


def test_optional_inout_and_out(own: ModuleType) -> None:
    assert tuple(own.step(4)) == (5, 2.0)
    assert tuple(own.step(None)) == (0, None)


def test_optional_arrays(own: ModuleType) -> None:
    assert own.total([1, None, 2]) == 1 + 6
    assert own.total([None, None, None]) == 0
    assert own.total([1, 2, 3]) == 14


@pytest.mark.parametrize("count", [0, 1, 33])
def test_optional_tensors(own: ModuleType, count: int) -> None:
    values, there = numbers(count, seed=1), np.arange(count) % 3 != 0
    given = optionals(own.Optional_float.dtype, values, there)
    wanted = np.where(there, values, 1).astype(np.float32)
    np.testing.assert_array_equal(array(own.or_one(tensor(given))), wanted)
    np.testing.assert_array_equal(array(own.or_one(tensor(np.repeat(given, 2))[::2])), wanted)
    if count:
        listed = [value if is_there else None for value, is_there in zip(values, there, strict=True)]
        np.testing.assert_array_equal(array(own.or_one(listed)), wanted)
    x = values * np.where(there, 1, -1).astype(np.float32)
    found = array(own.root(tensor(x)))
    np.testing.assert_array_equal(found["has_value"], there)
    np.testing.assert_array_equal(found["value"], np.where(there, np.sqrt(values), 0))
    apart = own.root_fields(tensor(x))
    np.testing.assert_array_equal(array(apart.has_value), there)
    np.testing.assert_array_equal(array(apart.value), np.where(there, np.sqrt(values), 0))
    by_field = {"value": tensor(values), "has_value": tensor(there)}
    np.testing.assert_array_equal(array(own.or_one(by_field)), wanted)
    np.testing.assert_array_equal(
        array(own.or_one(own.Optional_float(tensor(values), tensor(there)))), wanted
    )


def test_optional_tensors_inout_and_out(own: ModuleType) -> None:
    counts, there = np.arange(9, dtype=np.int32), np.arange(9) % 2 == 1
    given = tensor(optionals(own.Optional_int.dtype, counts, there))
    half_of = kf.Tensor.zeros(9, own.Optional_double.dtype)
    own.step_all(given, half_of)
    found, half = array(given), array(half_of)
    assert found["has_value"].all()
    np.testing.assert_array_equal(found["value"], np.where(there, counts + 1, 0))
    np.testing.assert_array_equal(half["has_value"], there)
    np.testing.assert_array_equal(half["value"], np.where(there, counts * 0.5, 0))


def test_a_plain_value_takes_the_plain_overload(own: ModuleType) -> None:
    assert own.which(1.5) == 2
    assert own.which(1) == 2
    assert own.which(None) == 0
    assert own.which(own.Optional_float(1, True)) == 1
    for value, found in [(1.5, 2), (None, 0), (1.5, 2), (None, 0)] * 3:
        assert own.which(value) == found, "calls that are known by now"


# ---- Tuple ----


def test_tuples(own: ModuleType) -> None:
    assert own.mixed((1.5, 4)) == 6
    assert own.mixed([1.5, 4]) == 6
    assert own.mixed(own.Tuple_float_int(1.5, 4)) == 6
    assert own.mixed({"_0": 1.5, "_1": 4}) == 6
    found = own.parts(2.75)
    assert found == (0.75, 2)
    assert type(found) is tuple
    assert own.swap((1, 2)) == (2, 1)
    first, (vector, count) = own.turned((1, ([2, 3], 4)), 10)
    assert (first, vector.tolist(), count) == (10, [3, 2], 5)


def test_tuples_of_other_things(own: ModuleType) -> None:
    light = own.Light(tint=[1, 2, 3], id=4, power=0.5)
    assert own.pick((2.5, light), True) == (2.5, light)
    assert own.pick((None, light), True) == (None, light)
    assert own.pick((None, light), False) == (0.5, light)


@pytest.mark.parametrize("count", [0, 1, 33])
def test_tuple_tensors(own: ModuleType, count: int) -> None:
    x = numbers(count) * 7
    found = array(own.parts(tensor(x)))
    np.testing.assert_array_equal(found["_1"], np.floor(x))
    np.testing.assert_array_equal(found["_0"], x - np.floor(x))
    np.testing.assert_array_equal(array(own.mixed(tensor(found))), found["_0"] * found["_1"])
    apart = own.parts_fields(tensor(x))
    first, second = apart._0, apart._1
    np.testing.assert_array_equal(array(first), found["_0"])
    np.testing.assert_array_equal(array(second), found["_1"])
    np.testing.assert_array_equal(array(own.mixed((first, 3))), found["_0"] * 3)
    if count:
        listed = [(float(a), int(b)) for a, b in zip(found["_0"], found["_1"], strict=True)]
        np.testing.assert_array_equal(array(own.mixed(listed)), found["_0"] * found["_1"])
        turned = array(own.turned([(a, ([a, b], b)) for a, b in listed], 2))
        np.testing.assert_array_equal(turned["_0"], found["_0"] * 2)
        np.testing.assert_array_equal(turned["_1"]["_0"][:, 0], found["_1"])
        np.testing.assert_array_equal(turned["_1"]["_1"], found["_1"] + 1)


def test_wrong_values_are_refused(own: ModuleType) -> None:
    with pytest.raises(kf.Error, match=r"argument 's.ends': .*a tuple of 2, a dict or an object") as caught:
        own.changed({"gain": 1, "ends": (1, 2, 3), "bias": 0}, 1)
    assert caught.value.code == "type-mismatch"
    with pytest.raises(kf.Error, match=r"argument 't._1'"):
        own.mixed((1, 2.5))
    with pytest.raises(kf.Error, match=r"argument 'k.value'"):
        own.or_one("three")
    with pytest.raises(kf.Error, match="field 'value' of Optional<float> is missing"):
        own.or_one({"has_value": True})
    with pytest.raises(kf.Error, match="argument 't'"):
        own.mixed(None)


# ---- DifferentialPair ----


def test_pairs(own: ModuleType) -> None:
    given = {"p": [1, 2, 3], "d": [1, 0, -1]}
    np.testing.assert_array_equal(own.moved(given, 2), [3, 2, 1])
    found = own.square({"p": 3, "d": 0.5})
    assert (found.p, found.d) == (9, 3)
    assert own.square(found).p == 81
    p, d = numbers(33), numbers(33, seed=1)
    whole: Array = np.zeros(33, own.DifferentialPair_float.dtype)
    whole["p"], whole["d"] = p, d
    made = array(own.square(tensor(whole)))
    np.testing.assert_array_equal(made["p"], p * p)
    np.testing.assert_allclose(made["d"], 2 * p * d, rtol=1e-6)
    made = array(own.square({"p": tensor(p), "d": tensor(d)}))
    np.testing.assert_array_equal(made["p"], p * p)
    np.testing.assert_allclose(made["d"], 2 * p * d, rtol=1e-6)


# ---- Fields ----


def test_fields(own: ModuleType) -> None:
    found = own.changed(own.Setup(gain=None, ends=(1, [2, 3]), bias=0.5), 2)
    assert (found.gain, found.bias) == (2, 2.5)
    assert found.ends[0] == 3
    np.testing.assert_array_equal(found.ends[1], [4, 6])
    again = own.changed(found, 0.5)
    assert (again.gain, again.ends[0], again.bias) == (1, 3.5, 3)
    many = array(own.changed([found, {"gain": None, "ends": (1, [2, 3]), "bias": 1}], 2))
    assert many["gain"]["value"].tolist() == [4, 2]
    assert many["gain"]["has_value"].all()
    assert many["ends"]["_0"].tolist() == [5, 3]
    assert many["ends"]["_1"].tolist() == [[8, 12], [4, 6]]


# ---- Derivatives ----


def differences(f: Callable[[Array], float], x: Array, step: float = 1e-5) -> Array:
    """Central differences of what is computed in float64."""
    found = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = np.zeros(x.shape)
        moved[i] = step
        found[i] = (f(x + moved) - f(x - moved)) / (2 * step)
    return found


def flowing(count: int) -> Array:
    return numbers(count, seed=77)


def result_of(values: Array) -> tuple[kf.Tensor, Array]:
    """A result whose gradient flows in."""
    result = tensor(np.zeros(len(values), np.float32)).with_grads(grad_in=tensor(flowing(len(values))))
    return result, flowing(len(values)).astype(np.float64)


def differentiable(values: Array) -> kf.Tensor:
    return tensor(values).with_grads()


def test_gradient_of_an_optional(own: ModuleType) -> None:
    x = numbers(33)
    wide, gain = x.astype(np.float64), 1.5
    for value in [gain, own.Optional_float(gain, True), {"value": gain, "has_value": True}]:
        given, xs = kf.differentiable(value), differentiable(x)
        result, by = result_of(x)
        for _ in range(2):
            own.scaled.backward(given, xs, result)
        np.testing.assert_allclose(array(xs.grad_out), 2 * by * 2 * wide * gain**2, rtol=1e-5)
        grad = given.grad
        grad = grad["value"] if isinstance(grad, dict) else getattr(grad, "value", grad)
        np.testing.assert_allclose(grad, 2 * (by * 2 * gain * wide**2).sum(), rtol=1e-5)
    xs = differentiable(x)
    result, by = result_of(x)
    own.scaled.backward(None, xs, result)
    np.testing.assert_allclose(array(xs.grad_out), by, rtol=1e-5)
    given = kf.differentiable({"value": gain, "has_value": False})
    own.scaled.backward(given, xs, result)
    assert given.grad["value"] == 0


@pytest.mark.parametrize("by_field", [False, True])
def test_gradients_of_optionals(own: ModuleType, by_field: bool) -> None:
    x, values, there = numbers(33), numbers(33, seed=1), np.arange(33) % 3 != 0
    xs = differentiable(x)
    result, by = result_of(x)
    if by_field:
        inner = differentiable(values)
        own.scaled.backward({"value": inner, "has_value": tensor(there)}, xs, result)
        found = array(inner.grad_out)
    else:
        given = differentiable(optionals(own.Optional_float.dtype, values, there))
        own.scaled.backward(given, xs, result)
        found = array(given.grad_out)["value"]
    wide, k = x.astype(np.float64), values.astype(np.float64)
    np.testing.assert_allclose(found, np.where(there, by * 2 * k * wide**2, 0), rtol=1e-5)
    np.testing.assert_allclose(array(xs.grad_out), by * np.where(there, 2 * wide * k**2, 1), rtol=1e-5)


def test_gradient_through_an_optional_result(own: ModuleType) -> None:
    x = numbers(33) * np.where(np.arange(33) % 3 != 0, 1, -1).astype(np.float32)
    xs = differentiable(x)
    result = own.cube(xs)
    by: Array = np.zeros(33, own.Optional_float.dtype)
    by["value"] = flowing(33)
    own.cube.backward(xs, result.with_grads(grad_in=tensor(by)))
    wide = x.astype(np.float64)
    np.testing.assert_allclose(array(xs.grad_out), np.where(x < 0, 0, flowing(33) * 3 * wide**2), rtol=1e-5)
    for number, wanted in [(2.0, 6), (-2.0, 0)]:
        one, made = kf.differentiable(number), kf.differentiable(8.0)
        made.grad = 0.5
        own.cube.backward(one, made)
        assert one.grad == wanted


def test_gradient_of_an_optional_struct(own: ModuleType) -> None:
    n = numbers(9, 3)
    light = own.Light(tint=[1, 2, 3], id=4, power=0.5)
    given, ns = kf.differentiable(light), differentiable(n)
    result, by = result_of(n)
    own.lit.backward(given, ns, result)
    wide = n.astype(np.float64)
    np.testing.assert_allclose(given.grad.tint, (by[:, None] * wide * 0.5).sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(given.grad.power, (by * (wide @ [1, 2, 3])).sum(), rtol=1e-5)
    np.testing.assert_allclose(array(ns.grad_out), by[:, None] * 0.5 * np.array([1, 2, 3]), rtol=1e-5)


def test_gradients_of_tuples(own: ModuleType) -> None:
    x, firsts, seconds = numbers(33), numbers(33, seed=1), numbers(33, 2, seed=2)
    whole: Array = np.zeros(33, own.Tuple_float_float2.dtype)
    whole["_0"], whole["_1"] = firsts, seconds
    given, xs = differentiable(whole), differentiable(x)
    result, by = result_of(x)
    own.product.backward(given, xs, result)
    a, b, wide = firsts.astype(np.float64), seconds.astype(np.float64), x.astype(np.float64)
    found = array(given.grad_out)
    np.testing.assert_allclose(found["_0"], by * 2 * a * b[:, 0] * wide, rtol=1e-5)
    np.testing.assert_allclose(found["_1"][:, 0], by * a**2 * wide, rtol=1e-5)
    np.testing.assert_allclose(found["_1"][:, 1], by, rtol=1e-5)
    np.testing.assert_allclose(array(xs.grad_out), by * a**2 * b[:, 0], rtol=1e-5)
    one = kf.differentiable((2.0, [3.0, 4.0]))
    own.product.backward(one, tensor(x), result)
    first, second = one.grad
    np.testing.assert_allclose(first, (by * 2 * 2 * 3 * wide).sum(), rtol=1e-5)
    np.testing.assert_allclose(second, [(by * 4 * wide).sum(), by.sum()], rtol=1e-5)
    apart = differentiable(firsts)
    own.product.backward((apart, [3, 4]), tensor(x), result)
    np.testing.assert_allclose(array(apart.grad_out), by * 2 * a * 3 * wide, rtol=1e-5)


def test_gradient_through_a_tuple_result(own: ModuleType) -> None:
    x = numbers(33)
    xs = differentiable(x)
    result = own.spread(xs)
    by: Array = np.zeros(33, own.Tuple_float_float2.dtype)
    by["_0"], by["_1"] = numbers(33, seed=3), numbers(33, 2, seed=4)
    own.spread.backward(xs, result.with_grads(grad_in=tensor(by)))
    wide = x.astype(np.float64)
    wanted = by["_0"] * 2 * wide + by["_1"][:, 0] * 3 + by["_1"][:, 1] * 3 * wide**2
    np.testing.assert_allclose(array(xs.grad_out), wanted, rtol=1e-5)
    one, made = kf.differentiable(2.0), kf.differentiable((4.0, [6.0, 8.0]))
    made.grad = (1, [10, 100])
    own.spread.backward(one, made)
    assert one.grad == 4 + 30 + 1200


def test_gradients_of_nested_tuples(own: ModuleType) -> None:
    parts = numbers(4).astype(np.float64)
    a, b, c, d = parts.tolist()

    def f(v: Array) -> float:
        return float(v.prod())

    given = kf.differentiable((a, ([b, c], d)))
    own.nested.backward(given, 1.0)
    first, (middle, last) = given.grad
    np.testing.assert_allclose([first, *middle, last], differences(f, parts), rtol=1e-5)


def test_gradients_of_an_inout_tuple(own: ModuleType) -> None:
    values: Array = np.zeros(9, own.Tuple_float_float.dtype)
    values["_0"], values["_1"] = numbers(9), numbers(9, seed=1)
    by: Array = np.zeros(9, values.dtype)
    by["_0"], by["_1"] = numbers(9, seed=2), numbers(9, seed=3)
    scale = kf.differentiable(1.5)
    given = tensor(values).with_grads(grad_in=tensor(by), grad_out=tensor(np.zeros(9, values.dtype)))
    own.grown.backward(given, scale)
    found = array(given.grad_out)
    np.testing.assert_allclose(found["_0"], by["_0"] * 1.5 + by["_1"] * values["_1"], rtol=1e-5)
    np.testing.assert_allclose(found["_1"], by["_1"] * values["_0"], rtol=1e-5)
    np.testing.assert_allclose(scale.grad, (by["_0"] * values["_0"]).sum(dtype=np.float64), rtol=1e-5)


def test_matrices_and_arrays(own: ModuleType) -> None:
    x, m = numbers(9), numbers(9, 2, 3, seed=1)
    assert own.weighed([[1, 2, 3], None], ([[1, 2], [3, 4]], [5, 6])) == 321 + 18
    assert own.weighed([None, [1, 2, 3]], ([[1, 2], [3, 4]], [5, 6])) == 321 + 18
    assert own.flipped([[1, 2], [3, 4]]).tolist() == [[1, 3], [2, 4]]
    assert own.flipped(None) is None
    there = np.arange(9) % 3 != 0
    many = optionals(own.Optional_float2x2.dtype, m[:, :, :2], there)
    flipped = array(own.flipped(tensor(many)))
    np.testing.assert_array_equal(flipped["has_value"], there)
    wanted = np.where(there[:, None, None], m[:, :, :2].transpose(0, 2, 1), 0)
    np.testing.assert_array_equal(flipped["value"], wanted)
    given, xs = differentiable(optionals(own.Optional_float2x3.dtype, m, there)), differentiable(x)
    result, by = result_of(x)
    own.corner.backward(given, xs, result)
    gradient: Array = np.zeros(m.shape)
    gradient[:, 1, 2], gradient[:, 0, 0] = by * m[:, 0, 0] * x, by * m[:, 1, 2] * x
    found = array(given.grad_out)["value"]
    np.testing.assert_allclose(found, np.where(there[:, None, None], gradient, 0), rtol=1e-5)
    np.testing.assert_allclose(
        array(xs.grad_out), by * np.where(there, m[:, 0, 0] * m[:, 1, 2], 1), rtol=1e-5
    )


def test_gradients_of_a_pair(own: ModuleType) -> None:
    by_value, x = numbers(9), {"p": 1.5, "d": 0.5}
    given, bys = kf.differentiable(x), differentiable(by_value)
    result, by = result_of(by_value)
    own.along.backward(given, bys, result)
    np.testing.assert_allclose(given.grad["p"], (by * (2 * 1.5 * by_value + 0.25)).sum(), rtol=1e-5)
    np.testing.assert_allclose(given.grad["d"], (by * 2 * 0.5 * 1.5).sum(), rtol=1e-5)
    np.testing.assert_allclose(array(bys.grad_out), by * 1.5**2, rtol=1e-5)


@pytest.mark.parametrize("gain", [1.5, None])
def test_gradients_of_fields(own: ModuleType, gain: float | None) -> None:
    x = numbers(9)
    start = own.DifferentialPair_float2([2, 3], [4, 5])
    given, xs = kf.differentiable(own.Curve(gain=gain, start=start, bias=0.5)), differentiable(x)
    result, by = result_of(x)
    own.whole.backward(given, xs, result)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(given.grad.start.p, [(by * 5 * wide).sum(), (by * 0.5).sum()], rtol=1e-5)
    np.testing.assert_allclose(given.grad.start.d, [0, (by * 2 * wide).sum()], rtol=1e-5)
    np.testing.assert_allclose(given.grad.bias, (by * 3).sum(), rtol=1e-5)
    wanted = 0 if gain is None else (by * 2 * gain * wide).sum()
    np.testing.assert_allclose(given.grad.gain, wanted, rtol=1e-5)
    np.testing.assert_allclose(array(xs.grad_out), by * (10 + (gain or 0) ** 2), rtol=1e-5)


def test_gradients_of_a_tuple_in_a_struct(generator: Generator) -> None:
    text = """
struct Setup : IDifferentiable { Tuple<float, float2> ends; float bias; };
[Differentiable] float f(Setup s, float x) { return s.ends._0 * s.ends._1.x * x + s.ends._1.y * s.bias; }
"""
    call = {"function": "f", "backward": True, "args": {"s": "value", "x": "tensor[1]"}}
    made = generator.module({"m.slang": text}, [call])
    x = numbers(9)
    given, xs = kf.differentiable(made.Setup(ends=(2.0, [3.0, 4.0]), bias=0.5)), differentiable(x)
    result, by = result_of(x)
    made.f.backward(given, xs, result)
    wide = x.astype(np.float64)
    first, second = given.grad.ends
    np.testing.assert_allclose(first, (by * 3 * wide).sum(), rtol=1e-5)
    np.testing.assert_allclose(second, [(by * 2 * wide).sum(), (by * 0.5).sum()], rtol=1e-5)
    np.testing.assert_allclose(given.grad.bias, (by * 4).sum(), rtol=1e-5)
    np.testing.assert_allclose(array(xs.grad_out), by * 6, rtol=1e-5)


def test_forward_derivatives(own: ModuleType) -> None:
    x = numbers(9)
    wide = x.astype(np.float64)
    y, dy = own.scaled.jvp(1.5, tensor(x), tangents={"gain": 2, "x": tensor(np.ones(9, np.float32))})
    np.testing.assert_allclose(array(y), 1.5**2 * wide**2, rtol=1e-5)
    np.testing.assert_allclose(array(dy), 2 * 1.5 * 2 * wide**2 + 1.5**2 * 2 * wide, rtol=1e-5)
    y, dy = own.scaled.jvp(None, tensor(x), tangents={"x": tensor(np.full(9, 3, np.float32))})
    np.testing.assert_allclose(array(dy), np.full(9, 3), rtol=1e-5)
    _, dy = own.product.jvp((2, [3, 4]), tensor(x), tangents={"t": (1, [10, 100])})
    np.testing.assert_allclose(array(dy), 2 * 2 * 3 * wide + 2 * 2 * 10 * wide + 100, rtol=1e-5)
    found, tangent = own.spread.jvp(2, tangents={"x": 1})
    assert found[0] == 4
    assert tangent[0] == 4
    np.testing.assert_array_equal(tangent[1], [3, 12])
    _, tangent = own.cube.jvp(2, tangents={"x": 1})
    assert tangent == 12


# ---- What can't be passed ----

REFUSED = {
    "float f(Optional<Texture2D<float>> t) { return 1; }": "of 'Optional<T>' [slang-E30902]",
    "float f(Tuple<float, Texture2D<float>> t) { return t._0; }": "field 't._1' has type 'Texture2D<float>'",
    "float f(Tuple<float, Tuple<int, StructuredBuffer<float>>> t) { return t._0; }": "field 't._1._1'",
    "struct S { Tuple<float, SamplerState> t; }; float f(S t) { return t.t._0; }": "field 't.t._1'",
    "float f(Tuple<float, float[2][3]> t) { return t._0; }": "'Tuple<float, float[2][3]>' is Slang's own",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_travel_is_refused_by_its_place(generator: Generator, text: str) -> None:
    assert generator.run({"m.slang": text}, [{"function": "f", "args": {"t": "value"}}]) == 1
    assert REFUSED[text] in generator.said


@pytest.mark.parametrize(
    "make",
    [
        lambda own: [1.0, 2.0],
        lambda own: [own.Optional_float(1.0, True), own.Optional_float(2.0, True)],
        lambda own: [{"value": 1.0, "has_value": True}, {"value": 2.0, "has_value": True}],
        lambda own: ({"value": 1.0, "has_value": True}, {"value": 2.0, "has_value": True}),
    ],
)
def test_gradients_of_arrays_of_optionals_add_up(own: ModuleType, make: Any) -> None:
    k = kf.differentiable(make(own))
    for passes in (1, 2):
        own.squares.backward(k, 2.0, 1.0)
        assert len(k.grad) == 2
        values = [
            one["value"] if isinstance(one, dict) else getattr(one, "value", one) for one in list(k.grad)
        ]
        assert values == [4 * passes, 16 * passes]
