"""Generates what the tests and benchmarks call, for Vulkan and CUDA, ahead of the GPU machine.

usage: generate.py KFGEN ARCHITECTURE FOLDER SPEC...

FOLDER/NAME/ receives kfgen's outputs for NAME.kf.json, and `inputs`, the SHA-256 of every file of the
repository that they were generated from; and `NAME.no_embed.cpp`, NAME.cpp by --no-embed. What is there
already and still right is kept. Compiled kernels are in KFGEN_CACHE_DIR, if that is set, or in FOLDER/.cache.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Specs that have no kernels for CUDA.
VULKAN_ALONE = {"vulkan_only", "textures_on_vulkan"}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def source_folder(spec: Path) -> Path:
    """Where its modules are, and those that they import."""
    module: str = json.loads(spec.read_text())["modules"][0]
    return (spec.parent / module).resolve().parent


def inputs(kfgen: Path, spec: Path, architecture: str) -> str:
    """One line a file, and one for kfgen itself."""
    folder = source_folder(spec)
    sources = sorted([spec, *folder.glob("*.slang"), *folder.glob("*.h")])
    lines = [f"{digest(path)}  {path.relative_to(ROOT)}" for path in sources]
    return "\n".join([*lines, f"# {architecture} by {digest(kfgen)}", ""])


def derived_spec(spec: Path, architecture: str, folder: Path) -> Path:
    """The spec with both targets, unless it is for CUDA alone, where its modules can be found from.

    What is for a device header stays as it is: structs that lie otherwise on hosts are fine in one. So does
    what is to have no kernels for CUDA.
    """
    text = json.loads(spec.read_text())
    cuda = {"cuda": {"arch": [architecture], "ptx": True}}
    is_for_vulkan = text["name"] in VULKAN_ALONE or text["name"].endswith("_vulkan")
    is_as_it_stands = "cuda_header" in text.get("outputs", []) or is_for_vulkan
    if not is_as_it_stands:
        text["targets"] = ["vulkan", cuda] if "vulkan" in text.get("targets", ["vulkan"]) else [cuda]
    for key in {"modules", "link", "search_paths"} & text.keys():
        text[key] = [os.path.relpath(spec.parent / path, folder) for path in text[key]]
    for header in {one["header"] for one in text.get("structs", [])}:
        shutil.copy(spec.parent / header, folder / header)  # generated headers include it by this name
    result = folder / spec.name
    result.write_text(json.dumps(text, indent=2))
    return result


def generate(kfgen: Path, architecture: str, target: Path, spec: Path) -> None:
    name = json.loads(spec.read_text())["name"]
    folder = target / name
    stamp = folder / "inputs"
    wanted = inputs(kfgen, spec, architecture)
    if stamp.exists() and stamp.read_text() == wanted:
        print(f"{name}: up to date")
        return
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    print(f"{name}: generating", flush=True)
    derived = derived_spec(spec, architecture, folder)
    cache = os.environ.get("KFGEN_CACHE_DIR") or target / ".cache"
    found = ["-I", source_folder(spec)]
    written = ["--python", "--torch-tests"]
    command = [kfgen, "generate", derived, *found, *written, "--quiet", "--cache-dir", cache, "-o"]
    apart = folder / "no_embed"
    for arguments in ([folder], [apart, "--no-embed"]):
        subprocess.run([str(part) for part in [*command, *arguments]], check=True)
    (apart / f"{name}.cpp").rename(folder / f"{name}.no_embed.cpp")
    shutil.rmtree(apart)
    stamp.write_text(wanted)


def main() -> None:
    kfgen, architecture, target, *specs = sys.argv[1:]
    names = Counter(json.loads(Path(spec).read_text())["name"] for spec in specs)
    if same := [name for name, count in names.items() if count > 1]:
        sys.exit(f"generate.py: several specs are named {', '.join(same)}, and would share a folder")
    for spec in specs:
        generate(Path(kfgen).resolve(), architecture, Path(target).resolve(), Path(spec).resolve())


if __name__ == "__main__":
    main()
