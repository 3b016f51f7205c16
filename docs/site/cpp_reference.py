"""Makes the C++ reference from the comments in runtime/include/kf, which libclang reads."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clang import cindex
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "runtime" / "include" / "kf"
# The order in which a reader needs them; the others follow by name.
FIRST = [
    "device",
    "module",
    "tensor",
    "value",
    "buffer",
    "texture",
    "sampler",
    "generator",
    "options",
    "error",
]
# What generated code is made of, and programs don't name.
INTERNAL = {
    *("call_items", "configured", "function_ref", "generator_kind", "global_values", "invoke", "overload"),
    *("pass_kind", "scalar_arg"),
}
HIDDEN = {"state", "", "ScalarOf", "ElementOf", "StructElement", "kf_parts"}
# Base classes whose members belong to the classes of a page.
BASES = {"BufferBase": "Members of Buffer and RWBuffer", "TextureBase": "Members of Texture and RWTexture"}
CLASSES = {"CLASS_DECL", "STRUCT_DECL", "CLASS_TEMPLATE"}
FUNCTIONS = {"CXX_METHOD", "CONSTRUCTOR", "CONVERSION_FUNCTION", "FUNCTION_DECL", "FUNCTION_TEMPLATE"}
VALUES = {"FIELD_DECL", "VAR_DECL"}
ALIASES = {"TYPE_ALIAS_DECL", "TYPE_ALIAS_TEMPLATE_DECL"}
SHOWN = CLASSES | FUNCTIONS | VALUES | ALIASES | {"ENUM_DECL"}


def comment(cursor: Any) -> str:
    lines = (cursor.raw_comment or "").splitlines()
    text = "\n".join(re.sub(r"^\s*///<? ?", "", line) for line in lines)
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", text).strip()
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(one if one[:1] == "`" else re.sub(r"([<\[*_])", r"\\\1", one) for one in parts)


def without_constraints(written: str) -> str:
    """Takes out `requires …`, which compilers need and readers don't."""
    while found := re.search(r"\s*\brequires\b\s*", written):
        end = found.end()
        if written[end] == "(":
            depth = 0
            for end in range(found.end(), len(written)):
                depth += {"(": 1, ")": -1}.get(written[end], 0)
                if depth == 0:
                    break
            end += 1
        else:
            end = re.compile(r"(!?[\w:]+(<[^<>]*(<[^<>]*>)?[^<>]*>)?)").match(written, end).end()  # type: ignore[union-attr]
        written = f"{written[: found.start()]} {written[end:]}"
    return written


def without_body(written: str) -> str:
    depth = 0
    for at, letter in enumerate(written):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        initialisers = letter == ":" and written[at : at + 2] != "::" and written[at - 1] != ":"
        if depth == 0 and at and (letter == "{" or (initialisers and ")" in written[:at])):
            return written[:at]
    return written


def signature(cursor: Any) -> str:
    """The declaration as it is written, without its body and what compilers alone need."""
    tokens = list(cursor.get_tokens())
    if not tokens:
        return str(cursor.displayname)
    text = Path(cursor.location.file.name).read_bytes()
    written = text[tokens[0].extent.start.offset : tokens[-1].extent.end.offset].decode()
    written = re.sub(r"\s*//.*", "", written)
    if cursor.kind.name in FUNCTIONS:
        written = without_body(without_constraints(written))
    elif cursor.kind.name in CLASSES:
        written = written.split("{")[0]
        written = re.sub(r"\s*:\s*public detail::.*", "", written, flags=re.DOTALL)
    elif cursor.kind.name == "VAR_DECL" and len(written) > 400:
        written = written.split("{")[0]
    written = re.sub(r" = detail::.*", "", written, flags=re.DOTALL)
    written = re.sub(r"\[\[nodiscard\]\] ?|\binline (?=constexpr)", "", written)
    written = re.sub(r"\bSelf<T, kind>", "Self", written)
    return re.sub(r"(?<=\() ", "", re.sub(r"\s+", " ", written)).strip().rstrip(";")


def is_shown(cursor: Any) -> bool:
    name = cursor.spelling
    kind = cursor.kind.name
    if kind not in SHOWN or cursor.access_specifier.name not in {"PUBLIC", "INVALID", "NONE"}:
        return False
    if name in HIDDEN or name.startswith("<deduction guide"):
        return False
    if kind in CLASSES and (not cursor.is_definition() or "template <>" in signature(cursor)):
        return False
    is_outside = cursor.semantic_parent != cursor.lexical_parent
    from_macro = "##" in signature(cursor)
    return not is_outside and not from_macro and "detail::" not in signature(cursor)


def groups(cursors: list[Any]) -> Iterator[tuple[list[str], str]]:
    """Declarations that stand together, with no blank line between them, and the comment above them."""
    declared: list[str] = []
    said = ""
    end = 0
    for cursor in cursors:
        above = cursor.raw_comment or ""
        beside = above.startswith("///<")
        line = cursor.extent.start.line
        if declared and (line > end + 1 or (above and not beside)):
            yield declared, said
            declared, said = [], ""
        if above and not beside:
            said = comment(cursor)
        text = re.sub(r"^\s*///<? ?", "", above, flags=re.MULTILINE).replace("\n", " ") if beside else ""
        declared.append(f"{signature(cursor)};" + (f"  // {text}" if text else ""))
        end = cursor.extent.end.line
    if declared:
        yield declared, said


def members(cursor: Any) -> Iterator[str]:
    for declared, said in groups([child for child in cursor.get_children() if is_shown(child)]):
        yield "```cpp\n" + "\n".join(declared) + f"\n```\n{said}\n"


def declarations(cursor: Any, header: Path) -> Iterator[Any]:
    """What a header declares in namespace kf itself, and the base classes that are shown."""
    for child in cursor.get_children():
        here = child.location.file is not None and Path(child.location.file.name) == header
        if child.kind.name == "NAMESPACE" and child.spelling in {"kf", "detail"}:
            for one in declarations(child, header):
                if child.spelling == "kf" or one.spelling in BASES:
                    yield one
        elif here and child.kind.name in SHOWN and child.spelling:
            yield child


def section(found: list[Any]) -> Iterator[str]:
    """The classes of a header with their members, each below its own heading, and all else in between."""
    loose: list[Any] = []
    for one in [*found, None]:
        is_class = one is not None and one.kind.name in CLASSES
        if loose and (one is None or is_class):
            for declared, said in groups(loose):
                yield "```cpp\n" + "\n".join(declared) + f"\n```\n{said}\n"
            loose = []
        if is_class and one.spelling in BASES:
            yield f"### {BASES[one.spelling]}\n"
            yield from members(one)
        elif is_class:
            text = signature(one)
            plain = re.fullmatch(r"(class|struct) \w+", text)
            yield f"### `{one.spelling}`\n"
            yield comment(one) + "\n" if plain else f"```cpp\n{text};\n```\n{comment(one)}\n"
            yield from members(one)
        elif one is not None:
            loose.append(one)


def opening(header: Path) -> str:
    """The header's first comment."""
    lines = []
    for line in header.read_text().splitlines():
        if not line.startswith("// "):
            break
        lines.append(line.removeprefix("// "))
    return re.sub(r"([<\[*_])", r"\\\1", " ".join(lines))


def reference() -> str:
    """The page, in Markdown. Throws ValueError where a header doesn't parse."""
    found = subprocess.run(["clang++", "-print-resource-dir"], capture_output=True, text=True, check=True)
    options = ["-std=c++20", "-xc++", f"-I{HEADERS.parent}", f"-isystem{found.stdout.strip()}/include"]
    source = "".join(f"#include <kf/{path.name}>\n" for path in sorted(HEADERS.glob("*.h")))
    unit = cindex.Index.create().parse("all.cpp", options, [("all.cpp", source)])
    errors = [str(one) for one in unit.diagnostics if one.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError("\n".join(errors))
    headers = {path.stem: path for path in sorted(HEADERS.glob("*.h")) if path.stem not in INTERNAL}
    page = [(Path(__file__).parent / "cpp_start.md").read_text()]
    for name in [*FIRST, *(one for one in headers if one not in {*FIRST, "texture_base"})]:
        parts = [name, "texture_base"] if name == "texture" else [name]
        declared = [one for part in parts for one in declarations(unit.cursor, headers[part])]
        text = list(section([one for one in declared if is_shown(one) or one.spelling in BASES]))
        if text:
            page += [f"## kf/{name}.h\n", opening(headers[name]) + "\n", *text]
    return "\n".join(page)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "api/cpp.md", content=reference()))
    return files
