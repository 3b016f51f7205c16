#!/usr/bin/env bash
# Tries `./bootstrap demo` in a new root file system, as a newcomer would: from nothing, and again without network.
#
# usage: demo.sh ROOT [--as-user] [--once] [NEW_ROOT_OPTION...]
#   --as-user  as a user who isn't root and has no sudo, in a path with spaces, with a home that can't be written
#   --once     not again without network
# ROOT has been made by new_root.sh. The checkout is then in ROOT, at the path that the last but one line prints.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source=$(git -C "$here" rev-parse --show-toplevel)
root=${1:?a root file system}
shift
user=root checkout=/root/kernelfunctions
if [ "${1:-}" = --as-user ]; then
    user=ada checkout='/srv/her code/kernel functions'
    shift
fi
once=false
if [ "${1:-}" = --once ]; then
    once=true
    shift
fi
options=("$@")
passed=0 failed=0

check() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
        printf 'passed: %s\n' "$2"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$2"
    fi
}

# in_root USER [OPTION...] COMMAND...: runs it in the checkout.
in_root() {
    local who=$1
    shift
    "$here/new_root.sh" run "$root" "${options[@]}" --user "$who" --folder "$checkout" "$@"
}

# demo LOG [OPTION...]: runs it, and writes the seconds before each line.
demo() {
    local log=$1 code=0 first
    shift
    in_root "$user" "$@" ./bootstrap demo 2>&1 </dev/null \
        | while IFS= read -r line; do printf '%5d s  %s\n' $SECONDS "$line"; done | tee "$log" || code=$?
    return $code
}

# When the first sample began to run.
first_sample() { sed -n '/==> .*add_demo$/{s/ s .*//;s/ //g;p;q}' "$1"; }

# What was built, and when; CMake looks for new files each time.
built() { grep -v 'verify_globs' "$root$checkout/build/release/.ninja_log" | sha256sum; }

git clone -q "$source" "$root$checkout"
chroot "$root" id "$user" >/dev/null 2>&1 || chroot "$root" useradd --create-home --shell /bin/bash "$user"
if [ "$user" != root ]; then
    chroot "$root" chown -R "$user:" "$checkout"
    chroot "$root" bash -c "chown root: ~$user && chmod 555 ~$user"

    code=0
    said=$(in_root "$user" ./bootstrap demo 2>&1) || code=$?
    packages=$(sed -n 's/.*have root install: apt-get install //p' <<<"$said")
    check "$([ $code = 1 ] && [ -n "$packages" ]; echo $?)" "without root and sudo, the packages to install are listed: $packages"
    in_root root apt-get update -q >/dev/null
    # shellcheck disable=SC2086 # one word a package
    in_root root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages >/dev/null
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0 SECONDS=0
demo "$log" || code=$?
check $code "demo, from nothing, as $user in '$checkout' (Debian $(cat "$root/etc/debian_version")): numbers after $(first_sample "$log") s, all after $SECONDS s"
if [ $code = 0 ]; then
    expected=$(grep -c '^[^#]' "$source/samples/demo.txt")
    check "$([ "$(grep -c '==> .*samples/' "$log")" = "$expected" ]; echo $?)" "each of the $expected samples ran"
fi
if [ $code = 0 ] && ! $once; then
    before=$(built) code=0 SECONDS=0
    demo "$log" --offline || code=$?
    check $code "demo again, without network: numbers after $(first_sample "$log") s, all after $SECONDS s"
    check "$([ "$before" = "$(built)" ]; echo $?)" "it built nothing"
fi
printf '%s\n' "$checkout"
printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
