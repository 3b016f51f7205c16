"""Adapts the Markdown of the repository to the site: README.md is its home page, and links end at docs/."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    text = (ROOT / "README.md").read_text().replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
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
        if image or not whole.exists():
            return found.group(0)  # mkdocs reports it
        shown = whole.relative_to(ROOT).as_posix()
        return f"`{shown}`" if text.strip("`") == shown else f"{text} (`{shown}`)"

    parts = re.split(r"(?ms)(^```.*?^```$)", markdown)
    return "".join(part if part.startswith("```") else LINK.sub(adapted, part) for part in parts)
