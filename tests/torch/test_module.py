"""kf.torch.module(): functions as modules with parameters, as PyTorch's own modules behave."""

import copy
import io
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader
from refusals import refusal
from torch import nn

START = {"a": 2.0, "b": -1.0, "c": 0.5}


@pytest.fixture(scope="module")
def specs(generated: Loader) -> Any:
    names = ("accumulate", "generics", "gradients", "jvp", "members", "structs")
    return SimpleNamespace(**{name: generated(name) for name in names})


def uniform(*shape: int, seed: int = 0, device: str = "cpu") -> torch.Tensor:
    """Values that lie with the same numbers on each device."""
    values = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return torch.from_numpy(values).to(device)


@pytest.fixture
def coefficients(torch_device: str) -> dict[str, torch.Tensor]:
    return {name: torch.tensor([value], device=torch_device) for name, value in START.items()}


@pytest.fixture
def polynomial(specs: Any, coefficients: dict[str, torch.Tensor]) -> Any:
    return kf.torch.module(specs.gradients.polynomial, parameters=coefficients)


class Reference(nn.Module):  # type: ignore[misc]
    """The polynomial in PyTorch's own operators."""

    def __init__(self, coefficients: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Parameter(value.clone()) for value in coefficients.values())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        value: torch.Tensor = self.a * x * x + self.b * x + self.c
        return value


def train(module: nn.Module, x: torch.Tensor, steps: int = 5) -> list[float]:
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (module(x) - 3 * x * x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def saved(module: nn.Module) -> Any:
    """What torch.load() makes of what torch.save() wrote."""
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="weights_only"):
        torch.load(file, weights_only=True)
    file.seek(0)
    return torch.load(file, weights_only=False)


def test_it_trains_as_a_module_of_pytorchs_does(
    polynomial: Any, coefficients: dict[str, torch.Tensor], torch_device: str
) -> None:
    x = uniform(257, device=torch_device)
    assert train(polynomial, x) == pytest.approx(train(Reference(coefficients), x), rel=1e-5)
    assert coefficients["a"].item() == 2, "tensors are copied"
    assert [name for name, _ in polynomial.named_parameters()] == ["a", "b", "c"]
    assert polynomial.a.grad.shape == (1,)
    assert repr(polynomial).splitlines()[:2] == ["FunctionModule(", "  polynomial(x)"]
    assert f"(a): Parameter (1,), torch.float32, {polynomial.a.device}" in repr(polynomial)
    assert polynomial.function.name == "polynomial"


def test_the_rest_is_given_in_order_or_by_name(specs: Any, torch_device: str) -> None:
    x = uniform(5, device=torch_device)
    a = torch.tensor([2.0], device=torch_device)
    module = kf.torch.module(specs.gradients.polynomial.torch(), {"a": a, "c": 3.0})
    expected = 2 * x * x + 4 * x + 3
    for y in (module(4.0, x), module(4.0, x=x), module(b=4.0, x=x), module.forward(x=x, b=4.0)):
        torch.testing.assert_close(y.detach(), expected)
    assert "(c): 3.0" in repr(module)
    assert list(module.state_dict()) == ["a"]
    out = torch.empty_like(x)
    with torch.no_grad():
        module(4.0, x, out=out)
    torch.testing.assert_close(out, expected)


def test_overloads_may_disagree_about_the_rest(specs: Any, torch_device: str) -> None:
    module = kf.torch.module(specs.generics.by_name, buffers={"a": uniform(3, device=torch_device)})
    assert "by_name(, …)" in repr(module)
    assert module(b=2).shape == (3,)
    text = refusal(kf.ArgumentTypeError, lambda: module(2))
    assert text.endswith(
        "1 positional arguments where 0 are taken; behind them overloads differ: name the arguments"
    )
    text = refusal(kf.ArgumentError, lambda: kf.torch.module(specs.generics.by_name, {"b": 1, "c": 1}))
    assert text == "by_name: no overload takes b and c"


def test_state_dicts(polynomial: Any, specs: Any, torch_device: str) -> None:
    other = kf.torch.module(
        specs.gradients.polynomial, dict.fromkeys("abc", torch.zeros(1, device=torch_device))
    )
    file = io.BytesIO()
    torch.save(polynomial.state_dict(), file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    assert list(state) == ["a", "b", "c"]
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    x = uniform(7, device=torch_device)
    torch.testing.assert_close(other(x), polynomial(x), rtol=0, atol=0)
    outer = nn.Sequential(polynomial)
    assert list(outer.state_dict()) == ["0.a", "0.b", "0.c"]
    with pytest.raises(RuntimeError, match=r"Missing key\(s\) in state_dict: \"c\""):
        other.load_state_dict({name: state[name] for name in "ab"})


def test_copies_and_files_are_modules_of_their_own(polynomial: Any, torch_device: str) -> None:
    x = uniform(7, device=torch_device)
    expected = polynomial(x)
    for other in (copy.deepcopy(polynomial), saved(polynomial), pickle.loads(pickle.dumps(polynomial))):
        torch.testing.assert_close(other(x), expected, rtol=0, atol=0)
        assert other.function is polynomial.function
        assert repr(other) == repr(polynomial)
        with torch.no_grad():
            other.a += 1
        assert polynomial.a.item() == 2
        train(other, x, 1)


def test_parameters_are_shared_and_tensors_are_copied(specs: Any, torch_device: str) -> None:
    shared = nn.Parameter(torch.ones(1, device=torch_device))
    tensor = torch.ones(1, device=torch_device)
    first = kf.torch.module(specs.gradients.polynomial, {"a": shared, "b": tensor, "c": tensor}, copy=False)
    second = kf.torch.module(specs.gradients.polynomial, {"a": shared, "b": tensor, "c": tensor})
    assert first.a is second.a is shared
    assert len(list(nn.ModuleList([first, second]).parameters())) == 5
    tensor += 1
    assert (first.b.item(), second.b.item()) == (2, 1)
    frozen = nn.Parameter(torch.ones(1, device=torch_device), requires_grad=False)
    assert not kf.torch.module(specs.gradients.polynomial, {"a": frozen}).a.requires_grad
    expanded = kf.torch.module(
        specs.gradients.polynomial, {"a": torch.ones(1, device=torch_device).expand(4)}
    )
    assert expanded.a.is_contiguous()


def test_what_has_no_gradient_is_a_buffer(specs: Any, torch_device: str) -> None:
    k = uniform(3, device=torch_device)
    module = kf.torch.module(specs.gradients.detached, {"k": k, "x": k.cpu().numpy()})
    assert [name for name, _ in module.named_buffers()] == ["k"]
    assert [name for name, _ in module.named_parameters()] == ["x"]
    assert list(module.state_dict()) == ["x", "k"]
    assert list(kf.torch.module(specs.gradients.detached, buffers={"x": k}).state_dict()) == ["x"]
    module.to(torch_device)().sum().backward()
    torch.testing.assert_close(module.x.grad, 2 * k * k)


def test_a_value_is_a_parameter_of_its_shape(specs: Any, torch_device: str) -> None:
    b, x = torch.tensor(2.0), uniform(4, device=torch_device)  # a number stays on the host
    module = kf.torch.module(specs.gradients.replaced, {"a": torch.ones_like(x), "b": b, "c": 0.5})
    y = module(x)
    torch.testing.assert_close(y.detach(), x * x + 2 * x + 0.5)
    y.sum().backward()
    torch.testing.assert_close(module.b.grad, x.sum().cpu())


def test_a_struct_is_a_submodule(specs: Any, torch_device: str) -> None:
    pos, dir_ = uniform(5, 3, device=torch_device), uniform(5, 3, seed=1, device=torch_device)
    t = uniform(5, seed=2, device=torch_device)
    expected = pos + dir_ * t[:, None] * pos[:, [2, 0, 1]]
    ray = specs.structs.Ray(pos=pos, dir=dir_)
    for given in (ray, {"pos": pos, "dir": dir_}):
        module = kf.torch.module(specs.structs.raytrace, {"ray": given})
        assert list(module.state_dict()) == ["ray.pos", "ray.dir"]
        assert isinstance(module.ray, kf.torch.FieldsModule)
        for one in (module, copy.deepcopy(module), saved(module)):
            torch.testing.assert_close(one(t).detach(), expected)
        module(t).sum().backward()
        torch.testing.assert_close(module.ray.dir.grad, t[:, None] * pos[:, [2, 0, 1]])
        with pytest.raises(NotImplementedError, match="call the module that it is part of"):
            module.ray()


def test_a_tensor_of_structs_is_a_parameter(specs: Any, torch_device: str) -> None:
    rays, t = uniform(5, 6, device=torch_device), uniform(5, seed=2, device=torch_device)
    module = kf.torch.module(specs.structs.raytrace, {"ray": rays})
    assert list(module.state_dict()) == ["ray"]
    torch.testing.assert_close(
        module(t).detach(), rays[:, :3] + rays[:, 3:] * t[:, None] * rays[:, [2, 0, 1]]
    )
    module(t).sum().backward()
    torch.testing.assert_close(module.ray.grad[:, 3:], t[:, None] * rays[:, [2, 0, 1]])


def test_fields_that_are_not_held_are_given(specs: Any, torch_device: str) -> None:
    pos, dir_ = uniform(5, 3, device=torch_device), uniform(5, 3, seed=1, device=torch_device)
    t = uniform(5, seed=2, device=torch_device)
    expected = pos + dir_ * t[:, None] * pos[:, [2, 0, 1]]
    module = kf.torch.module(specs.structs.raytrace, {"ray.pos": pos})
    assert list(module.state_dict()) == ["ray.pos"]
    torch.testing.assert_close(module({"dir": dir_}, t).detach(), expected)
    torch.testing.assert_close(module(t=t, ray={"dir": dir_}).detach(), expected)
    text = refusal(kf.ArgumentTypeError, lambda: module({"dir": dir_, "pos": pos}, t))
    assert text == "raytrace: argument 'ray.pos': it is given, and the module holds it"
    text = refusal(kf.ArgumentTypeError, lambda: module(dir_, t))
    assert text == "raytrace: argument 'ray': a dict of the fields beside pos is needed, not Tensor"
    both = kf.torch.module(specs.structs.raytrace, {"ray.pos": pos, "ray.dir": dir_})
    torch.testing.assert_close(both(t).detach(), expected)


def test_fields_of_fields(specs: Any, torch_device: str) -> None:
    x, z, dir_ = (uniform(*shape, seed=1, device=torch_device) for shape in ((4,), (4,), (4, 3)))
    other = {name: uniform(4, 3, seed=2, device=torch_device) for name in ("pos", "dir")}
    module = kf.torch.module(specs.structs.advance_fields, {"ray.pos.x": x, "ray.pos.z": z, "ray.dir": dir_})
    assert list(module.state_dict()) == ["ray.dir", "ray.pos.x", "ray.pos.z"]
    moved = module({"pos": {"y": 2.0}}, 0.5, {name: value.clone() for name, value in other.items()})[0]
    expected = torch.stack([x, torch.full_like(x, 2), z], dim=1) + 0.5 * dir_
    torch.testing.assert_close(moved.pos.detach(), expected)


def test_methods_hold_their_object(specs: Any, torch_device: str) -> None:
    table, i = uniform(8, device=torch_device), torch.arange(5, dtype=torch.int32, device=torch_device)
    lookup = specs.members.Lookup(table=table, scale=3.0)
    for module in (kf.torch.module(lookup.at), kf.torch.module(specs.members.Lookup.at, {"this": lookup})):
        assert list(module.state_dict()) == ["this.table"]
        module(i).sum().backward()
        torch.testing.assert_close(module.this.table.grad[:5], torch.full((5,), 3.0, device=torch_device))
    text = refusal(kf.ArgumentTypeError, lambda: kf.torch.module(lookup.at, {"this": lookup}))
    assert text == "Lookup.at: argument 'this' is given twice"


def test_what_a_call_writes_is_a_buffer(specs: Any, torch_device: str) -> None:
    """State that calls change, as running statistics are."""
    i = torch.tensor([0, 2, 1], dtype=torch.int32, device=torch_device)
    table, total = uniform(4, device=torch_device), uniform(3, seed=1, device=torch_device)
    seen = torch.zeros(4, dtype=torch.int32, device=torch_device)
    count = torch.zeros(3, dtype=torch.int32, device=torch_device)
    meter = {"table": table, "seen": seen, "total": total, "count": count}
    module = kf.torch.module(specs.members.Meter.add, {"this": meter})
    assert [name for name, _ in module.named_parameters()] == ["this.table"]
    with torch.no_grad():
        module(i)
        module(i)
    torch.testing.assert_close(module.this.total, 4 * total + 3 * table[[0, 2, 1]])
    assert module.this.count.tolist() == [2, 2, 2]
    assert count.tolist() == [0, 0, 0], "tensors are copied"


def test_it_goes_where_it_is_sent(polynomial: Any, torch_device: str) -> None:
    x = uniform(5)
    expected = polynomial(x.to(torch_device)).detach().cpu()
    for device in ("cpu", torch_device):
        assert polynomial.to(device) is polynomial
        y = polynomial(x.to(device))
        assert y.device == polynomial.a.device == x.to(device).device
        torch.testing.assert_close(y.detach().cpu(), expected)


def test_hooks_run(polynomial: Any, torch_device: str) -> None:
    x = uniform(4, device=torch_device)
    expected = polynomial(x).detach()
    seen: list[str] = []
    polynomial.register_forward_pre_hook(lambda module, given: (2 * given[0],))
    polynomial.register_forward_hook(lambda module, given, result: seen.append("forward"))
    polynomial.register_full_backward_hook(lambda module, inputs, outputs: seen.append("backward"))
    y = polynomial(x / 2)
    torch.testing.assert_close(y.detach(), expected)
    y.sum().backward()
    assert seen == ["forward", "backward"]


def test_dtypes_follow_the_calls(specs: Any, torch_device: str) -> None:
    x = uniform(3, 4, device=torch_device)
    module = kf.torch.module(specs.jvp.cubed, {"y": torch.full((4,), 2.0, device=torch_device)})
    for dtype, change in (
        (torch.float16, module.half),
        (torch.float64, module.double),
        (torch.float32, module.float),
        (torch.float16, lambda: module.to(torch_device, torch.float16)),
    ):
        assert change() is module
        assert module.y.dtype == dtype
        y = module(x.to(dtype))
        assert y.dtype == dtype
        torch.testing.assert_close(y, 2 * x.to(dtype) ** 3)
    for refused in (module.bfloat16, lambda: nn.Sequential(module).to(torch.bfloat16)):
        text = refusal(kf.ArgumentTypeError, refused)
        expected = "torch.float16 or torch.float32 or torch.float64"
        assert text == f"cubed: argument 'y': expected a tensor of {expected}, but got torch.bfloat16"
    assert module.y.dtype == torch.float16


def test_a_refused_dtype_changes_nothing(polynomial: Any, torch_device: str) -> None:
    text = refusal(kf.ArgumentTypeError, polynomial.half)
    assert text == "polynomial: argument 'a': expected a tensor of torch.float32, but got torch.float16"
    assert {one.dtype for one in polynomial.parameters()} == {torch.float32}
    meta = copy.deepcopy(polynomial).to("meta")
    assert meta.a.is_meta
    assert meta.to_empty(device=torch_device).a.device == polynomial.a.device


def test_compiled_as_a_whole(
    polynomial: Any, coefficients: dict[str, torch.Tensor], torch_device: str
) -> None:
    x = uniform(33, device=torch_device)
    compiled = torch.compile(polynomial, fullgraph=True, backend="aot_eager")
    assert train(compiled, x) == pytest.approx(train(Reference(coefficients), x), rel=1e-5)


def test_compiled_with_structs(specs: Any, torch_device: str) -> None:
    pos, t = uniform(5, 3, device=torch_device), uniform(5, seed=2, device=torch_device)
    ray = specs.structs.Ray(pos=pos, dir=uniform(5, 3, seed=1, device=torch_device))
    module = kf.torch.module(specs.structs.raytrace, {"ray": ray})
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(t), module(t))


def test_exported(polynomial: Any, torch_device: str) -> None:
    x = uniform(33, device=torch_device)
    program = torch.export.export(polynomial, (x,))
    assert list(program.state_dict) == ["a", "b", "c"]
    torch.testing.assert_close(program.module()(2 * x), polynomial(2 * x))


def test_functional_calls_replace_the_parameters(polynomial: Any, torch_device: str) -> None:
    x = uniform(4, device=torch_device)
    given = {name: torch.full((1,), 2.0, device=torch_device) for name in "abc"}
    torch.testing.assert_close(torch.func.functional_call(polynomial, given, (x,)), 2 * x * x + 2 * x + 2)


WRONG: list[tuple[Callable[[Any, torch.Tensor], Any], str]] = [
    (
        lambda s, x: kf.torch.module(s.gradients.weighted, {"xx": x}),
        "weighted: no argument 'xx'; it has v, w",
    ),
    (
        lambda s, x: kf.torch.module(s.structs.raytrace, {"raay": x}),
        "raytrace: no argument 'raay'; it has ray, t: did you mean 'ray'?",
    ),
    (
        lambda s, x: kf.torch.module(s.structs.raytrace, {"ray.poss": x}),
        "raytrace: argument 'ray': no field 'poss'; it has pos, dir: did you mean 'pos'?",
    ),
    (
        lambda s, x: kf.torch.module(s.structs.raytrace, {"t.x": x}),
        "raytrace: argument 't': no call takes it field by field, so there is no 'x'",
    ),
    (
        lambda s, x: kf.torch.module(s.structs.raytrace, {"ray.pos": x, "ray": {"pos": x, "dir": x}}),
        "raytrace: argument 'ray': it is given twice",
    ),
    (
        lambda s, x: kf.torch.module(s.structs.raytrace, {"ray": 3, "ray.pos": x}),
        "raytrace: argument 'ray.pos': it is given twice, by 'ray' too",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.replaced, {"b": x}),
        "replaced: argument 'b': expected a tensor of shape [], but got [3]",
    ),
    (
        lambda s, x: kf.torch.module(s.structs.shade, {"scene": x}),
        "shade: argument 'scene': no call takes a tensor for it",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached, {"k": nn.Parameter(x)}),
        "detached: argument 'k': it has no gradient: give a tensor, which becomes a buffer",
    ),
    (
        lambda s, x: kf.torch.module(s.members.Scaler.scale_value, {"val": nn.Parameter(x)}),
        "Scaler.scale_value: argument 'val': the call writes it: give a tensor, which becomes a buffer",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached, buffers={"x": nn.Parameter(x)}),
        "detached: argument 'x': a Parameter can't be a buffer: give its detach()",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached, {"x": kf.Tensor([1.0])}),
        "detached: argument 'x': a torch.Tensor is needed, not a kf.Tensor: torch.from_dlpack()",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached, {"x": x.int()}),
        "detached: argument 'x': expected a tensor of torch.float32, but got torch.int32",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached.backward),
        "kf.torch.module() takes a function or its torch(), not Backward",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached, {"k": x})(x, x=x),
        "detached: argument 'x' is given twice",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached, {"k": x})(x, k=x),
        "detached: argument 'k': it is given, and the module holds it",
    ),
    (
        lambda s, x: kf.torch.module(s.gradients.detached, {"k": x})(x, x),
        "detached: 2 positional arguments where 1 are taken",
    ),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_refused(
    specs: Any, make: Callable[[Any, torch.Tensor], Any], message: str, torch_device: str
) -> None:
    assert refusal(kf.ArgumentError, lambda: make(specs, torch.ones(3, device=torch_device))) == message
