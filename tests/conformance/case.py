"""What a case of the conformance suite is: an expression, its types, and what it should give."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Reference = Callable[..., Array]

#: Slang's scalar types, and NumPy's for the same.
DTYPES: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    "int8_t": np.dtype(np.int8),
    "int16_t": np.dtype(np.int16),
    "int": np.dtype(np.int32),
    "int64_t": np.dtype(np.int64),
    "uint8_t": np.dtype(np.uint8),
    "uint16_t": np.dtype(np.uint16),
    "uint": np.dtype(np.uint32),
    "uint64_t": np.dtype(np.uint64),
    "half": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}
ALL = tuple(DTYPES)
BOOL = ("bool",)
SIGNED = ("int8_t", "int16_t", "int", "int64_t")
UNSIGNED = ("uint8_t", "uint16_t", "uint", "uint64_t")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("half", "float", "double")
NUMBERS = (*INTEGERS, *FLOATS)

#: The shapes, and the extents of one value of each.
SHAPES: dict[str, tuple[int, ...]] = {"scalar": (), "vector": (3,), "matrix": (2, 3)}
EVERY_SHAPE = tuple(SHAPES)


@dataclass(frozen=True)
class Case:
    """An expression of a, b and c, which have one type: {S}, a scalar's, in one shape: {T}.

    `text` is the expression, or statements that end with a return. `result` names the result's type: "{T}",
    "{S}" or another one with these words. `reference` computes it from arrays, for floats in a wider type.
    `inputs` names what a, b and c go through, see inputs.py. `defined` says where the result is defined by
    Slang and the targets, and `undefined` says in words where it isn't.
    `ulps`: the largest error that is allowed, in units in the last place of the expected value or of `unit`,
    whichever is larger; by type, where it isn't the same for all. `partials`: the derivatives by a, b and c.
    `tangents`: what a forward derivative gives for the tangent 1, where that isn't the same.
    `smooth` says where they are defined, if that isn't everywhere.
    `rounds`: `reference` is given what has the type itself, and rounds each step as the case has to.
    """

    key: str
    text: str
    types: tuple[str, ...]
    reference: Reference
    result: str = "{T}"
    shapes: tuple[str, ...] = EVERY_SHAPE
    inputs: str = "any"
    defined: Reference | None = None
    undefined: str = ""
    ulps: float | dict[str, float] = 0.0
    unit: float = 0.0
    partials: tuple[Reference, ...] = ()
    tangents: tuple[Reference, ...] = ()
    smooth: Reference | None = None
    rounds: bool = False

    def allowed(self, scalar: str) -> float:
        """The largest error of a result of this type; integers have none."""
        if scalar not in FLOATS:
            return 0
        return self.ulps.get(scalar, 0) if isinstance(self.ulps, dict) else self.ulps

    def result_scalar(self, scalar: str) -> str:
        """The scalar type of the result for operands of this one."""
        found = filled(self.result, scalar, "scalar")
        return found.partition("<")[2].partition(",")[0] or found


def shaped(scalar: str, shape: str) -> str:
    """The type's name in Slang."""
    extents = ", ".join(map(str, SHAPES[shape]))
    return f"{shape}<{scalar}, {extents}>" if extents else scalar


def filled(text: str, scalar: str, shape: str) -> str:
    """The text for a type and shape: {as int} is an int in that shape."""
    text = re.sub(r"\{as (\w+)\}", lambda found: shaped(found[1], shape), text)
    return text.replace("{T}", shaped(scalar, shape)).replace("{S}", scalar)
