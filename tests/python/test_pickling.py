"""pickle and copy of functions, configured ones too, of generators and of generated structs."""

import copy
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader
from refusals import refusal

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
SCENE = {"light": {"color": [1, 2, 3], "power": 2.0}, "weights": [1, 2, 3], "count": 1}


@pytest.fixture(scope="module")
def modules(generated: Loader) -> dict[str, ModuleType]:
    return {name: generated(name) for name in ("accumulate", "globals", "jvp", "launch", "members")}


def again(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_function_of_a_module_stays_itself(modules: dict[str, ModuleType], protocol: int) -> None:
    shade = modules["globals"].shade
    assert again(shade, protocol) is shade
    assert copy.copy(shade) is shade
    assert copy.deepcopy(shade) is shade
    scaled = modules["members"].Scaler.scale_value
    assert again(scaled, protocol) is scaled
    both = again([shade, shade.set(tint=2.0), shade], protocol)
    assert both[0] is both[2] is shade


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_values_that_are_set_come_along(modules: dict[str, ModuleType], protocol: int) -> None:
    scene = modules["globals"]
    lit = again(scene.lit.set({"look.gain": 2.0, "scene": SCENE}), protocol)
    x = np.full(3, 3, np.float32)
    np.testing.assert_array_equal(lit(x), [9 * 2 * 2 * 2] * 3)
    np.testing.assert_array_equal(lit.set({"look.gain": 1.0})(x), [9 * 2 * 2] * 3)
    assert copy.deepcopy(lit) is lit
    lit.note, lit._kept = "mine", threading.Lock()
    assert again(lit, protocol).note == "mine"
    assert not hasattr(again(lit, protocol), "_kept")
    assert "tint" in refusal(kf.ArgumentError, lambda: again(scene.shade)(1.0))


def test_counts_of_threads_come_along(modules: dict[str, ModuleType]) -> None:
    fill = modules["launch"].fill
    x = np.zeros(8, np.float32)
    again(fill.threads(5))(x, 2.0)
    np.testing.assert_array_equal(x, [2, 3, 4, 5, 6, 0, 0, 0])
    turn = again(modules["launch"].turn.groups(2, 3))
    assert turn.__reduce__()[1][2] == {"groups": (2, 3, 1)}
    assert turn.threads(7).__reduce__()[1][2] == {"threads": (7, 1, 1)}


def test_ways_and_options_come_along(modules: dict[str, ModuleType]) -> None:
    weigh = modules["accumulate"].weigh.accumulate({"result": "sum"}).options(deterministic=True)
    loaded = again(weigh)
    assert loaded.name == weigh.name != "weigh"
    assert loaded.__reduce__()[1][2] == {"options": {"deterministic": True}}
    a, x, out = np.full((2, 2), 2, np.float32), np.full((2, 2), 3, np.float32), np.zeros((1, 1), np.float32)
    loaded(a, x, out=out)
    np.testing.assert_array_equal(out, [[72]])
    wide = again(modules["launch"].cuda_places.options(variant="wide"))
    assert wide.name == modules["launch"].cuda_places.options(variant="wide").name != "cuda_places"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_passes_come_along(modules: dict[str, ModuleType], protocol: int) -> None:
    lit = modules["globals"].lit.set({"look.gain": 2.0, "scene": SCENE})
    x = kf.Tensor(np.full(3, 3, np.float32)).with_grads()
    again(lit.backward, protocol)(x, lit(x))
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), [2 * 3 * 8] * 3)
    polynomial = modules["jvp"].polynomial
    assert again(polynomial.jvp, protocol)(2, 8, -1, 3.0, tangents={"x": 1.0}) == (41, 20)
    loss = modules["accumulate"].loss
    assert repr(again(loss.fused, protocol)) == repr(loss.fused)
    assert copy.deepcopy(loss.fused) is not None


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "generator",
    [
        kf.grid((3, 4), offset=(1, 2), stride=(5, 6)),
        kf.grid(7),
        kf.range(3, 9, 2),
        kf.wang_hash(5, 2, hash_seed=True),
        kf.rand_float(-1, 2.5, seed=7, warmup=1, hash_seed=True),
    ],
    ids=repr,
)
def test_generators_come_along(generator: Any, protocol: int) -> None:
    for made in (again(generator, protocol), copy.copy(generator), copy.deepcopy(generator)):
        assert type(made) is type(generator)
        assert repr(made) == repr(generator)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_structs_and_their_methods_come_along(modules: dict[str, ModuleType], protocol: int) -> None:
    scaler = modules["members"].Scaler(scale=10, bias=np.ones(2, np.float32))
    loaded = again(scaler, protocol)
    assert type(loaded) is type(scaler)
    assert loaded.scale == 10
    np.testing.assert_array_equal(loaded.bias, [1, 1])
    copied = copy.deepcopy(scaler)
    copied.bias[0] = 5
    np.testing.assert_array_equal(scaler.bias, [1, 1])
    bound = again(modules["members"].Scaler(scale=10, bias=1).scale_value, max(protocol, 2))
    assert bound(2) == 21


def copied(tensor: kf.Tensor) -> list[kf.Tensor]:
    made = [again(tensor, protocol) for protocol in PROTOCOLS]
    return [*made, copy.copy(tensor), copy.deepcopy(tensor), copy.deepcopy([tensor, tensor])[1]]


def test_tensors_come_along(generated: Loader) -> None:
    """With their elements, of structs too, wherever these lay."""
    ray = generated("structs").Ray.dtype
    arrays: list[np.ndarray] = [
        np.arange(15, dtype=np.float32).reshape(5, 3),
        np.array(3, np.int64),
        np.zeros((0, 4), np.float16),
        np.array([True, False, True]),
        np.frombuffer(np.arange(42, dtype=np.float32).tobytes(), ray),
    ]
    for array in arrays:
        tensor = kf.Tensor.from_numpy(array, name="table")
        for made in copied(tensor):
            assert (made.dtype, made.shape, made.name) == (tensor.dtype, tensor.shape, "table")
            assert made.device is tensor.device
            np.testing.assert_array_equal(made.to_numpy(), array)
            assert made.grad is None
            if array.size:
                made.clear()
        np.testing.assert_array_equal(tensor.to_numpy(), array)
    part = kf.Tensor(arrays[0])[1:, ::2]
    for made in copied(part):
        np.testing.assert_array_equal(made.to_numpy(), arrays[0][1:, ::2])
    views = again([part, part])
    assert views[0] is views[1]


def test_gradients_of_tensors_come_along() -> None:
    tensor = kf.Tensor([1.0, 2.0]).with_grads()
    assert tensor.grad is not None
    tensor.grad.fill(3.0)
    for made in copied(tensor):
        assert made.grad is not None
        assert made.grad_in is not None
        np.testing.assert_array_equal(made.grad.to_numpy(), [3, 3])
        made.grad.fill(5.0)
        np.testing.assert_array_equal(made.grad_in.to_numpy(), [5, 5])
    np.testing.assert_array_equal(tensor.grad.to_numpy(), [3, 3])
    apart = kf.Tensor([1.0, 2.0]).with_grads(grad_in=kf.Tensor([3.0, 4.0]), grad_out=kf.Tensor([5.0, 6.0]))
    for made in [*copied(apart), *copied(apart.with_grads(grad_out=apart.grad_out))]:
        assert made.grad_out is not None
        np.testing.assert_array_equal(made.grad_out.to_numpy(), [5, 6])
        if made.grad_in is not None:
            np.testing.assert_array_equal(made.grad_in.to_numpy(), [3, 4])


def test_tensors_of_other_devices_come_to_the_default_one() -> None:
    make, given = cast(tuple[Any, ...], kf.Tensor([1.0, 2.0]).__reduce__())
    made = make(given[0], "cuda:77", *given[2:])
    assert made.device is kf.default_device()
    np.testing.assert_array_equal(made.to_numpy(), [1, 2])


def test_globals_that_are_tensors_come_along(modules: dict[str, ModuleType]) -> None:
    function = modules["globals"].weighed.set(weights_of=kf.Tensor([1.0, 2.0]), flows=kf.Tensor([0.0, 0.0]))
    i, x = np.array([0, 1], np.int32), np.array([3.0, 4.0], np.float32)
    np.testing.assert_array_equal(again(function)(i, x), function(i, x))


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda f: f.hook(print), r"shade has hooks; pickle what hook\(\) was called on"),
    (lambda f: f.hook(print).set(tint=1.0), r"shade has hooks"),
    (lambda f: f.set(tint=kf.Buffer.from_numpy(np.ones(1, np.float32))), r"cannot pickle '.*Buffer' object"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_refused(
    modules: dict[str, ModuleType], make: Callable[[Any], Any], message: str, protocol: int
) -> None:
    with pytest.raises(TypeError, match=message):
        pickle.dumps(make(modules["globals"].shade), protocol)


def test_a_module_without_a_name_is_refused(modules: dict[str, ModuleType]) -> None:
    path = modules["globals"].__file__
    assert path is not None
    loaded = kf.load_module(path.replace(".py", ".kfa"))
    text = refusal(TypeError, lambda: pickle.dumps(loaded.function("shade")))
    assert "'globals' of shade was loaded by load_module() without an import_name" in text


def test_what_is_missing_is_named(modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    scene = modules["globals"]
    data = pickle.dumps(scene.shade.set(tint=2.0))
    monkeypatch.setitem(sys.modules, "kf_globals.globals", None)
    text = refusal(ModuleNotFoundError, lambda: pickle.loads(data))
    assert "the pickled function 'shade' is of the generated module 'kf_globals.globals': " in text
    monkeypatch.setitem(sys.modules, "kf_globals.globals", ModuleType("other"))
    text = refusal(kf.ArtifactError, lambda: pickle.loads(data))
    assert (
        text
        == "the pickled function 'shade' is of 'kf_globals.globals', which is no generated module any more"
    )
    monkeypatch.setitem(sys.modules, "kf_globals.globals", modules["launch"])
    text = refusal(kf.ArgumentError, lambda: pickle.loads(data))
    assert text.startswith("launch: no function 'shade'; it has prefix_sum, ")


def test_another_process_loads_it(modules: dict[str, ModuleType]) -> None:
    held = {"lit": modules["globals"].lit.set({"look.gain": 2.0, "scene": SCENE}), "grid": kf.grid((2, 3))}
    program = """
import pickle, sys
held = pickle.load(sys.stdin.buffer)
print(held["lit"]([3.0]).to_numpy(), held["grid"])
"""
    path = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        input=pickle.dumps(held),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == f"[72.] {held['grid']!r}\n"
