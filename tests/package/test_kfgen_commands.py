"""kfgen's commands one after the other, as somebody new would try them."""

import json
import subprocess
from pathlib import Path

COLORS = """[Differentiable]
float3 blend(float3 a, float3 b, float t) { return a + (b - a) * t; }
"""


def test_from_a_module_to_kernels_and_their_changes(build_dir: Path, tmp_path: Path) -> None:
    def kfgen(*arguments: str) -> "subprocess.CompletedProcess[str]":
        program = str(build_dir / "tool" / "kfgen")
        return subprocess.run(
            [program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )

    (tmp_path / "colors.slang").write_text(COLORS)
    assert kfgen("init", "colors.slang").stdout == "created: colors.kf.json\n"
    again = kfgen("init", "colors.slang")
    assert again.returncode == 2
    assert "[init-file-exists]" in again.stderr
    made = kfgen("generate", "colors.kf.json", "-o", "out", "--python")
    assert made.returncode == 0, made.stderr
    assert "created: out/colors.py" in made.stdout

    extracted = kfgen("inspect", "out/colors.kfa", "--extract", "images")
    assert "created: images/blend.forward.contiguous.spv" in extracted.stdout
    assert (tmp_path / "images/blend.forward.contiguous.spv").read_bytes()[:4] == b"\x03\x02\x23\x07"
    assert json.loads((tmp_path / "images/manifest.json").read_text())["name"] == "colors"

    same = kfgen("check", "colors.kf.json", "--against", "out/colors.kfa")
    assert (same.returncode, same.stdout) == (0, "the interface is the same\n"), same.stderr
    spec = (tmp_path / "colors.kf.json").read_text().replace('"backward": true', '"name": "mix"')
    (tmp_path / "new.kf.json").write_text(spec)
    changed = kfgen("check", "new.kf.json", "--against", "colors.kf.json", "--format", "json")
    assert changed.returncode == 1, changed.stderr
    report = json.loads(changed.stdout)
    assert report["breaking"] == 1
    assert report["changes"][0]["text"] == "it is called 'mix' now"


def test_findings_are_what_their_schema_says(build_dir: Path, tmp_path: Path) -> None:
    schema = json.loads((Path(__file__).parents[2] / "tool/diagnostic/diagnostic.schema.json").read_text())
    spec = tmp_path / "m.kf.json"
    spec.write_text(
        '{"version": 1, "name": "m", "modules": ["m.slang"], "calls": [{"function": "f", "ars": {}}]}'
    )
    found = []
    for arguments in (["list", str(spec)], ["list", str(tmp_path / "none")], ["lst"]):
        command = [str(build_dir / "tool" / "kfgen"), *arguments, "--error-format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        found += [json.loads(line) for line in done.stderr.splitlines()]
    assert [one["id"] for one in found] == ["spec-unknown-key", "file-not-found", "command-line"]
    types = {"string": str, "integer": int, "array": list}
    for one in found:
        assert list(one) == schema["required"] == list(schema["properties"])
        for key, value in one.items():
            rule = schema["properties"][key]
            assert value in rule["enum"] if "enum" in rule else isinstance(value, types[rule["type"]])


MODULE = """import kf;
float f(float x) { return x; }
[shader("compute")] [numthreads(64, 1, 1)]
void fill(uint3 id : SV_DispatchThreadID, RWStructuredBuffer<float> y) { y[id.x] = 1; }
"""
ARGUMENT = "'id' is no argument of 'fill': a GPU gives it to each thread"


def test_hints_say_what_was_meant(build_dir: Path, tmp_path: Path) -> None:
    def stderr(*arguments: str, code: int = 1) -> str:
        program = str(build_dir / "tool" / "kfgen")
        done = subprocess.run(
            [program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == code, done.stderr
        return done.stderr

    def of_call(call: str) -> str:
        spec = '{"version": 1, "name": "m", "modules": ["m.slang"], "calls": [\n' + call + "]}"
        (tmp_path / "m.kf.json").write_text(spec)
        return stderr("list", "m.kf.json")

    (tmp_path / "m.slang").write_text(MODULE)
    assert stderr("generate", "m.slang", "-o", "out", code=2) == (
        "m.slang: error: this is a Slang module, where a spec is expected: NAME.kf.json [spec-is-a-module]\n"
        "    note: 'kfgen init m.slang' writes one that calls its functions\n"
    )
    assert stderr("generate", "-o", "out", code=2) == (
        "kfgen: error: 'kfgen generate' takes a spec, NAME.kf.json, and none is given [command-line]\n"
        "    note: 'kfgen init NAME.slang' writes one\n"
        "    note: kfgen --help lists commands and options\n"
    )
    assert of_call('{"function": "f", "args": {"x": "value"}, "fused": true}') == (
        "m.kf.json:2:43: error: unknown key 'fused' in calls[0] [spec-unknown-key]\n"
        '    2 | {"function": "f", "args": {"x": "value"}, "fused": true}]}\n'
        "      |                                           ^~~~~~~\n"
        '    note: it is a key of "backward": "backward": {"fused": …}\n'
    )
    assert of_call('{"function": "fill", "args": {"id": "thread_id", "y": "rwbuffer"}}') == (
        f"m.kf.json:2:31: error: {ARGUMENT} [argument-unknown]\n"
        '    2 | {"function": "fill", "args": {"id": "thread_id", "y": "rwbuffer"}}]}\n'
        "      |                               ^~~~\n"
        '    note: leave it out of "args"; how many threads there are is said in each call\n'
    )
    unknown = of_call('{"function": "f", "args": {"x": "accelerationstructure"}}')
    assert "unknown kind 'accelerationstructure' [spec-kind]" in unknown
    assert "acceleration_structure" not in unknown
    (tmp_path / "t.slang").write_text("float f(Tensor<float, 1> t) { return t[0]; }\n")
    assert stderr("init", "t.slang") == (
        f"{tmp_path}/t.slang:1:9: error: undefined identifier 'Tensor' [slang-E30015]\n"
        "    1 | float f(Tensor<float, 1> t) { return t[0]; }\n"
        "      |         ^~~~~~\n"
        "    note: it is a type of the module kf: write 'import kf;'\n"
    )
