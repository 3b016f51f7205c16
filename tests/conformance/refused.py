"""What Slang or a target has no kernels for, which specs leave out. A test sees that they are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from case import INTEGERS
from selection import Selection

if TYPE_CHECKING:
    from modules import Item

TRANSCENDENTAL = (
    "sin cos tan asin acos atan sinh cosh tanh exp exp2 log log2 log10 atan2 pow sincos "
    "sin_of_large cos_of_large"
)
REFUSALS = [
    Selection(
        "",
        "int8_t int16_t int64_t uint8_t uint16_t uint64_t",
        "matrix",
        "",
        "vulkan",
        "Slang makes invalid SPIR-V of these matrices",
    ),
    Selection(
        "to_int8_t to_int16_t to_int64_t to_uint8_t to_uint16_t to_uint64_t",
        "",
        "matrix",
        "",
        "vulkan",
        "Slang makes invalid SPIR-V of these matrices",
    ),
    Selection(
        "not_bools shift_left shift_right",
        "",
        "matrix",
        "",
        "cuda",
        "Slang's CUDA code lacks the operators",
    ),
    Selection(
        "half_table", "", "", "", "cuda", "CUDA has no tables of half that aren't computed at run time"
    ),
    Selection(
        "select", "int64_t uint64_t", "vector matrix", "", "cuda", "Slang's CUDA code lacks the function"
    ),
    Selection(
        "remainder_floats remainder_of_large",
        "half",
        "vector",
        "",
        "cuda",
        "Slang's CUDA code lacks the operators",
    ),
    Selection(TRANSCENDENTAL, "double", "", "", "vulkan", "SPIR-V has it for 16 and 32 bits alone"),
    Selection("ldexp", "double", "matrix", "", "vulkan", "SPIR-V has it for 16 and 32 bits alone"),
    Selection("mad", " ".join(INTEGERS), "", "", "vulkan", "SPIR-V has it for floats alone"),
    Selection(
        "firstbitlow",
        "int8_t int16_t uint8_t uint16_t",
        "",
        "",
        "vulkan",
        "SPIR-V has it for 32 bits alone",
    ),
    Selection("cross_integers", "", "", "", "vulkan", "SPIR-V has it for floats alone"),
]


def is_refused(item: Item, target: str) -> bool:
    return any(one.has(item, target) for one in REFUSALS)
