"""Writes random expressions of what is in scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from draws import Draws
from nodes import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Binary,
    Builtin,
    Call,
    Expression,
    Field,
    Function,
    Index,
    InitializerList,
    Literal,
    Matrix,
    Name,
    Program,
    Struct,
    Swizzle,
    Tensor,
    Ternary,
    Type,
    Unary,
    Vector,
)


@dataclass(frozen=True)
class Features:
    """Which shapes are written that are known to be faulty, or were."""

    while_exit: bool = True
    while_continue: bool = True
    while_nested: bool = True
    smaller_outer_limits: bool = True
    constants: float = 0.1  # the chance that an assignment is one, or that an inout parameter ends as one
    readers: float = 0.3  # the chance that a loop that reads what a call has written follows it
    indices: bool = True  # run-time indices of what is no tensor


@dataclass
class Variable:
    """Integers lie from low to high."""

    name: str
    type: Type
    writable: bool = False
    low: int = 0
    high: int = 0


@dataclass
class Scope:
    variables: list[Variable] = field(default_factory=list)

    def add(self, variable: Variable) -> None:
        self.variables.append(variable)


class Expressions:
    """Expressions of a scope's variables and a program's functions so far."""

    def __init__(self, draws: Draws, scope: Scope, program: Program, features: Features) -> None:
        self.draws = draws
        self.scope = scope
        self.program = program
        self.features = features
        self.differentiable = True

    # ---- Places ----

    def path(self, base: Expression, kind: Type, wanted: Type, writes: bool = False) -> Expression | None:  # noqa: PLR0911
        """Some part of `base` that has the type wanted."""
        if kind == wanted:
            return base
        if isinstance(kind, Vector):
            if wanted == FLOAT:
                return Swizzle(FLOAT, base, self.draws.pick("xyzw"[: kind.length]))
            if isinstance(wanted, Vector) and (not writes or wanted.length <= kind.length):
                return Swizzle(wanted, base, self.letters(kind.length, wanted.length, distinct=writes))
            return None
        if isinstance(kind, Matrix):
            row = Index(Vector(kind.columns), base, [self.index(kind.rows)])
            return self.path(row, Vector(kind.columns), wanted, writes)
        if isinstance(kind, Array):
            item = Index(kind.element, base, [self.index(kind.length)])
            return self.path(item, kind.element, wanted, writes)
        if isinstance(kind, Struct):
            found = [
                part
                for name, inner in kind.fields
                if (part := self.path(Field(inner, base, name), inner, wanted, writes)) is not None
            ]
            return self.draws.pick(found) if found else None
        if isinstance(kind, Tensor) and not writes:
            return self.path(self.element(base, kind), kind.element, wanted)
        return None

    def index(self, extent: int) -> Expression:
        if not self.features.indices:
            return Literal(INT, self.draws.integer(0, extent - 1))
        return self.integer(0, extent - 1)

    def letters(self, length: int, count: int, distinct: bool) -> str:
        chosen = ""
        left = "xyzw"[:length]
        for _ in range(count):
            letter = self.draws.pick(left)
            chosen += letter
            left = left.replace(letter, "") if distinct else left
        return chosen

    def element(self, base: Expression, tensor: Tensor) -> Index:
        return Index(tensor.element, base, [self.integer(0, extent - 1) for extent in tensor.shape])

    def source(self, wanted: Type) -> Expression | None:
        """Something in scope; later variables are likelier."""
        found: list[Expression] = []
        for age, variable in enumerate(self.scope.variables):
            part = self.path(Name(variable.type, variable.name), variable.type, wanted)
            if part is not None:
                found += [part] * (2 if age * 2 >= len(self.scope.variables) else 1)
        return self.draws.pick(found) if found else None

    def target(self, wanted: Type | None) -> Expression | None:
        """Something in scope that can be written; of any type when none is wanted."""
        found: list[Expression] = []
        for variable in self.scope.variables:
            if variable.writable and variable.type not in {BOOL, INT}:
                goal = variable.type if wanted is None else wanted
                part = self.path(Name(variable.type, variable.name), variable.type, goal, writes=True)
                found += [] if part is None else [part]
        return self.draws.pick(found) if found else None

    def variable_of(self, kind: Type) -> Expression | None:
        found = [Name(kind, variable.name) for variable in self.scope.variables if variable.type == kind]
        return self.draws.pick(found) if found else None

    @staticmethod
    def root(node: Expression | None) -> str:
        while isinstance(node, Field | Index | Swizzle):
            node = node.base
        return node.name if isinstance(node, Name) else ""

    # ---- Integers and conditions ----

    def integer(self, low: int, high: int) -> Expression:
        """One that lies from low to high."""
        counters = [v for v in self.scope.variables if v.type == INT]
        fitting = [v for v in counters if low <= v.low and v.high <= high]
        if fitting and self.draws.chance(0.7):
            return Name(INT, self.draws.pick(fitting).name)
        counters = [v for v in counters if v.low >= 0]
        if counters and low == 0 and self.draws.chance(0.6):
            counter = Name(INT, self.draws.pick(counters).name)
            shifted: Expression = counter
            if self.draws.chance(0.3):
                shifted = Binary(INT, "+", counter, Literal(INT, 1))
            if self.draws.chance(0.2):
                return Builtin(INT, "min", [shifted, Literal(INT, high)])
            return Binary(INT, "%", shifted, Literal(INT, high + 1))
        return Literal(INT, self.draws.integer(low, high))

    def comparison(self, depth: int) -> Expression:
        """Of floats."""
        left = self.of(FLOAT, depth)
        right: Expression = Literal(FLOAT, self.draws.number(-0.8, 1.2))
        if self.draws.chance(0.3):
            right = self.of(FLOAT, depth - 1)
        return Binary(BOOL, self.draws.pick(["<", ">", "<", ">", "<=", ">="]), left, right)

    def condition(self, depth: int) -> Expression:
        booleans = [v for v in self.scope.variables if v.type == BOOL]
        integers = [v for v in self.scope.variables if v.type == INT]
        chosen = self.draws.weighted(
            {
                "floats": 5,
                "integers": 3 if integers else 0,
                "boolean": 3 if booleans else 0,
                "both": 1 if depth > 1 else 0,
                "not": 0.4,
            }
        )
        if chosen == "integers":
            variable = self.draws.pick(integers)
            left: Expression = Name(INT, variable.name)
            if variable.low >= 0 and self.draws.chance(0.4):
                two = Literal(INT, 2)
                return Binary(BOOL, "==", Binary(INT, "%", left, two), Literal(INT, self.draws.integer(0, 1)))
            operator = self.draws.pick(["<", ">", "==", "!=", ">="])
            return Binary(BOOL, operator, left, Literal(INT, self.draws.integer(variable.low, variable.high)))
        if chosen == "boolean":
            return Name(BOOL, self.draws.pick(booleans).name)
        if chosen == "both":
            operator = self.draws.pick(["&&", "||"])
            return Binary(BOOL, operator, self.condition(depth - 1), self.condition(depth - 1))
        if chosen == "not":
            return Unary(BOOL, "!", self.comparison(depth - 1))
        return self.comparison(depth - 1)

    # ---- Values ----

    def of(self, kind: Type, depth: int) -> Expression:  # noqa: PLR0911
        if kind == FLOAT:
            return self.float(depth)
        if kind == INT:
            return self.integer(0, 3)
        if kind == BOOL:
            return self.condition(2)
        if isinstance(kind, Vector):
            return self.vector(kind, depth)
        if isinstance(kind, Matrix):
            return self.matrix(kind, depth)
        if isinstance(kind, Array):
            return InitializerList(kind, [self.of(kind.element, depth - 1) for _ in range(kind.length)])
        if isinstance(kind, Struct):
            return InitializerList(kind, [self.of(inner, depth - 1) for _, inner in kind.fields])
        raise AssertionError(kind)

    def leaf(self) -> Expression:
        if self.draws.chance(0.88):
            found = self.source(FLOAT)
            if found is not None:
                return found
        counters = [v for v in self.scope.variables if v.type == INT]
        if counters and self.draws.chance(0.3):
            return Builtin(FLOAT, "float", [Name(INT, self.draws.pick(counters).name)])
        return Literal(FLOAT, self.draws.number(-1, 1.5))

    def float(self, depth: int) -> Expression:  # noqa: PLR0911
        if depth <= 0 or self.draws.chance(0.15):
            return self.leaf()
        chosen = self.draws.weighted(
            {
                "leaf": 1.0,
                "operator": 4,
                "quotient": 0.6,
                "function": 3,
                "bend": 1.2,
                "vector": 1.2,
                "ternary": 0.7,
                "call": 4.0,
                "detach": 0.15,
                "negative": 0.3,
            }
        )
        inner = depth - 1
        if chosen == "operator":
            left, right = self.float(inner), self.float(inner)
            return Binary(FLOAT, self.draws.pick(["+", "-", "*", "*"]), left, right)
        if chosen == "quotient":
            divisor = self.float(inner)
            squared = Binary(FLOAT, "*", divisor, divisor)
            return Binary(FLOAT, "/", self.float(inner), Binary(FLOAT, "+", Literal(FLOAT, 1.0), squared))
        if chosen == "function":
            return self.smooth(inner)
        if chosen == "bend":
            return self.bend(inner)
        if chosen == "vector":
            vector = Vector(self.draws.integer(2, 3))
            name = self.draws.pick(["dot", "dot", "length", "distance"])
            count = 1 if name == "length" else 2
            return Builtin(FLOAT, name, [self.vector(vector, inner) for _ in range(count)])
        if chosen == "ternary":
            return Ternary(FLOAT, self.condition(1), self.float(inner), self.float(inner))
        if chosen == "detach":
            return Builtin(FLOAT, "detach", [self.float(inner)])
        if chosen == "negative":
            return Unary(FLOAT, "-", self.float(inner))
        if chosen == "call":
            call = self.reading_call(FLOAT, inner)
            if call is not None:
                return call
        return self.leaf()

    def positive(self, depth: int) -> Expression:
        """At least 0.5."""
        inner = self.float(depth)
        if self.draws.chance(0.5):
            return Binary(
                FLOAT, "+", Literal(FLOAT, self.draws.number(0.5, 1.5)), Builtin(FLOAT, "abs", [inner])
            )
        return Binary(FLOAT, "+", Literal(FLOAT, 1.0), Binary(FLOAT, "*", inner, inner))

    def smooth(self, depth: int) -> Expression:
        name = self.draws.pick(
            ["sin", "cos", "tanh", "atan", "exp", "log", "sqrt", "rsqrt", "pow", "lerp", "mad", "atan2"]
        )
        if name == "exp":
            return Builtin(FLOAT, name, [Builtin(FLOAT, "sin", [self.float(depth)])])
        if name in {"log", "sqrt", "rsqrt"}:
            return Builtin(FLOAT, name, [self.positive(depth)])
        if name == "pow":
            power = Literal(FLOAT, self.draws.number(0.4, 1.8)) if self.draws.chance(0.6) else self.leaf()
            return Builtin(FLOAT, name, [self.positive(depth), power])
        if name == "atan2":
            return Builtin(FLOAT, name, [self.float(depth), self.positive(depth)])
        count = 3 if name in {"lerp", "mad"} else 1
        return Builtin(FLOAT, name, [self.float(depth) for _ in range(count)])

    def bend(self, depth: int) -> Expression:
        name = self.draws.pick(["min", "max", "abs", "clamp", "saturate", "frac"])
        inner = self.float(depth)
        if name in {"min", "max"}:
            return Builtin(FLOAT, name, [inner, self.float(depth)])
        low, high = (Literal(FLOAT, number) for number in (-0.7, 0.9))
        if name == "clamp":
            return Builtin(FLOAT, name, [inner, low, high])
        return Builtin(FLOAT, name, [inner])

    def vector(self, kind: Vector, depth: int) -> Expression:  # noqa: PLR0911
        chosen = self.draws.weighted(
            {
                "source": 3,
                "parts": 1.5,
                "splat": 0.5,
                "operator": 2 if depth > 0 else 0,
                "scaled": 2.5 if depth > 0 else 0,
                "function": 1.5 if depth > 0 else 0,
                "matrix": 0.8 if depth > 0 else 0,
                "ternary": 0.4 if depth > 0 else 0,
                "call": 2.5 if depth > 0 else 0,
            }
        )
        inner = depth - 1
        name = f"float{kind.length}"
        if chosen == "operator":
            operator = self.draws.pick(["+", "-", "*"])
            return Binary(kind, operator, self.vector(kind, inner), self.vector(kind, inner))
        if chosen == "scaled":
            vector, scalar = self.vector(kind, inner), self.float(inner)
            operator = self.draws.pick(["*", "*", "*", "+", "-", "/"])
            if operator == "/":
                return Binary(kind, "/", vector, self.positive(inner))
            if self.draws.chance(0.5):
                return Binary(kind, operator, scalar, vector)
            return Binary(kind, operator, vector, scalar)
        if chosen == "function":
            return self.of_vectors(kind, inner)
        if chosen == "matrix":
            matrix = self.source(Matrix(kind.length, kind.length))
            if matrix is not None:
                pair = [matrix, self.vector(kind, inner)]
                return Builtin(kind, "mul", pair if self.draws.chance(0.6) else pair[::-1])
        if chosen == "ternary":
            return Ternary(kind, self.condition(1), self.vector(kind, inner), self.vector(kind, inner))
        if chosen == "call":
            call = self.reading_call(kind, inner)
            if call is not None:
                return call
        if chosen == "splat":
            return Builtin(kind, name, [self.float(inner)])
        found = self.source(kind) if chosen != "parts" else None
        if found is not None:
            return found
        return Builtin(kind, name, [self.float(inner) for _ in range(kind.length)])

    def of_vectors(self, kind: Vector, depth: int) -> Expression:
        name = self.draws.pick(
            ["sin", "cos", "tanh", "lerp", "max", "abs", "normalize", "cross", "reflect", "clamp"]
        )
        first = self.vector(kind, depth)
        if name == "cross" and kind.length != 3:
            name = "max"
        if name in {"max", "cross", "reflect"}:
            return Builtin(kind, name, [first, self.vector(kind, depth)])
        if name == "lerp":
            return Builtin(kind, name, [first, self.vector(kind, depth), self.vector(kind, depth - 1)])
        if name == "clamp":
            bounds: list[Expression] = [
                Builtin(kind, f"float{kind.length}", [Literal(FLOAT, number)]) for number in (-0.7, 0.9)
            ]
            return Builtin(kind, name, [first, *bounds])
        return Builtin(kind, name, [first])

    def matrix(self, kind: Matrix, depth: int) -> Expression:
        chosen = self.draws.pick(["source", "source", "parts", "sum", "scaled", "transpose", "product"])
        inner = depth - 1
        if depth > 0 and chosen == "sum":
            return Binary(kind, self.draws.pick("+-*"), self.matrix(kind, inner), self.matrix(kind, inner))
        if depth > 0 and chosen == "scaled":
            pair = [self.matrix(kind, inner), self.float(inner)]
            pair = pair if self.draws.chance(0.5) else pair[::-1]
            return Binary(kind, "*", *pair)
        if depth > 0 and chosen == "transpose" and kind.rows == kind.columns:
            return Builtin(kind, "transpose", [self.matrix(kind, inner)])
        if depth > 0 and chosen == "product" and kind.rows == kind.columns:
            return Builtin(kind, "mul", [self.matrix(kind, inner), self.matrix(kind, inner)])
        found = self.source(kind)
        if found is not None and chosen != "parts":
            return found
        count = kind.rows * kind.columns
        return Builtin(kind, f"float{kind.rows}x{kind.columns}", [self.leaf() for _ in range(count)])

    # ---- Calls ----

    def argument(self, kind: Type, depth: int) -> Expression | None:
        """For a parameter that is only read."""
        if isinstance(kind, Tensor | Struct | Array):
            return self.source(kind)
        return self.of(kind, depth)

    def object_of(self, function: Function) -> Expression | None:
        assert function.struct is not None
        return self.target(function.struct) if function.mutating else self.source(function.struct)

    def indices(self, function: Function) -> list[Expression] | None:
        """An accessor's indices lie within its tensor."""
        tensor = function.parameters[0].type
        if not function.name.startswith("at_") or not isinstance(tensor, Tensor):
            return None
        return [self.integer(0, extent - 1) for extent in tensor.shape]

    def reading_call(self, result: Type, depth: int) -> Expression | None:
        """A call that writes nothing."""
        fitting = [
            function
            for function in self.program.functions
            if function.result == result
            and not function.mutating
            and all(parameter.direction == "in" for parameter in function.parameters)
        ]
        if not fitting:
            return None
        function = self.draws.pick(fitting)
        indices = self.indices(function)
        found = [self.argument(parameter.type, depth) for parameter in function.parameters]
        if indices is not None:
            found[1:] = indices
        arguments = [argument for argument in found if argument is not None]
        held = self.object_of(function) if function.struct is not None else None
        if len(arguments) != len(found) or (function.struct is not None and held is None):
            return None
        return Call(result, function.name, arguments, held, no_diff=not function.differentiable)

    def writing_call(self, declared: Callable[[Type], Expression]) -> Call | None:
        """A call that writes its arguments, or its object."""
        fitting = [
            function
            for function in self.program.functions
            if function.mutating or any(parameter.direction != "in" for parameter in function.parameters)
        ]
        if not fitting:
            return None
        function = self.draws.pick(fitting)
        held = self.object_of(function) if function.struct is not None else None
        if function.struct is not None and held is None:
            return None
        taken = {self.root(held)}
        arguments: list[Expression] = []
        for parameter in function.parameters:
            argument = None
            if parameter.direction == "in":
                argument = self.argument(parameter.type, 1)
            elif parameter.direction == "inout" or self.draws.chance(0.5):
                argument = self.target(parameter.type)
            if parameter.direction != "in":
                if argument is None or self.root(argument) in taken or self.is_swizzle(argument):
                    argument = None
                    if parameter.direction == "out":
                        argument = declared(parameter.type)
                taken.add(self.root(argument))
            if argument is None:
                return None
            arguments.append(argument)
        return Call(function.result, function.name, arguments, held)

    @staticmethod
    def is_swizzle(node: Expression) -> bool:
        return isinstance(node, Swizzle) and len(node.components) > 1
