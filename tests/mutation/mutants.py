"""Finds places in C++ sources where a small change of the program makes another one: its mutants.

libclang says what an operator's operands are; the texts are changed where they stand, as
`(kf_mutant(7) ? (a <= b) : (a < b))`, so that one build holds all of them (see kf_mutant.h).
"""

from pathlib import Path
from typing import Any, NamedTuple

from clang import cindex

K = cindex.CursorKind
HEADER = Path(__file__).parent / "kf_mutant.h"


class Mutant(NamedTuple):
    """Bytes [begin, end) of `file`, relative to the repository's root, and what stands there in its place.

    `text` has the marker %d where the mutant's number goes.
    """

    file: str
    line: int
    begin: int
    end: int
    kind: str
    original: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


OTHERS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "%": "/",
    "|": "&",
    "&": "|",
    "<<": ">>",
    ">>": "<<",
}
KINDS = {**dict.fromkeys(("<", "<=", ">", ">="), "boundary"), **dict.fromkeys(("&&", "||"), "logic")}


ARITHMETIC = range(cindex.TypeKind.BOOL.value, cindex.TypeKind.LONGDOUBLE.value + 1)


def is_arithmetic(cursor: Any) -> bool:
    return cursor.type.get_canonical().kind.value in ARITHMETIC


class Finder:
    """The mutants of one source."""

    def __init__(self, root: Path, file: Path, arguments: list[str]) -> None:
        self.source = file.read_bytes()
        self.name = str(file.relative_to(root))
        self.path = str(file)
        self.unit = cindex.Index.create().parse(str(file), args=arguments)
        self.found: list[Mutant] = []

    def find(self) -> list[Mutant]:
        for cursor in self.unit.cursor.get_children():
            self.declarations(cursor)
        return self.found

    def declarations(self, cursor: Any) -> None:
        if cursor.location.file is None or cursor.location.file.name != self.path:
            return
        if cursor.kind in (K.NAMESPACE, K.CLASS_DECL, K.STRUCT_DECL, K.LINKAGE_SPEC, K.CLASS_TEMPLATE):
            for child in cursor.get_children():
                self.declarations(child)
        elif cursor.kind in (K.CXX_METHOD, K.FUNCTION_DECL, K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE):
            body = [child for child in cursor.get_children() if child.kind == K.COMPOUND_STMT]
            head = self.text(cursor.extent.start.offset, body[0].extent.start.offset) if body else ""
            if body and "constexpr" not in head and "consteval" not in head:
                self.statement(body[0])

    def text(self, begin: int, end: int) -> str:
        return self.source[begin:end].decode()

    def written(self, cursor: Any) -> str:
        return self.text(cursor.extent.start.offset, cursor.extent.end.offset)

    def add(self, kind: str, cursor: Any, text: str) -> None:
        original = self.written(cursor)
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        # A macro's text is somewhere else, and a directive inside is no part of an expression.
        if begin >= end or "\n#" in original or not original.strip():
            return
        line = cursor.extent.start.line
        self.found.append(Mutant(self.name, line, begin, end, kind, original, text))

    def statement(self, cursor: Any) -> None:
        children = list(cursor.get_children())
        if cursor.kind == K.COMPOUND_STMT:
            for child in children:
                self.removal(child)
        elif cursor.kind == K.IF_STMT and children and not self.written(cursor).startswith("if constexpr"):
            self.condition(cursor, children[0])
        for child in children:
            if child.kind == K.DECL_STMT and "constexpr" in self.written(child):
                continue
            if child.kind.is_expression():
                self.expression(child)
            elif child.kind not in (K.CASE_STMT, K.STATIC_ASSERT):
                self.statement(child)
            elif child.kind == K.CASE_STMT:
                for part in list(child.get_children())[1:]:
                    self.expression(part) if part.kind.is_expression() else self.statement(part)

    def removal(self, child: Any) -> None:
        """A call or an assignment that is a statement of its own."""
        wanted = (K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.UNARY_OPERATOR)
        original = self.written(child)
        # A macro may hold several statements.
        if original.partition("(")[0].isupper():
            return
        is_cleaned_up = child.kind == K.UNEXPOSED_EXPR and original.endswith(")")
        if child.kind in wanted or is_cleaned_up:
            self.add("removal", child, f"if (!kf_mutant(%d)) {original.replace('%', '%%')}")

    def condition(self, cursor: Any, condition: Any) -> None:
        between = self.text(cursor.extent.start.offset, condition.extent.start.offset)
        if condition.kind.is_expression() and between.replace(" ", "") == "if(":
            original = self.written(condition).replace("%", "%%")
            self.add("condition", condition, f"(kf_mutant(%d) != static_cast<bool>({original}))")

    def expression(self, cursor: Any) -> None:
        children = list(cursor.get_children())
        if cursor.kind == K.BINARY_OPERATOR and len(children) == 2:
            self.binary(cursor, *children)
        elif cursor.kind == K.INTEGER_LITERAL:
            original = self.written(cursor)
            self.add("constant", cursor, f"(kf_mutant(%d) ? ({original} + 1) : {original})")
        elif cursor.kind == K.LAMBDA_EXPR:
            for child in children:
                if child.kind == K.COMPOUND_STMT:
                    self.statement(child)
            return
        if cursor.kind == K.INIT_LIST_EXPR:
            return
        for child in children:
            self.expression(child) if child.kind.is_expression() else self.statement(child)

    def binary(self, cursor: Any, left: Any, right: Any) -> None:
        operator = self.text(left.extent.end.offset, right.extent.start.offset).strip()
        if operator not in OTHERS or not (is_arithmetic(left) and is_arithmetic(right)):
            return
        first, second = self.written(left).replace("%", "%%"), self.written(right).replace("%", "%%")
        if "\n#" in first + second:
            return
        mutated = f"{first} {OTHERS[operator]} {second}"
        original = f"{first} {operator.replace('%', '%%')} {second}"
        kind = KINDS.get(operator, "equality" if operator in ("==", "!=") else "arithmetic")
        self.add(kind, cursor, f"(kf_mutant(%d) ? ({mutated}) : ({original}))")


def with_mutants(text: bytes, mutants: list[tuple[Mutant, int]]) -> bytes:
    """The source's text with them, by their numbers; none may stand inside another."""
    if not mutants:
        return text
    for mutant, number in sorted(mutants, reverse=True):
        text = text[: mutant.begin] + (mutant.text % number).encode() + text[mutant.end :]
    return f'#include "{HEADER}"\n#line 1\n'.encode() + text
