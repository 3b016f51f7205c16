"""Calls the methods of Slang structs: on one object, on tensors of objects, and on objects of tensors."""

from typing import Any

import kernelfunctions as kf
import numpy as np
from kf_samples.methods import Particle, Scaler, make_scalers


def text(values: Any) -> str:
    if isinstance(values, kf.Tensor):
        values = values.to_numpy()
    if np.ndim(values) == 0:
        return f"{values:g}"
    return "[" + ",".join(text(value) for value in values) + "]"


def tensor(values: Any) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array(values, np.float32))


scaler = Scaler(scale=10)
numbers = tensor([1, 2, 3, 4])
scaler.scale_value(numbers)
print("[1,2,3,4] scaled by 10 =", text(numbers))

# A constructor over a tensor makes a tensor of objects.
scalers = make_scalers(tensor([1, 2, 3, 4]))
Scaler.scale_value(scalers, numbers)
print("and by [1,2,3,4] =", text(numbers))

# One object whose field is a tensor; it gets the field's gradient.
many = Scaler(scale=tensor([1, 2, 3, 4]).with_grads())
result = many.scaled(numbers)
many.scaled.backward(numbers, result)
print("again =", text(result), "with the gradient", text(many.scale.grad))
print("10 and 2 combined =", text(Scaler.combined(10, 2)))

particles = kf.Tensor.from_numpy(np.array([([0, 0], [1, 2]), ([1, 1], [1, 2])], Particle.dtype)).with_grads()
later = Particle.position_at(particles, 0.5)
Particle.position_at.backward(particles, 0.5, later)
print("array of structs:", text(later))
# A particle's gradient is a particle.
assert particles.grad is not None
gradient = particles.grad.to_numpy()
print("  gradients:", text(gradient["position"]), text(gradient["velocity"]))
# A method that changes its object writes what is in tensors.
Particle.update_position(particles, 0.5)
print("  moved:", text(particles.to_numpy()["position"]))

swarm = Particle(
    position=tensor([[0, 0], [1, 1]]).with_grads(), velocity=tensor([[1, 2], [1, 2]]).with_grads()
)
later = swarm.position_at(0.5)
swarm.position_at.backward(0.5, later)
print("structure of arrays:", text(later))
print("  gradients:", text(swarm.position.grad), text(swarm.velocity.grad))
swarm.update_position(0.5)
print("  moved:", text(swarm.position))

# One velocity does for all; its gradient is the sum of theirs.
flock = Particle(position=tensor([[0, 0], [1, 1]]).with_grads(), velocity=kf.differentiable([1, 2]))
later = flock.position_at(0.5)
flock.position_at.backward(0.5, later)
print("mixed:", text(later))
print("  gradients:", text(flock.position.grad), text(flock.velocity.grad))
flock.update_position(0.5)
print("  moved:", text(flock.position))
