"""The generated stubs: mypy --strict takes right calls and refuses wrong ones."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loader import Loader

pytest.importorskip("mypy")

RIGHT = """
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
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
asked: kf.Tensor = polynomial(2.0, 8, -1, x, out="tensor")
asked = polynomial(2.0, 8, -1, np.zeros(3, np.float32), out=kf.Tensor)
asked = add(1, 2, out=kf.Tensor)
one_array: npt.NDArray[np.int32] = add(1, 2, out="numpy")
in_arrays: npt.NDArray[np.float32] = polynomial.return_type(np.ndarray)(2.0, 8, -1, x)
in_tensors: kf.Tensor = polynomial.return_type("tensor").set({}).call(2.0, 8, -1, x)
both: Any = split.return_type("numpy")(1.5)
usual: int = add.return_type(None)(1, 2)
usual = add.return_type(np.ndarray).return_type(None)(1, 2)
passed = polynomial.backward.return_type(None)
passed(a, 8, -1, x, y)
on_device: kf.Tensor = kf.Tensor.zeros(kf.default_device(), shape=(4,), dtype=np.float32)
on_device = kf.Tensor.empty(kf.default_device(), 4, np.int32)
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

OBJECTS = """
from dataclasses import dataclass
from types import SimpleNamespace

import kernelfunctions as kf
import numpy as np
from kf_conversions.conversions import Item, pair, scale, steps, value_of
from kf_members.members import Particle, Scaler, make_scaler
from kf_structs.structs import Ray, raytrace
from kf_structs.structs import load as load_structs

tensor = kf.Tensor.from_numpy(np.zeros(3, np.float32))
load_structs(kf.default_device())

@dataclass
class Thing:
    weight: float
    place: tuple[float, float, float]
    count: int

item = Item(weight=1, place=[1, 2, 3], count=2)
one: float = value_of(item)
same: float = value_of({"weight": 1, "place": 2.5, "count": 3})
thing: float = value_of(Thing(1, (1, 2, 3), 4))
loose: float = value_of(SimpleNamespace(weight=1, place=[1, 2, 3], count=4))
record: float = value_of(np.zeros(1, Item.dtype)[0])
several: kf.Tensor = value_of([item, Thing(1, (1, 2, 3), 4)])
many: kf.Tensor = value_of(np.zeros(3, Item.dtype))
both = pair([item, {"weight": 1, "place": {"x": 1, "y": 2, "z": 3}, "count": 3}])
vector = scale(2, {"x": 1, "y": 2, "z": 3})
four = steps({"x": 1, "y": 2, "z": 3, "w": 4})
scaled: float = item.scaled(2.0)
item.scaled.backward(2.0)
forward: tuple[float, float] = item.scaled.jvp(2.0, tangents={"by": 1.0})
loaded: kf.Tensor = Item.load(np.zeros(3, Item.dtype))
scaler: Scaler = make_scaler(1.0, 2)
product: float | kf.Tensor = scaler.scaled(2.0)
Scaler(scale=tensor, bias=0).scale_value(tensor)
encoder = kf.default_device().encoder()
counted: int = Particle(pos=[1, 2], vel=1, steps=3, unused=1).count(1) if False else 0
ray = Ray(pos=tensor, dir=[1, 0, 0])
color = raytrace(ray, 1.0)
"""

METHODS = """
from collections.abc import Callable

import kernelfunctions as kf
import numpy as np
from kf_globals.globals import Lamp

x = np.zeros((3, 5), np.float32)
w = kf.Tensor.zeros(5)
lamp = Lamp(power=3.0)
callback: Callable[[kf.HookContext], None] = print
shine = lamp.shine.set({"look.gain": 2}).map(w=[1]).options(deterministic=True).hook(callback)
y: kf.Tensor = shine.accumulate({"w.grad": "push"})(x, w)
shine.backward(x, w, y)
both: tuple[kf.Tensor, kf.Tensor] = shine.jvp(x, w, tangents={"x": x})
variant: kf.Tensor = shine.typeconformance({"IVal": ["Val10"]}).call(x, w)
lamp.fill.threads(5, 1).groups(3)(w)
lamp.fill.threads(5).backward(w)
name: str = shine.name
reached: list[str] = shine.globals
"""

WRONG_METHODS = [
    "lamp.shine.map(w=3)(x, w)",
    "lamp.shine.options(tiled=True)",
    "lamp.shine.set(3)",
    'lamp.shine.accumulate({"w.grad": 3})',
    'lamp.fill.threads("x")',
    "lamp.shine.map(w=[1])(x, 'w')",
    "lamp.shine.hook(3)",
    "lamp.shine.typeconformance(3)",
    "lamp.shine.set(gain=2).backward(lamp, x, w, y)",
]

ATTRIBUTES = """
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
from kf_conversions.conversions import Item
from kf_members.members import make_scaler
from kf_names.names import Lambda, Odd, nested, same, weigh
from kf_structs.structs import Light, Ray, Scene, advance_fields, advance_one

line = kf.Tensor.from_numpy(np.zeros(3, np.float32))
tensor = kf.Tensor.from_numpy(np.zeros((3, 3), np.float32))
item = Item(weight=1, place=[1, 2, 3], count=2)
weight: float = item.weight
item.weight = 2.5
count: int = item.count
place: list[int] = item.place
ray = Ray(pos=tensor, dir=(1.0, 0.0, 0.0))
grad: kf.Tensor | None = ray.pos.grad
direction: tuple[float, float, float] = ray.dir
moved, other = advance_one(Ray([1, 2, 3], [4, 5, 6]), 2, {"pos": 1, "dir": 2})
position: npt.NDArray[np.float32] = moved.pos
total: np.float32 = moved.pos.sum() + other.dir.sum()
fields = advance_fields(
    {"pos": {"x": line, "y": 1, "z": line}, "dir": tensor}, 1.0, Ray(tensor, kf.Tensor.zeros((3, 3)))
)
whole: npt.NDArray[Any] = fields.result.pos.to_numpy()
scale: float | kf.Tensor = make_scaler(1.0, 2).scale
light = Light(color=1, power=2)
scene = Scene([light, light], np.eye(3, dtype=np.float32), scale=1, count=1, on=True, tint=[1, 2, 3])
power: float = scene.lights[1].power
flag: bool = scene.on

def brightness(one: Light) -> float:
    return one.power * float(one.color.sum())

def first(one: Ray[npt.NDArray[np.float32], npt.NDArray[np.float32]]) -> float:
    return float(one.pos[0])

first(moved)
odd = same({"from": 1, "from_": 2, "_fields": 3, "_made": 4, "dtype": 5, "self": 6, "delete": 7, "result": 8,
            "fields": 9, "backward": 10})
start: float = odd.from__ + odd._fields_ + odd.dtype_
back = weigh(Odd(from__=1, from_=2, _fields_=3, _made_=4, dtype_=5, self_=6, delete=7, result=8, fields=9,
                 backward=10), 1)
inside: float = nested(Lambda(class_=odd, yield_=odd, np_=[1, 2])).yield_.from__
"""

WRONG_ATTRIBUTES = [
    "text: str = item.weight",
    "item.weight = 'a'",
    "item.weigth",
    "item.place.sum()",
    "ray.pos.nothing",
    "text = moved.pos",
    "moved.pos.grad",
    "moved.pos = [1, 2, 3]",
    "fields.result.pos.sum()",
    "odd.dtype.imag",
    "same({'from': 1})",
    "scene.lights[0].pos",
]

LAUNCHES = """
import kernelfunctions as kf
import numpy as np
from kf_launch.launch import cuda_places, fill, squares

x = kf.Tensor.zeros((40,), np.float32)
fill.threads(33)(x, 1.0)
cuda_places(kf.Tensor.zeros((40,), np.int32)).launchRaw(blockSize=(16, 1, 1), gridSize=(3, 1, 1))
squares.groups(2).backward(1.0, kf.differentiable(2.0), x.with_grads(), x)
"""

#: Checked with PyTorch's own types.
TORCH = """
from dataclasses import dataclass
from typing import Any

import kernelfunctions as kf
import numpy as np
import torch
from kf_calls import calls
from kf_calls.calls import add, split
from kf_containers.containers import mix_float2x3
from kf_gradients.gradients import polynomial
from kf_structs.structs import Ray, advance_fields, raytrace

t = torch.ones(4)
w = torch.nn.Parameter(t)
k = kf.Tensor.zeros(4)
y: torch.Tensor = polynomial(2, 8, -1, t)
total: torch.Tensor = polynomial(2, 8, -1, w).sum()
ours: kf.Tensor = polynomial(2, 8, -1, k)
written: torch.Tensor = polynomial(2, 8, -1, t, out=torch.empty(4))
kept: kf.Tensor = polynomial(2, 8, -1, t, out=kf.Tensor.zeros(4))
array: np.ndarray[Any, Any] = polynomial(2, 8, -1, t, out=np.ndarray)
as_torch: torch.Tensor = polynomial(2, 8, -1, k, out=torch.Tensor)
as_torch = polynomial(2, 8, -1, t, out="torch")
as_torch = add(1, 2, out=torch.Tensor)
as_torch = polynomial.return_type(torch.Tensor)(2, 8, -1, k)
as_torch = polynomial.return_type("torch")(2, 8, -1, k)
as_ours: kf.Tensor = polynomial(2, 8, -1, t, out="tensor")
as_ours = polynomial.return_type(kf.Tensor)(2, 8, -1, t)
inside: torch.Tensor = polynomial(2, 8, -1, kf.differentiable(t))
of_ours: kf.Tensor = polynomial(2, 8, -1, kf.differentiable(k))
given = kf.differentiable(t)
result = kf.differentiable(polynomial(2, 8, -1, t))
result.grad = torch.ones(4)
polynomial.backward(kf.differentiable(2.0), 8, -1, given, result)
polynomial.backward(2, 8, -1, k.with_grads(), k)
mean: torch.Tensor = result.value.mean()
ints = torch.ones(3, dtype=torch.int32)
mixed: torch.Tensor = add(kf.Tensor.from_numpy(np.ones(3, np.int32)), ints)
other: torch.Tensor = add(ints, [1, 2, 3])
parts = split(t)
rest: torch.Tensor = parts.rest
whole: kf.Tensor = split(k).whole
matrices = torch.ones(2, 2, 3)
one: torch.Tensor = mix_float2x3(matrices, matrices)
two: torch.Tensor = mix_float2x3(kf.Tensor.zeros((2, 2, 3)), matrices)
three: kf.Tensor = mix_float2x3(kf.Tensor.zeros((2, 2, 3)), kf.Tensor.zeros((2, 2, 3)))

@dataclass
class Rays:
    pos: torch.Tensor
    dir: tuple[float, float, float]

places = torch.ones(3, 3)
colors: torch.Tensor = raytrace(Ray(places, (1.0, 0.0, 0.0)), places[:, 0].contiguous())
some: torch.Tensor = raytrace(Rays(places, (1.0, 0.0, 0.0)), [1.0, 2.0, 3.0])
none: kf.Tensor = raytrace(Ray(kf.Tensor.zeros((3, 3)), (1.0, 0.0, 0.0)), [1.0, 2.0, 3.0])
line = torch.ones(3)
ray = Ray(places, places.clone())
moved = advance_fields({"pos": {"x": line, "y": 1, "z": line}, "dir": places}, 1.0, ray)
position: torch.Tensor = moved.result.pos
operated: torch.Tensor = calls.torch.add(ints, 2).sum()
called: torch.Tensor = polynomial.torch()(2, 8, -1, t).sum()
module: torch.nn.Module = kf.torch.module(polynomial, parameters={})
"""

WRONG_TORCH = [
    "text: str = polynomial(2, 8, -1, t)",
    "polynomial(2, 8, -1, k).sum()",
    "ours = polynomial(2, 8, -1, t)",
    "y = polynomial(2, 8, -1, kf.differentiable(k))",
    "polynomial(2, 8, -1, 'x')",
    "polynomial(2, 8, -1, t, 'x')",
    "polynomial(t, t, t, t, t)",
    "polynomial.backward(2, 8, -1, kf.differentiable('x'), t)",
    "rest = split(k).rest",
    "add('1', ints)",
    "ours = mix_float2x3(matrices, matrices)",
    "y = raytrace(Ray(kf.Tensor.zeros((3, 3)), (1.0, 0.0, 0.0)), [1.0, 2.0, 3.0])",
    "raytrace(Ray('x', places), t)",
    "calls.torch.add('x', 2)",
    "calls.torch.nothing.more",
]

WRONG_OBJECTS = [
    "value_of(1.0)",
    "value_of({'weight': 1, 'place': 2})",
    "value_of({'weight': 1, 'place': 2, 'count': 3, 'more': 4})",
    "value_of({'weight': 'a', 'place': 2, 'count': 3})",
    "value_of(Thing(1))",
    "Item(weight=1, place=2)",
    "Item(weight='a', place=2, count=3)",
    "item.scaled('a')",
    "item.scaled()",
    "item.scaled(1.0, 2.0)",
    "text: str = item.scaled(1.0)",
    "item.load.backward()",
    "item.scaled.fused(1.0)",
    "item.scaled.jvp('a')",
    "item.load.jvp()",
    "item.nothing()",
    "Item.scaled(2.0)",
    "Item.twice('a')",
    "steps(None)",
]

WRONG = [
    "add('1', 2)",
    "add(1)",
    "add(1, 2, c=3)",
    "text: str = add(1, 2)",
    "add.backward()",
    "add.append_to(1, 2)",
    "add(1, 2, out=int)",
    "add(1, 2, out='text')",
    "add.return_type(list)",
    "text = add.return_type('numpy')(1, 2)",
    "text = add(1, 2, out='tensor')",
    "kf.Tensor.zeros('cuda:0', (2,))",
    "id_int2(3)",
    "hash_1(kf.rand_float())",
    "added((2, 3), 1.0)",
    "kf.grid(1.5)",
]


def check(folder: Path, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *options, str(path)],
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


def test_right_objects(folder: Path) -> None:
    result = check(folder, OBJECTS)
    assert result.returncode == 0, result.stdout


def test_torch(folder: Path) -> None:
    """And that the program runs."""
    pytest.importorskip("torch")
    result = check(folder, TORCH)
    assert result.returncode == 0, result.stdout
    lines = [*TORCH.splitlines(), *WRONG_TORCH]
    result = check(folder, "\n".join(lines))
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    first = len(TORCH.splitlines()) + 1
    assert refused == set(range(first, first + len(WRONG_TORCH))), result.stdout
    names: dict[str, Any] = {}
    exec(compile(TORCH, "torch_types", "exec", dont_inherit=True), names)
    said = [line.split(" = ")[0].split(": ") for line in TORCH.splitlines() if ": torch.Tensor = " in line]
    for name, _ in said:
        assert isinstance(names[name], names["torch"].Tensor), name
    for name in ("ours", "kept", "of_ours", "whole", "three", "none"):
        assert isinstance(names[name], names["kf"].Tensor), name


def test_without_torch(folder: Path) -> None:
    """A Python that has no PyTorch, whose types are the same."""
    alone = folder / "alone"
    site = Path(np.__file__).parent.parent
    command = [sys.executable, "-m", "venv", "--without-pip", str(alone / "python")]
    subprocess.run(command, check=True)
    library = next((alone / "python").glob("lib/python*/site-packages"))
    for name in ("numpy", "typing_extensions.py"):
        (library / name).symlink_to(site / name)
    options = [
        "--python-executable",
        str(alone / "python" / "bin" / "python"),
        "--cache-dir",
        str(alone / "cache"),
    ]
    result = check(folder, RIGHT, *options)
    assert result.returncode == 0, result.stdout
    lines = ["import kernelfunctions as kf", "from kf_calls.calls import add", *WRONG]
    result = check(folder, "\n".join([*lines, "import torch"]), *options)
    assert 'named "torch"' in result.stdout
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    assert refused == set(range(3, 4 + len(WRONG))), result.stdout


def test_launches(folder: Path) -> None:
    result = check(folder, LAUNCHES)
    assert result.returncode == 0, result.stdout


def test_methods(folder: Path) -> None:
    result = check(folder, METHODS)
    assert result.returncode == 0, result.stdout
    result = check(folder, "\n".join([*METHODS.splitlines(), *WRONG_METHODS]))
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    first = len(METHODS.splitlines()) + 1
    assert refused == set(range(first, first + len(WRONG_METHODS))), result.stdout


def test_attributes(folder: Path) -> None:
    result = check(folder, ATTRIBUTES)
    assert result.returncode == 0, result.stdout


NAMES = """
import kernelfunctions as kf
import numpy as np
from kf_names.names import Around, Meeting, Same, parted, parted_all, plain

found = parted(2.0)
count: int = found.count
index: float = found.index
first: float = found.y_ + found.field0 + found.lambda_ + found.y + found.result + found.result_ + found.kf_
spread: kf.Tensor = parted_all(np.zeros(3, np.float32)).count
same = Same(1, [1, 2, 3], (1, 2, 3), 2.5)
around: float | kf.Tensor = plain({"Same": same, "AroundFields": 1.0})
other: float | kf.Tensor = plain(Around(Same=same, AroundFields=1.0))
like: tuple[int, int, int] = same.dict
meeting = Meeting(1.0, 2.0)
weights: float = meeting.np_(1.0) + meeting.np__(1.0) + meeting.np___(1.0) + meeting.delete_()
"""


def test_names(folder: Path) -> None:
    """And that mypy finds nothing in the stub itself."""
    result = check(folder, NAMES)
    assert result.returncode == 0, result.stdout


CONFIGURED = """
import kernelfunctions as kf
import numpy as np
from kf_global_forms import global_forms

configured = global_forms.set({"outer.inner.gain": 2}, zoom=3)
again = configured.set(sun=(1, 2, 3), eye=[1, 2, 3], shift=0)
seen: kf.Tensor = again.seen(np.zeros(3, np.float32))
far: float = configured.set(haze=1, fog={"density": 1, "color": (1, 1, 1)}).set({"air.gain": 2}).far(2.0)
names: list[str] = again.curved.globals
"""
WRONG_CONFIGURED = [
    "configured.unseen(1.0)",
    "configured.set(3)",
    "global_forms.set([1])",
    "configured.far()",
]


def test_configured_modules(folder: Path) -> None:
    """The program that mypy takes runs, too."""
    result = check(folder, CONFIGURED)
    assert result.returncode == 0, result.stdout
    names: dict[str, Any] = {}
    exec(compile(CONFIGURED, "configured", "exec"), names)
    assert (names["far"], names["names"]) == (5.0, ["outer.inner.curve"])
    result = check(folder, "\n".join([*CONFIGURED.splitlines(), *WRONG_CONFIGURED]))
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    first = len(CONFIGURED.splitlines()) + 1
    assert refused == set(range(first, first + len(WRONG_CONFIGURED))), result.stdout


def test_names_are_what_the_stub_says() -> None:
    names: dict[str, Any] = {}
    exec(compile(NAMES, "names", "exec"), names)
    assert (names["count"], names["index"], names["weights"]) == (4, 5.0, 14.0)


def test_attributes_are_what_the_stub_says(folder: Path) -> None:
    """The program that mypy takes, run."""
    names: dict[str, Any] = {}
    exec(compile(ATTRIBUTES, "attributes", "exec"), names)
    for name, kind in {"count": int, "place": list, "direction": tuple, "flag": bool, "start": float}.items():
        assert type(names[name]) is kind
    assert (names["position"].dtype, names["light"].power) == (np.float32, 2)
    assert type(names["fields"].result.pos).__name__ == "Tensor"


def test_wrong_attributes(folder: Path) -> None:
    lines = [*ATTRIBUTES.splitlines(), *WRONG_ATTRIBUTES]
    result = check(folder, "\n".join(lines))
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    first = len(ATTRIBUTES.splitlines()) + 1
    assert refused == set(range(first, first + len(WRONG_ATTRIBUTES))), result.stdout


def test_wrong_objects(folder: Path) -> None:
    head = [
        "from dataclasses import dataclass",
        "from kf_conversions.conversions import Item, steps, value_of",
        "@dataclass",
        "class Thing:",
        "    weight: float",
        "item = Item(weight=1, place=2, count=3)",
    ]
    result = check(folder, "\n".join([*head, *WRONG_OBJECTS]))
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    first = len(head) + 1
    assert refused == set(range(first, first + len(WRONG_OBJECTS))), result.stdout


def test_wrong_calls(folder: Path) -> None:
    lines = ["import kernelfunctions as kf", "from kf_calls.calls import add", *WRONG]
    result = check(folder, "\n".join(lines))
    refused = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    assert refused == set(range(3, 3 + len(WRONG))), result.stdout
