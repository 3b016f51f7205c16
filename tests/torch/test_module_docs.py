"""Runs the code of docs/pytorch_modules.md: what is printed there is what it prints."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest


def test_it_prints_what_the_page_says(
    source_dir: Path,
    generated_folder: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (source_dir / "docs" / "pytorch_modules.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    monkeypatch.syspath_prepend(str(generated_folder("neural_texture")))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, code in blocks:
        if language == "python":
            exec(code, names)
        elif not code.startswith("$"):
            assert capsys.readouterr().out == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["network.pt", "weights.pt"]
