"""Programs as Slang text, and the call specs of batches of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from nodes import (
    FLOAT,
    Array,
    Assignment,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
    Case,
    Continue,
    Declaration,
    Evaluation,
    Expression,
    Field,
    Function,
    If,
    Index,
    InitializerList,
    Literal,
    Loop,
    Matrix,
    Name,
    Parameter,
    Program,
    Return,
    Scalar,
    Statement,
    Struct,
    Switch,
    Swizzle,
    Tensor,
    Ternary,
    Type,
    Unary,
    Vector,
    Void,
)

LINE = 110
SIMPLE = (Assignment, Break, Continue, Evaluation, Return)


def type_text(kind: Type) -> str:
    """The name of a type that is no array."""
    if isinstance(kind, Scalar | Struct):
        return kind.name
    if isinstance(kind, Vector):
        return f"float{kind.length}"
    if isinstance(kind, Matrix):
        return f"float{kind.rows}x{kind.columns}"
    if isinstance(kind, Tensor):
        return f"IDiffTensor<{type_text(kind.element)}, {len(kind.shape)}>"
    if isinstance(kind, Void):
        return "void"
    return f"{type_text(kind.element)}[{kind.length}]"


def declarator(name: str, kind: Type) -> str:
    if isinstance(kind, Array):
        return f"{type_text(kind.element)} {name}[{kind.length}]"
    return f"{type_text(kind)} {name}"


def number(value: float) -> str:
    text = repr(float(value))
    return f"({text})" if value < 0 else text


def expression(node: Expression) -> str:  # noqa: PLR0911
    if isinstance(node, Literal):
        if isinstance(node.value, bool):
            return "true" if node.value else "false"
        return number(node.value) if node.type == FLOAT else str(node.value)
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Unary):
        return f"{node.operator}{operand(node.operand)}"
    if isinstance(node, Binary):
        return f"{operand(node.left)} {node.operator} {operand(node.right)}"
    if isinstance(node, Ternary):
        return f"{operand(node.condition)} ? {operand(node.left)} : {operand(node.right)}"
    if isinstance(node, Builtin):
        return f"{node.name}({arguments(node.arguments)})"
    if isinstance(node, Call):
        before = f"{operand(node.object)}." if node.object else ""
        mark = "no_diff " if node.no_diff else ""
        return f"{mark}{before}{node.function}({arguments(node.arguments)})"
    if isinstance(node, Field):
        return f"{operand(node.base)}.{node.name}"
    if isinstance(node, Swizzle):
        return f"{operand(node.base)}.{node.components}"
    if isinstance(node, Index):
        return f"{operand(node.base)}[{arguments(node.indices)}]"
    if isinstance(node, InitializerList):
        return f"{{{arguments(node.items)}}}"
    raise AssertionError(node)


def operand(node: Expression) -> str:
    """In parentheses where it has an operator of its own."""
    text = expression(node)
    marked = isinstance(node, Call) and node.no_diff
    return f"({text})" if marked or isinstance(node, Unary | Binary | Ternary) else text


def arguments(nodes: list[Expression]) -> str:
    return ", ".join(expression(node) for node in nodes)


def simple(node: Statement) -> str:
    """A statement of one line, without its semicolon."""
    if isinstance(node, Declaration):
        before = f"{node.keyword} {node.name}" if node.keyword else declarator(node.name, node.type)
        return before if node.value is None else f"{before} = {expression(node.value)}"
    if isinstance(node, Assignment):
        if node.operator in {"++", "--"}:
            return f"{node.operator}{expression(node.target)}"
        return f"{expression(node.target)} {node.operator} {expression(node.value)}"
    if isinstance(node, Evaluation):
        return expression(node.call)
    if isinstance(node, Return):
        return "return" if node.value is None else f"return {expression(node.value)}"
    return "break" if isinstance(node, Break) else "continue"


def statement(node: Statement | Case) -> Iterator[str]:
    if isinstance(node, Block):
        yield "{"
        yield from nested(node)
        yield "}"
    elif isinstance(node, If):
        yield from headed(f"if ({expression(node.condition)})", node.then, node.bare)
        if node.otherwise is not None:
            yield from headed("else", node.otherwise, node.bare)
    elif isinstance(node, Loop):
        yield from loop(node)
    elif isinstance(node, Switch):
        yield f"switch ({expression(node.selector)})"
        yield "{"
        for case in node.cases:
            yield from statement(case)
        yield "}"
    elif isinstance(node, Case):
        yield "default:" if node.value is None else f"case {node.value}:"
        yield from statement(node.body)
        if not node.body.statements or not isinstance(node.body.statements[-1], Return):
            yield "    break;"
    else:
        yield simple(node) + ";"


def nested(block: Block) -> Iterator[str]:
    for inner in block.statements:
        yield from ("    " + line for line in statement(inner))


def headed(head: str, body: Block, bare: bool, tail: str = "") -> Iterator[str]:
    yield head
    if bare and len(body.statements) == 1 and isinstance(body.statements[0], SIMPLE):
        yield from nested(body)
    else:
        yield from statement(body)
    if tail:
        yield tail


def loop(node: Loop) -> Iterator[str]:
    if node.attribute:
        yield f"[{node.attribute}]"
    condition = expression(node.condition) if node.condition else ""
    if node.form == "for":
        start = simple(node.start) if node.start else ""
        step = simple(node.step) if node.step else ""
        head = f"for ({start}; {condition};{' ' if step else ''}{step})"
        yield from headed(head, node.body, node.bare)
    elif node.form == "while":
        yield from headed(f"while ({condition or 'true'})", node.body, node.bare)
    else:
        yield from headed("do", node.body, False, f"while ({condition});")


def parameter(node: Parameter) -> str:
    modifiers = "no_diff " if node.no_diff else ""
    modifiers += "" if node.direction == "in" else node.direction + " "
    return modifiers + declarator(node.name, node.type)


def function(node: Function) -> Iterator[str]:
    attributes = ["[Differentiable]"] * node.differentiable + ["[mutating]"] * node.mutating
    if attributes:
        yield " ".join(attributes)
    inner = ", ".join(parameter(entry) for entry in node.parameters)
    yield f"{type_text(node.result)} {node.name}({inner})"
    yield from statement(node.body)


def program_lines(program: Program) -> Iterator[str]:
    for struct in program.structs:
        yield f"struct {struct.name} : IDifferentiable"
        yield "{"
        for name, kind in struct.fields:
            yield f"    {declarator(name, kind)};"
        for method in program.functions:
            if method.struct == struct:
                yield from ("    " + line for line in function(method))
        yield "};"
    for plain in program.functions:
        if plain.struct is None:
            yield from function(plain)


def packed(lines: Iterable[str]) -> Iterator[str]:
    """Fewer lines: single statements share one, and so do braces and what they are of."""
    held = ""
    for line in lines:
        words = line.strip()
        joins = held and not words.startswith(("struct ", "[Differentiable]")) and held.strip() != "};"
        if joins and len(held) + 1 + len(words) <= LINE:
            held += " " + words
        else:
            if held:
                yield held
            held = line
    if held:
        yield held


def program_text(program: Program, pack: bool = False) -> str:
    lines = program_lines(program)
    return "\n".join(packed(lines) if pack else lines) + "\n"


def module_text(programs: list[Program], head: str = "", pack: bool = False) -> str:
    return head + "import kf;\n\n" + "\n".join(program_text(program, pack) for program in programs)


def kind_of(parameter: Parameter) -> str | dict[str, str]:
    """Contiguous alone: half as many kernels."""
    if parameter.kind == "value":
        return parameter.kind
    return {"kind": parameter.kind, "layout": "contiguous"}


def call_of(program: Program) -> dict[str, Any]:
    entry = program.entry
    return {
        "function": entry.name,
        "args": {parameter.name: kind_of(parameter) for parameter in entry.parameters},
        "backward": True,
    }


def spec_text(name: str, modules: list[str], programs: list[Program]) -> str:
    calls = ",\n".join("    " + json.dumps(call_of(program)) for program in programs)
    listed = ", ".join(json.dumps(module) for module in modules)
    return (
        f'{{\n  "version": 1,\n  "name": "{name}",\n  "modules": [{listed}],\n'
        f'  "targets": ["vulkan"],\n  "calls": [\n{calls}\n  ]\n}}\n'
    )
