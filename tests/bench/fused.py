"""Times a loss with its gradients on the device that KF_DEVICE names, fused and in two calls, as JSON."""

import json
import statistics
import sys
import time
from collections.abc import Callable

import kernelfunctions as kf
import numpy as np
from kf_bench_fused.bench_fused import line_error

COUNTS, CALLS, ROUNDS = (1 << 16, 1 << 20, 1 << 24), 8, 9
WARM_UP_S = 0.5


def milliseconds(call: Callable[[], object], wait: Callable[[], None]) -> float:
    """Of a call, several being under way; the median of rounds."""
    times: list[float] = []
    began = time.perf_counter()
    # A GPU that has idled raises its clocks only after some work: half a second of rounds that don't count.
    while (start := time.perf_counter()) - began < WARM_UP_S or len(times) < ROUNDS:
        for _ in range(CALLS):
            call()
        wait()
        times.append((time.perf_counter() - start) / CALLS * 1e3)
    return statistics.median(times[-ROUNDS:])


def measured(count: int) -> dict[str, float]:
    device = kf.default_device()
    random = np.random.default_rng(1)
    x, y = (kf.Tensor.from_numpy(random.random(count, np.float32)) for _ in range(2))
    a, b = (kf.Tensor.from_numpy(np.array([v], np.float32)).with_grads() for v in (2, 0.5))
    losses = kf.Tensor.empty([count], np.float32)

    def in_two() -> None:
        line_error(a, b, x, y, out=losses)
        line_error.backward(a, b, x, y, losses)

    times = {"two_calls": milliseconds(in_two, device.wait)}
    times["fused"] = milliseconds(lambda: line_error.fused(a, b, x, y, out=losses), device.wait)
    return times | {"ratio": times["two_calls"] / times["fused"]}


def main() -> None:
    counts = [int(text) for text in sys.argv[1:]] or COUNTS
    print(json.dumps({"unit": "ms a call", **{str(count): measured(count) for count in counts}}))


if __name__ == "__main__":
    main()
