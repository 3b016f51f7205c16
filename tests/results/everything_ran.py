"""Compares the tests that CMake, GoogleTest programs and pytest declare with those in their results.

usage: everything_ran.py [--ctest LIST RESULTS ...] [--pytest LIST RESULTS ...] ...

A test that was declared must have run, once. One that was skipped must have been for want of a GPU: its
reason then says "needs a GPU" or "needs 2 GPUs".

--ctest   LIST is what `ctest --show-only=json-v1` prints; RESULTS are written by `ctest --output-junit`.
          GoogleTest programs in the list are asked for their tests. They leave results of their own by an
          argument --gtest_output=xml:FILE; those that run a single test by --gtest_filter need not.
--pytest  LIST is what `pytest --collect-only -q` prints; RESULTS are written by `pytest --junit-xml`.

LIST is written before the tests run: results that are older are of another run. Each option may be repeated.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

NEEDS_GPU = re.compile(r"\bneeds (a GPU|\d+ GPUs)\b")


class UnusableError(Exception):
    """A list or results that can't be read."""


@dataclass(frozen=True)
class Result:
    """One test of a results file."""

    name: str
    ran: bool
    reason: str = ""  # why it didn't


@dataclass
class Comparison:
    """What came of the tests of one list."""

    source: str
    declared: int = 0
    ran: int = 0
    needing_gpus: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def compare(source: str, declared: Iterable[str], results: Iterable[Result]) -> Comparison:
    """Finds tests that didn't run, ran more than once, or were skipped though no GPU was missing."""
    wanted = Counter(declared)
    found = list(results)
    times = Counter(result.name for result in found)
    comparison = Comparison(source, declared=wanted.total())
    fault = comparison.faults.append
    if not wanted:
        fault("no test is declared")
    for name, count in wanted.items():
        if count > 1:
            fault(f"declared {count} times: {name}")
        if times[name] == 0:
            fault(f"didn't run: {name}")
    for name, count in times.items():
        if count > 1:
            fault(f"{count} results: {name}")
        if name not in wanted:
            fault(f"isn't declared: {name}")
    for result in found:
        if result.ran:
            comparison.ran += 1
        elif NEEDS_GPU.search(result.reason):
            comparison.needing_gpus.append(result.name)
        else:
            fault(f"skipped: {result.name}: {' '.join(result.reason.split()) or 'without a reason'}")
    return comparison


def read_cases(path: Path, written_after: Path) -> list[ElementTree.Element]:
    """Returns the test cases of a results file that was written after the other file."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        if path.stat().st_mtime_ns < written_after.stat().st_mtime_ns:
            raise UnusableError(f"{path} is older than {written_after}: it is of another run")
    except FileNotFoundError:
        raise UnusableError(f"{path} wasn't written") from None
    except ElementTree.ParseError as error:
        raise UnusableError(f"{path} isn't whole: {error}") from None
    if not cases:
        raise UnusableError(f"{path} has no result")
    return cases


def reason_of(case: ElementTree.Element) -> str:
    skipped = case.find("skipped")
    message = "" if skipped is None else skipped.text or skipped.get("message") or ""
    # Of a skipped GoogleTest, ctest knows no more than what it printed.
    if message == "SKIP_REGULAR_EXPRESSION_MATCHED":
        printed = case.findtext("system-out") or ""
        return printed.partition(": Skipped\n")[2].partition("[  SKIPPED ]")[0]
    return message


# --- pytest


def pytest_addresses(text: str) -> list[str]:
    """Returns the tests in what `pytest --collect-only -q` printed: "tests/test_a.py::test_b[c]"."""
    return [line for line in text.splitlines() if "::" in line.partition("[")[0]]


def pytest_names(text: str) -> list[str]:
    """Returns the names of these tests, as results have them."""
    names = []
    for line in pytest_addresses(text):
        address, bracket, parameters = line.partition("[")
        file, *inner = address.split("::")
        module = file.removesuffix(".py").replace("/", ".")
        names.append(".".join([module, *inner[:-1]]) + "::" + inner[-1] + bracket + parameters)
    return names


def pytest_results(path: Path, listed: Path) -> list[Result]:
    return [
        Result(f"{case.get('classname')}::{case.get('name')}", case.find("skipped") is None, reason_of(case))
        for case in read_cases(path, listed)
    ]


def compare_pytest(listed: Path, results: list[Path]) -> list[Comparison]:
    declared = pytest_names(read_list(listed))
    found = [result for path in results for result in pytest_results(path, listed)]
    return [compare(str(listed), declared, found)]


# --- ctest and GoogleTest


def gtest_name(case: ElementTree.Element, suite: str) -> str:
    return f"{suite}.{case.get('name')}"


def gtest_names(program: str, environment: dict[str, str]) -> list[str]:
    """Asks a program for its tests."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "tests.xml"
        command = [program, "--gtest_list_tests", f"--gtest_output=xml:{output}"]
        # A filter or a shard is one run's; the list is of all of them.
        chosen = {name: text for name, text in environment.items() if not name.startswith("GTEST_")}
        done = subprocess.run(
            command, env={**os.environ, **chosen}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0 or not output.exists():
            raise UnusableError(f"{program} doesn't list its tests: {done.stderr or done.stdout}")
        suites = ElementTree.parse(output).getroot().iter("testsuite")
        return [gtest_name(case, suite.get("name", "")) for suite in suites for case in suite]


def gtest_results(path: Path, listed: Path) -> list[Result]:
    results = []
    for case in read_cases(path, listed):
        # Disabled tests and those that a failed process left have no other mark.
        ran = case.get("status") == "run" and case.get("result") == "completed"
        reason = reason_of(case) or "" if case.get("result") == "skipped" else str(case.get("result"))
        results.append(Result(gtest_name(case, case.get("classname", "")), ran, reason))
    return results


def ctest_results(path: Path, listed: Path) -> list[Result]:
    return [
        Result(
            case.get("name", ""),
            case.get("status") in {"run", "fail"},
            reason_of(case) or str(case.get("status")),
        )
        for case in read_cases(path, listed)
    ]


def property_of(test: dict[str, Any], name: str) -> Any:
    return next((each["value"] for each in test.get("properties", []) if each["name"] == name), None)


def environment_of(test: dict[str, Any]) -> dict[str, str]:
    return dict(entry.partition("=")[::2] for entry in property_of(test, "ENVIRONMENT") or [])


def option_of(command: list[str], name: str) -> str:
    """The value of the last argument --NAME=VALUE; empty without one."""
    return next((text.partition("=")[2] for text in reversed(command) if text.startswith(f"--{name}=")), "")


def compare_ctest(listed: Path, results: list[Path]) -> list[Comparison]:
    try:
        tests = json.loads(read_list(listed))["tests"]
    except (ValueError, KeyError):
        raise UnusableError(f"{listed} isn't what `ctest --show-only=json-v1` prints") from None
    found = [result for path in results for result in ctest_results(path, listed)]
    whole = compare(str(listed), [test["name"] for test in tests], found)
    programs: dict[str, list[Path]] = {}
    environments: dict[str, dict[str, str]] = {}
    for test in tests:
        command = test.get("command") or [""]
        output = option_of(command, "gtest_output")
        if output.startswith("xml:"):
            path = Path(property_of(test, "WORKING_DIRECTORY") or "", output.removeprefix("xml:"))
            programs.setdefault(command[0], []).append(path)
            environments[command[0]] = environment_of(test)
        elif Path(command[0]).name.endswith("_test"):
            chosen = option_of(command, "gtest_filter")
            if not chosen or "*" in chosen or ":" in chosen or "-" in chosen:
                whole.faults.append(f"{test['name']} leaves no results: it needs --gtest_output=xml:FILE")
    comparisons = [whole]
    for program, outputs in programs.items():
        try:
            ran = [result for path in outputs for result in gtest_results(path, listed)]
            comparisons.append(compare(program, gtest_names(program, environments[program]), ran))
        except UnusableError as error:
            comparisons.append(Comparison(program, faults=[str(error)]))
    return comparisons


# --- command line


def read_list(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnusableError(f"{path}: {error.strerror}") from None


def report(comparisons: list[Comparison]) -> int:
    for one in comparisons:
        for fault in one.faults:
            print(f"{one.source}: {fault}")
    waiting = [f"{one.source}: {name}" for one in comparisons for name in one.needing_gpus]
    if waiting:
        print(f"{len(waiting)} skipped for want of a GPU:")
        print("\n".join(f"  {name}" for name in waiting))
    declared = sum(one.declared for one in comparisons)
    ran = sum(one.ran for one in comparisons)
    faults = sum(len(one.faults) for one in comparisons)
    print(f"{declared} tests declared, {ran} ran, {len(waiting)} skipped for want of a GPU, {faults} faults")
    return 1 if faults else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    kinds = {"ctest": compare_ctest, "pytest": compare_pytest}
    for kind in kinds:
        parser.add_argument(f"--{kind}", action="append", default=[], nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    comparisons: list[Comparison] = []
    for kind, comparing in kinds.items():
        for listed, *results in getattr(options, kind):
            try:
                comparisons += comparing(listed, results)
            except UnusableError as error:
                comparisons.append(Comparison(str(listed), faults=[str(error)]))
    if not comparisons:
        parser.error("nothing to compare")
    return report(comparisons)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
