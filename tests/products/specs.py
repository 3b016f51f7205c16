"""Writes the specs of the tests from full ones: of calls that are multiplied, all pairs.

    python3 tests/products/specs.py        writes NAME.kf.json for each full/NAME.kf.json

The full ones are generated with -DKF_FULL_PRODUCTS=ON, and called by `pytest --full-product`. Here is said
what is multiplied in each; what nothing is said of stays as it is. See covering.py for what is chosen.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from covering import covering

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "fuzz"))

from grammar import FEATURES, write  # noqa: E402
from shapes import shapes_of  # noqa: E402

Call = dict[str, Any]
Factors = dict[str, Any]

# The calls of these programs, by the seed that tests/fuzz wrote them with.
PROGRAMS_SEED = 14


def name_of(call: Call) -> str:
    return str(call.get("name", call["function"]))


@dataclass(frozen=True)
class Kinds:
    """Calls whose arguments' kinds are multiplied, with each other and with what their names say."""

    names: str
    always: Callable[[Factors], bool] = lambda factors: False

    def factors(self, call: Call) -> Factors | None:
        found = re.fullmatch(self.names, name_of(call))
        return dict(found.groupdict()) if found else None

    def row(self, factors: Factors) -> Factors:
        """What every pair of is kept."""
        return factors

    def cost(self, factors: Factors) -> float:
        return 1

    def apply(self, calls: list[Call]) -> list[Call]:
        alternatives: list[tuple[int, Call, Factors]] = []
        for position, call in enumerate(calls):
            factors = self.factors(call)
            if factors is not None:
                alternatives += [
                    (position, one, factors | {f"kind of {k}": v for k, v in one["args"].items()})
                    for one in with_one_kind(call)
                ]
        rows = [
            [(name, json.dumps(value)) for name, value in self.row(factors).items()]
            for _, _, factors in alternatives
        ]
        pinned = [i for i, (_, _, factors) in enumerate(alternatives) if self.always(factors)]
        costs = [self.cost(factors) for _, _, factors in alternatives]
        chosen = [alternatives[i] for i in covering(rows, pinned, costs=costs)]
        multiplied = {position for position, _, _ in alternatives}
        result: list[Call] = []
        for position, call in enumerate(calls):
            of_this = [one for where, one, _ in chosen if where == position]
            if position in multiplied and len(of_this) < len(list(with_one_kind(call))):
                result += of_this
            else:
                result.append(call)
        return result


def with_one_kind(call: Call) -> Iterator[Call]:
    """One call for each combination of its arguments' kinds."""
    lists = [kinds if isinstance(kinds, list) else [kinds] for kinds in call["args"].values()]
    for kinds in product(*lists):
        yield call | {"args": dict(zip(call["args"], kinds, strict=True))}


@dataclass(frozen=True)
class Elements(Kinds):
    """Calls named after matrices and arrays, "float2x3" and "half3_2": each type of number and each shape,
    whatever its extents, with each combination of kinds. Drivers take longest for those of many numbers.
    """

    def row(self, factors: Factors) -> Factors:
        kinds = [value for name, value in factors.items() if name.startswith("kind of ")]
        return {
            "number": factors["number"],
            "shape": re.sub(r"\d", "N", factors["extents"]),
            "kinds": kinds,
        }

    def cost(self, factors: Factors) -> float:
        return prod(map(int, re.findall(r"\d", factors["extents"])))


@dataclass(frozen=True)
class Rows:
    """Calls with kernels that walk rows, the most expensive ones: each value of what they differ in keeps
    some. The others get groups of 64 threads, which have none.
    """

    calls: dict[str, tuple[int, str]]  # by name, how many such kernels, and words for what there is of each

    def apply(self, calls: list[Call]) -> list[Call]:
        places = [i for i, call in enumerate(calls) if name_of(call) in self.calls]
        costs, words = zip(*(self.calls[name_of(calls[i])] for i in places), strict=True)
        kept = {places[i] for i in covering([text.split() for text in words], strength=1, costs=costs)}
        return [
            call | {"threads": [64]} if i in places and i not in kept else call
            for i, call in enumerate(calls)
        ]


@dataclass(frozen=True)
class Programs:
    """Programs written at random: pairs of the shapes that they are made of."""

    def apply(self, calls: list[Call]) -> list[Call]:
        rows = []
        for call in calls:
            shapes = shapes_of(write(PROGRAMS_SEED, int(call["function"][1:]), FEATURES))
            rows.append(shapes | {json.dumps(kind) for kind in call["args"].values()})
        return [calls[i] for i in covering(rows)]


def same_kinds_or_float(factors: Factors) -> bool:
    return bool(factors["kind of a"] == factors["kind of b"]) or factors["dtype"] == "float32"


# What tests of errors call by value.
REFUSED = {("float_4", "tensor[1]", "value")} | {
    (name, "value", "value") for name in ("double_5", "float_2_3_2_2", "int8_t_7", "int4x3", "bool2x3")
}


def tensors_or_named(factors: Factors) -> bool:
    """Tensors alone; all of float2x3, whose calls many tests make; and what tests of errors call."""
    name = factors["number"] + factors["extents"]
    kinds = (factors["kind of a"], factors["kind of b"])
    return "value" not in kinds or name == "float2x3" or (name, *kinds) in REFUSED


MULTIPLIED: dict[str, list[Kinds | Rows | Programs]] = {
    "accumulate": [
        Rows(
            {
                "sum_float": (2, "float scalar forward"),
                "sum_half": (2, "half scalar forward"),
                "sum_double": (2, "double scalar forward"),
                "same3": (2, "float vector forward"),
                "same_half3": (2, "half vector forward"),
                "rows": (2, "float scalar forward mapped"),
                "weigh_half": (1, "half scalar backward"),
                "weigh3": (1, "float vector backward"),
                "weigh_rows": (1, "float scalar backward mapped"),
                "loss": (8, "float scalar forward backward fused ways"),
                "loss_half": (6, "half scalar forward backward fused"),
                "loss_double": (6, "double scalar forward backward fused"),
            }
        )
    ],
    "containers": [
        Elements(
            "mix_(?P<number>float|half|double|int8_t|int|uint|bool)(?P<extents>[0-9x_]+)", tensors_or_named
        )
    ],
    "derivatives": [
        Kinds("(?P<mistake>right|factor|slight|sign|missing)_(?P<type>half|float|double)"),
        Rows(
            {
                f"{mistake}_{scalar}": (2 if mistake == "right" else 1, f"{mistake} {scalar}")
                for mistake in ("right", "factor", "slight", "sign", "missing")
                for scalar in ("half", "float", "double")
            }
        ),
    ],
    "matrix": [Kinds("mix_(?P<dtype>.*)", same_kinds_or_float)],
    "programs": [Programs()],
    "strategy": [
        Rows(
            {
                "affine": (4, "float scalar fused given"),
                "affine_values": (2, "float scalar values"),
                "affine_half": (4, "half scalar fused"),
                "affine_double": (4, "double scalar fused"),
                "affine3": (2, "float vector"),
                "affine_half3": (2, "half vector"),
                "dot3": (4, "float vector fused"),
                "dot_half3": (4, "half vector fused"),
            }
        )
    ],
}


def reduced(full: str) -> str:
    """The text of a spec that has some of the calls of a full one."""
    spec = json.loads(full)
    calls = spec.pop("calls")
    for rule in MULTIPLIED[spec["name"]]:
        calls = rule.apply(calls)
    spec["modules"] = [module.removeprefix("../") for module in spec["modules"]]
    lines = [f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in spec.items()]
    return (
        "{\n" + "".join(lines) + '  "calls": [\n    ' + ",\n    ".join(map(json.dumps, calls)) + "\n  ]\n}\n"
    )


def full_specs() -> list[Path]:
    return sorted(TESTS.glob("**/full/*.kf.json"))


def reduced_path(full: Path) -> Path:
    return full.parents[1] / full.name


def main() -> None:
    for full in full_specs():
        reduced_path(full).write_text(reduced(full.read_text()))


if __name__ == "__main__":
    main()
