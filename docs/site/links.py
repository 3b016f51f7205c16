"""Adapts the Markdown of the repository to the site: README.md is its home page, and links end at docs/."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
# GitHub takes a list or a table right below a line of text, and Python's Markdown doesn't.
BEFORE_A_BLOCK = re.compile(r"^((?!- |\||#|```|  )\S.*)\n(?=- |\d\. |\|)", re.MULTILINE)

# Code of a list's item, which GitHub indents by two, and Python's Markdown by four.
INDENTED_FENCE = re.compile(r"^  ```.*?^  ```$", re.MULTILINE | re.DOTALL)


def indented(found: re.Match[str]) -> str:
    return "\n" + "\n".join(f"  {line}" for line in found.group(0).splitlines()) + "\n"


def decisions() -> str:
    """The list of the decisions by their titles, newest first."""
    pages = sorted((ROOT / "docs" / "decisions").glob("0*.md"), reverse=True)
    rows = [f"- [{page.read_text().splitlines()[0].removeprefix('# ')}]({page.name})" for page in pages]
    start = "# Decisions\n\nWhy each part of kernelfunctions is as it is, and what was tried instead.\n\n"
    # A number and a point would start a list of their own.
    return start + "\n".join(re.sub(r"^- \[(\d+)\. ", r"- [\1: ", row) for row in rows) + "\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    text = (ROOT / "README.md").read_text().replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    files.append(File.generated(config, "decisions/index.md", content=decisions()))
    style = (ROOT / "docs" / "site" / "extra.css").read_text()
    files.append(File.generated(config, "assets/extra.css", content=style))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Shows the path of a file or folder of the repository that isn't part of the site."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def adapted(found: re.Match[str]) -> str:
        image, text, target = found.groups()
        path, _, _anchor = target.partition("#")
        if not path or ":" in path:
            return found.group(0)
        whole = (folder / path).resolve()
        if whole.is_relative_to(ROOT / "docs") and whole.is_file():
            return found.group(0)
        if whole == ROOT / "docs" / "decisions":
            return f"[{text}]({target}/index.md)"
        if image or not whole.exists():
            return found.group(0)  # mkdocs reports it
        shown = whole.relative_to(ROOT).as_posix()
        return f"`{shown}`" if text.strip("`") == shown else f"{text} (`{shown}`)"

    def text(part: str) -> str:
        return "\n" + LINK.sub(adapted, BEFORE_A_BLOCK.sub(r"\1\n\n", part))

    parts = re.split(r"(?ms)(^```.*?^```$)", INDENTED_FENCE.sub(indented, markdown))
    return "".join(part if part.startswith("```") else text(part) for part in parts)
