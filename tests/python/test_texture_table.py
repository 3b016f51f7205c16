"""Textures of every kind and format in calls: read, sampled, written, read and written, texel by texel."""

from collections.abc import Callable, Iterator
from itertools import product
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader
from texels import EXTENTS, FLOATS, FORMATS, WRITTEN, Array, Format, Kind, mip, most_mips, sampled

pytestmark = pytest.mark.usefixtures("device")

#: The parameters a to e, and f and g, of the functions.
FLAT = [Kind(name) for name in ("1d", "2d", "3d", "1d_array", "2d_array")]
CUBES = [Kind("cube"), Kind("cube_array")]
FAR = 2**30
POISON = 77


@pytest.fixture(scope="module")
def table(generated: Loader) -> ModuleType:
    return generated("texture_table")


class Given:
    """A texture, and the texels of all its mips, which must stay equal to it."""

    def __init__(
        self, kind: Kind, extents: tuple[int, ...], format: Format, *, mips: int = 1, writable: bool = False
    ) -> None:
        self.kind, self.format, self.extents = kind, format, extents
        layers = kind.layers if kind.is_array else None
        self.texture = kf.Texture.empty(
            extents, format.name, mips=mips, layers=layers, writable=writable, kind=kind.name
        )
        self.levels = []
        for i in range(mips):
            self.levels.append(format.texels(kind.texel_extents(mip(extents, i)), 3 * i + kind.dimensions))
            self.texture.mip(i).copy_from_numpy(self.levels[-1])

    def check(self) -> None:
        for i, level in enumerate(self.levels):
            np.testing.assert_array_equal(self.texture.mip(i).to_numpy(), level)

    def index(self, at: Array, level: int) -> tuple[Array, tuple[Array, ...]]:
        """Which places (x, y, z, or z for the layer) lie in a mip, and the indices of these."""
        x, y, z = at.T
        numbers = [z, y, x][3 - self.kind.dimensions :]
        if self.kind.is_array:
            numbers = [z, *numbers[-self.kind.dimensions :]]
        if level >= len(self.levels):
            return np.zeros(len(at), bool), ()
        extents = self.kind.texel_extents(mip(self.extents, level))
        inside = np.ones(len(at), bool)
        for number, extent in zip(numbers, extents, strict=True):
            inside &= (number >= 0) & (number < extent)
        return inside, tuple(number[inside] for number in numbers)


def flat(size: int, format: Format, *, mips: int = 1, writable: bool = False) -> list[Given]:
    made = []
    for kind in FLAT:
        extents = kind.extents(size)
        levels = min(mips, most_mips(extents))
        made.append(Given(kind, extents, format, mips=levels, writable=writable))
    return made


def places(size: int) -> Array:
    """All texels of the largest texture, and what lies around and far from them."""
    near = [[-1, *range(size), size], range(-1, 6), range(-1, 4)]
    far = [(FAR, 0, 0), (-FAR, 0, 0), (0, FAR, 0), (0, -FAR, 0), (0, 0, FAR), (0, 0, -FAR)]
    return np.array([*product(*near), *far], np.int32)


def check_components(found: Array, expected: Array, format: Format, inside: Array) -> None:
    """Places outside are zeros; components that the format hasn't may be what they are inside there."""
    tolerance: float = format.tolerance
    np.testing.assert_allclose(found[inside], expected[inside], rtol=0, atol=tolerance)
    outside = found[~inside]
    assert not outside[:, : format.components].any()
    assert np.isin(outside, [0, 1]).all()


@pytest.mark.parametrize("size", EXTENTS)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_loads(table: ModuleType, format: Format, size: int) -> None:
    given = flat(size, format, mips=2)
    at = places(size)
    load = getattr(table, f"load_{format.shader}")
    for level in (0, 1, 2):
        found = load(*(one.texture for one in given), kf.Tensor.from_numpy(at), level)
        for one, values in zip(given, found, strict=True):
            inside, index = one.index(at, level)
            expected = np.zeros((len(at), 4))
            if inside.any():
                expected[inside] = format.read(one.levels[level][index])
            check_components(values.to_numpy(), expected, format, inside)


@pytest.mark.parametrize("format", ["rgba8", "r16i", "rg32ui"])
def test_loads_of_views(table: ModuleType, format: str) -> None:
    """Kernels count a view's mips and layers from its own first ones."""
    form = Format(format)
    load = getattr(table, f"load_{form.shader}")
    given = flat(33, form, mips=4)
    at = places(33)
    for first, count in ((1, 2), (1, 1)):
        views = [one.texture.mip_range(min(first, one.texture.mips - 1), 1) for one in given]
        views = [
            one.texture.mip_range(first, count) if one.texture.mips >= first + count else view
            for one, view in zip(given, views, strict=True)
        ]
        layers = [1 if one.kind.is_array else 0 for one in given]
        views = [view.layer_range(1, 2) if layer else view for view, layer in zip(views, layers, strict=True)]
        for level in (0, 1):
            found = load(*views, kf.Tensor.from_numpy(at), level)
            for one, view, layer, values in zip(given, views, layers, found, strict=True):
                mips = [view.mip(i).to_numpy() for i in range(view.mips)]
                start = one.texture.mips - 1 if first + count > one.texture.mips else first
                for i, texels in enumerate(mips):
                    np.testing.assert_array_equal(texels, one.levels[start + i][layer:])
                part = Given.__new__(Given)
                part.kind, part.extents, part.levels = one.kind, view.shape, mips
                inside, index = part.index(at, level)
                if layer and level < view.mips:
                    beyond = at[:, 2] >= 2
                    index = tuple(number[~beyond[inside]] for number in index)
                    inside = inside & ~beyond
                expected = np.zeros((len(at), 4))
                if inside.any():
                    expected[inside] = form.read(mips[level][index])
                check_components(values.to_numpy(), expected, form, inside)


@pytest.mark.parametrize("size", EXTENTS)
def test_sizes(table: ModuleType, size: int) -> None:
    """What GetDimensions() says: x first, then layers, then mips."""
    format = Format("rgba8")
    given = flat(size, format, mips=2)
    given += [Given(kind, (size, size), format, mips=min(2, most_mips((size, size)))) for kind in CUBES]
    level = 1 if size > 1 else 0
    found = table.sizes(*(one.texture for one in given), level)
    for one, numbers in zip(given, found, strict=True):
        expected = [*reversed(mip(one.extents, level))]
        if one.kind.is_array:
            expected.append(2 if one.kind.is_cube else 3)
        assert numbers.tolist() == [*expected, one.texture.mips], one.kind


@pytest.mark.parametrize("size", EXTENTS)
@pytest.mark.parametrize("format", WRITTEN, ids=str)
def test_exchanges(table: ModuleType, format: Format, size: int) -> None:
    """Texels that are read and written at once; what lies outside is dropped."""
    given = flat(size, format, writable=True)
    at = places(size)
    exchange = getattr(table, f"exchange_{format.name}")
    values = format.values((len(at),), 9)
    found = exchange(*(one.texture for one in given), kf.Tensor.from_numpy(at), kf.Tensor.from_numpy(values))
    for one, was in zip(given, found, strict=True):
        inside, index = one.index(at, 0)
        if not one.kind.is_array and one.kind.dimensions < 3:
            used = at[:, 2] == 0
            if one.kind.dimensions == 1:
                used &= at[:, 1] == 0
        else:
            used = at[:, 1] == 0 if one.kind.dimensions == 1 else np.ones(len(at), bool)
        index = tuple(number[used[inside]] for number in index)
        inside = inside & used
        expected = np.zeros((len(at), 4))
        expected[inside] = format.read(one.levels[0][index])
        got = np.zeros((len(at), 4))
        got[:, : format.components] = was.to_numpy().reshape(len(at), -1)
        expected[:, format.components :] = 0
        check_components(got, expected, format, inside)
        one.levels[0][index] = format.written(values[inside])
        one.check()


@pytest.mark.parametrize("format", ["rgba8", "r16f", "rg32ui"])
def test_exchanges_in_views(table: ModuleType, format: str) -> None:
    """Other mips and layers than a view's stay."""
    form = Format(format)
    given = flat(33, form, mips=3, writable=True)
    exchange = getattr(table, f"exchange_{format}")
    at = np.array([*product(range(-1, 40), [0, 1, 7], [0, 1, 5])], np.int32)
    values = form.values((len(at),), 4)
    views = []
    for one in given:
        view = one.texture.mip(min(1, one.texture.mips - 1))
        views.append(view.layer_range(1, 1) if one.kind.is_array else view)
    exchange(*views, kf.Tensor.from_numpy(at), kf.Tensor.from_numpy(values))
    for one in given:
        level = min(1, one.texture.mips - 1)
        inside, index = one.index(at, level)
        used = np.ones(len(at), bool)
        if one.kind.dimensions == 1:
            used &= at[:, 1] == 0
        if one.kind.is_array or one.kind.dimensions < 3:
            used &= at[:, 2] == 0
        index = tuple(number[used[inside]] for number in index)
        if one.kind.is_array:
            index = (index[0] + 1, *index[1:])
        one.levels[level][index] = form.written(values[inside & used])
        one.check()


SAMPLERS: list[dict[str, Any]] = [
    {"filter": "linear", "address": "clamp"},
    {"filter": "nearest", "address": "clamp"},
    {"filter": "linear", "address": "repeat"},
    {"filter": "nearest", "address": "mirror"},
    {"filter": "linear", "address": "mirror"},
    {"filter": "linear", "address": "border", "border": "opaque_white"},
]


def coordinates(given: list[Given], filter: str, random: np.random.Generator) -> Array:
    """Places in and around textures, and layers; for "nearest" away from where texels meet."""
    count = 512
    at = random.uniform(-1.4, 2.4, (count, 4))
    if filter == "nearest":
        for d in range(3):
            extents = {one.extents[::-1][d] for one in given if len(one.extents) > d}
            for extent in extents:
                part = at[:, d] * extent % 1
                near = (part < 0.02) | (part > 0.98)
                at[near, d] += 0.04 / extent
    at[:, 3] = random.integers(0, 3, count)
    return at.astype(np.float32)


@pytest.mark.parametrize(("format", "size"), [(f, EXTENTS[i % 4]) for i, f in enumerate(FLOATS * 2)], ids=str)
def test_samples(table: ModuleType, format: Format, size: int) -> None:
    random = np.random.default_rng(size)
    given = flat(size, format, mips=3)
    texels = [[format.read(level) for level in one.levels] for one in given]
    for options in SAMPLERS:
        at = coordinates(given, options["filter"], random)
        for lod, mip_filter in ((0.0, "linear"), (0.5, "linear"), (1.4, "nearest"), (9.0, "linear")):
            sampler = kf.Sampler(**{**options, "mip_filter": mip_filter})
            found = table.sample_flat(*(one.texture for one in given), sampler, kf.Tensor.from_numpy(at), lod)
            for one, levels, values in zip(given, texels, found, strict=True):
                expected = np.zeros((len(at), 4))
                for level, weight in weights(lod, len(levels), mip_filter):
                    for layer in range(one.kind.layers):
                        chosen = at[:, 3] == layer if one.kind.is_array else np.ones(len(at), bool)
                        part = levels[level][layer] if one.kind.is_array else levels[level]
                        expected[chosen] += weight * sampled(
                            part, at[chosen].astype(np.float64), options["filter"], options["address"], 1.0
                        )
                # GPUs weigh texels in steps of 1/256 along each dimension, and between mips, and sample
                # what they read with fewer bits than they load it.
                steps = one.kind.dimensions * (options["filter"] == "linear") + (lod == 0.5)
                span = max(level.max() for level in levels) - min(level.min() for level in levels)
                tolerance = (span + 1) * (steps * 2 / 256 + 2e-5) + format.tolerance
                # A border has the components of the format, and others as every texel has them.
                compared = format.components if options["address"] == "border" else 4
                np.testing.assert_allclose(
                    values.to_numpy()[:, :compared], expected[:, :compared], rtol=0, atol=tolerance
                )


def weights(lod: float, mips: int, mip_filter: str) -> Iterator[tuple[int, float]]:
    """The mips that are sampled, and how much of each."""
    lod = min(lod, mips - 1.0)
    if mip_filter == "nearest":
        yield round(lod), 1.0
        return
    first = int(lod)
    yield first, 1 - (lod - first)
    if lod > first:
        yield first + 1, lod - first


#: Directions by face, of s and t from -1 to 1: +x, -x, +y, -y, +z, -z.
FACES: list[Callable[[Any, Any], tuple[Any, Any, Any]]] = [
    lambda s, t: (1, -t, -s),
    lambda s, t: (-1, -t, s),
    lambda s, t: (s, 1, t),
    lambda s, t: (s, -1, -t),
    lambda s, t: (s, -t, 1),
    lambda s, t: (-s, -t, -1),
]


@pytest.mark.parametrize("size", EXTENTS)
@pytest.mark.parametrize("format", FLOATS, ids=str)
def test_samples_of_cubes(table: ModuleType, format: Format, size: int) -> None:
    random = np.random.default_rng(size)
    mips = min(2, most_mips((size, size)))
    given = [Given(kind, (size, size), format, mips=mips) for kind in CUBES]
    for filter in ("nearest", "linear"):
        # Middles of texels, and within a face what lies between them.
        margin = 0.5 / max(size >> (mips - 1), 1)
        u = random.uniform(margin, 1 - margin, (128, 2))
        for level in range(mips):
            extent = size >> level
            uv = (np.floor(u * extent) + 0.5) / extent if filter == "nearest" else u
            face = np.arange(len(uv)) % 6
            cube = random.integers(0, 2, len(uv))
            at = np.array(
                [(*FACES[f](2 * s - 1, 2 * t - 1), c) for f, (s, t), c in zip(face, uv, cube, strict=True)],
                np.float32,
            )
            at[:, :3] *= random.uniform(0.5, 2, (len(uv), 1)).astype(np.float32)
            found = table.sample_cubes(
                *(one.texture for one in given), kf.Sampler(filter), kf.Tensor.from_numpy(at), float(level)
            )
            for one, values in zip(given, found, strict=True):
                layers = format.read(one.levels[level])
                layer = face + 6 * cube if one.kind.is_array else face
                expected = np.zeros((len(at), 4))
                for number in range(one.kind.layers):
                    chosen = layer == number
                    expected[chosen] = sampled(layers[number], uv[chosen], filter, "clamp", 0)
                span = layers.max() - layers.min()
                tolerance = (span + 1) * (4 / 256 * (filter == "linear") + 2e-5) + format.tolerance
                np.testing.assert_allclose(values.to_numpy(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("size", EXTENTS)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_pixels_are_read(table: ModuleType, format: Format, size: int) -> None:
    """Textures feed calls as tensors of vectors do: fewer dimensions are broadcast, layers come first."""
    given = [
        Given(kind, extents, format)
        for kind, extents in zip(FLAT, [(size,), (2, size), (3, 2, size), (size,), (2, size)], strict=True)
    ]
    # Of the 1D array layers are the rows.
    rows = kf.Texture.from_numpy(given[3].levels[0][:2], format.name, kind="1d_array")
    textures = [*(one.texture for one in given[:3]), rows, given[4].texture]
    found = getattr(table, f"pixels_{format.shader}")(*textures)
    for texture, values in zip(textures, found, strict=True):
        assert values.shape == (3, 2, size, 4)
        expected = np.broadcast_to(format.read(texture.to_numpy()), values.shape)
        np.testing.assert_allclose(values.to_numpy(), expected, rtol=0, atol=format.tolerance)


def test_extents_of_one_are_broadcast(table: ModuleType) -> None:
    format = Format("rgba16f")
    textures = [
        kf.Texture.from_numpy(format.texels(extents, i), "rgba16f", kind=kind.name)
        for i, (kind, extents) in enumerate(
            zip(FLAT, [(1,), (2, 1), (3, 1, 5), (1, 5), (3, 2, 1)], strict=True)
        )
    ]
    for texture, values in zip(textures, table.pixels_float(*textures), strict=True):
        expected = np.broadcast_to(format.read(texture.to_numpy()), (3, 2, 5, 4))
        np.testing.assert_array_equal(values.to_numpy(), expected)


@pytest.mark.parametrize("size", EXTENTS)
@pytest.mark.parametrize("format", WRITTEN, ids=str)
def test_pixels_are_swapped(table: ModuleType, format: Format, size: int) -> None:
    """inout in place and out into another texture; what is around both of them stays."""
    extents = (5, size)
    texel = Given(Kind("2d_array"), extents, format, mips=min(2, most_mips(extents)), writable=True)
    was = kf.Texture.empty((size,), format.name, layers=7, mips=min(2, most_mips((size,))))
    poison = np.full(format.shape((7, size)), POISON, format.dtype)
    for i in range(was.mips):
        was.mip(i).copy_from_numpy(np.full(was.mip(i).to_numpy().shape, POISON, format.dtype))
    values = format.values(extents, 3)
    swap = getattr(table, f"swap_{format.name}")
    target = was.mip(0).layer_range(1, 5)
    results = swap(texel.texture.mip(0).layer(1), target, kf.Tensor.from_numpy(values))
    assert results[-1] is target or results is target
    poison[1:6] = format.copied(texel.levels[0][1])
    np.testing.assert_array_equal(was.to_numpy(), poison)
    if was.mips > 1:
        assert (was.mip(1).to_numpy() == np.array(POISON, format.dtype)).all()
    texel.levels[0][1] = format.written(values)
    texel.check()


@pytest.mark.parametrize("size", EXTENTS)
@pytest.mark.parametrize("format", ["rgba32f", "rg16", "r32ui"])
@pytest.mark.parametrize("kind", ["1d", "3d"])
def test_pixels_of_other_kinds(table: ModuleType, kind: str, format: str, size: int) -> None:
    form = Format(format)
    extents = (size,) if kind == "1d" else (3, 2, size)
    texel = Given(Kind(kind), extents, form, writable=True)
    if kind == "1d":
        was = kf.Texture.empty(extents, format)
    else:
        was = kf.Texture.empty(extents[1:], format, layers=3)
    values = form.values(extents, 3)
    getattr(table, f"swap_{kind}_{format}")(texel.texture, was, kf.Tensor.from_numpy(values))
    np.testing.assert_array_equal(was.to_numpy(), texel.levels[0])
    texel.levels[0] = form.written(values)
    texel.check()


@pytest.mark.parametrize("size", EXTENTS)
def test_three_components_lie_in_four(table: ModuleType, size: int) -> None:
    """Alpha is written as 1."""
    texel = Given(Kind("2d"), (5, size), Format("rgba32f"), writable=True)
    was = kf.Texture.empty((5, size), "rgba32f")
    values = np.random.default_rng(1).normal(size=(5, size, 3)).astype(np.float32)
    table.swap_float3(texel.texture, was, kf.Tensor.from_numpy(values))
    texel.levels[0][..., 3] = 1
    np.testing.assert_array_equal(was.to_numpy(), texel.levels[0])
    texel.levels[0][..., :3] = values
    texel.check()
