"""The benchmark with PyTorch runs, and each way through it gives right gradients."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from loader import Loader


def failures(found: Any, path: str = "") -> list[str]:
    if isinstance(found, dict):
        return [text for name, value in found.items() for text in failures(value, f"{path}/{name}")]
    return [f"{path}: {found}"] if "failed" in str(found) else []


def test_benchmark(generated: Loader, source_dir: Path, torch_device: str) -> None:
    package = Path(str(generated("gradients").__file__)).parents[1]
    command = [
        sys.executable,
        str(source_dir / "tests/bench/pytorch.py"),
        "--quick",
        "--device",
        torch_device,
    ]
    done = subprocess.run(
        [*command, "--module", "kf_gradients.gradients"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package), os.environ["PYTHONPATH"]])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert failures(found) == []
    assert found["compiled"]["graph_breaks"] == 0
    assert all(error < 1e-5 for error in found["large"]["error"].values())
