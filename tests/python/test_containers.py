"""Matrices, arrays and batched values: every kind and layout against NumPy, over whole poisoned buffers."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array, Buffer, buffer, mixed, numbers
from loader import Loader

LAYOUTS = ["contiguous", "spread", "offset"]
SIZES = [0, 1, 31, 33]

# The name after mix_, the dtype and the extents of what it takes.
ELEMENTS: dict[str, tuple[str, tuple[int, ...]]] = {
    "float2x3": ("float32", (2, 3)),
    "float4x4": ("float32", (4, 4)),
    "float3x2": ("float32", (3, 2)),
    "half3x4": ("float16", (3, 4)),
    "double2x4": ("float64", (2, 4)),
    "int4x3": ("int32", (4, 3)),
    "uint3x3": ("uint32", (3, 3)),
    "bool2x3": ("bool", (2, 3)),
    "float_4": ("float32", (4,)),
    "half_3": ("float16", (3,)),
    "double_5": ("float64", (5,)),
    "float2_3": ("float32", (3, 2)),
    "half3_2": ("float16", (2, 3)),
    "float2x2_2": ("float32", (2, 2, 2)),
    "float_2_3_2_2": ("float32", (2, 3, 2, 2)),
    "int_1": ("int32", (1,)),
    "int8_t_7": ("int8", (7,)),
    "int8_t3_2": ("int8", (2, 3)),
    "bool_5": ("bool", (5,)),
    "bool2_2": ("bool", (2, 2)),
    "int_2_3": ("int32", (2, 3)),
}
FLOATS = [name for name, (dtype, _) in ELEMENTS.items() if np.dtype(dtype).kind == "f"]
# Fed by tensors of rows: tensor<float3>[2] for a float2x3, and by tensors of scalars.
ROWS = ["float2x3", "half3x4", "float2_3", "float_2_3_2_2", "int_2_3", "bool2x3", "int8_t3_2"]

# What mix_ functions take by default; the full spec has each element by value on either side.
CALLS = json.loads((Path(__file__).parent / "specs/containers.kf.json").read_text())["calls"]


def takes(name: str, *kinds: str) -> bool:
    return any(
        call["function"] == f"mix_{name}"
        and "name" not in call
        and all(kind in given for kind, given in zip(kinds, call["args"].values(), strict=True))
        for call in CALLS
    )


def those_of(names: list[str], *kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=[] if takes(name, *kinds) else pytest.mark.full) for name in names],
    )


every_element = pytest.mark.parametrize("name", ELEMENTS)
every_float = pytest.mark.parametrize("name", FLOATS)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_size = pytest.mark.parametrize("size", SIZES)


@pytest.fixture(scope="module")
def containers(generated: Loader) -> ModuleType:
    return generated("containers")


def mix(containers: ModuleType, name: str) -> Any:
    return getattr(containers, f"mix_{name}")


def element(name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    dtype, extents = ELEMENTS[name]
    return np.dtype(dtype), extents


def filled(shape: tuple[int, ...], dtype: np.dtype[Any], layout: str, seed: int) -> Buffer:
    return buffer(shape, dtype, layout, numbers(shape, dtype, seed))


def quarters(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 1) -> Array:
    return numbers(shape, np.dtype(dtype), seed)


def tracked(values: Array) -> kf.Tensor:
    return kf.Tensor.from_numpy(values).with_grads()


def gradient(tensor: kf.Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad.to_numpy()


# ---- Containers into elements ----


@those_of(list(ELEMENTS), "value", "value")
def test_values(containers: ModuleType, name: str) -> None:
    dtype, extents = element(name)
    a, b = numbers(extents, dtype, 1), numbers(extents, dtype, 2)
    for given in [(a, b), (a.tolist(), b.tolist()), (tuple(a.tolist()), np.asfortranarray(b))]:
        result = mix(containers, name)(*given)
        assert isinstance(result, np.ndarray)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, mixed(a, b), strict=True)
    out = buffer(extents, dtype, "spread")
    assert mix(containers, name)(a, b, out=out.array) is out.array
    expected = buffer(extents, dtype, "spread", mixed(a, b))
    np.testing.assert_array_equal(out.whole_array, expected.whole_array)
    assert mix(containers, name)(a, b, out=out.tensor) is out.tensor
    np.testing.assert_array_equal(out.whole_tensor.to_numpy(), expected.whole_array)


@every_element
@every_layout
@every_size
def test_tensors(containers: ModuleType, name: str, layout: str, size: int) -> None:
    dtype, extents = element(name)
    shape = (size, *extents)
    a, b = filled(shape, dtype, layout, 1), filled(shape, dtype, layout, 2)
    out = buffer(shape, dtype, layout)
    assert mix(containers, name)(a.tensor, b.tensor, out=out.tensor) is out.tensor
    out.array[...] = mixed(a.array, b.array)
    for checked in (out, a, b):
        checked.check()
    fresh = mix(containers, name)(a.array, b.array)
    assert fresh.dtype == dtype
    np.testing.assert_array_equal(fresh.to_numpy(), out.array)


@pytest.mark.parametrize("name", ROWS)
@every_layout
@every_size
def test_trailing_extents(containers: ModuleType, name: str, layout: str, size: int) -> None:
    dtype, extents = element(name)
    shape = (size, *extents)
    a, b = filled(shape, dtype, layout, 1), filled(shape, dtype, layout, 2)
    out = buffer(shape, dtype, layout)
    rows = getattr(containers, f"rows_{name}")
    rows(a.tensor, b.tensor, out=out.tensor)
    out.array[...] = mixed(a.array, b.array)
    for checked in (out, a, b):
        checked.check()
    if rows.backward is None:
        return
    grad_a, grad_b = filled(shape, dtype, layout, 6), filled(shape, dtype, layout, 7)
    rows.backward(a.tensor.with_grads(grad_out=grad_a.tensor), b.tensor.with_grads(grad_out=grad_b.tensor))
    grad_a.array += b.array + dtype.type(1)
    grad_b.array += a.array
    for checked in (grad_a, grad_b, a, b):
        checked.check()


@every_element
@every_layout
@every_size
def test_broadcasting(containers: ModuleType, name: str, layout: str, size: int) -> None:
    dtype, extents = element(name)
    many = filled((size, *extents), dtype, layout, 3)
    one = filled((1, *extents), dtype, layout, 4)
    np.testing.assert_array_equal(
        mix(containers, name)(many.tensor, one.tensor).to_numpy(), mixed(many.array, one.array)
    )
    np.testing.assert_array_equal(
        mix(containers, name)(one.tensor, many.tensor).to_numpy(), mixed(one.array, many.array)
    )


@those_of(list(ELEMENTS), "tensor[1]", "value")
@every_layout
@every_size
def test_values_on_the_right(containers: ModuleType, name: str, layout: str, size: int) -> None:
    dtype, extents = element(name)
    many, one = filled((size, *extents), dtype, layout, 3), numbers(extents, dtype, 4)
    for given in (one, one.tolist()):
        result = mix(containers, name)(many.tensor, given)
        np.testing.assert_array_equal(result.to_numpy(), mixed(many.array, one))


@those_of(["float2x3", "half3_2", "double2x4", "int8_t3_2", "bool2x3"], "value", "tensor[1]")
def test_values_on_the_left(containers: ModuleType, name: str) -> None:
    dtype, extents = element(name)
    one, many = numbers(extents, dtype, 1), numbers((33, *extents), dtype, 2)
    np.testing.assert_array_equal(mix(containers, name)(one, many).to_numpy(), mixed(one, many))


@every_layout
def test_more_dimensions(containers: ModuleType, layout: str) -> None:
    many = filled((3, 11, 2, 3), np.dtype(np.float32), layout, 1)
    row, column = quarters((11, 2, 3), seed=2), quarters((3, 1, 2, 3), seed=3)
    for other in (row, column):
        result = containers.mix_float2x3(many.tensor, other)
        np.testing.assert_array_equal(result.to_numpy(), mixed(many.array, other))


# ---- Gradients ----


@every_float
@every_layout
@every_size
def test_backward(containers: ModuleType, name: str, layout: str, size: int) -> None:
    dtype, extents = element(name)
    shape = (size, *extents)
    a, b = filled(shape, dtype, layout, 1), filled(shape, dtype, layout, 2)
    grad_a, grad_b = filled(shape, dtype, layout, 6), filled(shape, dtype, layout, 7)
    flow = filled(shape, dtype, layout, 8)
    out = buffer(shape, dtype, layout)
    mix(containers, name).backward(
        a.tensor.with_grads(grad_out=grad_a.tensor),
        b.tensor.with_grads(grad_out=grad_b.tensor),
        out.tensor.with_grads(grad_in=flow.tensor),
    )
    grad_a.array += flow.array * (b.array + dtype.type(1))
    grad_b.array += flow.array * a.array
    for checked in (grad_a, grad_b, a, b, flow, out):
        checked.check()


@every_float
@every_layout
@every_size
def test_backward_of_broadcasts(containers: ModuleType, name: str, layout: str, size: int) -> None:
    """One element under many: its gradient is the sum, rounded once."""
    dtype, extents = element(name)
    a = filled((size, *extents), dtype, layout, 1)
    b = filled((1, *extents), dtype, layout, 2)
    grad_a = buffer(a.array.shape, dtype, layout, np.zeros(a.array.shape, dtype))
    grad_b = buffer(b.array.shape, dtype, layout, np.ones(b.array.shape, dtype))
    mix(containers, name).backward(
        a.tensor.with_grads(grad_out=grad_a.tensor), b.tensor.with_grads(grad_out=grad_b.tensor)
    )
    grad_a.array += b.array + dtype.type(1)
    grad_b.array[...] = 1 + a.array.astype(np.float64).sum(0, keepdims=True)
    grad_a.check()
    grad_b.check()


@those_of(FLOATS, "tensor[1]", "value")
@every_layout
@every_size
def test_backward_of_values(containers: ModuleType, name: str, layout: str, size: int) -> None:
    dtype, extents = element(name)
    a = filled((size, *extents), dtype, layout, 1)
    b = numbers(extents, dtype, 2)
    expected = a.array.astype(np.float64).sum(0).astype(dtype)
    for given in (b, b.tolist()):
        value = kf.differentiable(given)
        mix(containers, name).backward(a.tensor, value)
        assert value.grad.shape == extents
        np.testing.assert_array_equal(value.grad, expected)
        mix(containers, name).backward(a.tensor, value)
        np.testing.assert_array_equal(value.grad, 2 * expected)
        np.testing.assert_array_equal(value.value, b)


def test_backward_of_single_calls(containers: ModuleType) -> None:
    a, b = quarters((2, 3)), quarters((2, 3), seed=2)
    left, right = kf.differentiable(a), kf.differentiable(b.tolist())
    result = containers.mix_float2x3(left, right)
    containers.mix_float2x3.backward(left, right, result)
    np.testing.assert_array_equal(left.grad, b + 1)
    np.testing.assert_array_equal(right.grad, a)
    outcome = kf.differentiable(result)
    outcome.grad = 2 * np.ones((2, 3))
    containers.mix_float2x3.backward(left, right, outcome)
    np.testing.assert_array_equal(right.grad, 3 * a)


@every_layout
@pytest.mark.parametrize(("name", "dtype"), [("float2x3", np.float32), ("half3_2", np.float16)])
def test_partial_broadcasts(containers: ModuleType, name: str, dtype: Any, layout: str) -> None:
    dtype = np.dtype(dtype)
    many = filled((7, 33, 2, 3), dtype, layout, 1)
    row = filled((33, 2, 3), dtype, layout, 2)
    grad_many = buffer(many.array.shape, dtype, layout, np.zeros(many.array.shape, dtype))
    grad_row = buffer(row.array.shape, dtype, layout, np.ones(row.array.shape, dtype))
    mix(containers, name).backward(
        many.tensor.with_grads(grad_out=grad_many.tensor), row.tensor.with_grads(grad_out=grad_row.tensor)
    )
    grad_many.array[...] = np.broadcast_to(row.array + dtype.type(1), many.array.shape)
    grad_row.array[...] = 1 + many.array.astype(np.float64).sum(0)
    grad_many.check()
    grad_row.check()


@pytest.mark.parametrize("half", [False, True])
@every_size
def test_matrix_times_vector(containers: ModuleType, size: int, half: bool) -> None:
    dtype = np.float16 if half else np.float32
    function = containers.transform_half if half else containers.transform
    vectors, flow = quarters((size, 3), dtype, 1), quarters((size, 2), dtype, 2)
    for shape in [(2, 3), (1, 2, 3), (size, 2, 3)]:
        matrix = quarters(shape, dtype, 3)
        m: Any = kf.differentiable(matrix) if len(shape) == 2 else tracked(matrix)
        v = tracked(vectors)
        result = function(m, v)
        wide = np.broadcast_to(matrix.astype(np.float64), (size, 2, 3))
        np.testing.assert_array_equal(result.to_numpy(), np.einsum("nij,nj->ni", wide, vectors))
        function.backward(m, v, result.with_grads(grad_in=flow))
        np.testing.assert_array_equal(gradient(v), np.einsum("nij,ni->nj", wide, flow))
        each = np.einsum("ni,nj->nij", flow.astype(np.float64), vectors)
        if len(shape) == 2:
            np.testing.assert_array_equal(m.grad, each.sum(0).astype(dtype))
        else:
            np.testing.assert_array_equal(
                gradient(m), (each.sum(0, keepdims=True) if shape[0] == 1 else each).astype(dtype)
            )


def test_arrays_into_a_number(containers: ModuleType) -> None:
    assert containers.weigh([1, 2, 3, 4], [1.0, 1.0, 2.0, 0.5]) == 11.0
    weights = kf.differentiable([1.0, 2.0, 3.0, 4.0])
    x = quarters((31, 4))
    np.testing.assert_array_equal(containers.weigh(weights, x).to_numpy(), x @ np.array([1, 2, 3, 4]))
    containers.weigh.backward(weights, x)
    np.testing.assert_array_equal(weights.grad, x.astype(np.float64).sum(0))


def test_outputs_of_one_call(containers: ModuleType) -> None:
    m = np.array([[1, 2], [3, 4]], np.float32)
    result = containers.take_apart(m, 10.0)
    assert result._fields == ("m", "diagonal", "others")
    np.testing.assert_array_equal(result.m, 10 * np.array([[1, 2], [3, 4]]))
    assert (result.diagonal.tolist(), result.others.tolist()) == ([1, 4], [2, 3])
    matrix, scale = kf.differentiable([[1.0, 2.0], [3.0, 4.0]]), kf.differentiable(10.0)
    containers.take_apart.backward(matrix, scale)
    np.testing.assert_array_equal(matrix.grad, np.full((2, 2), 11))
    assert scale.grad == 10.0


@every_layout
@every_size
def test_outputs_of_tensors(containers: ModuleType, layout: str, size: int) -> None:
    dtype = np.dtype(np.float32)
    m = filled((size, 2, 2), dtype, layout, 1)
    diagonal, others = buffer((size, 2), dtype, layout), buffer((size, 2), dtype, layout)
    containers.take_apart(m.tensor, 2.0, diagonal.tensor, others.tensor)
    diagonal.array[...] = m.array[:, [0, 1], [0, 1]]
    others.array[...] = m.array[:, [0, 1], [1, 0]]
    m.array *= 2
    for checked in (m, diagonal, others):
        checked.check()
    flow, into = filled((size, 2), dtype, layout, 3), filled((size, 2, 2), dtype, layout, 4)
    grad = buffer((size, 2, 2), dtype, layout, np.ones((size, 2, 2)))
    containers.take_apart.backward(
        m.tensor.with_grads(grad_in=into.tensor, grad_out=grad.tensor),
        3.0,
        diagonal.tensor.with_grads(grad_in=flow.tensor),
    )
    grad.array += 3 * into.array
    grad.array[:, [0, 1], [0, 1]] += flow.array
    grad.array[:, [0, 1], [1, 0]] += 1
    for checked in (grad, into, flow):
        checked.check()


def test_recorded_calls_keep_their_values(containers: ModuleType, device: kf.Device) -> None:
    matrix, vectors = quarters((2, 3)), quarters((33, 3))
    expected = vectors @ matrix.T
    v = tracked(vectors)
    with device.encoder() as encoder:
        result = containers.transform.append_to(encoder, matrix, v)
        containers.transform.backward.append_to(encoder, matrix, v, result)
        matrix[...] = 77
    np.testing.assert_array_equal(result.to_numpy(), expected)
    matrix = quarters((2, 3))
    np.testing.assert_array_equal(gradient(v), np.broadcast_to(matrix.sum(0), (33, 3)))


def test_many_calls_with_large_values(containers: ModuleType) -> None:
    """Uploads of calls that are still in a batch must not meet."""
    many = quarters((33, 2, 3))
    matrices = [quarters((2, 3), seed=seed) for seed in range(200)]
    results = [containers.mix_float2x3(many, matrix) for matrix in matrices]
    for matrix, result in zip(matrices, results, strict=True):
        np.testing.assert_array_equal(result.to_numpy(), mixed(many, matrix))


# ---- Values batched over components ----


def check_batched(function: Any, value: Array, other: Any) -> None:
    """A product of a batched value and a number or an array, forward and backward."""
    array = np.asarray(other, value.dtype)
    expected = value * array
    np.testing.assert_array_equal(function(value, other).to_numpy(), expected, strict=True)
    np.testing.assert_array_equal(function(value.tolist(), other).to_numpy(), expected)
    left = kf.differentiable(value)
    right = tracked(array) if array.ndim > 0 else kf.differentiable(other)
    flow = quarters(expected.shape, value.dtype, 9)
    function.backward(left, right, function(left, right).with_grads(grad_in=flow))
    leading = tuple(range(expected.ndim - value.ndim))
    np.testing.assert_array_equal(
        left.grad, (flow * array.astype(np.float64)).sum(leading).astype(value.dtype)
    )
    wide = flow * value.astype(np.float64)
    if array.ndim == 0:
        assert right.grad == wide.sum().astype(value.dtype)
        return
    assert isinstance(right, kf.Tensor)
    for dimension, extent in enumerate(array.shape):
        if extent == 1:
            wide = wide.sum(dimension + expected.ndim - array.ndim, keepdims=True)
    np.testing.assert_array_equal(
        gradient(right), wide.sum(tuple(range(wide.ndim - array.ndim))).astype(value.dtype)
    )


@every_size
def test_batched_vectors(containers: ModuleType, size: int) -> None:
    value = quarters((3,))
    check_batched(containers.batched, value, 2.0)
    check_batched(containers.batched, value, quarters((3,), seed=2))
    check_batched(containers.batched, value, quarters((1,), seed=2))
    check_batched(containers.batched, value, quarters((size, 3), seed=2))
    check_batched(containers.batched, value, quarters((size, 1), seed=2))


@every_size
def test_batched_matrices(containers: ModuleType, size: int) -> None:
    value = quarters((2, 3))
    check_batched(containers.batched_matrix, value, 2.0)
    check_batched(containers.batched_matrix, value, quarters((size, 2, 3), seed=2))
    check_batched(containers.batched_matrix, value, quarters((size, 1, 3), seed=2))


def test_batched_arrays(containers: ModuleType) -> None:
    value = quarters((5,))
    check_batched(containers.batched_array, value, quarters((5,), seed=2))
    left, right = kf.differentiable(value), kf.differentiable([1, 2, 3, 4, 5])
    assert containers.batched_array(left, right).shape == (5,)
    containers.batched_array.backward(left, right)
    np.testing.assert_array_equal(left.grad, [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(right.grad, value)


@every_size
def test_batched_halves(containers: ModuleType, size: int) -> None:
    value = quarters((3,), np.float16)
    check_batched(containers.batched_half, value, 2.0)
    check_batched(containers.batched_half, value, quarters((size, 3), np.float16, 2))
    check_batched(containers.batched_half, value, quarters((size, 1), np.float16, 2))


def test_batched_rows(containers: ModuleType) -> None:
    value = kf.differentiable(quarters((2, 3)))
    result = containers.batched_rows(value)
    np.testing.assert_array_equal(result.to_numpy(), 2 * value.value)
    containers.batched_rows.backward(value)
    np.testing.assert_array_equal(value.grad, np.full((2, 3), 2))


@every_size
def test_batched_small_types(containers: ModuleType, size: int) -> None:
    bools = numbers((size, 3), np.dtype(np.bool_), 1)
    result = containers.batched_bool([True, False, False], bools)
    np.testing.assert_array_equal(result.to_numpy(), bools | np.array([True, False, False]))
    bytes_ = numbers((size, 4), np.dtype(np.int8), 2)
    with np.errstate(over="ignore"):
        expected = np.array([1, -2, 3, -128], np.int8) - bytes_
    result = containers.batched_int8([1, -2, 3, -128], bytes_)
    np.testing.assert_array_equal(result.to_numpy(), expected)


# ---- Mapping ----


@every_layout
@every_size
def test_transposed_inputs(containers: ModuleType, layout: str, size: int) -> None:
    dtype = np.dtype(np.float32)
    a, b = filled((size, 5), dtype, layout, 1), filled((5, size), dtype, layout, 2)
    out = buffer((5, size), dtype, layout)
    containers.times_transposed(a.tensor, b.tensor, out=out.tensor)
    out.array[...] = a.array.T * b.array
    out.check()
    grad_a, grad_b = filled((size, 5), dtype, layout, 3), filled((5, size), dtype, layout, 4)
    flow = filled((5, size), dtype, layout, 5)
    containers.times_transposed.backward(
        a.tensor.with_grads(grad_out=grad_a.tensor),
        b.tensor.with_grads(grad_out=grad_b.tensor),
        out.tensor.with_grads(grad_in=flow.tensor),
    )
    grad_a.array += (flow.array * b.array).T
    grad_b.array += flow.array * a.array.T
    for checked in (grad_a, grad_b, a, b, out, flow):
        checked.check()
    np.testing.assert_array_equal(containers.times_transposed(a.tensor, 3.0).to_numpy(), 3 * a.array.T)


@pytest.mark.parametrize("half", [False, True])
@every_size
def test_outer_products(containers: ModuleType, size: int, half: bool) -> None:
    dtype = np.float16 if half else np.float32
    function = containers.outer_half if half else containers.outer
    x, y, flow = quarters((size,), dtype, 1), quarters((7,), dtype, 2), quarters((size, 7), dtype, 3)
    a, b = tracked(x), tracked(y)
    result = function(a, b)
    np.testing.assert_array_equal(result.to_numpy(), np.outer(x, y))
    function.backward(a, b, result.with_grads(grad_in=flow))
    wide = flow.astype(np.float64)
    np.testing.assert_array_equal(gradient(a), (wide * y).sum(1).astype(dtype))
    np.testing.assert_array_equal(gradient(b), (wide * x[:, None]).sum(0).astype(dtype))


def test_partial_mapping(containers: ModuleType) -> None:
    block, scales = quarters((4, 3, 11)), quarters((4,), seed=2)
    a, b = tracked(block), tracked(scales)
    result = containers.per_slice(a, b)
    np.testing.assert_array_equal(result.to_numpy(), block * scales[:, None, None])
    containers.per_slice.backward(a, b)
    np.testing.assert_array_equal(gradient(b), block.sum((1, 2)))
    np.testing.assert_array_equal(gradient(a), np.broadcast_to(scales[:, None, None], block.shape))


@every_layout
def test_permutations(containers: ModuleType, layout: str) -> None:
    """Dimension i of the tensor is dimension map[i] of the call."""
    a = filled((4, 3, 11), np.dtype(np.float32), layout, 1)
    result = containers.permuted(a.tensor, 2.0)
    np.testing.assert_array_equal(result.to_numpy(), 2 * a.array.transpose(1, 2, 0))
    grad, flow = quarters((4, 3, 11), seed=2), quarters((3, 11, 4), seed=3)
    tensor = kf.Tensor.from_numpy(grad)
    containers.permuted.backward(a.tensor.with_grads(grad_out=tensor), 2.0, result.with_grads(grad_in=flow))
    np.testing.assert_array_equal(tensor.to_numpy(), grad + 2 * flow.transpose(2, 0, 1))


@every_layout
@every_size
def test_mapped_outputs(containers: ModuleType, layout: str, size: int) -> None:
    dtype = np.dtype(np.float32)
    a = filled((size, 5), dtype, layout, 1)
    out = buffer((5, size), dtype, layout)
    containers.transposing(a.tensor, 2.0, out=out.tensor)
    out.array[...] = 2 * a.array.T
    out.check()
    fresh = containers.transposing(a.tensor, 2.0)
    np.testing.assert_array_equal(fresh.to_numpy(), out.array)
    grad, flow = filled((size, 5), dtype, layout, 2), filled((5, size), dtype, layout, 3)
    scale = kf.differentiable(2.0)
    containers.transposing.backward(
        a.tensor.with_grads(grad_out=grad.tensor), scale, fresh.with_grads(grad_in=flow.tensor)
    )
    grad.array += 2 * flow.array.T
    grad.check()
    assert scale.grad == (flow.array.T.astype(np.float64) * a.array).sum()
    parts = containers.split_mapped(a.tensor)
    np.testing.assert_array_equal(parts.whole.to_numpy(), np.floor(a.array).T)
    np.testing.assert_array_equal(parts.rest.to_numpy(), a.array - np.floor(a.array))
    if size > 1:
        with pytest.raises(kf.ArgumentError, match="never broadcast") as caught:
            containers.transposing(a.tensor, 2.0, out=buffer((size, 5), dtype, layout).tensor)
        assert caught.value.code == "shape-mismatch"


def test_mapped_vectors_and_matrices(containers: ModuleType) -> None:
    v = tracked(quarters((4, 11, 3)))
    np.testing.assert_array_equal(
        containers.transposed_vectors(v).to_numpy(), 2 * v.to_numpy().transpose(1, 0, 2)
    )
    containers.transposed_vectors.backward(v)
    np.testing.assert_array_equal(gradient(v), np.full((4, 11, 3), 2))
    m, s = tracked(quarters((5, 2, 3))), tracked(quarters((7,), seed=2))
    result = containers.outer_matrix(m, s)
    np.testing.assert_array_equal(result.to_numpy(), m.to_numpy()[None] * s.to_numpy()[:, None, None, None])
    containers.outer_matrix.backward(m, s)
    np.testing.assert_array_equal(gradient(m), np.full((5, 2, 3), s.to_numpy().sum()))
    np.testing.assert_array_equal(gradient(s), np.full(7, m.to_numpy().sum()))


def test_mapped_values(containers: ModuleType) -> None:
    value, row = kf.differentiable(quarters((3,))), tracked(quarters((11,), seed=2))
    result = containers.outer_value(value, row)
    np.testing.assert_array_equal(result.to_numpy(), np.outer(value.value, row.to_numpy()))
    containers.outer_value.backward(value, row)
    np.testing.assert_array_equal(value.grad, np.full(3, row.to_numpy().sum()))


def test_strict_broadcasting(containers: ModuleType) -> None:
    a, b = quarters((2, 3)), quarters((2, 3), seed=2)
    np.testing.assert_array_equal(containers.strict(a, b).to_numpy(), a * b)
    np.testing.assert_array_equal(containers.strict(a, 2.0).to_numpy(), a * 2)
    for other in (b[:1], b[:, :1], [[1.0, 2.0, 3.0]], kf.Tensor.from_numpy(b[:1])):
        with pytest.raises(
            kf.ArgumentError, match=r"strict: argument 'b': broadcasting is forbidden"
        ) as caught:
            containers.strict(a, other)
        assert caught.value.code == "shape-mismatch"
    with pytest.raises(kf.ArgumentError) as caught:
        containers.strict(a, b[0])
    assert caught.value.code == "no-overload"


# ---- What is refused ----

MATRIX = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("name", "a", "b", "code", "text"),
    [
        ("mix_float2x3", [[1, 2], [3, 4]], MATRIX, "shape-mismatch",
         "'a': a float2x3 has shape [2, 3], not [2, 2]"),
        ("mix_float2x3", MATRIX.T, MATRIX, "shape-mismatch", "'a': a float2x3 has shape [2, 3], not [3, 2]"),
        ("mix_float2x3", [[1, 2, 3], [4, 5]], MATRIX, "shape-mismatch", "lengths 3 and 2 at depth 1"),
        ("mix_float2x3", [[1, 2, 3], 4], MATRIX, "shape-mismatch", "the number 4 beside lists"),
        ("mix_float2x3", [[1, 2, 3], [4, "5", 6]], MATRIX, "type-mismatch", "'5' (a str)"),
        ("mix_float2x3", [1, 2, 3], MATRIX, "no-overload", "a list of shape (3,)"),
        ("mix_float2x3", MATRIX.astype(np.float64), MATRIX, "no-overload", "a float64 array of shape (2, 3)"),
        ("mix_float2x3", np.zeros((4, 3, 2), np.float32), MATRIX, "shape-mismatch",
         "dimension 1 of shape [4, 3, 2]: expected extent 2, found 3"),
        ("mix_float2x3", kf.Tensor.zeros((4, 2)), MATRIX, "no-overload", "a float32 tensor of shape (4, 2)"),
        ("mix_float_4", np.zeros((9, 3), np.float32), [1, 2, 3, 4], "shape-mismatch",
         "expected extent 4, found 3"),
        ("mix_float_4", np.zeros((9, 4), np.float32), [1, 2, 3], "shape-mismatch",
         "'b': a float[4] has shape [4], not [3]"),
        ("mix_double_5", [1, 2, 3, 4, 5], [1, 2, 3, 4], "shape-mismatch",
         "'b': a double[5] has shape [5], not [4]"),
        ("mix_float_2_3_2_2", np.zeros((2, 3, 2, 2), np.float32), np.zeros((2, 3, 2, 1), np.float32),
         "shape-mismatch", "'b': a float[2][3][2][2] has shape [2, 3, 2, 2], not [2, 3, 2, 1]"),
        ("mix_bool2x3", [[1, 2, 3], [4, 5, 6]], [[True] * 3] * 2, "no-overload", "a list of shape (2, 3)"),
        ("mix_int8_t_7", [300] * 7, [1] * 7, "value-range", "300 doesn't fit an int8"),
        ("mix_int4x3", [[1.5] * 3] * 4, [[1] * 3] * 4, "no-overload", "list of shape (4, 3)"),
        ("rows_float2x3", np.zeros((4, 3, 2), np.float32), np.zeros((4, 2, 3), np.float32), "shape-mismatch",
         "'a': dimension 1 of shape [4, 3, 2]: expected extent 2, found 3"),
        ("rows_float2x3", np.zeros((4, 2, 3), np.float32), np.zeros((4, 2, 2), np.float32), "shape-mismatch",
         "'b': dimension 2 of shape [4, 2, 2]: expected extent 3, found 2"),
        ("batched", [1, 2], 1.0, "shape-mismatch", "'a': a float3 has shape [3], not [2]"),
        ("batched", [1, 2, 3], [1.0, 2.0], "shape-mismatch", "doesn't broadcast"),
        ("batched", 1.0, 1.0, "no-overload", "a floating number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_wrong_shapes(containers: ModuleType, name: str, a: Any, b: Any, code: str, text: str) -> None:
    with pytest.raises(kf.ArgumentError) as caught:
        getattr(containers, name)(a, b)
    assert caught.value.code == code
    assert text in str(caught.value)
    assert str(caught.value).startswith(name + ": ")


def test_wrong_outputs(containers: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match=r"the output is one float2x3.*shape \[2, 3\]"):
        containers.mix_float2x3(MATRIX, MATRIX, out=np.zeros((3, 2), np.float32))
    out = buffer((5, 3, 2), np.dtype(np.float32), "contiguous")
    with pytest.raises(kf.ArgumentError, match="expected extent 2, found 3"):
        containers.mix_float2x3(np.zeros((5, 2, 3), np.float32), MATRIX, out=out.tensor)
    out.check()


def test_wrong_gradients(containers: ModuleType) -> None:
    value = kf.differentiable(MATRIX)
    value.grad = np.zeros((3, 2), np.float32)
    with pytest.raises(ValueError, match="broadcast"):
        containers.mix_float2x3.backward(value, MATRIX)
    outcome = kf.differentiable(MATRIX)
    outcome.grad = np.zeros((3, 2))
    with pytest.raises(kf.ArgumentError, match="its gradient"):
        containers.mix_float2x3.backward(kf.differentiable(MATRIX), MATRIX, outcome)
