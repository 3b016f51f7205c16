"""An application's own Vulkan, by ctypes: a device and queue to adopt, and command buffers."""

import ctypes
from ctypes import Structure, byref, c_char_p, c_float, c_uint32, c_uint64, c_void_p, pointer
from types import TracebackType
from typing import Any

VERSION_1_2 = 1 << 22 | 2 << 12


def structure(name: str, *fields: tuple[str, Any]) -> Any:
    return type(name, (Structure,), {"_fields_": [("type", c_uint32), ("next", c_void_p), *fields]})


Application = structure(
    "Application", ("name", c_char_p), ("version", c_uint32), ("engine", c_char_p), ("of", c_uint32),
    ("api", c_uint32),
)  # fmt: skip
NAMES = [("layers", c_uint32), ("layer", c_void_p), ("extensions", c_uint32), ("extension", c_void_p)]
InstanceInfo = structure("InstanceInfo", ("flags", c_uint32), ("application", c_void_p), *NAMES)
QueueInfo = structure(
    "QueueInfo", ("flags", c_uint32), ("family", c_uint32), ("count", c_uint32), ("priority", c_void_p)
)
DeviceInfo = structure(
    "DeviceInfo", ("flags", c_uint32), ("count", c_uint32), ("queues", c_void_p), *NAMES, ("old", c_void_p)
)
Features = structure("Features", ("of", c_uint32 * 64))
PoolInfo = structure("PoolInfo", ("flags", c_uint32), ("family", c_uint32))
BufferInfo = structure("BufferInfo", ("pool", c_uint64), ("level", c_uint32), ("count", c_uint32))
BeginInfo = structure("BeginInfo", ("flags", c_uint32), ("inherited", c_void_p))
SubmitInfo = structure(
    "SubmitInfo", ("waits", c_uint32), ("wait", c_void_p), ("stages", c_void_p), ("count", c_uint32),
    ("buffers", c_void_p), ("signals", c_uint32), ("signal", c_void_p),
)  # fmt: skip


def address(value: Any) -> Any:
    return ctypes.cast(pointer(value), c_void_p)


class VulkanApplication:
    """Everything that the first physical device supports is on, without extensions."""

    def __init__(self) -> None:
        self.vk = ctypes.CDLL("libvulkan.so.1")
        application = Application(0, None, None, 0, None, 0, VERSION_1_2)
        self.instance, self.physical, self.device, self.queue = (c_void_p() for _ in range(4))
        info = InstanceInfo(1, None, 0, address(application), 0, None, 0, None)
        self.call("vkCreateInstance", byref(info), None, byref(self.instance))
        count = c_uint32(1)
        self.call("vkEnumeratePhysicalDevices", self.instance, byref(count), byref(self.physical))
        features12 = Features(51)
        features = Features(1000059000, address(features12))
        self.vk.vkGetPhysicalDeviceFeatures2(self.physical, byref(features))
        priority = c_float(1)
        queue = QueueInfo(2, None, 0, 0, 1, address(priority))
        device = DeviceInfo(3, address(features), 0, 1, address(queue), 0, None, 0, None, None)
        self.call("vkCreateDevice", self.physical, byref(device), None, byref(self.device))
        self.vk.vkGetDeviceQueue(self.device, 0, 0, byref(self.queue))
        self.pool = c_uint64()
        self.call("vkCreateCommandPool", self.device, byref(PoolInfo(39)), None, byref(self.pool))

    def call(self, name: str, *arguments: Any) -> None:
        result = getattr(self.vk, name)(*arguments)
        assert result >= 0, f"{name}: {result}"

    def handles(self) -> dict[str, Any]:
        return {
            "instance": self.instance.value,
            "physical_device": self.physical.value,
            "device": self.device.value,
            "queue": self.queue.value,
        }

    def begin(self) -> int:
        """A command buffer that is being recorded."""
        commands = c_void_p()
        self.call(
            "vkAllocateCommandBuffers", self.device, byref(BufferInfo(40, None, self.pool.value, 0, 1)),
            byref(commands),
        )  # fmt: skip
        assert commands.value is not None
        self.call("vkBeginCommandBuffer", commands, byref(BeginInfo(42)))
        return commands.value

    def submit(self, commands: int) -> None:
        handle = c_void_p(commands)
        info = SubmitInfo(4, None, 0, None, None, 1, address(handle), 0, None)
        self.call("vkQueueSubmit", self.queue, 1, byref(info), c_uint64(0))

    def end(self, commands: int) -> None:
        self.call("vkEndCommandBuffer", c_void_p(commands))

    def wait(self) -> None:
        self.call("vkQueueWaitIdle", self.queue)

    def __enter__(self) -> "VulkanApplication":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.vk.vkDestroyCommandPool(self.device, self.pool, None)
        self.vk.vkDestroyDevice(self.device, None)
        self.vk.vkDestroyInstance(self.instance, None)
