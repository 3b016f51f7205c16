"""What is known of a public program, and how what it computes is compared."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Use = Literal["unchanged", "spec", "source", "refused"]

STEP = 1e-6


@dataclass(frozen=True)
class Edit:
    """A change to a file of the program: what stands there once, and what takes its place."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Program:
    """One program: its spec is specs/NAME.kf.json."""

    name: str
    repository: str
    path: str
    check: Callable[[ModuleType], None] | None
    use: Use = "unchanged"
    why: str = ""  # the keys of the spec, the reason of the edits, or of the refusal
    error: str = ""  # the id of the error of a refused program, or of one without its edits
    edits: tuple[Edit, ...] = ()
    lanes: int = 1  # the smallest subgroup that it is written for


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def floats(seed: int, *shape: int, low: float = -1, high: float = 1) -> Array:
    return random(seed).uniform(low, high, shape).astype(np.float32)


def units(seed: int, count: int, length: int = 3) -> Array:
    """Unit vectors."""
    made = random(seed).normal(size=(count, length))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def words(seed: int, *shape: int) -> Array:
    return random(seed).integers(0, 2**32, shape, np.uint32)


def tensor(values: Array) -> kf.Tensor:
    return kf.Tensor.from_numpy(values)


def numpy(found: Any) -> Array:
    return np.asarray(found.to_numpy() if hasattr(found, "to_numpy") else found)


def widened(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type with float64 for each float."""
    if dtype.names is not None:
        fields = [(name, widened(dtype[name])) for name in dtype.names]
        return np.dtype(fields)
    if dtype.subdtype is not None:
        return np.dtype((widened(dtype.subdtype[0]), dtype.subdtype[1]))
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def wide(values: Array) -> Array:
    return values.astype(widened(values.dtype))


def components(values: Array, prefix: str = "") -> Iterator[tuple[str, Array]]:
    """Views of the floats of an array of elements, (n, numbers) each, with the names of fields."""
    if values.dtype.names is not None:
        for name in values.dtype.names:
            yield from components(values[name], f"{prefix}.{name}")
    elif values.dtype.kind == "f":
        yield prefix, values


def close(found: Any, wanted: Any, what: str, tolerance: float = 1e-4) -> None:
    """Compares floats by the size of the wanted ones, all others exactly."""
    found, wanted = numpy(found), numpy(wanted)
    if wanted.dtype.names is not None:
        for name in wanted.dtype.names:
            close(found[name], wanted[name], f"{what}.{name}", tolerance)
        return
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, wanted {wanted.shape}"
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted, what)
        return
    assert np.isfinite(wanted).all(), f"{what}: the reference isn't finite"
    size = float(np.abs(wanted).max(initial=0)) or 1.0
    np.testing.assert_allclose(found.astype(np.float64), wanted, tolerance, tolerance * size, err_msg=what)


def gradient(reference: Callable[..., Any], inputs: Sequence[Any], which: int, flow: Array) -> Array:
    """The gradient of one input by central differences. Element i of a result depends on element i alone."""
    made = np.zeros_like(inputs[which])
    moved = [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]
    views = dict(components(moved[which]))
    for name, into in components(made):
        view = views[name]
        for index in np.ndindex(view.shape[1:]):
            at = (slice(None), *index)
            before = view[at].copy()
            view[at] = before + STEP
            above = reference(*moved)
            view[at] = before - STEP
            below = reference(*moved)
            view[at] = before
            slope = np.asarray((above - below) * flow / (2 * STEP))
            into[at] = slope.reshape(len(slope), -1).sum(axis=1)
    return np.asarray(made)


def check(
    function: Any,
    reference: Callable[..., Array],
    *inputs: Any,
    backward: bool = False,
    fixed: Sequence[int] = (),
    tolerance: float = 1e-4,
    gradient_tolerance: float = 1e-3,
) -> None:
    """Compares a function that is called for each element with its reference in double precision. Arrays are
    given as tensors, with gradients if `backward` where they aren't `fixed`; other inputs as they are."""
    exact = [wide(value) if isinstance(value, np.ndarray) else value for value in inputs]
    wanted = reference(*exact)
    given = [tensor(value) if isinstance(value, np.ndarray) else value for value in inputs]
    name = function.__name__
    found = function(*given)
    close(found, wanted, name, tolerance)
    if not backward:
        return
    flow = floats(99, *wanted.shape, low=0.5, high=1.5)
    with_grads = list(given)
    for which, value in enumerate(inputs):
        if isinstance(value, np.ndarray) and any(components(value)) and which not in fixed:
            with_grads[which] = given[which].with_grads()
    function.backward(*with_grads, found.with_grads(grad_in=tensor(flow)))
    for which, value in enumerate(with_grads):
        if isinstance(value, kf.Tensor) and value.grad is not None:
            slopes = gradient(reference, exact, which, flow.astype(np.float64))
            close(value.grad, slopes, f"{name}: gradient {which}", gradient_tolerance)
