"""Chooses few of many combinations so that every pair of values that occurs together still does."""

import random
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import combinations

SEED = 15


def pairs_of(row: Iterable[Hashable]) -> set[frozenset[Hashable]]:
    """The pairs in it, and each value by itself."""
    values = list(row)
    return {frozenset(pair) for pair in combinations(values, 2)} | {frozenset([value]) for value in values}


def covering(rows: Sequence[Collection[Hashable]], pinned: Iterable[int] = (), seed: int = SEED) -> list[int]:
    """Positions of rows that hold every pair of values that any row holds, with those of `pinned`.

    Each time the row with the most new pairs is taken; which of equal ones, the seed says.
    """
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    pairs = [pairs_of(row) for row in rows]
    chosen = set(pinned)
    covered = set[frozenset[Hashable]]().union(*(pairs[i] for i in chosen))
    while order:
        gains = [len(pairs[i] - covered) for i in order]
        best = max(gains)
        if best == 0:
            break
        found = order.pop(gains.index(best))
        chosen.add(found)
        covered |= pairs[found]
        # What has nothing new now never will.
        order = [i for i in order if pairs[i] - covered]
    return sorted(chosen)
