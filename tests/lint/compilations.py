"""The compilations of a build tree, and the sources in each."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

UNITY = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")
INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)


class Compilation(NamedTuple):
    """One command of the compiler's. Where it compiles several sources as one, `file` includes them."""

    file: Path
    sources: tuple[Path, ...]
    command: str


def compilations(build: Path) -> Iterator[Compilation]:
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        included = INCLUDE.findall(file.read_text()) if UNITY.search(str(file)) else [str(file)]
        yield Compilation(file, tuple(map(Path, included)), entry["command"])
