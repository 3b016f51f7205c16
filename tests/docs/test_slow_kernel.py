"""The slow kernel of docs/debugging.md: kfgen says of it, and of its better form, what the page shows."""

import re
import subprocess
from pathlib import Path

from pages import page_blocks


def comparable(text: str) -> list[str]:
    """Lines without what every other release of a compiler may change: hashes, sizes, registers."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "(hash)", text)
    text = re.sub(r"\d+ registers", "N registers", text)
    text = re.sub(r"(entry point kf_\w+)_\w+", r"\1", text)
    text = re.sub(r"%\w+ =", "% =", text)
    return [re.sub(r" +\d+ bytes  \(", " N bytes (", line) for line in text.splitlines() if line]


def test_slow_kernel(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    page = (source_dir / "docs" / "debugging.md").read_text()
    section = page.split("\n## A slow kernel: what the compiler made", 1)[1].split("\n## ", 1)[0]
    shown: list[str] = []
    for block in page_blocks(section):
        if block.language in {"slang", "json"}:
            suffix = "kf.json" if block.language == "json" else block.language
            (tmp_path / f"digits.{suffix}").write_text(block.text)
            continue
        command, output = block.text.removeprefix("$ ").split("\n", 1)
        shown.append(output)
        done = subprocess.run(
            ["bash", "-c", command.replace("kfgen", str(build_dir / "tool" / "kfgen"), 1)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert comparable(done.stdout) == comparable(output), done.stdout
    slow, variables, quick = shown
    assert " 40 bytes of stack" in slow
    assert variables.count("OpVariable") == 5
    assert " 0 bytes of stack" in quick
