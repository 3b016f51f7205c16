"""Gradients smaller than their tensors: an extent of 1 gets the sum over the dimension, against float64."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, array, buffer
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

RUNS = 5
LAYOUTS = ["contiguous", "offset", "spread"]
TOLERANCE = {2: 4e-3, 4: 4e-6, 8: 1e-14}


@pytest.fixture(scope="module")
def accumulate(generated: Loader) -> ModuleType:
    return generated("accumulate")


@pytest.fixture(scope="module")
def sums(generated: Loader) -> ModuleType:
    return generated("sums")


def some(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


def smaller(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The shape itself, and those that have 1 where it has more."""
    shapes: list[tuple[int, ...]] = [()]
    for extent in shape:
        shapes = [(*one, n) for one in shapes for n in sorted({1, extent})]
    return shapes


def added(values: Array, shape: tuple[int, ...]) -> Array:
    axes = tuple(d for d in range(len(shape)) if shape[d] == 1)
    return np.asarray(values.sum(axis=axes, keepdims=True))


def check_sum(found: Array, values: Array, start: float) -> None:
    """To a few roundings of the largest that is added up."""
    limit = TOLERANCE[found.dtype.itemsize] * (added(np.abs(values), found.shape) + start)
    assert np.all(np.abs(found.astype(np.float64) - start - added(values, found.shape)) <= limit)


class Kept:
    """A gradient within poison, that begins as ones."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, layout: str) -> None:
        self.buffer = buffer(shape, np.dtype(dtype), layout, np.ones(shape, dtype))

    def of(self, tensor: kf.Tensor) -> kf.Tensor:
        return tensor.with_grads(grad_out=self.buffer.tensor)

    def check(self, values: Array) -> None:
        """Against the sum of each element's gradients, in whole buffers."""
        found = self.buffer.tensor.to_numpy()
        check_sum(found, values, 1)
        self.buffer.array[...] = found
        self.buffer.check()


FUNCTIONS = [("weigh", np.float32), ("weigh_half", np.float16), ("loss_double", np.float64)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_elements(accumulate: ModuleType, name: str, dtype: Any, deterministic: bool, layout: str) -> None:
    """A gradient for each call, row, column, or one, of tensors that have all elements, a row or a column."""
    function = getattr(accumulate, name)
    if name == "loss_double":
        function = function.accumulate({"result": "sum"})
    function = function.options(deterministic=deterministic and name != "weigh_half")
    shape = (5, 131)
    for given_shape in smaller(shape):
        a, x = some(given_shape, dtype, 1), some(shape, dtype, 2)
        wide = [value.astype(np.float64) for value in (a, x)]
        for kept_shape in smaller(given_shape):
            kept, kept_x = Kept(kept_shape, dtype, layout), Kept((1, 131), dtype, layout)
            given = kept.of(buffer(given_shape, np.dtype(dtype), layout, a).tensor)
            assert given.grad_out is not None
            assert given.grad_out.shape == kept_shape
            function.backward(given, kept_x.of(kf.Tensor.from_numpy(x)))
            kept.check(np.broadcast_to(wide[1] ** 2, shape))
            kept_x.check(np.broadcast_to(2 * wide[0] * wide[1], shape))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("name", "dtype"), FUNCTIONS)
def test_sizes(accumulate: ModuleType, name: str, dtype: Any, size: int) -> None:
    function = getattr(accumulate, name)
    for shape in [(size, 3), (3, size)]:
        a, x = some(shape, dtype, 3), some(shape, dtype, 4)
        for kept_shape in smaller(shape):
            kept = Kept(kept_shape, dtype, "offset")
            function.backward(kept.of(kf.Tensor.from_numpy(a)), kf.Tensor.from_numpy(x))
            kept.check(x.astype(np.float64) ** 2)


@pytest.mark.parametrize(("name", "dtype"), [FUNCTIONS[0], FUNCTIONS[2]])
def test_deterministic_sums_are_the_same_bits(accumulate: ModuleType, name: str, dtype: Any) -> None:
    a, x = some((33, 65), dtype, 5), some((33, 65), dtype, 6)
    function = getattr(accumulate, name).options(deterministic=True)
    for shape in [(1, 65), (33, 1), (1, 1)]:
        found = set()
        for _ in range(RUNS):
            given = kf.Tensor.from_numpy(a).with_grads(grad_out=np.zeros(shape, dtype))
            function.backward(given, kf.Tensor.from_numpy(x))
            found.add(array(given.grad_out).tobytes())
        assert len(found) == 1


@pytest.mark.parametrize("way", ["overwrite", "first"])
def test_other_ways(accumulate: ModuleType, way: str) -> None:
    a, x = some((5, 33), np.float32, 7), some((5, 33), np.float32, 8)
    function = accumulate.weigh.accumulate({"a.grad": way})
    for shape in smaller(a.shape):
        kept = Kept(shape, np.float32, "offset")
        function.backward(kept.of(kf.Tensor.from_numpy(a)), kf.Tensor.from_numpy(x))
        wide = x.astype(np.float64) ** 2
        wanted = added(wide, shape) if way == "overwrite" else 1 + wide[: shape[0], : shape[1]]
        kept.buffer.array[...] = wanted
        kept.buffer.check(1e-5)


def test_fused(accumulate: ModuleType) -> None:
    a, x = some((9, 33), np.float32, 9), some((9, 33), np.float32, 10)
    for shape in smaller(a.shape):
        kept = Kept(shape, np.float32, "spread")
        out = kf.Tensor.zeros((1, 33))
        accumulate.loss.fused(kept.of(kf.Tensor.from_numpy(a)), kf.Tensor.from_numpy(x), out=out)
        kept.check(x.astype(np.float64) ** 2)
        check_sum(out.to_numpy(), a.astype(np.float64) * x.astype(np.float64) ** 2, 0)


def test_vectors(accumulate: ModuleType) -> None:
    """Over the components of a call's vector, too."""
    a, x = some((33, 3), np.float32, 11), some((5, 33, 3), np.float32, 12)
    for shape in smaller(a.shape):
        kept = Kept(shape, np.float32, "offset")
        accumulate.weigh3.backward(kept.of(kf.Tensor.from_numpy(a)), kf.Tensor.from_numpy(x))
        kept.check(added(x.astype(np.float64) ** 2, (1, 33, 3))[0])
    first = accumulate.weigh3.accumulate({"a.grad": "first"})
    with pytest.raises(
        kf.ArgumentError, match=r'extent 1 in dimension 1, which is inside.*"first" is chosen'
    ):
        first.backward(
            Kept((33, 1), np.float32, "offset").of(kf.Tensor.from_numpy(a)), kf.Tensor.from_numpy(x)
        )


def test_views_of_the_tensor_keep_the_sums(accumulate: ModuleType) -> None:
    a, x = some((6, 8), np.float32, 13), some((3, 8), np.float32, 14)
    kept = Kept((1, 8), np.float32, "offset")
    whole = kept.of(kf.Tensor.from_numpy(a))
    for view in [whole[1:4], whole[::-2], whole.T[:, 3:].T]:
        accumulate.weigh.backward(view, kf.Tensor.from_numpy(x))
    kept.check(np.concatenate([x.astype(np.float64) ** 2] * 3))


def test_one_gradient_of_two_tensors(accumulate: ModuleType) -> None:
    a, x = some((4, 33), np.float32, 15), some((4, 33), np.float32, 16)
    kept = Kept((1, 33), np.float32, "offset")
    accumulate.weigh.backward(kept.of(kf.Tensor.from_numpy(a)), kept.of(kf.Tensor.from_numpy(x)))
    wide = [value.astype(np.float64) for value in (a, x)]
    kept.check(np.concatenate([wide[1] ** 2, 2 * wide[0] * wide[1]]))


def test_what_does_not_fit(accumulate: ModuleType) -> None:
    x = kf.Tensor.ones((4, 33))
    for shape in [(4, 32), (2, 33), (33,), (4, 1, 1)]:
        with pytest.raises(kf.ArgumentError, match=r"grad_out: expected shape \[4, 33\], found"):
            x.with_grads(grad_out=np.zeros(shape, np.float32))
    with pytest.raises(kf.ArgumentError, match=r"grad_in: expected shape \[4, 33\], found \[1, 33\]$"):
        x.with_grads(grad_in=np.zeros((1, 33), np.float32))
    for way, message in [
        ("none", "calls share elements"),
        ("push", r"expected shape \[4, 33\], found \[1, 33\]"),
    ]:
        given = x.with_grads(grad_out=np.zeros((1, 33), np.float32))
        with pytest.raises(kf.ArgumentError, match=message):
            accumulate.weigh.accumulate({"a.grad": way}).backward(given, x)


# ---- Tensors that are given whole ----


def indices(size: int, extent: int) -> Array:
    return (np.arange(size) * 7 % max(extent, 1)).astype(np.int32)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["read_once", "deterministic", "read_half"])
def test_whole_tensors(sums: ModuleType, name: str, layout: str) -> None:
    """What no other call reads needs no atomics, but where its gradient is a sum."""
    dtype: Any = np.float16 if name == "read_half" else np.float32
    function = sums.read_half if name == "read_half" else sums.read_once
    function = function.options(deterministic=name == "deterministic")
    shape = (65, 3, 5)
    i, j = indices(65, 3), indices(65, 5)
    block, flow = some(shape, dtype, 17), some((65,), dtype, 18)
    wanted = np.zeros(shape)
    wanted[np.arange(65), i, j] = 2 * flow.astype(np.float64)
    for kept_shape in smaller(shape):
        kept = Kept(kept_shape, dtype, layout)
        result = kf.Tensor.zeros((65,), dtype).with_grads(grad_in=flow)
        given = kept.of(buffer(shape, np.dtype(dtype), layout, block).tensor)
        function.backward(given, i, j, result)
        kept.check(wanted)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["read_once", "deterministic", "store_read"])
def test_whole_tensor_of_every_size(sums: ModuleType, name: str, size: int) -> None:
    function = sums.store_read if name == "store_read" else sums.read_once
    function = function.options(deterministic=name == "deterministic")
    for shape in [(size, 3), (3, size)]:
        at = np.indices(shape).reshape(2, -1).astype(np.int32)
        flow = some((at.shape[1],), np.float32, 19)
        factor = 3 if name == "store_read" else 2
        for kept_shape in smaller(shape):
            kept = Kept(kept_shape, np.float32, "offset")
            result = kf.Tensor.zeros(flow.shape).with_grads(grad_in=flow)
            function.backward(kept.of(kf.Tensor.ones(shape)), at[0], at[1], result)
            kept.check(factor * flow.astype(np.float64).reshape(shape))


@pytest.mark.parametrize("deterministic", [False, True])
def test_whole_tensors_of_structs(sums: ModuleType, deterministic: bool) -> None:
    shape = (7, 9)
    dtype = sums.Mixed.dtype
    values = np.zeros(shape, dtype)
    values["direction"], values["weight"] = some((*shape, 3), np.float32, 21), some(shape, np.float16, 22)
    at = np.indices(shape).reshape(2, -1).astype(np.int32)
    flow = some((63,), np.float32, 23).astype(np.float64).reshape(shape)
    factors = np.array([1.0, 2.0, 4.0])
    direction = flow[..., None] * factors * values["weight"].astype(np.float64)[..., None]
    weight = flow * (values["direction"].astype(np.float64) @ factors)
    for kept_shape in smaller(shape):
        whole = np.zeros((kept_shape[0] + 2, kept_shape[1]), dtype)
        whole["tag"] = 77
        kept = kf.Tensor.from_numpy(whole)
        given = kf.Tensor.from_numpy(values).with_grads(grad_out=kept[1:-1])
        result = kf.Tensor.zeros((63,)).with_grads(grad_in=flow.reshape(-1).astype(np.float32))
        sums.weigh_mixed.options(deterministic=deterministic).backward(given, at[0], at[1], result)
        found = kept.to_numpy()
        assert (found["tag"] == 77).all()
        for outside in (found[0], found[-1]):
            assert not outside["direction"].any()
            assert not outside["weight"].any()
        check_sum(found["direction"][1:-1], direction, 0)
        check_sum(found["weight"][1:-1], weight, 0)


def test_views_take_their_own_gradient(generated: Loader) -> None:
    views = generated("views")
    x = kf.Tensor.ones((5,)).with_grads(grad_out=np.zeros((1,), np.float32))
    y = kf.Tensor.zeros((5,)).with_grads(grad_in=np.ones((5,), np.float32))
    with pytest.raises(
        kf.ArgumentError, match="the same all along dimension 0, and a DiffTensorView's is one for each"
    ):
        views.square.backward(x, y, shape=(5,))


def test_contiguous_tensors_keep_their_gradients_shape(generated: Loader) -> None:
    tensors = generated("tensors")
    weights = kf.Tensor.ones((5,)).with_grads(grad_out=np.zeros((1,), np.float32))
    with pytest.raises(kf.ArgumentError, match="expected a contiguous gradient"):
        tensors.dot_dense_row.backward(kf.Tensor.ones((3, 5)), weights)
