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
INTERNAL = {"call_items", "function_ref", "invoke", "overload", "pass_kind", "scalar_arg", "texture_base"}
CLASSES = {"CLASS_DECL", "STRUCT_DECL", "CLASS_TEMPLATE"}
FUNCTIONS = {"CXX_METHOD", "CONSTRUCTOR", "FUNCTION_DECL", "FUNCTION_TEMPLATE"}
VALUES = {"FIELD_DECL", "VAR_DECL"}
OTHERS = {"ENUM_DECL", "TYPE_ALIAS_DECL", "TYPE_ALIAS_TEMPLATE_DECL"}


def comment(cursor: Any) -> str:
    lines = (cursor.raw_comment or "").splitlines()
    text = "\n".join(re.sub(r"^\s*///<? ?", "", line) for line in lines)
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", text).strip()
    return re.sub(r"([<\[*_])", r"\\\1", text) if "`" not in text else text.replace("[", "\\[")


def signature(cursor: Any) -> str:
    """The declaration as it is written, without its body and what compilers alone need."""
    tokens = list(cursor.get_tokens())
    if not tokens:
        return str(cursor.displayname)
    text = Path(cursor.location.file.name).read_bytes()
    written = text[tokens[0].extent.start.offset : tokens[-1].extent.end.offset].decode()
    if cursor.kind.name in FUNCTIONS:
        depth = 0
        for at, letter in enumerate(written):
            depth += {"(": 1, ")": -1}.get(letter, 0)
            initialisers = letter == ":" and written[at : at + 2] != "::" and written[at - 1] != ":"
            if depth == 0 and at and (letter == "{" or (initialisers and ")" in written[:at])):
                written = written[:at]
                break
    elif cursor.kind.name in CLASSES:
        written = written.split("{")[0]
    written = re.sub(r"\s*//.*", "", written).replace("[[nodiscard]] ", "")
    return re.sub(r"\s+", " ", written).strip().rstrip(";")


def is_shown(cursor: Any) -> bool:
    name = cursor.spelling
    if cursor.access_specifier.name not in {"PUBLIC", "INVALID", "NONE"} or name in {"state", ""}:
        return False
    return "detail::" not in signature(cursor) or bool(cursor.raw_comment)


def members(cursor: Any) -> Iterator[str]:
    before: list[str] = []
    for child in cursor.get_children():
        kind = child.kind.name
        if kind not in FUNCTIONS | VALUES | OTHERS | CLASSES or not is_shown(child):
            continue
        if kind in CLASSES and not child.is_definition():
            continue
        said = comment(child)
        if said and before:
            yield "```cpp\n" + "\n".join(before) + "\n```\n"
            before = []
        before.append(signature(child) + ";")
        if said:
            yield "```cpp\n" + "\n".join(before) + f"\n```\n{said}\n"
            before = []
    if before:
        yield "```cpp\n" + "\n".join(before) + "\n```\n"


def declarations(cursor: Any, header: Path) -> Iterator[Any]:
    """What a header declares in namespace kf itself."""
    for child in cursor.get_children():
        here = child.location.file is not None and Path(child.location.file.name) == header
        if child.kind.name == "NAMESPACE" and child.spelling == "kf":
            yield from declarations(child, header)
        elif here and child.kind.name in CLASSES | FUNCTIONS | VALUES | OTHERS and child.spelling:
            yield child


def reference() -> str:
    """The page, in Markdown. Throws ValueError where a header doesn't parse."""
    found = subprocess.run(["clang++", "-print-resource-dir"], capture_output=True, text=True, check=True)
    options = ["-std=c++20", "-xc++", f"-I{HEADERS.parent}", f"-isystem{found.stdout.strip()}/include"]
    source = "#include <kf/kf.h>\n#include <kf/vulkan.h>\n#include <kf/cuda.h>\n"
    unit = cindex.Index.create().parse("all.cpp", options, [("all.cpp", source)])
    errors = [str(one) for one in unit.diagnostics if one.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError("\n".join(errors))
    headers = {path.stem: path for path in sorted(HEADERS.glob("*.h")) if path.stem not in INTERNAL}
    page = [
        "# C++ API\n",
        "Include `<kf/kf.h>`, or the generated `NAME.h`, which includes what it uses.",
        "Everything is in namespace `kf`. What `[[nodiscard]]` marks is shown without it.\n",
    ]
    for name in [*FIRST, *(one for one in headers if one not in FIRST)]:
        parts = []
        for one in declarations(unit.cursor, headers[name]):
            if one.kind.name in CLASSES and one.is_definition() and is_shown(one):
                parts.append(f"### `{one.spelling}`\n\n```cpp\n{signature(one)};\n```\n{comment(one)}\n")
                parts.extend(members(one))
            elif one.kind.name not in CLASSES and is_shown(one):
                parts.append(f"```cpp\n{signature(one)};\n```\n{comment(one)}\n")
        if parts:
            opening = headers[name].read_text().splitlines()[0].removeprefix("// ")
            page += [f"## kf/{name}.h\n", opening + "\n", *parts]
    return "\n".join(page)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "api/cpp.md", content=reference()))
    return files
