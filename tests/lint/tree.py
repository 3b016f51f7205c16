"""The files of the repository that the lint tests look at."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def files(*suffixes: str) -> list[Path]:
    """Tracked and new files with one of the suffixes (all when none), without goldens; relative to ROOT."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    paths = [Path(line) for line in listing if not line.startswith("tests/golden/")]
    return [path for path in paths if (not suffixes or path.suffix in suffixes) and (ROOT / path).is_file()]
