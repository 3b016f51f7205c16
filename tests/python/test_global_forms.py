"""Globals in every form that modules declare them in, against NumPy."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, buffer, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)
INT = np.dtype(np.int32)


@pytest.fixture(scope="module")
def forms(generated: Loader) -> ModuleType:
    return generated("global_forms")


def indices(size: int) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.arange(size, dtype=INT))


def test_what_each_reaches(forms: ModuleType) -> None:
    assert forms.seen.globals == ["eye", "zoom", "shift", "sun"]
    assert forms.nested.globals == ["outer.inner.gain", "outer.inner.weight"]
    assert forms.far.globals == ["fog", "air.gain", "haze"]
    assert forms.both.globals == ["scenery.scale", "backdrop.scale"]
    assert forms.fixed.globals == []
    assert forms.grown.globals == ["tree"]


@pytest.mark.parametrize("size", SIZES)
def test_cbuffers_and_implicit_uniforms(forms: ModuleType, size: int) -> None:
    x = buffer((size,), FLOAT, "strided", numbers((size,), FLOAT, 1))
    seen = forms.seen.set(eye=(1, 2, 3), zoom=2, shift=5, sun=(1, 0, 1))
    np.testing.assert_array_equal(seen(x.tensor).to_numpy(), 4 * x.array * 2 + 5)
    # Members are set one by one, and the rest stays.
    np.testing.assert_array_equal(seen.set(shift=0)(x.tensor).to_numpy(), 4 * x.array * 2)


def test_small_forms(forms: ModuleType) -> None:
    frame = np.arange(6, dtype=FLOAT).reshape(2, 3)
    assert forms.framed.set(frame=frame, steps=[1, 2, 4])((1, 2, 3)) == frame[1] @ (1, 2, 3) + 2
    assert forms.biased.set(bias=0.5)(2) == 2.5
    assert forms.nested.set({"outer.inner.gain": 3, "outer.inner.weight": (1, 2, 3, 4)})(2) == 10
    far = forms.far.set({"fog": {"density": 2, "color": (1, 3, 5)}, "air.gain": 4, "haze": 0.5})
    assert far(3) == 25.5
    assert far.set(fog={"density": 1})(3) == 13.5
    assert forms.both.set({"scenery.scale": 2, "backdrop.scale": 10})(3) == 36
    assert forms.fixed(2) == 6


def test_a_module_is_set_as_a_whole(forms: ModuleType) -> None:
    first = forms.set({"outer.inner.gain": 3}, zoom=2, eye=(1, 2, 3), sun=(1, 0, 1), haze=1)
    second = first.set(
        {"outer.inner.weight": (0, 0, 0, 1), "fog": {"density": 1, "color": (1, 1, 1)}}, shift=1
    )
    third = second.set({"air.gain": 2, "fog": {"density": 4}})
    assert second.nested(2) == 7
    assert second.seen(np.ones(2, FLOAT)).to_numpy().tolist() == [9, 9]
    assert third.far(3) == 25
    assert second.fixed is first.fixed
    for function in (first.nested, second.far, forms.nested):
        with pytest.raises(kf.ArgumentError, match="isn't set"):
            function(2)


@pytest.mark.parametrize("size", SIZES)
def test_buffers(forms: ModuleType, size: int) -> None:
    values, flow = numbers((size,), FLOAT, 1), numbers((size,), FLOAT, 2)
    curve = numbers((size,), FLOAT, 3)
    for given in (kf.Buffer.from_numpy(curve), kf.Tensor.from_numpy(curve), curve):
        curved = forms.curved.set({"outer.inner.curve": given})
        x = kf.Tensor.from_numpy(values).with_grads()
        y = curved(x).with_grads(grad_in=kf.Tensor.from_numpy(flow))
        np.testing.assert_array_equal(y.to_numpy(), values * values * curve)
        curved.backward(x, y)
        assert x.grad is not None
        np.testing.assert_array_equal(x.grad.to_numpy(), 2 * values * curve * flow)
    particles = np.zeros(size, forms.Particle.dtype)
    particles["position"] = numbers((size, 3), FLOAT, 4)
    particles["mass"] = values
    moved = forms.moved.set(particles=kf.Buffer.from_numpy(particles))(indices(size)).to_numpy()
    np.testing.assert_array_equal(moved, particles["position"][:, 1] * values)


@pytest.mark.parametrize("size", SIZES)
def test_writes_are_waited_for(forms: ModuleType, size: int) -> None:
    """Calls that write and read the same memory through their globals, one after the other."""
    expected = np.full(size + 8, 77, FLOAT)
    inside = expected[4 : 4 + size]
    inside[:] = numbers((size,), FLOAT, 1)
    whole = kf.Tensor.from_numpy(expected)
    sums = whole[4 : 4 + size]  # buffers begin at 16 bytes
    i = indices(size)
    collect = forms.collect.set(sums=sums)
    encoder = kf.default_device().encoder()
    for _ in range(3):
        collect(i, 2.0)
        collect.append_to(encoder, i, 2.0)
    inside += 3 * 2 * size
    curved = forms.curved.set({"outer.inner.curve": sums})
    np.testing.assert_array_equal(curved(np.ones(size, FLOAT)).to_numpy(), inside)
    encoder.submit()
    inside += 3 * 2 * size
    np.testing.assert_array_equal(whole.to_numpy(), expected)
    count_up = forms.count_up.set(numbers=sums)
    count_up(i)
    count_up.set(numbers=kf.Buffer.from_numpy(np.zeros(size, FLOAT), writable=True))(i)
    count_up(i)
    inside += 2
    np.testing.assert_array_equal(whole.to_numpy(), expected)


@pytest.mark.parametrize("size", SIZES)
def test_bytes_and_structs(forms: ModuleType, size: int) -> None:
    words = np.arange(size, dtype=np.uint32) * 3
    written = kf.Buffer.from_numpy(np.full(size + 1, 77, np.uint32), writable=True)
    forms.copy_words.set(words=kf.Buffer.from_numpy(words), bytes=written)(indices(size))
    assert written.to_numpy().view(np.uint32).tolist() == [*(words + 1), 77]
    marks = kf.Buffer.from_numpy(np.full(size, -1, INT), writable=True)
    depths = numbers((size,), FLOAT, 1)
    bark = {"rings": 2, "offsets": [5, 7], "depths": kf.Buffer.from_numpy(depths), "marks": marks}
    grown = forms.grown.set(tree={"bark": bark, "height": 4})
    np.testing.assert_array_equal(grown(indices(size)).to_numpy(), depths * 2 + 4)
    assert marks.to_numpy().tolist() == (np.arange(size) + 7).tolist()
    taller = grown.set(tree={"height": 5, "bark": {"rings": 1}})
    np.testing.assert_array_equal(taller(indices(size)).to_numpy(), depths + 5)


@pytest.mark.parametrize("size", SIZES)
def test_typed_buffers(forms: ModuleType, size: int) -> None:
    """Slang's buffers with formats, and a constant buffer in a block and as a function's parameter."""
    stops = numbers((size, 2), FLOAT, 2)
    marks = kf.Buffer.from_numpy(np.ones(size + 1, FLOAT), writable=True)
    points = np.zeros(size, forms.Particle.dtype)
    points["position"], points["mass"] = numbers((size, 3), FLOAT, 3), numbers((size,), FLOAT, 4)
    values = {"scale": (2, 3), "points": kf.Buffer.from_numpy(points), "marks": marks}
    stopped = forms.stopped.set(chart=values, stops=kf.Buffer.from_numpy(stops), shared_scale=(5, 7))
    expected = (stops[:, 0] * 2 + 3) * 12 + points["position"][:, 2] * points["mass"]
    np.testing.assert_allclose(stopped(indices(size)).to_numpy(), expected, rtol=1e-5)
    np.testing.assert_array_equal(marks.to_numpy(), [*(stops[:, 1] + 1), 1])


@pytest.mark.parametrize("size", SIZES)
def test_resources_in_cbuffers(forms: ModuleType, size: int) -> None:
    """Each member is a global by its own name: textures, samplers, buffers, pointers, structs of them."""
    gloss = numbers((2, size + 1), FLOAT, 1)
    glaze = numbers((2, 4), FLOAT, 2)
    dust = np.zeros(size, forms.Particle.dtype)
    dust["mass"] = numbers((size,), FLOAT, 3)
    weights = numbers((size,), FLOAT, 4)
    maps = [kf.Texture.from_numpy(texels, "r32f") for texels in (glaze * 0, glaze)]
    finished = forms.finished.set(
        shine=3,
        tint=0.5,
        hues={"hue": (1, 2, 3), "weight": 0.25},
        gloss=kf.Texture.from_numpy(gloss, "r32f"),
        dust=kf.Buffer.from_numpy(dust),
        weights=kf.Tensor.from_numpy(weights),
        glaze={"maps": maps, "depth": 2},
        nearest=kf.Sampler(filter="nearest", address="repeat"),
    )
    expected = (
        3 * 0.5 * 6 * 0.25 * gloss[1, :size] + dust["mass"] * weights + 2 * glaze[0, np.arange(size) % 4]
    )
    np.testing.assert_allclose(finished(indices(size)).to_numpy(), expected, rtol=1e-5, atol=1e-6)
    again = finished.set(shine=0, dust=kf.Buffer.from_numpy(np.zeros_like(dust)))
    expected = 2 * glaze[0, np.arange(size) % 4]
    np.testing.assert_allclose(again(indices(size)).to_numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_pointers_in_blocks(forms: ModuleType, size: int) -> None:
    """Tensors, buffers and addresses, in arrays and structs of any depth."""
    written = kf.Tensor.from_numpy(np.full(size + 4, 77, FLOAT))
    rows = [numbers((size,), FLOAT, i) for i in range(4)]
    stock = np.zeros(size, forms.Particle.dtype)
    stock["mass"] = numbers((size,), FLOAT, 5)
    last = kf.Tensor.from_numpy(rows[3])
    shelves = [
        {"rows": [written[:size], kf.Buffer.from_numpy(rows[1], writable=True)], "first": (1, 2)},
        {"rows": [kf.Tensor.from_numpy(rows[2]), last], "first": (3, 4)},
    ]
    values = {"shelves": shelves, "stock": kf.Buffer.from_numpy(stock, writable=True), "price": 0.5}
    stored = forms.stored.set(store=values)
    expected = rows[3] * np.float32(0.5) + stock["mass"] + 4
    np.testing.assert_allclose(stored(indices(size)).to_numpy(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(written.to_numpy(), [78] * size + [77] * 4)
    again = stored.set(store={"price": 0})
    expected = stock["mass"] + 4
    np.testing.assert_allclose(again(indices(size)).to_numpy(), expected, rtol=1e-5, atol=1e-6)


def test_entry_points(forms: ModuleType) -> None:
    """Its groupshared memory is its own."""
    out = kf.Buffer.from_numpy(np.full(64, -1, FLOAT), writable=True)
    forms.reverse.set(zoom=2).groups(2)(out)
    expected = np.arange(64, dtype=FLOAT).reshape(2, 32)[:, ::-1] * 2
    np.testing.assert_array_equal(out.to_numpy(), expected.ravel())


ONE = np.zeros(1, INT)


def chart(m: ModuleType) -> dict[str, Any]:
    """Globals of stopped, with a buffer that is only read for one that is written."""
    marks = kf.Buffer.from_numpy(np.zeros(1, FLOAT))
    points = kf.Buffer.from_numpy(np.zeros(1, m.Particle.dtype))
    return {"chart": {"scale": (1, 1), "points": points, "marks": marks}, "shared_scale": (1, 1)}


REFUSALS: list[tuple[str, Callable[[ModuleType], Any], str]] = [
    (
        "missing-argument",
        lambda m: m.seen.set(eye=(1, 1, 1), zoom=1, sun=(1, 1, 1))(np.ones(2, FLOAT)),
        "the global 'shift', which it",
    ),
    ("missing-argument", lambda m: m.biased(1), "the global 'bias', which it reads, isn't set"),
    (
        "missing-argument",
        lambda m: m.far.set(fog={"density": 1, "color": (1, 1, 1)}, haze=1)(1),
        "the global 'air.gain', which",
    ),
    (
        "missing-argument",
        lambda m: m.both.set({"scenery.scale": 1})(1),
        "the global 'backdrop.scale', which it reads",
    ),
    (
        "unknown-name",
        lambda m: m.both.set(scale=1),
        "'scale' is one of scenery.scale and backdrop.scale: name it so",
    ),
    (
        "unknown-name",
        lambda m: m.set(scale=1),
        "'scale' is one of backdrop.scale and scenery.scale: name it so",
    ),
    (
        "unknown-name",
        lambda m: m.set(scal=1),
        "global_forms: no global 'scal'; it reaches air.gain, backdrop.scale, bias",
    ),
    ("type-mismatch", lambda m: m.set(3), r"a dict of globals is needed, as in \{\"tint\": 2\}, not 3"),
    ("missing-argument", lambda m: m.moved(ONE), "the global 'particles', which it reads, isn't set"),
    ("missing-argument", lambda m: m.count_up(ONE), "the global 'numbers', which it reads, isn't set"),
    ("missing-argument", lambda m: m.grown(ONE), "the global 'tree', which it reads, isn't set"),
    (
        "type-mismatch",
        lambda m: m.stopped.set(chart(m), stops=kf.Buffer.from_numpy(ONE))(ONE),
        r"globals\.stops.*float2",
    ),
    (
        "type-mismatch",
        lambda m: m.stopped.set(chart(m), stops=kf.Buffer.zeros((1, 2)))(ONE),
        r"globals\.chart\.marks.*only read",
    ),
    (
        "missing-argument",
        lambda m: m.grown.set(tree={"height": 1})(ONE),
        r"globals\.tree.*field 'bark' of Tree is missing",
    ),
    (
        "missing-argument",
        lambda m: m.copy_words.set(bytes=kf.Buffer.from_numpy(ONE))(ONE),
        "the global 'words'",
    ),
    (
        "type-mismatch",
        lambda m: m.collect.set(sums=kf.Buffer.from_numpy(np.ones(1, FLOAT)))(ONE, 1.0),
        r"globals\.sums.*the call writes it",
    ),
    (
        "type-mismatch",
        lambda m: m.curved.set({"outer.inner.curve": kf.Buffer.from_numpy(ONE)})(np.ones(1, FLOAT)),
        r"globals\.outer\.inner\.curve.*expected float buffer",
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals(forms: ModuleType, number: int) -> None:
    code, call, message = REFUSALS[number]
    with pytest.raises(kf.ArgumentError, match=message) as caught:
        call(forms)
    assert caught.value.code == code
