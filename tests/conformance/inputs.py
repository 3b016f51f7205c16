"""The numbers that cases are given: limits, values at which rules change, and random ones."""

from __future__ import annotations

from itertools import product
from typing import Any
from zlib import crc32

import numpy as np
from case import DTYPES, Array

#: Of the largest shape.
VALUES_A_ELEMENT = 6
RANDOM = 240


def edges(dtype: np.dtype[Any], kind: str) -> list[float] | list[int]:
    if dtype.kind == "b":
        return [0, 1]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        near = [0, 1, 2, 3, 7, -1, -2, -7, limits.bits - 1, limits.max // 2 + 1]
        return [v for v in [*near, limits.min, limits.min + 1, limits.max, limits.max - 1] if v >= limits.min]
    halves = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.0,
        2.5,
        3.5,
        -0.5,
        -1.0,
        -1.5,
        -2.0,
        -2.5,
        0.25,
        41.0,
        123.0,
        1000.0,
        -7.0,
    ]
    if kind == "special":
        return [*halves, np.inf, -np.inf, np.nan]
    return [*halves, float(np.finfo(dtype).max), -float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)]


def random(dtype: np.dtype[Any], kind: str, count: int, generator: np.random.Generator) -> Array:
    if dtype.kind == "b":
        return generator.integers(0, 2, count).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        wide = generator.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
        return np.where(np.arange(count) % 2 == 0, wide, wide % dtype.type(50)).astype(dtype)
    scales = {"unit": 1.0, "angles": 3.0, "any": 8.0, "special": 8.0}
    scale = scales.get(kind, 8.0)
    return (generator.uniform(-scale, scale, count)).astype(dtype)


def inputs(scalar: str, kind: str) -> tuple[Array, Array, Array]:
    """a, b and c, the same in each run. kind: "any"; "divisor": b divides a; "shift": b is less than a's
    bits; "special": with infinities and NaN; "unit": from -1 to 1; "angles": from -3 to 3; "thousands":
    integers and their multiples of 41."""
    dtype = DTYPES[scalar]
    generator = np.random.default_rng(crc32(f"{scalar} {kind}".encode()))
    if kind in ("unit", "angles"):
        a, b, c = (random(dtype, kind, 3 * RANDOM, generator) for _ in range(3))
    elif kind == "thousands":
        a = np.arange(-960, 960, dtype=np.float64)
        a, b = (a * 41 if dtype.itemsize > 2 else a).astype(dtype), a.astype(dtype)
        c = b[::-1].copy()
    else:
        found = np.array(edges(dtype, kind), dtype)
        pairs = np.array(list(product(found, found)), dtype)
        a = np.concatenate([pairs[:, 0], random(dtype, kind, RANDOM, generator)])
        b = np.concatenate([pairs[:, 1], random(dtype, kind, RANDOM, generator)])
        c = np.concatenate([generator.permutation(pairs[:, 0]), random(dtype, kind, RANDOM, generator)])
    if kind == "divisor" and dtype.kind in "iu":
        lowest = np.iinfo(dtype).min
        b = np.where((b == 0) | ((a == lowest) & (b == dtype.type(-1 if lowest else 1))), dtype.type(3), b)
        c = np.where(c == 0, dtype.type(5), c)
    if kind == "shift":
        b = (b.astype(np.uint64) % np.uint64(8 * dtype.itemsize)).astype(dtype)
    padding = -len(a) % VALUES_A_ELEMENT
    one = np.ones(padding, dtype)
    return (np.concatenate([a, one]), np.concatenate([b, one]), np.concatenate([c, one]))
