#!/usr/bin/env bash
# Runs test_versions.py with one build of kernelfunctions and several PyTorch: no build of ours is against any of them.
# Downloads what it needs into build/torch_versions, which takes 2 GB for PyTorch 2.6 from PyPI; not a part of CI.
#
# usage: tests/torch/versions.sh [VERSION]...     (2.6.0 2.13.0), after ./bootstrap build and the target kf_python_gradients
# KF_BUILD_DIR: the build (build/release). PYTHON: an interpreter of the version that the extension was built for.
#
# Where pip finds no build for CPUs, PyPI's wheel serves without most of its 2.5 GB of CUDA libraries: it is linked with
# libraries of their names whose functions only end the process, and nothing calls them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
build=$(realpath "${KF_BUILD_DIR:-build/release}")
python=${PYTHON:-.venv/bin/python3}
versions=("$@")
[ $# -gt 0 ] || versions=(2.6.0 2.13.0)

# What PyTorch and the tests need beside it; sympy is one that all of them take.
needed=(filelock fsspec Jinja2 MarkupSafe mpmath networkx sympy==1.13.3 typing_extensions setuptools numpy==2.4.6
    pytest==9.2.0 iniconfig packaging pluggy Pygments)
# Its wheel registers kernels with the first when it is imported, and takes addresses of the second's functions.
real_12=(nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-cupti-cu12==12.4.127)
real_13=(nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85)

# stand_in FOLDER SITE: libraries with the functions that PyTorch's look for in those of CUDA that aren't there.
stand_in() {
    local folder=$1 libraries=("$2"/torch/lib/*.so*) names lib prefix
    mkdir -p "$folder"
    names=$(nm -D --undefined-only "${libraries[@]}" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u)
    for lib in $(objdump -p "${libraries[@]}" | awk '$1 == "NEEDED" { print $2 }' | sort -u); do
        case $lib in
            libcudart.* | libcupti.* | libcuda.*) ;;
            libcu* | libnccl* | libnv*)
                prefix=${lib#lib} prefix=${prefix%%.so*} prefix=${prefix%_host}
                { echo "void abort(void);"; sed -n "s/^${prefix}.*/void &(void) { abort(); }/Ip" <<<"$names"; } \
                    | gcc -w -shared -fPIC -Wl,-soname,"$lib" -x c - -o "$folder/$lib" ;;
        esac
    done
}

for version in "${versions[@]}"; do
    folder=$root/build/torch_versions/$version
    if [ ! -e "$folder/made" ]; then
        rm -rf "$folder"
        "$python" -m venv "$folder"
        pip=("$folder/bin/pip" install -q --disable-pip-version-check --no-compile --no-deps)
        "${pip[@]}" "${needed[@]}"
        if ! "${pip[@]}" "torch==$version+cpu" 2>"$folder/pip.log"; then
            "${pip[@]}" "torch==$version"
            if compgen -G "$folder/lib/python3.*/site-packages/torch-*.dist-info/METADATA" | xargs grep -q cu12; then
                "${pip[@]}" "${real_12[@]}"
            else
                "${pip[@]}" "${real_13[@]}"
            fi
            stand_in "$folder/stand_in" "$folder"/lib/python3.*/site-packages
        fi
        touch "$folder/made"
    fi
    export LD_LIBRARY_PATH=$folder/stand_in
    "$folder/bin/python3" -c 'import torch; print("PyTorch", torch.__version__,
        "with" if hasattr(torch.Tensor, "__dlpack_c_exchange_api__") else "without", "exchange API")'
    KF_BUILD_DIR=$build "$folder/bin/python3" -m pytest -q -p no:cacheprovider tests/torch/test_versions.py
done
