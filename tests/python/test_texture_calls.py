"""Calls with textures in all forms that take them: structs, lists, globals, entry points, recorded calls."""

import re
from types import ModuleType, SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader
from refusals import refusal
from texels import Array, Format, sampled

pytestmark = pytest.mark.usefixtures("device")

RGBA8 = Format("rgba8")
RGBA32F = Format("rgba32f")
SIZE = (5, 7)
NEAREST = kf.Sampler("nearest")


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("texture_calls")


@pytest.fixture(scope="module")
def comparison(generated: Loader) -> ModuleType:
    return generated("textures_on_vulkan")


def picture(seed: int, format: str = "rgba8", extents: tuple[int, ...] = SIZE) -> tuple[kf.Texture, Array]:
    """A texture, and what shaders read of it."""
    form = Format(format)
    texels = form.texels(extents, seed)
    return kf.Texture.from_numpy(texels, format), form.read(texels).astype(np.float32)


def places(extents: tuple[int, ...] = SIZE) -> Array:
    """All pixels, x first."""
    y, x = np.indices(extents)
    return np.stack([x, y], -1).reshape(-1, 2).astype(np.int32)


def middles(extents: tuple[int, ...] = SIZE) -> Array:
    made: Array = ((places(extents) + 0.5) / np.array(extents[::-1])).astype(np.float32)
    return made


def close(found: Any, expected: Array) -> None:
    found = found if isinstance(found, np.ndarray) else found.to_numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * max(1, float(np.abs(expected).max())))


def test_positional_and_by_keyword(calls: ModuleType) -> None:
    texture, texels = picture(1)
    at = places()
    close(calls.at(texture, at), texels.reshape(-1, 4))
    close(calls.at(pixel=at, picture=texture, out=np.ndarray), texels.reshape(-1, 4))
    close(calls.at(texture, (3, 2), out=np.ndarray), texels[2, 3])
    given = kf.Tensor.zeros((len(at), 4))
    assert calls.at(texture, at, out=given) is given
    close(given, texels.reshape(-1, 4))


def test_repeated_calls(calls: ModuleType) -> None:
    """Calls that are known go the short way, with other textures, formats and extents, too."""
    at = kf.Tensor.from_numpy(places())
    for round_ in range(4):
        for format in ("rgba8", "rgba32f", "r16f", "rgba8_srgb"):
            texture, texels = picture(round_, format)
            found = calls.at(texture, at).to_numpy()
            np.testing.assert_allclose(found, texels.reshape(-1, 4), rtol=0, atol=5e-3)
    larger, texels = picture(9, extents=(9, 11))
    close(calls.at(larger, kf.Tensor.from_numpy(places((9, 11)))), texels.reshape(-1, 4))


def test_shapes_as_grids(calls: ModuleType) -> None:
    """A grid is given as its shape: a texture's has y before x."""
    target = kf.Texture.empty(SIZE, "rgba8")
    for shape in (target.shape, list(target.shape), np.array(target.shape), kf.grid(target.shape)):
        target.copy_from_numpy(np.full((*SIZE, 4), 77, np.uint8))
        for _ in range(3):
            calls.put(target, pixel=shape, colour=(0, 0.2, 0.6, 1))
        expected = np.broadcast_to(np.array([0, 51, 153, 255], np.uint8), (*SIZE, 4))
        np.testing.assert_array_equal(target.to_numpy(), expected)
    target.copy_from_numpy(np.full((*SIZE, 4), 77, np.uint8))
    calls.put(target, (2, 3), (1, 1, 1, 1))
    expected = np.full((*SIZE, 4), 77, np.uint8)
    expected[:2, :3] = 255
    np.testing.assert_array_equal(target.to_numpy(), expected)
    for wrong in ((1, 2, 3), (1.0, 2.0), 5):
        with pytest.raises(kf.ArgumentError, match=re.escape("expected grid[2]")):
            calls.put(target, wrong, (1, 1, 1, 1))
    with pytest.raises(kf.ArgumentError, match="-1 is not an extent"):
        calls.put(target, (-1, 2), (1, 1, 1, 1))
    np.testing.assert_array_equal(target.to_numpy(), expected)


def test_structs(calls: ModuleType) -> None:
    texture, texels = picture(2)
    expected = 3 * texels.reshape(-1, 4)
    fields: dict[str, Any] = {"colours": texture, "how": NEAREST, "scale": 3.0}
    for material in (fields, SimpleNamespace(**fields), calls.Material(**fields)):
        close(calls.shade(material, middles()), expected)
    with pytest.raises(kf.ArgumentError, match=re.escape("'material.how'")):
        calls.shade({**fields, "how": texture}, middles())
    with pytest.raises(kf.ArgumentError, match=re.escape("'material.colours'")):
        calls.shade({**fields, "colours": np.zeros((5, 7, 4), np.float32)}, middles())


def test_lists(calls: ModuleType) -> None:
    """Sized arrays of textures; threads pick elements of their own."""
    pages = [picture(i) for i in range(3)]
    at = places()
    page = (np.arange(len(at)) % 3).astype(np.int32)
    expected = np.stack([texels.reshape(-1, 4) for _, texels in pages])[page, np.arange(len(at))]
    textures = [texture for texture, _ in pages]
    close(calls.pick(textures, page, at), expected)
    close(calls.pick(tuple(textures), page, at), expected)
    with pytest.raises(kf.ArgumentError, match="3"):
        calls.pick(textures[:2], page, at)
    with pytest.raises(kf.ArgumentError, match=re.escape("pages[1]")):
        calls.pick([textures[0], NEAREST, textures[2]], page, at)


def test_textures_with_samplers(calls: ModuleType) -> None:
    texture, texels = picture(4)
    expected = texels.reshape(-1, 4)
    for given in ((texture, NEAREST), [texture, NEAREST], texture.with_sampler(NEAREST)):
        for _ in range(3):
            close(calls.combined(given, middles()), expected)
    other = texture.with_sampler(kf.Sampler("linear", "repeat"))
    close(calls.combined((other, NEAREST), middles()), expected)
    with pytest.raises(kf.ArgumentError, match="sampler"):
        calls.combined(texture, middles())


def test_globals(calls: ModuleType) -> None:
    texture, texels = picture(5)
    behind = calls.behind.set(backdrop=texture, smooth=NEAREST)
    for _ in range(3):
        close(behind(middles()), texels.reshape(-1, 4))
    other, texels = picture(6)
    close(behind.set(backdrop=other)(middles()), texels.reshape(-1, 4))
    canvas = kf.Texture.empty(SIZE, "rgba32f")
    calls.paint.set(canvas=canvas)(canvas.shape, (1, 2, 3, 4))
    np.testing.assert_array_equal(canvas.to_numpy(), np.broadcast_to([1, 2, 3, 4], (*SIZE, 4)))
    walk = calls.walk.set(g_scene={"floor": texture, "how": NEAREST, "gain": 2.0})
    close(walk(middles()), 2 * RGBA8.read(texture.to_numpy()).reshape(-1, 4))
    with pytest.raises(kf.ArgumentError, match="smooth"):
        calls.behind.set(backdrop=texture)(middles())


def test_entry_points(calls: ModuleType) -> None:
    target = kf.Texture.empty((9, 13), "rgba32f")
    calls.fill.threads(target.width, target.height)(target, (1, 10, 3, 4))
    y, x = np.indices((9, 13))
    expected = np.stack([x, 10 * y, np.full_like(x, 3), np.full_like(x, 4)], -1)
    np.testing.assert_array_equal(target.to_numpy(), expected)


def test_tensors_and_textures_are_told_apart(calls: ModuleType) -> None:
    """Overloads by what is given for x; results are made, or written where they are given."""
    texture, texels = picture(7, "rgba32f")
    values = kf.Tensor.from_numpy(texels)
    for _ in range(3):
        for x in (texture, values, texels):
            result = calls.doubled(x)
            assert isinstance(result, kf.Tensor)
            np.testing.assert_array_equal(result.to_numpy(), 2 * texels)
            target = kf.Texture.empty(SIZE, "rgba32f")
            assert calls.paint_doubled(x, out=target) is target
            np.testing.assert_array_equal(target.to_numpy(), 2 * texels)
            made = calls.paint_doubled(x)
            assert (made.shape, made.format, made.writable) == (SIZE, "rgba32f", True)
            np.testing.assert_array_equal(made.to_numpy(), 2 * texels)
    np.testing.assert_array_equal(calls.doubled(texture, out=np.ndarray), 2 * texels)
    for wrong in (kf.Texture.empty(7, "rgba32f"), kf.Texture.empty((7, 7), "rgba32f", kind="cube")):
        with pytest.raises(kf.ArgumentError):
            calls.doubled(wrong)
    for format in ("rgba32i", "rgba8ui"):
        with pytest.raises(kf.ArgumentError, match=format):
            calls.doubled(kf.Texture.empty(SIZE, format))


def test_textures_beside_tensors(calls: ModuleType) -> None:
    texture, texels = picture(8)
    b = np.random.default_rng(1).normal(size=(*SIZE, 4)).astype(np.float32)
    close(calls.mixed(texture, b, 0.25), texels + 0.25 * (b - texels))
    row = kf.Texture.from_numpy(RGBA8.texels((1, 7), 3), "rgba8")
    top = RGBA8.read(row.to_numpy())
    close(calls.mixed(row, b, 0.25), top + 0.25 * (b - top))
    for extents in ((5, 6), (6, 7), (7, 5)):
        with pytest.raises(kf.ArgumentError, match=r"'a'|'b'"):
            calls.mixed(kf.Texture.empty(extents, "rgba8"), b, 0.25)


def test_gradients_go_past_textures(calls: ModuleType) -> None:
    texture, texels = picture(9)
    tint = kf.Tensor.from_numpy(np.random.default_rng(1).normal(size=(*SIZE, 4)).astype(np.float32))
    tint = tint.with_grads()
    result = calls.tinted(texture, tint)
    close(result, texels * tint.to_numpy())
    calls.tinted.backward(texture, tint, result)
    assert tint.grad is not None
    close(tint.grad, texels)


def test_recorded_calls(calls: ModuleType) -> None:
    """They keep textures that nobody else has any more."""
    device = kf.default_device()
    encoder = device.encoder()
    canvas = kf.Texture.empty(SIZE, "rgba32f")
    texture, texels = picture(10)
    calls.paint_doubled.append_to(encoder, texture, out=canvas)
    result = calls.at.append_to(encoder, canvas, places())
    material = {"colours": canvas, "how": kf.Sampler("nearest"), "scale": 1.0}
    shaded = calls.shade.append_to(encoder, material, middles())
    del texture, material
    encoder.submit()
    close(result, 2 * texels.reshape(-1, 4))
    close(shaded, 2 * texels.reshape(-1, 4))


def test_prepared_calls(calls: ModuleType) -> None:
    texture, texels = picture(11, "rgba32f")
    target = kf.Texture.empty(SIZE, "rgba32f")
    prepared = calls.paint_doubled.prepare(texture, out=target)
    np.testing.assert_array_equal(target.to_numpy(), target.to_numpy())
    prepared()
    np.testing.assert_array_equal(target.to_numpy(), 2 * texels)
    texture.copy_from_numpy(texels + 1)
    prepared()
    np.testing.assert_array_equal(target.to_numpy(), 2 * (texels + 1))
    grid = calls.put.prepare(kf.Texture.empty(SIZE, "rgba8"), SIZE, (1, 1, 1, 1))
    grid.set(colour=(0, 0, 0, 1))
    grid()
    target = kf.Texture.empty((2 * SIZE[0], SIZE[1]), "rgba8")  # of any extent: it takes no part in the shape
    target.copy_from_numpy(np.full((*target.shape, 4), 9, np.uint8))
    grid.set(target=target, colour=(1, 0, 0, 1))
    grid()
    np.testing.assert_array_equal(
        target.to_numpy()[: SIZE[0], :, :3], np.broadcast_to([255, 0, 0], (*SIZE, 3))
    )
    np.testing.assert_array_equal(target.to_numpy()[SIZE[0] :], 9)


def test_textures_set_in_prepared_calls(calls: ModuleType) -> None:
    texture, texels = picture(11, "rgba32f")
    target, other = (kf.Texture.empty(SIZE, "rgba32f") for _ in range(2))
    prepared = calls.paint_doubled.prepare(texture, out=target)
    assert prepared() is target
    second, more = picture(12)  # in another format, which is only read
    prepared.set(x=second)
    assert prepared() is target
    close(target, 2 * more)
    prepared.set(x=texture, out=other)
    assert prepared.result is other
    assert prepared() is other
    close(other, 2 * texels)
    close(target, 2 * more)
    # What was written is read, and the other way round: all that is set is looked at together.
    prepared.set(x=other, out=target)
    prepared.set(x=target, out=other)
    assert prepared() is other
    close(other, 4 * more)


def writable(given: tuple[kf.Texture, Array]) -> tuple[kf.Texture, Array]:
    """The picture, which calls may write to."""
    return kf.Texture.from_numpy(given[0].to_numpy(), given[0].format, writable=True), given[1]


def test_textures_that_cannot_be_set(calls: ModuleType) -> None:
    """All checks are made when it is set, and then nothing changes."""
    texture, texels = writable(picture(11, "rgba32f"))
    target = kf.Texture.empty(SIZE, "rgba32f")
    prepared = calls.paint_doubled.prepare(texture, out=target)
    fresh = writable(picture(13, "rgba32f"))[0]
    read_only = kf.Texture.from_numpy(np.zeros((*SIZE, 4), np.float32), "rgba32f")
    layers = kf.Texture.empty(SIZE, "rgba32f", layers=1)
    integers = kf.Texture.empty(SIZE, "rgba32i")
    for given, code, why in [
        ({"x": picture(1, extents=(5, 8))[0]}, "shape-mismatch", "'x'.*5, 8.*prepare another"),
        ({"x": integers}, "type-mismatch", "'x'.*ints"),
        ({"x": layers}, "rank-mismatch", r"'x'.*layer\(\)"),
        ({"x": target}, "aliasing", "texels of it"),
        ({"x": None}, "type-mismatch", "'x'.*kf.Texture is needed, not None"),
        ({"x": np.zeros((*SIZE, 4), np.float32)}, "type-mismatch", "'x'.*kf.Texture is needed"),
        ({"x": NEAREST}, "type-mismatch", "'x'.*kf.Texture is needed"),
        ({"out": kf.Texture.empty(SIZE, "rgba8")}, "type-mismatch", "kernels write texels of rgba32f alone"),
        ({"out": kf.Texture.empty((1, 7), "rgba32f")}, "shape-mismatch", "prepare another"),
        ({"out": read_only}, "type-mismatch", "which calls only read"),
        ({"out": texture}, "aliasing", "texels of it"),
        ({"x": fresh, "out": fresh}, "aliasing", "texels of it"),
        ({"x": fresh, "out": read_only}, "type-mismatch", "which calls only read"),
        ({"y": fresh}, "unknown-name", "it has 'x' and 'result'"),
    ]:
        with pytest.raises(kf.ArgumentError, match=re.compile(why)) as caught:
            prepared.set(given)
        assert caught.value.code == code, given
    prepared()
    close(target, 2 * texels)
    made = calls.paint_doubled.prepare(texture)
    with pytest.raises(kf.ArgumentError, match=r"the texture that the call made.*what can be set: 'x'$"):
        made.set(out=fresh)
    with pytest.raises(kf.ArgumentError, match="texels of it"):
        made.set(x=made.result)
    made.set(x=fresh)
    close(made(), 2 * fresh.to_numpy())
    tensors = calls.doubled.prepare(kf.Tensor.zeros((5, 7, 4)))
    with pytest.raises(
        kf.ArgumentError, match=r"settled when the call is prepared.*what can be set: no values"
    ):
        tensors.set(x=texture)
    levels = kf.Texture.empty((8, 8), "rgba32f", mips=2)
    levels.copy_from_numpy(np.ones((8, 8, 4), np.float32))
    into = calls.paint_doubled.prepare(
        kf.Texture.from_numpy(np.ones((4, 4, 4), np.float32), "rgba32f"), out=levels.mip(1)
    )
    with pytest.raises(kf.ArgumentError, match="texels of it"):
        into.set(x=levels.mip(1))


def test_samplers_structs_and_globals_set_in_prepared_calls(calls: ModuleType) -> None:
    texture, texels = picture(14)
    other, more = picture(15)
    at = kf.Tensor.from_numpy(middles())
    shade = calls.shade.prepare({"colours": texture, "how": NEAREST, "scale": 2}, at)
    shade.set({"material.colours": other, "material.scale": 3})
    close(shade(), 3 * more.reshape(-1, 4))
    shade.set(material={"colours": texture, "how": kf.Sampler("nearest", "repeat")})
    close(shade(), 3 * texels.reshape(-1, 4))
    with pytest.raises(kf.ArgumentError, match="compares"):
        shade.set({"material.how": kf.Sampler(compare="less")})
    with pytest.raises(kf.ArgumentError, match=r"a kf.Sampler is needed, not a 2D rgba8"):
        shade.set({"material.how": texture})
    combined = calls.combined.prepare((texture, NEAREST), at)
    combined.set(picture=(other, NEAREST))
    close(combined(), more.reshape(-1, 4))
    combined.set(picture=texture.with_sampler(NEAREST))
    close(combined(), texels.reshape(-1, 4))
    with pytest.raises(kf.ArgumentError, match="without a sampler"):
        combined.set(picture=other)
    page = kf.Tensor.from_numpy(np.arange(3, dtype=np.int32))
    pixel = kf.Tensor.from_numpy(np.array([[3, 2]] * 3, np.int32))
    pick = calls.pick.prepare([texture, other, texture], page, pixel)
    pick.set(pages=[other, texture, texture])
    close(pick(), np.stack([more[2, 3], texels[2, 3], texels[2, 3]]))
    pick.set({"pages[1]": other})
    close(pick(), np.stack([more[2, 3], more[2, 3], texels[2, 3]]))
    behind = calls.behind.set(backdrop=texture, smooth=NEAREST).prepare(at)
    behind.set(backdrop=other)
    close(behind(), more.reshape(-1, 4))
    walk = calls.walk.set({"g_scene": {"floor": texture, "how": NEAREST, "gain": 1}}).prepare(at)
    walk.set({"g_scene.floor": other, "g_scene.gain": 2})
    close(walk(), 2 * more.reshape(-1, 4))


def test_textures_set_in_graphs(calls: ModuleType) -> None:
    """Which call waits for which follows from the textures that are set."""
    texture, texels = picture(16, "rgba32f")
    a, b = (kf.Texture.empty(SIZE, "rgba32f") for _ in range(2))
    for one in (a, b):
        one.copy_from_numpy(np.zeros((*SIZE, 4), np.float32))
    first, second = calls.paint_doubled.node(), calls.paint_doubled.node()
    with kf.Graph() as graph:
        first(texture, out=a)
        second(b, out=kf.Texture.empty(SIZE, "rgba32f"))
        result = calls.at(a, kf.Tensor.from_numpy(places()))
    graph.replay()
    close(result, 2 * texels.reshape(-1, 4))
    c = kf.Texture.empty(SIZE, "rgba32f")
    second.set(x=a, out=c)
    graph.set(picture=c)
    for add in (0, 1):
        texture.copy_from_numpy(texels + np.float32(add))
        graph.replay()
        close(result, 4 * (texels + np.float32(add)).reshape(-1, 4))
    with pytest.raises(kf.ArgumentError, match="texels of it"):
        graph.set(x=a)
    graph.set(picture=b)
    graph.replay()
    close(result, np.zeros((35, 4), np.float32))


def test_refusals_say_what_differs(calls: ModuleType) -> None:
    """In plain calls, which look for an overload, too."""
    at = kf.Tensor.from_numpy(places())
    for given, why in [
        (kf.Texture.empty(SIZE, "rgba32i"), ", whose texels are read as ints"),
        (kf.Texture.empty(SIZE, "rgba8", layers=2), r": layer\(\) gives one of its layers"),
        (kf.Texture.empty((2, *SIZE), "rgba8"), "found a 3D rgba8 texture of shape .2, 5, 7.$"),
    ]:
        with pytest.raises(kf.ArgumentError, match=why):
            calls.at(given, at)
    with pytest.raises(
        kf.ArgumentError, match=r'write texels of rgba8 alone; make it so, or say its format .*"rgba16"'
    ):
        calls.put(kf.Texture.empty(SIZE, "rgba16"), SIZE, (1, 1, 1, 1))


def test_recorded_prepared_calls_keep_their_textures(calls: ModuleType) -> None:
    texture, texels = picture(17, "rgba32f")
    other, more = picture(18, "rgba32f")
    target, last = (kf.Texture.empty(SIZE, "rgba32f") for _ in range(2))
    prepared = calls.paint_doubled.prepare(texture, out=target)
    encoder = kf.default_device().encoder()
    prepared.append_to(encoder)
    prepared.set(x=other, out=last)
    prepared.append_to(encoder)
    encoder.submit()
    close(target, 2 * texels)
    close(last, 2 * more)


def test_graphs(calls: ModuleType) -> None:
    texture, texels = picture(12, "rgba32f")
    canvas = kf.Texture.empty(SIZE, "rgba32f")
    painted = kf.Texture.empty(SIZE, "rgba32f")
    with kf.Graph() as graph:
        calls.paint_doubled(texture, out=canvas)
        result = calls.at(canvas, kf.Tensor.from_numpy(places()))
        calls.paint.set(canvas=painted)(SIZE, (1, 2, 3, 4))
        for written in (canvas, painted, canvas.mip(0)):
            text = refusal(kf.ArgumentError, written.to_numpy)
            assert "read: the graph that this thread is recording writes to it" in text
        np.testing.assert_array_equal(texture.to_numpy(), texels)
    for add in (0, 5):
        texture.copy_from_numpy(texels + np.float32(add))
        graph.replay()
        close(result, 2 * (texels + np.float32(add)).reshape(-1, 4))


def test_hooks(calls: ModuleType) -> None:
    pages = iter([picture(i) for i in range(3)])
    seen: list[Array] = []

    def turn(context: kf.HookContext) -> None:
        texture, texels = next(pages)
        seen.append(texels)
        context.set(backdrop=texture)

    hooked = calls.behind.set(smooth=NEAREST).hook(turn)
    for _ in range(3):
        found = hooked(middles())
        close(found, seen[-1].reshape(-1, 4))


def test_writes_are_seen_by_what_comes_later(calls: ModuleType) -> None:
    """Between calls, of tensors and textures, and copies to and from the host."""
    a, b = (kf.Texture.empty(SIZE, "rgba32f") for _ in range(2))
    values = np.ones((*SIZE, 4), np.float32)
    a.copy_from_numpy(values)
    for _ in range(5):
        calls.paint_doubled(a, out=b)
        calls.paint_doubled(b, out=a)
    np.testing.assert_array_equal(a.to_numpy(), values * 2**10)
    tensor = calls.doubled(a)
    b.copy_from(tensor)
    calls.paint_doubled(b, out=a)
    np.testing.assert_array_equal(a.to_tensor().to_numpy(), values * 2**12)


def test_views_of_one_texture(calls: ModuleType) -> None:
    """Views of one texture, one of them written, and two of them read and written in one call."""
    texture = kf.Texture.empty((8, 8), "rgba32f", mips=2)
    texels = RGBA32F.texels((8, 8), 1)
    texture.copy_from_numpy(texels)
    below = kf.Texture.from_numpy(texels[::2, ::2].copy(), "rgba32f")
    calls.paint_doubled(below, out=texture.mip(1))
    np.testing.assert_array_equal(texture.mip(1).to_numpy(), 2 * texels[::2, ::2])
    np.testing.assert_array_equal(texture.to_numpy(), texels)
    layers = kf.Texture.empty(SIZE, "rgba32f", layers=2)
    layers.layer(0).copy_from_numpy(RGBA32F.texels(SIZE, 2))
    calls.paint_doubled(layers.layer(0), out=layers.layer(1))
    np.testing.assert_array_equal(layers.layer(1).to_numpy(), 2 * RGBA32F.texels(SIZE, 2))


def refused(call: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(kf.ArgumentError) as caught:
        call(*arguments, **named)
    return str(caught.value)


def test_refusals_leave_outputs_untouched(calls: ModuleType) -> None:
    texture, _ = picture(13, "rgba32f")
    poison = np.full((*SIZE, 4), 77, np.float32)
    target = kf.Texture.from_numpy(poison, "rgba32f", writable=True)
    only_read = kf.Texture.from_numpy(poison, "rgba32f")
    assert "writable" in refused(calls.paint_doubled, texture, out=only_read)
    other = refused(calls.put, kf.Texture.from_numpy(poison, "rgba32f", writable=True), (1, 1), (1, 1, 1, 1))
    assert other.startswith(
        "put: argument 'target': expected float4 rwtexture2d of rgba8, found a 2D rgba32f texture of shape "
        "[5, 7]"
    )
    assert "[5, 7]" in refused(calls.paint_doubled, texture, out=kf.Texture.empty((5, 8), "rgba32f"))
    assert "argument" in refused(calls.paint_doubled, target, out=target)
    assert "writable" in refused(calls.fill.threads(7, 5), only_read, (1, 1, 1, 1))
    np.testing.assert_array_equal(target.to_numpy(), poison)
    np.testing.assert_array_equal(only_read.to_numpy(), poison)


def test_refusals_name_what_was_given(calls: ModuleType) -> None:
    texture, texels = picture(14)
    at = places()
    assert refused(calls.at, texels, at).startswith(
        "at: argument 'picture': a kf.Texture is needed, not a float32 array of shape [5, 7, 4]: "
        "kf.Texture.from_numpy(a, format) makes one"
    )
    assert refused(calls.at, kf.Tensor.from_numpy(texels), at).startswith(
        "at: argument 'picture': a kf.Texture is needed, not a float32 tensor of shape (5, 7, 4): "
        "kf.Texture.from_tensor(x, format) makes one"
    )
    assert "a kf.Texture is needed, not 5" in refused(calls.at, 5, at)
    assert "a kf.Texture is needed, not Sampler(" in refused(calls.at, NEAREST, at)
    assert "found a 2D rgba8 texture of shape [5, 7]; to_tensor() copies it" in refused(
        calls.at, texture, texture
    )
    assert "a kf.Sampler is needed, not a 2D rgba8 texture" in refused(
        calls.shade, {"colours": texture, "how": texture, "scale": 1.0}, middles()
    )
    for wrong in (
        kf.Texture.empty((3, 5, 7), "rgba8"),
        kf.Texture.empty((5, 7), "rgba8", layers=2),
        kf.Texture.empty(7, "rgba8"),
        kf.Texture.empty((7, 7), "rgba8", kind="cube"),
        kf.Texture.empty((5, 7), "rgba8i"),
        kf.Texture.empty((5, 7), "r32ui"),
    ):
        text = refused(calls.red, wrong, at)
        assert text.startswith("red: argument 'image': expected float texture2d, found a"), text
        assert f" {wrong.format} texture of shape {list(wrong.shape)}" in text


def test_comparisons(comparison: ModuleType) -> None:
    depth = np.random.default_rng(1).random(SIZE).astype(np.float32)
    texture = kf.Texture.from_numpy(depth, "r32f")
    than = np.random.default_rng(2).random(depth.size).astype(np.float32)
    if kf.default_device().backend == "cuda":  # which has no comparison samplers, and so no kernels of these
        with pytest.raises(kf.ArtifactError):
            comparison.shadow(texture, kf.Sampler("nearest", compare="less"), middles(), than)
        return
    flat = depth.reshape(-1)
    expected: list[tuple[Any, Array]] = [("less", than < flat), ("greater_equal", than >= flat)]
    for word, holds in [*expected, ("always", np.ones(flat.size))]:
        sampler = kf.Sampler("nearest", compare=word)
        found = comparison.shadow(texture, sampler, middles(), than).to_numpy()
        np.testing.assert_array_equal(found, holds)
    uv = np.random.default_rng(3).uniform(-0.5, 1.5, (flat.size, 2)).astype(np.float32)
    for address in ("clamp", "repeat", "mirror"):
        sampler = kf.Sampler("linear", address, compare="less")
        compared = [
            sampled(np.repeat((one < depth)[..., None], 4, -1).astype(float), at[None], "linear", address, 0)
            for one, at in zip(than, uv.astype(np.float64), strict=True)
        ]
        found = comparison.shadow(texture, sampler, uv, than).to_numpy()
        np.testing.assert_allclose(found, np.array(compared)[:, 0, 0], rtol=0, atol=1e-4)
    with pytest.raises(kf.ArgumentError, match="compar"):
        comparison.shadow(texture, NEAREST, middles(), than)


@pytest.mark.parametrize("where", ["one layer", "layers"])
def test_gathered_and_layered_comparisons(comparison: ModuleType, where: str) -> None:
    if kf.default_device().backend == "cuda":
        return  # test_comparisons() has what there is
    random = np.random.default_rng(4)
    depth = random.random((3, *SIZE)).astype(np.float32)
    texture = kf.Texture.empty(SIZE, "r32f", layers=3)
    texture.copy_from_numpy(depth)
    single = kf.Texture.from_numpy(depth[1], "r32f")
    layer = random.integers(0, 3, depth[0].size) if where == "layers" else np.ones(depth[0].size, int)
    than = random.random(layer.size).astype(np.float32)

    def at(uv: Array) -> Array:
        return np.column_stack([uv, layer]).astype(np.float32)

    words: list[tuple[Any, Any]] = [
        ("less", np.less),
        ("greater_equal", np.greater_equal),
        ("not_equal", np.not_equal),
    ]
    for word, holds in words:
        sampler = kf.Sampler("nearest", compare=word)
        texel = depth[layer, places()[:, 1], places()[:, 0]]
        found = comparison.shadow_of_layer(texture, sampler, at(middles()), than).to_numpy()
        np.testing.assert_array_equal(found, holds(than, texel))
        # Counter-clockwise, the row below first, of the four around the corner between texels.
        right, below = np.minimum(places() + 1, np.array(SIZE[::-1]) - 1).T
        four = [(places()[:, 0], below), (right, below), (right, places()[:, 1]), tuple(places().T)]
        expected = np.stack([holds(than, depth[layer, y, x]) for x, y in four], -1)
        corners = middles() + 0.5 / np.array(SIZE[::-1], np.float32)
        if where == "layers":
            found = comparison.shadows_of_layer(texture, sampler, at(corners), than).to_numpy()
        else:
            found = comparison.shadows(single, sampler, corners, than).to_numpy()
        np.testing.assert_array_equal(found, expected)
    uv = random.uniform(-0.5, 1.5, (layer.size, 2)).astype(np.float32)
    for address in ("clamp", "repeat", "mirror"):
        passed = (than[:, None, None] < depth[layer])[..., None] * np.ones(4)
        blended = [
            sampled(one, place[None], "linear", address, 0)
            for one, place in zip(passed, uv.astype(np.float64), strict=True)
        ]
        sampler = kf.Sampler("linear", address, compare="less")
        found = comparison.shadow_of_layer(texture, sampler, at(uv), than).to_numpy()
        np.testing.assert_allclose(found, np.array(blended)[:, 0, 0], rtol=0, atol=1e-4)


def test_one_component(calls: ModuleType) -> None:
    texture, texels = picture(15, "r16f")
    close(calls.red(texture, places()), texels[..., 0].reshape(-1))
    many, texels = picture(16, "rgba8")
    close(calls.red(many, places()), texels[..., 0].reshape(-1))
