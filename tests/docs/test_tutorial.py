"""The tutorial's steps, run in one folder, as a reader would: each prints what its page says."""

import os
import sys
from pathlib import Path

import pytest
from pages import blocks, fences, run

STEPS = ["number", "tensor", "gradient", "fit"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader's folder is after the steps before."""
    return tmp_path_factory.mktemp("waves")


def write_sources(page: Path, folder: Path) -> None:
    for language, text in fences(page):
        if language in {"slang", "json"}:
            (folder / {"slang": "waves.slang", "json": "waves.kf.json"}[language]).write_text(text)


@pytest.mark.parametrize("step", STEPS)
def test_step(step: str, source_dir: Path, build_dir: Path, folder: Path) -> None:
    page = source_dir / "docs" / "tutorial" / f"{step}.md"
    write_sources(page, folder)
    listed = run(build_dir / "tool" / "kfgen", "generate", "waves.kf.json", "-o", ".", "--python", cwd=folder)
    if step == STEPS[0]:
        (shown,) = (text for text in blocks(page, "") if "created:" in text)
        assert listed == shown.split("\n", 1)[1]
    found = fences(page)
    program = ""
    expected = ""
    for (language, text), (following, printed) in zip(found, [*found[1:], ("", "$ ")], strict=True):
        if language == "python":
            program += text
            assert following == ""
            expected += printed
    path = os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])
    assert run("env", f"PYTHONPATH={path}", sys.executable, "-c", program, cwd=folder) == expected


def test_program(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """The last step's program compiles without warnings and prints what its page says.

    test_docs.py builds such a project by CMake against an installation.
    """
    tutorial = source_dir / "docs" / "tutorial"
    write_sources(tutorial / "fit.md", tmp_path)
    (main,) = blocks(tutorial / "program.md", "cpp")
    (tmp_path / "main.cpp").write_text(main)
    run(build_dir / "tool" / "kfgen", "generate", "waves.kf.json", "-o", ".", cwd=tmp_path)
    run(
        "g++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
        "-I", source_dir / "runtime" / "include", "main.cpp", "waves.cpp", "-o", "app",
        build_dir / "runtime" / "core" / "libkf_runtime.a", "-ldl", cwd=tmp_path,
    )  # fmt: skip
    printed = run("./app", cwd=tmp_path)
    assert any(text.endswith(printed) for text in blocks(tutorial / "program.md", ""))
