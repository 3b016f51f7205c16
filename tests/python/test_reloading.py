"""Modules that are loaded over and over: each goes with the last object that is made of it."""

import gc
import importlib
import shutil
import sys
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import pytest
from loader import Loader

#: Bytes that 2,000 modules of 40 KB may leave behind. If each stayed, they would be over 80 MB.
MOST_KEPT = 40 << 20


def resident() -> int:
    """Bytes of the process's memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def artifact_of(module: ModuleType) -> Path:
    folder = Path(str(module.__file__)).parent
    (found,) = folder.glob("*.kfa")
    return found


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


def test_modules_go_with_their_last_object(calls: ModuleType) -> None:
    path = artifact_of(calls)
    kept = kf.load_module(path)
    x = kf.Tensor.zeros((4,))
    gone: list[Any] = []
    for _ in range(20):
        module = kf.load_module(path)
        advance = module.function("advance")
        advance(x, 1)
        hooked = advance.hook(lambda context: None).options(deterministic=True)
        hooked(x, 1)
        prepared = advance.prepare(x, 1)
        prepared()
        with kf.Graph() as graph:
            advance(x, 1)
        graph.replay()
        gone += [weakref.ref(one) for one in (module, advance, hooked, prepared, graph)]
        del module, advance, hooked, prepared, graph
    gc.collect()
    assert [one() for one in gone if one() is not None] == []
    assert x.to_numpy().tolist() == [80] * 4
    # What goes on being used stays.
    function = kf.load_module(path).function("advance")
    gc.collect()
    function(x, 1)
    kept.function("advance")(x, 1)
    assert x.to_numpy().tolist() == [82] * 4


@pytest.mark.parametrize("names", ["calls", "gradients"])
def test_a_loaded_module_leaves_nothing_behind(generated: Loader, tmp_path: Path, names: str) -> None:
    """2,000 loads, each with a call: the memory that they leave is bounded, and so is what devices keep."""
    calls = generated(names)
    path = shutil.copy(artifact_of(calls), tmp_path / "copy.kfa")
    x = kf.Tensor.zeros((4,))
    ints = kf.Tensor.zeros((4,), "int32")

    def load() -> None:
        module = kf.load_module(path)
        if names == "calls":
            module.function("advance")(x, 1)
            assert module.function("add")(3, 4) == 7
            module.function("add")(ints, 4)
        else:
            polynomial = module.function("polynomial")
            polynomial(2, 3, 4, x)
            assert polynomial.backward is not None
            polynomial.backward(2, 3, 4, x.with_grads(), x)

    for _ in range(50):
        load()
    gc.collect()
    before = resident()
    count = 2000 if names == "calls" else 300
    for _ in range(count):
        load()
    gc.collect()
    grown = resident() - before
    assert grown < MOST_KEPT, f"{grown / count / 1024:.1f} KB a module"


def test_generated_modules_are_loaded_anew(generated: Loader) -> None:
    """As importlib.reload() does it: with classes whose methods are functions of the module."""
    module = generated("members")
    gone: list[Any] = []
    for _ in range(5):
        module = importlib.reload(module)
        gone.append(weakref.ref(module._module))
    gc.collect()
    assert [one() is not None for one in gone] == [False] * 4 + [True]
    assert module.__name__ in sys.modules
