"""Compiles and runs CUDA kernels without kfgen: NVRTC and the driver, by their C interfaces."""

import ctypes
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
TOOLKITS = [
    Path(sysconfig.get_path("platlib")) / "nvidia" / "cu13" / "lib",
    Path(sysconfig.get_path("platlib")) / "nvidia" / "cuda_nvrtc" / "lib",
    Path("/usr/local/cuda/lib64"),
]


def headers_of_cuda() -> list[Path]:
    """Where cuda_fp16.h lies."""
    places = [folder.parent / "include" for folder in TOOLKITS]
    return [place for place in places if (place / "cuda_fp16.h").exists()][:1]


def _nvrtc_library() -> ctypes.CDLL:
    for folder in TOOLKITS:
        found = [path for path in sorted(folder.glob("libnvrtc.so*")) if ".alt." not in path.name]
        if not found:
            continue
        # NVRTC opens its built-ins by name.
        for builtins in sorted(folder.glob("libnvrtc-builtins.so*")):
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(found[-1]))
    return ctypes.CDLL("libnvrtc.so")


def compiled(source: str, *options: str) -> bytes:
    """The PTX of a text; raises with NVRTC's log where it refuses that."""
    nvrtc = _nvrtc_library()
    program = ctypes.c_void_p()
    text = source.encode()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernels.cu", 0, None, None) == 0
    given = [option.encode() for option in ("--gpu-architecture=compute_75", "--std=c++17", *options)]
    result = nvrtc.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    if result != 0:
        raise RuntimeError(_read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode())
    return _read(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)


def _read(size_of: Any, get: Any, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    assert size_of(program, ctypes.byref(size)) == 0
    text = ctypes.create_string_buffer(size.value)
    assert get(program, text) == 0
    return text.raw


class Kernels:
    """The kernels of a module, on a CUDA device's primary context."""

    def __init__(self, ptx: bytes, device: int) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self._check(self._cuda.cuInit(0))
        context = ctypes.c_void_p()
        self._check(self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self._check(self._cuda.cuCtxSetCurrent(context))
        self._module = ctypes.c_void_p()
        self._check(self._cuda.cuModuleLoadData(ctypes.byref(self._module), ptx))

    @staticmethod
    def _check(result: int) -> None:
        assert result == 0, f"CUDA error {result}"

    def _uploaded(self, arrays: list[Array]) -> Iterator[ctypes.c_uint64]:
        for array in arrays:
            address = ctypes.c_uint64()
            self._check(self._cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(array.nbytes)))
            self._check(
                self._cuda.cuMemcpyHtoD_v2(
                    address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)
                )
            )
            yield address

    def run(self, name: str, threads: int, *arrays: Array) -> list[Array]:
        """What the arrays hold after the kernel, which takes their addresses and the number of threads."""
        function = ctypes.c_void_p()
        self._check(self._cuda.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode()))
        before = [np.ascontiguousarray(array) for array in arrays]
        addresses = list(self._uploaded(before))
        arguments: list[Any] = [*addresses, ctypes.c_int(threads)]
        pointers = (ctypes.c_void_p * len(arguments))(
            *(ctypes.cast(ctypes.byref(one), ctypes.c_void_p) for one in arguments)
        )
        group = 64
        groups = (threads + group - 1) // group
        self._check(self._cuda.cuLaunchKernel(function, groups, 1, 1, group, 1, 1, 0, None, pointers, None))
        self._check(self._cuda.cuCtxSynchronize())
        after = [np.empty_like(array) for array in before]
        for array, address in zip(after, addresses, strict=True):
            self._check(
                self._cuda.cuMemcpyDtoH_v2(
                    array.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(array.nbytes)
                )
            )
            self._check(self._cuda.cuMemFree_v2(address))
        return after
