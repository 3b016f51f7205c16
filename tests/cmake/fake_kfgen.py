#!/usr/bin/env python3
"""Takes kfgen's command line and writes files of the same names, for tests of the CMake function alone."""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path


def write_if_changed(path: Path, text: str) -> None:
    """Keeps the file's time when nothing changed, as kfgen does."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.convert_arg_line_to_args = shlex.split  # type: ignore[method-assign, assignment]
    parser.add_argument("command", choices=["generate"])
    parser.add_argument("spec", type=Path)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    parser.add_argument("--depfile", type=Path, required=True)
    parser.add_argument("--stamp", type=Path, required=True)
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--name", default="")
    parser.add_argument("--namespace", default="")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("-D", dest="define", action="append", default=[])
    parser.add_argument("--cxx-option", action="append", default=[])
    parser.add_argument("--embed", default="")
    parser.add_argument("--no-embed", action="store_true")
    parser.add_argument("--python-package", dest="python", default="")
    parser.add_argument("--torch-tests", action="store_true")
    parser.add_argument("--no-progress", action="store_true")
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    spec = json.loads(arguments.spec.read_text())
    name = arguments.name or spec["name"]
    modules = [arguments.spec.parent / module for module in spec["modules"]]
    value = "".join(module.read_text() for module in modules).split("//")[0].strip()
    namespace = arguments.namespace or name
    output = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    write_if_changed(output / f"{name}.h", f"#pragma once\nnamespace {namespace} {{ int value(); }}\n")
    source = f'#include "{name}.h"\n'
    if arguments.embed.startswith("elf-"):
        symbol = f"{name}_kfa"
        source += f'extern "C" const int {symbol};\nint {namespace}::value() {{ return {symbol}; }}\n'
        assembly = f".section .rodata\n.globl {symbol}\n{symbol}: .long {value}\n"
        assembly += '.section .note.GNU-stack,"",%progbits\n'
        subprocess.run(["as", "-o", output / f"{name}.kfa.o", "-"], input=assembly, text=True, check=True)
    else:
        source += f"int {namespace}::value() {{ return {value}; }}\n"
    write_if_changed(output / f"{name}.cpp", source)
    write_if_changed(output / f"{name}.kfa", json.dumps(sys.argv[2:]))
    suffixes = ["h", "cpp", "kfa"]
    if "cuda_header" in spec.get("outputs", []):
        write_if_changed(output / f"{name}.cuh", "#pragma once\n")
        suffixes.append("cuh")
    if arguments.python:
        write_if_changed(output / f"{name}.py", f"value = {value}\n")
        write_if_changed(output / f"{name}.pyi", "value: int\n")
        write_if_changed(output / "py.typed", "")
        suffixes += ["py", "pyi"]
    if arguments.torch_tests:
        write_if_changed(output / f"{name}_torch_test.py", f"import {name}\n")
    inputs = " ".join(str(path).replace(" ", "\\ ") for path in [arguments.spec, *modules])
    written = [output / f"{name}.{suffix}" for suffix in suffixes]
    targets = " ".join(str(path) for path in [arguments.stamp, *written])
    arguments.depfile.write_text(f"{targets}: {inputs}\n")
    arguments.stamp.write_text("")
    with (output / "runs.log").open("a") as log:
        log.write("run\n")


if __name__ == "__main__":
    main()
