"""Bodies that attract each other, and a cloth that falls over a ball, by structured and constant buffers."""

import kernelfunctions as kf
import numpy as np
from kf_samples.simulations import Body, Particle, fall, move_bodies, relax


def say(what: str, right: bool) -> None:
    print(f"{what}: {'yes' if right else 'no'}")


# ---- 100 bodies on a spiral ----
COUNT = 100
angle = 0.3 * np.arange(COUNT)
bodies = np.zeros(COUNT, Body.dtype)
bodies["position"] = np.stack([np.cos(angle), np.sin(angle), angle / 30], -1) * (1 + angle[:, None] / 10)
bodies["mass"] = 1 + np.arange(COUNT) % 3
bodies["velocity"] = np.stack([-np.sin(angle), np.cos(angle), 0 * angle], -1)
gravity = {"count": COUNT, "strength": 0.05, "softening": 0.1, "time_step": 0.01}

before, after = kf.Buffer.from_numpy(bodies, writable=True), kf.Buffer.empty(COUNT, Body.dtype)
move = move_bodies.set(gravity=gravity).threads(COUNT)
for _ in range(20):
    move(before, after)
    before, after = after, before

position, velocity, mass = (bodies[name].astype(np.float64) for name in ("position", "velocity", "mass"))
for _ in range(20):
    way = position - position[:, None]
    squared = np.sum(way**2, axis=-1) + gravity["softening"] ** 2
    velocity += np.einsum("ijk,ij->ik", way, mass / squared**1.5) * (
        gravity["strength"] * gravity["time_step"]
    )
    position += velocity * gravity["time_step"]
moved = before.to_numpy()
say("bodies as by plain code", np.allclose(moved["position"], position, rtol=1e-4, atol=1e-4))
say("  their velocities too", np.allclose(moved["velocity"], velocity, rtol=1e-4, atol=1e-4))

# ---- A cloth of 20 by 15 particles ----
WIDTH, HEIGHT, SPACING, RADIUS = 20, 15, 0.1, 0.3
GRAVITY = np.array([0, -9.81, 0])
BALL = np.array([0.95, -0.6, 0.5])
cloth = {
    "size": (WIDTH, HEIGHT),
    "spacing": SPACING,
    "time_step": 0.01,
    "gravity": GRAVITY.tolist(),
    "damping": 0.02,
    "ball": BALL.tolist(),
    "radius": RADIUS,
}
z, x = np.mgrid[:HEIGHT, :WIDTH] * SPACING
particles = np.zeros((HEIGHT, WIDTH), Particle.dtype)
particles["position"] = particles["previous"] = np.stack([x, 0 * x, z], -1)

before = kf.Buffer.from_numpy(particles.ravel(), writable=True)
after = kf.Buffer.empty(WIDTH * HEIGHT, Particle.dtype)
fall_once = fall.set(cloth=cloth).threads(WIDTH, HEIGHT)
relax_once = relax.set(cloth=cloth).threads(WIDTH, HEIGHT)
STEPS, ROUNDS = 40, 4
for _ in range(STEPS):
    fall_once(before)
    for _ in range(ROUNDS):
        relax_once(before, after)
        before, after = after, before


def corrections(position: np.ndarray) -> np.ndarray:
    """How its links move each particle."""
    result = np.zeros(position.shape)
    share = np.where(np.arange(HEIGHT) == 0, 1.0, 0.5)[:, None, None] * np.ones((1, WIDTH, 1))
    after, before = slice(1, None), slice(None, -1)
    for rows, other_rows, columns, other_columns in [
        (slice(None), slice(None), after, before),
        (slice(None), slice(None), before, after),
        (after, before, slice(None), slice(None)),
        (before, after, slice(None), slice(None)),
    ]:
        link = position[other_rows, other_columns] - position[rows, columns]
        length = np.linalg.norm(link, axis=-1, keepdims=True)
        result[rows, columns] += link * share[other_rows, other_columns] * (1 - SPACING / length)
    return result / 4


position = particles["position"].astype(np.float64)
previous = position.copy()
for _ in range(STEPS):
    way = (position - previous) * (1 - 0.02) + GRAVITY * 0.01**2
    previous[1:] = position[1:]
    position[1:] += way[1:]
    for _ in range(ROUNDS):
        position[1:] += corrections(position)[1:]
        from_ball = position - BALL
        distance = np.linalg.norm(from_ball, axis=-1, keepdims=True)
        pushed = np.where(distance < RADIUS, BALL + from_ball * (RADIUS / distance), position)
        position[1:] = pushed[1:]
hung = before.to_numpy()["position"].reshape(HEIGHT, WIDTH, 3)
say("cloth as by plain code", np.allclose(hung, position, atol=1e-3))
touching = np.linalg.norm(hung - BALL, axis=-1) < RADIUS + 1e-4
say("  it lies on the ball", bool(touching.sum() > 10))
