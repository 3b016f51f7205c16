"""What is known to be wrong, on which device; a test fails when one of these is right."""

from __future__ import annotations

from modules import Item
from selection import Selection

SIMPLIFIED = "the driver simplifies floats unless SPIR-V says NoContraction, which Slang drops with precise"
HALF_CONSTANTS = "Slang rounds constants of half up where they are halfway"
COUNTED = "Slang counts the bits of a sign-extended number"
REMAINDER = "Slang computes remainders of half by a quotient in half"

#: Their targets are "llvmpipe", "cuda" or "nvidia", which is NVIDIA's Vulkan.
FAULTS: list[Selection] = [
    Selection("add_and_subtract_constants", "", "", "", "llvmpipe", SIMPLIFIED),
    Selection("precise", "half float", "", "", "llvmpipe", SIMPLIFIED),
    Selection("half_constants half_constant_2049 half_table", "", "", "", "llvmpipe nvidia", HALF_CONSTANTS),
    Selection("countbits", "int8_t int16_t", "", "", "llvmpipe nvidia", COUNTED),
    Selection("remainder_floats fmod", "half", "", "", "llvmpipe nvidia", REMAINDER),
]


def driver(backend: str, name: str) -> str:
    if backend == "cuda":
        return "cuda"
    return "llvmpipe" if name.startswith("llvmpipe") else "nvidia" if "NVIDIA" in name else name


def fault_of(item: Item, backend: str, name: str) -> str:
    """Why it is wrong on that device, or "" if it is right."""
    return next((one.why for one in FAULTS if one.has(item, driver(backend, name))), "")
