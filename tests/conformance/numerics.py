"""Makes docs/numerics.md from the suite's measurements.

usage: numerics.py [MEASUREMENT...]

MEASUREMENT is a file that the tests wrote for KF_CONFORMANCE on one device. It is kept in the folder
measured, in place of an older one of that driver. The page is made from all that are kept.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from case import FLOATS, INTEGERS, SHAPES, Case
from cast_cases import CONVERSIONS
from faults import driver
from intrinsic_cases import INTRINSICS
from modules import TARGETS, Item, items
from operator_cases import OPERATORS
from refused import REFUSALS, is_refused

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "numerics.md"
KEPT = HERE / "measured"

#: Columns of the tables: what faults.py calls drivers, and their titles.
DRIVERS = {"llvmpipe": "llvmpipe", "nvidia": "NVIDIA, Vulkan", "cuda": "NVIDIA, CUDA"}
HEAD = """# Numerics

<!-- Made by tests/conformance/numerics.py from what the conformance suite measured. -->

The conformance suite (`tests/conformance`) runs Slang's operators, conversions and numeric functions for
each type: as scalars, as vectors of 3 and as matrices of 2 by 3, with derivatives, backward and forward. It
compares the results with NumPy's, for limits of the types, halves and random numbers.

A result is *exact* if it is the only right one: integers, bools, and floats where a result needs no rounding.
Other floats are off by at most as many units in the last place (ULPs) as the tables say; 0.5 is the nearest
number of the type. *allowed* is what the tests let pass, which is what Vulkan's specification allows, or
less. For functions that are 0 somewhere, such as `sin`, results less than 1 are measured in ULPs of 1. In
expressions, T is the type and S its scalar.

"""
COLUMNS = "| expression | types | allowed | {} | undefined where |\n|---|---|---|{}|---|\n"
ALWAYS = """## What isn't defined
- Division and remainder of integers by 0, and of a type's least number by −1. `abs` of that number.
- Shifts by a negative number, or by at least the number of bits.
- Conversions of floats to integer types that don't reach them; NaN as an integer.
- Whether numbers nearer to 0 than the least normal one are taken for 0.
- NaN and infinity as operands, but of `isnan`, `isinf` and `isfinite`: Vulkan lets drivers compute as if
  there were none. The sign of 0.

"""


def ulps_text(found: dict[str, float]) -> str:
    """ "exact", or the worst of each type that isn't."""
    if any(value == float("inf") for value in found.values()):
        return "wrong: " + ", ".join(name for name, value in found.items() if value == float("inf"))
    if len(values := set(found.values())) == 1 and (value := values.pop()) > 0:
        return f"{value:.3g}"
    inexact = {name: value for name, value in found.items() if value > 0}
    return ", ".join(f"{name} {value:.3g}" for name, value in inexact.items()) or "exact"


def types_text(types: tuple[str, ...]) -> str:
    for group, text in ((INTEGERS, "integers"), (FLOATS, "floats"), ((*INTEGERS, *FLOATS), "numbers")):
        if types == group:
            return text
    return ", ".join(types)


def worst_by_type(case: Case, measured: dict[str, float], ways: tuple[str, ...]) -> dict[str, float]:
    """Of all shapes; without the types that the device has no kernels for."""
    found: dict[str, float] = {}
    for item in (one for one in items() if one.case is case and one.way in ways):
        if item.name in measured:
            found[item.scalar] = max(found.get(item.scalar, 0), measured[item.name])
    return found


def row(case: Case, devices: dict[str, dict[str, float]], ways: tuple[str, ...]) -> str:
    types = tuple(name for name in case.types if ways == ("value",) or name in FLOATS)
    allowed = {}
    for scalar in types:
        allowed[scalar] = max(Item(case, scalar, case.shapes[0], way).allowed for way in ways)
    cells = []
    for measured in devices.values():
        found = worst_by_type(case, measured, ways)
        cells.append(ulps_text(found) if found else "—")
    text = re.sub(r"\{(?:as )?(\w+)\}", r"\1", case.text).replace("|", "\\|")
    undefined = case.undefined if ways == ("value",) else ""
    return f"| `{text}` | {types_text(types)} | {ulps_text(allowed)} | {' | '.join(cells)} | {undefined} |\n"


def table(title: str, cases: list[Case], devices: dict[str, dict[str, float]], ways: tuple[str, ...]) -> str:
    columns = COLUMNS.format(" | ".join(DRIVERS[name] for name in devices), "|".join("---" for _ in devices))
    once = {(case.text, case.types): case for case in cases}
    return f"## {title}\n{columns}{''.join(row(case, devices, ways) for case in once.values())}\n"


def refusals_text() -> Iterator[str]:
    yield "## What is refused\nkfgen reports these as errors; a test sees that they are.\n\n"
    yield "| target | what | types | shapes | why |\n|---|---|---|---|---|\n"
    for one in REFUSALS:
        what = one.cases.replace(" ", ", ") or "everything"
        types = types_text(tuple(one.types.split())) if one.types else "all"
        yield f"| {one.targets} | {what} | {types} | {one.shapes or ', '.join(SHAPES)} | {one.why} |\n"
    total = sum(1 for _ in items())
    for target in TARGETS:
        refused = sum(is_refused(item, target) for item in items())
        yield f"\n{target}: {total - refused} of {total} combinations have kernels.\n"


def page(kept: list[dict[str, Any]]) -> str:
    devices, names = {}, []
    for name, title in DRIVERS.items():
        for one in kept:
            device = one["device"]
            if driver(device["backend"], device["name"]) != name:
                continue
            exact = {item.name: 0.0 for item in items() if device["backend"] in item.targets()}
            devices[name] = {**exact, **one["ulps"]}
            names.append(f"- {title}: {device['name']}\n")
    parts = [HEAD, "Measured on:\n\n", *names, "\n", ALWAYS]
    values, ways = ("value",), ("backward", "forward")
    parts.append(table("Operators", OPERATORS, devices, values))
    parts.append(table("Conversions", CONVERSIONS, devices, values))
    parts.append(table("Functions", INTRINSICS, devices, values))
    parts.append(table("Derivatives", [case for case in INTRINSICS if case.partials], devices, ways))
    return "".join([*parts, *refusals_text()])


def keep(path: Path) -> None:
    """Keeps what isn't 0 of a measurement."""
    measured = json.loads(path.read_text())
    measured["ulps"] = {name: round(value, 3) for name, value in measured["ulps"].items() if value}
    name = driver(measured["device"]["backend"], measured["device"]["name"])
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(measured, indent=1) + "\n")


def kept() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(KEPT.glob("*.json"))]


def main() -> None:
    for path in sys.argv[1:]:
        keep(Path(path))
    PAGE.write_text(page(kept()))


if __name__ == "__main__":
    main()
