"""What is refused: each with its exception, its code, the argument and the value, and nothing written."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


def test_exception_types() -> None:
    assert issubclass(kf.ArgumentError, kf.Error)
    assert issubclass(kf.ArgumentError, ValueError)
    assert issubclass(kf.ArgumentTypeError, kf.ArgumentError)
    assert issubclass(kf.ArgumentTypeError, TypeError)
    assert issubclass(kf.ArgumentAttributeError, kf.ArgumentError)
    assert issubclass(kf.ArgumentAttributeError, AttributeError)
    assert issubclass(kf.ArtifactError, kf.Error)
    assert issubclass(kf.DeviceError, kf.Error)


@pytest.mark.parametrize(
    ("function", "value", "kind", "code"),
    [
        ("narrow", 255, kf.ArgumentError, "value-range"),
        ("narrow", -129, kf.ArgumentError, "value-range"),
        ("narrow", 10**30, kf.ArgumentError, "value-range"),
        ("narrow", np.int64(128), kf.ArgumentError, "value-range"),
        ("narrow", [1, 2, 300], kf.ArgumentError, "value-range"),
        ("narrow", 1.5, kf.ArgumentTypeError, "no-overload"),
        ("narrow", np.float32(1.0), kf.ArgumentTypeError, "no-overload"),
        ("narrow", [1, 1.5], kf.ArgumentTypeError, "no-overload"),
        ("narrow", True, kf.ArgumentTypeError, "no-overload"),
        ("wide", 2**64 - 1, kf.ArgumentError, "value-range"),
        ("wide", 2**63, kf.ArgumentError, "value-range"),
        ("unsigned_wide", -1, kf.ArgumentError, "value-range"),
        ("unsigned_wide", 2**64, kf.ArgumentError, "value-range"),
        ("halve", 70000, kf.ArgumentError, "value-range"),
        ("halve", [1.0, 1e6], kf.ArgumentError, "value-range"),
        ("negate", 1, kf.ArgumentTypeError, "no-overload"),
        ("negate", [True, 2], kf.ArgumentTypeError, "no-overload"),
    ],
    ids=str,
)
def test_numbers_that_do_not_fit(
    calls: ModuleType, function: str, value: Any, kind: type[kf.Error], code: str
) -> None:
    with pytest.raises(kind) as caught:
        getattr(calls, function)(value)
    assert caught.value.code == code
    message = str(caught.value)
    assert message.startswith(function + ": ")
    culprit = next((v for v in value if repr(v) in message), None) if isinstance(value, list) else value
    assert culprit is not None
    assert repr(culprit) in message
    assert "x" in message


def test_limits_fit(calls: ModuleType) -> None:
    assert calls.narrow(-128) == -128
    assert calls.narrow(np.int64(127)) == 127
    assert calls.wide(2**63 - 1) == 2**63 - 1
    assert calls.wide(-(2**63)) == -(2**63)
    assert calls.unsigned_wide(2**64 - 1) == 2**64 - 1
    assert calls.halve(65504) == 32752


@pytest.mark.parametrize(("function", "hint"), [("wide", "int"), ("halve", "float")])
def test_truths_are_no_numbers(calls: ModuleType, function: str, hint: str) -> None:
    with pytest.raises(kf.ArgumentTypeError) as caught:
        getattr(calls, function)(True)
    assert f"found a bool; {hint}() converts it" in str(caught.value)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "bool", ">i8", "complex64", "object"])
def test_arrays_are_never_cast(calls: ModuleType, dtype: str) -> None:
    with pytest.raises(kf.ArgumentTypeError):
        calls.narrow(np.zeros(3, dtype))


def test_foreign_byte_orders(calls: ModuleType) -> None:
    with pytest.raises(kf.ArgumentTypeError, match="byte order"):
        calls.wide(np.zeros(3, np.dtype(np.int64).newbyteorder()))


@pytest.mark.parametrize(
    "value", ["1", None, object, {"x": 1}, b"1", 1j, [1, "2"], [[1], 2], [[1, 2], [3]]], ids=str
)
def test_other_values(calls: ModuleType, value: Any) -> None:
    with pytest.raises(kf.ArgumentError) as caught:
        calls.narrow(value() if value is object else value)
    assert "'x'" in str(caught.value)


def test_argument_names(calls: ModuleType) -> None:
    with pytest.raises(TypeError, match="'b': not given"):
        calls.add(1)
    with pytest.raises(TypeError, match="no argument 'c'; it takes a, b, out"):
        calls.add(1, 2, c=3)
    with pytest.raises(TypeError, match="'a': given twice"):
        calls.add(1, 2, a=3)
    with pytest.raises(
        TypeError,
        match=r"3 positional arguments where at most 2 are taken \(a, b\); the result goes where out=",
    ):
        calls.add(1, 2, 3)


def test_names_that_are_no_text(calls: ModuleType) -> None:
    """Half a surrogate pair has no UTF-8; see test_text.py."""
    half: dict[str, Any] = {"\ud800": 1}
    prepared = calls.scale.prepare(kf.Tensor.ones((4, 3)), 2)
    for call in (calls.add, calls.add.set, prepared, prepared.set):
        with pytest.raises(kf.ArgumentTypeError, match="half of a surrogate pair"):
            call(**half)


def test_ranks_that_nothing_takes(calls: ModuleType) -> None:
    with pytest.raises(kf.ArgumentTypeError) as caught:
        calls.add(kf.Tensor.zeros((1, 2, 3), np.int32), 1)
    assert caught.value.code == "no-overload"
    assert str(caught.value) == (
        "add: no overload takes (an int32 tensor of shape (1, 2, 3), a whole number); candidates:\n"
        "  add(a: int tensor[2], b: int) -> int tensor[2]\n"
        "    argument 'a': expected int tensor[2], found an int32 tensor of shape (1, 2, 3)\n"
        "  and 5 more, farther off: 'add.signatures' lists them\n"
        "  given: b = 1"
    )


def test_shapes_that_do_not_broadcast(calls: ModuleType) -> None:
    out = kf.Tensor.from_numpy(np.full(3, 7, np.int32))
    with pytest.raises(kf.ArgumentError) as caught:
        calls.add(kf.Tensor([10, 20, 30]), kf.Tensor([40, 50, 60, 70]), out=out)
    assert caught.value.code == "shape-mismatch"
    assert "3" in str(caught.value)
    assert "4" in str(caught.value)
    assert out.to_numpy().tolist() == [7, 7, 7]


def test_outputs_are_never_broadcast(calls: ModuleType) -> None:
    for shape in [(1,), (4,), (2,)]:
        out = kf.Tensor.from_numpy(np.full(shape, 7, np.int32))
        with pytest.raises(kf.ArgumentError) as caught:
            calls.add(kf.Tensor([10, 20, 30]), 1, out=out)
        assert caught.value.code == "shape-mismatch"
        assert (out.to_numpy() == 7).all()


def test_trailing_extents(calls: ModuleType) -> None:
    for extent in (1, 2, 4):
        with pytest.raises(kf.ArgumentError) as caught:
            calls.total(kf.Tensor.zeros((5, extent)))
        assert caught.value.code == "shape-mismatch"
        assert "v" in str(caught.value)
    with pytest.raises(kf.ArgumentError):
        calls.total([1.0, 2.0])


def test_outputs_that_can_not_be_written(calls: ModuleType) -> None:
    frozen = np.zeros(3, np.int32)
    frozen.flags.writeable = False
    with pytest.raises(kf.ArgumentError, match="read-only"):
        calls.add([1, 2, 3], 1, out=frozen)
    with pytest.raises(kf.ArgumentTypeError, match="output"):
        calls.add([1, 2, 3], 1, out=[0, 0, 0])
    wrong = np.zeros(3, np.float32)
    with pytest.raises(kf.ArgumentTypeError):
        calls.add([1, 2, 3], 1, out=wrong)
    with pytest.raises(kf.ArgumentError):
        calls.add([1, 2, 3], 1, out=kf.Tensor.zeros(1, np.int32).broadcast_to(3))


def test_configuration(calls: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="no option 'fast'"):
        calls.add.options(fast=True)
    with pytest.raises(kf.ArgumentError, match="no global 'a'"):
        calls.add.set(a=1)
    assert calls.add.options()(1, 2) == 3
    assert calls.add.set()(1, 2) == 3


def test_encoders(calls: ModuleType, device: kf.Device) -> None:
    encoder = device.encoder()
    with pytest.raises(kf.ArgumentTypeError, match="Encoder"):
        calls.add.append_to(1, 2)
    with pytest.raises(kf.ArgumentError, match="NumPy"):
        calls.add.append_to(encoder, [1], 2, out=np.zeros(1, np.int32))
    with pytest.raises(kf.ArgumentError, match="a value can't be an output of a recorded call"):
        calls.advance.append_to(encoder, 1, 2)
    encoder.submit()
    with pytest.raises(kf.ArgumentError) as caught:
        encoder.submit()
    assert caught.value.code == "encoder-submitted"
    with pytest.raises(kf.ArgumentError) as caught:
        calls.add.append_to(encoder, kf.Tensor([1]), 2)
    assert caught.value.code == "encoder-submitted"


def test_devices_that_differ(calls: ModuleType) -> None:
    there = kf.Tensor([1], device=kf.Device.open(kf.default_device().info.id))
    with pytest.raises(kf.ArgumentError) as caught:
        calls.add(kf.Tensor([1]), there)
    assert caught.value.code == "device-mismatch"


def test_unknown_functions(calls: ModuleType) -> None:
    with pytest.raises(kf.ArgumentError, match="no function 'nothing'"):
        calls._module.function("nothing")


def test_artifacts(calls: ModuleType, tmp_path: Path) -> None:
    source = Path(str(calls.__file__)).with_name("calls.kfa").read_bytes()
    with pytest.raises(kf.ArtifactError) as caught:
        kf.load_module(tmp_path / "missing.kfa")
    assert caught.value.code == "artifact-missing"
    for name, content in {
        "empty": b"",
        "truncated": source[: len(source) // 2],
        "altered": source[:100] + bytes([source[100] ^ 1]) + source[101:],
        "other": b"not an artifact at all",
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(kf.ArtifactError) as caught:
            kf.load_module(path)
        assert caught.value.code == "artifact-corrupt"


def test_damaged_images(calls: ModuleType, tmp_path: Path) -> None:
    source = Path(str(calls.__file__)).with_name("calls.kfa").read_bytes()
    place = source.rindex(b"\x66images") + 20  # in the first image, behind its magic number
    path = tmp_path / "damaged.kfa"
    path.write_bytes(source[:place] + bytes([source[place] ^ 1]) + source[place + 1 :])
    module = kf.load_module(path)
    device = kf.Device.open("vulkan")  # one that has none of these kernels yet
    for _ in range(2):
        with pytest.raises(kf.ArtifactError, match=r"image of kernel '.+' isn't what its SHA-256") as caught:
            module.load(device)
        assert caught.value.code == "artifact-corrupt"


def test_generated_modules_load_ahead(calls: ModuleType, tmp_path: Path) -> None:
    folder = Path(str(calls.__file__)).parent
    (tmp_path / "calls.py").write_text((folder / "calls.py").read_text())
    source = (folder / "calls.kfa").read_bytes()
    place = source.rindex(b"\x66images") + 20
    (tmp_path / "calls.kfa").write_bytes(source[:place] + bytes([source[place] ^ 1]) + source[place + 1 :])
    found = importlib.util.spec_from_file_location("damaged_calls", tmp_path / "calls.py")
    assert found is not None and found.loader is not None
    damaged = importlib.util.module_from_spec(found)
    found.loader.exec_module(damaged)
    device = kf.Device.open("vulkan")  # one that has none of these kernels yet
    with pytest.raises(kf.ArtifactError, match=r"isn't what its SHA-256"):
        damaged.load(device)
    calls.load(device)
    calls.load()
    with pytest.raises(TypeError, match="device"):
        calls.load(3)


def test_files_that_change_after_loading(calls: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "changed.kfa"
    path.write_bytes(Path(str(calls.__file__)).with_name("calls.kfa").read_bytes())
    module = kf.load_module(path)
    path.write_bytes(b"too short")
    module.load(kf.Device.open("vulkan"))  # one that has none of these kernels yet


def test_device_names() -> None:
    for name in ("vulkan:99", "vulkan:no such device", "metal"):
        with pytest.raises(kf.DeviceError) as caught:
            kf.Device.open(name)
        assert caught.value.code == "no-device"


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_names_a_device() -> None:
    program = "import kernelfunctions as kf; print(kf.default_device().info.id)"
    wanted = kf.default_device().info.id
    assert run(program, KF_DEVICE=wanted).stdout.strip() == wanted
    failed = run(program, KF_DEVICE="vulkan:99")
    assert "DeviceError" in failed.stderr
    assert "vulkan:99" in failed.stderr


def test_no_driver(tmp_path: Path) -> None:
    """With no driver there are no devices, and the package still imports."""
    program = (
        "import kernelfunctions as kf\n"
        "assert kf.devices() == [], kf.devices()\n"
        "try:\n    kf.Tensor.zeros(3)\n"
        "except kf.DeviceError as error:\n    print(error.code)\n"
    )
    nothing = str(tmp_path)
    found = run(
        program, VK_DRIVER_FILES=nothing, VK_ICD_FILENAMES=nothing, KF_DEVICE="", CUDA_VISIBLE_DEVICES=""
    )
    assert found.stdout.strip() in {"no-driver", "no-device"}, found.stderr


def members(kind: type) -> list[str]:
    """All that an object of the class can be asked for."""
    apart = {"__class_getitem__", "__dict__", "open"}  # of the class, or of Python
    return [name for name in dir(kind) if not hasattr(object, name) and name not in apart]


def test_objects_that_new_alone_made_are_refused(calls: ModuleType) -> None:
    """Each class of the extension, its methods and properties, and calls that are given such objects."""
    extension = sys.modules["kernelfunctions._kf"]
    classes = [
        one for one in vars(extension).values() if isinstance(one, type) and not issubclass(one, Exception)
    ]
    assert {kf.Tensor, kf.Device, kf.Function, kf.Encoder, kf.Grid, kf.Module} < set(classes)
    given: dict[str, tuple[Any, ...]] = {
        "__getitem__": (0,), "__exit__": (None, None, None), "append_to": (kf.default_device().encoder(),),
        "broadcast_to": (3,), "copy_from_numpy": (np.zeros(3),), "view": ("float32",), "function": ("add",),
        "add_struct": ("Ray", int),
    }  # fmt: skip
    unmakeable = {kf.Function, kf.Backward, kf.Fused, kf.Jvp, kf.Prepared}
    for kind in unmakeable:
        with pytest.raises(TypeError):
            kind.__new__(kind)
    for kind in set(classes) - unmakeable:
        empty = kind.__new__(kind)
        for name in members(kind):
            with pytest.raises(TypeError):
                value = getattr(empty, name)
                value(*given.get(name, ()))
        for act, name in ((repr, "__repr__"), (hash, "__hash__")):
            if getattr(kind, name) not in (getattr(object, name), None):
                with pytest.raises(TypeError):
                    act(empty)
        with pytest.raises(TypeError):
            calls.add(empty, 1)
        with pytest.raises(TypeError):
            calls.add(1, 2, out=empty)
    device = kf.Device.__new__(kf.Device)
    for use in (
        lambda: kf.set_device(device),
        lambda: kf.Tensor.zeros(3, device=device),
        lambda: device == kf.default_device(),
    ):
        with pytest.raises(TypeError, match="made by __new__"):
            use()
    with pytest.raises(TypeError, match="made by __new__"):
        calls.narrow.append_to(kf.Encoder.__new__(kf.Encoder), kf.Tensor.zeros(3, "int8"))

    class Derived(kf.Tensor):
        def __init__(self) -> None:
            pass

    with pytest.raises(TypeError, match="__init__"):
        Derived()
    with pytest.raises(TypeError, match="made by __new__"):
        _ = Derived.__new__(Derived).shape
