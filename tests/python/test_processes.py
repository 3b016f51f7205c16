"""Forked processes, the interpreter's end, and Ctrl-C: each in a process of its own, with a time limit."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from loader import Loader

#: Opens the default device and makes `x`, which keeps it busy for a while in calls.simmer(); `many` such
#: calls last for more than a second.
SETUP = """
import os, signal, sys, threading, time
import numpy as np
import kernelfunctions as kf
from kf_calls import calls

device = kf.default_device()
host = np.linspace(0, 1, 128, dtype=np.float32)
while True:
    x = kf.Tensor.from_numpy(host)
    calls.simmer(x)
    device.wait()
    start = time.monotonic()
    calls.simmer(x)
    device.wait()
    took = time.monotonic() - start
    if took > 0.025 or host.size >= 1 << 25:
        break
    host = np.tile(host, 2)
many = max(1, int(1.5 / took))
"""


@pytest.fixture(scope="module", autouse=True)
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


def start(program: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], limit: float = 60) -> str:
    """What it printed; fails where it doesn't end in time, or badly."""
    try:
        out, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
        pytest.fail(f"the process hangs: {out}{errors}")
    assert process.returncode == 0, f"{process.returncode}: {out}{errors}"
    return out


def run(program: str, limit: float = 60) -> str:
    return finish(start(program), limit)


FORK = """
x = kf.Tensor.from_numpy(np.arange(5, dtype=np.float32)).with_grads()
encoder = device.encoder()
recorded = calls.simmer.append_to(encoder, x)
prepared = calls.simmer.prepare(x)
with kf.Graph() as graph:
    calls.simmer(x)
others = [threading.Thread(target=lambda: [calls.simmer(x).to_numpy() for _ in range(200)]) for _ in range(2)]
for other in others:
    other.start()
entries = {
    "call": lambda: calls.simmer(x),
    "call of values": lambda: calls.add(1, 2),
    "call of arrays": lambda: calls.simmer(host[:3]),
    "out": lambda: calls.simmer(x, out=x),
    "zeros": lambda: kf.Tensor.zeros(3),
    "ones": lambda: kf.Tensor.ones((2, 2), "float64"),
    "tensor": lambda: kf.Tensor([1.0, 2.0]),
    "from_numpy": lambda: kf.Tensor.from_numpy(host[:3]),
    "with_grads": lambda: x.detach().with_grads(),
    "to_numpy": lambda: x.to_numpy(),
    "item": lambda: x[0].item(),
    "array": lambda: np.asarray(x),
    "copy": lambda: x.copy_from_numpy(np.zeros(5, np.float32)),
    "wait": lambda: device.wait(),
    "flush": lambda: device.flush(),
    "encoder": lambda: device.encoder(),
    "submit": lambda: encoder.submit(),
    "append_to": lambda: calls.simmer.append_to(encoder, x),
    "open": lambda: kf.Device.open(),
    "set_device": lambda: kf.set_device(device.info.id),
    "devices": lambda: kf.devices(),
    "fill": lambda: x.fill(1),
    "zero_grad": lambda: x.zero_grad(),
    "prepared": lambda: prepared(),
    "replay": lambda: graph.replay(),
}
child = os.fork()
if child == 0:
    signal.alarm(20)
    for name, entry in entries.items():
        try:
            entry()
        except kf.DeviceError as error:
            if error.code != "forked" or "spawn" not in str(error):
                print(name, "says", error.code, error, flush=True)
        else:
            print(name, "is taken", flush=True)
    if not repr(x).startswith("Tensor(..., shape=(5,), dtype=float32"):
        print(repr(x), flush=True)
    del x, encoder, recorded, prepared, graph, entries
    LEAVE
_, status = os.waitpid(child, 0)
for other in others:
    other.join()
assert os.waitstatus_to_exitcode(status) == 0, status
np.testing.assert_array_equal(x.to_numpy(), np.arange(5))
encoder.submit()
assert np.isfinite(recorded.to_numpy()).all()
"""


# NVIDIA's Vulkan driver and newer validation layers have functions that run at exit() and wait for threads
# that the child lacks.
WITHOUT_LAYER = """
import os

os.environ["KF_VULKAN_VALIDATION"] = "0"
"""
SYS_EXIT = """
    if device.info.backend == "vulkan" and "NVIDIA" in device.info.name:
        os._exit(0)
    sys.exit(0)
"""


@pytest.mark.parametrize(
    ("before", "leave"),
    [(WITHOUT_LAYER, SYS_EXIT.strip()), ("", "os._exit(0)")],
    ids=["sys.exit", "os._exit"],
)
def test_a_forked_child_is_refused_at_once(before: str, leave: str) -> None:
    assert run(before + SETUP + FORK.replace("LEAVE", leave)) == ""


def test_children_that_use_no_kernels_work_and_end() -> None:
    program = """
import multiprocessing

def double(number):
    return 2 * number

if __name__ == "__main__":
    calls.simmer(x)
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(double, range(5)))
    print(bool(np.isfinite(x.to_numpy()).all()))
"""
    assert run(SETUP + program) == "[0, 2, 4, 6, 8]\nTrue\n"


def test_a_pool_of_forked_workers_fails_at_once() -> None:
    program = """
import multiprocessing

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        try:
            pool.starmap(calls.add, [(1, 2)] * 4)
        except kf.DeviceError as error:
            print(error.code)
"""
    assert run(SETUP + program) == "forked\n"


def test_a_child_may_be_the_first_to_open_a_device() -> None:
    program = """
import os
import numpy as np
import kernelfunctions as kf
from kf_calls import calls

child = os.fork()
os.write(1, f"{calls.add(1, 2)}\\n".encode())
if child != 0:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    assert run(program) == "3\n3\n"


@pytest.mark.parametrize("wait", ["calls.simmer(x).to_numpy()", "device.wait()", "calls.add(1, 2)"])
def test_the_interpreter_ends_while_a_thread_is_in_a_call(wait: str) -> None:
    program = f"""
def work():
    while True:
        calls.simmer(x)
        {wait}

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("done", flush=True)
"""
    for _ in range(3):
        assert run(SETUP + program) == "done\n"


def test_a_device_may_be_opened_while_the_interpreter_ends() -> None:
    program = """
import atexit

def late():
    from kf_calls import calls

    print(calls.add(1, 2))

# Functions that were registered first run last: behind the package's own, which closes the default device.
atexit.register(late)
from kf_calls import calls

print(calls.add(3, 4))
"""
    assert run(program) == "7\n3\n"


INTERRUPT = """
signal.signal(signal.SIGINT, signal.default_int_handler)
if took < 0.02:
    sys.exit(print("too fast"))
done = []
first = calls.simmer(x)
large = np.tile(host, 4)
short = kf.Tensor.from_numpy(host[: host.size // 16])
threading.Timer(0.3, lambda: (done.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    ACT
except KeyboardInterrupt:
    pass
if not done:
    sys.exit(print("too fast"))
late = time.monotonic() - done[0]
print("interrupted" if late < 0.2 else f"late by {late}", flush=True)
signal.signal(signal.SIGINT, signal.SIG_IGN)
again = calls.simmer(x)
np.testing.assert_array_equal(first.to_numpy(), again.to_numpy())
assert (x.to_numpy() == host).all()
"""


@pytest.mark.parametrize(
    "act",
    {
        "calls": "for _ in range(1600 * many): calls.simmer(short)",
        "wait": "[calls.simmer(x) for _ in range(min(many, 200))]; device.wait()",
        "to_numpy": "[calls.simmer(x) for _ in range(min(many, 200))][-1].to_numpy()",
        "item": "[calls.simmer(x) for _ in range(min(many, 200))][-1][0].item()",
        "a host value": "[calls.simmer(x) for _ in range(min(many, 200))]; calls.add(1, 2)",
        "an array": "[calls.simmer(x) for _ in range(min(many, 200))]; calls.simmer(x, out=np.ndarray)",
        "an upload": "[calls.simmer(x) for _ in range(many)]; kf.Tensor.from_numpy(large); device.wait()",
        "uploads": "while True: calls.simmer(short); kf.Tensor.from_numpy(host)",
        "submit": "while True: e = device.encoder(); calls.simmer.append_to(e, short); e.submit()",
    }.items(),
    ids=lambda item: item[0],
)
def test_ctrl_c_ends_a_wait(act: tuple[str, str]) -> None:
    assert run(SETUP + INTERRUPT.replace("ACT", act[1]), 120) in ("interrupted\n", "too fast\n")


def test_a_program_ends_soon_after_ctrl_c(tmp_path: Path) -> None:
    process = start(SETUP + "print('go', flush=True)\nwhile True: calls.simmer(x)\n")
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("the process hangs")
    assert process.returncode in (1, -signal.SIGINT), errors
    assert "KeyboardInterrupt" in errors


def test_signal_handlers_may_use_the_device() -> None:
    program = """
found = []
signal.signal(signal.SIGALRM, lambda *_: found.append(calls.add(20, 22)))
waited = [calls.simmer(x) for _ in range(min(many, 100))]
signal.setitimer(signal.ITIMER_REAL, 0.2)
device.wait()
while not found:
    time.sleep(0.01)
print(found)
"""
    assert run(SETUP + program, 120) == "[42]\n"


#: What makes first calls, each of another kind.
FIRST_CALLS = {
    "NumPy's numbers": "calls.add(np.int32(1), np.int32(2))",
    "iterators": "calls.advance(kf.Tensor.zeros(2), (n for n in (1.0, 2.0)))",
    "options": "calls.advance.options(deterministic=True)(kf.Tensor.zeros(2), 1)",
    "wrong arguments": "refused(lambda: calls.add('a', 1))",
    "graphs": "record()",
}


@pytest.mark.parametrize("name", FIRST_CALLS)
def test_first_calls_in_threads_end(name: str) -> None:
    """Tools replace __import__ by functions that let other threads in."""
    run(f"""
import builtins, threading, time
import numpy as np
import kernelfunctions as kf
from kf_calls import calls

def refused(act):
    try:
        act()
    except kf.ArgumentError:
        pass

class Finalized:
    def __del__(self):
        calls.add(1, 2)

def record():
    with kf.Graph():
        calls.advance(kf.Tensor.zeros(2), 1)
        Finalized()

def first():
    begin.wait()
    {FIRST_CALLS[name]}

def slow(*given, own=builtins.__import__, **named):
    time.sleep(0.01)
    return own(*given, **named)

kf.default_device()
begin = threading.Barrier(4)
threads = [threading.Thread(target=first) for _ in range(4)]
builtins.__import__ = slow
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""")


def test_a_subinterpreter_is_refused() -> None:
    program = """
import importlib, sys

name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
interpreters = importlib.import_module(name)
own = interpreters.create()
code = f"import sys; sys.path[:0] = {sys.path!r}\\nimport kernelfunctions"
try:
    failed = interpreters.run_string(own, code)
except Exception as error:
    failed = error
text = str(getattr(failed, "formatted", failed))
assert "ImportError" in text and "kernelfunctions" in text and "subinterpreter" in text, text
"""
    assert run(program) == ""


def test_methods_called_on_none_are_refused() -> None:
    """None is no null pointer. Each raises, or is a class's own method that takes anything."""
    run("""
import kernelfunctions as kf

for type_ in vars(kf._kf).values():
    if not isinstance(type_, type):
        continue
    for member in list(vars(type_).values()):
        acts = [member.fget, member.fset] if isinstance(member, property) else [member]
        for act in acts:
            for given in [(None,), (None, None)]:
                try:
                    act(*given)
                except Exception:
                    pass
""")
