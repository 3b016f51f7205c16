"""The mutants of a small program, compiled as one and switched on one by one."""

import os
import subprocess
from pathlib import Path

from mutants import Finder, with_mutants

PROGRAM = """#include <cstdio>
#include <initializer_list>
#define TWICE(x) x; x
namespace {
constexpr int fixed(int n) { return n < 3 ? n + 1 : n; }
int steps(int n) {
    static_assert(1 + 1 == 2);
    constexpr int most = 3 + 1;
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        if (i == most - 2) continue;
        sum += i;
    }
    const auto twice = [](int v) { return v * 5; };
    switch (n) {
        case 3: sum = twice(sum); break;
        default: TWICE(++sum);
    }
    return sum;
}
}
int main() {
    for (int n : {2, 3, 9}) std::printf("%d ", steps(n) % 7 + fixed(n));
    const bool both = steps(2) > 3 || steps(3) > 5;
    if (!both || steps(9) > 1000) std::printf("not ");
    std::printf("both");
}
"""

NOTICED = {
    ("boundary", "i < n"),
    ("condition", "i == most - 2"),
    ("equality", "i == most - 2"),
    ("removal", "sum += i"),
    ("arithmetic", "v * 5"),
    ("boundary", "steps(2) > 3"),
}


def test_each_changes_the_program(tmp_path: Path) -> None:
    source = tmp_path / "m.cpp"
    source.write_text(PROGRAM)
    folder = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=True)
    arguments = ["-std=c++20", "-isystem", folder.stdout.strip() + "/include"]
    found = Finder(tmp_path, source, arguments).find()
    lines = PROGRAM.splitlines()
    # Nothing where a constant is needed, and nothing of a macro's text.
    untouched = ("constexpr", "static_assert", "#define", "TWICE")
    assert not [one for one in found if any(word in lines[one.line - 1] for word in untouched)]
    said = [(one.kind, one.original) for one in found]
    assert {("logic", "steps(2) > 3 || steps(3) > 5"), *NOTICED} <= set(said)
    # One at a time, as several stand inside each other.
    for number, mutant in enumerate(found, 1):
        if said[number - 1] not in NOTICED:
            continue
        changed = tmp_path / f"m{number}.cpp"
        changed.write_bytes(with_mutants(PROGRAM.encode(), [(mutant, number)]))
        program = tmp_path / "program"
        subprocess.run(["g++", "-std=c++20", "-o", program, changed], check=True)
        reached = tmp_path / "reached"
        reached.unlink(missing_ok=True)
        as_it_was = run(program, {"KF_MUTANTS_REACHED": str(reached)})
        assert as_it_was == run(program, {"KF_MUTANT": str(number + 1)}) == "6 8 10 not both"
        assert reached.read_text() == f"{number}\n"
        assert as_it_was != run(program, {"KF_MUTANT": str(number)})


def run(program: Path, environment: dict[str, str]) -> str:
    said = subprocess.run(
        [program], env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=60
    )
    return said.stdout
