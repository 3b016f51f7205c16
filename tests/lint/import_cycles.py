"""Circles among the modules of a Python package, also those that imports inside of functions hide."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def modules_of(package: Path) -> dict[str, Path]:
    """Returns the sources of a package by their modules' names; of extensions, their stubs."""
    found: dict[str, Path] = {}
    for path in sorted(one for one in package.rglob("*") if one.suffix in {".py", ".pyi"}):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path)
    return found


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields what runs, which `if TYPE_CHECKING:` doesn't."""
    yield tree
    if isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(tree):
        yield from nodes(child)


def imported(tree: ast.AST, name: str, is_package: bool, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yields the modules of the package that a source imports, wherever it does."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in modules)
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".")
                owner = parts[: len(parts) - node.level + is_package]
                base = ".".join([*owner, *filter(None, [base])])
            for one in node.names:
                # A name of a package is a module of its own, or what __init__.py has by it.
                target = f"{base}.{one.name}"
                if target in modules or base in modules:
                    yield target if target in modules else base


def import_cycles(package: Path) -> Iterator[str]:
    """Yields one circle of imports, as "a imports b imports a"; nothing where there is none."""
    modules = modules_of(package)
    graph = {
        name: set(imported(ast.parse(path.read_text()), name, path.name == "__init__.py", modules)) - {name}
        for name, path in modules.items()
        if path.suffix == ".py"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield " imports ".join(reversed(error.args[1]))
