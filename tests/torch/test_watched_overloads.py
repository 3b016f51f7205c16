"""Calls that PyTorch watches are chosen by the rules, and refused in the words, of all calls."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader
from refusals import refusal
from torch._dynamo.testing import CompileCounterWithBackend
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_map_only


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype, requires_grad=True)


def faked(call: Callable[..., Any], *given: Any) -> Any:
    with FakeTensorMode() as mode:
        return call(*tree_map_only(torch.Tensor, mode.from_tensor, given))


#: A function of each module, and what it refuses.
REFUSED: dict[str, tuple[str, str, Callable[[], tuple[Any, ...]]]] = {
    "dtype": ("gradients", "polynomial", lambda: (2, 8, -1, leaf(5, dtype=torch.float64))),
    "rank": ("gradients", "product", lambda: (leaf(2, 3, 4, 5), leaf(2, 3, 4, 5))),
    "number": ("gradients", "polynomial", lambda: (True, 8, -1, leaf(5))),
    "missing": ("gradients", "product", lambda: (leaf(5),)),
    "too many": ("gradients", "product", lambda: (leaf(5), leaf(5), leaf(5))),
    "shape": ("gradients", "polynomial", lambda: (leaf(4), leaf(5), leaf(1), leaf(5))),
    "text": ("gradients", "polynomial", lambda: ("two", 8, -1, leaf(5))),
    "list": ("containers", "mix_float_4", lambda: ([leaf(4), leaf(4)], leaf(2, 4))),
    "field": ("structs", "raytrace", lambda: ({"pos": leaf(5, 3)}, leaf(5))),
    "other field": ("structs", "raytrace", lambda: ({"pos": leaf(5, 3), "q": leaf(5, 3)}, leaf(5))),
    "extent": ("structs", "raytrace", lambda: ({"pos": leaf(5, 4), "dir": leaf(5, 3)}, leaf(5))),
}


@pytest.mark.parametrize("what", REFUSED)
def test_watched_calls_are_refused_in_the_same_words(generated: Loader, what: str) -> None:
    name, function, given = REFUSED[what]
    call = getattr(generated(name), function).options(deterministic=None)
    with torch.no_grad():
        expected = refusal(kf.ArgumentError, lambda: call(*given()))
    assert refusal(kf.ArgumentError, lambda: call(*given())) == expected


@pytest.mark.parametrize("what", [one for one in REFUSED if "field" not in one])  # which show the tensors
def test_traced_calls_are_refused_in_the_same_words(generated: Loader, what: str) -> None:
    name, function, given = REFUSED[what]
    call = getattr(generated(name), function)
    with torch.no_grad():
        expected = refusal(kf.ArgumentError, lambda: call(*given()))
    assert refusal(kf.ArgumentError, lambda: faked(call, *given())) == expected


def test_wrong_last_extents_while_traced(generated: Loader) -> None:
    which = generated("conversions").which_rows
    assert faked(which, torch.ones(4, 3)).shape == (4,)
    expected = refusal(kf.ArgumentError, lambda: which(torch.ones(4, 5)))
    assert refusal(kf.ArgumentError, lambda: faked(which, torch.ones(4, 5))) == expected


def test_kinds_of_numbers_are_told_apart(gradients: ModuleType) -> None:
    """Where a call with another kind has been traced before."""
    assert faked(gradients.polynomial, 2, 8, -1, torch.ones(5)).shape == (5,)
    text = refusal(kf.ArgumentError, lambda: faked(gradients.polynomial, True, 8, -1, leaf(5)))
    assert "argument 'a': expected float, found a bool" in text


def test_symbolic_extents_broadcast_as_others(gradients: ModuleType) -> None:
    operator = gradients.polynomial.torch()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(operator, backend=counter, fullgraph=True, dynamic=True)
    for count in (3, 7, 11):
        x = torch.rand(count)
        given = torch.rand(1), torch.rand(count), torch.rand(1), x
        torch.testing.assert_close(compiled(*given), given[0] * x * x + given[1] * x + given[2])
    assert counter.frame_count == 1
    with pytest.raises(Exception, match="extent 5 doesn't broadcast with extent 4 of argument 'a'"):
        compiled(torch.rand(4), torch.rand(5), torch.rand(1), torch.rand(5))


def test_extents_that_depend_on_data(gradients: ModuleType) -> None:
    operator = gradients.polynomial.torch()

    def chosen(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        rows = x[x > 0]
        found: torch.Tensor = operator(a, a, a, rows) + operator(rows, a, a, rows)
        return found

    a, x = torch.ones(1), torch.tensor([1.0, -2, 3, 4])
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        found = torch.compile(chosen, backend="aot_eager", fullgraph=True)(a, x)
    torch.testing.assert_close(found, chosen(a, x))


def test_tensors_of_structs_while_traced(generated: Loader) -> None:
    structs = generated("torch_structs")
    rays, k = torch.rand(4, 2, 6), torch.rand(4)
    assert faked(structs.total, rays, k).shape == (4,)
    found = torch.compile(structs.total, backend="aot_eager", fullgraph=True)(rays, k)
    torch.testing.assert_close(found, structs.total(rays, k))
    text = refusal(kf.ArgumentError, lambda: faked(structs.total, torch.rand(4, 3, 6), k))
    assert "argument 'rays': expected Ray tensor[1], as a float32 torch.Tensor of shape [*, 2, 6]" in text
    assert "found one of shape [4, 3, 6]" in text


@pytest.mark.parametrize("v", [np.arange(3, dtype=np.float32), np.float32(2), np.int32(2)], ids=str)
def test_numpy_values_while_traced(generated: Loader, v: Any) -> None:
    scale = generated("conversions").scale
    x = torch.rand(4, 3)
    assert faked(scale, v, x).shape == (4, 3)
    torch.testing.assert_close(make_fx(lambda x: scale(v, x))(x)(x), scale(v, x))


def test_numpy_tensors_while_traced(gradients: ModuleType) -> None:
    k, x = np.arange(4, dtype=np.float32), torch.rand(4)
    assert faked(gradients.product, k, x).shape == (4,)
    torch.testing.assert_close(make_fx(lambda x: gradients.product(k, x))(x)(x), torch.from_numpy(k) * x)
    expected = refusal(kf.ArgumentError, lambda: gradients.product(np.ones(5), x))
    assert refusal(kf.ArgumentError, lambda: faked(gradients.product, np.ones(5), x)) == expected


def test_names_tell_overloads_apart(generated: Loader) -> None:
    """Where both take the tensor by place."""
    size = generated("torch_structs").size
    ray = torch.rand(4, 6)
    expected = size(ray=ray)
    assert expected.shape == (4,)
    torch.testing.assert_close(size(ray=leaf(4, 6)), size(ray=torch.ones(4, 6)))
    for given in ({"ray": ray.clone().requires_grad_()}, {"x": ray.clone().requires_grad_()}):
        (tensor,) = given.values()
        size(**given).sum().backward()
        assert tensor.grad is not None
        compiled = torch.compile(lambda given: size(**given), backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(compiled(given), size(**given))
    torch.testing.assert_close(size(ray=ray.clone().requires_grad_()), expected)


@pytest.mark.parametrize("other", [1, 1.5, np.float32(1)], ids=str)
def test_types_of_tensors_for_numbers_tell_overloads_apart(generated: Loader, other: Any) -> None:
    which = generated("number_types").of_pair
    for dtype, number in ((torch.float32, 232), (torch.float64, 264)):
        assert which(torch.tensor(1, dtype=dtype), other) == number
        assert which(leaf(dtype=dtype), other) == number


def test_lists_for_what_is_changed(gradients: ModuleType) -> None:
    """Autograd and operators would lose the changes."""
    change = gradients.square_in_place
    torch.testing.assert_close(change([1, 2, 3], torch.ones(3)), torch.tensor([1.0, 4, 9]))
    text = refusal(kf.ArgumentError, lambda: change([1, 2, 3], leaf(3)))
    assert "argument 'x': the call changes it, and autograd follows changes of torch.Tensors alone" in text
    text = refusal(kf.ArgumentError, lambda: faked(change, [1, 2, 3], torch.ones(3)))
    assert "argument 'x': a traced call changes torch.Tensors alone" in text


@pytest.mark.parametrize("of", [list, np.array], ids=["list", "array"])
def test_batches_beside_lists(gradients: ModuleType, of: Callable[..., Any]) -> None:
    k = of(np.arange(4, dtype=np.float32))
    for y in (torch.rand(2, 4), torch.rand(4, 1)):
        found = torch.func.vmap(lambda y: gradients.product(k, y))(y)
        torch.testing.assert_close(found, torch.arange(4.0) * y)


def test_what_tracing_cannot_read(gradients: ModuleType) -> None:
    text = refusal(kf.ArgumentError, lambda: faked(gradients.product, torch.tensor(2.0), torch.ones(3)))
    assert "argument 'x': expected a number, found a tensor: it would have to be read while" in text
    given = kf.Tensor(np.ones(3, np.float32))
    text = refusal(kf.ArgumentError, lambda: faked(gradients.product, given, torch.ones(3)))
    assert "argument 'x': a traced call takes a torch.Tensor, not a kf.Tensor" in text


def test_other_extents_of_values_while_traced(generated: Loader) -> None:
    mix, x = generated("containers").mix_float2x3, torch.ones(4, 2, 3)
    for given in ([[1, 2], [3, 4], [5, 6]], np.ones((3, 2), np.float32)):
        text = refusal(kf.ArgumentError, lambda given=given: mix(given, x))
        assert "argument 'a': a float2x3 has shape [2, 3], not [3, 2]" in text
        text = refusal(kf.ArgumentError, lambda given=given: faked(mix, given, x))
        assert "argument 'a': float2x3 has shape [2, 3], not [3, 2]" in text
