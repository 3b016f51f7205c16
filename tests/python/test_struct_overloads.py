"""Overloads that take different structs: which one is meant, and what is open."""

import collections
from types import SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest


@pytest.fixture(scope="module")
def structs(generated: Any) -> Any:
    return generated("conversions")


def refused(call: Any, *texts: str) -> None:
    with pytest.raises(kf.ArgumentError) as caught:
        call()
    assert caught.value.code == "no-overload"
    for text in texts:
        assert text in str(caught.value)


def test_an_object_is_what_its_class_says(structs: Any) -> None:
    derived = type("Derived", (structs.Ball,), {})
    assert structs.area(structs.Disc(r=2)) == 2
    assert structs.area(structs.Ball(r=2)) == 20
    assert structs.area(derived(r=2)) == 20
    assert structs.area(structs.Slab(size=[2, 3])) == 203
    assert structs.area(structs.Brick(size=[2, 3, 4])) == 4000
    assert structs.area(kf.differentiable(structs.Ball(r=2))) == 20
    assert structs.area({"_type": "Ball", "r": 2}) == 20


def test_fields_tell_structs_apart(structs: Any) -> None:
    pair = collections.namedtuple("pair", "size")
    for size, area in [([2, 3], 203), ([2, 3, 4], 4000)]:
        for given in ({"size": size}, SimpleNamespace(size=size), pair(size)):
            assert structs.area(given) == area
        assert structs.area({"size": np.array(size, np.float32)}) == area
    assert structs.area(np.array([([2, 3],)], structs.Slab.dtype)[0]) == 203


def test_what_is_open_is_an_error(structs: Any) -> None:
    refused(lambda: structs.area({"r": 2}), "argument 's': {'r': 2} (a dict) could be a Disc or a Ball")
    refused(lambda: structs.area({"size": 1}), "could be a Slab or a Brick")
    discs = np.array([(1,), (2,)], structs.Disc.dtype)
    refused(lambda: structs.area(discs), "could be Disc structs or Ball structs")
    refused(lambda: structs.area([{"r": 1}]), "could be Disc structs or Ball structs")


def test_lists_are_told_apart_by_their_objects(structs: Any) -> None:
    np.testing.assert_array_equal(structs.area([structs.Ball(r=1), structs.Ball(r=2)]), [10, 20])
    np.testing.assert_array_equal(structs.area([structs.Disc(r=1), structs.Disc(r=2)]), [1, 2])
    np.testing.assert_array_equal(structs.area([{"size": [1, 2]}]), [102])
    slabs = np.array([([1, 2],), ([3, 4],)], structs.Slab.dtype)
    np.testing.assert_array_equal(structs.area(slabs), [102, 304])
    np.testing.assert_array_equal(structs.area(kf.Tensor.from_numpy(slabs)), [102, 304])


def test_what_fits_none_says_why(structs: Any) -> None:
    refused(
        lambda: structs.area({"q": 1}),
        "Disc has no field 'q'",
        "Ball has no field 'q'",
        "Slab has no field 'q'",
        "area(s: Brick) -> float",
    )
    refused(
        lambda: structs.area({"size": [1, 2, 3, 4]}), "[1, 2, 3, 4] has shape [4]", "shape [2]", "shape [3]"
    )


def test_overloads_of_other_parameters(structs: Any) -> None:
    assert structs.reach({"r": 2}, 3) == 5
    assert structs.reach({"size": [2, 3]}, 3) == 6
    assert structs.reach(structs.Slab(size=[2, 3]), 3) == 6
    assert structs.reach(disc={"r": 2}, by=3) == 5
    np.testing.assert_array_equal(structs.reach({"r": 2}, np.ones(2, np.float32)), [3, 3])
    refused(
        lambda: structs.reach({"q": 2}, 3),
        "Disc has no field 'q' = 2 (an int); it has r",
        "Slab has no field 'q' = 2 (an int); it has size",
    )
    refused(lambda: structs.reach(structs.Disc(r=2), "x"), "argument 'by'", "'x' (a str)")
    refused(lambda: structs.reach(1), "argument 'by': not given")


def test_another_struct_of_the_same_fields_does_where_nothing_else_fits(structs: Any) -> None:
    assert structs.reach(structs.Ball(r=2), 3) == 5
    with pytest.raises(kf.ArgumentError, match="no overload takes these arguments"):
        structs.reach(structs.Brick(size=[1, 2, 3]), 3)


def test_fields_are_read_once(structs: Any) -> None:
    class Counting:
        reads = 0

        @property
        def size(self) -> list[float]:
            Counting.reads += 1
            return [2, 3]

    assert structs.area(Counting()) == 203
    assert Counting.reads == 1


def test_what_is_given_is_listed(structs: Any) -> None:
    refused(
        lambda: structs.area("x"),
        "area: no overload takes (a str); candidates:\n  area(s: Disc) -> float\n"
        "    argument 's': a Disc is needed, not 'x' (a str)",
    )
    refused(
        lambda: structs.area({"_type": "Cone", "r": 1}),
        "Disc has no field '_type' = 'Cone' (a str); it has r",
    )
