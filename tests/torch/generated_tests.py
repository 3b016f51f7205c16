"""The classes of tests that `kfgen generate --torch-tests` wrote for our own specs."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelfunctions.torch import testing

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("KF_BUILD_DIR", ROOT / "build" / "release")).resolve()
NAMED = os.environ.get("KF_TEST_MODULES", "")

#: What runs for every call. The rest depends on the forms of arguments and results, which calls share.
FOR_ALL = ("test_operator", "test_opcheck", "test_gradients", "test_no_second_derivatives", "test_tangents")

sys.path[:0] = [str(Path(__file__).parent / "inputs")]


def files() -> list[Path]:
    """The generated files: of the specs of Python's tests, and of the samples."""
    if NAMED:
        folders = [Path(name) for name in NAMED.split(":")]
    else:
        folders = [*(BUILD.parent / "generated").glob("*.generated"), *BUILD.rglob("*.generated")]
    found = {path.name: path for folder in folders for path in _files_in(folder)}
    # What numbers become is asked by tests/conformance, with arguments for everything that there is.
    return sorted(path for name, path in found.items() if not name.startswith("conformance_"))


def _files_in(folder: Path) -> list[Path]:
    """Its generated files; a folder of packages has them one deeper."""
    return [*folder.glob("*_torch_test.py"), *(folder.glob("*/*_torch_test.py") if NAMED else ())]


def classes() -> Iterator[tuple[str, type[testing.Operator]]]:
    """Each class with a name that no other spec's has: TestCallsAdd_1."""
    for path in files():
        sys.path.insert(0, str(path.parent))
        module = importlib.import_module(path.stem)
        spec = path.stem.removesuffix("_torch_test").title().replace("_", "")
        for name, one in vars(module).items():
            if isinstance(one, type) and issubclass(one, testing.Operator):
                yield f"Test{spec}{name.removeprefix('Test')}", one


def is_left_out(one: type[testing.Operator]) -> bool:
    """Whether inputs/ says so: a test that is there must run."""
    made: Any = one()
    return made._inputs.why_left_out(made._name) is not None


def features(one: type[testing.Operator]) -> set[str]:
    """What of a call's form changes how it is traced."""
    made: Any = one()
    found = {base.__name__ for base in one.__bases__}
    found |= {"shape"} if made.shape else set()
    found |= {f"{len(made.results)} results"}
    for place, leaves in (("argument", made.arguments), ("result", made.results)):
        for path, leaf in leaves.items():
            kind = f"{place} {leaf.form}"
            found.add(f"{kind} {leaf.scalar}")
            numbers = [extent for extent in leaf.shape if isinstance(extent, int)]
            found.add(f"{kind} of {len(numbers)} dimensions, {len(leaf.shape)} in all")
            found |= {f"{kind} in a struct"} if "." in path else set()
            found |= {f"{kind} in an array"} if "[" in path else set()
            for word in ("written", "gradient", "tangent", "whole", "contiguous", "combined"):
                if getattr(leaf, word):
                    found.add(f"{kind} {word}")
                    found |= {f"{kind} {word} in a struct"} if "." in path else set()
    return found


def covering() -> Iterator[tuple[str, type[testing.Operator]]]:
    """So few of the classes that each feature of a call's form is in one of them."""
    every = {name: (one, features(one)) for name, one in classes() if not is_left_out(one)}
    missing = set().union(*(held for _, held in every.values()))
    while missing:
        name = max(every, key=lambda other: len(every[other][1] & missing))
        one, held = every.pop(name)
        missing -= held
        yield name, one


def checks_of(one: type[testing.Operator]) -> list[str]:
    """The names of its tests."""
    return [name for name in dir(one) if name.startswith("test_") and callable(getattr(one, name))]
