"""The specs that the GPU suite generates have a folder each, by their names."""

import subprocess
import sys
from collections import Counter
from pathlib import Path


def test_no_two_have_one_name(source_dir: Path) -> None:
    done = subprocess.run(
        ["bash", "tests/gpu/list_specs.sh"],
        cwd=source_dir,
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    specs = done.stdout.split()
    assert len(specs) > 50
    names = Counter(Path(spec).name for spec in specs)
    assert [name for name, count in names.items() if count > 1] == []
