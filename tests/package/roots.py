"""Root file systems that have files of this system at the places that they have here."""

import os
import shutil
from pathlib import Path


def make_root(root: Path) -> None:
    """Makes one without files. /lib and the like are links into /usr in it where they are here: packages list
    the loader in /usr, and programs look for it in /lib64."""
    root.mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        here = Path("/") / name
        if here.is_symlink():
            (root / here.readlink()).mkdir(parents=True)
            (root / name).symlink_to(here.readlink())


def put(root: Path, file: Path) -> None:
    """Puts a file of this system at the same place of another."""
    there = root / file.relative_to("/")
    there.parent.mkdir(parents=True, exist_ok=True)
    if not there.exists():
        try:
            os.link(file.resolve(), there)
        except OSError:
            shutil.copy(file, there)
