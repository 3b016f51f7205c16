# mypy: disallow-untyped-calls=False, disallow-any-unimported=False
"""Times a polynomial of PyTorch's tensors: ours, SlangPy's where it is installed, and PyTorch's own.

usage: pytorch.py [--device cuda|cpu] [--module kf_bench.bench] [--quick]

Prints JSON. All take turns in one process: rounds of calls, of which the medians count. `small` has 32
elements and microseconds of CPU time a call, until the last of a round returned; `large` milliseconds of the
device's.
"""

import argparse
import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

SMALL = 32
Call = Callable[[], Any]
Function = Callable[..., Any]


class Inputs:
    """Parameters of one element, which all calls share, and what they are called with."""

    def __init__(self, count: int, device: str, gradients: bool) -> None:
        made = torch.Generator().manual_seed(1)
        self.parameters = [
            torch.full([1], value, device=device, requires_grad=gradients) for value in (2.0, 8.0, -1.0)
        ]
        self.x = torch.rand(count, generator=made).to(device).requires_grad_(gradients)
        self.y = torch.empty(count, device=device)
        self.flow = torch.rand(count, generator=made).to(device)
        self.leaves = [*self.parameters, self.x]

    def trained(self, function: Function) -> Call:
        """A call forward and backward, into gradients that each call makes."""
        flow, leaves = self.flow, self.leaves

        def call() -> None:
            for leaf in leaves:
                leaf.grad = None
            function(*leaves).backward(flow)

        return call

    def wrong(self) -> float:
        """How far the gradients are from those in double, of the largest of each."""
        a, b, _ = (value.item() for value in self.parameters)
        x, flow = self.x.detach().double(), self.flow.double()
        wanted = [(flow * x * x).sum(), (flow * x).sum(), flow.sum(), flow * (2 * a * x + b)]
        errors = []
        for leaf, right in zip(self.leaves, wanted, strict=True):
            assert leaf.grad is not None
            errors.append(float((leaf.grad.double() - right).abs().max() / right.abs().max()))
        return max(errors)


def plain(a: Any, b: Any, c: Any, x: Any) -> Any:
    """The same in PyTorch's own operations."""
    return a * x * x + b * x + c


class Clock:
    """Reads the time, and waits for the device."""

    def __init__(self, device: str, rounds: int, calls: int) -> None:
        self.is_cuda, self.rounds, self.calls = device.startswith("cuda"), rounds, calls

    def wait(self) -> None:
        if self.is_cuda:
            torch.cuda.synchronize()

    def issue_us(self, call: Call) -> float:
        """Microseconds of CPU time until the last of some calls returned."""
        self.wait()
        start = time.perf_counter()
        for _ in range(self.calls):
            call()
        return (time.perf_counter() - start) / self.calls * 1e6

    def device_ms(self, call: Call) -> float:
        """Milliseconds of the device's a call: between events, or until all was done on a CPU.

        A GPU is kept busy until the calls are issued: what issuing takes is another figure.
        """
        repeats = 4
        if not self.is_cuda:
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            return (time.perf_counter() - start) / repeats * 1e3
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.wait()
        torch.cuda._sleep(20_000_000)  # cycles: some 10 ms
        first.record()
        for _ in range(repeats):
            call()
        last.record()
        last.synchronize()
        return float(first.elapsed_time(last)) / repeats

    def by_turns(
        self, calls: Mapping[str, Call], measure: Callable[[Call], float], warm_up: int = 3
    ) -> dict[str, Any]:
        """The medians of each; of what fails, why."""
        times: dict[str, list[float]] = {}
        failures: dict[str, Any] = {}
        for name, call in calls.items():
            try:
                call()
                times[name] = []
            except Exception as error:
                failures[name] = f"failed: {type(error).__name__}: {error}"[:400]
        for turn in range(-warm_up, self.rounds):
            for name, each in times.items():
                one = measure(calls[name])
                if turn >= 0:
                    each.append(one)
        return {name: statistics.median(each) for name, each in times.items()} | failures


def divided(ours: Any, theirs: Any) -> float | None:
    """Our time divided by another: less is better."""
    return ours / theirs if isinstance(ours, float) and isinstance(theirs, float) else None


def ratios(times: Mapping[str, Any]) -> dict[str, float]:
    """Of times by "what.whose", ours divided by the others'."""
    found = {}
    for name, time_ in times.items():
        what, _, whose = name.rpartition(".")
        ratio = divided(times.get(f"{what}.ours"), time_)
        if whose != "ours" and ratio is not None:
            found[f"{what}: ours / {whose}"] = ratio
    return found


def has_slangpy() -> bool:
    """Whether SlangPy is installed."""
    return importlib.util.find_spec("slangpy") is not None


def load_slangpy(folder: Path) -> Any:
    """SlangPy's module of the same source."""
    folder.mkdir()
    spy: Any = importlib.import_module("slangpy")
    (folder / "bench.slang").write_text((Path(__file__).parent / "bench.slang").read_text())
    # What the module takes from kf, SlangPy has under the same names.
    (folder / "kf.slang").write_text("__exported import slangpy;\n")
    device = spy.create_torch_device(type=spy.DeviceType.cuda, include_paths=[folder])
    return spy.Module.load_from_file(device, "bench.slang")


class Peer:
    """SlangPy's polynomials, each in a module of its own: what it compiled for a call without gradients it
    takes for a later one with them, which then has none."""

    def __init__(self, folder: Path) -> None:
        self.forward = load_slangpy(folder / "forward").polynomial
        self.trained = load_slangpy(folder / "trained").polynomial


def trained_of(module: Any) -> Any:
    """The polynomial whose gradient of x is written, not added to, where the module has one."""
    return getattr(module, "trained", module.polynomial)


def small_times(module: Any, peer: Peer | None, clock: Clock, device: str) -> dict[str, Any]:
    """Calls of 32 elements: forward into a tensor that is given or made, and with gradients."""
    given, trained = Inputs(SMALL, device, False), Inputs(SMALL, device, True)
    polynomial = module.polynomial
    arguments, y = given.leaves, given.y
    calls: dict[str, Call] = {
        "forward.out.ours": lambda: polynomial(*arguments, out=y),
        "forward.made.ours": lambda: polynomial(*arguments),
        "forward.made.pytorch": lambda: plain(*arguments),
        "trained.ours": trained.trained(trained_of(module)),
        "trained.operator": trained.trained(trained_of(module).torch()),
        "trained.pytorch": trained.trained(plain),
    }
    if peer is not None:
        calls |= {
            "forward.out.slangpy": lambda: peer.forward(*arguments, _result=y),
            "forward.made.slangpy": lambda: peer.forward(*arguments),
            "trained.slangpy": trained.trained(peer.trained),
        }
    times = clock.by_turns(calls, clock.issue_us)
    return {"unit": "us of CPU time a call", "times": times, "ratios": ratios(times)}


def compiled_times(
    module: Any, measure: Callable[[Call], float], clock: Clock, device: str, backend: str, count: int
) -> dict[str, Any]:
    """The operator alone and in a loss, compiled and as it is; fullgraph refuses what breaks a graph."""
    operator = trained_of(module).torch()

    def loss(a: Any, b: Any, c: Any, x: Any) -> Any:
        return torch.sin(operator(a, b, c, x) * 0.5) * x

    def plain_loss(a: Any, b: Any, c: Any, x: Any) -> Any:
        return torch.sin(plain(a, b, c, x) * 0.5) * x

    calls: dict[str, Call] = {}
    given, trained = Inputs(count, device, False), Inputs(count, device, True)
    for name, function in {"alone": operator, "in_a_loss": loss}.items():
        made = torch.compile(function, fullgraph=True, backend=backend)
        for whose, one in {"eager": function, "ours": made}.items():
            calls[f"{name}.forward.{whose}"] = partial(one, *given.leaves)
            calls[f"{name}.trained.{whose}"] = trained.trained(one)
    # What compiled code costs by itself.
    for name, function in {"alone": plain, "in_a_loss": plain_loss}.items():
        made = torch.compile(function, fullgraph=True, backend=backend)
        calls[f"{name}.forward.pytorch"] = partial(made, *given.leaves)
        calls[f"{name}.trained.pytorch"] = trained.trained(made)
    explained = torch._dynamo.explain(loss)(*given.leaves)
    breaks: Any = explained.graph_break_count
    times = clock.by_turns(calls, measure)
    return {
        "unit": ("us of CPU time" if count == SMALL else "ms") + " a call; ours and pytorch are compiled",
        "count": count,
        "graph_breaks": breaks,
        "times": times,
        "ratios": ratios(times),
    }


def large_times(
    trained: Any, peer: Peer | None, clock: Clock, device: str, count: int, backend: str
) -> dict[str, Any]:
    """Forward and backward of many elements, whose gradients of parameters are sums over all."""
    inputs = Inputs(count, device, True)
    functions: dict[str, Function] = {
        "ours": trained,
        "compiled": torch.compile(plain, backend=backend),
        "pytorch": plain,
    }
    if peer is not None:
        functions["slangpy"] = peer.trained
    wrong: dict[str, Any] = {}
    for name, function in functions.items():
        try:
            inputs.trained(function)()
            wrong[name] = inputs.wrong()
        except Exception as error:
            wrong[name] = f"failed: {error}"[:400]
    calls = {
        f"trained.{name}": inputs.trained(function)
        for name, function in functions.items()
        if isinstance(wrong[name], float)
    }
    times = clock.by_turns(calls, clock.device_ms)
    return {
        "count": count,
        "unit": "ms a call forward and backward",
        "times": times,
        "ratios": ratios(times),
        "error": wrong,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--module", default="kf_bench.bench", help="has a polynomial of four tensors")
    parser.add_argument("--quick", action="store_true", help="few rounds of few elements")
    options = parser.parse_args()
    module = importlib.import_module(options.module)
    is_cuda = options.device.startswith("cuda")
    clock = Clock(options.device, 3, 5) if options.quick else Clock(options.device, 31, 100)
    backend = "aot_eager" if options.quick else "inductor"
    count = (1 << 26 if is_cuda else 1 << 20) if not options.quick else 1 << 12
    with tempfile.TemporaryDirectory() as folder:
        peer: Peer | None = None
        result: dict[str, Any] = {
            "device": torch.cuda.get_device_name() if is_cuda else "cpu",
            "pytorch": torch.__version__,
        }
        try:
            peer = Peer(Path(folder)) if is_cuda and has_slangpy() else None
        except Exception as error:
            result["slangpy"] = f"failed: {error}"[:400]
        if peer is not None:
            native = importlib.util.find_spec("slangpy_torch") is not None
            result["slangpy"] = {"version": sys.modules["slangpy"].__version__, "slangpy_torch": native}
        result["small"] = small_times(module, peer, clock, options.device)
        result["compiled"] = compiled_times(module, clock.issue_us, clock, options.device, backend, SMALL)
        large = Clock(options.device, 2 if options.quick else 9, 1)
        result["compiled_large"] = compiled_times(
            module, large.device_ms, large, options.device, backend, count
        )
        result["large"] = large_times(trained_of(module), peer, large, options.device, count, backend)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
