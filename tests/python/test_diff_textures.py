"""Textures with gradients: tensors that are read as textures are, and what flows back to them."""

from types import ModuleType
from typing import NamedTuple

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from arrays import array, tensor
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

rng = np.random.default_rng(19)
SHAPES = [(1, 1), (1, 7), (33, 1), (7, 33), (33, 7)]

Floats = npt.NDArray[np.floating]


@pytest.fixture(scope="module")
def tensors(generated: Loader) -> ModuleType:
    return generated("tensors")


def some(*shape: int) -> npt.NDArray[np.float32]:
    return rng.uniform(-1, 1, shape).astype(np.float32)


def positions(shape: tuple[int, int], count: int = 300) -> npt.NDArray[np.float32]:
    """Positions in and around a texture, none so near to a texel's centre that it may be on either side."""
    uv = rng.uniform(-2.5, 3.5, (4 * count, 2)).astype(np.float32)
    part = (uv.astype(np.float64) * shape[::-1] - 0.5) % 1
    return uv[((part > 0.01) & (part < 0.99)).all(axis=1)][:count]


class Reference(NamedTuple):
    values: Floats
    weights: list[tuple[npt.NDArray[np.integer], Floats]]  # texel (flat) and its share
    slopes: tuple[Floats, Floats]  # along u and v


def texels_of(u: Floats, extent: int, repeats: bool) -> tuple[list[npt.NDArray[np.integer]], Floats]:
    position = ((u - np.floor(u)) if repeats else u) * extent - 0.5
    first = np.floor(position).astype(np.int64)
    pair = [first, first + 1]
    if repeats:
        return [one % extent for one in pair], position - first
    return [one.clip(0, extent - 1) for one in pair], position - first


def lookup(image: Floats, uv: npt.NDArray[np.float32], repeats: tuple[bool, bool]) -> Reference:
    """Bilinear samples in float64."""
    rows, columns = image.shape[:2]
    flat = image.reshape(rows * columns, -1).astype(np.float64)
    across, right = texels_of(uv[:, 0].astype(np.float64), columns, repeats[0])
    down, below = texels_of(uv[:, 1].astype(np.float64), rows, repeats[1])
    texels = [down[i >> 1] * columns + across[i & 1] for i in range(4)]
    shares = [np.abs(1 - (i & 1) - right) * np.abs(1 - (i >> 1) - below) for i in range(4)]
    a, b, c, d = (flat[texel] for texel in texels)
    right, below = right[:, None], below[:, None]
    return Reference(
        sum(share[:, None] * flat[texel] for texel, share in zip(texels, shares, strict=True)),
        list(zip(texels, shares, strict=True)),
        (
            columns * ((b - a) * (1 - below) + (d - c) * below),
            rows * ((c - a) * (1 - right) + (d - b) * right),
        ),
    )


def gathered(reference: Reference, flow: Floats, texels: int) -> Floats:
    """What flows to each texel."""
    gradient = np.zeros((texels, flow.shape[1]))
    for texel, share in reference.weights:
        np.add.at(gradient, texel, share[:, None] * flow)
    return gradient


@pytest.mark.parametrize("shape", SHAPES)
def test_clamped(tensors: ModuleType, shape: tuple[int, int]) -> None:
    image, uv = some(*shape, 4), positions(shape)
    wanted = lookup(image, uv, (False, False))
    x, at = tensor(image).with_grads(), tensor(uv).with_grads()
    y = tensors.clamped_texture(at, x)
    np.testing.assert_allclose(y.to_numpy(), wanted.values, rtol=1e-4, atol=1e-4)
    flow = some(len(uv), 4)
    for times in (1, 2):  # gradients are added to what is there
        tensors.clamped_texture.backward(at, x, y.with_grads(grad_in=tensor(flow)))
        texels = gathered(wanted, flow.astype(np.float64), image.size // 4)
        np.testing.assert_allclose(array(x.grad).reshape(-1, 4), times * texels, rtol=1e-4, atol=1e-3)
        along = [(slope * flow).sum(axis=1) for slope in wanted.slopes]
        np.testing.assert_allclose(array(at.grad), times * np.stack(along, 1), rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("shape", SHAPES)
def test_repeated(tensors: ModuleType, shape: tuple[int, int]) -> None:
    image, uv = some(*shape), positions(shape)
    wanted = lookup(image, uv, (True, True))
    x, at, scale = tensor(image).with_grads(), tensor(uv).with_grads(), kf.differentiable(2.0)
    y = tensors.repeated_texture(at, x, 2.0)
    np.testing.assert_allclose(y.to_numpy(), 2 * wanted.values[:, 0], rtol=1e-4, atol=1e-4)
    flow = some(len(uv))
    tensors.repeated_texture.backward(at, x, scale, y.with_grads(grad_in=tensor(flow)))
    texels = gathered(wanted, 2 * flow[:, None].astype(np.float64), image.size)
    np.testing.assert_allclose(array(x.grad).ravel(), texels[:, 0], rtol=1e-4, atol=1e-3)
    along = [2 * slope[:, 0] * flow for slope in wanted.slopes]
    np.testing.assert_allclose(array(at.grad), np.stack(along, 1), rtol=1e-3, atol=1e-2)
    assert scale.grad == pytest.approx((wanted.values[:, 0] * flow).sum(), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_repeated_along_one_side(
    tensors: ModuleType, shape: tuple[int, int], dtype: type[np.floating]
) -> None:
    half = dtype == np.float16
    channels = (3,) if half else ()
    image, uv = some(*shape, *channels).astype(dtype), positions(shape)
    wanted = lookup(image, uv, (True, False))
    function = tensors.panorama if half else tensors.double_panorama
    x, at = tensor(image).with_grads(), tensor(uv).with_grads()
    y = function(at, x)
    tolerance = 2e-3 if half else 1e-5
    np.testing.assert_allclose(
        y.to_numpy().reshape(len(uv), -1), wanted.values, rtol=tolerance, atol=tolerance
    )
    flow = rng.uniform(-1, 1, (len(uv), *channels)).astype(dtype)
    function.backward(at, x, y.with_grads(grad_in=tensor(flow)))
    flow = flow.reshape(len(uv), -1).astype(np.float64)
    texels = gathered(wanted, flow, shape[0] * shape[1])
    # What one sample adds is rounded, and so is the sum.
    np.testing.assert_allclose(
        array(x.grad).reshape(texels.shape), texels, rtol=tolerance, atol=20 * tolerance
    )
    along = [(slope * flow).sum(axis=1) for slope in wanted.slopes]
    np.testing.assert_allclose(array(at.grad), np.stack(along, 1), rtol=1e-3, atol=1e-2)


def test_centres_and_edges(tensors: ModuleType) -> None:
    image = some(7, 33)
    rows, columns = np.mgrid[:7, :33]
    centres = np.stack([(columns + 0.5) / 33, (rows + 0.5) / 7], -1).reshape(-1, 2).astype(np.float32)
    for away in (0, 1, -3):
        got = tensors.repeated_texture(tensor(centres + np.float32(away)), tensor(image), 1.0).to_numpy()
        np.testing.assert_allclose(got, image.ravel(), rtol=1e-3, atol=1e-4)
    four = np.repeat(image[..., None], 4, -1)
    at = np.array([(0, 0), (1, 0), (0, 1), (1, 1), (-1e30, 3e38), (np.inf, -np.inf)], np.float32)
    got = tensors.clamped_texture(tensor(at), tensor(four)).to_numpy()[:, 0]
    corner = image[0, 0], image[0, -1], image[-1, 0], image[-1, -1], image[-1, 0], image[0, -1]
    np.testing.assert_allclose(got, corner, rtol=1e-6)
    # Between the last texel and the first.
    corners = np.array([(0, 0), (1, 1), (-1e-9, 2)], np.float32)
    got = tensors.repeated_texture(tensor(corners), tensor(image), 1.0).to_numpy()
    mean = image[[0, 0, -1, -1], [0, -1, 0, -1]].mean()
    np.testing.assert_allclose(got, [mean] * 3, rtol=1e-5, atol=1e-5)


def test_reads_stay_inside_whatever_is_asked(tensors: ModuleType) -> None:
    odd = np.array([(np.nan, 0.5), (0.5, np.nan), (np.inf, -np.inf), (3e38, -3e38)], np.float32)
    image = tensor(some(7, 33)).with_grads()
    tensors.repeated_texture(tensor(odd), image, 1.0).to_numpy()
    tensors.repeated_texture.backward(tensor(odd), image, 1.0)
    tensors.clamped_texture(tensor(odd), tensor(some(7, 33, 4))).to_numpy()


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (3, 0)])
def test_nothing_reads_as_zero(tensors: ModuleType, shape: tuple[int, int]) -> None:
    nothing, at = tensor(np.zeros(shape, np.float32)), tensor(positions((4, 4))).with_grads()
    assert not tensors.repeated_texture(at, nothing, 1.0).to_numpy().any()
    tensors.repeated_texture.backward(at, nothing, 1.0)
    assert not array(at.grad).any()
    corner = tensor(np.zeros((1, 2), np.int32))
    assert not tensors.texel(corner, tensor(np.zeros((*shape, 2), np.float32))).to_numpy().any()


def test_texels_are_read(tensors: ModuleType) -> None:
    image = some(7, 33, 2)
    at = rng.integers(-3, 40, (500, 2)).astype(np.int32)
    at[0], at[1] = (-1, 2**31 - 1), (-(2**31), 0)
    inside = np.asarray(((at >= 0) & (at < (33, 7))).all(axis=1))
    wanted = np.where(inside[:, None], 6 * image[at[:, 1].clip(0, 6), at[:, 0].clip(0, 32)], 0)
    x = tensor(image).with_grads()
    y = tensors.texel(tensor(at), x)
    np.testing.assert_allclose(y.to_numpy(), wanted, rtol=1e-6)
    tensors.texel.backward(tensor(at), x)
    gradient = np.zeros((7, 33, 2))
    np.add.at(gradient, (at[inside, 1], at[inside, 0]), 6)
    np.testing.assert_array_equal(array(x.grad), gradient)
    assert tensors.size_of_texture(x).tolist() == [33, 7]


def test_views_of_tensors(tensors: ModuleType) -> None:
    whole = some(20, 40, 4)
    view, values = tensor(whole)[3:17:2, 35:2:-1], whole[3:17:2, 35:2:-1]
    uv = positions((7, 33))
    wanted = lookup(values, uv, (False, False))
    got = tensors.clamped_texture(tensor(uv), view).to_numpy()
    np.testing.assert_allclose(got, wanted.values, rtol=1e-4, atol=1e-4)
    # Its gradient, too, and what lies between and around stays as it is.
    room = tensor(np.full((20, 40, 4), 77, np.float32))
    part = room[3:17:2, 35:2:-1]
    part.copy_from_numpy(np.zeros((7, 33, 4), np.float32))
    tensors.clamped_texture.backward(tensor(uv), view.with_grads(grad_out=part))
    texels = gathered(wanted, np.ones((len(uv), 4)), 7 * 33).reshape(7, 33, 4)
    expected = np.full((20, 40, 4), 77, np.float64)
    expected[3:17:2, 35:2:-1] = texels
    np.testing.assert_allclose(room.to_numpy(), expected, rtol=1e-4, atol=1e-3)


def test_forward_derivatives(tensors: ModuleType) -> None:
    image, uv, along_image, along_uv = some(7, 33, 4), positions((7, 33)), some(7, 33, 4), some(300, 2)
    along_uv = along_uv[: len(uv)]
    wanted, moved = lookup(image, uv, (False, False)), lookup(along_image, uv, (False, False))
    y, dy = tensors.clamped_texture.jvp(
        tensor(uv), tensor(image), tangents={"uv": tensor(along_uv), "image": tensor(along_image)}
    )
    np.testing.assert_allclose(y.to_numpy(), wanted.values, rtol=1e-4, atol=1e-4)
    tangent = moved.values + sum(slope * along_uv[:, [i]] for i, slope in enumerate(wanted.slopes))
    np.testing.assert_allclose(dy.to_numpy(), tangent, rtol=1e-3, atol=1e-2)
    # Of the positions alone: the texture stays.
    _, dy = tensors.clamped_texture.jvp(tensor(uv), tensor(image), tangents={"uv": tensor(along_uv)})
    np.testing.assert_allclose(dy.to_numpy(), tangent - moved.values, rtol=1e-3, atol=1e-2)


def test_deterministic_sums(tensors: ModuleType) -> None:
    image, uv = some(7, 33, 4), positions((7, 33))
    flow, wanted = some(len(uv), 4), lookup(image, uv, (False, False))
    found = []
    for order in (slice(None), slice(None, None, -1)):
        x, at = tensor(image).with_grads(), tensor(uv[order])
        y = tensors.clamped_texture(at, x).with_grads(grad_in=tensor(flow[order]))
        tensors.clamped_texture.options(deterministic=True).backward(at, x, y)
        found.append(array(x.grad))
    np.testing.assert_array_equal(found[0], found[1])
    texels = gathered(wanted, flow.astype(np.float64), 7 * 33)
    np.testing.assert_allclose(found[0].reshape(-1, 4), texels, rtol=1e-4, atol=1e-3)


def test_textures_in_structs_arrays_and_batches(tensors: ModuleType) -> None:
    colors, masks = some(5, 7, 33, 3), some(2, 33, 7)
    uv = positions((7, 33), 5)
    wanted = [lookup(image, one, (False, False)) for image, one in zip(colors, uv[:, None], strict=True)]
    weights = [lookup(mask, uv, (False, False)).values for mask in masks]
    factor = 3 * (weights[0] + weights[1])
    x = tensor(colors).with_grads()
    paint = {"color": x, "strength": 3.0}
    given = [tensor(mask) for mask in masks]
    values = np.concatenate([one.values for one in wanted])
    y = tensors.painted(tensor(uv), paint, given)
    np.testing.assert_allclose(y.to_numpy(), factor * values, rtol=1e-4, atol=1e-4)
    tensors.painted.backward(tensor(uv), paint, given, y)
    texels = [
        gathered(one, np.repeat(share[None, None], 3, 1).reshape(1, 3), 7 * 33)
        for one, share in zip(wanted, factor[:, 0], strict=True)
    ]
    np.testing.assert_allclose(array(x.grad), np.stack(texels).reshape(colors.shape), rtol=1e-4, atol=1e-4)


def test_what_is_refused(tensors: ModuleType) -> None:
    at = tensor(positions((4, 4)))
    with pytest.raises(kf.ArgumentError, match="image"):
        tensors.clamped_texture(at, tensor(some(4, 4, 3)))
    with pytest.raises(kf.ArgumentError, match="image"):
        tensors.clamped_texture(at, tensor(some(4, 4)))
