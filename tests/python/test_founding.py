"""The words of the documents that the package was made from, and of the habits of SlangPy."""

from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import array
from loader import Loader


@pytest.fixture(scope="module")
def founding(generated: Loader) -> ModuleType:
    return generated("founding")


@pytest.fixture(scope="module")
def lamps(generated: Loader) -> ModuleType:
    return generated("globals")


def message(act: Any, kind: type[Exception] = kf.ArgumentTypeError) -> str:
    with pytest.raises(kind) as caught:
        act()
    assert type(caught.value) is kind
    return str(caught.value)


def floats(*values: float) -> kf.Tensor:
    return kf.Tensor([*values], np.float32)


# Configured passes

PASSES = ["backward", "fused", "jvp"]


def ran(pass_: Any, x: kf.Tensor) -> list[float]:
    """The derivative that one of the three passes gives by x, whose result's gradient is 1."""
    if "jvp" in repr(pass_):
        result: list[float] = pass_(x, tangents={"x": kf.Tensor.ones(x.shape)})[1].tolist()
        return result
    x = x.with_grads()
    pass_(x)
    return array(x.grad).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", PASSES)
def test_passes_are_configured(founding: ModuleType, name: str) -> None:
    x = floats(1, 2, 3)
    plain = getattr(founding.gained, name)
    seen: list[str] = []
    doubled = plain.set(gain=2).hook(lambda _: seen.append("a"))
    assert type(doubled) is type(plain)
    assert ran(doubled, x) == [4, 8, 12]
    assert ran(doubled.set({"gain": 3}).hook(lambda _: seen.append("b")), x) == [6, 12, 18]
    assert seen == ["a", "a", "b"]
    assert ran(doubled.options(variant="small"), x) == [4, 8, 12]
    assert ran(doubled.options({"variant": "small"}).typeconformance({}).map({}), x) == [4, 8, 12]
    assert ran(doubled.options(deterministic=True), x) == [4, 8, 12]
    with pytest.raises(kf.ArgumentTypeError, match="the global 'gain', which it reads, isn't set"):
        ran(plain, x)
    with pytest.raises(kf.ArgumentTypeError, match="entry points, and calls whose spec says"):
        plain.threads(4)
    with pytest.raises(kf.ArgumentTypeError, match="entry points, and calls whose spec says"):
        plain.groups(4)


def test_a_pass_accumulates(founding: ModuleType) -> None:
    flow = kf.Tensor([0.0, 0.0]).with_grads(grad_in=np.array([1, 10], np.float32))
    pushed = founding.gained.set(gain=1).backward.accumulate({"x.grad": "push"})
    x = floats(2).with_grads()
    pushed.call(x, flow)
    assert array(x.grad).tolist() == [4, 40]
    x = floats(2).with_grads()
    pushed.accumulate(**{"x.grad": "sum"}).call(x, flow)
    assert array(x.grad).tolist() == [44]


@pytest.mark.parametrize("name", PASSES)
def test_configured_passes_are_prepared_and_recorded(founding: ModuleType, name: str) -> None:
    pass_ = getattr(founding.gained, name).set(gain=5)
    x = floats(1, 2).with_grads()
    given: dict[str, Any] = {"tangents": {"x": kf.Tensor.ones(2)}} if name == "jvp" else {}
    prepared = pass_.prepare(x, **given)
    prepared()
    encoder = kf.default_device().encoder()
    recorded = pass_.append_to(encoder, x, **given)
    encoder.submit()
    if name == "jvp":
        assert prepared.result[1].tolist() == recorded[1].tolist() == [10, 20]
    else:
        assert array(x.grad).tolist() == [20, 40]


def test_passes_of_methods_are_configured(lamps: ModuleType) -> None:
    lamp = lamps.Lamp
    assert type(lamp.fill.backward.threads(3)) is kf.Backward
    assert "Lamp.shine" in repr(lamp.shine.jvp.options(variant="by_column"))
    one = lamp(**dict.fromkeys(lamp._fields, 1.0))
    bound = one.shine.backward.set({}).options({}).accumulate({"w.grad": "push"}).hook(print)
    assert type(bound) is kf.BoundBackward
    assert type(one.shine.jvp.options(variant="by_column").map(w=[1])) is kf.BoundJvp
    assert type(one.fill.backward.threads(3).groups(2)) is kf.BoundBackward


def test_what_other_packages_call_it(founding: ModuleType) -> None:
    scaler = founding.Scaler(scale=2.0)
    for word in ("bwds", "bwd", "backwards"):
        for one in (founding.polynomial, scaler.scaled):
            assert f"no attribute '{word}': did you mean 'backward'?" in message(
                lambda one=one, word=word: getattr(one, word), AttributeError
            )
            assert not hasattr(one, word)


@pytest.mark.parametrize("word", ["threads", "numthreads", "group_size"])
def test_options(founding: ModuleType, word: str) -> None:
    add = founding.add
    for chosen in (
        add.options(**{word: [8, 8]}),
        add.options({word: (8, 8)}),
        add.options({"variant": "small"}),
    ):
        assert repr(chosen) == repr(add.options(variant="small"))
        assert chosen(1.0, 2.0) == 3
    assert add.options({})(1.0, 2.0) == add.options(None)(1.0, 2.0) == 3
    assert add.options({word: [7, 7]}, **{word: [8, 8]})(1.0, 2.0) == 3
    assert f"argument '{word}': a list of one to three numbers" in message(lambda: add.options({word: 8}))
    other = "threads" if word != "threads" else "numthreads"
    assert "the group's size is given twice" in message(lambda: add.options({word: [8, 8], other: [8, 8]}))
    assert message(lambda: add.options([8, 8])) == (
        'add: argument \'options\': a dict is needed, as in {"variant": "tiled"}, not [8, 8]'
    )
    assert "no option 'numthread'" in message(lambda: add.options({"numthread": [8, 8]}))
