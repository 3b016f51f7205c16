"""Results that lack a test, or have one twice, or skipped, and what real runs write."""

import os
import subprocess
import sys
from pathlib import Path

import everything_ran
import pytest
from everything_ran import Result, compare

RAN = [Result("one", ran=True), Result("two", ran=True)]


def test_all_that_was_declared_ran() -> None:
    comparison = compare("list", ["one", "two"], RAN)
    assert (comparison.declared, comparison.ran, comparison.faults) == (2, 2, [])


@pytest.mark.parametrize(
    ("declared", "results", "fault"),
    [
        (["one", "two", "three"], RAN, "didn't run: three"),
        (["one"], RAN, "isn't declared: two"),
        (["one", "two"], [*RAN, RAN[0]], "2 results: one"),
        (["one", "two", "two"], RAN, "declared 2 times: two"),
        (["one"], [Result("one", ran=False, reason="no torch\nhere")], "skipped: one: no torch here"),
        (["one"], [Result("one", ran=False)], "skipped: one: without a reason"),
    ],
)
def test_each_fault_is_found(declared: list[str], results: list[Result], fault: str) -> None:
    assert compare("list", declared, results).faults == [fault]


def test_nothing_declared_is_a_fault() -> None:
    assert compare("list", [], []).faults == ["no test is declared"]


@pytest.mark.parametrize("reason", ["needs a GPU: libcuda.so.1 isn't there", "x.cpp:3\nneeds 2 GPUs"])
def test_a_missing_gpu_is_counted_and_named(reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    comparison = compare("list", ["one"], [Result("one", ran=False, reason=reason)])
    assert everything_ran.report([comparison]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 skipped for want of a GPU:",
        "  list: one",
        "1 tests declared, 0 ran, 1 skipped for want of a GPU, 0 faults",
    ]


# --- what pytest writes

PYTEST = """
import pytest

@pytest.mark.parametrize("text", ["a::b", "c/d.py", "e[f"])
def test_text(text): pass

class TestGroup:
    def test_inner(self): pass

def test_gpu(): pytest.skip("needs a GPU with CUDA")
"""


def run_pytest(folder: Path, *selected: str) -> list[str]:
    """Lists the tests in the folder, runs those that are selected, and returns the tool's arguments."""

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout

    (folder / "list.txt").write_text(run("--collect-only", "-q"))
    run("--junit-xml=results.xml", *selected)
    return ["--pytest", str(folder / "list.txt"), str(folder / "results.xml")]


def test_results_of_pytest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "test_it.py").write_text(PYTEST)
    assert everything_ran.main(run_pytest(tmp_path)) == 0
    assert "5 tests declared, 4 ran, 1 skipped for want of a GPU, 0 faults" in capsys.readouterr().out
    assert everything_ran.main(run_pytest(tmp_path, "-k", "not Group")) == 1
    assert "didn't run: inner.test_it.TestGroup::test_inner" in capsys.readouterr().out


def test_a_module_that_pytest_skips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_it.py").write_text("def test_one(): pass\n")
    (tmp_path / "test_lost.py").write_text("import pytest\npytest.importorskip('missing_module')\n")
    assert everything_ran.main(run_pytest(tmp_path)) == 1
    printed = capsys.readouterr().out
    assert "skipped: ::test_lost: " in printed
    assert "could not import 'missing_module'" in printed


# --- what ctest and GoogleTest write

PROGRAM = """#!{python}
import os, sys

CASES = {{"Suite.One": "completed", "Suite.Two": "{two}"}}
options = dict(text.lstrip("-").partition("=")[::2] for text in sys.argv[1:])
chosen = "" if "gtest_list_tests" in options else options.get("gtest_filter", "Suite.*")
with open(options["gtest_output"].removeprefix("xml:"), "w") as file:
    file.write('<testsuites><testsuite name="Suite">')
    for number, (name, result) in enumerate(CASES.items()):
        shard = int(os.environ.get("GTEST_SHARD_INDEX", number))
        if chosen not in ("", "Suite.*", name) or shard != number:
            continue
        status = f'status="run" result="{{result}}" classname="Suite"' if chosen else ""
        reason = '<skipped message="it.cpp:3&#x0A;{reason}"/>' if chosen and result == "skipped" else ""
        file.write(f'<testcase name="{{name[6:]}}" {{status}}>{{reason}}</testcase>')
    file.write("</testsuite></testsuites>")
"""


def run_ctest(
    folder: Path, tests: dict[str, str], two: str = "completed", reason: str = "", properties: str = ""
) -> list[str]:
    """Runs a program of two tests with the arguments of each of ctest's, and returns the tool's arguments."""
    program = folder / "it_test"
    program.write_text(PROGRAM.format(python=sys.executable, two=two, reason=reason))
    program.chmod(0o755)
    lines = [f'add_test("{name}" "{program}" {arguments})\n' for name, arguments in tests.items()]
    (folder / "CTestTestfile.cmake").write_text("".join(lines) + properties)

    def run(*arguments: str) -> str:
        return subprocess.run(
            ["ctest", *arguments], cwd=folder, capture_output=True, text=True, check=False
        ).stdout

    (folder / "list.json").write_text(run("--show-only=json-v1"))
    run("--output-junit", str(folder / "results.xml"))
    return ["--ctest", str(folder / "list.json"), str(folder / "results.xml")]


def test_results_of_ctest_and_its_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suites = {
        "it_test:One": f"--gtest_filter=Suite.One --gtest_output=xml:{tmp_path}/one.xml",
        "it_test:Two": "--gtest_filter=Suite.Two --gtest_output=xml:two.xml",
    }
    arguments = run_ctest(tmp_path, suites)
    assert everything_ran.main(arguments) == 0
    assert "4 tests declared, 4 ran, 0 skipped for want of a GPU, 0 faults" in capsys.readouterr().out

    (tmp_path / "two.xml").unlink()
    assert everything_ran.main(arguments) == 1
    assert "two.xml wasn't written" in capsys.readouterr().out

    results = (tmp_path / "results.xml").read_text()
    (tmp_path / "results.xml").write_text(results.replace("it_test:Two", "it_test:Other"))
    assert everything_ran.main(arguments) == 1
    printed = capsys.readouterr().out
    assert "didn't run: it_test:Two" in printed
    assert "isn't declared: it_test:Other" in printed


def test_shards_of_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shards = {f"it_test.{i}": f"--gtest_output=xml:shard{i}.xml" for i in range(2)}
    properties = "".join(
        f'set_tests_properties("{name}" PROPERTIES ENVIRONMENT "GTEST_SHARD_INDEX={i}")\n'
        for i, name in enumerate(shards)
    )
    assert everything_ran.main(run_ctest(tmp_path, shards, properties=properties)) == 0
    assert "4 tests declared, 4 ran, 0 skipped for want of a GPU, 0 faults" in capsys.readouterr().out
    del shards["it_test.0"]
    properties = properties.splitlines()[1]
    assert everything_ran.main(run_ctest(tmp_path, shards, properties=properties)) == 1
    assert "it_test: didn't run: Suite.One" in capsys.readouterr().out


def test_a_test_that_no_filter_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filtered = "--gtest_filter=Suite.One --gtest_output=xml:one.xml"
    assert everything_ran.main(run_ctest(tmp_path, {"it_test:One": filtered})) == 1
    assert "it_test: didn't run: Suite.Two" in capsys.readouterr().out
    twice = {"it_test:One": filtered, "it_test": "--gtest_output=xml:all.xml"}
    assert everything_ran.main(run_ctest(tmp_path, twice)) == 1
    assert "it_test: 2 results: Suite.One" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("two", "reason", "expected"),
    [
        ("skipped", "no device", "it_test: skipped: Suite.Two: it.cpp:3 no device"),
        ("suppressed", "", "it_test: skipped: Suite.Two: suppressed"),
        ("skipped", "needs a GPU: none", "3 tests declared, 2 ran, 1 skipped for want of a GPU, 0 faults"),
    ],
)
def test_a_test_that_googletest_skips(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], two: str, reason: str, expected: str
) -> None:
    arguments = run_ctest(tmp_path, {"it_test": "--gtest_output=xml:all.xml"}, two, reason)
    assert everything_ran.main(arguments) == (0 if "GPU" in reason else 1)
    assert expected in capsys.readouterr().out


def test_programs_that_leave_no_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ("--gtest_filter=Suite.*", "--gtest_color=no"):
        assert everything_ran.main(run_ctest(tmp_path, {"it_test": arguments})) == 1
        assert "it_test leaves no results: it needs --gtest_output=xml:FILE" in capsys.readouterr().out


# --- files


@pytest.mark.parametrize(
    ("results", "fault"),
    [
        ("", "isn't whole"),
        ("<testsuites><testsuite>", "isn't whole"),
        ("<testsuites/>", "has no result"),
        (None, "wasn't written"),
    ],
)
def test_results_that_say_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], results: str | None, fault: str
) -> None:
    (tmp_path / "list.txt").write_text("test_it.py::test_one\n")
    if results is not None:
        (tmp_path / "results.xml").write_text(results)
    assert everything_ran.main(["--pytest", str(tmp_path / "list.txt"), str(tmp_path / "results.xml")]) == 1
    assert fault in capsys.readouterr().out


def test_results_of_an_earlier_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_it.py").write_text("def test_one(): pass\n")
    arguments = run_pytest(tmp_path)
    os.utime(tmp_path / "results.xml", (1, 1))
    assert everything_ran.main(arguments) == 1
    assert "it is of another run" in capsys.readouterr().out


def test_a_list_that_is_missing_or_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "list")
    for kind in ("--ctest", "--pytest"):
        assert everything_ran.main([kind, missing, missing]) == 1
        assert "No such file" in capsys.readouterr().out
    Path(missing).write_text("{}")
    assert everything_ran.main(["--ctest", missing, missing]) == 1
    assert "isn't what `ctest --show-only=json-v1` prints" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        everything_ran.main([])
