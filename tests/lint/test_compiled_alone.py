"""What the linter that compiles sources alone finds, and when it looks again."""

import json
import subprocess
from pathlib import Path

import compiled_alone
import passed
import pytest

GOOD = '#include "a.h"\nint twice(int x) { return 2 * one(x); }\n'


def write_tree(root: Path) -> None:
    """A tree with one source in tool/, and a header beside it."""
    tool = root / "tool"
    tool.mkdir(parents=True)
    (tool / "a.h").write_text("inline int one(int x) { return x; }\n")
    (tool / "a.cpp").write_text(GOOD)
    command = f"c++ -I{tool} -O2 -o a.o -c {tool / 'a.cpp'}"
    (root / "compile_commands.json").write_text(
        json.dumps([{"file": str(tool / "a.cpp"), "command": command}])
    )


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "root"
    for module in (compiled_alone, passed):
        monkeypatch.setattr(module, "ROOT", root)
    write_tree(root)
    (tmp_path / "passed").mkdir()
    return root


def findings(build: Path) -> str:
    forget()
    found = compiled_alone.commands(build)
    assert len(found) == 1
    return compiled_alone.check(next(iter(found.values())), build.parent / "passed", whole=False)


def forget() -> None:
    for read_once in (compiled_alone.digest, compiled_alone.digest_of_directives, compiled_alone.named_by):
        read_once.cache_clear()


def stamps(build: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (build.parent / "passed").iterdir()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("std::size_t size();\n", "does not name a type"),
        (GOOD + "char narrow(int x) { return x; }\n", "[-Werror=conversion]"),
    ],
)
def test_what_does_not_compile_is_found_each_time(build: Path, text: str, message: str) -> None:
    (build / "tool" / "a.cpp").write_text(text)
    assert message in findings(build)
    assert message in findings(build)


def test_a_changed_header_is_read_again(build: Path) -> None:
    assert findings(build) == ""
    (build / "tool" / "a.h").write_text("inline int another(int x) { return x; }\n")
    assert "was not declared" in findings(build)


def test_of_a_far_header_the_directives_count(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (build / "tool" / "a.h").write_text('#include "far.h"\ninline int one(int x) { return x; }\n')
    (build / "tool" / "far.h").write_text("int far();\n")
    (build / "tool" / "further.h").write_text("")
    assert findings(build) == ""
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "run", lambda *_, **__: pytest.fail("compiled"))
        (build / "tool" / "far.h").write_text("int farther();\n")
        assert findings(build) == ""
    (build / "tool" / "far.h").write_text('#include "further.h"\ndouble one(int);\n')
    assert "ambiguating" in findings(build)


def test_nothing_is_begun_late_and_that_is_said(
    build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lint(*options: str) -> str:
        forget()
        monkeypatch.setattr("sys.argv", ["compiled_alone.py", "--build", str(build), *options])
        assert compiled_alone.main() == 0
        return capsys.readouterr().err

    monkeypatch.setenv("KF_LINT_CACHE", str(build.parent / "passed"))
    late = build.parent / "late"
    assert "0 failed, 0 not begun" in lint("--until", str(late))
    (build / "tool" / "a.h").write_text("inline int one(int y) { return y; }\n")
    late.touch()
    assert "0 failed, 1 not begun" in lint("--until", str(late))
    assert "0 failed, 0 not begun" in lint()
    assert "0 failed, 0 not begun" in lint("--until", str(late))


def test_what_passed_in_another_clone_is_not_compiled(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(build) == ""
    kept = stamps(build)
    other = build.parent / "another"
    write_tree(other)
    for module in (compiled_alone, passed):
        monkeypatch.setattr(module, "ROOT", other)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("compiled"))
    assert findings(other) == ""
    assert stamps(build) == kept


@pytest.mark.parametrize(
    ("command", "counted"),
    [
        ("c++ {warnings} -o a.o -c {file}", True),
        ("c++ -Wall -o a.o -c {file}", False),
        ("c++ {warnings} -include cmake_pch.hxx -o a.o -c {file}", False),
        ("clang++ {warnings} -o a.o -c {file}", False),
    ],
)
def test_what_a_build_by_gcc_compiles_first_counts(tmp_path: Path, command: str, counted: bool) -> None:
    unity = tmp_path / "Unity" / "unity_0_cxx.cxx"
    unity.parent.mkdir()
    unity.write_text(f'#include "{tmp_path}/a.cpp"\n#include "{tmp_path}/b.cpp"\n')
    warnings = " ".join(compiled_alone.WARNINGS)
    entry = {"file": str(unity), "command": command.format(warnings=warnings, file=unity)}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    assert compiled_alone.first_sources(tmp_path) == ({tmp_path / "a.cpp"} if counted else set())
