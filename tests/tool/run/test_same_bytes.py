"""The kfgen under test writes the artifacts that the build holds: sanitized, those of the optimised one."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


# One spec's kernels are compiled anew, which takes a while under sanitizers; the others' come from the
# build's cache.
@pytest.mark.parametrize(
    ("name", "anew"),
    [("globals", True)] + [(name, False) for name in ("members", "structs", "generics", "jvp", "launch")],
)
def test_same_artifact(
    name: str,
    anew: bool,
    build_dir: Path,
    source_dir: Path,
    generated_folder: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    spec = source_dir / "tests" / "python" / "specs" / f"{name}.kf.json"
    # Sanitized Python has its sanitizer's library loaded before it, which kfgen has inside.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    cache = tmp_path / "kernels" if anew else source_dir / "build" / "kernels"
    done = subprocess.run(
        [str(build_dir / "tool" / "kfgen"), "generate", str(spec), "-o", str(tmp_path), "--no-embed"],
        env=environment | {"KFGEN_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    made = (tmp_path / f"{name}.kfa").read_bytes()
    assert made == (generated_folder(f"kf_python_{name}") / f"{name}.kfa").read_bytes()
