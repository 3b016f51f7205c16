"""Forward derivatives from Python: against float64 references, and against backward passes."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import LAYOUTS, SIZES, Array, buffer
from loader import Loader

TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}


@pytest.fixture(scope="module")
def jvp(generated: Loader) -> ModuleType:
    return generated("jvp")


def some(shape: tuple[int, ...], seed: int, dtype: Any = np.float32) -> Array:
    return (np.random.default_rng(seed).random(shape) + 0.25).astype(dtype)


def wide(*arrays: Array) -> list[Array]:
    return [array.astype(np.float64) for array in arrays]


def test_the_demo(jvp: ModuleType) -> None:
    x = kf.Tensor.from_numpy(np.array([1, 2, 3, 4], np.float32))
    y, dy = jvp.polynomial.jvp(2, 8, -1, x, tangents={"x": np.ones(4, np.float32)})
    assert y.to_numpy().tolist() == [9, 23, 41, 63]
    assert dy.to_numpy().tolist() == [12, 16, 20, 24]


def test_values(jvp: ModuleType) -> None:
    assert jvp.polynomial.jvp(2, 8, -1, 3, tangents={"x": 0.5, "b": 1}) == (41, 13)
    assert jvp.polynomial.jvp.call(2, 8, -1, 3, tangents={"x": 0.5, "b": None}) == (41, 10)
    assert jvp.polynomial.jvp(2, 8, -1, 3) == (41, 0), "no tangents: 0"
    assert jvp.polynomial.jvp(2, 8, x=3, c=-1, tangents=None) == (41, 0)


@pytest.mark.parametrize("layout", [*LAYOUTS, "spread"])
@pytest.mark.parametrize("tangent_layout", ["contiguous", "spread"])
@pytest.mark.parametrize("size", SIZES)
def test_layouts(jvp: ModuleType, size: int, layout: str, tangent_layout: str) -> None:
    """Values and tangents lie as they like, each; what comes out is whole and nothing else is written."""
    if layout == "strided":
        layout = "spread"
    shape = (2, size)
    x = buffer(shape, np.dtype(np.float32), layout, some(shape, 1))
    dx = buffer(shape, np.dtype(np.float32), tangent_layout, some(shape, 2))
    into = buffer(shape, np.dtype(np.float32), layout)
    y, dy = jvp.polynomial.jvp(2, 3, 4, x.tensor, tangents={"x": dx.tensor, "a": 5, "c": -1}, out=into.tensor)
    x64, dx64 = wide(x.array, dx.array)
    into.array[...] = 2 * x64**2 + 3 * x64 + 4
    np.testing.assert_allclose(dy.to_numpy(), (4 * x64 + 3) * dx64 + 5 * x64**2 - 1, rtol=2e-5, atol=1e-6)
    assert y is into.tensor
    into.check(2e-6)
    x.check()
    dx.check()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 33, 4097])
@pytest.mark.parametrize("given", [("x",), ("y",), ("x", "y")])
def test_precisions_and_broadcasting(jvp: ModuleType, dtype: Any, size: int, given: tuple[str, ...]) -> None:
    x, y, dx, dy = (
        some((3, size), 1, dtype),
        some((size,), 2, dtype),
        some((3, size), 3, dtype),
        some((size,), 4, dtype),
    )
    tangents = {"x": dx, "y": dy}
    z, dz = jvp.cubed.jvp(x, y, tangents={name: tangents[name] for name in given}, out=np.ndarray)
    x64, y64, dx64, dy64 = wide(x, y, dx, dy)
    expected = ("x" in given) * 3 * x64**2 * y64 * dx64 + ("y" in given) * x64**3 * dy64
    rtol = TOLERANCE[np.dtype(dtype).name]
    assert z.dtype == dz.dtype == dtype
    np.testing.assert_allclose(z, x64**3 * y64, rtol=rtol)
    np.testing.assert_allclose(dz, expected, rtol=rtol)


def test_rows_of_vectors_of_half(jvp: ModuleType) -> None:
    x, dx = some((33, 3), 1, np.float16), some((33, 3), 2, np.float16)
    z, dz = jvp.cubed3.jvp(x, 2, tangents={"x": dx, "y": 0.5}, out=np.ndarray)
    x64, dx64 = wide(x, dx)
    np.testing.assert_allclose(z, 2 * x64**3, rtol=4e-3)
    np.testing.assert_allclose(dz, 6 * x64**2 * dx64 + 0.5 * x64**3, rtol=4e-3)


SHAPES = {"v": (3,), "m": (2, 3), "w": (2, 2)}


@pytest.mark.parametrize("batched", [(), ("v",), ("m",), ("w",), ("v", "m", "w")])
@pytest.mark.parametrize("given", [("v",), ("m",), ("w",), ("v", "m", "w")])
def test_vectors_matrices_and_arrays(
    jvp: ModuleType, batched: tuple[str, ...], given: tuple[str, ...]
) -> None:
    values: dict[str, Array] = {}
    tangents: dict[str, Array] = {}
    for seed, (name, shape) in enumerate(SHAPES.items()):
        full = (5, *shape) if name in batched else shape
        values[name], tangents[name] = some(full, seed), some(full, seed + 10)

    def reference(v: Array, m: Array, w: Array) -> Array:
        return np.asarray(2 * np.einsum("...ij,...j,...i->...", m, v, w[..., 1, :]) * w[..., 0, 0])

    y, dy = jvp.shapes.jvp(
        **values,
        tangents={name: tangents[name] for name in given},
        **({"out": np.ndarray} if batched else {}),
    )
    exact = {name: value.astype(np.float64) for name, value in values.items()}
    step = 1e-6
    moved = [
        reference(
            **{n: v + sign * step * tangents[n].astype(np.float64) * (n in given) for n, v in exact.items()}
        )
        for sign in (1, -1)
    ]
    np.testing.assert_allclose(y, reference(**exact), rtol=1e-5)
    np.testing.assert_allclose(dy, (moved[0] - moved[1]) / (2 * step), rtol=1e-5)


def test_matrices_come_out(jvp: ModuleType) -> None:
    a, b, da, db = some((7, 2), 1), some((3,), 2), some((7, 2), 3), some((3,), 4)
    m, dm = jvp.outer.jvp(a, b, tangents={"a": da, "b": db}, out=np.ndarray)
    a64, b64, da64, db64 = wide(a, b, da, db)
    np.testing.assert_allclose(m, np.einsum("ni,j->nij", a64, b64), rtol=1e-6)
    expected = np.einsum("ni,j->nij", da64, b64) + np.einsum("ni,j->nij", a64, db64)
    np.testing.assert_allclose(dm, expected, rtol=1e-5)
    m, dm = jvp.outer_value.jvp([1, 2], [3, 4, 5], tangents={"a": [0, 1]})
    assert m.tolist() == [[3, 4, 5], [6, 8, 10]]
    assert dm.tolist() == [[0, 0, 0], [3, 4, 5]]


@pytest.mark.parametrize("size", SIZES)
def test_several_outputs(jvp: ModuleType, size: int) -> None:
    x, dx, total, dtotal = some((size,), 1), some((size,), 2), some((size, 3), 3), some((size, 3), 4)
    inout = kf.Tensor.from_numpy(total)
    y, dy = jvp.parts.jvp(
        4 * x, 2, 3, out=np.ndarray, square=np.ndarray, total=inout, tangents={"x": 4 * dx, "total": dtotal}
    )
    x64, dx64, total64, dtotal64 = wide(4 * x, 4 * dx, total, dtotal)
    np.testing.assert_allclose(y.result, 6 * x64**2, rtol=1e-6)
    np.testing.assert_allclose(y.square, x64**2, rtol=1e-6)
    np.testing.assert_array_equal(y.whole.to_numpy(), (4 * x).astype(np.int32))
    np.testing.assert_allclose(inout.to_numpy(), total64 * x64[:, None], rtol=1e-6)
    assert y.total is inout, "written in place"
    np.testing.assert_allclose(dy.result, 12 * x64 * dx64, rtol=1e-5)
    np.testing.assert_allclose(dy.square, 2 * x64 * dx64, rtol=1e-5)
    assert dy.whole is None, "an int has no tangent"
    expected = dtotal64 * x64[:, None] + total64 * dx64[:, None]
    np.testing.assert_allclose(dy.total.to_numpy(), expected, rtol=1e-5)
    assert type(y) is type(dy)
    assert y._fields == ("result", "square", "whole", "total")


def test_several_values(jvp: ModuleType) -> None:
    y, dy = jvp.parts_value.jvp(2.5, 2, 3, total=[1, 2, 3], tangents={"x": 1, "total": [1, 0, 0]})
    assert (y.result, y.square, y.whole, y.total.tolist()) == (37.5, 6.25, 2, [2.5, 5, 7.5])
    assert (dy.result, dy.square, dy.whole, dy.total.tolist()) == (30, 5, None, [3.5, 2, 3])


def rays(jvp: ModuleType, size: int, seed: int) -> Array:
    made = np.zeros(size, jvp.Ray.dtype)
    for field, shape in (("origin", (3,)), ("direction", (3,)), ("weights", (2,)), ("scale", ())):
        made[field] = some((size, *shape), seed + len(field))
    made["id"] = np.arange(size)
    return made


def check_rays(found: Any, tangent: Any, ray: Any, dray: Any, t: Array, dt: Array) -> None:
    """`ray` and `dray` have fields that broadcast; the tangent of what has none is 0."""
    field = {name: np.asarray(ray[name], np.float64) for name in ("origin", "direction", "weights", "scale")}
    moving = {name: np.asarray(dray[name], np.float64) for name in ("origin", "direction", "weights")}
    t64, dt64 = wide(t[:, None], dt[:, None])
    scale = field["scale"][..., None]
    np.testing.assert_allclose(found["origin"], field["origin"] + field["direction"] * t64 * scale, rtol=1e-5)
    expected = moving["origin"] + (moving["direction"] * t64 + field["direction"] * dt64) * scale
    np.testing.assert_allclose(tangent["origin"], expected, rtol=1e-5)
    np.testing.assert_allclose(
        tangent["direction"], np.broadcast_to(moving["direction"], (len(t), 3)), rtol=1e-6
    )
    weights = moving["weights"][..., 1] * t + field["weights"][..., 1] * dt
    np.testing.assert_allclose(tangent["weights"][:, 0], weights, rtol=1e-5)
    np.testing.assert_array_equal(found["id"], np.broadcast_to(ray["id"], len(t)))
    np.testing.assert_array_equal(tangent["id"], np.zeros(len(t)))
    np.testing.assert_array_equal(tangent["scale"], np.zeros(len(t)))


@pytest.mark.parametrize("size", [0, 1, 33])
def test_structs_in_tensors(jvp: ModuleType, size: int) -> None:
    ray, dray, t, dt = rays(jvp, size, 1), rays(jvp, size, 20), some((size,), 8), some((size,), 9)
    y, dy = jvp.advance.jvp(ray, t, tangents={"ray": dray, "t": dt}, out=np.ndarray)
    check_rays(y, dy, ray, dray, t, dt)


def movers(jvp: ModuleType, size: int, seed: int) -> Array:
    made = np.zeros(size, jvp.Mover.dtype)
    made["pos"], made["vel"] = some((size, 3), seed), some((size, 3), seed + 1)
    made["steps"] = np.arange(size)
    return made


def moved(before: Any, tangent: Any, dt: float, ddt: float) -> tuple[Array, Array]:
    pos, vel, dpos, dvel = wide(before["pos"], before["vel"], tangent["pos"], tangent["vel"])
    return pos + vel * dt * dt, dpos + dvel * dt * dt + 2 * vel * dt * ddt


@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_an_object_that_changes(jvp: ModuleType, size: int, array: bool) -> None:
    """Its tangent changes where it lies, as it does itself."""
    before, along = movers(jvp, size, 51), movers(jvp, size, 53)
    pos, dpos = moved(before, along, 0.5, 3)
    objects, tangent = before.copy(), along.copy()
    given: list[Any] = [objects, tangent]
    if not array:
        given = [kf.Tensor.from_numpy(one) for one in given]
    made = jvp.Mover.move.jvp(given[0], 0.5, tangents={"this": given[1], "dt": 3})
    assert made == (None, None)
    found: list[Any] = [one if array else one.to_numpy() for one in given]
    np.testing.assert_allclose(found[0]["pos"], pos, rtol=1e-5)
    np.testing.assert_allclose(found[1]["pos"], dpos, rtol=1e-5)
    for one, start in zip(found, [before, along], strict=True):
        np.testing.assert_array_equal(one["vel"], start["vel"])
    np.testing.assert_array_equal(found[0]["steps"], np.arange(size) + 1)
    np.testing.assert_array_equal(found[1]["steps"], np.zeros(size))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("by_value", [False, True])
def test_an_object_that_changes_field_by_field(jvp: ModuleType, by_value: bool, layout: str) -> None:
    before, along = movers(jvp, 33, 55), movers(jvp, 33, 57)
    if by_value:
        before["vel"], along["vel"] = before["vel"][0], along["vel"][0]
    pos, dpos = moved(before, along, 0.5, 3)
    dtype = np.dtype(np.float32)

    def fields(values: Array) -> tuple[dict[str, Any], Any]:
        place = buffer((33, 3), dtype, "offset" if layout == "strided" else layout, values["pos"])
        vel = values["vel"][0] if by_value else kf.Tensor.from_numpy(values["vel"].copy())
        return {"pos": place.tensor, "vel": vel, "steps": kf.Tensor.from_numpy(values["steps"].copy())}, place

    (mover, place), (tangent, moving) = fields(before), fields(along)
    del tangent["steps"]
    jvp.Mover(**mover).move.jvp(0.5, tangents={"this": tangent, "dt": 3})
    place.array[...], moving.array[...] = pos, dpos
    place.check(1e-5)
    moving.check(1e-5)
    np.testing.assert_array_equal(mover["steps"].to_numpy(), np.arange(33) + 1)
    if not by_value:
        np.testing.assert_array_equal(tangent["vel"].to_numpy(), along["vel"])


def test_an_object_whose_tangent_is_not_given(jvp: ModuleType) -> None:
    """What would be written to it goes nowhere."""
    before = movers(jvp, 5, 59)
    objects = kf.Tensor.from_numpy(before)
    y, dy = jvp.Mover.shove.jvp(objects, np.full(5, 2, np.float32), tangents={"by": np.ones(5, np.float32)})
    vel, pos = wide(before["vel"], before["pos"])
    np.testing.assert_allclose(y.to_numpy(), 2 * (vel * pos).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(dy.to_numpy(), (vel * pos).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(objects.to_numpy()["vel"], 2 * vel, rtol=1e-6)


def test_an_object_by_value_stays(jvp: ModuleType) -> None:
    before, along = movers(jvp, 1, 61)[0], movers(jvp, 1, 63)[0]
    by = some((4,), 65)
    y, dy = jvp.Mover.shove.jvp(before, by, tangents={"this": along})
    pos, vel, dpos, dvel = wide(before["pos"], before["vel"], along["pos"], along["vel"])
    np.testing.assert_allclose(y.to_numpy(), by * (vel @ pos), rtol=1e-5)
    np.testing.assert_allclose(dy.to_numpy(), by * (dvel @ pos + vel @ dpos), rtol=1e-5)
    assert before == movers(jvp, 1, 61)[0]


@pytest.mark.parametrize(
    "fields", [("origin",), ("direction", "weights"), ("origin", "direction", "weights")]
)
def test_structs_by_value(jvp: ModuleType, fields: tuple[str, ...]) -> None:
    """Fields that a tangent leaves out are 0."""
    ray, dray, t, dt = rays(jvp, 1, 1)[0], rays(jvp, 1, 20)[0], some((5,), 8), some((5,), 9)
    given = {name: dray[name] for name in fields}
    y, dy = jvp.advance.jvp(ray, t, tangents={"ray": given, "t": dt}, out=np.ndarray)
    for name in ("origin", "direction", "weights"):
        if name not in fields:
            dray[name] = 0
    check_rays(y, dy, ray, dray, t, dt)
    value, tangent = jvp.advance_value.jvp(ray, float(t[0]), tangents={"ray": given, "t": float(dt[0])})
    assert isinstance(tangent, jvp.Ray)
    for name in ("origin", "direction", "weights", "id", "scale"):
        np.testing.assert_allclose(getattr(value, name), y[name][0], rtol=1e-5)
        np.testing.assert_allclose(getattr(tangent, name), dy[name][0], rtol=1e-5)


def test_structs_field_by_field(jvp: ModuleType) -> None:
    whole, moving, t, dt = rays(jvp, 7, 1), rays(jvp, 7, 20), some((7,), 8), some((7,), 9)
    ray: dict[str, Any] = {name: whole[name] for name in ("origin", "id")}
    ray |= {name: whole[name][0] for name in ("direction", "weights", "scale")}
    ray["scale"] = float(ray["scale"])
    tangent = {
        "origin": moving["origin"],
        "direction": moving["direction"][0],
        "weights": moving["weights"][0],
    }
    y, dy = jvp.advance_fields.jvp(ray, t, tangents={"ray": tangent, "t": dt})
    found = {name: getattr(y, name).to_numpy() for name in whole.dtype.names or ()}
    found_tangent = {name: getattr(dy, name).to_numpy() for name in whole.dtype.names or ()}
    check_rays(found, found_tangent, ray, tangent, t, dt)
    _, dy = jvp.advance_fields.jvp(ray, t, tangents={"ray": {"origin": moving["origin"]}})
    np.testing.assert_allclose(dy.origin.to_numpy(), moving["origin"], rtol=1e-6)
    np.testing.assert_array_equal(dy.direction.to_numpy(), np.zeros((7, 3)))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (31, 7), (33, 64)])
def test_whole_tensors(jvp: ModuleType, rows: int, columns: int) -> None:
    w, dw, x, dx = (
        some((rows, columns), 1),
        some((rows, columns), 2),
        some((columns,), 3),
        some((columns,), 4),
    )
    y = buffer((rows,), np.dtype(np.float32), "offset")
    dy = buffer((rows,), np.dtype(np.float32), "strided")
    grid = kf.grid((rows,))
    given = {"weights": kf.Tensor.from_numpy(dw.T.copy()).transpose(), "x": dx, "y": dy.tensor}
    assert jvp.linear_layer.jvp(grid, w, x, y.tensor, tangents=given) == (None, None)
    w64, dw64, x64, dx64 = wide(w, dw, x, dx)
    y.array[...] = w64 @ x64
    dy.array[...] = dw64 @ x64 + w64 @ dx64
    y.check(1e-5)
    dy.check(1e-5)
    jvp.linear_layer.jvp(grid, w, x, y.tensor, tangents={"weights": dw, "y": dy.tensor})
    dy.array[...] = dw64 @ x64
    dy.check(1e-5)
    jvp.linear_layer.jvp(grid, w, x, y.tensor, tangents={"x": dx})
    y.check(1e-5)


def test_batches_of_whole_tensors(jvp: ModuleType) -> None:
    w, x, dx = some((5, 7), 1), some((3, 7), 2), some((3, 7), 3)
    y, dy = kf.Tensor.zeros((3, 5), np.float32), kf.Tensor.zeros((3, 5), np.float32)
    jvp.batched_layer.jvp(kf.grid((5,)), w, x, y, tangents={"x": dx, "y": dy})
    w64, x64, dx64 = wide(w, x, dx)
    np.testing.assert_allclose(y.to_numpy(), x64 @ w64.T, rtol=1e-5)
    np.testing.assert_allclose(dy.to_numpy(), dx64 @ w64.T, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 33])
def test_whole_tensors_in_place(jvp: ModuleType, size: int) -> None:
    data, tangent, factors = some((size, 3), 1, np.float16), some((size, 3), 2, np.float16), some((size,), 3)
    both = [kf.Tensor.from_numpy(data), kf.Tensor.from_numpy(tangent)]
    jvp.halve.jvp(kf.grid((size,)), both[0], factors, tangents={"data": both[1]})
    np.testing.assert_allclose(both[0].to_numpy(), data.astype(np.float64) * factors[:, None], rtol=2e-3)
    np.testing.assert_allclose(both[1].to_numpy(), tangent.astype(np.float64) * factors[:, None], rtol=2e-3)


def test_given_derivatives(jvp: ModuleType) -> None:
    x, dx = some((33,), 1), some((33,), 2)
    y, dy = jvp.scaled.jvp(x, tangents={"x": dx}, out=np.ndarray)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(dy, 7 * dx)
    y, dy = jvp.forward_only.jvp(x, tangents={"x": dx}, out=np.ndarray)
    np.testing.assert_allclose(dy, 2 * x * dx, rtol=1e-6)
    assert jvp.forward_only.backward is None


def test_generics_names_and_generators(jvp: ModuleType) -> None:
    k, dk = some((9,), 1), some((9,), 2)
    y, dy = jvp.area_of.jvp({"radius": 3}, k, tangents={"k": dk}, out=np.ndarray)
    np.testing.assert_allclose(y, 9 * k, rtol=1e-6)
    np.testing.assert_allclose(dy, 9 * dk, rtol=1e-6)
    y, dy = jvp.named.jvp(2, k, result=3, tangents={"out": dk, "result": 1, "tangents": 0.5}, out=np.ndarray)
    np.testing.assert_allclose(dy, 6 * dk + 2 * k + 1.5 * k, rtol=1e-6)
    y, dy = jvp.named.jvp(tangents_=2, out_=k, result=3, out=np.ndarray)
    np.testing.assert_allclose(y, 6 * k, rtol=1e-6)
    noise = jvp.noisy(kf.rand_float(seed=3), np.ones(9, np.float32), out=np.ndarray)
    y, dy = jvp.noisy.jvp(kf.rand_float(seed=3), k, tangents={"x": dk}, out=np.ndarray)
    np.testing.assert_allclose(dy, noise * dk, rtol=1e-6)


# ---- Against backward passes: u · (J v) is (Jᵀ u) · v ----


def in_products(
    function: kf.Function, values: dict[str, Array], tangents: dict[str, Array], leading: tuple[Any, ...] = ()
) -> tuple[float, float]:
    """Both products in float64; every value is differentiated."""
    tracked = {name: kf.Tensor.from_numpy(value).with_grads() for name, value in values.items()}
    assert function.jvp is not None
    assert function.backward is not None
    y, dy = function.jvp(*leading, **tracked, tangents=tangents)
    flowing = some(dy.shape, 99, dy.dtype)
    function.backward(*leading, **tracked, out=y.with_grads(grad_in=flowing))
    along = float((dy.to_numpy().astype(np.float64) * flowing).sum())
    back = 0.0
    for name, tensor in tracked.items():
        assert tensor.grad is not None
        back += float((tensor.grad.to_numpy().astype(np.float64) * tangents[name]).sum())
    return along, back


CASES: list[tuple[str, dict[str, tuple[int, ...]], Any]] = [
    ("cubed", {"x": (33, 65), "y": (65,)}, np.float32),
    ("cubed", {"x": (33, 65), "y": (1,)}, np.float64),
    ("cubed", {"x": (5, 65), "y": (65,)}, np.float16),
    ("shapes", {"v": (65, 3), "m": (1, 2, 3), "w": (65, 2, 2)}, np.float32),
    ("outer", {"a": (65, 2), "b": (65, 3)}, np.float32),
    ("scaled", {"x": (129,)}, np.float32),
]


@pytest.mark.parametrize(("name", "shapes", "dtype"), CASES)
def test_backward_agrees(jvp: ModuleType, name: str, shapes: dict[str, tuple[int, ...]], dtype: Any) -> None:
    values = {key: some(shape, seed, dtype) for seed, (key, shape) in enumerate(shapes.items())}
    tangents = {key: some(shape, seed + 50, dtype) for seed, (key, shape) in enumerate(shapes.items())}
    along, back = in_products(getattr(jvp, name), values, tangents)
    assert along == pytest.approx(back, rel={np.float16: 2e-3}.get(dtype, 1e-5))


def test_backward_agrees_for_whole_tensors(jvp: ModuleType) -> None:
    w, x = some((31, 7), 1), some((7,), 2)
    dw, dx = some((31, 7), 3), some((7,), 4)
    weights, inputs = kf.Tensor.from_numpy(w).with_grads(), kf.Tensor.from_numpy(x).with_grads()
    flowing = some((31,), 5)
    y, dy = kf.Tensor.zeros((31,), np.float32), kf.Tensor.zeros((31,), np.float32)
    grid = kf.grid((31,))
    jvp.linear_layer.jvp(grid, weights, inputs, y, tangents={"weights": dw, "x": dx, "y": dy})
    jvp.linear_layer.backward(grid, weights, inputs, y.with_grads(grad_in=flowing))
    assert weights.grad is not None
    assert inputs.grad is not None
    back = float((weights.grad.to_numpy() * dw.astype(np.float64)).sum())
    back += float((inputs.grad.to_numpy() * dx.astype(np.float64)).sum())
    assert float((dy.to_numpy() * flowing.astype(np.float64)).sum()) == pytest.approx(back, rel=1e-5)


def test_backward_agrees_for_samples(jvp: ModuleType) -> None:
    image, uv = some((17, 9), 1), (some((65, 2), 2) - 0.25) * 0.9 + 0.03
    dimage, duv = some((17, 9), 3), some((65, 2), 4)
    along, back = in_products(jvp.sampled, {"image": image, "uv": uv}, {"image": dimage, "uv": duv})
    assert along == pytest.approx(back, rel=1e-4)


# ---- Recording, and what is refused ----


def test_recorded(jvp: ModuleType) -> None:
    x = kf.Tensor.from_numpy(np.array([1, 2, 3], np.float32))
    encoder = kf.default_device().encoder()
    y, dy = jvp.polynomial.jvp.append_to(
        encoder, 2, 8, -1, x, tangents={"x": kf.Tensor.ones((3,), np.float32)}
    )
    encoder.submit()
    assert y.to_numpy().tolist() == [9, 23, 41]
    assert dy.to_numpy().tolist() == [12, 16, 20]


def test_gradients_that_arguments_carry_are_no_tangents(jvp: ModuleType) -> None:
    x = kf.Tensor.ones((3,), np.float32).with_grads()
    assert x.grad is not None
    x.grad.copy_from_numpy(np.ones(3, np.float32))
    _, dy = jvp.polynomial.jvp(2, kf.differentiable(8.0), -1, x)
    assert dy.to_numpy().tolist() == [0, 0, 0]
    assert x.grad.to_numpy().tolist() == [1, 1, 1]


def test_the_same_call_again(jvp: ModuleType) -> None:
    """Launches that are remembered find the tangents of this call, or that there are none."""
    x = kf.Tensor.from_numpy(some((33,), 1))
    into = kf.Tensor.zeros((33,), np.float32)
    for turn in range(3):
        dx = kf.Tensor.from_numpy(some((33,), turn))
        _, dy = jvp.polynomial.jvp(2, 8, -1, x, tangents={"x": dx, "b": turn}, out=into)
        expected = (4 * x.to_numpy() + 8) * dx.to_numpy() + turn * x.to_numpy()
        np.testing.assert_allclose(dy.to_numpy(), expected, rtol=1e-5)
        _, dy = jvp.polynomial.jvp(2, 8, -1, x, tangents={"b": turn}, out=into)
        np.testing.assert_allclose(dy.to_numpy(), turn * x.to_numpy(), rtol=1e-5)
        _, dy = jvp.polynomial.jvp(2, 8, -1, x, out=into)
        assert not dy.to_numpy().any()


def test_there_is_none(generated: Loader, jvp: ModuleType) -> None:
    assert generated("gradients").polynomial.jvp is None
    assert repr(jvp.polynomial.jvp) == "<polynomial.jvp>"
    assert not [name for name in dir(jvp) if name.endswith(".jvp")]


FIVE = np.ones(5, np.float32)


def alias(module: ModuleType) -> None:
    y = kf.Tensor.zeros((2,), np.float32)
    ones = np.ones((2, 3), np.float32)
    module.linear_layer.jvp(kf.grid((2,)), ones, ones[0], y, tangents={"y": y})


RAY = {"origin": [1, 2, 3], "direction": [1, 2, 3], "id": 1, "weights": [1, 2], "scale": 1}
RAY_OF_LISTS = {**RAY, "origin": [RAY["origin"]], "id": [1]}

REFUSED: list[tuple[str, Callable[[ModuleType], Any], str, str]] = [
    (
        "unknown",
        lambda m: m.polynomial.jvp(2, 8, -1, FIVE, tangents={"q": 1}),
        "unknown-name",
        "'tangents.q'",
    ),
    (
        "no tangent",
        lambda m: m.parts.jvp(FIVE, 2, 3, total=np.ones((5, 3), np.float32), tangents={"k": 1}),
        "unknown-name",
        "'tangents.k'",
    ),
    (
        "no dict",
        lambda m: m.polynomial.jvp(2, 8, -1, FIVE, tangents=[1]),
        "type-mismatch",
        'tangents={"x": dx}',
    ),
    (
        "shape",
        lambda m: m.linear_layer.jvp(
            kf.grid((2,)),
            np.ones((2, 3), np.float32),
            np.ones(3, np.float32),
            np.zeros(2, np.float32),
            tangents={"x": np.ones(4, np.float32)},
        ),
        "shape-mismatch",
        "'tangents.x': it has shape [4], 'x' has shape [3]",
    ),
    (
        "not broadcast",
        lambda m: m.scaled.jvp(FIVE, tangents={"x": FIVE[:1]}),
        "shape-mismatch",
        "'tangents.x': it has shape [1], 'x' has shape [5]",
    ),
    (
        "no wider than x",
        lambda m: m.scaled.jvp(FIVE[:1], tangents={"x": FIVE}),
        "shape-mismatch",
        "'tangents.x': it has shape [5], 'x' has shape [1]",
    ),
    (
        "dtype",
        lambda m: m.scaled.jvp(FIVE, tangents={"x": np.ones(5)}),
        "type-mismatch",
        "'tangents.x': expected float tensor[1], found a float64 array of shape (5,)",
    ),
    (
        "rank",
        lambda m: m.scaled.jvp(FIVE, tangents={"x": np.ones((5, 1), np.float32)}),
        "rank-mismatch",
        "'tangents.x'",
    ),
    (
        "number",
        lambda m: m.outer_value.jvp([1, 2], [1, 2, 3], tangents={"a": [1, 2, 3]}),
        "shape-mismatch",
        "'tangents.a'",
    ),
    (
        "a field",
        lambda m: m.advance_value.jvp(rays(m, 1, 1)[0], 1, tangents={"ray": {"speed": 1}}),
        "unknown-name",
        "no field 'speed'",
    ),
    *(
        (
            f"{name} of {function}",
            lambda m, f=function, r=ray, t=time, n=name: getattr(m, f).jvp(r, t, tangents={"ray": {n: 1}}),
            "unknown-name",
            f"'tangents.ray': field '{name}' of Ray can't be differentiated",
        )
        for function, ray, time in (("advance_value", RAY, 1), ("advance_fields", RAY_OF_LISTS, FIVE))
        for name in ("id", "scale")
    ),
    ("missing argument", lambda m: m.polynomial.jvp(2, 8, x=FIVE), "missing-argument", "'c'"),
    ("aliasing", alias, "aliasing", "'tangents.y'"),
]


@pytest.mark.parametrize(
    ("call", "code", "text"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_refused(jvp: ModuleType, call: Callable[[ModuleType], Any], code: str, text: str) -> None:
    with pytest.raises(kf.Error) as caught:
        call(jvp)
    assert caught.value.code == code, str(caught.value)
    assert text in str(caught.value)
