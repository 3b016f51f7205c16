"""Types of kf.profile(), which the extension has."""

import os
from types import TracebackType

from typing_extensions import Self

from kernelfunctions._kf import Device

class ProfiledCall:
    """One call of a profile."""

    @property
    def function(self) -> str: ...
    @property
    def pass_(self) -> str:
        """ "forward", "backward", "fused" or "jvp"."""
    @property
    def start(self) -> float:
        """Seconds since the profile began, on the GPU's clock."""
    @property
    def duration(self) -> float:
        """Seconds, from when all before the call was done until the call is."""
    @property
    def bytes(self) -> int:
        """Bytes of tensors, buffers and textures that the call reads and writes, each counted once."""

class Profile:
    """What profile() returns. It begins when its `with` block is entered."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    @property
    def calls(self) -> list[ProfiledCall]:
        """The calls, in the order in which they were made. Ends the profile."""
    def table(self) -> str:
        """A line for each function and pass: calls, time, bytes, bytes a second. The slowest come first."""
    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that Chrome (about:tracing) and Perfetto show."""

def profile(
    device: Device | None = None, *, trace: str | os.PathLike[str] | None = None, show: bool = True
) -> Profile:
    """Times the calls of its `with` block on the GPU, and prints a table of them at the end.

    `device`: None for the default one. `trace`: a file to write for Chrome or Perfetto. `show=False` prints
    nothing.
    """
