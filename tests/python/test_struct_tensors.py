"""Tensors of structs, and of bools, as parameters: read, written, added to, and with gradients."""

from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from arrays import array, tensor
from loader import Loader

pytestmark = pytest.mark.usefixtures("float_atomics")

Array = npt.NDArray[Any]
SIZES = [0, 1, 31, 33, 4097]
SUMS = [False, True]


@pytest.fixture(scope="module")
def structs(generated: Loader) -> Any:
    return generated("struct_tensors")


def indices(count: int) -> kf.Tensor:
    return tensor(np.arange(count, dtype=np.int32))


def filled(dtype: Any, *shape: int, seed: int = 0) -> Array:
    """Every scalar is some number of its type; numbers are small, so that half holds them well."""
    random = np.random.default_rng(seed)
    made = np.zeros(shape, dtype)
    fill(random, made)
    return made


def fill(random: np.random.Generator, made: Array) -> None:
    if made.dtype.names is not None:
        for name in made.dtype.names:
            fill(random, made[name])
    elif made.dtype.kind == "f":
        made[...] = random.uniform(0.5, 1.5, made.shape)
    else:
        made[...] = random.integers(0, 2 if made.dtype == np.bool_ else 9, made.shape)


def spread(values: Array) -> tuple[kf.Tensor, kf.Tensor]:
    """A view of every other struct, last first, and the whole of it."""
    count = len(values)
    whole = filled(values.dtype, 2 * count + 3, seed=9)
    whole[2 * count + 1 : 1 : -2] = values
    made = tensor(whole)
    return made[2 * count + 1 : 1 : -2], made


def same(found: Array, wanted: Array, tolerance: float = 2e-5) -> None:
    """Field by field: of floats nearly, of all others exactly."""
    assert found.dtype.names == wanted.dtype.names
    if wanted.dtype.names is not None:
        for name in wanted.dtype.names:
            same(found[name], wanted[name], tolerance)
    elif wanted.dtype.kind == "f":
        loose = max(tolerance, 2e-3 if wanted.dtype == np.float16 else 0)
        np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), loose, loose)
    else:
        np.testing.assert_array_equal(found, wanted)


# ---- Without gradients ----


@pytest.mark.parametrize("count", SIZES)
def test_structs_are_read(structs: Any, count: int) -> None:
    rays = filled(structs.Ray.dtype, count)
    wanted = rays["pos"] * rays["t"][:, None] + rays["tag"][:, None]
    for given in (tensor(rays), spread(rays)[0]):
        np.testing.assert_allclose(structs.look(indices(count), given).to_numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("count", SIZES)
def test_structs_are_written_and_nothing_beside_them(structs: Any, count: int) -> None:
    rays = filled(structs.Ray.dtype, count)
    whole = filled(structs.Ray.dtype, count + 3, 5, seed=1)
    target = tensor(whole)
    at = np.stack([np.arange(count) % 2, np.arange(count)], axis=1).astype(np.int32)
    structs.put(tensor(at), tensor(rays), target[1:-2, 1:4:2])
    whole[1:-2][at[:, 1], 1 + 2 * at[:, 0]] = rays
    np.testing.assert_array_equal(target.to_numpy(), whole)


@pytest.mark.parametrize("count", SIZES)
def test_structs_are_changed_in_arrays(structs: Any, count: int) -> None:
    found = filled(structs.Plain.dtype, count, 2)
    wanted = found.copy()
    wanted[:, 1] = wanted[:, 0]
    wanted["a"][:, 1] *= 2
    wanted["flags"][:, 1, 1] ^= True
    wanted["h"][:, 1] *= 2
    structs.change(indices(count), found)
    same(found, wanted)


def test_rows_of_structs(structs: Any) -> None:
    rays = filled(structs.Ray.dtype, 6, 5)
    np.testing.assert_array_equal(structs.sum_tags(tensor(rays)).to_numpy(), rays["tag"].sum(axis=1))
    across = tensor(rays).transpose(1, 0)
    np.testing.assert_array_equal(structs.sum_tags(across).to_numpy(), rays["tag"].sum(axis=0))
    assert structs.sum_tags(tensor(rays)[2]) == rays["tag"][2].sum()


@pytest.mark.parametrize("count", SIZES)
def test_structs_are_added_to(structs: Any, count: int) -> None:
    random = np.random.default_rng(count)
    at = random.integers(0, 4, count).astype(np.int32)
    values = random.uniform(0, 1, count).astype(np.float32)
    for where in (at, np.full(count, 2, np.int32)):
        sums = filled(structs.Light.dtype, 4)
        given = tensor(sums)
        structs.collect(tensor(where), tensor(values), given)
        power = np.bincount(where, values.astype(np.float64), 4)
        sums["power"] += power.astype(np.float32)
        ones = np.bincount(where, minlength=4)
        sums["color"] += np.stack([power, 2 * power, ones], axis=1).astype(np.float32)
        same(given.to_numpy(), sums, 1e-4)


@pytest.mark.parametrize("count", SIZES)
def test_elements_that_are_read_are_added_to_others(structs: Any, count: int) -> None:
    lights, sums = filled(structs.Light.dtype, count), filled(structs.Light.dtype, 6, seed=1)
    given = tensor(sums)
    structs.collect_read(indices(count), tensor(lights), given[1:5])
    for name in ("color", "power"):
        np.add.at(sums[name], 1 + np.arange(count) % 4, lights[name])
    same(given.to_numpy(), sums, 1e-4)


@pytest.mark.parametrize("count", SIZES)
def test_halves_are_added_to_in_place(structs: Any, count: int) -> None:
    """Five elements of three halves: words hold halves of two elements. Sums are exact."""
    random = np.random.default_rng(count)
    at = random.integers(0, 5, count).astype(np.int32)
    whole = np.full((7, 3), 77, np.float16)
    whole[1:6] = 0
    sums = tensor(whole)
    structs.collect_halves(tensor(at), tensor(np.full((count, 3), 0.25, np.float16)), sums[1:6])
    whole[1:6] = 0.25 * np.bincount(at, minlength=5)[:, None]
    np.testing.assert_array_equal(sums.to_numpy(), whole)


@pytest.mark.parametrize("count", SIZES)
def test_rows_of_halves_are_added_to_in_place(structs: Any, count: int) -> None:
    at = np.random.default_rng(count).integers(0, 5, count).astype(np.int32)
    whole = np.full((7, 2, 3), 77, np.float16)
    whole[1:6] = 0
    sums = tensor(whole)
    structs.collect_rows(tensor(at), tensor(np.full(count, 0.125, np.float16)), sums[1:6])
    times = np.array([[1, 1, 1], [1, 1, 2]])
    whole[1:6] = 0.125 * times * np.bincount(at, minlength=5)[:, None, None]
    np.testing.assert_array_equal(sums.to_numpy(), whole)


@pytest.mark.parametrize("count", SIZES)
def test_bools_of_all_shapes(structs: Any, count: int) -> None:
    a = filled(np.bool_, count, 3)
    b = filled(np.bool_, count, 2, seed=1)
    pairs, matrices = tensor(b), tensor(np.zeros((count, 2, 2), np.bool_))
    found = structs.flip(indices(count), tensor(a), pairs, matrices)
    np.testing.assert_array_equal(found.to_numpy(), ~a)
    np.testing.assert_array_equal(pairs.to_numpy(), np.stack([~b[:, 0], b[:, 1]], axis=1))
    np.testing.assert_array_equal(matrices.to_numpy(), np.stack([a[:, :2], a[:, 1:]], axis=1))


# ---- With gradients ----


def traced(rays: Array, at: Array, k: float, gradient: Array) -> tuple[Array, float]:
    """What trace() adds to `gradient`, when 1 flows in, and the gradient of k."""
    wanted = gradient.copy()
    times = np.bincount(at, minlength=len(rays)).astype(np.float64)
    along = rays["pos"].astype(np.float64) @ np.array([1.0, 2.0, 3.0])
    step = rays["t"].astype(np.float64)
    wanted["pos"] += ((times * step * k)[:, None] * np.array([1.0, 2.0, 3.0])).astype(np.float32)
    wanted["t"] += (times * along * k).astype(np.float32)
    return wanted, float((times * along * step).sum())


@pytest.mark.parametrize("exact", SUMS)
@pytest.mark.parametrize("count", SIZES)
def test_gradients_are_structs(structs: Any, count: int, exact: bool) -> None:
    rays = filled(structs.Ray.dtype, max(count, 1))
    held = filled(structs.Ray.dtype, len(rays), seed=1)
    random = np.random.default_rng(count)
    backward = structs.trace.options(deterministic=exact).backward
    for at in (random.integers(0, len(rays), count).astype(np.int32), np.zeros(count, np.int32)):
        wanted, of_k = traced(rays, at, 0.5, held)
        gradient, whole = spread(held)
        rest = whole.to_numpy()
        k = kf.differentiable(0.5)
        backward(tensor(at), tensor(rays).with_grads(grad_out=gradient), k)
        # What has no derivative stays as it was, and so does what lies between.
        same(gradient.to_numpy(), wanted, 1e-4)
        rest[2 * len(rays) + 1 : 1 : -2] = gradient.to_numpy()
        np.testing.assert_array_equal(whole.to_numpy(), rest)
        np.testing.assert_allclose(k.grad, of_k, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("exact", SUMS)
def test_gradients_of_batches_of_structs(structs: Any, exact: bool) -> None:
    """Call i reads ray i of the batch's row i."""
    rays = filled(structs.Ray.dtype, 5, 7)
    held = filled(structs.Ray.dtype, 5, 7, seed=1)
    at = np.arange(5, dtype=np.int32)
    given = tensor(rays).with_grads(grad_out=tensor(held))
    structs.trace.options(deterministic=exact).backward(tensor(at), given, 0.5)
    wanted = held.copy()
    for i in at:
        wanted[i], _ = traced(rays[i], at[i : i + 1], 0.5, held[i])
    same(array(given.grad_out), wanted)


def test_deterministic_sums_are_the_same_bits(structs: Any) -> None:
    rays = filled(structs.Ray.dtype, 3)
    at = np.random.default_rng(1).integers(0, 3, 20000).astype(np.int32)
    runs = set()
    for _ in range(20):
        given = tensor(rays).with_grads()
        structs.trace.options(deterministic=True).backward(tensor(at), given, 0.3)
        runs.add(array(given.grad).tobytes())
    assert len(runs) == 1


def shaded(scenes: Array, at: Array, k: float) -> Array:
    """The gradient of scenes that all calls read."""
    wanted = np.zeros(scenes.shape, scenes.dtype)
    count = len(at)
    wanted["lights"]["power"][..., 0] = count * k * scenes["lights"]["color"][..., 1, 1]
    wanted["lights"]["power"][..., 1] = np.where(scenes["on"], at.sum(), 0)
    wanted["lights"]["color"][..., 1, 1] = count * k * scenes["lights"]["power"][..., 0]
    wanted["basis"][..., 1, 2] = count * k * k
    wanted["tint"][..., 1] = count * k
    wanted["fine"] = count * k
    return wanted


@pytest.mark.parametrize("exact", SUMS)
@pytest.mark.parametrize("count", [1, 31, 1001])
def test_nested_structs_and_arrays_of_every_float(structs: Any, count: int, exact: bool) -> None:
    scenes = filled(structs.Scene.dtype, 3)
    at = np.arange(count, dtype=np.int32) % 5
    given = tensor(scenes).with_grads()
    structs.shade.options(deterministic=exact).backward(tensor(at), given, 0.5)
    same(array(given.grad), shaded(scenes, at, 0.5), 1e-4)


@pytest.mark.parametrize("exact", SUMS)
def test_batches_of_nested_structs(structs: Any, exact: bool) -> None:
    scenes = filled(structs.Scene.dtype, 4, 3)
    at = np.arange(4, dtype=np.int32)
    given = tensor(scenes).with_grads()
    structs.shade.options(deterministic=exact).backward(tensor(at), given, 0.5)
    wanted = np.stack([shaded(scenes[i], at[i : i + 1], 0.5) for i in at]).astype(scenes.dtype)
    same(array(given.grad), wanted, 1e-4)


def test_dense_gradients_are_overwritten(structs: Any) -> None:
    rays = filled(structs.Ray.dtype, 33)
    at = np.arange(100, dtype=np.int32) % 33
    wanted, _ = traced(rays, at, 0.5, np.zeros(33, structs.Ray.dtype))
    given = tensor(rays).with_grads(grad_out=tensor(filled(structs.Ray.dtype, 33, seed=1)))
    for _ in range(2):
        structs.trace_dense.backward(tensor(at), given, 0.5)
        found = array(given.grad_out)
        np.testing.assert_allclose(found["pos"], wanted["pos"], rtol=1e-4)
        np.testing.assert_allclose(found["t"], wanted["t"], rtol=1e-4)
        assert not found["tag"].any() and not found["weight"].any(), "docs/tensors.md says so"
    with pytest.raises(kf.ArgumentError, match=r"'rays.*contiguous"):
        structs.trace_dense.backward(tensor(at[:16]), tensor(rays)[::2].with_grads(), 0.5)


def test_losses_of_structs_are_fused(structs: Any) -> None:
    rays = filled(structs.Ray.dtype, 31)
    at = np.arange(31, dtype=np.int32)
    given = tensor(rays).with_grads()
    loss = structs.trace_loss.fused(tensor(at), given, 0.5)
    wanted, _ = traced(rays, at, 0.5, np.zeros(31, structs.Ray.dtype))
    same(array(given.grad), wanted)
    np.testing.assert_array_equal(loss.to_numpy(), structs.trace_loss(tensor(at), given, 0.5).to_numpy())


@pytest.mark.parametrize("count", SIZES)
def test_loads_that_need_no_atomics(structs: Any, count: int) -> None:
    lights, shared = filled(structs.Light.dtype, count), filled(structs.Light.dtype, 1, seed=1)
    given, common = tensor(lights).with_grads(), tensor(shared).with_grads()
    structs.each_once.backward(indices(count), given, common)
    wanted = np.zeros(count, structs.Light.dtype)
    wanted["color"] = shared["color"] * lights["power"][:, None]
    wanted["power"] = lights["color"] @ shared["color"][0]
    same(array(given.grad), wanted)
    wanted = np.zeros(1, structs.Light.dtype)
    wanted["color"] = (lights["color"].astype(np.float64) * lights["power"][:, None]).sum(axis=0)
    same(array(common.grad), wanted, 1e-4)


@pytest.mark.parametrize("flows", [False, True])
@pytest.mark.parametrize("count", SIZES)
def test_written_structs_take_gradients(structs: Any, count: int, flows: bool) -> None:
    lights, given_in = filled(structs.Light.dtype, count), filled(structs.Light.dtype, count, seed=1)
    given, target = tensor(lights).with_grads(), tensor(np.zeros(count, structs.Light.dtype))
    structs.move(indices(count), 0.5, given, target)
    wanted = lights.copy()
    wanted["color"] *= 0.5
    wanted["power"] *= lights["power"]
    same(target.to_numpy(), wanted)
    if flows:
        target = target.with_grads(grad_in=spread(given_in)[0])
    else:
        given_in["color"] = given_in["power"] = 1
    dt = kf.differentiable(0.5)
    structs.move.backward(indices(count), dt, given, target)
    wanted["color"] = 0.5 * given_in["color"]
    wanted["power"] = 2 * lights["power"] * given_in["power"]
    same(array(given.grad), wanted)
    np.testing.assert_allclose(dt.grad, (lights["color"] * given_in["color"]).sum(), rtol=1e-4)


def test_structs_changed_in_place_have_two_gradients(structs: Any) -> None:
    lights, given_in = filled(structs.Light.dtype, 33), filled(structs.Light.dtype, 33, seed=1)
    out = tensor(np.zeros(33, structs.Light.dtype))
    given = tensor(lights).with_grads(grad_in=tensor(given_in), grad_out=out)
    structs.brighten.backward(indices(33), given)
    wanted = np.zeros(33, structs.Light.dtype)
    wanted["color"] = 2 * given_in["color"]
    wanted["color"][:, 0] += 2 * given_in["power"] * lights["power"]
    wanted["power"] = 2 * given_in["power"] * lights["color"][:, 0]
    same(out.to_numpy(), wanted)
    structs.brighten(indices(33), given)
    np.testing.assert_allclose(
        given.to_numpy()["power"], lights["power"] * 2 * lights["color"][:, 0], rtol=1e-5
    )


@pytest.mark.parametrize("exact", SUMS)
def test_custom_derivatives_add_structs(structs: Any, exact: bool) -> None:
    rays = filled(structs.Ray.dtype, 7)
    at = np.arange(100, dtype=np.int32) % 7
    times = np.bincount(at, minlength=7)
    given = tensor(rays).with_grads()
    structs.energy.options(deterministic=exact).backward(tensor(at), given)
    wanted = np.zeros(7, structs.Ray.dtype)
    wanted["pos"][:, 0] = times * rays["t"]
    wanted["t"] = times * rays["pos"][:, 0]
    same(array(given.grad), wanted)


@pytest.mark.parametrize("count", SIZES)
def test_tangents_are_structs(structs: Any, count: int) -> None:
    rays, tangents = filled(structs.Ray.dtype, count), filled(structs.Ray.dtype, count, seed=1)
    factors = np.array([1, 2, 3])
    along = rays["pos"] @ factors
    wanted = 0.5 * (tangents["pos"] @ factors * rays["t"] + along * tangents["t"])
    given = tensor(rays)
    for tangent in (tensor(tangents), spread(tangents)[0]):
        result, found = structs.trace.jvp(indices(count), given, 0.5, tangents={"rays": tangent})
        np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-5)
        np.testing.assert_allclose(result.to_numpy(), 0.5 * along * rays["t"] + rays["weight"], rtol=1e-5)
    _, found = structs.trace.jvp(indices(count), given, 0.5, tangents={"k": 1.0})
    np.testing.assert_allclose(found.to_numpy(), along * rays["t"], rtol=1e-5)


def test_tangents_are_written(structs: Any) -> None:
    lights, along = filled(structs.Light.dtype, 33), filled(structs.Light.dtype, 33, seed=1)
    target, tangent = (tensor(np.zeros(33, structs.Light.dtype)) for _ in range(2))
    tangents = {"from": tensor(along), "to": tangent, "dt": 2.0}
    structs.move.jvp(indices(33), 0.5, tensor(lights), target, tangents=tangents)
    wanted = along.copy()
    wanted["color"] = 0.5 * along["color"] + 2 * lights["color"]
    wanted["power"] = 2 * lights["power"] * along["power"]
    same(tangent.to_numpy(), wanted)


@pytest.mark.parametrize("exact", SUMS)
@pytest.mark.parametrize("count", SIZES)
def test_rows_of_halves(structs: Any, count: int, exact: bool) -> None:
    """A half3 that is a row of something: read, written, and both gradients and tangents of it."""
    m, d = filled(np.float16, count, 2, 3), filled(np.float16, count, 2, 3, seed=1)
    given, whole = tensor(m).with_grads(), tensor(np.full((count + 2, 2, 3), 77, np.float16))
    structs.turn(indices(count), 2.0, given, whole[1:-1])
    wide, dwide = m.astype(np.float64), d.astype(np.float64)
    wanted = np.full((count + 2, 2, 3), 77.0)
    wanted[1:-1, 0] = 2 * wide[:, 1]
    wanted[1:-1, 1] = wide[:, 0] * wide[:, 1]
    same(whole.to_numpy(), wanted.astype(np.float16))
    target = tensor(np.zeros((count, 2, 3), np.float16))
    structs.turn.options(deterministic=exact).backward(
        indices(count), 2.0, given, target.with_grads(grad_in=tensor(d))
    )
    gradient = np.stack([dwide[:, 1] * wide[:, 1], 2 * dwide[:, 0] + dwide[:, 1] * wide[:, 0]], axis=1)
    same(array(given.grad), gradient.astype(np.float16))
    tangent = tensor(np.zeros((count, 2, 3), np.float16))
    structs.turn.jvp(
        indices(count), 2.0, tensor(m), target, tangents={"from": tensor(d), "to": tangent, "k": 3.0}
    )
    along = np.stack(
        [2 * dwide[:, 1] + 3 * wide[:, 1], dwide[:, 0] * wide[:, 1] + wide[:, 0] * dwide[:, 1]],
        axis=1,
    )
    same(tangent.to_numpy(), along.astype(np.float16))


# ---- What is refused ----


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("count", SIZES)
def test_calls_choose_between_tensors(structs: Any, count: int, exact: bool) -> None:
    at = np.arange(count)
    both = [tensor(filled(structs.Mixed.dtype, 4, seed=s)[1:3]).with_grads() for s in (1, 2)]
    structs.either.options(deterministic=exact).backward(indices(count), 2.0, *both)
    for chosen, mixed in ((at % 3 == 0, both[0]), (at % 3 != 0, both[1])):
        wanted = 2 * np.bincount(at[chosen] % 2, minlength=2)
        found = array(mixed.grad)
        np.testing.assert_array_equal(found["v"].astype(np.float64), wanted.astype(np.float16))
        np.testing.assert_array_equal(found["w"], wanted)


def test_other_structs_and_shared_memory_are_refused(structs: Any) -> None:
    rays = tensor(filled(structs.Ray.dtype, 4))
    with pytest.raises(kf.ArgumentError, match="rays"):
        structs.look(indices(4), tensor(filled(structs.Light.dtype, 4)))
    with pytest.raises(kf.ArgumentError, match="rays"):
        structs.look(indices(4), tensor(np.zeros((4, 6), np.float32)))
    lights = tensor(filled(structs.Light.dtype, 4))
    with pytest.raises(kf.ArgumentError, match="shares memory"):
        structs.move(indices(4), 0.5, lights, lights)
    with pytest.raises(kf.ArgumentError, match="share memory"):
        structs.put(tensor(np.zeros((2, 2), np.int32)), rays[:2], rays.broadcast_to((3, 4)))
