"""Writes random differentiable programs: signatures, statements, loops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from draws import Draws
from expressions import Expressions, Features, Scope, Variable
from nodes import (
    BOOL,
    FLOAT,
    INT,
    VOID,
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
    Function,
    If,
    InitializerList,
    Literal,
    Loop,
    Matrix,
    Name,
    Parameter,
    Program,
    Return,
    Statement,
    Struct,
    Switch,
    Tensor,
    Type,
    Vector,
)

DEEPEST_LOOP = 3

#: What is written: everything.
FEATURES = Features()


@dataclass
class Surroundings:
    """Where a statement is going to stand."""

    result: Type
    loops: int = 0
    form: str = ""  # of the innermost loop
    in_switch: bool = False
    conditions: int = 0
    limits: list[int] = field(default_factory=list)  # [MaxIters] of the loops around


class Writer:
    """Writes one program."""

    def __init__(self, seed: int, number: int, features: Features) -> None:
        self.draws = Draws(f"{seed}-{number}")
        self.number = number
        self.features = features
        self.program = Program(number)
        self.names = 0

    # ---- The program ----

    def write(self) -> Program:
        for index in range(self.draws.pick([0, 1])):
            self.program.structs.append(self.struct(index))
        parameters = self.entry_parameters()
        tensors: list[Type] = [entry.type for entry in parameters if isinstance(entry.type, Tensor)]
        if tensors and self.draws.chance(0.7):
            self.program.functions.append(self.accessor(self.draws.pick(tensors)))
        for struct in self.program.structs:
            for index in range(self.draws.pick([1, 1, 2])):
                self.helper(f"m{index}_{struct.name}", tensors, struct)
        for index in range(self.draws.pick([1, 1, 2])):
            self.helper(f"h{index}_{self.number}", tensors, None)
        results: list[Type] = [FLOAT, FLOAT, FLOAT, Vector(3), Vector(2)]
        result = self.draws.pick(results)
        if self.program.structs and self.draws.chance(0.15):
            result = self.program.structs[0]
        if any(entry.direction != "in" for entry in parameters) and self.draws.chance(0.3):
            result = VOID
        entry = Function(f"f{self.number}", result, parameters, Block([]))
        self.fill(entry, self.draws.integer(1, 3))
        self.program.functions.append(entry)
        self.program.functions = used(self.program)
        return self.program

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def struct(self, index: int) -> Struct:
        kinds: list[Type] = [FLOAT, FLOAT, Vector(2), Vector(3), Array(FLOAT, 3), Matrix(2, 2)]
        kinds += self.program.structs
        members = tuple(
            (f"{'abcd'[i]}{index}", self.draws.pick(kinds)) for i in range(self.draws.integer(1, 3))
        )
        return Struct(f"S{self.number}_{index}", members)

    def small_type(self, with_int: bool = False) -> Type:
        kinds: list[Type] = [FLOAT, FLOAT, FLOAT, FLOAT, FLOAT]
        kinds += [Vector(2), Vector(3), Vector(3), Vector(4), Matrix(2, 2), Matrix(3, 3)]
        kinds += [Array(FLOAT, self.draws.integer(2, 4)), Array(Vector(3), 2), *self.program.structs]
        kinds += self.program.structs
        return self.draws.pick(kinds + [INT, INT] * with_int)

    def entry_parameters(self) -> list[Parameter]:
        parameters = [Parameter("p0", FLOAT, kind="tensor[1]")]
        for index in range(self.draws.integer(1, 3)):
            chosen = self.draws.weighted({"plain": 6, "tensor": 3})
            if chosen == "tensor":
                rank = self.draws.pick([1, 1, 2, 2])
                shape = tuple(self.draws.integer(2, 4) for _ in range(rank))
                elements: list[Type] = [FLOAT, FLOAT, FLOAT, Vector(2), Vector(3)]
                element = self.draws.pick(elements)
                parameters.append(Parameter(f"p{index + 1}", Tensor(element, shape), kind=f"tensor[{rank}]"))
                continue
            kind = self.small_type(with_int=True)
            parameter = Parameter(f"p{index + 1}", kind, kind="tensor[1]")
            if kind != INT and self.draws.chance(0.2):
                parameter.direction = self.draws.pick(["out", "inout", "inout"])
            elif self.draws.chance(0.08):
                parameter.no_diff = kind != INT
            elif self.draws.chance(0.25):
                parameter.kind = "value"
            parameters.append(parameter)
        return parameters

    def accessor(self, tensor: Type) -> Function:
        """`float at(IDiffTensor<float, 2> t, int r, int c) { return t[r, c]; }`."""
        assert isinstance(tensor, Tensor)
        parameters = [Parameter("t", tensor)]
        scope = Scope([Variable("t", tensor)])
        for axis, extent in enumerate(tensor.shape):
            parameters.append(Parameter("rc"[axis], INT))
            scope.add(Variable("rc"[axis], INT, low=0, high=extent - 1))
        element = Expressions(self.draws, scope, self.program, self.features).element(
            Name(tensor, "t"), tensor
        )
        return Function(f"at_{self.number}", tensor.element, parameters, Block([Return(element)]))

    def helper(self, name: str, tensors: list[Type], struct: Struct | None) -> None:
        """A function that later ones call."""
        mutating = struct is not None and self.draws.chance(0.5)
        results: list[Type] = [FLOAT, FLOAT, FLOAT, Vector(2), Vector(3), VOID, *self.program.structs]
        result = self.draws.pick(results)
        parameters: list[Parameter] = []
        for index in range(self.draws.integer(1, 3)):
            chosen: Type = self.small_type(with_int=True)
            if tensors and self.draws.chance(0.3):
                chosen = self.draws.pick(tensors)
            parameter = Parameter(f"q{index}", chosen)
            if chosen != INT and not isinstance(chosen, Tensor):
                parameter.direction = self.draws.pick(["in", "in", "in", "in", "inout", "out"])
                parameter.no_diff = parameter.direction == "in" and self.draws.chance(0.05)
            parameters.append(parameter)
        writes = any(entry.direction != "in" for entry in parameters)
        if result == VOID and not writes and not mutating:
            result = FLOAT
        plain = not writes and struct is None and isinstance(result, type(FLOAT) | Vector)
        differentiable = not (plain and self.draws.chance(0.06))
        function = Function(name, result, parameters, Block([]), struct, mutating, differentiable)
        if not differentiable and any(isinstance(entry.type, Tensor) for entry in parameters):
            function.differentiable = True
        self.fill(function, self.draws.integer(0, 2))
        self.program.functions.append(function)

    def fill(self, function: Function, statements: int) -> None:
        """Writes the body."""
        scope = Scope([])
        body = function.body.statements
        if function.struct is not None:
            for name, kind in function.struct.fields:
                scope.add(Variable(name, kind, writable=function.mutating))
        for parameter in function.parameters:
            if parameter.direction == "out":
                continue
            writable = not isinstance(parameter.type, Tensor) and parameter.type != INT
            writable = writable and (parameter.direction != "in" or self.draws.chance(0.3))
            writable = writable and not parameter.no_diff
            scope.add(Variable(parameter.name, parameter.type, writable, 0, 4))
        expressions = Expressions(self.draws, scope, self.program, self.features)
        for parameter in function.parameters:
            if parameter.direction == "out":
                body.append(
                    Assignment(Name(parameter.type, parameter.name), "=", expressions.of(parameter.type, 2))
                    if not isinstance(parameter.type, Struct | Array)
                    else Assignment(
                        Name(parameter.type, parameter.name),
                        "=",
                        self.made(body, parameter.type, expressions),
                    )
                )
                scope.add(Variable(parameter.name, parameter.type, writable=True))
        expressions.differentiable = function.differentiable
        surroundings = Surroundings(function.result)
        if function.name == f"f{self.number}":
            # What the programs are for.
            body += self.call(scope, surroundings)
            body += self.loop(scope, surroundings) if self.draws.chance(0.7) else []
        body += self.statements(statements, scope, surroundings)
        for parameter in function.parameters:
            if parameter.direction == "inout" and self.draws.chance(self.features.constants):
                body += self.constant(Name(parameter.type, parameter.name))
        if function.result != VOID:
            body.append(self.last(function.result, scope, body))

    def constant(self, target: Expression) -> list[Statement]:
        """Gives a variable a value that depends on nothing."""
        before: list[Statement] = []

        def value(kind: Type) -> Expression:
            if isinstance(kind, Vector):
                return Builtin(kind, f"float{kind.length}", [value(FLOAT) for _ in range(kind.length)])
            if isinstance(kind, Matrix):
                numbers = [value(FLOAT) for _ in range(kind.rows * kind.columns)]
                return Builtin(kind, f"float{kind.rows}x{kind.columns}", numbers)
            if isinstance(kind, Array | Struct):
                inner = (
                    [kind.element] * kind.length
                    if isinstance(kind, Array)
                    else [one for _, one in kind.fields]
                )
                return InitializerList(kind, [value(one) for one in inner])
            return Literal(FLOAT, self.draws.number(0, 1))

        found = value(target.type)
        if isinstance(found, InitializerList):
            name = self.name("v")
            before.append(Declaration(name, target.type, found))
            found = Name(target.type, name)
        return [*before, Assignment(target, "=", found)]

    def made(self, body: list[Statement], kind: Type, expressions: Expressions) -> Expression:
        """A struct or array in a variable of its own."""
        name = self.name("v")
        body.append(Declaration(name, kind, expressions.of(kind, 1)))
        return Name(kind, name)

    def last(self, result: Type, scope: Scope, body: list[Statement]) -> Return:
        """Returns what depends on several variables."""
        expressions = Expressions(self.draws, scope, self.program, self.features)
        if isinstance(result, Struct):
            return Return(self.made(body, result, expressions))
        value = expressions.of(result, 1)
        for variable in scope.variables[-2:]:
            term = expressions.path(Name(variable.type, variable.name), variable.type, result)
            if term is not None:
                value = Binary(
                    result, "+", value, Binary(result, "*", Literal(FLOAT, self.draws.number(0.3, 1)), term)
                )
        return Return(value)

    # ---- Statements ----

    def statements(self, count: int, scope: Scope, around: Surroundings) -> list[Statement]:
        """A block's, of about `count`; variables that they declare end with it."""
        known = len(scope.variables)
        result: list[Statement] = []
        for _ in range(count):
            result += self.statement(scope, around)
        if around.loops == 0 and around.conditions == 0 and not around.in_switch:
            return result  # a function's body, whose last statement is still to come
        del scope.variables[known:]
        return result

    def statement(self, scope: Scope, around: Surroundings) -> list[Statement]:
        deep = around.conditions + around.loops
        chosen = self.draws.weighted(
            {
                "declaration": 3.0,
                "assignment": 4.0,
                "call": 3.0,
                "if": 2.0 if deep < 4 else 0.3,
                "loop": 3.0 if around.loops < DEEPEST_LOOP and around.conditions < 3 else 0.0,
                "switch": 0.5 if deep < 3 else 0.0,
                "leave": 1.2 if deep > 0 else 0.3,
            }
        )
        return {
            "declaration": self.declaration,
            "assignment": self.assignment,
            "call": self.call,
            "if": self.condition,
            "loop": self.loop,
            "switch": self.switch,
            "leave": self.leave,
        }[chosen](scope, around)

    def expressions(self, scope: Scope) -> Expressions:
        return Expressions(self.draws, scope, self.program, self.features)

    def declaration(self, scope: Scope, _around: Surroundings) -> list[Statement]:
        expressions = self.expressions(scope)
        kind = self.small_type()
        name = self.name("v")
        if self.draws.chance(0.06):
            kind = BOOL
        value = expressions.of(kind, self.draws.pick([1, 1, 2]))
        keyword = ""
        if not isinstance(value, InitializerList):
            keyword = self.draws.pick(["", "", "", "", "var", "let"])
        scope.add(Variable(name, kind, writable=keyword != "let"))
        return [Declaration(name, kind, value, keyword)]

    def assignment(self, scope: Scope, _around: Surroundings) -> list[Statement]:
        expressions = self.expressions(scope)
        target = expressions.target(self.draws.pick([FLOAT, FLOAT, FLOAT, Vector(2), Vector(3), None]))
        if target is None:
            return []
        kind = target.type
        if isinstance(kind, Struct | Array):
            other = expressions.variable_of(kind)
            return [] if other is None else [Assignment(target, "=", other)]
        operator = self.draws.weighted({"=": 4, "+=": 4, "-=": 1.5, "*=": 1})
        value = expressions.of(kind, self.draws.pick([1, 1, 2]))
        if operator == "=" and self.draws.chance(0.6):
            share = self.draws.number(0.2, 0.8)
            kept = Binary(kind, "*", Literal(FLOAT, round(1 - share, 2)), target)
            value = Binary(kind, "+", kept, Binary(kind, "*", Literal(FLOAT, share), value))
        elif operator == "=" and self.draws.chance(self.features.constants):
            return self.constant(target)
        elif operator == "*=":
            value = Builtin(kind, "cos", [value]) if kind == FLOAT else expressions.of(FLOAT, 1)
        return [Assignment(target, operator, value)]

    def call(self, scope: Scope, around: Surroundings) -> list[Statement]:
        """A call that writes its arguments; its result may be used, and a loop may read what it wrote."""
        statements, call = self.writing_call(scope)
        if call is not None and around.loops < DEEPEST_LOOP and self.draws.chance(self.features.readers):
            statements += self.reader(call, scope)
        return statements

    def reader(self, call: Call, scope: Scope) -> list[Statement]:
        """A loop that does nothing else, in each of its iterations or in some."""
        expressions = self.expressions(scope)
        parameters = self.program.find(call.function).parameters
        pairs = zip(call.arguments, parameters, strict=True)
        written = [argument for argument, parameter in pairs if parameter.direction != "in"]
        written += [] if call.object is None else [call.object]
        place = self.draws.pick(written)
        part = expressions.path(place, place.type, FLOAT)
        target = expressions.target(FLOAT)
        roots = {expressions.root(argument) for argument in written}
        if part is None or target is None or expressions.root(target) in roots:
            return []
        step = Assignment(target, "+=", Binary(FLOAT, "*", Literal(FLOAT, 0.4), part))
        body: list[Statement] = [step]
        counter = Name(INT, self.name("i"))
        count = self.draws.integer(2, 3)
        if self.draws.chance(0.3):
            test = Binary(BOOL, "==", counter, Literal(INT, self.draws.integer(0, count - 1)))
            body = [If(test, Block(body), None)]
        start = Declaration(counter.name, INT, Literal(INT, 0))
        condition = Binary(BOOL, "<", counter, Literal(INT, count))
        bump = Assignment(counter, "++", Literal(INT, 1))
        return [Loop("for", f"MaxIters({count})", start, condition, bump, Block(body))]

    def writing_call(self, scope: Scope) -> tuple[list[Statement], Call | None]:
        """With the declarations before it, and the call alone for who asks what it writes."""
        expressions = self.expressions(scope)
        before: list[Statement] = []

        def declared(kind: Type) -> Expression:
            name = self.name("v")
            before.append(Declaration(name, kind, None))
            return Name(kind, name)

        call = expressions.writing_call(declared)
        if call is None:
            return [], None
        for declaration in before:
            assert isinstance(declaration, Declaration)
            scope.add(Variable(declaration.name, declaration.type, writable=True))
        if call.type == VOID:
            return [*before, Evaluation(call)], call
        form = self.draws.weighted({"alone": 1, "declared": 2, "added": 2})
        if form == "alone":
            return [*before, Evaluation(call)], call
        roots = {expressions.root(argument) for argument in call.arguments}
        roots |= {expressions.root(call.object)} if call.object is not None else set()
        target = (
            expressions.target(call.type) if form == "added" and not isinstance(call.type, Struct) else None
        )
        if target is not None and expressions.root(target) not in roots:
            return [*before, Assignment(target, "+=", call)], call
        name = self.name("v")
        scope.add(Variable(name, call.type, writable=True))
        return [*before, Declaration(name, call.type, call)], call

    def condition(self, scope: Scope, around: Surroundings) -> list[Statement]:
        test = self.expressions(scope).condition(2)
        inner = replace(around, conditions=around.conditions + 1)
        then = Block(self.statements(self.draws.pick([1, 1, 2]), scope, inner))
        otherwise = None
        if self.draws.chance(0.45):
            otherwise = Block(self.statements(1, scope, inner))
        if not then.statements:
            return []
        return [If(test, then, otherwise, bare=self.draws.chance(0.3))]

    def switch(self, scope: Scope, around: Surroundings) -> list[Statement]:
        selector = self.expressions(scope).integer(0, 3)
        inner = replace(around, in_switch=True, conditions=around.conditions + 1)
        cases = [
            Case(value, Block(self.statements(1, scope, inner))) for value in range(self.draws.integer(1, 3))
        ]
        if self.draws.chance(0.7):
            cases.append(Case(None, Block(self.statements(1, scope, inner))))
        return [Switch(selector, cases)]

    def leave(self, scope: Scope, around: Surroundings) -> list[Statement]:
        """`if (…) break;`, `continue` or `return …`."""
        kinds: list[str] = ["return"]
        if around.loops > 0 and not around.in_switch:
            kinds += ["break", "break", "continue"]
        chosen = self.draws.pick(kinds)
        if around.form == "while":
            if chosen == "continue" and not self.features.while_continue:
                return []
            if chosen != "continue" and not self.features.while_exit:
                return []
        expressions = self.expressions(scope)
        body: list[Statement] = []
        if chosen == "return":
            if around.result != VOID and isinstance(around.result, Struct):
                known = expressions.variable_of(around.result)
                if known is None:
                    return []
                body.append(Return(known))
            else:
                body.append(Return(None if around.result == VOID else expressions.of(around.result, 2)))
        else:
            body.append(Break() if chosen == "break" else Continue())
        return [If(expressions.condition(1), Block(body), None, bare=self.draws.chance(0.5))]

    # ---- Loops ----

    def loop(self, scope: Scope, around: Surroundings) -> list[Statement]:
        form = self.draws.weighted(
            {
                "up": 4,
                "down": 1,
                "stride": 1,
                "bounded": 1.5,
                "floating": 1,
                "headless": 0.7,
                "while": 2,
                "while_floating": 1,
                "do": 1.5,
                "forever": 1,
                "endless": 0.5,
            }
        )
        if around.form == "while" and not self.features.while_nested and around.loops > 0:
            return []
        count = self.draws.integer(1, 4)
        limit = self.limit(count, around)
        unrolled = form in {"up", "down", "stride"} and self.draws.chance(0.1)
        attribute = "ForceUnroll" if unrolled else f"MaxIters({limit})"
        build = self.for_loop if form in {"up", "down", "stride", "bounded", "floating"} else self.other_loop
        return build(form, count, attribute, scope, around)

    def limit(self, count: int, around: Surroundings) -> int:
        if not self.features.smaller_outer_limits:
            return 5
        return count + self.draws.pick([0, 0, 1, 2])

    def inside(self, form: str, scope: Scope, around: Surroundings) -> list[Statement]:
        inner = replace(around, loops=around.loops + 1, form=form, in_switch=False)
        statements = self.statements(self.draws.pick([1, 1, 2]), scope, inner)
        if not statements:
            statements = self.assignment(scope, inner)
        return statements

    def for_loop(
        self, form: str, count: int, attribute: str, scope: Scope, around: Surroundings
    ) -> list[Statement]:
        name = self.name("i")
        counter = Name(INT, name)
        start: Statement = Declaration(name, INT, Literal(INT, 0))
        condition: Expression = Binary(BOOL, "<", counter, Literal(INT, count))
        step: Statement = Assignment(counter, "++", Literal(INT, 1))
        low, high = 0, count - 1
        if form == "down":
            start = Declaration(name, INT, Literal(INT, count - 1))
            condition = Binary(BOOL, ">=", counter, Literal(INT, 0))
            step = Assignment(counter, "--", Literal(INT, 1))
        elif form == "stride":
            high = 2 * count - 2
            condition = Binary(BOOL, "<", counter, Literal(INT, 2 * count - 1))
            step = Assignment(counter, "+=", Literal(INT, 2))
        elif form == "bounded":
            bound = self.expressions(scope).integer(0, count)
            condition = Binary(BOOL, "<", counter, bound)
        elif form == "floating":
            other = self.expressions(scope).comparison(1)
            condition = Binary(BOOL, "&&", condition, other)
        known = len(scope.variables)
        scope.add(Variable(name, INT, low=low, high=high))
        body = self.inside("for", scope, around)
        del scope.variables[known:]
        return [Loop("for", attribute, start, condition, step, Block(body), bare=self.draws.chance(0.3))]

    def other_loop(
        self, form: str, count: int, attribute: str, scope: Scope, around: Surroundings
    ) -> list[Statement]:
        """Loops that count in their bodies."""
        name = self.name("i")
        counter = Name(INT, name)
        before: Statement = Declaration(name, INT, Literal(INT, 0))
        condition: Expression | None = Binary(BOOL, "<", counter, Literal(INT, count))
        if form in {"while_floating"}:
            condition = Binary(BOOL, "&&", condition or counter, self.expressions(scope).comparison(1))
        step: Statement = Assignment(counter, "++", Literal(INT, 1))
        printed = {"headless": "for", "while": "while", "while_floating": "while", "do": "do"}.get(
            form, "while"
        )
        inner_form = "while" if form.startswith("while") else "other"
        if form == "endless":
            printed = "for"
        known = len(scope.variables)
        # The counter goes up first, as `continue` would pass by an increment at the end.
        scope.add(Variable(name, INT, low=1, high=count))
        first: list[Statement] = [step]
        if form in {"forever", "endless"}:
            test = self.expressions(scope).comparison(1)
            stop: Expression = Binary(BOOL, ">=", counter, Literal(INT, count))
            if self.draws.chance(0.4):
                stop = Binary(BOOL, "||", stop, test)
            first = [If(stop, Block([Break()]), None, bare=True), step]
            condition = None
        body = [*first, *self.inside(inner_form, scope, around)]
        del scope.variables[known:]
        return [before, Loop(printed, attribute, None, condition, None, Block(body))]


def used(program: Program) -> list[Function]:
    """The functions that the entry calls, directly or through others, and itself."""
    names = {program.entry.name}
    for function in reversed(program.functions):
        if function.name in names:
            names |= {node.function for node in function.walk() if isinstance(node, Call)}
    return [function for function in program.functions if function.name in names]


def write(seed: int, number: int, features: Features) -> Program:
    return Writer(seed, number, features).write()


__all__ = ["Call", "write"]
