"""Gradients from Python: broadcast, differentiable values, and given or missing output gradients."""

import enum
from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array
from loader import Loader

COUNT = 1_000_003


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def tracked(values: Any) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.asarray(values, np.float32)).with_grads()


def gradient(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


def test_the_demo(gradients: ModuleType) -> None:
    x = tracked([1, 2, 3, 4])
    y = gradients.polynomial(2, 8, -1, x)
    assert y.to_numpy().tolist() == [9, 23, 41, 63]
    gradients.polynomial.backward(2, 8, -1, x, y)
    assert gradient(x).tolist() == [12, 16, 20, 24]
    gradients.polynomial.backward(2, 8, -1, x)
    assert gradient(x).tolist() == [24, 32, 40, 48]


@pytest.fixture(scope="module")
def million() -> tuple[Array, Array, tuple[float, float, float]]:
    """Random x and output gradients, and what a, b and c receive, in float64."""
    random = np.random.default_rng(7)
    x = random.random(COUNT, np.float32)
    flow = random.random(COUNT, np.float32)
    x64, flow64 = x.astype(np.float64), flow.astype(np.float64)
    return x, flow, (float((flow64 * x64 * x64).sum()), float((flow64 * x64).sum()), float(flow64.sum()))


def test_broadcast_tensors_over_a_million(
    gradients: ModuleType, million: tuple[Array, Array, tuple[float, float, float]]
) -> None:
    x, flow, expected = million
    a, b, c = tracked([2]), tracked([8]), tracked([-1])
    inputs = tracked(x)
    y = gradients.polynomial(a, b, c, inputs)
    np.testing.assert_allclose(
        y.to_numpy(), 2 * x.astype(np.float64) ** 2 + 8 * x.astype(np.float64) - 1, rtol=1e-5, atol=1e-6
    )
    gradients.polynomial.backward(a, b, c, inputs, y.with_grads(grad_in=flow))
    for tensor, wanted in zip((a, b, c), expected, strict=True):
        assert gradient(tensor).item() == pytest.approx(wanted, rel=1e-5)
    np.testing.assert_allclose(gradient(inputs), flow * (4 * x.astype(np.float64) + 8), rtol=1e-5)


def test_differentiable_values_over_a_million(
    gradients: ModuleType, million: tuple[Array, Array, tuple[float, float, float]]
) -> None:
    x, flow, expected = million
    values: list[kf.Differentiable[Any]] = [kf.differentiable(v) for v in (2.0, 8, -1.0)]
    y = gradients.polynomial(*values, x)
    gradients.polynomial.backward(*values, x, y.with_grads(grad_in=flow))
    for value, wanted in zip(values, expected, strict=True):
        assert value.grad == pytest.approx(wanted, rel=1e-5)


def test_a_gradient_of_one_counts(gradients: ModuleType) -> None:
    """c.grad is exactly the number of calls: nothing is stored where it should be summed."""
    c = kf.differentiable(0.0)
    gradients.polynomial.backward(1, 1, c, np.zeros(COUNT, np.float32))
    assert c.grad == COUNT


def test_partial_broadcasts(gradients: ModuleType) -> None:
    random = np.random.default_rng(3)
    block = random.random((57, 33), np.float32)
    for shape in [(33,), (1, 33), (57, 1), (1, 1)]:
        row = random.random(shape, np.float32)
        x, y = tracked(block), tracked(row)
        gradients.product.backward(x, y)
        np.testing.assert_allclose(gradient(x), np.broadcast_to(row, block.shape), rtol=1e-6)
        summed = block.astype(np.float64)
        summed = (
            summed.sum(0)
            if len(shape) == 1
            else summed.sum(tuple(i for i in range(2) if shape[i] == 1), keepdims=True)
        )
        np.testing.assert_allclose(gradient(y), summed, rtol=1e-5)


@pytest.mark.parametrize("count", [1, 3, 33, 4097])
@pytest.mark.parametrize("function", ["product", "product_of_packed"])
def test_one_tensor_twice(gradients: ModuleType, function: str, count: int) -> None:
    x = tracked(np.arange(count))
    getattr(gradients, function).backward(x, x)
    np.testing.assert_array_equal(gradient(x), 2 * np.arange(count))


def test_broadcast_views_share_their_gradient(gradients: ModuleType) -> None:
    x = tracked([[3.0]])
    wide = x.broadcast_to((4, 5))
    other = tracked(np.ones((4, 5)))
    gradients.product.backward(wide, other)
    assert gradient(x).tolist() == [[20]]


def test_gradients_of_offset_views(gradients: ModuleType) -> None:
    x = tracked(np.arange(12).reshape(3, 4))
    part = x[1:, ::2]
    gradients.product.backward(part, tracked([[5, 6], [7, 8]]))
    assert gradient(x).tolist() == [[0, 0, 0, 0], [5, 0, 6, 0], [7, 0, 8, 0]]


def test_vectors(gradients: ModuleType) -> None:
    v, w = tracked([[1, 1, 1], [2, 2, 2]]), tracked([10, 20])
    gradients.weighted.backward(v, w)
    assert gradient(v).tolist() == [[10, 20, 30], [20, 40, 60]]
    assert gradient(w).tolist() == [6, 12]
    vector = kf.differentiable([1.0, 1.0, 1.0])
    gradients.weighted.backward(vector, w)
    assert vector.grad.tolist() == [30, 60, 90]
    gradients.weighted.backward(vector, 1.0)
    assert vector.grad.tolist() == [31, 62, 93]


def test_lists_with_gradients(gradients: ModuleType) -> None:
    x = kf.differentiable([1.0, 2.0, 3.0])
    gradients.product.backward(x, 4.0)
    assert x.grad.tolist() == [4, 4, 4]
    array = kf.differentiable(np.ones((2, 3), np.float32))
    gradients.product.backward(array, [1, 2, 3])
    assert array.grad.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_later_changes_of_the_callers_array_change_nothing(gradients: ModuleType) -> None:
    """Neither the value nor, through the other factor's gradient, what a backward pass reads."""
    given, listed = np.ones(3, np.float32), [1.0, 1.0, 1.0]
    array, values = kf.differentiable(given), kf.differentiable(listed)
    given[:] = 100
    listed[0] = 100
    for x in (array, values):
        y = tracked([5, 6, 7])
        gradients.product.backward(x, y)
        assert gradient(y).tolist() == [1, 1, 1]
        assert x.grad.tolist() == [5, 6, 7]
    array.value = given
    given[:] = -1
    assert array.value.tolist() == [100, 100, 100]


def test_single_calls(gradients: ModuleType) -> None:
    x, y = kf.differentiable(3.0), kf.differentiable(4.0)
    result = gradients.product(x, y)
    assert result == 12.0
    gradients.product.backward(x, y, result)
    assert (x.grad, y.grad) == (4.0, 3.0)
    outcome = kf.differentiable(result)
    outcome.grad = 10.0
    gradients.product.backward(x, y, outcome)
    assert (x.grad, y.grad) == (44.0, 33.0)


def test_no_diff_parameters(gradients: ModuleType) -> None:
    x, k = tracked([3]), tracked([2])
    gradients.detached.backward(x, k)
    assert gradient(x).tolist() == [12]
    assert gradient(k).tolist() == [0]


def test_recorded_backward_passes(gradients: ModuleType, device: kf.Device) -> None:
    x = tracked([1, 2, 3])
    with device.encoder() as encoder:
        y = gradients.product.append_to(encoder, x, 2.0)
        gradients.product.backward.append_to(encoder, x, 2.0, y)
        assert gradient(x).tolist() == [0, 0, 0]
    assert y.to_numpy().tolist() == [2, 4, 6]
    assert gradient(x).tolist() == [2, 2, 2]


def test_forward_without_gradients_first(gradients: ModuleType) -> None:
    """A first call without gradients leaves later ones their own."""
    plain = kf.Tensor.from_numpy(np.array([1, 2], np.float32))
    gradients.product(plain, 2.0)
    x = plain.with_grads()
    gradients.product.backward(x, 2.0)
    assert gradient(x).tolist() == [2, 2]


def test_wrong_output_gradients(gradients: ModuleType) -> None:
    x = tracked([1, 2, 3])
    with pytest.raises(kf.ArgumentError) as caught:
        gradients.product.backward(x, 2.0, kf.Tensor.zeros(4))
    assert caught.value.code == "shape-mismatch"
    with pytest.raises(kf.ArgumentError):
        gradients.product.backward(x, 2.0, tracked([1]))
    assert gradient(x).tolist() == [0, 0, 0]


def test_zero_calls(gradients: ModuleType) -> None:
    x, a = tracked(np.zeros(0)), kf.differentiable(1.0)
    gradients.product.backward(x, a)
    assert a.grad == 0.0
    assert gradient(x).shape == (0,)


@pytest.mark.parametrize("count", [1, 5, 1000])
def test_gradients_are_replaced(gradients: ModuleType, count: int) -> None:
    values = np.linspace(-1, 1, count, dtype=np.float32)
    x, a = tracked(values), tracked([2])
    for _ in range(2):
        gradients.replaced.backward(a, 8, -1, x)
        np.testing.assert_allclose(gradient(x), 4 * values + 8, rtol=1e-6)
        np.testing.assert_allclose(gradient(a), [(values.astype(np.float64) ** 2).sum()], rtol=1e-5)


def test_gradients_of_no_calls_are_replaced(gradients: ModuleType) -> None:
    a = kf.Tensor.ones(1).with_grads(grad_out=kf.Tensor.ones(1))
    gradients.replaced.backward(a, 8, -1, tracked(np.zeros(0)))
    assert gradient(a).tolist() == [0]


def test_derivatives_that_the_user_gives(gradients: ModuleType) -> None:
    x, k = tracked([-1, 2, 3]), kf.differentiable(5.0)
    y = gradients.squashed(x, k)
    assert y.to_numpy().tolist() == [0, 10, 15]
    gradients.squashed.backward(x, k, y.with_grads(grad_in=tracked([1, 2, 3])))
    assert gradient(x).tolist() == [100, 200, 300]
    assert k.grad == -6
    # The substitute's derivative, not that of floor.
    rough = tracked([0.5, 1.5, -3])
    assert gradients.twice_rough(rough).to_numpy().tolist() == [0, 4, 18]
    gradients.twice_rough.backward(rough)
    assert gradient(rough).tolist() == [2, 6, -12]


def rotated(b: Array) -> Array:
    """Matrices of the rows b, b.yzx and b.zxy."""
    return np.stack([b, np.roll(b, -1, 1), np.roll(b, -2, 1)], 1)


SCALARS: dict[str, Callable[[Array, Array], Array]] = {
    "scaled": lambda a, b: a * b,
    "shifted": lambda a, b: b - a,
    "ratio": lambda a, b: a / b,
    "scaled_elsewhere": lambda a, b: 2 * a * b,
    "reused": lambda a, b: a * b + a,
    "squared_error": lambda a, b: ((a * b - [1, 2, 3]) ** 2).sum(1),
    "scaled_matrix": lambda a, b: a * rotated(b).sum(2),
    "recurrence": lambda a, b: b * (a**3 + a**2 + a + 1),
    "weighted_mean": lambda a, b: (
        sum(b * b * (a * b[:, :1] + i) for i in range(3)) / sum((a * b[:, :1] + i) ** 2 for i in range(3))
    ),
    "wide": lambda a, b: a + b,
    "narrow": lambda a, b: a * b,
    "attributed": lambda a, b: a * b,
    "with_commas": lambda a, b: (5 + 10 * a) * b,
    "from_calls": lambda a, b: 1.75 * (a * a * b + np.sin(a)),
    "from_conditions": lambda a, b: b + 3 * (a * a * b + np.sin(a)),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalars_with_vectors_and_matrices(gradients: ModuleType, name: str) -> None:
    """Where Slang loses gradients that kfgen keeps."""
    dtype: Any = {"wide": np.float64, "narrow": np.float16}.get(name, np.float32)
    random = np.random.default_rng(11)
    a, b = (random.uniform(0.5, 1.5, shape).astype(dtype) for shape in [(33,), (33, 3)])
    scalars, vectors = (kf.Tensor.from_numpy(array).with_grads() for array in (a, b))
    getattr(gradients, name).backward(scalars, vectors)

    function, step = SCALARS[name], 1e-5
    a64, b64 = a.astype(np.float64)[:, None], b.astype(np.float64)
    change = (function(a64 + step, b64) - function(a64 - step, b64)) / (2 * step)
    tolerance = 2e-3 if dtype is np.float16 else 1e-5
    np.testing.assert_allclose(gradient(scalars), change.reshape(33, -1).sum(1), rtol=tolerance)
    for component in range(3):
        shift = step * np.eye(3)[component]
        change = (function(a64, b64 + shift) - function(a64, b64 - shift)) / (2 * step)
        np.testing.assert_allclose(
            gradient(vectors)[:, component], change.reshape(33, -1).sum(1), rtol=tolerance, atol=1e-5
        )


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    {
        "bool": True,
        "np.bool_": np.bool_(True),
        "str": "2.0",
        "None": None,
        "enum": Colour.RED,
        "bools": [True, False],
        "ints": np.arange(3),
        "array of bools": np.ones(3, bool),
        "object": object(),
        "function": len,
    }.items(),
    ids=lambda item: item[0],
)
def test_what_has_no_derivative_is_refused(value: tuple[str, Any]) -> None:
    with pytest.raises(kf.ArgumentTypeError) as caught:
        kf.differentiable(value[1])
    assert caught.value.code == "type-mismatch"
    number = kf.differentiable(2.0)
    with pytest.raises(kf.ArgumentTypeError):
        number.value = value[1]
    assert number.value == 2.0


def test_tensors_of_integers_have_no_derivative(device: kf.Device) -> None:
    for dtype in ("int32", "uint8", "bool"):
        with pytest.raises(kf.ArgumentTypeError, match="has no derivative"):
            kf.differentiable(kf.Tensor.zeros(3, dtype, device=device))


def test_plain_ints_are_floats_where_those_are_needed(gradients: ModuleType) -> None:
    a, x = kf.differentiable(2), tracked([1, 2, 3, 4])
    gradients.polynomial.backward(a, 8, -1, x)
    assert a.grad == 30.0


def test_elements_whose_indices_meet(gradients: ModuleType) -> None:
    values = np.random.default_rng(7).uniform(-1, 1, (4, 33))
    a, b, c, w = (tracked(row) for row in values)
    index = np.arange(33, dtype=np.int32) % 3
    y = gradients.spline(a, b, c, w, index)
    gradients.spline.backward(a, b, c, w, index, y)
    knots, blend, each = values[:3], values[3], np.arange(33)
    after = (index + 1) % 3
    expected = np.zeros((3, 33))
    np.add.at(expected, (index, each), knots[0])
    expected[0] += knots[index, each]
    np.add.at(expected, (after, each), blend)
    for knot, sums in zip((a, b, c), expected, strict=True):
        np.testing.assert_allclose(gradient(knot), sums, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient(w), knots[after, each], rtol=1e-5)


@pytest.mark.parametrize("count", [1, 33])
def test_stores_to_elements_and_to_parts_of_others(gradients: ModuleType, count: int) -> None:
    """Slang loses these gradients, or crashes, where a text stores to an array both ways."""
    random = np.random.default_rng(8)
    x, u, v = random.uniform(-1, 1, count), *random.uniform(-1, 1, (2, count, 3))
    given = [tracked(a) for a in (x, u, v)]
    y = gradients.parts(*given)
    gradients.parts.backward(*given, y)
    positive, zero = (x > 0)[:, None], np.zeros(count)
    dx = np.where(x > 0, 8 * v[:, 1] * u[:, 1] + 10 * v[:, 2] * u[:, 2], 3 + 4 * v[:, 1] + 5 * v[:, 2])
    du = positive * np.stack([6 * v[:, 0], 8 * v[:, 1] * x, 10 * v[:, 2] * x], axis=-1)
    then = np.stack([6 * u[:, 0], 8 * u[:, 1] * x, 10 * u[:, 2] * x], axis=-1)
    dv = np.array([2, 4, 6]) + np.where(positive, then, np.stack([zero, 4 * x, 5 * x], axis=-1))
    for tensor, expected in zip(given, (dx, du, dv), strict=True):
        np.testing.assert_allclose(gradient(tensor), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [1, 33])
def test_stores_to_structs_and_to_their_fields(gradients: ModuleType, count: int) -> None:
    random = np.random.default_rng(9)
    x, u = random.uniform(-1, 1, count), random.uniform(-1, 1, (count, 3))
    given = [tracked(a) for a in (x, u)]
    y = gradients.edges(*given)
    gradients.edges.backward(*given, y)
    dx = u[:, 0] ** 2 + u[:, 2] ** 2 + 3 * u[:, 1] * x**2 + 1
    du = np.stack([2 * u[:, 0] * x, x**3, 2 * u[:, 2] * x], axis=-1)
    for tensor, expected in zip(given, (dx, du), strict=True):
        np.testing.assert_allclose(gradient(tensor), expected, rtol=1e-5, atol=1e-6)
