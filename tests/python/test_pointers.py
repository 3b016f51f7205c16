"""Parameters that are pointers: given as tensors and as addresses, and what commands wait for."""

from collections.abc import Callable
from types import ModuleType

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)


@pytest.fixture(scope="module")
def pointers(generated: Loader) -> ModuleType:
    return generated("pointers")


def indices(size: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    return np.arange(size, dtype=np.int32)


def as_tensor(tensor: kf.Tensor) -> kf.Tensor:
    return tensor


def as_address(tensor: kf.Tensor) -> int:
    return tensor.address


GIVEN = [as_tensor, as_address]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("size", SIZES)
def test_reads(pointers: ModuleType, size: int, given: Callable[[kf.Tensor], object]) -> None:
    values = numbers((4 * size + 1,), FLOAT, 1)
    tensor = kf.Tensor.from_numpy(values)
    got = pointers.read_at(given(tensor), indices(size), reads=tensor, out=np.ndarray)
    np.testing.assert_array_equal(got, values[: 4 * size : 4])
    got = pointers.read_only(given(tensor), indices(size), out=np.ndarray)
    np.testing.assert_array_equal(got, 2 * values[:size])


@pytest.mark.parametrize("given", GIVEN)
def test_writes(pointers: ModuleType, given: Callable[[kf.Tensor], object]) -> None:
    """Whole vectors of three, 12 bytes apart, and nothing beside them."""
    points = numbers((10, 3), FLOAT, 2)
    tensor = kf.Tensor.from_numpy(points)
    add = numbers((3, 3), FLOAT, 3)
    pointers.write_at(given(tensor), np.array([1, 4, 7], np.int32), add, writes=[tensor])
    expected = points.copy()
    expected[[1, 4, 7]] = add + points[[2, 5, 8]]
    np.testing.assert_array_equal(tensor.to_numpy(), expected)


def test_views_begin_at_their_first_element(pointers: ModuleType) -> None:
    values = numbers((40,), FLOAT, 4)
    got = pointers.read_only(kf.Tensor.from_numpy(values)[7:20], indices(13), out=np.ndarray)
    np.testing.assert_array_equal(got, 2 * values[7:20])


def test_atomics(pointers: ModuleType) -> None:
    amounts = np.arange(1000, dtype=np.uint32)
    counter = kf.Tensor.from_numpy(np.zeros(1, np.uint32))
    pointers.count(counter, amounts)
    assert counter.item() == amounts.sum()


def test_structs(pointers: ModuleType) -> None:
    """Structs lie as in C."""
    node = np.dtype(
        {
            "names": ["position", "mass", "weight", "frame"],
            "formats": [(np.float32, (3,)), np.float32, np.float16, (np.float32, (2, 3))],
            "offsets": [0, 12, 16, 20],
            "itemsize": 44,
        }
    )
    nodes = np.zeros(9, node)
    nodes["position"] = numbers((9, 3), FLOAT, 5)
    nodes["mass"] = numbers((9,), FLOAT, 6)
    nodes["weight"] = numbers((9,), np.dtype(np.float16), 7)
    nodes["frame"] = numbers((9, 2, 3), FLOAT, 8)
    expected = nodes["mass"] * nodes["position"][:, 1] + nodes["weight"] + nodes["frame"][:, 1, 2]
    bytes_ = kf.Tensor.from_numpy(nodes.view(np.uint8))
    got = pointers.reach(bytes_.address, indices(9), reads=bytes_, out=np.ndarray)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_numbers(pointers: ModuleType) -> None:
    """All 64 bits of an address go in."""
    i = indices(3)
    for address in (0, 1, 0x7FFF_FFFF_FFFF_FFF0):
        np.testing.assert_array_equal(
            pointers.as_number(address, i, out=np.ndarray), address + i.astype(np.int64)
        )
    assert pointers.as_number(2**64 - 8, i).to_numpy().tolist() == [-8, -7, -6]
    tensor = kf.Tensor.zeros(4)
    assert pointers.as_number(tensor, i).to_numpy().tolist() == [tensor.address + k for k in range(3)]
    assert pointers.as_number(kf.Tensor.zeros(0), i).to_numpy().tolist() == [0, 1, 2]


def test_pointers_to_pointers(pointers: ModuleType) -> None:
    rows = [kf.Tensor.from_numpy(numbers((5,), FLOAT, 9 + k)) for k in range(3)]
    table = kf.Tensor.from_numpy(np.array([row.address for row in rows], np.uint64))
    row = np.array([[0], [2]], np.int32)
    column = np.array([0, 3, 4], np.int32)
    got = pointers.follow(table, np.broadcast_to(row, (2, 3)), column, reads=[table, *rows], out=np.ndarray)
    np.testing.assert_array_equal(got, np.stack([rows[k].to_numpy()[column] for k in (0, 2)]))


def test_fields(pointers: ModuleType) -> None:
    values = numbers((6,), FLOAT, 20)
    got = pointers.in_fields({"scale": 3, "values": kf.Tensor.from_numpy(values)}, indices(6), out=np.ndarray)
    np.testing.assert_array_equal(got, 3 * values)


@pytest.mark.parametrize("given", GIVEN)
def test_gradients(pointers: ModuleType, given: Callable[[kf.Tensor], object]) -> None:
    """Other parameters have theirs; what a pointer leads to is a number like any other."""
    weights = numbers((7,), FLOAT, 21)
    x = numbers((7,), FLOAT, 22)
    tensor = kf.Tensor.from_numpy(weights)
    values = kf.Tensor.from_numpy(x).with_grads()
    pointers.weighted.backward(given(tensor), values, indices(7), kf.Tensor.zeros(7))
    assert values.grad is not None
    np.testing.assert_allclose(values.grad.to_numpy(), 2 * weights * x, rtol=1e-6)
    value, tangent = pointers.weighted.jvp(given(tensor), x, indices(7), tangents={"x": x}, out=np.ndarray)
    np.testing.assert_allclose(value, weights * x * x, rtol=1e-6)
    np.testing.assert_allclose(tangent, 2 * weights * x * x, rtol=1e-6)


def test_commands_wait(pointers: ModuleType) -> None:
    """Each call reads what the one before wrote through a pointer."""
    chain = kf.Tensor.from_numpy(np.zeros((2, 3), np.float32))
    one = np.ones((1, 3), np.float32)
    for _ in range(20):
        pointers.write_at(chain, np.zeros(1, np.int32), one)
        chain[1:].copy_from_numpy(chain[:1].to_numpy())
    np.testing.assert_array_equal(chain.to_numpy(), np.full((2, 3), 20, np.float32))
    encoder = kf.default_device().encoder()
    for _ in range(20):
        pointers.count.append_to(encoder, (counter := kf.Tensor.zeros(1, np.uint32)), np.ones(5, np.uint32))
    encoder.submit()
    assert counter.item() == 5


BAD: dict[str, tuple[Callable[[], object], str]] = {
    "another type": (lambda: kf.Tensor.zeros(4, np.int32), "expected float*, found an int32 tensor"),
    "an array": (lambda: np.zeros(4, np.float32), "expected float*, found a float32 array"),
    "a fraction": (lambda: 1.5, "expected float*, found a floating number"),
    "a list": (lambda: [1, 2], "expected float*, found a list"),
    "gaps": (
        lambda: kf.Tensor.zeros(8)[::2],
        "argument 'values': a pointer's elements lie one after the other",
    ),
    "misaligned": (lambda: 6, "argument 'values': its address, 0x6, is no multiple of 4 bytes"),
    "negative": (lambda: -4, "argument 'values': -4"),
    "too large": (lambda: 2**64, "argument 'values'"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(pointers: ModuleType, name: str) -> None:
    make, message = BAD[name]
    with pytest.raises(kf.ArgumentError) as error:
        pointers.read_at(make(), indices(1))
    assert message in str(error.value)


def test_told_memory_is_checked(pointers: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="argument 'reads': a "):
        pointers.read_at(0, indices(1), reads=[3])
