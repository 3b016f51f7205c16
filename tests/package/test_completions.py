"""The completion scripts in their shells: what each offers, against the options that the help pages list."""

import os
import pty
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Offered = Callable[..., list[set[str]]]
COMMANDS = {"init", "generate", "check", "list", "explain", "inspect", "completion"}
BASH = """
source <(kfgen completion bash)
while read -r line; do
    read -ra COMP_WORDS <<<"$line"
    [[ $line != *. ]] || COMP_WORDS[-1]=
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _kfgen
    echo "${COMPREPLY[*]}"
done
"""
FISH = """
kfgen completion fish | source
while read line
    echo (complete -C (string replace -r '[.]$' '' -- $line) | string replace -r '\\t.*' '')
end
"""
#: A zsh that appends what a completion offers to the file that MATCHES names, and then a line END.
ZSH = """
PROMPT= PS2= LISTMAX=10000
setopt no_beep no_list_ambiguous
autoload -U compinit && compinit -D -u
source <(kfgen completion zsh)
compdef _kfgen kfgen
compadd() {
    if [[ " $* " != *" -"[OAD]" "* ]]; then
        local -a matches
        builtin compadd -A matches "$@"
        print -rl -- $matches >>$MATCHES
    fi
    builtin compadd "$@"
}
complete-and-end() { zle complete-word; print END >>$MATCHES }
zle -N complete-and-end
bindkey '^I' complete-and-end
print READY >>$MATCHES
"""


def in_bash_or_fish(command: list[str], lines: list[str]) -> list[set[str]]:
    """Each line has a . behind it where a word begins."""
    asked = "".join(f"{line}{'.' if line.endswith(' ') else ''}\n" for line in lines)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return [set(line.split()) for line in done.stdout.splitlines()]


def in_zsh(folder: Path, lines: list[str]) -> list[set[str]]:
    """Types the lines and tabs at a terminal, in an interactive shell."""
    (folder / ".zshrc").write_text(ZSH)
    matches = folder / "matches"
    matches.touch()
    ours, its = pty.openpty()
    environment = {**os.environ, "ZDOTDIR": str(folder), "MATCHES": str(matches), "TERM": "dumb"}
    shell = subprocess.Popen(
        ["zsh", "-d", "-i"], stdin=its, stdout=its, stderr=its, env=environment, start_new_session=True
    )

    def until(word: str) -> set[str]:
        for _ in range(3000):
            words = matches.read_text().split()
            if word in words:
                return set(words) - {word}
            time.sleep(0.01)
        raise AssertionError(os.read(ours, 10000).decode(errors="replace"))

    try:
        until("READY")
        offered = []
        for line in lines:
            matches.write_text("")
            os.write(ours, b"\x15" + line.encode() + b"\t")
            offered.append(until("END"))
        return offered
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
        os.close(its)


@pytest.fixture(params=["bash", "zsh", "fish"])
def offered(
    request: pytest.FixtureRequest, build_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Offered:
    """Returns what a shell offers for each line, in a folder with a few files."""
    files = tmp_path / "files"
    files.mkdir()
    for name in ("m.slang", "m.kf.json", "m.kfa", "m.txt"):
        (files / name).touch()
    (files / "out").mkdir()
    monkeypatch.chdir(files)
    monkeypatch.setenv("PATH", f"{build_dir / 'tool'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def offer(*lines: str) -> list[set[str]]:
        if request.param == "zsh":
            return in_zsh(tmp_path, list(lines))
        command = ["bash", "-c", BASH] if request.param == "bash" else ["fish", "--no-config", "-c", FISH]
        return in_bash_or_fish(command, list(lines))

    return offer


def test_commands_and_words(offered: Offered) -> None:
    lines = {
        "kfgen ": COMMANDS,
        "kfgen ge": {"generate"},
        "kfgen -q generate --bac": {"--backend"},
        "kfgen generate --backend ": {"vulkan", "cuda"},
        "kfgen generate m.kf.json --error-format ": {"text", "json"},
        "kfgen explain m.kf.json f --show ": {"summary", "slang", "code", "ptx"},
        "kfgen completion ": {"bash", "zsh", "fish"},
        "kfgen inspect --pyth": set(),
    }
    assert dict(zip(lines, offered(*lines), strict=True)) == lines


def test_files(offered: Offered) -> None:
    """Folders may hold more of them, and some shells offer other files behind those that fit."""
    lines = ["kfgen generate ", "kfgen init ", "kfgen inspect "]
    first = ["m.kf.json", "m.slang", "m.kfa"]
    for line, words, file in zip(lines, offered(*lines), first, strict=True):
        # zsh tells a name without its ending apart.
        names = {word.rstrip("/") for word in words}
        assert file in names or file.partition(".")[0] in names, (line, words)
    (folders,) = offered("kfgen generate -o ")
    assert {word.rstrip("/") for word in folders} == {"out"}


def test_every_option_of_each_command(offered: Offered, build_dir: Path) -> None:
    for command, words in zip(COMMANDS, offered(*(f"kfgen {name} --" for name in COMMANDS)), strict=True):
        page = subprocess.run(
            [build_dir / "tool" / "kfgen", command, "--help"], capture_output=True, text=True, check=True
        )
        listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", page.stdout, re.MULTILINE)
        assert words == {*listed, "--help"}, command
