"""Numbers choose overloads: NumPy's scalars by their own type, Python's by what is preferred."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader


@pytest.fixture(scope="module")
def number_types(generated: Loader) -> ModuleType:
    return generated("number_types")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (np.int8(3), 8),
        (np.int16(3), 16),
        (np.int32(3), 32),
        (np.int64(3), 64),
        (np.uint8(3), 108),
        (np.uint16(3), 116),
        (np.uint32(3), 132),
        (np.uint64(3), 164),
        (np.float16(3), 216),
        (np.float32(3), 232),
        (np.float64(3), 264),
        (np.bool_(True), 1),
        (3, 32),
        (3.0, 232),
        (True, 1),
        (np.longlong(3), 64),
        (np.array(3, np.uint16), 116),
    ],
)
def test_the_exact_type_comes_first(number_types: ModuleType, value: Any, kind: int) -> None:
    assert number_types.kind_of(value) == kind
    # Once more, as calls of these types are known now.
    assert number_types.kind_of(value) == kind


@pytest.mark.parametrize("value", [np.uint32(3), np.int64(3), np.int8(3), 3])
def test_without_it_the_rules_of_numbers_hold(number_types: ModuleType, value: Any) -> None:
    assert number_types.of_two(value) == 32


@pytest.mark.parametrize(
    ("name", "a", "b", "kind"),
    [
        ("of_pair", np.float64(2), np.float64(3), 264),
        ("of_pair", np.float64(2), 3.0, 232),
        ("of_pair", 2.0, np.float64(3), 232),
        ("of_pair", np.float32(2), np.float64(3), 232),
        ("of_pair", np.float64(2), 3, 232),
        ("of_mixed", np.float64(2), np.int64(3), 264),
        ("of_mixed", np.float64(2), 3, 232),
        ("of_mixed", 2.0, np.int64(3), 232),
    ],
)
def test_beside_numbers_of_other_types(
    number_types: ModuleType, name: str, a: Any, b: Any, kind: int
) -> None:
    """A NumPy scalar decides between what costs the same, and never makes two overloads fit equally well."""
    assert getattr(number_types, name)(a, b) == kind


def test_a_number_that_is_out_of_range_is_refused(number_types: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="doesn't fit an int32"):
        number_types.of_two(np.uint32(2**32 - 1))
    assert number_types.of_two(np.uint64(2**64 - 1)) == 164


@pytest.mark.parametrize(("value", "kind"), [(np.uint32(3), 132), (np.int32(3), 32), (3, 32)])
def test_fields_of_structs(number_types: ModuleType, value: Any, kind: int) -> None:
    assert number_types.of_struct({"k": value}) == kind
