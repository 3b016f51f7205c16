"""Programs that are launched by threads: sorts, pictures, particles; and calls over tensors and textures."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
from program import Array, Edit, Program, check, close, floats, numpy, random, tensor, wide

TORCH = "shader-slang+slang-torch"
SORT = "nvpro-samples+vk_gaussian_splatting"
SORT_FOLDER = "3rdparty/vrdx/src/shader"
COURSE = "shader-slang+neural-shading-s25"
SAMPLES = "shader-slang+slangpy-samples"
VULKAN = "SaschaWillems+Vulkan"

PARTITION = 4096
RADIX = 256


def zeros(count: int) -> kf.Tensor:
    return kf.Tensor.zeros((count,), np.uint32)


def counts(keys: Array, number: int) -> Array:
    """How often each of the 256 values occurs in byte `number`, for each partition."""
    digits = (keys >> np.uint32(8 * number)) & np.uint32(0xFF)
    parts = [digits[at : at + PARTITION] for at in range(0, len(keys), PARTITION)]
    return np.stack([np.bincount(part, minlength=RADIX) for part in parts])


def before(counted: Array) -> Array:
    """The sums of what stands before each place."""
    return np.cumsum(counted, axis=0) - counted


def check_upsweep(module: ModuleType) -> None:
    keys = random(1).integers(0, 2**32, 3 * PARTITION - 2, np.uint32)
    whole, parts = zeros(4 * RADIX), zeros(3 * RADIX)
    padded = np.append(keys, np.full(2, 2**32 - 1, np.uint32))  # what isn't there counts as the largest key
    run = module.run.set(
        *({"elementCounts": tensor(np.array([len(keys)], np.uint32)), "keys": tensor(keys)},),
        globalHistogram=whole,
        partitionHistogram=parts,
    )
    for number in range(4):
        run.groups(3)(number)
        wanted = counts(padded, number).astype(np.uint32)
        close(parts, wanted.ravel(), f"partitionHistogram, byte {number}")
        close(
            whole[RADIX * number : RADIX * (number + 1)],
            wanted.sum(axis=0, dtype=np.uint32),
            "globalHistogram",
        )


def check_spine(module: ModuleType) -> None:
    keys = random(2).integers(0, 2**32, 5 * PARTITION, np.uint32)
    for number in range(4):
        counted = counts(keys, number).astype(np.uint32)
        whole = np.zeros((4, RADIX), np.uint32)
        whole[number] = counted.sum(axis=0)
        histogram, parts = tensor(whole.ravel()), tensor(counted.ravel())
        run = module.run.set(
            elementCounts=tensor(np.array([len(keys)], np.uint32)),
            globalHistogram=histogram,
            partitionHistogram=parts,
        )
        run.groups(RADIX)(number)
        close(parts, before(counted).astype(np.uint32).ravel(), f"partitionHistogram, byte {number}")
        close(numpy(histogram).reshape(4, RADIX)[number], before(whole[number]), "globalHistogram")


def check_downsweep(module: ModuleType) -> None:
    """A stable sort by one byte, of keys and values."""
    keys = random(3).integers(0, 2**32, 2 * PARTITION - 100, np.uint32)
    values = np.arange(len(keys), dtype=np.uint32)
    for number in range(4):
        counted = counts(keys, number).astype(np.uint32)
        whole = np.zeros((4, RADIX), np.uint32)
        whole[number] = before(counted.sum(axis=0, dtype=np.uint32))
        sorted_keys, sorted_values = zeros(len(keys)), zeros(len(keys))
        run = module.run.set(
            elementCounts=tensor(np.array([len(keys)], np.uint32)),
            globalHistogram=tensor(whole.ravel()),
            partitionHistogram=tensor(before(counted).astype(np.uint32).ravel()),
            **{"keysIn": tensor(keys), "keysOut": sorted_keys},
            **{"valuesIn": tensor(values), "valuesOut": sorted_values},
        )
        run.groups(2)(number)
        order = np.argsort((keys >> np.uint32(8 * number)) & np.uint32(0xFF), kind="stable")
        close(sorted_keys, keys[order], f"keysOut, byte {number}")
        close(sorted_values, values[order], f"valuesOut, byte {number}")
        keys, values = keys[order], values[order]
    assert (np.diff(keys.astype(np.int64)) >= 0).all()


def check_multiply(module: ModuleType) -> None:
    a = floats(4, 8, 12)
    result = kf.Tensor.zeros(a.shape, np.float32)
    module.mul_kernel.threads(8, 12)(tensor(a), result)
    close(result, 2.5 * a.astype(float), "mul_kernel")


def check_square(module: ModuleType) -> None:
    a, flow = floats(5, 100), floats(6, 100)
    given, made = tensor(a).with_grads(), kf.Tensor.zeros((100,), np.float32)
    module.square.threads(100)(given, made)
    close(made, wide(a) ** 2, "square")
    module.square.threads(100).backward(given, made.with_grads(grad_in=tensor(flow)))
    close(given.grad, 2 * wide(a) * flow, "square: gradient")


def check_struct_square(module: ModuleType) -> None:
    points = np.zeros(100, module.Point.dtype)
    points["x"], points["y"] = floats(7, 100), floats(8, 100)
    check(module.square, lambda p: p["x"] ** 2 + p["y"] ** 2, points, backward=True)
    flows = np.zeros(100, module.Point.dtype)
    flows["x"], flows["y"] = floats(9, 100), floats(10, 100)
    _, tangent = module.square.jvp(tensor(points), tangents={"p": tensor(flows)})
    wanted = 2 * (wide(points)["x"] * flows["x"] + wide(points)["y"] * flows["y"])
    close(tangent, wanted, "square: tangent")


def check_hello(module: ModuleType) -> None:
    a, b = floats(11, 100), floats(12, 100)
    result = kf.Tensor.zeros((100,), np.float32)
    module.computeMain.set(buffer0=tensor(a), buffer1=tensor(b), result=result).threads(100)()
    close(result, wide(a) + b, "computeMain")


def check_fibonacci(module: ModuleType) -> None:
    n = np.arange(48, dtype=np.uint32)
    values = tensor(n)
    module.computeMain.set(values=values).threads(48)()
    wanted = [0, 1]
    while len(wanted) < 48:
        wanted.append(wanted[-1] + wanted[-2])
    close(values, np.append(np.array(wanted[:40], np.uint32), n[40:]), "computeMain")


def bodies(module: ModuleType, count: int) -> Array:
    particles = np.zeros(count, module.Particle.dtype)
    particles["pos"], particles["vel"] = floats(13, count, 4), floats(14, count, 4, low=0, high=0.5)
    return particles


def check_bodies(module: ModuleType) -> None:
    """Attraction between all bodies, in blocks of 256 that the group shares."""
    particles = bodies(module, 512)
    on_device = tensor(particles)
    look = {"deltaT": 0.1, "particleCount": 512, "gravity": 0.002, "power": 0.75, "soften": 0.05}
    module.accelerate.set(particles=on_device, ubo=look).threads(512)()
    at, mass = wide(particles)["pos"][:, :3], wide(particles)["pos"][:, 3]
    between = at[None] - at[:, None]
    distance = ((between**2).sum(axis=2) + 0.05) ** 0.75
    pull = (0.002 * between * (mass / distance)[..., None]).sum(axis=1)
    wanted = wide(particles)
    wanted["vel"][:, :3] += 0.1 * pull
    wanted["vel"][:, 3] += 0.01
    close(on_device, wanted, "accelerate")


def check_moves(module: ModuleType) -> None:
    particles = bodies(module, 512)
    on_device = tensor(particles)
    module.move.set(particles=on_device, ubo={"deltaT": 0.25, "particleCount": 512}).threads(512)()
    wanted = wide(particles)
    wanted["pos"] += 0.25 * wanted["vel"]
    close(on_device, wanted, "move")


def check_particles(module: ModuleType) -> None:
    count = 300
    given = np.zeros(count, module.Particle.dtype)
    given["pos"], given["vel"] = floats(15, count, 2), floats(16, count, 2)
    given["gradientPos"] = floats(17, count, 4, low=0)
    made = tensor(given.copy())
    step = module.step.set(
        particlesIn=tensor(given),
        particlesOut=made,
        ubo={"deltaT": 0.1, "destX": 0.3, "destY": -0.2, "particleCount": count},
    )
    step.threads(count)()
    wanted = wide(given)
    away = np.array([0.3, -0.2]) - wanted["pos"]
    far = np.linalg.norm(away, axis=1, keepdims=True)
    velocity = wanted["vel"] - 0.05 * 0.000035 * away / far**3
    position = wanted["pos"] + 0.1 * velocity
    outside = (np.abs(position) > 1).any(axis=1)[:, None]
    away = np.array([0.3, -0.2]) - position
    pull = 0.0035 * away / ((away**2).sum(axis=1, keepdims=True) + 0.5) ** 1.5
    wanted["pos"] = np.where(outside, wanted["pos"], position)
    wanted["vel"] = np.where(outside, -0.1 * velocity + 12 * pull, velocity)
    along = wanted["gradientPos"][:, 0] + 0.002
    wanted["gradientPos"][:, 0] = np.where(along > 1, along - 1, along)
    close(made, wanted, "step", 1e-3)


def check_emboss(module: ModuleType) -> None:
    image = floats(18, 32, 48, 4, low=0)
    made = kf.Texture.empty((32, 48), "rgba32f", writable=True)
    given = kf.Texture.from_numpy(image, "rgba32f")
    module.emboss.set(inputImage=given, resultImage=made).threads(48, 32)()
    grey = image[..., :3].astype(float).mean(axis=2)
    padded = np.pad(grey, 1)  # texels outside are 0
    # The neighbours are numbered column by column.
    wanted = np.clip(2 * padded[2:, 2:] - padded[1:-1, 1:-1] - padded[:-2, :-2] + 0.5, 0, 1)
    inside = (slice(1, -1), slice(1, -1))
    close(numpy(made)[..., 0][inside], wanted[inside], "emboss")


def check_life(module: ModuleType) -> None:
    """Conway's game: living cells have a colour, new ones one by their place, others the neighbours' mean."""
    height, width = 24, 40
    alive = random(19).random((height, width)) < 0.4
    colours = floats(20, height, width, 3, low=0.2)
    image = np.zeros((height, width, 4), np.float32)
    image[..., :3] = np.where(alive[..., None], colours, 0)
    made = kf.Texture.empty((height, width), "rgba8", writable=True)
    sampler = kf.Sampler(filter="nearest", address="repeat")
    given = kf.Texture.from_numpy(image, "rgba32f")
    module.update.set(ImageOutput=made, ImageInput=given.with_sampler(sampler)).threads(width, height)()
    shifts = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]
    around = sum(np.roll(alive, shift, axis=(0, 1)).astype(int) for shift in shifts)
    total = image[..., :3].astype(float) + sum(
        np.roll(image[..., :3].astype(float), shift, axis=(0, 1)) for shift in shifts
    )
    u, v = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
    fresh = np.stack([u, v, 1 - u - v], axis=-1)
    stays, born = alive & ((around == 2) | (around == 3)), ~alive & (around == 3)
    wanted = np.where(stays[..., None], total / np.maximum(around, 1)[..., None], 0)
    wanted = np.clip(np.where(born[..., None], fresh, wanted), 0, 1)
    found = numpy(made)
    np.testing.assert_allclose(found[..., :3] / 255.0, wanted, atol=0.51 / 255 + 1e-5, err_msg="update")
    close(found[..., 3], np.zeros((height, width), np.uint8), "update: alpha")


def check_rust_particles(module: ModuleType) -> None:
    dtype = np.dtype([("position", np.float32, 2), ("velocity", np.float32, 2), ("color", np.float32, 4)])
    given = np.zeros(512, dtype)
    given["position"], given["velocity"] = floats(21, 512, 2), floats(22, 512, 2, low=-3, high=3)
    given["color"] = floats(23, 512, 4)
    source, made = tensor(given), kf.Tensor.from_numpy(np.zeros(512, dtype))
    parameters = {"particlesIn": source.address, "particlesOut": made.address, "deltaTime": 0.25}
    module.step.set(simParams=parameters).threads(512)(reads=[source], writes=[made])
    wanted = wide(given)
    moved = wanted["position"] + 0.25 * wanted["velocity"]
    wanted["position"] = np.where(moved > 1, moved - 2, np.where(moved < -1, moved + 2, moved))
    close(made, wanted, "step")


def check_distance(module: ModuleType) -> None:
    h, v = floats(24, 300, high=3), floats(25, 300, high=3)

    def eikonal(a: Array, b: Array) -> Array:
        """The larger root of (d − a)² + (d − b)² = 1, or a step from the nearer one."""
        both = (a + b + np.sqrt(np.maximum(2 - (a - b) ** 2, 0))) / 2
        return np.where(np.abs(a - b) < 1, both, np.minimum(a, b) + 1)

    check(module.solve_eikonal_2d, eikonal, h, v)
    distances = np.stack([floats(26, 300, low=-12, high=12), floats(27, 300)], axis=1)

    def ramp(low: float, high: float, x: Array) -> Array:
        t = np.clip((x - low) / (high - low), 0, 1)
        return np.asarray(t * t * (3 - 2 * t))

    def pulse(a: float, b: float, c: float, d: float, x: Array) -> Array:
        return np.asarray(ramp(a, b, x) * (1 - ramp(c, d, x)))

    def lines(given: Array) -> Array:
        d = given[:, 0]
        base = np.repeat((d / 20 + 0.5)[:, None], 3, axis=1)
        at_border = 0.7 * pulse(-0.5, -0.1, 0.1, 0.5, d)[:, None]
        base += (np.array([0, 1, 0]) - base) * at_border
        beside = 0.5 * pulse(0, 0.15, 0.35, 0.5, np.abs(d) / 5 % 1)[:, None]
        base += (np.where((d > 0)[:, None], [1, 0, 0], [0, 0, 1]) - base) * beside
        return np.concatenate([base, np.ones((len(d), 1))], axis=1)

    check(module.generate_isolines, lines, distances)
    check_sweep(module, eikonal)


def check_sweep(module: ModuleType, eikonal: Any) -> None:
    height, width = 11, 17
    given = np.zeros((height, width, 2), np.float32)
    given[..., 0] = floats(28, height, width, low=-20, high=20)
    given[..., 1] = random(29).integers(1, 4, (height, width))
    made = kf.Texture.empty((height, width), "rg32f", writable=True)
    module.solve_eikonal(kf.Texture.from_numpy(given, "rg32f"), made, shape=(height, width))
    d = given[..., 0].astype(float)
    sign = np.where(d < 0, -1, 1)
    far = 1e6
    padded = np.pad(d, 1, constant_values=np.nan)
    sides = [padded[1:-1, :-2], padded[1:-1, 2:], padded[:-2, 1:-1], padded[2:, 1:-1]]
    left, right, up, down = (np.where(np.isnan(side), far, sign * side) for side in sides)
    solved = eikonal(np.minimum(left, right), np.minimum(up, down))
    wanted = np.where(given[..., 1] == 3, d, sign * np.minimum(np.abs(d), solved))
    found = numpy(made)
    close(found[..., 0], wanted, "solve_eikonal")
    close(found[..., 1], given[..., 1].astype(float), "solve_eikonal: states")


def check_methods(module: ModuleType) -> None:
    p, v = floats(30, 100, 3), floats(31, 100, 3)
    particles = module.make(tensor(p), tensor(v))
    module.Particle.update(particles, 0.5)
    close(numpy(particles)["position"], wide(p) + 0.5 * v, "Particle.update")


def check_blocks(module: ModuleType) -> None:
    tiles = np.zeros(50, module.BCTile.dtype)
    tiles["weights"]["w"] = floats(32, 50, 16, low=0)
    tiles["minEndPoints"], tiles["maxEndPoints"] = floats(33, 50, 4, low=0), floats(34, 50, 4, low=0)
    target = floats(35, 50, 16, 4, low=0)

    def loss(tiles: Array, target: Array) -> Array:
        w = tiles["weights"]["w"][..., None]
        decoded = (1 - w) * tiles["minEndPoints"][:, None] + w * tiles["maxEndPoints"][:, None]
        return np.asarray(((target - decoded) ** 2).sum(axis=2))

    check(module.l2Loss, loss, tiles, target, backward=True, fixed=[1])


def check_network(module: ModuleType) -> None:
    """A texture that a network of three layers makes of positions, and the gradients of its parameters, which
    the program adds to tensors of its own."""
    sizes = [(32, 16), (32, 32), (3, 32)]
    weights = [0.4 * floats(40 + at, *size) for at, size in enumerate(sizes)]
    biases = [0.1 * floats(50 + at, size[0]) for at, size in enumerate(sizes)]
    width, height = 5, 4

    def picture(parameters: list[Array]) -> Array:
        x, y = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
        angles = [2 * np.pi * 2**octave * axis for octave in range(4) for axis in (x, y)]
        layer = np.stack([wave(angle) for angle in angles for wave in (np.sin, np.cos)], axis=-1)
        for at in range(3):
            layer = layer @ parameters[at].T + parameters[3 + at]
            if at < 2:
                layer = np.where(layer > 0, layer, 0.01 * layer)
        return np.asarray(np.exp(layer))

    given = [tensor(value.astype(np.float32)) for value in (*weights, *biases)]
    sums = [kf.Tensor.zeros(value.shape, np.float32) for value in (*weights, *biases)]
    layers = {
        f"layer{at}": {
            **{"weights": given[at], "biases": given[3 + at]},
            **{"weights_grad": sums[at], "biases_grad": sums[3 + at]},
        }
        for at in range(3)
    }
    made = module.render((width, height), layers, shape=(height, width))
    exact = [wide(value.astype(np.float32)) for value in (*weights, *biases)]
    close(made, picture(exact), "render")
    reference = floats(60, height, width, 3, low=0.1)
    # Batches are as large as the picture, so that the random place in each cell is within one pixel.
    module.calculate_grads(7, (width, height), tensor(reference), layers, shape=(height, width))

    def loss(parameters: list[Array]) -> float:
        error = picture(parameters) ** (1 / 2.2) - wide(reference) ** (1 / 2.2)
        return float((error**2).sum())

    for which, found in enumerate(sums):
        slopes = np.zeros(exact[which].shape)
        for index in list(np.ndindex(slopes.shape))[::7]:
            kept = exact[which][index]
            exact[which][index] = kept + 1e-6
            above = loss(exact)
            exact[which][index] = kept - 1e-6
            slopes[index] = (above - loss(exact)) / 2e-6
            exact[which][index] = kept
        close(np.where(slopes != 0, numpy(found), 0), slopes, f"calculate_grads: gradient {which}", 1e-3)


PROGRAMS = [
    Program("course_network", COURSE, "network/step_04_frequency_encoding.slang", check_network),
    Program(
        *("rays", "shader-slang+optix-examples", "example02_pipelineAndRayGen/devicePrograms.slang", None),
        *("refused", "a ray generation shader", "function-entry-point"),
    ),
    Program(
        *("sort_upsweep", SORT, f"{SORT_FOLDER}/upsweep.slang", check_upsweep),
    ),
    Program("sort_spine", SORT, f"{SORT_FOLDER}/spine.slang", check_spine, lanes=32),
    Program(
        "sort_downsweep", SORT, f"{SORT_FOLDER}/downsweep.slang", check_downsweep, "spec", "defines", lanes=32
    ),
    Program("torch_multiply", TORCH, "tests/multiply.slang", check_multiply, "spec", "defines, threads"),
    Program("torch_square", TORCH, "tests/autobind-square-diff.slang", check_square, "spec", "threads"),
    Program("course_square", COURSE, "autodiff/square-struct.slang", check_struct_square),
    Program("slang_hello", "shader-slang+slang", "examples/hello-world/hello-world.slang", check_hello),
    Program(
        *("vulkan_fibonacci", VULKAN, "shaders/slang/computeheadless/headless.slang", check_fibonacci),
        *("spec", "constants"),
    ),
    Program(
        *("vulkan_bodies", VULKAN, "shaders/slang/computenbody/particle_calculate.slang", check_bodies),
        *("spec", "constants"),
    ),
    Program("vulkan_moves", VULKAN, "shaders/slang/computenbody/particle_integrate.slang", check_moves),
    Program(
        *("vulkan_particles", VULKAN, "shaders/slang/computeparticles/particle.slang", check_particles),
        *("source", "Slang checks the fragment shader beside it", "slang-E30702"),
        (Edit("shaders/slang/computeparticles/particle.slang", " : SV_PointSize", ""),),
    ),
    Program("vulkan_emboss", VULKAN, "shaders/slang/computeshader/emboss.slang", check_emboss),
    Program(
        *("khronos_life", "KhronosGroup+Vulkan-Samples"),
        "shaders/timeline_semaphore/slang/game_of_life_update.comp.slang",
        check_life,
    ),
    Program(
        *("rust_particles", "Giesch+vulkan-slang-renderer"),
        "examples/particles/shaders/source/particles.compute.slang",
        check_rust_particles,
    ),
    Program("samples_distance", SAMPLES, "examples/signed_distance_field/example.slang", check_distance),
    Program("samples_methods", SAMPLES, "examples/type_methods/example.slang", check_methods),
    Program(
        *("samples_blocks", SAMPLES, "experiments/tinybc/tinybc.slang", check_blocks),
        *("source", "a file name in other letters than the import", "slang-E00001"),
        (Edit("experiments/tinybc/tinybc.slang", "import BCTypes", "import bctypes"),),
    ),
]
