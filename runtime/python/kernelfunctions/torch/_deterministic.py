"""PyTorch's setting of deterministic algorithms, for kernels."""

import warnings

import torch

from kernelfunctions.torch._errors import error


def alert(name: str, summed: str) -> None:
    """Says that a pass has no deterministic kernels, as PyTorch is set: by an error, or by a warning.

    The extension module asks for such kernels where PyTorch is set so, and calls this where there are none.
    `summed`: a tensor to which the function itself adds, atomically; empty for sums that kernels make for it.
    """
    text = (
        f"{name} does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. "
    )
    cure = 'Say "backward": {"deterministic": "auto"} in its call spec'
    if summed:
        cure = f"It adds to '{summed}' in whatever order: give a function that returns what is summed"
    if not torch.is_deterministic_algorithms_warn_only_enabled():
        others = ", turn off determinism just for this operation, or use the 'warn_only=True' option."
        raise error("no-deterministic-kernel", text + cure + others)
    warnings.warn(text + f"{cure}.", stacklevel=2)
