"""Texels by their formats, in NumPy: what memory holds, and the numbers that shaders have of it."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

#: Extents to try: one, odd ones, and more than a group's threads.
EXTENTS = [1, 7, 33, 257]


@dataclass(frozen=True)
class Format:
    """A format by its name: "rgba8_snorm"."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def components(self) -> int:
        return {"r": 1, "rg": 2, "rgba": 4}[self.name.split("8")[0].split("16")[0].split("32")[0]]

    @property
    def bits(self) -> int:
        return int("".join(letter for letter in self.name.split("_")[0] if letter.isdigit()))

    @property
    def texel(self) -> str:
        """unorm, snorm, float, srgb, int or uint."""
        if self.name.endswith("_snorm"):
            return "snorm"
        if self.name.endswith("_srgb"):
            return "srgb"
        if self.name.endswith("ui"):
            return "uint"
        return {"f": "float", "i": "int"}.get(self.name[-1], "unorm")

    @property
    def shader(self) -> str:
        """What shaders have of a component: float, int or uint."""
        return self.texel if self.texel in {"int", "uint"} else "float"

    @property
    def dtype(self) -> np.dtype[Any]:
        letter = {"unorm": "u", "srgb": "u", "snorm": "i", "float": "f", "int": "i", "uint": "u"}[self.texel]
        return np.dtype(f"{letter}{self.bits // 8}")

    @property
    def shader_dtype(self) -> np.dtype[Any]:
        return np.dtype({"float": "f4", "int": "i4", "uint": "u4"}[self.shader])

    @property
    def is_written(self) -> bool:
        return self.texel != "srgb"

    def shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        return extents if self.components == 1 else (*extents, self.components)

    def texels(self, extents: tuple[int, ...], seed: int = 0) -> Array:
        """Random texels, in which the largest and smallest numbers are, too, where there is room."""
        random = np.random.default_rng(seed)
        shape = self.shape(extents)
        if self.texel == "float":
            made = np.array(random.normal(0, 3, shape), self.dtype)
        else:
            limits = np.iinfo(self.dtype)
            made = np.array(random.integers(limits.min, limits.max, shape, self.dtype, endpoint=True))
            flat = made.reshape(-1)
            if flat.size > 8:
                flat[[2, 5]] = limits.min, limits.max
        return made

    def read(self, texels: Array) -> Array:
        """What shaders read of texels: four components each, of float64 or of the shader's integers."""
        given = texels.reshape(*texels.shape[: texels.ndim - (self.components > 1)], self.components)
        if self.shader != "float":
            numbers = given.astype(self.shader_dtype)
        elif self.texel == "float":
            numbers = given.astype(np.float64)
        else:
            numbers = np.maximum(given.astype(np.float64) / np.iinfo(self.dtype).max, -1.0)
        if self.texel == "srgb":
            colours = numbers[..., :3]
            numbers[..., :3] = np.where(
                colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4
            )
        full = np.zeros((*numbers.shape[:-1], 4), numbers.dtype)
        full[..., 3] = 1
        full[..., : self.components] = numbers
        return full

    def written(self, values: Array) -> Array:
        """The texels that shaders leave that write vectors of so many components, rounded to the nearest."""
        values = values.reshape(*values.shape[: values.ndim - (self.components > 1)], self.components)
        if self.texel in {"unorm", "snorm"}:
            most = np.iinfo(self.dtype).max
            least = 0.0 if self.texel == "unorm" else -1.0
            made = np.rint(np.clip(values.astype(np.float64), least, 1.0) * most).astype(self.dtype)
        else:
            made = values.astype(self.dtype)
        return made[..., 0] if self.components == 1 else made

    def copied(self, texels: Array) -> Array:
        """The texels that shaders leave that copy some: two of snorm's are -1."""
        numbers = self.read(texels)
        return self.written(numbers[..., 0] if self.components == 1 else numbers[..., : self.components])

    def values(self, extents: tuple[int, ...], seed: int) -> Array:
        """Numbers to write, away from halfway between two texels; some past what the format has."""
        random = np.random.default_rng(seed)
        shape = self.shape(extents)
        if self.texel in {"unorm", "snorm"}:
            limits = np.iinfo(self.dtype)
            least = 0 if self.texel == "unorm" else -limits.max
            steps = random.integers(least, limits.max, shape, np.int64, endpoint=True)
            made = (steps + random.uniform(-0.3, 0.3, shape) * (self.bits == 8)) / limits.max
            past = random.random(shape) < 0.1
            made[past] = random.choice([-7.5, 1.75, 1e9], int(past.sum()))
            return np.array(made, np.float32)
        return np.array(self.texels(extents, seed)).astype(self.shader_dtype)

    @property
    def tolerance(self) -> float:
        """How far what a shader reads may be off, of numbers up to 1: GPUs look colours up in tables."""
        if self.texel == "srgb":
            return 5e-3
        return 2e-7 if self.texel in {"unorm", "snorm"} else 0.0


FORMATS = [
    Format(name)
    for kind in ["8", "16", "8_snorm", "16_snorm", "16f", "32f", "8i", "16i", "32i", "8ui", "16ui", "32ui"]
    for name in (letters + kind for letters in ("r", "rg", "rgba"))
] + [Format("rgba8_srgb")]
WRITTEN = [one for one in FORMATS if one.is_written]
FLOATS = [one for one in FORMATS if one.shader == "float"]


@dataclass(frozen=True)
class Kind:
    """A kind of texture: "2d_array"."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def is_cube(self) -> bool:
        return self.name.startswith("cube")

    @property
    def is_array(self) -> bool:
        return self.name.endswith("_array")

    @property
    def dimensions(self) -> int:
        return 2 if self.is_cube else int(self.name[0])

    @property
    def has_layers(self) -> bool:
        return self.is_array or self.is_cube

    def extents(self, size: int) -> tuple[int, ...]:
        """Extents whose last is `size`; the others are small, and a cube's the same."""
        if self.is_cube:
            return (size, size)
        return (*{1: (), 2: (5,), 3: (3, 2)}[self.dimensions], size)

    @property
    def layers(self) -> int:
        if self.is_cube:
            return 12 if self.is_array else 6
        return 3 if self.is_array else 1

    def texel_extents(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """The extents of an array of all texels of a mip, without channels."""
        return (self.layers, *extents) if self.has_layers else extents


KINDS = [Kind(name) for name in ["1d", "2d", "3d", "cube", "1d_array", "2d_array", "cube_array"]]


def mip(extents: tuple[int, ...], level: int) -> tuple[int, ...]:
    return tuple(max(1, extent >> level) for extent in extents)


def most_mips(extents: tuple[int, ...]) -> int:
    return max(extents).bit_length()


def wrapped(i: Array, extent: int, address: str) -> tuple[Array, Array]:
    """Texels' numbers, and which of them lie outside of a texture with a border."""
    if address == "repeat":
        return i % extent, np.zeros(i.shape, bool)
    if address == "mirror":
        twice = i % (2 * extent)
        return np.minimum(twice, 2 * extent - 1 - twice), np.zeros(i.shape, bool)
    outside = (i < 0) | (i >= extent)
    return np.clip(i, 0, extent - 1), outside & (address == "border")


def sampled(texels: Array, at: Array, filter: str, address: str, border: float) -> Array:
    """One mip's texels, of the dimensions and 4 components, sampled at x, y, z in float64."""
    dimensions = texels.ndim - 1
    result = np.zeros((len(at), 4))
    corners: list[tuple[int, ...]] = list(product((0, 1), repeat=dimensions))
    for corner in corners if filter == "linear" else corners[:1]:
        weight = np.ones(len(at))
        outside = np.zeros(len(at), bool)
        index: list[Any] = []
        for d in range(dimensions):
            extent = texels.shape[dimensions - 1 - d]
            place = at[:, d] * extent - (0.5 if filter == "linear" else 0.0)
            first = np.floor(place)
            if filter == "linear":
                part = place - first
                weight *= part if corner[d] else 1 - part
            number, is_outside = wrapped(first.astype(np.int64) + corner[d], extent, address)
            outside |= is_outside
            index.insert(0, number)
        values = texels[tuple(index)].copy()
        values[outside] = border
        result += weight[:, None] * values
    return result
