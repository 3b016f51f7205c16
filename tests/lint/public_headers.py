"""Compiles the public headers as an application with strict warnings as errors does, by one compiler or more.

It compiles each header by itself; a program that uses what they offer (tests/runtime/include), since inline
code has many of its warnings only where it is instantiated and optimised; and what kfgen generated for the
samples. All of them are included by -I: -isystem would hide their warnings. What passed is kept (see
passed.py). It needs nothing but Python and the compilers.
"""

import argparse
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import compiled_alone
from passed import folder_of_passed
from tree import ROOT

WARNINGS = (
    *("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic"),
    *("-Wold-style-cast", "-Wsign-conversion", "-Wnull-dereference", "-Wdouble-promotion"),
)
OPTIONS = ("-std=c++20", *WARNINGS, "-Werror", "-O2", "-c", "-o", os.devnull)


@dataclass(frozen=True)
class Unit:
    """What is compiled, by which words of a command."""

    name: Path
    words: tuple[str, ...]


def headers() -> list[Unit]:
    """Each header by itself, included: compilers don't expect #pragma once in a source."""
    include = ROOT / "runtime" / "include"
    paths = sorted(path.relative_to(include) for path in include.glob("kf/*.h"))
    return [Unit(path, ("-include", str(path), "-x", "c++", os.devnull)) for path in paths]


def programs() -> list[Unit]:
    paths = sorted((ROOT / "tests" / "runtime" / "include").glob("*.cpp"))
    return [Unit(path.relative_to(ROOT), (str(path),)) for path in paths]


def generated_sources(generated: Path) -> list[Unit]:
    """The sources of the samples' libraries, each of which begins with its header."""
    found = []
    for path in sorted(generated.glob("*.generated/*.cpp")):
        sample = ROOT / "samples" / path.stem
        if sample.is_dir() and path.parent.stem == path.stem:
            found.append(Unit(Path(path.name), (f"-I{path.parent}", f"-I{sample}", str(path))))
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--compiler", action="append", help="may be given several times; else g++ and clang++"
    )
    parser.add_argument("--generated", type=Path, help="the folder with the NAME.generated of the samples")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    arguments = parser.parse_args()
    compilers: list[str] = arguments.compiler or ["g++", "clang++"]
    for compiler in compilers:
        if shutil.which(compiler) is None:
            parser.error(f"there is no {compiler} here")
    units = [*headers(), *programs()]
    if arguments.generated:
        generated = generated_sources(arguments.generated.resolve())
        if not generated:
            parser.error(f"no generated sources of samples in {arguments.generated}")
        units += generated

    include = f"-I{ROOT / 'runtime' / 'include'}"
    commands = [[compiler, *OPTIONS, include, *unit.words] for compiler in compilers for unit in units]
    passed = folder_of_passed("public_headers", ROOT / "build")
    failures = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        outputs = pool.map(partial(compiled_alone.check, passed=passed), commands)
        for place, output in enumerate(outputs):
            if output:
                failures += 1
                compiler, name = compilers[place // len(units)], units[place % len(units)].name
                print(f"{compiler}: {name}\n{output}", flush=True)
    print(f"public headers: {len(commands)} compilations, {failures} failed")
    return 1 if failures or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
