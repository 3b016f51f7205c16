"""Runs programs of public repositories and compares what they compute with NumPy.

    PYTHONPATH=build/release/python python3 tests/public/run_programs.py --programs FOLDER

FOLDER holds checkouts of the repositories in REPOSITORIES, each in a folder owner+name, of the commits there.
Nothing is fetched: a repository that isn't there is skipped by name. Each program has a spec in specs/, which
finds its sources in `programs`, a link to FOLDER that is made beside a copy of the spec.

A table says how each program is used: unchanged; by keys of the spec, beside functions, kinds and search
paths; with edits to its source; or refused, with the id of the error. The exit code is 1 if a program does
something else than is declared: other values or gradients, an error, or no error where one is declared.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import integers
import kernelfunctions as kf
import kernels
import shading
import splats
from program import Program

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

REPOSITORIES = {
    "Giesch+vulkan-slang-renderer": "1eee614f86270e46fa22a3fd9911281b9dfb9d83",
    "KhronosGroup+Vulkan-Samples": "e2e4cf2386734a62115c8008dac44a6bb6868792",
    "NVIDIA-RTX+RTXNS": "c1fff30d64e1803823d88416da839ad592bcb791",
    "NVIDIAGameWorks+Falcor": "eb540f6748774680ce0039aaf3ac9279266ec521",
    "SaschaWillems+Vulkan": "9c8e787f96af0ea3a22791d8f70edb96246efe6c",
    "google+slang-gaussian-rasterization": "d152748df5c898991d6e9ffcef360ba8505de6a4",
    "nv-tlabs+3dgrut": "a37ef721012dea0f29c0fcfff2d525023b4e854a",
    "nvpro-samples+nvpro_core2": "7eb919cd86f3c9cdd871670f24b5300774e68d41",
    "nvpro-samples+vk_gaussian_splatting": "fb89d0946bb5fa0c6d4707fb387273e67d0bd18b",
    "shader-slang+optix-examples": "02fa85ae2f39400ced9a602531aa096589055076",
    "shader-slang+neural-shading-s25": "9fa23e744abe75bcc6de64477e5d96d64fd36876",
    "shader-slang+slang": "bec577b36efa6b3c6b9d3b26aa91c3e9717ee918",
    "shader-slang+slang-playground": "461eaa96be234fa269ffda7923439d14693e4b41",
    "shader-slang+slang-torch": "52e061a9425f8e2dc602dbf1ebb5a85aae1c793d",
    "shader-slang+slangpy-samples": "2d9959ca570d11689cd87aaf1b360ccf7cf9d54e",
    "zhongsitang+new-ever": "6b149cfc25bf4b763e46e78d2f75d8a62f3b1d7a",
}
PROGRAMS = [program for subject in (shading, splats, integers, kernels) for program in subject.PROGRAMS]


def place(program: Program, programs: Path, folder: Path, edited: bool) -> Path:
    """Copies the spec, and puts the programs beside it: a link, or folders of links around edited files."""
    folder.mkdir(parents=True)
    name = f"{program.name}.kf.json"
    spec = folder / name
    spec.write_text((HERE / "specs" / name).read_text())
    beside = folder / "programs"
    if not edited or not program.edits:
        beside.symlink_to(programs)
        return spec
    for edit in program.edits:
        path = Path(program.repository) / edit.path
        for part in reversed(path.parents):
            (beside / part).mkdir(exist_ok=True)
            for entry in (programs / part).iterdir():
                link = beside / part / entry.name
                if link.exists() or path.is_relative_to(part / entry.name):
                    continue
                # Files beside it are copied: Slang follows links, from where the old one would be included.
                if part == path.parent and entry.is_file():
                    shutil.copy(entry, link)
                else:
                    link.symlink_to(entry)
        target = beside / path
        text = (target if target.exists() else programs / path).read_text()
        if text.count(edit.old) != 1:
            raise AssertionError(f"{edit.path} has {edit.old!r} {text.count(edit.old)} times, not once")
        target.unlink(missing_ok=True)
        target.write_text(text.replace(edit.old, edit.new))
    return spec


def generate(kfgen: Path, spec: Path, target: str) -> tuple[int, str]:
    command = [str(kfgen), "generate", str(spec), "-o", str(spec.parent / "out"), "--python", "--quiet"]
    done = subprocess.run([*command, "--backend", target], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def errors(printed: str) -> str:
    """The first error, in one line."""
    lines = [line for line in printed.splitlines() if "error:" in line] or printed.splitlines()
    return lines[0].partition("error: ")[2] or lines[0] if lines else "nothing was printed"


def refusal(kfgen: Path, program: Program, programs: Path, folder: Path, target: str) -> str:
    """What is wrong with the refusal that is declared, or nothing."""
    code, printed = generate(kfgen, place(program, programs, folder, edited=False), target)
    if code == 0:
        return f"is not refused by [{program.error}]"
    if code != 1 or f"[{program.error}]" not in printed:
        return f"expected [{program.error}], found: {errors(printed)}"
    return ""


def run(kfgen: Path, program: Program, programs: Path, work: Path, target: str) -> str:
    """What differs from what is declared, or nothing."""
    if program.error:
        wrong = refusal(kfgen, program, programs, work / "refused" / program.name, target)
        if wrong or program.use == "refused":
            return wrong
    spec = place(program, programs, work / program.name, edited=True)
    code, printed = generate(kfgen, spec, target)
    if code != 0:
        return errors(printed)
    if program.lanes > 1 and kf.default_device().info.is_cpu:
        return ""
    sys.path.insert(0, str(spec.parent / "out"))
    try:
        module = importlib.import_module(program.name)
        assert program.check is not None
        program.check(module)
    except Exception as error:
        if "--trace" in sys.argv:
            traceback.print_exc()
        return " ".join(str(error).split())[:300] or type(error).__name__
    finally:
        sys.path.pop(0)
    return ""


def commit(folder: Path) -> str:
    """The commit that a folder has checked out, or nothing where it is no clone."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if (folder / ".git").exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kfgen", type=Path, default=ROOT / "build" / "release" / "tool" / "kfgen")
    parser.add_argument("--programs", type=Path, required=True, help="the folder with the checkouts")
    parser.add_argument("--target", choices=("vulkan", "cuda"), default="vulkan")
    parser.add_argument("--only", default="", help="programs whose names begin so")
    parser.add_argument("--trace", action="store_true", help="print where a check failed")
    options = parser.parse_args()
    os.environ.setdefault("GALLIVM_PERF", "nopt")  # Mesa's CPU driver compiles faster
    kf.set_device(os.environ.get("KF_DEVICE", options.target))
    present = {name for name in REPOSITORIES if (options.programs / name).is_dir()}
    for name, wanted in REPOSITORIES.items():
        if name not in present:
            print(f"{name} isn't in {options.programs}: its programs are skipped")
        elif (found := commit(options.programs / name)) and found != wanted:
            print(f"{name} is at {found}, and its programs were written for {wanted}")

    counts: Counter[str] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for program in PROGRAMS:
            if program.repository not in present or not program.name.startswith(options.only):
                continue
            start = time.monotonic()
            wrong = run(options.kfgen, program, options.programs.resolve(), Path(work), options.target)
            failed += bool(wrong)
            counts[program.use] += 1
            declared = f"{program.use}: {program.why}" if program.why else program.use
            ran = program.lanes == 1 or not kf.default_device().info.is_cpu
            good = "equal" if ran else f"generated; needs subgroups of {program.lanes} to run"
            good = f"[{program.error}]" if program.use == "refused" else good
            result = f"WRONG: {wrong}" if wrong else good
            seconds = time.monotonic() - start
            place_of = f"{program.repository}/{program.path}"
            print(f"{program.name:22} {declared:44} {seconds:6.1f} s  {result}  {place_of}", flush=True)
    print(", ".join(f"{counts[use]} {use}" for use in ("unchanged", "spec", "source", "refused")), end="")
    print(f"; {failed} not as declared")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
