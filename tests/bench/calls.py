"""CPU time of a call from Python on the device that KF_DEVICE names, as JSON."""

import itertools
import json
import statistics
import time
from collections.abc import Callable, Mapping

import kernelfunctions as kf
import numpy as np
from kf_bench.bench import polynomial, square
from kf_bench_configured import bench_configured as configured

COUNT, CALLS, ROUNDS = 1024, 400, 31
GRAPH_CALLS = 20


def microseconds(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e6


def by_turns(
    all_calls: Mapping[str, Callable[[], object]], wait: Callable[[], object], calls: int = CALLS
) -> dict[str, float]:
    """Microseconds a call: medians of rounds in which all take turns, so that what else the machine does
    meets all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in all_calls}
    for _ in range(ROUNDS):
        for name, call in all_calls.items():
            times[name].append(microseconds(call, calls))
            wait()
    return {name: statistics.median(found) for name, found in times.items()}


def configurations() -> dict[str, float]:
    """Times the making of configured copies alone."""
    launched, shifted = configured.polynomial_kernel, configured.shifted
    was_set = shifted.set(offset=2.0)
    makers = {
        "set": lambda: shifted.set(offset=-1.0),
        "set.again": lambda: was_set.set(offset=-1.0),
        "threads": lambda: launched.threads(COUNT),
    }
    return by_turns(makers, lambda: None)


def configured_calls(wait: Callable[[], None]) -> dict[str, float]:
    """Times a function, the same as an entry point, with a global for an argument, and with a hook."""
    x = kf.Tensor.from_numpy(np.random.default_rng(2).random(COUNT, np.float32))
    y = kf.Tensor.empty([COUNT], np.float32)
    launch = configured.polynomial_kernel.threads(COUNT)
    was_set = configured.shifted.set(offset=-1)
    hooked = configured.polynomial.hook(lambda context: None)
    calls = {
        "function": lambda: configured.polynomial(2, 8, -1, x, out=y),
        "launch": lambda: launch(2, 8, -1, x, y),
        "launch.threads": lambda: configured.polynomial_kernel.threads(COUNT)(2, 8, -1, x, y),
        "global": lambda: was_set(2, 8, x, out=y),
        "global.set": lambda: configured.shifted.set(offset=-1)(2, 8, x, out=y),
        "hook": lambda: hooked(2, 8, -1, x, out=y),
    }
    return by_turns(calls, wait)


def prepared_calls(wait: Callable[[], None]) -> dict[str, float]:
    """Times prepared calls, and graphs of 20 calls, in which one value is changed or none."""
    x = kf.Tensor.from_numpy(np.random.default_rng(3).random(COUNT, np.float32))
    y = kf.Tensor.empty([COUNT], np.float32)
    call = polynomial.prepare(2, 8, -1, x, out=y)
    last = polynomial.node()
    with kf.Graph() as graph:
        for _ in range(GRAPH_CALLS - 1):
            polynomial(2, 8, -1, x, out=y)
        last(2, 8, -1, x, out=y)
    values = itertools.count()

    def changed_call() -> None:
        call.set(c=next(values))
        call()

    def changed_graph() -> None:
        last.set(c=next(values))
        graph.replay()

    def calls() -> None:
        for _ in range(GRAPH_CALLS):
            call()

    one = {"prepared": call, "prepared.set": changed_call}
    twenty = {"graph.prepared": calls, "graph": graph.replay, "graph.set": changed_graph}
    return by_turns(one, wait) | by_turns(twenty, wait, CALLS // GRAPH_CALLS)


def main() -> None:
    device = kf.default_device()
    numbers = np.random.default_rng(1).random(COUNT, np.float32)
    x = kf.Tensor.from_numpy(numbers).with_grads()
    y = kf.Tensor.empty([COUNT], np.float32)
    result = polynomial(2, 8, -1, x).with_grads(grad_in=numbers)
    a, b, c = (kf.Tensor.from_numpy(np.array([v], np.float32)).with_grads() for v in (2, 8, -1))
    encoder = device.encoder()

    def drop_recorded() -> None:
        nonlocal encoder
        encoder = device.encoder()
        device.wait()

    calls = {
        "one": lambda: square(x, out=y),
        "forward": lambda: polynomial(2, 8, -1, x, out=y),
        "forward.keywords": lambda: polynomial(a=2, b=8, c=-1, x=x, out=y),
        "forward.tensors": lambda: polynomial(a, b, c, x, out=y),
        "forward.recorded": lambda: polynomial.append_to(encoder, 2, 8, -1, x, out=y),
        "forward.returned": lambda: polynomial(2, 8, -1, x),
        "backward": lambda: polynomial.backward(a, b, c, x, result),
    }
    times: dict[str, object] = {**by_turns(calls, drop_recorded)}
    times["prepared"] = prepared_calls(device.wait)
    times["configured"] = configured_calls(device.wait)
    times["configuration"] = configurations()
    print(json.dumps({"unit": "us of CPU time a call", "count": COUNT, **times}))


if __name__ == "__main__":
    main()
