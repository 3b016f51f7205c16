"""kfgen's commands one after the other, as somebody new would try them, and completion in bash."""

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


def test_bash_completes_commands_options_and_files(build_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "m.slang").touch()
    (tmp_path / "m.kf.json").touch()
    (tmp_path / "m.txt").touch()
    lines = [
        f"source <({build_dir}/tool/kfgen completion bash)",
        'try() { COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kfgen; echo "${COMPREPLY[*]}"; }',
        "try kfgen ge",
        "try kfgen -q generate --bac",
        "try kfgen generate --backend ''",
        "try kfgen generate ''",
        "try kfgen init ''",
        "try kfgen completion ''",
        "try kfgen inspect --ja",
    ]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    expected = ["generate", "--backend", "vulkan cuda", "m.kf.json", "m.slang", "bash zsh fish", ""]
    assert done.stdout.splitlines() == expected


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
