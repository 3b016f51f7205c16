"""What the path tracer shows, with the tree of boxes around its triangles; scene.cpp makes the same."""

from collections.abc import Sequence
from typing import Any

import kernelfunctions as kf
import numpy as np
from kf_samples.path_tracer import Material, Node, Sphere, Triangle

Vector = tuple[float, float, float]

DIFFUSE, METAL, GLASS = range(3)
FLOOR, TILE, LAMP, GOLD, CLAY, MIRROR, CRYSTAL = range(7)
# Color, kind, emission, and how rough it is or its index of refraction.
MATERIALS = np.array(
    [
        ((0.75, 0.73, 0.7), DIFFUSE, (0, 0, 0), 0),
        ((0.2, 0.24, 0.3), DIFFUSE, (0, 0, 0), 0),
        ((0, 0, 0), DIFFUSE, (14, 12.5, 10), 0),
        ((1, 0.71, 0.29), METAL, (0, 0, 0), 0.15),
        ((0.75, 0.2, 0.12), DIFFUSE, (0, 0, 0), 0),
        ((0.92, 0.94, 0.96), METAL, (0, 0, 0), 0),
        ((0.98, 1, 0.99), GLASS, (0, 0, 0), 1.5),
    ],
    Material.dtype,
)
SPHERES = [((1.25, 1, -0.9), 1, MIRROR), ((-1.3, 0.75, 0.75), 0.75, CRYSTAL), ((0.75, 0.5, 1.15), 0.5, CLAY)]
LAMP_CORNER, LAMP_EDGES = np.array([-1, 5, -1]), np.array([[2, 0, 0], [0, 0, 2]])
NOWHERE = (0, -100, 0)
LEAF = 4  # triangles at most


def triangles_of(corners: np.ndarray, materials: np.ndarray | int) -> np.ndarray:
    """Triangles from corners [n, 3, 3]."""
    triangles = np.zeros(len(corners), Triangle.dtype)
    triangles["corner"] = corners[:, 0]
    triangles["edge1"] = corners[:, 1] - corners[:, 0]
    triangles["edge2"] = corners[:, 2] - corners[:, 0]
    triangles["material"] = materials
    return triangles


def halves(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The two triangles of each quadrilateral a, b, c, d."""
    return np.stack([np.stack([a, b, c], -2), np.stack([a, c, d], -2)], -3).reshape(-1, 3, 3)


def floor(tiles: int) -> np.ndarray:
    """A chessboard at height 0, 8 wide."""
    z, x = np.mgrid[:tiles, :tiles].reshape(2, -1)
    corners = [np.stack([x + right, 0 * x, z + down], -1) for right, down in [(0, 0), (0, 1), (1, 1), (1, 0)]]
    places = [8 / tiles * corner - [4, 0, 4] for corner in corners]
    return triangles_of(halves(*places), np.where((x + z) % 2, TILE, FLOOR).repeat(2))


def torus(around: int = 40, across: int = 20) -> np.ndarray:
    """A ring that stands on the floor, turned about the vertical."""

    def place(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        u, v = 2 * np.pi * i / around, 2 * np.pi * j / across
        radius = 0.8 + 0.27 * np.cos(v)
        x, y, z = radius * np.cos(u), radius * np.sin(u), 0.27 * np.sin(v)
        return np.stack([0.8 * x - 0.6 * z - 0.7, y + 1.07, 0.6 * x + 0.8 * z - 1.1], -1)

    i, j = np.mgrid[:around, :across].reshape(2, -1)
    return triangles_of(halves(place(i, j), place(i + 1, j), place(i + 1, j + 1), place(i, j + 1)), GOLD)


def lamp() -> np.ndarray:
    corner, (edge1, edge2) = LAMP_CORNER, LAMP_EDGES
    return triangles_of(halves(corner, corner + edge1, corner + edge1 + edge2, corner + edge2), LAMP)


def tree_of_boxes(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes, and the triangles in the order that they refer to: halves of halves, along the longest side."""
    edges = (0, triangles["edge1"], triangles["edge2"])
    corners = np.stack([triangles["corner"] + edge for edge in edges], axis=1)
    low, high = corners.min(axis=1), corners.max(axis=1)
    middle = low + high
    nodes: list[Any] = []
    order: list[int] = []

    def add(those: np.ndarray) -> None:
        index = len(nodes)
        box = low[those].min(axis=0), high[those].max(axis=0)
        if len(those) <= LEAF:
            nodes.append((box[0], len(order), box[1], len(those)))
            order.extend(those.tolist())
            return
        nodes.append(None)
        along = np.ptp(middle[those], axis=0).argmax()
        ordered = those[middle[those, along].argsort(kind="stable")]
        add(ordered[: len(those) // 2])
        nodes[index] = (box[0], len(nodes), box[1], 0)
        add(ordered[len(those) // 2 :])

    add(np.arange(len(triangles)))
    return np.array(nodes, Node.dtype), triangles[order]


def camera(position: Vector, target: Vector, angle: float, size: tuple[int, int]) -> dict[str, Any]:
    """A camera for pictures of `size`, width and height, that are `angle` degrees high."""
    forward = np.subtract(target, position)
    forward = forward / np.linalg.norm(forward)
    # Someone who looks straight down has the north, -z, above.
    right = np.cross(forward, [0, 0, -1] if abs(forward[1]) > 0.999 else [0, 1, 0])
    right /= np.linalg.norm(right)
    half = np.tan(np.radians(angle) / 2)
    return {
        "position": position,
        "forward": forward.tolist(),
        "right": (right * half * size[0] / size[1]).tolist(),
        "up": (np.cross(right, forward) * half).tolist(),
        "size": size,
    }


def orbit(turn: float, size: tuple[int, int]) -> dict[str, Any]:
    """A camera on a circle around the scene; `turn` goes from 0 to 1."""
    angle = 2 * np.pi * turn
    return camera((7 * float(np.sin(angle)), 3, 7 * float(np.cos(angle))), (0, 0.8, 0), 38, size)


def fields(
    triangles: np.ndarray,
    spheres: list[Any],
    materials: np.ndarray,
    *,
    sky: Vector,
    ground: Vector,
    emission: Sequence[float] = (0, 0, 0),
) -> dict[str, Any]:
    """The fields of g_scene, but for the camera."""
    nodes, ordered = tree_of_boxes(triangles)
    light = np.array([LAMP_CORNER, *LAMP_EDGES, emission]).tolist()
    return {
        "light": dict(zip(("corner", "edge1", "edge2", "emission"), light, strict=True)),
        "sky": sky,
        "ground": ground,
        "sphere_count": len(spheres),
        "spheres": kf.Buffer.from_numpy(np.array(spheres, Sphere.dtype)),
        "triangles": kf.Buffer.from_numpy(ordered),
        "nodes": kf.Buffer.from_numpy(nodes),
        "materials": kf.Buffer.from_numpy(materials),
    }


def scene() -> tuple[np.ndarray, dict[str, Any]]:
    """A ring, three balls and a chessboard under a lamp: its triangles, and the fields."""
    triangles = np.concatenate([floor(8), torus(), lamp()])
    emission = MATERIALS["emission"][LAMP].tolist()
    sky, ground = (0.5, 0.62, 0.8), (0.3, 0.27, 0.25)
    return triangles, fields(triangles, SPHERES, MATERIALS, sky=sky, ground=ground, emission=emission)


def lamp_and_floor(color: float, emission: float) -> dict[str, Any]:
    """The lamp, and a floor of one color."""
    materials = MATERIALS.copy()
    materials["color"][FLOOR] = color
    materials["emission"][LAMP] = emission
    black, triangles = (0, 0, 0), np.concatenate([floor(1), lamp()])
    return fields(
        triangles, [(NOWHERE, 1, FLOOR)], materials, sky=black, ground=black, emission=[emission] * 3
    )


def ball(kind: int, parameter: float) -> dict[str, Any]:
    """A white ball under a sky of brightness 1 on all sides."""
    material = np.array([((1, 1, 1), kind, (0, 0, 0), parameter)], Material.dtype)
    # A triangle that is no larger than a point: rays meet none, but there must be a tree.
    point = triangles_of(np.array([[NOWHERE] * 3]), 0)
    return fields(point, [((0, 0, 0), 1, 0)], material, sky=(1, 1, 1), ground=(1, 1, 1))
