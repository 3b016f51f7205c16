"""Conversions between all pairs of types, and of bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from case import ALL, DTYPES, INTEGERS, Array, Case, Reference


def converted(target: str) -> Reference:
    dtype = DTYPES[target]

    def reference(a: Any, b: Any, c: Any) -> Array:
        if target == "bool":
            return np.asarray(a != 0)
        if target in INTEGERS and a.dtype.kind == "f":
            return np.asarray(np.trunc(a).astype(np.float64).astype(dtype))
        return np.asarray(a.astype(dtype) if dtype.kind != "f" else a.astype(np.longdouble))

    return reference


def fits(target: str) -> Reference | None:
    """Where a float has a number of the type: what lies outside isn't defined."""
    if target not in INTEGERS:
        return None
    limits = np.iinfo(DTYPES[target])

    def defined(a: Any, b: Any, c: Any) -> Array:
        if a.dtype.kind != "f":
            return np.ones(a.shape, bool)
        # The limits of 64 bits aren't numbers of the type.
        wide = np.trunc(a.astype(np.longdouble))
        return np.asarray((wide >= limits.min) & (wide <= limits.max))

    return defined


def conversions() -> list[Case]:
    return [
        Case(
            f"to_{target}",
            f"{{as {target}}}(a)",
            tuple(one for one in ALL if one != target),
            converted(target),
            result=f"{{as {target}}}",
            defined=fits(target),
            undefined="floats that the type doesn't reach" if fits(target) else "",
            ulps=0.5,
        )
        for target in ALL
    ]


def bits(target: str) -> Reference:
    return lambda a, b, c: np.ascontiguousarray(a).view(DTYPES[target])


def of_halves(a: Any, b: Any, c: Any) -> Array:
    return np.asarray((a & 0xFFFF).astype(np.uint16).view(np.float16).astype(np.float32))


def is_number_as_half(a: Any, b: Any, c: Any) -> Array:
    return np.asarray(np.isfinite(of_halves(a, b, c)))


OF_BITS = [
    Case("asint", "asint(a)", ("float", "uint"), bits("int"), "{as int}", ("scalar", "vector", "matrix")),
    Case("asuint", "asuint(a)", ("float", "int"), bits("uint"), "{as uint}", ("scalar", "vector", "matrix")),
    Case(
        "asfloat",
        "asuint(asfloat(a & {S}(0xBFFFFFF)))",
        ("int", "uint"),
        lambda a, b, c: (a & a.dtype.type(0xBFFFFFF)).view(np.uint32),
        "{as uint}",
        ("scalar", "vector"),
    ),
    Case("asint16", "asint16(a)", ("half", "uint16_t"), bits("int16_t"), "int16_t", ("scalar",)),
    Case("asuint16", "asuint16(a)", ("half", "int16_t"), bits("uint16_t"), "uint16_t", ("scalar",)),
    Case(
        "asfloat16",
        "asuint16(asfloat16(a & {S}(0x3BFF)))",
        ("int16_t", "uint16_t"),
        lambda a, b, c: (a & a.dtype.type(0x3BFF)).view(np.uint16),
        "uint16_t",
        ("scalar",),
    ),
    Case(
        "f16tof32",
        "f16tof32(a)",
        ("uint",),
        of_halves,
        "{as float}",
        ("scalar", "vector"),
        defined=is_number_as_half,
        ulps=0.5,
    ),
    Case(
        "f32tof16",
        "f32tof16(a)",
        ("float",),
        lambda a, b, c: a.astype(np.float16).view(np.uint16).astype(np.uint32),
        "{as uint}",
        ("scalar", "vector"),
        inputs="angles",
    ),
    Case(
        "bit_cast_int64",
        "bit_cast<int64_t>(a)",
        ("double", "uint64_t"),
        bits("int64_t"),
        "int64_t",
        ("scalar",),
    ),
    Case(
        "bit_cast_uint16",
        "bit_cast<uint16_t>(a)",
        ("half", "int16_t"),
        bits("uint16_t"),
        "uint16_t",
        ("scalar",),
    ),
    Case("reinterpret_float", "reinterpret<uint>(a)", ("float", "int"), bits("uint"), "uint", ("scalar",)),
]

CONVERSIONS = [*conversions(), *(replace(case, rounds=True) for case in OF_BITS)]
