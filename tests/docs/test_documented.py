"""The parser of tests/root/documented.py, and that it understands all of the pages; CI runs the commands."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "root"))

from documented import ELSEWHERE, PAGES, fits, not_understood, steps

PAGE = """\
A file, `add.slang`, and `main.cpp`:
```sh
mkdir ~/new && cd ~/new    # a folder
kfgen generate \\
    add.kf.json
```
```
2 outputs
```
```slang
int add();
```
```cpp
int main() {}
```
Another paragraph.
```cpp
main();
```
"""


def test_steps_are_commands_and_files() -> None:
    found = [(step.name, step.expected, step.together) for step in steps(PAGE)]
    assert found == [
        ("mkdir ~/new && cd ~/new", "", 0),
        ("kfgen generate add.kf.json", "2 outputs\n", 1),
        ("writes add.slang", "", 0),
        ("writes main.cpp", "", 0),
    ]
    assert list(not_understood(PAGE)) == []


@pytest.mark.parametrize(
    ("page", "finding"),
    [
        ("```bash\nls\n```\n", "a block of bash: ls"),
        ("```\nls\n```\n", "a block without a language that isn't below one of sh: ls"),
        ("`../main.cpp`:\n```cpp\nx\n```\n", "a file elsewhere: ../main.cpp"),
        ("Run `pip install x`.\n", "a command in a sentence that no block of sh has: pip install x"),
    ],
)
def test_what_is_not_understood_is_found(page: str, finding: str) -> None:
    assert list(not_understood(page)) == [finding]


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_understood(page: str, source_dir: Path) -> None:
    assert list(not_understood((source_dir / page).read_text())) == []


def test_what_runs_elsewhere_is_on_a_page(source_dir: Path) -> None:
    text = "".join((source_dir / page).read_text() for page in PAGES)
    assert [command for command in ELSEWHERE if command not in text] == []


def test_outputs_fit_but_for_numbers_and_widths() -> None:
    printed = "building\nDEVICE     DRIVER\nvulkan:0   Mesa 25.1 (LLVM 19.1.7)\nfeatures: a\n  b c\n"
    assert fits(printed, "DEVICE  DRIVER\nvulkan:0  Mesa 22.3.6 (LLVM 15.0.6)\nfeatures: a ...\n")
    assert not fits(printed, "DEVICE  DRIVER\nvulkan:0  NVIDIA 580\nfeatures: a ...\n")
    assert not fits(printed, "DEVICE  DRIVER\n")
    assert not fits(printed, "VICE  DRIVER\nvulkan:0  Mesa 1 (LLVM 1)\nfeatures: a\nb c\n")
