"""Shapes of programs, which tests choose programs by."""

from nodes import Break, Call, Continue, If, Loop, Program, Switch


def shapes_of(program: Program) -> set[str]:
    """Which of the shapes there are that programs are made for."""
    nodes = [node for function in program.functions for node in function.walk()]
    loops = [node for node in nodes if isinstance(node, Loop)]
    shapes = {
        "loop": bool(loops),
        "nested loop": any(
            isinstance(node, Loop) for loop in loops for child in loop.children() for node in child.walk()
        ),
        "exit": any(isinstance(node, Break | Continue) for node in nodes),
        "switch": any(isinstance(node, Switch) for node in nodes),
        "condition": any(isinstance(node, If) for node in nodes),
        "method": any(isinstance(node, Call) and node.object is not None for node in nodes),
        "mutating method": any(function.mutating for function in program.functions),
        "output": any(
            p.direction != "in" for function in program.functions[:-1] for p in function.parameters
        ),
        "accessor": any(function.name.startswith("at_") for function in program.functions),
    }
    return {shape for shape, is_there in shapes.items() if is_there}
