"""What cmake/packages.py makes besides wheels and Debian packages: the archive, and the sums.

tests/root/packages.sh installs and uses all that it makes.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "cmake"))

import packages

LARGEST = 30_000_000
TIME = 1_700_000_000


@pytest.fixture(scope="module")
def archive(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", str(TIME))
        return packages.pack_archive(build_dir, tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def unpacked(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    (top,) = folder.iterdir()
    assert top.name == archive.name.removesuffix(".tar.gz")
    return top


def test_the_archive_is_an_installation_without_python(archive: Path, unpacked: Path) -> None:
    assert archive.stat().st_size < LARGEST
    for path in (
        *("bin/kfgen", "bin/kfgen-check", "include/kf/kf.h", "lib/libkf_runtime.a", "lib/libkf_runtime.so"),
        *("lib/cmake/KernelFunctions/KernelFunctionsConfig.cmake", "share/man/man1/kfgen.1"),
        *("share/doc/kfgen/third_party_licenses.txt", "share/doc/kernelfunctions-runtime/LICENSE"),
    ):
        assert (unpacked / path).is_file(), path
    assert list(unpacked.rglob("site-packages")) == []


def test_the_archive_says_nothing_of_who_made_it(archive: Path, unpacked: Path, build_dir: Path) -> None:
    with tarfile.open(archive) as opened:
        members = opened.getmembers()
    assert {(member.uid, member.gid, member.uname, member.mtime) for member in members} == {
        (0, 0, "root", TIME)
    }
    assert {member.mode for member in members if not member.issym()} == {0o755, 0o644}
    names = [member.name for member in members]
    assert names == sorted(names, key=lambda name: name.split("/"))
    for file in unpacked.rglob("*"):
        if file.is_file() and not file.is_relative_to(unpacked / "include"):
            assert os.fsencode(build_dir.parent.parent) + b"/" not in file.read_bytes(), file


def test_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    for name in ("b.deb", "a.whl"):
        (tmp_path / name).write_text(name)
    packages.write_sums(tmp_path)
    packages.write_sums(tmp_path)
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "a.whl: OK\nb.deb: OK\n"


def test_who_answers_for_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "CMakeCache.txt"
    cache.write_text("KF_PACKAGE_MAINTAINER:STRING=Ada <ada@example.org>\n")
    monkeypatch.setenv("DEBFULLNAME", "Grace")
    monkeypatch.setenv("DEBEMAIL", "grace@example.org")
    assert packages.maintainer(tmp_path) == "Grace <grace@example.org>"
    monkeypatch.delenv("DEBEMAIL")
    assert packages.maintainer(tmp_path) == "Ada <ada@example.org>"
    cache.write_text("KF_PACKAGE_MAINTAINER:STRING=\n")
    for name, value in {"user.name": "Git", "user.email": "git@example.org"}.items():
        number = 0 if name == "user.name" else 1
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", name)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    assert packages.maintainer(tmp_path) == "Git <git@example.org>"


def test_what_was_made_before_stays(build_dir: Path, source_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    script = source_dir / "cmake" / "packages.py"
    done = subprocess.run(
        [sys.executable, script, "--build", build_dir, "--output", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr == f"{tmp_path} isn't empty\n"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
