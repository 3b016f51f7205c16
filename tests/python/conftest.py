"""What devices the Python tests run on."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from generating import Generator

if TYPE_CHECKING:
    import kernelfunctions as kf


@pytest.fixture
def device() -> "kf.Device":
    """The default device; tests of tensors need one. Each test asks for it, as some files set another one."""
    import kernelfunctions as kf  # noqa: PLC0415

    return kf.default_device()


@pytest.fixture
def generator(build_dir: Path, tmp_path: Path) -> Generator:
    """Generates modules that a test writes."""
    import kernelfunctions as kf  # noqa: PLC0415

    if kf.default_device().backend != "vulkan":
        pytest.skip("needs a GPU with Vulkan: modules are generated for that")
    return Generator(build_dir / "tool" / "kfgen", tmp_path)


@pytest.fixture(scope="module", autouse=True)
def default_device_stays() -> Iterator[None]:
    """Fails the last test of a file that leaves another default device behind, for which other files would
    fail, or not, depending on their order."""
    import kernelfunctions as kf  # noqa: PLC0415

    before = kf.default_device()
    yield
    assert kf.default_device() == before, "this file leaves another default device behind"


@pytest.fixture(scope="module", params=["float_atomics", "no_float_atomics"])
def float_atomics(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs a module's tests twice: on the default device, and on a Vulkan device that can't add floats
    atomically, as many can't."""
    import kernelfunctions as kf  # noqa: PLC0415

    if request.param == "float_atomics":
        yield
        return
    best = kf.default_device()
    if best.backend != "vulkan" and not any(one.backend == "vulkan" for one in kf.devices()):
        pytest.skip("needs a GPU with Vulkan")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KF_VULKAN_WITHOUT", "float32_atomic_add")
        device = kf.Device.open(best.info.id if best.backend == "vulkan" else "vulkan")
    assert "float32_atomic_add" not in device.info.features
    kf.set_device(device)
    yield
    kf.set_device(best)
