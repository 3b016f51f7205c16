"""Programs that project, blend and intersect: Gaussian splats, spherical harmonics, rotations, triangles."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
from program import Array, Program, check, close, floats, numpy, tensor, units, wide

SPLATS = "google+slang-gaussian-rasterization"
SPLATS_FOLDER = "slang_gaussian_rasterization/internal/slang"
GRUT = "nv-tlabs+3dgrut"
GRUT_FOLDER = "threedgrt_tracer/include/3dgrt/kernels/slang/common"
EVER = "zhongsitang+new-ever"
SAMPLES = "shader-slang+slangpy-samples"


def rotation(q: Array) -> Array:
    """The matrices of unit quaternions (w, x, y, z), which rotate columns."""
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def harmonics(d: Array) -> Array:
    """The 16 real spherical harmonics of degree 0 to 3, in order of degree and order, with positive signs."""
    x, y, z = d.T
    one = np.ones_like(x)
    unscaled = [
        one,
        *(y, z, x),
        *(x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y),
        *(y * (3 * x * x - y * y), x * y * z, y * (5 * z * z - 1), z * (5 * z * z - 3)),
        *(x * (5 * z * z - 1), z * (x * x - y * y), x * (x * x - 3 * y * y)),
    ]
    squares = [1 / 4, *[3 / 4] * 3, 15 / 4, 15 / 4, 5 / 16, 15 / 4, 15 / 16]
    squares += [35 / 32, 105 / 4, 21 / 32, 7 / 16, 21 / 32, 105 / 16, 35 / 32]
    return np.asarray(np.stack(unscaled, axis=1) * np.sqrt(np.array(squares) / np.pi))


# Splats use the harmonics with the Condon-Shortley phase: those of odd order have the other sign.
PHASE = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1])


def colour(coefficients: Array, direction: Array) -> Array:
    """What splats make of coefficients (n, 16, 3). Polynomials are homogeneous, as on the unit sphere."""
    x, y, z = direction.T
    r2 = x * x + y * y + z * z
    basis = harmonics(direction) * PHASE
    basis[:, 6] = (3 * z * z - r2) * np.sqrt(5 / 16 / np.pi)
    basis[:, 11] = -y * (5 * z * z - r2) * np.sqrt(21 / 32 / np.pi)
    basis[:, 12] = z * (5 * z * z - 3 * r2) * np.sqrt(7 / 16 / np.pi)
    basis[:, 13] = -x * (5 * z * z - r2) * np.sqrt(21 / 32 / np.pi)
    return np.asarray(np.maximum(np.einsum("nk,nkc->nc", basis, coefficients) + 0.5, 0))


def unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def camera(module: ModuleType) -> Any:
    view = np.eye(4, dtype=np.float32)
    view[:3, :3] = rotation(units(1, 1, 4).astype(float))[0]
    view[:3, 3] = [0.1, -0.2, 5]
    project = np.array([[1.5, 0, 0, 0], [0, 1.2, 0, 0], [0, 0, 1, -0.1], [0, 0, 1, 0]], np.float32)
    return module.Camera(
        world_view_transform=view, proj_mat=project, position=[0, 0, -5], fovy=0.9, fovx=1.1, H=48, W=64
    )


def jacobian(points: Array, cam: Any) -> Array:
    """The derivative of the projection, at points clamped to 1.3 times the field of view (Zwicker 2001)."""
    view = np.asarray(cam.world_view_transform, float)
    tan = np.tan(np.array([float(np.float32(cam.fovx)), float(np.float32(cam.fovy))]) / 2)
    focal = np.array([cam.W, cam.H]) / (2 * tan)
    t = points @ view[:3, :3].T + view[:3, 3]
    t = t / (1 + 1e-7)
    z = t[:, 2]
    xy = np.clip(t[:, :2] / z[:, None], -1.3 * tan, 1.3 * tan) * z[:, None]
    made = np.zeros((len(points), 3, 3))
    made[:, 0, 0], made[:, 1, 1] = focal[0] / z, focal[1] / z
    made[:, :2, 2] = -focal * xy / z[:, None] ** 2
    return made


def check_projection(module: ModuleType) -> None:
    q, s = floats(2, 100, 4), floats(3, 100, 3, low=0.2)

    def covariance(q: Array, s: Array) -> Array:
        scaled = rotation(q) * s[:, None, :]
        return np.asarray(scaled @ scaled.transpose(0, 2, 1))

    check(module.get_covariance_from_quat_scales, covariance, q, s, backward=True)
    cam = camera(module)
    points = floats(4, 100, 3)
    check(module.compute_jacobian, jacobian, points, cam, backward=True)

    def seen(c: Any, p: Array, cov: Array) -> Array:
        turned = jacobian(p, c) @ np.asarray(c.world_view_transform, float)[:3, :3]
        both = turned @ cov @ turned.transpose(0, 2, 1)
        return np.asarray(both[:, :2, :2] + 0.3 * np.eye(2))

    cov = covariance(q.astype(float), s.astype(float)).astype(np.float32)
    check(module.covariance_3d_to_2d, seen, cam, points, cov, backward=True)
    matrix = floats(5, 4, 4) + np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 4]], np.float32)

    def transformed(p: Array, m: Array) -> Array:
        h = np.concatenate([p, np.ones((len(p), 1))], axis=1) @ m.T
        return np.asarray(h[:, :3] / (h[:, 3:] + 1e-7))

    found = module.geom_transform_points(tensor(points), matrix)
    close(found, transformed(points.astype(float), matrix.astype(float)), "geom_transform_points")

    splats = np.zeros(100, module.Splat_2D_AlphaBlend.dtype)
    splats["xyz_vs"], splats["rgb"] = floats(6, 100, 3), floats(7, 100, 3, low=0)
    splats["opacity"] = floats(8, 100, low=0.3)
    inverse = floats(9, 100, 2, 2, low=0.001, high=0.01)
    splats["inv_cov_vs"] = inverse + 0.01 * np.eye(2, dtype=np.float32)
    pixels = (splats["xyz_vs"][:, :2] + 1) * [32, 24] + floats(10, 100, 2, low=-5, high=5)

    def blended(g: Array, at: Array, height: int, width: int) -> Array:
        centre = ((g["xyz_vs"][:, :2] + 1) * [width, height] - 1) / 2
        d = at - centre
        power = -np.einsum("ni,nij,nj->n", d, g["inv_cov_vs"], d) / 2
        alpha = np.minimum(0.99, g["opacity"] * np.exp(power))[:, None]
        return np.concatenate([g["rgb"] * alpha, alpha], axis=1)

    check(module.evaluate_splat, blended, splats, pixels.astype(np.float32), 48, 64, backward=True)


def check_harmonics(module: ModuleType) -> None:
    names = [f"coeff{k}" for k in range(16)]
    values = np.zeros(100, module.SpherHarmCoeffs.dtype)
    for k, name in enumerate(names):
        values[name] = floats(20 + k, 100, 3)
    points, eye = floats(40, 100, 3), np.array([0.3, -2, 0.5])

    def reference(sh: Array, points: Array, eye: Any, degree: int) -> Array:
        given = np.stack([sh[name] for name in names], axis=1)
        given[:, (degree + 1) ** 2 :] = 0
        return colour(given, unit(points - eye))

    for degree in range(4):
        check(
            module.compute_color_from_sh_coeffs,
            reference,
            *(values, points, eye.tolist(), degree),
            backward=True,
        )


def check_grut_harmonics(module: ModuleType) -> None:
    coefficients, direction = floats(41, 100, 16, 3), units(42, 100)

    def reference(degree: int, given: Array, d: Array) -> Array:
        kept = given.copy()
        kept[:, (degree + 1) ** 2 :] = 0
        return colour(kept, d)

    for degree in range(4):
        check(module.decode, reference, degree, coefficients, direction, backward=True)


def check_grut_transforms(module: ModuleType) -> None:
    q = floats(43, 100, 4)
    check(module.rotationMatrixTranspose, lambda q: rotation(q).transpose(0, 2, 1), q, backward=True)


def check_falcor_harmonics(module: ModuleType) -> None:
    index, d = np.arange(160, dtype=np.uint32) % 16, units(44, 160)

    def reference(at: Array, d: Array) -> Array:
        """Falcor divides by 1/√π where the definition has √π, so that all values are π times as large."""
        return np.pi * np.take_along_axis(harmonics(d), at[:, None].astype(int), axis=1)[:, 0]

    check(module.eval_SH, reference, index, d, backward=True)


def hamilton(p: Array, q: Array) -> Array:
    """The product of quaternions (x, y, z, w)."""
    xyz = p[:, 3:] * q[:, :3] + q[:, 3:] * p[:, :3] + np.cross(p[:, :3], q[:, :3])
    w = p[:, 3:] * q[:, 3:] - (p[:, :3] * q[:, :3]).sum(axis=1, keepdims=True)
    return np.concatenate([xyz, w], axis=1)


def check_quaternions(module: ModuleType) -> None:
    p, q = units(45, 100, 4), units(46, 100, 4)
    check(module.quatMultiply, hamilton, p, q)
    transposed = lambda q: rotation(q[:, [3, 0, 1, 2]]).transpose(0, 2, 1)  # noqa: E731
    check(module.quatToMat3, transposed, q)
    back = numpy(module.mat3toQuat(tensor(rotation(q[:, [3, 0, 1, 2]].astype(float)).astype(np.float32))))
    sign = np.sign((back * q).sum(axis=1, keepdims=True))
    close(back * sign, q.astype(float), "mat3toQuat", 1e-3)

    def slerp(p: Array, q: Array, t: Array) -> Array:
        q = q * np.sign((p * q).sum(axis=1, keepdims=True))
        cos = (p * q).sum(axis=1)
        angle = np.arccos(cos)
        made = np.sin((1 - t) * angle)[:, None] * p + np.sin(t * angle)[:, None] * q
        near = unit(p + t[:, None] * (q - p))
        return np.where((cos > 0.995)[:, None], near, made / np.sin(angle)[:, None])

    check(module.quatSlerp, slerp, p, q, floats(47, 100, low=0), tolerance=1e-3)


def check_ever_math(module: ModuleType) -> None:
    a, b = floats(50, 100), floats(51, 100, low=0.2)
    check(module.safe_div, lambda a, b: a / b, a, b, backward=True)
    check(module.safe_log, np.log, b, backward=True)
    v, q = floats(52, 100, 3), units(53, 100, 4)

    def turned(v: Array, q: Array) -> Array:
        """v turned by the inverse of q (w, x, y, z), which needn't be a unit quaternion."""
        t = 2 * np.cross(-q[:, 1:], v)
        return np.asarray(v + q[:, :1] * t + np.cross(-q[:, 1:], t))

    check(module.rotate_vector, turned, v, q, backward=True)
    check(module.l2_normalize, unit, floats(54, 100, 4), backward=True)


def check_ellipsoids(module: ModuleType) -> None:
    count = 100
    origin, mean = floats(55, count, 3) * 3, floats(56, count, 3)
    direction = (mean - origin + 0.3 * floats(57, count, 3)).astype(np.float32)
    scales, quaternion = floats(58, count, 3, low=0.8, high=1.5), units(59, count, 4)

    def reference(o: Array, d: Array, mean: Array, scales: Array, q: Array) -> Array:
        """Where rays meet ellipsoids: in the ellipsoid's frame, scaled to a sphere."""
        turn = rotation(unit(q)).transpose(0, 2, 1)
        local = unit(np.einsum("nij,nj->ni", turn, d)) / scales
        start = np.einsum("nij,nj->ni", turn, o - mean) / scales
        a, b, c = (local**2).sum(1), (start * local).sum(1), (start**2).sum(1) - 1
        under = b * b - a * c
        root = np.sqrt(np.maximum(under, 0))
        both = np.stack([(-b - root) / a, (-b + root) / a], axis=1)
        return np.where((under < 0)[:, None], -1, both)

    check(
        module.ray_intersect_ellipsoid,
        reference,
        *(origin.astype(np.float32), direction, mean, scales, quaternion),
        backward=True,
        tolerance=1e-3,
        gradient_tolerance=1e-2,
    )


def gaussian(splats: Array, at: Array) -> Array:
    """Colour and weight of Gaussians with covariances at positions."""
    d = at - splats["center"]
    power = -np.einsum("ni,nij,nj->n", d, np.linalg.inv(splats["sigma"]), d) / 2
    weight = np.minimum(0.99, splats["opacity"] * np.exp(power))
    return np.concatenate([splats["color"], weight[:, None]], axis=1)


def some_gaussians(module: ModuleType) -> tuple[Array, Array]:
    splats = np.zeros(100, module.Gaussian2D.dtype)
    splats["center"], splats["color"] = floats(60, 100, 2), floats(61, 100, 3)
    splats["opacity"] = floats(62, 100, low=0.3, high=0.9)
    across = floats(63, 100, low=-0.2, high=0.2)
    for row in range(2):
        splats["sigma"][:, row, row] = floats(64 + row, 100, low=0.3)
        splats["sigma"][:, row, 1 - row] = across
    return splats, floats(66, 100, 2)


def check_sample_splats(module: ModuleType) -> None:
    check(module.Gaussian2D.eval, gaussian, *some_gaussians(module), backward=True)

    def blend(below: Array, above: Array) -> Array:
        return np.concatenate(
            [below[:, :3] + above[:, :3] * above[:, 3:] * below[:, 3:], below[:, 3:] * (1 - above[:, 3:])],
            axis=1,
        )

    check(module.alphaBlend, blend, floats(67, 100, 4, low=0), floats(68, 100, 4, low=0), backward=True)
    given = [floats(69 + at, 50, low=0.1) for at in range(4)]
    value, slope, first, second = (wide(part) for part in given)
    tensors = [tensor(part) for part in given]
    module.adamUpdate(*tensors)
    first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
    value = value - 0.002 * (first / 0.1) / (np.sqrt(second / 0.001) + 1e-8)
    for name, found, wanted in zip("vgms", tensors, (value, 0 * slope, first, second), strict=True):
        close(found, wanted, f"adamUpdate: {name}", 1e-3)


def check_playground(module: ModuleType) -> None:
    check(module.Gaussian2D.eval, gaussian, *some_gaussians(module), backward=True)


def triangle_distance(at: Array, corners: Array) -> Array:
    """The signed distance to a triangle whose corners are counter-clockwise, negative inside."""
    nearest = np.full(len(at), np.inf)
    inside = np.ones(len(at), bool)
    for one, two in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        edge = two - one
        along = np.clip(((at - one) @ edge) / (edge @ edge), 0, 1)
        nearest = np.minimum(nearest, np.linalg.norm(at - one - along[:, None] * edge, axis=1))
        inside &= (at - one) @ np.array([-edge[1], edge[0]]) > 0
    return np.where(inside, -nearest, nearest)


def check_triangle(module: ModuleType) -> None:
    """The picture of a soft triangle, and the gradients of its corners and its colour."""
    width, height = 16, 24
    corners = np.array([[0.6, -0.5], [0.1, 0.6], [-0.55, -0.4]])
    shade = np.array([0.3, 0.8, 0.2])
    look = module.Camera(o=[0, 0], scale=[1, 1], frameDim=[width, height])
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5, indexing="ij")
    world = 2 * np.stack([x / width, y / height], axis=-1).reshape(-1, 2) - 1

    def picture(corners: Array, shade: Array) -> Array:
        cover = 1 / (1 + np.exp(triangle_distance(world, corners) / SIGMA))
        return (cover[:, None] * shade + (1 - cover[:, None])).reshape(width, height, 3)

    out = kf.Tensor.zeros((width, height, 3), np.float32)
    given = [tensor(values.astype(np.float32)) for values in (corners, shade)]
    module.rasterize.threads(width, height)(look, *given, out)
    close(out, picture(corners, shade), "rasterize", 1e-3)
    flow = floats(70, width, height, 3)
    with_grads = [value.with_grads() for value in given]
    module.rasterize.threads(width, height).backward(look, *with_grads, out.with_grads(grad_in=tensor(flow)))
    for which, value in enumerate((corners, shade)):
        slopes = np.zeros_like(value)
        for index in np.ndindex(value.shape):
            moved = [corners.copy(), shade.copy()]
            moved[which][index] += 1e-6
            above = picture(*moved)
            moved[which][index] -= 2e-6
            slopes[index] = ((above - picture(*moved)) * flow).sum() / 2e-6
        close(with_grads[which].grad, slopes, f"rasterize: gradient {which}", 1e-2)


SIGMA = 0.02

PROGRAMS = [
    Program("splat_projection", SPLATS, f"{SPLATS_FOLDER}/utils.slang", check_projection),
    Program("splat_harmonics", SPLATS, f"{SPLATS_FOLDER}/spherical_harmonics.slang", check_harmonics),
    Program("grut_harmonics", GRUT, f"{GRUT_FOLDER}/sphericalHarmonics.slang", check_grut_harmonics),
    Program("grut_transforms", GRUT, f"{GRUT_FOLDER}/transforms.slang", check_grut_transforms),
    Program(
        *("falcor_harmonics", "NVIDIAGameWorks+Falcor", "Source/Falcor/Utils/Math/SphericalHarmonics.slang"),
        check_falcor_harmonics,
    ),
    Program(
        *("splatting_quaternions", "nvpro-samples+vk_gaussian_splatting", "shaders/quaternions.h.slang"),
        check_quaternions,
    ),
    Program("ever_math", EVER, "primtracer/slang/safe_math.slang", check_ever_math),
    Program("ever_ellipsoids", EVER, "primtracer/slang/ellipsoid_intersect.slang", check_ellipsoids),
    Program(
        *("samples_splats", SAMPLES, "examples/simplified-splatting/simplediffsplatting2d.slang"),
        check_sample_splats,
    ),
    Program(
        *("playground_splats", "shader-slang+slang-playground", "public/demos/gsplat2d-diff.slang"),
        check_playground,
    ),
    Program(
        *("torch_triangle", "shader-slang+slang-torch"),
        "examples/soft-rasterizer-example/soft-rasterizer2d.slang",
        check_triangle,
        "spec",
        "threads",
    ),
]
