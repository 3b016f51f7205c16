"""Memory over many steps of training: neither Python's objects, nor the process, nor the GPU's grow."""

import gc
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import torch
from loader import Loader

STEPS = 10_000
STRETCH = 2_000


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Use(dict[str, int]):
    """What is in use: blocks of Python's, bytes of the process, bytes of PyTorch's on the GPU."""

    def __init__(self, device: str) -> None:
        gc.collect()
        on_gpu = torch.cuda.memory_allocated(device) if device.startswith("cuda") else 0
        super().__init__(blocks=sys.getallocatedblocks(), process=resident_bytes(), gpu=on_gpu)


def test_no_memory_grows_over_10000_steps(generated: Loader, torch_device: str) -> None:
    polynomial = generated("gradients").polynomial
    operator = polynomial.torch()
    learned = [torch.tensor([1.0], device=torch_device, requires_grad=True) for _ in range(3)]
    x = torch.linspace(-1, 1, 32, device=torch_device)
    out = torch.empty(32, device=torch_device)
    wanted = 2 * x * x + 8 * x - 1
    optimizer = torch.optim.SGD(learned, lr=0.2)

    def trained(function: Callable[..., torch.Tensor]) -> None:
        optimizer.zero_grad()
        ((function(*learned, x) - wanted) ** 2).mean().backward()
        optimizer.step()

    def unwatched() -> None:
        with torch.no_grad():
            polynomial(*learned, x, out=out)
            polynomial(*learned, x)

    kinds = [lambda: trained(polynomial), lambda: trained(operator), unwatched]
    uses = []
    for step in range(STEPS):
        kinds[step % len(kinds)]()
        if step % STRETCH == STRETCH - 1:
            uses.append(Use(torch_device))
    torch.testing.assert_close(out, wanted, rtol=0, atol=1e-2)
    # What fills a pool or a cache does so in one stretch or another; what leaks does so in each.
    least = {name: min(after[name] - before[name] for before, after in pairwise(uses)) for name in uses[0]}
    assert least["blocks"] < STRETCH // 20
    assert least["process"] < 50 * STRETCH
    assert least["gpu"] <= 0
