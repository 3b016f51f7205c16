"""Structs by value, in tensors and field by field, forward and backward, against NumPy in float64."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

Array = npt.NDArray[Any]
SIZES = [0, 1, 31, 33, 4097]
POISON = np.float32(-12345.0)


@pytest.fixture(scope="module")
def structs(generated: Loader) -> Any:
    return generated("structs")


def rays(structs: Any, *shape: int, seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    made = np.zeros(shape, structs.Ray.dtype)
    made["pos"] = random.uniform(-1, 1, (*shape, 3))
    made["dir"] = random.uniform(-1, 1, (*shape, 3))
    return made


def traced(ray: Array, t: Any) -> Array:
    pos, way = ray["pos"].astype(np.float64), ray["dir"].astype(np.float64)
    return pos + way * np.asarray(t, np.float64)[..., None] * pos[..., [2, 0, 1]]


def traced_gradients(ray: Array, t: Any, out: Array) -> tuple[Array, Array, Array]:
    """Of pos, dir and t, when `out` flows in."""
    pos, way = ray["pos"].astype(np.float64), ray["dir"].astype(np.float64)
    step = np.asarray(t, np.float64)[..., None]
    turned = out * way * step
    return (
        out + turned[..., [1, 2, 0]],
        out * step * pos[..., [2, 0, 1]],
        (out * way * pos[..., [2, 0, 1]]).sum(-1),
    )


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=2e-5, atol=2e-5)


@dataclass
class PlainRay:
    pos: Any
    dir: Any


GIVEN: list[Callable[[Any, list[float], list[float]], Any]] = [
    lambda _, pos, way: {"pos": pos, "dir": way},
    lambda _, pos, way: PlainRay(tuple(pos), way),
    lambda _, pos, way: SimpleNamespace(pos=pos, dir=np.array(way, np.float32)),
    lambda structs, pos, way: structs.Ray(pos=pos, dir=way),
    lambda structs, pos, way: np.array((pos, way), structs.Ray.dtype),
    lambda structs, pos, way: np.array([(pos, way)], structs.Ray.dtype)[0],
]


@pytest.mark.parametrize("make", GIVEN)
def test_value(structs: Any, make: Callable[..., Any]) -> None:
    pos, way = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    close(structs.raytrace(make(structs, pos, way), 2), [25, 12, 27])


@pytest.mark.parametrize("make", [GIVEN[0], GIVEN[1], GIVEN[3], GIVEN[5]])
def test_value_gradient_has_the_structs_shape(structs: Any, make: Callable[..., Any]) -> None:
    ray = kf.differentiable(make(structs, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    t = kf.differentiable(2.0)
    for times in (1, 2):
        structs.raytrace.backward(ray, t)
        pos, way = (
            (ray.grad["pos"], ray.grad["dir"]) if isinstance(ray.grad, dict) else (ray.grad.pos, ray.grad.dir)
        )
        close(pos, np.multiply([11, 13, 9], times))
        close(way, np.multiply([6, 2, 4], times))
        assert t.grad == pytest.approx(times * (4 * 3 + 5 * 1 + 6 * 2))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("varying", [False, True])
def test_tensor_of_structs(structs: Any, size: int, varying: bool) -> None:
    host = rays(structs, size)
    t = np.linspace(-1, 1, size, dtype=np.float32) if varying else np.float32(0.75)
    ray = kf.Tensor.from_numpy(host).with_grads()
    step: Any = kf.Tensor.from_numpy(t).with_grads() if varying else kf.differentiable(float(t))
    colors = structs.raytrace(ray, step)
    close(colors.to_numpy(), traced(host, t))
    close(structs.raytrace(host, step).to_numpy(), traced(host, t))

    flowing = rays(structs, size, seed=1)["pos"]
    colors = colors.with_grads(grad_in=kf.Tensor.from_numpy(np.ascontiguousarray(flowing)))
    structs.raytrace.backward(ray, step, colors)
    d_pos, d_dir, d_t = traced_gradients(host, t, flowing.astype(np.float64))
    assert ray.grad is not None
    assert ray.grad.dtype == structs.Ray.dtype
    close(ray.grad.to_numpy()["pos"], d_pos)
    close(ray.grad.to_numpy()["dir"], d_dir)
    if varying:
        close(step.grad.to_numpy(), d_t)
    else:
        np.testing.assert_allclose(step.grad, d_t.sum(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("size", SIZES)
def test_layouts_agree(structs: Any, size: int) -> None:
    """AOS, its flat views of rank 1 to 3, SOA and mixed: the same colours and gradients."""
    host = rays(structs, size)
    host["dir"] = host["dir"][:1] if size else host["dir"]
    whole = kf.Tensor.from_numpy(host).with_grads()
    expected = structs.raytrace(whole, 2)
    structs.raytrace.backward(whole, 2, expected)
    assert whole.grad is not None
    gradient = whole.grad.to_numpy()
    flat = host.view(np.float32)
    for shape in [(size * 6,), (size, 6), (size, 2, 3)]:
        scalars = kf.Tensor.from_numpy(flat.reshape(shape)).with_grads()
        viewed = scalars.view(structs.Ray)
        assert viewed.shape == (size,)
        np.testing.assert_array_equal(structs.raytrace(viewed, 2).to_numpy(), expected.to_numpy())
        structs.raytrace.backward(viewed, 2, expected)
        assert scalars.grad is not None
        np.testing.assert_array_equal(
            scalars.grad.to_numpy().reshape(-1), gradient.view(np.float32).reshape(-1)
        )

    pos = kf.Tensor.from_numpy(host["pos"]).with_grads()
    way = kf.Tensor.from_numpy(host["dir"]).with_grads()
    apart = structs.Ray(pos=pos, dir=way)
    np.testing.assert_array_equal(structs.raytrace(apart, 2).to_numpy(), expected.to_numpy())
    structs.raytrace.backward(apart, 2, expected)
    assert pos.grad is not None
    assert way.grad is not None
    np.testing.assert_array_equal(pos.grad.to_numpy(), gradient["pos"])
    np.testing.assert_array_equal(way.grad.to_numpy(), gradient["dir"])
    if size == 0:
        return
    pos = kf.Tensor.from_numpy(host["pos"]).with_grads()
    one = kf.differentiable(host["dir"][0])
    np.testing.assert_array_equal(
        structs.raytrace({"pos": pos, "dir": one}, 2).to_numpy(), expected.to_numpy()
    )
    structs.raytrace.backward({"pos": pos, "dir": one}, 2, expected)
    assert pos.grad is not None
    np.testing.assert_array_equal(pos.grad.to_numpy(), gradient["pos"])
    np.testing.assert_allclose(one.grad, gradient["dir"].astype(np.float64).sum(0), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("cut", [np.s_[3:], np.s_[1::3], np.s_[::-1]])
def test_views_of_structs(structs: Any, cut: slice) -> None:
    host = rays(structs, 67)
    ray = kf.Tensor.from_numpy(host).with_grads()
    colors = structs.raytrace(ray[cut], 2)
    close(colors.to_numpy(), traced(host[cut], 2))
    structs.raytrace.backward(ray[cut], 2, colors)
    assert ray.grad is not None
    expected = np.zeros_like(host)
    d_pos, d_dir, _ = traced_gradients(host[cut], 2, np.ones((len(host[cut]), 3)))
    expected["pos"][cut] = d_pos
    expected["dir"][cut] = d_dir
    close(ray.grad.to_numpy()["pos"], expected["pos"])
    close(ray.grad.to_numpy()["dir"], expected["dir"])


def test_matrix_of_structs(structs: Any) -> None:
    host = rays(structs, 5, 7)
    ray = kf.Tensor.from_numpy(host)
    close(structs.raytrace(ray, 2).to_numpy(), traced(host, 2))
    close(structs.raytrace(ray.T, 2).to_numpy(), traced(host.T, 2))
    t = np.linspace(0, 1, 7, dtype=np.float32)
    close(structs.raytrace(ray, t).to_numpy(), traced(host, t))


def test_given_outputs_are_written_where_they_are_and_nowhere_else(structs: Any) -> None:
    host, other = rays(structs, 10), rays(structs, 20, seed=1)
    memory = np.full((20, 6), POISON, np.float32)
    memory[:, :] = other.view(np.float32).reshape(20, 6)
    memory[1::2] = POISON
    inout = kf.Tensor.from_numpy(memory).view(structs.Ray)
    target = kf.Tensor.from_numpy(np.full((20, 6), POISON, np.float32))
    structs.advance(host, 2, inout[::2], out=target.view(structs.Ray)[5:15])
    found = target.to_numpy()
    assert (found[:5] == POISON).all()
    assert (found[15:] == POISON).all()
    close(found[5:15, :3], host["pos"] + 2 * host["dir"].astype(np.float64))
    close(found[5:15, 3:], host["dir"].astype(np.float64) * other["dir"][::2])
    changed = inout.view(np.float32).to_numpy()
    assert (changed[1::2] == POISON).all()
    close(changed[::2, :3], 2 * other["pos"][::2].astype(np.float64))
    np.testing.assert_array_equal(changed[::2, 3:], other["dir"][::2])


def test_results_by_value_and_field_by_field(structs: Any) -> None:
    host, other = rays(structs, 3), rays(structs, 3, seed=1)
    one = structs.advance_one(host[1], 2, other[1])
    assert isinstance(one.result, structs.Ray)
    assert isinstance(one.other, structs.Ray)
    whole = structs.advance(kf.Tensor.from_numpy(host), 2, kf.Tensor.from_numpy(other))
    np.testing.assert_array_equal(one.result.pos, whole.result.to_numpy()["pos"][1])
    np.testing.assert_array_equal(one.other.pos, whole.other.to_numpy()["pos"][1])
    x, z = (kf.Tensor.from_numpy(np.ascontiguousarray(host["pos"][:, i])) for i in (0, 2))
    host["pos"][:, 1] = 7
    soa = structs.advance_fields(
        {"pos": {"x": x, "y": 7, "z": z}, "dir": host["dir"].copy()},
        2,
        {"pos": other["pos"].copy(), "dir": other["dir"].copy()},
    )
    assert isinstance(soa.result, structs.Ray)
    close(soa.result.pos.to_numpy(), host["pos"] + 2 * host["dir"].astype(np.float64))
    close(soa.result.dir.to_numpy(), host["dir"].astype(np.float64) * other["dir"])


def test_gradients_through_results_and_inouts(structs: Any) -> None:
    host, other = rays(structs, 33), rays(structs, 33, seed=1)
    flow, change = rays(structs, 33, seed=2), rays(structs, 33, seed=3)
    ray = kf.Tensor.from_numpy(host).with_grads()
    inout = kf.Tensor.from_numpy(other).with_grads(grad_in=change, grad_out=np.zeros_like(other))
    out = kf.Tensor.from_numpy(host).with_grads(grad_in=flow)
    t = kf.differentiable(2.0)
    structs.advance.backward(ray, t, inout, out)
    assert ray.grad is not None
    assert inout.grad_out is not None
    wide = {name: array.astype(np.float64) for name, array in (("flow", flow["pos"]), ("turn", flow["dir"]))}
    close(ray.grad.to_numpy()["pos"], wide["flow"])
    close(ray.grad.to_numpy()["dir"], 2 * wide["flow"] + wide["turn"] * other["dir"])
    close(inout.grad_out.to_numpy()["pos"], 2.0 * change["pos"])
    close(inout.grad_out.to_numpy()["dir"], wide["turn"] * host["dir"] + change["dir"])
    expected = (wide["flow"] * host["dir"]).sum() + (change["pos"].astype(np.float64) * other["pos"]).sum()
    assert t.grad == pytest.approx(expected, rel=1e-4, abs=1e-4)


SCENE: dict[str, Any] = {
    "lights": [{"color": [1, 2, 3], "power": 2}, {"color": [0.5, 0, 1], "power": 3}],
    "basis": [[1, 0, 2], [0, 1, 0], [3, 0, 1]],
    "scale": 2,
    "count": 3,
    "on": True,
    "tint": [1, 2, 3],
}


def shaded(scene: Any, ray: Any) -> float:
    pos, way = (np.asarray(ray[name], np.float64) for name in ("pos", "dir"))
    total = sum(np.dot(light["color"], pos) * light["power"] for light in scene["lights"])
    total += np.dot(np.asarray(scene["basis"], np.float64) @ way, pos) * scene["scale"]
    total += float(scene["tint"][0]) * float(scene["tint"][2]) * way[0]
    return float(total * (scene["count"] if scene["on"] else 1))


def test_nested_structs_and_arrays(structs: Any) -> None:
    ray = {"pos": [1, 2, 3], "dir": [4, 5, 6]}
    scene = kf.differentiable(SCENE)
    assert structs.shade(SCENE, ray) == pytest.approx(shaded(SCENE, ray))
    structs.shade.backward(scene, ray)
    grad = scene.grad
    close(grad["lights"][0]["color"], [6, 12, 18])
    assert grad["lights"][1]["power"] == pytest.approx(3 * 3.5)
    close(grad["basis"], 3 * 2 * np.outer([1, 2, 3], [4, 5, 6]))
    close(grad["tint"], [36, 0, 12])
    assert (grad["scale"], grad["count"], grad["on"]) == (0, 0, 0)  # no_diff, an int and a bool


@pytest.mark.parametrize("size", [1, 31, 4097])
@pytest.mark.parametrize("shared", [False, True])
def test_tensors_of_nested_structs(structs: Any, size: int, shared: bool) -> None:
    random = np.random.default_rng(5)
    host = np.zeros(1 if shared else size, structs.Scene.dtype)
    for name in ("color", "power"):
        host["lights"][name] = random.uniform(-1, 1, host["lights"][name].shape)
    for name in ("basis", "scale", "tint"):
        host[name] = random.uniform(-1, 1, host[name].shape)
    host["count"] = random.integers(1, 4, host.shape)
    host["on"] = random.integers(0, 2, host.shape)
    ray = rays(structs, size)
    scene = kf.Tensor.from_numpy(host).with_grads()
    result = structs.shade(scene, ray)
    wide = np.broadcast_to(host, size)
    close(result.to_numpy(), [shaded(wide[i], ray[i]) for i in range(size)])
    structs.shade.backward(scene, ray, result)
    assert scene.grad is not None
    grad = scene.grad.to_numpy()
    factor = np.where(wide["on"], wide["count"], 1).astype(np.float64)
    pos, way = ray["pos"].astype(np.float64), ray["dir"].astype(np.float64)
    color = factor[:, None, None] * pos[:, None, :] * wide["lights"]["power"][:, :, None]
    power = factor[:, None] * np.einsum("nlc,nc->nl", wide["lights"]["color"].astype(np.float64), pos)
    basis = (factor * wide["scale"])[:, None, None] * pos[:, :, None] * way[:, None, :]
    tint = factor * wide["tint"][:, 2].astype(np.float64) * way[:, 0]

    def total(gradient: Array) -> Array:
        return np.asarray(gradient.sum(0, keepdims=True) if shared else gradient)

    for found, expected, slack in (
        (grad["lights"]["color"], color, 1e-3),
        (grad["lights"]["power"], power, 1e-3),
        (grad["basis"], basis, 1e-3),
        (grad["tint"][:, 0], tint, 0.05),
    ):
        np.testing.assert_allclose(found.astype(np.float64), total(expected), rtol=2e-3, atol=slack)
    assert not grad["tint"][:, 1].any()
    assert not grad["scale"].any()
    assert not grad["count"].any()
    assert not grad["on"].any()


def test_array_of_structs_as_a_parameter(structs: Any) -> None:
    lights = [{"color": [i, 1, 2], "power": i + 1} for i in range(3)]
    scale = np.linspace(1, 2, 33, dtype=np.float32)
    weight = sum((i + 1) * (i + 2 + 6) for i in range(3))
    close(structs.brightest(lights, scale).to_numpy(), weight * scale.astype(np.float64))
    given = kf.differentiable(lights)
    structs.brightest.backward(given, scale, structs.brightest(lights, scale))
    total = scale.astype(np.float64).sum()
    for i in range(3):
        assert given.grad[i]["power"] == pytest.approx(total * (i + 8), rel=1e-5)
        close(given.grad[i]["color"] / total, np.multiply([1, 2, 3], i + 1))


BAD: list[tuple[str, Any, str, str]] = [
    (
        "missing field",
        {"pos": [1, 2, 3]},
        "missing-argument",
        "argument 'ray': field 'dir' of Ray is missing",
    ),
    (
        "extra field",
        {"pos": [1, 2, 3], "dir": [1, 2, 3], "x": 1},
        "unknown-name",
        "has no field 'x' = 1 (an int); it has pos, dir",
    ),
    (
        "short list",
        {"pos": [1, 2], "dir": [1, 2, 3]},
        "shape-mismatch",
        "argument 'ray.pos': [1, 2] has shape [2]",
    ),
    (
        "text",
        {"pos": [1, 2, "a"], "dir": [1, 2, 3]},
        "type-mismatch",
        "argument 'ray.pos': a list holds numbers, not 'a'",
    ),
    ("number", 5, "type-mismatch", "argument 'ray': a Ray is needed, not 5 (an int)"),
    ("list", [1, 2, 3], "type-mismatch", "argument 'ray': a Ray is needed"),
    (
        "dtype",
        {"pos": np.zeros(3), "dir": [1, 2, 3]},
        "type-mismatch",
        "argument 'ray.pos': dtype float64 where float32",
    ),
]


@pytest.mark.parametrize(("ray", "code", "text"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_values(structs: Any, ray: Any, code: str, text: str) -> None:
    other = {"pos": [1, 1, 1], "dir": [2, 2, 2]}
    with pytest.raises(kf.ArgumentError) as caught:
        structs.advance_one(ray, 2, other)
    assert caught.value.code == code
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("count", 1.5, "argument 'scene.count': 1.5 is a float where an int32 is needed"),
        ("count", 2**31, "argument 'scene.count': 2147483648 doesn't fit an int32"),
        ("on", 1, "argument 'scene.on': 1 is not a bool"),
        ("on", np.array(1, np.int32), "dtype int32 where bool is needed; convert it with astype(np.bool_)"),
        ("lights", SCENE["lights"][:1], "argument 'scene.lights': a list of 2 Light is needed, found 1"),
        ("lights", [SCENE["lights"][0], {"color": [1, 2, 3]}], "argument 'scene.lights[1]': field 'power'"),
        ("tint", [1, 2, 70000], "argument 'scene.tint': 70000 doesn't fit a float16"),
    ],
)
def test_bad_nested_values(structs: Any, field: str, value: Any, text: str) -> None:
    with pytest.raises(kf.ArgumentError, match="shade") as caught:
        structs.shade({**SCENE, field: value}, {"pos": [1, 2, 3], "dir": [1, 2, 3]})
    assert text in str(caught.value)


def test_bad_tensors(structs: Any) -> None:
    host = rays(structs, 4)
    with pytest.raises(kf.ArgumentError, match="expected Ray structs"):
        structs.advance(kf.Tensor.zeros((4, 6)), 2, host)
    with pytest.raises(kf.ArgumentError, match=r"expected Ray tensor\[1\], found shape \[2, 2\]"):
        structs.advance(host.reshape(2, 2), 2, host)
    with pytest.raises(kf.ArgumentError, match="expected extent 4") as caught:
        structs.advance(host, 2, host[:3].copy())
    assert caught.value.code == "shape-mismatch"
    packed = np.zeros(4, [("pos", "f4", 3), ("dir", "f4", 3), ("flag", "b1")])
    with pytest.raises(kf.ArgumentError, match="not aligned: they have 25 bytes, no multiple of 4"):
        kf.Tensor.from_numpy(packed)
    shifted = np.zeros(4, [("flag", "b1"), ("pos", "f4", 3)])
    with pytest.raises(
        kf.ArgumentError, match="field 'pos' is not aligned: it lies at byte 1, no multiple of 4"
    ):
        kf.Tensor.from_numpy(shifted)
    with pytest.raises(kf.ArgumentError, match=r"sizes don't divide|whole number"):
        kf.Tensor.zeros((5, 5)).view(structs.Ray)


def other_rays(**changes: Any) -> np.dtype[Any]:
    """Ray's dtype with other fields: a name to its format, or to nothing."""
    fields = {"pos": ("f4", 3), "dir": ("f4", 3), **changes}
    return np.dtype([(name, *form) for name, form in fields.items() if form], align=True)


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (other_rays(dir=None), "found others: field 'dir' is missing"),
        (other_rays(id=("i4",)), "found others: there is no field 'id'"),
        (other_rays(dir=("f8", 3)), "found others: field 'dir' is float64, not float32"),
        (other_rays(dir=("f4", 4)), "found others: field 'dir' has shape (4,), not (3,)"),
        (other_rays(dir=("f4",)), "found others: field 'dir' has shape (), not (3,)"),
        (np.dtype([("dir", "f4", 3), ("pos", "f4", 3)]), "field 'pos' lies at byte 12, not 0"),
        (
            np.dtype({"names": ["pos", "dir"], "formats": [("f4", 3)] * 2, "itemsize": 32}),
            "has 32 bytes, not 24",
        ),
        (np.dtype(np.float32), "found a float32 array of shape [40]"),
    ],
)
@pytest.mark.parametrize("on_device", [False, True])
def test_structs_of_another_layout(structs: Any, dtype: np.dtype[Any], text: str, on_device: bool) -> None:
    host = rays(structs, 40)
    given: Any = np.zeros(40, dtype)
    with pytest.raises(kf.ArgumentError) as caught:
        structs.advance(kf.Tensor.from_numpy(given) if on_device else given, 2, host)
    assert text.replace("array", "tensor" if on_device else "array").replace("[40]", "") in str(caught.value)
    assert "argument 'ray': expected Ray structs" in str(caught.value)


def test_candidates_are_told_apart_by_what_they_refuse(structs: Any) -> None:
    with pytest.raises(kf.ArgumentError, match="no overload") as caught:
        structs.raytrace(np.zeros((4, 6), np.float32), 1)
    assert "\n    argument 'ray': a Ray is needed, not a float32 array of shape [4, 6]" in str(caught.value)
    assert str(caught.value).count("raytrace: ") == 1


def test_inouts_need_two_gradients(structs: Any) -> None:
    ray = kf.Tensor.from_numpy(rays(structs, 4)).with_grads()
    inout = kf.Tensor.from_numpy(rays(structs, 4, seed=1)).with_grads()
    with pytest.raises(kf.ArgumentError, match=r"with_grads\(\) takes two, grad_in and grad_out") as caught:
        structs.advance.backward(ray, 2, inout)
    assert caught.value.code == "aliasing"


def test_aliased_fields_are_told_apart(structs: Any) -> None:
    """An input and an output that are the same view are fine; shifted by one they are not."""
    ray = kf.Tensor.from_numpy(rays(structs, 8))
    with pytest.raises(kf.ArgumentError) as caught:
        structs.advance(ray[:7], 2, ray[1:])
    assert caught.value.code == "aliasing"


def test_generated_class(structs: Any) -> None:
    ray = structs.Ray([1, 2, 3], dir=[4, 5, 6])
    assert repr(ray) == "Ray(pos=[1, 2, 3], dir=[4, 5, 6])"
    assert structs.Ray.dtype.itemsize == 24
    for bad in ({"pos": 1}, {"pos": 1, "dir": 2, "x": 3}):
        with pytest.raises(kf.ArgumentError):
            structs.Ray(**bad)


def test_messages_say_what_a_tensor_is_without_reading_it(structs: Any) -> None:
    ray = {"pos": (1, 2, 3), "dir": (4, 5, 6)}
    with pytest.raises(kf.ArgumentError, match=r"not a float32 tensor of shape \(4, 3\)"):
        structs.advance_one(kf.Tensor.zeros((4, 3), np.float32), 2, ray)


def test_overloads_take_the_form_that_is_given(structs: Any) -> None:
    given = rays(structs, 33)
    whole, grid = kf.Tensor.from_numpy(given), kf.Tensor.from_numpy(given[:32].reshape(8, 4))
    apart = {"pos": np.ascontiguousarray(given["pos"]), "dir": np.ascontiguousarray(given["dir"])}
    wrapped = kf.differentiable(structs.Ray(pos=given[5]["pos"], dir=given[5]["dir"]))
    for _ in range(3):
        close(structs.raytrace(whole, 0.5).to_numpy(), traced(given, 0.5))
        close(structs.raytrace(grid, 0.5).to_numpy(), traced(given[:32].reshape(8, 4), 0.5))
        close(structs.raytrace(apart, 0.5).to_numpy(), traced(given, 0.5))
        close(structs.raytrace(given, 0.5).to_numpy(), traced(given, 0.5))
        close(structs.raytrace(wrapped, 0.5), traced(given[5], 0.5))
    with pytest.raises(kf.ArgumentError, match="no overload takes") as caught:
        structs.raytrace(kf.Tensor.zeros((4, 6), np.float32), 0.5)
    assert str(caught.value).count("raytrace(ray: ") == 5
    assert "\n  and 5 more, farther off: 'raytrace.signatures' lists them" in str(caught.value)


def test_a_misspelt_field_is_refused(structs: Any) -> None:
    ray = structs.Ray(pos=[1.0, 2.0, 3.0], dir=[0.0, 0.0, 1.0])
    lights = [structs.Light(color=[1.0, 1.0, 1.0], power=1.0) for _ in range(2)]
    scene = structs.Scene(lights=lights, basis=np.eye(3), scale=1.0, count=1, on=True, tint=[0.0] * 3)
    for owner, name, text in (
        (ray, "dirr", "Ray has no field 'dirr'; it has pos, dir: did you mean 'dir'?"),
        (scene, "scales", "did you mean 'scale'?"),
        (scene.lights[1], "powr", "Light has no field 'powr'; it has color, power: did you mean 'power'?"),
        (ray, "colour", "Ray has no field 'colour'; it has pos, dir"),
        (ray, "_pos", "did you mean 'pos'?"),
        (ray, "dtype", "Ray has no field 'dtype'"),
    ):
        with pytest.raises(kf.ArgumentAttributeError) as caught:
            setattr(owner, name, 5)
        assert text in str(caught.value)
        assert caught.value.code == "unknown-name"
        assert isinstance(caught.value, AttributeError)
        assert isinstance(caught.value, kf.ArgumentError)
    assert vars(ray) == {"pos": [1.0, 2.0, 3.0], "dir": [0.0, 0.0, 1.0]}
    ray.dir = [1.0, 0.0, 0.0]
    assert ray.dir == [1.0, 0.0, 0.0]
    with pytest.raises(kf.ArgumentError, match="did you mean 'dir'"):
        structs.Ray(pos=0.0, dri=0.0)


def test_classes_derived_from_a_struct_declare_their_own(structs: Any) -> None:
    class Tagged(structs.Ray):  # type: ignore[misc]
        tag: str

        def __init__(self, tag: str) -> None:
            super().__init__(pos=[1.0, 2.0, 3.0], dir=[4.0, 5.0, 6.0])
            self.tag = tag
            self._hash = hash(tag)

        @property
        def first(self) -> float:
            return float(self.pos[0])

        @first.setter
        def first(self, value: float) -> None:
            self.pos[0] = value

    tagged = Tagged("a")
    tagged.first = 7.0
    assert (tagged.tag, tagged.pos) == ("a", [7.0, 2.0, 3.0])
    with pytest.raises(AttributeError, match=r"did you mean 'pos'\?, or declare 'poss' in Tagged"):
        tagged.poss = [0.0, 0.0, 0.0]
