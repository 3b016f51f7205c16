"""An argument, or a field of one, as all calls of a function have it: what a module may hold for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import torch

from kernelfunctions._kf import ArgumentError, Function
from kernelfunctions.torch._description import Call, Leaf, Parameter, describe
from kernelfunctions.torch._errors import error


def _listed(names: Sequence[str], meant: str) -> str:
    close = get_close_matches(meant, names, n=1)
    return f"it has {', '.join(names) or 'none'}" + (f": did you mean '{close[0]}'?" if close else "")


@dataclass(frozen=True)
class Place:
    """One argument or field, in every call that has it."""

    function: str
    path: str
    #: The calls, and what the argument is there.
    found: tuple[tuple[Call, Parameter], ...]

    def leaves(self) -> Iterator[tuple[Call, Leaf]]:
        """Calls, and what is passed there, of those that take it as one thing."""
        for call, parameter in self.found:
            if parameter.form == "leaf":
                yield call, call.leaves[parameter.leaf]

    def tensors(self) -> list[tuple[Call, Leaf]]:
        """The same of calls that take a tensor for it; for one number, or vector, a tensor of its shape."""
        return [(call, leaf) for call, leaf in self.leaves() if leaf.is_memory or leaf.passing == "value"]

    def fields(self) -> list[str]:
        """Returns the attributes of the fields that some call is given, "[0]" and so on of an array's.

        There are none where no call takes it by fields.
        """
        names: dict[str, None] = {}
        for call, parameter in self.found:
            if parameter.form != "fields":
                continue
            for field in parameter.fields:
                if field.form != "leaf" or call.leaves[field.leaf].passing != "nothing":
                    names[field.keyword] = None
        return list(names)

    def field(self, name: str) -> "Place":
        """Returns a field by its attribute or its name in Slang, an element by its number.

        Refuses what no call has.
        """
        found = tuple(
            (call, field)
            for call, parameter in self.found
            if parameter.form == "fields"
            for field in parameter.fields
            if field.keyword in (name, f"[{name}]") or field.name == name
        )
        if found:
            own = found[0][1].keyword
            path = self.path + own if own.startswith("[") else f"{self.path}.{own}"
            return Place(self.function, path, found)
        names = self.fields()
        if not names:
            raise self.error("unknown-name", f"no call takes it field by field, so there is no '{name}'")
        raise self.error("unknown-name", f"no field '{name}'; {_listed(names, name)}")

    def attribute(self, name: str) -> str:
        """Returns a field's attribute, which its name in Slang may stand for."""
        return self.field(name).found[0][1].keyword

    def error(self, code: str, text: str) -> ArgumentError:
        """Returns an error that names the function and the argument."""
        return error(code, f"{self.function}: argument '{self.path}': {text}")

    def check(self, dtype: torch.dtype, shape: Sequence[int] | None = None) -> None:
        """Refuses a tensor of a dtype that no call takes, and of a shape where all take one value."""
        leaves = [leaf for _, leaf in self.tensors()]
        if not leaves:
            raise self.error("type-mismatch", "no call takes a tensor for it")
        if any(leaf.passing == "pointer" or leaf.any_bytes for leaf in leaves):
            return
        taken = list(dict.fromkeys(leaf.dtype for leaf in leaves))
        if dtype not in taken:
            expected = " or ".join(str(one) for one in taken)
            raise self.error("type-mismatch", f"expected a tensor of {expected}, but got {dtype}")
        shapes = [leaf.extents for leaf in leaves if leaf.passing == "value"]
        if shape is not None and len(shapes) == len(leaves) and tuple(shape) not in shapes:
            expected = " or ".join(str(list(one)) for one in shapes)
            raise self.error(
                "shape-mismatch", f"expected a tensor of shape {expected}, but got {list(shape)}"
            )

    def is_written(self) -> bool:
        """Whether some call changes the tensor that it is given."""
        return any(leaf.is_mutated or leaf.is_made for _, leaf in self.tensors())

    def has_gradient(self) -> bool:
        """Whether some call has a gradient for the tensor."""
        return any(call.backward and leaf.differentiable for call, leaf in self.tensors())


class Arguments:
    """The arguments of a function's calls."""

    def __init__(self, function: Function) -> None:
        description = describe(function)
        self.function = description.name
        self._calls = [
            (call, {one.keyword: one for one in call.parameters if one.role != "result"})
            for call in description.calls
        ]

    def place(self, name: str) -> Place:
        """Returns an argument by name; refuses what no call has."""
        found = tuple((call, arguments[name]) for call, arguments in self._calls if name in arguments)
        if not found:
            names = list(dict.fromkeys(one for _, arguments in self._calls for one in arguments))
            text = f"{self.function}: no argument '{name}'; {_listed(names, name)}"
            raise error("unknown-name", text)
        return Place(self.function, name, found)

    def others(self, held: Sequence[str], whole: Sequence[str]) -> tuple[tuple[str, ...], bool]:
        """Returns what is given by position where `held` is held, and whether the calls agree about that.

        `whole`: those of `held` of which no field is left to give. Refuses what no call takes together.
        """
        lists = {
            tuple(name for name in arguments if name not in whole)
            for _, arguments in self._calls
            if all(name in arguments for name in held)
        }
        if not lists:
            raise error("no-overload", f"{self.function}: no overload takes {' and '.join(held)}")
        common: list[str] = []
        for column in zip(*lists, strict=False):
            if len(set(column)) > 1:
                break
            common.append(column[0])
        return tuple(common), len(lists) == 1
