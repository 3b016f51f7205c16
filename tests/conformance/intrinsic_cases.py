"""Slang's functions of numbers, vectors and matrices, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from case import BOOL, FLOATS, INTEGERS, NUMBERS, SIGNED, Array, Case, Reference

SCALAR = ("scalar",)
VECTOR = ("vector",)
MATRIX = ("matrix",)
LINE = ("scalar", "vector")


def bit_functions() -> list[Case]:
    return [
        Case("countbits", "countbits(a)", INTEGERS, lambda a, b, c: bit_count(a), "{as uint}", LINE),
        Case("reversebits", "reversebits(a)", INTEGERS, lambda a, b, c: reversed_bits(a), "{T}", LINE),
        Case("firstbithigh", "firstbithigh(a)", INTEGERS, lambda a, b, c: first_high(a), "{as uint}", LINE),
        Case("firstbitlow", "firstbitlow(a)", INTEGERS, lambda a, b, c: first_low(a), "{as uint}", LINE),
    ]


def unsigned(a: Any) -> Array:
    return np.ascontiguousarray(a).view(np.dtype(f"u{a.dtype.itemsize}"))


def bits_of(a: Any) -> Array:
    """The lowest bit first, along a new dimension."""
    width = 8 * a.dtype.itemsize
    return np.stack([unsigned(a) >> k & 1 for k in range(width)], -1).astype(np.uint64)


def bit_count(a: Any) -> Array:
    return np.asarray(bits_of(a).sum(-1).astype(np.uint32))


def reversed_bits(a: Any) -> Array:
    found = bits_of(a)[..., ::-1]
    weights = np.uint64(1) << np.arange(found.shape[-1], dtype=np.uint64)
    return np.asarray((found * weights).sum(-1).astype(np.uint64).astype(a.dtype))


def first_low(a: Any) -> Array:
    found = bits_of(a)
    return np.where(found.any(-1), found.argmax(-1), 0xFFFFFFFF).astype(np.uint32)


def first_high(a: Any) -> Array:
    """Of a negative number the highest bit that is 0."""
    found = bits_of(np.where(a < 0, ~a, a).astype(a.dtype))
    width = found.shape[-1]
    return np.where(found.any(-1), width - 1 - found[..., ::-1].argmax(-1), 0xFFFFFFFF).astype(np.uint32)


def choices() -> list[Case]:
    def lowest(a: Any, b: Any, c: Any) -> Array:
        return np.asarray(a != np.iinfo(a.dtype).min) if a.dtype.kind == "i" else np.ones(a.shape, bool)

    return [
        Case(
            "min",
            "min(a, b)",
            NUMBERS,
            lambda a, b, c: np.minimum(a, b),
            partials=(lambda a, b, c: a < b, lambda a, b, c: b < a),
            smooth=lambda a, b, c: a != b,
        ),
        Case(
            "max",
            "max(a, b)",
            NUMBERS,
            lambda a, b, c: np.maximum(a, b),
            partials=(lambda a, b, c: a > b, lambda a, b, c: b > a),
            smooth=lambda a, b, c: a != b,
        ),
        Case(
            "abs",
            "abs(a)",
            (*SIGNED, *FLOATS),
            lambda a, b, c: np.abs(a),
            defined=lowest,
            partials=(lambda a, b, c: np.sign(a),),
            smooth=lambda a, b, c: a != 0,
        ),
        Case("sign", "sign(a)", (*SIGNED, *FLOATS), lambda a, b, c: np.sign(a).astype(np.int32), "{as int}"),
        Case(
            "clamp",
            "clamp(a, min(b, c), max(b, c))",
            NUMBERS,
            lambda a, b, c: np.clip(a, np.minimum(b, c), np.maximum(b, c)),
        ),
        Case(
            "saturate",
            "saturate(a)",
            FLOATS,
            lambda a, b, c: np.clip(a, 0, 1),
            partials=(lambda a, b, c: (a > 0) & (a < 1),),
            smooth=lambda a, b, c: (a != 0) & (a != 1),
        ),
    ]


def bool_functions() -> list[Case]:
    return [
        Case("all", "all(a)", BOOL, lambda a, b, c: a.all(-1), "bool", VECTOR),
        Case("any", "any(a)", BOOL, lambda a, b, c: a.any(-1), "bool", VECTOR),
        Case("all_numbers", "all(a)", NUMBERS, lambda a, b, c: (a != 0).all(-1), "bool", VECTOR),
        Case("any_numbers", "any(a)", NUMBERS, lambda a, b, c: (a != 0).any(-1), "bool", VECTOR),
        Case("isnan", "isnan(a)", FLOATS, lambda a, b, c: np.isnan(a), "{as bool}", LINE, "special"),
        Case("isinf", "isinf(a)", FLOATS, lambda a, b, c: np.isinf(a), "{as bool}", LINE, "special"),
        Case("isfinite", "isfinite(a)", FLOATS, lambda a, b, c: np.isfinite(a), "{as bool}", LINE, "special"),
    ]


def rounding() -> list[Case]:
    return [
        Case("floor", "floor(a)", FLOATS, lambda a, b, c: np.floor(a)),
        Case("ceil", "ceil(a)", FLOATS, lambda a, b, c: np.ceil(a)),
        Case("trunc", "trunc(a)", FLOATS, lambda a, b, c: np.trunc(a)),
        Case("round", "round(a)", FLOATS, lambda a, b, c: np.rint(a)),
        Case(
            "frac",
            "frac(a)",
            FLOATS,
            lambda a, b, c: a - np.floor(a),
            inputs="angles",
            ulps=0.5,
            unit=1.0,
            partials=(lambda a, b, c: 0 * a + 1,),
        ),
        Case(
            "fmod",
            "fmod(a, b)",
            FLOATS,
            lambda a, b, c: np.fmod(a, b),
            inputs="angles",
            defined=lambda a, b, c: np.abs(b) > 0.01,
            ulps=1,
            unit=3.0,
            partials=(lambda a, b, c: 0 * a + 1, lambda a, b, c: -np.trunc(a / b)),
        ),
        Case(
            "modf",
            "{T} whole; {T} part = modf(a, whole); return part;",
            FLOATS,
            lambda a, b, c: a - np.trunc(a),
            inputs="angles",
        ),
        Case(
            "modf_whole",
            "{T} whole; modf(a, whole); return whole;",
            FLOATS,
            lambda a, b, c: np.trunc(a),
            inputs="angles",
        ),
        Case(
            "frexp",
            "{as int} e; return frexp(a, e);",
            FLOATS,
            lambda a, b, c: np.frexp(a)[0],
            inputs="angles",
        ),
        Case(
            "frexp_exponent",
            "{as int} e; frexp(a, e); return e;",
            FLOATS,
            lambda a, b, c: np.frexp(a)[1].astype(np.int32),
            "{as int}",
            inputs="angles",
        ),
        Case("ldexp", "ldexp(a, {T}(3))", FLOATS, lambda a, b, c: a * 8, inputs="angles"),
        Case("step", "step(a, b)", FLOATS, lambda a, b, c: (b >= a) + 0 * a),
        Case(
            "copysign",
            "copysign(a, b)",
            FLOATS,
            lambda a, b, c: np.copysign(a, b),
            shapes=LINE,
            defined=lambda a, b, c: b != 0,
        ),
    ]


def arithmetic() -> list[Case]:
    return [
        Case(
            "mad",
            "mad(a, b, c)",
            NUMBERS,
            lambda a, b, c: a * b + c,
            inputs="unit",
            ulps=1,
            unit=1.0,
            partials=(lambda a, b, c: b, lambda a, b, c: a, lambda a, b, c: 0 * a + 1),
        ),
        Case(
            "fma",
            "fma(a, b, c)",
            ("half", "float", "double"),
            lambda a, b, c: a * b + c,
            inputs="unit",
            ulps=1,
            unit=1.0,
            partials=(lambda a, b, c: b, lambda a, b, c: a, lambda a, b, c: 0 * a + 1),
        ),
        Case(
            "lerp",
            "lerp(a, b, c)",
            FLOATS,
            lambda a, b, c: a + (b - a) * c,
            inputs="unit",
            ulps=2,
            unit=1.0,
            partials=(lambda a, b, c: 1 - c, lambda a, b, c: c, lambda a, b, c: b - a),
        ),
        Case(
            "smoothstep",
            "smoothstep({T}(-0.5), {T}(0.75), a)",
            FLOATS,
            lambda a, b, c: smoothstep(a, -0.5, 0.75),
            inputs="unit",
            ulps=4,
            unit=1.0,
        ),
        Case(
            "rcp",
            "rcp(a)",
            FLOATS,
            lambda a, b, c: 1 / a,
            defined=lambda a, b, c: np.abs(a) > 1e-3,
            inputs="angles",
            ulps=2.5,
            partials=(lambda a, b, c: -1 / (a * a),),
        ),
        Case(
            "product",
            "a * b",
            FLOATS,
            lambda a, b, c: a * b,
            inputs="angles",
            ulps=0.5,
            partials=(lambda a, b, c: b, lambda a, b, c: a),
        ),
        Case(
            "quotient",
            "a / b",
            FLOATS,
            lambda a, b, c: a / b,
            inputs="angles",
            defined=lambda a, b, c: np.abs(b) > 0.01,
            ulps=2.5,
            partials=(lambda a, b, c: 1 / b, lambda a, b, c: -a / (b * b)),
        ),
    ]


def smoothstep(x: Any, low: float, high: float) -> Array:
    t = np.clip((x - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t))


#: What Vulkan allows sin and cos of float, 2^-11, and half, 2^-7, in units in the last place of 1.
WAVES = {"half": 8.0, "float": 4096.0, "double": 4.0}
#: What Vulkan allows is larger by far where it says a function is computed from others.
DERIVED = {"half": 8.0, "float": 4096.0, "double": 8.0}
EXPONENTS = {"half": 8.0, "float": 16.0, "double": 4.0}


def transcendental() -> list[Case]:
    def positive(a: Any, b: Any, c: Any) -> Array:
        return np.asarray(a > 0.01)

    def inside(a: Any, b: Any, c: Any) -> Array:
        return np.asarray(np.abs(a) < 0.99)

    def function(key: str, reference: Reference, partial: Reference, **more: Any) -> Case:
        return Case(key, f"{key}(a)", FLOATS, reference, partials=(partial,), **{"inputs": "angles", **more})

    log2 = np.log(np.longdouble(2))
    ln10 = np.log(np.longdouble(10))
    return [
        function("sin", lambda a, b, c: np.sin(a), lambda a, b, c: np.cos(a), ulps=WAVES, unit=1.0),
        function("cos", lambda a, b, c: np.cos(a), lambda a, b, c: -np.sin(a), ulps=WAVES, unit=1.0),
        function(
            "tan",
            lambda a, b, c: np.tan(a),
            lambda a, b, c: 1 + np.tan(a) ** 2,
            ulps=DERIVED,
            unit=1.0,
            defined=lambda a, b, c: np.abs(np.cos(a)) > 0.3,
        ),
        function(
            "asin",
            lambda a, b, c: np.arcsin(a),
            lambda a, b, c: 1 / np.sqrt(1 - a * a),
            ulps=DERIVED,
            unit=1.0,
            inputs="unit",
            defined=inside,
        ),
        function(
            "acos",
            lambda a, b, c: np.arccos(a),
            lambda a, b, c: -1 / np.sqrt(1 - a * a),
            ulps=DERIVED,
            unit=1.0,
            inputs="unit",
            defined=inside,
        ),
        function(
            "atan", lambda a, b, c: np.arctan(a), lambda a, b, c: 1 / (1 + a * a), ulps=DERIVED, unit=1.0
        ),
        function("sinh", lambda a, b, c: np.sinh(a), lambda a, b, c: np.cosh(a), ulps=DERIVED, unit=1.0),
        function("cosh", lambda a, b, c: np.cosh(a), lambda a, b, c: np.sinh(a), ulps=DERIVED, unit=1.0),
        function(
            "tanh", lambda a, b, c: np.tanh(a), lambda a, b, c: 1 - np.tanh(a) ** 2, ulps=DERIVED, unit=1.0
        ),
        function("exp", lambda a, b, c: np.exp(a), lambda a, b, c: np.exp(a), ulps=EXPONENTS),
        function("exp2", lambda a, b, c: np.exp2(a), lambda a, b, c: np.exp2(a) * log2, ulps=EXPONENTS),
        function(
            "log",
            lambda a, b, c: np.log(a),
            lambda a, b, c: 1 / a,
            ulps=EXPONENTS,
            unit=1.0,
            defined=positive,
        ),
        function(
            "log2",
            lambda a, b, c: np.log2(a),
            lambda a, b, c: 1 / (a * log2),
            ulps=EXPONENTS,
            unit=1.0,
            defined=positive,
        ),
        function(
            "log10",
            lambda a, b, c: np.log10(a),
            lambda a, b, c: 1 / (a * ln10),
            ulps=EXPONENTS,
            unit=1.0,
            defined=positive,
        ),
        function(
            "sqrt", lambda a, b, c: np.sqrt(a), lambda a, b, c: 0.5 / np.sqrt(a), ulps=4, defined=positive
        ),
        function(
            "rsqrt",
            lambda a, b, c: 1 / np.sqrt(a),
            lambda a, b, c: -0.5 / (a * np.sqrt(a)),
            ulps=4,
            defined=positive,
        ),
        Case(
            "atan2",
            "atan2(a, b)",
            FLOATS,
            lambda a, b, c: np.arctan2(a, b),
            inputs="angles",
            ulps=DERIVED,
            unit=1.0,
            defined=lambda a, b, c: a * a + b * b > 0.1,
            partials=(lambda a, b, c: b / (a * a + b * b), lambda a, b, c: -a / (a * a + b * b)),
        ),
        Case(
            "pow",
            "pow(abs(a) + {S}(0.5), b)",
            FLOATS,
            lambda a, b, c: np.power(np.abs(a) + 0.5, b),
            inputs="unit",
            ulps={"half": 16.0, "float": 64.0, "double": 8.0},
            partials=(
                lambda a, b, c: b * np.power(np.abs(a) + 0.5, b - 1) * np.sign(a),
                lambda a, b, c: np.power(np.abs(a) + 0.5, b) * np.log(np.abs(a) + 0.5),
            ),
            smooth=lambda a, b, c: a != 0,
        ),
        Case(
            "sincos",
            "{T} s; {T} k; sincos(a, s, k); return s - k;",
            FLOATS,
            lambda a, b, c: np.sin(a) - np.cos(a),
            inputs="angles",
            ulps={"half": 16.0, "float": 8192.0, "double": 8.0},
            unit=1.0,
        ),
        Case(
            "sin_of_large",
            "sin(a)",
            FLOATS,
            lambda a, b, c: np.sin(a),
            defined=lambda a, b, c: np.abs(a) < 100,
            ulps={"half": 8.0, "float": 16384.0, "double": 64.0},
            unit=1.0,
        ),
        Case(
            "cos_of_large",
            "cos(a)",
            FLOATS,
            lambda a, b, c: np.cos(a),
            defined=lambda a, b, c: np.abs(a) < 100,
            ulps={"half": 8.0, "float": 16384.0, "double": 64.0},
            unit=1.0,
        ),
    ]


def dot(a: Any, b: Any) -> Array:
    return np.asarray((a * b).sum(-1))


def length(a: Any) -> Array:
    return np.sqrt(dot(a, a))


def cross(a: Any, b: Any) -> Array:
    return np.stack([a[..., k - 2] * b[..., k - 1] - a[..., k - 1] * b[..., k - 2] for k in range(3)], -1)


def vectors() -> list[Case]:
    def normalized(a: Any) -> Array:
        return np.asarray(a / length(a)[..., None])

    def reflected(a: Any, b: Any) -> Array:
        return np.asarray(a - 2 * dot(a, b)[..., None] * b)

    def refracted(a: Any, b: Any, c: Any) -> Array:
        i, n = normalized(a), normalized(b)
        cosine = dot(n, i)[..., None]
        k = 1 - 0.25 * (1 - cosine * cosine)
        return np.asarray(0.5 * i - (0.5 * cosine + np.sqrt(k)) * n)

    def long(a: Any, b: Any, c: Any) -> Array:
        return np.asarray((length(a) > 0.1) & (length(b) > 0.1) & (length(a - b) > 0.1))

    near = {"half": 8.0, "float": 16.0, "double": 16.0}
    vector: dict[str, Any] = {"shapes": VECTOR, "inputs": "unit", "ulps": near, "unit": 1.0}
    return [
        Case(
            "dot",
            "dot(a, b)",
            FLOATS,
            lambda a, b, c: dot(a, b),
            "{S}",
            **vector,
            partials=(lambda a, b, c: b, lambda a, b, c: a),
        ),
        Case(
            "dot_integers",
            "dot(a, b)",
            INTEGERS,
            lambda a, b, c: (a * b).sum(-1, dtype=a.dtype),
            "{S}",
            VECTOR,
        ),
        Case(
            "cross",
            "cross(a, b)",
            FLOATS,
            lambda a, b, c: cross(a, b),
            **vector,
            partials=(lambda a, b, c: cross(b, 0 * a + 1), lambda a, b, c: cross(0 * a + 1, a)),
            tangents=(lambda a, b, c: cross(0 * a + 1, b), lambda a, b, c: cross(a, 0 * a + 1)),
        ),
        Case("cross_integers", "cross(a, b)", INTEGERS, lambda a, b, c: cross(a, b), shapes=VECTOR),
        Case(
            "length",
            "length(a)",
            FLOATS,
            lambda a, b, c: length(a),
            "{S}",
            **vector,
            defined=long,
            partials=(lambda a, b, c: normalized(a),),
        ),
        Case(
            "distance",
            "distance(a, b)",
            FLOATS,
            lambda a, b, c: length(a - b),
            "{S}",
            **vector,
            defined=long,
            partials=(lambda a, b, c: normalized(a - b), lambda a, b, c: normalized(b - a)),
        ),
        Case("normalize", "normalize(a)", FLOATS, lambda a, b, c: normalized(a), **vector, defined=long),
        Case("reflect", "reflect(a, b)", FLOATS, lambda a, b, c: reflected(a, b), **vector),
        Case(
            "refract",
            "refract(normalize(a), normalize(b), {S}(0.5))",
            FLOATS,
            refracted,
            shapes=VECTOR,
            inputs="unit",
            ulps={"half": 32.0, "float": 64.0, "double": 64.0},
            unit=1.0,
            defined=long,
        ),
        Case(
            "faceforward",
            "faceforward(a, b, c)",
            FLOATS,
            lambda a, b, c: np.asarray(np.where(dot(b, c)[..., None] < 0, a, -a)),
            shapes=VECTOR,
            inputs="unit",
            defined=lambda a, b, c: np.abs(dot(b, c)) > 0.01,
        ),
        Case(
            "swizzle",
            "a.zyx + b.xxz",
            NUMBERS,
            lambda a, b, c: a[..., [2, 1, 0]] + b[..., [0, 0, 2]],
            shapes=VECTOR,
            inputs="unit",
            ulps=0.5,
        ),
        Case(
            "write_components",
            "{T} d = a; d.zx = b.xy; return d;",
            NUMBERS,
            lambda a, b, c: np.stack([b[..., 1], a[..., 1], b[..., 0]], -1),
            shapes=VECTOR,
            inputs="unit",
        ),
        Case(
            "times_scalar",
            "a * b.x",
            NUMBERS,
            lambda a, b, c: a * b[..., :1],
            shapes=VECTOR,
            inputs="unit",
            ulps=0.5,
        ),
        Case(
            "element",
            "a[int(abs(b.x) * {S}(2.9))]",
            FLOATS,
            lambda a, b, c: np.take_along_axis(
                a, (np.abs(b[..., :1].astype(a.dtype)) * a.dtype.type(2.9)).astype(int), -1
            )[..., 0],
            "{S}",
            VECTOR,
            "unit",
            rounds=True,
        ),
    ]


def matrices() -> list[Case]:
    near = {"half": 8.0, "float": 16.0, "double": 16.0}
    matrix: dict[str, Any] = {"shapes": MATRIX, "inputs": "unit", "ulps": near, "unit": 1.0}
    square = "matrix<{S}, 3, 3>(a[0], a[1], b[0])"

    def determinant(a: Any, b: Any, c: Any) -> Array:
        return dot(cross(a[:, 0], a[:, 1]), b[:, 0])

    return [
        Case(
            "transpose",
            "transpose(a)",
            NUMBERS,
            lambda a, b, c: a.swapaxes(1, 2),
            "matrix<{S}, 3, 2>",
            MATRIX,
        ),
        Case("determinant", f"determinant({square})", FLOATS, determinant, "{S}", **matrix),
        Case(
            "mul_matrices",
            "mul(a, transpose(b))",
            NUMBERS,
            lambda a, b, c: product(a, b.swapaxes(1, 2)),
            "matrix<{S}, 2, 2>",
            **matrix,
        ),
        Case(
            "mul_vector",
            "mul(a, b[1])",
            NUMBERS,
            lambda a, b, c: product(a, b[:, 1, :, None])[..., 0],
            "vector<{S}, 2>",
            **matrix,
        ),
        Case(
            "mul_by_vector",
            "mul(vector<{S}, 2>(c[0][1], c[1][2]), a)",
            NUMBERS,
            lambda a, b, c: product(np.stack([c[:, 0, 1], c[:, 1, 2]], -1)[:, None], a)[:, 0],
            "vector<{S}, 3>",
            **matrix,
        ),
        Case("row", "a[1]", NUMBERS, lambda a, b, c: a[:, 1], "vector<{S}, 3>", MATRIX),
        Case(
            "element_of_matrix",
            "a[1][2] + b._m01",
            NUMBERS,
            lambda a, b, c: a[:, 1, 2] + b[:, 0, 1],
            "{S}",
            MATRIX,
            "unit",
            ulps=0.5,
        ),
        Case(
            "write_row",
            "{T} d = a; d[1] = b[0]; return d;",
            NUMBERS,
            lambda a, b, c: np.stack([a[:, 0], b[:, 0]], 1),
            "{T}",
            MATRIX,
        ),
        Case(
            "matrix_times_scalar", "a * b[0][0]", NUMBERS, lambda a, b, c: a * b[:, :1, :1], "{T}", **matrix
        ),
    ]


def product(a: Any, b: Any) -> Array:
    return np.asarray((a[..., :, :, None] * b[..., None, :, :]).sum(-2, dtype=a.dtype))


INTRINSICS = [
    *bit_functions(),
    *choices(),
    *bool_functions(),
    *rounding(),
    *arithmetic(),
    *transcendental(),
    *vectors(),
    *matrices(),
]
