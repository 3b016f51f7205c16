"""A generated module's functions as operators of PyTorch."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from kernelfunctions._functions import attributes_of
from kernelfunctions._kf import Module, _trace_calls

if TYPE_CHECKING:
    from kernelfunctions.torch import Operator

_numbers = count()

#: By number, so that traced code names one by a constant.
_every: "WeakValueDictionary[str, TorchFunctions]" = WeakValueDictionary()


def _key_of(number: str, name: str) -> str:
    return _every[number]._find(name).key


# What torch.compiler.assume_constant_result() does, without PyTorch.
setattr(_key_of, "_dynamo_marked_constant", True)  # noqa: B010


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls the function."""
    # This is what torch.compile traces. Calls as such are made by the extension.
    if "torch" in sys.modules:
        from torch.compiler import is_dynamo_compiling  # noqa: PLC0415

        if is_dynamo_compiling():
            from kernelfunctions.torch._compiled import compiled_call  # noqa: PLC0415

            return compiled_call(self._torch_key, args, kwargs, self._torch_globals)
    return self.call(*args, **kwargs)


_call.__name__ = "__call__"
_call.__qualname__ = "Function.__call__"
_trace_calls(_call, attributes_of)


def _traced(call: Callable[..., Any], key: str, *args: Any, **kwargs: Any) -> Any:
    return call(key, args, kwargs)


class TorchFunctions:
    """The functions as attributes, each an operator; methods as "Scaler_scaled". PyTorch is imported then."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._is_registered = False
        self._number = str(next(_numbers))
        _every[self._number] = self

    def register(self) -> None:
        """Registers all functions' operators, torch.ops.NAME.f: for exported programs that are loaded."""
        from kernelfunctions.torch import register  # noqa: PLC0415

        if not self._is_registered:
            register(self._module)
            self._is_registered = True

    def __getattr__(self, name: str) -> "Operator":
        if name.startswith("__"):
            raise AttributeError(name)
        # What follows is traced by torch.compile where it meets an operator first.
        from torch.compiler import is_dynamo_compiling  # noqa: PLC0415

        if is_dynamo_compiling():
            from kernelfunctions.torch._compiled import compiled_call  # noqa: PLC0415

            traced: Any = partial(_traced, compiled_call, _key_of(self._number, name))
            return traced  # type: ignore[no-any-return]
        made = self.__dict__[name] = self._find(name)
        return made

    def _find(self, name: str) -> "Operator":
        known = {one.replace(".", "_"): one for one in self._module.functions}
        wanted = known.get(name) or known.get(name.rstrip("_"))
        if wanted is None:
            raise AttributeError(f"{self._module.name} has no function '{name}'; it has {', '.join(known)}")
        self.register()
        return self._module.function(wanted).torch()

    def __dir__(self) -> list[str]:
        return ["register", *(one.replace(".", "_") for one in self._module.functions)]

    def __repr__(self) -> str:
        return f"<operators of {self._module.name}>"
