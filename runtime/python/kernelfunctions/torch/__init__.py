"""kernelfunctions with PyTorch: operators, modules, autograd, torch.compile and torch.func."""

from kernelfunctions.torch._version import check_version

check_version()

from kernelfunctions.torch._module import FieldsModule, FunctionModule, module  # noqa: E402
from kernelfunctions.torch._operator import Operator, operator, register  # noqa: E402
from kernelfunctions.torch._shared import shared_pool  # noqa: E402

__all__ = ["FieldsModule", "FunctionModule", "Operator", "module", "operator", "register", "shared_pool"]
