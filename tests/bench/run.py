"""Runs the benchmarks that a build holds on the devices there are, and writes one JSON file.

usage: run.py --build FOLDER --out FILE [--python PATH]...
"""

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STARTS = 8  # of each program


def environment(build: Path, paths: list[str], device: str = "") -> dict[str, str]:
    names = ("kernels", "fused", "configured")
    kernels = [build / f"tests/bench/kf_bench_{name}.generated" for name in names]
    found = [str(build / "python"), *map(str, kernels), *paths]
    path = os.pathsep.join([*found, os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path} | ({"KF_DEVICE": device} if device else {})


def run(command: list[str], env: dict[str, str]) -> Any:
    """The JSON that the command prints, or what went wrong."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"failed": str(error)[:500]}
    if done.returncode != 0:
        return {"failed": (done.stderr or done.stdout)[-1500:]}
    return json.loads(done.stdout[done.stdout.index("{") :])


def first_results(commands: dict[str, list[str]], env: dict[str, str]) -> dict[str, Any]:
    """Seconds from starting a process to its first line: of the first start, and the median of more, for
    which all take turns."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    failures: dict[str, str] = {}
    for _ in range(STARTS):
        for name, command in commands.items():
            start = time.perf_counter()
            with subprocess.Popen(
                command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as child:
                assert child.stdout is not None
                line = child.stdout.readline()
                times[name].append(time.perf_counter() - start)
                _, errors = child.communicate()
            if child.returncode != 0 or not line:
                failures[name] = errors[-1500:]
    return {
        name: {"failed": failures[name]}
        if name in failures
        else {"first_s": each[0], "median_s": statistics.median(each[1:])}
        for name, each in times.items()
    }


def small_calls(programs: Path, device: str, env: dict[str, str]) -> dict[str, Any]:
    """Calls of little data in Python and C++, and how many times as long they take as by hand: as a C
    program copies, and as the quickest of those by hand."""
    python = run([sys.executable, str(HERE / "small.py")], env)
    cpp = run([str(programs / "kf_bench_small"), device], env)
    result: dict[str, Any] = {"python": python, "cpp": cpp, "of_by_hand": {}}
    if "failed" in python or "failed" in cpp:
        return result
    for key in ("small.add", "small.vectors_32", "small.vectors_16k"):
        hand = {name: time for name, time in cpp[key].items() if name.startswith("by_hand.")}
        if not hand:
            continue
        ours = {f"{key}.cpp": cpp[key]["ours"]}
        named = key.replace("vectors", "numpy")
        ours |= {f"{name}.python": time for name, time in python.items() if name.startswith(named)}
        for name, time_ in ours.items():
            result["of_by_hand"][name] = {
                "copied": time_ / hand["by_hand.copied"],
                "quickest": time_ / min(hand.values()),
            }
    return result


def start(programs: Path, name: str, env: dict[str, str]) -> dict[str, Any]:
    """From starting a process to a first result, over what it takes without kernelfunctions."""
    commands = {
        "bare_context": [str(programs / "kf_bench_bare_context"), name],
        "numpy": [sys.executable, "-c", "import numpy; print(0, flush=True)"],
        "cpp": [str(programs / "kf_bench_first"), name],
        "python": [sys.executable, str(HERE / "first_result.py")],
    }
    found = first_results(commands, env)
    if all("median_s" in one for one in found.values()):
        bare = found["bare_context"]["median_s"]
        found["cpp"]["over_bare"] = found["cpp"]["median_s"] / bare
        found["python"]["over_bare"] = found["python"]["median_s"] / (bare + found["numpy"]["median_s"])
    return found


def devices(env: dict[str, str]) -> list[dict[str, Any]]:
    code = (
        "import json, kernelfunctions as kf;"
        "print(json.dumps([{'id': d.id, 'name': d.name, 'driver': d.driver, 'cpu': d.is_cpu}"
        " for d in kf.devices()]))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def peers(calls: dict[str, Any], backends: list[str], env: dict[str, str]) -> dict[str, Any]:
    """SlangPy's calls on the same backends, and our times divided by its: less is better."""
    results: dict[str, Any] = {}
    for backend in backends:
        found = run([sys.executable, str(HERE / "slangpy_peer.py"), backend], env)
        ours = next(times for name, times in calls.items() if name.startswith(backend))
        theirs = found.get("calls_us", {})
        found["ours_divided_by_theirs"] = {
            name: ours[name] / time
            for name, time in theirs.items()
            if isinstance(time, float) and isinstance(ours.get(name), float)
        }
        results[backend] = found
    return results


def pytorch(env: dict[str, str]) -> dict[str, Any]:
    """Calls with PyTorch's tensors, in one process with SlangPy's and PyTorch's own."""
    if importlib.util.find_spec("torch") is None:
        return {"skipped": "no PyTorch"}
    found: dict[str, Any] = run([sys.executable, str(HERE / "pytorch.py")], env)
    return found


def more(calls: dict[str, Any]) -> dict[str, Any]:
    """What other forms of a call take more than the polynomial's with its output given, in us."""
    forms = ("forward.keywords", "forward.tensors", "forward.recorded", "forward.returned", "backward")
    function, hook = (calls.get("configured", {}).get(name, 0.0) for name in ("function", "hook"))
    return {name: calls[name] - calls["forward"] for name in forms} | {"hook": hook - function}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--python", action="append", default=[], help="a folder more for PYTHONPATH")
    options = parser.parse_args()
    programs = options.build / "tests" / "bench"
    plain = environment(options.build, options.python)

    found = devices(plain)
    gpus = [device for device in found if not device["cpu"]]
    chosen = gpus or found
    result: dict[str, Any] = {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "devices": found,
        "first_result": {},
        "python_calls": {},
        "cpp_calls": {},
        "fused": {},
        "small": {},
        "images": {},
        "vulkan": {},
    }
    for device in chosen:
        name = device["id"]
        env = environment(options.build, options.python, name)
        result["first_result"][name] = start(programs, name, env)
        calls = run([sys.executable, str(HERE / "calls.py")], env)
        result["python_calls"][name] = calls if "failed" in calls else calls | {"more_us": more(calls)}
        result["cpp_calls"][name] = run([str(programs / "kf_bench_configured_calls"), name], env)
        result["fused"][name] = run([sys.executable, str(HERE / "fused.py")], env)
        result["small"][name] = small_calls(programs, name, env)
        result["images"][name] = run([str(programs / "kf_bench_images"), name], env)
        if name.startswith("vulkan"):
            result["vulkan"][name] = run([str(programs / "kf_bench_vulkan"), name], env)
    cuda = programs / "kf_bench_cuda"
    if any(device["id"].startswith("cuda") for device in chosen):
        result["cuda"] = run([str(cuda)], plain) if cuda.exists() else {"skipped": "built without nvcc"}
    else:
        result["cuda"] = {"skipped": "no CUDA device"}
    if gpus:
        backends = sorted({device["id"].partition(":")[0] for device in gpus})
        result["slangpy"] = peers(result["python_calls"], backends, plain)
        cuda_ids = [device["id"] for device in gpus if device["id"].startswith("cuda")]
        result["pytorch"] = {
            name: pytorch(environment(options.build, options.python, name)) for name in cuda_ids[:1]
        }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    failed = [key for key in ("cuda",) if "failed" in result.get(key, {})]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
