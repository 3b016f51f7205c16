"""CUDA memory of PyTorch's that Vulkan's kernels use where it lies."""

import functools

import torch

from kernelfunctions import _kf


@functools.cache
def _allocator() -> "torch.cuda.memory.CUDAPluggableAllocator":
    return torch.cuda.memory.CUDAPluggableAllocator(str(_kf.__file__), "kf_cuda_allocate", "kf_cuda_free")


@functools.cache
def _pool(_device: int) -> "torch.cuda.MemPool":
    return torch.cuda.MemPool(_allocator().allocator())


def shared_pool() -> "torch.cuda.MemPool":
    """The current device's pool of memory that CUDA and Vulkan both have.

    with torch.cuda.use_mem_pool(kf.torch.shared_pool()):
        x = torch.empty(1 << 20, device="cuda")

    Functions without CUDA kernels read and write such tensors in place; others are copied on the GPU.
    """
    return _pool(torch.cuda.current_device())
