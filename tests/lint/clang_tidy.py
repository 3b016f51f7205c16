"""Runs clang-tidy over the sources of tool/ and runtime/ that changed since they last passed.

What passed is kept in the build tree, under a hash of the file, every header of ours and the settings.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tree import ROOT, files

FOLDERS = ("tool", "runtime", "samples")


def checked_sources(build: Path) -> list[Path]:
    """Our sources that the build tree compiles, without generated ones."""
    commands = json.loads((build / "compile_commands.json").read_text())
    compiled = {Path(command["file"]) for command in commands}
    return sorted(path for path in compiled if any(path.is_relative_to(ROOT / folder) for folder in FOLDERS))


def digest(contents: list[Path]) -> bytes:
    state = hashlib.sha256()
    for path in contents:
        state.update(path.read_bytes())
    return state.digest()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    arguments = parser.parse_args()

    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    headers = [ROOT / path for path in files(".h") if path.parts[0] in FOLDERS]
    shared = digest([ROOT / ".clang-tidy", *headers]) + version
    passed = arguments.build / "clang_tidy_passed"
    passed.mkdir(exist_ok=True)

    def check(source: Path) -> tuple[Path, str]:
        stamp = passed / hashlib.sha256(shared + digest([source]) + bytes(source)).hexdigest()
        if stamp.exists():
            return source, ""
        # GCC's own warning options are unknown to clang.
        done = subprocess.run(
            [
                "clang-tidy",
                "--quiet",
                "-p",
                arguments.build,
                "--extra-arg=-Wno-unknown-warning-option",
                source,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            stamp.touch()
            return source, ""
        return source, done.stdout + done.stderr

    failures = 0
    sources = checked_sources(arguments.build)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for source, output in pool.map(check, sources):
            if output:
                failures += 1
                print(f"{source.relative_to(ROOT)}\n{output}", flush=True)
    print(f"clang-tidy: {len(sources)} files, {failures} with findings")
    return 1 if failures or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
