"""The words of the documents that the package was made from, and of the habits of SlangPy."""

import collections
import copy
import ctypes
import pickle
from array import array as array_of_numbers
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import array
from generating import Generator
from loader import Loader

#: For what type checkers refuse.
loose: Any = kf


@pytest.fixture(scope="module")
def founding(generated: Loader) -> ModuleType:
    return generated("founding")


@pytest.fixture(scope="module")
def lamps(generated: Loader) -> ModuleType:
    return generated("globals")


def message(act: Any, kind: type[Exception] = kf.ArgumentTypeError) -> str:
    with pytest.raises(kind) as caught:
        act()
    assert type(caught.value) is kind
    return str(caught.value)


def floats(*values: float) -> kf.Tensor:
    return kf.Tensor([*values], np.float32)


# Configured passes

PASSES = ["backward", "fused", "jvp"]


def ran(pass_: Any, x: kf.Tensor) -> list[float]:
    """The derivative that one of the three passes gives by x, whose result's gradient is 1."""
    if "jvp" in repr(pass_):
        result: list[float] = pass_(x, tangents={"x": kf.Tensor.ones(x.shape)})[1].tolist()
        return result
    x = x.with_grads()
    pass_(x)
    return array(x.grad).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", PASSES)
def test_passes_are_configured(founding: ModuleType, name: str) -> None:
    x = floats(1, 2, 3)
    plain = getattr(founding.gained, name)
    seen: list[str] = []
    doubled = plain.set(gain=2).hook(lambda _: seen.append("a"))
    assert type(doubled) is type(plain)
    assert ran(doubled, x) == [4, 8, 12]
    assert ran(doubled.set({"gain": 3}).hook(lambda _: seen.append("b")), x) == [6, 12, 18]
    assert seen == ["a", "a", "b"]
    assert ran(doubled.options(variant="small"), x) == [4, 8, 12]
    assert ran(doubled.options({"variant": "small"}).typeconformance({}).map({}), x) == [4, 8, 12]
    assert ran(doubled.options(deterministic=True), x) == [4, 8, 12]
    with pytest.raises(kf.ArgumentTypeError, match="the global 'gain', which it reads, isn't set"):
        ran(plain, x)
    with pytest.raises(kf.ArgumentTypeError, match="entry points, and calls whose spec says"):
        plain.threads(4)
    with pytest.raises(kf.ArgumentTypeError, match="entry points, and calls whose spec says"):
        plain.groups(4)


def test_a_pass_accumulates(founding: ModuleType) -> None:
    flow = kf.Tensor([0.0, 0.0]).with_grads(grad_in=np.array([1, 10], np.float32))
    pushed = founding.gained.set(gain=1).backward.accumulate({"x.grad": "push"})
    x = floats(2).with_grads()
    pushed.call(x, flow)
    assert array(x.grad).tolist() == [4, 40]
    x = floats(2).with_grads()
    pushed.accumulate(**{"x.grad": "sum"}).call(x, flow)
    assert array(x.grad).tolist() == [44]


@pytest.mark.parametrize("name", PASSES)
def test_configured_passes_are_prepared_and_recorded(founding: ModuleType, name: str) -> None:
    pass_ = getattr(founding.gained, name).set(gain=5)
    x = floats(1, 2).with_grads()
    given: dict[str, Any] = {"tangents": {"x": kf.Tensor.ones(2)}} if name == "jvp" else {}
    prepared = pass_.prepare(x, **given)
    prepared()
    encoder = kf.default_device().encoder()
    recorded = pass_.append_to(encoder, x, **given)
    encoder.submit()
    if name == "jvp":
        assert prepared.result[1].tolist() == recorded[1].tolist() == [10, 20]
    else:
        assert array(x.grad).tolist() == [20, 40]


def test_passes_of_methods_are_configured(lamps: ModuleType) -> None:
    lamp = lamps.Lamp
    assert type(lamp.fill.backward.threads(3)) is kf.Backward
    assert "Lamp.shine" in repr(lamp.shine.jvp.options(variant="by_column"))
    one = lamp(**dict.fromkeys(lamp._fields, 1.0))
    bound = one.shine.backward.set({}).options({}).accumulate({"w.grad": "push"}).hook(print)
    assert type(bound) is kf.BoundBackward
    assert type(one.shine.jvp.options(variant="by_column").map(w=[1])) is kf.BoundJvp
    assert type(one.fill.backward.threads(3).groups(2)) is kf.BoundBackward


def test_what_other_packages_call_it(founding: ModuleType) -> None:
    scaler = founding.Scaler(scale=2.0)
    for word in ("bwds", "bwd", "backwards"):
        for one in (founding.polynomial, scaler.scaled):
            assert f"no attribute '{word}': did you mean 'backward'?" in message(
                lambda one=one, word=word: getattr(one, word), AttributeError
            )
            assert not hasattr(one, word)


@pytest.mark.parametrize("word", ["threads", "numthreads", "group_size"])
def test_options(founding: ModuleType, word: str) -> None:
    add = founding.add
    for chosen in (
        add.options(**{word: [8, 8]}),
        add.options({word: (8, 8)}),
        add.options({"variant": "small"}),
    ):
        assert repr(chosen) == repr(add.options(variant="small"))
        assert chosen(1.0, 2.0) == 3
    assert add.options({})(1.0, 2.0) == add.options(None)(1.0, 2.0) == 3
    assert add.options({word: [7, 7]}, **{word: [8, 8]})(1.0, 2.0) == 3
    assert f"argument '{word}': a list of one to three numbers" in message(lambda: add.options({word: 8}))
    other = "threads" if word != "threads" else "numthreads"
    assert "the group's size is given twice" in message(lambda: add.options({word: [8, 8], other: [8, 8]}))
    assert message(lambda: add.options([8, 8])) == (
        'add: argument \'options\': a dict is needed, as in {"variant": "tiled"}, not [8, 8]'
    )
    assert "no option 'numthread'" in message(lambda: add.options({"numthread": [8, 8]}))


# Outputs


@pytest.mark.parametrize("form", [kf.Tensor, "tensor", np.ndarray, "numpy", "torch"], ids=str)
@pytest.mark.parametrize("by", ["out", "return_type"])
def test_outputs_are_what_is_asked_for(founding: ModuleType, form: Any, by: str) -> None:
    if form == "torch":
        pytest.importorskip("torch")
    kind = {"tensor": kf.Tensor, "numpy": np.ndarray}.get(form, form)

    def called(function: Any, *given: Any) -> Any:
        result = function(*given, out=form) if by == "out" else function.return_type(form)(*given)
        assert type(result).__name__ == "Tensor" if form == "torch" else type(result) is kind
        return result

    assert called(founding.add, 1.0, floats(1, 2)).tolist() == [2, 3]
    assert called(founding.add, [[1.0]], [2.0, 3.0]).tolist() == [[3, 4]]
    one = called(founding.add, 1.0, 2.0)
    assert (one.shape, one.tolist()) == ((), 3)
    assert called(founding.tinted, (1.0, 2.0, 3.0), 2.0).tolist() == [2, 4, 6]
    assert called(founding.tinted, (1.0, 2.0, 3.0), [1.0, 2.0]).tolist() == [[1, 2, 3], [2, 4, 6]]


def test_outputs_as_usual(founding: ModuleType) -> None:
    asked = founding.add.return_type("numpy")
    assert type(asked(1.0, [2.0])) is np.ndarray
    assert type(asked.return_type(None)(1.0, [2.0])) is kf.Tensor
    given = kf.Tensor.zeros(1)
    assert asked(1.0, [2.0], out=given) is given
    assert type(asked(1.0, [2.0], out="tensor")) is kf.Tensor
    assert type(founding.Scaler(scale=2.0).scaled.return_type(kf.Tensor)(3.0)) is kf.Tensor
    text = message(lambda: founding.add.return_type(list))
    assert text.startswith("add: argument 'return_type': kf.Tensor, np.ndarray or torch.Tensor is needed")
    assert "can't make a NumPy array" in message(
        lambda: asked.append_to(kf.default_device().encoder(), 1.0, floats(2))
    )
    assert message(lambda: founding.polynomial(a=1.0, b=1.0, c=1.0, x=1.0, _result="tensor")).endswith(
        "no argument '_result'; it takes a, b, c, x, out: did you mean 'out'?"
    )


def test_structs_come_back_as_what_they_are(founding: ModuleType) -> None:
    ray = {"pos": (1.0, 2.0, 3.0), "dir": (0.0, 0.0, 1.0)}
    text = "argument 'result': Ray structs come back as what they are, not as a kf.Tensor"
    assert text in message(lambda: founding.moved(ray, out=kf.Tensor))
    assert founding.moved([ray], out=kf.Tensor).to_numpy()["pos"].tolist() == [[1, 2, 4]]


def test_recorded_calls_return_numbers(founding: ModuleType) -> None:
    """As tensors of one element, which hold it once the encoder is submitted."""
    for _ in range(2):  # the second time as a call that is known
        encoder = kf.default_device().encoder()
        results = [founding.add.append_to(encoder, 1.0, float(i)) for i in range(3)]
        vector = founding.tinted.append_to(encoder, [1.0, 2.0, 3.0], 2.0)
        length = founding.length_of.append_to(encoder, vector.reshape(1, 3))
        whole = founding.twice.append_to(encoder, 21)
        encoder.submit()
        assert [one.item() for one in results] == [1, 2, 3]
        assert (vector.tolist(), whole.tolist(), whole.dtype) == ([2, 4, 6], 42, np.int32)
        np.testing.assert_allclose(length.tolist(), [np.sqrt(56)], rtol=1e-6)
        assert founding.add(1.0, 2.0) == 3
    encoder = kf.default_device().encoder()
    assert "no overload takes" in message(
        lambda: founding.add.append_to(encoder, 1.0, 2.0, out=kf.Tensor(0.0))
    )


# Gradients


def test_gradients_are_allocated(founding: ModuleType) -> None:
    for _ in range(2):  # the second time as a call that is known
        x = floats(1, 2)
        assert x.grad is None
        assert not x.needs_grad
        founding.polynomial.backward(2.0, 8.0, -1.0, x, founding.polynomial(2.0, 8.0, -1.0, x))
        assert x.needs_grad
        assert array(x.grad).tolist() == [12, 16]
        founding.polynomial.backward(2.0, 8.0, -1.0, x)
        assert array(x.grad).tolist() == [24, 32]
        x.grad.clear()
        assert array(x.grad).tolist() == [0, 0]
        a, x = kf.differentiable(2.0), floats(1, 2)
        founding.polynomial.backward(a, 8.0, -1.0, x)
        assert (a.grad, x.grad) == (5, None)
    with pytest.raises(kf.ArgumentError, match="no input carries a gradient to add to"):
        founding.polynomial.backward(2.0, 8.0, -1.0, [1.0])


def test_what_needs_no_gradient(founding: ModuleType) -> None:
    a, b = kf.differentiable(2.0, needs_grad=True), kf.differentiable(8.0, needs_grad=False)
    assert (a.needs_grad, b.needs_grad, b.grad) == (True, False, None)
    founding.polynomial.backward(a, b, -1.0, 3.0)
    assert (a.grad, b.grad) == (9, None)
    x = kf.differentiable(floats(1).with_grads(), needs_grad=False)
    founding.polynomial.backward(a, b, -1.0, x)
    assert x.value.grad is None
    assert repr(b) == "differentiable(8.0, needs_grad=False)"
    with pytest.raises(kf.ArgumentError, match="made with needs_grad=False"):
        b.grad = 1.0


# Names


def test_get_function(founding: ModuleType) -> None:
    assert kf.get_function(founding, "add") is founding.add
    assert kf.get_function(founding, "Scaler.scaled") is founding.Scaler.scaled
    assert kf.get_function(founding._module, "add") is founding.add
    assert kf.get_function(founding.set(gain=3), "gained")(2.0) == 12
    assert message(lambda: kf.get_function(founding, "ad")).endswith(": did you mean 'add'?")
    assert "a generated module is needed, not" in message(lambda: kf.get_function(np, "add"))


def test_shapes(founding: ModuleType) -> None:
    shape = kf.Shape(4, 6)
    assert (shape, repr(shape), kf.Shape((4, 6)), len(shape)) == ((4, 6), "Shape(4, 6)", shape, 2)
    picture = kf.Tensor.zeros((*shape, 3))
    founding.fill.call(pixel=shape, color=kf.float3(1, 0, 0), texture=picture)
    assert (picture.to_numpy() == [1, 0, 0]).all()
    assert kf.Tensor.zeros(shape).shape == shape
    assert "an extent is an int, not 1.5" in message(lambda: loose.Shape(1.5))
    assert "-1 is not an extent" in message(lambda: kf.Shape(-1))


def test_batches(founding: ModuleType) -> None:
    assert founding.add(10, kf.Batchable([1, 2, 3])).tolist() == [11, 12, 13]
    vectors = kf.Batchable([[3.0, 4.0, 0.0]])
    assert founding.length_of(vectors).tolist() == [5]
    rays = kf.Batchable([{"pos": (1.0, 2.0, 3.0), "dir": (0.0, 0.0, 1.0)}])
    assert founding.raytrace(rays).tolist() == [[1, 2, 5]]
    assert founding.add(1.0, kf.Batchable(float(i) for i in range(2))).tolist() == [1, 2]
    assert founding.add(1.0, kf.Batchable(floats(1, 2))).tolist() == [2, 3]
    assert "one value is needed, not a kf.Batchable" in message(
        lambda: founding.first_row(kf.Batchable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    )
    with pytest.raises(kf.ArgumentTypeError):
        founding.length_of(kf.Batchable([3.0, 4.0, 0.0]))
    one: Any
    for one in (3.0, "abc", None, {"a": 1}):
        assert not kf.is_batchable_like(one)
        assert "a list, an array or a tensor is needed" in message(lambda one=one: kf.Batchable(one))
    for one in ([1], (1,), range(3), np.zeros(2), floats(1), kf.Batchable([1]), bytearray):
        assert kf.is_batchable_like(one) is (one is not bytearray)


def test_what_is_differentiable_like() -> None:
    one: Any
    for one in (kf.differentiable(1.0), floats(1), floats(1).with_grads()):
        assert kf.is_differentiable_like(one)
        assert hasattr(one, "grad")
        assert hasattr(one, "needs_grad")
    for one in (1.0, [1.0], kf.Tensor([1]), np.ones(2), kf.Buffer.zeros(2)):
        assert not kf.is_differentiable_like(one)


def test_tensors_by_other_words(device: kf.Device) -> None:
    tensor = kf.Tensor.numpy(device, np.array([1, 2], np.float32))
    assert (tensor.tolist(), tensor.device) == ([1, 2], device)
    tensor.clear()
    assert tensor.tolist() == [0, 0]
    empty = kf.Tensor.empty(device, (2, 3), np.int32)
    assert (empty.shape, empty.dtype, empty.device) == ((2, 3), np.dtype(np.int32), device)
    zeros = kf.Tensor.zeros(device, shape=(4,), dtype=float, name="zeros")
    assert (zeros.tolist(), zeros.dtype, zeros.name) == ([0] * 4, np.dtype(np.float64), "zeros")
    assert kf.Tensor.ones(device=device, shape=2).tolist() == [1, 1]
    assert kf.Tensor.ones(2, device=device).device == device
    for call, text in (
        (lambda: loose.Tensor.zeros(device), "Tensor.zeros: it takes (shape, dtype=None, *, device=None"),
        (lambda: loose.Tensor.zeros(device, "abc"), "Tensor: argument 'shape': a shape is an int"),
        (lambda: loose.Tensor.zeros((2,), device), "Tensor: argument 'dtype'"),
    ):
        assert message(call).startswith(text)


# Host vectors


def test_host_vectors(founding: ModuleType) -> None:
    v = loose.float3(1, 0, 0)
    assert (repr(v), v.dtype, v.shape) == ("float3(1.0, 0.0, 0.0)", np.float32, (3,))
    assert founding.length_of(loose.float3(3, 4, 0)) == 5
    assert founding.tinted(v + 1, 2.0).tolist() == [4, 2, 2]
    assert type(v + 1) is type(2 * v) is type(-v) is loose.float3
    assert type(v * np.float64(2)) in (loose.float3, loose.double3)
    assert (v @ loose.float3(2, 3, 4), v.sum(), v.x, v[0]) == (2, 1, 1, 1)
    assert type(v.xy) is loose.float2
    assert v.zyx.tolist() == [0, 0, 1]
    assert (
        loose.float3(2).tolist()
        == loose.float3([2, 2, 2]).tolist()
        == loose.float3(loose.float2(2, 2), 2).tolist()
    )
    assert loose.int2(1, 2).dtype == np.int32
    m = loose.float2x3(1, 2, 3, 4, 5, 6)
    assert (m.shape, (m @ loose.float3(1, 1, 1)).tolist()) == ((2, 3), [6, 15])
    assert founding.first_row(m).tolist() == [1, 2, 3]
    before = v
    v += 1
    assert (before.tolist(), v.tolist()) == ([1, 0, 0], [2, 1, 1])
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 3
    assert type(pickle.loads(pickle.dumps(m))) is loose.float2x3
    assert not pickle.loads(pickle.dumps(m)).flags.writeable
    assert copy.deepcopy(v) is v
    with pytest.raises(AttributeError, match="no attribute 'w'"):
        _ = v.w
    refused: list[tuple[Any, str]] = [
        (lambda: loose.float3(1, 2), "float3: 2 components are given for 3"),
        (lambda: loose.int2(1.5, 2), r"int2: 1.5 has no int32 components"),
        (lambda: loose.uint2(-1, 2), r"uint2: \[-1, 2\] doesn't fit uint32 components"),
        (lambda: loose.float3("abc"), "float3: 'abc' has no float32 components"),
    ]
    for wrong, text in refused:
        with pytest.raises(kf.ArgumentTypeError, match=text):
            wrong()
    with pytest.raises(AttributeError, match="has no attribute 'float9'"):
        loose.float9  # noqa: B018


# Structs


def test_a_class_for_a_struct(founding: ModuleType) -> None:
    class Scaler(kf.Struct):
        scale_value: kf.Function

        def __init__(self, module: ModuleType, scale: float) -> None:
            super().__init__(module)
            self.scale = scale

    scaler = Scaler(founding, 100.0)
    numbers = floats(1, 2, 3, 4)
    scaler.scale_value.call(numbers)
    assert numbers.tolist() == [100, 200, 300, 400]
    Scaler(founding, 0.5).scale_value(numbers)
    assert numbers.tolist() == [50, 100, 150, 200]
    with pytest.raises(AttributeError):
        scaler.scaled  # type: ignore[attr-defined]  # noqa: B018
    assert founding.Scaler.scaled(scaler, 2.0) == 200
    with pytest.raises(kf.ArgumentAttributeError, match="Scaler has no field 'scal'; it has scale"):
        scaler.scal = 3


def test_a_class_is_bound(founding: ModuleType, lamps: ModuleType) -> None:
    class Scaler(kf.Struct, module=founding):
        scaled: "kf.Function"
        note = ""

    one: Any = Scaler(scale=3.0)
    one.note = "mine"
    assert one.scaled(2.0) == 6
    x = kf.differentiable(2.0)
    one.scaled.backward(x)
    assert x.grad == 3
    assert repr(one) == "Scaler(scale=3.0)"

    class Later(kf.Struct):
        pass

    text = r"Later has no field 'scale'; it has none: Later.bind\(module\) gives it those"
    with pytest.raises(kf.ArgumentTypeError, match=text):
        Later(scale=3.0)
    with pytest.raises(kf.ArgumentTypeError, match="has no struct of that name; it has Table, Scene"):
        Later.bind(founding)
    with pytest.raises(kf.ArgumentTypeError, match=r"it is bound to '.*founding': derive a class"):
        Scaler.bind(lamps)
    with pytest.raises(
        kf.ArgumentTypeError, match=r"has no method 'scale_valu'; .*did you mean 'scale_value'"
    ):

        class Ray(kf.Struct):
            scale_valu: kf.Function

        Ray.__name__ = "Scaler"
        Ray.bind(founding)


# What is like an array


class Converted:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1, 2, 3], np.float32)


class Sequence:
    def __len__(self) -> int:
        return 3

    def __getitem__(self, i: int) -> float:
        return [1.0, 2.0, 3.0][i]


LIKE_ARRAYS: dict[str, Any] = {
    "generator": lambda: (float(i) for i in (1, 2, 3)),
    "map": lambda: map(float, (1, 2, 3)),
    "array.array": lambda: array_of_numbers("f", [1, 2, 3]),
    "memoryview": lambda: np.array([1, 2, 3], np.float32).data,
    "ctypes": lambda: (ctypes.c_float * 3)(1, 2, 3),
    "__array__": Converted,
    "sequence": Sequence,
    "deque": lambda: collections.deque([1.0, 2.0, 3.0]),
    "UserList": lambda: collections.UserList([1.0, 2.0, 3.0]),
    "list of arrays": lambda: [np.array(i, np.float32) for i in (1, 2, 3)],
}


@pytest.mark.parametrize("name", LIKE_ARRAYS)
def test_what_is_like_an_array(founding: ModuleType, name: str) -> None:
    make = LIKE_ARRAYS[name]
    for _ in range(2):
        assert founding.add(make(), 1.0).tolist() == [2, 3, 4]
        assert founding.add(y=make(), x=1.0, out=np.ndarray).tolist() == [2, 3, 4]
    assert founding.length_of(make()) == pytest.approx(np.sqrt(14))
    if name in ("generator", "map"):
        assert "a number, a list or a NumPy array is needed, not <" in message(
            lambda: founding.raytrace({"pos": make(), "dir": 0.0})
        )
    else:
        assert founding.raytrace({"pos": make(), "dir": 0.0}).tolist() == [1, 2, 3]
    tensor = loose.Tensor(make())
    assert (tensor.tolist(), tensor.dtype) == ([1, 2, 3], np.float32)
    assert kf.is_batchable_like(make())
    encoder = kf.default_device().encoder()
    result = founding.add.append_to(encoder, make(), 1.0)
    encoder.submit()
    assert result.tolist() == [2, 3, 4]
    if name in ("array.array", "memoryview", "ctypes", "__array__"):
        assert kf.Tensor.from_numpy(make()).tolist() == [1, 2, 3]
        tensor.clear()
        tensor.copy_from_numpy(make())
        tensor[:] = make()
        assert tensor.with_grads(grad_in=make()).grad_in is not None
    elif name != "list of arrays":
        assert "a NumPy array is needed, not" in message(lambda: kf.Tensor.from_numpy(make()))
    assert "an output is written to a kf.Tensor or a NumPy array" in message(
        lambda: founding.add(1.0, [1.0, 2.0, 3.0], out=make())
    )


def test_lists_of_arrays(founding: ModuleType) -> None:
    rows = [np.array([1, 2], np.float32), np.array([3, 4], np.float32)]
    assert founding.add(rows, 1.0).tolist() == [[2, 3], [4, 5]]
    assert founding.add(tuple(rows), kf.Batchable([1.0, 2.0])).tolist() == [[2, 4], [4, 6]]
    assert kf.Tensor([rows, rows]).shape == (2, 2, 2)
    text = "the arrays of a list have one shape and dtype, unlike"
    assert text in message(lambda: founding.add([rows[0], rows[0][:1]], 1.0), kf.ArgumentError)
    assert text in message(lambda: kf.Tensor([rows[0], rows[0].astype(int)]), kf.ArgumentError)
    assert "a list holds numbers, not array" in message(lambda: founding.add([1.0, rows[0]], 1.0))
    rays = collections.deque([{"pos": (1.0, 2.0, 3.0), "dir": (0.0, 0.0, 1.0)}])
    assert founding.raytrace(rays).tolist() == [[1, 2, 5]]
    assert founding.raytrace(iter(rays)).tolist() == [[1, 2, 5]]


def test_what_is_unlike_an_array(founding: ModuleType) -> None:
    for one in (b"abc", bytearray(b"abc"), "abc", {1.0, 2.0}, {"a": 1.0}, None, object()):
        with pytest.raises(kf.ArgumentTypeError):
            founding.add(one, 1.0)
        with pytest.raises(kf.ArgumentTypeError):
            loose.Tensor(one)
    assert "found a float64 array of shape (3,); astype(np.float32) converts it" in message(
        lambda: founding.add(array_of_numbers("d", [1, 2, 3]), 1.0)
    )


def test_what_is_written(founding: ModuleType) -> None:
    """Not what would be written is a copy of what was given."""
    numbers = np.array([1, 2, 3], np.float32)
    founding.Scaler(scale=2.0).scale_value(numbers)
    assert numbers.tolist() == [2, 4, 6]
    for one in (Converted(), array_of_numbers("f", [1, 2])):
        assert "it is written: give a kf.Tensor or a writable NumPy array" in message(
            lambda one=one: founding.Scaler(scale=2.0).scale_value(one)
        )


# Tensors in parameter blocks


def scene_of(weights: kf.Tensor) -> dict[str, Any]:
    numbers = floats(1, 2, 3)
    return {"tint": (10, 0, 0, 0), "table": {"numbers": numbers, "weights": weights}, "brightness": 2.0}


INDICES = np.array([0, 2, 1, 2], np.int32)


def test_a_block_with_tensors(founding: ModuleType) -> None:
    weights = floats(4, 5, 6)
    seen = founding.seen.set(scene=scene_of(weights))
    assert seen(INDICES).tolist() == [12, 16, 14, 16]
    assert founding.lit.set(scene=scene_of(weights), bias=floats(1))(
        INDICES, 1.0 + np.arange(4, dtype=np.float32)
    ).tolist() == [5, 13, 16, 25]
    with pytest.raises(kf.ArgumentError, match="field 'table' of Scene is missing"):
        founding.seen.set(scene={"tint": (1, 0, 0, 0), "brightness": 2.0})(INDICES)


@pytest.mark.parametrize("known", [False, True])
def test_a_block_gets_gradients(founding: ModuleType, known: bool) -> None:
    weights, bias, x = floats(4, 5, 6).with_grads(), floats(1).with_grads(), floats(1, 2, 3, 4).with_grads()
    lit = founding.lit.set(scene=scene_of(weights), bias=bias)
    for i in range(1, 3 if known else 2):
        lit.backward(INDICES, x)
        assert array(x.grad).tolist() == [4 * i, 6 * i, 5 * i, 6 * i]
        assert array(weights.grad).tolist() == [1 * i, 3 * i, 6 * i]
        assert array(bias.grad).tolist() == [4 * i]
    plain = floats(4, 5, 6)
    lit.set(scene={"table": {"weights": plain}}).backward(INDICES, x)
    assert plain.grad is None
    lit.set(scene={"table": {"weights": plain}}, bias=floats(1)).backward(INDICES, floats(1, 2, 3, 4))
    assert array(plain.grad).tolist() == [1, 3, 6]


def test_arrays_of_structs_with_tensors(founding: ModuleType) -> None:
    weights = floats(4, 5, 6).with_grads()
    tables = [{"numbers": floats(1, 2, 3), "weights": floats(0)}, {"numbers": floats(0), "weights": weights}]
    mixed, x = founding.mixed.set(tables=tables), floats(1, 1, 2, 1)
    assert mixed(INDICES, x).tolist() == [4, 18, 20, 18]
    mixed.backward(INDICES, x)
    assert array(weights.grad).tolist() == [1, 4, 6]


# Pointers and arrays


def test_a_struct_behind_a_pointer_has_a_class(founding: ModuleType) -> None:
    rows = np.zeros(2, founding.Row.dtype)
    rows["kind"], rows["count"], rows["weight"] = [1, 2], [1000, 2000], [0.25, 0.5]
    rows["place"][:, 1], rows["ray"]["dir"][:, 2] = [3, 4], [10000, 20000]
    assert founding.row_of([0, 1], kf.Tensor.from_numpy(rows)).tolist() == [11004.25, 22006.5]
    assert kf.Tensor.zeros(3, founding.Row).shape == (3,)
    assert founding.Row(kind=1, place=0, count=0, weight=0, ray=None).kind == 1


NO_CLASS = {
    "a base": "struct Base { float a; float b; }\nstruct A : Base { float v; }",
    "pointers in an array": "struct A { float* kids[2]; float v; }",
    "an interface": "interface I { float g(); }\nstruct A { float v; I i; }",
    "bit fields": "struct A { float v; uint a : 3; uint b : 5; }",
    "five extents": "struct A { float v; float a[2][2][2][2][2]; }",
    "names of C++": "struct A { float v; float __w; }",
}


@pytest.mark.parametrize("name", NO_CLASS)
def test_a_struct_behind_a_pointer_without_a_class(generator: Generator, name: str) -> None:
    """The host has no such struct: a class would have another layout than the memory."""
    text = NO_CLASS[name] + "\nfloat f(A* a, int i) { return a[i].v; }"
    calls = [{"function": "f", "args": {"a": "pointer", "i": "tensor[1]"}}]
    assert generator.run({"m.slang": text}, calls) == 0, generator.said
    module = generator.imported()
    assert not hasattr(module, "A")
    if name == "pointers in an array":
        memory = kf.Tensor.from_numpy(
            np.array([((1, 2), 3), ((4, 5), 6)], np.dtype([("kids", "u8", 2), ("v", "f4")], align=True))
        )
        assert module.f(memory, [1, 0]).tolist() == [6, 3]


REFUSED = {
    "T f<T : __BuiltinFloatingPointType>(T x[]) { return x[0]; }": "'T[]', can't be passed to a generic",
    "import kf; float f<T : IDiffTensor<float, 1>>(T x) { return 1; }": "write 'IDiffTensor<float, 1> t'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_by_name(generator: Generator, text: str) -> None:
    name = "f<float>" if "T f<T" in text else "f"
    assert (
        generator.run({"m.slang": text}, [{"function": name, "name": "f", "args": {"x": "tensor[1]"}}]) == 1
    )
    assert REFUSED[text] in generator.said
    assert "m.slang:" in generator.said or "m.kf.json:" in generator.said


# Wrong arguments


WRONG: dict[str, tuple[Any, str]] = {
    "nothing": (loose.Tensor, "Tensor: it takes (a, dtype=None, *, device=None, name=None), not ()"),
    "a keyword": (
        lambda: loose.grid(3, step=2),
        "grid: it takes (shape, offset=None, stride=None), not (3; kwargs: step=2)",
    ),
    "a dtype": (
        lambda: loose.Tensor([1.0], "nope"),
        "Tensor: argument 'dtype': a dtype is needed, as in np.float32, not 'nope'",
    ),
    "a view's dtype": (
        lambda: loose.Tensor([1.0]).view(3),
        "Tensor.view: argument 'dtype': a dtype is needed, as in np.float32, not 3",
    ),
    "a method": (
        lambda: loose.default_device().encoder(3),
        "Device.encoder: it takes (*, stream=None, command_buffer=None)",
    ),
    "a name": (lambda: loose.Device.open(3), "Device.open: it takes (name=None), not (3)"),
    "a class": (loose.Texture, "Texture: it can't be made by its class: Texture."),
    "another class": (loose.Encoder, "Encoder: it can't be made by its class"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_in_our_words(name: str) -> None:
    act, text = WRONG[name]
    with pytest.raises(kf.ArgumentTypeError) as caught:
        act()
    assert str(caught.value).startswith(text)
    assert caught.value.code == "type-mismatch"


def test_a_tensor_of_ints_for_floats(founding: ModuleType) -> None:
    text = message(lambda: founding.add(kf.Tensor([1, 2, 3, 4]), 1.0))
    assert "made of floats it is one, kf.Tensor([1., …]), or with dtype=np.float32" in text
