"""Runs the conformance suite's kernels, each once, and keeps what is measured."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from case import Array
from comparison import operands, worst
from loader import Loader
from modules import Item, by_kernel, by_spec

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
