"""What kernels do with textures: stores, samples out of arrays, globals, tiles of pixels."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

pytestmark = pytest.mark.usefixtures("device")

EXTENTS = [(1, 1), (7, 33), (33, 7), (257, 17)]
RNG = np.random.default_rng(19)
#: How far a store may be off, of a fraction of 1: Vulkan allows both levels beside a value, Direct3D 0.6 of
#: one, and NVIDIA's GPUs take 39 for 39.54.
LEVELS = 0.6

Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def textures(generated: Loader) -> ModuleType:
    return generated("textures")


def texels(*shape: int) -> Array:
    return RNG.random(shape).astype(np.float32)


def unorm8(values: Array) -> Array:
    return np.round(values.astype(np.float64) * 255)


@pytest.mark.parametrize("extents", EXTENTS)
def test_seeds_fill_by_function_and_by_kernel(textures: ModuleType, extents: tuple[int, int]) -> None:
    by_function = kf.Texture.empty(extents, "rgba32f")
    by_kernel = kf.Texture.empty(extents, "rgba32f")
    textures.fill(kf.grid(extents), (0.25, 0.5, 1), by_function)
    height, width = extents
    textures.paint.set(out=by_kernel, color=(0.25, 0.5, 1)).threads(width, height)()
    expected = np.broadcast_to(np.array([0.25, 0.5, 1, 1], np.float32), (*extents, 4))
    np.testing.assert_array_equal(by_function.to_numpy(), expected)
    np.testing.assert_array_equal(by_kernel.to_numpy(), expected)


def test_a_part_of_a_texture_is_filled(textures: ModuleType) -> None:
    target = kf.Texture.from_numpy(texels(9, 40, 4), "rgba32f", writable=True)
    before = target.to_numpy()
    textures.fill(kf.grid((5, 20), offset=(2, 3)), (1, 2, 3), target)
    before[2:7, 3:23] = [1, 2, 3, 1]
    np.testing.assert_array_equal(target.to_numpy(), before)


def test_what_is_beyond_a_texture_is_dropped(textures: ModuleType) -> None:
    target = kf.Texture.empty((4, 5), "rgba32f")
    textures.fill(kf.grid((8, 30), offset=(-2, -3)), (1, 1, 1), target)
    np.testing.assert_array_equal(target.to_numpy(), np.ones((4, 5, 4), np.float32))


def fetched(image: Array, uv: Array, mode: str) -> Array:
    height, width = image.shape[:2]
    at = np.floor(uv * [width, height]).astype(int)
    at = at % [width, height] if mode == "repeat" else np.clip(at, 0, [width - 1, height - 1])
    result: Array = image[at[:, 1], at[:, 0]]
    return result


def test_a_sample_without_a_level_is_one_of_the_first(textures: ModuleType) -> None:
    image = texels(7, 33, 4)
    uv = texels(100, 2) * 2
    given = kf.Texture.from_numpy(image, "rgba32f", mips=2)
    sampler = kf.Sampler(filter="nearest", address="repeat")
    np.testing.assert_array_equal(textures.plain(given, sampler, uv).to_numpy(), fetched(image, uv, "repeat"))


def test_indices_pick_textures_and_samplers(textures: ModuleType) -> None:
    images = [texels(7, 33), texels(5, 12)]
    modes = ["repeat", "clamp"]
    uv = texels(300, 2) * 2
    which = RNG.integers(0, 2, (300, 2)).astype(np.int32)
    given = {
        "maps": [kf.Texture.from_numpy(image, "r32f") for image in images],
        "samplers": [kf.Sampler("nearest", "repeat"), kf.Sampler("nearest", "clamp")],
        "gain": 3,
    }
    expected = [
        3 * fetched(images[image], uv[i : i + 1], modes[sampler])[0]
        for i, (image, sampler) in enumerate(which)
    ]
    np.testing.assert_allclose(textures.sampled(given, uv, which).to_numpy(), expected, rtol=1e-6)


def test_indices_pick_what_is_written(textures: ModuleType) -> None:
    before = [texels(7, 33, 4).astype(np.float16) for _ in range(2)]
    layers = [kf.Texture.from_numpy(image, "rgba16f", writable=True) for image in before]
    places = RNG.permutation(7 * 33)[:100]
    at = np.stack([places % 33, places // 33], 1).astype(np.int32)
    which = RNG.integers(0, 2, 100).astype(np.int32)
    values = texels(100, 3)
    textures.store(layers, which, at, values)
    for layer, (x, y), value in zip(which, at, values, strict=True):
        before[layer][y, x] = [*value, 1]
    for layer, expected in zip(layers, before, strict=True):
        np.testing.assert_allclose(layer.to_numpy(), expected, atol=1e-3)


def test_globals_are_read_and_written(textures: ModuleType) -> None:
    extents = (7, 33)
    images = [texels(*extents, 4) for _ in range(2)]
    depth = texels(*extents)
    target = kf.Texture.empty(extents, "rgba8")
    flow = kf.Texture.empty(extents, "rg16f")
    configured = textures.draw.set(
        target=target,
        sources=[kf.Texture.from_numpy(image, "rgba32f") for image in images],
        scene={"depth": kf.Texture.from_numpy(depth, "r32f"), "flow": flow, "scale": 0.5},
    )
    configured(kf.grid(extents))
    odd = (np.arange(33) % 2 == 1)[None, :, None]
    np.testing.assert_allclose(target.to_numpy(), unorm8(np.where(odd, images[1], images[0]) * 0.5), atol=1)
    np.testing.assert_allclose(flow.to_numpy(), np.stack([depth, -depth], -1), atol=1e-3)
    with pytest.raises(kf.ArgumentError, match="rgba8"):
        configured.set(target=kf.Texture.empty(extents, "rgba32f"))(kf.grid(extents))


@pytest.mark.parametrize("extents", EXTENTS)
def test_results_go_into_textures(textures: ModuleType, extents: tuple[int, int]) -> None:
    image = texels(*extents, 4)
    given = kf.Texture.from_numpy(image, "rgba32f")
    target = kf.Texture.empty(extents, "rgba8")
    textures.tone(given, 0.5, out=target)
    np.testing.assert_allclose(target.to_numpy(), unorm8(image * 0.5), atol=1)
    gains = texels(*extents)
    made = textures.tone(given, gains)
    assert (made.format, tuple(made.shape)) == ("rgba8", extents)
    np.testing.assert_allclose(made.to_numpy(), unorm8(image * gains[..., None]), atol=1)


def test_layers_are_read_written_and_changed(textures: ModuleType) -> None:
    image = texels(3, 7, 33, 4)
    changed = texels(3, 7, 33)
    y = kf.Texture.empty((7, 33), "rg16f", layers=3)
    z = kf.Texture.from_numpy(changed, "r32f", writable=True, kind="2d_array")
    textures.split(kf.Texture.from_numpy(image, "rgba32f", kind="2d_array"), y, z)
    np.testing.assert_allclose(y.to_numpy(), image[..., :2], atol=1e-3)
    np.testing.assert_array_equal(z.to_numpy(), changed + image[..., 2])


def test_integers_of_three_components(textures: ModuleType) -> None:
    image = RNG.integers(-(2**31), 2**31, (5, 7, 33, 4)).astype(np.int32)
    given = kf.Texture.from_numpy(image, "rgba32i", kind="3d")
    np.testing.assert_array_equal(textures.flipped(given).to_numpy(), image[..., 2::-1])


def test_a_texture_beside_what_is_differentiated(textures: ModuleType) -> None:
    image = texels(7, 33, 4)
    given = kf.Texture.from_numpy(image, "rgba32f")
    light = kf.Tensor.from_numpy(texels(7, 33)).with_grads()
    lit = textures.lit(given, light)
    np.testing.assert_allclose(lit.to_numpy(), image[..., :3].sum(-1) * light.to_numpy(), rtol=1e-5)
    textures.lit.backward(given, light, lit)
    assert light.grad is not None
    np.testing.assert_allclose(light.grad.to_numpy(), image[..., :3].sum(-1), rtol=1e-5)


@pytest.mark.parametrize("kind", ["cube", "cube_array"])
@pytest.mark.parametrize("size", [1, 7])
def test_faces_feed_calls_as_layers(textures: ModuleType, kind: str, size: int) -> None:
    """Of a cube, and of several: [faces, y, x], the first mip of the view."""
    faces = 6 if kind == "cube" else 12
    image = texels(faces, 2 * size, 2 * size, 4)
    given = kf.Texture.from_numpy(image, "rgba32f", kind=kind, mips=2)
    given.generate_mips()
    for view in (given, given.mip(1)):
        seen = view.to_numpy()
        gain = texels(faces, 1, 1)
        found = textures.tone_faces(view, gain)
        assert found.shape == view.shape and found.kind == "2d_array"
        np.testing.assert_allclose(found.to_numpy(), 255.0 * seen * gain[..., None], rtol=0, atol=LEVELS)
    into = kf.Texture.empty((2 * size, 2 * size), "rgba8", kind=kind, layers=faces)
    textures.tone_faces(given, np.ones((1, 1, 1), np.float32), out=into.layer_range(0, faces))
    np.testing.assert_allclose(into.to_numpy(), 255.0 * image, rtol=0, atol=LEVELS)


def test_faces_are_written_and_changed_in_place(textures: ModuleType) -> None:
    image = texels(6, 5, 5, 4)
    x = kf.Texture.from_numpy(image, "rgba32f", kind="cube")
    z = kf.Texture.from_numpy(texels(6, 5, 5), "r32f", kind="cube", writable=True)
    before = z.to_numpy()
    y, _ = textures.split_faces(x, z=z)
    assert y.kind == "cube" and y.format == "rg16f"
    np.testing.assert_allclose(y.to_numpy(), image[..., :2], atol=1e-3)
    np.testing.assert_array_equal(z.to_numpy(), before + image[..., 2])
    given = kf.Texture.empty((5, 5), "rg16f", kind="cube_array", layers=12).cube(1)
    assert textures.split_faces(x, y=given, z=z)[0] is given
    np.testing.assert_array_equal(given.to_numpy(), y.to_numpy())
    with pytest.raises(kf.ArgumentError, match="expected float3 texturecube, found a 2D array"):
        textures.split_faces(x.layer_range(0, 6), z=z)
    with pytest.raises(kf.ArgumentError, match=r"'z'.* shape"):
        textures.split_faces(x, z=kf.Texture.empty((4, 4), "r32f", kind="cube"))
