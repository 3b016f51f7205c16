"""Operators, comparisons and selections of all types, constants among the operands and results used wider."""

from __future__ import annotations

from typing import Any

import numpy as np
from case import BOOL, FLOATS, INTEGERS, NUMBERS, SIGNED, Array, Case

LINE = ("scalar", "vector")
DIVISOR = "b is 0, or −1 where a is the type's least number"
SHIFT = "b is negative, or not less than the number of bits"
#: What Vulkan allows a division.
DIVIDED = 2.5
SMALL = ("int8_t", "int16_t", "uint8_t", "uint16_t")


def quotient(a: Any, b: Any) -> Array:
    """Rounded towards zero, as in C."""
    return np.asarray((a - np.fmod(a, b)) // b)


def where(chosen: Any, a: Any, b: Any) -> Array:
    return np.asarray(np.where(chosen, a, b))


def halves(x: Any) -> Array:
    return np.asarray(x).astype(np.float16)


def arithmetic() -> list[Case]:
    return [
        Case("add", "a + b", NUMBERS, lambda a, b, c: a + b, ulps=0.5),
        Case("subtract", "a - b", NUMBERS, lambda a, b, c: a - b, ulps=0.5),
        Case("multiply", "a * b", NUMBERS, lambda a, b, c: a * b, ulps=0.5),
        Case("negate", "-a", NUMBERS, lambda a, b, c: 0 * a - a),
        Case("plus", "+a", NUMBERS, lambda a, b, c: a),
        Case(
            "divide", "a / b", INTEGERS, lambda a, b, c: quotient(a, b), inputs="divisor", undefined=DIVISOR
        ),
        Case(
            "remainder", "a % b", INTEGERS, lambda a, b, c: np.fmod(a, b), inputs="divisor", undefined=DIVISOR
        ),
        Case("complement", "~a", INTEGERS, lambda a, b, c: ~a),
        Case("bit_and", "a & b", INTEGERS, lambda a, b, c: a & b),
        Case("bit_or", "a | b", INTEGERS, lambda a, b, c: a | b),
        Case("bit_xor", "a ^ b", INTEGERS, lambda a, b, c: a ^ b),
        Case("shift_left", "a << b", INTEGERS, lambda a, b, c: a << b, inputs="shift", undefined=SHIFT),
        Case("shift_right", "a >> b", INTEGERS, lambda a, b, c: a >> b, inputs="shift", undefined=SHIFT),
        Case(
            "increment", "{T} d = a; ++d; return d;", NUMBERS, lambda a, b, c: a + a.dtype.type(1), ulps=0.5
        ),
        Case(
            "decrement", "{T} d = a; d--; return d;", NUMBERS, lambda a, b, c: a - a.dtype.type(1), ulps=0.5
        ),
        Case(
            "divide_floats",
            "a / b",
            FLOATS,
            lambda a, b, c: a / b,
            defined=lambda a, b, c: (np.abs(b) >= 2.0**-126) & (np.abs(b) <= 2.0**126),
            ulps=DIVIDED,
        ),
        Case(
            "remainder_floats",
            "a % b",
            FLOATS,
            lambda a, b, c: np.fmod(a, b),
            defined=lambda a, b, c: np.abs(b) > 0.01,
            inputs="angles",
            ulps=1,
            unit=3.0,
        ),
        Case(
            "remainder_of_large",
            "a % b",
            FLOATS,
            lambda a, b, c: np.fmod(a, b),
            defined=lambda a, b, c: (np.abs(b) > 0.5) & (np.abs(a) < 500),
            ulps=1,
            unit=3.0,
        ),
    ]


def comparisons() -> list[Case]:
    texts = {
        "equal": ("==", lambda a, b, c: a == b),
        "not_equal": ("!=", lambda a, b, c: a != b),
        "less": ("<", lambda a, b, c: a < b),
        "less_equal": ("<=", lambda a, b, c: a <= b),
        "greater": (">", lambda a, b, c: a > b),
        "greater_equal": (">=", lambda a, b, c: a >= b),
    }
    found = [
        Case(key, f"a {text} b", NUMBERS, reference, result="{as bool}")
        for key, (text, reference) in texts.items()
    ]
    return [
        *found,
        Case("equal_bools", "a == b", BOOL, lambda a, b, c: a == b, result="{as bool}"),
        Case("not_equal_bools", "a != b", BOOL, lambda a, b, c: a != b, result="{as bool}"),
        Case("not_bools", "!a", BOOL, lambda a, b, c: ~a, result="{as bool}"),
        Case("and_bools", "and(a, b)", BOOL, lambda a, b, c: a & b, result="{as bool}", shapes=LINE),
        Case("or_bools", "or(a, b)", BOOL, lambda a, b, c: a | b, result="{as bool}", shapes=LINE),
        Case("short_and", "a && b", BOOL, lambda a, b, c: a & b, shapes=("scalar",)),
        Case("short_or", "a || b", BOOL, lambda a, b, c: a | b, shapes=("scalar",)),
        Case("bits_of_bools", "a & b | c", BOOL, lambda a, b, c: a & b | c, shapes=("scalar", "vector")),
        Case("choose", "a < b ? a : c", NUMBERS, lambda a, b, c: where(a < b, a, c), shapes=("scalar",)),
        Case("choose_bools", "a ? b : c", BOOL, where, shapes=("scalar",)),
        Case("select", "select(a < b, a, c)", NUMBERS, lambda a, b, c: where(a < b, a, c)),
        Case("not_numbers", "!a", NUMBERS, lambda a, b, c: a == 0, result="{as bool}", shapes=("scalar",)),
    ]


def wider() -> list[Case]:
    """Results of 8, 16 and 32 bits as operands of what is wider: they wrap first."""
    texts = {
        "product": ("a * b", lambda a, b, c: a * b),
        "sum": ("a + b", lambda a, b, c: a + b),
        "difference": ("a - b", lambda a, b, c: a - b),
        "complement": ("~a", lambda a, b, c: ~a),
        "negative": ("-a", lambda a, b, c: 0 * a - a),
        "double": ("a << 1", lambda a, b, c: a << a.dtype.type(1)),
        "fused": ("a * b + c", lambda a, b, c: a * b + c),
        "masked": ("(a & b) * (a | c)", lambda a, b, c: (a & b) * (a | c)),
    }
    types = (*SMALL, "int", "uint")
    found = []
    for key, (text, reference) in texts.items():
        for wide, dtype in (("int64_t", np.int64), ("float", np.float32)):

            def widened(a: Any, b: Any, c: Any, reference: Any = reference, dtype: Any = dtype) -> Array:
                return np.asarray(reference(a, b, c).astype(dtype))

            result = wide
            found.append(Case(f"{wide}_of_{key}", f"{wide}({text})", types, widened, result, ("scalar",)))
    at = (
        ("compared_sum", "a + b > b", "bool", lambda a, b, c: a + b > b),
        ("shifted_sum", "(a + b) >> 1", "{S}", lambda a, b, c: (a + b) >> a.dtype.type(1)),
        ("shifted_complement", "~a >> 1", "{S}", lambda a, b, c: ~a >> a.dtype.type(1)),
    )
    for key, text, result, reference in at:
        found.append(Case(key, text, types, reference, result, ("scalar",)))
    components = [
        Case(
            "int64_t_of_components",
            "int64_t(a.x * b.y)",
            types,
            lambda a, b, c: (a[:, 0] * b[:, 1]).astype(np.int64),
            "int64_t",
            ("vector",),
        ),
        Case(
            "int64_t_of_element",
            "int i = int(a.x) & 1; return int64_t(b[i] + c[i]);",
            types,
            lambda a, b, c: where(a[:, 0] & 1, b[:, 1] + c[:, 1], b[:, 0] + c[:, 0]).astype(np.int64),
            "int64_t",
            ("vector",),
        ),
    ]
    divided = [
        Case(
            "divided_sum",
            "(a + c) / b",
            types,
            lambda a, b, c: quotient(a + c, b),
            defined=lambda a, b, c: (
                ~((a + c == np.iinfo(a.dtype).min) & (b == a.dtype.type(-1 if np.iinfo(a.dtype).min else 1)))
            ),
            shapes=("scalar",),
            inputs="divisor",
        )
    ]
    return [*found, *components, *divided]


def constants() -> list[Case]:
    """What an optimiser computes when compiling, or replaces by something cheaper."""

    def remainders(a: Any, b: Any, c: Any) -> Array:
        return np.asarray(0 * a + a.dtype.type(-1 * 9 + 1 * 3 - 1))

    return [
        Case(
            "divide_by_constant",
            "a / {S}(7)",
            INTEGERS,
            lambda a, b, c: quotient(a, a.dtype.type(7)),
            inputs="divisor",
        ),
        Case("remainder_by_constant", "a % {S}(7)", INTEGERS, lambda a, b, c: np.fmod(a, a.dtype.type(7))),
        Case("remainder_by_negative", "a % {S}(-3)", SIGNED, lambda a, b, c: np.fmod(a, a.dtype.type(-3))),
        Case(
            "remainders_of_constants",
            "a * {S}(0) + {S}(-7) % {S}(3) * {S}(9) + {S}(7) % {S}(-3) * {S}(3) + {S}(-1) % {S}(7)",
            SIGNED,
            remainders,
            shapes=("scalar",),
        ),
        Case("multiply_by_constant", "a * {S}(100)", INTEGERS, lambda a, b, c: a * a.dtype.type(100)),
        Case(
            "wrapped_constants",
            "a ^ ({S}(100) * {S}(3))",
            INTEGERS,
            lambda a, b, c: a ^ np.array([300]).astype(a.dtype),
            shapes=("scalar",),
        ),
        Case(
            "divide_floats_by_constant",
            "a / {S}(41)",
            FLOATS,
            lambda a, b, c: a / 41,
            inputs="thousands",
            ulps=0.5,
        ),
        Case(
            "floor_of_quotient",
            "floor(a / {S}(41))",
            ("float", "double"),
            lambda a, b, c: np.floor(a / 41),
            inputs="thousands",
        ),
        Case("divide_by_power", "a / {S}(8)", FLOATS, lambda a, b, c: a / 8, inputs="thousands"),
        Case(
            "divide_constant",
            "{S}(41) / a",
            FLOATS,
            lambda a, b, c: 41 / a,
            defined=lambda a, b, c: a != 0,
            inputs="thousands",
            ulps=DIVIDED,
        ),
        Case(
            "divide_by_itself",
            "a / a",
            FLOATS,
            lambda a, b, c: a / a,
            defined=lambda a, b, c: a != 0,
            inputs="thousands",
            ulps=DIVIDED,
        ),
        Case(
            "multiply_and_divide",
            "a * {S}(3) / {S}(3)",
            FLOATS,
            lambda a, b, c: a,
            inputs="unit",
            ulps=DIVIDED,
        ),
        Case(
            "add_and_subtract_constants",
            "(a + {S}(1000)) - {S}(1000)",
            FLOATS,
            lambda a, b, c: (a + a.dtype.type(1000)) - a.dtype.type(1000),
            inputs="unit",
            rounds=True,
        ),
        Case(
            "half_constants",
            "a + {S}(2049.0) - {S}(2049.0) + {S}(4099.0) - {S}(4098.0)",
            ("half",),
            lambda a, b, c: halves(
                halves(halves(halves(a + halves(2049)) - halves(2049)) + halves(4099)) - halves(4098)
            ),
            inputs="unit",
            shapes=("scalar", "vector"),
            rounds=True,
        ),
        Case(
            "half_constant_2049",
            "a > {S}(2) ? a : {S}(2049.0)",
            ("half",),
            lambda a, b, c: 0 * a + halves(2048),
            inputs="unit",
            shapes=("scalar",),
        ),
        Case(
            "half_constant_0_1",
            "a > {S}(2) ? a : {S}(0.1)",
            ("half",),
            lambda a, b, c: 0 * a + halves(0.1),
            inputs="unit",
            shapes=("scalar",),
        ),
        Case(
            "half_table",
            "static const half t[4] = { 2049.0h, 0.1h, 1000.5h, 3.0h }; return t[int(abs(a) * half(3.9))];",
            ("half",),
            lambda a, b, c: halves([2049, 0.1, 1000.5, 3])[halves(np.abs(a) * halves(3.9)).astype(int)],
            inputs="unit",
            shapes=("scalar",),
            rounds=True,
        ),
        Case(
            "precise",
            "precise {S} s = a + b; precise {S} e = (s - a) - b; return e;",
            FLOATS,
            lambda a, b, c: ((a + b) - a) - b,
            inputs="unit",
            shapes=("scalar",),
            rounds=True,
        ),
        Case(
            "precise_product",
            "precise {S} p = a * b; precise {S} e = p + c; return e;",
            FLOATS,
            lambda a, b, c: a * b + c,
            inputs="unit",
            shapes=("scalar",),
            rounds=True,
        ),
    ]


OPERATORS = [*arithmetic(), *comparisons(), *wider(), *constants()]
