"""Modules that tests write, generated and imported while they run."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


class Generator:
    """Runs kfgen in a folder of its own. The first file is the spec's module; `said` is what the last run
    printed."""

    def __init__(self, kfgen: Path, folder: Path) -> None:
        self.kfgen = kfgen
        self.folder = folder
        self.said = ""
        self.runs = 0

    def run(
        self, files: Mapping[str, str], calls: Sequence[Mapping[str, Any]], *options: str, **spec: Any
    ) -> int:
        """What kfgen exits with."""
        for name, text in files.items():
            (self.folder / name).write_text(text)
        self.runs += 1
        described = {"version": 1, "name": self.name, "modules": [next(iter(files))], "calls": calls, **spec}
        (self.folder / "m.kf.json").write_text(json.dumps(described))
        done = subprocess.run(
            [self.kfgen, "generate", "m.kf.json", "-o", "out", "--python", *options],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        self.said = done.stdout + done.stderr
        return done.returncode

    def module(self, files: Mapping[str, str], calls: Sequence[Mapping[str, Any]], **spec: Any) -> ModuleType:
        """Generated without a warning, and imported."""
        assert self.run(files, calls, "--werror", **spec) == 0, self.said
        return self.imported()

    def imported(self) -> ModuleType:
        """What the last run generated."""
        sys.path.insert(0, str(self.folder / "out"))
        try:
            return importlib.import_module(self.name)
        finally:
            sys.path.pop(0)

    @property
    def name(self) -> str:
        """The spec's: no two modules of a process have one."""
        return re.sub(r"\W", "_", f"made_{self.folder.name}_{self.runs}")
