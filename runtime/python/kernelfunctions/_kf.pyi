"""The extension module: see the C++ headers kf/*.h for the contracts underneath."""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import Token
from types import EllipsisType, TracebackType
from typing import Any, Generic, Literal, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import CapsuleType, Self

from kernelfunctions._generators import Grid as Grid
from kernelfunctions._generators import RandFloat as RandFloat
from kernelfunctions._generators import Range as Range
from kernelfunctions._generators import WangHash as WangHash
from kernelfunctions._generators import grid as grid
from kernelfunctions._generators import rand_float as rand_float
from kernelfunctions._generators import range as range
from kernelfunctions._generators import wang_hash as wang_hash
from kernelfunctions._kf_torch import *  # noqa: F403
from kernelfunctions.torch import Operator
from kernelfunctions.typing import ArrayRequest, Stream, TensorRequest, TorchRequest

__version__: str

class Error(Exception):
    """Anything that kernelfunctions refuses or a driver reports."""

    code: str
    """A stable id in kebab case: "shape-mismatch"."""
    native_code: int
    """The driver's own number; 0 when the error isn't a driver's."""

class ArgumentError(Error, ValueError):
    """An argument's shape or value is wrong; nothing was launched."""

class ArgumentRuntimeError(ArgumentError, RuntimeError):
    """Arguments are on different devices or overlap, or what was asked for has no kernel: a derivative."""

class ArgumentTypeError(ArgumentError, TypeError):
    """An argument's type, dtype, rank or name is wrong; nothing was launched."""

class ArgumentIndexError(ArgumentError, IndexError):
    """An index or a dimension is out of range."""

class ArgumentAttributeError(ArgumentError, AttributeError):
    """A struct has no field of that name."""

class ArtifactError(Error):
    """A .kfa file is missing, altered, truncated, newer than this runtime, or has no image that fits."""

class DeviceError(Error):
    """A driver or a device failed, or there is none."""

class DeviceInfo:
    """A device that is there, opened or not. Open it with Device.open(info.id)."""

    @property
    def id(self) -> str:
        """What Device.open() takes: "vulkan:0"."""
    @property
    def backend(self) -> str: ...
    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def is_cpu(self) -> bool: ...
    @property
    def memory(self) -> int:
        """The device's memory, in bytes."""
    @property
    def features(self) -> list[str]:
        """Those that kernels may need, sorted."""

class Device:
    """An open device. Thread-safe; closed when the last tensor, encoder and name of it is gone."""

    @staticmethod
    def open(name: str | None = None) -> Device:
        """Opens "cuda:0", "vulkan:1" or "vulkan:llvmpipe" (part of a name); None: the best there is. Raises
        DeviceError (no-driver, no-device)."""
    @property
    def info(self) -> DeviceInfo: ...
    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @staticmethod
    def adopt(
        *,
        instance: int,
        physical_device: int,
        device: int,
        queue: int,
        queue_family: int = 0,
        features: Sequence[str] = ...,
        owner: object = None,
    ) -> Device:
        """Uses your own Vulkan device, by its handles.

        `features`: what it was created with, as in DeviceInfo.features; by default all that the physical
        device has. `owner` is kept alive with it.
        """
    @property
    def check(self) -> Literal["nan"] | None:
        """What is looked for in each call: "nan" or None. KF_CHECK says it when a device is opened."""
    @check.setter
    def check(self, check: Literal["nan"] | None) -> None: ...
    def encoder(self, *, stream: Stream | None = None, command_buffer: int | None = None) -> Encoder:
        """A list of calls to record with append_to() and run with submit().

        On a CUDA stream of yours where `stream` is given. `command_buffer`, the handle of a VkCommandBuffer
        that you are recording and submit yourself, takes the calls as they come, up to finish().
        """
    def flush(self) -> None:
        """Submits the calls issued so far, without waiting."""
    def wait(self) -> None:
        """Waits for all calls issued so far, prints kernels' lines, and raises what else they report."""

def devices() -> list[DeviceInfo]:
    """Every device of every driver on this machine; empty where there is no driver."""

def set_device(device: Device | str | None) -> None:
    """Makes a device the default; None goes back to KF_DEVICE or the best there is."""

def set_options(*, deterministic: bool | None = ...) -> None:
    """Sets options of all functions, for which neither their own options() nor kf.options() say otherwise."""

def _optional_method(property: property, method: Callable[..., Any]) -> Any: ...
def _enter_options(*, deterministic: bool | None = ...) -> Token[Any]: ...
def _leave_options(token: Token[Any], /) -> None: ...
def _named_globals(owner: str, names: list[str], given: Mapping[str, Any] | None) -> dict[str, Any]: ...
def default_device() -> Device:
    """The device that set_device() named, else KF_DEVICE's, else the best there is; opened once."""

_Index: TypeAlias = SupportsIndex | slice | EllipsisType | None
_Extents: TypeAlias = int | Sequence[int]
_Grad: TypeAlias = Tensor | npt.NDArray[Any] | None

class Buffer:
    """Device memory whose elements lie one after the other. Calls write to it only if it is `writable`.

    A buffer can be passed wherever a call takes a tensor.
    """

    @staticmethod
    def from_numpy(a: npt.NDArray[Any], writable: bool = False, *, device: Device | None = None) -> Buffer:
        """A copy of `a` on a device."""
    @staticmethod
    def from_dlpack(
        x: Any, writable: bool = False, *, device: Device | None = None, copy: bool | None = None
    ) -> Buffer:
        """The tensor of another library, as Tensor.from_dlpack() takes it; copied, too, where it isn't
        contiguous."""
    @staticmethod
    def empty(
        n: int | Sequence[int],
        dtype: npt.DTypeLike | None = None,
        writable: bool = True,
        *,
        device: Device | None = None,
    ) -> Buffer:
        """Uninitialised; dtype is float32 by default."""
    @staticmethod
    def zeros(
        n: int | Sequence[int],
        dtype: npt.DTypeLike | None = None,
        writable: bool = True,
        *,
        device: Device | None = None,
    ) -> Buffer: ...
    def to_numpy(self) -> npt.NDArray[Any]:
        """A new array; waits for what writes the buffer."""
    def copy_from_numpy(self, a: npt.NDArray[Any]) -> None:
        """Overwrites the buffer in place; shape and dtype must be the same."""
    def tensor(self) -> Tensor:
        """The same memory as a kf.Tensor; of writable buffers."""
    @property
    def writable(self) -> bool: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def size(self) -> int:
        """Number of elements."""
    @property
    def nbytes(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def device(self) -> Device: ...
    def __len__(self) -> int: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A DLPack capsule of the memory of a CUDA device, for which `stream` then waits, or of a copy on the
        CPU."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """(2, index) on CUDA devices; else (1, 0), the CPU, where others get a copy."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory of a CUDA device, in version 3 of the protocol; no such attribute on others."""
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

class Tensor:
    """An n-dimensional array in device memory, or a view of one.

    Vectors are trailing dimensions: what a kernel takes as a tensor of float3 of rank 1 is a
    float32 tensor of shape (n, 3).
    """

    def __init__(
        self,
        a: npt.ArrayLike,
        dtype: npt.DTypeLike | None = None,
        *,
        device: Device | None = None,
        name: str | None = None,
    ) -> None:
        """Copies an array or nested lists to a device. Python floats become float32, ints int32."""
    @staticmethod
    def numpy(device: Device | None, a: npt.ArrayLike) -> Tensor:
        """from_numpy(a, device)."""
    @staticmethod
    def from_numpy(a: npt.NDArray[Any], device: Device | None = None, *, name: str | None = None) -> Tensor:
        """A contiguous copy of `a` (any strides) on a device."""
    @staticmethod
    def from_dlpack(x: Any, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
        """The tensor of another library, by DLPack or __cuda_array_interface__: on its own CUDA device the
        same memory, else a copy.

        `copy`: True, False (refused where the memory can't be shared) or None.
        """
    @overload
    @staticmethod
    def empty(
        shape: _Extents, dtype: npt.DTypeLike = ..., *, device: Device | None = None, name: str | None = None
    ) -> Tensor:
        """Uninitialised; dtype is float32 by default."""
    @overload
    @staticmethod
    def empty(
        device: Device, shape: _Extents, dtype: npt.DTypeLike = ..., *, name: str | None = None
    ) -> Tensor:
        """The same, with the device first."""
    @overload
    @staticmethod
    def zeros(
        shape: _Extents, dtype: npt.DTypeLike = ..., *, device: Device | None = None, name: str | None = None
    ) -> Tensor:
        """All elements 0; dtype is float32 by default."""
    @overload
    @staticmethod
    def zeros(
        device: Device, shape: _Extents, dtype: npt.DTypeLike = ..., *, name: str | None = None
    ) -> Tensor:
        """The same, with the device first."""
    @overload
    @staticmethod
    def ones(
        shape: _Extents, dtype: npt.DTypeLike = ..., *, device: Device | None = None, name: str | None = None
    ) -> Tensor:
        """All elements 1; dtype is float32 by default."""
    @overload
    @staticmethod
    def ones(
        device: Device, shape: _Extents, dtype: npt.DTypeLike = ..., *, name: str | None = None
    ) -> Tensor:
        """The same, with the device first."""
    def to_numpy(self) -> npt.NDArray[Any]:
        """A new C-contiguous array; waits for what writes the tensor."""
    def copy_from_numpy(self, a: npt.NDArray[Any]) -> None:
        """Overwrites the tensor in place; shape and dtype must be the same."""
    def fill(self, value: float) -> None:
        """Sets all elements to one number, in place."""
    def clear(self) -> None:
        """Sets all elements to 0, in place."""
    def zero_grad(self) -> None:
        """Sets the gradients to 0, in place."""
    def broadcast_to(self, shape: int | Sequence[int]) -> Tensor:
        """A read-only view with stride 0 along the new and widened dimensions."""
    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """A row-major view of another shape; contiguous tensors only."""
    def view(self, dtype: npt.DTypeLike | type[Any]) -> Tensor:
        """The same memory as elements of another dtype, or of a generated struct class.

        Smaller elements become a new last dimension; larger ones take the last dimensions, or a part of the
        last one.
        """
    def transpose(self, *axes: int) -> Tensor:
        """A view with its dimensions permuted; reversed when no axes are given."""
    def item(self) -> bool | int | float:
        """The value of a tensor of one element, which float() and int() take, too."""
    def tolist(self) -> Any:
        """to_numpy().tolist()."""
    def with_grads(self, zero: bool = True, *, grad_in: _Grad = None, grad_out: _Grad = None) -> Tensor:
        """The same data with gradients: those given, else one new buffer for both, zeroed when `zero`.

        A NumPy array that is given is copied: calls add to the tensor's gradient, not to the array.
        As an input of a backward call a tensor's `grad_out` receives its gradient; as an output its
        `grad_in` is where the gradient flows in.
        """
    def buffer(self, writable: bool = True) -> Buffer:
        """The same memory as a kf.Buffer, without its gradients; of contiguous tensors."""
    def detach(self) -> Tensor:
        """The same data without gradients."""
    @property
    def T(self) -> Tensor: ...  # noqa: N802
    @property
    def grad(self) -> Tensor | None:
        """`grad_out` if there is one, else `grad_in`."""
    @property
    def grad_in(self) -> Tensor | None: ...
    @property
    def grad_out(self) -> Tensor | None: ...
    @property
    def needs_grad(self) -> bool:
        """Whether backward calls add a gradient to it: whether it has one."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]:
        """In elements, not bytes."""
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int:
        """Number of elements."""
    @property
    def nbytes(self) -> int: ...
    @property
    def is_contiguous(self) -> bool: ...
    @property
    def address(self) -> int:
        """Device address of the first element."""
    @property
    def device(self) -> Device: ...
    @property
    def name(self) -> str | None: ...
    def __getitem__(self, index: _Index | tuple[_Index, ...]) -> Tensor:
        """A view, by integers, slices, None and ...; arrays of indices aren't supported."""
    def __setitem__(self, index: _Index | tuple[_Index, ...], value: float | npt.NDArray[Any]) -> None:
        """Overwrites a part: with one number, or an array of its shape and dtype."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __eq__(self, other: object) -> bool:
        """Refused for tensors, arrays and numbers: to_numpy() gives what can be compared."""
    def __hash__(self) -> int: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A DLPack capsule of the memory of a CUDA device, for which `stream` then waits, or of a copy on the
        CPU."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """(2, index) on CUDA devices; else (1, 0), the CPU, where others get a copy."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory of a CUDA device, in version 3 of the protocol; no such attribute on others."""
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

_Filter: TypeAlias = Literal["nearest", "linear"]
_Address: TypeAlias = Literal["repeat", "mirror", "clamp", "border"]
_Compare: TypeAlias = Literal[
    "none", "never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"
]
_Border: TypeAlias = Literal["transparent_black", "opaque_black", "opaque_white"]

class Sampler:
    """How a texture is read at a place between its texels. Belongs to no device."""

    def __init__(
        self,
        filter: _Filter | tuple[_Filter, _Filter] = "linear",
        address: _Address | tuple[_Address, ...] = "clamp",
        *,
        mip_filter: _Filter | None = None,
        compare: _Compare | None = None,
        anisotropy: float = 1,
        lod_min: float = 0,
        lod_max: float = 1000,
        lod_bias: float = 0,
        border: _Border = "transparent_black",
    ) -> None:
        """`filter`: 'nearest' or 'linear', or one for minifying and one for magnifying; `mip_filter`, between
        mips, is the first of them.

        `address`, what lies outside: 'repeat', 'mirror', 'clamp' or 'border', or one for each of x, y, z.
        `compare` makes it what SamplerComparisonState takes: 'less' is 1 where the value given is less than
        the texel.
        """
    @property
    def filter(self) -> str | tuple[str, str]: ...
    @property
    def address(self) -> str | tuple[str, str, str]: ...
    @property
    def mip_filter(self) -> str: ...
    @property
    def compare(self) -> str | None: ...
    @property
    def anisotropy(self) -> float: ...
    @property
    def lod_min(self) -> float: ...
    @property
    def lod_max(self) -> float: ...
    @property
    def lod_bias(self) -> float: ...
    @property
    def border(self) -> str: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Texture:
    """Texels in device memory, or a view of some mips and layers of them. Calls write to it only if it is
    `writable`.

    Its shape has y before x, (d, h, w), and counts neither layers nor channels.
    """

    @staticmethod
    def from_numpy(
        a: npt.NDArray[Any],
        format: str,
        *,
        writable: bool = False,
        kind: str | None = None,
        mips: int = 1,
        device: Device | None = None,
    ) -> Texture:
        """A copy of `a`, `[layers,] [d,] h, w [, channels]`, of exactly the format's scalars.

        `kind` is '1d', '2d', '3d' or 'cube', and with '_array' behind it has layers; by default `a` says how
        many dimensions there are. `mips`: how many, 0 for all down to one texel; further ones than the first
        are undefined.
        """
    @staticmethod
    def empty(
        shape: int | Sequence[int],
        format: str,
        *,
        mips: int = 1,
        layers: int | None = None,
        writable: bool | None = None,
        kind: str | None = None,
        device: Device | None = None,
    ) -> Texture:
        """Texels undefined; writable where calls can write the format.

        `layers` makes it an array; of an array of cubes they are the faces, 6 for each.
        """
    @staticmethod
    def from_tensor(
        tensor: Tensor, format: str, *, writable: bool = False, kind: str | None = None, mips: int = 1
    ) -> Texture:
        """A copy of a contiguous kf.Tensor on its device, as from_numpy() takes an array."""
    @staticmethod
    def adopt(
        handle: int,
        shape: int | Sequence[int],
        format: str,
        *,
        mips: int = 1,
        layers: int | None = None,
        writable: bool = False,
        kind: str | None = None,
        layout: int = 0,
        is_mipmapped: bool = False,
        owner: object = None,
        device: Device | None = None,
    ) -> Texture:
        """A VkImage of the device's, in the VkImageLayout `layout`, in which it is left behind each batch of
        commands; or a cudaArray, with `is_mipmapped` a cudaMipmappedArray.

        `owner` is kept as long as it is used.
        """
    def to_numpy(self) -> npt.NDArray[Any]:
        """A new array of the first mip, `[layers,] [d,] h, w [, channels]`; waits for what writes the
        texture."""
    def copy_from_numpy(self, a: npt.NDArray[Any], *, offset: int | Sequence[int] | None = None) -> None:
        """Overwrites the first mip in place, or with `offset`, y before x, a box of it in all layers."""
    def to_tensor(self) -> Tensor:
        """A new kf.Tensor of the first mip, copied on the device."""
    def copy_from(self, tensor: Tensor) -> None:
        """Copies a contiguous kf.Tensor into the first mip, on the device."""
    def copy_to(self, tensor: Tensor) -> None:
        """Copies the first mip into a contiguous kf.Tensor, on the device."""
    def generate_mips(self) -> None:
        """Fills all mips from the first one: a texel is the linear sample of the mip before, at its
        middle."""
    def mip(self, i: int) -> Texture:
        """A view of one mip, whose shape it then has.

        Negative ones count from the end, here and below.
        """
    def mip_range(self, first: int, count: int) -> Texture:
        """A view of `count` mips."""
    def layer(self, i: int) -> Texture:
        """A view of one layer, which is no array any more, or of one face of a cube, a 2D texture."""
    def layer_range(self, first: int, count: int) -> Texture:
        """A view of `count` layers; of faces a 2D array."""
    def cube(self, i: int) -> Texture:
        """A view of one cube of an array of them."""
    def cube_range(self, first: int, count: int) -> Texture:
        """A view of `count` cubes of an array of them."""
    def with_sampler(self, sampler: Sampler) -> Texture:
        """The same texels for a parameter that is texture and sampler in one, a Sampler2D; in calls (texture,
        sampler) is the same."""
    @property
    def sampler(self) -> Sampler | None:
        """What with_sampler() was given, or None."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int:
        """1 of one dimension."""
    @property
    def depth(self) -> int:
        """1 but of three dimensions."""
    @property
    def layers(self) -> int:
        """Of a cube its 6 faces, +x, -x, +y, -y, +z, -z; 1 of what has none."""
    @property
    def mips(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def channels(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the texels as they lie in memory: uint8 of rgba8."""
    @property
    def ndim(self) -> int: ...
    @property
    def nbytes(self) -> int:
        """Of the first mip."""
    @property
    def writable(self) -> bool: ...
    @property
    def device(self) -> Device: ...
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

_V = TypeVar("_V")
_V_co = TypeVar("_V_co", covariant=True)

class Differentiable(Generic[_V_co]):
    """A value, buffer or tensor whose gradient accumulates in `grad` when a backward call takes it."""

    def __init__(self, value: _V_co, needs_grad: bool = True) -> None: ...
    value: _V_co
    grad: Any
    @property
    def needs_grad(self) -> bool: ...

class Batchable:
    """What every call gets one element of, also where a list could be one vector."""

    def __init__(self, value: Any) -> None: ...
    @property
    def value(self) -> Any: ...
    def __len__(self) -> int: ...

def is_batchable_like(value: Any) -> bool:
    """Whether calls can take an element of it each: a tensor, an array, a list, or what is like one."""

class _WithGradients:
    @property
    def value(self) -> Any: ...

def flat_backward(
    backward: Backward,
    flow: object,
    values: tuple[object, ...],
    needs: tuple[bool | None, ...],
    plan: bytes,
    apart: bool = False,
    /,
) -> tuple[Any, ...] | None:
    """The gradients of a call of plain tensors on CUDA that is known, behind a None: one for each value that
    needs one. `plan`, one byte a value: 0 for no gradient, 1 for one that starts as zeros, 2 for one that is
    overwritten, 4 more where the call can't do without. Small ones share an allocation, unless they are to be
    `apart`. None for other calls, with nothing done.
    """

def with_gradients(
    value: object, grad_in: object = None, grad_out: object = None, is_new: bool = False
) -> _WithGradients:
    """One argument of a backward call with exactly these gradients, torch.Tensors or kf.Tensors. A tensor's
    grad_out that is new is stored to, not added to.
    """

def differentiable(value: _V, needs_grad: bool = True) -> Differentiable[_V]:
    """Wraps what backward calls add a gradient to; `grad` starts at zero.

    A number, a vector as a list or an array, and a struct have a `grad` of their own form; a kf.Buffer has it
    in another kf.Buffer, which may be given as `grad`; a kf.Tensor keeps its own. needs_grad=False makes a
    constant.
    """

class Encoder:
    """Calls recorded for one device and run together, in order. Not thread-safe."""

    def submit(self) -> None:
        """Runs what was recorded, once; using the encoder afterwards is an error."""
    def finish(self) -> RecordedCommands:
        """Ends calls that were recorded into a command buffer of yours, which stays open."""
    @property
    def device(self) -> Device: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Submits, unless an error is on its way out."""

class RecordedCommands:
    """Calls in a command buffer of yours.

    What they use is kept until release(), or until the device closes.
    """

    def release(self) -> None:
        """Says that the command buffer is done, and won't be submitted again."""

class HookContext:
    """One call of a function, which its hooks are given before anything of it runs.

    Good until the hook returns.
    """

    def set(self, values: Mapping[str, Any] | None = ..., /, **named: Any) -> None:
        """Sets global parameters for this call alone: set(tint=(1, 0, 0)), set({"look.tint": ...})."""
    @property
    def encoder(self) -> Encoder:
        """What is recorded here with append_to() runs right before the call.

        In the encoder of the call's own append_to(), and on the device where the call is made directly. None
        of it does where the call is refused or a hook raises.
        """

class _Configured:
    """What functions and their passes have alike: set() and its like return configured copies."""

    def prepare(self, *args: Any, **kwargs: Any) -> Prepared:
        """The call with its tensors and shapes settled, to run often with other values. Nothing runs yet."""
    def node(self) -> Node:
        """One call of a graph.

        Called in a `with kf.Graph()` block it records the call, and its set() changes the values of that call
        alone.
        """
    def set(self, values: Mapping[str, Any] | None = ..., /, **named: Any) -> Self:
        """A copy with global parameters set: set(tint=(1, 0, 0)), set({"look.tint": ...}).

        What isn't named stays as it is, fields of a struct that is given as a dict too.
        """
    def hook(self, callback: Callable[[HookContext], None], /) -> Self:
        """A copy that calls `callback` before each dispatch, after the hooks that it has.

        Its derivatives' dispatches and recorded ones too. What the callback raises, the call raises, and
        nothing of it runs.
        """
    def options(
        self,
        given: Mapping[str, Any] | None = ...,
        /,
        *,
        deterministic: bool | None = ...,
        variant: str | None = ...,
        threads: Sequence[int] | None = ...,
        numthreads: Sequence[int] | None = ...,
        group_size: Sequence[int] | None = ...,
        constants: Mapping[str, float] | None = ...,
        types: Mapping[str, str] | None = ...,
    ) -> Self:
        """A copy that is called with these options.

        deterministic=True: gradients that several calls add to are the same bits each time, by kernels that
        the call spec asks for. variant="tiled": one of the call spec's variants, also by what it has, as in
        threads=[8, 8] (or numthreads=, group_size=), where exactly one has all of that. constants={"N": 8}:
        what it lists for run time.
        """
    def threads(self, x: int, y: int = ..., z: int = ..., /) -> Self:
        """A copy that runs so many threads: of entry points, and of calls that are launched by threads.

        Of an entry point whole groups run.
        """
    def groups(self, x: int, y: int = ..., z: int = ..., /) -> Self:
        """A copy that runs so many groups of threads."""
    def typeconformance(self, types: Mapping[str, str | Sequence[str]], /) -> Self:
        """A copy that is the variant with exactly these types behind interfaces: {"IVal": ["Val10"]}."""
    def accumulate(self, chosen: Mapping[str, str] | None = ..., /, **ways: str) -> Self:
        """A copy for which calls that share an element of an output or gradient are combined so.

        Of what the call spec offers: {"result": "sum", "a.grad": "push"}, or result="sum". What isn't named
        stays as it is.
        """
    def map(self, chosen: Mapping[str, Sequence[int]] | None = ..., /, **maps: Sequence[int]) -> Self:
        """A copy that has the dimensions of arguments there in the call, of what the call spec has.

        {"w": [1]}, or w=[1]. Arguments that aren't named match any map.
        """

class Backward(_Configured):
    """The backward pass of a function, with its configuration.

    Takes the function's arguments, then its result, whose gradient flows in (1 where there is none).
    Gradients of inputs are added to tensors' `grad_out` and differentiable values' `grad`.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> None: ...
    def call(self, *args: Any, **kwargs: Any) -> None:
        """The same as calling it."""
    def append_to(self, *args: Any, **kwargs: Any) -> None:
        """Records it: append_to(encoder, ...)."""
    def return_type(self, type: ArrayRequest | TensorRequest | TorchRequest[Any] | None, /) -> Self:
        """A copy: a pass has no outputs that could come back."""

class Fused(_Configured):
    """A loss and its gradients in one launch.

    Takes the function's arguments and returns its result, as the function does; the gradients of the
    result's sum are added to those that inputs carry, as by the backward pass.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def call(self, *args: Any, **kwargs: Any) -> Any: ...
    def append_to(self, *args: Any, **kwargs: Any) -> Any: ...
    def return_type(self, type: ArrayRequest | TensorRequest | TorchRequest[Any] | None, /) -> Fused:
        """A copy whose outputs that aren't given come back as kf.Tensor, np.ndarray or torch.Tensor."""

class Jvp(_Configured):
    """The forward derivative of a function: a Jacobian times a vector.

    Takes the function's arguments, and `tangents={"x": dx}` for any of its differentiable inputs; others have
    none, which is 0. Returns two things: what the function returns, and its tangent.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]: ...
    def call(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]: ...
    def append_to(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]: ...
    def return_type(self, type: ArrayRequest | TensorRequest | TorchRequest[Any] | None, /) -> Jvp:
        """A copy whose outputs that aren't given come back as kf.Tensor, np.ndarray or torch.Tensor."""

class Prepared:
    """A call whose tensors and shapes are settled. Calling it runs it again, and returns its result.

    It owns the memory that it needs. Thread-safe.
    """

    def __call__(self, *, stream: Stream | None = None) -> Any: ...
    def set(self, values: Mapping[str, Any] | None = ..., /, **named: Any) -> None:
        """Sets values, textures and samplers for later runs: set(a=2), set({"ray.t": 2}). Refused as the call
        would refuse them."""
    def append_to(self, encoder: Encoder, /) -> Any:
        """Records the call as it is now."""
    @property
    def result(self) -> Any:
        """What the call returned when it was prepared: tensors that hold what the last run wrote, and
        textures that were given or set."""

class Graph:
    """Calls that are recorded once and run often, as one.

    `with kf.Graph() as g:` records the calls of its thread, and none of them runs. replay() is thread-safe.
    """

    def __init__(self, device: Device | None = None) -> None:
        """On the first call's device where `device` isn't given."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __len__(self) -> int: ...
    def replay(self, *, stream: Stream | None = None) -> None:
        """Runs all calls, after all that was issued before; on a CUDA stream of yours where that is given."""
    def set(self, values: Mapping[str, Any] | None = ..., /, **named: Any) -> None:
        """Sets values for later replays, in every call that has one of that name: set(a=2)."""

class Node:
    """One call of a graph: calling it in a `with kf.Graph()` block records it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def set(self, values: Mapping[str, Any] | None = ..., /, **named: Any) -> None:
        """Sets values of this call for later replays: set(a=2), set({"ray.t": 2})."""

class UnlaunchedCall:
    """A call of a function that is launched by threads; launchRaw() says how many, and runs it."""

    def launchRaw(  # noqa: N802
        self,
        *,
        blockSize: int | tuple[int, ...],  # noqa: N803
        gridSize: int | tuple[int, ...],  # noqa: N803
    ) -> None:
        """Runs gridSize groups of blockSize threads, which must be what the kernel was generated for."""

class Function(_Configured):
    """A Slang function with its overloads. Thread-safe; set() and its like return configured copies.

    A call runs on the device of its tensors, or else on the default one. It returns a number or a struct,
    which it waits for, or a tensor, which it doesn't. `out=` says where the result goes: a tensor or array to
    write to, or a class to make it of, such as np.ndarray.
    """

    @property
    def __name__(self) -> str: ...
    @property
    def __doc__(self) -> str | None: ...  # type: ignore[override]
    @property
    def name(self) -> str: ...
    @property
    def signatures(self) -> list[str]:
        """The overloads, as messages show them."""
    @property
    def __signature__(self) -> inspect.Signature: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the function."""
    def append_to(self, *args: Any, **kwargs: Any) -> Any:
        """Records the call: append_to(encoder, ...). Outputs are tensors that hold values once it ran."""
    @overload
    def return_type(self, type: None, /) -> Self:
        """A copy whose outputs that aren't given come back as kf.Tensor, np.ndarray or torch.Tensor."""
    @overload
    def return_type(self, type: ArrayRequest, /) -> Function: ...
    @overload
    def return_type(self, type: TensorRequest, /) -> Function: ...
    @overload
    def return_type(self, type: TorchRequest[Any], /) -> Function: ...
    @property
    def backward(self) -> Backward | None:
        """None where the function isn't differentiable, or the call spec doesn't ask ("backward": true)."""
    @property
    def fused(self) -> Fused | None:
        """None where the call spec doesn't ask for it ("backward": {"fused": true})."""
    @property
    def jvp(self) -> Jvp | None:
        """None where the call spec doesn't ask for it ("forward_diff": true)."""
    @property
    def globals(self) -> list[str]:
        """The names of the global parameters that it uses."""
    def torch(self, *, outputs: Sequence[str] | None = None) -> Operator[Self]:
        """The function as an operator of PyTorch, with its configuration.

        `outputs`: of its DiffTensorViews, those that it writes, which autograd has to know.
        """

class Module:
    """An artifact's functions. Kernels are verified and made ready per device, on first use or by load()."""

    @property
    def name(self) -> str: ...
    @property
    def functions(self) -> list[str]: ...
    def function(self, name: str) -> Function:
        """Raises ArgumentError (unknown-name)."""
    def _pickled_function(self, name: str) -> Function: ...
    def load(self, device: Device | None = None) -> None:
        """Makes every kernel ready on the device (the default one) now: no later call waits for it."""

    def add_struct(self, name: str, type: Any) -> None:
        """The class that structs, or an enum's values, of this Slang type come back as."""

def load_module(path: str | os.PathLike[str], import_name: str = "") -> Module:
    """Reads and verifies NAME.kfa. Raises ArtifactError.

    `import_name`: the Python module whose `_module` this will be, by which pickle finds its functions.
    """
