"""What users of NumPy and PyTorch are used to: what works as there, and what says what to do instead."""

import inspect
import pickle
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def structs(generated: Loader) -> ModuleType:
    return generated("structs")


@pytest.fixture(scope="module")
def methods(generated: Loader) -> ModuleType:
    return generated("members")


def message(act: Any, kind: type[Exception] = kf.ArgumentTypeError) -> str:
    with pytest.raises(kind) as caught:
        act()
    assert type(caught.value) is kind
    return str(caught.value)


# Gradients


@pytest.mark.parametrize(
    "value", [[1.0, 2.0, 3.0], (1.0, 2.0, 3.0), np.array([1, 2, 3], np.float32)], ids=type
)
def test_a_vector_is_trained(gradients: ModuleType, value: Any) -> None:
    """Its gradient has the parameter's dtype, so that what is made of it can be given back."""
    vector = kf.differentiable(value)
    for _ in range(3):
        vector.grad = np.zeros(3)
        gradients.weighted.backward(vector, 2.0)
        assert vector.grad.dtype == np.float32
        assert vector.grad.tolist() == [2, 4, 6]
        vector.value = vector.value - np.float32(0.25) * vector.grad
        assert vector.value.dtype == np.float32
    assert vector.value.tolist() == [-0.5, -1, -1.5]
    assert gradients.weighted(vector.grad, 1.0) == 28


def test_gradients_of_structs_are_of_the_parameters_dtype(structs: ModuleType) -> None:
    ray = kf.differentiable(structs.Ray(pos=[1.0, 2.0, 3.0], dir=(0.0, 0.0, 1.0)))
    structs.raytrace.backward(ray, 0.5)
    assert (ray.grad.pos.dtype, ray.grad.dir.dtype) == (np.float32, np.float32)


@pytest.mark.parametrize(
    "value",
    [True, np.int32(3), np.arange(3), [], [True], {"a": True}, {"a": {"b": np.arange(2)}}],
    ids=repr,
)
def test_what_has_no_derivative(value: Any) -> None:
    text = message(lambda: kf.differentiable(value))
    assert text.startswith("differentiable: argument 'value': ")
    assert text.endswith(
        " has no derivative: floating numbers, lists, arrays and tensors of them, and structs have"
    )


def test_a_struct_with_one_field_that_has_a_derivative() -> None:
    assert kf.differentiable({"a": 1.0, "b": True}).grad["a"] == 0


# Tensors


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64"]
)
def test_fill(dtype: str) -> None:
    tensor = kf.Tensor.zeros((5, 3), dtype)
    tensor.fill(1) if dtype != "bool" else tensor.fill(True)
    np.testing.assert_array_equal(tensor.to_numpy(), np.ones((5, 3), dtype))
    tensor[1:3, ::2].fill(False if dtype == "bool" else 0)
    wanted = np.ones((5, 3), dtype)
    wanted[1:3, ::2] = 0
    np.testing.assert_array_equal(tensor.to_numpy(), wanted)
    tensor[3:].fill(False if dtype == "bool" else 0)
    wanted[3:] = 0
    np.testing.assert_array_equal(tensor.to_numpy(), wanted)


def test_what_can_not_be_filled(structs: ModuleType) -> None:
    bytes_ = kf.Tensor.zeros(3, np.int8)
    assert message(lambda: bytes_.fill(300), kf.ArgumentError) == (
        "Tensor.fill: argument 'value': 300 doesn't fit an int8 (-128 to 127)"
    )
    assert message(lambda: bytes_.fill(1.5)) == (
        "Tensor.fill: argument 'value': 1.5 is a float where an int8 is needed; convert it yourself"
    )
    assert message(lambda: kf.Tensor.zeros(3, structs.Ray).fill(0)) == (
        "Tensor.fill: argument 'value': a tensor of structs is filled by copy_from_numpy(), not with 0"
    )
    assert bytes_.tolist() == [0, 0, 0]
    with pytest.raises(kf.ArgumentError, match="broadcast"):
        kf.Tensor.zeros(1).broadcast_to(3).fill(1)


def test_zero_grad(gradients: ModuleType, structs: ModuleType) -> None:
    x = kf.Tensor([[1.0, 2.0, 3.0]]).with_grads()
    for _ in range(2):
        assert x.grad is not None
        gradients.weighted.backward(x, 2.0)
        assert x.grad.tolist() == [[2, 4, 6]]
        x.zero_grad()
        assert x.grad.tolist() == [[0, 0, 0]]
    flows = [kf.Tensor.ones((1, 3)) for _ in range(2)]
    kf.Tensor([[1.0, 2.0, 3.0]]).with_grads(grad_in=flows[0], grad_out=flows[1]).zero_grad()
    assert [flow.tolist() for flow in flows] == [[[0, 0, 0]]] * 2
    rays = kf.Tensor.zeros(2, structs.Ray).with_grads()
    rays.zero_grad()
    assert message(kf.Tensor([1.0]).zero_grad) == (
        "Tensor.zero_grad: the tensor has no gradient: with_grads() gives a tensor that has"
    )


def test_items_are_written() -> None:
    x: Any = kf.Tensor.zeros((2, 3))
    x[0] = 5
    x[1, 1:] = np.array([1, 2], np.float32)
    assert x.tolist() == [[5, 5, 5], [0, 1, 2]]
    assert message(lambda: x.__setitem__(0, [1.0, 2.0, 3.0])) == (
        "Tensor: x[i] = y takes a number or a NumPy array, not [1.0, 2.0, 3.0]"
    )


def test_one_element_is_a_number() -> None:
    assert float(kf.Tensor(2.5)) == 2.5
    assert int(kf.Tensor([7])) == 7
    assert message(lambda: float(kf.Tensor([1.0, 2.0])), kf.ArgumentError) == (
        "Tensor: float() takes one element, and the shape is (2,): to_numpy() gives an array"
    )


def test_comparisons_name_to_numpy() -> None:
    x: Any = kf.Tensor([1.0])
    y = kf.Tensor([1.0])
    for other in (y, x, 1.0, np.ones(1, np.float32), [1.0]):
        assert message(lambda other=other: x == other) == (
            "Tensor: x == y isn't done on a device outside of kernels: compare x.to_numpy(), or see by `is` "
            "whether it is the same tensor"
        )
        assert "x != y" in message(lambda other=other: x != other)
    assert "x < y" in message(lambda: x < y)
    assert x != None  # noqa: E711
    assert x != "x"
    assert x in [x]
    assert {x: 1}[x] == 1


def test_arithmetic_says_where_it_is_done() -> None:
    x: Any = kf.Tensor([1.0, 2.0]).with_grads()
    add = "isn't done on a device outside of kernels: "
    assert message(lambda: x + 1) == f"Tensor: x + y {add}x.to_numpy() + y does it in NumPy"
    assert message(lambda: 2 * x) == f"Tensor: x * y {add}x.to_numpy() * y does it in NumPy"
    by_numpy = (
        f"Tensor: x += y {add}x.copy_from_numpy(x.to_numpy() + y) goes by NumPy; fill() and zero_grad() set "
        "all elements"
    )
    assert message(lambda: x.__iadd__(1)) == by_numpy

    def add_to_gradient() -> None:
        x.grad += 1

    assert message(add_to_gradient) == by_numpy
    for name in ("grad", "grad_in", "grad_out"):
        assert message(lambda name=name: setattr(x, name, None), AttributeError) == (
            "a tensor keeps its gradient: zero_grad() and grad.fill() set its elements, and "
            "with_grads(grad_out=...) gives a tensor with another one"
        )
    # NumPy's arrays and numbers do what they can.
    assert (np.ones(2, np.float32) + x).tolist() == [2, 3]
    assert (x + np.ones(2, np.float32)).tolist() == [2, 3]
    assert (np.float32(2) * x).tolist() == [2, 4]


def test_what_is_shown(calls: ModuleType, gradients: ModuleType, device: kf.Device) -> None:
    where = f"device={device.info.id!r}"
    array = np.arange(3, dtype=np.float32)
    assert repr(kf.Tensor.from_numpy(array)) == f"Tensor([0., 1., 2.], shape=(3,), dtype=float32, {where})"
    buffer = kf.Buffer.from_numpy(array, writable=True)
    assert repr(buffer) == f"Buffer([0., 1., 2.], shape=(3,), dtype=float32, {where}, writable)"
    assert repr(kf.Buffer.from_numpy(array)).endswith(f"shape=(3,), dtype=float32, {where})")
    texture = kf.Texture.from_numpy(np.zeros((4, 5, 4), np.float32), "rgba32f")
    assert "shape=(4, 5)" in repr(texture)
    assert repr(calls.add) == "<kernel function add(a: int, b: int) -> int, and 5 more overloads>"
    assert repr(gradients.twice_rough) == (
        "<kernel function twice_rough(x: float tensor[1]) -> float tensor[1]>"
    )


# Structs


def test_structs_compare_by_value(structs: ModuleType) -> None:
    Ray = structs.Ray  # noqa: N806
    one = Ray(pos=[1, 2, 3], dir=np.array([0, 0, 1], np.float32))
    assert one == Ray(pos=[1, 2, 3], dir=[0, 0, 1])
    assert one == Ray(pos=np.array([1, 2, 3]), dir=np.array([0, 0, 1]))
    assert one != Ray(pos=[1, 2, 4], dir=[0, 0, 1])
    assert one != Ray(pos=[1, 2], dir=[0, 0, 1])
    assert one != {"pos": [1, 2, 3], "dir": [0, 0, 1]}
    tensor = kf.Tensor([1.0, 2.0, 3.0])
    assert Ray(pos=tensor, dir=1) == Ray(pos=tensor, dir=1)
    assert "to_numpy()" in message(
        lambda: Ray(pos=tensor, dir=1) == Ray(pos=kf.Tensor([1.0, 2.0, 3.0]), dir=1)
    )
    assert message(lambda: hash(one), TypeError) == "unhashable type: 'Ray'"


def test_structs_refuse_unknown_attributes(structs: ModuleType) -> None:
    ray = structs.Ray(pos=[1, 2, 3], dir=[0, 0, 1])

    def misspell() -> None:
        ray.positon = 1

    assert (
        message(misspell, kf.ArgumentAttributeError)
        == "Ray has no field 'positon'; it has pos, dir: did you mean 'pos'?"
    )


# Functions


def test_absent_passes_are_none_and_say_why_when_they_are_called(
    calls: ModuleType, gradients: ModuleType
) -> None:
    for name in ("backward", "jvp", "fused"):
        assert getattr(calls.add, name) is None
    assert calls.add.backward is None
    assert calls.add.jvp is None
    assert calls.add.fused is None
    add: Any = calls.add
    reason = "its call in the spec doesn't say"
    kind = kf.ArgumentRuntimeError
    for _ in range(20):  # Python looks at what is called often in another way
        assert message(lambda: add.backward(1, 2), kind) == (
            f'add: not differentiable: {reason} "backward": true, as that of a [Differentiable] function can'
        )
    assert message(lambda: add.jvp(1, 2, tangents={}), kind) == (
        f'add: not differentiable: {reason} "forward_diff": true, as that of a [Differentiable] function can'
    )
    assert message(lambda: add.fused(1, 2), kind) == (
        f'add: not differentiable: {reason} "backward": {{"fused": true}}, as that of a '
        "[Differentiable] loss can"
    )
    assert message(lambda: gradients.weighted.jvp(1, 2), kind) == (
        f'weighted: it has no forward derivative: {reason} "forward_diff": true, as that of a '
        "[Differentiable] function can"
    )
    assert message(lambda: gradients.weighted.fused(1, 2), kind).startswith(
        "weighted: it has no fused pass: "
    )
    vector = kf.differentiable([1.0, 2.0, 3.0])
    for _ in range(20):
        gradients.weighted.backward(vector, 1.0)
    assert vector.grad.tolist() == [20, 40, 60]
    with pytest.raises(AttributeError):
        calls.add.backward = 3
    assert inspect.getdoc(kf.Function.backward) == "None where the function is not differentiable."


def test_signatures(calls: ModuleType, gradients: ModuleType) -> None:
    assert str(inspect.signature(calls.add)) == (
        "(a: 'int | int tensor[1] | int tensor[2]', b: 'int | int tensor[1]', *, out=None, shape=None, "
        "stream=None) -> 'int | int tensor[1] | int tensor[2]'"
    )
    assert str(inspect.signature(gradients.weighted.backward)) == (
        "(v: 'float3 | float3 tensor[1]', w: 'float | float tensor[1]', out: 'float | float tensor[1]' "
        "= None, *, shape=None, stream=None)"
    )
    bound = inspect.signature(calls.add).bind(1, b=2)
    assert calls.add(*bound.args, **bound.kwargs) == 3
    assert str(inspect.signature(calls.quotient)).endswith("-> 'QuotientResult'")
    assert list(inspect.signature(calls.reserved).parameters) == [
        "shape_",
        "stream_",
        "out",
        "shape",
        "stream",
    ]


def test_every_function_has_a_signature(generated: Loader) -> None:
    for name in ("calls", "gradients", "structs", "members", "fused", "jvp", "generators"):
        for function in vars(generated(name)).values():
            if isinstance(function, kf.Function):
                for one in (function, function.backward, function.fused, function.jvp):
                    if one is not None:
                        assert isinstance(inspect.signature(one), inspect.Signature)
                assert repr(function).startswith(f"<kernel function {function.name}(")


def test_functions_and_their_passes_are_pickled(calls: ModuleType, gradients: ModuleType) -> None:
    assert pickle.loads(pickle.dumps(calls.add)) is calls.add
    vector = kf.differentiable([1.0, 2.0, 3.0])
    pickle.loads(pickle.dumps(gradients.weighted.backward))(vector, 1.0)
    assert vector.grad.tolist() == [1, 2, 3]
