"""Runs the code of README.md and docs/: what is printed there is what it prints."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pages import blocks, fences, run

CPP_FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-Wno-unused"]

# What the snippets of configuring_calls.md and runtime.md take for granted.
CPP_START = """
#include <cstdio>
#include <kf/kf.h>
#include <kf/vulkan.h>
#include "application.h"
#include "polynomial.h"
"""
CPP_CONTEXT = """
const kf::Device device = kf::Device::open();
const polynomial::Module module(device);
const auto x = device.tensor<float>({1, 2, 3, 4}).with_grads();
"""
ADOPTED_CONTEXT = """
const Application application;
const auto& [instance, physical_device, device, queue, queue_family, pool] = application;
"""
COMMAND_BUFFER_CONTEXT = """
const Application application;
const kf::Device adopted = kf::adopt({application.instance, application.physical_device, application.device,
                                      application.queue, 0, {"int64"}, {}, {}, {}});
const polynomial::Module module(adopted);
const auto x = adopted.tensor<float>({1, 2, 3, 4});
"""


@pytest.fixture(scope="module")
def generated_polynomial(generated_folder: Callable[[str], Path]) -> Path:
    return generated_folder("polynomial")


@pytest.mark.parametrize("page", ["docs/configuring_calls.md", "docs/runtime.md"])
def test_cpp_snippets(
    page: str, source_dir: Path, build_dir: Path, generated_polynomial: Path, tmp_path: Path
) -> None:
    text = CPP_START
    calls = ""
    for number, code in enumerate(blocks(source_dir / page, "cpp")):
        includes = "".join(re.findall(r"^#include.*\n", code, re.MULTILINE))
        body = re.sub(r"^#include.*\n", "", code, flags=re.MULTILINE)
        context = ADOPTED_CONTEXT if "kf::adopt(" in body else CPP_CONTEXT
        context = COMMAND_BUFFER_CONTEXT if "kf::CommandBufferEncoder" in body else context
        text += f"{includes}\nvoid block{number}() {{\n{context}\n{{\n{body}\n}}\n}}\n"
        calls += f"block{number}(); "
    own = [noise_library(build_dir, tmp_path)] if "noise::" in text else []
    (tmp_path / "snippets.cpp").write_text(f"{text}\nint main() {{ {calls} }}\n")
    run(
        "g++", *CPP_FLAGS, "-I", source_dir / "runtime" / "include",
        "-I", generated_polynomial, "-I", source_dir / "tests" / "docs",
        tmp_path / "snippets.cpp", *own, "-o", tmp_path / "snippets",
        build_dir / "samples" / "polynomial" / "libpolynomial.a",
        build_dir / "runtime" / "core" / "libkf_runtime.a", "-ldl", "-l:libvulkan.so.1",
    )  # fmt: skip
    run(tmp_path / "snippets")


def noise_library(build_dir: Path, folder: Path) -> Path:
    """The source of a module whose calls need a shape, beside its header."""
    (folder / "noise.slang").write_text("float noise(uint2 pixel) { return frac(0.1 * pixel.x * pixel.y); }")
    call = {"function": "noise", "args": {"pixel": "call_id"}}
    spec = {"version": 1, "name": "noise", "modules": ["noise.slang"], "targets": ["vulkan"], "calls": [call]}
    (folder / "noise.kf.json").write_text(json.dumps(spec))
    run(build_dir / "tool" / "kfgen", "generate", folder / "noise.kf.json", "-o", folder, "--embed", "text")
    return folder / "noise.cpp"


@pytest.mark.parametrize("page", ["docs/configuring_calls.md", "docs/runtime.md"])
def test_python_snippets(
    page: str, source_dir: Path, generated_polynomial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(generated_polynomial))
    import kernelfunctions as kf  # noqa: PLC0415
    from kf_samples.polynomial import polynomial  # noqa: PLC0415

    names = {"kf": kf, "np": np, "polynomial": polynomial, "device": kf.default_device()}
    for code in blocks(source_dir / page, "python"):
        exec(code, names)


def test_readme_shows_the_samples(source_dir: Path) -> None:
    """The files and the error message in README.md are those of the samples."""
    text = (source_dir / "README.md").read_text()
    sample = source_dir / "samples" / "polynomial"
    assert (sample / "polynomial.slang").read_text() in blocks(source_dir / "README.md", "slang")
    assert (sample / "polynomial.kf.json").read_text() in blocks(source_dir / "README.md", "json")
    printed = (source_dir / "tests" / "samples" / "add.txt").read_text()
    assert printed.split("error: ")[1] in text
    assert len(text.splitlines()) < 140


def test_readme_example(
    source_dir: Path, build_dir: Path, generated_polynomial: Path, tmp_path: Path
) -> None:
    """Both programs print what README.md says; tests/root/documented.py builds them as it says, too."""
    page = source_dir / "README.md"
    (tmp_path / "main.cpp").write_text(blocks(page, "cpp")[0])
    run(
        "g++", *CPP_FLAGS, "-I", source_dir / "runtime" / "include", "-I", generated_polynomial,
        tmp_path / "main.cpp", "-o", tmp_path / "app",
        build_dir / "samples" / "polynomial" / "libpolynomial.a",
        build_dir / "runtime" / "core" / "libkf_runtime.a", "-ldl",
    )  # fmt: skip
    path = os.pathsep.join([str(generated_polynomial), os.environ["PYTHONPATH"]])
    by_python = run("env", f"PYTHONPATH={path}", sys.executable, "-c", blocks(page, "python")[0])
    assert run(tmp_path / "app") + by_python == blocks(page, "")[0]


def test_fused_losses(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """The page's program prints what it says, in both languages."""
    page = source_dir / "docs" / "fused_losses.md"
    (tmp_path / "lines.slang").write_text(blocks(page, "slang")[0])
    (tmp_path / "lines.kf.json").write_text(blocks(page, "json")[0])
    (tmp_path / "main.cpp").write_text(blocks(page, "cpp")[0])
    run(build_dir / "tool" / "kfgen", "generate", tmp_path / "lines.kf.json", "-o", tmp_path, "--python")
    program = tmp_path / "lines_demo"
    run(
        "g++", *CPP_FLAGS, "-I", source_dir / "runtime" / "include", "-I", tmp_path,
        tmp_path / "main.cpp", tmp_path / "lines.cpp", "-o", program,
        build_dir / "runtime" / "core" / "libkf_runtime.a", "-ldl",
    )  # fmt: skip
    printed = blocks(page, "")[0]
    assert run(program) == printed
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    assert run("env", f"PYTHONPATH={path}", sys.executable, "-c", blocks(page, "python")[0]) == printed


def test_device_headers(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """The page's kernel compiles with the header of its function, which has what the page says."""
    page = source_dir / "docs" / "device_headers.md"
    (tmp_path / "soft_ball.slang").write_text(blocks(page, "slang")[0])
    spec = tmp_path / "soft_ball.kf.json"
    spec.write_text(blocks(page, "json")[0])
    kfgen = build_dir / "tool" / "kfgen"
    run(kfgen, "generate", spec, "-o", tmp_path)
    listed = run(kfgen, "list", spec).split("soft_ball.cuh\n")[1]
    assert [line.strip() for line in listed.splitlines()] == blocks(page, "")[0].splitlines()
    sys.path.append(str(source_dir / "tests" / "python"))
    from cuda_by_hand import compiled  # noqa: PLC0415

    assert b".entry fit(" in compiled(blocks(page, "cuda")[0], f"-I{tmp_path}")
    (tmp_path / "sh.slang").write_text(blocks(page, "slang")[1])
    (tmp_path / "sh.kf.json").write_text(blocks(page, "json")[1])
    run(kfgen, "generate", tmp_path / "sh.kf.json", "-o", tmp_path)
    assert b".entry count(" in compiled(blocks(page, "cuda")[1], f"-I{tmp_path}")


def test_getting_started(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """The page's project, built against an installation, prints what the page says."""
    page = source_dir / "docs" / "getting_started.md"
    cpp = blocks(page, "cpp")
    python = blocks(page, "python")
    project = tmp_path / "colors"
    project.mkdir()
    (project / "colors.slang").write_text(blocks(page, "slang")[0])
    (project / "colors.kf.json").write_text(blocks(page, "json")[0])
    (project / "main.cpp").write_text(cpp[0])
    with_gradients = re.sub(r"(?s)const auto reds = .*?\n    }", lambda _: cpp[1] + "    }", cpp[0], count=1)
    (project / "gradients.cpp").write_text(with_gradients)
    (project / "CMakeLists.txt").write_text(
        blocks(page, "cmake")[0]
        + "add_executable(gradients gradients.cpp)\ntarget_link_libraries(gradients PRIVATE colors)\n"
    )
    prefix = tmp_path / "kernelfunctions"
    build = project / "build"
    run("cmake", "--install", build_dir, "--prefix", prefix)
    run("cmake", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=project)
    run("cmake", "--build", build)

    outputs = [re.sub(r"^\$.*\n", "", code) for code in blocks(page, "")]
    assert run(build / "app") in outputs
    assert run(build / "gradients") in outputs
    (installed,) = prefix.glob("lib/python3*/site-packages")
    path = os.pathsep.join(map(str, [build / "colors.generated", installed]))
    for code in python:
        start = "import numpy as np\n" if "np." in code and "import numpy" not in code else ""
        assert run("env", f"PYTHONPATH={path}", sys.executable, "-c", start + code) in outputs

    listing = run(prefix / "bin" / "kfgen", "list", "colors.kf.json", cwd=project).splitlines()
    listed = next(code for code in outputs if code.startswith("blend\n  (")).splitlines()
    shown = [without_hash(line) for line in listed if line != "  ..."]
    # The hash of a kernel's source is another one with every change to the templates.
    assert shown == [without_hash(line) for line in [*listing[:6], listing[-1]]]
    check_errors(project, prefix / "bin" / "kfgen", outputs)


def without_hash(line: str) -> str:
    return re.sub(r"\b[0-9a-f]{12}$", "(hash)", line)


def check_errors(project: Path, kfgen: Path, outputs: list[str]) -> None:
    spec = (project / "colors.kf.json").read_text()
    for old, new in [
        ('"function"', '"funktion"'),
        ('"blend"', '"blent"'),
        ('"a": "tensor[1]"', '"a": "tensor<int>[1]"'),
    ]:
        (project / "colors.kf.json").write_text(spec.replace(old, new))
        done = subprocess.run(
            [kfgen, "check", "colors.kf.json"], cwd=project, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert any(done.stderr.startswith(code) for code in outputs if code.startswith("colors.kf.json")), (
            done.stderr
        )


def test_checking_gradients(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """The page's function is found wrong where the page says so; last digits are the device's own."""
    page = source_dir / "docs" / "checking_gradients.md"
    (tmp_path / "fade.slang").write_text(blocks(page, "slang")[0])
    (tmp_path / "fade.kf.json").write_text(blocks(page, "json")[0])
    done = subprocess.run(
        [build_dir / "tool" / "kfgen", "check", "fade.kf.json", "--gradients"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr

    def words(text: str) -> list[str]:
        lines = [line for line in text.splitlines() if not line.startswith("fade on ")]
        return [re.sub(r"-?\d+(\.\d+)?(e[-+]\d+)?", "N", line) for line in lines]

    (shown,) = (code for code in blocks(page, "") if "--gradients" in code)
    assert words(done.stdout) == words(shown.split("\n", 1)[1])


def test_pytorch(
    source_dir: Path, build_dir: Path, generated_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    """The page's blocks run one after the other in one program, and print what stands below them."""
    page = source_dir / "docs" / "pytorch.md"
    (tmp_path / "curves.slang").write_text(blocks(page, "slang")[0])
    (tmp_path / "curves.kf.json").write_text(blocks(page, "json")[0])
    run(build_dir / "tool" / "kfgen", "generate", "curves.kf.json", "-o", tmp_path, "--python", cwd=tmp_path)
    found = fences(page)
    marker = "--- next block ---\n"
    # Making and compiling C++ is torch.compile's own business, and takes longer than all that is ours.
    program = (
        'import functools, torch\ntorch.compile = functools.partial(torch.compile, backend="aot_eager")\n'
    )
    expected = ""
    for (language, code), (following, text) in zip(found, [*found[1:], ("", "$ ")], strict=True):
        if language == "python":
            program += f"{code}print({marker!r}, end='')\n"
            expected += (text if not following and not text.startswith("$ ") else "") + marker
    (tmp_path / "page.py").write_text(program)
    folders = [tmp_path, generated_folder("tensor_views"), os.environ["PYTHONPATH"]]
    path = os.pathsep.join(map(str, folders))
    assert run("env", f"PYTHONPATH={path}", sys.executable, tmp_path / "page.py", cwd=tmp_path) == expected


def test_pytorchs_generated_tests(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """The page's commands, as they stand there, in the folder of its files."""
    page = source_dir / "docs" / "pytorch.md"
    (tmp_path / "curves.slang").write_text(blocks(page, "slang")[0])
    (tmp_path / "curves.kf.json").write_text(blocks(page, "json")[0])
    (inputs,) = (code for code in blocks(page, "python") if code.startswith("extents"))
    (tmp_path / "curves_torch_inputs.py").write_text(inputs)
    (commands,) = (code for code in blocks(page, "") if "--torch-tests" in code)
    generate, check = (line.removeprefix("$ ").split() for line in commands.splitlines())
    run(build_dir / "tool" / generate[0], *generate[1:], cwd=tmp_path)
    printed = run(sys.executable, "-m", *check, "-p", "no:cacheprovider", cwd=tmp_path)
    assert re.search(r"= 28 passed", printed), printed


def test_constants_at_run_time(source_dir: Path, build_dir: Path, tmp_path: Path) -> None:
    """The page's filters compute what their constants say, in both languages."""
    page = source_dir / "docs" / "link_time.md"
    (tmp_path / "filters.slang").write_text(blocks(page, "slang")[1])
    (tmp_path / "filters.kf.json").write_text(blocks(page, "json")[1])
    run(build_dir / "tool" / "kfgen", "generate", tmp_path / "filters.kf.json", "-o", tmp_path, "--python")
    python = f"""
import kernelfunctions as kf, numpy as np, filters
x = kf.Tensor.from_numpy(np.array([1, 2, 3], np.float32)).with_grads()
z = kf.Tensor.from_numpy(np.arange(256, dtype=np.float32))
{blocks(page, "python")[1]}
print(y.to_numpy(), x.grad.to_numpy(), filters.power(x).to_numpy())
print(np.array_equal(z.to_numpy(), np.arange(256).reshape(-1, 32)[:, ::-1].reshape(-1)))
"""
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    printed = run("env", f"PYTHONPATH={path}", sys.executable, "-c", python)
    assert printed == "[ 2. 16. 54.] [ 6. 24. 54.] [1. 4. 9.]\nTrue\n"
    (tmp_path / "main.cpp").write_text(
        f"""
#include <cstdio>
#include "filters.h"
int main() {{
const kf::Device device = kf::Device::open();
const filters::Module module(device);
const auto x = device.tensor<float>({{1, 2, 3}}).with_grads();
{blocks(page, "cpp")[1]}
for (const float one : cubed(x).to_vector()) std::printf("%g ", one);
for (const float one : x.grad().to_vector()) std::printf("%g ", one);
}}
"""
    )
    program = tmp_path / "filters_demo"
    run(
        "g++", *CPP_FLAGS, "-I", source_dir / "runtime" / "include", "-I", tmp_path,
        tmp_path / "main.cpp", tmp_path / "filters.cpp", "-o", program,
        build_dir / "runtime" / "core" / "libkf_runtime.a", "-ldl",
    )  # fmt: skip
    assert run(program) == "2 16 54 6 24 54 "
