"""Grids, ranges and random numbers: what calls make of their index."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

_Int: TypeAlias = int | np.integer[Any]
_Ints: TypeAlias = _Int | Sequence[_Int] | npt.NDArray[np.integer[Any]]

class Grid:
    """Indices: offset + i * stride along each dimension, in NumPy's order. Made by grid()."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def offset(self) -> tuple[int, ...]: ...
    @property
    def stride(self) -> tuple[int, ...]: ...

class Range:
    """start, start + step ... below stop. Made by range()."""

    @property
    def start(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def step(self) -> int: ...

class WangHash:
    """A 32-bit hash of every call's index. Made by wang_hash()."""

    @property
    def seed(self) -> int: ...
    @property
    def warmup(self) -> int: ...
    @property
    def hash_seed(self) -> bool: ...

class RandFloat:
    """A random float for every call. Made by rand_float()."""

    @property
    def min(self) -> float: ...
    @property
    def max(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def warmup(self) -> int: ...
    @property
    def hash_seed(self) -> bool: ...

def grid(shape: _Ints, offset: _Ints | None = None, stride: _Ints | None = None) -> Grid:
    """Indices of a grid: offset (0) + i * stride (1) along each dimension. Gives the call its shape."""

def range(start: _Int, stop: _Int | None = None, step: _Int = 1) -> Range:
    """start, start + step ... below stop, as Python's range; gives the call its shape."""

def wang_hash(seed: _Int = 0, warmup: _Int = 0, hash_seed: bool = False) -> WangHash:
    """A 32-bit hash of every call's index, other for every component of a vector.

    `warmup`: how often it is hashed again. `hash_seed`: the seed is hashed first.
    """

def rand_float(
    min: float = 0, max: float = 1, seed: _Int = 0, warmup: _Int = 0, hash_seed: bool = False
) -> RandFloat:
    """A random float in [min, max) for every call, made from wang_hash()."""
