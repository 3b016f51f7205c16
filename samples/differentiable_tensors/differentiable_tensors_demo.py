"""Functions that take whole tensors, and gradients through what they load and store."""

import kernelfunctions as kf
import numpy as np
from kf_samples.differentiable_tensors import custom_activation, linear_layer, polynomial, process_inplace


def tensor(values: object) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.float32))


def text(given: kf.Tensor | None) -> str:
    assert given is not None
    rows = given.to_numpy()
    lines = ["[" + ",".join(f"{value:g}" for value in row) + "]" for row in np.atleast_2d(rows)]
    return lines[0] if rows.ndim == 1 else "[" + ",".join(lines) + "]"


x = tensor([1, 2, 3, 4]).with_grads()
y = kf.Tensor.empty(4, np.float32)
polynomial(kf.grid(4), 2, 8, -1, x, y)
print("2x²+8x−1 at [1,2,3,4] =", text(y))
# y has no gradient of its own, so 1 flows in.
polynomial.backward(kf.grid(4), 2, 8, -1, x, y)
print("its gradient there =", text(x.grad))

# What is both read and written has one gradient that flows in and another that flows out: the latter is
# that of the values before the call.
data = tensor([1, 2, 3, 4]).with_grads(grad_in=tensor([1, 1, 1, 1]), grad_out=tensor([0, 0, 0, 0]))
process_inplace.backward(kf.grid(4), data)
process_inplace(kf.grid(4), data)
print("doubled in place =", text(data), "gradient =", text(data.grad_out))

s = tensor([-0.5, 0, 0.25, 0.5, 1.5]).with_grads()
smooth = custom_activation(kf.grid(5), s)
print("smoothstep =", text(smooth))
custom_activation.backward(kf.grid(5), s, smooth)
print("its gradient =", text(s.grad))

weights = tensor([[1, 2, 3], [4, 5, 6]]).with_grads()
bias = tensor([0.5, -0.5]).with_grads()
features = tensor([1, -1, 2]).with_grads()
output = kf.Tensor.empty(2, np.float32)
linear_layer(kf.grid(2), weights, bias, features, output)
print("linear layer =", text(output))
linear_layer.backward(kf.grid(2), weights, bias, features, output)
print("gradients of weights =", text(weights.grad), "bias =", text(bias.grad), "input =", text(features.grad))
