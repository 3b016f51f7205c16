"""Specialization constants that options(constants=) chooses when calling."""

import pickle
import threading
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, numbers
from loader import Loader

DEFAULTS: dict[str, float] = {
    "taps": 3,
    "gain": 0.75,
    "mirrored": False,
    "mask": 2**32 - 1,
    "small": -128,
    "middle": 65535,
    "large": -(2**63),
    "light": 0.25,
    "exact": 0.1,
    "width": 4,
    "fixed": 7,
    "space.shift": 2,
}
# Values of each that no spec lists, at the ends of what its type holds.
OTHERS: list[tuple[str, float]] = [
    ("taps", -(2**31)),
    ("taps", 2**31 - 1),
    ("gain", -1.5),
    ("gain", 3),
    ("mirrored", True),
    ("mask", 0),
    ("small", 127),
    ("middle", 0),
    ("large", 2**53 - 1),
    ("light", -2.5),
    ("exact", 1e-300),
    ("width", 32),
    ("space.shift", 5),
]


@pytest.fixture(scope="module", name="module")
def fixture_module(generated: Loader) -> ModuleType:
    return generated("run_time_constants")


@pytest.fixture
def any_value(device: kf.Device) -> None:
    """What tests ask for that choose values which the spec doesn't list."""
    if device.backend != "vulkan":
        pytest.skip("needs a GPU with Vulkan: CUDA has code for listed values")


@pytest.fixture
def on_cuda(device: kf.Device) -> None:
    if device.backend != "cuda":
        pytest.skip("needs a GPU with CUDA")


takes_any = pytest.mark.usefixtures("any_value")


def floats(count: int, seed: int) -> Array:
    return numbers((count,), np.dtype(np.float32), seed)


def power(x: Array, taps: int = 3, gain: float = 0.75, mirrored: bool = False) -> tuple[Array, Array]:
    """What power() gives, and its derivative."""
    wide = x.astype(np.float64)
    factor = -gain if mirrored else gain
    return factor * wide**taps, factor * taps * wide ** (taps - 1) if taps != 0 else 0 * wide


def close(found: kf.Tensor | None, wanted: Array) -> None:
    assert found is not None
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_first_value_is_the_default(module: ModuleType, name: str) -> None:
    assert module.constant_at(list(DEFAULTS).index(name)) == DEFAULTS[name]


@takes_any
@pytest.mark.parametrize(("name", "value"), OTHERS)
def test_a_value_of_each_type(module: ModuleType, name: str, value: float) -> None:
    chosen = module.constant_at.options(constants={name: value})
    found = {one: chosen(which) for which, one in enumerate(DEFAULTS)}
    assert found == {**DEFAULTS, name: value}


@takes_any
def test_choices_add_up_and_go_back(module: ModuleType) -> None:
    once = module.constant_at.options(constants={"taps": 4, "gain": 0.5})
    twice = once.options(constants={"mask": 1, "gain": np.float32(2)})
    assert [twice(which) for which in (0, 1, 3)] == [4, 2, 1]
    assert [once(which) for which in (0, 1, 3)] == [4, 0.5, 2**32 - 1]
    back = twice.options(constants={name: DEFAULTS[name] for name in ("taps", "gain", "mask")})
    assert back.__name__ == module.constant_at.__name__
    assert twice.__name__ != once.__name__


variants = pytest.mark.parametrize("variant", [None, "small_groups", "nine"])
every_size = pytest.mark.parametrize("size", SIZES)


@pytest.mark.parametrize("chosen", [{}, {"taps": 5}, {"taps": 5, "gain": 2.0, "mirrored": True}])
@variants
@every_size
def test_passes_with_listed_values(
    module: ModuleType, chosen: dict[str, Any], variant: str | None, size: int
) -> None:
    run_passes(module, chosen, variant, size)


@takes_any
@pytest.mark.parametrize("chosen", [{"taps": 0}, {"taps": 5, "gain": -2.0}, {"taps": 1, "mirrored": True}])
@variants
@every_size
def test_passes(module: ModuleType, chosen: dict[str, Any], variant: str | None, size: int) -> None:
    run_passes(module, chosen, variant, size)


@pytest.mark.usefixtures("on_cuda")
def test_values_without_code_are_refused(module: ModuleType) -> None:
    x = kf.Tensor.from_numpy(floats(33, 3))
    y = kf.Tensor.from_numpy(floats(33, 4))
    for function in (
        module.power.options(constants={"taps": 4}),
        module.power.options(constants={"gain": 3}),
    ):
        with pytest.raises(
            kf.ArgumentTypeError, match=r"nothing was generated for CUDA with .*; there is: taps"
        ):
            function(x, out=y)
    np.testing.assert_array_equal(y.to_numpy(), floats(33, 4))


def run_passes(module: ModuleType, chosen: dict[str, Any], variant: str | None, size: int) -> None:
    function = module.power.options(constants=chosen) if chosen else module.power
    if variant is not None:
        function = function.options(variant=variant)
    array = floats(size, size)
    value, slope = power(array, **chosen)
    x = kf.Tensor.from_numpy(array).with_grads()
    y = function(x).with_grads()
    close(y, value)
    flow = floats(size, size + 1)
    y.grad.copy_from_numpy(flow)
    function.backward(x, y)
    close(x.grad, slope * flow)
    result, tangent = function.jvp(kf.Tensor.from_numpy(array), tangents={"x": kf.Tensor.from_numpy(flow)})
    close(result, value)
    close(tangent, slope * flow)


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("gain", [0.75, 2.0])
def test_listed_group_sizes_and_group_memory(module: ModuleType, width: int, gain: float) -> None:
    run_groups(module, width, gain)


@takes_any
@pytest.mark.parametrize("width", [1, 3, 32])
@pytest.mark.parametrize("gain", [0.75, 1.5])
def test_group_sizes_and_group_memory(module: ModuleType, width: int, gain: float) -> None:
    run_groups(module, width, gain)


def run_groups(module: ModuleType, width: int, gain: float) -> None:
    function = module.turned.options(constants={"width": width, "gain": gain})
    array = floats(192, 7)
    y = kf.Tensor.from_numpy(array)
    function.threads(192)(y)
    np.testing.assert_array_equal(
        y.to_numpy(), np.float32(gain) * array.reshape(-1, 2 * width)[:, ::-1].reshape(-1)
    )


@pytest.mark.parametrize("width", [4, 8, 16])
def test_listed_groups_of_three_dimensions(module: ModuleType, width: int) -> None:
    run_sized(module, width, 2)


@takes_any
@pytest.mark.parametrize(("width", "shift"), [(1, 1), (16, 32), (5, 3)])
def test_groups_of_three_dimensions(module: ModuleType, width: int, shift: int) -> None:
    run_sized(module, width, shift)


def run_sized(module: ModuleType, width: int, shift: int) -> None:
    function = module.sized.options(constants={"width": width, "space.shift": shift})
    sizes = kf.Tensor.zeros(3, np.uint32)
    function.groups(2, 2, 2)(sizes)
    np.testing.assert_array_equal(sizes.to_numpy(), [2, shift, width])


@takes_any
def test_methods(module: ModuleType) -> None:
    array = floats(33, 3)
    line = module.Line(slope=2.0, offset=0.5)
    method = line.line_at.options(constants={"gain": 3, "taps": 10})
    close(method(kf.Tensor.from_numpy(array)), 6 * array.astype(np.float64) + 5)
    close(line.line_at(kf.Tensor.from_numpy(array)), 1.5 * array.astype(np.float64) + 1.5)


@takes_any
def test_prepared_calls(module: ModuleType) -> None:
    array = floats(65, 5)
    x = kf.Tensor.from_numpy(array)
    calls = {taps: module.power.options(constants={"taps": taps}).prepare(x) for taps in (1, 2, 6)}
    for _ in range(3):
        for taps, prepared in calls.items():
            close(prepared(), power(array, taps)[0])


@takes_any
def test_graphs_and_encoders(module: ModuleType) -> None:
    array = floats(65, 5)
    x = kf.Tensor.from_numpy(array)
    square = module.power.options(constants={"taps": 2, "gain": 1})
    cube = module.power.options(constants={"taps": 3, "gain": 2})
    y, z = kf.Tensor.zeros(65), kf.Tensor.zeros(65)
    with kf.Graph() as graph:
        square(x, out=y)
        cube(y, out=z)
    x.copy_from_numpy(2 * array)
    graph.replay()
    wide = 2 * array.astype(np.float64)
    np.testing.assert_allclose(z.to_numpy(), 2 * wide**6, rtol=1e-4, atol=1e-4)
    encoder = kf.default_device().encoder()
    cube.append_to(encoder, x, out=y)
    square.append_to(encoder, y, out=z)
    encoder.submit()
    np.testing.assert_allclose(z.to_numpy(), 4 * wide**6, rtol=1e-4, atol=1e-4)


@takes_any
def test_hooks_globals_and_other_options_stay(module: ModuleType) -> None:
    seen: list[int] = []
    function = module.power.hook(lambda _: seen.append(1)).options(constants={"taps": 2})
    array = floats(9, 5)
    close(function(kf.Tensor.from_numpy(array)), power(array, 2)[0])
    assert seen == [1]


@takes_any
def test_pickles(module: ModuleType) -> None:
    chosen = {"taps": -4, "gain": 0.1, "mirrored": True, "large": 2**53 - 1}
    function = module.constant_at.options(constants=chosen)
    loaded = pickle.loads(pickle.dumps(function))
    wanted = {**DEFAULTS, **chosen, "gain": float(np.float32(0.1))}
    assert {one: loaded(which) for which, one in enumerate(DEFAULTS)} == wanted


@takes_any
def test_threads_choose_for_themselves(module: ModuleType) -> None:
    array = floats(4097, 7)
    failures: list[BaseException] = []

    def call(taps: int) -> None:
        try:
            for _ in range(8):
                function = module.power.options(constants={"taps": taps})
                x = kf.Tensor.from_numpy(array).with_grads()
                y = function(x)
                close(y, power(array, taps)[0])
                function.backward(x, y)
                close(x.grad, power(array, taps)[1])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=call, args=[taps]) for taps in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@takes_any
def test_many_values_of_one_function(module: ModuleType) -> None:
    array = floats(5, 1)
    first = module.power.options(constants={"gain": 1000})
    for gain in range(200):
        function = module.power.options(constants={"gain": gain})
        close(function(kf.Tensor.from_numpy(array)), power(array, gain=gain)[0])
    close(first(kf.Tensor.from_numpy(array)), power(array, gain=1000)[0])


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        (
            {"tips": 2},
            r"no variant with tips = 2; there is: .*; run time chooses: taps \(int; 3, 5\), gain",
        ),
        ({"fixed": 8}, "no variant with fixed = 8; there is: 'small_groups' .*, 'nine'"),
        ({"taps": 1.5}, r"constants.taps: expected int, -2147483648 to 2147483647, found 1.5"),
        ({"taps": 2.0}, r"constants.taps: expected int, .*, found 2.0"),
        ({"taps": True}, r"constants.taps: expected int, .*, found true"),
        ({"taps": 2**31}, r"constants.taps: expected int, .*, found 2147483648"),
        ({"mask": -1}, r"constants.mask: expected uint, 0 to 4294967295, found -1"),
        ({"small": 128}, r"constants.small: expected int8_t, -128 to 127, found 128"),
        ({"large": 2**63}, r"constants.large: expected int64_t, .*, found 9223372036854775808"),
        ({"mirrored": 1}, r"constants.mirrored: expected bool, true or false, found 1"),
        ({"gain": 1e39}, r"constants.gain: expected float, .*, found 1e\+39"),
        ({"gain": float("nan")}, r"constants.gain: expected float, .*, found nan"),
        ({"light": 65505}, r"constants.light: expected half, -65504 to 65504, found 65505"),
        ({"gain": "2"}, "'constants.gain': a number is needed, not '2'"),
    ],
)
def test_what_is_no_value(module: ModuleType, constants: dict[str, Any], message: str) -> None:
    with pytest.raises(kf.ArgumentError, match=message):
        module.power.options(constants=constants)


@takes_any
@pytest.mark.parametrize("width", [0, 513, 2**32 - 1])
def test_impossible_groups(module: ModuleType, width: int) -> None:
    message = r"turned: options: constants: with .*width = \d+.* a group has .* threads; expected 1 to 1024"
    with pytest.raises(kf.ArgumentError, match=message):
        module.turned.options(constants={"width": width})
    # Functions without groups of such a size take it.
    assert module.constant_at.options(constants={"width": width})(9) == width


@takes_any
def test_what_depends_on_nothing_is_shared(module: ModuleType) -> None:
    x = kf.Tensor.from_numpy(floats(7, 1))
    function = module.doubled.options(constants={"taps": 9})
    np.testing.assert_array_equal(function(x).to_numpy(), 2 * x.to_numpy())
