# mypy: disallow-untyped-calls=False
"""The same calls through SlangPy, for comparison, as JSON; needs the wheel and Slang at run time.

usage: slangpy_peer.py [cuda|vulkan]
"""

import importlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 21


def median_us(
    call: Callable[[], Any], wait: Callable[[], None], calls: int, rounds: int = ROUNDS
) -> tuple[float, float]:
    """Microseconds a call: until the last call returned, and until the last was done."""
    issued, done = [], []
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        issued.append((time.perf_counter() - start) / calls * 1e6)
        wait()
        done.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(issued), statistics.median(done)


def call_times(module: Any, tensor: Callable[[np.ndarray], Any], wait: Callable[[], None]) -> dict[str, Any]:
    """Times what calls.py does, under the same names."""
    numbers = np.random.default_rng(1).random(1024, np.float32)
    x, y = tensor(numbers), tensor(numbers)
    a, b, c = (tensor(np.array([v], np.float32)).with_grads() for v in (2, 8, -1))
    tracked, flow = tensor(numbers).with_grads(), tensor(numbers).with_grads()
    calls: dict[str, Callable[[], Any]] = {
        "one": lambda: module.squared(x, _result=y),
        "forward": lambda: module.polynomial(2.0, 8.0, -1.0, x, _result=y),
        "forward.keywords": lambda: module.polynomial(a=2.0, b=8.0, c=-1.0, x=x, _result=y),
        "forward.tensors": lambda: module.polynomial(a, b, c, x, _result=y),
        "forward.returned": lambda: module.polynomial(2.0, 8.0, -1.0, x, _result="tensor"),
        "backward": lambda: module.polynomial.bwds(a, b, c, tracked, flow),
    }
    times: dict[str, Any] = {}
    for name, call in calls.items():
        try:
            call()
        except Exception as error:
            times[name] = f"failed: {error}"[:300]
    # In turns, as there.
    issued: dict[str, list[float]] = {name: [] for name in calls if name not in times}
    for _ in range(ROUNDS):
        for name, each in issued.items():
            each.append(median_us(calls[name], wait, 400, 1)[0])
    return times | {name: statistics.median(each) for name, each in issued.items()}


def main() -> None:
    start = time.perf_counter()
    backend = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    # Untyped, and only there where the peer is installed.
    spy: Any = importlib.import_module("slangpy")

    source = (Path(__file__).parent / "bench.slang").read_text()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bench.slang").write_text(source)
        # What the module takes from kf, SlangPy has under the same names.
        (Path(folder) / "kf.slang").write_text("__exported import slangpy;\n")
        kind = getattr(spy.DeviceType, backend)
        device = spy.create_device(kind, include_paths=[Path(folder)])
        module = spy.Module.load_from_file(device, "bench.slang")
        first = module.polynomial(
            2.0, 8.0, -1.0, spy.Tensor.from_numpy(device, np.ones(4, np.float32)), _result="tensor"
        )
        first.to_numpy()
        result: dict[str, Any] = {"version": spy.__version__, "first_result_s": time.perf_counter() - start}

        def tensor(values: np.ndarray) -> Any:
            return spy.Tensor.from_numpy(device, values)

        result["calls_us"] = call_times(module, tensor, device.wait_for_idle)
        sizes: list[dict[str, Any]] = []
        for power in (20, 26) if backend == "cuda" else ():
            numbers = np.random.default_rng(1).random(1 << power, np.float32)
            large, out = tensor(numbers), tensor(numbers)
            _, forward_us = median_us(
                partial(module.polynomial, 2.0, 8.0, -1.0, large, _result=out),
                device.wait_for_idle,
                8,
                7,
            )
            sizes.append(
                {
                    "count": 1 << power,
                    "forward_us": forward_us,
                    "forward_GB_per_s": 8 * (1 << power) / forward_us / 1000,
                }
            )
            try:
                a, b, c = (tensor(np.array([v], np.float32)).with_grads() for v in (2, 8, -1))
                tracked = large.with_grads()
                flow = out.with_grads()
                flow.grad.copy_from_numpy(numbers)  # with_grads() zeroes what it is given
                run = lambda: module.polynomial.bwds(a, b, c, tracked, flow)  # noqa: E731, B023
                run()
                _, backward_us = median_us(run, device.wait_for_idle, 2, 5)
                sizes[-1] |= {
                    "backward_us": backward_us,
                    "backward_GB_per_s": 16 * (1 << power) / backward_us / 1000,
                }
                for gradient in (a, b, c):
                    gradient.grad.copy_from_numpy(np.zeros(1, np.float32))
                run()
                wanted = float(numbers.astype(np.float64).sum())
                sizes[-1]["c.grad_error"] = abs(float(c.grad.to_numpy()[0]) - wanted) / wanted
            except Exception as error:
                sizes[-1]["backward"] = f"failed: {error}"[:300]
        result["sizes"] = sizes
    print(json.dumps(result))


if __name__ == "__main__":
    main()
