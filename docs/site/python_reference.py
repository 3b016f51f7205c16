"""Shows, below each table of the Python API's page, the reference of what the table lists."""

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

PACKAGE = Path(__file__).resolve().parents[2] / "runtime" / "python" / "kernelfunctions"
ROW = re.compile(r"^\| `kf\.([\w.]+)` \| (.*) \|$", re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\|\n)+", re.MULTILINE)


def parsed(module: str) -> ast.Module:
    """A module's stub, or its source where it has none."""
    base = PACKAGE.joinpath(*module.split("."))
    files = [base / "__init__.pyi", base / "__init__.py", base.with_suffix(".pyi"), base.with_suffix(".py")]
    return ast.parse(next(file for file in files if file.is_file()).read_text())


def home(name: str) -> tuple[str, str]:
    """The module of the package that defines `kf.name`, and its name there."""
    if name.startswith("torch."):
        return "torch", name.removeprefix("torch.")
    imports = (one for one in parsed("").body if isinstance(one, ast.ImportFrom) and one.module)
    found = next(one.module for one in imports if any(alias.name == name for alias in one.names))
    assert found is not None
    return found.removeprefix("kernelfunctions."), name


def summary(name: str) -> str:
    """The first paragraph of what its stub says."""
    module, short = home(name)
    found = next(
        one
        for one in parsed(module).body
        if isinstance(one, (ast.ClassDef, ast.FunctionDef)) and one.name == short
    )
    return " ".join((ast.get_docstring(found) or "").split("\n\n")[0].split())


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.file.src_uri != "api/python.md":
        return markdown

    def with_reference(table: re.Match[str]) -> str:
        names = [home(name) for name, _ in ROW.findall(table.group(0))]
        shown = "".join(f"\n::: kernelfunctions.{module}.{name}" for module, name in names)
        return f"{table.group(0)}{shown}\n"

    return TABLE.sub(with_reference, markdown)
