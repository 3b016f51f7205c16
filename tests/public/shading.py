"""Programs that shade: reflectance functions, tone curves and colours."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from program import Array, Program, check, close, floats, numpy, tensor, units

TORCH = "shader-slang+slang-torch"
FALCOR = "NVIDIAGameWorks+Falcor"
NVPRO = "nvpro-samples+nvpro_core2"


def dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))


def unit(a: Array) -> Array:
    return np.asarray(a / np.linalg.norm(a, axis=-1, keepdims=True))


def mix(a: Array | float, b: Array | float, t: Array | float) -> Array:
    return np.asarray(a + (np.asarray(b) - a) * t)


def schlick_weight(u: Array) -> Array:
    """(1 − u)⁵, of Schlick's approximation."""
    return np.asarray(np.clip(1 - u, 0, 1) ** 5)


def gtr1(n_h: Array, a: Array | float) -> Array:
    """The generalized Trowbridge-Reitz distribution with exponent 1 (Burley 2012)."""
    a2 = np.square(a)
    return np.asarray((a2 - 1) / (np.pi * np.log(a2) * (1 + (a2 - 1) * n_h**2)))


def gtr2(n_h: Array, a: Array) -> Array:
    """The same with exponent 2, which is GGX."""
    a2 = a * a
    return np.asarray(a2 / (np.pi * (1 + (a2 - 1) * n_h**2) ** 2))


def smith(n_v: Array, a: Array | float) -> Array:
    """Smith's shadowing of GGX, divided by 2 n·v."""
    a2, v2 = np.square(a), n_v**2
    return np.asarray(1 / (n_v + np.sqrt(a2 + v2 - a2 * v2)))


def disney(
    light: Array, view: Array, normal: Array, base: Array, rough: Array, metallic: Array, specular: Array
) -> Array:
    """Burley's principled model with its diffuse and specular parts alone."""
    n_l, n_v = dot(normal, light), dot(normal, view)
    half = unit(light + view)
    n_h, l_h = dot(normal, half), dot(light, half)
    towards_l, towards_v, towards_h = schlick_weight(n_l), schlick_weight(n_v), schlick_weight(l_h)
    retro = 0.5 + 2 * l_h**2 * rough
    diffuse = mix(1, retro, towards_l) * mix(1, retro, towards_v) / np.pi
    facing = mix(0.08 * specular[:, None] * np.ones(3), base, metallic[:, None])
    fresnel = mix(facing, 1, towards_h[:, None])
    alpha = rough**2
    peak = gtr2(n_h, alpha) * smith(n_l, alpha) * smith(n_v, alpha)
    made = diffuse[:, None] * base * (1 - metallic[:, None]) + peak[:, None] * fresnel
    return np.asarray(np.where(((n_l < 0) | (n_v < 0))[:, None], 0, made))


def directions(seed: int, count: int) -> tuple[Array, Array, Array]:
    """Directions of light and view around normals."""
    normal = units(seed, count)
    light, view = (normal + 0.6 * units(seed + at, count) for at in (1, 2))
    return unit(light).astype(np.float32), unit(view).astype(np.float32), normal


def check_torch_brdf(module: ModuleType) -> None:
    n_h, rough = floats(1, 200, low=0.1), floats(2, 200, low=0.2, high=0.9)
    check(module.GTR1, gtr1, n_h, rough, backward=True)
    check(module.smithG_GGX, smith, np.abs(n_h), rough, backward=True)

    def aniso(n_h: Array, h_x: Array, h_y: Array, ax: Array, ay: Array) -> Array:
        return np.asarray(1 / (np.pi * ax * ay * ((h_x / ax) ** 2 + (h_y / ay) ** 2 + n_h**2) ** 2))

    h_x, h_y = floats(3, 200), floats(4, 200)
    check(module.GTR2_aniso, aniso, n_h, h_x, h_y, rough, rough[::-1].copy(), backward=True)
    light, view, normal = directions(5, 200)
    base, metallic, specular = floats(8, 200, 3, low=0.1), floats(9, 200, low=0), floats(10, 200, low=0)
    check(module.BRDF, disney, light, view, normal, base, rough, metallic, specular, backward=True)


def check_course_brdf(module: ModuleType) -> None:
    light, view, normal = directions(11, 200)
    base, rough = floats(14, 200, 3, low=0.1), floats(15, 200, low=0.2, high=0.9)
    metallic, specular = floats(16, 200, low=0), floats(17, 200, low=0)

    def reference(base: Array, light: Array, view: Array, normal: Array, *rest: Array) -> Array:
        return disney(light, view, normal, base, *rest)

    check(module.DisneyBRDF, reference, base, light, view, normal, rough, metallic, specular, backward=True)


def check_sphere(module: ModuleType) -> None:
    """A picture of a ball of radius ½, lit from the front, whose normals come from its depth."""
    camera = {"o": [0, 0], "scale": [1, 1], "frameDim": [24, 16]}
    look: dict[str, Any] = {"baseColor": [0.8, 0.4, 0.2], "roughness": 0.5, "metallic": 0.3, "specular": 0.7}
    found = numpy(module.computeSphereBRDF(camera, look, shape=(16, 24)))
    y, x = np.mgrid[0:16, 0:24].astype(float)
    world = 2 * np.stack([x + 0.5, 16 - y + 0.5], axis=-1) / [24, 16] - 1
    ray = np.concatenate([world, np.ones((16, 24, 1))], axis=-1)
    along = unit(ray)
    b, c = 2 * along[..., 2], 1 - 0.25
    under = b * b - 4 * c
    root = np.sqrt(np.maximum(under, 0))
    depth = np.minimum(-(-b - root) / 2, -(-b + root) / 2)  # those of ray·z, whose z is 1
    at = unit(np.concatenate([world, depth[..., None]], axis=-1)).reshape(-1, 3)
    count = len(at)
    lit = disney(
        *(np.tile([0.0, 0, 1], (count, 1)), at, at, np.tile(look["baseColor"], (count, 1))),
        *(np.full(count, look[name]) for name in ("roughness", "metallic", "specular")),
    )
    wanted = np.concatenate([lit, np.ones((count, 1))], axis=1).reshape(16, 24, 4)
    wanted = np.where((under < 0)[..., None], 0, wanted)
    sure = np.abs(under) > 1e-4
    close(found[sure], wanted[sure], "computeSphereBRDF", 1e-3)


def check_rtxns_disney(module: ModuleType) -> None:
    n_l, n_v, n_h, l_h = (floats(20 + at, 200, low=0.1) for at in range(4))
    rough = floats(24, 200, low=0.2)

    def reference(n_l: Array, n_v: Array, n_h: Array, l_h: Array, rough: Array) -> Array:
        scattered = mix(1, l_h**2 * rough, schlick_weight(n_l)) * mix(1, l_h**2 * rough, schlick_weight(n_v))
        under = 1.25 * (scattered * (1 / (n_l + n_v) - 0.5) + 0.5)
        alpha = np.maximum(0.001, rough**2)
        lengths = ((1 - n_h**2) / alpha**2 + n_h**2) * alpha
        peak = 1 / (np.pi * lengths**2)
        shadow = [1 / (n + np.sqrt(alpha**2 * (1 - n**2) + n**2)) for n in (n_l, n_v)]
        coat = gtr1(n_h, 0.01) * mix(0.04, 1, schlick_weight(l_h)) * smith(n_l, 0.25) * smith(n_v, 0.25)
        parts = [under / np.pi, shadow[0] * shadow[1] * peak, schlick_weight(l_h), 0.25 * coat]
        return np.stack(parts, axis=1)

    check(module.Disney, reference, n_l, n_v, n_h, l_h, rough, tolerance=1e-3)


def check_microfacets(module: ModuleType) -> None:
    inverse, half = floats(30, 200, 2, low=1, high=5), np.abs(units(31, 200))

    def distribution(inverse: Array, h: Array) -> Array:
        stretched = (h[:, :2] * inverse) ** 2
        return np.asarray(
            inverse.prod(axis=1) * h[:, 2] / (np.pi * (stretched.sum(axis=1) + h[:, 2] ** 2) ** 2)
        )

    check(module.hvd_ggx_eval, distribution, inverse, half)

    def shadow(k: Array, rough: Array) -> Array:
        slope = ((k[:, :2] * rough) ** 2).sum(axis=1) / k[:, 2] ** 2
        return np.asarray(2 / (1 + np.sqrt(1 + slope)))

    one, two, rough = np.abs(units(32, 200)), np.abs(units(33, 200)), floats(34, 200, 2, low=0.1)
    found = module.ggx_smith_shadow_mask(k1=tensor(one), k2=tensor(two), roughness=tensor(rough))
    first, second = (shadow(k.astype(float), rough.astype(float)) for k in (one, two))
    close(found.result, first * second, "ggx_smith_shadow_mask")
    close(found.G1, first, "G1")
    close(found.G2, second, "G2")

    def visible(k: Array, rough: Array, xi: Array) -> Array:
        """Heitz 2017, A simpler and exact sampling routine."""
        v = unit(k * np.concatenate([rough, np.ones((len(k), 1))], axis=1))
        t1 = unit(np.cross(v, [0, 0, 1]))
        t2 = np.cross(t1, v)
        a = 1 / (1 + v[:, 2])
        low = xi[:, 1] < a
        phi = np.where(low, xi[:, 1] / a * np.pi, np.pi + (xi[:, 1] - a) / (1 - a) * np.pi)
        r = np.sqrt(xi[:, 0])
        p1, p2 = r * np.cos(phi), r * np.sin(phi) * np.where(low, 1, v[:, 2])
        up = np.sqrt(np.maximum(0, 1 - p1**2 - p2**2))
        h = p1[:, None] * t1 + p2[:, None] * t2 + up[:, None] * v
        return unit(np.concatenate([h[:, :2] * rough, np.maximum(0, h[:, 2:])], axis=1))

    check(
        module.hvd_ggx_sample_vndf,
        visible,
        one,
        rough,
        floats(35, 200, 2, low=0.01, high=0.99),
        tolerance=1e-3,
    )


def to_srgb(x: Array) -> Array:
    return np.asarray(np.where(x <= 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 1e-9) ** (1 / 2.4) - 0.055))


def hable(x: Array | float, a: float, b: float, e: float) -> Array:
    """Hable's curve; C, D and F are 0.10, 0.20 and 0.30."""
    y = np.asarray(x)
    return np.asarray((y * (a * y + 0.1 * b) + 0.2 * e) / (y * (a * y + b) + 0.06) - e / 0.3)


def check_tonemaps(module: ModuleType) -> None:
    colour = floats(40, 300, 3, low=0.01, high=4)

    def aces(x: Array) -> Array:
        """Hill's fit; matrices are applied to rows."""
        into = [[0.59719, 0.076, 0.0284], [0.35458, 0.90834, 0.13383], [0.04823, 0.01566, 0.83777]]
        back = [[1.60475, -0.10208, -0.00327], [-0.53108, 1.10813, -0.07276], [-0.07367, -0.00605, 1.07602]]
        y = x @ np.array(into)
        y = (y * (y + 0.0245786) - 0.000090537) / (y * (0.983729 * y + 0.432951) + 0.238081)
        return to_srgb(y @ np.array(back))

    check(module.tonemapACES, aces, colour)
    check(
        module.tonemapUncharted2,
        lambda x: (hable(2 * x, 0.15, 0.5, 0.02) / hable(11.2, 0.15, 0.5, 0.02)) ** (1 / 2.2),
        colour,
    )
    check(module.toLinear, lambda x: np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4), colour)


def check_pipeline(module: ModuleType) -> None:
    """Tone curves, gamma curves and a bilateral filter, each with an enum that chooses."""
    hdr = floats(50, 300, 3, low=0, high=5)

    def fitted(x: Array) -> Array:
        y = 0.6 * x
        return np.asarray(y * (2.51 * y + 0.03) / (y * (2.43 * y + 0.59) + 0.14))

    curves: dict[str, Callable[[Array], Array]] = {
        "Reinhard": lambda x: x / (x + 1),
        "ACES": fitted,
        "Hable": lambda x: hable(2 * x, 0.15, 0.5, 0.02) / hable(11.2, 0.15, 0.5, 0.02),
        "Uncharted2": lambda x: hable(2 * x, 0.22, 0.3, 0.01) / hable(11.2, 0.22, 0.3, 0.01),
    }
    for name, curve in curves.items():
        found = module.applyTonemap(tensor(hdr), module.TonemapOperator[name])
        close(found, np.clip(curve(hdr.astype(float)), 0, 1), name)
    shown = floats(51, 300, 3, low=0)
    gammas: dict[str, Callable[[Array], Array]] = {
        "SRGB": to_srgb,
        "Linear": lambda x: x,
        "Rec709": lambda x: np.where(x < 0.018, 4.5 * x, 1.099 * np.maximum(x, 1e-9) ** 0.45 - 0.099),
    }
    for name, gamma in gammas.items():
        close(module.applyGamma(tensor(shown), module.GammaMode[name]), gamma(shown.astype(float)), name)
    check_filter(module)


def check_filter(module: ModuleType) -> None:
    width, height, sigma_s, sigma_r = 9, 7, 1.6, 0.3
    image = floats(52, height, width, 4, low=0)
    y, x = (axis.astype(np.int32) for axis in np.mgrid[0:height, 0:width])
    flat = tensor(image.reshape(-1, 4))
    for name, mode in (("Clamp", "edge"), ("Wrap", "wrap"), ("Reflect", "reflect"), ("Black", "constant")):
        found = module.bilateralDenoisePixel(
            *(flat, tensor(x.ravel()), tensor(y.ravel()), width, height, sigma_s, sigma_r),
            module.BoundaryMode[name],
        )
        radius = int(np.ceil(2 * sigma_s))
        padded = np.pad(image[..., :3].astype(float), ((radius, radius), (radius, radius), (0, 0)), mode)  # type: ignore[call-overload]
        centre = image[..., :3].astype(float)
        weigh = np.array([0.2126, 0.7152, 0.0722])
        total, weights = np.zeros((height, width, 3)), np.zeros((height, width, 1))
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                there = padded[radius + dy : radius + dy + height, radius + dx : radius + dx + width]
                away = (there - centre) @ weigh
                weight = np.exp(-(dx * dx + dy * dy) / (2 * sigma_s**2) - away**2 / (2 * sigma_r**2))
                total += weight[..., None] * there
                weights += weight[..., None]
        close(found, (total / weights).reshape(-1, 3), f"bilateralDenoisePixel, {name}")


def check_colours(module: ModuleType) -> None:
    colour = floats(60, 300, 3, low=0)
    luma = np.array([0.2126, 0.7152, 0.0722])
    check(module.luminance, lambda x: x @ luma, colour, backward=True)
    primaries = np.array([[0.64, 0.33], [0.3, 0.6], [0.15, 0.06]])  # Rec. 709, and D65 as its white
    rgb = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    white = np.array([0.3127 / 0.329, 1, (1 - 0.3127 - 0.329) / 0.329])
    matrix = rgb * np.linalg.solve(rgb, white)
    check(module.RGBtoXYZ_Rec709, lambda x: x @ matrix.T, colour)
    ycgco = np.array([[0.25, 0.5, 0.25], [-0.25, 0.5, -0.25], [0.5, 0, -0.5]])
    check(module.RGBToYCgCo, lambda x: x @ ycgco.T, colour)
    check(module.linearToSRGB, to_srgb, colour)


PROGRAMS = [
    Program("torch_brdf", TORCH, "examples/brdf-appearance-optimize-example/BRDF.slang", check_torch_brdf),
    Program("course_brdf", "shader-slang+neural-shading-s25", "mipmap/brdf.slang", check_course_brdf),
    Program("samples_sphere", "shader-slang+slangpy-samples", "experiments/brdf/brdf.slang", check_sphere),
    Program("rtxns_disney", "NVIDIA-RTX+RTXNS", "samples/ShaderTraining/Disney.slang", check_rtxns_disney),
    Program("nvpro_microfacets", NVPRO, "nvshaders/pbr_ggx_microfacet.h.slang", check_microfacets),
    Program("nvpro_tonemaps", NVPRO, "nvshaders/tonemap_functions.h.slang", check_tonemaps),
    Program(
        "slang_pipeline",
        "shader-slang+slang",
        "examples/shader-coverage-image-pipeline",
        check_pipeline,
    ),
    Program("falcor_colors", FALCOR, "Source/Falcor/Utils/Color/ColorHelpers.slang", check_colours),
]
