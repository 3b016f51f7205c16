#!/usr/bin/env bash
# Makes what tests/gpu/run.sh needs and a GPU machine may lack, into .gpu/ (or KF_GPU_FOLDER): the kernels of
# tests, samples and benchmarks for Vulkan and CUDA, and the headers and tools to build with. Run it where
# Slang is (./bootstrap build gets it), which may be the GPU machine itself. Then either run tests/gpu/run.sh
# there, or carry the checkout and .gpu/bundle.tar.xz to the GPU machine: run.sh unpacks it.
#
# KFGEN: the kfgen to use; else it is built in build/gpu. KF_GPU_ARCH: the GPU's architecture (default sm_90).
# KF_GPU_GENERATE: "there" carries kfgen instead of what it makes, for a GPU machine with NVRTC and more processors: run.sh
# then generates first. KF_GPU_PRODUCTS: as for list_specs.sh, here and in run.sh.
# KF_GPU_CARRY: more files to put into .gpu/carry/ (a Vulkan loader as .deb, Pillow as a wheel, SlangPy as a tar). Where the machine
# has no loader, NVIDIA's driver needs libegl1, libglvnd0, libgl1 and libglx0 beside libvulkan1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${KF_GPU_FOLDER:-.gpu}
architecture=${KF_GPU_ARCH:-sm_90}
python=python3
[ ! -x .venv/bin/python3 ] || python=.venv/bin/python3

kfgen=${KFGEN:-}
if [ -z "$kfgen" ]; then
    cmake -S . -B build/gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DKF_BUILD_TESTS=OFF -DKF_BUILD_SAMPLES=OFF \
        -DKF_BUILD_PYTHON=OFF
    cmake --build build/gpu --target kfgen
    kfgen=build/gpu/tool/kfgen
fi

mapfile -t specs < <(PYTHON=$python bash tests/gpu/list_specs.sh)
mkdir -p "$folder"
rm -rf "$folder/kfgen"
if [ "${KF_GPU_GENERATE:-here}" = there ]; then
    # kfgen goes along, with Slang's libraries. C++ structs need libclang, too: their kernels are made here.
    mkdir "$folder/kfgen"
    slang=$(dirname "$(ldd "$kfgen" | awk '/libslang-compiler/ { print $3 }')")
    cp -L "$kfgen" "$folder/kfgen/kfgen"
    cp -rL "$slang"/libslang-*.so* "$slang"/slang-standard-module-* "$folder/kfgen/"
    kfgen=$folder/kfgen/kfgen
    mapfile -t specs < <(grep -l '"structs"' "${specs[@]}")
fi
"$python" tests/gpu/generate.py "$kfgen" "$architecture" "$folder/generated" "${specs[@]}"

# Headers and tools that images of GPU machines lack, as Debian lays them out; and GoogleTest's source.
rm -rf "$folder/sysroot" "$folder/carry"
mkdir -p "$folder/sysroot/include" "$folder/sysroot/share/cmake" "$folder/sysroot/bin" "$folder/carry"
for entry in nlohmann stb vulkan vk_video; do
    [ ! -e "/usr/include/$entry" ] || cp -r "/usr/include/$entry" "$folder/sysroot/include/"
done
rm -f "$folder"/sysroot/include/vulkan/*.hpp
[ ! -d /usr/share/cmake/nlohmann_json ] || cp -r /usr/share/cmake/nlohmann_json "$folder/sysroot/share/cmake/"
[ ! -d /usr/src/googletest ] || cp -r /usr/src/googletest "$folder/sysroot/googletest"
for tool in spirv-as glslangValidator; do
    ! command -v $tool >/dev/null || cp "$(command -v $tool)" "$folder/sysroot/bin/"
done
for file in ${KF_GPU_CARRY:-}; do
    cp "$file" "$folder/carry/"
done

# Most wrappers of the Python tests are not compiled there with their artifact inside: those sources stay here.
excluded=()
for spec in tests/python/specs/*.kf.json tests/gpu/specs/*.kf.json build/conformance/*.kf.json; do
    grep -q "kf_python_$(basename "$spec" .kf.json)\b" tests/runtime/*/CMakeLists.txt || excluded+=(--exclude "generated/$(basename "$spec" .kf.json)/$(basename "$spec" .kf.json).cpp")
done
tar -C "$folder" "${excluded[@]}" --exclude '.*-state' --exclude generated/.cache -c generated sysroot carry $([ ! -d "$folder/kfgen" ] || echo kfgen) \
    | xz -T0 -3 >"$folder/bundle.tar.xz"
ls -lh "$folder/bundle.tar.xz"
