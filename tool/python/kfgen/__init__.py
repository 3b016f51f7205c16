"""The compiler kfgen as a Python package: where the program is, and the command that starts it."""

import os
import sys
from pathlib import Path
from typing import NoReturn

__all__ = ["executable", "main"]


def executable() -> Path:
    """Returns the path of the program, for build systems that start it themselves."""
    return Path(__file__).parent / "kfgen"


def main() -> NoReturn:
    """Becomes the program, which is given this process's arguments."""
    program = executable()
    os.execv(program, [str(program), *sys.argv[1:]])
