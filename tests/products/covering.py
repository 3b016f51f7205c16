"""Chooses few of many combinations so that every pair of values that occurs together still does."""

import random
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import combinations

SEED = 15


def pairs_of(row: Iterable[Hashable], strength: int = 2) -> set[frozenset[Hashable]]:
    """The pairs in it, and each value by itself; the values alone with a strength of 1."""
    values = list(row)
    return {frozenset(part) for size in range(1, strength + 1) for part in combinations(values, size)}


def covering(
    rows: Sequence[Collection[Hashable]],
    pinned: Iterable[int] = (),
    strength: int = 2,
    costs: Sequence[float] = (),
    seed: int = SEED,
) -> list[int]:
    """Positions of rows that hold every pair of values that any row holds, with those of `pinned`.

    Each time the row with the most new pairs for its cost is taken; which of equal ones, the seed says.
    """
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    costs = costs or [1] * len(rows)
    parts = [pairs_of(row, strength) for row in rows]
    kept = set(pinned)
    covered = set[frozenset[Hashable]]().union(*(parts[i] for i in kept))
    taken: list[int] = []
    while order := [i for i in order if parts[i] - covered]:
        taken.append(max(order, key=lambda i: len(parts[i] - covered) / costs[i]))
        covered |= parts[taken[-1]]
    # Later ones may hold all that an earlier one was taken for.
    counts = Counter(part for i in kept.union(taken) for part in parts[i])
    for i in taken:
        if all(counts[part] > 1 for part in parts[i]):
            counts.subtract(parts[i])
        else:
            kept.add(i)
    return sorted(kept)
