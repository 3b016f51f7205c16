"""Indices of buffers and textures in kernels that compare them: those in range give what they always do,
and others are told, and reach nothing beside the resource."""

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

N = 64  # floats of 256 bytes, where every device lets buffers begin
END = "; the access was not made, and what the launch wrote is undefined"


@pytest.fixture(scope="module")
def checked(generated: Loader) -> ModuleType:
    return generated("checked")


@pytest.fixture(scope="module")
def on_vulkan(device_module: kf.Device, generated: Loader) -> ModuleType:
    if device_module.backend != "vulkan":
        pytest.skip("needs a GPU with Vulkan: CUDA has no atomics on textures")
    return generated("checked_on_vulkan")


@pytest.fixture(scope="module")
def device_module() -> kf.Device:
    return kf.default_device()


@pytest.fixture(autouse=True)
def nothing_is_left(device: kf.Device) -> Iterator[None]:
    """Takes what a test left behind, so that the next one doesn't see it."""
    yield
    with contextlib.suppress(kf.Error):
        device.wait()


def error(act: Callable[[], Any]) -> str:
    """What the error says, without the launch's number and the line, which isn't known of buffers on CUDA."""
    with pytest.raises(kf.Error) as caught:
        act()
    assert type(caught.value) is kf.Error
    assert caught.value.code == "index-out-of-range"
    text = str(caught.value)
    assert text.endswith(END)
    before, _, rest = text.removesuffix(END).partition(", launch ")
    number, _, said = rest.partition(" ")
    assert number.isdigit()
    return f"{before} {said.partition(', at ')[0]}"


def ints(*values: int) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.int32))


def uints(*values: int) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.uint32))


def floats(*values: float) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.float32))


def pairs(*values: tuple[int, ...]) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.int32))


class Guarded:
    """Memory in the middle of more."""

    def __init__(self, content: np.ndarray[Any, Any]) -> None:
        self.size = len(content)
        before = np.full(N, 77, content.dtype)
        self.whole = np.concatenate([before, content, before])
        self.memory = kf.Tensor.from_numpy(self.whole)
        self.buffer = self.memory[N : N + self.size]

    def content(self) -> np.ndarray[Any, Any]:
        """What is there now; nothing around it has changed."""
        now = self.memory.to_numpy()
        assert (now[:N] == 77).all()
        assert (now[N + self.size :] == 77).all()
        return np.asarray(now[N : N + self.size])


def numbers() -> Guarded:
    return Guarded(np.arange(1, N + 1, dtype=np.float32))


# ---- Buffers ----


def test_in_range(device: kf.Device, checked: ModuleType) -> None:
    b = numbers().buffer
    i = ints(0, 5, N - 1)
    expected = [1, 6, N]
    assert (checked.read(b, i).to_numpy() == expected).all()
    assert checked.read(b, 7) == 8
    assert (checked.read_unchecked(b, i).to_numpy() == expected).all()
    assert (checked.read_alias(b, i).to_numpy() == expected).all()
    assert (checked.read_twice(b, uints(0, 5)).to_numpy() == [3, 13]).all()
    assert (checked.formatted(b, i).to_numpy() == 2 * np.array(expected)).all()
    device.wait()


@pytest.mark.parametrize("index", [-1, N, N + 5, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("name", ["read", "read_alias", "formatted"])
def test_loads(device: kf.Device, checked: ModuleType, name: str, index: int) -> None:
    b = numbers()
    y = kf.Tensor.empty(3, np.float32)
    getattr(checked, name)(b.buffer, ints(3, index, 4), out=y)
    told = {index} if index >= 0 or device.backend == "vulkan" else {index, index + 2**32}
    assert error(device.wait) in {
        f"{name} [1]: argument 'b': index [{one}] is outside of extents [{N}]" for one in told
    }
    factor = 2 if name == "formatted" else 1
    assert (y.to_numpy()[[0, 2]] == [4 * factor, 5 * factor]).all()
    b.content()


def test_the_line(device: kf.Device, checked: ModuleType) -> None:
    checked.read(numbers().buffer, ints(N))
    with pytest.raises(kf.Error) as caught:
        device.wait()
    line = ", at checked.slang:13" if device.backend == "vulkan" else ""
    assert str(caught.value).endswith(f"is outside of extents [{N}]{line}{END}")
    # An alias has no known line, and none is better than a wrong one.
    checked.read_alias(numbers().buffer, ints(N))
    with pytest.raises(kf.Error) as caught:
        device.wait()
    assert ", at " not in str(caught.value)


def test_in_a_function_that_is_called(device: kf.Device, checked: ModuleType) -> None:
    checked.read_twice(numbers().buffer, uints(N - 1))
    assert error(device.wait) == f"read_twice [0]: argument 'b': index [{N}] is outside of extents [{N}]"


@pytest.mark.parametrize("name", ["write", "add_in_place", "write_formatted"])
@pytest.mark.parametrize("index", [-1, N, 2**30])
def test_stores(device: kf.Device, checked: ModuleType, name: str, index: int) -> None:
    b = numbers()
    expected = b.content().copy()
    getattr(checked, name)(b.buffer, ints(2, index, N - 1), floats(5, 6, 7))
    assert f"{name} [1]: argument 'b': index [" in error(device.wait)
    expected[[2, N - 1]] = [8, N + 7] if name == "add_in_place" else [5, 7]
    assert (b.content() == expected).all()


def test_structs(device: kf.Device, checked: ModuleType) -> None:
    parts = kf.Buffer.empty(3, checked.Part.dtype)
    parts.copy_from_numpy(np.zeros(3, checked.Part.dtype))
    checked.write_part(parts, ints(2, 1), floats(1.5, 2.5))
    now = parts.to_numpy()
    assert (now["at"][:, 1] == [0, 2.5, 1.5]).all()
    assert (now["marks"][:, 1] == [0, 5, 3]).all()
    assert (now["count"] == [0, 1, 1]).all()
    checked.write_part(parts, ints(3), floats(9))
    assert error(device.wait) == "write_part [0]: argument 'parts': index [3] is outside of extents [3]"
    assert (parts.to_numpy() == now).all()


@pytest.mark.parametrize(("name", "by"), [("count", 3), ("count_of", 5)])
def test_atomics(device: kf.Device, checked: ModuleType, name: str, by: int) -> None:
    counts = Guarded(np.zeros(N, np.uint32))
    getattr(checked, name)(counts.buffer, ints(1, 1, N + 3, 4))
    assert error(device.wait) == f"{name} [2]: argument 'counts': index [{N + 3}] is outside of extents [{N}]"
    expected = np.zeros(N, np.uint32)
    expected[[1, 4]] = [2 * by, by]
    assert (counts.content() == expected).all()


def test_small_elements_and_wide_indices(device: kf.Device, checked: ModuleType) -> None:
    b = kf.Buffer.from_numpy(np.arange(10, dtype=np.uint8))
    at = kf.Tensor.from_numpy(np.array([9, 3], np.int64))
    assert (checked.small(b, at).to_numpy() == [9, 3]).all()
    checked.small(b, kf.Tensor.from_numpy(np.array([2**40], np.int64)))
    if device.backend == "vulkan":
        assert f"index [{2**40}] is outside of extents [10]" in error(device.wait)
    else:
        assert "argument 'b'" in error(device.wait)


def test_an_access_that_isnt_made_is_not_told(device: kf.Device, checked: ModuleType) -> None:
    b = numbers().buffer
    assert (checked.often(b, ints(N + 9, 1), 0).to_numpy() == 0).all()
    device.wait()
    assert (checked.often(b, ints(2, 1), 3).to_numpy() == [9, 6]).all()
    checked.often(b, ints(1, N + 9), 3)
    assert f"often [1]: argument 'b': index [{N + 9}]" in error(device.wait)


def test_empty_buffers(device: kf.Device, checked: ModuleType) -> None:
    checked.read(kf.Buffer.empty(0, np.float32), ints(0))
    assert error(device.wait) == "read [0]: argument 'b': index [0] is outside of extents [0]"
    checked.write(kf.Buffer.empty(0, np.float32), ints(0), floats(1))
    assert error(device.wait) == "write [0]: argument 'b': index [0] is outside of extents [0]"


# ---- Byte addresses ----

WORDS = np.arange(1, N + 1, dtype=np.uint32)
LOADS = {"load_1": 4, "load_2": 8, "load_3": 12, "load_4": 16, "load_half": 2, "load_part": 24}


@pytest.mark.parametrize("name", list(LOADS))
def test_loads_of_bytes(device: kf.Device, checked: ModuleType, name: str) -> None:
    size = LOADS[name]
    b = Guarded(WORDS)
    last = 4 * N - max(size, 4)
    last_word = {"load_part": (last + 12) // 4}.get(name, (last + size - 1) // 4)
    y = getattr(checked, name)(b.buffer, uints(0, last))
    assert y.to_numpy()[1] == WORDS[last_word]
    device.wait()
    # A struct's unused fields may not be read.
    wrong = 4 * N - 12 if name == "load_part" else last + 4
    getattr(checked, name)(b.buffer, uints(0, wrong), out=y)
    assert (
        error(device.wait) == f"{name} [1]: argument 'bytes': index [{4 * N}] is outside of extents [{4 * N}]"
    )
    assert y.to_numpy()[0] == WORDS[{"load_part": 3}.get(name, (size - 1) // 4)]
    b.content()


@pytest.mark.parametrize(("name", "words"), [("store_1", 1), ("store_4", 4), ("add_word", 1)])
def test_stores_of_bytes(device: kf.Device, checked: ModuleType, name: str, words: int) -> None:
    b = Guarded(WORDS)
    last = 4 * (N - words)
    getattr(checked, name)(b.buffer, uints(8, last), uints(100, 200))
    device.wait()
    expected = WORDS.copy()
    for first, value in ((2, 100), (N - words, 200)):
        for word in range(first, first + words):
            expected[word] = value + (WORDS[word] if name == "add_word" else 0)
    assert (b.content() == expected).all()
    getattr(checked, name)(b.buffer, uints(4 * N), uints(5))
    assert (
        error(device.wait) == f"{name} [0]: argument 'bytes': index [{4 * N}] is outside of extents [{4 * N}]"
    )
    assert (b.content() == expected).all()


# ---- Where buffers come from ----


def test_fields(device: kf.Device, checked: ModuleType) -> None:
    source, target = numbers(), numbers()
    checked.copy({"from": source.buffer, "to": target.buffer}, ints(3, N), ints(0, 1))
    assert error(device.wait) == f"copy [1]: argument 'pair.from': index [{N}] is outside of extents [{N}]"
    checked.copy({"from": source.buffer, "to": target.buffer}, ints(3), ints(-1))
    assert "copy [0]: argument 'pair.to': index [" in error(device.wait)
    assert (source.content() == np.arange(1, N + 1)).all()
    assert target.content()[0] == 4


def test_globals(device: kf.Device, checked: ModuleType) -> None:
    table = numbers()
    of_global = checked.of_global.set(table=table.buffer)
    assert (of_global(ints(4)).to_numpy() == [5]).all()
    of_global(ints(N))
    assert (
        error(device.wait)
        == f"of_global [0]: argument 'globals.table': index [{N}] is outside of extents [{N}]"
    )


def test_arrays(device: kf.Device, checked: ModuleType) -> None:
    tables = [floats(*range(10 * k, 10 * k + size)) for k, size in enumerate((3, 5, 4))]
    y = checked.of_several(tables, ints(2, 4, 3), ints(0, 1, 2))
    assert (y.to_numpy() == [2, 14, 23]).all()
    checked.of_several(tables, ints(4, 4), ints(1, 2))
    assert error(device.wait) == "of_several [1]: argument 'tables[2]': index [4] is outside of extents [4]"


def test_counters(device: kf.Device, checked: ModuleType) -> None:
    kept = {"elements": kf.Buffer.empty(2, np.int32), "count": kf.Buffer.zeros(1, np.uint32)}
    checked.keep(kept, ints(5, 6, 7))
    assert kept["count"].to_numpy()[0] == 3
    assert set(kept["elements"].to_numpy()) < {5, 6, 7}
    taken = checked.take(
        kept | {"count": kf.Buffer.from_numpy(np.array([2], np.uint32), writable=True)}, ints(0, 0, 0)
    )
    assert sorted(taken.to_numpy())[0] == 0
    device.wait()


def test_extents(device: kf.Device, checked: ModuleType) -> None:
    t = kf.Texture.empty((5, 7), "r32f", mips=0)
    assert (checked.extents(floats(1, 2, 3), t, ints(0)).to_numpy() == [[3, 30507]]).all()
    device.wait()


def test_threads(device: kf.Device, checked: ModuleType) -> None:
    b = numbers()
    checked.by_threads.threads(N // 2)(b.buffer)
    device.wait()
    checked.by_threads.threads(N // 2 + 1)(b.buffer)
    assert error(device.wait) == (
        f"by_threads thread [{N // 2}, 0, 0]: argument 'b': index [{N}] is outside of extents [{N}]"
    )
    assert (b.content()[::2] == np.arange(N // 2)).all()


# ---- Gradients ----


def gradient(tensor: kf.Tensor) -> kf.Tensor:
    assert tensor.grad is not None
    return tensor.grad


def test_backward(device: kf.Device, checked: ModuleType) -> None:
    by, x = numbers(), floats(1, 2).with_grads()
    y = checked.scaled(by.buffer, ints(2, 3), x)
    checked.scaled.backward(by.buffer, ints(2, 3), x, y)
    assert (gradient(x).to_numpy() == [6, 16]).all()
    checked.scaled.backward(by.buffer, ints(2, N), x, y)
    assert (
        error(device.wait) == f"scaled.backward [1]: argument 'by': index [{N}] is outside of extents [{N}]"
    )
    by.content()


def test_forward_derivatives(device: kf.Device, checked: ModuleType) -> None:
    b = numbers().buffer
    _, moved = checked.scaled.jvp(b, ints(2), floats(2), tangents={"x": floats(1)})
    assert (moved.to_numpy() == 12).all()
    checked.scaled.jvp(b, ints(N), floats(2), tangents={"x": floats(1)})
    assert f"[0]: argument 'by': index [{N}] is outside of extents [{N}]" in error(device.wait)


def test_backward_through_buffers(device: kf.Device, checked: ModuleType) -> None:
    grads = Guarded(np.zeros(N, np.float32))
    given = {"values": numbers().buffer, "grads": grads.buffer}
    x = floats(2, 3).with_grads()
    y = checked.weighted(given, ints(1, 4), x)
    checked.weighted.backward(given, ints(1, 4), x, y)
    expected = np.zeros(N, np.float32)
    expected[[1, 4]] = [4, 9]
    assert (grads.content() == expected).all()
    checked.weighted.backward(given, ints(1, N), x, y)
    said = error(device.wait)
    assert said.startswith("weighted.backward [1]: argument 'weights.")
    assert said.endswith(f"index [{N}] is outside of extents [{N}]")
    expected[1] = 8
    assert (grads.content() == expected).all()


# ---- Textures ----

HEIGHT, WIDTH = 5, 7
PICTURE = np.arange(HEIGHT * WIDTH, dtype=np.float32).reshape(HEIGHT, WIDTH)


def picture(writable: bool = False) -> kf.Texture:
    return kf.Texture.from_numpy(PICTURE, "r32f", writable=writable)


def test_texels_in_range(device: kf.Device, checked: ModuleType) -> None:
    t = picture()
    at = pairs((0, 0), (6, 4), (2, 1))
    assert (checked.texel(t, at).to_numpy() == [0, 34, 9]).all()
    assert (checked.texel_of_mip(t, at, ints(0, 0, 0)).to_numpy() == [0, 34, 9]).all()
    assert (checked.texel_beside(t, pairs((1, 1), (5, 2))).to_numpy() == [23, 34]).all()
    line = kf.Texture.from_numpy(PICTURE[0], "r32f")
    assert (checked.texel_1d(line, ints(6)).to_numpy() == 6).all()
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    solid = kf.Texture.from_numpy(cube, "r32f")
    assert (checked.texel_3d(solid, pairs((3, 2, 1))).to_numpy() == 23).all()
    layers = kf.Texture.from_numpy(cube, "r32f", kind="2d_array")
    assert (checked.texel_of_layer(layers, pairs((3, 2, 1))).to_numpy() == 23).all()
    assert (checked.texel_of_several([t, t], at, ints(0, 1, 1)).to_numpy() == [0, 34, 9]).all()
    device.wait()


@pytest.mark.parametrize("at", [(WIDTH, 0), (0, HEIGHT), (-1, 0), (3, -1), (2**20, 2)])
def test_texels_beyond(device: kf.Device, checked: ModuleType, at: tuple[int, int]) -> None:
    y = kf.Tensor.empty(2, np.float32)
    checked.texel(picture(), pairs((2, 1), at), out=y)
    told = {at} | {tuple(x % 2**32 for x in at)}
    assert error(device.wait) in {
        f"texel [1]: argument 't': index [{x}, {y}] is outside of extents [7, 5]" for x, y in told
    }
    assert (y.to_numpy() == [9, 0]).all()


def test_other_dimensions(device: kf.Device, checked: ModuleType) -> None:
    checked.texel_1d(kf.Texture.from_numpy(PICTURE[0], "r32f"), ints(7))
    assert error(device.wait) == "texel_1d [0]: argument 't': index [7] is outside of extents [7]"
    cube = np.zeros((2, 3, 4), np.float32)
    checked.texel_3d(kf.Texture.from_numpy(cube, "r32f"), pairs((1, 1, 2)))
    assert error(device.wait) == "texel_3d [0]: argument 't': index [1, 1, 2] is outside of extents [4, 3, 2]"
    layers = kf.Texture.from_numpy(cube, "r32f", kind="2d_array")
    checked.texel_of_layer(layers, pairs((1, 1, 2)))
    assert (
        error(device.wait)
        == "texel_of_layer [0]: argument 't': index [1, 1, 2] is outside of extents [4, 3, 2]"
    )


def test_mips(device: kf.Device, checked: ModuleType) -> None:
    t = kf.Texture.from_numpy(np.ones((4, 8), np.float32), "r32f", mips=0)
    t.generate_mips()
    y = checked.texel_of_mip(t, pairs((7, 3), (3, 1), (0, 0)), ints(0, 1, 3))
    assert (y.to_numpy() == 1).all()
    device.wait()
    checked.texel_of_mip(t, pairs((4, 1)), ints(1))
    assert (
        error(device.wait)
        == "texel_of_mip [0]: argument 't': index [4, 1, 1] is outside of extents [4, 2, 4]"
    )
    checked.texel_of_mip(t, pairs((0, 0)), ints(4))
    assert (
        error(device.wait)
        == "texel_of_mip [0]: argument 't': index [0, 0, 4] is outside of extents [8, 4, 4]"
    )


def test_offsets(device: kf.Device, checked: ModuleType) -> None:
    checked.texel_beside(picture(), pairs((6, 2)))
    assert error(device.wait) == "texel_beside [0]: argument 't': index [7, 4] is outside of extents [7, 5]"


def test_arrays_of_textures(device: kf.Device, checked: ModuleType) -> None:
    small = kf.Texture.from_numpy(PICTURE[:2, :3], "r32f")
    checked.texel_of_several([picture(), small], pairs((6, 4), (3, 1)), ints(0, 1))
    assert error(device.wait) == (
        "texel_of_several [1]: argument 't[1]': index [3, 1] is outside of extents [3, 2]"
    )


def test_sampling_has_no_bounds(device: kf.Device, checked: ModuleType) -> None:
    sampler = kf.Sampler("nearest", "clamp")
    uv = kf.Tensor.from_numpy(np.array([[9, -3], [0, 0]], np.float32))
    y = checked.sampled_and_read(picture(), sampler, floats(100, 200), uv, ints(0, 1))
    assert (y.to_numpy() == [112, 200]).all()
    device.wait()
    checked.sampled_and_read(picture(), sampler, floats(100, 200), uv, ints(0, 2))
    assert error(device.wait) == "sampled_and_read [1]: argument 'b': index [2] is outside of extents [2]"


@pytest.mark.parametrize("name", ["set_texel", "raise_texel"])
def test_stores_of_texels(device: kf.Device, checked: ModuleType, name: str) -> None:
    t = picture(writable=True)
    getattr(checked, name)(t, pairs((1, 1), (7, 1), (6, 4)), floats(50, 60, 70))
    assert error(device.wait) == f"{name} [1]: argument 't': index [7, 1] is outside of extents [7, 5]"
    expected = PICTURE.copy()
    expected[1, 1], expected[4, 6] = (58, 104) if name == "raise_texel" else (50, 70)
    assert (t.to_numpy() == expected).all()


def test_stores_in_3d(device: kf.Device, checked: ModuleType) -> None:
    t = kf.Texture.from_numpy(np.zeros((2, 3, 4), np.float32), "r32f", writable=True)
    checked.set_3d(t, pairs((3, 2, 1), (3, 2, -1)), floats(5, 6))
    assert "set_3d [1]: argument 't': index [3, 2, " in error(device.wait)
    expected = np.zeros((2, 3, 4), np.float32)
    expected[1, 2, 3] = 5
    assert (t.to_numpy() == expected).all()


# ---- What CUDA hasn't ----


def test_atomics_on_texels(device: kf.Device, on_vulkan: ModuleType) -> None:
    t = kf.Texture.from_numpy(np.zeros((3, 4), np.uint32), "r32ui", writable=True)
    on_vulkan.count_texel(t, pairs((1, 2), (1, 2), (4, 0)))
    assert error(device.wait) == "count_texel [2]: argument 't': index [4, 0] is outside of extents [4, 3]"
    expected = np.zeros((3, 4), np.uint32)
    expected[2, 1] = 6
    assert (t.to_numpy() == expected).all()


def test_atomics_beside_stores_of_bytes(device: kf.Device, on_vulkan: ModuleType) -> None:
    b = Guarded(WORDS)
    assert (on_vulkan.change_words(b.buffer, uints(0)).to_numpy() == 9).all()
    device.wait()
    on_vulkan.change_words(b.buffer, uints(4 * N - 4))
    assert error(device.wait) == (
        f"change_words [0]: argument 'bytes': index [{4 * N}] is outside of extents [{4 * N}]"
    )
    assert (b.content()[[0, 1]] == [1, 9]).all()
