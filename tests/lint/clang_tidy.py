"""Runs clang-tidy over the sources of tool/, runtime/ and samples/ that changed since they last passed.

Where the build compiles several sources as one (CMAKE_UNITY_BUILD), so does clang-tidy, whose time goes into
headers. What passed is kept (see passed.py) under a hash of the settings and of what was read.
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compilations import Compilation, compilations
from passed import anywhere, folder_of_passed, keep
from tree import ROOT

FOLDERS = ("tool", "runtime", "samples")


def is_ours(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / folder) for folder in FOLDERS)


def units(build: Path) -> list[Compilation]:
    """What the build tree compiles of ours, without generated sources."""
    found = {one.file: one for one in compilations(build) if any(is_ours(source) for source in one.sources)}
    return [found[file] for file in sorted(found)]


def headers_of(unit: Compilation) -> list[Path]:
    """The headers of ours that the unit includes, as the compiler says."""
    command = re.sub(r" -o \S+", "", unit.command) + " -MM"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    words = done.stdout.replace("\\\n", " ").split()[1:]
    paths = {Path(os.path.normpath(word)) for word in words}
    return sorted(path for path in paths if is_ours(path))


def digest(*contents: bytes) -> bytes:
    state = hashlib.sha256()
    for content in contents:
        state.update(hashlib.sha256(content).digest())
    return state.digest()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    # The pinned wheel's program: those before 21 spend half of their time in system headers.
    program = Path(sys.executable).with_name("clang-tidy")
    version = subprocess.run([program, "--version"], capture_output=True, check=True).stdout
    settings = digest((ROOT / ".clang-tidy").read_bytes(), version)
    passed = folder_of_passed("clang_tidy", build)

    def check(unit: Compilation) -> str:
        read = [path for path in [*unit.sources, *headers_of(unit)] if path.exists()]
        contents = [anywhere(part) for path in read for part in (bytes(path), path.read_bytes())]
        stamp = passed / digest(settings, anywhere(unit.command.encode()), *contents).hex()
        if stamp.exists():
            stamp.touch()
            return ""
        # GCC's own warning options are unknown to clang. GCC itself says what is deprecated; its library uses
        # what clang would name.
        off = [f"--extra-arg=-Wno-{name}" for name in ("unknown-warning-option", "deprecated-declarations")]
        done = subprocess.run(
            [program, "--quiet", "-p", build, *off, unit.file],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            keep(stamp)
            return ""
        return done.stdout + done.stderr

    failures = 0
    found = units(build)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for unit, output in zip(found, pool.map(check, found), strict=True):
            if output:
                failures += 1
                names = ", ".join(str(source.relative_to(ROOT)) for source in unit.sources if is_ours(source))
                print(f"{names}\n{output}", flush=True)
    sources = {source for unit in found for source in unit.sources if is_ours(source)}
    print(f"clang-tidy: {len(sources)} files, {failures} of {len(found)} compilations with findings")
    return 1 if failures or not found else 0


if __name__ == "__main__":
    sys.exit(main())
