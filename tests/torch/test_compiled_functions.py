"""Functions as such in code that torch.compile traces, without .torch()."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import pytest
import torch
from loader import Loader
from torch._dynamo.utils import clear_compilation_metrics, get_compilation_metrics
from torch.func import grad, jvp, vmap


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(autouse=True)
def reset_compiler() -> Iterator[None]:
    yield
    torch._dynamo.reset()


def compiled(function: Callable[..., Any], fullgraph: bool = True, **options: Any) -> Callable[..., Any]:
    made: Callable[..., Any] = torch.compile(function, fullgraph=fullgraph, backend="aot_eager", **options)
    return made


def refusal(reason: str) -> str:
    """What a graph that must not break fails with; PyTorch 2.6 can't be told why."""
    return "graph_break" if torch.__version__.startswith("2.6") else reason


def test_no_graph_break(gradients: ModuleType, torch_device: str) -> None:
    def loss(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(gradients.polynomial(a, 8, -1, x) * 2)

    run = compiled(loss, dynamic=True)
    a = torch.tensor([2.0], device=torch_device, requires_grad=True)
    for count in (3, 5):
        x = torch.rand(count, device=torch_device, requires_grad=True)
        results = [one(a, x) for one in (run, loss)]
        torch.testing.assert_close(*results)
        found, right = (torch.autograd.grad(one.sum(), (a, x)) for one in results)
        torch.testing.assert_close(found, right)
    with torch.no_grad():
        torch.testing.assert_close(run(a, x), loss(a, x))


def test_functions_are_told_apart(gradients: ModuleType, torch_device: str) -> None:
    run = compiled(lambda function, x, y: function(x, y))
    x = torch.rand(4, device=torch_device)
    y = torch.rand(4, 3, device=torch_device)
    for _ in range(2):
        for function in (gradients.ratio, gradients.shifted, gradients.scaled):
            torch.testing.assert_close(run(function, x, y), function(x, y))


def test_in_modules_and_with_structs(generated: Loader, torch_device: str) -> None:
    structs, members = generated("structs"), generated("members")

    class Traced(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.function = structs.raytrace
            self.pos = torch.nn.Parameter(torch.rand(5, 3, device=torch_device))

        def forward(self, dir: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.function(structs.Ray(pos=self.pos, dir=dir), t=t)
            return found

    model, dir, t = Traced(), torch.rand(5, 3, device=torch_device), torch.rand(5, device=torch_device)
    compiled(model)(dir, t).sum().backward()
    found = model.pos.grad
    (right,) = torch.autograd.grad(model(dir, t).sum(), model.pos)
    torch.testing.assert_close(found, right)
    scaler = members.Scaler(2.0, 1.0)
    torch.testing.assert_close(compiled(lambda t: scaler.scaled(t) + 1)(t), scaler.scaled(t) + 1)
    program = torch.export.export(model, (dir, t), strict=True)
    torch.testing.assert_close(program.module()(dir, t), model(dir, t))


@pytest.mark.parametrize("given", [{"steps": 4}, {"scale": [1, 5]}, {}], ids=str)
def test_fields_that_dicts_lack(generated: Loader, torch_device: str, given: dict[str, Any]) -> None:
    defaults = generated("field_defaults")
    x = torch.rand(3, device=torch_device, requires_grad=True)
    run = compiled(lambda x: defaults.scaled(given, x.detach()) * defaults.stepped({"value": x}, 10))
    wanted = (x * given.get("scale", [2, 3])[1] + given.get("steps", 3)) * (x - 0.9)
    torch.testing.assert_close(run(x), wanted)
    run(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach() * given.get("scale", [2, 3])[1] + given.get("steps", 3))


def test_what_is_written(gradients: ModuleType, torch_device: str) -> None:
    def run(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        gradients.product(x, x, out=out)
        return out + 1

    x, out = torch.rand(3, device=torch_device), torch.zeros(3, device=torch_device)
    torch.testing.assert_close(compiled(run)(x, out), x * x + 1)
    torch.testing.assert_close(out, x * x)


def test_calls_that_are_no_operators_break_the_graph(gradients: ModuleType) -> None:
    """They are made as they are, and say what they say otherwise."""
    numbers = kf.Tensor.from_dlpack(torch.ones(3))
    for given, kind in (((2.0, 3.0), float), ((numbers, 2.0), kf.Tensor)):
        run = compiled(gradients.product, fullgraph=False)
        assert isinstance(run(*given), kind)
        torch._dynamo.reset()
        with pytest.raises(Exception, match=refusal("none of its arguments is a torch[.]Tensor")):
            compiled(gradients.product)(*given)
    wrong = torch.ones(3, dtype=torch.float64)
    with pytest.raises(
        kf.ArgumentError, match=r"argument 'x': .*expected scalar type Float but found Double"
    ):
        compiled(lambda x: gradients.squashed(x, 0.5), fullgraph=False)(wrong)
    with pytest.raises(
        Exception, match=refusal(r"argument 'x': .* expected scalar type Float but found Double")
    ):
        compiled(lambda x: gradients.squashed(x, 0.5))(wrong)


def test_transforms_in_compiled_code(generated: Loader, torch_device: str) -> None:
    polynomial = generated("jvp").polynomial
    x = torch.rand(3, 4, device=torch_device)

    def loss(x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = polynomial(2, 8, -1, x).sum()
        return found

    for transformed in (vmap(grad(loss)), grad(lambda x: vmap(loss)(x).sum())):
        torch.testing.assert_close(compiled(transformed)(x), transformed(x))

    def tangents(x: torch.Tensor) -> Any:
        return jvp(lambda x: polynomial(2, 8, -1, x), (x[0],), (x[1],))

    # An operator would have none, and be taken for a constant.
    clear_compilation_metrics()
    torch.testing.assert_close(compiled(tangents, fullgraph=False)(x), tangents(x))
    files = {one.co_filename or "" for one in get_compilation_metrics()}
    assert __file__ in files
    assert not [file for file in files if Path(file).is_relative_to(Path(kf.__file__).parent)]
    torch._dynamo.reset()
    with pytest.raises(Exception, match=refusal("polynomial: forward derivatives can't be traced")):
        compiled(tangents)(x)


def test_forward_derivatives_of_an_operator_are_refused(generated: Loader, torch_device: str) -> None:
    module = generated("jvp")
    module.torch.register()
    x = torch.rand(4, device=torch_device)
    number = min(module.polynomial.torch().state.operators)
    operator = getattr(torch.ops.jvp.polynomial, module.polynomial.torch().state.operators[number].overload)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        with pytest.raises(RuntimeError, match="polynomial: an operator has no forward derivative"):
            operator(2.0, 8.0, -1.0, dual)


def test_recorded_by_jit_trace(gradients: ModuleType, torch_device: str) -> None:
    for function in (gradients.polynomial, gradients.polynomial.torch()):
        for tracked in (False, True):
            x = torch.rand(3, device=torch_device, requires_grad=tracked)
            traced = torch.jit.trace(lambda x, f=function: f(2.0, 8.0, -1.0, x) + 1, x)
            assert "gradients::polynomial" in str(traced.graph)
            torch.testing.assert_close(traced(x * 2), function(2, 8, -1, x * 2) + 1)


def test_called_by_name(gradients: ModuleType, torch_device: str) -> None:
    """What torch.compile traces is what Python finds under the name, too."""
    x = torch.rand(3, device=torch_device)
    torch.testing.assert_close(gradients.product.__call__(x, x), x * x)
    assert gradients.product.__call__(2.0, 3.0) == 6
    assert type(gradients.product).__call__.__qualname__ == "Function.__call__"
