"""What is not the input's fault ends with exit code 3, says so, and leaves nothing behind."""

import os
import re
import subprocess
from pathlib import Path

SPEC = Path(__file__).parents[2] / "samples" / "add" / "add.kf.json"


def generate(build: Path, output: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [build / "tool" / "kfgen", "generate", SPEC, "-o", output],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def slang_library(build: Path) -> Path:
    listing = subprocess.run(["ldd", build / "tool" / "kfgen"], capture_output=True, text=True, check=True)
    found = re.search(r"=> (\S*libslang\S*)", listing.stdout)
    assert found, listing.stdout
    return Path(found[1])


def test_slang_without_its_optimiser(build_dir: Path, tmp_path: Path) -> None:
    alone = tmp_path / "slang"
    alone.mkdir()
    library = slang_library(build_dir)
    (alone / library.name).symlink_to(library)
    output = tmp_path / "out"
    done = generate(build_dir, output, LD_LIBRARY_PATH=str(alone), KFGEN_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 3, done.stderr
    assert f"{SPEC}:7:5: error: Slang found no SPIR-V optimiser" in done.stderr
    assert "[slang-optimiser-missing]" in done.stderr
    assert not output.exists()


def test_a_folder_that_cannot_be_made(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = generate(build_dir, tmp_path / "file" / "out")
    assert done.returncode == 3, done.stderr
    folder = tmp_path / "file" / "out"
    assert f"{folder}: error: the folder can't be made: Not a directory [file-unwritable]" in done.stderr
    assert (tmp_path / "file").read_text() == "in the way"
