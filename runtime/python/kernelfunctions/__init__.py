"""GPU kernels from Slang functions, compiled ahead of time.

Generated modules load their kernels through this package and call them with kf tensors, NumPy
arrays, lists and numbers::

    import kernelfunctions as kf, polynomial
    x = kf.Tensor.from_numpy(np.array([1, 2, 3, 4], np.float32)).with_grads()
    y = polynomial.polynomial(2, 8, -1, x)
    polynomial.polynomial.backward(2, 8, -1, x, y)
    print(y.to_numpy(), x.grad.to_numpy())
"""

from kernelfunctions._kf import (
    ArgumentAttributeError,
    ArgumentError,
    ArgumentIndexError,
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
    Grid,
    HookContext,
    Jvp,
    Module,
    RandFloat,
    Range,
    RecordedCommands,
    Tensor,
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
from kernelfunctions._structs import BoundBackward, BoundFunction, BoundFused, BoundJvp, Method, Struct

__all__ = [
    "ArgumentAttributeError",
    "ArgumentError",
    "ArgumentIndexError",
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
    "Grid",
    "HookContext",
    "Jvp",
    "Method",
    "Module",
    "ModuleFunctions",
    "RandFloat",
    "Range",
    "RecordedCommands",
    "Struct",
    "Tensor",
    "UnlaunchedCall",
    "WangHash",
    "__version__",
    "default_device",
    "devices",
    "differentiable",
    "grid",
    "load_module",
    "options",
    "rand_float",
    "range",
    "set_device",
    "set_options",
    "wang_hash",
]
