"""Which releases of PyTorch the package works with."""

import torch

#: The oldest one.
FLOOR = (2, 6)


def check_version() -> None:
    """Refuses older releases, by name."""
    found = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if found < FLOOR:
        raise ImportError(
            f"kernelfunctions works with PyTorch {FLOOR[0]}.{FLOOR[1]} and newer, found {torch.__version__}: "
            "pip install --upgrade torch"
        )
