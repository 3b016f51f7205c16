"""torch.save() and processes that load: functions, operators, structs of tensors and modules of them."""

import copy
import io
import pickle
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
import torch
from loader import Loader
from torch.utils.data import DataLoader


@pytest.fixture(scope="module")
def members(generated: Loader) -> Any:
    return generated("members")


@pytest.fixture(scope="module")
def scene(generated: Loader) -> Any:
    return generated("globals")


def saved(value: Any) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def loaded(data: bytes, *, weights_only: bool = False) -> Any:
    return torch.load(io.BytesIO(data), weights_only=weights_only)


def test_functions_and_operators(scene: Any) -> None:
    shade = scene.shade.set(tint=[1.0, 2.0, 3.0])
    held = loaded(saved({"plain": scene.shade, "set": shade, "operator": shade.torch()}))
    assert held["plain"] is scene.shade
    np.testing.assert_array_equal(held["set"](2.0), [2, 4, 6])
    np.testing.assert_array_equal(held["operator"](2.0), [2, 4, 6])
    assert type(held["operator"]) is kf.torch.Operator
    assert repr(copy.deepcopy(shade.torch())) == repr(shade.torch())


def test_structs_of_tensors(members: Any, torch_device: str) -> None:
    table = torch.arange(5, dtype=torch.float32, device=torch_device)
    i = torch.tensor([1, 3], dtype=torch.int32, device=torch_device)
    lookup = members.Lookup(table=table, scale=2.0)
    for other in (loaded(saved(lookup)), copy.deepcopy(lookup)):
        assert type(other) is members.Lookup
        assert other.table is not table
        torch.testing.assert_close(other.at.torch()(i), torch.tensor([2.0, 6.0], device=torch_device))
    at = loaded(saved(lookup.at.torch()))
    torch.testing.assert_close(at(i), torch.tensor([2.0, 6.0], device=torch_device))


def test_what_weights_only_loads(members: Any, torch_device: str) -> None:
    module = kf.torch.module(members.Lookup(table=torch.ones(3, device=torch_device), scale=2.0).at)
    state = loaded(saved(module.state_dict()), weights_only=True)
    assert list(state) == ["this.table"]
    module.load_state_dict(state)
    for value in (module, members.Lookup.at, module.this):
        with pytest.raises(pickle.UnpicklingError, match="weights_only"):
            loaded(saved(value), weights_only=True)


def test_hooks_are_refused(scene: Any) -> None:
    module = kf.torch.module(scene.shade.hook(print), {"x": 1.0})
    with pytest.raises(TypeError, match=r"shade has hooks; pickle what hook\(\) was called on"):
        saved(module)


class Shaded:
    """A data set whose items a function makes, in the worker that asks for them."""

    def __init__(self, function: Any, module: bytes) -> None:
        self.function = function
        self.module = module

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        i = torch.tensor([index], dtype=torch.int32)
        return torch.from_numpy(self.function(float(index))), loaded(self.module)(i).detach()


def test_workers_of_a_data_loader(scene: Any, members: Any) -> None:
    """Spawned processes load the function and the module, and open a device of their own."""
    module = kf.torch.module(members.Lookup(table=torch.arange(3.0), scale=2.0).at)
    shaded = Shaded(scene.shade.set(tint=[1.0, 2.0, 3.0]), saved(module))
    batches = DataLoader(shaded, batch_size=2, num_workers=1, multiprocessing_context="spawn")
    (colors, values) = next(iter(batches))
    torch.testing.assert_close(colors, torch.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]))
    torch.testing.assert_close(values, torch.tensor([[0.0], [2.0]]))
