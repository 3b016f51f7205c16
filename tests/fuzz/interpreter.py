"""Runs programs in double precision, with gradients: what kernels are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes import (
    FLOAT,
    INT,
    Array,
    Assignment,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
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
    Program,
    Return,
    Scalar,
    Statement,
    Struct,
    Switch,
    Swizzle,
    Ternary,
    Type,
    Unary,
    Vector,
)
from numbers_with_gradients import Invalid, Number, Tape, apply, total

Value = Any  # a Number, int or bool; a list of them, also nested; a dict by a struct's fields
Frame = dict[str, Value]

LONGEST = 5000  # statements


class _Left(Exception):  # noqa: N818
    """A `break`, `continue` or `return` on its way out."""


class _Break(_Left):
    pass


class _Continue(_Left):
    pass


class _Return(_Left):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


def copied(value: Value) -> Value:
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def leaves(value: Value) -> list[Number]:
    """The floats of a value, in order."""
    if isinstance(value, Number):
        return [value]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return []


def mapped(change: Callable[[Number], Number], value: Value) -> Value:
    if isinstance(value, Number):
        return change(value)
    if isinstance(value, list):
        return [mapped(change, item) for item in value]
    if isinstance(value, dict):
        return {key: mapped(change, item) for key, item in value.items()}
    return value


def zero(kind: Type) -> Value:
    if isinstance(kind, Vector):
        return [Number(0.0) for _ in range(kind.length)]
    if isinstance(kind, Matrix):
        return [zero(Vector(kind.columns)) for _ in range(kind.rows)]
    if isinstance(kind, Array):
        return [zero(kind.element) for _ in range(kind.length)]
    if isinstance(kind, Struct):
        return {name: zero(inner) for name, inner in kind.fields}
    return Number(0.0) if kind == FLOAT else (0 if kind == INT else False)


def compared(operator: str, left: float, right: float) -> bool:
    return {
        "<": left < right,
        ">": left > right,
        "<=": left <= right,
        ">=": left >= right,
        "==": left == right,
        "!=": left != right,
    }[operator]


class Interpreter:
    """One call of a program's entry."""

    def __init__(self, program: Program, tape: Tape) -> None:
        self.program = program
        self.tape = tape
        self.steps = 0

    def run(self, arguments: list[Value]) -> tuple[Value, Frame]:
        """The result, and the parameters as they are in the end."""
        entry = self.program.entry
        frame: Frame = {}
        for parameter, value in zip(entry.parameters, arguments, strict=True):
            if parameter.direction != "out":
                frame[parameter.name] = copied(value)
                if parameter.no_diff:
                    frame[parameter.name] = mapped(self.tape.detach, frame[parameter.name])
        return self.body(entry, frame), frame

    def body(self, function: Function, frame: Frame) -> Value:
        try:
            self.block(function.body, frame)
        except _Return as result:
            return result.value
        return None

    # ---- Statements ----

    def block(self, block: Block, frame: Frame) -> None:
        for statement in block.statements:
            self.statement(statement, frame)

    def statement(self, node: Statement, frame: Frame) -> None:  # noqa: PLR0912
        self.steps += 1
        if self.steps > LONGEST:
            raise Invalid("it runs too long")
        if isinstance(node, Block):
            self.block(node, frame)
        elif isinstance(node, Declaration):
            frame.pop(node.name, None)
            if node.value is not None:
                frame[node.name] = self.value(node.value, frame)
        elif isinstance(node, Assignment):
            self.assign(node, frame)
        elif isinstance(node, Evaluation):
            self.call(node.call, frame)
        elif isinstance(node, If):
            taken = self.branch(node.condition, frame)
            if taken:
                self.block(node.then, frame)
            elif node.otherwise is not None:
                self.block(node.otherwise, frame)
        elif isinstance(node, Loop):
            self.loop(node, frame)
        elif isinstance(node, Switch):
            self.switch(node, frame)
        elif isinstance(node, Return):
            raise _Return(None if node.value is None else self.value(node.value, frame))
        else:
            raise _Break if isinstance(node, Break) else _Continue

    def branch(self, condition: Expression, frame: Frame) -> bool:
        taken = bool(self.value(condition, frame))
        self.tape.decisions.append(taken)
        return taken

    def assign(self, node: Assignment, frame: Frame) -> None:
        if node.operator in {"++", "--"}:
            self.store(
                node.target, frame, self.load(node.target, frame) + (1 if node.operator == "++" else -1)
            )
            return
        value = self.value(node.value, frame)
        if node.operator != "=":
            value = self.binary(node.operator[0], self.load(node.target, frame), value)
        self.store(node.target, frame, value)

    def loop(self, node: Loop, frame: Frame) -> None:
        if node.start is not None:
            self.statement(node.start, frame)
        most = LONGEST
        if node.attribute.startswith("MaxIters"):
            most = int(node.attribute[len("MaxIters(") : -1])
        count = 0
        while True:
            checked = node.form != "do" or count > 0
            if checked and node.condition is not None and not self.branch(node.condition, frame):
                return
            count += 1
            self.steps += 1
            if count > most or self.steps > LONGEST:
                raise Invalid("more iterations than [MaxIters] says")
            try:
                self.block(node.body, frame)
            except _Break:
                return
            except _Continue:
                pass
            if node.step is not None:
                self.statement(node.step, frame)

    def switch(self, node: Switch, frame: Frame) -> None:
        selector = self.value(node.selector, frame)
        self.tape.decisions.append(selector)
        chosen = next((case for case in node.cases if case.value == selector), None)
        chosen = chosen or next((case for case in node.cases if case.value is None), None)
        try:
            if chosen is not None:
                self.block(chosen.body, frame)
        except _Break:
            pass

    # ---- Where values are kept ----

    def place(self, node: Expression, frame: Frame) -> tuple[Any, Any]:
        """A container and the key in it."""
        if isinstance(node, Name):
            return frame, node.name
        if isinstance(node, Field):
            return self.load(node.base, frame), node.name
        if isinstance(node, Swizzle) and len(node.components) == 1:
            return self.load(node.base, frame), "xyzw".index(node.components)
        if isinstance(node, Index):
            container = self.load(node.base, frame)
            for index in node.indices[:-1]:
                container = container[self.index(index, frame, len(container))]
            return container, self.index(node.indices[-1], frame, len(container))
        raise AssertionError(node)

    def index(self, node: Expression, frame: Frame, extent: int) -> int:
        index = self.value(node, frame)
        if not isinstance(index, int) or not 0 <= index < extent:
            raise Invalid("an index that is out of range")
        return index

    def load(self, node: Expression, frame: Frame) -> Value:
        """What is kept there, not a copy."""
        if not isinstance(node, Name | Field | Index | Swizzle):
            return self.value(node, frame)
        if isinstance(node, Swizzle) and len(node.components) > 1:
            base = self.load(node.base, frame)
            return [base["xyzw".index(letter)] for letter in node.components]
        container, key = self.place(node, frame)
        if isinstance(container, dict) and key not in container:
            raise Invalid(f"{key} has no value yet")
        return container[key]

    def store(self, node: Expression, frame: Frame, value: Value) -> None:
        if isinstance(node, Swizzle) and len(node.components) > 1:
            base = self.load(node.base, frame)
            for letter, item in zip(node.components, value, strict=True):
                base["xyzw".index(letter)] = item
            return
        container, key = self.place(node, frame)
        container[key] = value

    # ---- Expressions ----

    def value(self, node: Expression, frame: Frame) -> Value:  # noqa: PLR0911
        if isinstance(node, Literal):
            return self.tape.number(node.value) if node.type == FLOAT else node.value
        if isinstance(node, Name | Field | Index | Swizzle):
            return copied(self.load(node, frame))
        if isinstance(node, Unary):
            operand = self.value(node.operand, frame)
            if node.operator == "!":
                return not operand
            if isinstance(operand, int):
                return -operand
            return mapped(lambda x: self.tape.number(-x.value, (x, -1.0)), operand)
        if isinstance(node, Binary):
            if node.operator in {"&&", "||"}:
                left = self.value(node.left, frame)
                right = self.value(node.right, frame)
                return (left and right) if node.operator == "&&" else (left or right)
            return self.binary(node.operator, self.value(node.left, frame), self.value(node.right, frame))
        if isinstance(node, Ternary):
            return self.value(node.left if self.branch(node.condition, frame) else node.right, frame)
        if isinstance(node, Builtin):
            return self.builtin(node, [self.value(argument, frame) for argument in node.arguments])
        if isinstance(node, Call):
            return self.call(node, frame)
        if isinstance(node, InitializerList):
            items = [self.value(item, frame) for item in node.items]
            if isinstance(node.type, Struct):
                return dict(zip((name for name, _ in node.type.fields), items, strict=True))
            return items if items else zero(node.type)
        raise AssertionError(node)

    def binary(self, operator: str, left: Value, right: Value) -> Value:
        if isinstance(left, list) or isinstance(right, list):
            count = len(left) if isinstance(left, list) else len(right)
            return [
                self.binary(
                    operator,
                    left[i] if isinstance(left, list) else left,
                    right[i] if isinstance(right, list) else right,
                )
                for i in range(count)
            ]
        if isinstance(left, Number):
            if operator in "+-*/":
                return apply(self.tape, operator, left, right)
            self.tape.decide(left.value, right.value)
            return compared(operator, left.value, right.value)
        if operator in {"+", "-", "*"}:
            return {"+": left + right, "-": left - right, "*": left * right}[operator]
        if operator in {"%", "/", "&"}:
            if left < 0 or right <= 0:
                raise Invalid("a remainder of what is negative")
            return {"%": left % right, "/": left // right, "&": left & right}[operator]
        return compared(operator, left, right)

    def builtin(self, node: Builtin, values: list[Value]) -> Value:  # noqa: PLR0911
        tape, name = self.tape, node.name
        if name == "float":
            return self.tape.number(float(values[0])) if isinstance(values[0], int) else values[0]
        if node.type == INT:
            return min(values)
        if name == "detach":
            return mapped(tape.detach, values[0])
        if isinstance(node.type, Vector) and name == f"float{node.type.length}":
            items = leaves(values)
            return items * node.type.length if len(items) == 1 else items
        if isinstance(node.type, Matrix) and name.startswith("float"):
            items = leaves(values)
            return [items[i * node.type.columns : (i + 1) * node.type.columns] for i in range(node.type.rows)]
        if name == "dot":
            return total(tape, self.binary("*", values[0], values[1]))
        if name in {"length", "distance", "normalize"}:
            vector = values[0] if name != "distance" else self.binary("-", values[0], values[1])
            squared = total(tape, self.binary("*", vector, vector))
            tape.decide(squared.value, 0)
            size = apply(tape, "sqrt", squared)
            return self.binary("/", vector, size) if name == "normalize" else size
        if name == "cross":
            a, b = values
            pairs = [((1, 2), (2, 1)), ((2, 0), (0, 2)), ((0, 1), (1, 0))]
            products = [[apply(tape, "*", a[i], b[j]) for i, j in pair] for pair in pairs]
            return [apply(tape, "-", first, second) for first, second in products]
        if name == "reflect":
            twice = apply(tape, "*", Number(2.0), self.dot(values[0], values[1]))
            return self.binary("-", values[0], self.binary("*", twice, values[1]))
        if name == "transpose":
            return [list(row) for row in zip(*values[0], strict=True)]
        if name == "mul":
            return self.product(values[0], values[1])
        return self.spread(name, values)

    def dot(self, a: Value, b: Value) -> Number:
        return total(self.tape, self.binary("*", a, b))

    def product(self, a: Value, b: Value) -> Value:
        """Of a matrix and a vector, a vector and a matrix, or two matrices."""
        if not isinstance(a[0], list):
            return [self.dot(a, list(column)) for column in zip(*b, strict=True)]
        if not isinstance(b[0], list):
            return [self.dot(row, b) for row in a]
        return [self.product(row, b) for row in a]

    def spread(self, name: str, values: list[Value]) -> Value:
        """Component by component."""
        lists = [value for value in values if isinstance(value, list)]
        if not lists:
            return apply(self.tape, name, *values)
        return [
            self.spread(name, [value[i] if isinstance(value, list) else value for value in values])
            for i in range(len(lists[0]))
        ]

    def call(self, node: Call, frame: Frame) -> Value:
        function = self.program.find(node.function)
        inner: Frame = {}
        if node.object is not None:
            held = self.value(node.object, frame)
            inner.update(held)
        for parameter, argument in zip(function.parameters, node.arguments, strict=True):
            if parameter.direction != "out":
                value = self.value(argument, frame)
                inner[parameter.name] = mapped(self.tape.detach, value) if parameter.no_diff else value
        if not function.differentiable:
            inner = {key: mapped(self.tape.detach, value) for key, value in inner.items()}
        result = self.body(function, inner)
        for parameter, argument in zip(function.parameters, node.arguments, strict=True):
            if parameter.direction != "in":
                if parameter.name not in inner:
                    raise Invalid(f"{parameter.name} was not written")
                self.store(argument, frame, copied(inner[parameter.name]))
        if node.object is not None and function.mutating:
            self.store(node.object, frame, {key: copied(inner[key]) for key in held})
        return mapped(self.tape.detach, result) if node.no_diff else result


__all__ = ["Interpreter", "Scalar", "copied", "leaves", "mapped", "zero"]
