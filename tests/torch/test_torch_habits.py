"""What PyTorch's users do with any function, and so with ours: see also test_random_programs.py."""

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader
from torch.func import grad, vjp, vmap


@pytest.fixture(scope="module")
def habits(generated: Loader) -> ModuleType:
    return generated("habits")


@pytest.fixture
def x(torch_device: str) -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0], device=torch_device)


@pytest.fixture
def k(torch_device: str) -> torch.Tensor:
    return torch.full((3,), 2.0, device=torch_device)


def same(found: Any, expected: torch.Tensor) -> None:
    assert isinstance(found, torch.Tensor)
    torch.testing.assert_close(found.detach(), expected.detach())


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    torch._dynamo.reset()
    made: Callable[..., Any] = torch.compile(function, backend="aot_eager", fullgraph=True)
    return made


def first(x: torch.Tensor) -> torch.Tensor:
    """Indices, all 0."""
    return torch.zeros(x.shape, dtype=torch.uint32, device=x.device)


# ---- Autocast ----

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "plain": lambda f, x, k: f.square(x, k),
    "by name": lambda f, x, k: f.square(k=k, x=x),
    "operator": lambda f, x, k: f.square.torch()(x, k),
    "registered": lambda _f, x, k: torch.ops.habits.square(x, k),
    "compiled": lambda f, x, k: compiled(lambda x: f.square(x, k))(x),
    "compiled by name": lambda f, x, k: compiled(lambda x: f.square(k=k, x=x))(x),
    "vmap": lambda f, x, k: vmap(f.square)(x[None], k[None])[0],
    "checkpoint": lambda f, x, k: torch.utils.checkpoint.checkpoint(f.square, x, k, use_reentrant=False),
}


@pytest.mark.parametrize("way", CALLS)
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(
    habits: ModuleType, x: torch.Tensor, k: torch.Tensor, way: str, watched: bool, dtype: torch.dtype
) -> None:
    habits.torch.register()
    half = x.to(dtype).requires_grad_(watched)
    with torch.autocast(x.device.type, dtype):
        found = CALLS[way](habits, half, k)
    assert found.dtype == torch.float32
    same(found, x * x * k)
    if watched:
        found.sum().backward()
        assert half.grad is not None
        same(half.grad.float(), 2 * x * k)
    with pytest.raises(kf.ArgumentTypeError):
        habits.square(half, k)


def test_autocast_in_structs(habits: ModuleType, x: torch.Tensor) -> None:
    pos = torch.ones(3, 3, device=x.device)
    with torch.autocast(x.device.type, torch.bfloat16):
        same(habits.at({"pos": pos.bfloat16(), "dir": pos}, x), 1 + x[:, None].expand(3, 3))
        same(
            compiled(lambda x: habits.at({"pos": pos.bfloat16(), "dir": pos}, x))(x),
            1 + x[:, None].expand(3, 3),
        )


def test_autocast_changes_no_copies(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    """What a call writes is never a copy that nobody sees."""
    for watched in (False, True):
        y = x.bfloat16().requires_grad_(watched) * 1
        before = y.detach().clone()
        out = torch.full((3,), -7.0, device=x.device)
        with torch.autocast(x.device.type, torch.bfloat16):
            with pytest.raises(kf.ArgumentTypeError, match="square_in_place: argument 'x'"):
                habits.square_in_place(y, k)
            with pytest.raises(kf.ArgumentError), torch.set_grad_enabled(watched):
                habits.square(y, k, out=out)
        same(y, before)
        same(out, torch.full_like(out, -7))


def test_autocast_leaves_doubles(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    """As it does for PyTorch's own functions."""
    for watched in (False, True):
        with torch.autocast(x.device.type, torch.bfloat16), pytest.raises(kf.ArgumentTypeError):
            habits.square(x.double().requires_grad_(watched), k)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(kf.ArgumentTypeError, match="a meta tensor"):
        habits.square(x.to("meta"), k)


def test_autocast_calls_hooks_once(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    called: list[Any] = []
    hooked = habits.square.hook(called.append)
    for watched in (False, True):
        with torch.autocast(x.device.type, torch.bfloat16):
            same(hooked(x.bfloat16().requires_grad_(watched), k), x * x * k)
        assert len(called) == 1
        called.clear()


def test_autocast_of_numbers(habits: ModuleType, x: torch.Tensor) -> None:
    if x.device.type != "cpu":
        pytest.skip("needs tensors on the CPU, which are read as numbers")
    with torch.autocast("cpu", torch.bfloat16):
        same(habits.square(x, torch.tensor(2.0).bfloat16()), 2 * x * x)
        same(habits.scaled(x.bfloat16(), 2.0), 2 * x)


# ---- Results ----


def test_tensors_in_tensors_out(habits: ModuleType, x: torch.Tensor) -> None:
    single = torch.tensor(3.0, device=x.device)
    for watched in (False, True):
        given = single.clone().requires_grad_(watched)
        found = habits.next(given)
        same(found, torch.tensor(10.0, device=x.device))
        assert found.requires_grad is watched
    same(habits.next.call(single), torch.tensor(10.0, device=x.device))
    assert type(habits.next(3.0)) is float
    if x.device.type == "cpu":
        same(habits.scaled(x, 2.0), 2 * x)
        same(habits.scaled([1.0, 2.0, 3.0], torch.tensor(2.0)), 2 * x)
        same(habits.square(3.0 * x, torch.tensor(2.0)), 18 * x * x)


def test_results_can_be_pickled(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    found = habits.both(x, k)
    loaded = pickle.loads(pickle.dumps(found))
    assert type(loaded) is type(found)
    for one, other in zip(loaded, found, strict=True):
        same(one, other)
    assert type(copy.deepcopy(found)) is type(found)


def test_results_are_named_tuples(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    kind = type(habits.both(x, k))
    assert kind.__bases__ == (tuple,)
    assert kind([1, 2]) == kind(1, 2) == kind(result=1, product=2) == kind._make([1, 2])
    assert kind(1, 2)._replace(product=3) == (1, 3)
    with pytest.raises(TypeError):
        kind(1, 2, 3)
    found = vmap(habits.both)(x[None], k[None])
    assert type(found) is kind


class Items(torch.utils.data.Dataset):  # type: ignore[misc]
    """What a DataLoader's workers call."""

    def __init__(self, habits: ModuleType) -> None:
        self.both = habits.both

    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> Any:
        return self.both(torch.full((2,), float(i)), torch.ones(2))


class Kept:
    """Items that are kf.Tensors, and results that hold some."""

    def __init__(self, both: Any) -> None:
        self.both = both

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> Any:
        return self.both(np.full(2, i, np.float32), np.ones(2, np.float32), out=kf.Tensor)


def itself(items: list[Any]) -> list[Any]:
    return items


def test_workers_return_our_tensors(habits: ModuleType) -> None:
    loader: Any = torch.utils.data.DataLoader(
        Kept(habits.both),
        batch_size=2,
        num_workers=1,
        multiprocessing_context="spawn",
        timeout=60,
        collate_fn=itself,
    )
    (batch,) = loader
    for i, one in enumerate(batch):
        assert isinstance(one.result, kf.Tensor)
        np.testing.assert_array_equal(one.result.to_numpy(), [i + 1, i + 1])
        np.testing.assert_array_equal(np.asarray(one.product), [i, i])


def test_workers_return_results(habits: ModuleType) -> None:
    loader: Any = torch.utils.data.DataLoader(
        Items(habits), batch_size=2, num_workers=1, multiprocessing_context="spawn", timeout=60
    )
    sums = torch.cat([batch.result for batch in loader])
    same(sums, torch.arange(4.0)[:, None].expand(4, 2) + 1)


def test_structs_come_back_as_tensors(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    expected = torch.stack([x * k, x + k], 1)
    same(habits.two(x, k), expected)
    x.requires_grad_()
    with torch.no_grad():
        same(habits.two(x, k), expected)
    made = habits.two(x, k)
    same(made, expected)
    made[:, 0].sum().backward()
    same(x.grad, k)


@pytest.mark.parametrize("make", [torch.func.vjp, torch.autograd.functional.vjp])
def test_gradients_of_transforms_require_none(habits: ModuleType, x: torch.Tensor, make: Any) -> None:
    """As those of PyTorch's own functions, unless what they are made of does."""
    k = torch.full_like(x, 2)

    def pulled(f: Callable[..., Any], x: torch.Tensor, flow: torch.Tensor) -> torch.Tensor:
        found = make(f, x)[1](flow)[0] if make is vjp else make(f, x, flow)[1]
        assert isinstance(found, torch.Tensor)
        return found

    for flow in (torch.ones_like(x), x * 3):
        for given in (x.detach(), x.detach().requires_grad_()):
            ours = pulled(lambda x: habits.square(x, k), given, flow)
            theirs = pulled(lambda x: x * x * k, given, flow)
            same(ours, theirs)
            assert ours.requires_grad == theirs.requires_grad
    if make is vjp:
        # What depends on the argument still says that there is no second derivative.
        found = pulled(lambda x: habits.square(x, k), x.detach().requires_grad_(), flow)
        with pytest.raises(RuntimeError, match="square: its gradient can't be differentiated again"):
            found.sum().backward()


def test_derivatives_of_transforms_require_none(habits: ModuleType, x: torch.Tensor) -> None:
    k = torch.full_like(x, 2)
    for size in (None, 1):
        found = torch.func.jacrev(lambda x: habits.square(x, k), chunk_size=size)(x)
        same(found, torch.diag(2 * x * k))
        assert not found.requires_grad
    for value in torch.func.jvp(lambda x: habits.square(x, k), (x,), (torch.ones_like(x),)):
        assert not value.requires_grad


# ---- What requires gradients, and gets none ----


def test_parameters_without_a_derivative(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    weight = k.requires_grad_()
    assert not habits.weighted(x, weight).requires_grad
    x.requires_grad_()
    habits.weighted(x, weight).sum().backward()
    same(x.grad, 2 * x * weight)
    assert weight.grad is None
    x.grad = None
    compiled(habits.weighted)(x, weight).sum().backward()
    same(x.grad, 2 * x * weight)
    assert weight.grad is None


# ---- Structs ----


class Node:
    """A user's own class, with more than the struct has."""

    def __init__(self, pos: Any, dir: Any) -> None:
        self.pos, self.dir, self.parent = pos, dir, self


@dataclass(slots=True)
class Slotted:
    pos: Any
    dir: Any


class Rays(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, pos: torch.Tensor, dir: torch.Tensor) -> None:
        super().__init__()
        self.pos, self.dir = torch.nn.Parameter(pos), torch.nn.Parameter(dir)


@pytest.mark.parametrize("kind", [Node, Slotted, Rays])
def test_objects_stand_for_structs(habits: ModuleType, x: torch.Tensor, kind: Any) -> None:
    ones = torch.ones(3, 3, device=x.device)
    for watched in (False, True, False):
        ray = kind(ones.clone().requires_grad_(watched), ones)
        expected = 1 + x[:, None].expand(3, 3)
        same(habits.at(ray, x), expected)
        same(compiled(lambda x, ray=ray: habits.at(ray, x))(x), expected)
        if watched:
            habits.at(ray, x).sum().backward()
            same(ray.pos.grad, ones)


def test_fields_of_other_kinds_are_no_known_call(habits: ModuleType, x: torch.Tensor) -> None:
    """A class says nothing of its fields: each call looks at them."""
    ones = torch.ones(3, 3, device=x.device)
    habits.at(Slotted(ones.clone().requires_grad_(), ones), x)
    with pytest.raises(kf.ArgumentTypeError, match=r"argument 'ray[.]pos'"):
        habits.at(Slotted(ones.long(), ones.clone().requires_grad_()), x)


def test_what_holds_itself_is_refused(habits: ModuleType, x: torch.Tensor) -> None:
    endless: list[Any] = []
    endless.append(endless)
    for other in (x, x.clone().requires_grad_()):
        with pytest.raises(kf.ArgumentTypeError, match="square: argument 'x': lists nest more than 12 deep"):
            habits.square(endless, other)
        held: dict[str, Any] = {"dir": other}
        held["pos"] = held
        with pytest.raises(kf.ArgumentTypeError, match=r"at: argument 'ray.pos'"):
            habits.at(held, other)


def test_what_holds_itself_twice_is_refused(habits: ModuleType, x: torch.Tensor) -> None:
    """Soon: all that it holds would be looked at, and that doubles with each level."""
    wide: list[Any] = []
    wide += [wide, wide]
    ray = Node(None, None)
    ray.pos = ray.dir = ray
    for other in (x, x.clone().requires_grad_()):
        with pytest.raises(kf.ArgumentTypeError):
            habits.square(wide, other)
        with pytest.raises(kf.ArgumentTypeError):
            habits.at(ray, other)
        same(habits.square(other, memoryview(bytearray(4)).cast("f")), x * 0)


# ---- Errors ----

WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "dtype": lambda f, x: f.square(torch.tensor([1, 2, 3], device=x.device), x),
    "dtype of an overload": lambda f, x: f.named(x.double(), x),
    "rank": lambda f, x: f.square(x[None], x),
    "extent": lambda f, x: f.square(torch.ones(4, device=x.device), x),
    "missing": lambda f, x: f.square(x),
    "unknown": lambda f, x: f.square(x, q=1),
    "too many": lambda f, x: f.square(x, x, x, x),
    "twice": lambda f, x: f.square(x, x, x=x),
    "text": lambda f, x: f.square(x, "a"),
    "field": lambda f, x: f.at({"pos": torch.ones(3, 3, device=x.device)}, x),
    "no field": lambda f, x: f.at({"pos": x, "dir": x, "far": x}, x),
    "meta": lambda f, x: f.square(x, torch.ones(3, device="meta")),
    "shape": lambda f, x: f.square(x, x, shape=(2,)),
    "Slang's name": lambda f, x: f.named(**{"self": x, "lambda": x}),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_are_the_same_with_gradients(habits: ModuleType, x: torch.Tensor, what: str) -> None:
    with pytest.raises(kf.Error) as plain:
        WRONG[what](habits, x)
    with pytest.raises(kf.Error) as watched:
        WRONG[what](habits, x.clone().requires_grad_())
    assert type(watched.value) is type(plain.value)
    assert watched.value.code == plain.value.code != ""
    expected = str(plain.value).replace(", requires_grad=True", "")
    assert str(watched.value).replace(", requires_grad=True", "") == expected


def test_what_has_no_derivative_is_an_error_of_ours(habits: ModuleType, x: torch.Tensor) -> None:
    x.requires_grad_()
    with pytest.raises(kf.ArgumentRuntimeError, match="tripled: it has no backward pass") as caught:
        habits.tripled(x).sum().backward()
    assert caught.value.code == "not-differentiable"
    (first,) = torch.autograd.grad(habits.next(x).sum(), x, create_graph=True)
    with pytest.raises(kf.ArgumentRuntimeError, match="next: its gradient can't be differentiated again"):
        first.sum().backward()


def test_words_of_python_as_names(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    habits.torch.register()
    module = kf.torch.module(habits.named, parameters={"self_": x})
    for found in (
        habits.named(self_=x, lambda_=k),
        habits.named.call(self_=x, lambda_=k),
        torch.ops.habits.named(self_=x, lambda_=k),
        compiled(lambda x: habits.named(self_=x, lambda_=k))(x),
        module(lambda_=k),
        habits.named(self_=x.requires_grad_(), lambda_=k),
    ):
        same(found, x * k)


# ---- Transforms ----


def test_derivatives_in_batches(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    expected = torch.diag(2 * x * k)
    for strategy in ("forward-mode", "reverse-mode"):
        found = torch.autograd.functional.jacobian(
            lambda x: habits.square(x, k), x, vectorize=True, strategy=strategy
        )
        same(found, expected)


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double precision")
def test_gradcheck_in_batches(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    assert torch.autograd.gradcheck(
        lambda x: habits.square(x, k),
        x.requires_grad_(),
        eps=1e-2,
        atol=1e-2,
        rtol=1e-2,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
    )


def test_batches_of_none(habits: ModuleType, torch_device: str) -> None:
    def none(*shape: int) -> torch.Tensor:
        return torch.zeros(0, *shape, device=torch_device)

    assert vmap(habits.next)(none()).shape == (0,)
    assert vmap(habits.next)(none(3)).shape == (0, 3)
    assert vmap(grad(lambda x: habits.next(x).sum()))(none(3)).shape == (0, 3)
    assert vmap(habits.loss)(none(4), none(4)).shape == (0,)
    assert vmap(grad(lambda x: habits.loss(x, x.detach()).sum()))(none(4)).shape == (0, 4)
    assert vmap(habits.square.torch())(none(3), none(3)).shape == (0, 3)
    pair = vmap(lambda x, y: tuple(habits.both(x, y)))(none(4), none(4))
    assert [one.shape for one in pair] == [(0, 4), (0, 4)]
    tangents = vmap(lambda x, t: torch.func.jvp(lambda x: habits.square(x, 2.0), (x,), (t,)))(
        none(3), none(3)
    )
    assert [one.shape for one in tangents] == [(0, 3), (0, 3)]


def test_results_of_vjp_require_gradients_of_the_rest(
    habits: ModuleType, x: torch.Tensor, k: torch.Tensor
) -> None:
    x.requires_grad_()
    k.requires_grad_()
    found, _ = vjp(lambda x: habits.square(x, k), x)
    found.sum().backward()
    same(k.grad, x * x)


def test_sizes_that_depend_on_data(habits: ModuleType, x: torch.Tensor) -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        run = compiled(lambda x: habits.square(habits.next(x[x > 1.5]), x[x > 1.5]))
        for given in (x, -x, x * 0 + 2):
            chosen = given[given > 1.5]
            same(run(given), (chosen**2 + 1) ** 2 * chosen)


# ---- Classes of tensors ----


class Named(torch.Tensor):  # type: ignore[misc]
    """A subclass that leaves functions to PyTorch."""


class Seen(torch.Tensor):  # type: ignore[misc]
    functions: list[Any] = []  # noqa: RUF012

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.functions.append(function)
        return super().__torch_function__(function, types, args, kwargs or {})


def test_subclasses_stay_what_they_are(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    for watched in (False, True):
        given = x.clone().requires_grad_(watched).as_subclass(Named)
        found = habits.square(given, k)
        assert type(found) is type(torch.mul(given, k)) is Named
        same(found.as_subclass(torch.Tensor), x * x * k)
        assert [type(one) for one in habits.both(given, k)] == [Named, Named]


def test_subclasses_take_functions_over(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    Seen.functions.clear()
    found = habits.square(x.as_subclass(Seen), k)
    assert Seen.functions[0] is habits.square
    assert type(found) is Seen
    table = torch.full((5,), 2.0, device=x.device).as_subclass(Named)
    same(habits.look.set(table=table)(x, first(x)), 2 * x)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(habits.square(x.as_subclass(Seen), k)) is torch.Tensor


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
def test_nested_tensors_are_refused(habits: ModuleType, layout: torch.layout, torch_device: str) -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout, device=torch_device)
    with pytest.raises(kf.ArgumentTypeError, match="argument 'x': a nested tensor"):
        habits.next(nested)


# ---- Operators that are saved ----

SAVE = """
import torch, later

class Squared(torch.nn.Module):
    def forward(self, x, k):
        return later.square(x, k)

n = torch.export.Dim("n")
given = torch.ones(3), torch.ones(3)
program = torch.export.export(Squared(), given, dynamic_shapes=({0: n}, {0: n}))
torch.export.save(program, "program.pt2")
"""
LOAD = """
import torch, later

later.torch.register()
program = torch.export.load("program.pt2").module()
print(program(torch.arange(4.0), torch.full((4,), 2.0)).tolist())
"""


def test_alternatives_keep_operators_names(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """What was exported loads where the spec has got more."""

    def run(kinds: dict[str, Any], program: str) -> str:
        spec = json.loads((source_dir / "tests" / "python" / "specs" / "habits.kf.json").read_text())
        call = {"function": "square", "args": kinds, "backward": True}
        module = source_dir / "tests" / "python" / "specs" / "habits.slang"
        spec |= {"name": "later", "modules": [str(module)], "calls": [call]}
        (tmp_path / "later.kf.json").write_text(json.dumps(spec))
        kfgen: list[Any] = [
            build_dir / "tool" / "kfgen",
            "generate",
            "later.kf.json",
            "-o",
            tmp_path,
            "--python",
        ]
        subprocess.run(kfgen, cwd=tmp_path, check=True, capture_output=True)
        path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
        environment = os.environ | {"PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run({"x": "tensor[1]", "k": "tensor[1]"}, SAVE)
    assert (
        run({"x": ["tensor[2]", "tensor[1]"], "k": ["value", "tensor[1]"]}, LOAD) == "[0.0, 2.0, 8.0, 18.0]\n"
    )


# ---- Views, names, and what lives how long ----


def test_views_that_are_read_are_not_counted_as_written(generated: Loader, torch_device: str) -> None:
    square = generated("views").square.torch(outputs=["output"])
    read, written = torch.ones(3, device=torch_device), torch.zeros(3, device=torch_device)
    other = read.clone().requires_grad_()
    kept = other * read
    with torch.no_grad():
        square(read, written, shape=(3,))
    same(written, read * read)
    assert (read._version, written._version) == (0, 1)
    kept.sum().backward()


def test_views_may_share_memory_with_what_is_written(generated: Loader, torch_device: str) -> None:
    square = generated("views").square.torch(outputs=["output"])
    base = torch.arange(6.0, device=torch_device)
    other = torch.ones(6, device=torch_device, requires_grad=True)
    kept = (other * base).sum()
    with torch.no_grad():
        square(base[:3], base[3:], shape=(3,))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()
    with torch.inference_mode():
        made = torch.zeros(3, device=torch_device)
        square(torch.ones(3, device=torch_device), made, shape=(3,))
        same(made, torch.ones(3, device=torch_device))


FIRST_CALLS = """
import sys, threading
import torch
import kf_habits.habits as habits

x = torch.ones(3, requires_grad=True)
waiting = threading.Barrier(4)

def call():
    waiting.wait()
    habits.square(x, x).sum().backward()

threads = [threading.Thread(target=call, daemon=True) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join(60)
print(not any(one.is_alive() for one in threads), flush=True)
"""


def test_first_calls_of_several_threads(habits: ModuleType) -> None:
    """None waits for the others' imports while it holds what these need."""
    assert habits.__file__ is not None
    path = os.pathsep.join([str(Path(habits.__file__).parents[1]), os.environ["PYTHONPATH"]])
    environment = os.environ | {"PYTHONPATH": path}
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", FIRST_CALLS],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.stdout == "True\n", done.stderr


def test_graphs_name_the_function(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    x.requires_grad_()
    for found, name in (
        (habits.square(x, k), "squareBackward"),
        (habits.loss(x, k), "lossBackward"),
        (habits.both(x, k)[0], "bothBackward"),
        (habits.square.torch()(x, k), "squareBackward"),
        (torch.compile(habits.square, backend="eager")(x, k), "squareBackward"),
    ):
        assert type(found.grad_fn).__name__ == name
    with torch.profiler.profile() as profile:
        habits.square(x, k).sum().backward()
    assert {"square", "squareBackward"} <= {one.key for one in profile.key_averages()}


def test_a_module_takes_the_leaf_that_an_optimiser_has(
    habits: ModuleType, x: torch.Tensor, k: torch.Tensor
) -> None:
    leaf = x.requires_grad_()
    optimiser = torch.optim.SGD([leaf], 0.5)
    module = kf.torch.module(habits.square, parameters={"x": leaf})
    assert next(iter(module.parameters())) is leaf
    module(k).sum().backward()
    before = leaf.detach().clone()
    optimiser.step()
    same(leaf, before - 0.5 * 2 * before * k)
    assert list(module.state_dict()) == ["x"]


def test_a_module_marks_only_what_it_takes(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    leaf = k.requires_grad_()
    module = kf.torch.module(habits.weighted, parameters={"weight": leaf})
    assert [name for name, _ in module.named_buffers()] == ["weight"]
    assert not isinstance(leaf, torch.nn.Parameter)
    same(module(x), x * x * k)


WAYS: dict[str, Callable[[Any, torch.Tensor], Any]] = {
    "a call": lambda f, x: f(x.detach(), first(x)),
    "gradients": lambda f, x: f(x, first(x)).sum().backward(),
    "a graph": lambda f, x: f(x, first(x)),
    "torch()": lambda f, _x: f.torch(),
    "a module": lambda f, x: kf.torch.module(f)(x, first(x)),
    "grad()": lambda f, x: grad(lambda y: f(y, first(x)).sum())(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_functions_free_what_was_set(habits: ModuleType, x: torch.Tensor, way: str) -> None:
    """At once: not when the garbage collector comes by."""
    x.requires_grad_()
    left = []
    gc.collect()
    gc.disable()
    try:
        for i in range(4):
            table = torch.full((5,), float(i), device=x.device)
            left.append(weakref.ref(table))
            WAYS[way](habits.look.set(table=table), x)
            del table
        assert [one() for one in left] == [None] * len(left)
    finally:
        gc.enable()


def test_a_loss_frees_its_gradients(habits: ModuleType, x: torch.Tensor, k: torch.Tensor) -> None:
    x.requires_grad_()
    loss = habits.loss(x, k)
    assert loss.grad_fn is not None
    loss.backward(retain_graph=True)
    loss.backward()
    same(x.grad, 4 * (x - k))
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    kept = [one for one in gc.get_referents(loss.grad_fn) if isinstance(one, torch.Tensor)]
    held = [one for one in vars(loss.grad_fn).values() if isinstance(one, torch.Tensor | list)]
    assert kept == []
    assert not any(isinstance(one, torch.Tensor) for each in held for one in each)
