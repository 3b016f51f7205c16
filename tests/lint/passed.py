"""Where linters keep what passed: KF_LINT_CACHE, which clones share, or the build tree.

A stamp says nothing of where the repository lies. What wasn't asked for in a month is forgotten.
"""

import os
import tempfile
import time
from pathlib import Path

from tree import ROOT

MONTH_S = 30 * 24 * 60 * 60


def anywhere(text: bytes) -> bytes:
    """The text of a command or a file, as it is in a repository that lies elsewhere."""
    return text.replace(str(ROOT).encode(), b".")


def folder_of_passed(linter: str, build: Path) -> Path:
    """The folder of a linter's stamps."""
    folder = Path(os.environ.get("KF_LINT_CACHE") or build) / linter
    folder.mkdir(parents=True, exist_ok=True)
    for stamp in folder.iterdir():
        if stamp.stat().st_mtime < time.time() - MONTH_S:
            stamp.unlink(missing_ok=True)
    return folder


def keep(stamp: Path, text: str = "") -> None:
    """Writes a stamp, which others read whole or not at all."""
    with tempfile.NamedTemporaryFile("w", dir=stamp.parent, delete=False) as file:
        file.write(text)
    Path(file.name).replace(stamp)
