"""Lists of kf.Tensors, alone and with arrays: each is one array, or refused by name."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader
from refusals import refusal

Array = npt.NDArray[Any]
FLOAT = np.dtype(np.float32)


@pytest.fixture(scope="module")
def containers(generated: Loader) -> ModuleType:
    return generated("containers")


def random(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    return (np.random.default_rng(7).random(shape) * 8).astype(dtype)


def gradient(x: kf.Tensor) -> Array:
    assert x.grad is not None
    return x.grad.to_numpy()


def test_rows_of_vectors(containers: ModuleType) -> None:
    a, b = random((5, 4)), random((5, 4), np.float32) + 1
    expected = a.astype(np.float64) * b + a
    lists: list[Callable[[], Any]] = [
        lambda: [kf.Tensor(row) for row in a],
        lambda: tuple(kf.Tensor(row) for row in a),
        lambda: [kf.Tensor(row) if i % 2 else row for i, row in enumerate(a)],
        lambda: list(kf.Tensor(a)),
        # Views with strides.
        lambda: [kf.Tensor(np.stack([row, row], 1))[:, 1] for row in a],
        lambda: [kf.Tensor(row).with_grads() for row in a],
    ]
    for make in lists:
        for _ in range(2):  # a call that is made again is made another way
            found = containers.mix_float_4(make(), b)
            assert isinstance(found, kf.Tensor)
            np.testing.assert_allclose(found.to_numpy(), expected, 1e-6)
        np.testing.assert_allclose(containers.mix_float_4(make(), kf.Tensor(b)).to_numpy(), expected, 1e-6)
        np.testing.assert_allclose(containers.mix_float_4(make(), b, out=np.ndarray), expected, 1e-6)


def test_nested_lists(containers: ModuleType) -> None:
    a, b = random((3, 2, 3)), random((3, 2, 3)) + 1
    expected = a.astype(np.float64) * b + a
    given = [[kf.Tensor(row) for row in a[0]], (a[1, 0], kf.Tensor(a[1, 1])), kf.Tensor(a[2])]
    np.testing.assert_allclose(containers.mix_float2x3(given, kf.Tensor(b)).to_numpy(), expected, 1e-6)
    integers = random((3, 3), np.uint32)
    rows = [kf.Tensor(row) for row in integers]
    # One value: a matrix.
    found = containers.mix_uint3x3([rows], [rows])
    np.testing.assert_array_equal(found.to_numpy(), [integers * 3 - integers])
    scalars = [kf.Tensor(a)[0, 0, i] for i in range(3)]
    found = containers.batched(a[1, 0].tolist(), scalars)
    np.testing.assert_allclose(found.to_numpy().ravel()[:1], a[1, 0, :1] * a[0, 0, :1].astype(float), 1e-6)


def test_lists_for_values(containers: ModuleType) -> None:
    a = random((2, 3))
    found = containers.mix_float2x3([kf.Tensor(row) for row in a], [a[0], kf.Tensor(a[1])])
    np.testing.assert_allclose(np.asarray(found), a.astype(np.float64) * a + a, 1e-6)


def test_lists_are_read_when_the_call_is_made(containers: ModuleType) -> None:
    """Behind what was called before, and before what is called after."""
    a = np.ones((2, 4), np.float32)
    rows = [kf.Tensor(row) for row in a]
    for row in rows:
        row.fill(3)
    found = containers.mix_float_4(rows, a)
    for row in rows:
        row.fill(5)
    np.testing.assert_array_equal(found.to_numpy(), np.full((2, 4), 6))


def test_tensors_of_lists(device: kf.Device) -> None:
    a = random((3, 2, 5))
    found = kf.Tensor([kf.Tensor(a[0]), a[1], [kf.Tensor(row) for row in a[2]]])
    np.testing.assert_array_equal(found.to_numpy(), a)
    assert found.dtype == FLOAT
    text = refusal(kf.ArgumentError, lambda: kf.Tensor([kf.Tensor(a[0]), kf.Tensor(a[1])], dtype=np.float64))
    assert "an array of dtype float32 is not cast" in text


def test_where_the_call_runs(containers: ModuleType, device: kf.Device) -> None:
    a = random((2, 4))
    other = kf.Device.open(device.info.id)
    rows = [kf.Tensor(row, device=other) for row in a]
    assert containers.mix_float_4(rows, a).device is other
    assert kf.Tensor(rows).device is other
    text = refusal(kf.ArgumentError, lambda: containers.mix_float_4(rows, kf.Tensor(a)))
    assert "a tensor of the list is on device" in text and "(opened another time)" in text
    text = refusal(kf.ArgumentError, lambda: containers.mix_float_4([rows[0], kf.Tensor(a[1])], a))
    assert "the tensors of a list are on one device" in text and "(opened another time)" in text


def test_what_is_refused(containers: ModuleType, device: kf.Device) -> None:
    a = random((2, 4))
    b = kf.Tensor(a)
    rows = [kf.Tensor(row) for row in a]
    mix = containers.mix_float_4

    def in_a_graph() -> None:
        with kf.Graph():
            mix(rows, b)

    later = "a recorded call runs later, and a list of tensors is read when the call is made"
    for call in (
        lambda: mix.prepare(rows, b),
        lambda: mix.append_to(device.encoder(), rows, b),
        in_a_graph,
    ):
        text = refusal(kf.ArgumentTypeError, call)
        assert f"argument 'a': {later}" in text, text
    cases: list[tuple[list[Any], str]] = [
        ([rows[0], kf.Tensor(a[1, :3])], "the arrays of a list have one shape and dtype"),
        ([rows[0], a[1].astype(np.float64)], "the arrays of a list have one shape and dtype"),
        ([rows[0], kf.Tensor(np.zeros(4, np.int32))], "the arrays of a list have one shape and dtype"),
        ([rows[0], [1.0, 2.0, 3.0, 4.0]], "a list holds numbers, not a float32 tensor of shape (4,)"),
        ([rows[0], None], "a list holds numbers, not"),
        ([kf.Tensor(row.astype(np.float64)) for row in a], "argument 'a'"),
    ]
    for given, expected in cases:
        text = refusal(kf.ArgumentError, lambda given=given: mix(given, b))
        assert expected in text, text
    text = refusal(kf.ArgumentError, lambda: mix(rows, b, out=[kf.Tensor(row) for row in a]))
    assert "an output is written to a kf.Tensor or a NumPy array" in text


def test_gradients(containers: ModuleType) -> None:
    a = random((2, 4))
    mix = containers.mix_float_4
    rows = [kf.Tensor(row).with_grads() for row in a]
    b = kf.Tensor(a).with_grads()
    out = kf.Tensor(a).with_grads(grad_in=np.ones_like(a))
    for given in (rows, [kf.Tensor(row) for row in a]):
        text = refusal(kf.ArgumentError, lambda given=given: mix.backward(given, b, out))
        assert "argument 'a': the tensors of a list get no gradients, and give none" in text, text
    text = refusal(kf.ArgumentError, lambda: mix.backward(kf.Tensor(a).with_grads(), b, rows))
    assert "the tensors of a list get no gradients, and give none" in text, text
    np.testing.assert_array_equal(gradient(b), 0)
    assert all(not gradient(row).any() for row in rows)
    # What the text says to do.
    mix.backward([row.to_numpy() for row in rows], b, out)
    np.testing.assert_allclose(gradient(b), a, 1e-6)
    whole = kf.Tensor(rows).with_grads()
    mix.backward(whole, b, out)
    np.testing.assert_allclose(gradient(whole), a + 1, 1e-6)
