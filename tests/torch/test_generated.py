"""The generated tests of all specs in PyTorch, as far as they run for every call."""

from generated_tests import FOR_ALL, NAMED, ROOT, checks_of, classes, files, is_left_out

for _name, _one in classes():
    if not is_left_out(_one):
        _left_out = [test for test in checks_of(_one) if test not in FOR_ALL]
        _without = dict.fromkeys(_left_out)
        _checks = tuple(check for check in _one.opchecks if check != "test_aot_dispatch_dynamic")
        globals()[_name] = type(_name, (_one,), {**_without, "opchecks": _checks})


def test_every_spec_has_some() -> None:
    specs = [
        *(ROOT / "tests" / "python" / "specs").glob("*.kf.json"),
        *(ROOT / "samples").glob("*/*.kf.json"),
    ]
    expected = {spec.name.removesuffix(".kf.json") for spec in specs}
    found = {path.name.removesuffix("_torch_test.py") for path in files()}
    assert NAMED or expected <= found, f"not generated: {expected - found}"
