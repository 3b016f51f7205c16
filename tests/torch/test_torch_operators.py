"""Functions as operators of PyTorch, and calls that autograd follows."""

import threading
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import pytest
import torch
from kernelfunctions.torch._fused_call import FusedCall
from loader import Loader
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def tensors(generated: Loader) -> ModuleType:
    return generated("tensors")


@pytest.fixture(autouse=True)
def reset_compiler() -> Iterator[None]:
    yield
    torch._dynamo.reset()


def expected(a: Any, b: Any, c: Any, x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = a * x * x + b * x + c
    return result


def vector(device: str, *numbers: float, grad: bool = True) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32, device=device, requires_grad=grad)


def test_gradients_of_broadcast_parameters(gradients: ModuleType, torch_device: str) -> None:
    a, b, c = (vector(torch_device, number) for number in (2, 8, -1))
    x = vector(torch_device, 1, 2, 3, 4)
    flow = torch.arange(4.0, device=torch_device)
    gradients.polynomial(a, b, c, x).backward(flow)
    found = [one.grad for one in (a, b, c, x)]
    for one in (a, b, c, x):
        one.grad = None
    expected(a, b, c, x).backward(flow)
    for one, grad in zip((a, b, c, x), found, strict=True):
        torch.testing.assert_close(grad, one.grad)


@pytest.mark.parametrize("view", ["expanded", "strided", "offset", "negative"])
def test_layouts_of_inputs_and_flows(gradients: ModuleType, torch_device: str, view: str) -> None:
    base = torch.linspace(-1, 1, 12, device=torch_device, requires_grad=True)
    views = {
        "expanded": lambda t: t[:1].expand(4),
        "strided": lambda t: t[::3],
        "offset": lambda t: t[5:9],
        "negative": lambda t: torch._neg_view(t[2:6]),
    }
    x = views[view](base)
    flow = torch.arange(8.0, device=torch_device)[::2]
    (found,) = torch.autograd.grad(gradients.polynomial(2, 8, -1, x), base, flow)
    (right,) = torch.autograd.grad(expected(2, 8, -1, views[view](base)), base, flow)
    torch.testing.assert_close(found, right)
    assert found.device == base.device


def test_number_as_a_tensor_gets_its_gradient(gradients: ModuleType, torch_device: str) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    x = vector(torch_device, 1, 2, 3, grad=False)
    if torch_device != "cpu":
        pytest.skip("a tensor of the host for a number beside tensors of a GPU")
    gradients.polynomial(a, 8, -1, x).sum().backward()
    assert a.grad is not None
    assert a.grad.item() == 14


def test_autograd_as_usual(gradients: ModuleType, torch_device: str) -> None:
    x = vector(torch_device, 1, 2, 3)
    first = gradients.polynomial(2, 8, -1, x.detach())
    assert not first.requires_grad
    y = gradients.polynomial(2, 8, -1, x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, 2 * (4 * x.detach() + 8))
    with torch.no_grad():
        assert not gradients.polynomial(2, 8, -1, x).requires_grad
    with torch.inference_mode():
        assert gradients.polynomial(2, 8, -1, x).is_inference()


def test_change_in_place_is_detected(gradients: ModuleType, torch_device: str) -> None:
    x = vector(torch_device, 1, 2, 3) * 1
    y = gradients.polynomial(2, 8, -1, x)
    x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_saved_tensors_can_be_hooked_and_computed_again(gradients: ModuleType, torch_device: str) -> None:
    x = vector(torch_device, 1, 2, 3)
    packed = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        packed.append(tensor)
        return tensor.clone()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = gradients.polynomial(2, 8, -1, x)
    (found,) = torch.autograd.grad(y.sum(), x)
    assert len(packed) == 1
    torch.testing.assert_close(found, 4 * x + 8)
    y = checkpoint(lambda x: gradients.polynomial(2, 8, -1, x), x, use_reentrant=False)
    (found,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(found, 4 * x + 8)


@pytest.mark.parametrize("call", ["polynomial", "replaced"])
@pytest.mark.parametrize("form", ["plain", "strided", "empty", "without b", "large"])
def test_calls_alike_have_gradients_alike(
    gradients: ModuleType, call: str, form: str, torch_device: str
) -> None:
    # The first call of a kind finds out how it goes, and the others go a shorter way where there is one.
    count = {"empty": 0, "large": 100_000}.get(form, 6)
    for times in range(3):
        x = torch.arange(count, dtype=torch.float32, device=torch_device) / max(count, 1)
        if form == "strided":
            x = x.repeat_interleave(2)[::2]
        x.requires_grad_()
        b: Any = 8.0
        if call == "polynomial":
            b = vector(torch_device, 8).requires_grad_(form != "without b")
        a, c = vector(torch_device, 2), vector(torch_device, -1) if call == "polynomial" else -1.0
        if call == "replaced":
            a = torch.full((count,), 2.0, device=torch_device, requires_grad=True)
        # Memory that holds something else comes back to PyTorch's allocator.
        poison = [torch.full((size,), 77.0, device=torch_device) for size in (count, 3, 3 + count)]
        del poison
        flow = torch.full_like(x, 1.0 + times).detach()
        getattr(gradients, call)(a, b, c, x).backward(flow)
        expected = {id(x): flow * (2 * 2 * x + 8), id(a): flow * x * x}
        if call == "polynomial":
            expected |= {id(b): flow * x, id(c): flow}
        given = [one for one in (a, b, c, x) if isinstance(one, torch.Tensor) and one.requires_grad]
        for one in given:
            assert one.grad is not None
            reference = expected[id(one)].detach()
            reference = reference if one.shape == x.shape else reference.sum().reshape(1)
            torch.testing.assert_close(one.grad, reference, rtol=1e-4, atol=1e-4)
        # Each is changed alone.
        versions = [one.grad._version for one in given if one.grad is not None]
        assert given[0].grad is not None
        given[0].grad.add_(1)
        assert [one.grad._version for one in given if one.grad is not None][1:] == versions[1:]


def test_backward_in_threads(gradients: ModuleType, torch_device: str) -> None:
    x = vector(torch_device, 1, 2, 3)
    found: list[torch.Tensor] = []

    def run() -> None:
        found.extend(torch.autograd.grad(gradients.polynomial(2, 8, -1, x).sum(), x))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for one in found:
        torch.testing.assert_close(one, 4 * x + 8)


def test_second_derivatives_are_refused(gradients: ModuleType, torch_device: str) -> None:
    x = vector(torch_device, 1, 2, 3)
    (grad,) = torch.autograd.grad(gradients.polynomial(2, 8, -1, x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="polynomial: its gradient can't be differentiated again"):
        grad.sum().backward()


def test_function_without_a_backward_pass(tensors: ModuleType, torch_device: str) -> None:
    row = vector(torch_device, 1, 2, 3)
    y = tensors.row_sum(row.expand(2, 3))
    with pytest.raises(RuntimeError, match="row_sum: it has no backward pass"):
        y.sum().backward()


def test_outputs_that_are_given_have_no_gradients(gradients: ModuleType, torch_device: str) -> None:
    x = vector(torch_device, 1, 2, 3)
    with pytest.raises(Exception, match=r"out=[.]{3} arguments don't support automatic differentiation"):
        gradients.polynomial(2, 8, -1, x, out=torch.empty(3, device=torch_device))


def test_autocast_casts_to_the_parameters_type(gradients: ModuleType, torch_device: str) -> None:
    x = vector(torch_device, 1, 2, 3).half().detach().requires_grad_()
    with torch.autocast(torch_device):
        y = gradients.polynomial.torch()(2, 8, -1, x)
    y.sum().backward()
    assert y.dtype == torch.float32
    assert x.grad is not None
    assert x.grad.dtype == torch.float16
    torch.testing.assert_close(x.grad, (4 * x + 8).detach())


def test_tensors_that_are_written(tensors: ModuleType, torch_device: str) -> None:
    idx = torch.arange(3, dtype=torch.int32, device=torch_device)
    weights = torch.randn(3, 4, device=torch_device, requires_grad=True)
    bias = torch.randn(3, device=torch_device, requires_grad=True)
    x = torch.randn(4, device=torch_device, requires_grad=True)
    flow = torch.randn(3, device=torch_device)
    output = torch.zeros(3, device=torch_device)
    assert tensors.linear_layer(idx, weights, bias, x, output) is None
    torch.testing.assert_close(output, weights @ x + bias)
    found = torch.autograd.grad(output, (weights, bias, x), flow)
    for one, right in zip(
        found, torch.autograd.grad(weights @ x + bias, (weights, bias, x), flow), strict=True
    ):
        torch.testing.assert_close(one, right)
    data = torch.arange(3.0, device=torch_device, requires_grad=True)
    changed = data * 1
    tensors.process_inplace(idx, changed)
    torch.testing.assert_close(changed, 2 * data)
    (grad,) = torch.autograd.grad(changed, data, flow)
    torch.testing.assert_close(grad, 2 * flow)


def test_struct_field_by_field(generated: Loader, torch_device: str) -> None:
    structs = generated("structs")
    pos = torch.randn(5, 3, device=torch_device, requires_grad=True)
    dir = torch.randn(5, 3, device=torch_device, requires_grad=True)
    t = torch.rand(5, device=torch_device, requires_grad=True)
    flow = torch.randn(5, 3, device=torch_device)
    for ray in ({"pos": pos, "dir": dir}, structs.Ray(pos=pos, dir=dir)):
        y = structs.raytrace(ray, t)
        torch.testing.assert_close(y, pos + t[:, None] * dir * pos[:, [2, 0, 1]])
        found = torch.autograd.grad(y, (pos, dir, t), flow)
        right = torch.autograd.grad(pos + t[:, None] * dir * pos[:, [2, 0, 1]], (pos, dir, t), flow)
        for one, other in zip(found, right, strict=True):
            torch.testing.assert_close(one, other)


def test_views_that_are_written_are_named(generated: Loader, torch_device: str) -> None:
    square = generated("views").square
    x = vector(torch_device, 1, 2, 3)
    y = torch.zeros(3, device=torch_device)
    with pytest.raises(RuntimeError, match=r"argument 'output': it is a DiffTensorView.*outputs="):
        square(x, y, shape=(3,))
    named = square.torch(outputs=["output"])
    named(x, y, shape=(3,))
    torch.testing.assert_close(y, x * x)
    flow = torch.arange(3.0, device=torch_device)
    (found,) = torch.autograd.grad(y, x, flow)
    torch.testing.assert_close(found, 2 * x.detach() * flow)
    assert flow.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="'x' is no view; its views are input, output"):
        square.torch(outputs=["x"])


def test_gradients_of_expanded_tensors_are_sums(generated: Loader, torch_device: str) -> None:
    """Of tensors whose elements share memory, given to views that are only read."""
    views = generated("views")
    square = views.square.torch(outputs=["output"])
    flow = torch.arange(1.0, 7.0, device=torch_device)
    one = vector(torch_device, 1.5)

    def squared(x: torch.Tensor) -> torch.Tensor:
        y = torch.full((6,), 77.0, device=torch_device)
        square(x.expand(6), y, shape=(6,))
        return y

    torch.testing.assert_close(squared(one), (one * one).expand(6))
    (found,) = torch.autograd.grad(squared(one), one, flow)
    (right,) = torch.autograd.grad((one * one).expand(6), one, flow)
    torch.testing.assert_close(found, right)
    with pytest.raises(kf.ArgumentError, match=r"argument 'output': .*written"):
        square(flow, torch.zeros(1, device=torch_device).expand(6), shape=(6,))


def test_what_views_were_left_with_is_loaded_again(generated: Loader, torch_device: str) -> None:
    """Backward passes of calls that load what they have stored, wherever that was kept."""
    operator = generated("views").through.torch(outputs=["between", "out"])
    a = vector(torch_device, 1, 2, 3).detach()
    flows = (vector(torch_device, 1, 0, 2).detach(), vector(torch_device, 3, 1, 1).detach())
    right = flows[0] * 2 * a + flows[1] * (2 * a**2 + 3) * 2 * a

    def through(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        between, out = torch.full_like(a, 5), torch.full_like(a, 6)
        operator(a, between, out, shape=(3,))
        return between, out

    torch._dynamo.reset()
    for traced in (through, torch.compile(through, backend="aot_eager", fullgraph=True)):
        x = a.clone().requires_grad_()
        (found,) = torch.autograd.grad(traced(x), x, flows)
        torch.testing.assert_close(found, right)
    results, pull = torch.func.vjp(through, a)
    torch.testing.assert_close(results, (a**2, a**4 + 3 * a**2))
    torch.testing.assert_close(pull(flows)[0], right)
    flows_again = tuple(torch.stack([flow, 2 * flow]) for flow in flows)
    found = torch.func.vmap(lambda a, *flows: torch.func.vjp(through, a)[1](flows)[0])(
        torch.stack([a, a]), *flows_again
    )
    torch.testing.assert_close(found, torch.stack([right, 2 * right]))


def test_ways_to_accumulate(generated: Loader, torch_device: str) -> None:
    weigh = generated("accumulate").weigh
    a = torch.randn(1, 4, device=torch_device, requires_grad=True)
    x = torch.randn(3, 4, device=torch_device)
    for way in ("sum", "push", "overwrite"):
        f = weigh.accumulate({"a.grad": way})
        (found,) = torch.autograd.grad(f(a, x).sum(), a)
        (right,) = torch.autograd.grad(weigh(a, x).sum(), a)
        torch.testing.assert_close(found, right)
    total = weigh.accumulate(result="sum")(a, x)
    (found,) = torch.autograd.grad(total.sum(), a)
    torch.testing.assert_close(found, right)


def test_sums_come_with_their_gradients(generated: Loader, torch_device: str) -> None:
    loss = generated("accumulate").loss
    a = torch.randn(3, 4, device=torch_device, requires_grad=True)
    x = torch.randn(3, 4, device=torch_device)
    total = loss(a, x)
    kind: Any = type(total.grad_fn)
    assert issubclass(kind._forward_cls, FusedCall)
    (total * 3).sum().backward(retain_graph=True)
    (right,) = torch.autograd.grad(loss.accumulate(result="none")(a, x).sum() * 3, a)
    torch.testing.assert_close(a.grad, right)
    a.grad = None
    (total * -2).sum().backward()
    torch.testing.assert_close(a.grad, right * (-2 / 3))
    (grad,) = torch.autograd.grad(loss(a, x).sum(), a, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        grad.sum().backward()


def test_deterministic_algorithms(generated: Loader, gradients: ModuleType, torch_device: str) -> None:
    a = vector(torch_device, 2)
    x = vector(torch_device, 1, 2, 3, grad=False)
    weigh = generated("accumulate").weigh
    wide = torch.randn(3, 4, device=torch_device)
    torch.use_deterministic_algorithms(True)
    try:
        weigh(wide[:1].clone().requires_grad_(), wide).sum().backward()
        y = gradients.polynomial(a, 8, -1, x)
        with pytest.raises(RuntimeError, match=r"polynomial[.]backward does not have a deterministic"):
            y.sum().backward()
        torch.use_deterministic_algorithms(True, warn_only=True)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            gradients.polynomial(a, 8, -1, x).sum().backward()
        assert any("deterministic" in str(one.message) for one in seen)
    finally:
        torch.use_deterministic_algorithms(False)


def test_forward_derivatives(generated: Loader, torch_device: str) -> None:
    polynomial = generated("jvp").polynomial
    x = torch.randn(4, device=torch_device)
    dx = torch.randn(4, device=torch_device)
    y, dy = torch.func.jvp(lambda x: polynomial(2, 8, -1, x), (x,), (dx,))
    torch.testing.assert_close(y, expected(2, 8, -1, x))
    torch.testing.assert_close(dy, (4 * x + 8) * dx)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, dx)
        tangent = torch.autograd.forward_ad.unpack_dual(polynomial(2, 8, -1, dual)).tangent
    torch.testing.assert_close(tangent, dy)


def test_no_forward_derivative(gradients: ModuleType, torch_device: str) -> None:
    x = torch.ones(3, device=torch_device)
    with pytest.raises(RuntimeError, match='"forward_diff": true'):
        torch.func.jvp(lambda x: gradients.polynomial(2, 8, -1, x), (x,), (x,))


def test_transforms_compose(generated: Loader, torch_device: str) -> None:
    polynomial = generated("jvp").polynomial
    x = torch.randn(3, 4, device=torch_device)

    def loss(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = polynomial(2, 8, -1, x).sum()
        return result

    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(x), 4 * x + 8)
    torch.testing.assert_close(
        torch.func.grad(lambda x: torch.func.vmap(loss, in_dims=1)(x).sum())(x), 4 * x + 8
    )
    jacobian = torch.func.jacrev(lambda x: polynomial(2, 8, -1, x))(x[0])
    torch.testing.assert_close(jacobian, torch.diag(4 * x[0] + 8))
    torch.testing.assert_close(torch.func.jacfwd(lambda x: polynomial(2, 8, -1, x))(x[0]), jacobian)


def test_batch_of_no_samples(gradients: ModuleType, torch_device: str) -> None:
    x = torch.rand(0, 4, device=torch_device)

    def loss(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = gradients.polynomial(2, 8, -1, x).sum()
        return result

    assert torch.func.vmap(lambda x: gradients.polynomial(2, 8, -1, x))(x).shape == (0, 4)
    assert torch.func.vmap(torch.func.grad(loss))(x).shape == (0, 4)


def test_batches_of_gradients(generated: Loader, gradients: ModuleType, torch_device: str) -> None:
    """What torch.autograd has beside torch.func.vmap."""
    a = torch.tensor([2.0], device=torch_device, requires_grad=True)
    x = torch.rand(4, device=torch_device, requires_grad=True)
    y = gradients.polynomial(a, 8, -1, x)
    flows = torch.eye(4, device=torch_device)
    for_a, for_x = torch.autograd.grad(y, (a, x), flows, is_grads_batched=True)
    torch.testing.assert_close(for_a, (x * x)[:, None])
    torch.testing.assert_close(for_x, torch.diag(4 * x + 8))
    pos, t = torch.rand(2, 3, device=torch_device), torch.rand(2, device=torch_device)
    ray = {"pos": pos, "dir": torch.rand(2, 3, device=torch_device)}
    found, right = (
        torch.autograd.functional.jacobian(
            lambda pos: generated("structs").raytrace({**ray, "pos": pos}, t), pos, vectorize=vectorize
        )
        for vectorize in (True, False)
    )
    torch.testing.assert_close(found, right)


def test_batches_of_gradients_on_another_thread(gradients: ModuleType, torch_device: str) -> None:
    """As a GPU's backward passes are, by a thread of PyTorch's own; so are those within 60 others."""
    x = torch.rand(4, device=torch_device, requires_grad=True)
    threads = set()

    def product_within(depth: int, flow: torch.Tensor) -> torch.Tensor:
        threads.add(threading.get_ident())
        if depth == 0:
            return torch.autograd.grad(y, x, flow, retain_graph=True)[0]
        found = []
        with torch.enable_grad():
            one = torch.zeros((), requires_grad=True)
            outer = one * 1
        outer.register_hook(lambda _: found.append(product_within(depth - 1, flow)))
        torch.autograd.grad(outer, one)
        return found[0]

    y = gradients.polynomial(2, 8, -1, x)
    for depth in (1, 62):
        found = torch._vmap_internals._vmap(lambda flow, depth=depth: product_within(depth, flow))(
            torch.eye(4, device=torch_device)
        )
        torch.testing.assert_close(found, torch.diag(4 * x + 8))
    assert len(threads) > 1


def test_samples_of_a_batch_that_share_a_parameter(gradients: ModuleType, torch_device: str) -> None:
    a = torch.full((1,), 2.0, device=torch_device)
    x = torch.randn(3, 4, device=torch_device)

    def loss(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = gradients.polynomial(a, 8, -1, x).sum()
        return result

    found = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(a, x)
    torch.testing.assert_close(found, (x * x).sum(1, keepdim=True))


def test_compiled_without_a_break(gradients: ModuleType, torch_device: str) -> None:
    operator = gradients.polynomial.torch()

    @torch.compile(fullgraph=True, dynamic=True, backend="aot_eager")
    def run(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = operator(a, 8.0, -1.0, x * 2) + 1
        return result

    for n in (3, 5):
        a = vector(torch_device, 2)
        x = torch.randn(n, device=torch_device, requires_grad=True)
        y = run(a, x)
        torch.testing.assert_close(y, expected(a, 8, -1, 2 * x) + 1)
        found = torch.autograd.grad(y.sum(), (a, x))
        right = torch.autograd.grad(expected(a, 8, -1, 2 * x).sum(), (a, x))
        for one, other in zip(found, right, strict=True):
            torch.testing.assert_close(one, other)


def test_compiled_writes(tensors: ModuleType, torch_device: str) -> None:
    operator = tensors.process_inplace.torch()
    idx = torch.arange(3, dtype=torch.int32, device=torch_device)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def run(x: torch.Tensor) -> torch.Tensor:
        y = x * 3
        operator(idx, y)
        return y

    x = torch.randn(3, device=torch_device, requires_grad=True)
    y = run(x)
    torch.testing.assert_close(y, 6 * x)
    (found,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(found, torch.full_like(x, 6))
    with torch.no_grad():
        torch.testing.assert_close(run(x), 6 * x)


def test_exported_program(gradients: ModuleType, torch_device: str, tmp_path: Any) -> None:
    operator = gradients.polynomial.torch()

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = operator(2.0, 8.0, -1.0, x)
            return result

    x = torch.randn(4, device=torch_device)
    n = torch.export.Dim("n", min=2)
    program = torch.export.export(Model(), (x,), dynamic_shapes=({0: n},))
    torch.export.save(program, tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    x = torch.randn(7, device=torch_device)
    torch.testing.assert_close(loaded(x), expected(2, 8, -1, x))


def test_pytorchs_own_check(gradients: ModuleType, torch_device: str) -> None:
    gradients.torch.register()
    op = torch.ops.gradients.squashed
    x = torch.randn(3, device=torch_device, requires_grad=True)
    torch.library.opcheck(op.default, (x, 0.5))
    torch.library.opcheck(op.out, (x.detach(), 0.5), {"out": torch.empty(3, device=torch_device)})
    flow = torch.ones(3, device=torch_device)
    needs = [True, False]
    torch.library.opcheck(torch.ops.gradients.squashed_backward.default, (flow, x.detach(), 0.5, needs))


def test_overloads_are_called_by_what_they_take(gradients: ModuleType, torch_device: str) -> None:
    """One that is added to a spec changes no other's name; the first one has a short name, too."""
    gradients.torch.register()
    squashed, product = torch.ops.gradients.squashed, torch.ops.gradients.product
    name = "x_float32_tensor1_k_float32"
    assert set(squashed.overloads()) == {"default", "out", name, f"{name}_out"}
    kinds = ["float32", "float32_tensor1", "float32_tensor2"]
    every = {f"x_{x}_y_{y}" for x in kinds for y in kinds} - {"x_float32_y_float32"}
    named = [*every, *(f"{one}_out" for one in every)]
    assert set(product.overloads()) == {"default", "out", *named}
    operators = gradients.product.torch().state.operators
    first = operators[min(operators)].overload
    x, y = torch.rand(3, device=torch_device), torch.rand(3, device=torch_device)
    torch.testing.assert_close(product.x_float32_tensor1_y_float32_tensor1(x, y), x * y)
    torch.testing.assert_close(product.x_float32_tensor1_y_float32(x, 2.0), 2 * x)
    given = [2.0 if f"{one}_float32_tensor" not in first else x for one in "xy"]
    torch.testing.assert_close(product.default(*given), getattr(product, first)(*given))

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = gradients.squashed.torch()(x, 0.5)
            return result

    program = torch.export.export(Model(), (x,))
    called = {str(node.target) for node in program.graph.nodes if "squashed" in str(node.target)}
    assert called == {f"gradients.squashed.{name}"}


def test_traced_calls_are_refused_by_name(gradients: ModuleType, torch_device: str) -> None:
    operator = gradients.polynomial.torch()
    with pytest.raises(Exception, match=r"argument 'x': .* expected scalar type Float but found Double"):
        torch.compile(lambda x: operator(2.0, 8.0, -1.0, x), fullgraph=True, backend="eager")(
            torch.ones(3, dtype=torch.float64, device=torch_device)
        )


def test_what_is_changed_may_be_read_in_its_own_place(gradients: ModuleType, torch_device: str) -> None:
    ways: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float]] = {
        "itself": (lambda y: y, 3.0),
        "a view": (lambda y: y.view(3), 3.0),
        "detached": (lambda y: y.detach(), 2.0),
        "a copy": (lambda y: y.clone(), 3.0),
    }
    for name, (read, factor) in ways.items():
        x = vector(torch_device, 1, 2, 3)
        y = x * 1
        gradients.square_in_place(y, read(y))
        torch.testing.assert_close(y, x**3, msg=name)
        y.sum().backward()
        torch.testing.assert_close(x.grad, factor * x.detach() ** 2, msg=name)


def test_what_is_changed_may_not_be_read_elsewhere(gradients: ModuleType, torch_device: str) -> None:
    ways: list[Callable[[torch.Tensor], torch.Tensor]] = [lambda y: y[1:], lambda y: y.detach()[1:]]
    for read in ways:
        x = vector(torch_device, 1, 2, 3, 4)
        y = x * 1
        with pytest.raises(RuntimeError, match=r"argument 'k': it shares memory with 'x', .* clone\(\)"):
            gradients.square_in_place(y[:3], read(y))
        torch.testing.assert_close(y, x)
    # Elements that lie between each other's aren't shared.
    x = vector(torch_device, 1, 2, 3, 4)
    y = x * 1
    gradients.square_in_place(y[::2], y[1::2])
    y.sum().backward()
    torch.testing.assert_close(x.grad, vector(torch_device, 4, 2, 24, 10, grad=False))


def test_shapes_of_calls_that_are_traced(gradients: ModuleType, torch_device: str) -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = gradients.polynomial(x, x, x, x, shape=(4,))
        return result

    x = vector(torch_device, 2)
    traced = torch.fx.experimental.proxy_tensor.make_fx(call)(x)
    with FlopCounterMode(display=False):
        counted = call(x)
    for found in (call(x), torch.compile(call)(x), traced(x), counted):
        torch.testing.assert_close(found, torch.full((4,), 14.0, device=torch_device))
    torch.compile(call)(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.full_like(x, 4 * (3 * 4 + 2 * 2 + 1)))
    for way in (call, torch.compile(call)):
        with pytest.raises((ValueError, RuntimeError), match="extent"):
            way(vector(torch_device, 2, 3))


def test_more_results_than_letters(gradients: ModuleType, torch_device: str) -> None:
    multiples = gradients.multiples.torch()
    x = vector(torch_device, 1, -2, 3)
    results = multiples(x)
    assert len(results) == 28
    for number, result in enumerate(results, 1):
        torch.testing.assert_close(result, number * x)
    sum(result.sum() for result in results).backward()
    torch.testing.assert_close(x.grad, torch.full_like(x, 28 * 29 / 2))
    found = torch.compile(lambda given: multiples(given)[27])(x.detach())
    torch.testing.assert_close(found, 28 * x.detach())


def test_overloads_of_other_last_extents(generated: Loader, torch_device: str) -> None:
    which = generated("conversions").which_rows
    compiled = torch.compile(which.torch(), backend="aot_eager", fullgraph=True)
    for extent in (2, 3, 2):
        x = torch.rand(4, extent, device=torch_device, requires_grad=True)
        for call in (which, compiled):
            assert call(x).tolist() == [extent] * 4


def test_numbers_that_a_call_changes(generated: Loader, torch_device: str) -> None:
    members = generated("members")
    table = torch.arange(1.0, 5.0, device=torch_device, requires_grad=True)
    seen = torch.zeros(4, dtype=torch.int32, device=torch_device)

    def read(function: Any) -> Any:
        return function({"table": table, "seen": seen, "total": 10.0, "count": 4}, 2, 2.0)

    for function in (members.read_meter, torch.compile(members.read_meter.torch(), backend="aot_eager")):
        result, meter = read(function)
        assert (result.item(), meter.total.item(), int(meter.count)) == (46, 23, 5)
        # What nobody asks the gradient of has none flow in.
        for outputs, slope in ((result, 2.0), (meter.total, 1.0), (result + 3 * meter.total, 5.0)):
            (found,) = torch.autograd.grad(outputs, table, retain_graph=True)
            assert found.tolist() == [0, 0, slope, 0]


def test_second_derivative_by_what_is_changed(generated: Loader, torch_device: str) -> None:
    scaler = generated("members").Scaler(2.0, 1.0)
    x = vector(torch_device, 1, 2, 3)
    changed = x * 1
    scaler.scale_value(changed)
    (first,) = torch.autograd.grad(changed.sum(), x, create_graph=True)
    assert first.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="scale_value: its gradient can't be differentiated again"):
        torch.autograd.grad(first.sum(), x, allow_unused=True)


def test_operators_that_are_first_named_in_traced_code(generated: Loader, torch_device: str) -> None:
    module = generated("gradients")
    functions = type(module.torch)(module.torch._module)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def run(x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = functions.polynomial(2.0, 8.0, -1.0, x)
        return found * 2

    with torch.no_grad():
        for x in (torch.rand(3, device=torch_device), torch.rand(3, device=torch_device)):
            torch.testing.assert_close(run(x), 2 * expected(2, 8, -1, x))
            assert functions.polynomial is functions.polynomial


def test_a_parameter_beside_tensors_that_are_not_torchs(gradients: ModuleType) -> None:
    a = torch.nn.Parameter(torch.tensor(2.0))
    x = torch.tensor([1.0, 2.0, 3.0])
    y = gradients.polynomial(a, 8, -1, kf.Tensor.from_dlpack(x))
    assert torch.equal(y.detach().cpu(), expected(2, 8, -1, x))
    y.sum().backward()
    assert a.grad is not None
    assert a.grad.item() == 14
