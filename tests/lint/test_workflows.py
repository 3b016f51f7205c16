"""The files for GitHub, which can't be run here: they are YAML, and workflows call what is tested here."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
TEMPLATES = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
FIELDS = {"input", "textarea", "markdown"}


def commands(workflow: Path) -> list[str]:
    """What the steps of a workflow run, a command each."""
    jobs: dict[str, Any] = yaml.safe_load(workflow.read_text())["jobs"]
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    return [part.strip() for text in runs for part in re.split(r"&&|\n", text) if part.strip()]


def subcommands() -> set[str]:
    """The subcommands that ./bootstrap --help lists, with their options."""
    text = subprocess.run([ROOT / "bootstrap", "--help"], capture_output=True, text=True, check=True).stdout
    first = text.splitlines()[0].partition("./bootstrap ")[2]
    return {word for alternative in first.split("|") for word in re.findall(r"[\w-]+", alternative)}


def test_there_are_some() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml"]
    assert {path.stem for path in TEMPLATES} == {"bug", "config", "feature", "question"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_bootstrap_and_nothing_else(workflow: Path) -> None:
    known = subcommands()
    assert {"demo", "test", "lint", "build", "--all"} <= known
    found = commands(workflow)
    assert {"./bootstrap demo", "./bootstrap test", "./bootstrap package"} <= set(found)
    for command in found:
        program, *arguments = command.split()
        assert program in {"./bootstrap", "apt-get"}, command
        if program == "./bootstrap":
            assert arguments and set(arguments) <= known, command


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_issue_forms_have_what_github_requires(template: Path) -> None:
    form = yaml.safe_load(template.read_text())
    if template.stem == "config":
        assert set(form) <= {"blank_issues_enabled", "contact_links"}
        return
    assert {"name", "description", "body"} <= set(form)
    named = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert named and len(named) == len(set(named))
    for field in form["body"]:
        assert field["type"] in FIELDS
        assert field["attributes"]["value" if field["type"] == "markdown" else "label"]


def test_a_bug_report_has_what_is_asked_first() -> None:
    text = (GITHUB / "ISSUE_TEMPLATE" / "bug.yml").read_text()
    assert all(words in text for words in ("kfgen --version", "python -m kernelfunctions", "Slang", "spec"))
