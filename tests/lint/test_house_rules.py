"""A file that breaks a house rule is found, one that keeps them isn't, and the rules name what is there."""

from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import house_rules
import pytest
from house_rules import (
    FENCES,
    MAY_INCLUDE,
    NOT_YET,
    TESTS_ALSO,
    beginnings,
    imports,
    includes,
    kinds,
    local_names,
    marks,
    opening,
    sizes,
    unused,
)
from tree import ROOT, files

Rule = Callable[[Path, list[str]], Iterator[str]]


def findings(rule: Rule, path: str, *lines: str) -> list[str]:
    return list(rule(Path(path), list(lines)))


@pytest.mark.parametrize(
    ("path", "header", "finding"),
    [
        ("tool/spec/new.h", '"plan/plan.h"', "includes plan/plan.h of tool/plan, which tool/spec may not"),
        ("tool/slang/workarounds/new.cpp", '"emit/text.h"', "of tool/emit, which tool/slang may not"),
        ("tool/emit/kinds/new.cpp", '"cuda/nvrtc.h"', "of tool/cuda, which tool/emit may not"),
        ("tool/output/new.cpp", '"cuda/device.h"', "of runtime/cuda, which tool/output may not"),
        ("tool/check/new.cpp", '"plan/plan.h"', "of tool/plan, which tool/check may not"),
        (
            "tool/check_process/new.cpp",
            '"check/gradients.h"',
            "of tool/check, which tool/check_process may not",
        ),
        ("tool/main.cpp", '"check/messages.h"', "of tool/check, which tool/main.cpp may not"),
        ("runtime/include/kf/new.h", '"core/bind.h"', "of runtime/core, which runtime/include may not"),
        ("runtime/core/new.cpp", '"vulkan/driver.h"', "of runtime/vulkan, which runtime/core may not"),
        ("runtime/vulkan/new.cpp", '"cuda/device.h"', "of runtime/cuda, which runtime/vulkan may not"),
        ("runtime/python/new.cpp", '"vulkan/driver.h"', "of runtime/vulkan, which runtime/python may not"),
        ("tests/tool/plan/new_test.cpp", '"run/session.h"', "of tool/run, which tests/tool/plan may not"),
        ("tests/tool/plan/new.h", '"tool/emit/plans.h"', "of tests/tool/emit, which tests/tool/plan may not"),
        (
            "tests/runtime/core/new_test.cpp",
            '"cuda/device.h"',
            "of runtime/cuda, which tests/runtime/core may",
        ),
        ("samples/add/main.cpp", '"core/bind.h"', "of runtime/core, which samples may not"),
        ("samples/add/main.cpp", '"../print.h"', "includes ../print.h: paths start at a root"),
        ("tool/plan/new.cpp", '"../spec/spec.h"', "includes ../spec/spec.h: paths start at a root"),
        ("tool/plan/new.cpp", "<slang.h>", "includes slang.h, which only tool/slang may"),
        ("tests/tool/slang/new_test.cpp", "<slang-com-ptr.h>", "which only tool/slang may"),
        ("tool/cuda/new.cpp", "<nvrtc.h>", "includes nvrtc.h, which nobody may"),
        (
            "runtime/core/new.cpp",
            "<vulkan/vulkan_core.h>",
            "which only runtime/vulkan, tests/docs, tests/bench may",
        ),
        ("runtime/cuda/new.cpp", "<cuda.h>", "includes cuda.h, which only tests/bench, "),
        ("tests/bench/new.cu", "<slang.h>", "includes slang.h, which only tool/slang may"),
        ("runtime/core/new.cpp", "<pybind11/pybind11.h>", "which only runtime/python may"),
        ("tool/cli/new.cpp", "<kainjow/mustache.hpp>", "which only tool/emit may"),
        ("tool/spec/new.cpp", "<CLI/CLI.hpp>", "which only tool/cli may"),
        ("tool/new/new.cpp", "<string>", "is in a folder that MAY_INCLUDE "),
        ("tests/new/new.cpp", "<string>", "is in a folder that MAY_INCLUDE "),
    ],
)
def test_includes_that_go_astray(path: str, header: str, finding: str) -> None:
    (found,) = findings(includes, path, "// What it is.", f"#include {header}")
    assert finding in found


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("tool/plan/new.cpp", '"spec/spec.h"'),
        ("tool/plan/kinds/new.cpp", '"plan/plan.h"'),
        ("tool/slang/new.cpp", "<slang.h>"),
        ("tool/check/new.cpp", '"core/bind.h"'),
        ("tool/check_process/new.cpp", '"check/messages.h"'),
        ("runtime/core/backends.cpp", '"vulkan/driver.h"'),
        ("runtime/vulkan/new.cpp", "<vulkan/vulkan_core.h>"),
        ("tests/tool/emit/new_test.cpp", '"tool/plan/fixture.h"'),
        ("tests/tool/slang/new_test.cpp", '"support/support_modules.h"'),
        ("tests/runtime/cuda/new_test.cpp", "<cuda.h>"),
        ("samples/add/main.cpp", '"print.h"'),
        ("tool/spec/new.cpp", "<nlohmann/json.hpp>"),
        ("docs/new.md", '"plan/plan.h"'),
    ],
)
def test_includes_that_are_right(path: str, header: str) -> None:
    assert findings(includes, path, f"#include {header}") == []


def test_imports() -> None:
    assert findings(imports, "runtime/slang/new.slang", "import kf;", "__exported import kf_rows;") == []
    (found,) = findings(imports, "runtime/slang/new.slang", "import polynomial;")
    assert found == "imports polynomial, which isn't in runtime/slang/"


def test_openings() -> None:
    assert findings(opening, "a.h", "// What it is.") == []
    assert findings(opening, "a.py", '"""What it is."""') == []
    assert "one-line // comment" in findings(opening, "a.h", "#pragma once")[0]
    assert "one-line // comment" in findings(opening, "a.cpp")[0]
    assert "docstring" in findings(opening, "a.py", "import os")[0]


def test_marks() -> None:
    assert findings(marks, "a.md", "done", "TO" + "DO: this") == ["line 2 has a mark of unfinished work"]


def test_beginnings() -> None:
    assert findings(beginnings, "tool/plan/new.h", "/// The names", "/// Of structs too.") == []
    assert findings(beginnings, "tool/plan/new.h", "int a;  // Of structs too.", "/// Often empty.") == []
    assert findings(beginnings, "tool/plan/new.h", "", "    /// Of structs too.") == [
        "line 2 has a comment that begins in the middle, with 'Of'"
    ]
    assert (
        findings(beginnings, "tool/plan/new.h", "// Whatever it is.", "", "// Nullable.", "", "// Thatch.")
        == []
    )


@pytest.mark.parametrize(
    ("comment", "beginning"),
    [
        ("// What a call takes.", "What"),
        ("/// The same for textures.", "The same"),
        ("/// Those that have one.", "Those"),
        ("/// That's the last one.", "That"),
        ("/// Null, where there is none.", "Null"),
        ("/// Nothing.", "Nothing"),
        ("        // With the lock held.", "With"),
        ("// Only where it fits.", "Only where"),
    ],
)
def test_beginnings_in_the_middle_of_a_thought(comment: str, beginning: str) -> None:
    (found,) = findings(beginnings, "tool/plan/new.h", "", comment)
    assert found == f"line 2 has a comment that begins in the middle, with '{beginning}'"
    assert findings(beginnings, f"{NOT_YET[0]}new.h", "", comment) == []
    assert len(findings(beginnings, f"{NOT_YET[0]}new.h", "", "/// Of structs too.")) == 1


@pytest.mark.parametrize("beginning", NOT_YET)
def test_exceptions_are_needed(beginning: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_rules, "NOT_YET", ())
    paths = [path for path in files(".h", ".cpp") if str(path).startswith(beginning)]
    assert any(list(beginnings(path, (ROOT / path).read_text().splitlines())) for path in paths)


def test_kinds() -> None:
    test = "if (std::holds_alternative<manifest::kinds::Tensor>(argument.kind)) return;"
    assert findings(kinds, "tool/emit/new.cpp", "", test) == [
        "line 2 tests an argument's kind, which only kinds/ may"
    ]
    assert (
        len(findings(kinds, "runtime/core/new.cpp", "std::get<kinds::Value>(argument.kind).in_memory")) == 1
    )
    assert findings(kinds, "tool/emit/kinds/new.cpp", test) == []
    assert findings(kinds, "tests/tool/emit/new_test.cpp", test) == []


def test_unused() -> None:
    assert findings(unused, "tool/new.cpp", "", "using a::b::C;", "constexpr int most = 3;", "C x;") == [
        "line 3 declares 'most', which nothing here uses"
    ]
    assert findings(unused, "tool/new.cpp", "using a::b;", "const char* const names[] = {};") == [
        "line 1 declares 'b', which nothing here uses",
        "line 2 declares 'names', which nothing here uses",
    ]
    assert findings(unused, "tool/new.cpp", "constexpr std::size_t most{3};", "int x = most;") == []
    assert findings(unused, "tool/new.h", "using a::b;") == []


def test_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_rules, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    for name in ("large.h", "tests/large.h"):
        (tmp_path / name).write_text("x" * (10 * 1024 + 1))
    (tmp_path / "long.cpp").write_text("")
    assert findings(sizes, "large.h") == ["is a header of 10241 bytes; at most 10240"]
    assert findings(sizes, "tests/large.h") == []
    assert findings(sizes, "long.cpp", *[""] * 900) == []
    assert findings(sizes, "long.cpp", *[""] * 901) == ["has 901 lines; at most 900"]


def test_local_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house_rules, "ROOT", tmp_path)
    for name in ("a/one.cpp", "a/two.cpp", "b/one.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("namespace {\nint of(int x) { return x; }\n}  // namespace\n")
    paths = [Path("a/one.cpp"), Path("a/two.cpp"), Path("b/one.cpp")]
    assert list(local_names(paths)) == ["a/two.cpp: one.cpp has a function 'of' of its own, too"]


def test_the_directions_have_no_circle() -> None:
    folders = {name: set(others) - {name} for name, others in MAY_INCLUDE.items() if (ROOT / name).is_dir()}
    assert list(TopologicalSorter(folders).static_order())


def test_the_rules_name_what_is_there() -> None:
    named = {name for homes in FENCES.values() for name in homes}
    for table in (MAY_INCLUDE, TESTS_ALSO):
        named |= {*table, *(name for others in table.values() for name in others)}
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
