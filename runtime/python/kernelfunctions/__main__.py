"""Lists the devices that kernels can run on: python -m kernelfunctions."""

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence

from kernelfunctions import DeviceError, DeviceInfo, __version__, default_device, devices

NO_DEVICE = """\
Kernels need one of these drivers:
  NVIDIA's GPUs              NVIDIA's driver, which has CUDA and Vulkan
  AMD's and Intel's GPUs     Mesa's Vulkan drivers: apt install libvulkan1 mesa-vulkan-drivers
  no GPU                     the same packages: their llvmpipe runs kernels on the processor
A container has to be given the driver: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all.
"""
DESCRIPTION = """Lists the devices that kernels can run on, with what they can do, and says which one is used
where none is named. The environment variable KF_DEVICE names one for a program."""
COLUMNS = ("DEVICE", "BACKEND", "NAME", "DRIVER")


def table(found: Sequence[DeviceInfo]) -> str:
    """Returns a line for each device, and its features below it."""
    rows = [COLUMNS, *((one.id, one.backend, one.name, one.driver) for one in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    indent = " " * (widths[0] + 2)
    features = [
        textwrap.fill(
            "features: " + " ".join(one.features), 100, initial_indent=indent, subsequent_indent=indent
        )
        for one in found
    ]
    below = [line for pair in zip(lines[1:], features, strict=True) for line in pair]
    return "\n".join([lines[0], *below]) + "\n"


def main() -> int:
    """Prints the table, and which device is used where none is named. Returns 1 where there is none."""
    argparse.ArgumentParser("python -m kernelfunctions", description=DESCRIPTION).parse_args()
    print(f"kernelfunctions {__version__}")
    found = devices()
    if found:
        print(table(found), end="")
    try:
        print(f"Used where none is named: {default_device().info.id}")
    except DeviceError as error:
        print(error, file=sys.stderr)
        if not found:
            print(NO_DEVICE, end="", file=sys.stderr)
        return 1
    return 0


def run() -> int:
    """Runs main(); ends without a traceback where nobody reads what it prints, or it can't be written."""
    try:
        code = main()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(
                f"python -m kernelfunctions: standard output can't be written: {error.strerror}",
                file=sys.stderr,
            )
        # Python flushes it again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(run())
