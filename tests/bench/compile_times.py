"""How large generated C++ is, and how long it takes to compile; of two builds of kfgen, in turns.

For each spec: lines and bytes of NAME.h, NAME.cpp (without the artifact) and NAME.pyi, and the compiler's
user time for a file that includes NAME.h alone (-fsyntax-only) and for NAME.cpp (-O2): medians of several
runs. `many` stands for a spec of 100 functions that is written here.

    python tests/bench/compile_times.py --side build/release/tool/kfgen:runtime/include [--side OTHER:INCLUDE]
"""

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SPECS = ("samples/polynomial/polynomial.kf.json", "tests/python/specs/containers.kf.json", "many")


def write_many(folder: Path, functions: int) -> Path:
    """A spec of so many functions, each with a value and a tensor, and a backward pass."""
    arguments = {"a": "value", "x": "tensor[1]"}
    calls = [{"function": f"f{i}", "args": arguments, "backward": True} for i in range(functions)]
    (folder / "many.slang").write_text(
        "\n".join(
            f"[Differentiable] public float f{i}(float a, float x) {{ return a * x * x + {i}; }}"
            for i in range(functions)
        )
    )
    spec = {"version": 1, "name": "many", "modules": ["many.slang"], "targets": ["vulkan"], "calls": calls}
    path = folder / "many.kf.json"
    path.write_text(json.dumps(spec))
    return path


def user_time(command: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, cwd=folder, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def size(path: Path) -> str:
    text = path.read_text()
    return f"{text.count(chr(10))} lines, {len(text.encode())} bytes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", action="append", required=True, metavar="KFGEN:INCLUDE")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("specs", nargs="*", default=SPECS)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for spec in arguments.specs:
            path = write_many(folder, 100) if spec == "many" else ROOT / spec
            name = path.name.split(".")[0]
            timed: list[tuple[Path, list[tuple[str, list[str]]]]] = []
            for number, side in enumerate(arguments.side):
                kfgen, include = (str(Path(part).resolve()) for part in side.split(":"))
                output = folder / f"{name}.{number}"
                command = [kfgen, "generate", str(path), "-o", str(output), "--python", "--no-embed"]
                subprocess.run(command, check=True, capture_output=True)
                (output / "header.cpp").write_text(f'#include "{name}.h"\n')
                (output / "empty.cpp").write_text("")
                compiler = [arguments.compiler, "-std=c++20", f"-I{include}", "-I."]
                timed.append(
                    (
                        output,
                        [
                            ("header", [*compiler, "-fsyntax-only", "header.cpp"]),
                            ("source", [*compiler, "-O2", "-c", f"{name}.cpp", "-o", "out.o"]),
                        ],
                    )
                )
                for ending in ("h", "cpp", "pyi"):
                    print(f"{name}.{ending}, side {number}: {size(output / f'{name}.{ending}')}")
            for what in range(2):
                times: list[list[float]] = [[] for _ in timed]
                for _ in range(arguments.runs):
                    for number, (output, commands) in enumerate(timed):
                        times[number].append(user_time(commands[what][1], output))
                for number, (_, commands) in enumerate(timed):
                    median = statistics.median(times[number])
                    print(f"{name} {commands[what][0]}, side {number}: {median:.2f} s")


if __name__ == "__main__":
    main()
