"""What kernels print, assertions that don't hold, and indices beyond what they index."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader


@pytest.fixture(scope="module")
def reports(generated: Loader) -> ModuleType:
    return generated("reports")


@pytest.fixture(autouse=True)
def nothing_is_left(device: kf.Device) -> Iterator[None]:
    """Takes what a test left behind, so that the next one doesn't see it."""
    yield
    with contextlib.suppress(kf.Error):
        device.wait()


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What was printed, without the numbers of launches, which count on from test to test."""
    found = []
    for line in capsys.readouterr().out.splitlines():
        before, launch, rest = line.partition(", launch ")
        number = rest.split(":")[0].split(" ")[0]
        found.append(before + rest.removeprefix(number) if launch and number.isdigit() else line)
    return found


def error(code: str, act: Callable[[], Any]) -> str:
    """What the error says, without the launch's number."""
    with pytest.raises(kf.Error) as caught:
        act()
    assert type(caught.value) is kf.Error
    assert caught.value.code == code
    before, _, rest = str(caught.value).partition(", launch ")
    number = rest.split(":")[0].split(" ")[0]
    assert number.isdigit()
    return before + rest.removeprefix(number)


def floats(*values: float) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.float32))


def ints(*values: int) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.int32))


# ---- Lines ----


def test_lines_come_out_of_wait(
    device: kf.Device, reports: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    reports.say(floats(0.5, 1.5, 2.25), 7)
    assert lines(capsys) == []
    device.wait()
    assert sorted(lines(capsys)) == ["say [1]: x=1.50 at 7", "say [2]: x=2.25 at 7"]
    device.wait()
    assert lines(capsys) == []


def test_lines_come_out_of_reading(reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    y = reports.say(kf.Tensor.from_numpy(np.full((2, 2), 3, np.float32)), 1)
    assert (y.to_numpy() == 6).all()
    assert sorted(lines(capsys)) == [f"say [{i}, {k}]: x=3.00 at 1" for i in (0, 1) for k in (0, 1)]
    assert reports.say(2.0, 5) == 4
    assert lines(capsys) == ["say: x=2.00 at 5"]


def test_numbers_of_launches_count_up(
    device: kf.Device, reports: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    reports.greeting(1)
    reports.greeting(2)
    device.wait()
    first, second = (
        int(line.partition(", launch ")[2].partition(":")[0]) for line in capsys.readouterr().out.splitlines()
    )
    assert second == first + 1


def test_every_type(reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        reports.every_type(-3, 200, -30000, 60000, -2, 4000000000, -(2**40), 2**63 + 1, 0.5, 1.25, 0.1, True)
        == -2
    )
    assert lines(capsys) == [
        "every_type: -3 200 -30000 60000 -2 4000000000 -1099511627776 9223372036854775809 0.5 1.25 "
        "0.10000000000000001 1"
    ]


def test_vectors(reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    reports.vectors((1, 2, 3.5), (-1, 5), (1, 2, 255, 4), (1, 2))
    assert lines(capsys) == ["vectors: 1.000000, 2.000000, 3.500000|-1, 5|1, 2, ff, 4|  1.0,   2.0"]


def test_flags(reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    reports.flags(65, 2.5)
    assert lines(capsys) == [
        "flags: 100% [   65] [65   ] [00065] [+65] [0x41] [101] [A] [   2.500] [2.500000e+00] [2.5]"
    ]


def test_in_a_macro_and_in_a_function_that_is_called(
    reports: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    reports.by_macro(4)
    reports.greeting(1)
    assert lines(capsys) == ["by_macro: told 5", "greeting: hello"]


def test_threads(device: kf.Device, reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    y = kf.Tensor.zeros(8, np.float32)
    reports.threads.threads(8)(y)
    device.wait()
    assert lines(capsys) == ["threads thread [5, 0, 0]: thread 5"]
    assert (y.to_numpy() == np.arange(8)).all()


def test_what_finds_no_room_is_counted(
    device: kf.Device, reports: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    reports.flood(kf.Tensor.from_numpy(np.arange(64, dtype=np.int32)), 1000)
    device.wait()
    found = lines(capsys)
    assert found[-1].startswith("kernelfunctions: ")
    assert found[-1].endswith(" more found no room: print less, or wait more often")
    more = int(found[-1].split()[1])
    assert len(found) - 1 + more == 64 * 1000
    assert len(set(found[:-1])) == len(found) - 1 > 10000
    # All is there again.
    reports.say(2.0, 5)
    assert lines(capsys) == ["say: x=2.00 at 5"]


def gradient(tensor: kf.Tensor) -> kf.Tensor:
    assert tensor.grad is not None
    return tensor.grad


def test_passes(device: kf.Device, reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    x = floats(3).with_grads()
    y = reports.square(x)
    assert y.to_numpy() == [9]
    assert lines(capsys) == ["square [0]: square of 3"]
    reports.square.backward(x, y)
    assert gradient(x).to_numpy() == [6]
    # What gradients don't need isn't done again.
    assert lines(capsys) in ([], ["square.backward [0]: square of 3"])
    result, tangent = reports.square.jvp(floats(3), tangents={"x": floats(1)})
    assert (result.to_numpy(), tangent.to_numpy()) == ([9], [6])
    assert set(lines(capsys)) <= {"square.jvp [0]: square of 3"}


def test_calls_without_the_option_say_nothing(
    device: kf.Device, reports: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    x = floats(300).with_grads()
    y = reports.silent_square(x)
    reports.silent_square.backward(x, y)
    assert gradient(x).to_numpy() == [600]
    device.wait()
    assert lines(capsys) == []


def test_recorded_prepared_and_replayed(
    device: kf.Device, reports: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    x, y = floats(2), floats(0)
    encoder = device.encoder()
    reports.say.append_to(encoder, x, 1, out=y)
    device.wait()
    assert lines(capsys) == []
    encoder.submit()
    device.wait()
    assert lines(capsys) == ["say [0]: x=2.00 at 1"]
    prepared = reports.say.prepare(x, 1, out=y)
    prepared()
    prepared.set(i=3)
    prepared()
    device.wait()
    assert lines(capsys) == ["say [0]: x=2.00 at 1", "say [0]: x=2.00 at 3"]
    with kf.Graph() as graph:
        reports.say(x, 4, out=y)
    for _ in range(2):
        graph.replay()
    device.wait()
    assert lines(capsys) == ["say [0]: x=2.00 at 4"] * 2


def test_several_threads(reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def work(number: int) -> None:
        for _ in range(20):
            assert reports.say(2.0, number) == 4

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    kf.default_device().wait()
    assert sorted(lines(capsys)) == sorted([f"say: x=2.00 at {number}" for number in range(4)] * 20)


# ---- Assertions ----


def test_assertions(device: kf.Device, reports: ModuleType) -> None:
    assert (reports.root(floats(1, 4)).to_numpy() == [1, 2]).all()
    reports.root(floats(4, -4))
    assert error("assertion-failed", device.wait) == (
        "root [1]: reports.slang:69: assertion 'x >= 0' does not hold"
    )
    device.wait()
    assert error("assertion-failed", lambda: reports.root(-1.0)).startswith("root: reports.slang:")


def test_an_assertions_own_text(reports: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    y = reports.square(floats(2, 200))
    assert "assertion 'x < 100' (x is small) does not hold" in error("assertion-failed", y.to_numpy)
    assert sorted(lines(capsys)) == ["square [0]: square of 2", "square [1]: square of 200"]


# ---- Indices ----

N = 8


def test_a_wrong_store_writes_nothing(device: kf.Device, reports: ModuleType) -> None:
    y = kf.Tensor.zeros(N, np.float32)
    reports.scatter(y, ints(1, 1000000, 2), floats(5, 6, 7))
    assert error("index-out-of-range", device.wait) == (
        "scatter [1]: argument 'y': index [1000000] is outside of extents [8], at reports.slang:87; the "
        "access was not made, and what the launch wrote is undefined"
    )
    assert (y.to_numpy() == [0, 5, 7, 0, 0, 0, 0, 0]).all()


@pytest.mark.parametrize("index", [-1, N, N + 5, 2**31 - 1, -(2**31)])
def test_loads(device: kf.Device, reports: ModuleType, index: int) -> None:
    x = floats(*range(1, N + 1))
    y = kf.Tensor.empty(2, np.float32)
    reports.gather(x, ints(3, index), out=y)
    assert error("index-out-of-range", device.wait).startswith(
        f"gather [1]: argument 'x': index [{index}] is outside of extents [8], at reports.slang:77"
    )
    assert (y.to_numpy() == [4, 0]).all()
    assert reports.gather(x, N - 1) == N


def test_a_vector_as_index(device: kf.Device, reports: ModuleType) -> None:
    x = kf.Tensor.zeros((2, 3, 3), np.float32)
    reports.gather_2d(x, kf.Tensor.from_numpy(np.array([[2, 1]], np.int32)))
    device.wait()
    reports.gather_2d(x, kf.Tensor.from_numpy(np.array([[1, 2]], np.int32)))
    assert "argument 'x': index [2, 1] is outside of extents [2, 3]" in error(
        "index-out-of-range", device.wait
    )


@pytest.mark.parametrize("name", ["scatter", "scatter_only", "add_to", "view_put"])
def test_stores(device: kf.Device, reports: ModuleType, name: str) -> None:
    y = kf.Tensor.zeros(N, np.float32)
    index = np.array([0, N, 7], np.uint32 if name == "view_put" else np.int32)
    getattr(reports, name)(y, kf.Tensor.from_numpy(index), floats(1, 2, 3))
    said = error("index-out-of-range", device.wait)
    assert "index [8] is outside of extents [8]" in said
    assert said.startswith(f"{name} [1]: argument '{'sums' if name == 'add_to' else 'y'}'")
    assert (y.to_numpy() == [1, 0, 0, 0, 0, 0, 0, 3]).all()


def test_atomics(device: kf.Device, reports: ModuleType) -> None:
    counts = kf.Tensor.zeros(N, np.int32)
    reports.view_count(counts, kf.Tensor.from_numpy(np.array([1, 1, 99], np.uint32)))
    assert "argument 'counts': index [99]" in error("index-out-of-range", device.wait)
    assert (counts.to_numpy() == [0, 2, 0, 0, 0, 0, 0, 0]).all()


def test_backward(device: kf.Device, reports: ModuleType) -> None:
    a = kf.Tensor.from_numpy(np.full((2, 3), 2, np.float32)).with_grads()
    i = ints(0, 1)
    y = reports.pick(a, i, 2)
    reports.pick.backward(a, i, 2, y)
    assert (gradient(a).to_numpy() == [[0, 0, 4], [0, 0, 4]]).all()
    gradient(a).copy_from_numpy(np.zeros((2, 3), np.float32))
    reports.pick(a, i, 3, out=y)
    assert "pick [" in error("index-out-of-range", device.wait)
    reports.pick.backward(a, i, 3, y)
    said = error("index-out-of-range", device.wait)
    assert said.startswith("pick.backward [")
    assert "index [" in said
    assert ", 3] is outside of extents [2, 3]" in said
    assert (gradient(a).to_numpy() == 0).all()


def test_backward_of_stores(device: kf.Device, reports: ModuleType) -> None:
    y = kf.Tensor.zeros(N, np.float32)
    y = y.with_grads(grad_in=np.ones(N, np.float32), grad_out=kf.Tensor.zeros(N, np.float32))
    v = floats(1, 2).with_grads()
    reports.put(y, ints(1, 3), v)
    reports.put.backward(y, ints(1, 3), v)
    device.wait()
    assert (gradient(v).to_numpy() == 2).all()
    reports.put.backward(y, ints(1, N), v)
    assert "index [8] is outside of extents [8]" in error("index-out-of-range", device.wait)


def test_backward_of_views(device: kf.Device, reports: ModuleType) -> None:
    a = floats(1, 2, 3).with_grads()
    i = kf.Tensor.from_numpy(np.array([2, 3], np.uint32))
    y = kf.Tensor.empty(2, np.float32)
    reports.view_pick(a, i, out=y)
    assert "view_pick [1]: argument 'a': index [3]" in error("index-out-of-range", device.wait)
    assert (y.to_numpy() == [9, 0]).all()
    reports.view_pick.backward(a, i, y)
    assert "view_pick.backward [1]" in error("index-out-of-range", device.wait)
    assert (gradient(a).to_numpy() == [0, 0, 6]).all()


def test_the_first_of_each_launch_and_the_first_launch(device: kf.Device, reports: ModuleType) -> None:
    x = floats(1, 2)
    reports.gather(x, ints(5))
    reports.gather(x, ints(6, 6, 6))
    assert "index [5]" in error("index-out-of-range", device.wait)
    device.wait()


def test_a_variant_checks(device: kf.Device, reports: ModuleType) -> None:
    x = floats(*range(N))
    assert (reports.either(x, ints(2, 7)).to_numpy() == [3, 8]).all()
    safe = reports.either.options(variant="safe")
    assert (safe(x, ints(2, 7)).to_numpy() == [3, 8]).all()
    assert "argument 'x': index [8]" in error("index-out-of-range", lambda: safe(x, ints(2, 8)).to_numpy())


def test_views_of_one_tensor_have_their_own_names(device: kf.Device, reports: ModuleType) -> None:
    whole = kf.Tensor.zeros(16, np.float32)
    reports.scatter(whole[8:], ints(8), floats(1))
    assert "argument 'y': index [8] is outside of extents [8]" in error("index-out-of-range", device.wait)
    assert (whole.to_numpy() == 0).all()
