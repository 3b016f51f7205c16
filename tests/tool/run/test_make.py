"""kfgen under Make's jobserver: how many of its tokens it takes, and that it gives them all back."""

import array
import fcntl
import json
import os
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

TOKENS = 3
#: Enough kernels for a second worker.
COUNT = 7
SLANG = "".join(f"public float f{n}(float x) {{ return sin(x) * {n}; }}\n" for n in range(COUNT)) + (
    "public float lost(float x) { __target_switch { case cuda: return x; } }\n"
)


def spec(name: str, *more: str) -> str:
    calls = [{"function": each, "args": {"x": "value"}} for each in [f"f{n}" for n in range(COUNT)] + [*more]]
    return json.dumps(
        {"version": 1, "name": name, "modules": ["m.slang"], "targets": ["vulkan"], "calls": calls}
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "m.slang").write_text(SLANG)
    (tmp_path / "good.kf.json").write_text(spec("good"))
    (tmp_path / "bad.kf.json").write_text(spec("bad", "lost"))
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    # Sanitized Python has its sanitizer's library loaded before it, which kfgen has inside.
    left_out = ("LD_PRELOAD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KFGEN_CACHE_DIR")
    return {name: value for name, value in os.environ.items() if name not in left_out} | more


class Server:
    """A jobserver with three tokens, as Make makes them: a pipe that is inherited, or one with a name."""

    def __init__(self, fifo: Path | None = None) -> None:
        if fifo is None:
            self.reader, self.writer = os.pipe()
            self.flags = f" -j{TOKENS + 1} --jobserver-auth={self.reader},{self.writer}"
            self.inherited: tuple[int, ...] = (self.reader, self.writer)
        else:
            os.mkfifo(fifo)
            self.reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            self.writer = os.open(fifo, os.O_WRONLY)
            self.flags = f" -j{TOKENS + 1} --jobserver-auth=fifo:{fifo}"
            self.inherited = ()
        os.write(self.writer, b"+" * TOKENS)

    def left(self) -> int:
        count = array.array("i", [0])
        fcntl.ioctl(self.reader, termios.FIONREAD, count)
        return count[0]

    def close(self) -> None:
        os.close(self.reader)
        os.close(self.writer)


@pytest.fixture(params=["pipe", "fifo"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "jobs" if request.param == "fifo" else None)
    yield made
    made.close()


def start(build_dir: Path, project: Path, name: str, server: Server) -> subprocess.Popen[str]:
    command = [str(build_dir / "tool" / "kfgen"), "generate", f"{name}.kf.json", "-o", "out", "--no-cache"]
    return subprocess.Popen(
        command,
        cwd=project,
        env=environment(MAKEFLAGS=server.flags),
        pass_fds=server.inherited,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_taken(run: subprocess.Popen[str], server: Server) -> bool:
    """Whether it took a token before it ended."""
    while run.poll() is None:
        if server.left() < TOKENS:
            return True
        time.sleep(0.002)
    return False


def test_tokens_are_taken_and_given_back_when_kernels_fail(
    build_dir: Path, project: Path, server: Server
) -> None:
    with start(build_dir, project, "bad", server) as run:
        assert wait_for_taken(run, server)
        said = run.communicate()[1]
        assert run.returncode == 1, said
    assert "kf_lost_forward" in said
    assert server.left() == TOKENS


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_every_token_back(
    build_dir: Path, project: Path, server: Server, how: signal.Signals
) -> None:
    with start(build_dir, project, "good", server) as run:
        assert wait_for_taken(run, server)
        run.send_signal(how)
        run.communicate()
        assert run.returncode == -how
    assert server.left() == TOKENS
    assert not list(project.glob("out/good.*"))


def test_without_tokens_one_kernel_is_compiled_after_the_other(
    build_dir: Path, project: Path, server: Server
) -> None:
    os.read(server.reader, TOKENS)
    with start(build_dir, project, "good", server) as run:
        said = run.communicate()[1]
        assert run.returncode == 0, said
    assert server.left() == 0


@pytest.mark.parametrize("recipe", ["+$(KFGEN)", "@: $(MAKE); $(KFGEN)"])
def test_make_has_all_its_tokens_at_the_end(build_dir: Path, project: Path, recipe: str) -> None:
    """Make itself counts them, and says so when there are more or fewer than there were."""
    make = shutil.which("make")
    assert make is not None
    (project / "Makefile").write_text(
        f"all: good bad sleeper\ngood bad:\n\t{recipe} generate $@.kf.json -o out --no-cache\n"
        "sleeper:\n\tsleep 0.3\n"
    )
    done = subprocess.run(
        [make, "-k", f"-j{TOKENS}", f"KFGEN={build_dir / 'tool' / 'kfgen'}"],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "kf_lost_forward" in done.stderr
    assert "INTERNAL" not in done.stderr
    assert "jobserver" not in done.stderr
    assert (project / "out" / "good.kfa").exists()
