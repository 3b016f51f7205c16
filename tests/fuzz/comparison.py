"""What a program has to give for random inputs, and whether kernels give it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from draws import Draws
from interpreter import Interpreter, Value, leaves
from nodes import BOOL, FLOAT, INT, Array, Matrix, Parameter, Program, Struct, Tensor, Type, Vector, Void
from numbers_with_gradients import Invalid, Number, Tape

MARGIN = 2e-4  # of comparisons, relative
HIGHEST = 60.0  # of values
STEEPEST = 3e3  # of the sums that gradients are
TOLERANCE = 3e-4  # of those sums
ATTEMPTS = 40
NOISE = 2e-6


@dataclass
class Inputs:
    """By parameter: a list of `count` values, one value for all, or a tensor's elements."""

    count: int
    values: dict[str, Any]


@dataclass
class Expected:
    """By output what calls give and what flows in; by input gradients and how large their parts are."""

    outputs: dict[str, list[list[float]]] = field(default_factory=dict)
    flows: dict[str, list[Any]] = field(default_factory=dict)
    gradients: dict[str, list[float]] = field(default_factory=dict)
    sizes: dict[str, list[float]] = field(default_factory=dict)
    noise: dict[str, list[float]] = field(default_factory=dict)
    decisions: list[int] = field(default_factory=list)
    detached: list[list[float]] = field(default_factory=list)
    weighted: float = 0.0  # the sum that the gradients are of

    @staticmethod
    def outputs_of(program: Program) -> list[tuple[str, Type]]:
        entry = program.entry
        result: list[tuple[str, Type]] = []
        if not isinstance(entry.result, Void):
            result.append(("result", entry.result))
        return result + [(p.name, p.type) for p in entry.parameters if p.direction != "in"]


@dataclass
class Outcome:
    """What differs, or why the kernels could not be run."""

    wrong: list[str]
    failure: str = ""


def rounded(value: float) -> float:
    return float(np.float32(value))


def random_value(draws: Draws, kind: Type) -> Any:  # noqa: PLR0911
    if kind == INT:
        return draws.integer(0, 4)
    if kind == BOOL:
        return draws.chance(0.5)
    if kind == FLOAT:
        return rounded(draws.number(-1.2, 1.4, 4))
    if isinstance(kind, Vector):
        return [random_value(draws, FLOAT) for _ in range(kind.length)]
    if isinstance(kind, Matrix):
        return [random_value(draws, Vector(kind.columns)) for _ in range(kind.rows)]
    if isinstance(kind, Array):
        return [random_value(draws, kind.element) for _ in range(kind.length)]
    if isinstance(kind, Struct):
        return {name: random_value(draws, inner) for name, inner in kind.fields}
    if isinstance(kind, Tensor):
        if not kind.shape:
            return random_value(draws, kind.element)
        return [random_value(draws, Tensor(kind.element, kind.shape[1:])) for _ in range(kind.shape[0])]
    raise AssertionError(kind)


def is_shared(parameter: Parameter) -> bool:
    return isinstance(parameter.type, Tensor) or parameter.kind == "value"


def random_inputs(draws: Draws, program: Program, count: int) -> Inputs:
    values: dict[str, Any] = {}
    for parameter in program.entry.parameters:
        if parameter.direction == "out":
            values[parameter.name] = None
        elif is_shared(parameter):
            values[parameter.name] = random_value(draws, parameter.type)
        else:
            values[parameter.name] = [random_value(draws, parameter.type) for _ in range(count)]
    return Inputs(count, values)


def numbers_of(value: Any) -> Value:
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        return Number(value)
    if isinstance(value, list):
        return [numbers_of(item) for item in value]
    return {key: numbers_of(item) for key, item in value.items()}


def plain(value: Value) -> Any:
    if isinstance(value, Number):
        return value.value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def like(value: Value, items: list[float]) -> Any:
    """The floats in the form of a value; takes them from the list."""
    if isinstance(value, Number):
        return items.pop(0)
    if isinstance(value, list):
        return [like(item, items) for item in value]
    if isinstance(value, dict):
        return {key: like(item, items) for key, item in value.items()}
    return value


def evaluate(  # noqa: PLR0912
    program: Program, inputs: Inputs, weights: Draws, replayed: list[list[float]] | None = None
) -> Expected:
    """Runs every call, and backward from random weights of the outputs."""
    expected = Expected()
    entry = program.entry
    kept = [
        p for p in entry.parameters if p.direction != "out" and not p.no_diff and p.type not in {INT, BOOL}
    ]
    for parameter in kept:
        expected.gradients[parameter.name] = []
        expected.sizes[parameter.name] = []
    for index in range(inputs.count):
        tape = Tape(replayed=None if replayed is None else replayed[index])
        arguments = [
            numbers_of(
                inputs.values[p.name]
                if is_shared(p) or p.direction == "out"
                else inputs.values[p.name][index]
            )
            for p in entry.parameters
        ]
        result, frame = Interpreter(program, tape).run(arguments)
        if tape.margin < MARGIN and replayed is None:
            raise Invalid("close to a branch")
        if tape.peak > HIGHEST:
            raise Invalid("large values")
        for name, _ in Expected.outputs_of(program):
            value = result if name == "result" else frame.get(name)
            if value is None:
                raise Invalid("an output without a value")
            numbers = leaves(value)
            flow = [rounded(weights.number(0.3, 1.3, 3)) for _ in numbers]
            expected.outputs.setdefault(name, []).append([number.value for number in numbers])
            expected.flows.setdefault(name, []).append(like(value, list(flow)))
            for number, weight in zip(numbers, flow, strict=True):
                number.grad += weight
                number.size += weight
                expected.weighted += weight * number.value
        tape.run_back()
        for parameter, argument in zip(entry.parameters, arguments, strict=True):
            if parameter not in kept:
                continue
            found = leaves(argument)
            gradients, sizes = expected.gradients[parameter.name], expected.sizes[parameter.name]
            if is_shared(parameter) and gradients:
                for i, number in enumerate(found):
                    gradients[i] += number.grad
                    sizes[i] += number.size
            else:
                gradients += [number.grad for number in found]
                sizes += [number.size for number in found]
        expected.decisions += [*tape.decisions, -1]
        expected.detached.append(tape.detached)
    if any(size > STEEPEST for sizes in expected.sizes.values() for size in sizes):
        raise Invalid("steep")
    return expected


def moved(value: Any, draws: Draws, step: float, taken: list[float]) -> Any:
    """The value, each float moved at random; notes by how much."""
    if isinstance(value, float):
        taken.append(step * draws.number(-1, 1, 6))
        return value + taken[-1]
    if isinstance(value, list):
        return [moved(item, draws, step, taken) for item in value]
    if isinstance(value, dict):
        return {key: moved(item, draws, step, taken) for key, item in value.items()}
    return value


def shifted(
    program: Program, inputs: Inputs, seed: str, step: float
) -> tuple[Inputs, dict[str, list[float]]]:
    """Other inputs, of what has a gradient."""
    draws = Draws(seed)
    values: dict[str, Any] = {}
    steps: dict[str, list[float]] = {}
    for parameter in program.entry.parameters:
        steps[parameter.name] = []
        before = inputs.values[parameter.name]
        fixed = parameter.no_diff or parameter.direction == "out"
        values[parameter.name] = before if fixed else moved(before, draws, step, steps[parameter.name])
    return Inputs(inputs.count, values), steps


def check_reference(program: Program, inputs: Inputs, seed: str, expected: Expected) -> None:
    """The interpreter's own gradients against differences, in double precision."""
    step = 1e-6
    sums = []
    along = 0.0
    for sign in (1, -1):
        other, steps = shifted(program, inputs, seed, sign * step)
        found = evaluate(program, other, Draws(seed + " weights"), expected.detached)
        if found.decisions != expected.decisions:
            raise Invalid("close to a branch")
        sums.append(found.weighted)
        if sign == 1:
            along = sum(
                slope * moved
                for name, slopes in expected.gradients.items()
                for slope, moved in zip(slopes, steps[name], strict=True)
            )
    size = sum(abs(s) for sizes in expected.sizes.values() for s in sizes)
    difference = (sums[0] - sums[1]) / 2
    if abs(difference - along) > step * (1e-5 * size + 1e-6):
        raise AssertionError(f"program {program.number}: the reference has {along}, differences {difference}")


def prepare(program: Program, seed: int, count: int = 3) -> tuple[Inputs, Expected]:
    """Inputs at which the program is smooth, and what it has to give; Invalid if there are none."""
    last = Invalid("")
    for attempt in range(ATTEMPTS):
        name = f"{seed}-{program.number}-{attempt}"
        inputs = random_inputs(Draws(name + " inputs"), program, count)
        try:
            expected = evaluate(program, inputs, Draws(name + " weights"))
            check_reference(program, inputs, name, expected)
            near, _ = shifted(program, inputs, name + " noise", NOISE)
            noisy = evaluate(program, near, Draws(name + " weights"), expected.detached)
        except Invalid as error:
            last = error
            if attempt >= 8 and "branch" not in str(error):
                break
            continue
        for key, gradients in expected.gradients.items():
            pairs = zip(gradients, noisy.gradients[key], strict=True)
            expected.noise[key] = [abs(a - b) for a, b in pairs]
        return inputs, expected
    raise last


def compare(
    program: Program,
    inputs: Inputs,
    expected: Expected,
    outputs: dict[str, list[list[float]]],
    gradients: dict[str, list[float]],
) -> Outcome:
    outcome = Outcome([])
    for name, calls in expected.outputs.items():
        for index, (wanted, found) in enumerate(zip(calls, outputs[name], strict=True)):
            for leaf, (a, b) in enumerate(zip(wanted, found, strict=True)):
                if not abs(a - b) <= 1e-4 * (1 + abs(a)):
                    outcome.wrong.append(f"{name}[{index}].{leaf}: {b:.6g} for {a:.6g}")
    for name, slopes in expected.gradients.items():
        largest = max(expected.noise[name], default=0)
        for leaf, wanted_slope in enumerate(slopes):
            found_slope = gradients[name][leaf]
            limit = TOLERANCE * expected.sizes[name][leaf] + 20 * largest + 2e-6
            if not abs(wanted_slope - found_slope) <= limit:
                outcome.wrong.append(f"{name}.grad[{leaf}]: {found_slope:.6g} for {wanted_slope:.6g}")
    return outcome
