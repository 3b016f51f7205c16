"""kf.torch.module(): a function as a torch.nn.Module, some of whose arguments are its parameters."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from kernelfunctions._kf import Function, Tensor
from kernelfunctions._structs import BoundFunction, Struct
from kernelfunctions.torch._errors import error
from kernelfunctions.torch._operator import Operator, operator
from kernelfunctions.torch._places import Arguments, Place

#: How a module holds what it has for an argument or a field: as a tensor, a submodule, or the value itself.
TENSOR, FIELDS, CONSTANT = "tensor", "fields", "constant"


def module(
    function: Function | Operator | BoundFunction,
    parameters: Mapping[str, Any] | None = None,
    *,
    buffers: Mapping[str, Any] | None = None,
    copy: bool = True,
) -> "FunctionModule":
    """Returns a torch.nn.Module that calls the function; the other arguments are given to forward().

    `parameters` are values by argument: {"weights": tensor, "ray.origin": tensor, "size": (64, 64)}. A tensor
    that the function has a gradient for becomes an nn.Parameter, another one a buffer; the tensors of a
    struct are a submodule's; what isn't a tensor stays as it is. `buffers` are tensors that are not trained.
    An nn.Parameter, and a leaf that requires gradients, is taken as it is, so that modules and optimisers can
    share it; other tensors are copied, or, with copy=False, share their memory with what becomes of them.
    """
    held = dict(parameters or {})
    if isinstance(function, BoundFunction):
        made: Any = function.torch()  # to users the type is the stub's
        function = made
    if isinstance(function, Operator):
        if function.before:
            if any(name.split(".")[0] == "this" for name in held):
                raise error("type-mismatch", f"{function.function.name}: argument 'this' is given twice")
            held["this"] = function.before[0]
        function = function.function
    if not isinstance(function, Function):
        text = f"kf.torch.module() takes a function or its torch(), not {type(function).__name__}"
        raise error("type-mismatch", text)
    return FunctionModule(function, held, dict(buffers or {}), copy=copy)


def _is_array(value: Any) -> bool:
    """Whether it stands for an array of structs: a list, but no named tuple, which is a struct."""
    return isinstance(value, (list, tuple)) and not hasattr(value, "_fields")


def _items(place: Place, value: Any) -> list[tuple[str, Any]]:
    """Returns the fields of what stands for a struct, or the elements of what stands for an array of them."""
    names = place.fields()
    if not names or isinstance(value, (torch.Tensor, Tensor, np.ndarray)):
        return []
    if names[0].startswith("["):
        return [(f"[{i}]", item) for i, item in enumerate(value)] if _is_array(value) else []
    if isinstance(value, Mapping):
        return [(name, item) for name, item in value.items() if name != "_type"]
    fields: Any = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", ())
    return [(name, getattr(value, name)) for name in fields]


def _holds_tensors(place: Place, value: Any) -> bool:
    if isinstance(value, (torch.Tensor, Tensor)):
        return True
    if isinstance(value, np.ndarray):
        leaves = [leaf for _, leaf in place.leaves()]
        is_value = any(leaf.passing == "value" and leaf.extents == value.shape for leaf in leaves)
        return not is_value and any(leaf.is_memory for leaf in leaves)
    return any(_holds_tensors(place.field(name), item) for name, item in _items(place, value))


class _Taker:
    """Makes parameters and buffers of tensors."""

    def __init__(self, *, copy: bool, trained: bool) -> None:
        self._copy = copy
        self._trained = trained

    def take(self, place: Place, value: Any) -> torch.Tensor:
        """Returns the nn.Parameter, or the tensor for a buffer; refuses what calls can't take."""
        if isinstance(value, Tensor):
            raise place.error(
                "type-mismatch", "a torch.Tensor is needed, not a kf.Tensor: torch.from_dlpack()"
            )
        if isinstance(value, np.ndarray):
            value = torch.from_numpy(value)
        place.check(value.dtype, value.shape)
        if isinstance(value, nn.Parameter):
            self._check_parameter(place, value)
            return value
        is_parameter = (
            self._trained and value.is_floating_point() and place.has_gradient() and not place.is_written()
        )
        if is_parameter and value.requires_grad and value.is_leaf:
            # An optimiser may hold it. PyTorch takes a tensor with this mark for an nn.Parameter.
            marked: Any = value
            marked._is_param = True
            return value
        held = value.detach()
        if self._copy:
            held = held.clone()
        return nn.Parameter(held) if is_parameter else held

    def _check_parameter(self, place: Place, value: nn.Parameter) -> None:
        if not self._trained:
            raise place.error("type-mismatch", "a Parameter can't be a buffer: give its detach()")
        if place.is_written():
            raise place.error("type-mismatch", "the call writes it: give a tensor, which becomes a buffer")
        if value.requires_grad and not place.has_gradient():
            text = "it has no gradient: give a tensor, which becomes a buffer"
            raise place.error("not-differentiable", text)


class _Holder(nn.Module):
    """Tensors, submodules and values, each for an argument or a field of one."""

    def __init__(self) -> None:
        super().__init__()
        #: Arguments, how each is held, and the attribute's name, or the value.
        self._kf_entries: tuple[tuple[str, str, Any], ...] = ()

    def _kf_find(self, name: str) -> tuple[str, Any]:
        """Returns how an argument is held, and where; "" for what isn't held."""
        return next(((kind, stored) for known, kind, stored in self._kf_entries if known == name), ("", None))

    def _kf_add(self, name: str, kind: str, held: Any) -> None:
        """A name that every nn.Module has takes an underscore."""
        stored = held
        if kind != CONSTANT:
            stored = name.strip("[]")
            while hasattr(self, stored):
                stored += "_"
        if kind == FIELDS:
            self.add_module(stored, held)
        elif kind == TENSOR and isinstance(held, nn.Parameter):
            self.register_parameter(stored, held)
        elif kind == TENSOR:
            self.register_buffer(stored, held)
        self._kf_entries += ((name, kind, stored),)

    def _kf_hold(self, place: Place, name: str, value: Any, taker: _Taker) -> None:
        if self._kf_find(name)[0]:
            raise place.error("type-mismatch", "it is given twice")
        if not _holds_tensors(place, value):
            self._kf_add(name, CONSTANT, value)
            return
        items = _items(place, value)
        if not items:
            self._kf_add(name, TENSOR, taker.take(place, value))
            return
        fields = FieldsModule(type(value) if isinstance(value, Struct) else None, is_array=_is_array(value))
        for field, item in items:
            fields._kf_hold(place.field(field), place.attribute(field), item, taker)
        self._kf_add(name, FIELDS, fields)

    def _kf_hold_path(self, place: Place, name: str, path: list[str], value: Any, taker: _Taker) -> None:
        """Holds the field of a dotted name: the submodule has some fields, and others are given."""
        if not path:
            self._kf_hold(place, name, value, taker)
            return
        field = place.field(path[0])
        if not self._kf_find(name)[0]:
            self._kf_add(name, FIELDS, FieldsModule(None, is_array=place.attribute(path[0]).startswith("[")))
        kind, stored = self._kf_find(name)
        if kind != FIELDS:
            raise field.error("type-mismatch", f"it is given twice, by '{name}' too")
        getattr(self, stored)._kf_hold_path(field, place.attribute(path[0]), path[1:], value, taker)

    def _kf_tensors(self, place_of: Callable[[str], Place]) -> Iterator[tuple[Place, torch.Tensor]]:
        """Yields the tensors that are held, and what each is for."""
        for name, kind, stored in self._kf_entries:
            if kind == FIELDS:
                yield from getattr(self, stored)._kf_tensors(place_of(name).field)
            elif kind == TENSOR and getattr(self, stored) is not None:
                yield place_of(name), getattr(self, stored)

    def _kf_values(self, given: Mapping[str, Any], function: str, path: str) -> dict[str, Any]:
        """Returns what is held and what is given beside it; some fields of a struct may be either.

        `path` goes before the names in errors.
        """
        values = dict(given)
        for name, kind, stored in self._kf_entries:
            if kind == FIELDS:
                values[name] = getattr(self, stored)._kf_value(values.get(name), function, path + name)
            elif name in values:
                text = f"{function}: argument '{path}{name}': it is given, and the module holds it"
                raise error("type-mismatch", text)
            else:
                values[name] = getattr(self, stored) if kind == TENSOR else stored
        return values

    def extra_repr(self) -> str:
        lines = []
        for name, kind, stored in self._kf_entries:
            if kind == CONSTANT:
                lines.append(f"({name}): {stored!r}")
            elif kind == TENSOR:
                tensor = getattr(self, stored)
                what = "Parameter" if isinstance(tensor, nn.Parameter) else "buffer"
                lines.append(f"({name}): {what} {tuple(tensor.shape)}, {tensor.dtype}, {tensor.device}")
        return "\n".join(lines)


class FieldsModule(_Holder):
    """The fields of a struct that a FunctionModule holds, or the elements of an array of structs."""

    #: What pickles name, and so keep.
    __module__ = "kernelfunctions.torch"

    def __init__(self, struct: type[Struct] | None, *, is_array: bool) -> None:
        super().__init__()
        self._kf_struct = struct
        self._kf_is_array = is_array

    def _kf_is_whole(self, place: Place) -> bool:
        for name in place.fields():
            kind, stored = self._kf_find(name)
            if not kind or (kind == FIELDS and not getattr(self, stored)._kf_is_whole(place.field(name))):
                return False
        return True

    def _kf_value(self, given: Any, function: str, path: str) -> Any:
        if given is None:
            fields: Mapping[str, Any] = {}
        elif isinstance(given, Mapping):
            fields = given
        elif self._kf_is_array and _is_array(given):
            fields = {f"[{i}]": item for i, item in enumerate(given)}
        elif hasattr(given, "_fields"):
            fields = {name: getattr(given, name) for name in given._fields}
        else:
            names = ", ".join(name for name, _, _ in self._kf_entries)
            text = f"a dict of the fields beside {names} is needed, not {type(given).__name__}"
            raise error("type-mismatch", f"{function}: argument '{path}': {text}")
        values = self._kf_values(fields, function, path if self._kf_is_array else f"{path}.")
        if self._kf_is_array:
            return [values[f"[{i}]"] for i in range(len(values))]
        return values if self._kf_struct is None else self._kf_struct(**values)

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        """Refuses: a call takes it, by the FunctionModule that it is part of."""
        raise NotImplementedError("it holds fields of an argument: call the module that it is part of")


class FunctionModule(_Holder):
    """A function some of whose arguments are the module's parameters and buffers: kf.torch.module() makes it.

    forward() takes the other arguments, in the function's order or by name.
    """

    #: What pickles name, and so keep.
    __module__ = "kernelfunctions.torch"

    def __init__(
        self, function: Function, parameters: Mapping[str, Any], buffers: Mapping[str, Any], *, copy: bool
    ) -> None:
        super().__init__()
        self._kf_function = function
        arguments = Arguments(function)
        for trained, given in ((True, parameters), (False, buffers)):
            taker = _Taker(copy=copy, trained=trained)
            for path, value in given.items():
                name, *rest = path.split(".")
                self._kf_hold_path(arguments.place(name), name, rest, value, taker)
        self._kf_settle()

    def _kf_settle(self) -> None:
        """Finds out what forward() takes by position."""
        self._kf_operator = operator(self._kf_function)
        arguments = Arguments(self._kf_function)
        whole = [
            name
            for name, kind, stored in self._kf_entries
            if kind != FIELDS or getattr(self, stored)._kf_is_whole(arguments.place(name))
        ]
        held = [name for name, _, _ in self._kf_entries]
        self._kf_name = arguments.function
        self._kf_positional, self._kf_calls_agree = arguments.others(held, whole)

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out what is made of the function: a pickle may be loaded with a later version of that."""
        made = ("_kf_operator", "_kf_name", "_kf_positional", "_kf_calls_agree")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Loads what pickle kept, for the function as it is now."""
        super().__setstate__(state)
        arguments = Arguments(self._kf_function)
        for place, tensor in self._kf_tensors(arguments.place):
            place.check(tensor.dtype)
        self._kf_settle()

    @property
    def function(self) -> Function:
        """The function that is called."""
        return self._kf_function

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        """Calls the function with what the module holds and what is given."""
        names = self._kf_positional
        if len(arguments) > len(names):
            text = f"{self._kf_name}: {len(arguments)} positional arguments where {len(names)} are taken"
            if not self._kf_calls_agree:
                text += "; behind them overloads differ: name the arguments"
            raise error("type-mismatch", text)
        given = dict(keywords)
        for name, value in zip(names, arguments, strict=False):
            if name in given:
                raise error("type-mismatch", f"{self._kf_name}: argument '{name}' is given twice")
            given[name] = value
        return self._kf_operator(**self._kf_values(given, self._kf_name, ""))

    def extra_repr(self) -> str:
        named = ", ".join(self._kf_positional) + ("" if self._kf_calls_agree else ", …")
        return "\n".join(filter(None, [f"{self._kf_name}({named})", super().extra_repr()]))

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> "FunctionModule":
        """Refuses what no call could take before anything changes: half() where kernels are for float."""
        for place, tensor in self._kf_tensors(Arguments(self.function).place):
            place.check(fn(torch.empty(0, dtype=tensor.dtype, device=tensor.device)).dtype)
        applied: FunctionModule = super()._apply(fn, recurse)
        return applied
