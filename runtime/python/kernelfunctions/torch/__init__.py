"""kernelfunctions with PyTorch: operators, autograd, torch.compile and torch.func."""

from kernelfunctions.torch._version import check_version

check_version()

from kernelfunctions.torch._operator import Operator, operator, register  # noqa: E402

__all__ = ["Operator", "operator", "register"]
