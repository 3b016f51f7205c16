"""A choice of items, by patterns of their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modules import Item


@dataclass(frozen=True)
class Selection:
    """Cases, types, shapes, ways and targets, as words with spaces between; "" is all of them."""

    cases: str
    types: str
    shapes: str
    ways: str
    targets: str
    why: str

    def has(self, item: Item, target: str) -> bool:
        chosen = (
            (self.cases, item.case.key),
            (self.types, item.scalar),
            (self.shapes, item.shape),
            (self.ways, item.way),
            (self.targets, target),
        )
        return all(not words or name in words.split() for words, name in chosen)
