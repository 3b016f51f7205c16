"""Every case on the default device: the value and the derivatives for each type and shape."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import pytest
from faults import fault_of
from modules import Item, items

CASES = {key: list(found) for key, found in groupby(items(), lambda item: item.case.key)}


@pytest.mark.parametrize("key", CASES)
def test_case(key: str, measure: Callable[[Item], float]) -> None:
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
    if wrong:
        pytest.xfail("; ".join(sorted(set(expected.values()))))
