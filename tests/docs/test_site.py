"""The documentation builds as a site, strictly: no broken link, anchor or API reference."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", site],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_site(source_dir: Path, tmp_path: Path) -> None:
    done = build(source_dir / "docs" / "site" / "mkdocs.yml", tmp_path)
    assert done.returncode == 0, done.stderr
    cpp = (tmp_path / "api" / "cpp.html").read_text()
    # A class, what classes inherit from hidden ones, and what generated functions can do.
    assert all(name in cpp for name in ["PreparedCall", "region_to_vector", "append_to"])
    assert "##" not in cpp
    python = (tmp_path / "api" / "python.html").read_text()
    assert all(name in python for name in ["copy_from_numpy", "with_grads", "FunctionModule.forward"])
    assert ":::" not in python


def test_the_python_api_can_be_read_in_the_repository(
    source_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the site fills in isn't there, so the page itself says what each name is, as the stubs do."""
    monkeypatch.syspath_prepend(str(source_dir / "docs" / "site"))
    reference = importlib.import_module("python_reference")
    for page in [source_dir / "README.md", *(source_dir / "docs").rglob("*.md")]:
        assert not re.search(r"^:::", page.read_text(), re.MULTILINE), page
    rows = reference.ROW.findall((source_dir / "docs" / "api" / "python.md").read_text())
    assert len(rows) > 40
    assert [text for _, text in rows] == [reference.summary(name) for name, _ in rows]


def test_every_page_is_in_the_navigation(source_dir: Path) -> None:
    """Decisions and results are reached by links."""
    listed = (source_dir / "docs" / "site" / "mkdocs.yml").read_text()
    docs = source_dir / "docs"
    pages = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")]
    missing = [
        page
        for page in pages
        if not page.startswith(("decisions/", "results/", "site/")) and f": {page}\n" not in listed
    ]
    assert missing == []


def test_changelog_names_the_abi_version(source_dir: Path) -> None:
    """Who changes the meaning of artifacts tells users so."""
    manifest = (source_dir / "runtime" / "core" / "manifest.h").read_text()
    found = re.search(r"abi_version = (\d+);", manifest)
    assert found
    newest = (source_dir / "docs" / "changelog.md").read_text().split("\n## ")[1]
    assert f"ABI version {found.group(1)}." in newest
