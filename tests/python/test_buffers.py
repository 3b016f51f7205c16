"""Parameters that are buffers, and buffers given where calls take tensors."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, buffer, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)


@pytest.fixture(scope="module")
def buffers(generated: Loader) -> ModuleType:
    return generated("buffers")


def indices(size: int) -> Array:
    return np.arange(size, dtype=np.int32)


def particles(module: ModuleType, size: int, seed: int) -> Array:
    made = np.zeros(size, module.Particle.dtype)
    for name in made.dtype.names or ():
        made[name] = numbers(made[name].shape, made[name].dtype, seed)
        seed += 1
    return made


def stepped(old: Array, dt: float) -> Array:
    new: Array = old.copy()
    new["position"] += old["velocity"] * np.float32(dt) * old["weight"][:, None].astype(np.float32)
    new["frame"][:, 1] += old["mass"][:, None]
    new["weight"] = np.float32(0.5) * old["weight"].astype(np.float32) - np.float32(dt)
    return new


@pytest.mark.parametrize("size", SIZES[1:])
def test_reads(buffers: ModuleType, size: int) -> None:
    """Elements of three floats lie 12 bytes apart; buffers, tensors, arrays and lists are taken."""
    points = numbers((size, 3), FLOAT, size)
    i = indices(size)[::-1].copy()
    for given in (
        kf.Buffer.from_numpy(points),
        kf.Buffer.from_numpy(points, writable=True),
        kf.Tensor.from_numpy(points),
        kf.Tensor.from_numpy(points.reshape(size, 1, 3)),
        points,
        points[:, :].tolist(),
    ):
        np.testing.assert_array_equal(buffers.gather(given, i, out=np.ndarray), points[::-1])


@pytest.mark.parametrize("size", SIZES[1:])
def test_writes(buffers: ModuleType, size: int) -> None:
    points = numbers((size + 2, 3), FLOAT, 1)
    add = numbers((size, 3), FLOAT, 2)
    buffer = kf.Buffer.from_numpy(points, writable=True)
    expected = points.copy()
    expected[1:-1] += add
    buffers.scatter(buffer, indices(size) + 1, add)
    np.testing.assert_array_equal(buffer.to_numpy(), expected)
    array = points.copy()
    buffers.scatter(array, indices(size) + 1, add)
    np.testing.assert_array_equal(array, expected)
    tensor = kf.Tensor.from_numpy(points)
    for _ in range(3):  # the launches that are remembered
        buffers.scatter(tensor, indices(size) + 1, add)
    np.testing.assert_array_equal(tensor.to_numpy()[1:-1], points[1:-1] + 3 * add)


def test_dimensions(buffers: ModuleType) -> None:
    """Buffers know how many elements they have, none too."""
    for count, size, small in ((5, 24, 3), (0, 0, 0), (0, 4, 1), (1, 0, 0), (0, 0, 4097)):
        points = kf.Buffer.zeros((count, 3))
        bytes_ = kf.Buffer.zeros(size, np.uint8)
        given = kf.Buffer.zeros(small, np.uint8)
        got = buffers.count_of(points, bytes_, given, indices(4), out=np.ndarray)
        assert got.tolist() == [count, 12, size, small]


@pytest.mark.parametrize("size", SIZES[1:])
def test_structs(buffers: ModuleType, size: int) -> None:
    old = particles(buffers, size, 3)
    given = kf.Buffer.from_numpy(old)
    new = kf.Buffer.empty(size, buffers.Particle.dtype)
    buffers.step_particles(given, new, indices(size), 0.5)
    np.testing.assert_array_equal(new.to_numpy(), stepped(old, 0.5))
    np.testing.assert_array_equal(given.to_numpy(), old)


def tinted(points: Array, old: Array, look: dict[str, Any], shift: int) -> Array:
    """What tint leaves, of float32 throughout."""
    new: Array = old.copy()
    taken = points[shift:] * np.array(look["tint"], np.float32) * np.float32(look["gains"][1])
    new[: len(taken)] = np.clip(taken, np.float32(-1), np.float32(1.5))
    new[:, 2] += points[:, 2]
    return new


@pytest.mark.parametrize("size", SIZES[1:])
def test_typed(buffers: ModuleType, size: int) -> None:
    """Buffer and RWBuffer hold memory's own elements; a constant buffer is a value, or memory with one."""
    points = numbers((size, 3), FLOAT, 21)
    old = numbers((size + 2, 3), FLOAT, 22)
    fields = {"tint": (1, -2, 0.5), "gains": [9, 0.25], "shift": 1}
    memory = np.zeros(1, buffers.Look.dtype)
    for name, value in fields.items():
        memory[name] = value
    expected = np.concatenate([tinted(points, old[:size], fields, 1), old[size:]])
    for look in (fields, SimpleNamespace(**fields), buffers.Look(**fields), kf.Buffer.from_numpy(memory)):
        to = kf.Buffer.from_numpy(old, writable=True)
        buffers.tint(kf.Buffer.from_numpy(points), to, look, (-1, 1.5), indices(size))
        np.testing.assert_allclose(to.to_numpy(), expected, rtol=1e-6, atol=1e-6)
    to_tensor, encoder = kf.Tensor.from_numpy(old), kf.default_device().encoder()
    buffers.tint.append_to(encoder, points, to_tensor, fields, (-1, 1.5), indices(size))
    encoder.submit()
    np.testing.assert_allclose(to_tensor.to_numpy(), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", SIZES[1:])
def test_typed_in_entry_points(buffers: ModuleType, size: int) -> None:
    cells = numbers((size, 4), np.dtype(np.float16), 23)
    cells[:, 1] = np.arange(size) % 8
    which = np.zeros((size, 4), np.float32)
    which[:, 3] = np.random.default_rng(1).integers(0, size, size)
    marks = kf.Buffer.from_numpy(np.full(size, 5, np.uint32), writable=True)
    looks = [{"tint": (0, 0, 0), "gains": gains, "shift": 0} for gains in ([2, 0], [0, 3])]
    grid = {"cells": kf.Buffer.from_numpy(cells), "look": looks[0], "marks": marks}
    buffers.mark.threads(size)(grid, kf.Buffer.from_numpy(which), looks[1])
    expected = np.full(size, 5, np.uint32)
    places = which[:, 3].astype(np.int64)
    np.add.at(expected, places, (2 * cells[places, 1] + 3).astype(np.uint32))
    np.testing.assert_array_equal(marks.to_numpy(), expected)


def test_bytes(buffers: ModuleType) -> None:
    """Memory of any type is words."""
    words = numbers((7,), np.dtype(np.uint32), 4)
    sums = numbers((7,), np.dtype(np.int32), 5)
    given = kf.Tensor.from_numpy(sums)
    buffers.add_words(kf.Buffer.from_numpy(words), given, indices(7))
    np.testing.assert_array_equal(given.to_numpy().view(np.uint32), words + sums.view(np.uint32))
    half = kf.Buffer.from_numpy(numbers((8,), np.dtype(np.float16), 6))
    sums = np.zeros(4, np.uint32)
    buffers.add_words(half, sums, indices(4))
    np.testing.assert_array_equal(sums, half.to_numpy().view(np.uint32))


def test_atomics(buffers: ModuleType) -> None:
    which = numbers((4097,), np.dtype(np.uint32), 7) % np.uint32(5)
    bins = kf.Buffer.zeros(5, np.uint32)
    buffers.vote(bins, which)
    np.testing.assert_array_equal(bins.to_numpy(), np.bincount(which, minlength=5))


def test_fields(buffers: ModuleType) -> None:
    points = numbers((6, 3), FLOAT, 8)
    mesh = {"scale": 3, "points": kf.Buffer.from_numpy(points)}
    np.testing.assert_array_equal(buffers.in_fields(mesh, indices(6), out=np.ndarray), 3 * points[:, 2])


def test_gradients(buffers: ModuleType) -> None:
    """Other parameters have theirs; a buffer's elements are numbers like others."""
    weights = numbers((7,), FLOAT, 9)
    x = numbers((7,), FLOAT, 10)
    given = kf.Buffer.from_numpy(weights)
    values = kf.Tensor.from_numpy(x).with_grads()
    buffers.weighted.backward(given, values, indices(7), kf.Tensor.zeros(7))
    assert values.grad is not None
    np.testing.assert_allclose(values.grad.to_numpy(), 2 * weights * x, rtol=1e-6)
    value, tangent = buffers.weighted.jvp(given, x, indices(7), tangents={"x": x}, out=np.ndarray)
    np.testing.assert_allclose(value, weights * x * x, rtol=1e-6)
    np.testing.assert_allclose(tangent, 2 * weights * x * x, rtol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_elements(buffers: ModuleType, size: int) -> None:
    """A buffer feeds calls as a tensor does, and is written as one."""
    v = numbers((size, 3), FLOAT, 11)
    k = numbers((size,), FLOAT, 12)
    np.testing.assert_array_equal(buffers.scale(kf.Buffer.from_numpy(v), k, out=np.ndarray), v * k[:, None])
    out = kf.Buffer.zeros((size, 3))
    assert buffers.scale(v, kf.Buffer.from_numpy(k), out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), v * k[:, None])
    buffers.advance(x := kf.Buffer.from_numpy(k, writable=True), kf.Buffer.from_numpy(k))
    np.testing.assert_array_equal(x.to_numpy(), 2 * k)


@pytest.mark.parametrize("size", SIZES)
def test_gradients_of_elements(buffers: ModuleType, size: int) -> None:
    """They go into a buffer: a new one, or one that is given."""
    v = numbers((size, 3), FLOAT, 15)
    k = numbers((size,), FLOAT, 16)
    given = kf.differentiable(kf.Buffer.from_numpy(v))
    assert isinstance(given.value, kf.Buffer)
    assert not given.value.writable
    weights = kf.Tensor.from_numpy(k).with_grads()
    out = buffers.scale(given, weights)
    np.testing.assert_array_equal(out.to_numpy(), v * k[:, None])
    for _ in range(2):
        buffers.scale.backward(given, weights, out)
    assert isinstance(given.grad, kf.Buffer)
    assert given.grad.writable
    np.testing.assert_array_equal(given.grad.to_numpy(), np.broadcast_to(2 * k[:, None], (size, 3)))
    own = kf.Buffer.from_numpy(np.ones((size, 3), np.float32), writable=True)
    given.grad = own
    buffers.scale.backward(given, k, out)
    np.testing.assert_array_equal(own.to_numpy(), np.broadcast_to(1 + k[:, None], (size, 3)))
    _, tangent = buffers.scale.jvp(given.value, k, tangents={"v": own}, out=np.ndarray)
    np.testing.assert_array_equal(tangent, own.to_numpy() * k[:, None])


@pytest.mark.parametrize("size", SIZES)
def test_gradients_of_structs(buffers: ModuleType, size: int) -> None:
    springs = np.zeros(size, buffers.Spring.dtype)
    springs["end"] = numbers((size, 3), FLOAT, 17)
    springs["stiffness"] = numbers((size,), FLOAT, 18)
    given = kf.differentiable(kf.Buffer.from_numpy(springs))
    length = kf.differentiable(2.0)
    y = buffers.energy(given, length)
    squares = (springs["end"].astype(np.float64) ** 2).sum(axis=1)
    np.testing.assert_allclose(y.to_numpy(), 2 * springs["stiffness"] * squares, rtol=1e-6)
    buffers.energy.backward(given, length, y)
    found = given.grad.to_numpy()
    np.testing.assert_allclose(found["stiffness"], 2 * squares, rtol=1e-6)
    np.testing.assert_allclose(found["end"], 4 * springs["stiffness"][:, None] * springs["end"], rtol=1e-6)
    np.testing.assert_allclose(length.grad, (springs["stiffness"] * squares).sum(), rtol=1e-4, atol=1e-4)


def test_gradients_refused() -> None:
    given = kf.differentiable(kf.Buffer.zeros((4, 3)))
    before = given.grad
    for wrong, message in (
        (np.zeros((4, 3), np.float32), "the gradient of a buffer is a kf.Buffer, not a numpy.ndarray"),
        (kf.Buffer.zeros((4, 3), writable=False), "only read"),
        (kf.Buffer.zeros((4, 3), np.float64), "double"),
        (kf.Buffer.zeros((5, 3)), "shape"),
    ):
        with pytest.raises(kf.ArgumentError, match=message):
            given.grad = wrong
        assert given.grad.address == before.address
    with pytest.raises(kf.ArgumentError, match="no derivative"):
        kf.differentiable(kf.Buffer.zeros(4, np.int32))


def test_commands_wait(buffers: ModuleType) -> None:
    """Each call reads what the one before wrote, recorded or not."""
    start = particles(buffers, 33, 13)
    one, two = kf.Buffer.from_numpy(start, writable=True), kf.Buffer.empty(33, buffers.Particle.dtype)
    expected = start
    encoder = kf.default_device().encoder()
    for recorded in (False, True):
        for _ in range(5):
            call = buffers.step_particles
            if recorded:
                call.append_to(encoder, one, two, indices(33), 0.25)
            else:
                call(one, two, indices(33), 0.25)
            one, two = two, one
            expected = stepped(expected, 0.25)
    encoder.submit()
    np.testing.assert_array_equal(one.to_numpy(), expected)


def test_views() -> None:
    """Tensors and buffers see the same memory."""
    values = numbers((6, 2), FLOAT, 14)
    tensor = kf.Tensor.from_numpy(values)
    buffer = tensor.buffer()
    assert (buffer.writable, buffer.address, buffer.shape, buffer.size, len(buffer)) == (
        True,
        tensor.address,
        (6, 2),
        12,
        6,
    )
    buffer.copy_from_numpy(2 * values)
    np.testing.assert_array_equal(tensor.to_numpy(), 2 * values)
    again = buffer.tensor()
    again.copy_from_numpy(values)
    np.testing.assert_array_equal(np.asarray(buffer), values)
    assert buffer.dtype == FLOAT
    assert buffer.nbytes == 48
    assert "Buffer" in repr(buffer)
    assert not tensor.buffer(writable=False).writable
    with pytest.raises(kf.ArgumentError, match="not contiguous"):
        tensor[:, 1].buffer()
    with pytest.raises(kf.ArgumentError, match="only read"):
        kf.Buffer.from_numpy(values).tensor()


def zeros(*shape: int, dtype: Any = np.float32) -> kf.Tensor:
    return kf.Tensor.zeros(shape, dtype)


def read_only(shape: tuple[int, ...], dtype: Any = np.float32) -> kf.Buffer:
    return kf.Buffer.zeros(shape, dtype, writable=False)


LOOK = {"tint": (1, 1, 1), "gains": (1, 1), "shift": 0}

BAD: dict[str, tuple[Callable[[Any], object], str]] = {
    "a type": (
        lambda b: b.gather(zeros(4, 3, dtype=np.int32), indices(1)),
        "argument 'points': expected float3 buffer",
    ),
    "an extent": (lambda b: b.gather(zeros(4, 2), indices(1)), "argument 'points': expected float3 buffer"),
    "a number": (
        lambda b: b.gather(3, indices(1)),
        "argument 'points': expected float3 buffer, found a whole number",
    ),
    "gaps": (
        lambda b: b.gather(zeros(4, 6)[:, :3], indices(1)),
        "argument 'points': a buffer's elements lie one after the other",
    ),
    "a place": (
        lambda b: b.gather(zeros(9, 3)[1:], indices(1)),
        "argument 'points': a buffer begins at a multiple of",
    ),
    "odd bytes": (
        lambda b: b.add_words(zeros(6, dtype=np.uint8), zeros(4), indices(1)),
        "argument 'words': it has 6 bytes, and byte addresses take whole words of 4",
    ),
    "only read": (
        lambda b: b.scatter(read_only((4, 3)), indices(1), np.ones((1, 3), np.float32)),
        "argument 'points': the call writes it, and the kf.Buffer given is only read",
    ),
    "bytes only read": (
        lambda b: b.add_words(zeros(4), read_only((4,)), indices(1)),
        "argument 'sums': the call writes it, and the kf.Buffer given is only read",
    ),
    "an output only read": (
        lambda b: b.scale(np.ones((2, 3), np.float32), np.ones(2, np.float32), out=read_only((2, 3))),
        "argument 'result': the call writes it, and the kf.Buffer given is only read",
    ),
    "other structs": (
        lambda b: b.step_particles(zeros(4), zeros(4), indices(1), 1),
        "argument 'old'",
    ),
    "a typed buffer's type": (
        lambda b: b.tint(zeros(4, 4), zeros(4, 3), LOOK, (0, 1), indices(1)),
        "argument 'from': expected float3 buffer",
    ),
    "a typed buffer only read": (
        lambda b: b.tint(zeros(4, 3), read_only((4, 3)), LOOK, (0, 1), indices(1)),
        "argument 'to': the call writes it, and the kf.Buffer given is only read",
    ),
    "a typed buffer's place": (
        lambda b: b.tint(zeros(9, 3)[1:], zeros(4, 3), LOOK, (0, 1), indices(1)),
        "argument 'from': a buffer begins at a multiple of",
    ),
    "a constant buffer's field": (
        lambda b: b.tint(zeros(4, 3), zeros(4, 3), LOOK | {"gains": 1}, (0, 1), indices(1)),
        "look.gains",
    ),
    "a constant buffer's memory": (
        lambda b: b.tint(zeros(4, 3), zeros(4, 3), kf.Buffer.zeros((1, 6)), (0, 1), indices(1)),
        "argument 'look'",
    ),
    "a constant buffer's length": (
        lambda b: b.tint(zeros(4, 3), zeros(4, 3), LOOK, (0, 1, 2), indices(1)),
        "argument 'range'",
    ),
    "one of both": (
        lambda b: b.add_words((same := zeros(4)), same, indices(1)),
        "argument 'sums': the output shares memory with argument 'words'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(buffers: ModuleType, name: str) -> None:
    call, message = BAD[name]
    with pytest.raises(kf.ArgumentError) as error:
        call(buffers)
    assert message in str(error.value)


@pytest.mark.parametrize("size", SIZES)
def test_aliases(buffers: ModuleType, size: int) -> None:
    """Two arguments that the spec names may be one memory; a third that it doesn't name may not."""
    values = np.arange(size, dtype=np.int32) - 7
    src, dst, third = (buffer((size,), np.dtype(np.int32), "contiguous", values) for _ in range(3))
    passed = buffers.pass_on.threads(max(size, 1))
    passed(src.tensor, dst.tensor, third.tensor)
    src.array[...], dst.array[...], third.array[...] = 2 * values, values + 1, 2 * values + 10
    for one in (src, dst, third):
        one.check()
    passed(src.tensor, src.tensor, third.tensor)
    src.array[...] = 4 * values + 1
    third.array[...] = 4 * values + 11
    src.check()
    third.check()
    if size > 0:
        with pytest.raises(kf.ArgumentError, match=r"'third': the output shares memory with argument 'src'"):
            passed(src.tensor, dst.tensor, src.tensor)
        src.check()
