"""What pickle loads: tensors, and functions and results by the names of their module and function."""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from kernelfunctions._kf import (
    ArtifactError,
    Device,
    Function,
    Module,
    Tensor,
    default_device,
    describe_calls,
    devices,
)


def results_class(name: str, fields: Sequence[str], module: str, function_name: str) -> type[Any]:
    """Returns the class of named tuples that a function's results come in.

    Like those that PyTorch's own functions return, it takes one sequence of all values, too. `module` is
    empty for functions of a module that was loaded from a file.
    """
    made: Any = namedtuple(name, fields)  # type: ignore[misc]
    construct = made.__new__

    def new(kind: Any, *values: Any, **named: Any) -> Any:
        if len(values) == 1 and not named:
            return kind._make(values[0])
        return construct(kind, *values, **named)

    def reduce(held: Any) -> Any:
        return results, (name, held._fields, module, function_name, tuple(held))

    # The class itself stays a named tuple's, which PyTorch looks for.
    setattr(made, "__new__", new)  # noqa: B010
    setattr(made, "__reduce__", reduce)  # noqa: B010
    return made


def results(
    name: str, fields: Sequence[str], module: str, function_name: str, values: tuple[Any, ...], /
) -> Any:
    """Returns results that were pickled, in their function's class where it has the same fields still."""
    kind: Any = None
    if module:
        kind = describe_calls(function(module, function_name))["calls"][0]["results"]
    if kind is None or kind._fields != fields:
        kind = results_class(name, fields, module, function_name)
    return kind._make(values)


@cache
def _opened(name: str) -> Device:
    return Device.open(name)


def _device(name: str) -> Device:
    """Returns the device of that id, opened once, or the default one where it isn't here."""
    default = default_device()
    is_other = default.info.id != name and any(one.id == name for one in devices())
    return _opened(name) if is_other else default


def tensor(array: Any, device: str, name: str, grad_in: Any = None, grad_out: Any = None, /) -> Tensor:
    """Returns a tensor that was pickled, on the device of that id, or on the default one where it isn't here.

    Pickles name this by its path, as they do function().
    """
    here = _device(device)
    made = Tensor.from_numpy(array, device=here, name=name or None)
    if grad_in is None and grad_out is None:
        return made
    flows_in = None if grad_in is None else Tensor.from_numpy(grad_in, device=here)
    flows_out = flows_in
    if grad_out is not grad_in:
        flows_out = None if grad_out is None else Tensor.from_numpy(grad_out, device=here)
    return made.with_grads(grad_in=flows_in, grad_out=flows_out)


def function(module: str, name: str, configuration: Mapping[str, Any] | None = None, /) -> Function:
    """Returns a function of a generated module, configured as it was when it was pickled.

    Pickles name this by its path, and so keep working with later versions. `configuration` has what options()
    and set() take as dicts, threads() or groups() as a tuple, and return_type() by name; what it lacks
    wasn't set.
    """
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        text = f"the pickled function '{name}' is of the generated module '{module}': {error}"
        raise ModuleNotFoundError(text, name=error.name, path=error.path) from error
    loaded = getattr(imported, "_module", None)
    if not isinstance(loaded, Module):
        text = f"the pickled function '{name}' is of '{module}', which is no generated module any more"
        raise ArtifactError(text)
    found: Function = loaded._pickled_function(name)
    chosen = dict(configuration or {})
    if "options" in chosen:
        found = found.options(**chosen["options"])
    if "threads" in chosen:
        found = found.threads(*chosen["threads"])
    if "groups" in chosen:
        found = found.groups(*chosen["groups"])
    if "return_type" in chosen:
        found = found.return_type(chosen["return_type"])
    if "set" in chosen:
        found = found.set(chosen["set"])
    return found
