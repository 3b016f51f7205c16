"""Checks that pip can install the pinned wheels on the oldest Python that we support, and on a newer one.

usage: pinned_wheels.py [REQUIREMENTS...]

pip resolves them, with what they depend on, as if it were that Python, and installs nothing. Of PyTorch and
what depends on it, a wheel has to exist: resolving it would download gigabytes. What passed with the same
pins isn't asked again for a week, as packages can be withdrawn.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from passed import folder_of_passed, keep
from tree import ROOT, files

#: Debian 12's and Debian 13's.
VERSIONS = ("3.11.2", "3.13.5")
WEEK_S = 7 * 24 * 60 * 60


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def unresolved(pins: str, *wheels: str) -> list[str]:
    """Why pip can't install these together."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "pins.txt").write_text(pins)
        done = pip(
            *("install", "-q", "--dry-run", "--ignore-installed", "--implementation", "cp"),
            *(*wheels, "--target", scratch, "-r", f"{scratch}/pins.txt"),
        )
    if done.returncode == 0:
        return []
    return [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr]


def is_offered(name: str, release: str, *wheels: str) -> bool:
    """Returns whether there is a wheel of a release, built for CPUs alone or not."""
    listed = pip("index", "versions", name, *wheels).stdout.partition("Available versions:")[2]
    return release in {version.strip().partition("+")[0] for version in listed.split("\n")[0].split(",")}


def complaints(requirements: list[Path], version: str) -> list[str]:
    """What is wrong for a version of Python; nothing if all can be installed together."""
    lines = [line for path in requirements for line in (ROOT / path).read_text().splitlines()]
    torch = [line for line in lines if line.startswith(("torch==", "slangtorch=="))]
    wheels = ("--only-binary=:all:", "--python-version", version)
    found = unresolved("\n".join(line for line in lines if line not in torch), *wheels)
    found += [f"ERROR: no wheel of {line}" for line in torch if not is_offered(*line.split("=="), *wheels)]
    return [line[:400] for line in found]


def main() -> int:
    parser = argparse.ArgumentParser(description="checks that pinned wheels can be installed")
    parser.add_argument("requirements", nargs="*", type=Path, help="default: every *requirements.txt")
    named = parser.parse_args().requirements
    requirements = named or [path for path in files(".txt") if path.name.endswith("requirements.txt")]
    text = b"".join((ROOT / path).read_bytes() for path in requirements)
    key = hashlib.sha256(text + repr(VERSIONS).encode() + Path(__file__).read_bytes()).hexdigest()
    stamp = folder_of_passed("pinned_wheels", ROOT / "build") / key
    if stamp.exists() and stamp.stat().st_mtime > time.time() - WEEK_S:
        return 0
    status = 0
    for version in VERSIONS:
        if found := complaints(requirements, version):
            print(f"Python {version} can't install {', '.join(map(str, requirements))}:", *found, sep="\n")
            status = 1
    if status == 0:
        keep(stamp)
    return status


if __name__ == "__main__":
    sys.exit(main())
