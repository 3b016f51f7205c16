"""Evaluates a polynomial over a tensor, then its gradient."""

import kernelfunctions as kf
import numpy as np
from kf_samples.polynomial import polynomial


def text(tensor: kf.Tensor | None) -> str:
    assert tensor is not None
    return "[" + ",".join(f"{value:g}" for value in tensor.to_numpy()) + "]"


x = kf.Tensor.from_numpy(np.array([1, 2, 3, 4], np.float32)).with_grads()
y = polynomial(2, 8, -1, x)
print("2x²+8x−1 at [1,2,3,4] =", text(y))

# y has no gradient of its own, so 1 flows in and x.grad becomes dy/dx.
polynomial.backward(2, 8, -1, x, y)
print("its gradient there =", text(x.grad))
