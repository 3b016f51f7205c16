"""Torch tensors that hold structs: the last dimensions are a struct's scalars, in calls and in results."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def structs(generated: Loader) -> ModuleType:
    return generated("torch_structs")


def rand(device: str, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return (torch.rand(*shape, generator=generator, dtype=torch.float64) + 0.5).to(device, dtype)


def same(found: Any, expected: torch.Tensor) -> None:
    assert type(found) is torch.Tensor
    assert found.shape == expected.shape
    torch.testing.assert_close(found.detach().double(), expected.detach().double(), rtol=2e-6, atol=2e-6)


# The same by PyTorch.


def at(ray: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    pos, direction = ray[..., :3], ray[..., 3:]
    return pos + direction * t[..., None] * pos[..., [2, 0, 1]]


def next_of(ray: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    pos, direction = ray[..., :3], ray[..., 3:]
    return torch.cat([pos + t[..., None] * direction, direction * pos * t[..., None]], -1)


def bounced(ray: torch.Tensor, t: float) -> torch.Tensor:
    pos, direction = ray[..., :3], ray[..., 3:]
    return torch.cat([pos * direction * t, direction * direction], -1)


def relaxed(s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    ends, stiffness, frame = s[:, :2], s[:, 2], s[:, 3:].reshape(-1, 2, 2)
    return torch.cat(
        [
            torch.einsum("nij,nj->ni", frame, ends) * t[:, None],
            (stiffness * stiffness * ends[:, 0])[:, None],
            (frame * stiffness[:, None, None]).reshape(-1, 4),
        ],
        1,
    )


VIEWS: dict[str, Callable[[str], torch.Tensor]] = {
    "dense": lambda device: rand(device, 7, 6),
    "offset": lambda device: rand(device, 9, 6)[1:8],
    "columns": lambda device: rand(device, 7, 9)[:, 2:8],
    "rows": lambda device: rand(device, 21, 6)[::3],
    "transposed": lambda device: rand(device, 6, 7).T,
    "spread": lambda device: rand(device, 7, 18)[:, 1::3],
    "expanded": lambda device: rand(device, 1, 6).expand(7, 6),
    "one": lambda device: rand(device, 1, 6),
    "empty": lambda device: rand(device, 0, 6),
}


WAYS = [("plain", view) for view in VIEWS] + [("operator", "dense"), ("operator", "spread")]
WAYS += [("compiled", "columns"), ("compiled", "expanded")]


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize(("how", "view"), WAYS)
def test_values_and_gradients(structs: ModuleType, torch_device: str, how: str, view: str) -> None:
    call = structs.next if how != "operator" else structs.next.torch()
    if how == "compiled":
        torch._dynamo.reset()
        call = torch.compile(structs.next, backend="aot_eager", fullgraph=True)
    given = VIEWS[view](torch_device)
    t = rand(torch_device, 1 if view in ("one", "empty") else 7)
    flow = rand(torch_device, *torch.broadcast_shapes(given.shape[:1], t.shape), 6)
    same(call(given, t), next_of(given.double(), t.double()))
    with torch.no_grad():
        same(call(given.detach().requires_grad_(), t), next_of(given.double(), t.double()))
    for needs in ((True, True), (True, False), (False, True)):
        ours = [given.detach().requires_grad_(needs[0]), t.detach().clone().requires_grad_(needs[1])]
        theirs = [one.detach().double().requires_grad_(one.requires_grad) for one in ours]
        found, expected = call(*ours), next_of(*theirs)
        same(found, expected)
        assert found.requires_grad
        # As given, expanded, and in an order of dimensions of its own.
        for weight in (flow, flow[:, :1].expand_as(flow), flow.T.contiguous().T):
            got = torch.autograd.grad(found, [x for x in ours if x.requires_grad], weight, retain_graph=True)
            want = torch.autograd.grad(
                expected, [x for x in theirs if x.requires_grad], weight.double(), retain_graph=True
            )
            for one, other in zip(got, want, strict=True):
                same(one, other)


@pytest.mark.parametrize("watched", [False, True])
def test_ranks(structs: ModuleType, torch_device: str, watched: bool) -> None:
    for shape in ((6,), (5, 6), (3, 5, 6)):
        ray = rand(torch_device, *shape).requires_grad_(watched)
        t = rand(torch_device, 5)
        same(structs.at(ray, t), at(ray.double(), t.double()))
        same(structs.at(ray, 0.5), at(ray.double(), torch.tensor(0.5, device=torch_device).double()))
        if watched:
            structs.at(ray, t).sum().backward()
            other = ray.detach().double().requires_grad_()
            at(other, t.double()).sum().backward()
            assert other.grad is not None
            same(ray.grad, other.grad)


def test_doubles_pass_gradcheck(structs: ModuleType, torch_device: str) -> None:
    s = rand(torch_device, 5, 7, dtype=torch.float64).requires_grad_()
    t = rand(torch_device, 5, dtype=torch.float64).requires_grad_()
    same(structs.relaxed(s, t), relaxed(s, t))
    assert torch.autograd.gradcheck(structs.relaxed, (s, t))
    assert torch.autograd.gradcheck(structs.relaxed.torch(), (s, t))


@pytest.mark.usefixtures("host_memory")
@pytest.mark.parametrize("how", ["plain", "no_grad", "operator", "compiled"])
def test_in_place(structs: ModuleType, torch_device: str, how: str) -> None:
    call = structs.bounce.torch() if how == "operator" else structs.bounce
    if how == "compiled":
        torch._dynamo.reset()
        call = torch.compile(structs.bounce, backend="aot_eager", fullgraph=True)
    for view in ("dense", "columns", "transposed", "rows"):
        given = VIEWS[view](torch_device).detach()
        expected = bounced(given.double(), 0.5)
        with torch.no_grad():
            result = call(given, 0.5)
        same(given, expected)
        assert result is given or torch.equal(result, given)
        if how == "no_grad":
            continue
        leaf = VIEWS[view](torch_device).detach().requires_grad_()
        changed = leaf.clone()
        call(changed, 0.5)
        changed.square().sum().backward()
        other = leaf.detach().double().requires_grad_()
        bounced(other, 0.5).square().sum().backward()
        assert other.grad is not None
        same(leaf.grad, other.grad)
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            call(leaf, 0.5)


def test_several_results(structs: ModuleType, torch_device: str) -> None:
    ray = rand(torch_device, 5, 6)
    for watched in (False, True, True):
        ours = ray.clone().requires_grad_(watched)
        theirs = ray.double().requires_grad_(watched)
        found = structs.split(ours)
        pos, direction = theirs[:, :3], theirs[:, 3:]
        half = torch.cat([pos * 0.5, direction * direction * 0.5], 1)
        same(found.half, half)
        same(found.both, pos * direction)
        same(found.result, (pos * direction).sum(1))
        if watched:
            (found.half.sum() + found.both.sum() + found.result.sum()).backward()
            (half.sum() + 2 * (pos * direction).sum()).backward()
            assert theirs.grad is not None
            same(ours.grad, theirs.grad)
            ours.grad = None
            structs.split(ours).half.sum().backward()
            assert ours.grad is not None
            same(ours.grad[:, :3], torch.full((5, 3), 0.5, device=torch_device))


@pytest.mark.usefixtures("host_memory")
def test_backward_passes_without_autograd(structs: ModuleType, torch_device: str) -> None:
    ray, t = rand(torch_device, 5, 6), rand(torch_device, 5)
    flow = rand(torch_device, 5, 6)
    other = ray.double().requires_grad_()
    next_of(other, t.double()).backward(flow.double())
    assert other.grad is not None
    for given in (ray, VIEWS["columns"](torch_device)[:5]):
        other = given.double().requires_grad_()
        next_of(other, t.double()).backward(flow.double())
        assert other.grad is not None
        result = kf.differentiable(structs.next(given, t))
        result.grad = flow
        held = kf.differentiable(given)
        structs.next.backward(held, t, result)
        same(held.grad, other.grad)
        leaf = given.detach().requires_grad_()
        for k in (1, 2):
            structs.next.backward(leaf, t, result)
            same(leaf.grad, k * other.grad)
    narrow = kf.differentiable(ray)
    narrow.grad = torch.zeros(5, 1, device=torch_device)
    with pytest.raises(kf.ArgumentError, match=r"next: argument 'ray': .*expected \[6\] as its last extents"):
        structs.next.backward(narrow, t, result)


def test_a_field_without_a_derivative(structs: ModuleType, torch_device: str) -> None:
    """Its part of the gradient is 0."""
    knob, x = rand(torch_device, 5, 3), rand(torch_device, 5)
    for flow in (torch.ones(5), torch.rand(5)):
        ours = knob.clone().requires_grad_()
        structs.turned(ours, x).backward(flow.to(torch_device))
        expected = torch.stack([x * x, torch.zeros_like(x), knob[:, 1]], 1) * flow.to(torch_device)[:, None]
        same(ours.grad, expected)
    one = knob[:1].clone().requires_grad_()
    structs.turned(one, x).sum().backward()
    same(one.grad, torch.stack([(x * x).sum(), torch.zeros_like(x[0]), 5 * knob[0, 1]])[None])


def test_other_structs(structs: ModuleType, torch_device: str) -> None:
    cells = torch.arange(12, dtype=torch.int32, device=torch_device).reshape(4, 3)
    expected = torch.stack([cells[:, 0] + 3, cells[:, 1] + 3, cells[:, 2] * 3], 1)
    assert torch.equal(structs.moved(cells, 3), expected)
    single = rand(torch_device, 4, 1).requires_grad_()
    same(structs.squared(single), single * single)
    structs.squared(single).sum().backward()
    same(single.grad, 2 * single)
    for rays in (rand(torch_device, 4, 2, 6), rand(torch_device, 4, 6, 2).transpose(1, 2)):
        k = rand(torch_device, 4)
        leaf, other = rays.detach().requires_grad_(), rays.detach().double().requires_grad_()
        found = structs.total(leaf, k)
        wanted = ((other[:, 0, :3] * other[:, 1, 3:]).sum(1) + other[:, 1, 1] * other[:, 0, 5]) * k.double()
        same(found, wanted)
        found.sum().backward()
        wanted.sum().backward()
        assert other.grad is not None
        same(leaf.grad, other.grad)


def test_methods(structs: ModuleType, torch_device: str) -> None:
    counters = rand(torch_device, 4, 2)
    before = counters.clone()
    expected = before[:, 0] * 3 + before[:, 1]
    same(structs.Counter.advance(counters, 3.0), expected * 3)
    same(counters, torch.stack([expected, before[:, 1]], 1))
    leaf = before.clone().requires_grad_()
    changed = leaf.clone()
    (structs.Counter.advance(changed, 3.0).sum() + changed.sum()).backward()
    same(leaf.grad, torch.tensor([12.0, 5.0], device=torch_device).expand(4, 2))


def test_overloads_by_extents(structs: ModuleType, torch_device: str) -> None:
    """A tensor of scalars is sooner that than structs, which then take a tensor of theirs alone."""
    x = rand(torch_device, 4, 6)
    for watched in (False, True):
        given = x.clone().requires_grad_(watched)
        same(structs.size(given), x * x)
    with pytest.raises(kf.ArgumentError):
        structs.size(x.double())


def test_transforms(structs: ModuleType, torch_device: str) -> None:
    ray, t = rand(torch_device, 5, 6), rand(torch_device, 5)
    slopes = torch.func.grad(lambda r: structs.next(r, t).square().sum())(ray)
    other = ray.double().requires_grad_()
    next_of(other, t.double()).square().sum().backward()
    assert other.grad is not None
    same(slopes, other.grad)
    batch = rand(torch_device, 3, 5, 6)
    same(torch.func.vmap(structs.next, in_dims=(0, None))(batch, t), next_of(batch, t))
    value, tangent = torch.func.jvp(lambda r: structs.next(r, t), (ray,), (ray * 0.5,))
    expected = torch.func.jvp(lambda r: next_of(r, t), (ray,), (ray * 0.5,))
    same(value, expected[0])
    same(tangent, expected[1])
    structs.torch.register()
    torch.library.opcheck(torch.ops.torch_structs.next.default, (ray.clone().requires_grad_(), t))
    torch.library.opcheck(torch.ops.torch_structs.split.default, (ray.clone().requires_grad_(),))


def test_structs_of_other_kinds(structs: ModuleType, torch_device: str) -> None:
    """Beside torch tensors, structs may still be given as what else holds some."""
    if torch_device != "cpu":
        pytest.skip("kf.Tensors of the default device")
    rays = rand("cpu", 5, 6)
    array = rays.numpy().copy().view(structs.Ray.dtype)[:, 0]
    listed = [structs.Ray(pos=one[:3], dir=one[3:]) for one in rays.tolist()]
    for t in (rand("cpu", 5), rand("cpu", 5).requires_grad_()):
        expected = next_of(rays.double(), t.double())
        for given in (array, kf.Tensor.from_numpy(array), listed):
            same(structs.next(given, t), expected)
            if t.requires_grad:
                t.grad = None
                structs.next(given, t).sum().backward()
                same(t.grad, (rays[:, 3:] + rays[:, 3:] * rays[:, :3]).sum(1))
    out = structs.next(array, rand("cpu", 5).numpy(), out="torch")
    same(out, next_of(rays, rand("cpu", 5)))
    same(structs.next(kf.Tensor.from_numpy(array), rand("cpu", 5).numpy(), out=torch.Tensor), out)
    assert isinstance(structs.next(rays, rand("cpu", 5), out=kf.Tensor), kf.Tensor)
    assert isinstance(structs.next(rays, rand("cpu", 5), out=np.ndarray), np.ndarray)
    made = torch.empty(5, 6)
    assert structs.next(rays, rand("cpu", 5), out=made) is made
    same(made, out)


def test_traced_calls_of_other_kinds(structs: ModuleType, torch_device: str) -> None:
    """Operators take tensors: what else holds structs breaks the graph."""
    rays, t = rand(torch_device, 2, 6), rand(torch_device, 2)
    listed = [{"pos": one[:3], "dir": one[3:]} for one in rays.tolist()]
    torch._dynamo.reset()
    step: Any = torch.compile(lambda t: structs.next(listed, t) * 2, backend="eager")
    same(step(t), 2 * next_of(rays, t))
    torch._dynamo.reset()
    step = torch.compile(lambda t: structs.next(listed, t), backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"takes Ray tensor\[1\] as a torch.Tensor"):
        step(t)
    for wrong in ({"pos": rays[:, :3], "dir": rays[:, 3:]}, structs.Ray(pos=rays[:, :3], dir=rays[:, 3:])):
        for watched in (False, True):
            with pytest.raises(TypeError, match="next: argument 'ray': "):
                structs.next(wrong, t.detach().requires_grad_(watched))


RAY = r"next: argument 'ray': expected Ray tensor\[1\], as a float32 torch.Tensor of shape \[\*, 6\], found "


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("how", ["plain", "operator"])
def test_refusals(structs: ModuleType, torch_device: str, watched: bool, how: str) -> None:
    t = rand(torch_device, 5)
    call = structs.next if how == "plain" else structs.next.torch()
    call(rand(torch_device, 5, 6).requires_grad_(watched), t)
    for wrong, kind, code, found in (
        (
            rand(torch_device, 5, 7),
            kf.ArgumentError,
            "shape-mismatch",
            r"a float32 torch.Tensor of shape \[5, 7\]",
        ),
        (rand(torch_device, 6), TypeError, "rank-mismatch", r"a float32 torch.Tensor of shape \[6\]"),
        (rand(torch_device, 5, 6).double(), TypeError, "type-mismatch", "a float64 torch.Tensor of shape"),
    ):
        for _ in range(2):
            with pytest.raises(kf.ArgumentError, match=RAY + found) as caught:
                call(wrong.detach().requires_grad_(watched), t)
            assert isinstance(caught.value, kind)
            assert caught.value.code == code


@pytest.mark.parametrize("watched", [False, True])
def test_what_no_tensor_holds(structs: ModuleType, torch_device: str, watched: bool) -> None:
    x = rand(torch_device, 5, 2).requires_grad_(watched)
    for name, given in (("tagged", (x, x[:, 0])), ("apart", (x,))):
        text = f"{name}: argument '[at]': a torch.Tensor holds no {name.title()} structs, whose fields are of"
        with pytest.raises(TypeError, match=text):
            getattr(structs, name)(*given)
    if torch_device != "cpu":
        return
    array = np.zeros(5, structs.Tagged.dtype)
    k = rand("cpu", 5)
    assert isinstance(structs.tagged(array, k), kf.Tensor)
    with pytest.raises(kf.ArgumentRuntimeError, match="tagged: argument 'result': it comes back as structs"):
        structs.tagged(array, k.requires_grad_())
