"""Inputs that calls share in every way, and how closely sums over these calls are met."""

import kernelfunctions as kf
import numpy as np
from arrays import Array, base_shape, view

ROWS, COLUMNS = 33, 129

# The shapes of w and b beside x's: all calls share one, those of a row do, those of a column, none.
SHARING = {
    "everywhere": ((1, 1), (1, 1)),
    "rows": ((ROWS, 1), (1, 1)),
    "columns": ((1, COLUMNS), (ROWS, 1)),
    "injective": ((ROWS, COLUMNS), (1, COLUMNS)),
}
TOLERANCE = {2: 2e-3, 4: 2e-6, 8: 1e-14}


class Placed:
    """A tensor and its gradient, each a view inside a poisoned buffer."""

    def __init__(self, values: Array, layout: str) -> None:
        whole = np.full(base_shape(values.shape, layout), 77, values.dtype)
        view(whole, values.shape, layout)[...] = values
        self.shape = values.shape
        self.layout = layout
        self.start = np.full(whole.shape, 77, values.dtype)
        view(self.start, self.shape, layout)[...] = 1  # what gradients are added to
        self.gradients = kf.Tensor.from_numpy(self.start)
        data = view(kf.Tensor.from_numpy(whole), self.shape, layout)
        self.tensor = data.with_grads(grad_out=view(self.gradients, self.shape, layout))

    def reset(self) -> None:
        self.gradients.copy_from_numpy(self.start)

    def gradient(self) -> Array:
        """What was added; nothing beside the view has changed."""
        found = self.gradients.to_numpy()
        expected = self.start.copy()
        inside = view(found, self.shape, self.layout).copy()
        view(expected, self.shape, self.layout)[...] = inside
        np.testing.assert_array_equal(found, expected)
        return np.asarray(inside)


def reduced(gradient: Array, shape: tuple[int, ...]) -> Array:
    axes = tuple(d for d in range(gradient.ndim) if shape[d] == 1)
    return np.asarray(gradient.sum(axis=axes, keepdims=True))


def check(found: Array, wanted: Array, terms: Array) -> None:
    """To a few roundings of the largest that is added up."""
    tolerance = TOLERANCE[found.dtype.itemsize]
    limit = tolerance * (terms + 1)
    assert np.all(np.abs(found.astype(np.float64) - (wanted + 1)) <= limit), found.dtype
