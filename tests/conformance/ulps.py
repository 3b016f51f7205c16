"""How far a device's results are from what is expected, in units in the last place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from case import DTYPES, FLOATS, SHAPES, Array
from inputs import inputs
from modules import Item

#: The error of what is no number near the one that is expected.
WRONG = math.inf


def operands(item: Item) -> tuple[Array, Array, Array]:
    """a, b and c as the kernel takes them: numbers, vectors or matrices along the first dimension."""
    extents = SHAPES[item.shape]
    a, b, c = (one.reshape(-1, *extents) for one in inputs(item.scalar, item.case.inputs))
    return a, b, c


def as_computed(item: Item, given: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """What the reference is given: floats in a wider type, unless it rounds as the case does."""
    if item.scalar not in FLOATS or item.case.rounds:
        return given
    a, b, c = (one.astype(np.longdouble) for one in given)
    return a, b, c


def references(item: Item) -> tuple[Any, ...]:
    if item.way == "value":
        return (item.case.reference,)
    return (item.case.tangents or item.case.partials) if item.way == "forward" else item.case.partials


def defined(item: Item, given: tuple[Array, Array, Array], like: Array) -> Array:
    """Where the result is defined; of a result with several numbers, where all operands are right."""
    found: Array = np.ones(like.shape, bool)
    for rule in (item.case.defined, item.case.smooth if item.way != "value" else None):
        if rule is None:
            continue
        mask: Array = np.asarray(rule(*given))
        if mask.ndim > like.ndim:
            mask = np.asarray(mask.all(axis=tuple(range(like.ndim, mask.ndim))))
        found = np.logical_and(found, mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim)))
    return found


def unit_in_last_place(expected: Array, dtype: np.dtype[Any], least: float) -> Array:
    info = np.finfo(dtype)
    size = np.maximum(np.abs(expected), max(least, float(info.tiny)))
    return np.asarray(np.exp2(np.floor(np.log2(size))) * np.longdouble(info.eps))


def worst(item: Item, outputs: dict[str, Array]) -> float:
    """The largest error of all results; of integers, and of what isn't a number, 0 or infinity."""
    given = as_computed(item, operands(item))
    dtype = DTYPES[item.case.result_scalar(item.scalar) if item.way == "value" else item.scalar]
    found = 0.0
    for reference, name in zip(references(item), item.outputs, strict=True):
        with np.errstate(all="ignore"):
            expected = np.asarray(reference(*given))
            got = outputs[name]
            if item.way == "forward" and got.ndim < expected.ndim:
                expected = expected.sum(axis=tuple(range(got.ndim, expected.ndim)))
            expected = np.broadcast_to(expected, got.shape)
            where = defined(item, given, got)
            unit = item.case.unit if item.way == "value" else max(item.case.unit, 1.0)
            found = max(found, error(expected, got, where, dtype, unit))
    return found


def error(expected: Array, got: Array, mask: Array, dtype: np.dtype[Any], unit: float) -> float:
    if dtype.kind != "f":
        return 0.0 if np.array_equal(got[mask], expected.astype(dtype)[mask]) else WRONG
    info = np.finfo(dtype)
    # Neither overflow nor numbers that a device may take for 0 are defined.
    usual = (
        mask
        & (np.abs(expected) <= info.max)
        & ~((np.abs(got) <= info.tiny) & (np.abs(expected) <= info.tiny))
    )
    if not usual.any():
        return 0.0
    expected, wide = expected.astype(np.longdouble)[usual], got.astype(np.longdouble)[usual]
    if not np.isfinite(wide).all():
        return WRONG
    return float((np.abs(wide - expected) / unit_in_last_place(expected, dtype, unit)).max())
