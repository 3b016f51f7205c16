"""Measures how kfgen's time and memory grow with a spec, beside a process of slangc for each kernel.

usage: kfgen_scale.py --build FOLDER [--out FILE] [--calls N]... [--backend vulkan|cuda] [--jobs N]

Specs of N functions that are all different, in one module and in a module each. Times are of the processor
(of all processes and threads, so that other work on the machine counts for little) and of the clock. Slang's
wheel has no slangc: the target kfgen_compile_entry_point does what it does for one entry point, of a kernel
written by hand.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: Bodies of functions of a, b and x; each function has a constant of its own, so that none is another's.
BODIES = (
    "a * x * x + b * sin({c} * x) + {c}",
    "exp(-a * x) * {c} + b * cos(x + {c})",
    "a / (1 + x * x * {c}) - b * x",
    "sqrt(a * a + x * x + {c}) * b",
    "log(1 + x * x + {c}) * a + b * x * x * x",
    "max(a * x, {c}) + min(b * x, -{c})",
    "tanh(a * x + {c}) * (b + x)",
)

BY_HAND = """import {module};
struct Block {{ float a; float b; uint count; }}

[shader("compute")] [numthreads(256, 1, 1)]
void forward(uint3 at: SV_DispatchThreadID, uniform Block block, uniform StructuredBuffer<float> x,
             uniform RWStructuredBuffer<float> y)
{{
    if (at.x < block.count) y[at.x] = {function}(block.a, block.b, x[at.x]);
}}

[shader("compute")] [numthreads(256, 1, 1)]
void backward(uint3 at: SV_DispatchThreadID, uniform Block block, uniform StructuredBuffer<float> x,
              uniform StructuredBuffer<float> dy, uniform RWStructuredBuffer<float> da,
              uniform RWStructuredBuffer<float> db, uniform RWStructuredBuffer<float> dx)
{{
    if (at.x >= block.count) return;
    var a = diffPair(block.a);
    var b = diffPair(block.b);
    var v = diffPair(x[at.x]);
    bwd_diff({function})(a, b, v, dy[at.x]);
    dx[at.x] = v.d;
    da[at.x] = a.d;
    db[at.x] = b.d;
}}
"""


def slang_function(number: int) -> str:
    body = BODIES[number % len(BODIES)].format(c=f"{number + 1}.5")
    return (
        f"[Differentiable]\npublic float f{number}(float a, float b, float x)\n{{\n    return {body};\n}}\n"
    )


def write_spec(folder: Path, calls: int, modules: int, backend: str) -> Path:
    """Writes a spec of so many calls, and its modules."""
    folder.mkdir(parents=True)
    each = -(-calls // modules)
    names = []
    for number in range(modules):
        functions = range(number * each, min(calls, (number + 1) * each))
        names.append(f"m{number}.slang")
        (folder / names[-1]).write_text("\n".join(slang_function(one) for one in functions))
    spec = {
        "version": 1,
        "name": "scale",
        "modules": names,
        "targets": [{"backend": "cuda", "arch": ["sm_90"]} if backend == "cuda" else "vulkan"],
        "calls": [
            {
                "function": f"f{number}",
                "args": {"a": "value", "b": "value", "x": "tensor[1]"},
                "backward": True,
            }
            for number in range(calls)
        ],
    }
    path = folder / "scale.kf.json"
    path.write_text(json.dumps(spec, indent=1))
    return path


def measured(command: list[str]) -> dict[str, float]:
    """What a run took: seconds of the processor and of the clock, and the most memory of one process."""
    environment = {name: value for name, value in os.environ.items() if name != "KFGEN_CACHE_DIR"}
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    errors = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: {errors.decode(errors='replace')[-1500:]}")
    return {
        "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": wall,
        "memory_mib": used.ru_maxrss / 1024,
    }


def medians(command: list[str], times: int) -> dict[str, float]:
    runs = [measured(command) for _ in range(times)]
    found = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    return found | {"least_wall_s": min(run["wall_s"] for run in runs)}


class Scale:
    def __init__(self, build: Path, backend: str, jobs: int, scratch: Path) -> None:
        self.kfgen = build / "tool" / "kfgen"
        self.peer = build / "tool" / "slang" / "kfgen_compile_entry_point"
        self.backend = backend
        self.jobs = jobs
        self.scratch = scratch

    def generate(self, spec: Path, *options: str) -> list[str]:
        output = str(spec.parent / "out")
        return [
            str(self.kfgen),
            "generate",
            str(spec),
            "-q",
            "--python",
            "-o",
            output,
            "-j",
            str(self.jobs),
            *(() if "--cache-dir" in options else ("--no-cache",)),
            *options,
        ]

    def slangc(self, folder: Path, module: str, function: str) -> dict[str, float]:
        """One kernel by a process of its own: the mean of forward and backward."""
        source = folder / "by_hand.slang"
        source.write_text(BY_HAND.format(module=module, function=function))
        runs = [
            medians([str(self.peer), str(source), entry, str(folder / "by_hand.spv")], 5)
            for entry in ("forward", "backward")
        ]
        return {key: statistics.mean(run[key] for run in runs) for key in ("cpu_s", "wall_s")}

    def size(self, calls: int, modules: int) -> dict[str, Any]:
        name = f"{calls} calls in {modules} modules"
        print(name, file=sys.stderr, flush=True)
        spec = write_spec(self.scratch / f"{calls}_{modules}", calls, modules, self.backend)
        cold = measured(self.generate(spec))
        kernels = self.kernels(spec)
        nothing = medians(self.generate(spec), 20)
        result: dict[str, Any] = {
            "calls": calls,
            "modules": modules,
            "kernels": kernels,
            "cold": cold,
            "cold_cpu_ms_a_kernel": cold["cpu_s"] / kernels * 1e3,
            "nothing_changed": nothing,
        }
        if self.peer.exists() and self.backend == "vulkan":
            peer = self.slangc(spec.parent, "m0", "f0")
            result["slangc_a_kernel"] = peer
            result["cpu_over_slangc"] = cold["cpu_s"] / (kernels * peer["cpu_s"])
        return result

    def kernels(self, spec: Path) -> int:
        listed = subprocess.run(
            [str(self.kfgen), "list", str(spec)], capture_output=True, text=True, check=True
        ).stdout
        return listed.count("\n    kernel ")

    def changed(self, calls: int) -> dict[str, Any]:
        """One call changed in the spec, where a cache has the others' kernels."""
        folder = self.scratch / f"changed_{calls}"
        spec = write_spec(folder, calls, 1, self.backend)
        cache = folder / "cache"
        measured(self.generate(spec, "--cache-dir", str(cache)))
        before = sum(1 for file in cache.rglob("*") if file.is_file())
        document = json.loads(spec.read_text())
        document["calls"][calls // 2]["args"]["a"] = "tensor[1]"
        spec.write_text(json.dumps(document, indent=1))
        one = measured(self.generate(spec, "--cache-dir", str(cache)))
        compiled = sum(1 for file in cache.rglob("*") if file.is_file()) - before
        return {"calls": calls, "one_changed": one, "kernels_compiled": compiled}

    def edited(self, calls: int) -> dict[str, Any]:
        """A comment, and one function, changed in the module, and nothing, where a cache has all kernels."""
        folder = self.scratch / f"edited_{calls}"
        spec = write_spec(folder, calls, 1, self.backend)
        module = folder / "m0.slang"
        command = self.generate(spec, "--cache-dir", str(folder / "cache"))
        found: dict[str, Any] = {"calls": calls, "all": measured(command)}
        text = module.read_text()
        module.write_text("// A comment that moves all lines.\n" + text)
        found["comment"] = measured(command)
        module.write_text(text.replace("[Differentiable]", "// Another.\n[Differentiable]"))
        found["comments"] = measured(command)
        module.write_text(text.replace("* b;", "* (b + 1);", 1))
        found["one_function"] = measured(command)
        found["nothing"] = medians(command, 5)
        return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--calls", type=int, action="append", help="default: 10, 100 and 1000")
    parser.add_argument("--backend", choices=("vulkan", "cuda"), default="vulkan")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--many", action="store_true", help="also with a module for each function")
    options = parser.parse_args()
    sizes = options.calls or [10, 100, 1000]
    result: dict[str, Any] = {"backend": options.backend, "jobs": options.jobs, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as scratch:
        scale = Scale(options.build.resolve(), options.backend, options.jobs, Path(scratch))
        result["one_module"] = [scale.size(calls, 1) for calls in sizes]
        if options.many:
            result["a_module_each"] = [scale.size(calls, calls) for calls in sizes]
        result["one_call_changed"] = scale.changed(min(100, max(sizes)))
        result["edited"] = scale.edited(60)
    for key in ("one_module", "a_module_each"):
        runs = result.get(key, [])
        for run in runs[1:]:
            run["cpu_a_call_over_the_smallest"] = (run["cold"]["cpu_s"] / run["calls"]) / (
                runs[0]["cold"]["cpu_s"] / runs[0]["calls"]
            )
    text = json.dumps(result, indent=2) + "\n"
    if options.out:
        options.out.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
