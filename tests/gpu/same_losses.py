"""Compares how the loss fell in two trainings of one network: python same_losses.py ONE.csv OTHER.csv

Each line is a step and its loss. Processes that share the work add in another order, so that later losses are
apart by some rounding, which grows: within 1 % of the first loss at first, 5 % at the end.
"""

import csv
import sys
from pathlib import Path


def losses(path: Path) -> list[float]:
    with path.open() as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def main() -> int:
    one, other = (losses(Path(argument)) for argument in sys.argv[1:])
    if len(one) != len(other) or not one:
        print(f"{len(one)} and {len(other)} losses")
        return 1
    worst = 0.0
    for step, (first, second) in enumerate(zip(one, other, strict=True)):
        apart = abs(first - second) / one[0]
        worst = max(worst, apart)
        if apart > 0.01 + 0.04 * step / len(one):
            print(f"step {step}: {first} and {second}")
            return 1
    print(f"{len(one)} losses from {one[0]} to {one[-1]}, apart by at most {worst:.2%} of the first")
    return 0 if one[-1] < one[0] / 5 else 1


if __name__ == "__main__":
    sys.exit(main())
