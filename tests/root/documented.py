#!/usr/bin/env python3
"""Runs every command of README.md and docs/installing.md in a root file system, in the pages' order.

A block of `sh` is commands. Each page is one shell, which starts in the checkout with a new home: `cd` and an
activated environment hold for the commands below. A block without a language is what the commands above it
print: their last lines, with numbers that may differ, and with ... for what is left out. A block of Slang,
JSON, CMake, C++ or Python whose paragraph names a file is that file, in the folder where the shell is.

Without --root this makes a root file system of Debian 12, builds a copy of the checkout there, and removes it
in the end. One that is given stays, with all that the pages install. Needs root, as new_root.sh does.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

from pages import SUFFIXES, Block, page_blocks

ROOT = Path(__file__).parent.parent.parent
NEW_ROOT = ROOT / "tests" / "root" / "new_root.sh"
PAGES = ("README.md", "docs/installing.md")
# Commands that are not run here, and where they are.
ELSEWHERE = {
    "./bootstrap demo": "built what is used here",
    "./bootstrap test": ".ci/run",
    "pip install .": "compiles for minutes: tests/package/test_wheels.py, with a stand-in for the compiler",
    "pip install ./tool/python": "the same",
}
# Where the steps and their output are, inside the root.
WORK = "tmp/documented"
# Answers apt's questions, and runs what is read from `steps`: the first that fails is the last.
DRIVER = """\
export APT_CONFIG=/{work}/apt.conf
cd {checkout} || exit
run() {{
    eval "$2" >"/{work}/$1.out" 2>&1 </dev/null
    code=$?
    echo "$1 $code"
    [ $code = 0 ] || exit 0
}}
write() {{
    [ "$PWD" != {checkout} ] && mkdir -p "$(dirname "$2")" && cp "/{work}/$1.file" "$2" 2>"/{work}/$1.out"
    code=$?
    echo "$1 $code"
    [ $code = 0 ] || exit 0
}}
"""
COMMAND = re.compile(r"(?:\./bootstrap|apt|pip|cmake|cpack|kfgen|python3?|tar) \S.*")


class Step:
    """One thing to do: a command to run, or a file to write."""

    def __init__(self, text: str, file: str = "", expected: str = "") -> None:
        self.text = text
        self.file = file
        #: What the commands since the block's first one print, if the page shows that.
        self.expected = expected
        #: The number of steps before this one whose output is shown with it.
        self.together = 0

    @property
    def name(self) -> str:
        return f"writes {self.file}" if self.file else self.text


def without_comment(command: str) -> str:
    return " ".join(shlex.split(command, comments=True, posix=False))


def commands(block: Block) -> list[str]:
    """A block's commands, which may go on after a backslash, without comments."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [command for line in lines if (command := without_comment(line))]


def steps(text: str) -> list[Step]:
    """What a page has its reader do."""
    found: list[Step] = []
    together = 0
    for block in page_blocks(text):
        if block.language == "sh":
            made = [Step(command) for command in commands(block)]
            together = len(made) - 1
            found += made
        elif not block.language and found:
            found[-1].expected = block.text
            found[-1].together = together
        elif block.file:
            found.append(Step(block.text, file=block.file))
    return found


def not_understood(text: str) -> Iterator[str]:
    """What a page shows and this script neither runs, writes nor compares."""
    found = page_blocks(text)
    for before, block in zip([Block("", "", ""), *found], found, strict=False):
        first = block.text.partition("\n")[0]
        if block.language not in {*SUFFIXES, "sh", "text", ""}:
            yield f"a block of {block.language}: {first}"
        if not block.language and before.language != "sh":
            yield f"a block without a language that isn't below one of sh: {first}"
        if Path(block.file).is_absolute() or ".." in Path(block.file).parts:
            yield f"a file elsewhere: {block.file}"
    shown = [command for block in found if block.language == "sh" for command in commands(block)]
    shown += ELSEWHERE
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for inline in re.findall(r"`([^`\n]+)`", prose):
        if COMMAND.fullmatch(inline) and not any(inline in command for command in shown):
            yield f"a command in a sentence that no block of sh has: {inline}"


def fits(printed: str, expected: str) -> bool:
    """Whether the last lines of an output are those of a page, but for numbers and for columns' widths."""
    pattern = ""
    for line in expected.splitlines():
        words = re.sub(r"\d+(?:\.\d+)*", "0", " ".join(line.split()))
        pattern += re.escape(words).replace(r"\ \.\.\.", r"\b[\s\S]*") + r"\n"
    said = "".join(" ".join(line.split()) + "\n" for line in printed.splitlines())
    return re.search(f"(?:^|\n){pattern}$", re.sub(r"\d+(?:\.\d+)*", "0", said)) is not None


class Results:
    """Counts what passed, and prints each step as it ends."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def add(self, name: str, problem: str = "", seconds: float = 0) -> None:
        print(f"{'FAILED' if problem else 'passed'}  {seconds:6.1f} s  {name}", flush=True)
        if problem:
            self.failed += 1
            print(re.sub("^", "    ", problem.rstrip(), flags=re.MULTILINE), flush=True)
        else:
            self.passed += 1


def run_page(root: Path, checkout: str, page: str, text: str, results: Results) -> None:
    work = root / WORK
    shutil.rmtree(work, ignore_errors=True)
    home = work / "home"
    home.mkdir(parents=True)
    (work / "apt.conf").write_text('APT::Get::Assume-Yes "true";\n')
    script = DRIVER.format(work=WORK, checkout=shlex.quote(checkout))
    todo: dict[int, Step] = {}
    for number, step in enumerate(steps(text)):
        if step.file:
            (work / f"{number}.file").write_text(step.text)
            script += f"write {number} {shlex.quote(step.file)}\n"
        elif step.text in ELSEWHERE:
            print(f"     -            {step.text}: {ELSEWHERE[step.text]}")
            continue
        else:
            script += f"run {number} {shlex.quote(step.text)}\n"
        todo[number] = step
    (work / "steps").write_text(script)
    options = ("--env", f"HOME=/{WORK}/home", "--env", "DEBIAN_FRONTEND=noninteractive")
    command: list[str | Path] = [NEW_ROOT, "run", root, *options, "bash", f"/{WORK}/steps"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        start = time.monotonic()
        for line in running.stdout:
            number, code = map(int, line.split())
            step = todo.pop(number)
            outputs = [work / f"{n}.out" for n in range(number - step.together, number + 1)]
            printed = "".join(path.read_text(errors="replace") for path in outputs if path.exists())
            problem = ""
            if code != 0:
                problem = f"ended with {code}\n" + "\n".join(printed.splitlines()[-30:])
            elif step.expected and not fits(printed, step.expected):
                problem = f"{page} shows\n{step.expected}and it printed\n{printed}"
            results.add(step.name, problem, time.monotonic() - start)
            start = time.monotonic()
    for step in todo.values():
        results.add(step.name, f"not run, as one above it failed, or {NEW_ROOT.name} did")


def copied_checkout(root: Path, checkout: str) -> None:
    """Copies what git knows here, changed or not, into the root."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            target = root / checkout.lstrip("/") / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, help="a root in which the checkout is built already")
    parser.add_argument(
        "--checkout", default="/root/kernelfunctions", help="its path in the root; default: %(default)s"
    )
    options = parser.parse_args()

    results = Results()
    texts = {page: (ROOT / page).read_text() for page in PAGES}
    for page, text in texts.items():
        for finding in not_understood(text):
            results.add(page, finding)

    with tempfile.TemporaryDirectory(prefix="documented.", dir="/var/tmp") as scratch:
        root = options.root
        if root is None:
            root = Path(scratch) / "root"
            subprocess.run([NEW_ROOT, "make", "bookworm", root], check=True)
            copied_checkout(root, options.checkout)
            start = time.monotonic()
            in_checkout = f"cd {shlex.quote(options.checkout)} && ./bootstrap demo >demo.log 2>&1"
            built = subprocess.run([NEW_ROOT, "run", root, "bash", "-c", in_checkout], check=False)
            results.add(
                "./bootstrap demo",
                f"ended with {built.returncode}" if built.returncode else "",
                time.monotonic() - start,
            )
        for page, text in texts.items():
            print(f"--- {page}", flush=True)
            run_page(root, options.checkout, page, text, results)
    if options.root is not None:
        shutil.rmtree(options.root / WORK, ignore_errors=True)
    print(f"{results.passed} passed, {results.failed} failed")
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
