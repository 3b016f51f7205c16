"""Tensors between PyTorch and kf.Tensor, and what PyTorch's exchange API does with special ones."""

import ctypes
import gc
from collections.abc import Callable
from typing import Any

import dlpack_by_hand as by_hand
import kernelfunctions as kf
import pytest
import torch

DTYPES = [
    *(torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8),
    *(torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.float32, torch.float64),
]
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t(),
    "sliced": lambda t: t[1:, 2:5],
    "strided": lambda t: t[::2, 1::3],
    "expanded": lambda t: t[:1].expand(3, 6),
    "empty": lambda t: t[:, :0],
    "one row": lambda t: t[2],
    "one element": lambda t: t[1, 1],
    "channels last": lambda t: t.reshape(1, 2, 2, 6).contiguous(memory_format=torch.channels_last),
}


@pytest.fixture(scope="module", autouse=True)
def same_device(torch_device: str) -> None:
    if torch_device == "cuda" and kf.default_device().backend != "cuda":
        pytest.skip("needs a GPU with CUDA as the default device")


def numbers(dtype: torch.dtype, device: str) -> torch.Tensor:
    """A matrix of numbers amid others."""
    whole = torch.arange(64, device=device) % (2 if dtype is torch.bool else 100)
    return whole.to(dtype)[8:32].view(4, 6)


def is_shared(tensor: torch.Tensor, other: kf.Tensor) -> bool:
    return bool(tensor.data_ptr() == other.address)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors_come_in(dtype: torch.dtype, layout: str, torch_device: str) -> None:
    given = LAYOUTS[layout](numbers(dtype, torch_device))
    tensor = kf.Tensor.from_dlpack(given)
    assert (tensor.shape, str(tensor.dtype)) == (tuple(given.shape), str(dtype).removeprefix("torch."))
    assert tensor.to_numpy().tolist() == given.tolist()
    if given.is_cuda:
        assert is_shared(given, tensor)
        assert tensor.strides == given.stride()
        kf.Tensor.from_dlpack(given, copy=False)
        assert not is_shared(given, kf.Tensor.from_dlpack(given, copy=True)) or given.numel() == 0
        return
    if kf.default_device().info.is_cpu:
        shared = kf.Tensor.from_dlpack(given, copy=False)
        if layout == "contiguous":
            given.view(torch.uint8).fill_(1)
        assert shared.to_numpy().tolist() == given.tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", [kf.Tensor, kf.Buffer])
def test_tensors_go_out(dtype: torch.dtype, kind: Any, torch_device: str) -> None:
    given = numbers(dtype, torch_device)
    ours = kind.from_dlpack(given, copy=True)
    result = torch.from_dlpack(ours)
    assert (result.dtype, result.device) == (dtype, given.device)
    assert torch.equal(result, given)
    if kind is kf.Tensor:
        assert torch.equal(torch.from_dlpack(ours[1:, 1::2]), given[1:, 1::2])
        assert torch.from_dlpack(ours[:, :0]).shape == (4, 0)
        assert torch.equal(torch.from_dlpack(ours[1, 1]), given[1, 1])
    if given.is_cuda:
        assert result.data_ptr() == ours.address
    else:
        result[...] = 0
        assert torch.equal(torch.from_dlpack(ours), given), "the CPU's is a copy"


def test_old_capsules(torch_device: str) -> None:
    given = numbers(torch.float32, torch_device)
    assert kf.Tensor.from_dlpack(torch.utils.dlpack.to_dlpack(given)).to_numpy().tolist() == given.tolist()
    ours = kf.Tensor.from_dlpack(given)
    assert torch.equal(torch.from_dlpack(ours.__dlpack__()), given)


def test_memory_stays_as_long_as_it_is_needed(torch_device: str) -> None:
    given = torch.arange(1000, dtype=torch.float32, device=torch_device)
    tensor = kf.Tensor.from_dlpack(given)
    expected = given.tolist()
    del given
    gc.collect()
    others = [torch.full((1000,), -1.0, device=torch_device) for _ in range(10)]
    assert tensor.to_numpy().tolist() == expected
    result = torch.from_dlpack(tensor)
    del tensor, others
    kf.default_device().wait()
    more = [kf.Tensor.zeros((1000,)) for _ in range(10)]
    assert result.tolist() == expected
    del more


PLAIN: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a parameter": lambda t: torch.nn.Parameter(t).detach(),
    "a subclass": lambda t: t.as_subclass(type("Sub", (torch.Tensor,), {})),
    "negated": lambda t: torch.complex(t, t).conj().imag,
    "negated by hand": torch._neg_view,
    "a buffer of parameters": torch.nn.Buffer,
}


@pytest.mark.parametrize("name", PLAIN)
def test_tensors_that_are_nearly_plain(name: str, torch_device: str) -> None:
    given = PLAIN[name](numbers(torch.float32, torch_device))
    assert kf.Tensor.from_dlpack(given).to_numpy().tolist() == given.tolist()


def test_inference_tensors(torch_device: str) -> None:
    with torch.inference_mode():
        given = numbers(torch.float32, torch_device) + 1
        assert kf.Tensor.from_dlpack(given).to_numpy().tolist() == given.tolist()


REFUSED: dict[str, tuple[Callable[[torch.Tensor], Any], type[Exception], str]] = {
    "bfloat16": (lambda t: t.bfloat16(), kf.ArgumentTypeError, "kernels have no dtype bfloat16"),
    "complex64": (lambda t: torch.complex(t, t), kf.ArgumentTypeError, "kernels have no dtype complex64"),
    "float8": (lambda t: t.to(torch.float8_e5m2), kf.ArgumentTypeError, "kernels have no dtype float8_e5m2"),
    "conjugate": (lambda t: torch.complex(t, t).conj(), Exception, "conjugate bit|no dtype complex64"),
    "gradients": (lambda t: t.clone().requires_grad_(), BufferError, "use tensor.detach()"),
    "a result with gradients": (lambda t: t.clone().requires_grad_() + 1, BufferError, "use tensor.detach()"),
    "sparse": (lambda t: t.to_sparse(), Exception, "layout other than torch.strided|have storage"),
    "meta": (lambda t: t.to("meta"), Exception, "meta"),
    "many dimensions": (lambda t: t.reshape(*[1] * 30, 24), kf.ArgumentTypeError, "31 dimensions; at most"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_tensors_that_are_refused(name: str, torch_device: str) -> None:
    make, error, text = REFUSED[name]
    given = make(numbers(torch.float32, torch_device))
    with pytest.raises(error, match=text):
        kf.Tensor.from_dlpack(given)


def test_many_exchanges_keep_nothing(torch_device: str) -> None:
    given = torch.arange(1000, dtype=torch.float32, device=torch_device)
    kept = []
    for _ in range(2000):
        tensor = kf.Tensor.from_dlpack(given)
        result = torch.from_dlpack(tensor)
        kept = [tensor, result]
    assert torch.equal(kept[1], given)
    if torch_device == "cuda":
        torch.cuda.synchronize()
        assert torch.cuda.memory_allocated() < 1 << 20


# --- What the exchange API does, which reading tensors by it rests on ---------------------------


@pytest.fixture(scope="module")
def read() -> Callable[[torch.Tensor], by_hand.Tensor | None]:
    """Reads a tensor; returns nothing where PyTorch raises."""
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("needs PyTorch 2.10 or newer, which has the exchange API")
    capsule = torch.Tensor.__dlpack_c_exchange_api__
    api = by_hand.ExchangeApi.from_address(
        by_hand.python.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api")
    )

    def read(tensor: torch.Tensor) -> by_hand.Tensor | None:
        found = by_hand.Tensor()
        try:
            return found if api.fill(tensor, ctypes.byref(found)) == 0 else None
        except (RuntimeError, BufferError, TypeError, ValueError):
            return None

    return read


def test_what_is_read_as_plain(read: Any, torch_device: str) -> None:
    plain = torch.arange(6.0, device=torch_device).reshape(2, 3)
    forms = [
        plain,
        plain.clone().requires_grad_(),
        plain.clone().requires_grad_() * 2,
        torch.nn.Parameter(plain),
        plain.as_subclass(type("Sub", (torch.Tensor,), {})),
        torch._neg_view(plain),  # with the wrong signs: is_neg() alone tells
    ]
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(plain, plain)
        found = read(dual)
        assert found.data == plain.data_ptr()
    for form in forms:
        found = read(form)
        assert (found.data, found.byte_offset) == (form.data_ptr(), 0)
        assert found.strides[:2] == list(form.stride())
    assert forms[-1].is_neg()
    assert read(plain[:, :0]).data is None


def test_what_has_no_memory(read: Any, torch_device: str) -> None:
    plain = torch.arange(6.0, device=torch_device).reshape(2, 3)
    seen: dict[str, Any] = {}

    def look(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
        def inside(tensor: torch.Tensor) -> torch.Tensor:
            seen[name] = read(tensor)
            return tensor.sum()

        return inside

    torch.func.vmap(look("vmap"))(plain)
    torch.func.grad(look("grad"))(plain)
    torch.func.jvp(look("jvp"), (plain,), (plain,))
    torch.func.functionalize(look("functionalize"))(plain)
    with torch._subclasses.FakeTensorMode() as mode:
        seen["fake"] = read(mode.from_tensor(plain))
    seen["zero"] = read(torch._efficientzerotensor((3,)))
    seen["meta"] = read(plain.to("meta"))
    seen["sparse"] = read(plain.to_sparse())
    for name, found in seen.items():
        assert found is None or found.data is None, name
