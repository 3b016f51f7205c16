"""Methods, static ones and constructors: on one object, on tensors of objects, on objects of tensors."""

from types import SimpleNamespace
from typing import Any

import kernelfunctions as kf
import numpy as np
import numpy.typing as npt
import pytest
from loader import Loader

Array = npt.NDArray[Any]
SIZES = [0, 1, 31, 33, 4097]


@pytest.fixture(scope="module")
def methods(generated: Loader) -> Any:
    return generated("members")


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=2e-5, atol=2e-5)


def tensor(array: Array) -> kf.Tensor:
    return kf.Tensor.from_numpy(array)


def scalers(methods: Any, size: int) -> Array:
    made = np.zeros(size, methods.Scaler.dtype)
    made["scale"] = numbers(size, seed=1)
    made["bias"] = numbers(size, seed=2)
    return made


def particles(methods: Any, size: int) -> Array:
    made = np.zeros(size, methods.Particle.dtype)
    made["pos"] = numbers(size, 3, seed=3)
    made["vel"] = numbers(size, 3, seed=4)
    made["steps"] = np.arange(size)
    return made


@pytest.mark.parametrize("size", SIZES)
def test_an_object_by_value(methods: Any, size: int) -> None:
    scaler = methods.Scaler(scale=10, bias=1)
    host = numbers(size)
    val = tensor(host)
    assert scaler.scale_value(val) is val
    close(val.to_numpy(), host.astype(np.float64) * 10 + 1)
    matrix = numbers(3, size)
    close(scaler.scale_value(tensor(matrix)).to_numpy(), matrix.astype(np.float64) * 10 + 1)
    assert scaler.scale_value(2) == 21
    assert methods.Scaler.scale_value({"scale": 10, "bias": 1}, 2) == 21
    assert methods.Scaler.scale_value(SimpleNamespace(scale=10, bias=1), 2) == 21


@pytest.mark.parametrize("size", SIZES)
def test_tensors_of_objects_and_objects_of_tensors_agree(methods: Any, size: int) -> None:
    host, val = scalers(methods, size), numbers(size)
    scale, bias = host["scale"].astype(np.float64), host["bias"].astype(np.float64)
    flowing = tensor(numbers(size, seed=5))

    whole = tensor(host).with_grads()
    x = tensor(val).with_grads()
    out = methods.Scaler.scaled(whole, x)
    close(out.to_numpy(), val * scale * scale + bias)
    methods.Scaler.scaled.backward(whole, x, out.with_grads(grad_in=flowing))
    d_scale = 2 * val * scale * flowing.to_numpy()
    assert whole.grad is not None
    close(whole.grad.to_numpy()["scale"], d_scale)
    assert not whole.grad.to_numpy()["bias"].any()
    close(x.grad.to_numpy() if x.grad else None, scale * scale * flowing.to_numpy())

    fields = methods.Scaler(scale=tensor(np.ascontiguousarray(host["scale"])).with_grads(), bias=0.5)
    x = x.with_grads()
    out = fields.scaled(x)
    close(out.to_numpy(), val * scale * scale + 0.5)
    fields.scaled.backward(x, out.with_grads(grad_in=flowing))
    close(fields.scale.grad.to_numpy(), d_scale)


def test_the_gradient_of_an_object_is_an_object(methods: Any) -> None:
    val = numbers(33)
    this = kf.differentiable({"scale": 3.0, "bias": 1.0})
    out = methods.Scaler.scaled(this, tensor(val))
    methods.Scaler.scaled.backward(this, tensor(val), out)
    np.testing.assert_allclose(this.grad["scale"], 6 * val.astype(np.float64).sum(), rtol=1e-4)
    assert this.grad["bias"] == 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shared", [False, True])
def test_mutating_methods_write_tensors(methods: Any, size: int, shared: bool) -> None:
    host = particles(methods, size)
    if shared:
        host["vel"] = [1, 2, 3]
    moved = host["pos"].astype(np.float64) + host["vel"].astype(np.float64) * 0.5

    whole = tensor(host)
    assert methods.Particle.update(whole, 0.5) is None
    found = whole.to_numpy()
    close(found["pos"], moved)
    np.testing.assert_array_equal(found["vel"], host["vel"])
    np.testing.assert_array_equal(found["steps"], host["steps"] + 1)

    pos, steps = tensor(np.ascontiguousarray(host["pos"])), tensor(np.ascontiguousarray(host["steps"]))
    vel: Any = [1, 2, 3] if shared else tensor(np.ascontiguousarray(host["vel"]))
    methods.Particle(pos=pos, vel=vel, steps=steps).update(0.5)
    close(pos.to_numpy(), moved)
    np.testing.assert_array_equal(steps.to_numpy(), host["steps"] + 1)
    if not shared:
        np.testing.assert_array_equal(vel.to_numpy(), host["vel"])


def test_an_array_of_objects_is_written_in_place(methods: Any) -> None:
    host = particles(methods, 5)
    before = host.copy()
    methods.Particle.update(host, 2)
    close(host["pos"], before["pos"].astype(np.float64) + 2 * before["vel"])


def test_gradients_through_a_mutating_method(methods: Any) -> None:
    host = particles(methods, 31)
    flowing = particles(methods, 31)
    flowing["pos"] = numbers(31, 3, seed=6)
    flowing["vel"] = numbers(31, 3, seed=7)
    whole = tensor(host).with_grads(grad_in=tensor(flowing), grad_out=tensor(np.zeros_like(host)))
    dt = kf.differentiable(0.5)
    methods.Particle.update.backward(whole, dt)
    assert whole.grad_out is not None
    found = whole.grad_out.to_numpy()
    close(found["pos"], flowing["pos"])
    close(found["vel"], flowing["vel"].astype(np.float64) + 0.5 * flowing["pos"])
    np.testing.assert_allclose(
        dt.grad, (flowing["pos"].astype(np.float64) * host["vel"]).sum(), rtol=1e-4, atol=1e-4
    )


def test_static_methods_need_no_object(methods: Any) -> None:
    assert methods.Scaler.twice(4) == 8
    x = tensor(numbers(33)).with_grads()
    out = methods.Scaler.twice(x)
    methods.Scaler.twice.backward(x, out)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.to_numpy(), np.full(33, 2, np.float32))


@pytest.mark.parametrize("size", SIZES)
def test_constructors(methods: Any, size: int) -> None:
    one = methods.make_scaler(3, 4)
    assert isinstance(one, methods.Scaler)
    assert (one.scale, one.bias) == (3, 4)
    scale = numbers(size)
    many = methods.make_scaler(tensor(scale), 4)
    assert many.dtype == methods.Scaler.dtype
    np.testing.assert_array_equal(many.to_numpy()["scale"], scale)
    np.testing.assert_array_equal(many.to_numpy()["bias"], np.full(size, 4, np.float32))


def test_const_methods(methods: Any) -> None:
    assert methods.Particle(pos=[0] * 3, vel=[0] * 3, steps=4).count(3) == 7
    host = particles(methods, 33)
    np.testing.assert_array_equal(methods.Particle.count(host, 3).to_numpy(), host["steps"] + 3)


def test_an_object_without_gradient(methods: Any) -> None:
    table = methods.Table(rows=[1, 2, 3])
    x = tensor(numbers(3)).with_grads()
    out = table.at(x)
    close(out.to_numpy(), x.to_numpy() * np.array([1, 2, 3]))
    table.at.backward(x, out)
    assert x.grad is not None
    close(x.grad.to_numpy(), [1, 2, 3])


def test_methods_of_generic_structs(methods: Any) -> None:
    x = numbers(33)
    box = methods.Box_float(value=2)
    close(box.plus(tensor(x)).to_numpy(), x.astype(np.float64) + 2)


def test_several_outputs_are_a_named_tuple(methods: Any) -> None:
    val = numbers(33)
    found = methods.Scaler(scale=3, bias=5).split(tensor(val))
    assert type(found).__name__ == "ScalerSplitResult"
    close(found.whole.to_numpy(), val.astype(np.float64) * 3)
    close(found.part.to_numpy(), val.astype(np.float64) * 5)


def test_an_object_that_has_no_gradient_is_given_alone(methods: Any) -> None:
    val = tensor(numbers(31)).with_grads()
    this = kf.differentiable({"scale": 3.0, "bias": 5.0})
    found = methods.Scaler.split(this, val)
    with pytest.raises(kf.ArgumentError, match=r"'this': .* no gradient for a Scaler here") as caught:
        methods.Scaler.split.backward(this, val, found.whole, found.part)
    assert caught.value.code == "not-differentiable"
    methods.Scaler.split.backward(this.value, val, found.whole, found.part)
    assert val.grad is not None
    close(val.grad.to_numpy(), np.full(31, 8.0))


def test_overloads_on_one_object(methods: Any) -> None:
    scaler = methods.Scaler(scale=3, bias=0)
    assert scaler.dtype_(2) == 6
    close(scaler.dtype_(2, tensor(numbers(5))).to_numpy(), 6 + numbers(5).astype(np.float64))
    assert methods.Scaler.dtype.names == ("scale", "bias")


def test_a_struct_of_static_functions_is_a_class(methods: Any) -> None:
    assert methods.Units.to_feet(2) == 8
    close(methods.Units.to_feet(tensor(numbers(33))).to_numpy(), numbers(33).astype(np.float64) * 4)


def test_values_are_only_read(methods: Any) -> None:
    particle = methods.Particle(pos=[0] * 3, vel=[0] * 3, steps=4)
    assert particle.step() == 5
    assert particle.steps == 4


def test_methods_are_recorded_too(methods: Any, device: kf.Device) -> None:
    encoder = device.encoder()
    host = particles(methods, 33)
    whole = tensor(host)
    methods.Particle.update.append_to(encoder, whole, 2)
    made = methods.Scaler(scale=2, bias=1).scaled.append_to(encoder, tensor(numbers(33)))
    encoder.submit()
    np.testing.assert_array_equal(whole.to_numpy()["steps"], host["steps"] + 1)
    close(made.to_numpy(), numbers(33).astype(np.float64) * 4 + 1)


def test_methods_say_what_they_are(methods: Any) -> None:
    scaler = methods.Scaler(scale=2, bias=1)
    assert repr(scaler.scaled) == "<kernel method Scaler.scaled of Scaler(scale=2, bias=1)>"
    assert "Multiplies val by scale." in scaler.scale_value.__doc__
    assert scaler.dtype_.backward is None
    assert "Scaler.scaled" in repr(scaler.scaled.backward)


def test_what_a_method_writes_must_be_writable(methods: Any) -> None:
    host = particles(methods, 3)
    host.flags.writeable = False
    vel = [1, 2, 3]
    steps = tensor(np.zeros(1, np.int32))
    for this, code in [
        (host, "type-mismatch"),
        (methods.Particle(pos=[[1, 2, 3]], vel=vel, steps=steps), "no-overload"),
        (methods.Particle(pos=host["pos"], vel=vel, steps=tensor(np.zeros(3, np.int32))), "type-mismatch"),
        (methods.Particle(pos=[1, 2, 3], vel=vel, steps=4), "no-overload"),
    ]:
        with pytest.raises(kf.ArgumentError, match=r"this") as caught:
            methods.Particle.update(this, 1)
        assert caught.value.code == code
    np.testing.assert_array_equal(steps.to_numpy(), [0])
    with pytest.raises(kf.ArgumentError, match="read-only"):
        methods.Particle.update(host, 1)
    with pytest.raises(kf.ArgumentError, match="the method writes it"):
        methods.Particle(pos=[[1, 2, 3]], vel=vel, steps=steps).update(1)


def site(methods: Any, **fields: Any) -> Any:
    given = {"noise": kf.rand_float(), "gain": 3.0, "weights": np.array([2, 5], np.float32), **fields}
    return methods.Site(**given)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (31, 33), (3, 4097)])
def test_fields_that_the_kernel_makes(methods: Any, shape: tuple[int, int]) -> None:
    x = numbers(*shape)
    rows, columns = np.indices(shape)
    expected = x.astype(np.float64) * 3
    # A vector of indices has x along the last dimension.
    close(site(methods).sample(tensor(x)).to_numpy(), expected + columns * 2 + rows * 5)
    close(methods.Site.sample(vars(site(methods)), tensor(x)).to_numpy(), expected + columns * 2 + rows * 5)
    close(site(methods, place=[7, 11]).sample(tensor(x)).to_numpy(), expected + 7 * 2 + 11 * 5)


def test_fields_that_the_kernel_makes_differ_by_call(methods: Any) -> None:
    found = site(methods).random(shape=4097).to_numpy()
    assert ((found >= 0) & (found < 1)).all()
    assert len(np.unique(found)) > 4000
    assert abs(found.mean() - 0.5) < 0.02
    np.testing.assert_array_equal(found, site(methods).random(shape=4097, out=np.ndarray))


def test_gradients_of_fields_may_be_overwritten(methods: Any) -> None:
    shape = (3, 33)
    x, rows, columns = numbers(*shape), *np.indices(shape)
    seven = [tensor(np.full(size, 7, np.float32)) for size in [shape, (2,)]]
    gain = tensor(numbers(*shape, seed=1)).with_grads(grad_out=seven[0])
    weights = tensor(np.array([2, 5], np.float32)).with_grads(grad_out=seven[1])
    this = site(methods, gain=gain, weights=weights)
    out = this.sample(tensor(x))
    this.sample.backward(tensor(x), out)
    close(seven[0].to_numpy(), x)
    np.testing.assert_array_equal(seven[1].to_numpy(), [columns.sum(), rows.sum()])


@pytest.mark.parametrize("size", SIZES)
def test_fused_methods(methods: Any, size: int) -> None:
    """One launch for an object by value, tensors of objects and objects of tensors."""
    host, val = scalers(methods, size), numbers(size)
    wide, scale, bias = (array.astype(np.float64) for array in (val, host["scale"], host["bias"]))
    whole, x = tensor(host).with_grads(), tensor(val).with_grads()
    close(methods.Scaler.scaled.fused(whole, x).to_numpy(), wide * scale**2 + bias)
    assert whole.grad is not None
    close(whole.grad.to_numpy()["scale"], 2 * wide * scale)
    close(x.grad.to_numpy() if x.grad else None, scale**2)
    fields = methods.Scaler(scale=tensor(np.ascontiguousarray(host["scale"])).with_grads(), bias=0.5)
    close(fields.scaled.fused(tensor(val), out=np.ndarray), wide * scale**2 + 0.5)
    close(fields.scale.grad.to_numpy(), 2 * wide * scale)
    this = kf.differentiable({"scale": 3.0, "bias": 1.0})
    close(methods.Scaler.scaled.fused(this, tensor(val)).to_numpy(), 9 * wide + 1)
    np.testing.assert_allclose(this.grad["scale"], 6 * wide.sum(), rtol=1e-4, atol=1e-4)
    x = tensor(val).with_grads()
    close(methods.Scaler.twice.fused(x).to_numpy(), 2 * wide)
    close(x.grad.to_numpy() if x.grad else None, np.full(size, 2))


def test_fused_methods_of_fields(methods: Any) -> None:
    """Fields that are whole tensors, are made in the kernel, or have gradients that are overwritten."""
    values = numbers(9)
    i = np.random.default_rng(1).integers(0, 9, 4097).astype(np.int32)
    gradient = tensor(np.full(9, 7, np.float32))
    lookup = methods.Lookup(table=tensor(values).with_grads(grad_out=gradient), scale=kf.differentiable(3.0))
    close(lookup.at.fused(tensor(i)).to_numpy(), values[i].astype(np.float64) * 3)
    close(gradient.to_numpy(), 3.0 * np.bincount(i, minlength=9))
    np.testing.assert_allclose(lookup.scale.grad, values[i].astype(np.float64).sum(), rtol=1e-3)
    shape = (3, 33)
    x, rows, columns = numbers(*shape), *np.indices(shape)
    seven = [tensor(np.full(size, 7, np.float32)) for size in [shape, (2,)]]
    gain = numbers(*shape, seed=1)
    weights = tensor(np.array([2, 5], np.float32)).with_grads(grad_out=seven[1])
    this = site(methods, gain=tensor(gain).with_grads(grad_out=seven[0]), weights=weights)
    encoder = kf.default_device().encoder()
    losses = this.sample.fused.append_to(encoder, tensor(x))
    encoder.submit()
    close(losses.to_numpy(), x.astype(np.float64) * gain + columns * 2 + rows * 5)
    close(seven[0].to_numpy(), x)
    np.testing.assert_array_equal(seven[1].to_numpy(), [columns.sum(), rows.sum()])
    assert "fused pass of Site.sample" in repr(this.sample.fused)
    assert methods.Scaler(scale=1, bias=0).split.fused is None


def test_a_field_may_be_a_whole_tensor(methods: Any) -> None:
    values = numbers(9)
    i = np.random.default_rng(1).integers(0, 9, 4097).astype(np.int32)
    gradient = tensor(np.full(9, 7, np.float32))
    this = methods.Lookup(table=tensor(values).with_grads(grad_out=gradient), scale=kf.differentiable(3.0))
    out = this.at(tensor(i))
    close(out.to_numpy(), values[i].astype(np.float64) * 3)
    this.at.backward(tensor(i), out)
    close(gradient.to_numpy(), 3.0 * np.bincount(i, minlength=9))
    np.testing.assert_allclose(this.scale.grad, values[i].astype(np.float64).sum(), rtol=1e-3)
    close(methods.Lookup(table=values, scale=2).at(i, out=np.ndarray), values[i].astype(np.float64) * 2)


BAD_FIELDS = [
    ("made", "random", {"place": [1, 2]}, "type-mismatch", "makes field 'place' of Site itself"),
    (
        "generator",
        "random",
        {"noise": kf.wang_hash()},
        "type-mismatch",
        "this.noise.*rand_float, found a wang",
    ),
    ("number", "random", {"noise": 0.5}, "type-mismatch", "this.noise.*expected rand_float"),
    ("type", "random", {"gain": "much"}, "type-mismatch", "this.gain.*'much'.*a str"),
    ("length", "random", {"weights": [1, 2, 3]}, "shape-mismatch", "this.weights"),
]


@pytest.mark.parametrize(
    ("method", "fields", "code", "text"),
    [case[1:] for case in BAD_FIELDS],
    ids=[case[0] for case in BAD_FIELDS],
)
def test_bad_fields(methods: Any, method: str, fields: dict[str, Any], code: str, text: str) -> None:
    with pytest.raises(kf.ArgumentError, match=text) as caught:
        getattr(site(methods, **fields), method)(shape=3)
    assert caught.value.code == code


def test_fields_that_are_too_many_or_missing_are_named(methods: Any) -> None:
    given = vars(site(methods))
    with pytest.raises(kf.ArgumentError, match=r"'this': Site has no field 'size' = 3 \(an int\)"):
        methods.Site.random({**given, "size": 3}, shape=3)
    with pytest.raises(kf.ArgumentError, match="'this': field 'noise' of Site is missing"):
        methods.Site.random({name: given[name] for name in ["gain", "weights"]}, shape=3)


BAD = [
    ("missing", {}, "missing-argument", "field 'rows' of Table is missing"),
    ("extra", {"rows": [1, 2, 3], "size": 3}, "unknown-name", "has no field 'size'"),
    ("length", {"rows": [1, 2]}, "shape-mismatch", "this.rows"),
    ("number", 4, "type-mismatch", "a Table is needed"),
]


@pytest.mark.parametrize(("this", "code", "text"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_objects(methods: Any, this: Any, code: str, text: str) -> None:
    with pytest.raises(kf.ArgumentError, match=text) as caught:
        methods.Table.at(this, tensor(numbers(3)))
    assert caught.value.code == code


METER_AT = np.array([2, 0, 3], np.int32)
METER_TABLE = np.array([1, 2, 3, 4], np.float32)


def meter(**more: Any) -> dict[str, Any]:
    """What a Meter is made of."""
    made: dict[str, Any] = {
        "table": tensor(METER_TABLE).with_grads(),
        "seen": tensor(np.zeros(4, np.int32)),
        "total": tensor(np.array([10, 20, 30], np.float32)),
        "count": tensor(np.array([5, 6, 7], np.int32)),
    }
    return made | more


def total_with_grads() -> kf.Tensor:
    flowing = tensor(np.array([1, 2, 3], np.float32))
    total: kf.Tensor = meter()["total"]
    return total.with_grads(grad_in=flowing, grad_out=tensor(np.zeros(3, np.float32)))


def test_what_changes_beside_tensors(methods: Any) -> None:
    """Of an object that holds tensors the other fields are written, and gradients go through both."""
    changed = METER_TABLE[METER_AT] + [20, 40, 60]
    at = tensor(METER_AT)
    for count in (meter()["count"], 5):
        this = methods.Meter(**meter(count=count))
        assert this.add(at) is None
        close(this.total.to_numpy(), changed)
        if isinstance(count, kf.Tensor):
            assert this.count.to_numpy().tolist() == [6, 7, 8]
        this = methods.Meter(**meter(count=count, total=total_with_grads()))
        this.add.backward(at)
        close(this.table.grad.to_numpy(), [2, 0, 1, 3])
        close(this.total.grad_out.to_numpy(), [2, 4, 6])
        close(this.total.to_numpy(), [10, 20, 30])
    this = methods.Meter(**meter(total=1.0, count=2))
    assert this.mark(at, out=np.ndarray).tolist() == [12, 12, 12]
    assert this.seen.to_numpy().tolist() == [1, 0, 1, 1]
    seen = np.zeros(4, np.int32)
    methods.Meter.mark(meter(table=METER_TABLE, seen=seen, total=1.0, count=2), at)
    assert seen.tolist() == [1, 0, 1, 1]


def test_inout_structs_that_hold_tensors(methods: Any) -> None:
    changed = METER_TABLE[METER_AT] + [20, 40, 60]
    given = meter()
    result, after = methods.read_meter(given, tensor(METER_AT), 2.0)
    close(result.to_numpy(), 2 * changed)
    close(given["total"].to_numpy(), changed)
    assert after.table is given["table"] and after.total is given["total"]
    given, x = meter(total=total_with_grads()), kf.differentiable(2.0)
    flowing = tensor(np.array([1, 10, 100], np.float32))
    methods.read_meter.backward(given, tensor(METER_AT), x, result.with_grads(grad_in=flowing))
    into = np.array([3, 22, 203])
    close(given["table"].grad.to_numpy(), [into[1], 0, into[0], into[2]])
    close(given["total"].grad_out.to_numpy(), 2 * into)
    assert x.grad == pytest.approx(float(np.dot(changed, [1, 10, 100])))
    # What is only read may be an array that nobody may write.
    table = METER_TABLE.copy()
    table.flags.writeable = False
    result, after = methods.read_meter(meter(table=table, total=10.0, count=4), 2, 2.0)
    assert (result, after.total, after.count) == (46, 23, 5)
    assert after.table is table


def test_a_struct_in_an_inout_one_that_hold_tensors(methods: Any) -> None:
    visits = tensor(np.array([1, 2, 3], np.int32))
    table = tensor(METER_TABLE * 2).with_grads()
    room = methods.Room(table=table, meter=methods.Meter(**meter()), visits=visits)
    result, _ = methods.visit(room, tensor(METER_AT))
    close(result.to_numpy(), METER_TABLE[METER_AT] * 6)
    assert room.meter.seen.to_numpy().tolist() == [1, 0, 1, 1]
    assert room.meter.count.to_numpy().tolist() == [15, 16, 17]
    assert visits.to_numpy().tolist() == [16, 18, 20]
    methods.visit.backward(room, tensor(METER_AT), result)
    assert table.grad is not None
    close(table.grad.to_numpy(), [3, 0, 3, 3])
    assert visits.to_numpy().tolist() == [16, 18, 20]


def test_tangents_of_inout_structs_that_hold_tensors(methods: Any) -> None:
    at, dtable = tensor(METER_AT), tensor(METER_TABLE / 4)
    dtotal = np.ones(3, np.float32)
    new = METER_TABLE[METER_AT] / 4 + 2
    this, tangent = methods.Meter(**meter()), {"table": dtable, "total": tensor(dtotal)}
    this.add.jvp(at, tangents={"this": tangent})
    close(tangent["total"].to_numpy(), new)
    given = meter()
    (result, _), (dresult, dmeter) = methods.read_meter.jvp(
        given, at, 2.0, tangents={"meter": {"table": dtable, "total": dtotal}, "x": 0.5}
    )
    changed = METER_TABLE[METER_AT] + [20, 40, 60]
    close(result.to_numpy(), 2 * changed)
    close(dresult.to_numpy(), 2 * new + changed / 2)
    close(dmeter.total.to_numpy(), new)
    assert dmeter.table is dtable and dmeter.seen is None
    _, (dresult, dmeter) = methods.read_meter.jvp(
        meter(total=10.0, count=4), 2, 2.0, tangents={"meter": {"total": 1.0}}
    )
    assert (dresult, dmeter.total, dmeter.table) == (4, 2, None)
    # Nothing that the room has written has one.
    room = methods.Room(table=tensor(METER_TABLE), meter=meter(), visits=tensor(np.zeros(3, np.int32)))
    _, tangents = methods.visit.jvp(room, at, tangents={"room": {"table": dtable}})
    close(tangents[0].to_numpy(), METER_TABLE[METER_AT] / 4 * 3)
    assert tangents[1] is None
