"""Words for what users of other packages look for."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kernelfunctions._kf import ArgumentTypeError, Buffer, Differentiable, Function, Module, Tensor
from kernelfunctions._modules import ModuleFunctions

if TYPE_CHECKING:
    from typing_extensions import Self


def get_function(module: ModuleType | Module | ModuleFunctions, name: str) -> Function:
    """Returns a function of a generated module: get_function(shade, "add"), or "Scaler.scaled" of a method.

    Raises ArgumentError (unknown-name).
    """
    find: Callable[[str], Function]
    if isinstance(module, ModuleFunctions):
        known, find = list(module._functions), module._functions.__getitem__
    else:
        loaded = getattr(module, "_module", module)
        if not isinstance(loaded, Module):
            text = f"get_function: argument 'module': a generated module is needed, not {module!r:.60}"
            raise _error(text, "type-mismatch")
        known, find = loaded.functions, loaded.function
    if name not in known:
        close = get_close_matches(str(name), known, n=1)
        meant = f": did you mean '{close[0]}'?" if close else ""
        text = f"get_function: '{name}' is no function of the module; it has {', '.join(known)}{meant}"
        raise _error(text, "unknown-name")
    return find(name)


def _error(text: str, code: str) -> ArgumentTypeError:
    error = ArgumentTypeError(text)
    error.code = code
    return error


class Shape(tuple[int, ...]):
    """Extents in NumPy's order, Shape(256, 256): what shape= and grids take, and arrays have as shape."""

    __slots__ = ()

    def __new__(cls, *extents: int | Iterable[int]) -> "Self":
        """Takes the extents one by one, or all together."""
        given: Any = extents[0] if len(extents) == 1 and isinstance(extents[0], Iterable) else extents
        for extent in (given := tuple(given)):
            if not hasattr(extent, "__index__") or isinstance(extent, bool):
                raise _error(f"Shape: an extent is an int, not {extent!r:.60}", "type-mismatch")
            if extent < 0:
                raise _error(f"Shape: {extent} is not an extent", "value-range")
        return super().__new__(cls, (int(extent) for extent in given))

    def __repr__(self) -> str:
        return f"Shape({', '.join(map(str, self))})"


def is_differentiable_like(value: Any) -> bool:
    """Whether backward calls can add a gradient to the value itself: it has `grad`, and says whether it is
    needed.

    A floating kf.Tensor, kf.differentiable(), a floating torch.Tensor, or what has `grad` and `needs_grad`.
    """
    if isinstance(value, Differentiable):
        return True
    if isinstance(value, Buffer):
        return False
    if isinstance(value, Tensor):
        return value.dtype.kind in "fV"
    if hasattr(value, "requires_grad") and hasattr(value, "is_floating_point"):
        return bool(value.is_floating_point())
    return hasattr(value, "grad") and hasattr(value, "needs_grad")
