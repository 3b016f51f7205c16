"""Values of link-time declarations, and the variants of functions that have others."""

import threading
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, numbers
from loader import Loader

# As constant_at() numbers them: given by the spec, by a declaration or by the file that is linked.
CONSTANTS = [3, 4, 1.5, 0.25, 255, -(2**63), 1, 12, 2**32 - 1, 5, 4, 0.75, 1, 9]


@pytest.fixture(scope="module", name="link_time")
def fixture_link_time(generated: Loader) -> ModuleType:
    return generated("link_time")


def floats(shape: tuple[int, ...], seed: int) -> Array:
    return numbers(shape, np.dtype(np.float32), seed)


def power(x: Array, variant: str | None) -> tuple[Array, Array]:
    """What power() gives, and its derivative."""
    factor, exponent = (0.5, 5) if variant == "fifth" else (1.5, 3)
    wide = x.astype(np.float64)
    return factor * wide**exponent, factor * exponent * wide ** (exponent - 1)


def close(found: kf.Tensor | None, wanted: Array) -> None:
    assert found is not None
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("which", range(len(CONSTANTS)))
def test_constants(link_time: ModuleType, which: int) -> None:
    assert link_time.constant_at(which) == CONSTANTS[which]


@pytest.mark.parametrize(("variant", "width", "gain"), [(None, 8, 0.75), ("short", 2, 2.0)])
def test_specialization_constants(
    link_time: ModuleType, variant: str | None, width: int, gain: float
) -> None:
    function = link_time.turned if variant is None else link_time.turned.options(variant=variant)
    array = floats((48,), 7)
    y = kf.Tensor.from_numpy(array)
    function.threads(48)(y)
    np.testing.assert_array_equal(y.to_numpy(), gain * array.reshape(-1, width)[:, ::-1].reshape(-1))


@pytest.mark.parametrize("variant", [None, "fifth", "small_groups"])
@pytest.mark.parametrize("size", SIZES)
def test_variants(link_time: ModuleType, variant: str | None, size: int) -> None:
    function = link_time.power if variant is None else link_time.power.options(variant=variant)
    array = floats((size,), size)
    value, slope = power(array, variant)
    x = kf.Tensor.from_numpy(array).with_grads()
    y = function(x).with_grads()
    close(y, value)
    flow = floats((size,), size + 1)
    y.grad.copy_from_numpy(flow)
    function.backward(x, y)
    close(x.grad, slope * flow)
    result, tangent = function.jvp(kf.Tensor.from_numpy(array), tangents={"x": kf.Tensor.from_numpy(flow)})
    close(result, value)
    close(tangent, slope * flow)


@pytest.mark.parametrize("size", SIZES)
def test_extents_that_linking_decides(link_time: ModuleType, size: int) -> None:
    array = floats((size, 3), 3)
    x = kf.Tensor.from_numpy(array).with_grads()
    y = link_time.sum_squares(x)
    close(y, (array.astype(np.float64) ** 2).sum(1))
    link_time.sum_squares.backward(x, y)
    close(x.grad, 2 * array.astype(np.float64))
    with pytest.raises(kf.ArgumentError, match=r"extent (4|3)"):
        link_time.sum_squares(kf.Tensor.from_numpy(floats((size, 4), 3)))


def test_types(link_time: ModuleType) -> None:
    array = floats((33,), 5)
    wide = array.astype(np.float64)
    for options, value, slope in [
        ({}, wide**3, 3 * wide**2),
        ({"types": {"SCALE": "Twice"}}, 2 * wide, np.full(33, 2.0)),
    ]:
        function = link_time.scaled.options(**options)
        x = kf.Tensor.from_numpy(array).with_grads()
        y = function(x)
        close(y, value + wide + 100)
        function.backward(x, y)
        close(x.grad, slope + 1)


def test_conformances(link_time: ModuleType) -> None:
    assert link_time.area(3, (2, 5)) == 4
    assert link_time.area(1, (2, 5)) == 10
    circles = link_time.area.typeconformance({"IShape": ["Circle"]})
    assert circles(1, (2, 5)) == 12
    assert link_time.area.options(variant="circles").typeconformance({"IShape": "Circle"})(1, (2, 5)) == 12
    with pytest.raises(
        kf.ArgumentError, match=r"no variant with Circle: IShape, Square: IShape; there is: 'circles'"
    ):
        link_time.area.typeconformance({"IShape": ["Circle", "Square"]})
    with pytest.raises(TypeError, match="a dict of names"):
        link_time.area.typeconformance(["Circle"])


def test_what_options_find(link_time: ModuleType) -> None:
    x = kf.Tensor.from_numpy(floats((33,), 1))
    fifth = link_time.power.options(variant="fifth").__name__
    same: list[dict[str, Any]] = [
        {"constants": {"N": 5}},
        {"constants": {"N": np.int64(5), "weight": 0.5}, "variant": "fifth"},
    ]
    for options in same:
        assert link_time.power.options(**options).__name__ == fifth
    small = link_time.power.options(threads=[8, 8])
    assert small.__name__ == link_time.power.options(variant="small_groups").__name__
    # A configured function is a value: the one it was made of stays as it is.
    wide = x.to_numpy().astype(np.float64)
    both = link_time.power.options(variant="fifth").options(deterministic=True)
    close(both(x), power(wide, "fifth")[0])
    close(both.options(variant="small_groups")(x), power(wide, None)[0])
    close(link_time.power(x), power(wide, None)[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"variant": "sixth"},
            r"no variant 'sixth'; there is: 'fifth' \(N = 5, weight = 0.5\), 'small_groups'",
        ),
        ({"threads": [64]}, r"no variant with threads \[64\]"),
        ({"constants": {"N": 6}}, "no variant with N = 6"),
        ({"constants": {"N": 5}, "threads": [8, 8]}, "no variant with threads"),
        ({"constants": {"N": "5"}}, "a number is needed, not '5'"),
        ({"constants": [5]}, "a dict, as in"),
        ({"threads": 8}, "a list of one to three numbers"),
        ({"threads": [1, 1, 1, 1]}, "a list of one to three numbers"),
        ({"variant": ""}, "a variant's name"),
        ({"types": {"SCALE": 1}}, "a dict of names"),
        ({"tiled": True}, "no option 'tiled'; there is: deterministic, variant, threads, constants, types"),
    ],
)
def test_options_that_find_nothing(link_time: ModuleType, options: dict[str, Any], message: str) -> None:
    with pytest.raises(kf.ArgumentError, match=message):
        link_time.power.options(**options)


def test_blocks_of_options_have_no_variants(link_time: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match=r"no option 'variant'; there is: deterministic$"):
        kf.set_options(**{"variant": "fifth"})  # type: ignore[arg-type]
    assert link_time.scaled.options(deterministic=None).__name__ == "scaled"


def test_threads_share_a_variant(link_time: ModuleType) -> None:
    fifth = link_time.power.options(variant="fifth")
    array = floats((4097,), 7)
    found: list[Array] = []

    def call() -> None:
        found.extend(fifth(kf.Tensor.from_numpy(array)).to_numpy() for _ in range(8))

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 24
    for one in found:
        np.testing.assert_array_equal(one, found[0])
