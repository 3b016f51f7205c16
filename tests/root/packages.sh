#!/usr/bin/env bash
# Installs and uses what `./bootstrap package` made, each kind of package in a root file system of its own, which has
# neither this checkout nor a compiler cache. Needs root, as new_root.sh does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
    cat <<'USAGE'
usage: packages.sh FOLDER SUITE [--quick]
  FOLDER   what ./bootstrap package made: build/packages
  SUITE    the release of Debian to install on: bookworm, trixie
  --quick  leaves out the source distributions, which pip compiles for minutes
USAGE
}
fail() { printf 'packages.sh: %s\n' "$*" >&2; exit 1; }

case ${1:-} in
    -h | --help) usage; exit ;;
esac
if [ $# -lt 2 ] || [ $# -gt 3 ] || { [ $# = 3 ] && [ "$3" != --quick ]; }; then
    usage >&2
    exit 2
fi
packages=$(realpath "$1") suite=$2 quick=${3:-}
[ -f "$packages/SHA256SUMS" ] || fail "$1 isn't what ./bootstrap package makes: it has no SHA256SUMS"

# Prints the name of the one package that a pattern matches.
the() {
    local found=("$packages"/$1)
    [ -f "${found[0]}" ] && [ ${#found[@]} = 1 ] || fail "not one file $1 in $packages"
    printf '%s\n' "${found[0]##*/}"
}
archive=$(the 'kernelfunctions-*-Linux-*.tar.gz')
wheel=$(the 'kernelfunctions-*.whl')
version=${archive#kernelfunctions-} version=${version%%-*}

# --- Roots ----------------------------------------------------------------------------------------

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/packages.XXXXXX")
running=''
# What is mounted in a root ends with its command (new_root.sh), so that nothing is mounted here.
clean_up() {
    [ -z "$running" ] || { kill -KILL "$running" 2>/dev/null; wait "$running" 2>/dev/null; } || true
    rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# inside ROOT SCRIPT: runs a script of bash in a root, as a new user's shell would.
inside() {
    local root=$scratch/$1 code=0
    # Packages of Debian are downloaded once for all roots.
    tests/root/new_root.sh run "$root" --keep "$scratch/downloads:/var/cache/apt/archives" \
        --env DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "$2" &
    running=$!
    wait $running || code=$?
    running=''
    return $code
}

apt='apt-get install -y -q --no-install-recommends'

# root_of FROM ROOT [last]: makes a root of another, which the last to ask for it has to itself, and puts the packages
# and the project into it.
root_of() {
    if [ "${3:-}" = last ]; then
        mv "$scratch/$1" "$scratch/$2"
    else
        cp -a --reflink=auto "$scratch/$1" "$scratch/$2"
    fi
    cp -r "$packages" "$scratch/$2/packages"
    cp -r "$scratch/project" "$scratch/$2/project"
}

remove_root() { rm -rf --one-file-system "${scratch:?}/$1"; }

# --- Checks ---------------------------------------------------------------------------------------

passed=0
failed=0

# check ROOT NAME SCRIPT [EXPECTED]: runs a script in a root, which must succeed; what it prints must end with the lines expected.
check() {
    local root=$1 name=$2 script=$3 expected=${4:-} output=$scratch/output start=${EPOCHREALTIME/./} code=0 problem='' last
    inside "$root" "$script" >"$output" 2>&1 || code=$?
    last=$(tail -n "$(printf '%s\n' "$expected" | wc -l)" "$output")
    if [ $code != 0 ]; then
        problem="ended with $code"
    elif [ -n "$expected" ] && [ "$last" != "$expected" ]; then
        problem="didn't print what was expected:"$'\n'"$expected"
    fi
    local took=$(((${EPOCHREALTIME/./} - start) / 100000))
    printf '%s  %4d.%d s  %s: %s\n' "$([ -z "$problem" ] && echo passed || echo FAILED)" $((took / 10)) $((took % 10)) "$root" "$name"
    if [ -n "$problem" ]; then
        failed=$((failed + 1))
        { printf '%s\n' "$problem"; tail -n 40 "$output"; } | cut -c1-300 | sed 's/^/    /'
        return
    fi
    passed=$((passed + 1))
}

left_out() { printf 'left out           %s\n' "$*"; }

# The first block of a language in the page on installing.
shown() { awk -v fence="^\`\`\`$1\$" '$0 ~ fence { inside = 1; next } /^```/ { if (inside) exit } inside' docs/installing.md; }

# What users have: a sample, and projects with kernels in a file and in libraries.
make_project() {
    local project=$scratch/project
    mkdir -p "$project/page" "$project/sample"
    cp -r samples/polynomial "$project/sample"
    cp samples/print.h "$project/sample"
    cat >"$project/sample/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(Sample LANGUAGES CXX)
find_package(KernelFunctions REQUIRED COMPONENTS runtime tool)
include_directories(.)
add_subdirectory(polynomial)
CMAKE
    cp -r tests/package/{consumer,library,program} "$project"
    shown slang >"$project/page/polynomial.slang"
    shown json >"$project/page/edited.json"
    [ -s "$project/page/edited.json" ] || fail "docs/installing.md shows no spec"
}
sample_prints=$(cat tests/samples/polynomial.txt)

# check_projects ROOT PREFIX: builds projects with a C++ package that is installed under a prefix, and runs them.
check_projects() {
    local root=$1 build="cmake -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH='$2;/root/installed'"
    check "$root" "the sample, configured, built and run" "
        $build -S /project/sample -B sample
        cmake --build sample
        sample/polynomial/polynomial_demo" "$sample_prints"
    check "$root" "kernels inside a program, in a file beside it, and beside a library" "
        $build -S /project/consumer -B consumer
        cmake --build consumer
        consumer/app; echo
        consumer/beside; echo
        consumer/bin/apart" $'2 4 6 \n3 4 5 \n3'
    check "$root" "a library of kernels with the shared runtime, installed, and a program of it" "
        $build -S /project/library -B library
        cmake --build library
        cmake --install library --prefix installed
        $build -S /project/program -B program
        cmake --build program
        program/program" '3 5 7 '
}

# check_page ROOT: the page's example, by the kfgen and the kernelfunctions of the environment `venv`.
check_page() {
    check "$1" "docs/installing.md: kfgen init and generate, and a call" "
        . venv/bin/activate
        cp -r /project/page page
        cd page
        kfgen init polynomial.slang
        kfgen generate polynomial.kf.json -o started --python
        cp edited.json polynomial.kf.json
        kfgen generate polynomial.kf.json -o . --python
        python -c 'from polynomial import polynomial; print(polynomial(2, 8, -1, [1, 2, 3, 4]).to_numpy())'" '[ 9. 23. 41. 63.]'
    check "$1" "the sample in Python, with gradients" "
        . venv/bin/activate
        kfgen generate /project/sample/polynomial/polynomial.kf.json -o generated/kf_samples --python-package kf_samples
        PYTHONPATH=generated python /project/sample/polynomial/polynomial_demo.py" "$sample_prints"
}

# Every file of a root but those that apt, dpkg and man keep for themselves.
list_files='find / -xdev \( -path /proc -o -path /dev -o -path /packages -o -path /project -o -path /root -o -path /tmp -o -path /var/cache \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o -path /etc/ld.so.cache \) -prune -o -print | sort'

# --- Each kind of package -------------------------------------------------------------------------

check_debs() {
    root_of compiler debs
    check debs "the system before" "$apt man-db >/dev/null; $list_files >/tmp/before"
    check debs "apt-get install ./*.deb" "cd /packages; apt-get install -y -q ./*.deb"
    check debs "kfgen --version" 'kfgen --version' "kfgen $version"
    check debs "man kfgen" "man -P cat kfgen | grep -q 'kfgen generate'"
    check debs "licences, of third parties too" "
        for package in libkernelfunctions0.1 libkernelfunctions-dev kfgen; do
            grep -q 'LLVM Exceptions' /usr/share/doc/\$package/copyright
            grep -q 'JSON for Modern C++' /usr/share/doc/\$package/copyright
        done
        grep -q glslang /usr/share/doc/kfgen/copyright"
    check_projects debs /usr
    check debs "the program, with libkernelfunctions0.1 alone" "
        apt-get purge -y -q kfgen libkernelfunctions-dev
        ! command -v kfgen
        program/program" '3 5 7 '
    check debs "apt-get purge leaves nothing" "
        apt-get purge -y -q 'libkernelfunctions*'
        $list_files >/tmp/after
        diff /tmp/before /tmp/after"
    remove_root debs
}

check_wheels() {
    local python built
    root_of device wheels ${quick:+last}
    check wheels "python3 -m venv" "$apt python3-venv; python3 -m venv venv"
    python=$(inside wheels 'python3 -c "import sys; print(\"%d.%d\" % sys.version_info[:2])"')
    built=${wheel#*-cp3} built=3.${built%%-*}
    if [ "$python" != "$built" ]; then
        left_out "wheels: kernelfunctions, which is for CPython $built; $suite has $python"
        check wheels "pip install kfgen" "venv/bin/pip install --find-links /packages kfgen==$version"
        check wheels "kfgen generate" "venv/bin/kfgen generate /project/sample/polynomial/polynomial.kf.json -o made --python
            test -s made/polynomial.kfa"
        remove_root wheels
        return
    fi
    check wheels "pip install kernelfunctions, where programs run" "
        python3 -m venv runtime
        runtime/bin/pip install --find-links /packages kernelfunctions==$version
        test ! -e runtime/bin/kfgen
        runtime/bin/python -m kernelfunctions | sed -n 1p" "kernelfunctions $version"
    check wheels "pip install kernelfunctions[tool], where kernels are compiled" "
        find venv -name __pycache__ -prune -o -print | sort >/tmp/before
        venv/bin/pip install --find-links /packages 'kernelfunctions[tool]==$version'
        venv/bin/pip check"
    check wheels "kfgen --version" 'venv/bin/kfgen --version' "kfgen $version"
    check wheels "licences, of third parties too" "
        for package in kernelfunctions kfgen; do
            test -s venv/lib/python3.*/site-packages/\$package-$version.dist-info/licenses/LICENSE
            grep -rq 'JSON for Modern C++' venv/lib/python3.*/site-packages/\$package-$version.dist-info/licenses
        done"
    check_page wheels
    check wheels "what kfgen wrote, in an environment without it" "
        PYTHONPATH=generated runtime/bin/python /project/sample/polynomial/polynomial_demo.py" "$sample_prints"
    check wheels "pip uninstall leaves nothing" "
        venv/bin/pip uninstall -y kernelfunctions kfgen numpy
        find venv -name __pycache__ -prune -o -print | sort >/tmp/after
        diff /tmp/before /tmp/after"
    remove_root wheels
}

check_archive() {
    root_of compiler archive last
    local prefix="/opt/a folder/${archive%.tar.gz}"
    check archive "tar -xzf, into a folder with a space in its name" "
        mkdir '/opt/a folder'
        tar -xzf '/packages/$archive' -C '/opt/a folder'
        # Nobody but its owner writes there.
        test -z \"\$(find '$prefix' -perm /022 ! -type l)\""
    check archive "kfgen --version" "'$prefix/bin/kfgen' --version" "kfgen $version"
    check archive "licences, of third parties too" "
        for name in kernelfunctions kernelfunctions-runtime kfgen; do
            test -s '$prefix'/share/doc/\$name/LICENSE
            grep -q 'JSON for Modern C++' '$prefix'/share/doc/\$name/third_party_licenses.txt
        done"
    check_projects archive "$prefix"
    remove_root archive
}

# The packages of Debian that the page on installing names for building a Python package from source.
documented_needs() { grep "^| \`$1\` | a compiler for C++20" docs/installing.md | grep -o '`[a-z0-9-]*-dev`' | tr -d '`' | tr '\n' ' '; }

check_sources() {
    local name needs
    root_of device sources last
    check sources "a compiler, Python's headers, python3 -m venv" "$apt g++ python3-dev python3-venv; python3 -m venv venv"
    for name in kernelfunctions kfgen; do
        needs=$(documented_needs $name)
        check sources "apt-get install ${needs% }" "$apt $needs"
        check sources "pip install $name-$version.tar.gz" "venv/bin/pip install /packages/$name-$version.tar.gz"
    done
    check_page sources
    remove_root sources
}

# --- All of them ----------------------------------------------------------------------------------

(cd "$packages" && sha256sum --check --quiet --strict SHA256SUMS) || fail "the packages aren't those of SHA256SUMS"
mkdir -p "$scratch/downloads/partial"
make_project
tests/root/new_root.sh make "$suite" "$scratch/device"
inside device "apt-get update -q >/dev/null; $apt mesa-vulkan-drivers >/dev/null 2>&1"
cp -a --reflink=auto "$scratch/device" "$scratch/compiler"
inside compiler "$apt g++ cmake make >/dev/null 2>&1"
printf '%4d s to make a root of %s, and one with a compiler\n' $SECONDS "$suite"

check_debs
check_archive
check_wheels
if [ -n "$quick" ]; then
    left_out "sources: --quick"
else
    check_sources
fi
printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
