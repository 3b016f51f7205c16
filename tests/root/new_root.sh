#!/usr/bin/env bash
# Makes root file systems of Debian from its packages alone, and runs commands in them as on a new machine. Needs root.
set -euo pipefail

usage() {
    cat <<'USAGE'
usage: new_root.sh make SUITE ROOT
       new_root.sh run ROOT [--keep FOLDER:PATH]... [--env NAME=VALUE]... [--user NAME] [--folder PATH] [--offline] COMMAND [ARGUMENT...]
  make  Makes the root file system of a release of Debian (bookworm, trixie) in the new folder ROOT: Debian's
        essential packages, apt and certificates. It takes packages, Python's too, from where this machine does.
  run   Runs a command in it, without this machine's environment. Its mounts and processes end with it.
    --keep FOLDER:PATH  FOLDER of this machine is PATH there, which caches need
    --env NAME=VALUE    a variable of the environment
    --user NAME         as a user who isn't root, made if there is none
    --folder PATH       in this folder instead of the user's home
    --offline           without network
USAGE
}
fail() { printf 'new_root.sh: %s\n' "$*" >&2; exit 1; }

# pip's configuration, of every file that it reads on this machine.
pip_configuration=(/etc/pip.conf /etc/xdg/pip "${XDG_CONFIG_HOME:-$HOME/.config}/pip")

# The folders of this machine that pip's configuration and environment name: of packages, or of an index beside its packages.
folders_of_pip() {
    local path
    { env | grep '^PIP_' || true
      grep -rhE '^[^#]' "${pip_configuration[@]}" 2>/dev/null || true; } \
        | { grep -oE '(file://|[ =])/[^ ,]+' || true; } | sed -E 's,^(file://|[ =]),,' | sort -u \
        | while read -r path; do
            path=${path%/simple}
            [ ! -d "$path" ] || printf '%s\n' "$path"
        done
}

make_root() {
    [ $# = 2 ] || { usage >&2; exit 2; }
    local suite=$1 root=$2 path
    [ "$(id -u)" = 0 ] || fail "only root can make the users and devices of a root file system"
    [ ! -e "$root" ] || fail "$root is there already"
    if ! command -v mmdebstrap >/dev/null; then
        apt-get update -q >/dev/null || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends mmdebstrap >/dev/null
    fi
    # Nobody needs the root after a power failure; waiting for the disk is half of what installing takes.
    mmdebstrap --quiet --variant=minbase --include=ca-certificates --dpkgopt=force-unsafe-io "$suite" "$root"
    apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90acquire"
    # Those of a proxy are among them.
    cat /etc/ssl/certs/ca-certificates.crt >"$root/etc/ssl/certs/ca-certificates.crt"
    for path in "${pip_configuration[@]}"; do
        if [ -e "$path" ]; then
            mkdir -p "$root/etc/xdg/pip"
            cp -r "$path" "$root/etc/xdg/${path##*/}"
        fi
    done
    [ ! -e "$root/etc/xdg/pip.conf" ] || mv "$root/etc/xdg/pip.conf" "$root/etc/pip.conf"
}

run_in_root() {
    [ $# -ge 2 ] || { usage >&2; exit 2; }
    local root=$1 binds=() environment=() user=root offline=() home folder='' entry
    shift
    while [[ ${1:-} == --* ]]; do
        case $1 in
            --keep) binds+=("$2"); shift 2 ;;
            --env) environment+=("$2"); shift 2 ;;
            --user) user=$2; shift 2 ;;
            --folder) folder=$2; shift 2 ;;
            --offline) offline=(--net); shift ;;
            *) usage >&2; exit 2 ;;
        esac
    done
    [ -d "$root/usr" ] || fail "$root is no root file system"
    chroot "$root" id "$user" >/dev/null 2>&1 || chroot "$root" useradd --create-home --shell /bin/bash "$user"
    home=$(chroot "$root" bash -c "echo ~$user")
    for entry in $(folders_of_pip); do
        binds+=("$entry:$entry")
    done
    for entry in $(compgen -e | grep -iE '^PIP_|_proxy$' || true); do
        environment+=("$entry=${!entry}")
    done
    for entry in "${binds[@]}"; do
        mkdir -p "${entry%%:*}" "$root${entry#*:}"
    done
    # In namespaces of its own, what is mounted and started here ends with the command, and with who called it: unshare
    # takes no SIGTERM.
    exec setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "${offline[@]}" bash -s "$root" "$user" "$home" "${folder:-$home}" \
        "${#binds[@]}" "${binds[@]}" "${#environment[@]}" "${environment[@]}" "$@" <<'INSIDE'
set -euo pipefail
root=$1 user=$2 home=$3 folder=$4
shift 4
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for file in resolv.conf hosts; do
    cat /etc/$file >"$root/etc/$file"
done
for ((left = $1; left > 0; --left)); do
    mount --bind "${2%%:*}" "$root${2#*:}"
    shift
done
shift
environment=("${@:2:$1}")
shift $(($1 + 1))
exec chroot "$root" setpriv --reuid "$user" --regid "$user" --init-groups env -i --chdir "$folder" HOME="$home" USER="$user" LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${environment[@]}" "$@" </dev/null
INSIDE
}

case ${1:-} in
    make) make_root "${@:2}" ;;
    run) run_in_root "${@:2}" ;;
    -h | --help) usage ;;
    *) usage >&2; exit 2 ;;
esac
