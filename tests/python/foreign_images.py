"""Images of an application's, made by ctypes: VkImages of vulkan_application's device, and CUDA arrays."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from vulkan_application import VulkanApplication, structure

GENERAL, READ_ONLY = 1, 5
#: VkFormat, and CUDA's channels with their number and type.
VULKAN_FORMATS = {"rgba8": 37, "r32f": 100, "rgba16f": 97}
CUDA_FORMATS = {"rgba8": (1, 4), "r32f": (0x20, 1), "rgba16f": (0x10, 4)}

_Image = structure(
    "_Image", ("flags", c_uint32), ("type_", c_uint32), ("format", c_uint32), ("extent", c_uint32 * 3),
    ("mips", c_uint32), ("layers", c_uint32), ("samples", c_uint32), ("tiling", c_uint32),
    ("usage", c_uint32), ("sharing", c_uint32), ("families", c_uint32), ("family", c_void_p),
    ("layout", c_uint32),
)  # fmt: skip
_Memory = structure("_Memory", ("size", c_uint64), ("type_", c_uint32))
_Barrier = structure(
    "_Barrier", ("source", c_uint32), ("target", c_uint32), ("before", c_uint32), ("after", c_uint32),
    ("from_", c_uint32), ("to", c_uint32), ("image", c_uint64), ("range", c_uint32 * 5),
)  # fmt: skip


class _Needs(ctypes.Structure):
    _fields_ = (("size", c_uint64), ("alignment", c_uint64), ("types", c_uint32))


class VulkanImage:
    """A 2D image for sampling, storage and transfers, in a layout."""

    def __init__(
        self,
        of: VulkanApplication,
        extents: tuple[int, int],
        format: str,
        layout: int,
        mips: int,
        layers: int,
    ) -> None:
        self.of = of
        usage = 1 | 2 | 4 | 8
        extent = (c_uint32 * 3)(extents[1], extents[0], 1)
        info = _Image(
            14, None, 0, 1, VULKAN_FORMATS[format], extent, mips, layers, 1, 0, usage, 0, 0, None, 0
        )  # fmt: skip
        self.image, self.memory = c_uint64(), c_uint64()
        of.call("vkCreateImage", of.device, byref(info), None, byref(self.image))
        needs = _Needs()
        of.vk.vkGetImageMemoryRequirements(of.device, self.image, byref(needs))
        kind = (needs.types & -needs.types).bit_length() - 1
        memory = _Memory(5, None, needs.size, kind)
        of.call("vkAllocateMemory", of.device, byref(memory), None, byref(self.memory))
        of.call("vkBindImageMemory", of.device, self.image, self.memory, c_uint64(0))
        commands = of.begin()
        everything = (c_uint32 * 5)(1, 0, mips, 0, layers)
        none = 2**32 - 1
        barrier = _Barrier(45, None, 0, 0x8000 | 0x10000, 0, layout, none, none, self.image, everything)
        of.vk.vkCmdPipelineBarrier(
            c_void_p(commands), c_uint32(1), c_uint32(0x10000), c_uint32(0), c_uint32(0), None, c_uint32(0),
            None, c_uint32(1), byref(barrier),
        )  # fmt: skip
        of.end(commands)
        of.submit(commands)
        of.wait()

    @property
    def handle(self) -> int:
        return self.image.value

    def destroy(self) -> None:
        self.of.vk.vkDestroyImage(self.of.device, self.image, None)
        self.of.vk.vkFreeMemory(self.of.device, self.memory, None)


class _Descriptor(ctypes.Structure):
    _fields_ = (
        ("width", c_size_t), ("height", c_size_t), ("depth", c_size_t), ("format", c_uint32),
        ("channels", c_uint32), ("flags", c_uint32),
    )  # fmt: skip


class CudaImage:
    """A 2D array for textures and surfaces, in the primary context; of several mips a mipmapped one."""

    def __init__(self, device: int, extents: tuple[int, int], format: str, mips: int, layers: int) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.context = c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), c_int(device))
        self.call("cuCtxPushCurrent_v2", self.context)
        kind, channels = CUDA_FORMATS[format]
        is_layered = layers > 1
        made = _Descriptor(
            extents[1], extents[0], layers if is_layered else 0, kind, channels, 2 | (1 if is_layered else 0)
        )
        self.array = c_void_p()
        self.is_mipmapped = mips > 1
        if self.is_mipmapped:
            self.call("cuMipmappedArrayCreate", byref(self.array), byref(made), c_uint32(mips))
        else:
            self.call("cuArray3DCreate_v2", byref(self.array), byref(made))
        self.call("cuCtxPopCurrent_v2", byref(c_void_p()))

    def call(self, name: str, *arguments: Any) -> None:
        result = getattr(self.cuda, name)(*arguments)
        assert result == 0, f"{name}: {result}"

    @property
    def handle(self) -> int:
        assert self.array.value is not None
        return self.array.value

    def destroy(self) -> None:
        self.call("cuCtxPushCurrent_v2", self.context)
        destroy = "cuMipmappedArrayDestroy" if self.is_mipmapped else "cuArrayDestroy"
        self.call(destroy, self.array)
        self.call("cuCtxPopCurrent_v2", byref(c_void_p()))
