"""Strings that no text is: Python's may hold half of a surrogate pair."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

BAD = "n\ud800"


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.fixture(scope="module")
def structs(generated: Loader) -> ModuleType:
    return generated("structs")


def test_every_entry_refuses_half_a_surrogate_pair(
    calls: ModuleType, scene: ModuleType, structs: ModuleType, device: kf.Device, tmp_path: Path
) -> None:
    x = kf.Tensor.zeros((4,))
    texels = np.zeros((3, 4, 1), np.float32)
    texture = kf.Texture.from_numpy(texels, "r32f", kind="2d")
    module = calls._module
    prepared = calls.advance.prepare(x, 1)
    node = calls.advance.node()
    with kf.Graph() as graph:
        node(x, 1)

    def hook(context: kf.HookContext) -> None:
        context.set(**{BAD: 1})

    def dict_hook(context: kf.HookContext) -> None:
        context.set({BAD: 1})

    def profiled() -> None:
        with kf.profile(trace=BAD):
            calls.advance(x, 1)

    def traced() -> None:
        with kf.profile(show=False) as p:
            calls.advance(x, 1)
        p.write_trace(BAD)

    named = type("Named", (), {"__dlpack__": None})
    entries: dict[str, Callable[[], Any]] = {
        "call": lambda: calls.advance(x, 1, **{BAD: 1}),
        "value": lambda: calls.advance(x, BAD),
        "append_to": lambda: calls.advance.append_to(device.encoder(), x, 1, **{BAD: 1}),
        "prepare": lambda: calls.advance.prepare(x, 1, **{BAD: 1}),
        "node": lambda: calls.advance.node()(x, 1, **{BAD: 1}),
        "prepared.set": lambda: prepared.set(**{BAD: 1}),
        "prepared.set dict": lambda: prepared.set({BAD: 1}),
        "prepared": lambda: prepared(**{BAD: 1}),
        "graph.set": lambda: graph.set(**{BAD: 1}),
        "graph.set dict": lambda: graph.set({BAD: 1}),
        "node.set": lambda: node.set(**{BAD: 1}),
        "node.set dict": lambda: node.set({BAD: 1}),
        "set": lambda: scene.gained.set(**{BAD: 1}),
        "set dict": lambda: scene.gained.set({BAD: 1}),
        "set deep": lambda: scene.gained.set({"look." + BAD: 1}),
        "hook": lambda: scene.gained.hook(hook)(x),
        "hook dict": lambda: scene.gained.hook(dict_hook)(x),
        "options": lambda: calls.advance.options(**{BAD: 1}),
        "variant": lambda: calls.advance.options(variant=BAD),
        "constants": lambda: calls.advance.options(constants={BAD: 1}),
        "constants value": lambda: calls.advance.options(constants={"N": BAD}),
        "types": lambda: calls.advance.options(types={BAD: "A"}),
        "types value": lambda: calls.advance.options(types={"A": BAD}),
        "typeconformance": lambda: calls.advance.typeconformance({BAD: ["A"]}),
        "typeconformance value": lambda: calls.advance.typeconformance({"A": [BAD]}),
        "accumulate": lambda: calls.advance.accumulate({BAD: "sum"}),
        "accumulate value": lambda: calls.advance.accumulate({"x": BAD}),
        "accumulate keyword": lambda: calls.advance.accumulate(**{BAD: "sum"}),
        "map": lambda: calls.advance.map({BAD: [0]}),
        "map keyword": lambda: calls.advance.map(**{BAD: [0]}),
        "module.function": lambda: module.function(BAD),
        "module._pickled_function": lambda: module._pickled_function(BAD),
        "load_module": lambda: kf.load_module(BAD),
        "load_module path": lambda: kf.load_module(tmp_path / BAD),
        "import_name": lambda: kf.load_module(tmp_path / "no.kfa", BAD),
        "set_device": lambda: kf.set_device(BAD),
        "Device.open": lambda: kf.Device.open(BAD),
        "device": lambda: kf.Tensor.zeros((4,), device=BAD),  # type: ignore[call-overload]
        "check": lambda: setattr(device, "check", BAD),
        "dtype": lambda: kf.Tensor.zeros((4,), BAD),
        "name": lambda: kf.Tensor.zeros((4,), name=BAD),
        "Tensor": lambda: kf.Tensor([1.0], BAD),
        "Tensor of text": lambda: kf.Tensor(BAD),
        "fill": lambda: x.fill(BAD),  # type: ignore[arg-type]
        "index": lambda: x[BAD],  # type: ignore[index]
        "format": lambda: kf.Texture.from_numpy(texels, BAD, kind="2d"),
        "kind": lambda: kf.Texture.from_numpy(texels, "r32f", kind=BAD),
        "Sampler": lambda: kf.Sampler(filter=BAD),  # type: ignore[arg-type]
        "Sampler address": lambda: kf.Sampler(address=BAD),  # type: ignore[arg-type]
        "with_sampler": lambda: texture.with_sampler(BAD),  # type: ignore[arg-type]
        "set_options": lambda: kf.set_options(**{BAD: 1}),  # type: ignore[arg-type]
        "profile": profiled,
        "write_trace": traced,
        "struct": lambda: structs.shade({BAD: 1}, x),
        "struct _type": lambda: structs.shade({"_type": BAD}, x),
        "struct dtype": lambda: structs.shade({}, kf.Tensor.from_numpy(np.zeros(3, [(BAD, "f4")]))),
        "struct array": lambda: structs.shade({}, np.zeros(3, [(BAD, "f4")])),
        "unknown dtype": lambda: kf.Tensor.zeros((4,), "nonsense"),
        "Struct": lambda: structs.Ray(**{BAD: 1}),
        "differentiable": lambda: kf.differentiable(BAD),
        "shape": lambda: kf.Tensor.zeros(BAD),  # type: ignore[arg-type]
        "grid": lambda: kf.grid(BAD),  # type: ignore[arg-type]
        "stream": lambda: calls.advance(x, 1, stream=BAD),
        "dlpack": lambda: kf.Tensor.from_dlpack(BAD),
        "object": lambda: calls.advance(named(), 1),
    }
    wrong: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            entry()
            wrong[name] = "nothing was refused"
        except kf.Error as error:
            if not error.code:
                wrong[name] = f"no code: {error!r}"
            if str(error) != str(error).encode(errors="replace").decode():
                wrong[name] = f"it can't be written: {error!r}"
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"[:200]
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


def test_text_with_a_null_character(calls: ModuleType, tmp_path: Path) -> None:
    for entry in (
        lambda: kf.load_module("a\0b"),
        lambda: kf.load_module(tmp_path / "a\0b"),
        lambda: calls._module.function("a\0b"),
        lambda: kf.load_module(3),  # type: ignore[arg-type]
    ):
        with pytest.raises(kf.Error) as caught:
            entry()
        assert caught.value.code
