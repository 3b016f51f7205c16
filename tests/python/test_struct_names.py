"""Structs whose fields are called what Python, C++ or the generated classes keep for themselves."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

NAMES = ("from", "from_", "_fields", "_made", "dtype", "self", "delete", "result", "fields", "backward")
ATTRIBUTES = ("from__", "from_", "_fields_", "_made_", "dtype_", "self_", *NAMES[6:])
VALUES = [float(2**i) for i in range(10)]
WEIGHTS = np.arange(1, 11, dtype=np.float64)
EXPECTED = float(WEIGHTS @ np.array(VALUES))


@pytest.fixture(scope="module")
def names(generated: Loader) -> Any:
    return generated("names")


def named(keys: tuple[str, ...]) -> dict[str, Any]:
    return dict(zip(keys, VALUES, strict=True))


GIVEN: list[Callable[[Any], Any]] = [
    lambda _: named(NAMES),
    lambda _: named(ATTRIBUTES),
    lambda _: SimpleNamespace(**named(NAMES)),
    lambda _: SimpleNamespace(**named(ATTRIBUTES)),
    lambda names: names.Odd(*VALUES),
    lambda names: names.Odd(**named(ATTRIBUTES)),
    lambda names: np.array(tuple(VALUES), names.Odd.dtype),
]


def held(odd: Any) -> list[Any]:
    return [getattr(odd, name) for name in ATTRIBUTES]


@pytest.mark.parametrize("make", GIVEN)
def test_value(names: Any, make: Callable[[Any], Any]) -> None:
    assert names.weigh(make(names), 3) == 3 * EXPECTED
    assert held(names.same(make(names))) == VALUES


@pytest.mark.parametrize("make", GIVEN)
def test_gradients_and_tangents(names: Any, make: Callable[[Any], Any]) -> None:
    odd = kf.differentiable(make(names))
    for times in (1, 2):
        names.weigh.backward(odd, 2.0)
        found = odd.grad
        values = list(found.values()) if isinstance(found, dict) else held(found)
        assert values == [2 * times * weight for weight in WEIGHTS]
    result = names.weigh.jvp(make(names), 2.0, tangents={"odd": make(names)})
    assert result == (2 * EXPECTED, 2 * EXPECTED)


@pytest.mark.parametrize("size", [0, 1, 33])
def test_tensors(names: Any, size: int) -> None:
    made = np.zeros(size, names.Odd.dtype)
    for i, name in enumerate(NAMES):
        made[name] = np.arange(size) + i
    found = names.weigh(made, 1).to_numpy()
    np.testing.assert_array_equal(found, sum(w * made[n] for w, n in zip(WEIGHTS, NAMES, strict=True)))
    np.testing.assert_array_equal(names.same(made).to_numpy(), made)
    fields = {name: kf.Tensor.from_numpy(made[name].copy()) for name in NAMES}
    mixed = {**named(NAMES), "from": fields["from"], "_fields": fields["_fields"]}
    fixed = EXPECTED - VALUES[0] - 3 * VALUES[2]
    np.testing.assert_array_equal(
        names.weigh(mixed, 1).to_numpy(), made["from"] + 3 * made["_fields"] + fixed
    )
    apart = names.apart(names.Odd(*fields.values()))
    for name, attribute in zip(NAMES, ATTRIBUTES, strict=True):
        np.testing.assert_array_equal(getattr(apart, attribute).to_numpy(), made[name])


def test_nested(names: Any) -> None:
    zero = names.Odd(*[0] * 10)
    whole = names.nested({"class_": zero, "yield": names.Odd(*VALUES), "np": [1, 2]})
    assert held(whole.yield_) == VALUES
    np.testing.assert_array_equal(whole.np_, [1, 2])
    assert names.inner(whole) == 2 * VALUES[0]
    given = kf.differentiable(whole)
    names.inner.backward(given)
    assert (given.grad.yield_.from__, given.grad.class_._fields_) == (2, 1)


@pytest.mark.parametrize("keys", [(*NAMES[:-1], "backward_"), (*NAMES, "_type_")])
def test_wrong_names(names: Any, keys: tuple[str, ...]) -> None:
    values = [1.0] * len(keys)
    with pytest.raises(kf.ArgumentError, match=r"argument 'odd': Odd has no field '(backward_|_type_)'"):
        names.weigh(dict(zip(keys, values, strict=True)), 1)


def test_the_class_says_its_attributes(names: Any) -> None:
    with pytest.raises(kf.ArgumentError, match=r"Odd has no field 'from'; it has from__, from_, _fields_"):
        names.Odd(**named(NAMES))
    assert repr(names.Odd(*VALUES)).startswith("Odd(from__=1.0, from_=2.0, _fields_=4.0, _made_=8.0")


def test_comments_become_docstrings(names: Any) -> None:
    assert names.Odd.__doc__ is not None
    lines = [line.strip() for line in names.Odd.__doc__.splitlines()]
    assert lines[0] == "Fields called what Python, C++ or the generated class keep for themselves."
    assert lines[2:4] == ["from__: Where it starts.", "_made_: Who made it."]
    assert lines[4] == "" and lines[5].startswith("Odd: its fields are numbers")


def test_a_field_does_not_hide_a_method(names: Any) -> None:
    taken = names.Taken(dtype_=3)
    assert taken.dtype_ == 3
    assert taken.dtype__(5) == 15


def test_methods_of_like_names(names: Any) -> None:
    meeting = names.Meeting(delete=3, v=5)
    # A keyword of the class's own gets as many _ as other members leave free.
    assert meeting.np___(7) == 7
    assert (meeting.np_(7), meeting.np__(7), meeting.delete_()) == (5, 3, 30)


def test_fields_called_as_the_struct(names: Any) -> None:
    same = names.Same(Same=1, like=[2, 0, 0], dict=[0, 3, 0], value=[0, 0, 4])
    assert names.plain(names.Around(Same=same, AroundFields=5)) == 15


RESULTS = ("result", "y_", "count", "index", "lambda_", "y", "result_", "field0", "kf_")


def test_results(names: Any) -> None:
    """Their names are the parameters', where named tuples can have those."""
    found = names.parted(2)
    assert found._fields == RESULTS
    assert found == (2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert (found.count, found.index, found.y_, found.field0) == (4, 5, 3, 9)
    spread = names.parted_all(np.arange(3, dtype=np.float32))
    assert spread._fields == RESULTS
    np.testing.assert_array_equal(spread.kf_.to_numpy(), np.arange(3) + 8)
