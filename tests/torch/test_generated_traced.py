"""The generated tests that trace or transform: of so few calls that all forms of arguments are among them."""

from generated_tests import FOR_ALL, checks_of, covering

for _name, _one in covering():
    _others = [test for test in checks_of(_one) if test in FOR_ALL and test != "test_opcheck"]
    _without = dict.fromkeys(_others)
    globals()[_name] = type(_name, (_one,), _without)
