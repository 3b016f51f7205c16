"""Batches of programs through kfgen: which are refused and why, and what the others' kernels give."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
from comparison import Expected, Inputs, Outcome, compare
from nodes import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Matrix,
    Parameter,
    Program,
    Scalar,
    Struct,
    Tensor,
    Type,
    Vector,
    Void,
)
from printing import module_text, program_text, spec_text

SECONDS = 900  # until a process is given up


@dataclass
class Refusal:
    """Why there are no kernels of a program."""

    reason: str
    text: str


@dataclass
class Batch:
    """What kfgen made of some programs."""

    name: str
    folder: Path
    programs: list[Program]
    refused: dict[int, Refusal] = field(default_factory=dict)
    warnings: dict[int, list[str]] = field(default_factory=dict)


@dataclass
class Tools:
    kfgen: Path
    folder: Path
    backend: str = "vulkan"
    threads: int = 1

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "KFGEN_CACHE_DIR": str(self.folder / "cache")}
        command = [str(part) for part in (self.kfgen, *arguments)]
        try:
            return subprocess.run(
                command, capture_output=True, text=True, env=environment, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", "timeout")


def generate(tools: Tools, name: str, programs: list[Program]) -> Batch:
    """Generates a batch; what is refused is found by what is said, else by halves."""
    batch = Batch(name, tools.folder / name, programs)
    left = _generate(tools, batch, name, programs)
    batch.programs = left
    if left and len(left) < len(programs) and not _compile(tools, batch, name, left)[0]:
        raise RuntimeError(f"{name}: programs that can be generated alone can't be together")
    return batch


def _generate(tools: Tools, batch: Batch, name: str, programs: list[Program]) -> list[Program]:
    """Those that can be generated."""
    if not programs:
        return []
    done, refused = _compile(tools, batch, name, programs)
    if done:
        return programs
    if len(programs) == 1:
        batch.refused[programs[0].number] = next(iter(refused.values()), Refusal("unknown", ""))
        return []
    if refused:
        batch.refused.update(refused)
        return _generate(tools, batch, name, [p for p in programs if p.number not in refused])
    middle = len(programs) // 2
    left = _generate(tools, batch, f"{name}a", programs[:middle])
    return left + _generate(tools, batch, f"{name}b", programs[middle:])


def _compile(
    tools: Tools, batch: Batch, name: str, programs: list[Program]
) -> tuple[bool, dict[int, Refusal]]:
    folder = batch.folder
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{name}.slang"
    text = module_text(programs)
    source.write_text(text)
    (folder / f"{name}.kf.json").write_text(spec_text(name, [source.name], programs))
    spec = folder / f"{name}.kf.json"
    result = tools.run(
        "generate",
        spec,
        "-o",
        folder / "out",
        "--python",
        "--backend",
        tools.backend,
        "--jobs",
        str(tools.threads),
        "--quiet",
        "--error-format",
        "json",
    )
    refused: dict[int, Refusal] = {}
    unplaced: list[Refusal] = []
    for said in _said(result.stderr + result.stdout):
        refusal = Refusal(str(said.get("id", "")), json.dumps(said))
        number = _program_at(text, said, programs)
        if said.get("severity") == "warning":
            if number is not None:
                batch.warnings.setdefault(number, []).append(refusal.text)
        elif number is not None:
            refused.setdefault(number, refusal)
        else:
            unplaced.append(refusal)
    if result.returncode == 0:
        return True, {}
    if len(programs) == 1 and not refused:
        said_last = unplaced[0] if unplaced else Refusal(f"exit {result.returncode}", result.stderr[-2000:])
        refused[programs[0].number] = said_last
    return False, refused


def _said(output: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def _program_at(text: str, said: dict[str, Any], programs: list[Program]) -> int | None:
    """The program that an error is about, by its line or the function that it names."""
    if str(said.get("file", "")).endswith(".slang") and said.get("line"):
        # A program's entry is the last of its functions.
        past = "\n".join(text.splitlines()[: int(said["line"]) - 1])
        ended = [program for program in programs if program_text(program) in past + "\n"]
        if len(ended) < len(programs):
            return programs[len(ended)].number
    words = json.dumps(said)
    named = set(re.findall(r"'(?:kf_)?(f\d+)(?:_[a-z_]+)?'", words))
    found = [program.number for program in programs if program.entry.name in named]
    return found[0] if len(found) == 1 else None


# ---- Calling ----


def load(batch_folder: Path, name: str) -> ModuleType:
    path = batch_folder / "out" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def shape_of(kind: Type) -> tuple[int, ...]:
    """The extents of one value."""
    if isinstance(kind, Vector):
        return (kind.length,)
    if isinstance(kind, Matrix):
        return (kind.rows, kind.columns)
    if isinstance(kind, Array):
        return (kind.length, *shape_of(kind.element))
    return ()


def array_of(module: ModuleType, kind: Type, values: Any) -> Any:
    """A NumPy array of values of the type, along one dimension; or of a tensor's elements."""
    if isinstance(kind, Struct):
        dtype = getattr(module, kind.name).dtype
        result = np.zeros(len(values), dtype)
        for name, inner in kind.fields:
            result[name] = array_of(module, inner, [value[name] for value in values])
        return result
    if isinstance(kind, Array) and isinstance(kind.element, Struct):
        flat = [item for value in values for item in value]
        return array_of(module, kind.element, flat).reshape(len(values), kind.length)
    dtype = {INT: np.int32, BOOL: np.bool_}.get(kind, np.float32) if isinstance(kind, Scalar) else np.float32
    return np.asarray(values, dtype)


def flat(value: Any, kind: Type) -> list[Any]:
    """The floats of what came back for one value, in order."""
    if isinstance(kind, Struct):
        parts: list[Any] = []
        for name, inner in kind.fields:
            item = value[name] if not hasattr(value, "_fields") else getattr(value, name)
            parts += flat(item, inner)
        return parts
    if isinstance(kind, Array):
        return [leaf for item in value for leaf in flat(item, kind.element)]
    return [float(x) for x in np.asarray(value, np.float64).ravel()]


def call(module: ModuleType, program: Program, inputs: Inputs, expected: Expected) -> Outcome:
    """Compares one function, forward and backward, with the reference."""
    try:
        return _called(module, program, inputs, expected)
    except kf.DeviceError as error:
        return Outcome([], re.sub(r"'.*'", "", str(error)))


def _called(module: ModuleType, program: Program, inputs: Inputs, expected: Expected) -> Outcome:  # noqa: PLR0915

    entry = program.entry
    function = getattr(module, entry.name)
    count = inputs.count

    def held(parameter: Parameter) -> Any:
        values = inputs.values[parameter.name]
        if isinstance(parameter.type, Tensor):
            return np.asarray(values, np.float32)
        if parameter.kind == "value":
            return values
        return array_of(module, parameter.type, values)

    def empty(kind: Type) -> Any:
        if isinstance(kind, Struct):
            return np.zeros(count, getattr(module, kind.name).dtype)
        if isinstance(kind, Array) and isinstance(kind.element, Struct):
            return np.zeros((count, kind.length), getattr(module, kind.element.name).dtype)
        return np.zeros((count, *shape_of(kind)), np.float32)

    def given(backward: bool) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for parameter in entry.parameters:
            name = parameter.name
            if parameter.direction != "in":
                start = empty(parameter.type) if parameter.direction == "out" else held(parameter)
                tensor = kf.Tensor.from_numpy(start)
                if backward:
                    flow = array_of(module, parameter.type, expected.flows[name])
                    more = {"grad_out": np.zeros_like(start)} if parameter.direction == "inout" else {}
                    tensor = tensor.with_grads(grad_in=flow, **more)
                result[name] = tensor
            elif parameter.no_diff or parameter.type in {INT, BOOL}:
                result[name] = held(parameter)
            elif parameter.kind == "value":
                result[name] = kf.differentiable(held(parameter)) if backward else held(parameter)
            else:
                tensor = kf.Tensor.from_numpy(held(parameter))
                result[name] = tensor.with_grads() if backward else tensor
        if not isinstance(entry.result, Void):
            out = kf.Tensor.from_numpy(empty(entry.result))
            if backward:
                out = out.with_grads(grad_in=array_of(module, entry.result, expected.flows["result"]))
            result["out"] = out
        return result

    forward = given(False)
    function(**forward)
    found: dict[str, list[Any]] = {}
    for name, kind in expected.outputs_of(program):
        values = forward["out" if name == "result" else name].to_numpy()
        found[name] = [flat(value, kind) for value in values]
    back = given(True)
    function.backward(**back)
    gradients: dict[str, list[Any]] = {}
    for parameter in entry.parameters:
        if parameter.name not in expected.gradients:
            continue
        carried = back[parameter.name]
        if parameter.direction == "inout":
            gradient = carried.grad_out.to_numpy()
        elif parameter.kind == "value" and not isinstance(parameter.type, Tensor):
            gradients[parameter.name] = flat(carried.grad, parameter.type)
            continue
        else:
            gradient = carried.grad.to_numpy()
        if isinstance(parameter.type, Tensor):
            gradients[parameter.name] = flat(gradient, FLOAT)
        else:
            gradients[parameter.name] = [leaf for value in gradient for leaf in flat(value, parameter.type)]
    return compare(program, inputs, expected, found, gradients)
