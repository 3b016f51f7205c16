"""A generated module's functions as operators of PyTorch."""

from typing import TYPE_CHECKING

from kernelfunctions._kf import Module

if TYPE_CHECKING:
    from kernelfunctions.torch import Operator


class TorchFunctions:
    """The functions as attributes, each an operator; methods as "Scaler_scaled". PyTorch is imported then."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._is_registered = False

    def register(self) -> None:
        """Registers all functions' operators, torch.ops.NAME.f: for exported programs that are loaded."""
        from kernelfunctions.torch import register  # noqa: PLC0415

        if not self._is_registered:
            register(self._module)
            self._is_registered = True

    def __getattr__(self, name: str) -> "Operator":
        if name.startswith("__"):
            raise AttributeError(name)
        known = {one.replace(".", "_"): one for one in self._module.functions}
        wanted = known.get(name) or known.get(name.rstrip("_"))
        if wanted is None:
            raise AttributeError(f"{self._module.name} has no function '{name}'; it has {', '.join(known)}")
        self.register()
        made = self._module.function(wanted).torch()
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return ["register", *(one.replace(".", "_") for one in self._module.functions)]

    def __repr__(self) -> str:
        return f"<operators of {self._module.name}>"
