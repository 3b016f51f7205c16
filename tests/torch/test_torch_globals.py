"""Globals that are torch tensors: values alone, as no gradients flow to them."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.fixture
def weights(torch_device: str) -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0], device=torch_device)


def given(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([0, 2], dtype=torch.int32, device=device), torch.tensor([5.0, 7.0], device=device)


def weighed(scene: ModuleType, weights: torch.Tensor) -> Any:
    return scene.weighed.set(weights_of=weights, flows=torch.zeros_like(weights))


REFUSED = r"weighed: the global 'weights_of' is set to a tensor that requires grad or has a tangent"


@pytest.mark.parametrize("watched", [False, True])
def test_what_requires_grad_is_refused(
    scene: ModuleType, weights: torch.Tensor, torch_device: str, watched: bool
) -> None:
    i, x = given(torch_device)
    x.requires_grad_(watched)
    result = weighed(scene, weights)(i, x)
    assert result.tolist() == [5, 21]
    weights.requires_grad_()
    function = weighed(scene, weights)
    for _ in range(2):
        with pytest.raises(kf.ArgumentError, match=REFUSED) as error:
            function(i, x)
    assert error.value.code == "not-differentiable"
    with pytest.raises(kf.ArgumentError, match=REFUSED):
        function.torch()(i, x)
    with pytest.raises(kf.ArgumentError, match=REFUSED):
        kf.torch.module(function)(i, x)
    # A function that is used without first, and one whose global begins to require grad.
    with torch.no_grad():
        assert function(i, x).tolist() == [5, 21]
    with pytest.raises(kf.ArgumentError, match=REFUSED):
        function(i, x)
    assert weighed(scene, weights.detach())(i, x).tolist() == [5, 21]


def test_structs_and_lists_are_looked_into(scene: ModuleType, torch_device: str) -> None:
    plain = torch.ones(3, device=torch_device)
    leaf = plain.clone().requires_grad_()
    i = torch.tensor([0, 1], dtype=torch.int32, device=torch_device)
    shelf = scene.Shelf(books=plain, height=2.0)
    rows = [kf.Tensor([1.0, 1.0])] * 2
    gathered = scene.gathered.set(tables=[plain] * 3, rows=rows, grids=[plain] * 2, shelves=[shelf] * 2)
    with pytest.raises(kf.ArgumentError, match=r"the global 'grids'"):
        gathered.set(grids=[plain, leaf])(i)
    for other in ({"books": leaf, "height": 1.0}, scene.Shelf(books=leaf, height=1.0)):
        with pytest.raises(kf.ArgumentError, match=r"the global 'shelves'"):
            gathered.set(shelves=[shelf, other])(i)
    with torch.no_grad():
        assert gathered.set(grids=[plain, leaf])(i).tolist() == [5, 5]


def test_objects_are_asked_for_their_structs_fields(scene: ModuleType, torch_device: str) -> None:
    """However they hold them, and for nothing else that they have."""
    plain = torch.ones(3, device=torch_device)
    leaf = plain.clone().requires_grad_()
    i = torch.tensor([0, 1], dtype=torch.int32, device=torch_device)
    rows = [kf.Tensor([1.0, 1.0])] * 2
    gathered = scene.gathered.set(tables=[plain] * 3, rows=rows, grids=[plain] * 2)

    class Shelf:
        def __init__(self, books: torch.Tensor) -> None:
            self.books, self.height = books, 2.0
            self.optimised = torch.nn.Parameter(torch.ones(2, device=torch_device))

    class Slotted:
        __slots__ = ("books", "height")

        def __init__(self, books: torch.Tensor) -> None:
            self.books, self.height = books, 2.0

    class Computed:
        height = 2.0

        def __init__(self, books: torch.Tensor) -> None:
            self.given = [books]

        @property
        def books(self) -> torch.Tensor:
            return self.given[0]

    for kind in (Shelf, Slotted, Computed):
        assert gathered.set(shelves=[kind(plain)] * 2)(i).tolist() == [5, 5]
        with pytest.raises(kf.ArgumentError, match=r"the global 'shelves'"):
            gathered.set(shelves=[kind(plain), kind(leaf)])(i)


@pytest.mark.parametrize("how", ["compile", "fullgraph", "make_fx", "jit"])
def test_traced_calls(scene: ModuleType, weights: torch.Tensor, torch_device: str, how: str) -> None:
    i, x = given(torch_device)
    function = weighed(scene, weights.requires_grad_())

    def step(i: torch.Tensor, x: torch.Tensor) -> Any:
        return function(i, x) + 1

    def trace() -> Any:
        if how == "make_fx":
            return torch.fx.experimental.proxy_tensor.make_fx(step)(i, x)(i, x)
        if how == "jit":
            return torch.jit.trace(step, (i, x))(i, x)
        return torch.compile(step, fullgraph=how == "fullgraph", backend="eager")(i, x)

    with pytest.raises((kf.ArgumentError, torch._dynamo.exc.Unsupported), match="the global 'weights_of'"):
        trace()
    torch._dynamo.reset()
    with torch.no_grad():
        assert trace().tolist() == [6, 22]


def test_tangents_are_refused(scene: ModuleType, weights: torch.Tensor, torch_device: str) -> None:
    i, x = given(torch_device)
    forward = torch.autograd.forward_ad
    with forward.dual_level(), torch.no_grad():
        dual = forward.make_dual(weights, torch.ones_like(weights))
        with pytest.raises(kf.ArgumentError, match=REFUSED):
            weighed(scene, dual)(i, x)
    with pytest.raises(kf.ArgumentError, match=REFUSED):
        torch.func.grad(lambda w: weighed(scene, w)(i, x).sum())(weights)


def test_hooks_set_values_alone(scene: ModuleType, weights: torch.Tensor, torch_device: str) -> None:
    """Which is refused in each mode: a hook may run where PyTorch has turned gradients off."""
    i, x = given(torch_device)
    x.requires_grad_()

    def hook(context: kf.HookContext) -> None:
        context.set(weights_of=held)

    held = weights
    function = scene.weighed.set(flows=torch.zeros_like(weights)).hook(hook)
    function(i, x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 3]
    held = weights.clone().requires_grad_()
    with pytest.raises(kf.ArgumentError, match=REFUSED):
        function(i, x)
    with torch.no_grad(), pytest.raises(kf.ArgumentError, match=REFUSED):
        function(i, x)


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize("how", ["function", "operator", "module", "in a list"])
def test_what_begins_to_require_grad_once_compiled(
    scene: ModuleType, weights: torch.Tensor, torch_device: str, how: str, fullgraph: bool
) -> None:
    i, x = given(torch_device)
    call: Any = weighed(scene, weights)
    name = "weights_of"
    arguments: tuple[Any, ...] = (i, x)
    if how == "in a list":
        shelf = scene.Shelf(books=weights.clone(), height=2.0)
        rows = [kf.Tensor([1.0, 1.0])] * 2
        ones = torch.ones(3, device=torch_device)
        call = scene.gathered.set(tables=[ones] * 3, rows=rows, grids=[ones, weights], shelves=[shelf] * 2)
        name, arguments = "grids", (i % 2,)
    if how == "operator":
        call = call.torch()
    if how == "module":
        call = kf.torch.module(call)
    torch._dynamo.reset()
    step: Any = torch.compile(lambda *args: call(*args) * 2, fullgraph=fullgraph, backend="aot_eager")
    before = step(*arguments)
    assert torch.equal(step(*arguments), before)
    weights.requires_grad_()
    errors = (torch._dynamo.exc.Unsupported,) if fullgraph else (kf.ArgumentError,)
    for _ in range(2):
        with pytest.raises(errors, match=f"the global '{name}'"):
            step(*arguments)
    with torch.no_grad():
        assert torch.equal(step(*arguments), before)
    weights.requires_grad_(False)
    assert torch.equal(step(*arguments), before)


class Shelf(torch.nn.Module):  # type: ignore[misc]
    """An object, whose tensors are looked up by each call."""

    def __init__(self, books: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("books", books)
        self.height = 2.0


@pytest.mark.parametrize("generated_class", [False, True])
def test_what_is_put_into_an_object_later(
    scene: ModuleType, torch_device: str, generated_class: bool
) -> None:
    plain = torch.ones(3, device=torch_device)
    i = torch.tensor([0, 1], dtype=torch.int32, device=torch_device)
    shelf = scene.Shelf(books=plain, height=2.0) if generated_class else Shelf(plain)
    rows = [kf.Tensor([1.0, 1.0])] * 2
    f = scene.gathered.set(tables=[plain] * 3, rows=rows, grids=[plain] * 2, shelves=[shelf] * 2)
    step = torch.compile(lambda i: f(i) * 2, backend="aot_eager")
    expected = (f(i) * 2).tolist()
    assert step(i).tolist() == expected
    shelf.books = torch.full_like(plain, 10)
    changed = (f(i) * 2).tolist()
    assert step(i).tolist() == changed != expected
    shelf.books = torch.full_like(plain, 10).requires_grad_()
    for call in (f, step):
        with pytest.raises(kf.ArgumentError, match=r"gathered: .* a tensor that requires grad") as error:
            call(i)
        assert error.value.code == "not-differentiable"
    shelf.books = shelf.books.detach()
    assert step(i).tolist() == changed
