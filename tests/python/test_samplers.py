"""kf.Sampler: what it is made of."""

import pickle
import re
from typing import Any

import kernelfunctions as kf
import pytest

MADE: list[tuple[dict[str, Any], str]] = [
    ({}, "Sampler(filter='linear', address='clamp')"),
    ({"filter": "nearest", "address": "repeat"}, "Sampler(filter='nearest', address='repeat')"),
    (
        {"filter": ("nearest", "linear"), "address": ("repeat", "border"), "border": "opaque_white"},
        "Sampler(filter=('nearest', 'linear'), address=('repeat', 'border', 'clamp'), border='opaque_white')",
    ),
    (
        {"address": ["mirror", "clamp", "repeat"], "mip_filter": "nearest"},
        "Sampler(filter='linear', address=('mirror', 'clamp', 'repeat'), mip_filter='nearest')",
    ),
    ({"compare": "less_equal"}, "Sampler(filter='linear', address='clamp', compare='less_equal')"),
    (
        {"anisotropy": 8, "lod_min": 1, "lod_max": 3.5, "lod_bias": -0.5},
        "Sampler(filter='linear', address='clamp', anisotropy=8.0, lod_min=1.0, lod_max=3.5, lod_bias=-0.5)",
    ),
]

REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"filter": "cubic"},
        kf.ArgumentError,
        "Sampler: argument 'filter': expected 'nearest', 'linear', or two of them, of minifying and "
        "magnifying, found 'cubic'",
    ),
    ({"filter": 1}, kf.ArgumentTypeError, "found 1"),
    (
        {"address": ("clamp", "wrap")},
        kf.ArgumentError,
        "Sampler: argument 'address': expected 'repeat', 'mirror', 'clamp', 'border', or one for each of x, "
        "y and z, found 'wrap'",
    ),
    ({"compare": "lower"}, kf.ArgumentError, "Sampler: argument 'compare': expected 'none', 'never', 'less'"),
    ({"border": "grey"}, kf.ArgumentError, "Sampler: argument 'border': expected 'transparent_black', "),
    (
        {"anisotropy": "8"},
        kf.ArgumentTypeError,
        "Sampler: argument 'anisotropy': '8' (a str) is not a number: a float32 is needed",
    ),
    ({"anisotropy": 17}, kf.ArgumentError, "anisotropy is 17"),
    ({"lod_min": 3, "lod_max": 2}, kf.ArgumentError, "lod.max is 2"),
    ({"lod_bias": float("nan")}, kf.ArgumentError, "lod.bias is nan"),
    ({"filter": "nearest", "anisotropy": 2}, kf.ArgumentError, "anisotropy needs linear filters"),
]


@pytest.mark.parametrize(("arguments", "text"), MADE, ids=[text for _, text in MADE])
def test_makes(arguments: dict[str, Any], text: str) -> None:
    sampler = kf.Sampler(**arguments)
    assert repr(sampler) == text
    again = pickle.loads(pickle.dumps(sampler))
    assert again == sampler
    assert hash(again) == hash(sampler)
    assert sampler != kf.Sampler(lod_bias=0.25)
    assert sampler != text


@pytest.mark.parametrize(("arguments", "kind", "text"), REFUSED, ids=[str(one[0]) for one in REFUSED])
def test_refuses(arguments: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        kf.Sampler(**arguments)


def test_says_what_it_is() -> None:
    sampler = kf.Sampler(("linear", "nearest"), "mirror", compare="greater", lod_max=4)
    assert (sampler.filter, sampler.address, sampler.mip_filter) == (
        ("linear", "nearest"),
        "mirror",
        "linear",
    )
    assert (sampler.compare, sampler.anisotropy, sampler.border) == ("greater", 1.0, "transparent_black")
    assert (sampler.lod_min, sampler.lod_max, sampler.lod_bias) == (0.0, 4.0, 0.0)
    assert kf.Sampler().compare is None
