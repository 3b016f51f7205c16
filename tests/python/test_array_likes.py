"""Arrays that aren't plain: each gives what its elements say, or an error, and never something else."""

from collections.abc import Callable
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

Array = npt.NDArray[Any]
SIZES = [0, 1, 31, 33, 4097]
NO_MASKS = "a masked array is given, .*, and kernels know no masks: give array.filled"


@pytest.fixture(scope="module")
def calls(generated: Loader) -> Any:
    return generated("calls")


@pytest.fixture(scope="module")
def conversions(generated: Loader) -> Any:
    return generated("conversions")


def masked(array: Array, *, some: bool = True) -> Any:
    mask = np.zeros(array.shape, bool)
    mask[..., :1] = some
    return np.ma.array(array, mask=mask)


NUMBERS = np.arange(3, dtype=np.int32)
MASKED: dict[str, Callable[[Any], Any]] = {
    "an argument": lambda m: m.add(masked(NUMBERS), 1),
    "none of it masked": lambda m: m.add(masked(NUMBERS, some=False), 1),
    "no mask at all": lambda m: m.add(np.ma.array(NUMBERS), 1),
    "of one element": lambda m: m.add(np.ma.array(np.int32(2), mask=True), 1),
    "the masked constant": lambda m: m.add(np.ma.masked, 1),
    "beside another": lambda m: m.add(NUMBERS, masked(NUMBERS)),
    "an output": lambda m: m.add(NUMBERS, 1, out=masked(NUMBERS.copy())),
    "a vector": lambda m: m.scale(masked(np.ones(3, np.float32)), 1),
    "with a gradient": lambda m: m.scale(kf.differentiable(masked(np.ones(3, np.float32))), 1),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_arrays(calls: Any, name: str) -> None:
    with pytest.raises(kf.ArgumentTypeError, match=rf"(add|scale): .*argument '(a|b|v|result)': {NO_MASKS}"):
        MASKED[name](calls)


def test_masked_arrays_for_tensors(device: kf.Device) -> None:
    array = masked(NUMBERS)
    with pytest.raises(kf.ArgumentTypeError, match=rf"Tensor.from_numpy: argument 'a': {NO_MASKS}"):
        kf.Tensor.from_numpy(array)
    tensor = kf.Tensor.from_numpy(NUMBERS)
    with pytest.raises(kf.ArgumentTypeError, match=rf"Tensor.copy_from_numpy: argument 'a': {NO_MASKS}"):
        tensor.copy_from_numpy(array)
    with pytest.raises(kf.ArgumentTypeError, match=rf"argument 'grad_in': {NO_MASKS}"):
        tensor.with_grads(grad_in=array)


def test_masked_structs(conversions: Any) -> None:
    items = np.ma.zeros(3, conversions.Item.dtype)
    for given in (items, items[0], [items[1]]):
        with pytest.raises(kf.ArgumentError, match=rf"argument 'item(\[0\])?': {NO_MASKS}"):
            conversions.value_of(given)
    for place in (masked(np.ones(3, np.float32)), np.ma.masked):
        with pytest.raises(kf.ArgumentError, match=rf"argument 'item.place': {NO_MASKS}"):
            conversions.value_of({"weight": 1, "place": place, "count": 3})


@pytest.mark.parametrize("size", SIZES)
def test_views_of_any_kind_are_right(calls: Any, size: int) -> None:
    whole = np.arange(2 * size + 1, dtype=np.int32)
    raw = np.zeros(4 * size + 1, np.uint8)
    raw[1:] = np.frombuffer(whole[:size].tobytes(), np.uint8)
    kinds: dict[str, Array] = {
        "backward": whole[size - 1 :: -1][:size] if size else whole[:0],
        "every other": whole[1::2],
        "unaligned": raw[1:].view(np.int32),
        "repeated": np.broadcast_to(whole[:1], (size,)),
        "read-only": np.frombuffer(whole[:size].tobytes(), np.int32),
        "of a subclass": whole[:size].view(np.memmap) if size else whole[:0],
        "a column": np.asfortranarray(np.arange(2 * size, dtype=np.int32).reshape(size, 2))[:, 1],
    }
    for kind, array in kinds.items():
        found = calls.add(array, 7)
        np.testing.assert_array_equal(found.to_numpy(), array + 7, err_msg=kind)
        np.testing.assert_array_equal(kf.Tensor.from_numpy(array).to_numpy(), array, err_msg=kind)


@pytest.mark.parametrize("size", SIZES)
def test_outputs_of_any_layout_are_written_and_nothing_else(calls: Any, size: int) -> None:
    a = np.arange(size, dtype=np.int32)
    layouts: list[Callable[[Array], Array]] = [
        lambda whole: whole[size::-1][:size],
        lambda whole: whole[1 : 1 + 2 * size : 2],
        lambda whole: whole.view(np.uint8)[2 : 2 + 4 * size].view(np.int32),
        lambda whole: whole[: 2 * size].reshape(2, size).T[:, 1],
    ]
    for layout in layouts:
        found = np.full(2 * size + 8, -5, np.int32)
        expected = found.copy()
        layout(expected)[...] = a + 3
        assert calls.add(a, 3, out=layout(found)) is not None
        np.testing.assert_array_equal(found, expected)


def test_outputs_whose_elements_share_memory(calls: Any) -> None:
    one = np.zeros(1, np.int32)
    windows = np.lib.stride_tricks.as_strided(np.zeros(4, np.int32), (3, 2), (4, 4))
    frozen = np.broadcast_to(one, (3,))
    with pytest.raises(kf.ArgumentError, match=r"add: argument 'result': .* read-only"):
        calls.add(NUMBERS, 1, out=frozen)
    for array in (np.lib.stride_tricks.as_strided(one, (3,), (0,)), windows):
        given = np.zeros(array.shape, np.int32)
        with pytest.raises(kf.ArgumentError, match=r"'result': .* elements of it share memory") as caught:
            calls.add(given, 1, out=array)
        assert caught.value.code == "aliasing"
    assert one[0] == 0


def test_outputs_that_share_memory_with_each_other(calls: Any) -> None:
    both = np.zeros(7, np.float32)
    x = kf.Tensor.from_numpy(np.array([1.25, 2.5, 3.75], np.float32))
    with pytest.raises(kf.ArgumentError, match=r"'rest': .* shares memory with argument 'whole'") as caught:
        calls.split(x, whole=both[:3], rest=both[2:5])
    assert caught.value.code == "aliasing"
    np.testing.assert_array_equal(both, 0)
    calls.split(x, whole=both[0:6:2], rest=both[1:7:2])
    np.testing.assert_array_equal(both, [1, 0.25, 2, 0.5, 3, 0.75, 0])


FOREIGN = {
    "complex64": np.ones(3, np.complex64),
    "object": np.array([1, 2, 3], object),
    "object of one": np.array(1, object),
    "datetime64[D]": np.zeros(3, "M8[D]"),
    "timedelta64[s]": np.zeros(3, "m8[s]"),
    "<U1": np.array(["1", "2"]),
    "|S1": np.array([b"1", b"2"]),
    ">i4": np.arange(3).astype(">i4"),
    ">i4 of one": np.array(1, ">i4"),
    str(np.dtype(np.longdouble)): np.ones(3, np.longdouble),
}


@pytest.mark.parametrize("dtype", FOREIGN)
def test_dtypes_that_kernels_have_not(calls: Any, dtype: str) -> None:
    array = FOREIGN[dtype]
    known = dtype.removesuffix(" of one")
    with pytest.raises(kf.ArgumentTypeError) as caught:
        calls.add(array, 1)
    assert f"add: argument 'a': kernels have no dtype {known}: " in str(caught.value)
    with pytest.raises(kf.ArgumentTypeError) as caught:
        calls.add(NUMBERS, 1, out=np.zeros(3, array.dtype))
    assert f"add: argument 'result': kernels have no dtype {known}: " in str(caught.value)
    with pytest.raises(kf.ArgumentTypeError, match=r"Tensor.from_numpy: argument 'a': kernels have no dtype"):
        kf.Tensor.from_numpy(array)


@pytest.mark.parametrize(
    "value",
    [
        1j,
        np.complex64(1),
        np.timedelta64(3, "s"),
        np.datetime64("2020-01-01"),
        b"12",
        bytearray(b"12"),
        {1, 2},
    ],
)
def test_scalars_that_are_no_numbers(calls: Any, value: Any) -> None:
    with pytest.raises(kf.ArgumentTypeError, match="add: argument 'a': a number, a list, a NumPy array or"):
        calls.add(value, 1)


def test_numbers_of_other_widths(calls: Any) -> None:
    assert calls.add(np.array([5], ">i4")[0], 1) == 6
    assert calls.halve(np.longdouble(1.5)) == 0.75
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(kf.ArgumentError, match="doesn't fit a float16"):
            calls.halve(np.longdouble("1e4000"))
    assert calls.halve(np.longdouble("inf")) == np.inf


def items(conversions: Any) -> Array:
    made = np.zeros(3, conversions.Item.dtype)
    made["weight"] = [1, 2, 3]
    made["place"] = np.arange(9).reshape(3, 3)
    made["count"] = [4, 5, 6]
    return made


def like(array: Array, dtype: Any) -> Array:
    made = np.zeros(array.shape, dtype)
    for name in array.dtype.names or ():
        made[name] = array[name]
    return made


SWAPPED = [("place", np.float32, 3), ("weight", np.float32), ("count", np.int32)]
WIDER = [("weight", np.float64), ("place", np.float32, 3), ("count", np.int32)]
FLOATS = [("weight", np.float32), ("place", np.float32, 3), ("count", np.float32)]
SPREAD = {
    "names": ["weight", "place", "count"],
    "formats": [np.float32, (np.float32, 3), np.int32],
    "offsets": [0, 8, 20],
    "itemsize": 24,
}


@pytest.mark.parametrize(
    ("dtype", "why"),
    [
        (SWAPPED, "field 'weight' lies at byte 12, not 0"),
        (np.dtype(WIDER, align=True), "field 'weight' is float64, not float32"),
        (FLOATS, "field 'count' is float32, not int32"),
        (SPREAD, "field 'place' lies at byte 8, not 4"),
    ],
)
def test_structs_of_another_layout(conversions: Any, dtype: Any, why: str) -> None:
    """In tensors they are refused; one by one their fields go by name, and by value."""
    plain = items(conversions)
    other = like(plain, np.dtype(dtype))
    for given in (other, kf.Tensor.from_numpy(other)):
        with pytest.raises(kf.ArgumentError, match=why):
            conversions.value_of(given)
    pairs = np.zeros((3, 2), other.dtype)
    with pytest.raises(kf.ArgumentError, match=why):
        conversions.heavier(pairs, 1)
    assert not np.frombuffer(pairs.tobytes(), np.uint8).any()
    if dtype in (SWAPPED, SPREAD):
        for i in range(3):
            assert conversions.value_of(other[i]) == conversions.value_of(plain[i])


def test_structs_in_the_other_byte_order(conversions: Any) -> None:
    plain = items(conversions)
    swapped = plain.astype(plain.dtype.newbyteorder(">"))
    with pytest.raises(kf.ArgumentError, match="kernels have no dtype >f4"):
        conversions.value_of(swapped)
    with pytest.raises(kf.ArgumentError, match=r"argument 'item.place': kernels have no dtype >f4"):
        conversions.value_of(swapped[0])


@pytest.mark.parametrize("view", [np.recarray, np.ndarray])
def test_structs_in_views(conversions: Any, view: Any) -> None:
    plain = items(conversions)
    expected = plain["weight"] + 10 * plain["place"][:, 2] + 100 * plain["count"]
    whole = np.zeros(6, plain.dtype)
    whole[::2] = plain
    for array, values in ((plain, expected), (plain[::-1], expected[::-1]), (whole[::2], expected)):
        np.testing.assert_array_equal(conversions.value_of(array.view(view)).to_numpy(), values)
        assert conversions.value_of(array.view(view)[1]) == values[1]
