"""The base of generated struct classes, and how functions become their methods."""

from copy import deepcopy
from difflib import get_close_matches
from inspect import Signature, signature
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from kernelfunctions._kf import (
    ArgumentAttributeError,
    ArgumentError,
    ArgumentTypeError,
    Backward,
    Encoder,
    Function,
    Fused,
    Jvp,
    Module,
    Prepared,
    _optional_method,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypedDict

    import numpy as np
    from typing_extensions import Self, Unpack

    from kernelfunctions._kf import HookContext
    from kernelfunctions.torch import Operator

    class _Options(TypedDict, total=False):
        deterministic: bool | None
        variant: str | None
        threads: Sequence[int] | None
        numthreads: Sequence[int] | None
        group_size: Sequence[int] | None
        constants: Mapping[str, float] | None
        types: Mapping[str, str] | None


_Function = TypeVar("_Function", bound=Function)


def _refusal(code: str, text: str, kind: type[ArgumentError] = ArgumentTypeError) -> ArgumentError:
    error = kind(text)
    error.code = code
    return error


def _meant(name: str, known: tuple[str, ...]) -> str:
    """The fields there are, and which of them is meant, as the end of a message."""
    close = get_close_matches(name, known, n=1)
    return f"it has {', '.join(known) or 'none'}" + (f": did you mean '{close[0]}'?" if close else "")


class Struct:
    """A Slang struct on the host: one attribute for each field.

    Fields are whatever the function that takes the struct wants: numbers, lists and arrays where it takes it
    by value, tensors too where it takes it field by field. They are checked when a function is called.
    """

    dtype: ClassVar["np.dtype[np.void]"]
    _fields: ClassVar[tuple[str, ...]] = ()
    #: Fields that some function's kernel makes itself, such as call_id: they may be left out.
    _made: ClassVar[tuple[str, ...]] = ()
    #: What fields are by default in Slang: they may be left out.
    _defaults: ClassVar[dict[str, Any]] = {}
    #: The module that bind() was given.
    _bound_to: ClassVar[ModuleType]

    def __init_subclass__(
        cls, *, module: Module | ModuleType | None = None, slang: str = "", **keywords: Any
    ) -> None:
        super().__init_subclass__(**keywords)
        if isinstance(module, Module):
            module.add_struct(slang, cls)
        elif module is not None:
            cls.bind(module)

    @classmethod
    def bind(cls, module: ModuleType) -> "type[Self]":
        """Has a class of one's own stand for the struct of its name in a generated module.

        Its fields are then the struct's, and its attributes that are annotated as kf.Function the struct's
        methods of that name.
        """
        name = cls.__name__
        if vars(cls).get("_bound_to", module) is not module:
            text = (
                f"{name}.bind: it is bound to '{cls._bound_to.__name__}': derive a class for another module"
            )
            raise _refusal("type-mismatch", text)
        known = [one for one in vars(module).values() if _is_generated(one)]
        theirs = next((one for one in known if one.__name__ == name), None)
        if theirs is None:
            names = tuple(one.__name__ for one in known)
            text = f"{name}.bind: '{module.__name__}' has no struct of that name; {_meant(name, names)}"
            raise _refusal("unknown-name", text)
        methods = {one: value for one, value in vars(theirs).items() if isinstance(value, Method)}
        for one, annotation in vars(cls).get("__annotations__", {}).items():
            if annotation is not Function and str(annotation).rpartition(".")[2] != "Function":
                continue
            if one not in methods:
                text = f"{name}.bind: the struct has no method '{one}'; {_meant(one, tuple(methods))}"
                raise _refusal("unknown-name", text)
            setattr(cls, one, methods[one])
        cls._fields, cls._made, cls._defaults = theirs._fields, theirs._made, theirs._defaults
        cls.dtype = theirs.dtype
        cls._bound_to = module
        return cls

    def __class_getitem__(cls, _fields: Any) -> "type[Struct]":
        """Ray[kf.Tensor, kf.Tensor]: in stubs, classes are generic in what their fields hold."""
        return cls

    def __init__(self, /, *arguments: Any, **fields: Any) -> None:
        name = type(self).__name__
        if arguments and isinstance(arguments[0], ModuleType):
            type(self).bind(arguments[0])
            arguments = arguments[1:]
            if not arguments and not fields:
                return  # a class of the user's sets them one by one
        known = self._fields
        if len(arguments) > len(known):
            text = f"{name}: {len(arguments)} values for {len(known)} fields{_way(self)}"
            raise _refusal("unknown-name", text)
        for field, value in zip(known[: len(arguments)], arguments, strict=True):
            if field in fields:
                raise _refusal("type-mismatch", f"{name}: field '{field}' is given twice")
            fields[field] = value
        for field in fields:
            if field not in known:
                raise _refusal(
                    "unknown-name", f"{name} has no field {field!r}; {_meant(field, known)}{_way(self)}"
                )
        for field in known:
            if field not in fields and field in self._made:
                fields[field] = None
            if field not in fields and field in self._defaults:
                fields[field] = deepcopy(self._defaults[field])
            if field not in fields:
                raise _refusal("missing-argument", f"{name}: field '{field}' is missing")
            object.__setattr__(self, field, fields[field])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            _check_attribute(type(self), name)
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        fields = ", ".join(
            f"{field}={getattr(self, field)!r}" for field in self._fields if hasattr(self, field)
        )
        return f"{type(self).__name__}({fields})"

    def __eq__(self, other: object) -> bool:
        """Compares the fields: lists and arrays by what they hold; of tensors, whether they are the same."""
        if type(other) is not type(self):
            return NotImplemented
        return all(_are_equal(getattr(self, field), getattr(other, field)) for field in self._fields)

    __hash__: ClassVar[None]  # type: ignore[assignment]  # it changes, as a list does


def _is_generated(value: Any) -> bool:
    """Whether it is a struct's class in a generated module."""
    is_struct = isinstance(value, type) and issubclass(value, Struct) and value is not Struct
    return is_struct and "_fields" in vars(value) and "_bound_to" not in vars(value)


def _way(struct: Struct) -> str:
    """What is left to do with a class that nothing has bound, as the end of a message."""
    name = type(struct).__name__
    is_free = not any(_is_generated(base) or "_bound_to" in vars(base) for base in type(struct).__mro__)
    return f": {name}.bind(module) gives it those of the Slang struct of its name" if is_free else ""


def _are_equal(one: Any, other: Any) -> bool:
    """Compares what two structs' fields hold."""
    if one is other:
        return True
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(one[name], other[name]) for name in one)
    if not hasattr(one, "shape") and not hasattr(other, "shape"):
        return bool(one == other)
    import numpy as np  # noqa: PLC0415

    if np.shape(one) != np.shape(other):
        return False
    elements = one == other
    return bool(elements.all()) if hasattr(elements, "all") else bool(elements)


def _check_attribute(owner: type[Struct], name: str) -> None:
    """Refuses what calls would never look at: a misspelt field, or a value in a method's place.

    Classes that are derived from a generated one may have attributes of their own, private or declared.
    """
    if name.startswith("__") and name.endswith("__"):
        return
    own = [base for base in owner.__mro__ if not _is_generated(base) and base not in (Struct, object)]
    if any(isinstance(vars(base).get(name), Method) for base in owner.__mro__):
        text = f"{owner.__name__}.{name} is a method, not a field that could be set"
        raise _refusal("unknown-name", text, ArgumentAttributeError)
    declared = any(name in vars(base) or name in vars(base).get("__annotations__", {}) for base in own)
    if own and (declared or name.startswith("_")):
        return
    advice = f", or declare '{name}' in {owner.__name__}" if own else ""
    text = f"{owner.__name__} has no field {name!r}; {_meant(name, owner._fields)}{advice}"
    raise _refusal("unknown-name", text, ArgumentAttributeError)


#: What a bound method calls.
_Called = TypeVar("_Called", Function, Backward, Fused, Jvp)


class _Bound(Generic[_Called]):
    # A function, or a pass of one, of one object, which goes first into every call.

    __slots__ = ("_function", "_this")
    _function: _Called
    _this: Any

    def __init__(self, function: _Called, this: Any) -> None:
        self._function = function
        self._this = this

    def __repr__(self) -> str:
        return f"<{self._function!r} of {self._this!r}>"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._function(self._this, *arguments, **keywords)

    call = __call__

    def append_to(self, encoder: Encoder, /, *arguments: Any, **keywords: Any) -> Any:
        """Records the call: append_to(encoder, ...)."""
        return self._function.append_to(encoder, self._this, *arguments, **keywords)

    def prepare(self, *arguments: Any, **keywords: Any) -> Prepared:
        """Settles the call, to run often."""
        return self._function.prepare(self._this, *arguments, **keywords)

    def _with(self, function: _Called) -> "Self":
        return type(self)(function, self._this)

    def set(self, values: "Mapping[str, Any] | None" = None, /, **named: Any) -> "Self":
        """A copy with global parameters set; see Function.set()."""
        return self._with(self._function.set(values, **named))

    def hook(self, callback: "Callable[[HookContext], None]", /) -> "Self":
        """A copy that calls `callback` before each dispatch; see Function.hook()."""
        return self._with(self._function.hook(callback))

    def options(self, given: "Mapping[str, Any] | None" = None, /, **chosen: "Unpack[_Options]") -> "Self":
        """A copy that is called with these options; see Function.options()."""
        return self._with(self._function.options(given, **chosen))

    def threads(self, *count: int) -> "Self":
        """A copy that runs so many threads; see Function.threads()."""
        return self._with(self._function.threads(*count))

    def groups(self, *count: int) -> "Self":
        """A copy that runs so many groups of threads; see Function.groups()."""
        return self._with(self._function.groups(*count))

    def typeconformance(self, types: "Mapping[str, str | Sequence[str]]", /) -> "Self":
        """A copy that is the variant with exactly these types; see Function.typeconformance()."""
        return self._with(self._function.typeconformance(types))

    def return_type(self, type_: Any, /) -> "Self":
        """A copy whose outputs come back as this; see Function.return_type()."""
        return self._with(self._function.return_type(type_))

    def accumulate(self, chosen: "Mapping[str, str] | None" = None, /, **ways: str) -> "Self":
        """A copy whose calls that share an element are combined so; see Function.accumulate()."""
        return self._with(self._function.accumulate(chosen, **ways))

    def map(self, chosen: "Mapping[str, Sequence[int]] | None" = None, /, **maps: "Sequence[int]") -> "Self":
        """A copy that has the dimensions of arguments there in the call; see Function.map()."""
        return self._with(self._function.map(chosen, **maps))


class BoundBackward(_Bound[Backward]):
    """The backward pass of a method of one object."""

    __slots__ = ()


class BoundFused(_Bound[Fused]):
    """A method of one object that is a loss, with its gradients."""

    __slots__ = ()


class BoundJvp(_Bound[Jvp]):
    """The forward derivative of a method of one object, whose own tangent is tangents["this"]."""

    __slots__ = ()


class BoundFunction(_Bound[Function]):
    # A method of one object. A docstring would be in the slot's way.

    __slots__ = ("__doc__", "__name__")

    def __init__(self, function: Function, this: Any) -> None:
        super().__init__(function, this)
        self.__name__ = function.name
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<kernel method {self._function.name} of {self._this!r}>"

    def __getattr__(self, name: str) -> Any:
        # The function knows what other packages call its passes.
        if name in ("bwds", "bwd", "backwards"):
            return getattr(self._function, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def name(self) -> str:
        """The method's own name in the module: "Scaler.scaled"."""
        return self._function.name

    @property
    def signatures(self) -> list[str]:
        """The overloads, as messages show them; the object is the first argument."""
        return self._function.signatures

    @property
    def globals(self) -> list[str]:
        """The global parameters that it reaches."""
        return self._function.globals

    def torch(self, *, outputs: "Sequence[str] | None" = None) -> "Operator[Self]":
        """The method of this object as an operator of PyTorch; see Function.torch()."""
        operator = self._function.torch(outputs=outputs)
        bound: Any = operator.bound(self._this)
        return bound  # type: ignore[no-any-return]

    @property
    def __signature__(self) -> Signature:
        whole = signature(self._function)
        parameters = [one for one in whole.parameters.values() if one.name != "this"]
        return whole.replace(parameters=parameters)

    @property
    def backward(self) -> Any:
        """A BoundBackward; None where the method is not differentiable."""
        backward = self._function.backward
        return None if backward is None else BoundBackward(backward, self._this)

    @property
    def fused(self) -> Any:
        """A BoundFused; None where the call spec doesn't ask for it."""
        fused = self._function.fused
        return None if fused is None else BoundFused(fused, self._this)

    @property
    def jvp(self) -> Any:
        """A BoundJvp; None where the call spec doesn't ask for it."""
        jvp = self._function.jvp
        return None if jvp is None else BoundJvp(jvp, self._this)


def _calling(name: str) -> "Callable[..., Any]":
    """Returns what s.method.backward(...) runs, which says why where the attribute is None."""
    of_function = vars(Function)[name]

    def call(bound: BoundFunction, /, *arguments: Any, **keywords: Any) -> Any:
        return of_function(bound._function, bound._this, *arguments, **keywords)

    return call


for _name in ("backward", "fused", "jvp"):
    setattr(BoundFunction, _name, _optional_method(vars(BoundFunction)[_name], _calling(_name)))

#: Of a generated stub: the same with the method's own signatures.
_BoundMethod = TypeVar("_BoundMethod", bound=BoundFunction)


class Method(Generic[_Function, _BoundMethod]):
    """A function as a class's attribute: bound to the object it is taken from, plain from the class."""

    def __init__(self, function: _Function) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, this: None, owner: type | None = None) -> _Function: ...
    @overload
    def __get__(self, this: object, owner: type | None = None) -> _BoundMethod: ...
    def __get__(self, this: object, owner: type | None = None) -> _Function | BoundFunction:
        return self.function if this is None else BoundFunction(self.function, this)
