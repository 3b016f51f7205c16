"""Programs of integers: random numbers, hashes, bits and packed directions, which are compared exactly."""

from types import ModuleType
from typing import Any

import numpy as np
from program import Array, Program, check, close, numpy, random, tensor, units, words
from shading import NVPRO

FALCOR = "NVIDIAGameWorks+Falcor"
UTILS = "Source/Falcor/Utils"


def u32(value: Any) -> Array:
    return np.asarray(np.asarray(value, np.uint64) & np.uint64(0xFFFFFFFF))


def turned(x: Array, by: int) -> Array:
    """32 bits, rotated to the left."""
    return u32((x << np.uint64(by)) | (u32(x) >> np.uint64(32 - by)))


def spread(x: Array) -> Array:
    """Bit i of 16 at place 2i."""
    return np.asarray(sum(((x >> np.uint64(bit)) & np.uint64(1)) << np.uint64(2 * bit) for bit in range(16)))


def check_bits(module: ModuleType) -> None:
    pairs, single = words(1, 300, 2), words(2, 300)
    low = pairs.astype(np.uint64) & np.uint64(0xFFFF)
    wanted = spread(low[:, 0]) | (spread(low[:, 1]) << np.uint64(1))
    close(module.interleave_32bit(tensor(pairs)), wanted.astype(np.uint32), "interleave_32bit")

    both = (words(3, 300, 2) & 0xFF).astype(np.uint64)
    code = (spread(both[:, 0]) | (spread(both[:, 1]) << np.uint64(1))).astype(np.uint32)
    close(module.deinterleave_16bit(tensor(code)), both.astype(np.uint32), "deinterleave_16bit")

    a = single.astype(np.uint64)
    steps = [("+", 0x7ED55D16, 12), ("^", 0xC761C23C, -19), ("+", 0x165667B1, 5)]
    steps += [("^", 0xD3A2646C, 9), ("+", 0xFD7046C5, 3), ("^", 0xB55A4F09, -16)]
    for way, number, by in steps:  # Jenkins's 32-bit integer hash
        shifted = u32(a << np.uint64(by)) if by > 0 else a >> np.uint64(-by)
        added = u32(a + np.uint64(number))
        flipped = added if by > 0 else a ^ np.uint64(number)
        a = np.asarray(u32(added + shifted) if way == "+" else flipped ^ shifted)
    close(module.jenkinsHash(tensor(single)), a.astype(np.uint32), "jenkinsHash")
    check_tea(module)


def check_tea(module: ModuleType) -> None:
    """Wheeler's and Needham's Tiny Encryption Algorithm."""
    first, second = words(4, 300), words(5, 300)
    key = [np.uint64(k) for k in (0xA341316C, 0xC8013EA4, 0xAD90777D, 0x7E95761E)]
    for rounds in (1, 16):
        v, w, total = first.astype(np.uint64), second.astype(np.uint64), np.uint64(0)
        four, five = np.uint64(4), np.uint64(5)
        for _ in range(rounds):
            total = u32(total + np.uint64(0x9E3779B9))
            v = u32(v + (u32((w << four) + key[0]) ^ u32(w + total) ^ u32((w >> five) + key[1])))
            w = u32(w + (u32((v << four) + key[2]) ^ u32(v + total) ^ u32((v >> five) + key[3])))
        found = module.blockCipherTEA(tensor(first), tensor(second), rounds)
        close(found, np.stack([v, w], axis=1).astype(np.uint32), f"blockCipherTEA, {rounds} rounds")


def xoshiro(state: list[Array]) -> Array:
    """xoshiro128** 1.1's step; the state changes."""
    result = u32(turned(u32(state[0] * np.uint64(5)), 7) * np.uint64(9))
    shifted = u32(state[1] << np.uint64(9))
    state[2] = state[2] ^ state[0]
    state[3] = state[3] ^ state[1]
    state[1] = state[1] ^ state[2]
    state[0] = state[0] ^ state[3]
    state[2] = state[2] ^ shifted
    state[3] = turned(state[3], 11)
    return result


def check_random(module: ModuleType) -> None:
    states = np.zeros(100, module.Xoshiro128StarStar.dtype)
    states["state"] = words(6, 100, 4)
    rng = tensor(states)
    exact = [states["state"][:, word].astype(np.uint64) for word in range(4)]
    for step in range(5):
        close(module.xoshiro(rng).result, xoshiro(exact).astype(np.uint32), f"xoshiro, step {step}")
    module.jump(rng)
    jumped = [np.zeros(100, np.uint64) for _ in range(4)]
    for word in (0x8764000B, 0xF542D2D3, 0x6FA035C3, 0x77F2DB5B):
        for bit in range(32):
            if word >> bit & 1:
                jumped = [one ^ two for one, two in zip(jumped, exact, strict=True)]
            xoshiro(exact)
    close(numpy(rng)["state"], np.stack(jumped, axis=1).astype(np.uint32), "jump")

    mix = np.zeros(100, module.SplitMix64.dtype)
    mix["state"] = random(7).integers(0, 2**64, 100, np.uint64)
    rng, z = tensor(mix), mix["state"].copy()
    for step in range(3):
        z += np.uint64(0x9E3779B97F4A7C15)
        y = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        y = (y ^ (y >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        close(module.split_mix(rng).result, y ^ (y >> np.uint64(31)), f"split_mix, step {step}")

    xorshift = np.zeros(100, module.Xorshift32.dtype)
    xorshift["state"] = words(8, 100)
    rng, x = tensor(xorshift), xorshift["state"].copy()
    for step in range(3):
        for by in (13, -7, 17):
            x = x ^ (x << np.uint32(by) if by > 0 else x >> np.uint32(-by))
        close(module.Xorshift32.next(rng), x, f"Xorshift32, step {step}")


def pcg64(state: Array, inc: Array) -> tuple[Array, Array]:
    """PCG-XSH-RR 64/32's step: the new state, and the number."""
    with np.errstate(over="ignore"):
        after = state * np.uint64(0x5851F42D4C957F2D) + inc
    x = u32(((state >> np.uint64(18)) ^ state) >> np.uint64(27))
    by = state >> np.uint64(59)
    return after, u32((x >> by) | (x << ((np.uint64(32) - by) & np.uint64(31))))


def check_pcg(module: ModuleType) -> None:
    seed, stream = (random(at).integers(0, 2**64, 100, np.uint64) for at in (9, 10))
    inc = (stream << np.uint64(1)) | np.uint64(1)
    state, _ = pcg64(np.zeros(100, np.uint64), inc)
    state, _ = pcg64(state + seed, inc)
    rng = module.seed(tensor(seed), tensor(stream))
    close(numpy(rng)["state"], state, "PCG32")
    for step in range(3):
        state, number = pcg64(state, inc)
        close(module.PCG32.nextUInt(rng), number.astype(np.uint32), f"nextUInt, step {step}")
    state, number = pcg64(state, inc)
    close(module.PCG32.nextFloat(rng), (number >> np.uint64(9)) / 2.0**23, "nextFloat")


def check_nvpro_random(module: ModuleType) -> None:
    """xxHash's mixing of three words, and PCG-RXS-M-XS 32."""
    p = words(11, 300, 3)
    x, y, z = p.astype(np.uint64).T
    one, two, three, four = (np.uint64(k) for k in (2246822519, 3266489917, 668265263, 374761393))
    h = u32(z + four + u32(x * two))
    h = u32(three * turned(h, 17))
    h = u32(h + u32(y * two))
    h = u32(three * turned(h, 17))
    h = u32(one * (h ^ (h >> np.uint64(15))))
    h = u32(two * (h ^ (h >> np.uint64(13))))
    close(module.xxhash32(tensor(p)), (h ^ (h >> np.uint64(16))).astype(np.uint32), "xxhash32")

    seeds = words(12, 300)
    state = u32(seeds.astype(np.uint64) * np.uint64(747796405) + np.uint64(2891336453))
    word = u32((state >> ((state >> np.uint64(28)) + np.uint64(4)) ^ state) * np.uint64(277803737))
    rng = tensor(seeds)
    found = module.rand(rng).result
    close(found, ((word >> np.uint64(22)) ^ word) / 4294967295.0, "rand")
    close(rng, state.astype(np.uint32), "rand's state")


def check_normals(module: ModuleType) -> None:
    """Directions packed as points of an octahedron, 16 bits a coordinate, come back nearly."""
    n = units(13, 500)
    packed = numpy(module.compressUnitVec(tensor(n)))
    d = n.astype(float) / np.abs(n.astype(float)).sum(axis=1, keepdims=True)
    sign = np.where(d[:, :2] < 0, -1, 1)
    folded = np.where(d[:, 2:] < 0, (1 - np.abs(d[:, 1::-1])) * sign, d[:, :2])
    found = np.stack([packed & 0xFFFF, packed >> 16], axis=1) / 32767.0 - 1
    np.testing.assert_allclose(found, folded, atol=2.0 / 32767, err_msg="compressUnitVec")
    close(module.decompressUnitVec(tensor(packed)), n.astype(float), "decompressUnitVec", 2e-4)


def check_shapes(module: ModuleType) -> None:
    """Signed distances, which are no integers, of the same repository."""
    p, b = (
        random(14).uniform(-2, 2, (300, 3)).astype(np.float32),
        random(15).uniform(0.3, 1, (300, 3)).astype(np.float32),
    )

    def box(p: Array, b: Array) -> Array:
        q = np.abs(p) - b
        return np.asarray(np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0))

    def ellipsoid(p: Array, r: Array) -> Array:
        k = np.linalg.norm(p / r, axis=1)
        return np.asarray(k * (k - 1) / np.linalg.norm(p / r**2, axis=1))

    check(module.sdfBox, box, p, b)
    check(module.sdfEllipsoid, ellipsoid, p, b)
    check(module.sdfTorus, lambda p, r: np.hypot(np.hypot(p[:, 0], p[:, 2]) - r, p[:, 1]), p, b[:, 0].copy())
    one, two = p[:, 0].copy(), p[:, 1].copy()

    def smooth(a: Array, b: Array, k: float) -> Array:
        h = np.maximum(k - np.abs(a - b), 0)
        return np.asarray(np.minimum(a, b) - h * h / (4 * k))

    def blend(a: Array, b: Array, r: float) -> Array:
        h = np.clip(0.5 + 0.5 * (b - a) / r, 0, 1)
        return np.asarray(b + (a - b) * h - r * h * (1 - h))

    check(module.smin, smooth, one, two, 0.75)
    check(module.sdfBlend, blend, one, two, 0.75)


PROGRAMS = [
    Program("falcor_bits", FALCOR, f"{UTILS}/Math/BitTricks.slang", check_bits),
    Program("falcor_random", FALCOR, f"{UTILS}/Sampling/Pseudorandom", check_random),
    Program("falcor_shapes", FALCOR, f"{UTILS}/SDF/SDF3DShapes.slang", check_shapes),
    Program("rtxns_random", "NVIDIA-RTX+RTXNS", "src/NeuralShading_Shaders/PCG32.slang", check_pcg),
    Program("nvpro_random", NVPRO, "nvshaders/random.h.slang", check_nvpro_random),
    Program("nvpro_normals", NVPRO, "nvshaders/normal_compress.h.slang", check_normals),
]
