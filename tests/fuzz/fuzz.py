"""Compares random differentiable programs with a reference in double precision, and counts.

    PYTHONPATH=build/release/python python3 tests/fuzz/fuzz.py --seed 14 --count 2000 --jobs 4 --seconds 3600

Each program of grammar.py goes through kfgen; its kernels' results and gradients are compared with those of
interpreter.py, which are compared with differences themselves; `kfgen check --gradients` looks at the same
kernels. One line of JSON a program is added to FOLDER/results-SEED.jsonl; programs that are there already
aren't run again, so a run that was stopped, by --seconds, Ctrl-C or SIGTERM, goes on where it ended. In the
end it prints how many programs were right, different, different but warned of, refused (by reason) or died
(with their process). The exit code is 1 when a kernel differs from the reference or dies, 3 when it was
stopped before that.

--jobs processes run side by side, a batch each. Several machines share a seed by --first and --last, with a
--folder each. KF_DEVICE names the device ("vulkan" where it isn't set); with "cuda" or "cuda:0" kernels are
compiled for CUDA. PYTHONPATH holds kernelfunctions, --kfgen the tool. KFGEN_CACHE_DIR is FOLDER/cache.

    … fuzz.py --seed 14 --show 17          prints a program
    … fuzz.py --seed 14 --reduce 17        makes it smaller as long as its kernels differ
    … fuzz.py --seed 14 --write tests/python/specs/programs --count 50      writes the programs of the tests,
    and full/programs.kf.json, which calls all of them; tests/products/specs.py then writes programs.kf.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batches import Batch, Refusal, Tools, call, generate, load
from campaign import Campaign, Order
from comparison import Expected, Inputs, prepare
from grammar import FEATURES, write
from nodes import Builtin, Call, Program
from numbers_with_gradients import Invalid
from printing import module_text, program_text, spec_text
from reduction import reduce
from shapes import shapes_of

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 40  # lines of the programs of the tests
RICHEST = 3  # how many of the shapes below each of them has at least
MODULES = 2  # that these are spread over

Result = dict[str, Any]


@dataclass
class Ready:
    program: Program
    inputs: Inputs
    expected: Expected


def ready(seed: int, number: int) -> Ready | str:
    """A program with inputs, or why there are none."""
    program = write(seed, number, FEATURES)
    try:
        return Ready(program, *prepare(program, seed))
    except Invalid as error:
        return str(error)


def is_detached(program: Program) -> bool:
    """Whether its gradients aren't its derivatives, by intention."""
    if any(p.no_diff for function in program.functions[:-1] for p in function.parameters):
        return True
    return any(
        (isinstance(node, Builtin) and node.name == "detach") or (isinstance(node, Call) and node.no_diff)
        for function in program.functions
        for node in function.walk()
    )


def checked(tools: Tools, batch: Batch) -> dict[str, Result]:
    """By function, what `kfgen check --gradients` says."""
    excepted = [f"--except={p.entry.name}" for p in batch.programs if is_detached(p)]
    artifact = batch.folder / "out" / f"{batch.name}.kfa"
    result = tools.run("check", artifact, "--gradients", "--format", "json", *excepted)
    try:
        return {call["function"]: call for call in json.loads(result.stdout)["calls"]}
    except (json.JSONDecodeError, KeyError):
        return {}


def word_of_check(program: Program, said: dict[str, Result]) -> str:
    if is_detached(program):
        return "detached"
    found = said.get(program.entry.name)
    if found is None:
        return "not run"
    states = {entry["status"].lower() for entry in found["inputs"]} - {"no gradient"}
    if found.get("failure"):
        return "failed"
    return next((word for word in ("wrong", "not smooth", "not finite") if word in states), "right")


def run_batch(tools: Tools, seed: int, numbers: list[int], checks: bool = True) -> Iterator[Result]:
    found = {number: ready(seed, number) for number in numbers}
    usable = [entry for entry in found.values() if isinstance(entry, Ready)]
    for number, entry in found.items():
        if isinstance(entry, str):
            yield {"number": number, "verdict": "unusable", "reason": entry}
    batch = generate(tools, f"b{seed}_{numbers[0]}", [entry.program for entry in usable])
    for number, refusal in batch.refused.items():
        yield {"number": number, "verdict": "refused", "reason": refusal.reason, "text": refusal.text}
    if not batch.programs:
        return
    said = checked(tools, batch) if checks else {}
    module = load(batch.folder, batch.name)
    for entry in usable:
        program = entry.program
        if program.number in batch.refused:
            continue
        outcome = call(module, program, entry.inputs, entry.expected)
        if outcome.failure:
            yield {"number": program.number, "verdict": "refused", "reason": outcome.failure}
            continue
        warned = any('"gradient-' in text for text in batch.warnings.get(program.number, []))
        result: Result = {
            "number": program.number,
            "verdict": ("warned of" if warned else "different") if outcome.wrong else "right",
            "check": word_of_check(program, said) if checks else "not run",
        }
        if outcome.wrong:
            result["wrong"] = outcome.wrong[:8]
        if program.number in batch.warnings:
            result["warnings"] = batch.warnings[program.number]
        yield result


def run_all(options: argparse.Namespace) -> int:
    """Each batch in a process of its own, as kernels may crash drivers."""
    command = [sys.executable, __file__, "--seed", str(options.seed), "--folder", str(options.folder)]
    command += ["--kfgen", str(options.kfgen), "--threads", str(threads_of(options))]
    command += ["--no-check"] if options.no_check else []
    log = options.folder / f"results-{options.seed}.jsonl"
    seconds = options.seconds or float("inf")
    order = Order(
        options.seed,
        options.count,
        options.first,
        options.last,
        options.batch,
        options.jobs,
        seconds,
        log,
        command,
    )
    return Campaign(order).run()


def threads_of(options: argparse.Namespace) -> int:
    """Of one kfgen, or of Mesa's CPU driver."""
    return int(options.threads or max(1, (os.cpu_count() or 1) // options.jobs))


def reduce_one(tools: Tools, seed: int, number: int, reason: str) -> None:
    """By whether its kernels differ, or are refused for the reason."""
    rounds = 0

    def judge(programs: list[Program]) -> list[bool]:
        nonlocal rounds
        rounds += 1
        prepared = {}
        for program in programs:
            try:
                prepared[program.number] = prepare(program, seed)
            except (Invalid, AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
                continue  # what is left of it means nothing
        kept = [program for program in programs if program.number in prepared]
        if not kept:
            return [False] * len(programs)
        batch = generate(tools, f"r{number}_{rounds}", kept)
        none = Refusal("", "")
        if reason:
            return [reason in batch.refused.get(p.number, none).reason for p in programs]
        if not batch.programs:
            return [False] * len(programs)
        module = load(batch.folder, batch.name)
        able = {program.number for program in batch.programs}
        return [p.number in able and bool(call(module, p, *prepared[p.number]).wrong) for p in programs]

    print(program_text(reduce(write(seed, number, FEATURES), judge)))


def write_tests(tools: Tools, seed: int, count: int, stem: Path) -> int:
    """The first short programs with several shapes that aren't refused."""
    chosen: list[Program] = []
    number = 0
    while len(chosen) < count:
        numbers: list[int] = []
        while len(numbers) < count - len(chosen):
            entry = ready(seed, number)
            program = entry.program if isinstance(entry, Ready) else None
            if (
                program
                and program_text(program).count("\n") <= LONGEST
                and len(shapes_of(program)) >= RICHEST
            ):
                numbers.append(number)
            number += 1
        for result in run_batch(tools, seed, numbers, checks=False):
            if result["verdict"] == "different":
                print(json.dumps(result))
                return 1
            if result["verdict"] == "right":
                chosen.append(write(seed, result["number"], FEATURES))
    chosen.sort(key=lambda program: program.number)
    names = []
    for part, text in enumerate(test_modules(chosen)):
        path = stem.with_name(f"{stem.name}_{part + 1}.slang")
        path.write_text(text)
        names.append(path.name)
    spec = stem.parent / "full" / f"{stem.name}.kf.json"
    spec.write_text(spec_text(stem.name, [f"../{name}" for name in names], chosen))
    return 0


def test_modules(programs: list[Program]) -> list[str]:
    """The text of each module of the tests."""
    size = -(-len(programs) // MODULES)
    head = "// Written by tests/fuzz/fuzz.py --write.\n"
    return [module_text(programs[i : i + size], head, pack=True) for i in range(0, len(programs), size)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--count", type=int, default=100, help="programs that have results")
    parser.add_argument("--first", type=int, default=0, help="the lowest number of a program")
    parser.add_argument("--last", type=int, help="the highest one (default: none)")
    parser.add_argument("--batch", type=int, default=20, help="programs a module")
    parser.add_argument("--jobs", type=int, default=1, help="batches that run at the same time")
    parser.add_argument("--threads", type=int, help="of a batch (default: processors / jobs)")
    parser.add_argument("--seconds", type=float, help="stops after these, and prints the counts so far")
    parser.add_argument("--kfgen", type=Path, default=ROOT / "build" / "release" / "tool" / "kfgen")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kf-fuzz")
    parser.add_argument("--numbers", default="", help="runs these alone and prints what came out")
    parser.add_argument("--no-check", action="store_true", help="without kfgen check --gradients")
    parser.add_argument("--show", type=int)
    parser.add_argument("--reduce", type=int)
    parser.add_argument("--reason", default="", help="with --reduce: the id of the error")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("KF_DEVICE", "vulkan")
    os.environ.setdefault("GALLIVM_PERF", "no_opt")  # Mesa's CPU driver compiles faster
    os.environ.setdefault("LP_NUM_THREADS", str(threads_of(options)))
    backend = "cuda" if os.environ["KF_DEVICE"].startswith("cuda") else "vulkan"
    tools = Tools(options.kfgen.resolve(), options.folder.resolve(), backend, threads_of(options))
    if options.show is not None:
        print(program_text(write(options.seed, options.show, FEATURES)))
    elif options.reduce is not None:
        reduce_one(tools, options.seed, options.reduce, options.reason)
    elif options.write is not None:
        return write_tests(tools, options.seed, options.count, options.write)
    elif options.numbers:
        numbers = [int(text) for text in options.numbers.split(",")]
        for result in run_batch(tools, options.seed, numbers, not options.no_check):
            print(json.dumps(result), flush=True)
    else:
        return run_all(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
