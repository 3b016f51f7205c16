"""Arguments of PyTorch's operators called by every word that Python and calls keep for themselves."""

import keyword
from types import ModuleType

import pytest
import torch
from loader import Loader


@pytest.fixture(scope="module")
def every_word(generated: Loader) -> ModuleType:
    return generated("every_word")


def parameters(module: ModuleType) -> list[str]:
    import inspect  # noqa: PLC0415

    names = list(inspect.signature(module.python_words).parameters)
    return names[: names.index("out")]


def test_autograd_follows_what_goes_by_name(every_word: ModuleType, torch_device: str) -> None:
    names = parameters(every_word)
    assert {"lambda_", "from_", "self_", "out_", "shape_", "stream_", "tangents_"} <= set(names)
    assert not any(map(keyword.iskeyword, names))
    given = {name: torch.full((3,), 2.0, device=torch_device, requires_grad=True) for name in names}
    every_word.python_words(**given).sum().backward()
    for i, tensor in enumerate(given.values()):
        assert tensor.grad is not None
        assert torch.equal(tensor.grad, torch.full_like(tensor, i + 1))


def test_operators_call_them_so(every_word: ModuleType) -> None:
    every_word.torch.register()
    schema = torch.ops.every_word.python_words.default._schema
    assert [one.name for one in schema.arguments] == parameters(every_word)
