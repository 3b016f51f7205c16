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
from nodes import Program  # noqa: E402
from printing import spec_text  # noqa: E402

SEED = 14
FULL = SPECS / "full" / "programs.kf.json"
NUMBERS = [int(found) for found in re.findall(r'"function": "f(\d+)"', FULL.read_text())]
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
    names = [f"../{path.name}" for path in files]
    assert FULL.read_text() == spec_text("programs", names, PROGRAMS), HOW


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Those that the spec calls."""
    if "program" in metafunc.fixturenames:
        spec = FULL if metafunc.config.getoption("--full-product") else SPECS / FULL.name
        called = set(re.findall(r'"function": "(f\d+)"', spec.read_text()))
        chosen = [program for program in PROGRAMS if program.entry.name in called]
        metafunc.parametrize("program", chosen, ids=lambda program: program.entry.name)


def test_a_program(programs: ModuleType, program: Program) -> None:
    inputs, expected = prepare(program, SEED)
    assert call(programs, program, inputs, expected).wrong == []
