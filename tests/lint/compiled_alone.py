"""Compiles C++ sources by GCC with its warnings, each by itself, unless it passed with what it reads now.

The builds compile the sources of a folder as one, where a source finds what another includes; and those of
tests by Clang alone. These are compiled together here, too, since most of their time goes into headers. What
passed is kept (see passed.py): the files that were read, with hashes of the sources, of the headers that they
name, and of the other headers' preprocessor lines, which say what these bring along. A source with which the
build by GCC begins a compilation stood by itself there, and is left out.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from compilations import compilations
from passed import anywhere, folder_of_passed, keep
from tree import ROOT

FOLDERS = ("tool", "runtime", "samples", "tests")
COMPILER = ("g++", "-fsyntax-only", "-std=c++20", "-fPIC", "-fvisibility=hidden")
QUOTED = re.compile(r'^#include ["<](.*)[">]$', re.MULTILINE)
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")


def is_ours(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / folder) for folder in FOLDERS)


def words_to_keep(command: str) -> list[str]:
    """What a compilation defines, and where it looks for headers."""
    words = shlex.split(command)
    kept = [word for word in words if word.startswith(("-I", "-D"))]
    for place, word in enumerate(words):
        if word in ("-isystem", "-idirafter"):
            kept += words[place : place + 2]
    return kept


def commands(build: Path) -> dict[Path, list[str]]:
    """How each source of ours is compiled; those of tests as the build does it."""
    found = {}
    for one in compilations(build):
        ours = [source for source in one.sources if is_ours(source) and source.suffix == ".cpp"]
        tests = any(source.is_relative_to(ROOT / "tests") for source in ours)
        for file in [one.file] if tests else ours:
            found[file] = [*COMPILER, *WARNINGS, *words_to_keep(one.command), str(file)]
    return found


@cache
def version_of(compiler: str) -> str:
    """What a compiler says of itself after its name, which is c++ or g++ for the same one."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.partition(" ")[2]


def first_sources(build: Path) -> set[Path]:
    """The sources that a build compiled by GCC, with its warnings, before any other source."""
    found = set()
    for one in compilations(build):
        words = shlex.split(one.command)
        by_itself = set(WARNINGS) <= set(words) and "cmake_pch" not in one.command
        if by_itself and version_of(words[0]) == version_of(COMPILER[0]):
            found.add(one.sources[0])
    return found


@cache
def digest(path: Path) -> str:
    return hashlib.sha256(anywhere(path.read_bytes())).hexdigest()


@cache
def digest_of_directives(path: Path) -> str:
    """Changes where the file includes or defines something else, and not with what it declares."""
    lines = path.read_bytes().splitlines()
    return hashlib.sha256(b"\n".join(line for line in lines if line.lstrip().startswith(b"#"))).hexdigest()


@cache
def named_by(source: Path) -> frozenset[str]:
    return frozenset(QUOTED.findall(source.read_text()))


def stamped(paths: list[Path], whole: bool) -> list[str]:
    """What has to stay as it is of the files that a compilation read, a line each."""
    sources = [path for path in paths if path.suffix in (".cpp", ".cxx")]
    named = tuple("/" + name.lstrip("/") for source in sources for name in named_by(source))
    text = {path for path in paths if whole or path in sources or str(path).endswith(named)}
    return [
        f"{digest(path) if path in text else digest_of_directives(path)}  {path.relative_to(ROOT)}"
        for path in paths
    ]


def files_read(rules: str) -> list[Path]:
    """The prerequisites in a rule of make's, without the system's headers."""
    words = rules.replace("\\\n", " ").split()
    paths = {Path(os.path.normpath(word)) for word in words if not word.endswith(":")}
    return sorted(path for path in paths if path.is_relative_to(ROOT))


def begin_of(command: list[str]) -> str:
    """The first line of a compilation's stamp."""
    return anywhere(json.dumps([version_of(command[0]), command]).encode()).decode()


def stamp_of(command: list[str], passed: Path) -> Path:
    """It is there where the source passed once, whatever its headers were."""
    return passed / hashlib.sha256((begin_of(command) + digest(Path(command[-1]))).encode()).hexdigest()


def has_passed(command: list[str], passed: Path, whole: bool = True) -> bool:
    """Whether a compilation passed with what it reads now.

    Without `whole`, of the headers that the source doesn't name only the directives count.
    """
    stamp = stamp_of(command, passed)
    if not stamp.exists():
        return False
    first, *lines = stamp.read_text().splitlines()
    paths = [ROOT / line[66:] for line in lines]
    return (
        first == begin_of(command)
        and all(path.is_file() for path in paths)
        and stamped(paths, whole) == lines
    )


def check(command: list[str], passed: Path, whole: bool = True) -> str:
    """Returns what the compiler said, if it failed. What passes leaves a stamp in the folder."""
    stamp = stamp_of(command, passed)
    if has_passed(command, passed, whole):
        stamp.touch()
        return ""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.d"
        done = subprocess.run(
            [*command, "-MMD", "-MF", str(rules)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            return done.stderr
        lines = stamped(files_read(rules.read_text()), whole)
    keep(stamp, "\n".join([begin_of(command), *lines, ""]))
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--built", type=Path, help="a build whose compilations by GCC count")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--until", type=Path, help="where this file is, nothing more is begun")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    passed = folder_of_passed("compiled_alone", build)
    built = first_sources(arguments.built.resolve()) if arguments.built else set()
    found = {file: command for file, command in commands(build).items() if file not in built}
    # New texts come first: what passed once is less likely to fail with what its headers have become.
    in_turn = sorted(found.values(), key=lambda command: stamp_of(command, passed).exists())

    def check_in_time(command: list[str]) -> str | None:
        late = arguments.until and arguments.until.exists()
        if late and not has_passed(command, passed, whole=False):
            return None
        return check(command, passed, whole=False)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        said = list(pool.map(check_in_time, in_turn))
    failures = [text for text in said if text]
    print("\n".join(failures), end="")
    print(
        f"{len(found)} compilations by GCC, {len(failures)} failed, {said.count(None)} not begun",
        file=sys.stderr,
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
