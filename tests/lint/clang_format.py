"""Checks the C++ sources' format; `--fix` rewrites them."""

import subprocess
import sys
from pathlib import Path

from tree import ROOT, files


def main() -> int:
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "--Werror"]
    sources = [str(path) for path in files(".cpp", ".h")]
    # The pinned wheel's program, beside its Python.
    program = Path(sys.executable).with_name("clang-format")
    done = subprocess.run([program, *mode, *sources], cwd=ROOT, check=False)
    if done.returncode:
        print("To fix it: .venv/bin/python3 tests/lint/clang_format.py --fix")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
