"""Where the Python tests find what was built: build/release, or the folder that KF_BUILD_DIR names."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "products"))

from covering import covering
from loader import Loader, load

ROOT = Path(__file__).parent.parent
BUILD = Path(os.environ.get("KF_BUILD_DIR", ROOT / "build" / "release")).resolve()

# The package kernelfunctions, for this process and for the programs that tests start.
sys.path.insert(0, str(BUILD / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(BUILD / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
)


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """The build tree under test."""
    return BUILD


@pytest.fixture(scope="session")
def source_dir() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def generated_folder(build_dir: Path) -> Callable[[str], Path]:
    """The folder of what kfgen wrote for a target of add_kernel_functions()."""

    def folder(target: str) -> Path:
        name = f"{target}.generated"
        return next((path for path in build_dir.rglob(name)), build_dir.parent / "generated" / name)

    return folder


@pytest.fixture(scope="session")
def generated(build_dir: Path) -> Loader:
    """generated("calls") is the module of python/specs/calls.kf.json; KF_TEST_MODULES may name its folder."""
    named = os.environ.get("KF_TEST_MODULES", "")
    folders = (build_dir / "tests" / "python", build_dir.parent / "generated")
    found = sorted(path for folder in folders for path in folder.glob("kf_python_*.generated"))
    sys.path[:0] = named.split(":") if named else [str(path) for path in found]
    return load


@pytest.fixture(scope="module", params=["import", "copy"])
def host_memory(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs a module's tests twice: on the default device, and on a Vulkan device that imports no memory of
    the host's, as some can't."""
    import kernelfunctions as kf  # noqa: PLC0415

    best = kf.default_device()
    # A device that imports nothing, as CUDA's, copies in both runs.
    if request.param == "import" or "external_memory_host" not in best.info.features:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KF_VULKAN_WITHOUT", "external_memory_host")
        device = kf.Device.open(best.info.id)
    assert "external_memory_host" not in device.info.features
    kf.set_device(device)
    yield
    kf.set_device(best)


@pytest.fixture(scope="session")
def torch_device() -> str:
    """Where the tests of torch/ make their tensors: "cpu", unless KF_TEST_TORCH_DEVICE says "cuda"."""
    return os.environ.get("KF_TEST_TORCH_DEVICE", "cpu")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full-product",
        action="store_true",
        help="run every combination of a test's parameters, not some in which all pairs occur; "
        "of a build with -DKF_FULL_PRODUCTS=ON",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: needs kernels of the full specs, with --full-product alone")


def product_of(item: pytest.Item) -> str:
    """The test that it is one case of, if its cases combine the values of three parameters or more."""
    marks = list(item.iter_markers("parametrize"))
    return item.nodeid.partition("[")[0] if len(marks) > 2 else ""


def parameters_of(case: pytest.Item) -> dict[str, Any]:
    found: dict[str, Any] = case.callspec.params  # type: ignore[attr-defined]
    return found


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of three parameters or more, not all combinations are run: some in which all pairs occur."""
    if config.getoption("--full-product"):
        return
    products: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("full"):
            continue
        products.setdefault(product_of(item), []).append(item)
    chosen = set(products.pop("", []))
    for cases in products.values():
        rows = [{(name, repr(value)) for name, value in parameters_of(case).items()} for case in cases]
        chosen |= {cases[i] for i in covering(rows)}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    """Runs a program that has to succeed, and gives what it printed."""

    def run(*command: str | Path, cwd: Path | None = None) -> str:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=cwd
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def prefix(build_dir: Path, tmp_path_factory: pytest.TempPathFactory, run: Callable[..., str]) -> Path:
    """Where everything is installed, and then was moved to."""
    first = tmp_path_factory.mktemp("installed") / "first"
    run("cmake", "--install", build_dir, "--prefix", first)
    return first.rename(first.with_name("moved"))
