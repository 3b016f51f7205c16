"""Trains samples/neural_texture in torchrun's processes, by DistributedDataParallel and then by FSDP.

Prints the losses of both, and what became of the parameters: data_parallel.py CPU_OR_CUDA PICTURE_SIZE STEPS
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.append(str(Path(__file__).parents[2] / "samples" / "neural_texture"))

from neural_texture_torch import train  # type: ignore[import-not-found]
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.tensor import DTensor


def put_together(tensor: Any) -> Any:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def main() -> None:
    kind, size, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rank, processes = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = kind
    if kind == "cuda":
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl" if kind == "cuda" else "gloo")
    found = {}
    for way in ("copied", "sharded"):
        module, losses = train(size, steps, device, "eager", rank, processes, shard=way == "sharded")
        whole = get_model_state_dict(module, options=StateDictOptions(full_state_dict=True))
        found[way] = {
            "losses": losses,
            "types": sorted({type(one).__name__ for one in module.parameters()}),
            "rows": [one.shape[0] for one in whole.values()],
            "sums": [float(one.double().sum()) for one in whole.values()],
            "slopes": [float(put_together(one.grad).norm()) for one in module.parameters()],
        }
    if rank == 0:
        print(json.dumps(found))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
