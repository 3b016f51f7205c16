"""What the tests of documentation share: a page's fenced blocks, and running what it says."""

import re
import subprocess
from pathlib import Path


def fences(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each fenced block; the language is "" where none is named."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    """The texts of the fenced blocks in one language."""
    return [text for found, text in fences(page) if found == language]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What the command prints; the test fails if the command does."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout
