"""Random programs of PyTorch's functions and ours, compared with the same programs of PyTorch's alone."""

import os
import random
from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import pytest
import torch
from loader import Loader
from torch.func import grad, vmap
from torch.utils._pytree import tree_map_only
from torch.utils.checkpoint import checkpoint

#: KF_RANDOM_PROGRAMS says how many of them run.
COUNT = int(os.environ.get("KF_RANDOM_PROGRAMS", "240"))
SHARES = 8
SEED = 41_000


class RefusedError(Exception):
    """What ours refuse by name, and PyTorch's own functions would do."""


def as_float(x: Any) -> Any:
    """What ours read: autocast casts it, and nothing else does."""
    if not isinstance(x, torch.Tensor) or x.dtype == torch.float32:
        return x
    if not torch.is_autocast_enabled(x.device.type):
        raise RefusedError
    return x.float()


class Plain:
    """The functions of habits.slang in PyTorch's words."""

    def square(self, x: Any, k: Any) -> Any:
        x, k = as_float(x), as_float(k)
        return x * x * k

    def next(self, x: Any) -> Any:
        x = as_float(x)
        return x * x + 1

    def scaled(self, v: Any, k: float) -> Any:
        return as_float(v) * k

    def weighted(self, x: Any, weight: Any) -> Any:
        x, weight = as_float(x), as_float(weight)
        return x * x * weight.detach()

    def square_in_place(self, x: Any, k: Any) -> Any:
        if x.dtype != torch.float32:
            raise RefusedError
        before = x.clone()
        return x.copy_(before * before * as_float(k))

    def both(self, x: Any, y: Any) -> Any:
        x, y = as_float(x), as_float(y)
        return x + y, x * y

    def at(self, ray: Any, t: Any) -> Any:
        return as_float(ray["pos"]) + as_float(t)[:, None] * as_float(ray["dir"])

    def loss(self, x: Any, wanted: Any) -> Any:
        d = as_float(x) - as_float(wanted)
        return (d * d).sum().reshape(1)


class Copying(Plain):
    """The same of copies of what they read: what is changed afterwards is no matter to backward passes."""

    def __getattribute__(self, name: str) -> Any:
        function = super().__getattribute__(name)
        if name.startswith("_"):
            return function

        def call(*args: Any, **kwargs: Any) -> Any:
            changed = args[:1] if name == "square_in_place" else ()
            rest = [tree_map_only(torch.Tensor, torch.clone, one) for one in args[len(changed) :]]
            return function(*changed, *rest, **tree_map_only(torch.Tensor, torch.clone, kwargs))

        return call


class Steps:
    """A program, drawn by a seed: what it does is the same whoever's functions it calls."""

    def __init__(self, seed: int, functions: Any, device: str) -> None:
        self.draw = random.Random(seed)
        torch.manual_seed(seed)
        self.functions = functions
        self.device = device
        self.n = self.draw.choice([0, 1, 2, 3, 5, 33])
        self.leaves = [self.leaf(self.draw.random() < 0.6) for _ in range(3)]
        #: Vectors of n floats, which steps take and make.
        self.values: list[torch.Tensor] = list(self.leaves)
        self.seen: list[torch.Tensor] = []

    def leaf(self, requires_grad: bool) -> torch.Tensor:
        made = torch.randn(self.n).to(self.device)
        return made.requires_grad_() if requires_grad else made

    def value(self) -> torch.Tensor:
        return self.draw.choice(self.values)

    # Steps that PyTorch's functions make.

    def arithmetic(self) -> Any:
        which = self.draw.choice(["atan", "add", "mul", "tanh", "cumsum"])
        a, b = self.value(), self.value()
        if which in ("atan", "tanh"):
            return getattr(a, which)()
        return a.cumsum(0) if which == "cumsum" else getattr(torch, which)(a, b)

    def view(self) -> Any:
        a = self.value()
        which = self.draw.choice(["view", "flip", "detach", "clone", "strided", "expanded", "transposed"])
        if which == "view":
            return a.view(-1)
        if which == "flip":
            return a.flip(0)
        if which == "strided":
            return torch.stack([a, a], 1)[:, 1]
        if which == "expanded":
            return a.sum().expand(self.n)
        if which == "transposed":
            return torch.stack([a, -a]).t()[:, 0]
        return getattr(a, which)()

    def in_place(self) -> Any:
        a, b = self.value(), self.value()
        which = self.draw.choice(["mul_", "add_", "zero_", "slice", "copy_"])
        if which == "slice":
            a[: self.n // 2] = 0.5
        elif which == "zero_":
            a.zero_()
        else:
            getattr(a, which)(b.detach().clone() if self.draw.random() < 0.5 else b)
        return a

    # Steps that call ours.

    def drawn_call(self) -> Callable[[torch.Tensor, torch.Tensor], Any]:
        """Returns a function of two vectors that makes one."""
        f, k = self.functions, self.draw.choice([-0.5, 0.25, 2.0])

        def at(a: torch.Tensor, b: torch.Tensor) -> Any:
            pos = torch.stack([a, a, b], 1)
            return f.at({"pos": pos, "dir": torch.ones_like(pos)}, b)[:, 2]

        every: list[Callable[[torch.Tensor, torch.Tensor], Any]] = [
            f.square,
            lambda a, _: f.square(a, k),
            lambda a, b: f.square(k=b, x=a),
            lambda a, _: f.next(a),
            f.weighted,
            lambda a, b: f.scaled(torch.stack([a, b, a], 1), k)[:, 1],
            lambda a, b: f.both(a, b)[int(k > 0)],
            at,
            lambda a, b: f.loss(a, b).expand(self.n),
            lambda a, b: f.next(f.square(a, k) * b),
        ]
        return self.draw.choice(every)

    def ours(self) -> Any:
        return self.drawn_call()(self.value(), self.value())

    def ours_in_place(self) -> Any:
        a = self.value()
        self.functions.square_in_place(a, self.value())
        return a

    def under_no_grad(self) -> Any:
        with torch.no_grad():
            return self.ours()

    def under_autocast(self) -> Any:
        one, a = self.drawn_call(), self.value()
        with torch.autocast(self.device.partition(":")[0], torch.bfloat16):
            return one(a.bfloat16() if self.draw.random() < 0.5 else a, self.value()).float()

    def by_checkpoint(self) -> Any:
        return checkpoint(
            self.drawn_call(), self.value(), self.value(), use_reentrant=self.draw.random() < 0.5
        )

    def by_vmap(self) -> Any:
        one, a, b = self.drawn_call(), self.value(), self.value()
        both = self.draw.random() < 0.5
        rows = torch.stack([a, a * 2, a - 1])
        if both:
            return vmap(one)(rows, torch.stack([b, b, b])).sum(0)
        return vmap(one, in_dims=(0, None))(rows, b).sum(0)

    def by_grad(self) -> Any:
        one, a, b = self.drawn_call(), self.value(), self.value()
        return grad(lambda a: one(a, b).sum())(a)

    def by_compile(self) -> Any:
        one, a, b = self.drawn_call(), self.value(), self.value()
        if isinstance(self.functions, Copying):
            return one(a, b)  # compiled code makes no copies that it has no need of
        torch._dynamo.reset()
        return torch.compile(one, backend="aot_eager")(a, b)

    #: Steps, and how often each is drawn.
    KINDS = {  # noqa: RUF012
        "arithmetic": 5,
        "view": 4,
        "in_place": 3,
        "ours": 8,
        "ours_in_place": 3,
        "under_no_grad": 1,
        "under_autocast": 2,
        "by_checkpoint": 2,
        "by_vmap": 2,
        "by_grad": 2,
        "by_compile": 1,
    }

    def run(self) -> list[torch.Tensor | None]:
        """Runs all steps and a backward pass; returns all that can be seen of them."""
        for _ in range(self.draw.randint(3, 9)):
            made = getattr(self, self.draw.choices(list(self.KINDS), list(self.KINDS.values()))[0])()
            assert made.shape == (self.n,), made.shape
            self.values.append(made)
        followed = [one for one in self.values if one.requires_grad]
        total = sum((one.sum() for one in followed), torch.zeros((), device=self.device))
        if total.requires_grad:
            total.backward()
        return [*(one.detach().clone() for one in self.values), *(leaf.grad for leaf in self.leaves)]


def outcome(seed: int, functions: Any, device: str) -> tuple[str, Any]:
    try:
        return "made", Steps(seed, functions, device).run()
    except RefusedError:
        return "refused", None
    except kf.Error as error:
        assert error.code, error
        return "refused", error
    except RuntimeError as error:  # PyTorch's own
        # A kernel's backward pass reads more of what the call was given than PyTorch's products do.
        is_changed = "modified by an inplace operation" in str(error)
        # Gradients that torch.func.grad() returns require some here, though they may be constant.
        is_constant = "this checkpoint() is not necessary" in str(error)
        return ("refused" if is_changed or is_constant else "raised"), error


@pytest.fixture(scope="module")
def habits(generated: Loader) -> ModuleType:
    return generated("habits")


@pytest.mark.parametrize("share", range(SHARES))
def test_programs_do_what_pytorchs_do(habits: ModuleType, torch_device: str, share: int) -> None:
    ends: Counter[str] = Counter()
    for seed in range(SEED + share, SEED + COUNT, SHARES):
        wanted, expected = outcome(seed, Plain(), torch_device)
        found, made = outcome(seed, habits, torch_device)
        ends[f"{wanted}, {found}"] += 1
        if wanted == "refused" and found == "made":
            # Ours have copied what is changed afterwards, or had no need of it.
            wanted, expected = outcome(seed, Copying(), torch_device)
        if wanted != "made":
            # What PyTorch refuses, ours refuse, too.
            assert found != "made", (seed, expected)
            continue
        if found == "refused":
            ends[str(made)[:60]] += 1
            continue
        assert found == "made", (seed, made)
        for k, (one, other) in enumerate(zip(made, expected, strict=True)):
            assert (one is None) == (other is None), (seed, k)
            if one is not None:
                assert torch.allclose(one, other, rtol=2e-4, atol=1e-5, equal_nan=True), (seed, k, one, other)
    print(dict(ends))
    assert ends["made, made"] > COUNT // SHARES // 3
