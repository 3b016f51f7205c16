"""A project for another machine: it fetches kernelfunctions' sources, and takes this machine's kfgen."""

from collections.abc import Callable
from pathlib import Path

Run = Callable[..., str]
TARGET = "aarch64-linux-gnu"


def test_devices_are_listed_on_aarch64(build_dir: Path, source_dir: Path, run: Run) -> None:
    """Clang takes half of GCC's time for the runtime. Debian's cross compiler has the libraries.

    The folder stays, since ccache knows what was compiled in it before.
    """
    folder = build_dir / "cross-aarch64"
    settings = {
        **{"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": "aarch64", "CMAKE_UNITY_BUILD": "ON"},
        **{"CMAKE_CXX_FLAGS": "-O0", "CMAKE_EXE_LINKER_FLAGS": "-fuse-ld=lld"},
        **{f"CMAKE_{language}_COMPILER_TARGET": TARGET for language in ("C", "CXX", "ASM")},
        **{
            "CMAKE_C_COMPILER": "clang",
            "CMAKE_CXX_COMPILER": "clang++",
            "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        },
        **{"KF_SOURCE_DIR": str(source_dir), "KFGEN_EXECUTABLE": str(build_dir / "tool" / "kfgen")},
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    run("cmake", "-S", Path(__file__).parent / "cross", "-B", folder, "-G", "Ninja", *defined)
    run("cmake", "--build", folder, "--target", "devices")
    assert "AArch64" in run("readelf", "-h", folder / "scale.generated" / "scale.kfa.o")
    assert run("qemu-aarch64", "-L", f"/usr/{TARGET}", folder / "devices").startswith("devices: ")
