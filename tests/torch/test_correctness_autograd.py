"""What autograd may be asked for around our calls: each as with PyTorch's own functions."""

import gc
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import pytest
import torch
from loader import Loader
from torch.utils.checkpoint import checkpoint


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture
def x(torch_device: str) -> torch.Tensor:
    return torch.tensor([0.5, -1.0, 2.0], device=torch_device, requires_grad=True)


@pytest.fixture
def y(torch_device: str) -> torch.Tensor:
    return torch.tensor([3.0, 4.0, -0.25], device=torch_device, requires_grad=True)


def same(found: torch.Tensor | None, expected: torch.Tensor) -> None:
    assert found is not None
    torch.testing.assert_close(found, expected.detach(), rtol=1e-6, atol=1e-6)


# ---- Which calls are watched ----


def test_gradients_are_chosen_by_call(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    """A first call without gradients changes nothing later, nor one with."""
    for watched in (False, True, False, True):
        first = x.detach().clone().requires_grad_(watched)
        result = gradients.product(first, y.detach())
        assert result.requires_grad is watched
        if watched:
            result.sum().backward()
            same(first.grad, y)


@pytest.mark.parametrize("which", [(True, False), (False, True), (True, True)])
def test_only_what_requires_gradients_gets_some(
    gradients: ModuleType, x: torch.Tensor, y: torch.Tensor, which: tuple[bool, bool]
) -> None:
    leaves = [one.detach().requires_grad_(wanted) for one, wanted in zip((x, y), which, strict=True)]
    gradients.product(*leaves).sum().backward()
    for one, other, wanted in zip(leaves, reversed(leaves), which, strict=True):
        if wanted:
            same(one.grad, other)
        else:
            assert one.grad is None


def test_no_grad(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    with torch.no_grad():
        assert not gradients.product(x, y).requires_grad
    assert gradients.product(x, y).requires_grad
    assert not gradients.product(x.detach(), y.detach()).requires_grad


def test_inference_mode(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    with torch.inference_mode():
        result = gradients.product(x, y)
        assert result.is_inference()
        assert not result.requires_grad
        inner = gradients.product(result, result)
    same(inner, (x * y) ** 2)
    # Outside, what it made can be read, but not saved for a backward pass: PyTorch's rule.
    same(gradients.product(result, result), (x * y) ** 2)
    with pytest.raises(RuntimeError, match=r"[Ii]nference tensors"):
        gradients.product(result, y)


def test_integers_have_no_gradient(generated: Loader, torch_device: str) -> None:
    a = torch.tensor([1, 2], dtype=torch.int32, device=torch_device)
    assert not generated("calls").add(a, a).requires_grad


def test_without_a_backward_pass(generated: Loader, x: torch.Tensor) -> None:
    result = generated("calls").simmer(x)
    if result.requires_grad:
        with pytest.raises(RuntimeError, match=r"simmer.*backward"):
            result.sum().backward()


# ---- Backward passes ----


def test_a_second_backward_pass_needs_retain_graph(
    gradients: ModuleType, x: torch.Tensor, y: torch.Tensor
) -> None:
    result = gradients.product(x, y).sum()
    result.backward(retain_graph=True)
    same(x.grad, y)
    result.backward()
    same(x.grad, 2 * y)
    with pytest.raises(RuntimeError, match=r"second time"):
        result.backward()


def test_gradients_add_up_in_leaves(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    x.grad = torch.full_like(x, 10)
    held = x.grad
    gradients.product(x, y).sum().backward()
    assert x.grad is held
    same(x.grad, y + 10)
    (gradients.product(x, y) + gradients.product(y, x)).sum().backward()
    same(x.grad, 3 * y + 10)
    same(y.grad, 3 * x)


def test_one_tensor_for_both_arguments(gradients: ModuleType, x: torch.Tensor) -> None:
    gradients.product(x, x).sum().backward()
    same(x.grad, 2 * x)


def test_through_other_operations(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    weights = torch.nn.Parameter(y.detach().clone())
    optimizer = torch.optim.SGD([weights], lr=0.1)
    loss = gradients.product((2 * x).sin(), weights.exp()).pow(2).mean()
    loss.backward()
    expected = (2 * x.detach()).requires_grad_()
    reference = torch.nn.Parameter(y.detach().clone())
    (expected.sin() * reference.exp()).pow(2).mean().backward()
    assert reference.grad is not None
    assert expected.grad is not None
    same(weights.grad, reference.grad)
    same(x.grad, 2 * expected.grad)
    before = weights.detach().clone()
    optimizer.step()
    same(weights, before - 0.1 * reference.grad)


def test_results_that_nothing_flows_into(generated: Loader, x: torch.Tensor) -> None:
    """Of several results one is used: autograd has nothing for the others."""
    cubed = generated("parameter_names").before
    ones = [torch.ones_like(x) for _ in range(6)]
    d_x = torch.full_like(x, 3).requires_grad_()
    result, y = cubed(x, *ones, d_x)
    y.sum().backward(retain_graph=True)
    same(x.grad, d_x)
    same(d_x.grad, x)
    x.grad = d_x.grad = None
    result.sum().backward()
    same(x.grad, torch.ones_like(x))
    same(d_x.grad, torch.zeros_like(x))


def test_expanded_gradients(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    gradients.product(x, y).sum().backward()  # sum() hands down one number, expanded
    same(x.grad, y)
    same(y.grad, x)


def test_second_derivatives_are_refused(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    (first,) = torch.autograd.grad(gradients.product(x, y).sum(), x, create_graph=True)
    assert first.requires_grad
    with pytest.raises(RuntimeError, match=r"product.*(twice|again|double)"):
        first.sum().backward()


def test_a_backward_pass_that_keeps_no_graph_can_be_used_on(
    gradients: ModuleType, x: torch.Tensor, y: torch.Tensor
) -> None:
    (first,) = torch.autograd.grad(gradients.product(x, y).sum(), x)
    assert not first.requires_grad
    same(first, y)


# ---- What is saved ----


def test_changes_between_the_passes_are_found(
    gradients: ModuleType, x: torch.Tensor, y: torch.Tensor
) -> None:
    changed = y.detach().clone()
    result = gradients.product(x, changed)
    changed.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation"):
        result.sum().backward()


def test_changes_by_our_own_calls_are_found(generated: Loader, x: torch.Tensor, y: torch.Tensor) -> None:
    changed = y.detach().clone()
    result = generated("gradients").product(x, changed)
    generated("calls").advance(changed, 1.0)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation"):
        result.sum().backward()


def test_changes_by_results_that_are_given_are_found(
    gradients: ModuleType, x: torch.Tensor, y: torch.Tensor
) -> None:
    changed = y.detach().clone()
    result = gradients.product(x, changed)
    gradients.product(changed, changed, out=changed)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation"):
        result.sum().backward()


def test_outputs_are_not_given_where_gradients_are_watched(
    gradients: ModuleType, x: torch.Tensor, y: torch.Tensor
) -> None:
    with pytest.raises((RuntimeError, ValueError), match=r"out=.*automatic differentiation"):
        gradients.product(x, y, out=torch.empty(3, device=x.device))


def test_leaves_are_not_changed(generated: Loader, x: torch.Tensor) -> None:
    with pytest.raises((RuntimeError, ValueError), match=r"advance.*leaf"):
        generated("calls").advance(x, 1.0)


def test_hooks_of_saved_tensors(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    packed: list[torch.Tensor] = []

    def pack(one: torch.Tensor) -> int:
        packed.append(one.detach().clone())
        return len(packed) - 1

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda number: packed[number]):
        result = gradients.product(x, y)
    assert len(packed) == 2
    result.sum().backward()
    same(x.grad, y)


def test_saved_tensors_on_disk(
    gradients: ModuleType, x: torch.Tensor, y: torch.Tensor, tmp_path: Path
) -> None:
    def pack(one: torch.Tensor) -> Path:
        path = tmp_path / f"{one.data_ptr()}.pt"
        torch.save(one, path)
        return path

    with torch.autograd.graph.saved_tensors_hooks(pack, torch.load):
        gradients.product(x, y).sum().backward()
    same(y.grad, x)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor, reentrant: bool) -> None:
    calls = 0

    def block(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        result: torch.Tensor = gradients.product(gradients.product(first, second), second)
        return result

    result = checkpoint(block, x, y, use_reentrant=reentrant)
    assert calls == 1
    result.sum().backward()
    assert calls == 2
    same(x.grad, y * y)
    same(y.grad, 2 * x * y)


def test_nothing_is_saved_without_need(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    """What a watched call holds is freed with its graph."""
    import weakref  # noqa: PLC0415

    held = y.detach().clone()
    alive = weakref.ref(held)
    result = gradients.product(x, held)
    del held
    gc.collect()
    assert alive() is not None or True  # saved tensors may be kept as new objects of the same memory
    result.sum().backward()
    del result
    gc.collect()
    assert alive() is None


# ---- Threads, steps, settings ----


def test_backward_passes_in_threads(gradients: ModuleType, torch_device: str) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(20):
                x = torch.full((64,), float(number), device=torch_device, requires_grad=True)
                y = torch.full((64,), float(step), device=torch_device)
                gradients.product(gradients.product(x, y), y).sum().backward()
                assert x.grad is not None
                assert bool((x.grad == step * step).all())
        except BaseException as failure:  # for the main thread to raise
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_one_graph_from_many_threads(gradients: ModuleType, x: torch.Tensor, y: torch.Tensor) -> None:
    results = [gradients.product(x, y).sum() for _ in range(8)]
    threads = [threading.Thread(target=result.backward) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(y.grad, 8 * x)


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("deterministic")
def test_deterministic_gradients(generated: Loader, torch_device: str) -> None:
    weigh = generated("accumulate").weigh
    a = torch.rand(1, 300, device=torch_device, generator=torch.Generator(torch_device).manual_seed(1))
    x = torch.rand(200, 300, device=torch_device, generator=torch.Generator(torch_device).manual_seed(2))
    found = []
    for _ in range(3):
        shared = a.clone().requires_grad_()
        weigh(shared, x).sum().backward()
        assert shared.grad is not None
        found.append(shared.grad)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("way", ["no_grad", "autograd", "operator", "compiled", "jvp"])
def test_deterministic_sums(generated: Loader, torch_device: str, way: str) -> None:
    """What groups of threads add is the same value many times; added up, they cancel out, and sums that round
    lose the small ones."""
    accumulate = generated("accumulate")
    parts = torch.tensor([2.0**27, 1.0, -(2.0**27), 0.25], device=torch_device).repeat(4)
    x = parts.repeat_interleave(4096).reshape(-1, 1024) / 4096
    one = torch.ones(1, 1, device=torch_device)
    if way == "no_grad":
        found = accumulate.sum_float(x)
    elif way == "autograd":
        found = accumulate.loss(x.requires_grad_(), one).detach()
    elif way == "operator":
        found = accumulate.torch.loss(x, one)
    elif way == "compiled":
        found = torch.compile(lambda x: accumulate.loss(x, one) + 0, fullgraph=True)(x)
    else:
        weighed = accumulate.weigh.accumulate(result="sum")
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, x)
            primal, found = torch.autograd.forward_ad.unpack_dual(weighed(dual, one))
        assert torch.equal(primal, torch.full_like(primal, 5))
    assert torch.equal(found, torch.full_like(found, 5))
    torch.use_deterministic_algorithms(False)
    assert not torch.equal(accumulate.sum_float(x), found)


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("name", ["backward", "fused"])
def test_passes_without_a_deterministic_kernel(generated: Loader, torch_device: str, name: str) -> None:
    """Those that are called by hand are refused in the same way, but for what options say."""
    blend = generated("strategy").blend_fast
    x = torch.ones(33, device=torch_device)
    shared = torch.ones(1, device=torch_device, requires_grad=True)
    with torch.no_grad():
        with pytest.raises(RuntimeError, match=rf"blend_fast[.]{name} does not have a deterministic"):
            getattr(blend, name)(x, shared, x)
        assert shared.grad is None
        with pytest.raises(kf.ArgumentError, match="deterministic sums are asked for"):
            getattr(blend.options(deterministic=True), name)(x, shared, x)
        getattr(blend.options(deterministic=False), name)(x, shared, x)
    same(shared.grad, torch.full_like(shared, 33.0))


@pytest.mark.usefixtures("deterministic")
def test_what_adds_atomically_by_itself(generated: Loader, torch_device: str) -> None:
    """An AtomicTensor of floats is summed in whatever order: nothing could make that deterministic."""
    add_to = generated("reports").add_to
    sums = torch.zeros(3, device=torch_device)
    at = torch.arange(3, dtype=torch.int32, device=torch_device)
    given = (sums, at, torch.ones(3, device=torch_device))
    with pytest.raises(
        kf.ArgumentRuntimeError, match=r"add_to does not have a det.* adds to 'sums'"
    ) as caught:
        add_to(*given)
    assert caught.value.code == "no-deterministic-kernel"
    same(sums, torch.zeros(3, device=torch_device))
    add_to.options(deterministic=False)(*given)
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match="add_to does not have a deterministic implementation"):
        add_to(*given)
    torch.use_deterministic_algorithms(False)
    add_to(*given)
    same(sums, torch.full((3,), 3.0, device=torch_device))


@pytest.mark.usefixtures("deterministic")
def test_without_a_deterministic_kernel(gradients: ModuleType, torch_device: str) -> None:
    """It is refused as PyTorch refuses its own functions, or warned of."""
    x = torch.ones(4, 3, device=torch_device)
    shared = torch.ones(3, device=torch_device, requires_grad=True)
    result = gradients.product(x, shared).sum()
    with pytest.raises(RuntimeError, match=r"product.* does not have a deterministic implementation"):
        result.backward()
    torch.use_deterministic_algorithms(True, warn_only=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradients.product(x, shared).sum().backward()
    assert any("does not have a deterministic implementation" in str(one.message) for one in caught)
    same(shared.grad, torch.full((3,), 4.0, device=torch_device))


def test_autocast(gradients: ModuleType, torch_device: str) -> None:
    """Kernels have their dtypes: what autocast has made smaller is cast back for them."""
    x = torch.ones(2, 3, device=torch_device, requires_grad=True)
    weights = torch.eye(3, device=torch_device, requires_grad=True)
    y = torch.tensor([1.0, 2.0, 4.0], device=torch_device)
    with torch.autocast(torch_device, dtype=torch.bfloat16):
        hidden = x @ weights
        assert hidden.dtype == torch.bfloat16
        result = gradients.product(hidden, y)
    assert result.dtype == torch.float32
    same(result, y.expand(2, 3))
    result.sum().backward()
    same(x.grad, y.expand(2, 3))
    # Elsewhere it is a wrong dtype.
    with pytest.raises(TypeError, match=r"product"):
        gradients.product(hidden.detach(), y)


def test_structs_and_several_results(generated: Loader, torch_device: str) -> None:
    fused: Any = generated("fused")
    at = torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]], device=torch_device, requires_grad=True)
    distance, number = fused.distance({"center": [0, 1, 0], "radius": 2.0, "id": 7}, at)
    assert number.tolist() == [7, 7]
    assert not number.requires_grad
    distance.backward(torch.tensor([1.0, 10.0], device=torch_device))
    same(at.grad, torch.tensor([[2.0, 2.0, 6.0], [0.0, 0.0, 0.0]], device=torch_device))


@pytest.mark.parametrize("layout", ["expanded", "spread"])
@pytest.mark.parametrize("is_watched_twice", [False, True])
def test_what_flows_into_a_contiguous_result(
    generated: Loader, torch_device: str, layout: str, is_watched_twice: bool
) -> None:
    """The call spec says that the result is contiguous; what autograd has for it may lie otherwise."""
    module = generated("link_time")
    x = torch.arange(1, 6, dtype=torch.float32, device=torch_device).requires_grad_()
    y = module.power(x)
    wide = torch.tensor([[2.0, 3.0]], device=torch_device).expand(5, 2)
    flow = torch.full((), 2.0, device=torch_device).expand(5) if layout == "expanded" else wide[:, 0]
    (found,) = torch.autograd.grad(y, x, flow, create_graph=is_watched_twice)
    (ones,) = torch.autograd.grad(module.power(x), x, torch.ones_like(x))
    assert torch.equal(found.detach(), 2 * ones)
