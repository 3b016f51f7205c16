"""samples/neural_texture on several processes: PyTorch's DistributedDataParallel and FSDP train as one does.

Of GPUs all that there are take part, by NCCL; on the CPU two processes by gloo.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

SIZE, STEPS = 16, 12
#: Sums of gradients and losses are of the same numbers in another order; 5e-6 was measured on llvmpipe.
TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def folders(generated_folder: Callable[[str], Path], source_dir: Path) -> list[str]:
    return [str(generated_folder("neural_texture")), str(source_dir / "samples" / "neural_texture")]


@pytest.fixture(scope="module")
def alone(folders: list[str], torch_device: str) -> dict[str, list[float]]:
    """What one process learned, as data_parallel.py prints it."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(folder)
        from neural_texture_torch import train  # type: ignore[import-not-found]  # noqa: PLC0415

        module, losses = train(SIZE, STEPS, torch_device, "eager")
    weights = list(module.parameters())
    return {
        "losses": losses,
        "sums": [float(one.detach().double().sum()) for one in weights],
        "slopes": [float(one.grad.norm()) for one in weights],
    }


def run(processes: int, device: str, folders: list[str]) -> Any:
    """What tests/torch/data_parallel.py prints under torchrun."""
    program = Path(__file__).with_name("data_parallel.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", processes]
    done = subprocess.run(
        [str(word) for word in [*command, program, device, SIZE, STEPS]],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*folders, os.environ["PYTHONPATH"]]),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_processes_learn_what_one_does(
    alone: dict[str, list[float]], folders: list[str], torch_device: str
) -> None:
    processes = 2
    kind = torch.device(torch_device).type
    if kind == "cuda":
        processes = min(torch.cuda.device_count(), SIZE)
        if processes < 2:
            pytest.skip("needs 2 GPUs")
    assert alone["losses"][-1] < alone["losses"][0] / 4
    found = run(processes, kind, folders)
    for way in ("copied", "sharded"):
        assert found[way]["losses"] == pytest.approx(alone["losses"], rel=TOLERANCE)
        assert found[way]["rows"] == [16, 16, 3]
        assert found[way]["sums"] == pytest.approx(alone["sums"], abs=0.05)
        # Adam makes the same of gradients that are all twice as large: compare them, too.
        assert found[way]["slopes"] == pytest.approx(alone["slopes"], rel=0.02)
    assert found["copied"]["types"] == ["Parameter"]
    assert found["sharded"]["types"] == ["DTensor"], "FSDP has split the parameters"


def test_a_dtensor_is_refused(folders: list[str], torch_device: str) -> None:
    """What fully_shard() has split is whole while the module is called, and in no other call."""
    import kernelfunctions as kf  # noqa: PLC0415
    from torch.distributed.device_mesh import init_device_mesh  # noqa: PLC0415
    from torch.distributed.fsdp import fully_shard  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(folder)
        from kf_samples.neural_texture import loss  # noqa: PLC0415

    kind = torch.device(torch_device).type
    backend = "nccl" if kind == "cuda" else "gloo"
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group(backend, store=store, rank=0, world_size=1)
    try:
        shapes = [(16, 21), (16, 17), (3, 17)]
        weights = {f"w{i}": torch.ones(shape, device=torch_device) for i, shape in enumerate(shapes)}
        whole = kf.torch.module(loss, weights)
        split = kf.torch.module(loss, weights)
        fully_shard(split, mesh=init_device_mesh(kind, (1,)))
        given = (kf.grid((2, 2)), (2, 2), torch.zeros(2, 2, 3, device=torch_device))
        with pytest.raises(TypeError, match="loss: argument 'w0': a DTensor isn't taken"):
            split.forward(*given)
        torch.testing.assert_close(split(*given), whole(*given))
        with pytest.raises(kf.ArgumentTypeError, match=r"loss: argument 'w0': expected .*float32, but got"):
            split.half()
    finally:
        torch.distributed.destroy_process_group()
