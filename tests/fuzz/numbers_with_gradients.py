"""Reverse-mode differentiation of double-precision numbers, and Slang's functions of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field


class Invalid(Exception):  # noqa: N818
    """The program does something that has no defined result, or none that can be compared."""


class Number:
    """A value, what it was computed from, and the derivatives by that."""

    __slots__ = ("grad", "parents", "size", "value")

    def __init__(self, value: float, parents: tuple[tuple[Number, float], ...] = ()) -> None:
        self.value = value
        self.parents = parents
        self.grad = 0.0
        self.size = 0.0  # the sum of the sizes of what the gradient is the sum of


@dataclass
class Tape:
    """Numbers in the order of their computation, and what decides whether they can be compared."""

    numbers: list[Number] = field(default_factory=list)
    #: How far the closest comparison was from going the other way.
    margin: float = 1.0
    #: The largest value.
    peak: float = 0.0
    #: What each branch did.
    decisions: list[int] = field(default_factory=list)
    #: The values of detach(), in order; those of another run where these are to be used again.
    detached: list[float] = field(default_factory=list)
    replayed: list[float] | None = None

    def number(self, value: float, *parents: tuple[Number, float]) -> Number:
        if not math.isfinite(value):
            raise Invalid("a result that isn't finite")
        self.peak = max(self.peak, abs(value))
        result = Number(value, parents)
        self.numbers.append(result)
        return result

    def decide(self, left: float, right: float) -> None:
        self.margin = min(self.margin, abs(left - right) / (1 + abs(left) + abs(right)))

    def detach(self, value: Number) -> Number:
        kept = value.value
        if self.replayed is not None:
            if len(self.detached) >= len(self.replayed):
                raise Invalid("another path")
            kept = self.replayed[len(self.detached)]
        self.detached.append(kept)
        return self.number(kept)

    def run_back(self) -> None:
        """Adds to `grad` and `size` of all numbers, from those that have some."""
        for number in reversed(self.numbers):
            if number.size != 0:
                for parent, slope in number.parents:
                    parent.grad += number.grad * slope
                    parent.size += number.size * abs(slope)


Function = Callable[..., tuple[float, tuple[float, ...]]]


def _pow(x: float, y: float) -> tuple[float, tuple[float, ...]]:
    result = x**y
    return result, (y * result / x, math.log(x) * result)


#: Smooth functions of floats: value and partial derivatives.
SMOOTH: dict[str, Function] = {
    "sin": lambda x: (math.sin(x), (math.cos(x),)),
    "cos": lambda x: (math.cos(x), (-math.sin(x),)),
    "tanh": lambda x: (math.tanh(x), (1 - math.tanh(x) ** 2,)),
    "atan": lambda x: (math.atan(x), (1 / (1 + x * x),)),
    "exp": lambda x: (math.exp(x), (math.exp(x),)),
    "log": lambda x: (math.log(x), (1 / x,)),
    "sqrt": lambda x: (math.sqrt(x), (0.5 / math.sqrt(x),)),
    "rsqrt": lambda x: (x**-0.5, (-0.5 * x**-1.5,)),
    "pow": _pow,
    "atan2": lambda y, x: (math.atan2(y, x), (x / (x * x + y * y), -y / (x * x + y * y))),
    "lerp": lambda a, b, t: (a + (b - a) * t, (1 - t, t, b - a)),
    "mad": lambda a, b, c: (a * b + c, (b, a, 1.0)),
    "+": lambda a, b: (a + b, (1.0, 1.0)),
    "-": lambda a, b: (a - b, (1.0, -1.0)),
    "*": lambda a, b: (a * b, (b, a)),
    "/": lambda a, b: (a / b, (1 / b, -a / (b * b))),
}


def apply(tape: Tape, name: str, *arguments: Number) -> Number:
    """A function or operator of scalars."""
    values = [argument.value for argument in arguments]
    x = values[0]
    if name in {"min", "max"}:
        tape.decide(*values)
        return arguments[0 if (x < values[1]) == (name == "min") else 1]
    if name == "abs":
        tape.decide(x, 0)
        return tape.number(abs(x), (arguments[0], math.copysign(1, x)))
    if name == "saturate":
        return apply(tape, "clamp", arguments[0], Number(0.0), Number(1.0))
    if name == "clamp":
        return apply(tape, "min", apply(tape, "max", arguments[0], arguments[1]), arguments[2])
    if name == "frac":
        tape.decide(x, round(x))
        return tape.number(x - math.floor(x), (arguments[0], 1.0))
    try:
        value, slopes = SMOOTH[name](*values)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise Invalid(f"{name}: {error}") from error
    return tape.number(value, *zip(arguments, slopes, strict=True))


def total(tape: Tape, terms: list[Number]) -> Number:
    return tape.number(sum(term.value for term in terms), *((term, 1.0) for term in terms))
