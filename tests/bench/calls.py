"""CPU time of a call from Python on the device that KF_DEVICE names, as JSON."""

import itertools
import json
import statistics
import time
from collections.abc import Callable

import kernelfunctions as kf
import numpy as np
from kf_bench.bench import polynomial, square
from kf_bench_configured import bench_configured as configured

COUNT, CALLS, ROUNDS = 1024, 400, 31
GRAPH_CALLS = 20


def microseconds(call: Callable[[], object], wait: Callable[[], object], calls: int = CALLS) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
        wait()
    return statistics.median(times)


def configurations() -> dict[str, float]:
    """Times the making of configured copies alone."""
    launched, shifted = configured.polynomial_kernel, configured.shifted
    was_set = shifted.set(offset=2.0)
    makers = {
        "set": lambda: shifted.set(offset=-1.0),
        "set.again": lambda: was_set.set(offset=-1.0),
        "threads": lambda: launched.threads(COUNT),
    }
    return {name: microseconds(make, lambda: None) for name, make in makers.items()}


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
    return {name: microseconds(call, wait) for name, call in calls.items()}


def recorded(device: kf.Device, x: kf.Tensor, y: kf.Tensor) -> float:
    """Times recording alone, which as many calls to an encoder do, that is dropped."""
    encoder = device.encoder()

    def start_anew() -> None:
        nonlocal encoder
        encoder = device.encoder()

    return microseconds(lambda: polynomial.append_to(encoder, 2, 8, -1, x, out=y), start_anew)


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

    return {
        "prepared": microseconds(call, wait),
        "prepared.set": microseconds(changed_call, wait),
        "graph.prepared": microseconds(calls, wait, CALLS // GRAPH_CALLS),
        "graph": microseconds(graph.replay, wait, CALLS // GRAPH_CALLS),
        "graph.set": microseconds(changed_graph, wait, CALLS // GRAPH_CALLS),
    }


def main() -> None:
    device = kf.default_device()
    numbers = np.random.default_rng(1).random(COUNT, np.float32)
    x = kf.Tensor.from_numpy(numbers).with_grads()
    y = kf.Tensor.empty([COUNT], np.float32)
    result = polynomial(2, 8, -1, x).with_grads(grad_in=numbers)
    a, b, c = (kf.Tensor.from_numpy(np.array([v], np.float32)).with_grads() for v in (2, 8, -1))
    times: dict[str, object] = {
        "one": microseconds(lambda: square(x, out=y), device.wait),
        "forward": microseconds(lambda: polynomial(2, 8, -1, x, out=y), device.wait),
        "forward.keywords": microseconds(lambda: polynomial(a=2, b=8, c=-1, x=x, out=y), device.wait),
        "forward.tensors": microseconds(lambda: polynomial(a, b, c, x, out=y), device.wait),
        "forward.recorded": recorded(device, x, y),
        "forward.returned": microseconds(lambda: polynomial(2, 8, -1, x), device.wait),
        "backward": microseconds(lambda: polynomial.backward(a, b, c, x, result), device.wait),
    }
    times["prepared"] = prepared_calls(device.wait)
    times["configured"] = configured_calls(device.wait)
    times["configuration"] = configurations()
    print(json.dumps({"unit": "us of CPU time a call", "count": COUNT, **times}))


if __name__ == "__main__":
    main()
