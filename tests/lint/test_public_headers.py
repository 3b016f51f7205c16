"""What the linter that compiles the public headers finds, and how it says so."""

import subprocess
import sys
from pathlib import Path

import compiled_alone
import passed
import public_headers
import pytest

NARROWS = "inline char narrow(int x) { return x; }\n"
# Nothing to warn of until it is instantiated.
READS_NOTHING = "template <class T>\nT one_of(int x) {\n    T value;\n    return value + T(x);\n}\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one public header, a program that uses it, and the source of a sample."""
    for module in (public_headers, compiled_alone, passed):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.delenv("KF_LINT_CACHE", raising=False)
    write(tmp_path / "runtime/include/kf/a.h", "template <class T>\nT one_of(int x) { return T(x); }\n")
    write(
        tmp_path / "tests/runtime/include/uses.cpp",
        "#include <kf/a.h>\ndouble use(int x);\ndouble use(int x) { return one_of<double>(x); }\n",
    )
    write(tmp_path / "samples/add/add.slang", "")
    write(tmp_path / "generated/add.generated/add.cpp", '#include <kf/a.h>\n#include "add.h"\n')
    write(tmp_path / "generated/add.generated/add.h", "")
    return tmp_path


def lint(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    compiled_alone.digest.cache_clear()
    monkeypatch.setattr(sys, "argv", ["public_headers.py", *options])
    return public_headers.main()


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize(
    ("file", "text", "name", "message"),
    [
        ("runtime/include/kf/b.h", NARROWS, "kf/b.h", "conversion]"),
        ("runtime/include/kf/b.h", "inline std::size_t size() { return 0; }\n", "kf/b.h", "std"),
        ("runtime/include/kf/a.h", READS_NOTHING, "tests/runtime/include/uses.cpp", "uninitialized]"),
        ("generated/add.generated/add.h", NARROWS, "add.cpp", "conversion]"),
    ],
)
def test_a_warning_is_reported_each_time(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    compiler: str,
    file: str,
    text: str,
    name: str,
    message: str,
) -> None:
    options = ("--compiler", compiler, "--generated", str(root / "generated"))
    assert lint(monkeypatch, *options) == 0
    capsys.readouterr()
    write(root / file, text)
    for _ in range(2):
        assert lint(monkeypatch, *options) == 1
        output = capsys.readouterr().out
        assert output.startswith(f"{compiler}: {name}\n")
        assert message in output
        assert output.endswith(", 1 failed\n")


def test_what_passed_is_not_compiled_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lint(monkeypatch) == 0
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("compiled"))
    assert lint(monkeypatch) == 0
    assert root.exists()


@pytest.mark.parametrize("options", [("--compiler", "no-such-compiler"), ("--generated", "/nowhere")])
def test_a_compiler_or_a_folder_that_is_not_there_is_an_error(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: tuple[str, str]
) -> None:
    with pytest.raises(SystemExit):
        lint(monkeypatch, *options)
    assert options[1] in capsys.readouterr().err
    assert root.exists()
