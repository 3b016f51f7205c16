"""mypy --strict over our Python, the samples, and the stubs and tests that kfgen generated for them."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tree import ROOT


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    arguments = parser.parse_args()

    folders = (arguments.build / "samples", arguments.build.parent / "generated")
    samples = {path.name for path in (ROOT / "samples").iterdir()}
    generated = sorted(
        path for folder in folders for path in folder.glob("**/*.generated") if path.stem in samples
    )
    stubs = [path for folder in generated for path in folder.glob("*/*.pyi")]
    tests = [path for folder in generated for path in folder.glob("*/*_torch_test.py")]
    if not stubs:
        print(f"no generated stubs of samples in {' and '.join(map(str, folders))}")
        return 1
    # What stands for sys.path; files elsewhere are modules of packages named after their folders.
    bases = [
        ROOT / "runtime" / "python",
        ROOT / "tool" / "python",
        ROOT / "cmake",
        ROOT / "samples",
        *(path for path in (ROOT / "tests").iterdir() if path.is_dir()),
    ]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, [*bases, *generated]))}
    command = [sys.executable, "-m", "mypy", "--strict", "--explicit-package-bases"]
    command += ["tests", "runtime", "tool", "cmake", "samples", *map(str, [*stubs, *tests])]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
