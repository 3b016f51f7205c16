"""Entry points whose attributes macros write, and those that no call names."""

from typing import Any

import numpy as np
import pytest
from generating import Generator

x = np.arange(1, 101, dtype=np.float32)


def entry(*names: str) -> list[dict[str, Any]]:
    return [{"function": name, "args": {"x": "tensor[1]", "y": "tensor[1]"}} for name in names]


FILL = """
import kf;
groupshared float kept[64];
MACROS
ENTRY void fill(uint3 id : SV_DispatchThreadID, uint lane : SV_GroupIndex,
                Tensor<float, 1> x, WTensor<float, 1> y)
{
    kept[lane] = id.x < x.shape[0] ? x[id.x] : 0;
    GroupMemoryBarrierWithGroupSync();
    float sum = 0;
    for (uint i = 0; i < SIZE; ++i)
        sum += kept[i];
    if (id.x < x.shape[0])
        y[id.x] = sum;
}
"""


def sums(size: int) -> np.ndarray[Any, Any]:
    """Of each group's elements."""
    groups = [x[i : i + size].sum() for i in range(0, len(x), size)]
    return np.repeat(np.array(groups, np.float32), size)[: len(x)]


@pytest.mark.parametrize(
    ("macros", "use"),
    [
        ("#define GROUP [numthreads(64, 1, 1)]", '[shader("compute")] GROUP'),
        ('#define GROUP [shader("compute")] [numthreads(64, 1, 1)]', "GROUP"),
        ('#define GROUP \\\n    [shader("compute")] \\\n    [numthreads(16 * 4, 1, 1)]', "GROUP"),
        ('#define GROUP(n) [shader("compute")] [numthreads(n, 1, 1)]', "GROUP(64)"),
        ("#define WIDE 64\n#define INNER [numthreads(WIDE, 1, 1)]\n#define GROUP INNER", "GROUP"),
        ('#include "macros.slangh"', "GROUP"),
    ],
)
def test_group_sizes_that_macros_write(generator: Generator, macros: str, use: str) -> None:
    text = FILL.replace("MACROS", macros).replace("ENTRY", use).replace("SIZE", "64")
    (generator.folder / "macros.slangh").write_text(
        '#define GROUP [Shader("compute"), NumThreads(64, 1, 1)]\n'
    )
    module = generator.module({"m.slang": text}, entry("fill"))
    y = np.full(len(x), 77, np.float32)
    module.fill.threads(100)(x, y)
    np.testing.assert_array_equal(y, sums(64))


def test_macros_of_the_spec(generator: Generator) -> None:
    text = FILL.replace("MACROS", "").replace("ENTRY", "GROUP").replace("SIZE", "32")
    module = generator.module(
        {"m.slang": text}, entry("fill"), defines={"GROUP": '[shader("compute")] [numthreads(32, 1, 1)]'}
    )
    y = np.full(len(x), 77, np.float32)
    module.fill.threads(100)(x, y)
    np.testing.assert_array_equal(y, sums(32))


def test_functions_of_the_same_name_stay_functions(generator: Generator) -> None:
    """Namespaces and included files have functions that are called as an entry point is."""
    text = FILL.replace("MACROS", "#define GROUP [numthreads(64, 1, 1)]").replace("SIZE", "64")
    text = text.replace("ENTRY", '#include "others.slangh"\n[shader("compute")] GROUP')
    text += "namespace scaled { float fill(float x, float y) { return x * y; } }\n"
    (generator.folder / "others.slangh").write_text(
        "namespace added { float fill(float x, float y) { return x + y; } }\n"
    )
    calls = [{**call, "name": call["function"].replace(".", "_")} for call in entry("fill", "scaled.fill")]
    calls.append({**calls[1], "function": "added.fill", "name": "added_fill"})
    module = generator.module({"m.slang": text}, calls)
    y = np.full(len(x), 77, np.float32)
    module.fill.threads(100)(x, y)
    np.testing.assert_array_equal(y, sums(64))
    np.testing.assert_array_equal(module.scaled_fill(x, x).to_numpy(), x * x)
    np.testing.assert_array_equal(module.added_fill(x, x).to_numpy(), x + x)


def test_what_no_macro_shows_is_refused_by_name(generator: Generator) -> None:
    text = FILL.replace("MACROS", "#define SIZES numthreads(64, 1, 1)").replace("ENTRY", "[SIZES]")
    assert generator.run({"m.slang": text.replace("SIZE;", "64;")}, entry("fill")) == 1
    assert "'fill' is an entry point whose attributes a macro writes" in generator.said
    text = '#define STAGE [shader("fragment")]\nSTAGE float4 lit() : SV_Target { return 0; }'
    assert generator.run({"m.slang": text}, [{"function": "lit", "args": {}}]) == 1
    assert "'lit' is an entry point of another pipeline than compute" in generator.said


STAGES = """
float doubled(float x) { return 2 * x; }
#define PIXEL [shader("fragment")]
struct Payload { float value; };
[shader("vertex")] float4 vertices(uint group : SV_GroupID, float4 p : SV_Position) : SV_Target
{
    float4 unset;
    return unset;
}
[shader("fragment")]
float4 pixels(float4 p : SV_Position, uint id : SV_DispatchThreadID, out uint v : SV_VertexID) : SV_Target
{
    return p;
}
PIXEL float4 more(float4 p : SV_Position, out uint v : SV_VertexID) : SV_Target
{
    float4 unset;
    return unset;
}
[shader("closesthit")] void hit(inout Payload payload, float value)
{
    float unset;
    payload.value = unset;
}
[shader("compute")] [numthreads(8, 1, 1)] void idle(uint3 id : SV_VertexID)
{
    float unset;
    float used = unset;
}
"""


def test_stages_that_no_call_names(generator: Generator) -> None:
    calls = [{"function": "doubled", "args": {"x": "tensor[1]"}}]
    module = generator.module({"m.slang": STAGES}, calls)
    np.testing.assert_array_equal(module.doubled(x).to_numpy(), 2 * x)
    assert "warning" not in generator.said
    # Other functions' are shown.
    unset = STAGES + "float other(float x) { float unset; return unset + x; }\n"
    assert generator.run({"m.slang": unset}, calls) == 0
    assert generator.said.count("warning") == 1
    assert generator.run({"m.slang": STAGES}, [{"function": "vertices", "args": {}}]) == 1
    assert "another pipeline than compute" in generator.said


@pytest.mark.parametrize("declared", ["static", "extern static"])
def test_group_sizes_are_of_their_namespace(generator: Generator, declared: str) -> None:
    text = (
        declared
        + """ const uint width = 16;
namespace ns
{
    static const uint width = 4;
    [shader("compute")] [numthreads(width, 1, 1)]
    void widest(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, RWStructuredBuffer<uint> y)
    {
        if (group.x == 0) InterlockedMax(y[0], id.x + 1);
    }
}
[shader("compute")] [numthreads(width, 1, 1)]
void widest(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, RWStructuredBuffer<uint> y)
{
    if (group.x == 0) InterlockedMax(y[0], id.x + 1);
}
"""
    )
    calls = [
        {"function": "ns.widest", "name": "inner", "args": {"y": "rwbuffer"}},
        {"function": "widest", "name": "outer", "args": {"y": "rwbuffer"}},
    ]
    if declared == "extern static":
        calls = [{**call, "variants": {"wide": {"constants": {"width": 32}}}} for call in calls]
    module = generator.module({"m.slang": text}, calls)
    expected = [(module.inner, 4), (module.outer, 16)]
    if declared == "extern static":
        wide = {"variant": "wide"}
        expected += [(module.inner.options(**wide), 4), (module.outer.options(**wide), 32)]
    for function, width in expected:
        y = np.zeros(1, np.uint32)
        function.groups(3)(y)
        np.testing.assert_array_equal(y, [width])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "#define SPEC(n) [vk::constant_id(n)]\nSPEC(0) const int other = 3;\n"
            "[SpecializationConstant] const int taps = 2;",
            "other",
        ),
        ("[SpecializationConstant] const int taps = 2, other = 3;", "taps"),
    ],
)
def test_constants_with_numbers_of_their_own(generator: Generator, text: str, name: str) -> None:
    """Run time must not choose them with another one's number."""
    text += "\nint f(int x) { return 100 * other + taps * x; }\n"
    call = {"function": "f", "args": {"x": "tensor[1]"}}
    assert generator.run({"m.slang": text}, [call], constants={"taps": [2, 4]}) == 1
    assert f"depends on the specialization constant '{name}'" in generator.said
