"""kernelfunctions.torch.testing: that generated tests can fail, and what a user says of inputs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from generated_tests import classes, files
from kernelfunctions.torch import testing
from torch.autograd.gradcheck import GradcheckError


def class_of(name: str, inputs: testing.Inputs | None = None) -> Any:
    """One of the generated classes, made anew with other inputs."""
    one = dict(classes())[name]
    return type(name, (one,), {"_inputs": inputs or testing.Inputs("nothing_torch_inputs")})()


def inputs_of(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> testing.Inputs:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    return testing.Inputs(name)


def test_a_wrong_gradient_is_found() -> None:
    """Its derivative by hand says 100, and -1 for k."""
    with pytest.raises(AssertionError, match=r"'x': the derivative along a direction is .*, differences"):
        class_of("TestGradientsSquashed").test_gradients()


def test_a_wrong_tangent_is_found() -> None:
    with pytest.raises(AssertionError, match=r"'x': the derivative along a direction is .*, differences"):
        class_of("TestJvpScaled").test_tangents()


def test_a_lost_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is called behind autograd's back."""
    made = class_of("TestGradientsProduct_4")
    function = made.function
    monkeypatch.setattr(type(made), "function", staticmethod(lambda x, y: function(x.detach(), y)))
    monkeypatch.setattr(type(made), "_name", "product")
    with pytest.raises(AssertionError, match=r"no result requires gradients where 'x' does"):
        made.test_gradients()


def test_gradients_of_doubles_are_found_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """By PyTorch's own gradcheck."""
    made = class_of("TestGradientsWide")
    function = made.function

    class Wrong(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: torch.Tensor) -> torch.Tensor:
            return a.clone()

        @staticmethod
        def backward(ctx: Any, flow: torch.Tensor) -> torch.Tensor:
            return 1.05 * flow

    monkeypatch.setattr(type(made), "function", staticmethod(lambda a, b: function(Wrong.apply(a), b)))
    monkeypatch.setattr(type(made), "_name", "wide")
    with pytest.raises(GradcheckError, match=r"Jacobian mismatch"):
        made.test_gradients()


def test_other_results_of_the_operator_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made = class_of("TestCallsHalve_1")
    function = made.function

    class Wrong:
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return function(x) + 1

        def torch(self) -> Any:
            return function

    monkeypatch.setattr(type(made), "function", Wrong())
    monkeypatch.setattr(type(made), "_name", "halve")
    with pytest.raises(AssertionError, match=r"the operator: 'return'"):
        made.test_operator()


def test_inputs_are_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
extents = {"scaled": {"i": 5}}

def scaled(arguments):
    arguments["a"] += 10
"""
    inputs = inputs_of(tmp_path, "changed_torch_inputs", text, monkeypatch)
    made = class_of("TestGradientsScaled", inputs)
    arguments = made._made()
    assert {name: tuple(one.shape) for name, one in arguments.items()} == {"a": (5,), "b": (5, 3)}
    assert bool((arguments["a"] > 10).all())
    assert bool((arguments["b"] < 1).all())
    made.test_gradients()


def test_derivatives_that_are_meant_to_be_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'other_derivatives = {"squashed"}\n'
    class_of(
        "TestGradientsSquashed", inputs_of(tmp_path, "other_torch_inputs", text, monkeypatch)
    ).test_gradients()


def test_functions_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'left_out = {"squashed": "its kernels are secret"}\n'
    made = class_of("TestGradientsSquashed", inputs_of(tmp_path, "left_torch_inputs", text, monkeypatch))
    with pytest.raises(pytest.skip.Exception, match=r"secret"):
        made.setup_method()


def test_functions_that_jump_everywhere_are_told() -> None:
    """Inputs at which a function bends are tried and left; where it bends everywhere, that is said."""
    made = class_of("TestGradientsProduct_4")
    slopes = iter(range(1, 100))

    def difference(*_arguments: Any) -> testing._Difference:
        return testing._Difference(float(next(slopes)) ** 3, np.ones(3), 1.0, 1.0)

    made._difference = difference
    with pytest.raises(AssertionError, match=r"differences depend on the step.*other_derivatives"):
        testing._compare(made, "x", "gradient", lambda _arguments: np.zeros(3))


def test_pytest_runs_a_generated_file(build_dir: Path, torch_device: str, tmp_path: Path) -> None:
    """As a user does, with nothing of ours on the way."""
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\n", encoding="utf-8"
    )  # of ours and others' above, none counts
    (generated,) = (path for path in files() if path.name == "calls_torch_test.py")
    for name in ("calls.py", "calls.kfa", "calls_torch_test.py"):
        shutil.copy(generated.with_name(name), tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["calls_torch_test.py", "-k", "test_operator"]
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "KF_TEST_TORCH_DEVICE": torch_device}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "21 passed" in done.stdout, done.stdout
