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

from kernelfunctions._kf import (
    ArgumentAttributeError,
    ArgumentError,
    ArgumentIndexError,
    ArgumentRuntimeError,
    ArgumentTypeError,
    ArtifactError,
    Backward,
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
    Grid,
    HookContext,
    Jvp,
    Module,
    Node,
    Prepared,
    RandFloat,
    Range,
    RecordedCommands,
    Sampler,
    Tensor,
    Texture,
    UnlaunchedCall,
    WangHash,
    __version__,
    default_device,
    devices,
    differentiable,
    grid,
    load_module,
    rand_float,
    range,
    set_device,
    set_options,
    wang_hash,
)
from kernelfunctions._modules import ModuleFunctions
from kernelfunctions._options import options
from kernelfunctions._profile import Profile, ProfiledCall, profile
from kernelfunctions._structs import BoundBackward, BoundFunction, BoundFused, BoundJvp, Method, Struct
from kernelfunctions._torch_functions import TorchFunctions

if TYPE_CHECKING:
    from kernelfunctions import torch as torch

__all__ = [
    "ArgumentAttributeError",
    "ArgumentError",
    "ArgumentIndexError",
    "ArgumentRuntimeError",
    "ArgumentTypeError",
    "ArtifactError",
    "Backward",
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
    "grid",
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
    """Imports kernelfunctions.torch, and PyTorch with it, once it is asked for."""
    if name != "torch":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("kernelfunctions.torch")
