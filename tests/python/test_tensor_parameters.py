"""Parameters that are tensors themselves: whole, by rows, written, and with gradients."""

from types import ModuleType

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from arrays import array, tensor
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

rng = np.random.default_rng(7)


@pytest.fixture(scope="module")
def tensors(generated: Loader) -> ModuleType:
    return generated("tensors")


def floats(*shape: int) -> npt.NDArray[np.float32]:
    return rng.uniform(-2, 2, shape).astype(np.float32)


def indices(count: int) -> npt.NDArray[np.int32]:
    return np.arange(count, dtype=np.int32)


def poisoned(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> kf.Tensor:
    return tensor(np.full(shape, 77, dtype))


# ---- Forward ----


@pytest.mark.parametrize(
    "shape", [(1,), (7,), (0,), (5, 3), (1, 129), (257, 2), (3, 5, 7), (2, 0, 4), (0, 3, 4)]
)
def test_each_call_gets_its_row(tensors: ModuleType, shape: tuple[int, ...]) -> None:
    rows = floats(*shape)
    sums = tensors.row_sum(tensor(rows))
    wanted = rows.astype(np.float64).sum(axis=-1)
    got = sums if isinstance(sums, float) else sums.to_numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_rows_of_views_are_found_by_their_strides(tensors: ModuleType) -> None:
    all_rows = floats(6, 9, 4)
    whole = tensor(all_rows)
    for view, wanted in [
        (whole[1:5], all_rows[1:5]),
        (whole[:, 2:7, 1:4], all_rows[:, 2:7, 1:4]),
        (whole.transpose(0, 2, 1), all_rows.transpose(0, 2, 1)),
        (whole.transpose(2, 1, 0)[1:, 1:], all_rows.transpose(2, 1, 0)[1:, 1:]),
    ]:
        np.testing.assert_allclose(
            tensors.row_sum(view).to_numpy(), wanted.astype(np.float64).sum(axis=-1), rtol=1e-5, atol=1e-5
        )
    np.testing.assert_allclose(
        tensors.row_sum(whole[2, :, 3]), all_rows[2, :, 3].astype(np.float64).sum(), rtol=1e-5
    )


def test_blocks_broadcast_with_other_arguments(tensors: ModuleType) -> None:
    blocks = rng.uniform(-1, 1, (5, 3, 4))
    factors = (np.arange(3)[:, None] + 1.0) / (np.arange(4)[None, :] + 1.0)
    sums = (blocks * factors).sum(axis=(1, 2))
    np.testing.assert_allclose(tensors.weighted(tensor(blocks), 2.0).to_numpy(), 2 * sums, rtol=1e-12)
    weights = rng.uniform(-1, 1, 5)
    np.testing.assert_allclose(
        tensors.weighted(tensor(blocks), tensor(weights)).to_numpy(), weights * sums, rtol=1e-12
    )
    np.testing.assert_allclose(
        tensors.weighted(tensor(blocks[2:3]), tensor(weights)).to_numpy(), weights * sums[2], rtol=1e-12
    )


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (130, 17)])
def test_rows_are_written(tensors: ModuleType, shape: tuple[int, int]) -> None:
    rows = floats(*shape)
    target = poisoned((shape[0] + 2, shape[1] + 3))
    assert tensors.reverse_row(tensor(rows), target[1:-1, 2:-1]) is None
    wanted = np.full(target.shape, 77, np.float32)
    wanted[1:-1, 2:-1] = rows[:, ::-1]
    np.testing.assert_array_equal(target.to_numpy(), wanted)


def test_numpy_arrays_are_written_back(tensors: ModuleType) -> None:
    rows = floats(3, 4)
    target = np.full((3, 4), 77, np.float32)
    tensors.reverse_row(rows, target)
    np.testing.assert_array_equal(target, rows[:, ::-1])
    numbers = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    tensors.double_row(numbers)
    np.testing.assert_array_equal(numbers, 2 * np.arange(24).reshape(2, 3, 4))


def test_lists_and_read_only_arrays_are_not_written(tensors: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="writable"):
        tensors.reverse_row(floats(2, 2), [[0.0, 0.0], [0.0, 0.0]])
    frozen = np.zeros((2, 2), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(kf.ArgumentError, match="writable"):
        tensors.reverse_row(floats(2, 2), frozen)


def test_every_form_of_index(tensors: ModuleType) -> None:
    colors = floats(5, 7, 3)
    at = np.stack([rng.integers(0, 7, 40), rng.integers(0, 5, 40)], axis=1).astype(np.int32)
    wanted = 6.0 * colors.astype(np.float64)[at[:, 1], at[:, 0]]
    np.testing.assert_allclose(tensors.pick(tensor(colors), tensor(at)).to_numpy(), wanted, rtol=1e-5)


def test_stores_by_every_form_of_index(tensors: ModuleType) -> None:
    at = np.array([[1, 0], [4, 3], [0, 2]], np.int32)
    color = floats(3, 3)
    target = poisoned((4, 5, 3))
    tensors.put(tensor(at), tensor(color), target)
    wanted = np.full((4, 5, 3), 77, np.float32)
    wanted[at[:, 1], at[:, 0]] = color
    np.testing.assert_array_equal(target.to_numpy(), wanted)


def test_vectors_have_the_last_dimension_first(tensors: ModuleType) -> None:
    """As positions in images, grids among them: a place of a grid reads the element at its place."""
    numbers = np.arange(15, dtype=np.float32).reshape(3, 5)
    found = tensors.at_vector(kf.grid((3, 5)), tensor(numbers))
    np.testing.assert_array_equal(found.to_numpy(), numbers)


def test_stores_by_numbers(tensors: ModuleType) -> None:
    shape = (2, 3, 4, 5)
    at = np.unravel_index(rng.permutation(120)[:31], shape)
    values = np.arange(31, dtype=np.float32)
    target = poisoned(shape)
    places = [tensor(at[d].astype(t)) for d, t in enumerate((np.uint32, np.int32, np.int64, np.uint8))]
    tensors.put4(*places, tensor(values), target)
    wanted = np.full(shape, 77, np.float32)
    wanted[at] = values + 1
    np.testing.assert_array_equal(target.to_numpy(), wanted)


def test_counts_by_numbers(tensors: ModuleType) -> None:
    at = rng.integers(0, 3, (2, 4097))
    counts = poisoned((3, 3), np.uint32)
    tensors.count2(tensor(at[0].astype(np.int32)), tensor(at[1].astype(np.uint32)), counts)
    wanted = np.full((3, 3), 77, np.uint32)
    np.add.at(wanted, (at[0], at[1]), np.uint32(1))
    np.testing.assert_array_equal(counts.to_numpy(), wanted)


@pytest.mark.parametrize("count", [1, 255, 1000, 4099])
def test_atomic_sums(tensors: ModuleType, count: int) -> None:
    values = rng.integers(0, 10, count).astype(np.int32)
    counts = tensor(np.zeros(10, np.uint32))
    tensors.count(tensor(values), counts)
    np.testing.assert_array_equal(counts.to_numpy(), np.bincount(values, minlength=10))
    same = tensor(np.full(count, 3, np.int32))
    tensors.count(same, counts)
    assert counts.to_numpy()[3] == np.bincount(values, minlength=10)[3] + count


def test_calls_may_share_a_batch_that_they_add_to(tensors: ModuleType) -> None:
    values = rng.integers(0, 4, (3, 50)).astype(np.int32)
    counts = tensor(np.zeros((1, 4), np.uint32))
    tensors.count_rows(tensor(values), counts)
    np.testing.assert_array_equal(counts.to_numpy()[0], np.bincount(values.ravel(), minlength=4))


def test_elements_of_every_kind(tensors: ModuleType) -> None:
    at = tensor(np.array([2, 0, 1, 1], np.int32))
    order = [2, 0, 1, 1]
    matrices = floats(3, 2, 3)
    np.testing.assert_array_equal(tensors.matrix_at(tensor(matrices), at).to_numpy(), matrices[order])
    arrays = floats(3, 3)
    np.testing.assert_array_equal(tensors.array_at(tensor(arrays), at).to_numpy(), arrays[order])
    halves = floats(3, 3).astype(np.float16)
    np.testing.assert_array_equal(tensors.half_at(tensor(halves), at).to_numpy(), halves[order])
    flags = tensor(np.array([True, False, True, False, True]))
    tensors.invert(tensor(np.array([0, 1, 3], np.int32)), flags)
    assert flags.to_numpy().tolist() == [False, True, True, True, True]
    np.testing.assert_array_equal(tensors.shape_of(tensor(np.zeros((4, 1, 9), np.int8))), [4, 1, 9])


# ---- Backward ----


@pytest.mark.parametrize("count", [1, 4, 257, 5000])
def test_polynomial(tensors: ModuleType, count: int) -> None:
    values = floats(count)
    x = tensor(values).with_grads()
    result = poisoned((count,))
    idx = tensor(indices(count))
    tensors.polynomial(idx, 2.0, 8.0, -1.0, x, result)
    wide = values.astype(np.float64)
    np.testing.assert_allclose(result.to_numpy(), 2 * wide**2 + 8 * wide - 1, rtol=1e-4, atol=1e-4)
    stored = result.to_numpy()
    # A missing gradient of the output means 1.
    tensors.polynomial.backward(idx, 2.0, 8.0, -1.0, x, result)
    np.testing.assert_allclose(array(x.grad), 4 * wide + 8, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(result.to_numpy(), stored)
    # A given one is used, and gradients accumulate.
    flowing = floats(count)
    given = result.with_grads(grad_in=tensor(flowing))
    a = kf.differentiable(2.0)
    tensors.polynomial.backward(idx, a, 8.0, -1.0, x, given)
    np.testing.assert_allclose(array(x.grad), (4 * wide + 8) * (1 + flowing), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(a.grad, (wide**2 * flowing).sum(), rtol=1e-4, atol=1e-4)


def test_process_inplace(tensors: ModuleType) -> None:
    values, flowing = floats(9), floats(9)
    x = tensor(values).with_grads(grad_in=tensor(flowing), grad_out=tensor(np.ones(9, np.float32)))
    idx = tensor(indices(9))
    tensors.process_inplace(idx, x)
    np.testing.assert_array_equal(x.to_numpy(), 2 * values)
    tensors.process_inplace.backward(idx, x)
    np.testing.assert_allclose(array(x.grad_out), 1 + 2 * flowing, rtol=1e-6)
    np.testing.assert_array_equal(array(x.grad_in), flowing)
    np.testing.assert_array_equal(x.to_numpy(), 2 * values)


def test_one_gradient_can_not_flow_in_and_out(tensors: ModuleType) -> None:
    x = tensor(floats(4)).with_grads()
    with pytest.raises(kf.ArgumentError, match="shares memory"):
        tensors.process_inplace.backward(tensor(indices(4)), x)


def test_custom_derivative(tensors: ModuleType) -> None:
    values = np.linspace(-0.5, 1.5, 41, dtype=np.float32)
    x = tensor(values).with_grads()
    idx = tensor(indices(41))
    inside = values.astype(np.float64).clip(0, 1)
    # Without gradients it goes forward all the same.
    np.testing.assert_allclose(
        tensors.custom_activation(idx, tensor(values)).to_numpy(), inside**2 * (3 - 2 * inside), atol=1e-6
    )
    tensors.custom_activation.backward(idx, x)
    np.testing.assert_allclose(array(x.grad), 6 * inside * (1 - inside), atol=1e-6)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 3), (64, 65), (130, 257), (512, 512)])
def test_linear_layer(tensors: ModuleType, rows: int, columns: int) -> None:
    weights, bias, given = floats(rows, columns), floats(rows), floats(columns)
    flowing = floats(rows)
    w, b, x = (tensor(values).with_grads() for values in (weights, bias, given))
    y = poisoned((rows,))
    idx = tensor(indices(rows))
    tensors.linear_layer(idx, w, b, x, y)
    wide = [values.astype(np.float64) for values in (weights, bias, given, flowing)]
    np.testing.assert_allclose(y.to_numpy(), wide[0] @ wide[2] + wide[1], rtol=1e-4, atol=1e-4)
    tensors.linear_layer.backward(idx, w, b, x, y.with_grads(grad_in=tensor(flowing)))
    np.testing.assert_allclose(array(w.grad), np.outer(wide[3], wide[2]), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(array(b.grad), wide[3], rtol=1e-5)
    np.testing.assert_allclose(array(x.grad), wide[0].T @ wide[3], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("batch", "rows", "columns"), [(1, 7, 5), (3, 7, 5), (33, 512, 512)])
def test_linear_layers(tensors: ModuleType, batch: int, rows: int, columns: int) -> None:
    weights, bias = floats(rows, columns), floats(rows)
    given, flowing = floats(batch, columns), floats(batch, rows)
    w, b, x = (tensor(values).with_grads() for values in (weights, bias, given))
    y = poisoned((batch, rows))
    idx = tensor(indices(rows))
    tensors.linear_layers(idx, w, b, x, y)
    wide = [values.astype(np.float64) for values in (weights, bias, given, flowing)]
    np.testing.assert_allclose(y.to_numpy(), wide[2] @ wide[0].T + wide[1], rtol=1e-4, atol=1e-4)
    tensors.linear_layers.backward(idx, w, b, x, y.with_grads(grad_in=tensor(flowing)))
    np.testing.assert_allclose(array(w.grad), wide[3].T @ wide[2], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(array(b.grad), wide[3].sum(axis=0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(array(x.grad), wide[3] @ wide[0], rtol=1e-4, atol=1e-4)


def test_gradients_of_views_land_in_the_view(tensors: ModuleType) -> None:
    rows, weights = floats(11, 6), floats(12)
    whole = tensor(weights).with_grads()
    tensors.dot_row.backward(tensor(rows), whole[3:9])
    wanted = np.zeros(12)
    wanted[3:9] = rows.astype(np.float64).sum(axis=0)
    np.testing.assert_allclose(array(whole.grad), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [1, 6, 500])
def test_halves_are_summed_in_floats(tensors: ModuleType, count: int) -> None:
    values = rng.uniform(0.5, 1, (2, count, 3)).astype(np.float16)
    # All calls but the first add to the same few elements.
    at = np.minimum(np.arange(count), 3).astype(np.int32)
    for view in (values, None):
        x = tensor(values if view is not None else np.ascontiguousarray(values.transpose(1, 0, 2)))
        x = x.with_grads()
        given = x if view is not None else x.transpose(1, 0, 2)
        tensors.halves.backward(tensor(at), given)
        wanted = np.zeros((2, count, 3))
        for i in at:
            v = values[i % 2, i].astype(np.float64)
            wanted[i % 2, i] += [v[1], v[0], 1]
        got = array(given.grad).astype(np.float64)
        np.testing.assert_allclose(got, wanted, rtol=1e-3)


def test_loads_that_need_no_atomics(tensors: ModuleType) -> None:
    values = rng.uniform(-1, 1, (300, 2))
    x = tensor(values).with_grads()
    scale = tensor(np.array([3.0])).with_grads()
    tensors.each_once.backward(tensor(indices(300)), x, scale)
    np.testing.assert_allclose(array(x.grad), 3 * values[:, ::-1], rtol=1e-12)
    np.testing.assert_allclose(array(scale.grad), [values.prod(axis=1).sum()], rtol=1e-9)


def sample(
    image: npt.NDArray[np.floating], uv: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.floating], list[tuple[npt.NDArray[np.integer], npt.NDArray[np.floating]]]]:
    """Bilinear samples, and how much of which texel (flat) is in each."""
    rows, columns = image.shape[:2]
    position = uv * np.array([columns, rows], np.float32)
    low = np.floor(position)
    part = (position - low).astype(np.float64)
    flat = image.reshape(rows * columns, -1).astype(np.float64)
    result = np.zeros((len(uv), flat.shape[1]))
    weights = []
    for across in (0, 1):
        for down in (0, 1):
            column = np.clip(low[:, 0] + across, 0, columns - 1).astype(np.int64)
            row = np.clip(low[:, 1] + down, 0, rows - 1).astype(np.int64)
            weight = np.abs(1 - across - part[:, 0]) * np.abs(1 - down - part[:, 1])
            weights.append((row * columns + column, weight))
            result += weight[:, None] * flat[row * columns + column]
    return result, weights


UV = np.concatenate(
    [
        rng.uniform(-0.3, 1.3, (301, 2)),
        [(0, 0), (1, 1), (0.5, 0.5), (1, 0), (-1e9, 3e9), (0.999999, 1e-7)],
    ]
).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (64, 3)])
def test_samples_are_bilinear(tensors: ModuleType, shape: tuple[int, int]) -> None:
    image = floats(*shape)
    got = tensors.plain_sample(tensor(image), tensor(UV)).to_numpy()
    np.testing.assert_allclose(got, sample(image, UV)[0][:, 0], rtol=1e-4, atol=1e-4)


def test_samples_keep_inside_whatever_is_asked(tensors: ModuleType) -> None:
    odd = np.array([(np.inf, 0.5), (-np.inf, 3e38), (1e38, -np.inf), (np.nan, 0.5)], np.float32)
    image = floats(3, 4)
    found = tensors.plain_sample(tensor(image), tensor(odd)).to_numpy()
    np.testing.assert_allclose(
        found[:3], [(image[1, 3] + image[2, 3]) / 2, image[2, 0], image[0, 3]], rtol=1e-5
    )


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (3, 0)])
def test_samples_of_nothing_are_zero(tensors: ModuleType, shape: tuple[int, int]) -> None:
    nothing = tensor(np.zeros(shape, np.float32))
    np.testing.assert_array_equal(tensors.plain_sample(nothing, tensor(UV)).to_numpy(), np.zeros(len(UV)))
    position = tensor(UV).with_grads()
    tensors.plain_sample.backward(nothing, position)
    np.testing.assert_array_equal(array(position.grad), np.zeros(UV.shape))


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (64, 3)])
def test_gradients_of_samples(tensors: ModuleType, shape: tuple[int, int]) -> None:
    image = floats(*shape)
    uv = UV[np.abs(UV).max(axis=1) < 2]
    x, at = tensor(image).with_grads(), tensor(uv).with_grads()
    scale = kf.differentiable(2.0)
    y = tensors.sampled(x, at, 2.0)
    tensors.sampled.backward(x, at, scale, y)
    values, weights = sample(image, uv)
    wanted = np.zeros(image.size)
    for texel, weight in weights:
        np.add.at(wanted, texel, 2 * weight)
    np.testing.assert_allclose(array(x.grad).ravel(), wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(scale.grad, values.sum(), rtol=1e-3, atol=1e-3)
    # Along u and v: how a sample changes between the texels, which is not at all beyond the edge.
    flat = image.astype(np.float64).ravel()
    rows, columns = shape
    position = uv * np.array([columns, rows], np.float32)
    part = (position - np.floor(position)).astype(np.float64)
    (a, b, c, d) = (flat[weights[k][0]] for k in (0, 2, 1, 3))
    along_u = ((b - a) * (1 - part[:, 1]) + (d - c) * part[:, 1]) * columns
    along_v = ((c - a) * (1 - part[:, 0]) + (d - b) * part[:, 0]) * rows
    np.testing.assert_allclose(array(at.grad), 2 * np.stack([along_u, along_v], 1), rtol=1e-3, atol=1e-2)
    of_plain = tensor(uv).with_grads()
    tensors.plain_sample.backward(tensor(image), of_plain)
    np.testing.assert_allclose(2 * array(of_plain.grad), array(at.grad), rtol=1e-3, atol=1e-2)


def test_gradients_of_samples_of_vectors(tensors: ModuleType) -> None:
    image = rng.uniform(-1, 1, (6, 5, 3))
    x = tensor(image).with_grads()
    y = tensors.sampled3(x, tensor(UV))
    values, weights = sample(image, UV)
    np.testing.assert_allclose(y.to_numpy(), values, rtol=1e-5, atol=1e-5)
    flowing = rng.uniform(-1, 1, values.shape)
    tensors.sampled3.backward(x, tensor(UV), y.with_grads(grad_in=tensor(flowing)))
    wanted = np.zeros((30, 3))
    for texel, weight in weights:
        np.add.at(wanted, texel, weight[:, None] * flowing)
    np.testing.assert_allclose(array(x.grad).reshape(30, 3), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 300])
def test_custom_derivatives_reach_the_gradients(tensors: ModuleType, count: int) -> None:
    values, flowing = floats(count), floats(count)
    x, y, at = tensor(values).with_grads(), poisoned((count,)), tensor(indices(count))
    tensors.tripled(at, x, y)
    np.testing.assert_allclose(y.to_numpy(), 3 * values, rtol=1e-6)
    tensors.tripled.backward(at, x, y)
    np.testing.assert_array_equal(array(x.grad), 3)
    tensors.tripled.backward(at, x, y.with_grads(grad_in=tensor(flowing)))
    np.testing.assert_allclose(array(x.grad), 3 + 3 * flowing, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (11, 6), (257, 33), (0, 4)])
def test_gradients_are_overwritten(tensors: ModuleType, shape: tuple[int, int]) -> None:
    rows, weights = floats(*shape), floats(shape[1])
    x = tensor(weights).with_grads(grad_out=poisoned((shape[1],)))
    y = tensors.dot_dense_row(tensor(rows), x)
    np.testing.assert_allclose(y.to_numpy(), rows.astype(np.float64) @ weights, rtol=1e-4, atol=1e-4)
    for _ in range(2):
        tensors.dot_dense_row.backward(tensor(rows), x)
        wanted = rows.astype(np.float64).sum(axis=0)
        np.testing.assert_allclose(array(x.grad_out), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [2, 3])
def test_dense_halves_are_overwritten(tensors: ModuleType, rows: int) -> None:
    """Also an odd number of them."""
    values = rng.uniform(0.5, 1, (rows, 7, 3)).astype(np.float16)
    at = np.minimum(np.arange(300), 6).astype(np.int32)
    x = tensor(values).with_grads(grad_out=poisoned((rows, 7, 3), np.float16))
    tensors.dense_halves.backward(tensor(at), x)
    wanted = np.zeros((rows, 7, 3))
    for i in at:
        v = values[i % 2, i].astype(np.float64)
        wanted[i % 2, i] += [v[1], v[0], 1]
    np.testing.assert_allclose(array(x.grad_out).astype(np.float64), wanted, rtol=1e-3)


# ---- What is refused ----


def test_an_output_is_never_broadcast(tensors: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="never broadcast"):
        tensors.reverse_row(tensor(floats(4, 3)), poisoned((1, 3)))


def test_dense_tensors_have_dense_gradients(tensors: ModuleType) -> None:
    rows, weights = floats(4, 6), floats(3)
    wide = tensor(floats(6))
    with pytest.raises(kf.ArgumentError, match=r"'row'.*contiguous"):
        tensors.dot_dense_row(tensor(rows)[:, ::2], tensor(weights))
    with pytest.raises(kf.ArgumentError, match=r"'weights'.*contiguous gradient"):
        tensors.dot_dense_row.backward(
            tensor(rows[:, :3].copy()), tensor(weights).with_grads(grad_out=wide[::2])
        )


def test_tensors_without_elements_are_dense(tensors: ModuleType) -> None:
    weights = tensor(floats(0)).with_grads()
    rows = tensor(floats(4, 6))[:, :0].with_grads()
    found = tensors.dot_dense_row(rows, weights)
    np.testing.assert_array_equal(array(found), np.zeros(4, np.float32))
    tensors.dot_dense_row.backward(rows, weights)


def test_outputs_share_no_memory(tensors: ModuleType) -> None:
    rows = tensor(floats(4, 3))
    with pytest.raises(kf.ArgumentError, match="shares memory"):
        tensors.reverse_row(rows, rows)
    with pytest.raises(kf.ArgumentError, match="share memory"):
        tensors.double_row(tensor(np.zeros((2, 4, 1), np.int32)).broadcast_to((2, 4, 3)))
    with pytest.raises(kf.ArgumentError, match="never broadcast"):
        tensors.double_row(tensor(np.zeros((1, 1, 3), np.int32)).broadcast_to((2, 4, 3)))


def test_ranks_types_and_elements_are_checked(tensors: ModuleType) -> None:
    idx = tensor(indices(2))
    with pytest.raises(kf.ArgumentError, match=r"reversed.*float tensor\[2\]"):
        tensors.reverse_row(tensor(floats(4, 3)), poisoned((3,)))
    with pytest.raises(kf.ArgumentError, match="'x'"):
        tensors.polynomial(idx, 1.0, 1.0, 1.0, tensor(np.zeros(4)), poisoned((4,)))
    with pytest.raises(kf.ArgumentError, match="dimension 2"):
        tensors.pick(tensor(floats(4, 4, 4)), tensor(np.zeros((1, 2), np.int32)))
    with pytest.raises(kf.ArgumentError, match="without gaps"):
        tensors.array_at(tensor(floats(4, 6))[:, ::2], idx)
    with pytest.raises(kf.ArgumentError, match="not given"):
        tensors.polynomial(idx, 1.0, 1.0, 1.0, poisoned((4,)))


# ---- In structs ----


@pytest.mark.parametrize("size", [1, 31, 33])
@pytest.mark.parametrize("deterministic", [False, True])
def test_structs_that_hold_tensors(tensors: ModuleType, size: int, deterministic: bool) -> None:
    weights, bias, x, flow = floats(size, 5), floats(size), floats(5), floats(size)
    wide = [one.astype(np.float64) for one in (weights, bias, x, flow)]
    result = tensor(flow).with_grads(grad_in=tensor(flow))

    def given() -> list[kf.Tensor]:
        return [tensor(one).with_grads() for one in (weights, bias, x)]

    w, b, v = given()
    layer = {"weights": w, "bias": b}
    y = tensors.layer_row(kf.grid((size,)), layer, v)
    np.testing.assert_allclose(y.to_numpy(), wide[0] @ wide[2] + wide[1], rtol=1e-5, atol=1e-5)
    function = tensors.layer_row.options(deterministic=deterministic)
    function.backward(kf.grid((size,)), layer, v, result)
    np.testing.assert_allclose(array(w.grad), np.outer(wide[3], wide[2]), rtol=1e-5)
    np.testing.assert_allclose(array(b.grad), wide[3], rtol=1e-6)
    np.testing.assert_allclose(array(v.grad), wide[3] @ wide[0], rtol=1e-4, atol=1e-5)
    w, b, v = given()
    tensors.layer_weights.backward(kf.grid((size,)), {"weights": w, "bias": b}, v, result)
    np.testing.assert_allclose(array(w.grad), np.outer(wide[3], wide[2]), rtol=1e-5)
    np.testing.assert_array_equal(array(b.grad), np.zeros(size))
    np.testing.assert_array_equal(array(v.grad), np.zeros(5))
    w, b, v = given()
    scale = kf.differentiable(3.0)
    scaled = {"layer": {"weights": w, "bias": b}, "scale": scale}
    tensors.scaled_row.backward(kf.grid((size,)), scaled, v, result)
    np.testing.assert_allclose(array(w.grad), 3 * np.outer(wide[3], wide[2]), rtol=1e-5)
    np.testing.assert_allclose(array(b.grad), 3 * wide[3], rtol=1e-6)
    wanted = wide[3] @ (wide[0] @ wide[2] + wide[1])
    np.testing.assert_allclose(scale.grad, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["general_row", "row_times", "frozen_row"])
def test_tensors_of_open_types_and_no_diff(tensors: ModuleType, name: str) -> None:
    weights, bias, x, flow = floats(31, 5), floats(31), floats(5), floats(31)
    wide = [3.0 * one.astype(np.float64) for one in (weights, bias, flow)]
    w, b, v = (tensor(one).with_grads() for one in (weights, bias, x))
    layer, grid, result = (
        {"weights": w, "bias": b},
        kf.grid((31,)),
        tensor(flow).with_grads(grad_in=tensor(flow)),
    )
    frozen = name == "frozen_row"
    if name == "row_times":
        tensors.Layer(**layer).row_times.backward(grid, v, 3.0, result)
    else:
        getattr(tensors, name).backward(grid, layer, v, result)
    times = 1 / 3 if frozen else 1.0
    np.testing.assert_allclose(array(b.grad), times * wide[2], rtol=1e-5)
    np.testing.assert_allclose(array(w.grad), 0 if frozen else np.outer(wide[2], x), rtol=1e-5)
    np.testing.assert_allclose(
        array(v.grad), 0 if frozen else wide[2] @ weights.astype(np.float64), rtol=1e-4, atol=1e-5
    )
