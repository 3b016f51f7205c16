"""The specs of the tests are what specs.py writes from the full ones."""

import json
from pathlib import Path

import pytest
from specs import MULTIPLIED, full_specs, name_of, reduced, reduced_path


@pytest.mark.parametrize("full", full_specs(), ids=lambda path: path.name)
def test_they_are_what_the_script_writes(full: Path) -> None:
    how = "python3 tests/products/specs.py writes them again"
    assert reduced_path(full).read_text() == reduced(full.read_text()), how


# Some of the programs stand for all.
WHOLE = [path for path in full_specs() if path.name != "programs.kf.json"]


@pytest.mark.parametrize("full", WHOLE, ids=lambda path: path.name)
def test_they_call_the_same_functions(full: Path) -> None:
    """Those with fewer kinds or kernels call the functions of the full ones."""
    names = [
        {name_of(call) for call in json.loads(text)["calls"]}
        for text in (full.read_text(), reduced(full.read_text()))
    ]
    assert names[0] == names[1]


def test_each_full_spec_is_multiplied() -> None:
    assert sorted(MULTIPLIED) == sorted(json.loads(full.read_text())["name"] for full in full_specs())
