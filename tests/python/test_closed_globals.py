"""Globals of imported modules whose structs aren't public."""

from typing import Any

import numpy as np
import pytest
from generating import Generator

x = np.array([1, -2, 0.5], np.float32)
CALLS = [{"function": "f", "args": {"x": "tensor[1]"}}]
MAIN = "import lib;\nfloat f(float x) { return shade(x); }\n"


def files(lib: str, main: str = MAIN) -> dict[str, str]:
    return {"m.slang": main, "lib.slang": "module lib;\n" + lib}


@pytest.mark.parametrize(
    ("lib", "name"),
    [
        ("struct Tint { float scale, add; }\nuniform Tint tint;\n", "tint"),
        (
            "struct Tint { float scale, add; float twice() { return 2 * scale; } }\nuniform Tint tint;\n",
            "tint",
        ),
        (
            "struct Tint { float scale, add; }\nuniform Tint tint;\n"
            "extension Tint { float twice() { return 2 * scale; } }\n",
            "tint",
        ),
        (
            "extension Tint { float twice() { return 2 * scale; } }\n"
            "struct Tint { float scale, add; }\nConstantBuffer<Tint> tint;\n",
            "tint",
        ),
        ("namespace ns { struct Tint { float scale, add; }; uniform Tint tint; }\n", "ns.tint"),
        (
            "namespace a { namespace b { struct Tint { float scale, add; }; } }\nuniform a::b::Tint tint;\n",
            "tint",
        ),
        ("struct Tint { float scale, add; }\ntypealias Shade = Tint;\nuniform Shade tint;\n", "tint"),
    ],
)
def test_structs_that_are_not_public(generator: Generator, lib: str, name: str) -> None:
    spelled = name.replace(".", "::")
    value = f"x * {spelled}.scale + {spelled}.add"
    if "twice" in lib:
        value += f" + {spelled}.twice()"
    module: Any = generator.module(files(lib + f"public float shade(float x) {{ return {value}; }}\n"), CALLS)
    shaded = module.f.set({name: {"scale": 3, "add": 0.25}})
    np.testing.assert_array_equal(shaded(x).to_numpy(), 3 * x + 0.25 + ("twice" in lib) * 6)


@pytest.mark.parametrize("type_", ["Tint", "Tint[2]", "Outer"])
def test_names_that_another_module_has_are_refused_by_name_and_place(
    generator: Generator, type_: str
) -> None:
    lib = (
        "struct Tint { float scale; }\nstruct Outer { Tint inner; }\n"
        f"typealias T = {type_};\nuniform T tint;\n"
        "public float shade(float x) { return x + "
        + {"Tint": "tint.scale", "Tint[2]": "tint[1].scale", "Outer": "tint.inner.scale"}[type_]
        + "; }\n"
    )
    main = (
        "import lib;\nstruct Tint { float other; }\n"
        "float f(float x) { Tint t = { x }; return shade(t.other); }\n"
    )
    assert generator.run(files(lib, main), CALLS) == 1
    named = type_.removesuffix("[2]")
    assert f"lib.slang:5:11: error: 'tint' is a global with the type '{named}', which" in generator.said
    assert generator.said.count("error:") == 1
