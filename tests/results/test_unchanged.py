"""What is left out in a second run: nothing whose inputs, or whose results, are others than before."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import unchanged

PYTEST = "def test_one(): assert {}\ndef test_two(): pass\n"


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What all units have in common stays as it is."""
    for name in ("common_lines", "source_lines"):
        monkeypatch.setattr(unchanged, name, lambda: ())
    forget()
    yield
    forget()


def forget() -> None:
    """As a new process would."""
    unchanged.digest_of.cache_clear()
    unchanged.tool_programs.cache_clear()
    unchanged.names.cache_clear()


def to_run(listed: Path, kept: Path) -> list[str]:
    forget()
    return unchanged.before(listed, kept)[1]


# --- ctest


def write_ctest(folder: Path, programs: dict[str, str]) -> Path:
    """Returns a list of tests in a build tree, whose programs are these texts."""
    build = folder / "build" / "asan"
    tests = []
    for name, text in programs.items():
        program = build / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text)
        properties = [{"name": "WORKING_DIRECTORY", "value": str(program.parent)}]
        tests.append({"name": program.name, "command": [str(program)], "properties": properties})
    listed = folder / "asan.ctest.json"
    listed.write_text(json.dumps({"tests": tests}))
    return listed


def write_results(listed: Path, **statuses: str) -> None:
    cases = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in statuses.items())
    listed.with_suffix(".xml").write_text(f"<testsuite>{cases}</testsuite>")


def test_what_passed_is_left_out_until_its_program_changes(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    programs = {"tests/runtime/core/one": "1", "tests/runtime/core/two": "2"}
    listed = write_ctest(tmp_path, programs)
    assert to_run(listed, kept) == ["one", "two"]
    write_results(listed, one="run", two="run")
    unchanged.after(listed, kept)
    assert to_run(listed, kept) == []
    restored = unchanged.read_suite(listed.with_suffix(".unchanged.xml"))
    assert [case.get("name") for case in restored] == ["one", "two"]
    write_ctest(tmp_path, programs | {"tests/runtime/core/two": "3"})
    assert to_run(listed, kept) == ["two"]
    assert len(unchanged.read_suite(listed.with_suffix(".unchanged.xml"))) == 1


def test_what_failed_runs_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    listed = write_ctest(tmp_path, {"tests/runtime/core/one": "1", "tests/runtime/core/two": "2"})
    to_run(listed, kept)
    write_results(listed, one="fail", two="run")
    unchanged.after(listed, kept)
    assert to_run(listed, kept) == ["one"]


def test_inputs_are_those_before_the_run(tmp_path: Path) -> None:
    """What changes while the tests run was not tested."""
    kept = tmp_path / "kept"
    kept.mkdir()
    listed = write_ctest(tmp_path, {"tests/runtime/core/one": "1"})
    to_run(listed, kept)
    write_ctest(tmp_path, {"tests/runtime/core/one": "2"})
    write_results(listed, one="run")
    unchanged.after(listed, kept)
    assert to_run(listed, kept) == ["one"]


def test_programs_depend_on_those_of_the_tool_that_they_name(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    kfgen = tmp_path / "build" / "asan" / "tool" / "kfgen"
    listed = write_ctest(tmp_path, {"tests/runtime/core/one": "1", "tests/tool/run/two": f"2 {kfgen}"})
    kfgen.parent.mkdir()
    kfgen.write_text("1")
    kfgen.chmod(0o755)
    to_run(listed, kept)
    write_results(listed, one="run", two="run")
    unchanged.after(listed, kept)
    assert to_run(listed, kept) == []
    kfgen.write_text("2")
    assert to_run(listed, kept) == ["two"]


def test_results_of_a_program_of_googletest_come_along(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    listed = write_ctest(tmp_path, {"tests/runtime/core/one": "1"})
    own = tmp_path / "results" / "one.xml"
    listed.write_text(
        listed.read_text().replace('runtime/core/one"]', f'runtime/core/one", "--gtest_output=xml:{own}"]')
    )
    to_run(listed, kept)
    own.parent.mkdir()
    own.write_text("<testsuites/>")
    write_results(listed, one="run")
    unchanged.after(listed, kept)
    own.unlink()
    assert to_run(listed, kept) == []
    assert own.read_text() == "<testsuites/>"


# --- pytest


def run_pytest(folder: Path, listed: Path, *files: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    collected = subprocess.run(
        [*command, "--collect-only", *files], cwd=folder, capture_output=True, text=True, check=True
    )
    listed.write_text(collected.stdout)
    subprocess.run(
        [*command, f"--junit-xml={listed.with_suffix('.xml')}", *files],
        cwd=folder,
        capture_output=True,
        check=False,
    )


def test_files_of_pytest_are_left_out_when_all_of_their_tests_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setenv("KF_BUILD_DIR", str(tmp_path / "build" / "release"))
    (tmp_path / "test_good.py").write_text(PYTEST.format("True"))
    (tmp_path / "test_bad.py").write_text(PYTEST.format("False"))
    listed = tmp_path / "release.pytest.txt"
    run_pytest(tmp_path, listed, "test_good.py", "test_bad.py")
    to_run(listed, kept)
    unchanged.after(listed, kept)
    assert to_run(listed, kept) == ["test_bad.py"]
    restored = unchanged.read_suite(listed.with_suffix(".unchanged.xml"))
    assert [case.get("name") for case in restored] == ["test_one", "test_two"]


def test_files_depend_on_the_extension_or_the_tool_or_on_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = tmp_path / "build" / "release"
    monkeypatch.setenv("KF_BUILD_DIR", str(build))
    files = [
        "tests/python/test_a.py",
        "tests/torch/test_d.py",
        "tests/tool/test_b.py",
        "tests/docs/test_c.py",
    ]
    listed = tmp_path / "release.pytest.txt"
    listed.write_text("".join(f"{file}::test_one[x::y]\n" for file in files))
    for name in ("python/_kf.so", "tool/kfgen"):
        program = build / name
        program.parent.mkdir(parents=True)
        program.write_text("1")
        program.chmod(0o755)

    def changed(name: str) -> list[str]:
        """The files whose keys are others when that file of the build is another."""
        forget()
        before = unchanged.pytest_keys(listed)
        (build / name).write_text("2")
        forget()
        after = unchanged.pytest_keys(listed)
        return [file for file in files if before[file] != after[file]]

    assert changed("tool/kfgen") == files[2:]
    assert changed("python/_kf.so") == [files[0], files[1], files[3]]
