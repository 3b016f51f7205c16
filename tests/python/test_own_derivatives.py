"""Views that a derivative of the user's own writes, which is no part of what the function itself does."""

import numpy as np
import pytest
from generating import Generator

TEXT = """
ATTRIBUTES [BackwardDerivative(weighed_bwd)]
float weighed(TensorView<float> w, uint i, float x) { return w[i] * x; }
void weighed_bwd(TensorView<float> w, uint i, inout DifferentialPair<float> x, float by)
{
    w.store(i, by);
    x = diffPair(x.p, 3 * by);
}
[Differentiable] float f(uint i, TensorView<float> w, float x) { return weighed(w, i, x); }
[Differentiable] float plain(uint i, TensorView<float> w, float x) { return w[i] * x; }
void set_by_asm(uint i, TensorView<float> v)
{
    __target_switch
    {
    case cuda: __intrinsic_asm "($0).store($1, 1.f)";
    default: v.load(i); return;
    }
}
"""


@pytest.mark.parametrize("attributes", ["", "[Differentiable]", "[ForwardDifferentiable]"])
def test_they_count_as_written(generator: Generator, attributes: str) -> None:
    args = {"i": "call_id", "w": "tensor[1]", "x": "tensor[1]"}
    calls = [{"function": name, "backward": True, "args": args} for name in ("f", "plain")]
    calls.append({"function": "set_by_asm", "args": {"i": "call_id", "v": "tensor[1]"}})
    assert generator.run({"m.slang": TEXT.replace("ATTRIBUTES", attributes)}, calls) == 0, generator.said
    module = generator.imported()
    repeated = np.broadcast_to(np.float32(2), (4,))
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(module.plain(repeated, x).to_numpy(), 2 * x)
    with pytest.raises(Exception, match=r"argument 'w': .*written"):
        module.f(repeated, x)
    with pytest.raises(Exception, match=r"argument 'v': .*written"):
        module.set_by_asm(repeated, shape=(4,))
