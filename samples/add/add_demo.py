"""Adds numbers, vectors and matrices with one Slang function, which broadcasts as NumPy does."""

import kernelfunctions as kf
from kf_samples.add import add


def text(tensor: kf.Tensor) -> str:
    return str(tensor.to_numpy().tolist()).replace(" ", "")


print("add(10, 20) =", add(10, 20))

x = kf.Tensor([10, 20, 30])
print("[10,20,30] + 20 =", text(add(x, 20)))

y = kf.Tensor([40, 50, 60])
print("[10,20,30] + [40,50,60] =", text(add(x, y)))

matrix = kf.Tensor([[10, 20, 30], [40, 50, 60]])
row = kf.Tensor([1, 2, 3])
print("[[10,20,30],[40,50,60]] + [1,2,3] =", text(add(matrix, row)))

longer = kf.Tensor([40, 50, 60, 70])
try:
    add(x, longer)
except kf.ArgumentError as error:
    print("[10,20,30] + [40,50,60,70]: error:", error)
