"""Prints the slowest tests of all results in some folders: JUnit's, of ctest, GoogleTest and pytest.

usage: slowest.py FOLDER...
"""

import argparse
import sys
from pathlib import Path
from xml.etree import ElementTree

COUNT = 20


def tests(path: Path) -> list[tuple[float, str]]:
    """The seconds and the name of each test of a file; of one that was cut off none."""
    try:
        cases = ElementTree.parse(path).getroot().iter("testcase")
        return [
            (float(case.get("time", "0")), f"{path.stem}: {case.get('classname')}.{case.get('name')}")
            for case in cases
        ]
    except ElementTree.ParseError:
        return []


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    folders: list[Path] = parser.parse_args(arguments).folders
    # ctest's own are whole programs, whose tests stand by themselves.
    files = [path for folder in folders for path in folder.glob("*.xml") if ".ctest." not in path.name]
    found = sorted((test for path in files for test in tests(path)), reverse=True)
    print(f"The slowest {COUNT} of {len(found)} tests:")
    for seconds, name in found[:COUNT]:
        print(f"{seconds:8.1f} s  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
