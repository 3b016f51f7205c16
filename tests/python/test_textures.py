"""kf.Texture on the host: making, views of mips and layers, copies of sub-regions, tensors, refusals."""

import re
from collections.abc import Callable
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from texels import EXTENTS, FORMATS, KINDS, WRITTEN, Array, Format, Kind, mip, most_mips

pytestmark = pytest.mark.usefixtures("device")

RGBA8 = Format("rgba8")
POISON = 77


def filled(
    kind: Kind, extents: tuple[int, ...], format: Format, mips: int, *, writable: bool = False
) -> tuple[kf.Texture, list[Array]]:
    """A texture with other texels in every mip, and these."""
    layers = kind.layers if kind.is_array else None
    texture = kf.Texture.empty(
        extents, format.name, mips=mips, layers=layers, writable=writable, kind=kind.name
    )
    levels = []
    for i in range(mips):
        levels.append(format.texels(kind.texel_extents(mip(extents, i)), i))
        texture.mip(i).copy_from_numpy(levels[-1])
    return texture, levels


def check(texture: kf.Texture, levels: list[Array]) -> None:
    """All mips, so that a write to another one shows."""
    assert texture.mips == len(levels)
    for i, level in enumerate(levels):
        found = texture.mip(i).to_numpy()
        assert found.dtype == level.dtype
        np.testing.assert_array_equal(found, level)


@pytest.mark.parametrize("size", EXTENTS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_round_trips(format: Format, kind: Kind, size: int) -> None:
    extents = kind.extents(size)
    texels = format.texels(kind.texel_extents(extents))
    texture = kf.Texture.from_numpy(texels, format.name, kind=kind.name)
    np.testing.assert_array_equal(texture.to_numpy(), texels)
    np.testing.assert_array_equal(texture.to_tensor().to_numpy(), texels)
    assert texture.shape == extents
    assert (texture.width, texture.height, texture.depth) == (*reversed(extents), 1, 1)[:3]
    assert (texture.kind, texture.format, texture.layers) == (kind.name, format.name, kind.layers)
    assert (texture.dtype, texture.channels, texture.ndim) == (
        format.dtype,
        format.components,
        len(extents),
    )
    assert (texture.mips, texture.writable, texture.nbytes) == (1, False, texels.nbytes)
    assert texture.device == kf.default_device()
    assert texture.sampler is None


def test_arrays_say_what_is_made() -> None:
    """The kind by how many dimensions there are; strided arrays are copied as they look."""
    for shape, format, kind, extents in (
        ((7, 4), "rgba8", "1d", (7,)),
        ((5, 7, 4), "rgba8", "2d", (5, 7)),
        ((3, 5, 7, 4), "rgba8", "3d", (3, 5, 7)),
        ((7,), "r8", "1d", (7,)),
        ((5, 7), "r8", "2d", (5, 7)),
        ((5, 1), "r8", "2d", (5, 1)),
        ((3, 5, 7), "r8", "3d", (3, 5, 7)),
        ((3, 5, 7, 1), "r8", "3d", (3, 5, 7)),
    ):
        texture = kf.Texture.from_numpy(np.zeros(shape, np.uint8), format)
        assert (texture.kind, texture.shape) == (kind, extents)
    one = kf.Texture.from_numpy(np.zeros((5, 7, 1), np.uint8), "r8", kind="2d")
    assert one.to_numpy().shape == (5, 7)
    assert kf.Texture.empty(7, "r8").kind == "1d"
    assert kf.Texture.empty((5, 7), "r8", layers=1).kind == "2d_array"
    assert kf.Texture.empty((7, 7), "r8", kind="cube").layers == 6
    assert kf.Texture.empty((5, 7), "rgba8_srgb").writable is False
    assert kf.Texture.empty((5, 7), "rgba8").writable is True
    whole = RGBA8.texels((14, 10))
    view = whole[::-2, 1::3]
    np.testing.assert_array_equal(kf.Texture.from_numpy(view, "rgba8").to_numpy(), view)
    np.testing.assert_array_equal(np.asarray(kf.Texture.from_numpy(view, "rgba8"), np.int64), view)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("format", ["r8", "rg16f", "rgba32ui"])
def test_mips(format: str, kind: Kind) -> None:
    extents = kind.extents(33)
    mips = most_mips(extents)
    texture, levels = filled(kind, extents, Format(format), mips)
    check(texture, levels)
    assert kf.Texture.empty(extents, format, mips=0, kind=kind.name).mips == mips
    assert texture.mip(-1).shape == mip(extents, mips - 1)
    part = texture.mip_range(1, 3)
    assert (part.mips, part.shape, part.mip(2).shape) == (3, mip(extents, 1), mip(extents, 3))
    levels[2][...] = POISON
    part.mip(1).copy_from_numpy(levels[2])
    check(texture, levels)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.has_layers], ids=str)
def test_layers(kind: Kind) -> None:
    format = Format("rg16")
    extents = kind.extents(7)
    texture, levels = filled(kind, extents, format, 3)
    for i in (0, 1, -1):
        layer = texture.layer(i)
        assert (layer.kind, layer.layers, layer.mips) == (f"{kind.dimensions}d", 1, 3)
        np.testing.assert_array_equal(layer.mip(1).to_numpy(), levels[1][i])
    some = texture.layer_range(1, 2)
    assert (some.kind, some.layers) == (f"{kind.dimensions}d_array", 2)
    levels[1][1:3] = POISON
    some.mip(1).copy_from_numpy(levels[1][1:3])
    check(texture, levels)
    if kind.name == "cube_array":
        cube = texture.cube(1)
        assert (cube.kind, cube.layers) == ("cube", 6)
        np.testing.assert_array_equal(cube.to_numpy(), levels[0][6:])
        assert texture.cube_range(0, 2).kind == "cube_array"


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("format", FORMATS[::5], ids=str)
def test_sub_regions(format: Format, kind: Kind) -> None:
    """What lies around them, in other mips and in other layers stays."""
    extents = kind.extents(33)
    texture, levels = filled(kind, extents, format, 2)
    below = mip(extents, 1)
    box = tuple(max(1, extent // 2) for extent in below)
    offset = tuple(extent - part for extent, part in zip(below, box, strict=True))
    view = texture.mip(1)
    place = tuple(slice(o, o + n) for o, n in zip(offset, box, strict=True))
    if kind.has_layers:
        view = view.layer_range(1, 2)
        new = format.texels((2, *box), 5)
        layered = (slice(1, 3), *place)
        levels[1][layered] = new
    else:
        new = format.texels(box, 5)
        levels[1][place] = new
    view.copy_from_numpy(new, offset=offset)
    check(texture, levels)
    view.copy_from_numpy(new, offset=[0] * len(box))
    first = tuple(slice(0, n) for n in box)
    beginning = (slice(1, 3), *first) if kind.has_layers else first
    levels[1][beginning] = new
    check(texture, levels)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("format", WRITTEN[::7], ids=str)
def test_tensors(format: Format, kind: Kind) -> None:
    """Copies on the device, both ways, of views too."""
    extents = kind.extents(7)
    texels = format.texels(kind.texel_extents(extents), 1)
    tensor = kf.Tensor.from_numpy(texels)
    made = kf.Texture.from_tensor(tensor, format.name, kind=kind.name, writable=True, mips=2)
    np.testing.assert_array_equal(made.to_numpy(), texels)
    assert (made.writable, made.mips) == (True, 2)
    texture, levels = filled(kind, extents, format, 3)
    levels[1] = format.texels(kind.texel_extents(mip(extents, 1)), 8)
    texture.mip(1).copy_from(kf.Tensor.from_numpy(levels[1]))
    check(texture, levels)
    whole = kf.Tensor.from_numpy(np.full(levels[2].size + 128, POISON, format.dtype))
    texture.mip(2).copy_to(whole[64:-64].reshape(*levels[2].shape))
    expected = np.full(levels[2].size + 128, POISON, format.dtype)
    expected[64:-64] = levels[2].reshape(-1)
    np.testing.assert_array_equal(whole.to_numpy(), expected)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("format", ["r8", "rgba8", "rg16f", "rgba32f", "rgba8_snorm", "r16"])
def test_generated_mips(format: str, kind: Kind) -> None:
    """Of even extents a texel is the mean of those above it; the texture above stays as it is."""
    form = Format(format)
    extents = tuple(8 * 2**d for d in range(kind.dimensions)) if not kind.is_cube else (16, 16)
    texture, levels = filled(kind, extents, form, 3, writable=True)
    texture.generate_mips()
    np.testing.assert_array_equal(texture.to_numpy(), levels[0])
    for i in (1, 2):
        above = form.read(texture.mip(i - 1).to_numpy())
        for axis in range(above.ndim - 1 - kind.dimensions, above.ndim - 1):
            extent = above.shape[axis]
            above = (above.take(range(0, extent, 2), axis) + above.take(range(1, extent, 2), axis)) / 2
        step = {"unorm": 2.01 / 255, "snorm": 2.01 / 127, "float": 2e-3}[form.texel]  # weights round, too
        found = form.read(texture.mip(i).to_numpy())
        np.testing.assert_allclose(found, above, atol=step * (20 if form.texel == "float" else 1))


def test_generated_mips_of_a_view() -> None:
    """Mips and layers outside of it stay."""
    texture, levels = filled(Kind("2d_array"), (16, 16), Format("r32f"), 4, writable=True)
    texture.mip_range(1, 2).layer(1).generate_mips()
    above = levels[1][1]
    levels[2][1] = (above[::2, ::2] + above[1::2, ::2] + above[::2, 1::2] + above[1::2, 1::2]) / 4
    for i in range(4):
        np.testing.assert_allclose(texture.mip(i).to_numpy(), levels[i], rtol=1e-5, atol=1e-5)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4, 4), np.float32), "rgba8"),
        kf.ArgumentTypeError,
        "Texture.from_numpy: argument 'a': the array's dtype is float32, and texels of rgba8 are uint8: "
        "give np.rint(a * 255).astype(np.uint8)",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4), np.float32), "r16_snorm"),
        kf.ArgumentTypeError,
        "Texture.from_numpy: argument 'a': the array's dtype is float32, and texels of r16_snorm are int16: "
        "give np.rint(a * 32767).astype(np.int16)",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4), np.float32), "r16f"),
        kf.ArgumentTypeError,
        "Texture.from_numpy: argument 'a': the array's dtype is float32, and texels of r16f are float16: "
        "give a.astype(np.float16)",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4, 4), np.uint8), "rgba9"),
        kf.ArgumentError,
        "Texture.from_numpy: argument 'format': 'rgba9' is no format; there are r8, rg8, rgba8, ",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4, 3), np.uint8), "rgba8"),
        kf.ArgumentError,
        "Texture.from_numpy: argument 'a': the array's shape is [3, 4, 3]; the texels of a rgba8 texture of "
        "kind '2d' have the shape [h, w, 4]; np.insert(a, 3, 255, axis=-1) adds an alpha",
    ),
    (
        lambda: kf.Texture.empty((3, 4), "r8").mip(1),
        kf.ArgumentError,
        "mip: there is no mip 1; there is 1 mip",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4, 1), np.uint8), "r8"),
        kf.ArgumentError,
        "Texture.from_numpy: argument 'a': an array of shape [3, 4, 1] could be a 2D texture with its "
        "channel, or a 3D one: say kind='2d' or kind='3d'",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4, 4, 4), np.uint8), "rgba8", kind="cube"),
        kf.ArgumentError,
        "Texture.from_numpy: argument 'a': the array's shape is [3, 4, 4, 4]; the texels of a rgba8 texture "
        "of kind 'cube' have the shape [6, h, w, 4]",
    ),
    (
        lambda: kf.Texture.from_numpy([[1, 2], [3, 4]], "r8"),  # type: ignore[arg-type]
        kf.ArgumentTypeError,
        "Texture.from_numpy: argument 'a': a NumPy array is needed, not a list",
    ),
    (
        lambda: kf.Texture.empty((1, 2, 3, 4), "r8"),
        kf.ArgumentTypeError,
        "Texture.empty: argument 'shape': a texture has 1 to 3 dimensions, not 4: its shape counts neither "
        "layers nor channels",
    ),
    (
        lambda: kf.Texture.empty((2, 3, 4), "r8", layers=3),
        kf.ArgumentTypeError,
        "Texture.empty: argument 'layers': a 3D texture has no layers",
    ),
    (
        lambda: kf.Texture.empty((3, 3), "r8", kind="cube", layers=12),
        kf.ArgumentError,
        "Texture.empty: argument 'layers': a texture of kind 'cube' has its 6 faces: say kind='cube_array'",
    ),
    (
        lambda: kf.Texture.empty((3, 3), "r8", kind="2d_ms"),
        kf.ArgumentError,
        "Texture.empty: argument 'kind': '2d_ms' is no kind of texture; there are '1d', '2d', '3d', ",
    ),
    (
        lambda: kf.Texture.empty((3, 4), "r8", kind="1d"),
        kf.ArgumentTypeError,
        "Texture.empty: argument 'shape': [3, 4] has 2 dimensions, a texture of kind '1d' has 1; layers and "
        "channels aren't counted",
    ),
    (lambda: kf.Texture.empty((3, 4), "r8", kind="cube"), kf.ArgumentError, "square"),
    (lambda: kf.Texture.empty((3, 4), "r8", mips=4), kf.ArgumentError, "mips"),
    (lambda: kf.Texture.empty((3, 0), "r8"), kf.ArgumentError, "texture: extents are at least 1"),
    (lambda: kf.Texture.empty((3, 4), "rgba8_srgb", writable=True), kf.ArgumentError, "srgb"),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4), np.uint8), "r8").copy_from_numpy(
            np.zeros((3, 3), np.uint8)
        ),
        kf.ArgumentError,
        "Texture.copy_from_numpy: argument 'a': the array's shape is (3, 3), the texels' is (3, 4); offset= "
        "says where a part of them lies",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4), np.uint8), "r8").copy_from_numpy(
            np.zeros((3, 3), np.uint8), offset=(0, 2)
        ),
        kf.ArgumentError,
        "Texture.copy_from_numpy: argument 'a': texels [3, 3] at offset [0, 2] don't lie in a texture of "
        "shape [3, 4]",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4), np.uint8), "r8").copy_from_numpy(
            np.zeros((3, 3), np.uint8), offset=1
        ),
        kf.ArgumentTypeError,
        "Texture.copy_from_numpy: argument 'offset': [1] has 1 numbers, and the texture 2 dimensions",
    ),
    (
        lambda: kf.Texture.from_numpy(np.zeros((3, 4), np.uint8), "r8").copy_from_numpy(
            np.zeros((3, 4), np.int8)
        ),
        kf.ArgumentTypeError,
        "Texture.copy_from_numpy: argument 'a': the array's dtype is int8, and texels of r8 are uint8: give "
        "a.astype(np.uint8)",
    ),
    (
        lambda: kf.Texture.empty((3, 4), "r8").copy_from(np.zeros((3, 4), np.uint8)),  # type: ignore[arg-type]
        kf.ArgumentTypeError,
        ": copy_from_numpy() and from_numpy() take arrays",
    ),
    (
        lambda: kf.Texture.empty((3, 4), "r8").copy_from(kf.Tensor.zeros((3, 4))),
        kf.ArgumentTypeError,
        "Texture.copy_from: argument 'tensor': texels of r8 are uint8, and the tensor is a float32 tensor of "
        "shape (3, 4)",
    ),
    (
        lambda: kf.Texture.empty((3, 4), "r8").copy_to(kf.Tensor.zeros((3, 5), np.uint8)),
        kf.ArgumentError,
        "Texture.copy_to: argument 'tensor': the tensor's shape is [3, 5], the texels' is [3, 4]",
    ),
    (lambda: kf.Texture.empty((3, 4), "r8").mip(1), kf.ArgumentIndexError, "mip"),
    (lambda: kf.Texture.empty((3, 4), "r8", layers=2).layer(2), kf.ArgumentIndexError, "layer"),
    (lambda: kf.Texture.empty((4, 4), "r8ui", mips=2).generate_mips(), kf.ArgumentError, "r8ui"),
    (
        lambda: kf.Texture.empty((3, 4), "r8").with_sampler("linear"),  # type: ignore[arg-type]
        kf.ArgumentTypeError,
        "Texture.with_sampler: argument 'sampler': a kf.Sampler is needed, not 'linear'",
    ),
    (
        lambda: kf.Texture.adopt(0, (3, 4), "r8"),
        kf.ArgumentTypeError,
        "Texture.adopt: argument 'handle': the handle is null",
    ),
    (
        lambda: kf.differentiable(kf.Texture.empty((3, 4), "r8")),
        kf.ArgumentTypeError,
        "has no derivative",
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number: int) -> None:
    make, kind, text = REFUSED[number]
    with pytest.raises(kind, match=re.escape(text)):
        make()


def test_refused_copies_change_nothing() -> None:
    texture, levels = filled(Kind("2d_array"), (5, 7), RGBA8, 2)
    for bad, offset in (((3, 5, 8, 4), None), ((2, 5, 7, 4), None), ((3, 2, 2, 4), (4, 0))):
        with pytest.raises(kf.ArgumentError):
            texture.copy_from_numpy(np.zeros(bad, np.uint8), offset=offset)
    check(texture, levels)


def test_texts() -> None:
    texture = kf.Texture.empty((5, 7), "rgba16f", mips=2, layers=3)
    device = kf.default_device().info.id
    assert repr(texture) == (
        f"Texture(shape=(5, 7), format='rgba16f', kind='2d_array', mips=2, layers=3, writable=True, "
        f"device='{device}')"
    )
    with_one = kf.Texture.from_numpy(np.zeros((5, 7), np.uint8), "r8").with_sampler(kf.Sampler("nearest"))
    assert repr(with_one).endswith("Sampler(filter='nearest', address='clamp'))")
    assert with_one.sampler == kf.Sampler("nearest")


def test_textures_outlive_their_names() -> None:
    """A view keeps the texels."""
    texels = RGBA8.texels((9, 9))
    view = kf.Texture.from_numpy(texels, "rgba8", mips=2).mip(0)
    for _ in range(20):
        kf.Texture.from_numpy(np.zeros_like(texels), "rgba8")
    np.testing.assert_array_equal(view.to_numpy(), texels)
