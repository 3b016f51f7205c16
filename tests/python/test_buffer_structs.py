"""Structs that hold buffers, tensors and pointers: as arguments, as objects and in launches."""

from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import SIZES, Array, numbers
from loader import Loader

FLOAT = np.dtype(np.float32)
INPUTS = 3
POISON = 7  # elements around those that calls reach


@pytest.fixture(scope="module")
def module(generated: Loader) -> ModuleType:
    return generated("buffer_structs")


def rows(size: int) -> Array:
    return np.arange(size, dtype=np.int32)


@dataclass
class Layer:
    """A user's own class: objects with the fields are given as they are."""

    weights: Any
    grads: Any
    inputs: int = INPUTS

    @classmethod
    def of(cls, size: int, seed: int) -> "Layer":
        grads = np.full(INPUTS * size + POISON, 0.5, np.float32)
        return cls(
            kf.Buffer.from_numpy(numbers((INPUTS * size + POISON,), FLOAT, seed)),
            kf.Buffer.from_numpy(grads, writable=True),
        )


def evaluated(weights: Array, x: Array) -> tuple[Array, Array]:
    """What Layer.eval gives, and its derivative by x."""
    w = weights[: INPUTS * len(x)].reshape(-1, INPUTS).astype(np.float64)
    slope = w[:, 1:].sum(axis=1)
    return w[:, 0] + slope * x, slope


def gradients(size: int, x: Array, by: Array) -> Array:
    """What a layer's buffer has after one backward pass, the poison included."""
    expected = np.full(INPUTS * size + POISON, 0.5)
    own = expected[: INPUTS * size].reshape(-1, INPUTS)
    own[:, 0] += by
    own[:, 1:] += (by * x)[:, None]
    return expected


def close(found: Any, expected: Array) -> None:
    found = found if isinstance(found, np.ndarray) else found.to_numpy()
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


class Case:
    """A net of two layers, and what NumPy says of it."""

    def __init__(self, size: int) -> None:
        self.first, self.second = Layer.of(size, 1), Layer.of(size, 2)
        self.bias = numbers((size,), FLOAT, 3)
        self.x = numbers((size,), FLOAT, 4)
        hidden, slope = evaluated(self.first.weights.to_numpy(), self.x)
        outer, outer_slope = evaluated(self.second.weights.to_numpy(), hidden)
        self.y = 2.5 * outer + self.bias
        self.x_grad = 2.5 * outer_slope * slope
        self.first_grads = gradients(size, self.x, 2.5 * outer_slope)
        self.second_grads = gradients(size, hidden, np.full(size, 2.5))

    def stack(self, kind: str, module: ModuleType) -> Any:
        """The same net as a Stack, whose layers are in an array."""
        layers: Any = [self.first, self.second]
        if kind == "dict":
            layers = [vars(layer) for layer in layers]
        elif kind == "class":
            layers = tuple(module.Layer(**vars(layer)) for layer in layers)
        fields = {"scale": 2.5, "layers": layers, "bias": self.bias}
        return (
            fields
            if kind == "dict"
            else module.Stack(**fields)
            if kind == "class"
            else SimpleNamespace(**fields)
        )

    def net(self, kind: str, module: ModuleType) -> Any:
        fields = {"scale": 2.5, "first": self.first, "second": self.second, "bias": self.bias}
        if kind == "dict":
            return fields | {"first": vars(self.first)}
        if kind == "object":
            return SimpleNamespace(**fields)
        return module.Net(**fields | {"second": module.Layer(**vars(self.second))})

    def check_gradients(self) -> None:
        close(self.first.grads, self.first_grads)
        close(self.second.grads, self.second_grads)


@pytest.mark.parametrize("kind", ["dict", "object", "class"])
@pytest.mark.parametrize("size", SIZES[1:])
def test_trees(module: ModuleType, size: int, kind: str) -> None:
    """Parameters come from buffers of nested structs, and gradients go into others beside them."""
    case = Case(size)
    net = case.net(kind, module)
    y = module.run(net, rows(size), case.x)
    close(y, case.y)
    x = kf.Tensor.from_numpy(case.x).with_grads()
    module.run.backward(net, rows(size), x, y)
    close(x.grad, case.x_grad)
    case.check_gradients()


@pytest.mark.parametrize("kind", ["dict", "object", "class"])
@pytest.mark.parametrize("size", SIZES[1:])
def test_arrays(module: ModuleType, size: int, kind: str) -> None:
    """A net whose layers are in an array is what one with a field for each is."""
    case = Case(size)
    net = case.stack(kind, module)
    y = module.run_stack(net, rows(size), case.x)
    close(y, case.y)
    x = kf.Tensor.from_numpy(case.x).with_grads()
    module.run_stack.backward(net, rows(size), x, y)
    close(x.grad, case.x_grad)
    case.check_gradients()
    module.Stack.clear(net, rows(size))
    for layer in (case.first, case.second):
        np.testing.assert_array_equal(layer.grads.to_numpy()[:size], 0)
        assert np.all(layer.grads.to_numpy()[size:] != 0)


@pytest.mark.parametrize("size", SIZES)
def test_array_launches(module: ModuleType, size: int) -> None:
    case = Case(size)
    y = kf.Tensor.from_numpy(np.full(size + POISON, -3, np.float32))
    module.train_stack.threads(size)(case.stack("object", module), size, case.x, y)
    close(y, np.concatenate([case.y, np.full(POISON, -3)]))
    case.check_gradients()


@pytest.mark.parametrize("size", [0, 1, 7, 64])
def test_picks(module: ModuleType, size: int) -> None:
    """Each call picks buffers and pointers of its own, of arrays in arrays, reads and writes them, adds to
    them and asks for their lengths."""
    length = 128 + POISON
    levels = numbers((2, 3, length), FLOAT, 41)
    weights = numbers((2, 2, length), FLOAT, 43)
    scales = numbers((3, length), FLOAT, 44)
    counts = np.full((2, 3 + POISON), 5, np.uint32)
    level_buffers = [[kf.Buffer.from_numpy(one, writable=True) for one in shelf] for shelf in levels]
    count_buffers = [kf.Buffer.from_numpy(one, writable=True) for one in counts]
    given = [[kf.Tensor.from_numpy(one) for one in shelf] for shelf in weights]
    shelves = [
        {"levels": level_buffers[a], "counts": count_buffers[a], "weights": tuple(given[a])} for a in range(2)
    ]
    y = module.pick(shelves, [kf.Buffer.from_numpy(one) for one in scales], rows(size))
    expected = np.zeros(size, np.float32)
    for i in range(size):
        a, b, c = i & 1, i % 3, (i >> 1) & 1
        levels[1 - a, b, i + 64] = levels[a, b, i] * scales[b, i]
        counts[a, b] += i
        weights[c, a, i] += 1
        expected[i] = scales[: b + 1, i].sum() + length * levels.itemsize + levels[c, b, i]
    np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-6)
    for a in range(2):
        np.testing.assert_array_equal(count_buffers[a].to_numpy(), counts[a])
        for b in range(3):
            np.testing.assert_array_equal(level_buffers[a][b].to_numpy(), levels[a, b])
        for k in range(2):
            np.testing.assert_array_equal(given[a][k].to_numpy(), weights[a, k])


@pytest.mark.parametrize("size", SIZES)
def test_launches(module: ModuleType, size: int) -> None:
    case = Case(size)
    net = case.net("object", module)
    y = kf.Tensor.from_numpy(np.full(size + POISON, -3, np.float32))
    module.train.threads(size)(net, size, case.x, y)
    close(y, np.concatenate([case.y, np.full(POISON, -3)]))
    case.check_gradients()
    for _ in range(3):  # the launches that are remembered
        module.clear_all.threads(size)(net)
    for layer in (case.first, case.second):
        np.testing.assert_array_equal(layer.grads.to_numpy()[:size], 0)
        assert np.all(layer.grads.to_numpy()[size:] != 0)


@pytest.mark.parametrize("size", SIZES[1:])
def test_methods(module: ModuleType, size: int) -> None:
    """A method reads and writes its object's buffers, a [mutating] one too."""
    own = Layer.of(size, 5)
    layer = module.Layer(weights=own.weights, grads=own.grads, inputs=INPUTS)
    x = numbers((size,), FLOAT, 6)
    expected, slope = evaluated(own.weights.to_numpy(), x)
    given = kf.Tensor.from_numpy(x).with_grads()
    y = layer.eval(rows(size), given)
    close(y, expected)
    layer.eval.backward(rows(size), given, y)
    close(given.grad, slope)
    close(own.grads, gradients(size, x, np.ones(size)))
    layer.clear(rows(size))
    np.testing.assert_array_equal(own.grads.to_numpy()[:size], 0)


def counted(elements: Any, count: int, *, writable: bool = True) -> dict[str, Any]:
    """A buffer that counts, as calls take it."""
    number = kf.Buffer.from_numpy(np.array([count], np.uint32), writable=True)
    return {"elements": kf.Buffer.from_numpy(elements, writable=writable), "count": number}


def ordered(spots: Array) -> list[bytes]:
    return sorted(spot.tobytes() for spot in spots)


@pytest.mark.parametrize("size", SIZES)
def test_counters(module: ModuleType, size: int) -> None:
    """What is appended is there once, in any order; what is too much is counted, and what is left stays."""
    weights = numbers((size,), FLOAT, 16)
    places = numbers((size, 3), FLOAT, 17)
    kept = np.zeros(int((weights > 0).sum()), module.Spot.dtype)
    kept["weight"], kept["place"] = weights[weights > 0], places[weights > 0]
    poison = np.full(size + POISON, -9, FLOAT).astype(module.Spot.dtype)
    spots = counted(poison, 2)
    module.keep(spots, weights, places)
    end = 2 + len(kept)
    assert spots["count"].to_numpy().tolist() == [end]
    found = spots["elements"].to_numpy()
    assert ordered(found[2:end]) == ordered(kept)
    np.testing.assert_array_equal(np.concatenate([found[:2], found[end:]]), poison[len(kept) :])
    full = counted(poison[:1], 0)
    module.keep(full, weights, places)
    assert full["count"].to_numpy().tolist() == [len(kept)]
    # One call more than there are elements gets zeros.
    spots["elements"] = kf.Buffer.from_numpy(found)
    to = counted(np.full(end + 2, 77, FLOAT), 0)
    module.drain(spots, to, np.full(end + 1, 2, FLOAT))
    assert (spots["count"].to_numpy().tolist(), to["count"].to_numpy().tolist()) == ([0], [end + 1])
    got = to["elements"].to_numpy()
    assert sorted(got[:-1].tolist()) == sorted([*(2 * found["weight"][:end]).tolist(), 0])
    assert got[-1] == 77


def test_counters_refused(module: ModuleType) -> None:
    spots = counted(np.zeros(4, module.Spot.dtype), 0)
    one = np.ones(1, FLOAT), np.ones((1, 3), FLOAT)
    for wrong, message in (
        (spots | {"count": kf.Buffer.zeros(1, np.uint32, writable=False)}, "spots.count.*only read"),
        (spots | {"count": kf.Buffer.zeros(1, np.float32)}, "spots.count.*uint"),
        ({"elements": spots["elements"]}, "count"),
        (spots["elements"], "spots"),
    ):
        with pytest.raises(kf.ArgumentError, match=message):
            module.keep(wrong, *one)
    assert spots["count"].to_numpy().tolist() == [0]


@pytest.mark.parametrize("size", SIZES)
def test_places(module: ModuleType, size: int) -> None:
    """Pointers, raw buffers and tensors in nested structs, given in all their ways."""
    weights = [numbers((size + POISON,), FLOAT, seed) for seed in (7, 8)]
    x = numbers((size,), FLOAT, 9)
    given = [kf.Tensor.from_numpy(one) for one in weights]
    counts = [np.arange(size + POISON, dtype=np.uint32), np.full(size + POISON, 9, np.uint32)]
    buffers = [kf.Buffer.from_numpy(one, writable=True) for one in counts]
    sums = [np.full(size + POISON, 9, np.float32) for _ in range(2)]
    spots = [np.zeros(size + POISON, module.Spot.dtype) for _ in range(2)]
    for k in range(2):
        spots[k]["weight"] = numbers((size + POISON,), FLOAT, 11 + k)
        spots[k]["place"] = numbers((size + POISON, 3), FLOAT, 13 + k)
    spot_buffers = [kf.Buffer.from_numpy(one, writable=True) for one in spots]
    left = {"weights": given[0], "spots": spot_buffers[0], "counts": buffers[0], "sums": sums[0]}
    right = {"weights": given[1].address, "spots": spot_buffers[1], "counts": buffers[1], "sums": sums[1]}
    module.spread({"left": left, "right": right}, rows(size), x, reads=[given[0]], writes=[given[1]])
    np.testing.assert_array_equal(sums[0][:size], weights[0][:size] * x)
    weights[1][:size] += x
    counts[1][:size] = counts[0][:size] + 1
    np.testing.assert_array_equal(given[0].to_numpy(), weights[0])
    np.testing.assert_array_equal(given[1].to_numpy(), weights[1])
    np.testing.assert_array_equal(buffers[0].to_numpy(), counts[0])
    np.testing.assert_array_equal(buffers[1].to_numpy(), counts[1])
    np.testing.assert_array_equal(spot_buffers[0].to_numpy(), spots[0])
    spots[1][:size] = spots[0][:size]
    spots[1]["place"][:size] *= spots[0]["weight"][:size, None]
    np.testing.assert_array_equal(spot_buffers[1].to_numpy(), spots[1])
    assert sums[0][size:].tolist() + sums[1].tolist() == [9] * (POISON + size + POISON)


@pytest.mark.parametrize("size", SIZES)
def test_addresses(module: ModuleType, size: int) -> None:
    """Structs that go by value, in tensors and in buffers hold addresses as numbers."""
    values = numbers((size + POISON,), FLOAT, 21)
    scales = numbers((size,), FLOAT, 22)
    given = kf.Tensor.from_numpy(values)
    written = [kf.Tensor.from_numpy(values) for _ in range(2)]
    by_value = module.Row(first=2, values=given.address, scale=1.5)
    assert module.Row.dtype["values"] == np.uint64
    row = np.zeros(size, module.Row.dtype)
    row["first"], row["values"], row["scale"] = rows(size), given.address, scales
    others = row.copy()
    others["values"] = np.where(rows(size) % 2 == 0, written[0].address, written[1].address)
    y = module.in_rows(by_value, row, kf.Buffer.from_numpy(others), rows(size), reads=[given], writes=written)
    expected = values[2 : size + 2] * scales + values[:size] * np.float32(1.5) * scales
    np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-6)
    np.testing.assert_array_equal(given.to_numpy(), values)
    for k in range(2):
        changed = values.copy()
        changed[k:size:2] += 1
        np.testing.assert_array_equal(written[k].to_numpy(), changed)


def test_shared(module: ModuleType) -> None:
    """Layers may share the parameters that they only read."""
    case = Case(33)
    case.second.weights = case.first.weights
    hidden, _ = evaluated(case.first.weights.to_numpy(), case.x)
    outer, _ = evaluated(case.first.weights.to_numpy(), hidden)
    close(module.run(case.net("dict", module), rows(33), case.x), 2.5 * outer + case.bias)


def test_refused(module: ModuleType) -> None:
    def run(**changed: Any) -> None:
        case = Case(4)
        for name, value in changed.items():
            layer, field = name.split("__")
            setattr(getattr(case, layer), field, value)
        before = case.first.grads.to_numpy() if isinstance(case.first.grads, kf.Buffer) else None
        try:
            module.train.threads(4)(case.net("object", module), 4, case.x, np.zeros(4, np.float32))
        finally:
            if before is not None:
                np.testing.assert_array_equal(case.first.grads.to_numpy(), before)

    with pytest.raises(kf.ArgumentError, match=r"'net\.second\.grads'.*only read"):
        run(second__grads=kf.Buffer.zeros(19, writable=False))
    with pytest.raises(
        kf.ArgumentError, match=r"'net\.second\.weights': expected float buffer, found an int"
    ):
        run(second__weights=kf.Buffer.zeros(19, np.int32))
    with pytest.raises(kf.ArgumentError, match=r"'net\.first\.weights': expected float buffer"):
        run(first__weights=3.0)
    both = kf.Buffer.zeros(19)
    with pytest.raises(kf.ArgumentError, match=r"'net\.second\.grads'.*shares memory"):
        run(first__grads=both, second__grads=both)
    with pytest.raises(kf.ArgumentError, match=r"shares memory"):
        run(first__weights=both, second__grads=both)
    with pytest.raises(TypeError, match=r"'net\.first'.*'grads'"):
        module.clear_all.threads(1)({"scale": 1, "first": {"weights": both}, "second": {}, "bias": [1]})


def test_arrays_refused(module: ModuleType) -> None:
    case = Case(4)
    layers = [vars(case.first), vars(case.second)]
    first, second = layers
    both, read = kf.Buffer.zeros(19), kf.Buffer.zeros(19, writable=False)
    ints = kf.Buffer.zeros(19, np.int32)
    for wrong, message in (
        ([first, second | {"grads": read}], r"'net\.layers\[1\]\.grads'.*only read"),
        (
            [first, second | {"weights": ints}],
            r"'net\.layers\[1\]\.weights': expected float buffer, found an int",
        ),
        ([first | {"weights": 3.0}, second], r"'net\.layers\[0\]\.weights': expected float buffer"),
        ([first | {"grads": both}, second | {"grads": both}], r"'net\.layers\[1\]\.grads'.*shares memory"),
        ([first, second | {"weights": case.first.grads}], r"shares memory"),
        (layers[:1], r"'net\.layers': a list of 2 is needed for 'Layer\[2\]', found 1"),
        (first, r"'net\.layers': a list of 2 is needed for 'Layer\[2\]', not "),
    ):
        with pytest.raises(kf.ArgumentError, match=message):
            module.train_stack.threads(4)(
                {"scale": 1, "layers": wrong, "bias": case.bias}, 4, case.x, np.zeros(4, np.float32)
            )
    np.testing.assert_array_equal(case.first.grads.to_numpy(), 0.5)
