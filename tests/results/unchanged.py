"""Finds the tests that passed before with the very inputs that they have now, and keeps what passes.

usage: unchanged.py before|after LIST --kept FOLDER

As a build leaves out what is up to date, a second run of the tests leaves out what can't come out
otherwise. A unit is a test of ctest's, or a file of pytest's. Its inputs are taken to be more than they are:
- every file of the repository, but for C++ sources, which are in what was built from them;
- the programs that its command names, those of tool/ that these name, or the Python extension;
- what kfgen generated;
- the packages of the system and of Python, and the variables that are meant for us, drivers or sanitizers.
Tests in Python have the programs of tool/ as inputs, unless they are of the extension, and those of neither
have every source, too.

LIST is what `ctest --show-only=json-v1` prints, NAME.ctest.json, or `pytest --collect-only -q`,
NAME.pytest.txt. Beside it lie the results of a run, NAME.ctest.xml or NAME.pytest.xml.

before  prints the units to run, a line each. The results of the others go to NAME.….unchanged.xml, as they
        were.
after   keeps the results of those that have run since and passed, under what `before` found their inputs to
        be: that lies in NAME.….inputs.json.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from everything_ran import option_of, property_of, pytest_addresses

ROOT = Path(__file__).parent.parent.parent
GENERATED = ROOT / "build" / "generated"
VARIABLES = ("KF_", "VK_", "MESA_", "GALLIVM_", "PYTEST_", "ASAN_", "UBSAN_", "LSAN_", "LD_PRELOAD")
BUILT_SOURCES = (".cpp", ".cu")


# --- digests


@cache
def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lines_of(paths: Iterable[Path]) -> Iterator[str]:
    """One line a file that there is."""
    for path in sorted(set(paths)):
        if path.is_file():
            yield f"{digest_of(path)}  {path}"


@cache
def sources() -> tuple[Path, ...]:
    """The repository's files, those that git doesn't know yet among them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return tuple(ROOT / name for name in done.stdout.split("\0") if name)


@cache
def surroundings() -> tuple[str, ...]:
    """What tests find around them: packages, and variables."""
    site = Path(sysconfig.get_path("purelib"))
    packages = sorted(path.name for path in site.glob("*.dist-info"))
    variables = sorted(f"{name}={text}" for name, text in os.environ.items() if name.startswith(VARIABLES))
    return (sys.version, *packages, *variables, *lines_of([Path("/var/lib/dpkg/status")]))


def files_in(folder: Path) -> list[Path]:
    """The files that a build left in a folder, but for what it writes in every run."""
    written = (".stamp", ".d", ".pyc")
    return [
        path
        for path in folder.rglob("*")
        if path.suffix not in written and not path.name.startswith(".") and "CMakeFiles" not in path.parts
    ]


def programs_in(folder: Path) -> list[Path]:
    return [path for path in files_in(folder) if path.is_file() and os.access(path, os.X_OK)]


def key_of(unit: str, texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join([unit, *texts]).encode()).hexdigest()


@cache
def common_lines() -> tuple[str, ...]:
    """The inputs of every unit."""
    built = [path for path in sources() if path.suffix not in BUILT_SOURCES]
    return (*surroundings(), *lines_of(built), *lines_of(files_in(GENERATED)))


@cache
def tool_programs(*builds: Path) -> tuple[Path, ...]:
    """kfgen and what it starts."""
    return tuple(path for build in builds for path in programs_in(build / "tool"))


@cache
def names(path: Path, program: Path) -> bool:
    """Whether a file says where a program is: a test can't start it otherwise."""
    return (
        path.is_file()
        and b"%s/%s" % (program.parent.name.encode(), program.name.encode()) in path.read_bytes()
    )


@cache
def source_lines() -> tuple[str, ...]:
    return tuple(lines_of(sources()))


# --- units


def ctest_keys(listed: Path) -> dict[str, str]:
    """The key of each of ctest's tests, by its name."""
    keys = {}
    for test in json.loads(listed.read_text())["tests"]:
        command: list[str] = test["command"]
        named = [Path(word.rpartition("=")[2]) for word in command if "--gtest_output" not in word]
        build = Path(property_of(test, "WORKING_DIRECTORY"))
        while build.parent.name != "build" and build != build.parent:
            build = build.parent
        programs = tool_programs(build, ROOT / "build" / "release")
        started = [program for program in programs if any(names(path, program) for path in named)]
        texts = [json.dumps(test, sort_keys=True), *common_lines(), *lines_of([*named, *started])]
        keys[test["name"]] = key_of(test["name"], texts)
    return keys


def pytest_keys(listed: Path) -> dict[str, str]:
    """The key of each of pytest's files, by the file."""
    build = Path(os.environ.get("KF_BUILD_DIR", ROOT / "build" / "release"))
    files = dict.fromkeys(address.partition("::")[0] for address in pytest_addresses(listed.read_text()))
    keys = {}
    for file in files:
        texts = [listed.stem, *common_lines()]
        if not file.startswith("tests/tool/"):
            texts += lines_of(files_in(build / "python"))
        if not file.startswith(("tests/python/", "tests/torch/")):
            texts += lines_of(tool_programs(build, ROOT / "build" / "release"))
        if not file.startswith(("tests/python/", "tests/torch/", "tests/tool/")):
            texts += source_lines()
        keys[file] = key_of(file, texts)
    return keys


# --- results


def unit_of(case: ElementTree.Element, units: Iterable[str]) -> str:
    """The unit that a case of JUnit's is one of: pytest names the file, ctest the test itself."""
    module = str(case.get("classname"))
    for unit in units:
        dotted = unit.removesuffix(".py").replace("/", ".")
        if unit == case.get("name") or module == dotted or module.startswith(dotted + "."):
            return unit
    return ""


def passed(cases: list[ElementTree.Element]) -> bool:
    failed = any(case.find("failure") is not None or case.find("error") is not None for case in cases)
    return bool(cases) and not failed and all(case.get("status") != "fail" for case in cases)


def write_suite(path: Path, cases: Iterable[ElementTree.Element]) -> None:
    suite = ElementTree.Element("testsuite")
    suite.extend(cases)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8")


def read_suite(path: Path) -> list[ElementTree.Element]:
    try:
        return list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def own_results(listed: Path) -> dict[str, Path]:
    """Where GoogleTest programs write their own tests' results."""
    tests = json.loads(listed.read_text())["tests"]
    outputs = {
        test["name"]: option_of(test["command"], "gtest_output").removeprefix("xml:") for test in tests
    }
    return {name: Path(path) for name, path in outputs.items() if path}


def before(listed: Path, kept: Path) -> tuple[dict[str, str], list[str]]:
    """Puts the results of what passed before in place. Returns all units' keys, and the other units."""
    is_ctest = listed.suffix == ".json"
    keys = ctest_keys(listed) if is_ctest else pytest_keys(listed)
    own = own_results(listed) if is_ctest else {}
    listed.with_suffix(".inputs.json").write_text(json.dumps(keys))
    restored = listed.with_suffix(".unchanged.xml")
    restored.unlink(missing_ok=True)
    cases = []
    changed = []
    for unit, key in keys.items():
        found = read_suite(kept / f"{key}.xml")
        inner = kept / f"{key}.gtest.xml"
        if not found or (unit in own and not inner.exists()):
            changed.append(unit)
            continue
        cases += found
        if unit in own:
            own[unit].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(inner, own[unit])
    if cases:
        write_suite(restored, cases)
    return keys, changed


def after(listed: Path, kept: Path) -> None:
    """Keeps the results of the units that passed."""
    keys: dict[str, str] = json.loads(listed.with_suffix(".inputs.json").read_text())
    own = own_results(listed) if listed.suffix == ".json" else {}
    cases: dict[str, list[ElementTree.Element]] = {}
    for case in read_suite(listed.with_suffix(".xml")):
        cases.setdefault(unit_of(case, keys), []).append(case)
    for unit, found in cases.items():
        if not unit or not passed(found):
            continue
        if unit in own:
            shutil.copyfile(own[unit], kept / f"{keys[unit]}.gtest.xml")
        write_suite(kept / f"{keys[unit]}.xml", found)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("when", choices=("before", "after"))
    parser.add_argument("list", type=Path)
    parser.add_argument("--kept", type=Path, required=True)
    options = parser.parse_args(arguments)
    options.kept.mkdir(parents=True, exist_ok=True)
    if options.when == "before":
        keys, changed = before(options.list, options.kept)
        print(
            f"{len(keys) - len(changed)} of {len(keys)} passed before with the same inputs", file=sys.stderr
        )
        for unit in changed:
            print(unit)
    else:
        after(options.list, options.kept)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
