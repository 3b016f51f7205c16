"""Every case on the default device: the value and the derivatives for each type and shape.

Each kernel runs once. KF_CONFORMANCE names a file that all measurements go to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from case import Array
from faults import fault_of
from loader import Loader
from modules import Item, by_kernel, by_spec, items
from ulps import operands, worst

CASES = {key: list(found) for key, found in groupby(items(), lambda item: item.case.key)}
Measure = Callable[[Item], float]


def described(device: Any) -> dict[str, str]:
    info = device.info
    return {"backend": info.backend, "name": info.name}


@pytest.fixture(scope="session")
def measure(generated: Loader) -> Iterator[Measure]:
    """The largest error of an item on the default device. KF_CONFORMANCE names a file that all go to."""
    import kernelfunctions as kf  # noqa: PLC0415

    results: dict[str, dict[str, Array]] = {}
    measured: dict[str, float] = {}

    def run(item: Item) -> dict[str, Array]:
        key = f"{item.spec()}.{item.kernel}"
        if key not in results:
            called = by_kernel(by_spec()[item.spec()])[item.kernel]
            names = [name for one in called for name in one.outputs]
            given = dict(zip("abc", operands(item), strict=True))
            found = getattr(generated(item.spec()), item.kernel)(**given)
            values = [found] if len(names) == 1 else list(found)
            results[key] = {name: value.to_numpy() for name, value in zip(names, values, strict=True)}
        return results[key]

    def measure(item: Item) -> float:
        measured[item.name] = worst(item, run(item))
        return measured[item.name]

    yield measure
    if path := os.environ.get("KF_CONFORMANCE"):
        report = {"device": described(kf.default_device()), "ulps": dict(sorted(measured.items()))}
        Path(path).write_text(json.dumps(report, indent=1) + "\n")


@pytest.mark.parametrize("key", CASES)
def test_case(key: str, measure: Measure) -> None:
    import kernelfunctions as kf  # noqa: PLC0415

    device = kf.default_device()
    wrong, expected = {}, {}
    for item in CASES[key]:
        if device.backend not in item.targets():
            continue
        ulps = measure(item)
        if ulps > item.allowed:
            wrong[item.name] = f"{ulps:.4g} ulps, allowed {item.allowed:g}"
        if fault := fault_of(item, device.backend, device.info.name):
            expected[item.name] = fault
    unexpected = {name: text for name, text in wrong.items() if name not in expected}
    assert not unexpected
    assert not expected.keys() - wrong.keys(), "right by now: take these out of faults.py"
