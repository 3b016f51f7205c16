"""What refused.py lists is refused, by an error that names the call; a newer compiler may take it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from modules import Item, items, module_text, spec_of
from refused import REFUSALS
from selection import Selection

#: Of one line of refused.py; each takes a compiler's run.
MOST = 3


def chosen(refusal: Selection) -> list[Item]:
    """Some that it lists, of different cases and types."""
    listed = [item for item in items() if item.way == "value" and refusal.has(item, refusal.targets)]
    step = max(1, len(listed) // MOST)
    return listed[step // 2 :: step][:MOST]


@pytest.mark.parametrize(
    "refusal", REFUSALS, ids=lambda one: f"{one.targets}-{one.cases[:30]}-{one.types[:12]}"
)
def test_what_is_listed_is_refused(refusal: Selection, build_dir: Path, tmp_path: Path) -> None:
    kfgen = build_dir / "tool" / "kfgen"
    found = chosen(refusal)
    assert found, "it lists nothing"
    for item in found:
        (tmp_path / "refused.slang").write_text(module_text([item]))
        spec = {**spec_of("refused", [item]), "targets": [refusal.targets]}
        (tmp_path / "refused.kf.json").write_text(json.dumps(spec))
        command = [
            str(kfgen),
            "generate",
            "refused.kf.json",
            "-o",
            "out",
            "--quiet",
            "--error-format",
            "json",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode != 0, f"{item.name} has kernels by now"
        assert '"severity":"error"' in done.stderr.replace(" ", ""), done.stderr
