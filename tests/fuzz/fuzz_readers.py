"""Fuzzes the readers of specs and artifacts with libFuzzer, from the corpus that the tests replay.

python tests/fuzz/fuzz_readers.py [--seconds 60] [--keep] [spec] [artifact]

--keep adds to tests/fuzz/corpus the new inputs that reach new code, the smallest of each. An input that ends
the program stays in build/fuzz/found: fix the reader, and move the input to the corpus under a name that says
what it is.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"
LARGEST = {"spec": 2048, "artifact": 6144}  # bytes of an input
SCHEMA = ROOT / "tool" / "spec" / "kernelfunctions.schema.json"


def words(node: object) -> Iterator[str]:
    """The strings that a schema names: keys, and the values of enums and examples."""
    if isinstance(node, dict):
        yield from node.get("properties", {})
        for key, value in node.items():
            if key in {"enum", "const", "examples"}:
                yield from re.findall(r'"(\w[^"\\]*)"', json.dumps(value))
            yield from words(value)
    elif isinstance(node, list):
        for item in node:
            yield from words(item)


def fuzz(reader: str, seconds: int) -> bool:
    """Returns whether nothing was found."""
    found = BUILD / "found"
    found.mkdir(exist_ok=True)
    corpus = BUILD / "corpus" / reader
    corpus.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LARGEST[reader]}",
        "-timeout=10",
        "-rss_limit_mb=1024",
        "-print_final_stats=1",
        "-verbosity=0",
        f"-artifact_prefix={found}/{reader}-",
    ]
    if reader == "spec":
        dictionary = BUILD / "spec.dict"
        lines = sorted(set(words(json.loads(SCHEMA.read_text()))))
        dictionary.write_text("".join(f'"\\"{line}\\""\n' for line in lines))
        options.append(f"-dict={dictionary}")
    program = BUILD / "tests" / "fuzz" / f"kf_fuzz_{reader}"
    kept = ROOT / "tests" / "fuzz" / "corpus" / reader
    print(f"{reader}: {seconds} s", flush=True)
    return subprocess.run([program, *options, corpus, kept], cwd=BUILD, check=False).returncode == 0


def keep(reader: str) -> None:
    """Adds to the corpus what reaches code that nothing in it reaches."""
    kept = ROOT / "tests" / "fuzz" / "corpus" / reader
    merged = BUILD / "merged"
    shutil.rmtree(merged, ignore_errors=True)
    shutil.copytree(kept, merged)
    program = BUILD / "tests" / "fuzz" / f"kf_fuzz_{reader}"
    options = ["-merge=1", f"-max_len={LARGEST[reader]}", "-verbosity=0"]
    subprocess.run([program, *options, merged, BUILD / "corpus" / reader], cwd=BUILD, check=True)
    for path in merged.iterdir():
        shutil.copy(path, kept / path.name[:12] if len(path.name) == 40 else kept / path.name)
    inputs = list(kept.iterdir())
    print(f"{reader}: {len(inputs)} inputs of {sum(p.stat().st_size for p in inputs)} bytes are kept")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--keep", action="store_true", help="add what reaches new code to the corpus")
    parser.add_argument("readers", nargs="*", help="spec, artifact; both if none is named")
    options = parser.parse_args()
    readers = options.readers or list(LARGEST)
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "fuzz"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", "--preset", "fuzz"], cwd=ROOT, check=True)
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    clean = [fuzz(reader, options.seconds) for reader in readers]
    if options.keep:
        for reader in readers:
            keep(reader)
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
