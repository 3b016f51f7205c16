"""Packs everything that a release holds from a build tree, without compiling anything again.

    .venv/bin/python3 cmake/packages.py --build build/release --output build/packages

Makes the wheels and source distributions of kernelfunctions and kfgen, an archive of the installation, the
Debian packages, and SHA256SUMS of them all. The same build of the same commit makes the same files, byte for
byte.
"""

import getpass
import gzip
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from wheels import DISTRIBUTIONS, EPOCH, ROOT, pack, packing_parser, run

#: What is installed from the archive: all components but `python`, for which there is a wheel.
ARCHIVED = ("runtime", "development", "tool")
SUMS = "SHA256SUMS"
BUILD_SDIST = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"


def printed(*command: str) -> str:
    """Returns what a command prints about the checkout, or "" where it fails or isn't installed."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def from_cache(build: Path, name: str) -> str:
    """Returns the value of a variable in a build tree's CMakeCache.txt, or "" if it isn't there."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.partition("=")[2]
    return ""


def maintainer(build: Path) -> str:
    """Returns who answers for the Debian packages: DEBEMAIL, else who the build tree names, else the user."""
    if email := os.environ.get("DEBEMAIL"):
        return f"{os.environ.get('DEBFULLNAME', '')} <{email}>".strip()
    if named := from_cache(build, "KF_PACKAGE_MAINTAINER"):
        return named
    name, email = printed("git", "config", "user.name"), printed("git", "config", "user.email")
    user = getpass.getuser()
    return f"{name or user} <{email or f'{user}@{platform.node()}'}>"


def pack_wheels(build: Path, output: Path) -> None:
    for name in DISTRIBUTIONS:
        pack(name, build, output)


def pack_sources(output: Path) -> None:
    for folder, _ in DISTRIBUTIONS.values():
        run(sys.executable, "-c", BUILD_SDIST, output, cwd=folder)


def pack_archive(build: Path, output: Path) -> Path:
    """Packs the installation, which runs in any folder, and returns the archive's path."""
    version = from_cache(build, "CMAKE_PROJECT_VERSION")
    name = f"kernelfunctions-{version}-{platform.system()}-{platform.machine()}"
    path = output / f"{name}.tar.gz"

    def same_for_all(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        # Whatever the umask was.
        if not member.issym():
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with tempfile.TemporaryDirectory() as scratch:
        prefix = Path(scratch) / name
        for component in ARCHIVED:
            run("cmake", "--install", build, "--component", component, "--prefix", prefix, "--strip")
        # Slang's libraries are no targets of CMake's, which strips its targets alone.
        for library in prefix.glob("lib*/**/kernelfunctions/*.so*"):
            if not library.is_symlink():
                run(from_cache(build, "CMAKE_STRIP") or "strip", "--strip-unneeded", library)
        with (
            path.open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed,
            tarfile.open(fileobj=compressed, mode="w") as archive,
        ):
            # In the names' order: add() sorts what is in a folder.
            archive.add(prefix, name, filter=same_for_all)
    return path


def pack_debian(build: Path, output: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        options = ("-D", f"CPACK_DEBIAN_PACKAGE_MAINTAINER={maintainer(build)}")
        run("cpack", "-G", "DEB", "-B", scratch, *options, cwd=build)
        for package in Path(scratch).glob("*.deb"):
            shutil.move(package, output / package.name)


def write_sums(folder: Path) -> None:
    """Writes what `sha256sum --check` reads, of every file in a folder."""
    paths = sorted(path for path in folder.iterdir() if path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths]
    (folder / SUMS).write_text("".join(lines))


def main() -> None:
    options = packing_parser(
        "packs everything that a release holds from a build tree", "packages"
    ).parse_args()
    build, output = options.build.resolve(), options.output.resolve()
    if output.exists() and any(output.iterdir()):
        sys.exit(f"{output} isn't empty")
    output.mkdir(parents=True, exist_ok=True)
    # The time in all packages is that of the commit.
    os.environ.setdefault("SOURCE_DATE_EPOCH", printed("git", "log", "-1", "--format=%ct") or EPOCH)
    pack_wheels(build, output)
    pack_sources(output)
    pack_archive(build, output)
    pack_debian(build, output)
    write_sums(output)
    for path in sorted(output.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}")


if __name__ == "__main__":
    main()
