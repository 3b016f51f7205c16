"""Writes the conformance suite's modules and specs, which have one function for each case.

usage: modules.py FOLDER

One kernel calls the functions of one type and shape: it takes a, b and c, and gives the result of each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from case import FLOATS, Case, filled, shaped
from cast_cases import CONVERSIONS
from intrinsic_cases import INTRINSICS
from operator_cases import OPERATORS
from refused import is_refused

CASES = [*OPERATORS, *CONVERSIONS, *INTRINSICS]
TARGETS = ("vulkan", "cuda")
PASSES = ("value", "backward", "forward")


@dataclass(frozen=True)
class Item:
    """A case for one type and shape, and what of it is computed: its value or its derivatives."""

    case: Case
    scalar: str
    shape: str
    way: str

    @property
    def name(self) -> str:
        suffix = "" if self.way == "value" else f"-{self.way}"
        return f"{self.case.key}-{self.scalar}-{self.shape}{suffix}"

    @property
    def kernel(self) -> str:
        """The function that calls it."""
        return f"{self.scalar}_{self.shape}_{self.case.inputs}_{self.way}"

    @property
    def function(self) -> str:
        return f"{self.case.key}_{self.scalar}_{self.shape}"

    @property
    def result(self) -> str:
        return filled(self.case.result, self.scalar, self.shape)

    @property
    def outputs(self) -> dict[str, str]:
        """The names and types of what the kernel gives for it."""
        if self.way == "value":
            return {self.case.key: self.result}
        kind = shaped(self.scalar, self.shape) if self.way == "backward" else self.result
        return {f"{self.case.key}_{name}": kind for name, _ in zip("abc", self.case.partials, strict=False)}

    @property
    def allowed(self) -> float:
        """The largest error, in units in the last place. Derivatives are several operations: four times that
        of the value."""
        if self.way != "value":
            return 4 * max(self.case.allowed(self.scalar), 0.5)
        return self.case.allowed(self.case.result_scalar(self.scalar))

    def targets(self) -> tuple[str, ...]:
        """Those that have kernels for it."""
        return tuple(target for target in TARGETS if not is_refused(self, target))

    def spec(self) -> str:
        """The spec that it is in, or "" where every target refuses it."""
        targets = self.targets()
        if not targets:
            return ""
        # One such variable keeps all arithmetic of its module's kernels from being contracted.
        if "precise" in self.case.text:
            return "conformance_precise" + ("" if targets == TARGETS else f"_{targets[0]}")
        subject = "gradients" if self.way != "value" else "floats" if self.scalar in FLOATS else "integers"
        return f"conformance_{subject}" + ("" if targets == TARGETS else f"_{targets[0]}")


def items() -> Iterator[Item]:
    for case in CASES:
        for scalar in case.types:
            for shape in case.shapes:
                # Derivatives of matrices take long to compile; those of other types are the same code.
                has_derivatives = case.partials and (
                    scalar in FLOATS if shape != "matrix" else scalar == "float"
                )
                for way in PASSES if has_derivatives else ("value",):
                    yield Item(case, scalar, shape, way)


def function_text(item: Item) -> str:
    """The case as a function."""
    body = filled(item.case.text, item.scalar, item.shape)
    body = body if ";" in body else f"return {body};"
    kind = shaped(item.scalar, item.shape)
    differentiable = "[Differentiable] " if item.way != "value" else ""
    return f"{differentiable}{item.result} {item.function}({kind} a, {kind} b, {kind} c) {{ {body} }}"


def call_text(item: Item) -> Iterator[str]:
    """What the kernel does for it."""
    if item.way == "value":
        yield from stored(
            item.case.key, item.result, f"{item.function}({', '.join(loaded(item, one) for one in 'abc')})"
        )
        return
    names = [output.rpartition("_")[2] for output in item.outputs]
    if item.way == "backward":
        yield "{"
        yield "    var x = diffPair(a);"
        yield "    var y = diffPair(b);"
        yield "    var z = diffPair(c);"
        yield f"    bwd_diff({item.function})(x, y, z, {item.result}({item.scalar}(1)));"
        for output, name in zip(item.outputs, names, strict=True):
            yield f"    {output} = {'xyz'['abc'.index(name)]}.d;"
        yield "}"
        return
    kind = shaped(item.scalar, item.shape)
    for output, name in zip(item.outputs, names, strict=True):
        pairs = ", ".join(f"diffPair({one}, {kind}({item.scalar}({int(one == name)})))" for one in "abc")
        yield f"{output} = fwd_diff({item.function})({pairs}).d;"


#: Scalars of matrices that a tensor can hold; matrices of others are passed as arrays of their rows.
IN_MATRICES = ("bool", "int", "uint", *FLOATS)


def rows_of(kind: str) -> tuple[str, int]:
    """The type and number of a matrix's rows, where it is passed as an array of them; else "" and 0."""
    scalar, rows, columns = [*kind.removeprefix("matrix<").removesuffix(">").split(", "), "", ""][:3]
    return (
        ("", 0)
        if not kind.startswith("matrix<") or scalar in IN_MATRICES
        else (f"vector<{scalar}, {columns}>", int(rows))
    )


def declared(kind: str, name: str) -> str:
    row, count = rows_of(kind)
    return f"{row} {name}[{count}]" if count else f"{kind} {name}"


def loaded(item: Item, name: str) -> str:
    kind = shaped(item.scalar, item.shape)
    return f"{kind}({name}[0], {name}[1])" if rows_of(kind)[1] else name


def stored(name: str, kind: str, value: str) -> Iterator[str]:
    count = rows_of(kind)[1]
    if not count:
        yield f"{name} = {value};"
        return
    yield f"{kind} {name}_rows = {value};"
    yield from (f"{name}[{i}] = {name}_rows[{i}];" for i in range(count))


def kernel_text(kernel: str, called: list[Item]) -> Iterator[str]:
    kind = shaped(called[0].scalar, called[0].shape)
    outputs = [f"out {declared(kind, name)}" for item in called for name, kind in item.outputs.items()]
    yield f"void {kernel}({', '.join(declared(kind, name) for name in 'abc')},"
    yield "    " + ",\n    ".join(outputs) + ")"
    yield "{"
    for item in called:
        yield from (f"    {line}" for line in call_text(item))
    yield "}"


def by_kernel(found: list[Item]) -> dict[str, list[Item]]:
    kernels: dict[str, list[Item]] = {}
    for item in found:
        kernels.setdefault(item.kernel, []).append(item)
    return kernels


def module_text(found: list[Item]) -> str:
    functions = list(dict.fromkeys(function_text(item) for item in found))
    lines = ["// The cases of tests/conformance, written by its modules.py.", *functions]
    for kernel, called in by_kernel(found).items():
        lines += ["", *kernel_text(kernel, called)]
    return "\n".join(lines) + "\n"


def spec_of(name: str, found: list[Item]) -> dict[str, object]:
    dense = {"kind": "tensor[1]", "layout": "contiguous"}
    calls = []
    for kernel, called in by_kernel(found).items():
        outputs = [output for item in called for output in item.outputs]
        calls.append({"function": kernel, "args": dict.fromkeys([*"abc", *outputs], dense)})
    targets = found[0].targets()
    return {
        "version": 1,
        "name": name,
        "modules": [f"{name}.slang"],
        "targets": list(targets),
        "calls": calls,
    }


def by_spec() -> dict[str, list[Item]]:
    specs: dict[str, list[Item]] = {}
    for item in items():
        if name := item.spec():
            specs.setdefault(name, []).append(item)
    return specs


def write(folder: Path, name: str, found: list[Item]) -> None:
    """Leaves files that have the text already, so that nothing is built again."""
    for path, text in (
        (folder / f"{name}.slang", module_text(found)),
        (folder / f"{name}.kf.json", json.dumps(spec_of(name, found), indent=1) + "\n"),
    ):
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    specs = by_spec()
    for path in folder.glob("conformance_*"):
        if path.name.partition(".")[0] not in specs:
            path.unlink()
    for name, found in specs.items():
        write(folder, name, found)


if __name__ == "__main__":
    main()
