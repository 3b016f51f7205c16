"""What the tests of documentation share: a page's fenced blocks, and running what it says."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

# How the files end that a page shows in a language.
SUFFIXES = {
    "slang": ".slang",
    "json": ".json",
    "cmake": "CMakeLists.txt",
    "cpp": ".cpp",
    "python": ".py",
}


class Block(NamedTuple):
    """A fenced block; the language is "" where none is named."""

    language: str
    text: str
    #: The paragraph above it, or above the blocks that it follows without text between them.
    before: str

    @property
    def file(self) -> str:
        """The file that it shows: the last that the paragraph names with the language's suffix, or ""."""
        suffix = SUFFIXES.get(self.language)
        names: list[str] = re.findall(r"`([^`\s]+)`", self.before)
        return next((name for name in reversed(names) if suffix and name.endswith(suffix)), "")


def page_blocks(text: str) -> list[Block]:
    """The fenced blocks of a page's text, in order."""
    found: list[Block] = []
    end = 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        between = text[end : match.start()].strip()
        before = between.rpartition("\n\n")[2] if between or not found else found[-1].before
        found.append(Block(match[1], match[2], before))
        end = match.end()
    return found


def fences(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each fenced block; the language is "" where none is named."""
    return [(block.language, block.text) for block in page_blocks(page.read_text())]


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
