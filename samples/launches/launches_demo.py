"""Kernels that say themselves what their threads do: groupshared memory, barriers, buffers and pointers."""

import kernelfunctions as kf
import numpy as np
from kf_samples.launches import add_gradient, add_totals, scan_groups, tiled_product, update

random = np.random.default_rng(0)


def say(what: str, right: bool) -> None:
    print(f"{what}: {'yes' if right else 'no'}")


# ---- A product of matrices, by tiles of 8 by 8 ----
rows, inner, columns = 45, 67, 30
a = random.uniform(-1, 1, (rows, inner)).astype(np.float32)
b = random.uniform(-1, 1, (inner, columns)).astype(np.float32)
product = kf.Tensor.zeros((rows, columns), np.float32)
multiply = tiled_product.set(sizes={"rows": rows, "inner": inner, "columns": columns})
multiply.threads(columns, rows)(kf.Buffer.from_numpy(a.ravel()), kf.Buffer.from_numpy(b.ravel()), product)
say("product as by plain code", np.allclose(product.to_numpy(), a.astype(np.float64) @ b, atol=1e-5))

# ---- Running sums of 10,000 numbers: of groups of 128, then of the 79 groups' totals ----
GROUP = 128
values = random.integers(-100, 100, 10000).astype(np.int32)
groups = (len(values) + GROUP - 1) // GROUP
sums = kf.Buffer.empty(len(values), np.int32)
totals, total_sums, unused = (kf.Buffer.empty(groups, np.int32) for _ in range(3))
scan_groups.groups(groups)(kf.Buffer.from_numpy(values), sums, totals)
scan_groups.groups(1)(totals, total_sums, unused)
add_totals.groups(groups)(total_sums, sums)
say("running sums as by plain code", np.array_equal(sums.to_numpy(), np.cumsum(values)))

# ---- A polynomial of degree 3 through points, by pointers ----
x = np.linspace(-1, 1, 1000)
y = np.sin(2.5 * x) + 0.2
points = kf.Tensor.from_numpy(np.stack([x, y], -1).astype(np.float32))
coefficients, gradient, velocity = (kf.Tensor.zeros(4, np.float32) for _ in range(3))
for _ in range(300):
    add_gradient.threads(len(x))(points, len(x), coefficients, gradient)
    update.threads(4)(coefficients, gradient, velocity, 0.1, 0.9)
best = np.polynomial.polynomial.polyfit(x, y, 3)
say("fit as by least squares", np.allclose(coefficients.to_numpy(), best, atol=1e-3))
