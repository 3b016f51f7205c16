"""Counts which of some small changes of the program the tests notice.

    python tests/mutation/run_mutants.py --mutants 200 --seed 1

One build, in build/mutation, has all of them; KF_MUTANT switches one on. The tests run once without any,
which says what each of them reaches, and then for each mutant those that reach it, until one fails. What is
known is kept: a run that was ended goes on where it was.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "lint"))

from compilations import compilations
from compiled_alone import words_to_keep
from mutants import Finder, Mutant, with_mutants
from tree import ROOT

AREAS = {
    "launch": "runtime/core",
    "vulkan": "runtime/vulkan",
    "plan": "tool/plan",
    "emit": "tool/emit",
}
FOLDER = ROOT / "build" / "mutation"
TREE = FOLDER / "source"
BUILD = TREE / "build" / "release"


class Test(NamedTuple):
    """A program of C++ tests, or a file of Python tests."""

    name: str
    command: list[str]


class Passed(NamedTuple):
    seconds: float
    reached: list[int]


def resource_folder() -> str:
    """The headers that belong to a compiler, which libclang's wheel doesn't have."""
    said = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=True)
    return said.stdout.strip() + "/include"


def mutants_of(file: Path, command: str) -> list[Mutant]:
    arguments = ["-std=c++20", *words_to_keep(command), "-isystem", resource_folder()]
    return Finder(ROOT, file, arguments).find()


def all_mutants(build: Path, area: str) -> list[Mutant]:
    wanted = [
        (source, one.command)
        for one in compilations(build)
        for source in one.sources
        if source.is_relative_to(ROOT / AREAS[area]) and source.suffix == ".cpp"
    ]
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda one: mutants_of(*one), sorted(dict(wanted).items()))
        return [mutant for one in found for mutant in one]


def choose(mutants: list[Mutant], count: int, seed: str) -> list[Mutant]:
    """As many as are wanted, of which none stands inside another."""
    chosen: list[Mutant] = []
    order = sorted(mutants)
    random.Random(seed).shuffle(order)
    for mutant in order:
        if len(chosen) == count:
            break
        if all(
            mutant.file != other.file or mutant.end <= other.begin or other.end <= mutant.begin
            for other in chosen
        ):
            chosen.append(mutant)
    return chosen


def apply(mutants: list[Mutant]) -> None:
    """Writes the tree with all of them, numbered from 1; what didn't change keeps its time."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    changes: dict[str, list[tuple[Mutant, int]]] = {}
    for number, mutant in enumerate(mutants, 1):
        changes.setdefault(mutant.file, []).append((mutant, number))
    for name in filter(None, names.decode().split("\0")):
        source, target = ROOT / name, TREE / name
        if not source.is_file():
            continue
        text = source.read_bytes()
        text = with_mutants(text, changes.get(name, []))
        if target.is_file() and target.read_bytes() == text:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
        shutil.copymode(source, target)


def build_tree(jobs: int) -> None:
    venv = TREE / ".venv"
    if not venv.exists() and (ROOT / ".venv").exists():
        venv.symlink_to(ROOT / ".venv")
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_FLAGS_RELEASE": "-O1",
        "CMAKE_UNITY_BUILD": "ON",
        "CMAKE_UNITY_BUILD_BATCH_SIZE": "16",
        "KF_BUILD_TESTS": "ON",
        "KF_GENERATED_DIRECTORY": str(TREE / "build" / "generated"),
        **({"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}),
    }
    given = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", *given], check=True)
    subprocess.run(["cmake", "--build", BUILD, "-j", str(jobs)], check=True)


def tests() -> list[Test]:
    listed = subprocess.run(
        ["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, text=True, check=True
    )
    programs = [
        Test(one["name"], ["ctest", "--test-dir", str(BUILD), "-R", f"^{one['name']}$", "--timeout", "900"])
        for one in json.loads(listed.stdout)["tests"]
    ]
    python = [
        Test(str(file.relative_to(TREE)), [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", str(file)])
        for file in sorted((TREE / "tests").glob("python/test_*.py"))
    ]
    return programs + python


def run(test: Test, environment: dict[str, str], limit_s: float) -> bool:
    """Whether it passes; one that takes too long doesn't."""
    started = subprocess.Popen(
        test.command,
        cwd=TREE,
        env={**os.environ, "KF_BUILD_DIR": str(BUILD), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        # Pytest says 5 where a file has no test that runs here.
        return started.wait(timeout=limit_s) in (0, 5)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        return False


def reach(test: Test) -> Passed | None:
    """What the test reaches when nothing is changed; nothing of one that fails then."""
    file = FOLDER / "reached" / test.name.replace("/", "_")
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    begun = time.monotonic()
    if not run(test, {"KF_MUTANTS_REACHED": str(file)}, 1800):
        return None
    numbers = {int(line) for line in file.read_text().split()} if file.exists() else set()
    return Passed(time.monotonic() - begun, sorted(numbers))


class Known:
    """What earlier runs with the same mutants found out, in a file."""

    def __init__(self, mutants: list[Mutant]) -> None:
        self.file = FOLDER / "known.json"
        self.mutants = [list(mutant) for mutant in mutants]
        self.passed: dict[str, Passed | None] = {}
        self.killers: dict[int, str | None] = {}
        if self.file.exists():
            known = json.loads(self.file.read_text())
            if known["mutants"] == self.mutants:
                self.passed = {name: one and Passed(*one) for name, one in known["passed"].items()}
                self.killers = {int(number): killer for number, killer in known["killers"].items()}

    def keep(self) -> None:
        known = {"mutants": self.mutants, "passed": self.passed, "killers": self.killers}
        self.file.write_text(json.dumps(known))


def kill(number: int, all_tests: list[Test], passed: dict[str, Passed | None]) -> str | None:
    """The test that notices the mutant."""
    reaching = [(one, test) for test in all_tests if (one := passed[test.name]) and number in one.reached]
    for one, test in sorted(reaching):
        if not run(test, {"KF_MUTANT": str(number)}, 30 + 5 * one.seconds):
            return test.name
    return None


def equivalents() -> dict[tuple[str, str, str], str]:
    """Mutants that no test can notice, by file, what stands there and kind, with the reason."""
    entries = json.loads((Path(__file__).parent / "equivalent.json").read_text())
    return {(one["file"], one["original"], one["kind"]): one["reason"] for one in entries}


def report(mutants: list[Mutant], areas: list[str], killers: dict[int, str | None]) -> int:
    reasons = equivalents()
    survivors = 0
    for area in areas:
        killed, same, missed = 0, 0, []
        for number, mutant in enumerate(mutants, 1):
            if not mutant.file.startswith(AREAS[area] + "/") or number not in killers:
                continue
            if killers[number] is not None:
                killed += 1
            elif (mutant.file, mutant.original, mutant.kind) in reasons:
                same += 1
            else:
                missed.append((number, mutant))
        survivors += len(missed)
        print(f"{area}: {killed} of {killed + len(missed)} killed, {same} equivalent")
        for number, mutant in missed:
            original = " ".join(mutant.original.split())
            print(f"  {number} {mutant.place}: {mutant.kind}: {original[:100]}")
    return survivors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--mutants", type=int, default=200, help="in all, as many of each area")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--areas", nargs="+", choices=AREAS, default=list(AREAS))
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build" / "release", help="says how it is compiled"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the mutants, build nothing")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    each = given.mutants // len(given.areas)
    mutants = [
        one
        for area in given.areas
        for one in choose(all_mutants(given.build, area), each, f"{given.seed} {area}")
    ]
    if given.list:
        for number, mutant in enumerate(mutants, 1):
            print(f"{number} {mutant.place}: {mutant.kind}: {' '.join(mutant.original.split())}")
        return 0
    apply(mutants)
    build_tree(given.jobs)
    known = Known(mutants)
    all_tests = tests()
    with ThreadPoolExecutor(given.jobs) as pool:
        new = [test for test in all_tests if test.name not in known.passed]
        for test, passed in zip(new, pool.map(reach, new), strict=True):
            known.passed[test.name] = passed
            if passed is None:
                print(f"fails without a mutant, and is left out: {test.name}", flush=True)
            known.keep()
        left = [number for number in range(1, len(mutants) + 1) if number not in known.killers]
        killed = pool.map(lambda number: kill(number, all_tests, known.passed), left)
        for number, killer in zip(left, killed, strict=True):
            known.killers[number] = killer
            print(f"{number} of {len(mutants)}: {killer or 'not noticed'}", flush=True)
            known.keep()
    return min(report(mutants, given.areas, known.killers), 1)


if __name__ == "__main__":
    sys.exit(main())
