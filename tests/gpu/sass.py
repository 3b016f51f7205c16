"""Prints a table of what the SASS in an artifact does: python tests/gpu/sass.py KFGEN FILE.kfa ARCHITECTURE

Needs cuobjdump and nvdisasm (PATH): of the CUDA Toolkit, or `pip install nvidia-cuda-cuobjdump
nvidia-cuda-nvdisasm`. docs/results/sass.md says what was found.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Instructions that are counted, by the start of their names.
COUNTED = {
    "local": ("LDL", "STL"),
    "vote": ("VOTE",),
    "match": ("MATCH",),
    "shfl": ("SHFL",),
    "atomic": ("ATOM", "RED.", "REDG"),
}


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def cubins(kfgen: str, artifact: Path, architecture: str) -> list[bytes]:
    """Each cubin once. An artifact holds images as they are, so a size and a hash find one."""
    content = artifact.read_bytes()
    listed = re.findall(
        rf"cubin {architecture} +(\d+) bytes +([0-9a-f]{{64}})", run(kfgen, "inspect", str(artifact))
    )
    found: list[bytes] = []
    for size, digest in dict.fromkeys(listed):
        starts = (match.start() for match in re.finditer(b"\x7fELF", content))
        images = (content[start : start + int(size)] for start in starts)
        found.append(next(image for image in images if hashlib.sha256(image).hexdigest() == digest))
    return found


def instructions(sass: str) -> dict[str, list[str]]:
    """The instructions of each kernel, without addresses, predicates and padding."""
    kernels: dict[str, list[str]] = {}
    name = ""
    for line in sass.splitlines():
        if match := re.search(r"Function : (\S+)", line):
            name = match[1]
            kernels[name] = []
        elif match := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?\s*(\S[^;]*);", line):
            kernels[name].append(match[1].strip())
    return {name: [text for text in lines if text != "NOP"] for name, lines in kernels.items()}


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__)
        return 2
    kfgen, artifact, architecture = sys.argv[1:]
    print("| kernel | instructions | registers | stack | " + " | ".join(COUNTED) + " |")
    print("|---|" + "--:|" * (3 + len(COUNTED)))
    with tempfile.TemporaryDirectory() as folder:
        for cubin in cubins(kfgen, Path(artifact), architecture):
            path = Path(folder) / "kernels.cubin"
            path.write_bytes(cubin)
            usage = run("cuobjdump", "--dump-resource-usage", str(path))
            resources = {
                name: (registers, stack)
                for name, registers, stack in re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+)", usage)
            }
            for name, lines in sorted(instructions(run("cuobjdump", "-sass", str(path))).items()):
                counts = [sum(line.startswith(starts) for line in lines) for starts in COUNTED.values()]
                cells = [len(lines), *resources[name], *counts]
                print(f"| `{name}` | " + " | ".join(map(str, cells)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
