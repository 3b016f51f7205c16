"""Circles of imports are found, however they are hidden."""

from pathlib import Path

import pytest
from import_cycles import import_cycles


def write(folder: Path, **sources: str) -> Path:
    package = folder / "pack"
    for name, text in {"__init__": "", **sources}.items():
        path = package / f"{name.replace('__in__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return package


@pytest.mark.parametrize(
    "hidden",
    [
        "from pack.a import f\n",
        "from pack import a\n",
        "from . import a\n",
        "from .a import f\n",
        "import pack.a\n",
        "def g():\n    from pack.a import f\n",
        "def g():\n    def h():\n        import pack.a\n",
    ],
)
def test_a_circle_is_found(tmp_path: Path, hidden: str) -> None:
    package = write(tmp_path, a="from pack.b import g\n", b=hidden)
    (circle,) = import_cycles(package)
    assert circle in ("pack.a imports pack.b imports pack.a", "pack.b imports pack.a imports pack.b")


def test_circles_through_packages(tmp_path: Path) -> None:
    package = write(tmp_path, a="from pack.sub import f\n", sub__in____init__="from pack.sub.c import f\n")
    (package / "sub/c.py").write_text("def f():\n    import pack.a\n")
    assert len(list(import_cycles(package))) == 1


def test_what_goes_one_way_is_none(tmp_path: Path) -> None:
    types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.a import F\n"
    package = write(
        tmp_path,
        __init__="from pack.a import f\n",
        a="import os\nfrom pack import b\n",
        b="import pack.c\n",
        c=types,
    )
    assert list(import_cycles(package)) == []


def test_extensions_are_modules_by_their_stubs(tmp_path: Path) -> None:
    package = write(tmp_path, __init__="from pack.a import f\n", a="from pack import _fast\n")
    assert len(list(import_cycles(package))) == 1
    (package / "_fast.pyi").write_text("from pack import a\n")
    assert list(import_cycles(package)) == []
