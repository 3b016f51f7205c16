"""Random choices that are the same for a seed in every version of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Draws:
    """Uses nothing but random(), whose numbers Python promises not to change."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def integer(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def number(self, low: float, high: float, digits: int = 2) -> float:
        return round(low + self._random.random() * (high - low), digits)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.integer(0, len(items) - 1)]

    def weighted(self, items: dict[str, float]) -> str:
        at = self._random.random() * sum(items.values())
        for name, weight in items.items():
            at -= weight
            if at < 0:
                return name
        return next(iter(items))
