"""kfgen check --gradients, as a build runs it."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parents[3] / "samples" / "polynomial" / "polynomial.kf.json"
SPEC = Path(__file__).parent / "specs" / "derivatives.kf.json"
MISTAKES = [
    f"{kind}_{scalar}" for kind in ("factor", "sign", "missing") for scalar in ("half", "float", "double")
]
WRONG = [
    *MISTAKES,
    "slight_half",
    "slight_float",
    "deaf_float",
    "slope_float",
    "wrong_gather",
    "wrong_launch",
    "past_the_end",
    "branch_member",
    "branch_bools",
    "branch_number",
    "branch_bound",
    "branch_tensor",
    "out_of_reach.k",
]
NOT_COMPARABLE = ["never", "rough", "racing_launch", "wide_launch", "through_addresses", "of_bytes"]
EXCEPT = {name: ("--except", name) for name in [*WRONG, *NOT_COMPARABLE]}
WITHOUT_WRONG = [word for name in WRONG for word in EXCEPT[name]]
ONLY_RIGHT = [word for words in EXCEPT.values() for word in words]


class Kfgen:
    """The program of a build, and the artifact of specs/ there."""

    def __init__(self, build: Path, derivatives: Path) -> None:
        self.program = build / "tool" / "kfgen"
        self.artifact = derivatives / "derivatives.kfa"

    def check(
        self, *arguments: object, folder: Path | None = None, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.program, "check", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, **environment},
        )


@pytest.fixture
def kfgen(build_dir: Path, generated_folder: Callable[[str], Path]) -> Kfgen:
    return Kfgen(build_dir, generated_folder("kf_test_derivatives"))


def test_a_spec_whose_gradients_are_right(kfgen: Kfgen, tmp_path: Path) -> None:
    done = kfgen.check(SAMPLE, "--gradients", "--backend", "vulkan", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("polynomial on ")
    assert lines[0].endswith(", seed 1")
    assert lines[-1].startswith("24 inputs right, 0 wrong, 0 not comparable, 0 without a gradient; ")
    assert list(tmp_path.iterdir()) == []


def test_wrong_gradients_end_with_1(kfgen: Kfgen) -> None:
    done = kfgen.check(kfgen.artifact, "--gradients")
    assert done.returncode == 1
    assert "  k  WRONG        at " in done.stdout
    assert "  FAILED       reads or writes past the end of 'y'" in done.stdout


def test_what_is_meant_to_be_wrong_can_be_left_out(kfgen: Kfgen) -> None:
    done = kfgen.check(kfgen.artifact, "--gradients", *ONLY_RIGHT, "--format", "json", "--seed", 5)
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert report["right"] is True
    assert report["seed"] == 5
    assert report["not_passed"] == []
    assert not {call["function"] for call in report["calls"]} & set(WRONG)
    statuses = {call["function"]: call["inputs"][0]["status"] for call in report["calls"]}
    assert statuses["right_half"] == "right"


def test_what_can_not_be_compared_has_not_passed(kfgen: Kfgen) -> None:
    done = kfgen.check(kfgen.artifact, "--gradients", *WITHOUT_WRONG, "--format", "json")
    report = json.loads(done.stdout)
    assert done.returncode == 1, done.stdout
    assert report["right"] is False
    statuses = {call["function"]: {one["status"] for one in call["inputs"]} for call in report["calls"]}
    assert report["not_passed"] == [name for name in statuses if name in NOT_COMPARABLE]
    assert "not smooth" in statuses["rough"]
    assert "not finite" in statuses["never"]
    for name in NOT_COMPARABLE[2:]:
        assert "not checked" in statuses[name], name
    for name in NOT_COMPARABLE:
        others = [word for other, words in EXCEPT.items() if other != name for word in words]
        done = kfgen.check(kfgen.artifact, "--gradients", *others)
        assert done.returncode == 1, name
        last = done.stdout.splitlines()[-1]
        assert last.startswith(f"  not passed: gradients of {name} were not compared: ")


DOMAINS = """
#define WRONG(name, value, slope) \\
    [BackwardDerivative(name##_bwd)] float name(float x, float y) { return value(x, y); } \\
    void name##_bwd(inout DifferentialPair<float> x, inout DifferentialPair<float> y, float flowing) \\
    { y = diffPair(y.p, 0.0f); x = diffPair(x.p, 2 * slope(x.p, y.p) * flowing); }

float far_value(float x, float y) { return sqrt(x - 20); }
float far_slope(float x, float y) { return 0.5 / sqrt(x - 20); }
WRONG(far, far_value, far_slope)

float ordered_value(float x, float y) { return log(x - y - 2); }
float ordered_slope(float x, float y) { return 1 / (x - y - 2); }
WRONG(ordered, ordered_value, ordered_slope)

[Differentiable] float mixed(float x, float y) { return sqrt(x - 20) * log(1 - abs(y)); }
float plain(float x, float y) { return x * y; }
"""


def domains(folder: Path, **calls: str) -> Path:
    """A spec of functions that are defined for few numbers, `x` of this kind."""
    (folder / "domains.slang").write_text(DOMAINS)
    path = folder / "domains.kf.json"
    made = [
        {"function": name, "args": {"x": kind, "y": "tensor[1]"}, "backward": name != "plain"}
        for name, kind in calls.items()
    ]
    path.write_text(
        json.dumps({"version": 1, "name": "domains", "modules": ["domains.slang"], "calls": made})
    )
    return path


@pytest.mark.parametrize("kind", ["value", "tensor[1]"])
def test_numbers_are_searched_for_where_a_function_is_defined(
    kfgen: Kfgen, tmp_path: Path, kind: str
) -> None:
    """So that a wrong derivative doesn't pass because nothing could be compared."""
    path = domains(tmp_path, far=kind, ordered=kind, mixed=kind)
    options = ["--backend", "vulkan", "--format", "json"]
    done = kfgen.check(path, "--gradients", *options)
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads(done.stdout)
    found = {call["function"]: call["inputs"][0]["status"] for call in report["calls"]}
    assert found == {"far": "WRONG", "ordered": "WRONG", "mixed": "right"}
    assert report["kernels_not_run"] == []
    x, y = next(call["searched"] for call in report["calls"] if call["function"] == "mixed")
    assert (x["name"], y["name"]) == ("x", "y")
    assert 20 < x["low"] < x["high"]
    assert -1 < y["low"] < y["high"] < 1
    # A range is where the search begins.
    done = kfgen.check(path, "--gradients", *options, "--except", "mixed", "--range", "25,30")
    calls = {call["function"]: call for call in json.loads(done.stdout)["calls"]}
    assert "searched" not in calls["far"]
    assert calls["far"]["inputs"][0]["status"] == "WRONG"
    assert calls["ordered"]["inputs"][0]["status"] == "WRONG"


def test_a_check_of_nothing_has_not_passed(kfgen: Kfgen, tmp_path: Path) -> None:
    done = kfgen.check(domains(tmp_path, plain="value"), "--gradients", "--backend", "vulkan")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("  not passed: nothing was compared: no call has a ")


def test_an_input_that_takes_no_part_fails_a_build(kfgen: Kfgen) -> None:
    """Unless nothing depends on it, or by steps alone, or numbers are given that reach what it does."""
    others = [word for name, words in EXCEPT.items() if name != "out_of_reach.k" for word in words]
    done = kfgen.check(kfgen.artifact, "--gradients", *others)
    assert done.returncode == 1
    assert "  k  not exercised  gradient and differences are 0 at each of " in done.stdout
    assert "  k               unused       no result depends on it" in done.stdout
    assert "1 not exercised" not in done.stdout
    assert ", 2 not exercised, 2 unused, " in done.stdout
    reached = kfgen.check(kfgen.artifact, "--gradients", *others, "--range", "101,102", "--format", "json")
    (call,) = (one for one in json.loads(reached.stdout)["calls"] if one["function"] == "out_of_reach")
    assert call["inputs"][1]["status"] == "WRONG"


def test_a_range_is_kept_to_where_results_are_finite(kfgen: Kfgen) -> None:
    done = kfgen.check(kfgen.artifact, "--gradients", *ONLY_RIGHT, "--range", "-3,-2", "--format", "json")
    report = json.loads(done.stdout)
    assert report["not_passed"] == []
    calls = {call["function"]: call for call in report["calls"]}
    assert calls["positive"]["inputs"][0]["status"] == "right"
    assert calls["positive"]["searched"][0]["low"] > 0
    assert calls["right_float"]["inputs"][0]["status"] == "right"
    assert "searched" not in calls["right_float"]


def test_the_source_says_why_there_is_no_gradient(kfgen: Kfgen, tmp_path: Path) -> None:
    one = json.loads(SPEC.read_text())
    one["calls"] = [call for call in one["calls"] if call["function"] == "every_reason"]
    one["modules"] = [str(SPEC.parent / "derivatives.slang")]
    listed = {**one["calls"][0], "name": "listed", "backward": {"inputs": ["x"]}}
    listed["args"] = {**listed["args"], "left": "tensor[1]"}
    one["calls"].append(listed)
    path = tmp_path / "reasons.kf.json"
    path.write_text(json.dumps(one))
    done = kfgen.check(path, "--gradients", "--backend", "vulkan", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    call, listed = json.loads(done.stdout)["calls"]
    assert {one["name"]: one.get("why") for one in call["inputs"]} == {
        "mixed.position": None,
        "mixed.mass": "field 'mass' is no_diff",
        "mixed.id": "integer type",
        "plain.scale": "'Plain' is not IDifferentiable",
        "fixed": "no_diff",
        "count": "integer type",
        "on": "bool",
        "table": "Tensor has no derivatives",
        "left": '"grad": false',
        "x": None,
        "twice": "output: its gradient flows in",
    }
    (left,) = [one for one in listed["inputs"] if one["name"] == "left"]
    assert left["why"] == 'not among the "inputs" of "backward"'


def test_combined_results_are_checked(kfgen: Kfgen, tmp_path: Path) -> None:
    """A wrong derivative is found in sums too, and what can't be compared isn't passed over in silence."""
    (tmp_path / "sums.slang").write_text(
        "[BackwardDerivative(f_bwd)] float f(float a, float x) { return a * x; }\n"
        "void f_bwd(inout DifferentialPair<float> a, inout DifferentialPair<float> x, float flowing)\n"
        "{ a = diffPair(a.p, x.p * flowing); x = diffPair(x.p, 2 * a.p * flowing); }\n"
    )
    ways = {"result": ["sum", "first"], "a.grad": ["sum", "push"]}
    call = {"function": "f", "args": {"a": "tensor[1]", "x": "tensor[1]"}, "backward": {"fused": True}}
    calls = [
        {**call, "accumulate": ways},
        {**call, "name": "pushed", "accumulate": {"a.grad": ["push"]}},
    ]
    path = tmp_path / "sums.kf.json"
    path.write_text(json.dumps({"version": 1, "name": "sums", "modules": ["sums.slang"], "calls": calls}))
    done = kfgen.check(path, "--gradients", "--backend", "vulkan", "--format", "json")
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads(done.stdout)
    found = {call["function"]: [one["status"] for one in call["inputs"]] for call in report["calls"]}
    assert found == {
        "f": ["right", "WRONG"],
        "f.accumulate(result=first, a.grad=sum)": ["right", "WRONG"],
        "pushed": ["not checked", "not checked"],
    }
    (pushed,) = (call for call in report["calls"] if call["function"] == "pushed")
    assert pushed["inputs"][0]["why"].startswith("calls are combined")
    assert report["not_passed"] == ["pushed"]
    assert report["kernels_not_run"]


def test_elements_read_by_several_indices(kfgen: Kfgen, tmp_path: Path) -> None:
    """kfgen changes what it sees. Where the others are right, tool/slang/workarounds/elements.* can go."""
    loop = "float s = 0; [MaxIters(3)] for (int k = 0; k < 3; ++k) s +="
    (tmp_path / "elements.slang").write_text(
        "[Differentiable] float3 same(float3 x) { return x; }\n"
        f"[Differentiable] float of_vector(float3 x) {{ {loop} x[k] * x[min(k + 1, 2)]; return s; }}\n"
        f"[Differentiable] float array(float x[3]) {{ {loop} x[k] * x[0] + x[2] * x[2 - k]; return s; }}\n"
        f"[Differentiable] float rows(float3x3 x) {{ {loop} dot(x[k], x[min(k + 1, 2)]); return s; }}\n"
        "[Differentiable] float hidden(float3 x)\n"
        f"{{ let y = same(x); {loop} y[k] * y[min(k + 1, 2)]; return s; }}\n"
    )
    calls = [
        {"function": name, "args": {"x": "tensor[1]"}, "backward": True}
        for name in ("of_vector", "array", "rows", "hidden")
    ]
    path = tmp_path / "elements.kf.json"
    path.write_text(json.dumps({"version": 1, "name": "e", "modules": ["elements.slang"], "calls": calls}))
    done = kfgen.check(path, "--gradients", "--backend", "vulkan", "--format", "json")
    found = {call["function"]: call["inputs"][0]["status"] for call in json.loads(done.stdout)["calls"]}
    assert found == {"of_vector": "right", "array": "right", "rows": "right", "hidden": "WRONG"}


OWN = """
[Differentiable]
float energy(float2 at, float k, no_diff float scale) { return scale * (k * at.x * at.x + sin(at.y)); }
[BackwardDerivative(bent_bwd)] float bent(float x) { return x * x * x + x; }
void bent_bwd(inout DifferentialPair<float> x, float flowing)
{ x = diffPair(x.p, (2 * x.p * x.p + 1) * flowing); }
[Differentiable] T squared<T : __BuiltinFloatingPointType>(T x) { return x * x; }

float2 force(float2 at, float k, float scale, out float by_k)
{
    var p = diffPair(at);
    var q = diffPair(k);
    bwd_diff(energy)(p, q, scale, -1.0f);
    by_k = q.d * 2;
    return p.d / (1 + abs(q.d));
}
void slope(bool taken, float x, out float along)
{
    var p = diffPair(x);
    if (taken)
        bwd_diff(bent)(p, 2.0f);
    along = p.d;
}
float general(float x)
{
    var p = diffPair(x);
    bwd_diff(squared<float>)(p, 1.0f);
    return p.d;
}
float none(float x) { return 2 * x; }
"""


def test_a_functions_own_bwd_diff_is_compared(kfgen: Kfgen, tmp_path: Path) -> None:
    """What calls make of it, with what they make of differences; and what isn't compared is named."""
    (tmp_path / "own.slang").write_text(OWN)
    tensor = "tensor[1]"
    calls = [
        {"function": "force", "args": {"at": tensor, "k": "value", "scale": tensor, "by_k": tensor}},
        {"function": "slope", "args": {"taken": "value", "x": tensor, "along": tensor}},
        {"function": "general", "args": {"x": tensor}},
        {"function": "none", "args": {"x": tensor}},
    ]
    path = tmp_path / "own.kf.json"
    path.write_text(json.dumps({"version": 1, "name": "own", "modules": ["own.slang"], "calls": calls}))
    done = kfgen.check(path, "--gradients", "--backend", "vulkan", "--format", "json")
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads(done.stdout)
    own = ", by its own bwd_diff"
    found = {
        call["function"]: {
            one["name"].removesuffix(own): one["status"]
            for one in call["inputs"]
            if one["name"].endswith(own)
        }
        for call in report["calls"]
    }
    force = {"by_k": "right", "result": "right"}
    assert found == {"force": force, "slope": {"along": "WRONG"}, "general": {}, "none": {}}
    assert report["not_compared"] == ["bwd_diff(squared) at own.slang:27: it isn't called by its name alone"]
    done = kfgen.check(path, "--gradients", "--backend", "vulkan", "--except", "slope")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  not compared: bwd_diff(squared) at own.slang:27: " in done.stdout


def test_mistakes_are_told_by_one_line(kfgen: Kfgen) -> None:
    cases = [
        ((kfgen.artifact, "--gradients", "--device", "metal:0"), 3, "no device 'metal:0'", "no-device"),
        ((kfgen.artifact, "--gradients", "--except", "rihgt"), 1, "no function 'rihgt'", "unknown-name"),
        (
            (kfgen.artifact, "--gradients", "--shape", "q=3"),
            1,
            "no tensor 'q' of 1 dimensions; it has ",
            "unknown-name",
        ),
        (("missing.kfa", "--gradients"), 1, "can't read the artifact", "artifact-missing"),
        ((SAMPLE, "--seed", "3"), 2, "--seed requires --gradients", "command-line"),
    ]
    for arguments, code, text, error in cases:
        done = kfgen.check(*arguments)
        assert done.returncode == code, done.stderr
        assert done.stdout == ""
        first = done.stderr.splitlines()[0]
        assert text in first
        assert first.endswith(f"[{error}]")


def test_without_a_driver(kfgen: Kfgen) -> None:
    done = kfgen.check(
        kfgen.artifact, "--gradients", VK_ICD_FILENAMES="/none", VK_DRIVER_FILES="/none", KF_DEVICE="vulkan"
    )
    assert done.returncode == 3
    assert done.stderr.splitlines()[0].endswith("[no-driver]")
    assert len(done.stderr.splitlines()) == 1


def running_check(parent: "subprocess.Popen[str]") -> int | None:
    """The number of the program that kfgen has started."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, name, _, ppid = stat.read_text().split()[:4]
        except (OSError, ValueError):  # it has ended
            continue
        if int(ppid) == parent.pid and name == "(kfgen-check)":
            return int(number)
    return None


def started(kfgen: Kfgen) -> tuple["subprocess.Popen[str]", int]:
    """A check that takes long, and the program that runs it, at its work."""
    command = [str(kfgen.program), "check", str(kfgen.artifact), "--gradients", "--device", "vulkan"]
    parent = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    end = time.monotonic() + 60
    while time.monotonic() < end:
        child = running_check(parent)
        if child is not None and "libvulkan" in Path(f"/proc/{child}/maps").read_text():
            return parent, child
        time.sleep(0.01)
    parent.kill()
    raise AssertionError(f"kfgen-check isn't running: {parent.communicate()}")


def test_a_crash_of_the_check_is_an_error(kfgen: Kfgen) -> None:
    parent, child = started(kfgen)
    os.kill(child, signal.SIGSEGV)
    out, errors = parent.communicate(timeout=60)
    assert parent.returncode == 3
    assert out == ""
    assert errors.startswith(f"{kfgen.artifact}: error: '{kfgen.program.with_name('kfgen-check')}' ended by ")
    assert "signal 11 (Segmentation fault) while " in errors
    assert errors.endswith(" [check-program-failed]\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_check_ends_with_kfgen(kfgen: Kfgen, number: signal.Signals) -> None:
    parent, child = started(kfgen)
    parent.send_signal(number)  # and not to the child, as a terminal does
    parent.communicate(timeout=60)
    assert parent.returncode == -number
    end = time.monotonic() + 60
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < end, "kfgen-check goes on"
        time.sleep(0.01)


def test_a_check_that_nobody_can_read(kfgen: Kfgen) -> None:
    command = [str(kfgen.program), "check", str(SAMPLE), "--gradients", "--backend", "vulkan"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "standard output: error: it can't be written [file-unwritable]\n"
    closed = 'exec "$@" >&- <&-'
    done = subprocess.run(
        ["sh", "-c", closed, "sh", *command], stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 3
    assert done.stderr == "standard output: error: it can't be written [file-unwritable]\n"


def test_the_program_is_found_beside_kfgen(kfgen: Kfgen, tmp_path: Path) -> None:
    """Beside the file, not the link to it. Without it all else works."""
    link = tmp_path / "link"
    link.symlink_to(kfgen.program)
    arguments = [kfgen.artifact, "--gradients", "--except", "nothing"]

    def run(program: Path, *words: object) -> "subprocess.CompletedProcess[str]":
        command = [str(program), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert run(link, "check", *arguments).stderr.splitlines()[0].endswith("[unknown-name]")

    alone = tmp_path / "alone" / "kfgen"
    alone.parent.mkdir()
    shutil.copy(kfgen.program, alone)
    missing = alone.with_name("kfgen-check")
    done = run(alone, "check", *arguments)
    assert done.returncode == 3
    assert done.stderr.startswith(f"{missing}: error: it isn't there; `kfgen check --gradients` starts it")
    assert done.stderr.endswith(" [check-program-unusable]\n")
    assert run(alone, "check", SAMPLE, "--backend", "vulkan").returncode == 0

    shutil.copy(kfgen.program.with_name("kfgen-check"), missing)
    missing.chmod(0o644)
    done = run(alone, "check", *arguments, "--error-format", "json")
    assert done.returncode == 3
    error = json.loads(done.stderr)
    assert (error["id"], error["message"]) == (
        "check-program-unusable",
        "it can't be executed: Permission denied",
    )


def test_the_program_is_not_for_users(kfgen: Kfgen) -> None:
    for arguments in ([], ["--help"], ["1", "2"]):
        program = kfgen.program.with_name("kfgen-check")
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "is started by `kfgen check --gradients`" in done.stderr


LOOPS = """
[Differentiable]
float down(float x, int first)
{
    float s = 0;
    [MaxIters(9)]
    for (int i = first; i >= 0; i--)
    {
        if (s > 9) continue;
        s += x * i * 0.1 * s + x;
    }
    return s;
}
[Differentiable]
float triangle(float x, int first)
{
    float s = 0;
    [MaxIters(4)]
    for (int j = 0; j < 4; j++)
    {
        [MaxIters(5)]
        for (uint i = j + max(first, 0) % 2; i < 4; i += 1) s += x * i * j * 0.1 * s + x;
    }
    return s;
}
[Differentiable]
float forever(float x, int first)
{
    float s = 0;
    int i = clamp(first, 0, 5);
    [MaxIters(9)]
    while (true)
    {
        if (i >= 6) break;
        s += x * i * 0.1 * s + x;
        i = i + 1;
    }
    return s;
}
"""


def test_loops_may_start_at_computed_values(kfgen: Kfgen, tmp_path: Path) -> None:
    (tmp_path / "loops.slang").write_text(LOOPS)
    args = {"x": "tensor[1]", "first": "tensor[1]"}
    calls = [{"function": name, "args": args, "backward": True} for name in ("down", "triangle", "forever")]
    spec = {"version": 1, "name": "loops", "modules": ["loops.slang"], "calls": calls}
    path = tmp_path / "loops.kf.json"
    path.write_text(json.dumps(spec))
    done = kfgen.check(path, "--gradients", "--backend", "vulkan", "--format", "json", "--range", "-0.9,0.9")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert [call["inputs"][0]["status"] for call in report["calls"]] == ["right"] * 3
    assert done.stderr == ""


STEPS = """
static const int most = 3;
[Differentiable]
float steps(float x, int n)
{
    float s = x;
    int i = 0;
    [MaxIters(most)]
    do // past
    {
        s = s * x + 0.5;
        if (++i >= 8 * n) break;
    } while (s < 99);
    return s;
}
"""
FOR = """
[Differentiable] float f(float x, int n)
{
    float s = x;
    [MaxIters(4)] for (int i = 0; i < 8 * n; ++i) s = s * x + 0.5; // past
    return s;
}
"""
WHILE = """
[Differentiable] float f(float x, int n)
{
    float s = 1 + abs(x);
    [MaxIters(2)]
    while (s < 40) // past
        s = s * (1.5 + n * n) + x * x;  // which grows, whatever x is
    return s;
}
"""
IN_A_METHOD = """
struct Walk : IDifferentiable
{
    float x;
    [Differentiable] float sum(int n)
    {
        float s = 0;
        [MaxIters(2)] for (int i = 0; i < 2; ++i)
            [MaxIters(3)] for (int k = 0; k < 8 * n; ++k) // past
                if (k < 20) s = 0.5 * s * x + x;
        return s;
    }
}
"""
SEVERAL = """
import steps;

[Differentiable] float f(float x, int n)
{
    float s = steps(x, n);
    float t = x;
    [MaxIters(9)] for (int i = 0; i < min(n, 9); ++i) t = t * x + 0.5;
    [MaxIters(4)] for (int i = 0; i < 5 * n; ++i) { if (t > 99) continue; t = t * x + 0.5; } // past
    return s * t;
}
"""
BELOW = """
[Differentiable] float below(float x, int n)
{
    float s = x;
    [MaxIters(5)] for (int i = 0; i < clamp(n, 0, 2); ++i)
        [MaxIters(3)] for (int k = 0; k < 5; ++k) { if (k > 3 + n) break; s = 0.5 * s * x + x; }
    return s;
}
[BackwardDerivative(own_bwd)] float own(float x, int n)
{
    float s = x;
    [MaxIters(2)] for (int i = 0; i < 9 * n; ++i) s += x;
    return s;
}
void own_bwd(inout DifferentialPair<float> x, int n, float flowing)
{ x = diffPair(x.p, (1 + 9 * max(n, 0)) * flowing); }
float plain(float x, int n) { [MaxIters(2)] for (int i = 0; i < 9 * n; ++i) x = 0.5 * x + 1; return x; }
[Differentiable] float f(float x, int n) { return below(x, n) + own(x, n) * no_diff(plain(1.25, n)); }
"""
ITS_OWN = """
[Differentiable] float grow(float x, int n)
{
    [MaxIters(4)] for (int i = 0; i < 8 * n; ++i) x = 0.25 * x * x + 0.5; // past
    return x;
}
float f(float x, int n)
{
    var p = diffPair(x);
    bwd_diff(grow)(p, n, 1.0f);
    return p.d;
}
"""


@pytest.mark.parametrize(
    ("text", "call", "loops"),
    [
        pytest.param(FOR, {"accumulate": {"result": ["sum", "first"]}}, {"limits": ("f", "4")}, id="for"),
        pytest.param(WHILE, {}, {"limits": ("f", "2")}, id="while"),
        pytest.param(
            IN_A_METHOD,
            {"function": "Walk.sum", "this": "value", "args": {"n": "tensor[1]"}},
            {"limits": ("sum", "3")},
            id="nested",
        ),
        pytest.param(SEVERAL, {}, {"limits": ("f", "4"), "steps": ("steps", "most")}, id="several"),
        pytest.param(ITS_OWN, {"backward": False}, {"limits": ("grow", "4")}, id="its own bwd_diff"),
        pytest.param(BELOW, {}, {}, id="below"),
    ],
)
def test_loops_that_run_past_their_limits_are_named(
    kfgen: Kfgen, tmp_path: Path, text: str, call: dict[str, Any], loops: dict[str, tuple[str, str]]
) -> None:
    """Their gradients lack iterations: differences may show that, but not why."""
    texts = {"limits": text, "steps": STEPS}
    for name, content in texts.items():
        (tmp_path / f"{name}.slang").write_text(content)
    call = {"function": "f", "args": {"x": "tensor[1]", "n": "value"}, "backward": True, **call}
    path = tmp_path / "limits.kf.json"
    path.write_text(
        json.dumps({"version": 1, "name": "limits", "modules": ["limits.slang"], "calls": [call]})
    )
    done = kfgen.check(path, "--gradients", "--backend", "vulkan", "--format", "json")
    assert done.returncode == (1 if loops else 0), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["not_compared"] == []
    expected = [
        {
            "file": str(tmp_path / f"{name}.slang"),
            "line": next(i for i, line in enumerate(texts[name].splitlines(), 1) if "// past" in line),
            "function": function,
            "limit": limit,
        }
        for name, (function, limit) in loops.items()
    ]
    for checked in report["calls"]:
        found = [loop for together in checked.get("past_limits", []) for loop in together]
        assert sorted(found, key=lambda loop: loop["file"]) == expected


def test_loops_that_are_too_long_for_llvmpipe_are_warned_of(kfgen: Kfgen, tmp_path: Path) -> None:
    """By the check alone: what is built may be for GPUs."""
    (tmp_path / "total.slang").write_text(
        "float total(float x)\n{\n    float s = 0;\n"
        "    for (int i = 0; i < 70000; ++i) s += x;\n    return s;\n}\n"
    )
    call = {"function": "total", "args": {"x": "value"}}
    path = tmp_path / "total.kf.json"
    path.write_text(json.dumps({"version": 1, "name": "total", "modules": ["total.slang"], "calls": [call]}))
    done = kfgen.check(path)
    assert done.returncode == 0, done.stderr
    place = f"{tmp_path / 'total.slang'}:4:5: warning: the loop in 'total' may run 70000 times: llvmpipe, "
    assert done.stderr.startswith(place)
    assert "[loop-llvmpipe]" in done.stderr.splitlines()[0]
    command: list[str | Path] = [kfgen.program, "generate", path, "-o", tmp_path / "out"]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""


def test_structs_without_derivatives_are_warned_of(kfgen: Kfgen, tmp_path: Path) -> None:
    (tmp_path / "ray.slang").write_text(
        "struct Ray { float3 from; float3 along; }\n"
        "[Differentiable] float3 at(Ray ray, float t) { return ray.from + t * ray.along; }\n"
        "[Differentiable] float3 fixed(no_diff Ray ray, float t) { return ray.from + t * ray.along; }\n"
    )
    calls = [
        {"function": name, "args": {"ray": "value", "t": "tensor[1]"}, "backward": True}
        for name in ("at", "fixed")
    ]
    path = tmp_path / "ray.kf.json"
    path.write_text(
        json.dumps({"version": 1, "name": "ray", "modules": ["ray.slang"], "calls": calls}, indent=1)
    )
    done = kfgen.check(path, "--backend", "vulkan")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(
        f"{path}:11:12: warning: argument 'ray': function 'at' is differentiated, and no gradient reaches "
        "the fields of struct 'Ray', which isn't IDifferentiable [struct-gradient]\n"
    )
    assert "    note: declare it 'struct Ray : IDifferentiable'\n" in done.stderr
    assert done.stderr.count("warning:") == 1


def test_every_command_names_modules(kfgen: Kfgen, tmp_path: Path) -> None:
    """Functions of imported modules, called rightly and in each wrong way."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "tone-map.slang").write_text(
        "[Differentiable] float curve(float x) { return x * x; }\n"
        "[Differentiable] float steep(float x) { return 3 * x; }\n"
        "[Differentiable] float curve(float2 x) { return x.x * x.y; }\n"
    )
    (tmp_path / "Grade.slang").write_text("float of(float x) { return x; }\n")
    (tmp_path / "secret.slang").write_text(
        "module secret;\nfloat key(float x) { return x; }\nfloat lock(float x) { return x; }\n"
    )
    (tmp_path / "film.slang").write_text(
        "import parts.tone_map;\nimport Grade;\nimport secret;\n"
        "struct Grade { static float of(float x) { return 2 * x; } }\n"
        "float steep(float x) { return x; }\nfloat lock(float x) { return x; }\n"
    )

    def run(function: str, *command: str) -> "subprocess.CompletedProcess[str]":
        call = {"function": function, "args": {"x": "tensor<float>[1]"}, "backward": function.endswith("e")}
        spec = {
            "version": 1,
            "name": "film",
            "modules": ["film.slang"],
            "targets": ["vulkan"],
            "calls": [call],
        }
        (tmp_path / "film.kf.json").write_text(json.dumps(spec, indent=1))
        return subprocess.run(
            [kfgen.program, command[0], "film.kf.json", *command[1:]],
            env=os.environ | {"KFGEN_CACHE_DIR": "kept"},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )

    commands = [("list",), ("check", "--gradients"), ("generate", "-o", "out", "--python")]
    for command in commands:
        done = run("parts.tone_map.curve", *command)
        assert done.returncode == 0, (command, done.stderr)
    assert "curve: _Curve" in (tmp_path / "out" / "film.pyi").read_text()
    assert "curve" in (tmp_path / "out" / "film.h").read_text()

    place = "film.kf.json:12:16: error: "
    for function, said in {
        "curve": (
            "no function 'curve' in the spec's modules",
            'write "parts.tone_map.curve"',
            "function-unknown",
        ),
        "tone_map.curv": (
            "no function 'curv' in the module 'tone_map'",
            "did you mean 'curve'",
            "function-unknown",
        ),
        "tonemap.curve": (
            "no function 'tonemap.curve' in the spec's modules",
            "write 'import tonemap;'",
            "function-unknown",
        ),
        "Grade.of": (
            "'Grade.of' names functions of several modules, or of one and a struct",
            'write "film.Grade.of"',
            "function-ambiguous",
        ),
    }.items():
        for command in commands if function == "Grade.of" else commands[:1]:
            done = run(function, *command)
            assert done.returncode == 1, (function, command, done.stderr)
            assert place + said[0] in done.stderr
            assert said[1] in done.stderr
            assert f"[{said[2]}]" in done.stderr
            assert done.stderr.count("error:") == 1
    done = run("secret.key", *commands[0])
    assert done.returncode == 0, done.stderr
    done = run("secret.lock", *commands[0])  # another module has a lock, which must go on meaning its own
    assert done.returncode == 1
    assert "secret.slang:3:7: error: 'lock' is not public" in done.stderr


def test_every_command_refuses_what_calls_must_not_reach(kfgen: Kfgen, tmp_path: Path) -> None:
    (tmp_path / "blur.slang").write_text(
        "float radius = 2;\nstatic int rounds;\n"
        "float soft(float x) { return x / radius; }\nfloat hard(float x) { ++rounds; return x * rounds; }\n"
    )
    calls = [{"function": name, "args": {"x": "tensor[1]"}} for name in ("soft", "hard")]
    spec = {"version": 1, "name": "blur", "modules": ["blur.slang"], "targets": ["vulkan"], "calls": calls}
    (tmp_path / "blur.kf.json").write_text(json.dumps(spec))
    for command in (["list"], ["check"], ["check", "--gradients"], ["generate", "-o", "out"]):
        done = subprocess.run(
            [kfgen.program, command[0], "blur.kf.json", *command[1:]],
            env=os.environ | {"KFGEN_CACHE_DIR": "kept"},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 1, (command, done.stderr)
        assert done.stdout == ""
        for place in (
            "1:7: error: 'radius' is a global",
            "2:12: error: 'rounds' is a static variable that 'hard' changes",
        ):
            assert "blur.slang:" + place in done.stderr, command
        assert done.stderr.count("error:") == 2
    assert not (tmp_path / "out").exists()
