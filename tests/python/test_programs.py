"""Programs that tests/fuzz wrote at random: values and gradients against a reference in double precision."""

import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from loader import Loader

SPECS = Path(__file__).parent / "specs"
sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from batches import call  # noqa: E402
from comparison import prepare  # noqa: E402
from fuzz import test_modules as modules_of  # noqa: E402
from grammar import FEATURES, write  # noqa: E402
from printing import spec_text  # noqa: E402

SEED = 14
NUMBERS = [
    int(found) for found in re.findall(r'"function": "f(\d+)"', (SPECS / "programs.kf.json").read_text())
]
PROGRAMS = [write(SEED, number, FEATURES) for number in NUMBERS]

HOW = f"tests/fuzz/fuzz.py --seed {SEED} --count 50 --write tests/python/specs/programs writes them again"


@pytest.fixture(scope="module")
def programs(generated: Loader) -> ModuleType:
    os.environ.setdefault("GALLIVM_PERF", "no_opt")  # Mesa's CPU driver compiles faster
    return generated("programs")


def test_they_are_what_the_grammar_writes() -> None:
    assert len(PROGRAMS) == 50
    files = sorted(SPECS.glob("programs_*.slang"))
    for path, text in zip(files, modules_of(PROGRAMS), strict=True):
        assert path.read_text() == text, HOW
    names = [path.name for path in files]
    assert (SPECS / "programs.kf.json").read_text() == spec_text("programs", names, PROGRAMS), HOW


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.entry.name)
def test_a_program(programs: ModuleType, program: object) -> None:
    found = next(entry for entry in PROGRAMS if entry is program)
    inputs, expected = prepare(found, SEED)
    assert call(programs, found, inputs, expected).wrong == []
