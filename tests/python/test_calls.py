"""Every form of argument and result."""

import gc
import threading
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


def floats(*values: float) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.float32))


def test_values(calls: ModuleType) -> None:
    assert calls.add(10, 20) == 30
    assert type(calls.add(10, 20)) is int
    assert calls.add.call(10, b=20) == 30
    assert calls.add(b=1, a=2) == 3
    assert calls.add(np.int32(1), np.int64(2)) == 3
    assert calls.add(2**31 - 1, 1) == -(2**31)
    assert calls.negate(True) is False
    assert calls.halve(3) == 1.5


def test_globals_that_nothing_reaches_and_constants(calls: ModuleType) -> None:
    arrays = [np.random.default_rng(seed).random((3, 4, 5)).astype(np.float32) for seed in range(5)]
    for power, factor in enumerate((1, 4, 16)):
        weighed = sum((k + 1) * array.astype(np.float64) for k, array in enumerate(arrays))
        expected = weighed * factor + 0.8 * 3 + 0.5
        whole = [kf.Tensor.from_numpy(array) for array in arrays]
        strided = [kf.Tensor.from_numpy(np.repeat(array, 2, axis=2))[:, :, ::2] for array in arrays]
        for tensors in (whole, strided):
            np.testing.assert_allclose(calls.weigh(*tensors, power).to_numpy(), expected, rtol=1e-6)


def test_lists_arrays_and_tensors(calls: ModuleType) -> None:
    expected = [11, 22, 33]
    for a in ([10, 20, 30], (10, 20, 30), np.array([10, 20, 30], np.int32), kf.Tensor([10, 20, 30])):
        for b in ([1, 2, 3], range(1, 4), np.array([1, 2, 3], np.int32), kf.Tensor([1, 2, 3])):
            result = calls.add(a, b)
            assert isinstance(result, kf.Tensor)
            assert result.to_numpy().tolist() == expected


def test_the_demo(calls: ModuleType) -> None:
    assert calls.add([10, 20, 30], 20).to_numpy().tolist() == [30, 40, 50]
    assert calls.add([[10, 20, 30], [40, 50, 60]], [1, 2, 3]).to_numpy().tolist() == [
        [11, 22, 33],
        [41, 52, 63],
    ]


def test_empty_calls(calls: ModuleType) -> None:
    assert calls.add([], 1).shape == (0,)
    assert calls.add(np.zeros((2, 0), np.int32), 1).shape == (2, 0)
    assert calls.add(np.zeros((2, 0), np.int32), [1]).shape == (2, 0)


def test_given_outputs(calls: ModuleType) -> None:
    out = kf.Tensor.zeros(3, np.int32)
    assert calls.add([1, 2, 3], 1, out=out) is out
    assert out.to_numpy().tolist() == [2, 3, 4]
    array = np.zeros((3, 2), np.int32)
    column = array[:, 1]
    assert calls.add([1, 2, 3], 1, out=column) is column
    assert array.tolist() == [[0, 2], [0, 3], [0, 4]]


def test_given_outputs_of_single_calls(calls: ModuleType) -> None:
    array = np.zeros((), np.int32)
    assert calls.add(1, 2, out=array) is array
    assert array.item() == 3
    tensor = kf.Tensor.zeros((), np.int32)
    assert calls.add(1, 2, out=tensor) is tensor
    assert tensor.item() == 3


def test_out_parameters(calls: ModuleType) -> None:
    result = calls.split(2.75)
    assert (result.whole, result.rest) == (2.0, 0.75)
    whole, rest = calls.split(floats(1.5, -0.25))
    assert whole.to_numpy().tolist() == [1, -1]
    assert rest.to_numpy().tolist() == [0.5, 0.75]
    given = kf.Tensor.zeros(2)
    result = calls.split(floats(1.5, 2.25), rest=given)
    assert result.rest is given
    assert given.to_numpy().tolist() == [0.5, 0.25]
    array = np.zeros(2, np.float32)
    assert calls.split(floats(1.5, 2.25), None, array).rest is array
    assert array.tolist() == [0.5, 0.25]


def test_the_return_value_comes_first(calls: ModuleType) -> None:
    result = calls.quotient([7, 9], 4)
    assert type(result)._fields == ("result", "rest")
    assert type(result).__name__ == "QuotientResult"
    assert result.result.to_numpy().tolist() == [1, 2]
    assert result.rest.to_numpy().tolist() == [3, 1]


def test_inout_parameters(calls: ModuleType) -> None:
    assert calls.advance(1.5, 0.25) == 1.75
    tensor = floats(1, 2)
    assert calls.advance(tensor, 0.5) is tensor
    assert tensor.to_numpy().tolist() == [1.5, 2.5]
    array = np.array([1, 5, 2, 5], np.float32)
    view = array[::2]
    assert calls.advance(view, 0.5) is view
    assert array.tolist() == [1.5, 5, 2.5, 5]
    values = [1.0, 2.0]
    assert calls.advance(values, 1).to_numpy().tolist() == [2, 3]
    assert values == [1.0, 2.0]


def test_vectors(calls: ModuleType) -> None:
    single = calls.scale([1, 2, 3], 2.0)
    assert isinstance(single, np.ndarray)
    assert (single.dtype, single.tolist()) == (np.float32, [2, 4, 6])
    assert calls.total(np.array([1, 2, 3], np.float32)) == 6.0
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = calls.scale(rows, 2.0)
    assert (result.shape, result.strides) == ((2, 3), (3, 1))
    np.testing.assert_array_equal(result.to_numpy(), 2 * rows)
    np.testing.assert_array_equal(calls.scale(rows, floats(2, 3)).to_numpy(), rows * [[2], [3]])
    np.testing.assert_array_equal(calls.scale([1, 2, 3], floats(2, 3)).to_numpy(), [[2, 4, 6], [3, 6, 9]])
    np.testing.assert_array_equal(calls.scale([[1, 2, 3]], floats(2, 3)).to_numpy(), [[2, 4, 6], [3, 6, 9]])
    turned = kf.Tensor.from_numpy(np.ascontiguousarray(rows.T)).T
    np.testing.assert_array_equal(calls.scale(turned, 2.0).to_numpy(), 2 * rows)
    np.testing.assert_array_equal(calls.total(turned).to_numpy(), rows.sum(1))
    out = kf.Tensor.from_numpy(np.full((2, 6), 9, np.float32))
    calls.scale(rows, 2.0, out=out[:, 1::2])
    assert out.to_numpy().tolist() == [[9, 0, 9, 2, 9, 4], [9, 6, 9, 8, 9, 10]]


def test_a_tensor_in_place(calls: ModuleType) -> None:
    x = kf.Tensor([1, 2, 3])
    assert calls.add(x, 1, out=x) is x
    assert x.to_numpy().tolist() == [2, 3, 4]


def test_many_calls_in_a_row(calls: ModuleType) -> None:
    x = kf.Tensor.zeros(1000, np.int32)
    for _ in range(500):
        x = calls.add(x, 1)
    assert (x.to_numpy() == 500).all()


def test_recorded_calls(calls: ModuleType, device: kf.Device) -> None:
    encoder = device.encoder()
    x = kf.Tensor([1, 2, 3])
    out = kf.Tensor.zeros(3, np.int32)
    y = calls.add.append_to(encoder, x, 1)
    assert calls.add.append_to(encoder, y, [10, 20, 30], out=out) is out
    assert out.to_numpy().tolist() == [0, 0, 0]
    encoder.submit()
    assert y.to_numpy().tolist() == [2, 3, 4]
    assert out.to_numpy().tolist() == [12, 23, 34]
    with device.encoder() as block:
        calls.add.append_to(block, out, 1, out=x)
    assert x.to_numpy().tolist() == [13, 24, 35]
    with pytest.raises(RuntimeError, match="stop"), device.encoder() as dropped:
        calls.add.append_to(dropped, out, 100, out=x)
        raise RuntimeError("stop")
    assert x.to_numpy().tolist() == [13, 24, 35]


def test_reserved_names(calls: ModuleType) -> None:
    assert calls.reserved(4, 2) == 42
    assert calls.reserved(shape_=4, stream_=2) == 42


def test_functions_describe_themselves(calls: ModuleType) -> None:
    assert calls.add.__name__ == calls.add.name == "add"
    assert calls.add.__doc__.startswith("The sum of two numbers.")
    assert "Wraps around" in calls.add.__doc__
    assert len(calls.add.signatures) == 6
    assert calls.add.backward is None
    assert "add" in repr(calls.add)


def test_functions_run_on_their_tensors_device(calls: ModuleType) -> None:
    other = kf.Device.open(kf.default_device().info.id)
    result = calls.add(kf.Tensor([1, 2], device=other), [3, 4])
    assert result.device == other
    assert result.device != kf.default_device()
    assert result.to_numpy().tolist() == [4, 6]
    del other, result
    gc.collect()
    assert calls.add([1], 2).to_numpy().tolist() == [3]


def test_threads(calls: ModuleType) -> None:
    failures: list[object] = []

    def work(seed: int) -> None:
        x = kf.Tensor.from_numpy(np.full(257, seed, np.int32))
        for step in range(50):
            if (calls.add(x, step).to_numpy() != seed + step).any():
                failures.append((seed, step))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("shape", [(), (0,), (1,), (33,), (31, 3), (4097,)])
def test_automatic_outputs_have_the_calls_rank(calls: Any, shape: tuple[int, ...]) -> None:
    x = np.linspace(-3, 9, int(np.prod(shape, dtype=int)), dtype=np.float32).reshape(shape)
    found = calls.split_any(x if shape else 2.75)
    if not shape:
        assert found == (2.0, 0.75)
        assert type(found.rest) is float
        return
    np.testing.assert_array_equal(found.whole.to_numpy(), np.floor(x))
    np.testing.assert_array_equal(found.rest.to_numpy(), x - np.floor(x))
    rest = np.full(shape, -7, np.float32)
    assert calls.split_any(kf.Tensor.from_numpy(x), rest=rest).rest is rest
    np.testing.assert_array_equal(rest, x - np.floor(x))
