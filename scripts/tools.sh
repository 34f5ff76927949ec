#!/bin/sh
# Installs the named programs if they are missing and we are allowed to: with apt-get as root or through a sudo that does not
# ask, or with Homebrew. `PROGRAM=PACKAGE` is a program from a package of another name, `apt:PACKAGE` a package without a
# program. It reports what is still missing; only a missing `apt:` package is a failure.
set -u

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

install() {
    if command -v apt-get >/dev/null 2>&1; then
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1 && return
        as_root apt-get update -qq >/dev/null 2>&1
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1
    elif command -v brew >/dev/null 2>&1; then
        brew install --quiet "$@" >/dev/null 2>&1
    else
        return 1
    fi
}

for name in "$@"; do
    case $name in
    apt:*)
        command -v apt-get >/dev/null 2>&1 && install "${name#apt:}" || exit 1
        ;;
    *)
        program=${name%%=*}
        command -v "$program" >/dev/null 2>&1 && continue
        echo "Installing $program …"
        install "${name#*=}"
        command -v "$program" >/dev/null 2>&1 ||
            echo "note: $program is missing and could not be installed. We go on without it."
        ;;
    esac
done
exit 0
