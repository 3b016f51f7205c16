"""The house rules that a program can check: one concept a file, small headers, one way through the code."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from import_cycles import import_cycles
from tree import ROOT, files

PACKAGE = "runtime/python/kernelfunctions"
LARGEST_HEADER = 10 * 1024
LONGEST_FILE = 900

# Headers of third parties, the folders or files that may include each, and why.
FENCES: dict[str, dict[str, str]] = {
    r"slang(-.*)?\.h": {"tool/slang": "the one place that speaks to Slang"},
    r"clang-c/.*": {"tool/libclang": "the one place that speaks to libclang"},
    r"nvrtc\.h": {},  # NVRTC is opened at run time, with declarations of our own
    r"vulkan/vulkan.*": {
        "runtime/vulkan": "the driver",
        "tests/docs": "an application with a device of its own",
        "tests/bench": "the bare context that start-up is compared with",
    },
    r"cuda(_\w+)?\.h": {
        "tests/bench": "kernels by hand, which ours are compared with",
        "tests/runtime/cuda": "compares our declarations with NVIDIA's",
        "tests/tool/cuda/nvrtc_test.cpp": "text that NVRTC is given",
    },
    r"pybind11/.*": {"runtime/python": "the extension"},
    r"kainjow/.*": {"tool/emit": "fills in the templates"},
    r"CLI/.*": {"tool/cli": "reads the command line"},
}

# Each folder with C++ in it, and the folders, or single files, of ours that it may include beside its own. A
# file belongs to the longest entry that begins its path. Goldens are made by kfgen, and left out.
MAY_INCLUDE: dict[str, tuple[str, ...]] = {
    "runtime/include": (),
    "runtime/core": ("runtime/include",),
    # It names the drivers, which the rest of the core knows by driver.h alone.
    "runtime/core/backends.cpp": ("runtime/include", "runtime/core", "runtime/vulkan", "runtime/cuda"),
    "runtime/vulkan": ("runtime/include", "runtime/core"),
    "runtime/cuda": ("runtime/include", "runtime/core"),
    # What both drivers do together.
    "runtime/interop": ("runtime/include", "runtime/core", "runtime/vulkan", "runtime/cuda"),
    "runtime/python": ("runtime/include", "runtime/core", "runtime/interop"),
    # The stages of kfgen, in order.
    "tool/diagnostic": ("runtime/core/join.h",),
    "tool/process": (),
    "tool/support": ("tool/slang/support_module.h",),
    "tool/spec": ("runtime/core", "tool/diagnostic"),
    "tool/libclang": ("runtime/include", "tool/diagnostic", "tool/process"),
    "tool/slang": ("runtime/include", "runtime/core", "tool/diagnostic", "tool/process"),
    "tool/plan": ("runtime/core", "tool/diagnostic", "tool/spec", "tool/libclang", "tool/slang"),
    "tool/emit": (
        *("runtime/include", "runtime/core", "tool/diagnostic", "tool/spec", "tool/slang", "tool/plan"),
    ),
    "tool/kernels": ("runtime/core", "tool/process", "tool/slang", "tool/plan", "tool/emit"),
    "tool/output": ("runtime/core", "tool/diagnostic"),
    "tool/cuda": (
        *("runtime/core", "tool/diagnostic", "tool/process", "tool/spec", "tool/slang", "tool/kernels"),
        *("tool/output",),
    ),
    "tool/artifact": ("runtime/core", "tool/kernels"),
    "tool/cache": ("runtime/core", "tool/kernels", "tool/output"),
    "tool/cli": ("runtime/core/join.h", "tool/diagnostic", "tool/spec", "tool/output", "tool/emit/render.h"),
    "tool/run": (
        *("runtime/include", "runtime/core", "tool/diagnostic", "tool/support", "tool/spec", "tool/libclang"),
        *("tool/slang", "tool/plan", "tool/emit", "tool/kernels", "tool/output", "tool/cuda"),
        *("tool/artifact", "tool/cache", "tool/cli", "tool/process"),
    ),
    # kfgen-check is a program of its own: the runtime, and nothing of the compiler. kfgen knows its messages.
    "tool/check": ("runtime/include", "runtime/core", "tool/process", "tool/output/columns.h"),
    "tool/check_process": (
        *("runtime/include", "runtime/core", "tool/diagnostic", "tool/process", "tool/spec", "tool/plan"),
        *("tool/output", "tool/cli", "tool/run", "tool/check/messages.h"),
    ),
    "tool/main.cpp": ("tool/output", "tool/cache", "tool/cli", "tool/run", "tool/check_process"),
    # What users write.
    "samples": ("runtime/include",),
    "tests/cmake": (),
    "tests/docs": ("runtime/include",),
    "tests/mutation": (),
    "tests/fuzz": ("runtime/include", "runtime/core", "tool/diagnostic", "tool/spec"),
    "tests/package": ("runtime/include",),
    "tests/python/specs": ("runtime/include",),
    "tests/runtime/devices": ("runtime/include", "tests/runtime/cuda"),
    "tests/bench": ("runtime/include", "runtime/core", "runtime/cuda", "runtime/vulkan"),
    # What tests share. Else a folder of tests/runtime and tests/tool may include the folder that it tests,
    # what that may include, and the tests of these; and what TESTS_ALSO adds.
    "tests/headers.cpp": (),
    "tests/runtime": ("runtime/include", "runtime/core"),
    "tests/runtime/fake_driver": ("runtime/vulkan", "runtime/cuda"),
}
TESTS_ALSO: dict[str, tuple[str, ...]] = {
    "tests/runtime/cuda": ("tests/runtime", "tests/runtime/fake_driver"),
    "tests/runtime/vulkan": ("tests/runtime", "tests/runtime/fake_driver"),
    # Slang is given the modules that kfgen carries as values, by the stages after it.
    # Some run what Slang has compiled, without the runtime's core.
    "tests/tool/slang": ("tool/support", "runtime/vulkan"),
    "tests/tool/kernels": ("tool/spec", "tool/support"),
    "tests/tool/artifact": ("tool/plan", "tests/tool/emit"),
}

# Where includes are looked for, beside the file's own folder.
INCLUDE_ROOTS = ("tool", "runtime", "runtime/include", "tests", "samples")

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


# Beginnings of comments for which the declaration below, or the comment above, must be read first.
MIDDLE = re.compile(
    r"\s*///? ("
    r"Of|And|As|By|With|Without|That|Those|These|What|Whose|The same|Such|So|Else|Too|Only where|"
    r"It|Its|They|Their|Told|Null|Empty|None|Nothing"
    r")\b"
)
MIDDLE_EVERYWHERE = ("Of", "And", "As")

# Paths of comments that only MIDDLE_EVERYWHERE holds for, until they are rewritten.
NOT_YET = (
    "runtime/core/",
    "runtime/python/",
    "runtime/vulkan/kernel.cpp",
    "runtime/vulkan/spirv_",
    "tool/check/kernel_facts.",
    "tool/slang/",
)


def beginnings(path: Path, lines: list[str]) -> Iterator[str]:
    """Comments begin with what the thing does or is, and can be read alone."""
    if path.suffix not in {".h", ".cpp"} or path.parts[0] not in {"tool", "runtime"}:
        return
    is_new = not str(path).startswith(NOT_YET)
    before = ""
    for number, line in enumerate(lines, 1):
        found = MIDDLE.match(line)
        if found and not before.lstrip().startswith("//") and (is_new or found[1] in MIDDLE_EVERYWHERE):
            yield f"line {number} has a comment that begins in the middle, with '{found[1]}'"
        before = line


INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
IMPORT = re.compile(r"\s*(?:__exported\s+)?import\s+([\w.]+)\s*;")


def entry_of(path: Path) -> str:
    """The entry of MAY_INCLUDE that a file belongs to, or tests/ and the one that it tests; empty: none."""
    for folder in map(str, (path, *path.parents)):
        if folder in MAY_INCLUDE or folder.removeprefix("tests/") in MAY_INCLUDE:
            return folder
    return ""


def may_include(entry: str) -> set[str]:
    """What the files of an entry, or the tests of one, may include beside their own folder."""
    if entry in MAY_INCLUDE:
        return {*MAY_INCLUDE[entry], *TESTS_ALSO.get(entry, ())}
    tested = entry.removeprefix("tests/")
    stages = {tested, *MAY_INCLUDE[tested], *TESTS_ALSO.get(entry, ())}
    return stages | {f"tests/{stage}" for stage in stages}


def found_header(header: str, folders: list[Path]) -> Path | None:
    """The file of ours that is included by that name."""
    for folder in folders:
        if (ROOT / folder / header).is_file():
            return folder / header
    return None


def includes(path: Path, lines: list[str]) -> Iterator[str]:
    """Third-party headers stay behind their fences, and no folder knows those that are built upon it."""
    if path.suffix not in {".h", ".cpp", ".cu"}:
        return
    entry = entry_of(path)
    if not entry:
        yield "is in a folder that MAY_INCLUDE in tests/lint/house_rules.py doesn't have"
        return
    allowed = {entry, *may_include(entry)}
    for line in lines:
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, header = found.groups()
        if ".." in Path(header).parts:
            yield f"includes {header}: paths start at a root of includes, or in the file's own folder"
            continue
        own_folder = [path.parent] if quote == '"' else []
        target = found_header(header, [*own_folder, *map(Path, INCLUDE_ROOTS)])
        if target is not None:
            if entry_of(target) not in allowed and str(target) not in allowed:
                yield f"includes {header} of {entry_of(target)}, which {entry} may not"
            continue
        for pattern, homes in FENCES.items():
            if re.fullmatch(pattern, header) and not any(path.is_relative_to(home) for home in homes):
                who = f"only {', '.join(homes)}" if homes else "nobody"
                yield f"includes {header}, which {who} may"


def imports(path: Path, lines: list[str]) -> Iterator[str]:
    """The Slang library stands by itself."""
    if path.suffix != ".slang" or not path.is_relative_to("runtime/slang"):
        return
    for line in lines:
        found = IMPORT.match(line)
        if found and not (ROOT / path.parent / f"{found.group(1)}.slang").is_file():
            yield f"imports {found.group(1)}, which isn't in {path.parent}/"


KIND = re.compile(r"\b(?:get|get_if|holds_alternative)<\s*(?:const )?(?:[\w:]+::)?kinds::\w+")


def kinds(path: Path, lines: list[str]) -> Iterator[str]:
    """What depends on an argument's kind is asked by the questions in kinds/, which every kind answers."""
    if path.suffix not in {".h", ".cpp"} or path.parts[0] not in {"tool", "runtime"} or "kinds" in path.parts:
        return
    for number, line in enumerate(lines, 1):
        if KIND.search(line):
            yield f"line {number} tests an argument's kind, which only kinds/ may"


DECLARED = re.compile(
    r"^(?:using (?:[\w]+::)+|(?:inline |static )*(?:constexpr|const|constinit const) [\w:<>,*& ]*?)(\w+)"
    r"(?:\[\w*\])?\s*(?:;|=|\{)",
    re.MULTILINE,
)


def unused(path: Path, lines: list[str]) -> Iterator[str]:
    """A source uses the names and constants that it declares for itself.

    Compilers and clang-tidy don't say so of sources that are compiled as one.
    """
    if path.suffix != ".cpp":
        return
    text = "\n".join(lines)
    for found in DECLARED.finditer(text):
        if len(re.findall(rf"\b{found.group(1)}\b", text)) == 1:
            number = text.count("\n", 0, found.start()) + 1
            yield f"line {number} declares '{found.group(1)}', which nothing here uses"


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
    for path in files(".h", ".cpp", ".cu", ".py", ".pyi", ".slang", ".cmake", ".mustache", ".txt", ".md"):
        lines = (ROOT / path).read_text().splitlines()
        for rule in (opening, sizes, marks, beginnings, includes, imports, kinds, unused):
            for finding in rule(path, lines):
                findings += 1
                print(f"{path}: {finding}")
    circles = (f"{PACKAGE}: {circle}" for circle in import_cycles(ROOT / PACKAGE))
    for finding in (*local_names(files(".cpp")), *circles):
        findings += 1
        print(finding)
    print(f"house rules: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
