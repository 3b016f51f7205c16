"""The house rules that a program can check: one concept a file, small headers, one way through the code."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tree import ROOT, files

LARGEST_HEADER = 10 * 1024
LONGEST_FILE = 900

# A header of a third party, and the one folder whose files may include it.
FENCES = {
    r"slang(-com-ptr|-com-helper)?\.h": "tool/slang",
    r"clang-c/.*": "tool/libclang",
    r"nvrtc\.h": "tool/cuda",
    r"vulkan/vulkan.*": "runtime/vulkan",
    r"cuda(_runtime)?\.h": "runtime/cuda",
}

# Each stage of kfgen and the later ones, which it must not include.
STAGES = [
    "diagnostic",
    "spec",
    "slang",
    "plan",
    "emit",
    "kernels",
    "artifact",
    "output",
    "cache",
    "cli",
    "run",
    "check",
]

UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


def opening(path: Path, lines: list[str]) -> Iterator[str]:
    """C++ files open with one line that says what they are, Python files with a docstring."""
    first = lines[0] if lines else ""
    if path.suffix in {".h", ".cpp"} and not first.startswith("// "):
        yield "opens with no one-line // comment that says what it is"
    if path.suffix in {".py", ".pyi"} and not re.match(r'(#!|r?"""|# )', first):
        yield "opens with no docstring that says what it is"


def sizes(path: Path, lines: list[str]) -> Iterator[str]:
    size = (ROOT / path).stat().st_size
    if path.suffix == ".h" and path.parts[0] != "tests" and size > LARGEST_HEADER:
        yield f"is a header of {size} bytes; at most {LARGEST_HEADER}"
    if path.suffix in {".h", ".cpp", ".py", ".pyi", ".slang", ".cmake"} and len(lines) > LONGEST_FILE:
        yield f"has {len(lines)} lines; at most {LONGEST_FILE}"


def marks(_path: Path, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"line {number} has a mark of unfinished work"


def includes(path: Path, lines: list[str]) -> Iterator[str]:
    """Third-party headers stay behind their fences, and no stage knows the stages after it."""
    if path.suffix not in {".h", ".cpp"} or path.parts[0] not in {"tool", "runtime"}:
        return
    later: list[str] = []
    if path.parts[0] == "tool" and path.parts[1] in STAGES:
        later = STAGES[STAGES.index(path.parts[1]) + 1 :]
    for line in lines:
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not found:
            continue
        header = found.group(1)
        for pattern, folder in FENCES.items():
            if re.fullmatch(pattern, header) and not path.is_relative_to(folder):
                yield f"includes {header}, which only {folder}/ may"
        if header.split("/")[0] in later:
            yield f"includes {header} of a later stage"


LOCAL = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(
    r"^(?:\[\[nodiscard\]\] )?(?:template <[^>]*>\n)?(?:constexpr |inline |static )*(?:const )?"
    r"[A-Za-z_][\w:<>,\* &]*?[\s&\*]([a-z_]\w*)\(",
    re.MULTILINE,
)


def local_names(paths: list[Path]) -> Iterator[str]:
    """Finds functions of several files of a folder that are local to each and have one name.

    The sources of a folder are compiled as one, where such functions would be overloads of each other.
    """
    homes: dict[tuple[Path, str], Path] = {}
    for path in paths:
        for part in LOCAL.findall((ROOT / path).read_text(encoding="utf-8")):
            for name in set(FUNCTION.findall(part)):
                home = homes.setdefault((path.parent, name), path)
                if home != path:
                    yield f"{path}: {home.name} has a function '{name}' of its own, too"


def main() -> int:
    findings = 0
    for path in files(".h", ".cpp", ".py", ".pyi", ".slang", ".cmake", ".mustache", ".txt", ".md"):
        lines = (ROOT / path).read_text().splitlines()
        for rule in (opening, sizes, marks, includes):
            for finding in rule(path, lines):
                findings += 1
                print(f"{path}: {finding}")
    for finding in local_names(files(".cpp")):
        findings += 1
        print(finding)
    print(f"house rules: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
