"""The line that says how far kfgen is: on a terminal alone, and gone at the end."""

import errno
import os
import pty
import subprocess
from pathlib import Path

import pytest

SLANG = "public float twice(float x) { return 2 * x; }\npublic float thrice(float x) { return 3 * x; }\n"
SPEC = """{"version": 1, "name": "watched", "modules": ["m.slang"], "targets": ["vulkan"],
 "calls": [{"function": "twice", "args": {"x": "tensor[1]"}},
           {"function": "thrice", "args": {"x": "tensor[1]"}}]}"""


@pytest.fixture
def kfgen(build_dir: Path) -> Path:
    return build_dir / "tool" / "kfgen"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "m.slang").write_text(SLANG)
    path = tmp_path / "watched.kf.json"
    path.write_text(SPEC)
    return path


def command(kfgen: Path, spec: Path, *options: str) -> list[str]:
    return [str(kfgen), "generate", str(spec), "-o", str(spec.parent / "out"), "--no-cache", *options]


def environment(terminal: str) -> dict[str, str]:
    # Sanitized Python has its sanitizer's library loaded before it, which kfgen has inside.
    kept = {
        name: value for name, value in os.environ.items() if name not in ("KFGEN_CACHE_DIR", "LD_PRELOAD")
    }
    return kept | {"TERM": terminal}


def on_a_terminal(arguments: list[str], terminal: str = "xterm") -> bytes:
    """What the command writes to its standard error, which is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=theirs, env=environment(terminal)
    ) as child:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError as error:  # Linux says so where the last writer has closed its end
                assert error.errno == errno.EIO
                break
            if not part:
                break
            written += part
        os.close(ours)
    assert child.returncode == 0, written
    return written


def test_a_terminal_is_told_how_far_the_run_is(kfgen: Path, spec: Path) -> None:
    written = on_a_terminal(command(kfgen, spec))
    lines = written.split(b"\r\x1b[K")
    assert lines[0] == b""
    assert lines[-1] == b"", "the line is gone at the end"
    told = lines[1:-1]
    assert told
    total = int(told[0].split(b"/")[1].split(b"]")[0])
    assert total >= 2
    assert told[-1].startswith(b"[%d/%d] " % (total, total))
    assert all(b"\n" not in line and (b"twice" in line or b"thrice" in line) for line in told)
    # Nothing is compiled now, so there is nothing to tell, unless that is asked for.
    again = command(kfgen, spec)
    assert on_a_terminal([one for one in again if one != "--no-cache"]) == b""
    assert on_a_terminal(again) != b""


@pytest.mark.parametrize("options", [["-q"], ["--error-format", "json"]])
def test_who_asks_for_less_is_told_nothing(kfgen: Path, spec: Path, options: list[str]) -> None:
    assert on_a_terminal(command(kfgen, spec, *options)) == b""


def test_what_is_no_terminal_is_told_nothing(kfgen: Path, spec: Path) -> None:
    assert on_a_terminal(command(kfgen, spec), terminal="dumb") == b""
    done = subprocess.run(
        command(kfgen, spec, "--dry-run"), env=environment("xterm"), capture_output=True, check=True
    )
    assert done.stderr == b""
