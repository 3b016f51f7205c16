"""Times calls of numbers, and of NumPy arrays in and out, on the device that KF_DEVICE names, as JSON."""

import json
import statistics
import time
from collections.abc import Callable

import kernelfunctions as kf
import numpy as np
from kf_bench.bench import add, polynomial

CALLS, ROUNDS = 100, 41


def microseconds(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Of each, which waits for its result: medians, by turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(-5, ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            if turn >= 0:
                times[name].append((time.perf_counter() - start) / CALLS * 1e6)
    return {name: statistics.median(one) for name, one in times.items()}


def main() -> None:
    calls: dict[str, Callable[[], object]] = {"small.add": lambda: add(1, 2)}
    assert add(1, 2) == 3
    for name, count in (("32", 32), ("16k", 16384)):
        x = np.random.default_rng(1).random(count, np.float32)
        y = np.empty_like(x)
        polynomial(2, 8, -1, x, out=y)
        assert np.allclose(y, 2 * x * x + 8 * x - 1, atol=1e-5)

        def given(x: np.ndarray = x, y: np.ndarray = y) -> object:
            return polynomial(2, 8, -1, x, out=y)

        def made(x: np.ndarray = x) -> object:
            return polynomial(2, 8, -1, x, out=np.ndarray)

        calls[f"small.numpy_{name}"] = given
        calls[f"small.numpy_{name}.made"] = made
    kf.default_device().wait()
    print(json.dumps({"unit": "us a call that is waited for", **microseconds(calls)}))


if __name__ == "__main__":
    main()
