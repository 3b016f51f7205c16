"""Runs many batches, each in a process of its own, several at a time, until a count or a time is reached."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Result = dict[str, Any]


@dataclass
class Order:
    """What is to be run: `count` programs that can be used, of the numbers from first to last."""

    seed: int
    count: int
    first: int
    last: int | None
    batch: int
    jobs: int
    seconds: float
    log: Path
    command: list[str]  # to which the numbers are added


def summary(results: list[Result]) -> str:
    """Counts by verdict, and by the reasons of each."""
    counts: Counter[str] = Counter()
    for result in results:
        verdict = result["verdict"]
        detail = result.get("reason") or f"check: {result.get('check')}"
        if verdict == "unusable":
            counts["unusable"] += 1
        else:
            counts[verdict] += 1
            counts[f"{verdict}, {detail}"] += 1
            counts["programs"] += 1
    return "\n".join(f"{count:6} {name}" for name, count in sorted(counts.items()))


@dataclass
class Campaign:
    """Results are kept one a line, so that another run goes on where this one stopped."""

    order: Order
    results: list[Result] = field(default_factory=list)
    processes: set[subprocess.Popen[str]] = field(default_factory=set)
    end: float = 0.0
    stopped: str = ""

    def run(self) -> int:
        """Gives 0 if no kernel differed, 1 if some did or died, 3 if it was stopped before."""
        order = self.order
        order.log.parent.mkdir(parents=True, exist_ok=True)
        if order.log.exists():
            lines = order.log.read_text().splitlines()
            self.results = [json.loads(line) for line in lines if line.endswith("}")]
        self.end = time.monotonic() + order.seconds
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda found, _frame: self.stop(signal.Signals(found).name))
        self.run_batches()
        print(f"seed {order.seed}, {order.log}\n{summary(self.results)}")
        if self.stopped:
            print(f"stopped by {self.stopped} after {self.usable()} of {order.count} programs")
        bad = any(result["verdict"] in {"different", "died"} for result in self.results)
        return 1 if bad else (3 if self.stopped else 0)

    def stop(self, cause: str) -> None:
        """What is running is given up, and isn't counted."""
        self.stopped = self.stopped or cause
        for process in list(self.processes):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def usable(self) -> int:
        return sum(1 for result in self.results if result["verdict"] != "unusable")

    def is_within(self, number: int) -> bool:
        return self.order.last is None or number <= self.order.last

    def run_batches(self) -> None:
        order = self.order
        used = {result["number"] for result in self.results}
        number = order.first
        running: dict[Future[list[Result]], int] = {}
        with ThreadPoolExecutor(order.jobs) as pool:
            while True:
                while len(running) < order.jobs and not self.stopped:
                    numbers: list[int] = []
                    wanted = order.count - self.usable() - sum(running.values())
                    while len(numbers) < min(order.batch, wanted) and self.is_within(number):
                        if number not in used:
                            numbers.append(number)
                        number += 1
                    if not numbers:
                        break
                    running[pool.submit(self.batch, numbers)] = len(numbers)
                if not running:
                    return
                done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    del running[future]
                    self.keep(future.result())
                if time.monotonic() > self.end and not self.stopped:
                    self.stop("the time limit")

    def keep(self, found: list[Result]) -> None:
        with self.order.log.open("a") as file:
            file.writelines(json.dumps(result) + "\n" for result in found)
        for result in found:
            if result["verdict"] in {"different", "died"} or result.get("check") == "wrong":
                print(json.dumps(result), flush=True)
        self.results += found

    def batch(self, numbers: list[int]) -> list[Result]:
        """Where the process dies, the programs without a result are run one by one."""
        found, _ = self.child(numbers)
        for lost in sorted(set(numbers) - {result["number"] for result in found}):
            if self.stopped:
                break
            alone, said = self.child([lost])
            if not alone and not self.stopped:
                alone = [{"number": lost, "verdict": "died", "reason": said}]
            found += alone
        return found

    def child(self, numbers: list[int]) -> tuple[list[Result], str]:
        command = [*self.order.command, "--numbers", ",".join(map(str, numbers))]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.processes.add(process)
        if self.stopped:
            process.kill()
        output, errors = process.communicate()
        self.processes.discard(process)
        lines = [line for line in output.splitlines() if line.startswith("{") and line.endswith("}")]
        return [json.loads(line) for line in lines], f"exit {process.returncode}: {errors.strip()[-300:]}"
