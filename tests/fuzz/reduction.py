"""Makes a program smaller as long as it still shows the same fault."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator

from nodes import (
    FLOAT,
    INT,
    Assignment,
    Block,
    Builtin,
    Call,
    Case,
    Declaration,
    Expression,
    Function,
    If,
    InitializerList,
    Literal,
    Loop,
    Name,
    Node,
    Program,
    Statement,
    Switch,
)
from printing import program_text

#: For each program: whether it still shows the fault.
Judge = Callable[[list[Program]], list[bool]]


def renumbered(program: Program, number: int) -> Program:
    """A copy whose names carry another number."""
    result = copy.deepcopy(program)
    old = program.number
    result.number = number

    def renamed(name: str) -> str:
        name = re.sub(rf"^([a-z]+\d*)_{old}$", rf"\g<1>_{number}", name)
        name = re.sub(rf"^f{old}$", f"f{number}", name)
        return re.sub(rf"\bS{old}_", f"S{number}_", name)

    def changed(value: object, seen: dict[int, object]) -> object:
        if isinstance(value, str):
            return renamed(value)
        if isinstance(value, list):
            return [changed(item, seen) for item in value]
        if isinstance(value, tuple):
            return tuple(changed(item, seen) for item in value)
        if hasattr(value, "__dataclass_fields__"):
            fields = {name: changed(getattr(value, name), seen) for name in value.__dataclass_fields__}
            return type(value)(**fields)
        return value

    made = changed(result, {})
    assert isinstance(made, Program)
    return made


def lists(node: Node) -> Iterator[list[Statement]]:
    for inner in node.walk():
        if isinstance(inner, Block):
            yield inner.statements


def is_known(program: Program) -> bool:
    """Every name that is used is declared before, in its function."""
    for function in program.functions:
        names = {parameter.name for parameter in function.parameters}
        if function.struct is not None:
            names |= {name for name, _ in function.struct.fields}
        for node in function.walk():
            if isinstance(node, Declaration):
                names.add(node.name)
            if isinstance(node, Name) and node.name not in names:
                return False
            if isinstance(node, Call) and all(node.function != other.name for other in program.functions):
                return False
    return True


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing less, large things first."""
    count = sum(len(statements) for statements in lists(program))
    for place in range(count):
        for action in ("remove", "unwrap", "otherwise"):
            other = copy.deepcopy(program)
            if _change_statement(other, place, action):
                yield _used(other)
    for function in range(len(program.functions) - 1):
        for index in range(len(program.functions[function].parameters)):
            other = copy.deepcopy(program)
            if _drop_parameter(other, function, index):
                yield other
    for index in range(len(program.entry.parameters) - 1, 0, -1):
        other = copy.deepcopy(program)
        other.entry.parameters.pop(index)
        yield other
    expressions = sum(1 for node in program.walk() if isinstance(node, Expression))
    for place in range(expressions):
        for choice in range(4):
            other = copy.deepcopy(program)
            if _change_expression(other, place, choice):
                yield _used(other)


def _used(program: Program) -> Program:
    names = {program.entry.name}
    for function in reversed(program.functions):
        if function.name in names:
            names |= {node.function for node in function.walk() if isinstance(node, Call)}
    program.functions = [function for function in program.functions if function.name in names]
    text = program_text(program)
    program.structs = [struct for struct in program.structs if text.count(struct.name) > 1]
    return program


def _change_statement(program: Program, place: int, action: str) -> bool:  # noqa: PLR0911
    for statements in lists(program):
        if place >= len(statements):
            place -= len(statements)
            continue
        node = statements[place]
        if action == "remove":
            if isinstance(node, Declaration) and place + 1 == len(statements) == 0:
                return False
            statements[place : place + 1] = []
            return True
        inner: list[Statement] | None = None
        if isinstance(node, If):
            if action == "unwrap":
                inner = node.then.statements
            elif node.otherwise is not None:
                node.otherwise = None
                return True
        if isinstance(node, Loop) and action == "unwrap":
            inner = ([node.start] if node.start else []) + node.body.statements
        if isinstance(node, Switch):
            if action == "unwrap":
                inner = node.cases[0].body.statements
            elif len(node.cases) > 1:
                node.cases.pop()
                return True
        if inner is None:
            return False
        statements[place : place + 1] = inner
        return True
    return False


def _drop_parameter(program: Program, function: int, index: int) -> bool:
    changed: Function = program.functions[function]
    if len(changed.parameters) < 2:
        return False
    changed.parameters.pop(index)
    for node in program.walk():
        if isinstance(node, Call) and node.function == changed.name:
            node.arguments.pop(index)
    return True


def _size(node: Node) -> int:
    return sum(1 for _ in node.walk())


def _change_expression(program: Program, place: int, choice: int) -> bool:
    """Puts a part of an expression in its place, or a literal."""
    for parent in program.walk():
        for name in getattr(parent, "__dataclass_fields__", {}):
            held = getattr(parent, name)
            items = held if isinstance(held, list) else [held]
            for at, node in enumerate(items):
                if not isinstance(node, Expression):
                    continue
                if place > 0:
                    place -= 1
                    continue
                parts = [part for part in node.walk() if isinstance(part, Expression) and part is not node]
                parts = sorted((part for part in parts if part.type == node.type), key=_size)
                options: list[Expression] = [*parts[:1], *parts[-1:]]
                if _size(node) > 1 and node.type in {FLOAT, INT}:
                    options.append(Literal(FLOAT, 0.5) if node.type == FLOAT else Literal(INT, 0))
                target = isinstance(parent, Assignment) and name == "target"
                if choice >= len(options) or target or isinstance(node, Literal | InitializerList):
                    return False
                if isinstance(held, list):
                    held[at] = options[choice]
                else:
                    setattr(parent, name, options[choice])
                return True
    return False


def reduce(program: Program, judge: Judge, width: int = 10, rounds: int = 40) -> Program:
    """The smallest that was found; `judge` is given up to `width` programs at once."""
    best = program
    tried: set[str] = set()
    for _ in range(rounds):
        found = None
        waiting: list[Program] = []
        for candidate in smaller(best):
            text = re.sub(r"\d+", "#", program_text(candidate)) + str(_size(candidate))
            text = program_text(candidate)
            if text in tried or len(text) >= len(program_text(best)) or not is_known(candidate):
                continue
            tried.add(text)
            waiting.append(candidate)
        waiting.sort(key=lambda p: len(program_text(p)))
        while waiting and found is None:
            batch, waiting = waiting[:width], waiting[width:]
            numbered = [renumbered(candidate, 90000 + i) for i, candidate in enumerate(batch)]
            kept = [c for c, bad in zip(batch, judge(numbered), strict=True) if bad]
            found = min(kept, key=lambda p: len(program_text(p))) if kept else None
        if found is None:
            return best
        best = found
        print(program_text(best), flush=True)
    return best


__all__ = ["Builtin", "Case", "reduce"]
