"""Files that kfgen refuses to read or to write over, and what it leaves when it is killed."""

import ast
import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SPEC = """{"version": 1, "name": "bend", "modules": ["bend.slang"],
"calls": [{"function": "bend", "args": {"x": "tensor[1]", "k": "value"}}]}"""


@pytest.fixture(name="kfgen")
def fixture_kfgen(build_dir: Path, tmp_path: Path) -> Iterator["Kfgen"]:
    yield Kfgen(build_dir, tmp_path)


class Kfgen:
    def __init__(self, build: Path, folder: Path) -> None:
        self.program = build / "tool" / "kfgen"
        self.folder = folder
        self.spec = folder / "bend.kf.json"
        self.spec.write_text(SPEC)
        self.change(1)

    def change(self, number: int) -> None:
        (self.folder / "bend.slang").write_text(
            f"float bend(float x, float k) {{ return x * k + {number}; }}\n"
        )

    def command(self, *arguments: str) -> list[str]:
        return [str(self.program), *arguments]

    def generate(self, *arguments: str) -> list[str]:
        cache = str(self.folder / "cache")
        return self.command(
            "generate", str(self.spec), "-o", str(self.folder / "out"), "--cache-dir", cache, *arguments
        )

    def run(self, arguments: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("option", ["--depfile", "--stamp"])
def test_inputs_and_outputs_are_not_written_over(kfgen: Kfgen, option: str) -> None:
    for name in ("bend.kf.json", "bend.slang", "out/../bend.slang", "out/bend.h", "out/bend.kfa"):
        done = kfgen.run(kfgen.generate(option, str(kfgen.folder / name)))
        assert done.returncode == 2, done.stderr
        assert f"{option} would overwrite this file" in done.stderr
        assert "[output-conflict]" in done.stderr
    assert kfgen.spec.read_text() == SPEC
    assert not (kfgen.folder / "out").exists()


@pytest.mark.parametrize(
    ("how", "file", "magic"),
    [
        ("elf-x86_64", "bend.kfa.o", b"\x7fELF"),
        ("coff-x86_64", "bend.kfa.obj", b"\x64\x86\x01\x00"),
        ("coff-arm64", "bend.kfa.obj", b"\x64\xaa\x01\x00"),
    ],
)
def test_object_files_are_for_what_was_asked(kfgen: Kfgen, how: str, file: str, magic: bytes) -> None:
    done = kfgen.run(kfgen.generate("--embed", how))
    assert done.returncode == 0, done.stderr
    out = kfgen.folder / "out"
    written = (out / file).read_bytes()
    assert written.startswith(magic)
    assert (out / "bend.kfa").read_bytes() in written
    symbol = next(word for word in (out / "bend.cpp").read_text().split() if "kf_artifact" in word)
    assert symbol.split("[")[0].encode() + b"\0" in written


def test_another_name_is_everywhere(kfgen: Kfgen) -> None:
    """Two of one spec in one folder: nothing that is written, defined or exported has the other's name."""
    out = kfgen.folder / "out"
    for name in ("bend", "curl"):
        done = kfgen.run(kfgen.generate("--name", name, "--python", "--embed", "elf-x86_64"))
        assert done.returncode == 0, done.stderr
    for name, other in (("bend", "curl"), ("curl", "bend")):
        for suffix in ("h", "cpp", "py", "pyi"):
            content = (out / f"{name}.{suffix}").read_text()
            for word in (f"{other}.h", f"{other}.kfa", f"namespace {other}", f"kf_artifact_{other}"):
                assert word not in content, (name, suffix)
        assert f"namespace {name} {{" in (out / f"{name}.h").read_text()
        assert f"kf_artifact_{name}_".encode() in (out / f"{name}.kfa.o").read_bytes()
        # That is both modules', and Ninja takes a file for the output of one rule.
        assert "py.typed" not in (out / f"{name}.d").read_text()
    # A run of one leaves the other alone, and there is nothing to do where nothing changed.
    for name in ("bend", "curl"):
        done = kfgen.run(kfgen.generate("--name", name, "--python", "--embed", "elf-x86_64", "--verbose"))
        assert done.stdout == "nothing changed\n"
    done = kfgen.run(kfgen.generate("--name", "a-b"))
    assert done.returncode == 2
    assert "--name: 'a-b' can't be the name of files and a C++ namespace" in done.stderr


def test_an_imported_module_is_not_written_over(kfgen: Kfgen) -> None:
    (kfgen.folder / "inner.slang").write_text("float inner(float x) { return x; }\n")
    (kfgen.folder / "bend.slang").write_text(
        "import inner;\nfloat bend(float x, float k) { return inner(x) * k; }\n"
    )
    done = kfgen.run(kfgen.generate("--depfile", str(kfgen.folder / "inner.slang")))
    assert done.returncode == 2, done.stderr
    assert (
        "inner.slang: error: --depfile would overwrite this file, which is read to generate it" in done.stderr
    )
    assert "float inner" in (kfgen.folder / "inner.slang").read_text()


def test_pipes_and_devices_are_refused_at_once(kfgen: Kfgen) -> None:
    pipe = kfgen.folder / "pipe.slang"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero"):
        for command in (
            ["list", path],
            ["inspect", path],
            ["check", path],
            ["check", "--gradients", "--artifact", path],
        ):
            done = subprocess.run(
                kfgen.command(*command), capture_output=True, text=True, check=False, timeout=20
            )
            assert done.returncode != 0
            assert done.stderr
    kfgen.spec.write_text(SPEC.replace("bend.slang", "pipe.slang"))
    done = kfgen.run(kfgen.command("list", str(kfgen.spec)))
    assert done.returncode == 1
    assert "which is no regular file [slang-module-not-found]" in done.stderr


def test_output_that_cannot_be_written_is_a_failure(kfgen: Kfgen) -> None:
    artifact = kfgen.folder / "out" / "bend.kfa"
    assert kfgen.run(kfgen.generate()).returncode == 0
    commands = [["list", str(kfgen.spec)], ["inspect", str(artifact)], ["--help"], ["--version"]]
    for arguments in (*(kfgen.command(*one) for one in commands), kfgen.generate("--verbose")):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 3, arguments
        assert "standard output: error: it can't be written [file-unwritable]" in done.stderr


def test_deep_nesting_is_an_error_with_its_place(kfgen: Kfgen) -> None:
    inner = kfgen.folder / "inner.slang"
    for opening, closing in ("{}", "()"):
        inner.write_text("float f(float x) {\n" + opening * 20000 + closing * 20000 + "return x; }\n")
        for module in ("import inner;\n", inner.read_text()):
            (kfgen.folder / "bend.slang").write_text(
                module + "float bend(float x, float k) { return x * k; }\n"
            )
            done = kfgen.run(kfgen.command("list", str(kfgen.spec)))
            assert done.returncode == 1, done.stderr
            assert ":2:256: error: brackets are nested more than 256 deep [slang-nesting]" in done.stderr
    kfgen.spec.write_text(
        SPEC.replace("tensor[1]", "tensor<" + "f<" * 20000 + "float" + ">" * 20000 + ">[1]")
    )
    assert "[spec-kind]" in kfgen.run(kfgen.command("list", str(kfgen.spec))).stderr


def test_extents_that_overflow_are_refused(kfgen: Kfgen) -> None:
    kfgen.spec.write_text(SPEC.replace("tensor[1]", "value<float[4294967296][4294967296][4294967296]>"))
    for command in (kfgen.command("list", str(kfgen.spec)), kfgen.generate()):
        done = kfgen.run(command)
        assert done.returncode == 1, done.stderr
        assert "makes at least 281474976710656 scalars" in done.stderr
        assert "[type-not-supported]" in done.stderr


def outputs(folder: Path) -> dict[str, bytes]:
    """All files but kfgen's notes, in which times are."""
    files = [path for path in folder.iterdir() if not path.name.endswith(".kfgen-state")]
    return {path.name: path.read_bytes() for path in files}


def test_a_killed_run_leaves_nothing_behind(kfgen: Kfgen) -> None:
    expected = []
    for number in (1, 2):
        kfgen.change(number)
        assert kfgen.run(kfgen.generate()).returncode == 0
        expected.append(outputs(kfgen.folder / "out"))
    kfgen.change(1)
    begin = time.monotonic()
    assert kfgen.run(kfgen.generate()).returncode == 0
    taken = time.monotonic() - begin
    moments = random.Random(3)
    for number in (2, 1) * 3:
        kfgen.change(number)
        with subprocess.Popen(kfgen.generate(), stdout=subprocess.DEVNULL) as process:
            time.sleep(taken * moments.uniform(0.3, 1.0))
            process.kill()
        assert kfgen.run(kfgen.generate()).returncode == 0
        assert outputs(kfgen.folder / "out") == expected[number - 1]
    assert not list((kfgen.folder / "cache").rglob("*.tmp"))


# Macros of C headers, members of generated classes, and what generated files call their own.
NAMES = [
    "options",
    "INT_MAX",
    "PATH_MAX",
    "__all__",
    "__file__",
    "errno",
    "major",
    "stdin",
    "EOF",
    "loaded",
    "try_load",
    "backward",
    "linux",
    "offsetof",
    "NULL",
    "SEEK_SET",
    "I",
    "NAN",
    "M_PI",
    "CHAR_BIT",
    "function_",
    "args",
    "encoder",
    "FFunction",
    "f",
    "np",
    "list",
    "property",
    "Any",
    "overload",
    "NamedTuple",
    "_module",
    "_kf",
    "unix",
    "alloca",
    "self",
    "fused",
    "call",
    "append_to",
    "accumulate",
    "Tensor",
    "Device",
    "Arg",
    "PassKind",
    "artifact_bytes",
    "checked",
    "_Exit",
    "__linux__",
    "BIG_ENDIAN",
    "device",
    "artifact",
    "chosen",
    "copy",
    "arguments",
    "result",
    "SIGINT",
    "FLT_MAX",
    "UINT8_C",
    "ERANGE",
    "main",
]
ARGUMENTS = ["errno", "INT_MAX", "major", "function_", "stdin", "Arg", "shape", "unix"]


def test_suspicious_names_compile_and_can_be_called(kfgen: Kfgen) -> None:
    parameters = ", ".join(f"float {name}" for name in ARGUMENTS)
    (kfgen.folder / "bend.slang").write_text(
        f"float bend(float x, {parameters}) {{ return x + unix; }}\n"
        "struct Macro { float major; float EOF; float size; }\n"
        "enum Macros : int { EOF = 1, unix = 2 };\n"
        "float of(Macro m, Macros k) { return m.EOF + int(k); }\n"
    )
    kinds = {"x": "tensor[1]", **dict.fromkeys(ARGUMENTS, "value")}
    calls = [{"function": "bend", "name": name, "args": kinds} for name in NAMES]
    calls.append({"function": "of", "name": "of", "args": {"m": "value", "k": "value"}})
    kfgen.spec.write_text(
        json.dumps({"version": 1, "name": "bend", "modules": ["bend.slang"], "calls": calls})
    )
    done = kfgen.run(kfgen.generate("--python", "--backend", "vulkan"))
    assert done.returncode == 0, done.stderr
    out = kfgen.folder / "out"
    include = Path(__file__).parents[2] / "runtime" / "include"
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=gnu++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Wconversion"]
    flags += ["-Werror", f"-I{include}", f"-I{out}"]
    done = kfgen.run([compiler, *flags, str(out / "bend.cpp")])
    assert done.returncode == 0, done.stderr
    text = (out / "bend.py").read_text()
    ast.parse(text)
    ast.parse((out / "bend.pyi").read_text())
    assigned = [line.split(" = ")[0] for line in text.splitlines() if " = _module.function(" in line]
    assert len(assigned) == len(set(assigned)) == len(calls)
    assert not set(assigned) & {"__all__", "__file__", "_module", "_kf", "np", "list", "property", "Any"}
