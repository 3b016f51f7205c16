"""Device headers: kernels by hand that include them, compiled by NVRTC always and run where there is CUDA."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from cuda_by_hand import Kernels, compiled, headers_of_cuda
from loader import Loader

Array = npt.NDArray[Any]
HERE = Path(__file__).parent
COUNT = 131
POISON = np.float32(7777)
BALL = np.dtype([("center", "f4", 3), ("radius", "f4"), ("id", "i4")])
SCENE = np.dtype([("balls", BALL, 2), ("tilt", "f4", (2, 3)), ("weights", "f4", 4)])
TINT = np.dtype(
    [("color", "f2", 3), ("weight", "f2"), ("uv", "f2", 2), ("rest", "f2", 4), ("steps", "f2", 2)]
)
INNER = np.dtype({"names": ["k", "w"], "formats": ["i1", ("f4", 2)], "offsets": [0, 8], "itemsize": 16})
# As CUDA aligns it.
MIXED = np.dtype(
    {
        "names": ["small", "v", "h", "q", "m", "d", "inner", "n"],
        "formats": ["u1", ("f4", 2), ("f2", 3), ("f4", 4), ("f4", (2, 3)), ("f8", 2), (INNER, 2), "i8"],
        "offsets": [0, 8, 16, 32, 48, 80, 96, 128],
        "itemsize": 144,
    }
)
ENTRIES = [
    *("distances", "blends", "forwards", "tints", "squares", "many_halves"),
    *("widened_parts", "products", "totals", "many", "others"),
    *("advances", "words", "pointers", "counts", "harmonics", "views", "stores", "spreads", "arrays"),
]


@pytest.fixture(scope="module")
def module(generated: Loader) -> ModuleType:
    return generated("device_header")


@pytest.fixture(scope="module")
def ptx(module: ModuleType) -> bytes:
    package = Path(str(module.__file__)).parent
    header = next(path for path in (package, package.parent) if (path / "device_header.cuh").exists())
    folders = [f"-I{folder}" for folder in (header, HERE.parent / "golden" / "spheres", *headers_of_cuda())]
    return compiled((HERE / "specs" / "device_header_kernels.cu").read_text(), *folders)


@pytest.fixture(scope="module")
def kernels(ptx: bytes) -> Kernels:
    device = kf.default_device()
    if device.backend != "cuda":
        pytest.skip("needs a GPU with CUDA")
    return Kernels(ptx, device.info.index)


def random(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


def poisoned(*shape: int) -> Array:
    return np.full(shape, POISON, np.float32)


def by_host(function: Callable[[float], float], x: Array) -> list[float]:
    """What the spec's own kernels give, which are for Vulkan."""
    before = kf.default_device()
    kf.set_device(next(device.id for device in kf.devices() if device.backend == "vulkan"))
    try:
        return [function(float(one)) for one in x]
    finally:
        kf.set_device(before)


@pytest.mark.parametrize("entry", ENTRIES)
def test_kernels_compile(ptx: bytes, entry: str) -> None:
    assert f".visible .entry {entry}(".encode() in ptx


def test_value_and_gradients_of_a_struct(kernels: Kernels) -> None:
    balls = np.zeros(COUNT, BALL)
    balls["center"], balls["radius"], balls["id"] = random(COUNT, 3), random(COUNT), 5
    points = random(COUNT, 3, seed=2)
    grads = np.zeros(COUNT + 1, BALL)
    grads["radius"] = POISON
    out = kernels.run("distances", COUNT, balls, points, poisoned(COUNT + 1), grads, poisoned(COUNT + 1, 3))
    away = 1.5 * points.astype(np.float64) - balls["center"]
    length = np.linalg.norm(away, axis=1)
    direction = away / length[:, None]
    np.testing.assert_allclose(out[2][:COUNT], length - balls["radius"], atol=1e-5)
    np.testing.assert_allclose(out[3]["center"][:COUNT], -2 * direction, atol=1e-5)
    np.testing.assert_array_equal(out[3]["radius"][:COUNT], -2)
    np.testing.assert_array_equal(out[3]["id"][:COUNT], -1)  # it has no gradient, and is left alone
    np.testing.assert_allclose(out[4][:COUNT], 3 * direction, atol=1e-5)
    assert out[2][COUNT] == POISON
    assert out[3]["radius"][COUNT] == POISON
    np.testing.assert_array_equal(out[4][COUNT], POISON)


def test_gradients_in_every_direction(kernels: Kernels) -> None:
    scene = np.zeros(1, SCENE)
    scene["balls"]["center"], scene["balls"]["radius"] = random(1, 2, 3), random(1, 2)
    scene["tilt"], scene["weights"] = random(1, 2, 3, seed=3), random(1, 4, seed=4)
    points, both = random(COUNT, 3, seed=5), random(COUNT, 2, seed=6)
    _, _, after, nearest, result, scene_grads, point_grads, both_grads = kernels.run(
        *("blends", COUNT, scene, points, both, poisoned(COUNT), poisoned(COUNT)),
        *(np.zeros(COUNT, SCENE), poisoned(COUNT, 3), poisoned(COUNT, 2)),
    )
    p, u, v = points.astype(np.float64), both[:, 0].astype(np.float64), both[:, 1].astype(np.float64)
    balls, tilt, weight = (
        scene["balls"][0],
        scene["tilt"][0].astype(np.float64),
        float(scene["weights"][0, 2]),
    )
    away = [p - balls["center"][k] for k in (0, 1)]
    length = [np.linalg.norm(one, axis=1) for one in away]
    direction = [one / size[:, None] for one, size in zip(away, length, strict=True)]
    a, b = (length[k] - balls["radius"][k] for k in (0, 1))
    x = u * a + v
    np.testing.assert_allclose(nearest, 0.25 * a + 0.75 * b, atol=1e-5)
    np.testing.assert_allclose(after, np.stack([x, v * a + u], 1), atol=1e-4)
    np.testing.assert_allclose(result, p @ (tilt[0] + 2 * tilt[1]) + weight * p[:, 0] * x, atol=1e-4)
    # Of nearest flows 3 in, of both (1, -2), of the result a half.
    to_x = 1 + 0.5 * weight * p[:, 0]
    to_a, to_b = 0.75 + to_x * u - 2 * v, 2.25
    np.testing.assert_allclose(both_grads, np.stack([to_x * a - 2, to_x - 2 * a], 1), atol=1e-4)
    for k, to in enumerate((to_a, np.full(COUNT, to_b))):
        np.testing.assert_allclose(scene_grads["balls"]["radius"][:, k], -to, atol=1e-4)
        np.testing.assert_allclose(
            scene_grads["balls"]["center"][:, k], -to[:, None] * direction[k], atol=1e-4
        )
    np.testing.assert_allclose(scene_grads["tilt"], 0.5 * np.stack([p, 2 * p], 1), atol=1e-5)
    weights = np.zeros((COUNT, 4))
    weights[:, 2] = 0.5 * p[:, 0] * x
    np.testing.assert_allclose(scene_grads["weights"], weights, atol=1e-4)
    to_point = to_a[:, None] * direction[0] + to_b * direction[1] + 0.5 * (tilt[0] + 2 * tilt[1])
    to_point[:, 0] += 0.5 * weight * x
    np.testing.assert_allclose(point_grads, to_point, atol=1e-4)


def of_scenes(values: Array, points: Array, both: Array) -> Array:
    """What blend() and distance_to() give: nearest, both, result and distance, in double precision."""
    p, u, v = points.astype(np.float64), both[:, 0].astype(np.float64), both[:, 1].astype(np.float64)
    balls = values["balls"]
    a, b = (
        np.linalg.norm(p - balls["center"][:, k].astype(np.float64), axis=1) - balls["radius"][:, k]
        for k in (0, 1)
    )
    tilt, x = values["tilt"].astype(np.float64), u * a + v
    result = ((tilt[:, 0] + 2 * tilt[:, 1]) * p).sum(1) + values["weights"][:, 2] * p[:, 0] * x
    return np.stack([0.25 * a + 0.75 * b, x, v * a + u, result, a], 1)


def moved(values: Array, tangents: Array, by: float) -> Array:
    """Structs some way along tangents, in double precision."""
    ball = np.dtype([("center", "f8", 3), ("radius", "f8")])
    made = np.zeros(COUNT, [("balls", ball, 2), ("tilt", "f8", (2, 3)), ("weights", "f8", 4)])
    for name in ("center", "radius"):
        made["balls"][name] = values["balls"][name] + by * tangents["balls"][name].astype(np.float64)
    for name in ("tilt", "weights"):
        made[name] = values[name] + by * tangents[name].astype(np.float64)
    return made


def test_forward_derivatives(kernels: Kernels) -> None:
    scene, tangents = np.zeros(1, SCENE), np.zeros(COUNT, SCENE)
    for one, seed in ((scene, 1), (tangents, 7)):
        count = len(one)
        one["balls"]["center"] = random(count, 2, 3, seed=seed)
        one["balls"]["radius"] = random(count, 2, seed=seed + 1)
        one["tilt"] = random(count, 2, 3, seed=seed + 2)
        one["weights"] = random(count, 4, seed=seed + 3)
    points, both = random(COUNT, 3, seed=20), random(COUNT, 2, seed=21)
    dpoints, dboth = random(COUNT, 3, seed=22), random(COUNT, 2, seed=23)
    values, found = kernels.run(
        *("forwards", COUNT, scene, points, both, tangents, dpoints, dboth),
        *(poisoned(COUNT, 5), poisoned(COUNT, 5)),
    )[-2:]
    whole = np.repeat(scene, COUNT)

    def at(by: float) -> Array:
        return of_scenes(
            moved(whole, tangents, by),
            points + by * dpoints.astype(np.float64),
            both + by * dboth.astype(np.float64),
        )

    np.testing.assert_allclose(values, at(0), atol=1e-4)
    np.testing.assert_allclose(found, (at(1e-5) - at(-1e-5)) / 2e-5, rtol=1e-3, atol=1e-3)


def close(found: Array, expected: Array, by: float = 3e-2) -> None:
    """As halves are."""
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=by)


def test_halves(kernels: Kernels) -> None:
    def tints(seed: int) -> Array:
        made = np.zeros(COUNT, TINT)
        for k, name in enumerate(TINT.names or ()):
            made[name] = random(*made[name].shape, seed=seed + k)
        return made

    values, tangents, grads = tints(1), tints(11), np.zeros(COUNT, TINT)
    grads["rest"] = 7
    places = random(COUNT, 2, seed=30).astype(np.float16)
    both = random(COUNT, 3, seed=31).astype(np.float16)
    results, grads, place_grads, _, along = kernels.run(
        *("tints", COUNT, values, places, both, np.full((COUNT, 4), 7777, np.float16), grads),
        *(np.zeros((COUNT, 2), np.float16), tangents, np.full((COUNT, 4), 7777, np.float16)),
    )[3:]
    color, weight = values["color"].astype(np.float64), values["weight"].astype(np.float64)[:, None]
    uv, steps = values["uv"].astype(np.float64), values["steps"].astype(np.float64)
    at, before, by = places.astype(np.float64), both.astype(np.float64), np.array([0.5, 0.25, 2])
    after = before * weight + color * by
    result = (color * after).sum(1) + at[:, 0] * uv[:, 1] + at[:, 1] * steps[:, 1]
    result += values["rest"][:, 3].astype(np.float64)
    close(results, np.column_stack([result, after]))
    to_after = np.array([1, 0, -2]) + 0.5 * color
    close(grads["color"], 0.5 * after + to_after * by)
    close(grads["weight"], (to_after * before).sum(1))
    close(grads["uv"], np.stack([0 * at[:, 0], 0.5 * at[:, 0]], 1))
    close(grads["steps"], np.stack([0 * at[:, 1], 0.5 * at[:, 1]], 1))
    np.testing.assert_array_equal(grads["rest"], 7)  # without a gradient
    close(place_grads, 0.5 * np.stack([uv[:, 1], steps[:, 1]], 1))
    dcolor, dweight = tangents["color"].astype(np.float64), tangents["weight"].astype(np.float64)[:, None]
    dafter = np.array([0, 1, 0]) * weight + before * dweight + dcolor * by
    dresult = (dcolor * after + color * dafter).sum(1) + 0.25 * uv[:, 1]
    dresult += at[:, 0] * tangents["uv"][:, 1] + at[:, 1] * tangents["steps"][:, 1]
    close(along, np.column_stack([dresult, dafter]), 6e-2)


def test_matrices_and_pointers_of_halves(kernels: Kernels) -> None:
    values = random(COUNT, 8, seed=3).astype(np.float16)
    result = kernels.run("squares", COUNT, values, np.full((COUNT, 4), 7777, np.float16))[1]
    m, v = values[:, :4].astype(np.float64).reshape(-1, 2, 2), values[:, 4:].astype(np.float64)
    rows = np.stack([np.fmod(v[:, :2], 0.75), np.maximum(v[:, 2:], 0.5)], 1)
    close(result.reshape(-1, 2, 2), m @ m + rows)


def test_functions_of_halves(kernels: Kernels, module: ModuleType) -> None:
    # Not where functions jump.
    x = np.round(random(COUNT) * 16 + 0.5).astype(np.float16) / np.float16(16) + np.float16(1 / 64)
    result = kernels.run("many_halves", COUNT, x, np.full(COUNT, 7777, np.float16))[1]
    expected = by_host(module.of_half, x)
    np.testing.assert_allclose(result, expected, rtol=2e-2, atol=5e-2)


def test_types_that_cuda_has_no_vectors_of(kernels: Kernels) -> None:
    (parts,) = kernels.run("widened_parts", COUNT, np.full((COUNT, 15), 7777.0))
    for i in range(COUNT):
        expected = [1.5, 2.25, 3 + i, 5, 0, 1, 0, 2**40 + 3, 4, 4, 7, 1, 2, 8, 4]
        np.testing.assert_array_equal(parts[i], expected)


def test_matrices(kernels: Kernels) -> None:
    a, b = random(COUNT, 3, 3), random(COUNT, 3, 3, seed=2)
    result = kernels.run("products", COUNT, a, b, poisoned(COUNT + 1, 3, 3))[2]
    np.testing.assert_allclose(result[:COUNT], a.astype(np.float64) @ b + a.transpose(0, 2, 1), atol=1e-5)
    np.testing.assert_array_equal(result[COUNT], POISON)


def test_pointers(kernels: Kernels) -> None:
    values = random(COUNT)
    result = kernels.run("totals", COUNT, values, poisoned(COUNT))[1]
    expected = np.concatenate([[0], np.cumsum(values.astype(np.float64))[:-1]])
    np.testing.assert_allclose(result, expected, atol=1e-4)


def test_functions_of_scalars(kernels: Kernels, module: ModuleType) -> None:
    x = random(COUNT)
    result = kernels.run("many", COUNT, x, poisoned(COUNT))[1]
    expected = by_host(module.of_many, x)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-4)


def mixed(seed: int) -> Array:
    made = np.zeros(COUNT, MIXED)
    for k, name in enumerate(("v", "h", "q", "m", "d")):
        made[name] = random(*made[name].shape, seed=seed + k)
    made["small"], made["n"] = np.arange(COUNT), 2**40 + np.arange(COUNT)
    made["inner"]["k"], made["inner"]["w"] = (
        np.arange(COUNT)[:, None] % 100,
        random(COUNT, 2, 2, seed=seed + 9),
    )
    return made


def assert_same(found: Array, expected: Array) -> None:
    """All fields, whatever lies between them."""
    for name in expected.dtype.names or ():
        if expected[name].dtype.names:
            assert_same(found[name], expected[name])
        else:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_buffers_of_structs(kernels: Kernels) -> None:
    old = mixed(1)
    before, after = kernels.run("advances", COUNT, old, np.zeros(COUNT, MIXED))
    expected = old.copy()
    expected["small"] += np.uint8(1)
    expected["v"] += old["q"][:, :2]
    expected["h"][:, 2] = old["m"][:, 1, 1]
    expected["m"][:, 0] = old["q"][:, 1:]
    expected["d"][:, 1] += old["inner"]["w"][:, 1, 0] + old["inner"]["k"][:, 0].astype(np.float32)
    expected["inner"]["k"][:, 1] = -old["inner"]["k"][:, 0]
    expected["n"] += COUNT
    assert_same(before, old)
    assert_same(after, expected[::-1])


def test_buffers_of_bytes(kernels: Kernels) -> None:
    values = random(COUNT, 4).astype(np.float32)
    words = kernels.run("words", COUNT, values, poisoned(COUNT + 1, 4))[1]
    np.testing.assert_array_equal(
        words[:COUNT], np.stack([values[:, 3], 2 * values[:, 0], values[:, 1], values[:, 2]], 1)
    )
    np.testing.assert_array_equal(words[COUNT], POISON)


def test_pointers_to_vectors_and_structs(kernels: Kernels) -> None:
    points, weights, all_ = random(COUNT + 1, 3), random(COUNT, 4, seed=2), mixed(3)
    moved, changed, _, before = kernels.run("pointers", COUNT, points, all_, weights, poisoned(COUNT, 3))
    np.testing.assert_array_equal(before, points[:COUNT])
    np.testing.assert_array_equal(moved[:COUNT], weights[:, :3] * all_["inner"]["w"][:, 1, 1:])
    np.testing.assert_array_equal(moved[COUNT], points[COUNT])
    expected = all_.copy()
    expected["h"][:, 1] = points[:COUNT, 0]
    expected["d"] = np.stack([weights[:, 3], all_["d"][:, 0]], 1)
    assert_same(changed, expected)


def test_atomics(kernels: Kernels) -> None:
    x = random(COUNT)
    start = np.array([5, -1000, 1000], np.int32)
    sums, counts, _, before = kernels.run(
        "counts", COUNT, np.zeros(2, np.float32), start, x, np.zeros(COUNT, np.int32)
    )
    np.testing.assert_allclose(sums, [x.astype(np.float64).sum(), 0], atol=1e-3)
    hundreds = np.trunc(x * np.float32(100))
    np.testing.assert_array_equal(counts, [5 + COUNT, hundreds.max(), hundreds.min()])
    np.testing.assert_array_equal(np.sort(before), 5 + np.arange(COUNT))


def test_tensors_with_gradients(kernels: Kernels) -> None:
    data, tangents, dirs = (
        random(*shape, seed=k) for k, shape in enumerate([(COUNT, 4, 3), (COUNT, 4, 3), (COUNT, 3)])
    )
    grad = np.zeros((COUNT, 4, 3), np.float32)
    _, grad, _, _, result, dir_grads, along = kernels.run(
        "harmonics",
        COUNT,
        data,
        grad,
        tangents,
        dirs,
        poisoned(COUNT, 3),
        poisoned(COUNT, 3),
        poisoned(COUNT, 3),
    )
    row = np.arange(COUNT) % 3
    d = dirs.astype(np.float64)
    factors = np.stack([np.ones(COUNT), d[:, 1], d[:, 0] * d[:, 2]], 1)
    sh, moved = data.astype(np.float64)[row, :3], tangents.astype(np.float64)[row, :3]
    np.testing.assert_allclose(result, (factors[:, :, None] * sh).sum(1), atol=1e-5)
    expected = np.zeros((COUNT, 4, 3))
    np.add.at(expected, row, np.pad(factors, ((0, 0), (0, 1)))[:, :, None] * np.array([1, 2, 3]))
    np.testing.assert_allclose(grad, expected, atol=1e-3)
    to_factors = (sh * np.array([1, 2, 3])).sum(2)
    to_dirs = np.stack([to_factors[:, 2] * d[:, 2], to_factors[:, 1], to_factors[:, 2] * d[:, 0]], 1)
    np.testing.assert_allclose(dir_grads, to_dirs, atol=1e-4)
    expected_along = (factors[:, :, None] * moved).sum(1) + 0.5 * d[:, 2:] * sh[:, 2]
    np.testing.assert_allclose(along, expected_along, atol=1e-4)


def test_views(kernels: Kernels) -> None:
    x, weights = random(2, COUNT), random(COUNT, 3, seed=2)
    _, grad, _, result = kernels.run(
        "views", COUNT, x, np.ones((2, COUNT), np.float32), weights, poisoned(COUNT)
    )
    w = weights[:, 1].astype(np.float64)
    np.testing.assert_allclose(result, x[0].astype(np.float64) * x[1] * w, atol=1e-5)
    np.testing.assert_allclose(grad, 1 + 2 * w * x[::-1].astype(np.float64), atol=1e-5)


def test_tensors_that_are_written(kernels: Kernels) -> None:
    x, z, to_y, to_z = (random(COUNT, seed=k) for k in range(4))
    _, y, after, x_grad, _, _, z_grad = kernels.run(
        "stores",
        COUNT,
        x,
        poisoned(COUNT + 1),
        z,
        np.zeros(COUNT, np.float32),
        to_y,
        to_z,
        np.zeros(COUNT, np.float32),
    )
    wide = [one.astype(np.float64) for one in (x, z, to_y, to_z)]
    np.testing.assert_allclose(y[:COUNT], wide[0] ** 2, atol=1e-5)
    assert y[COUNT] == POISON
    np.testing.assert_allclose(after, wide[1] * wide[0], atol=1e-5)
    np.testing.assert_allclose(x_grad, 2 * wide[0] * wide[2] + wide[1] * wide[3], atol=1e-4)
    np.testing.assert_allclose(z_grad, wide[0] * wide[3], atol=1e-5)


def test_tensors_that_are_added_to(kernels: Kernels) -> None:
    x, rows = random(COUNT, 3).astype(np.float16), random(COUNT, seed=2)
    _, after, sums = kernels.run("spreads", COUNT, x, rows, np.zeros((4, 2), np.float32))
    np.testing.assert_allclose(after, rows + x.astype(np.float64).sum(1), atol=1e-5)
    expected = np.zeros((4, 2))
    expected[:3] = np.stack([x.astype(np.float64).sum(0), np.full(3, COUNT)], 1)
    np.testing.assert_allclose(sums, expected, atol=1e-3)


def test_arrays_as_results(kernels: Kernels) -> None:
    x = random(COUNT)
    _, result, grads, tangents = kernels.run(
        "arrays", COUNT, x, poisoned(COUNT, 4), poisoned(COUNT), poisoned(COUNT, 2)
    )
    wide = x.astype(np.float64)
    np.testing.assert_allclose(result, np.stack([np.ones(COUNT), wide, wide**2, wide**3], 1), atol=1e-5)
    np.testing.assert_allclose(grads, 2 + 6 * wide + 12 * wide**2, atol=1e-4)
    np.testing.assert_allclose(tangents, np.stack([wide, 1.5 * wide**2], 1), atol=1e-5)


def test_another_header_beside_it(kernels: Kernels) -> None:
    radii = random(COUNT)
    result = kernels.run("others", COUNT, radii, poisoned(COUNT))[1]
    np.testing.assert_allclose(result, 5 - radii.astype(np.float64), atol=1e-6)
