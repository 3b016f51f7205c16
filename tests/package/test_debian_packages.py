"""The Debian packages, installed by dpkg into a root that has what they depend on and nothing else."""

import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from roots import make_root, put

Run = Callable[..., str]
HERE = Path(__file__).parent
MAINTAINER = "Ada Lovelace <ada@example.org>"
LIBRARIES = {"libc6", "libgcc-s1", "libstdc++6"}

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(Consumer LANGUAGES CXX)
find_package(KernelFunctions 0.1 REQUIRED COMPONENTS runtime shared tool)
add_kernel_functions(scale SPEC scale.kf.json)
get_target_property(sources scale SOURCES)
add_custom_target(generated ALL DEPENDS ${sources})
set_target_properties(scale PROPERTIES EXCLUDE_FROM_ALL ON)
"""


class Debian(NamedTuple):
    """A root with the packages, and how it was before."""

    root: Path
    packages: dict[str, Path]
    before: set[Path]
    as_root: list[str]

    def enter(self, *command: str) -> str:
        """Returns what a program prints that succeeds in the root. There is no $ORIGIN without /proc."""
        environment = {"PATH": PATH, "LD_LIBRARY_PATH": "/usr/lib/kernelfunctions"}
        return self.started(["chroot", str(self.root), *command], environment)

    def dpkg(self, *arguments: str | Path) -> str:
        environment = {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"}
        command = [
            "dpkg",
            f"--root={self.root}",
            "--force-unsafe-io",
            "--log=/dev/null",
            *map(str, arguments),
        ]
        return self.started(command, environment)

    def started(self, command: list[str], environment: dict[str, str]) -> str:
        done = subprocess.run(
            [*self.as_root, *command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def files(self) -> set[Path]:
        """All but dpkg's own and the loader's cache."""
        own = (self.root / "var", self.root / "etc" / "ld.so.cache")
        return {
            path for path in self.root.rglob("*") if not any(path.is_relative_to(folder) for folder in own)
        }


def field(package: Path, name: str) -> str:
    done = subprocess.run(["dpkg-deb", "-f", package, name], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def here(names: set[str], run: Run) -> Iterator[Path]:
    """The shared libraries of packages of this system, with the loader."""
    for line in run("dpkg", "-L", *names).splitlines():
        if re.search(r"/(ld-linux[^/]*|lib[^/]*)\.so(\.[0-9.]+)?$", line) and "/gconv/" not in line:
            yield Path(line)


@pytest.fixture(scope="module")
def debian(build_dir: Path, tmp_path_factory: pytest.TempPathFactory, run: Run) -> Debian:
    folder = tmp_path_factory.mktemp("debian")
    told = {"COMPRESSION_TYPE": "none", "PACKAGE_MAINTAINER": MAINTAINER}
    options = [word for name, value in told.items() for word in ("-D", f"CPACK_DEBIAN_{name}={value}")]
    run("cpack", "-G", "DEB", "-B", folder / "made", *options, cwd=build_dir)
    packages = {field(file, "Package"): file for file in (folder / "made").glob("*.deb")}

    root = folder / "root"
    make_root(root)
    for file in {*here(LIBRARIES, run), Path("/bin/sh"), Path("/sbin/ldconfig")}:
        put(root, file)
    if Path("/sbin/ldconfig.real").exists():
        put(root, Path("/sbin/ldconfig.real"))
    database = root / "var" / "lib" / "dpkg"
    for name in ("info", "updates"):
        (database / name).mkdir(parents=True)
    for name in LIBRARIES:
        for listed in Path("/var/lib/dpkg/info").glob(f"{name}:*"):
            if listed.suffix in (".list", ".md5sums"):
                shutil.copy(listed, database / "info")
    (database / "status").write_text(run("dpkg-query", "-s", *sorted(LIBRARIES)))
    (root / "etc").mkdir(exist_ok=True)
    (root / "tmp").mkdir()
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    made = Debian(root, packages, set(), as_root)
    made.before.update(made.files())
    made.dpkg("--install", *packages.values())
    return made


def test_dpkg_installs_them(debian: Debian, run: Run) -> None:
    """What they depend on is there, and suffices."""
    assert set(debian.packages) == {"libkernelfunctions0.1", "libkernelfunctions-dev", "kfgen"}
    assert debian.dpkg("--audit") == ""
    states = run(
        "dpkg-query", f"--admindir={debian.root}/var/lib/dpkg", "-Wf", "${Package} ${db:Status-Abbrev}\n"
    )
    assert {line.split()[0] for line in states.splitlines() if line.endswith("ii ")} == {
        *debian.packages,
        *LIBRARIES,
    }
    for name in ("libkernelfunctions0.1", "kfgen"):
        depends = field(debian.packages[name], "Depends")
        assert set(re.findall(r"[\w.+-]+(?= \()", depends)) == LIBRARIES
    assert field(debian.packages["libkernelfunctions-dev"], "Depends") == "libkernelfunctions0.1 (= 0.1.0)"
    shlibs = run("dpkg-deb", "-I", debian.packages["libkernelfunctions0.1"], "shlibs")
    assert "libkf_runtime 0.1 libkernelfunctions0.1" in shlibs


def test_kfgen_runs_where_nothing_else_is(debian: Debian, source_dir: Path) -> None:
    version = re.search(
        r"project\(KernelFunctions VERSION (\S+)", (source_dir / "CMakeLists.txt").read_text()
    )
    assert version
    assert debian.enter("/usr/bin/kfgen", "--version") == f"kfgen {version[1]}\n"
    for name in ("scale.slang", "scale.kf.json"):
        shutil.copy(HERE / "consumer" / name, debian.root / "tmp")
    made = debian.enter("/usr/bin/kfgen", "generate", "/tmp/scale.kf.json", "-o", "/tmp/made", "--no-cache")
    assert "created: /tmp/made/scale.kfa" in made
    shutil.rmtree(debian.root / "tmp")
    (debian.root / "tmp").mkdir()


def test_what_else_is_installed(debian: Debian, build_dir: Path) -> None:
    usr = debian.root / "usr"
    for path in (
        *("bin/kfgen-check", "include/kf/kf.h", "lib/libkf_runtime.so.0.1.0", "lib/libkf_runtime.a"),
        *("share/kernelfunctions/kernelfunctions.schema.json", "share/doc/kernelfunctions/docs/cmake.md"),
    ):
        assert (usr / path).is_file(), path
    assert b"\n.TH KFGEN 1 " in gzip.decompress((usr / "share/man/man1/kfgen.1.gz").read_bytes())
    for shell, path in {
        "bash": "share/bash-completion/completions/kfgen",
        "zsh": "share/zsh/site-functions/_kfgen",
        "fish": "share/fish/vendor_completions.d/kfgen.fish",
    }.items():
        assert f"Written by `kfgen completion {shell}`" in (usr / path).read_text()
    searched = subprocess.run(
        ["readelf", "-d", usr / "bin/kfgen"], capture_output=True, text=True, check=True
    )
    assert "[$ORIGIN/../lib/kernelfunctions]" in searched.stdout
    for file in usr.rglob("*"):
        if file.is_file() and not file.is_relative_to(usr / "include"):
            assert os.fsencode(build_dir.parent.parent) not in file.read_bytes(), file


def test_who_made_them_and_under_which_licences(debian: Debian) -> None:
    doc = debian.root / "usr" / "share" / "doc"
    for package, file in debian.packages.items():
        assert field(file, "Maintainer") == MAINTAINER
        lines = field(file, "Description").splitlines()
        assert lines[0].startswith("GPU kernels from Slang functions: ")
        assert {line[0] for line in lines[1:]} == {" "}
        assert max(map(len, lines)) <= 80
        copyright_of = (doc / package / "copyright").read_text()
        assert "/usr/share/common-licenses/Apache-2.0" in copyright_of
        assert "LLVM Exceptions" in copyright_of
        assert "JSON for Modern C++" in copyright_of
        changes = gzip.decompress((doc / package / "changelog.gz").read_bytes()).decode()
        assert f"\n -- {MAINTAINER}  " in changes
    assert "glslang" in (doc / "kfgen" / "copyright").read_text()
    assert list(doc.rglob("LICENSE")) == []


def test_cmake_finds_them(debian: Debian, tmp_path: Path, run: Run) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    for name in ("scale.slang", "scale.kf.json"):
        shutil.copy(HERE / "consumer" / name, tmp_path)
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={debian.root / 'usr'}")
    run("cmake", "--build", build)
    (artifact,) = build.rglob("scale.kfa")
    assert artifact.is_file()


def test_a_maintainer_has_to_be_named(build_dir: Path, tmp_path: Path) -> None:
    command = ["cpack", "-G", "DEB", "-B", str(tmp_path), "-D", "CPACK_DEBIAN_PACKAGE_MAINTAINER="]
    done = subprocess.run(command, cwd=build_dir, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert 'give cpack -D CPACK_DEBIAN_PACKAGE_MAINTAINER="Name <address>"' in said
    assert list(tmp_path.glob("*.deb")) == []


def test_removal_leaves_nothing(debian: Debian) -> None:
    """The last one: the packages are gone then."""
    debian.dpkg("--purge", *debian.packages)
    assert debian.files() == debian.before
