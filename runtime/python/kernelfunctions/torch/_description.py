"""What a function's calls take and give, as the extension module describes them."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from kernelfunctions import _kf
from kernelfunctions.torch._errors import refuse

#: PyTorch's dtypes by the names that artifacts give scalars.
DTYPES: dict[str, torch.dtype] = {
    "bool": torch.bool,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
    "float16": torch.float16,
    "float32": torch.float32,
    "float64": torch.float64,
}


@dataclass(eq=False)
class Leaf:
    """One argument of a call, or one field of it: manifest::Argument."""

    index: int
    #: The first of the manifest's that it is, and how many these are.
    first: int
    count: int
    name: str
    role: str
    passing: str
    text: str
    access: str
    generator: str
    scalar: str
    extents: tuple[int, ...]
    rank: int
    call_rank: int
    trailing: tuple[int, ...]
    map: tuple[int, ...]
    differentiable: bool
    gradient: str
    overwrite: bool
    accumulate: str
    combined: bool
    contiguous: bool
    any_bytes: bool
    #: The extents of what the call makes for it: -1 - d is that of the call's dimension d.
    made: tuple[int, ...]
    #: Whether its last extents are those of structs, whose scalars a tensor of PyTorch's holds.
    is_struct: bool

    @property
    def dtype(self) -> torch.dtype:
        return DTYPES[self.scalar]

    @property
    def is_floating(self) -> bool:
        return self.scalar.startswith("float")

    @property
    def ndim(self) -> int:
        """Dimensions of the torch tensor that is given for it."""
        return self.rank + len(self.extents)

    @property
    def is_memory(self) -> bool:
        """Whether a tensor is given for it."""
        return self.passing in ("tensor", "buffer", "pointer")

    @property
    def is_texture(self) -> bool:
        """Whether a texture or a sampler is given for it."""
        return self.passing in ("texture", "sampler")

    @property
    def is_cast_by_autocast(self) -> bool:
        """Whether torch.autocast() may give it a copy of another type: of what is read alone."""
        return self.passing in ("tensor", "value") and self.is_floating and not self.is_mutated

    def laid_out(self, flow: torch.Tensor) -> torch.Tensor:
        """Returns what flows into it as the call spec wants its tensors: autograd expands gradients."""
        return flow.contiguous() if self.contiguous else flow

    @property
    def is_made(self) -> bool:
        """Whether the call makes it, unless it is given: a result, or an out parameter."""
        return self.role in ("out", "result")

    @property
    def is_mutated(self) -> bool:
        """Whether the call changes the memory that it is given for it."""
        return self.role == "inout" or self.access in ("write", "read_write", "add", "view", "view_written")


@dataclass(eq=False)
class Parameter:
    """A parameter, or a field of one, over a call's leaves: manifest::ParameterTree."""

    name: str
    #: What a call takes it by, of parameters; the attribute that holds it, of fields.
    keyword: str
    form: str
    type: str
    #: The generated class, or None.
    made_as: Any
    role: str
    leaf: int
    leaves: int
    extents: tuple[int, ...]
    fields: tuple["Parameter", ...]
    #: Whether the host passes nothing for it: a constant, or what the kernel makes itself.
    is_hidden: bool

    @property
    def is_array(self) -> bool:
        """Whether it is given element by element, as a list."""
        return self.form == "fields" and bool(self.extents)


@dataclass(eq=False)
class Call:
    """One overload of a function."""

    number: int
    text: str
    #: The named tuple that several results come in, or None.
    results: Any
    rank: int
    dispatch: str
    strict_broadcasting: bool
    backward: bool
    fused: bool
    leaves: tuple[Leaf, ...]
    #: Those that the host passes, in order; the result last.
    parameters: tuple[Parameter, ...]
    #: Those that come back, in the order in which they do: the result first.
    returned: tuple[Parameter, ...] = field(default=())

    @property
    def is_flat(self) -> bool:
        return all(parameter.form == "leaf" for parameter in self.parameters)


@dataclass(eq=False)
class Description:
    """A function with its configuration."""

    module: str
    name: str
    launch: tuple[Any, ...] | None
    deterministic: bool | None
    #: Whether it has globals that are set, or hooks.
    configured: bool
    jvp: bool
    calls: tuple[Call, ...]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The attributes and names in Slang of all fields of its structs."""
        names: dict[str, None] = {}
        left = [one for call in self.calls for one in call.parameters]
        while left:
            parameter = left.pop()
            left += parameter.fields
            if not parameter.is_array:
                names |= dict.fromkeys(name for one in parameter.fields for name in (one.keyword, one.name))
        return tuple(names)


def _parameter(described: dict[str, Any], leaves: tuple[Leaf, ...]) -> Parameter:
    return Parameter(
        name=described["name"],
        keyword=described.get("keyword", described["attribute"]),
        form=described["form"],
        type=described["type"],
        made_as=described["class"],
        role=described["role"],
        leaf=described["leaf"],
        leaves=described["leaves"],
        extents=described["extents"],
        fields=tuple(_parameter(one, leaves) for one in described["fields"]),
        is_hidden=described["form"] == "leaf" and leaves[described["leaf"]].passing == "nothing",
    )


def _call(number: int, described: dict[str, Any]) -> Call:
    leaves = tuple(Leaf(index, **one) for index, one in enumerate(described["leaves"]))
    every = tuple(_parameter(one, leaves) for one in described["parameters"])
    parameters = tuple(one for one in every if not one.is_hidden)
    returned = [one for one in parameters if one.role == "result"]
    # A method's object is changed in place, and doesn't come back.
    returned += [one for one in parameters if one.role in ("out", "inout") and one.name != "this"]
    words = [word for word in described if word not in ("leaves", "parameters")]
    return Call(
        number=number,
        leaves=leaves,
        parameters=parameters,
        returned=tuple(returned),
        **{word: described[word] for word in words},
    )


def describe(function: _kf.Function, outputs: Collection[str] | None = None) -> Description:
    """Returns what the function's calls take and give; `outputs`: the views that they write."""
    described = _kf.describe_calls(function)
    words = ("module", "name", "launch", "deterministic", "configured", "jvp")
    if outputs is not None:
        _state_outputs(described, outputs)
    calls = tuple(_call(number, one) for number, one in enumerate(described["calls"]))
    return Description(calls=calls, **{word: described[word] for word in words})


def _state_outputs(described: dict[str, Any], outputs: Collection[str]) -> None:
    """Makes views what they are said to be: written, or read."""
    views = {
        leaf["name"]
        for call in described["calls"]
        for leaf in call["leaves"]
        if leaf["access"] in ("view", "view_read")
    }
    for name in outputs:
        if name not in views:
            known = ", ".join(sorted(views)) or "none"
            refuse(
                "unknown-name", described["name"], "outputs", f"'{name}' is no view; its views are {known}"
            )
    for call in described["calls"]:
        for leaf in call["leaves"]:
            if leaf["access"] == "view":
                leaf["access"] = "view_written" if leaf["name"] in outputs else "view_read"
