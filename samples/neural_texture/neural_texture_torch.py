"""Trains a small network that holds a picture, as a module of PyTorch's whose function is a kernel.

neural_texture.png shows the picture and what was learned of it, drawn larger; neural_texture.csv how the loss
fell. Several processes share the picture's rows, and the loss falls as it does in one:
torchrun --nproc-per-node 2 neural_texture_torch.py
With --shard each process also keeps a part of the parameters alone (FSDP).
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

import kernelfunctions as kf
import torch
from kf_samples.neural_texture import loss, reference, start_weight, texel
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

sys.path.append(str(Path(__file__).parents[1]))
from picture import enlarged, loss_curve, save_png

LAYERS = [(16, 20), (16, 16), (3, 16)]  # outputs, inputs
ZOOM = 3


def first_weights(seed: int, device: str) -> torch.Tensor:
    outputs, inputs = LAYERS[seed]
    random = kf.rand_float(-1, 1, seed=seed, hash_seed=True)
    return start_weight(random, inputs, out=torch.empty(outputs, inputs + 1, device=device))


def train(
    size: int,
    steps: int,
    device: str,
    backend: str,
    rank: int = 0,
    processes: int = 1,
    shard: bool = False,
) -> tuple[torch.nn.Module, list[float]]:
    """The network, and how the whole picture's mean squared error fell; each process has some of its rows."""
    weights = {f"w{seed}": first_weights(seed, device) for seed in range(len(LAYERS))}
    module = kf.torch.module(loss, parameters=weights)
    if processes > 1 and shard:
        mesh = init_device_mesh(torch.device(device).type, (processes,))
        fully_shard(module, mesh=mesh)
    network = torch.compile(module, backend=backend, fullgraph=True)
    if processes > 1 and not shard:
        network = torch.nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)

    rows = (size - rank + processes - 1) // processes
    pixels = kf.grid((rows, size), offset=(rank, 0), stride=(processes, 1))
    expected = reference(pixels, (size, size), out=torch.empty(rows, size, 3, device=device))
    losses = []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        error = network(pixels, (size, size), expected).sum()
        # Gradients are averaged over the processes, and those of the whole picture are their sum.
        (processes * error).backward()
        optimizer.step()
        losses.append(error.detach())
    history = torch.stack(losses)
    if processes > 1:
        torch.distributed.all_reduce(history)
    return module, history.tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=64, help="of the picture, in pixels along each side")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    compiler = os.environ.get("CXX", "g++")
    parser.add_argument(
        "--backend",
        default="inductor" if shutil.which(compiler) else "aot_eager",
        help="of torch.compile: inductor (needs a C++ compiler), aot_eager, eager",
    )
    parser.add_argument("--shard", action="store_true", help="split the parameters among the processes, too")
    options = parser.parse_args()

    rank, processes = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    device = options.device
    if processes > 1:
        if device == "cuda":
            device = f"cuda:{os.environ['LOCAL_RANK']}"
            torch.cuda.set_device(device)
        torch.distributed.init_process_group("nccl" if "cuda" in device else "gloo")

    module, losses = train(
        options.size, options.steps, device, options.backend, rank, processes, options.shard
    )
    # All processes take part in putting parameters together of which each has a part.
    weights = [one.full_tensor() if isinstance(one, DTensor) else one for one in module.parameters()]
    if rank == 0:
        print(loss_curve(losses))
        table = "".join(f"{step},{value:.6g}\n" for step, value in enumerate(losses))
        Path("neural_texture.csv").write_text("step,loss\n" + table)
        save_png(Path("neural_texture.png"), page(weights, options.size, device).cpu().numpy())
        print("the picture and what was learned of it: neural_texture.png; the losses: neural_texture.csv")
    if processes > 1:
        torch.distributed.destroy_process_group()


@torch.no_grad()
def page(weights: list[torch.Tensor], size: int, device: str) -> torch.Tensor:
    """The picture, and what was learned of it: a network has no pixels, so that it is drawn at any size."""
    wanted = reference(kf.grid((size, size)), (size, size), out=torch.empty(size, size, 3, device=device))
    large = (ZOOM * size, ZOOM * size)
    learned = texel(kf.grid(large), large, *weights)
    return torch.cat([torch.from_numpy(enlarged(wanted.cpu().numpy(), ZOOM)), learned.cpu()], dim=1)


if __name__ == "__main__":
    main()
