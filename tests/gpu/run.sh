#!/usr/bin/env bash
# Builds here what it needs and runs the whole suite on every GPU there is, on CUDA and on Vulkan: the C++
# tests, the Python tests, the samples, PyTorch's tests, compute-sanitizer over forward and backward, the benchmarks.
# Prints what passed, failed and was skipped, by name. Needs what tests/gpu/prepare.sh made, a C++ compiler, CMake,
# Ninja, and a Python with NumPy, Pillow, pybind11 and pytest; nvcc and compute-sanitizer are used where they are.
#
# usage: tests/gpu/run.sh [generate|build|tests|torch|torch2|sanitizers|bench]...     (all of them without arguments)
# generate makes the kernels where prepare.sh left that to this machine.
# torch runs PyTorch's tests on the first GPU; torch2 what takes two GPUs or more.
# PYTHON: the interpreter (python3). KF_GPU_FOLDER: what prepare.sh made (.gpu). KF_GPU_RESULTS: where logs
# and results go (build/gpu-results). KF_GPU_LIMIT: seconds after which a step is given up (300). KF_GPU_PRODUCTS: as for
# prepare.sh.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(realpath "${KF_GPU_FOLDER:-.gpu}")
results=${KF_GPU_RESULTS:-build/gpu-results}
build=${KF_GPU_BUILD:-build/gpu-run}
python=${PYTHON:-python3}
stages=("$@")
[ $# -gt 0 ] || stages=(generate build tests torch torch2 sanitizers bench)
mkdir -p "$results"
results=$(realpath "$results")
export KF_GPU_FOLDER=$folder
full_products=() cmake_products=OFF
[ "${KF_GPU_PRODUCTS:-full}" != full ] || full_products=(--full-product) cmake_products=ON
limit=(timeout --kill-after=10 "${KF_GPU_LIMIT:-300}")
: >"$results/steps.tsv"

# Runs a step, keeps its output in NAME.log and notes how it ended.
step() {
    local name=$1 start=$SECONDS status=passed
    shift
    "$@" >"$results/$name.log" 2>&1 || status=failed
    printf '%s\t%s\t%s\n' "$status" "$name" "$((SECONDS - start))" >>"$results/steps.tsv"
    echo "$status: $name ($((SECONDS - start)) s)"
    if [ $status = failed ]; then
        tail -n "${KF_GPU_TAIL:-15}" "$results/$name.log" | cut -c1-300 | sed 's/^/    /'
        return 1
    fi
}
skip() {
    printf 'skipped\t%s\t%s\n' "$1" "$2" >>"$results/steps.tsv"
    echo "skipped: $1: $2"
}

# --- What the machine may lack -------------------------------------------------------------------

bundle=$folder/bundle.tar.xz
if [ -e "$bundle" ] && { [ ! -e "$folder/unpacked" ] || [ "$bundle" -nt "$folder/unpacked" ]; }; then
    tar -C "$folder" -xf "$bundle" && touch "$folder/unpacked"
fi
[ -d "$folder/generated" ] || { echo "run.sh: nothing in $folder: run tests/gpu/prepare.sh first" >&2; exit 2; }

if ! ldconfig -p | grep -q 'libvulkan\.so\.1' && compgen -G "$folder/carry/libvulkan1*.deb" >/dev/null; then
    for package in "$folder"/carry/*.deb; do
        dpkg -x "$package" "$folder/loader"
    done
    export LD_LIBRARY_PATH=$folder/loader/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    icd=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
    [ ! -e $icd ] || export VK_DRIVER_FILES=$icd VK_ICD_FILENAMES=$icd
fi
for entry in "$folder"/carry/{slangpy,slangpy-*}.tar.xz; do
    if [ -e "$entry" ] && [ ! -d "$folder/site" ]; then
        mkdir -p "$folder/site" && tar -C "$folder/site" -xf "$entry"
    fi
done

# The samples in Python write pictures by Pillow.
if ! "$python" -c 'import PIL' 2>/dev/null && compgen -G "$folder/carry/pillow-*.whl" >/dev/null; then
    "$python" -m pip install -q --no-index --no-deps "$folder"/carry/pillow-*.whl
fi

for entry in "$folder"/carry/slangpy_torch*.tar.xz; do
    if [ -e "$entry" ] && [ ! -d "$folder/slangpy_torch" ]; then
        tar -C "$folder" -xf "$entry"
    fi
done

# The generated Python modules, each in a package of its name: kf_calls.calls.
mkdir -p "$folder/python"
for spec in $(bash tests/gpu/list_specs.sh | grep -E "^(tests/python|tests/gpu|build/conformance)/"); do
    name=$(basename "$spec" .kf.json)
    ln -sfn "$folder/generated/$name" "$folder/python/kf_$name"
done
export KF_BUILD_DIR=$PWD/$build KF_TEST_MODULES=$folder/python
export PYTHONPATH=$PWD/$build/python${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1

# --- Generating -----------------------------------------------------------------------------------

# Each spec by a process of its own.
generate() {
    export LD_LIBRARY_PATH=$folder/kfgen:/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    bash tests/gpu/list_specs.sh | xargs -P $((($(nproc) + 1) / 2)) -I {} "$python" tests/gpu/generate.py "$folder/kfgen/kfgen" \
        "${KF_GPU_ARCH:-sm_90}" "$folder/generated" {}
}

# --- Building -------------------------------------------------------------------------------------

build_googletest() {
    [ -e "$folder/sysroot/googletest/CMakeLists.txt" ] && [ ! -e "$build/googletest/installed" ] || return 0
    cmake -S "$folder/sysroot/googletest" -B "$build/googletest" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$PWD/$build/prefix" -DCMAKE_CXX_STANDARD=17 \
        && cmake --build "$build/googletest" --target install && touch "$build/googletest/installed"
}
configure() {
    local spirv_as=$folder/sysroot/bin/spirv-as glslang=$folder/sysroot/bin/glslangValidator
    ! command -v spirv-as >/dev/null || spirv_as=$(command -v spirv-as)
    ! command -v glslangValidator >/dev/null || glslang=$(command -v glslangValidator)
    [ -x "$glslang" ] || glslang=KF_GLSLANG-NOTFOUND
    local nvcc=()
    [ -n "${CUDACXX:-}" ] || [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=(-DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc)
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF \
        -DCMAKE_CXX_FLAGS="-idirafter $folder/sysroot/include" \
        -DCMAKE_PREFIX_PATH="$PWD/$build/prefix;$folder/sysroot" -DKF_BUILD_TOOL=OFF -DKF_BUILD_BENCH=ON \
        -DKF_FULL_PRODUCTS=$cmake_products \
        -DKFGEN_EXECUTABLE="$PWD/tests/gpu/kfgen_replay" -DKF_SPIRV_AS="$spirv_as" -DKF_GLSLANG="$glslang" \
        -DPython_EXECUTABLE="$(command -v "$python")" "${nvcc[@]}" ${KF_GPU_CMAKE:-}
}
compile() {
    local part targets=()
    for part in tests/runtime/{core,vulkan,cuda,devices} tests/tool/check tests/bench samples runtime/python; do
        [ ! -e "$part/CMakeLists.txt" ] || targets+=("$part/all")
    done
    ninja -k 0 -C "$build" "${targets[@]}"
}

# --- The steps -----------------------------------------------------------------------------------

device_ids() {
    "$python" - "$1" <<'PYTHON'
import sys
import kernelfunctions as kf
found = kf.devices()
chosen = [d for d in found if not d.is_cpu] or found
print(*(d.id for d in chosen if sys.argv[1] in ("all", d.backend)))
PYTHON
}

run_gtest() {
    local program=$1 name
    shift
    name=$(basename "$program")${GTEST_SHARD_INDEX:+.$GTEST_SHARD_INDEX}
    step "$name" "${limit[@]}" "$program" --gtest_brief=1 --gtest_output=json:"$results/$name.gtest.json" "$@"
}

# Every `every`-th of the files, beginning with the `share`-th.
run_python() {
    local id=$1 share=$2 every=$3 name=python.${1/:/_}.$2 files=() i
    shift 3
    for ((i = share + 1; i <= $#; i += every)); do
        files+=("${!i}")
    done
    step "$name" env KF_DEVICE="$id" "${limit[@]}" "$python" -m pytest -q "${full_products[@]}" "${files[@]}" \
        -p no:cacheprovider --tb=short --maxfail=50 --junitxml="$results/$name.junit.xml"
}

# What it measures, conformance.DEVICE.json, is for tests/conformance/numerics.py.
run_conformance() {
    local name=conformance.${1/:/_}
    step "$name" env KF_DEVICE="$1" KF_CONFORMANCE="$results/$name.json" "${limit[@]}" "$python" -m pytest -q \
        tests/conformance/test_conformance.py -p no:cacheprovider --tb=short --junitxml="$results/$name.junit.xml"
}

# For tests that generate while they run: kfgen with Slang's libraries, as prepare.sh carries it for "generate".
carried_kfgen() {
    [ -x "$folder/kfgen/kfgen" ] || return 1
    mkdir -p "$build/tool"
    cat >"$build/tool/kfgen" <<RUN
#!/usr/bin/env bash
export LD_LIBRARY_PATH='$folder/kfgen':/usr/local/cuda/lib64\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
exec '$folder/kfgen/kfgen' "\$@"
RUN
    chmod +x "$build/tool/kfgen"
}

# All beside one another: most of them use one core and little of the GPU.
run_tests() {
    local program id share every=8 files=(tests/python/test_*.py)
    if ! carried_kfgen; then
        skip python.generating "there is no kfgen: KF_GPU_GENERATE=there carries it"
        mapfile -t files < <(grep -L '^from generating import' "${files[@]}")
    fi
    for program in "$build"/tests/runtime/*/*_test "$build"/tests/tool/check/*_test; do
        case $program in
            *_validation_test)
                if compgen -G '/usr/share/vulkan/explicit_layer.d/*validation.json' >/dev/null; then
                    run_gtest "$program"
                else
                    skip "$(basename "$program")" "the Vulkan validation layer is not installed"
                fi ;;
            */check_gradients_test)
                # Differences take hundreds of launches a gradient.
                for ((share = 0; share < every; share++)); do
                    GTEST_TOTAL_SHARDS=$every GTEST_SHARD_INDEX=$share run_gtest "$program" &
                done ;;
            *) run_gtest "$program" & ;;
        esac
    done
    step samples "${limit[@]}" ctest --test-dir "$build" -R '^sample_' --output-on-failure &
    for id in $(device_ids all); do
        for ((share = 0; share < every; share++)); do
            run_python "$id" $share $every "${files[@]}" &
        done
        run_conformance "$id" &
    done
    wait
    [ -n "$(device_ids cuda)" ] || skip "python.cuda" "$(why_no_cuda)"
}

why_no_cuda() {
    KF_DEVICE=cuda "$python" -c 'import kernelfunctions as kf; kf.default_device()' 2>&1 | tail -n 1 | cut -c1-300
}

# run_torch_file FILE NAME DEVICE VARIABLE=VALUE...
run_torch_file() {
    local file=$1 device=$3 step_name
    step_name=torch.$2.$(basename "$file" .py)
    shift 3
    # Without a limit each process starts a compiler for every core.
    step "$step_name" env KF_TEST_TORCH_DEVICE="$device" OMP_NUM_THREADS=2 TORCHINDUCTOR_COMPILE_THREADS=2 "$@" \
        "${limit[@]}" "$python" -m pytest -q "$file" -p no:cacheprovider --tb=short --maxfail=50 \
        --junitxml="$results/$step_name.junit.xml"
}

# run_torch_tests NAME DEVICE VARIABLE=VALUE...: each file in a process of its own, beside the others; last and
# alone those that measure how much of the GPU's memory is taken.
run_torch_tests() {
    local file
    for file in tests/torch/test_*.py; do
        [ "$file" = tests/torch/test_vulkan_kernels.py ] || run_torch_file "$file" "$@" &
    done
    wait
    run_torch_file tests/torch/test_vulkan_kernels.py "$@"
}

gpus() { "$python" -c 'import torch; print(torch.cuda.device_count())' 2>/dev/null || echo 0; }

# CUDA's tensors, and the CPU's on the GPU's Vulkan.
run_torch() {
    if [ "$(gpus)" = 0 ]; then
        skip torch "no PyTorch that finds a GPU"
        return
    fi
    run_torch_tests cuda cuda KF_DEVICE=cuda:0
    [ -z "$(device_ids vulkan)" ] || run_torch_tests vulkan cpu KF_DEVICE=vulkan:0
    wait
}

# All tests with tensors on the second GPU while the first is current, and training by as many processes as there are GPUs.
run_torch2() {
    local count processes way name options
    count=$(gpus)
    if [ "$count" -lt 2 ]; then
        skip torch2 "needs 2 GPUs"
        return
    fi
    run_torch_tests second cuda:1 KF_DEVICE=cuda:0
    wait
    for processes in 1 2 4 8; do
        for way in copied sharded; do
            [ "$processes" -le "$count" ] && [ "$processes.$way" != 1.sharded ] || continue
            name=torchrun.$processes.$way options=()
            [ $way = copied ] || options=(--shard)
            mkdir -p "$results/$name"
            step "$name" in_folder "$results/$name" "${limit[@]}" "$python" -m torch.distributed.run --standalone \
                --nproc-per-node "$processes" "$PWD/samples/neural_texture/neural_texture_torch.py" "${options[@]}" \
                && step "$name.losses" "$python" tests/gpu/same_losses.py \
                    "$results"/{torchrun.1.copied,"$name"}/neural_texture.csv
        done
    done
}

# in_folder FOLDER COMMAND...: runs a sample in the folder that it writes to; the modules of samples can be imported.
in_folder() {
    local folder=$1 path
    shift
    path=$(find "$PWD/$build/samples" -name '*.generated' -type d -printf '%p:')
    (cd "$folder" && PYTHONPATH=$path$PYTHONPATH "$@")
}

run_sanitizers() {
    local tool sanitizer
    sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    for tool in memcheck racecheck initcheck; do
        if [ -z "$(device_ids cuda)" ]; then
            skip "$tool" "no CUDA device"
        elif [ ! -x "$sanitizer" ]; then
            skip "$tool" "compute-sanitizer is not installed"
        else
            step "$tool" "${limit[@]}" "$sanitizer" --tool $tool --error-exitcode 9 \
                "$build/tests/runtime/devices/runtime_devices_test" \
                --gtest_filter='*Calls*/cuda_0:*Streams*/cuda_0:-*FirstCallsOfTwo*' --gtest_brief=1
            # Kernels of every type and layout; the checks themselves are in the Python tests above.
            step "$tool.python" env KF_DEVICE=cuda:0 "${limit[@]}" "$sanitizer" --tool $tool --error-exitcode 9 \
                --target-processes all "$python" -m pytest -q -x -p no:cacheprovider \
                tests/python/test_matrix.py tests/python/test_backward.py ${KF_GPU_SANITIZED:-}
            [ $tool = memcheck ] && [ "$(gpus)" != 0 ] || continue
            # Each tensor of PyTorch's then is an allocation of its own, past whose end nothing lies.
            step "$tool.torch" env KF_DEVICE=cuda:0 KF_TEST_TORCH_DEVICE=cuda PYTORCH_NO_CUDA_MEMORY_CACHING=1 "${limit[@]}" \
                "$sanitizer" --tool $tool --error-exitcode 9 "$python" -m pytest -q -x -p no:cacheprovider \
                tests/torch/test_versions.py -k 'not compiled and not without_the_exchange_api'
        fi
    done
}

run_bench() {
    # SlangPy's own package for PyTorch is compiled against the PyTorch that is here.
    if [ -d "$folder/slangpy_torch" ] && [ "$(gpus)" != 0 ]; then
        step slangpy_torch env PYTHON="$python" bash "$folder/slangpy_torch/build.sh" "$folder/site"
    fi
    step bench "${limit[@]}" "$python" tests/bench/run.py --build "$build" --out "$results/bench.json" --python "$folder/site"
}

for stage in "${stages[@]}"; do
    case $stage in
        generate) [ ! -d "$folder/kfgen" ] || step generate generate || break ;;
        build)
            step googletest build_googletest && step configure configure && step compile compile || break ;;
        tests) run_tests ;;
        torch) run_torch ;;
        torch2) run_torch2 ;;
        sanitizers) run_sanitizers ;;
        bench) run_bench ;;
        *) echo "run.sh: no stage '$stage'" >&2; exit 2 ;;
    esac
done
exec "$python" tests/gpu/summary.py "$results"
