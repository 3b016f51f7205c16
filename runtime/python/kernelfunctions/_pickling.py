"""Functions that pickle loads: by the generated module's import name and the function's name."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from kernelfunctions._kf import ArtifactError, Function, Module


def function(module: str, name: str, configuration: Mapping[str, Any] | None = None, /) -> Function:
    """Returns a function of a generated module, configured as it was when it was pickled.

    Pickles name this by its path, and so keep working with later versions. `configuration` has what options()
    and set() take as dicts, and threads() or groups() as a tuple; what it lacks wasn't set.
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
    if "set" in chosen:
        found = found.set(chosen["set"])
    return found
