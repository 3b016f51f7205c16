"""GPU kernels from Slang functions, compiled ahead of time.

Generated modules load their kernels through this package and call them with kf tensors, NumPy
arrays, lists and numbers::

    import kernelfunctions as kf, polynomial
    x = kf.Tensor.from_numpy(np.array([1, 2, 3, 4], np.float32)).with_grads()
    y = polynomial.polynomial(2, 8, -1, x)
    polynomial.polynomial.backward(2, 8, -1, x, y)
    print(y.to_numpy(), x.grad.to_numpy())
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernelfunctions._generators import (
    Grid,
    RandFloat,
    Range,
    WangHash,
    grid,
    rand_float,
    range,
    wang_hash,
)
from kernelfunctions._kf import (
    ArgumentAttributeError,
    ArgumentError,
    ArgumentIndexError,
    ArgumentRuntimeError,
    ArgumentTypeError,
    ArtifactError,
    Backward,
    Batchable,
    Buffer,
    Device,
    DeviceError,
    DeviceInfo,
    Differentiable,
    Encoder,
    Error,
    Function,
    Fused,
    Graph,
    HookContext,
    Jvp,
    Module,
    Node,
    Prepared,
    RecordedCommands,
    Sampler,
    Tensor,
    Texture,
    UnlaunchedCall,
    __version__,
    default_device,
    devices,
    differentiable,
    is_batchable_like,
    load_module,
    set_device,
    set_options,
)
from kernelfunctions._modules import ModuleFunctions
from kernelfunctions._options import options
from kernelfunctions._profile import Profile, ProfiledCall, profile
from kernelfunctions._structs import BoundBackward, BoundFunction, BoundFused, BoundJvp, Method, Struct
from kernelfunctions._torch_functions import TorchFunctions
from kernelfunctions._words import Shape, get_function, is_differentiable_like

if TYPE_CHECKING:
    from kernelfunctions import torch as torch
    from kernelfunctions._vectors import *  # noqa: F403

__all__ = [
    "ArgumentAttributeError",
    "ArgumentError",
    "ArgumentIndexError",
    "ArgumentRuntimeError",
    "ArgumentTypeError",
    "ArtifactError",
    "Backward",
    "Batchable",
    "BoundBackward",
    "BoundFunction",
    "BoundFused",
    "BoundJvp",
    "Buffer",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "Differentiable",
    "Encoder",
    "Error",
    "Function",
    "Fused",
    "Graph",
    "Grid",
    "HookContext",
    "Jvp",
    "Method",
    "Module",
    "ModuleFunctions",
    "Node",
    "Prepared",
    "Profile",
    "ProfiledCall",
    "RandFloat",
    "Range",
    "RecordedCommands",
    "Sampler",
    "Shape",
    "Struct",
    "Tensor",
    "Texture",
    "TorchFunctions",
    "UnlaunchedCall",
    "WangHash",
    "__version__",
    "default_device",
    "devices",
    "differentiable",
    "get_function",
    "grid",
    "is_batchable_like",
    "is_differentiable_like",
    "load_module",
    "options",
    "profile",
    "rand_float",
    "range",
    "set_device",
    "set_options",
    "wang_hash",
]


def __getattr__(name: str) -> Any:
    """Imports PyTorch for kernelfunctions.torch, and NumPy for host vectors, once they are asked for."""
    if name == "torch":
        return import_module("kernelfunctions.torch")
    if name[-1:].isdigit():
        vectors = import_module("kernelfunctions._vectors")
        found = vars(vectors).get(name)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
