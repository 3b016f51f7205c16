"""The programs that the fuzzer writes, as trees: types, expressions, statements and functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class Scalar:
    """`float`, `int` or `bool`."""

    name: str


@dataclass(frozen=True)
class Vector:
    """`float2` to `float4`."""

    length: int


@dataclass(frozen=True)
class Matrix:
    """`float2x3`: two rows of three."""

    rows: int
    columns: int


@dataclass(frozen=True)
class Array:
    """`float name[4]`, also of vectors and structs."""

    element: Type
    length: int


@dataclass(frozen=True)
class Struct:
    """A struct that is IDifferentiable."""

    name: str
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class Tensor:
    """`IDiffTensor<float, rank>`, with the extents that the host gives it."""

    element: Type
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Void:
    """What a function that only writes its parameters returns."""


Type = Scalar | Vector | Matrix | Array | Struct | Tensor | Void

FLOAT = Scalar("float")
INT = Scalar("int")
BOOL = Scalar("bool")
VOID = Void()


def parts(kind: Type) -> int:
    """The number of floats in a value of the type."""
    if isinstance(kind, Scalar):
        return 1 if kind == FLOAT else 0
    if isinstance(kind, Vector):
        return kind.length
    if isinstance(kind, Matrix):
        return kind.rows * kind.columns
    if isinstance(kind, Array):
        return kind.length * parts(kind.element)
    if isinstance(kind, Struct):
        return sum(parts(inner) for _, inner in kind.fields)
    return 0


@dataclass
class Node:
    """Any part of a tree."""

    def children(self) -> Iterator[Node]:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, list):
                yield from (item for item in value if isinstance(item, Node))

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children():
            yield from child.walk()


# ---- Expressions ----


@dataclass
class Expression(Node):
    type: Type


@dataclass
class Literal(Expression):
    value: float | int | bool


@dataclass
class Name(Expression):
    name: str


@dataclass
class Unary(Expression):
    operator: str
    operand: Expression


@dataclass
class Binary(Expression):
    operator: str
    left: Expression
    right: Expression


@dataclass
class Ternary(Expression):
    condition: Expression
    left: Expression
    right: Expression


@dataclass
class Builtin(Expression):
    """A call of one of Slang's own functions, a cast, or a constructor such as `float3(…)`."""

    name: str
    arguments: list[Expression]


@dataclass
class Call(Expression):
    """A call of one of the program's functions; of a method when there is an object."""

    function: str
    arguments: list[Expression]
    object: Expression | None = None
    no_diff: bool = False


@dataclass
class Field(Expression):
    base: Expression
    name: str


@dataclass
class Index(Expression):
    """An array's element, a matrix's row, a vector's component or a tensor's element."""

    base: Expression
    indices: list[Expression]


@dataclass
class Swizzle(Expression):
    base: Expression
    components: str


@dataclass
class InitializerList(Expression):
    """`{a, b}`, of an array or a struct."""

    items: list[Expression]


# ---- Statements ----


@dataclass
class Statement(Node):
    pass


@dataclass
class Block(Statement):
    statements: list[Statement]


@dataclass
class Declaration(Statement):
    """`float x = …;`, or with `keyword` for the type: `var x = …;`."""

    name: str
    type: Type
    value: Expression | None
    keyword: str = ""


@dataclass
class Assignment(Statement):
    target: Expression
    operator: str
    value: Expression


@dataclass
class Evaluation(Statement):
    """A call for what it writes."""

    call: Call


@dataclass
class If(Statement):
    condition: Expression
    then: Block
    otherwise: Block | None
    bare: bool = False  # without braces, where the branches are single statements


@dataclass
class Loop(Statement):
    """`attribute` is `MaxIters(n)` or `ForceUnroll`; form is `for`, `while` or `do`."""

    form: str
    attribute: str
    start: Statement | None
    condition: Expression | None
    step: Statement | None
    body: Block
    bare: bool = False


@dataclass
class Case(Node):
    """`default` when there is no value."""

    value: int | None
    body: Block


@dataclass
class Switch(Statement):
    selector: Expression
    cases: list[Case]


@dataclass
class Break(Statement):
    pass


@dataclass
class Continue(Statement):
    pass


@dataclass
class Return(Statement):
    value: Expression | None


# ---- Functions ----


@dataclass
class Parameter:
    """`direction` is "in", "out" or "inout"; `kind` is how the host passes it: "value" or "tensor[1]"."""

    name: str
    type: Type
    direction: str = "in"
    no_diff: bool = False
    kind: str = ""


@dataclass
class Function(Node):
    name: str
    result: Type
    parameters: list[Parameter]
    body: Block
    struct: Struct | None = None
    mutating: bool = False
    differentiable: bool = True


@dataclass
class Program(Node):
    """The last function is the one that the host calls."""

    number: int
    structs: list[Struct] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    @property
    def entry(self) -> Function:
        return self.functions[-1]

    def find(self, name: str) -> Function:
        return next(function for function in self.functions if function.name == name)
