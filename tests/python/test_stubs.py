"""The generated stubs: mypy --strict takes right calls and refuses wrong ones."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from loader import Loader

pytest.importorskip("mypy")

RIGHT = """
from typing import Any

import kernelfunctions as kf
import numpy as np
from kf_calls.calls import add, quotient, scale, split, total
from kf_containers.containers import batched, take_apart, weigh
from kf_generators.generators import added, hash_1, id_int2, noisy
from kf_gradients.gradients import polynomial

tensor = kf.Tensor.from_numpy(np.zeros(3, np.int32))
number: int = add(1, 2)
sum_: kf.Tensor = add(tensor, 2)
listed: kf.Tensor = add([1, 2, 3], np.zeros(3, np.int32), out=tensor)
streamed: kf.Tensor = add([1, 2, 3], tensor, stream=17)
parts = split(1.5)
rest: float = parts.rest
outcome = quotient(tensor, 2)
whole: kf.Tensor = outcome.result
component: float | kf.Tensor = total([1.0, 2.0, 3.0])
a = kf.differentiable(2.0)
x = kf.Tensor.zeros(4).with_grads()
y = polynomial(2.0, 8, -1, x)
polynomial.backward(a, 8, -1, x, y)
again: kf.Tensor = polynomial(a, 8, -1, x)
array: np.ndarray[Any, Any] = add(tensor, 2, out=np.ndarray)
named: np.ndarray[Any, Any] = polynomial(2.0, 8, -1, x, out="numpy")
ids: kf.Tensor = id_int2(shape=(2, 3))
spread: kf.Tensor = added(kf.grid((2, 3), offset=[1, 2]), 1.0)
hashes: np.ndarray[Any, Any] = hash_1(kf.wang_hash(seed=3), shape=[4], out=np.ndarray)
noise = noisy(kf.rand_float(-1, 1, hash_seed=True), x)
noisy.backward(kf.rand_float(-1, 1, hash_seed=True), x, noise)
weights: float | kf.Tensor = weigh(kf.differentiable([1.0, 2.0, 3.0, 4.0]), np.zeros(4, np.float32))
vector = batched([1, 2, 3], 2.0).to_numpy()
others = take_apart([[1, 2], [3, 4]], 2.0).others
encoder = kf.default_device().encoder()
recorded: kf.Tensor = add.append_to(encoder, tensor, 1)
encoder.submit()
"""

WRONG = [
    "add('1', 2)",
    "add(1)",
    "add(1, 2, c=3)",
    "text: str = add(1, 2)",
    "add.backward()",
    "add.append_to(1, 2)",
    "add(1, 2, out=int)",
    "id_int2(3)",
    "hash_1(kf.rand_float())",
    "added((2, 3), 1.0)",
    "kf.grid(1.5)",
]


def check(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), str(path)],
        env={
            **{name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
            "MYPYPATH": os.pathsep.join(p for p in sys.path if p.endswith((".generated", "/python"))),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(generated: Loader, tmp_path_factory: pytest.TempPathFactory) -> Path:
    generated("calls")
    return tmp_path_factory.mktemp("stubs")


def test_right_calls(folder: Path) -> None:
    result = check(folder, RIGHT)
    assert result.returncode == 0, result.stdout


def test_wrong_calls(folder: Path) -> None:
    lines = ["import kernelfunctions as kf", "from kf_calls.calls import add", *WRONG]
    result = check(folder, "\n".join(lines))
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    assert refused == set(range(3, 3 + len(WRONG))), result.stdout
