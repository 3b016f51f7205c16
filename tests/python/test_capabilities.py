"""Slang's capabilities, as specs state them in "options"."""

from typing import Any

import numpy as np
import pytest
from generating import Generator

CHOSEN = """
float chosen(float x)
{
    __target_switch
    {
    case spvShaderClockKHR: return 3 * x;
    case spirv: return 2 * x;
    case cuda: return 2 * x;
    }
}
"""
UNDECLARED = """
[require(spvRayTracingKHR)] float more(float x) { return 2 * x; }
[require(spirv, sm_5_0)] float undeclared(float x) { return more(x) + 1; }
"""
UNAVAILABLE = """
[require(glsl)] float elsewhere(float x) { return 2 * x; }
float undeclared(float x) { return elsewhere(x) + 1; }
"""
x = np.array([1, -2, 0.5, 7], np.float32)


def calls(function: str) -> list[dict[str, Any]]:
    return [{"function": function, "args": {"x": "tensor[1]"}}]


@pytest.mark.parametrize(
    ("capabilities", "factor"),
    [(None, 2), ([], 2), (["cuda_sm_9_0"], 2), (["spvShaderClockKHR", "cuda_sm_9_0"], 3)],
)
def test_target_switches_choose_by_capabilities(
    generator: Generator, capabilities: list[str] | None, factor: int
) -> None:
    options = {} if capabilities is None else {"options": {"capabilities": capabilities}}
    module = generator.module({"m.slang": CHOSEN}, calls("chosen"), **options)
    np.testing.assert_array_equal(module.chosen(x).to_numpy(), factor * x)


def test_kernels_that_are_kept_depend_on_capabilities(generator: Generator) -> None:
    options: dict[str, Any] = {}
    for factor, names in ((2, []), (3, ["spvShaderClockKHR"]), (2, [])):
        options["options"] = {"capabilities": names}
        module = generator.module({"m.slang": CHOSEN}, calls("chosen"), **options)
        np.testing.assert_array_equal(module.chosen(x).to_numpy(), factor * x)


@pytest.mark.parametrize("text", [UNDECLARED, UNAVAILABLE], ids=["undeclared", "unavailable"])
def test_capabilities_may_be_ignored(generator: Generator, text: str) -> None:
    for options in ({}, {"options": {"ignore_capabilities": False}}):
        assert generator.run({"m.slang": text}, calls("undeclared"), **options) == 1
        assert "capability" in generator.said or "features that are not available" in generator.said
    module = generator.module({"m.slang": text}, calls("undeclared"), options={"ignore_capabilities": True})
    np.testing.assert_array_equal(module.undeclared(x).to_numpy(), 2 * x + 1)


def test_unknown_capabilities_are_refused_by_name_and_place(generator: Generator) -> None:
    capabilities = ["spvShaderClockKHR", "spvShaderClok"]
    assert generator.run({"m.slang": CHOSEN}, calls("chosen"), options={"capabilities": capabilities}) == 1
    assert "error: Slang has no capability 'spvShaderClok' [slang-capability]" in generator.said
    spec = (generator.folder / "m.kf.json").read_text()
    column = spec.index('"spvShaderClok"') + 1
    assert f"m.kf.json:1:{column}: error" in generator.said
    assert generator.run({"m.slang": CHOSEN}, calls("chosen"), options={"capability": []}) == 1
    assert "[spec-unknown-key]" in generator.said
