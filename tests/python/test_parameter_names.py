"""Parameters and functions called what kernels might call their own."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

every_shape = pytest.mark.parametrize("shape", [(0, 1), (1, 31), (33, 31), (3, 4097)])


@pytest.fixture(scope="module")
def names(generated: Loader) -> ModuleType:
    return generated("parameter_names")


@every_shape
@pytest.mark.parametrize(
    ("name", "count", "scalar"), [("locals", 12, np.float32), ("locals_of_halves", 4, np.float16)]
)
@pytest.mark.parametrize("shared", ["nothing", "rows", "columns"])
def test_locals(
    names: ModuleType, name: str, count: int, scalar: type[np.floating], shared: str, shape: tuple[int, int]
) -> None:
    rng = np.random.default_rng(1)
    part = {"nothing": shape, "rows": (shape[0], 1), "columns": (1, shape[1])}[shared]
    values = [rng.integers(-4, 5, part if i % 2 else shape).astype(scalar) for i in range(count)]
    wanted = sum((i + 1) * value.astype(np.float64) for i, value in enumerate(values))
    function = getattr(names, name)
    np.testing.assert_array_equal(function(*values).to_numpy(), wanted)
    tensors = [kf.Tensor.from_numpy(value).with_grads() for value in values]
    function.backward(*tensors)
    for i, tensor in enumerate(tensors):
        assert tensor.grad is not None
        calls = np.prod(shape) // max(1, np.prod(values[i].shape))
        np.testing.assert_array_equal(tensor.grad.to_numpy(), scalar((i + 1) * calls))


@pytest.mark.parametrize("size", [0, 1, 31, 33, 4097])
@pytest.mark.parametrize("step", [1, 2])
def test_words_before_names(names: ModuleType, size: int, step: int) -> None:
    rng = np.random.default_rng(2)
    held = [kf.Tensor.from_numpy(rng.integers(-4, 5, size * step).astype(np.float32)) for _ in range(8)]
    given = [tensor[::step].with_grads() for tensor in held]
    values = [tensor.to_numpy() for tensor in given]
    y, found = kf.Tensor.zeros((size,)), kf.Tensor.zeros((size,))
    names.before(*given, y=y, out=found)
    np.testing.assert_array_equal(y.to_numpy(), values[0] * values[7])
    np.testing.assert_array_equal(
        found.to_numpy(), sum((i + 1) * values[i] for i in range(7)) + np.zeros(size)
    )
    names.before.backward(*given)
    factors: list[npt.ArrayLike] = [1 + values[7], 2, 3, 4, 5, 6, 7, values[0]]
    for factor, tensor in zip(factors, given, strict=True):
        assert tensor.grad is not None
        np.testing.assert_array_equal(tensor.grad.to_numpy(), np.broadcast_to(factor, (size,)))


@pytest.mark.parametrize(("name", "factor"), [("arg_x", 2), ("sum_x", 3), ("pair_x", 4)])
def test_functions_called_as_locals_were(names: ModuleType, name: str, factor: int) -> None:
    x = np.arange(33, dtype=np.float32)
    tensor = kf.Tensor.from_numpy(x).with_grads()
    np.testing.assert_array_equal(getattr(names, name)(tensor).to_numpy(), factor * x)
    getattr(names, name).backward(tensor)
    assert tensor.grad is not None
    np.testing.assert_array_equal(tensor.grad.to_numpy(), np.full(33, factor))


def test_a_parameter_called_as_its_function(names: ModuleType) -> None:
    np.testing.assert_array_equal(names.sign(np.array([-1, 1], np.float32)).to_numpy(), [20, 10])


def test_default_values(names: ModuleType) -> None:
    x = np.array([1, -2, 3.5], np.float32)
    np.testing.assert_array_equal(names.doubled(x).to_numpy(), 2 * x - 6.25)
    np.testing.assert_array_equal(names.with_defaults(x).to_numpy(), 2 * x - 6.25)
    np.testing.assert_array_equal(names.with_defaults(x, 3).to_numpy(), 3 * x - 6.25)
    np.testing.assert_array_equal(names.with_defaults(x, k=3).to_numpy(), 3 * x - 6.25)
    np.testing.assert_array_equal(names.with_defaults(x, 3, 1).to_numpy(), 3 * x + 1)
    with pytest.raises(kf.ArgumentError, match="no overload"):
        names.with_defaults(x, offset=3)


def test_default_values_of_overloads(names: ModuleType) -> None:
    assert names.weighed(2.5) == 7.5
    assert names.weighed(2.5, 2) == 5
    assert names.weighed([1, 2]) == 12
    assert names.weighed([1, 2], k=2) == 6


@pytest.mark.parametrize("factor", [2, 3])
def test_gradients_beside_default_values(names: ModuleType, factor: float) -> None:
    x, k = (
        kf.Tensor.from_numpy(np.array([1, -2, 3.5], np.float32)).with_grads(),
        kf.differentiable(float(factor)),
    )
    if factor == 2:
        names.doubled.backward(x)
    else:
        names.scaled.backward(x, k)
        assert k.grad == 2.5
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), np.full(3, factor))


def test_outputs_that_are_passed_over(names: ModuleType) -> None:
    x = np.array([1, 2.5], np.float32)
    whole, rest = names.split(x, None, 0.5)
    np.testing.assert_array_equal(whole.to_numpy(), [0, 1])
    np.testing.assert_array_equal(rest.to_numpy(), [0.5, 0.25])
    np.testing.assert_array_equal(names.split(x, k=0.5).rest.to_numpy(), [0.5, 0.25])
    with pytest.raises(
        TypeError, match=r"'whole': an output, .* 0\.5 stands there, so that 'k' is not given"
    ):
        names.split(x, 0.5)


def test_outputs_before_inputs_explain_themselves(names: ModuleType) -> None:
    x = np.array([1, 2.5], np.float32)
    for call in (names.leading, names.leading.prepare):
        with pytest.raises(TypeError) as refused:
            call(x, 2)
        assert (
            "argument 'y': an output, which has its place among the arguments, too: a numpy.ndarray stands "
            "there, so that 'k' is not given; pass None for it, (None, x, k), or name what follows it"
        ) in str(refused.value)
    with pytest.raises(TypeError, match=r"'y': an output, .*Tensor stands .* 'x' .* \(None, x, …\)"):
        names.leading(kf.Tensor.from_numpy(x))
    # Calls whose arguments follow no output need no explanation.
    with pytest.raises(TypeError, match=r"'x': not given$"):
        names.leading()
    with pytest.raises(TypeError, match=r"'k': not given$"):
        names.leading(None, x)
    for y in (names.leading(None, x, 2), names.leading(x=x, k=2), names.leading(None, x, k=2)):
        np.testing.assert_array_equal(y.to_numpy(), 2 * x)


# What stands in the second place is k, not the gradient of a result without it.
def test_backward_takes_all_that_is_listed(names: ModuleType) -> None:
    x = kf.Tensor.from_numpy(np.array([1, -2, 3.5], np.float32)).with_grads()
    names.scaled.backward(x, 5)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), np.full(3, 5))
    with pytest.raises(kf.ArgumentError, match="'k'"):
        names.scaled.backward(x)


# A result with and without the default value: a second tensor could be the result of one or k of the other.
def test_backward_with_and_without_a_default_value(names: ModuleType) -> None:
    values = np.array([1, -2, 3.5], np.float32)
    x, k, y = (kf.Tensor.from_numpy(values * (i + 1)).with_grads() for i in range(3))
    with pytest.raises(kf.ArgumentError, match="eased: several overloads take these arguments: name them"):
        names.eased.backward(x, k)
    assert x.grad is not None
    assert k.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), np.zeros(3))
    names.eased.backward(x, k=k)
    np.testing.assert_array_equal(x.grad.to_numpy(), 2 * values)
    np.testing.assert_array_equal(k.grad.to_numpy(), values)
    result = names.eased(x)
    names.eased.backward(x, out=result)
    names.eased.backward(x)
    np.testing.assert_array_equal(x.grad.to_numpy(), 2 * values + 4)
    assert y.grad is not None
    y.grad.copy_from_numpy(np.full(3, 10, np.float32))
    names.eased.backward(x, k, y)
    np.testing.assert_array_equal(x.grad.to_numpy(), 22 * values + 4)
