"""What is known to be wrong, on which device; a test fails when one of these is right."""

from __future__ import annotations

from modules import Item
from selection import Selection

SIMPLIFIED = "the driver simplifies floats unless a module says precise"
HALF_CONSTANTS = "Slang rounds constants of half up where they are halfway"
COUNTED = "Slang counts the bits of a sign-extended number"
REMAINDER = "the remainder is that of a quotient which is rounded first, as Vulkan allows"
QUOTIENTS = "float division is off by up to 2.5 ULPs, as Vulkan allows"
LEAST = "NVIDIA's compiler takes the least number's negative, where it is widened, for one that fits"
OVERFLOW = "C++ doesn't define the overflow of signed integers, and NVIDIA's compiler relies on that"
NARROW_CONSTANTS = "Slang's library has a factor as a float"
SINE = "NVIDIA's sine of halves is off by more far from 0"
ELEMENT = "NVIDIA's compiler doesn't wrap a sum of elements that are chosen at run time"

#: Their targets are "llvmpipe", "cuda" or "nvidia", which is NVIDIA's Vulkan.
FAULTS: list[Selection] = [
    Selection("add_and_subtract_constants", "", "", "", "llvmpipe nvidia", SIMPLIFIED),
    Selection("half_constants half_constant_2049", "", "", "", "llvmpipe nvidia cuda", HALF_CONSTANTS),
    Selection("countbits", "int8_t int16_t", "", "", "llvmpipe nvidia", COUNTED),
    Selection("countbits", "int8_t", "", "", "cuda", COUNTED),
    Selection("remainder_floats fmod", "half", "", "", "llvmpipe nvidia", REMAINDER),
    Selection("remainder_of_large", "half float", "", "", "nvidia", REMAINDER),
    Selection("divide_floats_by_constant floor_of_quotient", "half float", "", "", "nvidia", QUOTIENTS),
    Selection("int64_t_of_negative", "int8_t int16_t", "", "", "nvidia", LEAST),
    Selection("int64_t_of_negative", "int16_t", "", "", "cuda", LEAST),
    Selection("int64_t_of_element", "int8_t", "", "", "cuda", ELEMENT),
    Selection("sin_of_large", "half", "", "", "nvidia", SINE),
    Selection("compared_sum", "int", "", "", "cuda", OVERFLOW),
    Selection("exp2 log2", "double", "", "backward forward", "cuda", NARROW_CONSTANTS),
    Selection("log10", "double", "", "", "cuda", NARROW_CONSTANTS),
]


def driver(backend: str, name: str) -> str:
    if backend == "cuda":
        return "cuda"
    return "llvmpipe" if name.startswith("llvmpipe") else "nvidia" if "NVIDIA" in name else name


def fault_of(item: Item, backend: str, name: str) -> str:
    """Why it is wrong on that device, or "" if it is right."""
    return next((one.why for one in FAULTS if one.has(item, driver(backend, name))), "")
