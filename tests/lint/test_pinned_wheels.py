"""What the linter of pinned wheels says, without a network."""

import subprocess
import sys
from pathlib import Path

import passed
import pinned_wheels
import pytest


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The versions that pip is asked about. It can't install `new` on 3.11, and offers torch 2.13.0 alone."""
    versions: list[str] = []

    def pip(*arguments: str) -> "subprocess.CompletedProcess[str]":
        version = arguments[arguments.index("--python-version") + 1]
        versions.append(version)
        if arguments[0] == "index":
            listed = "torch (2.13.0)\nAvailable versions: 2.13.0+cpu, 2.12.0\n  INSTALLED: 2.13.0\n"
            return subprocess.CompletedProcess(arguments, 0, listed, "")
        bad = "new==2" in Path(arguments[-1]).read_text() and version.startswith("3.11")
        return subprocess.CompletedProcess(
            arguments, bad, "", "WARNING: slow\nERROR: new==2 wants Python 3.12" if bad else ""
        )

    monkeypatch.setattr(pinned_wheels, "pip", pip)
    for module in (pinned_wheels, passed):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setenv("KF_LINT_CACHE", str(tmp_path / "kept"))
    return versions


def lint(monkeypatch: pytest.MonkeyPatch, path: Path) -> int:
    monkeypatch.setattr(sys, "argv", ["pinned_wheels.py", str(path)])
    return pinned_wheels.main()


def test_what_passed_is_not_asked_again(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = tmp_path / "requirements.txt"
    pins.write_text("old==1\ntorch==2.13.0\n")
    assert lint(monkeypatch, pins) == 0
    assert sorted(set(asked)) == sorted(pinned_wheels.VERSIONS)
    asked.clear()
    assert lint(monkeypatch, pins) == 0
    assert asked == []


@pytest.mark.parametrize(
    ("pins", "said"),
    [("new==2", "ERROR: new==2 wants Python 3.12"), ("torch==2.1.0", "ERROR: no wheel of torch==2.1.0")],
)
def test_a_pin_that_cannot_be_installed(
    asked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pins: str,
    said: str,
) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text(pins + "\n")
    assert lint(monkeypatch, path) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"Python 3.11.2 can't install {path}:"
    assert said in printed
    assert lint(monkeypatch, path) == 1
