"""Grids, ranges and random numbers, which the extension module has."""

from kernelfunctions._kf import Grid, RandFloat, Range, WangHash, grid, rand_float, range, wang_hash

__all__ = ["Grid", "RandFloat", "Range", "WangHash", "grid", "rand_float", "range", "wang_hash"]
