"""What calls of torch tensors refuse, before anything is launched."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def gradients(generated: Loader) -> ModuleType:
    return generated("gradients")


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


def ones(device: str) -> torch.Tensor:
    return torch.ones(5, device=device)


REFUSED: dict[str, tuple[Callable[[str], Any], str]] = {
    "bfloat16": (lambda device: ones(device).bfloat16(), "kernels have no dtype bfloat16"),
    "complex": (lambda device: ones(device).to(torch.complex64), "kernels have no dtype complex64"),
    "double": (lambda device: ones(device).double(), "expected scalar type Float but found Double"),
    "half": (lambda device: ones(device).half(), "expected scalar type Float but found Half"),
    "sparse": (lambda device: ones(device).to_sparse(), "a tensor of layout torch.sparse_coo is given"),
    "meta": (lambda _: ones("meta"), "a meta tensor is given, which has no elements"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_inputs_and_outputs_that_no_kernel_reads(gradients: ModuleType, torch_device: str, what: str) -> None:
    make, text = REFUSED[what]
    y = torch.full((5,), -7.0, device=torch_device)
    with pytest.raises(kf.ArgumentError, match=f"argument 'x': .*{text}"):
        gradients.polynomial(2, 8, -1, make(torch_device), out=y)
    assert torch.equal(y, torch.full_like(y, -7))
    with pytest.raises(kf.ArgumentError, match=text):
        gradients.polynomial(2, 8, -1, ones(torch_device), out=make(torch_device))


def test_shapes(gradients: ModuleType, torch_device: str) -> None:
    y = torch.full((4,), -7.0, device=torch_device)
    with pytest.raises(kf.ArgumentError, match="'result': an output is never broadcast"):
        gradients.polynomial(2, 8, -1, ones(torch_device), out=y)
    with pytest.raises(kf.ArgumentError, match="'result'"):
        gradients.polynomial(2, 8, -1, ones(torch_device), out=y[:1].expand(5))
    assert torch.equal(y, torch.full_like(y, -7))


def test_tensors_without_memory(gradients: ModuleType, torch_device: str) -> None:
    """PyTorch's reason is its error's first line, without the C++ functions behind it."""
    batch = torch._add_batch_dim(torch.ones(2, 5, device=torch_device), 0, 1)
    with pytest.raises(kf.ArgumentError, match="argument 'x': it can't be read: ") as caught:
        gradients.polynomial(2, 8, -1, batch)
    assert "\n" not in str(caught.value)


def test_the_nearest_overload_is_named(gradients: ModuleType, generated: Loader, torch_device: str) -> None:
    """Also where autograd looks on, and chooses among overloads itself."""
    cure = "expected scalar type Float but found Double; to(torch.float32) converts it"
    leaf = ones(torch_device).double().requires_grad_()
    for x in (leaf, leaf.detach()):
        with pytest.raises(TypeError) as caught:
            gradients.polynomial(2, 8, -1, x)
        assert cure in str(caught.value)
        assert "\n  and 7 more" in str(caught.value)
    x = ones(torch_device).requires_grad_()
    for given, text in (
        ((x,), "argument 'y': not given"),
        ((x, x, x), "3 positional arguments where at most 2"),
    ):
        with pytest.raises(TypeError, match=f"^product: {text}"):
            gradients.product(*given)


@pytest.mark.parametrize("watched", [False, True])
def test_wrong_extents(generated: Loader, torch_device: str, watched: bool) -> None:
    """One error, whether a call like it was made before or not."""
    raytrace = generated("structs").raytrace
    function = raytrace.options(deterministic=None)
    x = ones(torch_device)
    wide = torch.ones(5, 4, device=torch_device, requires_grad=watched)
    for call in (function, function, function.torch()):
        for _ in range(2):
            with pytest.raises(kf.ArgumentError) as caught:
                call({"pos": wide, "dir": wide[:, :3]}, x)
            assert type(caught.value) is kf.ArgumentError
            assert caught.value.code == "shape-mismatch"
            assert str(caught.value) == (
                "raytrace: argument 'ray.pos': dimension 1 of shape [5, 4]: expected extent 3, found 4"
            )
        raytrace({"pos": wide[:, :3], "dir": wide[:, :3]}, x)


def test_mixed_devices(gradients: ModuleType, torch_device: str) -> None:
    if torch_device == "cpu":
        pytest.skip("needs a GPU")
    text = (
        "polynomial: argument 'x': expected all tensors to be on the same device, but found at least two "
        f"devices, cpu and {ones(torch_device).device} (argument 'a')"
    )
    with pytest.raises(RuntimeError) as caught:
        gradients.polynomial(ones(torch_device), 8, -1, ones("cpu"))
    assert str(caught.value) == text
    # One number may be anywhere, as in PyTorch.
    y = gradients.polynomial(2, 8, -1, ones(torch_device))
    assert torch.equal(gradients.polynomial(torch.tensor(2.0), 8, -1, ones(torch_device)), y)


def test_outputs_where_autograd_looks_on(gradients: ModuleType, calls: ModuleType, torch_device: str) -> None:
    leaf = ones(torch_device).requires_grad_()
    text = (
        "functions with out=... arguments don't support automatic differentiation, but one of the arguments"
    )
    with pytest.raises(RuntimeError, match=text):
        gradients.polynomial(2, 8, -1, leaf, out=ones(torch_device))
    with pytest.raises(RuntimeError, match=text):
        gradients.polynomial(2, 8, -1, ones(torch_device), out=leaf)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        calls.advance(leaf, 0.5)
    with torch.inference_mode():
        made = ones(torch_device)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            gradients.polynomial(2, 8, -1, ones(torch_device), out=made)
    assert torch.equal(made, torch.ones_like(made))
    with torch.inference_mode():
        gradients.polynomial(2, 8, -1, ones(torch_device), out=made)
    with pytest.raises(kf.ArgumentError, match="'result': it is written, and is a negative view"):
        gradients.polynomial(2, 8, -1, ones(torch_device), out=torch._neg_view(ones(torch_device)))


def test_autograd_notices_what_is_written(gradients: ModuleType, torch_device: str) -> None:
    saved = ones(torch_device)
    y = (ones(torch_device).requires_grad_() * saved).sum()
    gradients.polynomial(2, 8, -1, ones(torch_device), out=saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_recorded_calls(gradients: ModuleType, torch_device: str) -> None:
    if torch_device != "cpu":
        pytest.skip("tensors of the CPU are refused")
    encoder = kf.default_device().encoder()
    with pytest.raises(kf.ArgumentError, match=r"give a kf\.Tensor, not a torch.Tensor on the CPU"):
        gradients.polynomial.append_to(encoder, 2, 8, -1, kf.Tensor([1.0]), out=torch.ones(1))
    with pytest.raises(kf.ArgumentError, match=r"give a kf\.Tensor instead of a torch.Tensor on the CPU"):
        gradients.polynomial.prepare(2, 8, -1, torch.ones(1))
    with pytest.raises(RuntimeError, match="a recorded call isn't followed by autograd"):
        gradients.polynomial.append_to(encoder, 2, 8, -1, torch.ones(1, requires_grad=True))


WITHOUT_EXCHANGE = """
import sys, torch
del torch.Tensor.__dlpack_c_exchange_api__
from kf_gradients import gradients
x = torch.arange(5, dtype=torch.float32, device=sys.argv[1])
y = torch.empty_like(x)
assert gradients.polynomial(2, 8, -1, x, out=y) is y
assert torch.equal(y, 2 * x * x + 8 * x - 1)
assert torch.equal(gradients.polynomial(2, 8, -1, x[::2]), y[::2])
leaf = x.clone().requires_grad_()
gradients.polynomial(2, 8, -1, leaf).sum().backward()
assert torch.equal(leaf.grad, 4 * x + 8)
try:
    gradients.polynomial(2, 8, -1, x.bfloat16())
except TypeError as error:
    assert "argument 'x': kernels have no dtype bfloat16" in str(error), error
"""


def test_without_the_exchange_interface(generated: Loader, torch_device: str) -> None:
    """As in PyTorch before 2.10."""
    folder = Path(str(generated("gradients").__file__)).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])}
    command = [sys.executable, "-c", WITHOUT_EXCHANGE, torch_device]
    subprocess.run(command, env=environment, check=True, timeout=120)
