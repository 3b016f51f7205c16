"""Arrays that kernels read and write where they lie, as CPU drivers do, or that are copied: alike."""

import gc
import mmap
import sys
import tempfile
import weakref
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import Array
from loader import Loader

pytestmark = pytest.mark.usefixtures("host_memory")

# Bytes around pages and around the least that is imported.
SIZES = [1, 255, 256, 257, 1023, 1024, 1025, 4097, 50_001]
POISON = -7


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def tensors(generated: Loader) -> ModuleType:
    return generated("tensors")


class Memory:
    """An array inside of poisoned memory, of which everything else stays as it is."""

    def __init__(self, shape: Any, dtype: Any, before: int = 8, cut: Any = ...) -> None:
        size = int(np.prod(shape))
        self.whole = np.full(before + size + 1100, POISON, dtype)
        self.array = self.whole[before : before + size].reshape(shape)[cut]
        self.is_inside = np.zeros_like(self.whole, np.bool_)
        self.is_inside[before : before + size].reshape(shape)[cut] = True

    def check(self, expected: Any) -> None:
        np.testing.assert_array_equal(self.array, expected)
        assert (self.whole[~self.is_inside] == POISON).all()


def ints(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).integers(0, 1000, shape).astype(np.int32)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("before", [0, 1, 3, 1021])
def test_arrays_lie_anywhere(calls: ModuleType, size: int, before: int) -> None:
    a, b = ints(size + before, seed=1)[before:], ints(size + before, seed=2)[before:]
    out = Memory(size, np.int32, before)
    assert calls.add(a, b, out=out.array) is out.array
    out.check(a + b)
    x = Memory(size, np.float32, before)
    x.array[:] = a
    calls.advance(x.array, 2)
    x.check(a + np.float32(2))


@pytest.mark.parametrize("cut", [np.s_[:, ::2], np.s_[::-1], np.s_[5:, 3:40], np.s_[::3, ::-5], np.s_[7:8]])
def test_arrays_with_gaps(calls: ModuleType, cut: Any) -> None:
    a, b = ints(60, 70)[cut], ints(60, 70, seed=2)[cut]
    out = Memory((60, 70), np.int32, cut=cut)
    calls.add(a, b[0], out=out.array)
    out.check(a + b[0])
    turned = Memory((70, 60), np.int32)
    view = turned.array.T[cut]
    turned.is_inside[:] = False
    turned.is_inside[8 : 8 + 4200].reshape(70, 60).T[cut] = True
    calls.add(np.asfortranarray(a), b[0], out=view)
    np.testing.assert_array_equal(view, a + b[0])
    assert (turned.whole[~turned.is_inside] == POISON).all()


def test_arrays_that_repeat(calls: ModuleType) -> None:
    row, number = ints(3000), np.array([5], np.int32)
    out = Memory((20, 3000), np.int32)
    calls.add(np.broadcast_to(row, (20, 3000)), np.broadcast_to(number, 3000), out=out.array)
    out.check(np.broadcast_to(row + 5, (20, 3000)))


def test_vectors_and_packed_structs_of_bytes(calls: ModuleType) -> None:
    v = np.random.default_rng(3).random((3000, 4)).astype(np.float32)
    s = np.random.default_rng(4).random(3000).astype(np.float32)
    for given in (v[:, :3], v[:, 1:], v[:, 2::-1], np.asfortranarray(v[:, :3])):
        out = Memory((3000, 4), np.float32, cut=np.s_[:, :3])
        calls.scale(given, s, out=out.array)
        out.check(given * s[:, None])
    # Unaligned, between bytes of others.
    packed = np.zeros(3000, np.dtype([("tag", np.int8), ("value", np.int32)]))
    packed["value"] = ints(3000)
    assert packed["value"].strides[0] == 5
    np.testing.assert_array_equal(calls.add(packed["value"], 1, out=np.ndarray), packed["value"] + 1)
    result = packed.copy()
    calls.add(packed["value"], 1, out=result["value"])
    np.testing.assert_array_equal(result["value"], packed["value"] + 1)
    assert (result["tag"] == 0).all()


def test_read_only_arrays(calls: ModuleType) -> None:
    values = ints(5000)
    with tempfile.TemporaryFile() as file:
        file.write(values.tobytes())
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            given = np.frombuffer(mapped, np.int32)
            assert not given.flags.writeable
            np.testing.assert_array_equal(calls.add(given, 1, out=np.ndarray), values + 1)
            out = Memory(5000, np.int32)
            calls.add(given, given, out=out.array)
            out.check(2 * values)
            with pytest.raises(kf.ArgumentError, match="read-only"):
                calls.add(values, 1, out=given)
            del given


def test_arrays_that_overlap_are_read_before_they_are_written(calls: ModuleType, tensors: ModuleType) -> None:
    x = ints(5000)
    before = x.copy()
    calls.add(x, x, out=x)
    np.testing.assert_array_equal(x, 2 * before)
    for read, written in ((np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[::-1], np.s_[:])):
        x[:] = before
        calls.add(x[read], 1, out=x[written])
        expected = before.copy()
        expected[written] = before[read] + 1
        np.testing.assert_array_equal(x, expected)
    # Apart, in the same bytes.
    x[:] = before
    calls.add(x[::2], 1, out=x[1::2])
    np.testing.assert_array_equal(x[1::2], before[::2] + 1)
    np.testing.assert_array_equal(x[::2], before[::2])
    both = ints(2, 5000)
    quotient, rest = both[:, ::2], both[:, 1::2]
    numbers = ints(2, 2500, seed=3) + 1
    for i in range(2):
        calls.quotient(numbers[i], 7, rest[i], out=quotient[i])
    np.testing.assert_array_equal(quotient, numbers // 7)
    np.testing.assert_array_equal(rest, numbers % 7)
    rows = np.random.default_rng(1).random((40, 300)).astype(np.float32)
    expected_rows = rows[:, ::-1].copy()
    tensors.reverse_row(rows, rows)
    np.testing.assert_array_equal(rows, expected_rows)


def test_whole_tensors(tensors: ModuleType) -> None:
    numbers = np.random.default_rng(2).random((90, 110)).astype(np.float32)
    for given in (numbers, np.asfortranarray(numbers), np.repeat(numbers, 2, 1)[:, ::2]):
        found = tensors.at_vector(kf.grid((90, 110)), given, out=np.ndarray)
        np.testing.assert_array_equal(found, numbers)
    at = np.stack(np.meshgrid(np.arange(110), np.arange(90)), -1).reshape(-1, 2).astype(np.int32)
    colors = Memory((90, 110, 3), np.float32)
    color = np.random.default_rng(3).random((90, 110, 3)).astype(np.float32)
    tensors.put(at, color.reshape(-1, 3), colors.array)
    colors.check(color)
    counts = Memory((5, 10, 70), np.int32)
    counts.array[:] = ints(5, 10, 70)
    before = counts.array.copy()
    tensors.double_row(counts.array)
    counts.check(2 * before)
    tensors.double_row(counts.array[::-2, :, ::3])
    before *= 2
    before[::-2, :, ::3] *= 2
    counts.check(before)


def test_empty_arrays(calls: ModuleType) -> None:
    nothing = np.empty((0,), np.int32)
    assert calls.add(nothing, nothing, out=nothing) is nothing
    assert calls.add(np.empty((3, 0), np.int32), 1, out=np.ndarray).shape == (3, 0)


def test_tensors_get_what_arrays_held_at_the_call(calls: ModuleType) -> None:
    x = ints(5000)
    results = []
    expected = []
    for i in range(20):
        x += i
        results.append(calls.add(x, 1))  # not waited for
        expected.append(x + 1)
    for result, values in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result.to_numpy(), values)


def test_arrays_are_let_go_of(calls: ModuleType) -> None:
    class Watched(np.ndarray[Any, np.dtype[Any]]):
        pass

    given, out = ints(100_000).view(Watched), np.empty(100_000, np.int32).view(Watched)
    references = sys.getrefcount(given), sys.getrefcount(out)
    for _ in range(10):
        calls.add(given, given, out=out)
        assert (sys.getrefcount(given), sys.getrefcount(out)) == references
    seen = weakref.ref(given), weakref.ref(out)
    del given, out
    gc.collect()
    assert [one() for one in seen] == [None, None]


def test_the_device_says_what_it_can() -> None:
    device = kf.default_device()
    if device.backend == "cuda":
        assert "external_memory_host" not in device.info.features
