"""docs/architecture.md names files that begin stages and types that leave them: each exists."""

import re
from pathlib import Path

PAGE = "docs/architecture.md"


def rows(text: str) -> list[list[str]]:
    """The cells of the tables of stages."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in cells] for cells in lines if len(cells) == 3]


def test_files_exist(source_dir: Path) -> None:
    names = re.findall(r"`((?:tool|runtime|templates|tests)(?:/[^`\s]+)?)`", (source_dir / PAGE).read_text())
    assert len(names) > 20
    assert [name for name in names if not (source_dir / name).exists()] == []


def test_types_are_defined(source_dir: Path) -> None:
    headers = [*(source_dir / "tool").rglob("*.h"), *(source_dir / "runtime").rglob("*.h")]
    text = "\n".join(header.read_text() for header in headers)
    stages = rows((source_dir / PAGE).read_text())
    types = {name for cells in stages for name in re.findall(r"`([A-Z][a-z]\w*)`", cells[2])}
    assert len(types) > 10
    assert [
        name for name in sorted(types) if not re.search(rf"^\s*(struct|class) {name}\b", text, re.M)
    ] == []
