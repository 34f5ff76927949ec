#!/bin/sh
# Creates the virtual environment named by the first argument and installs the project into it, with the extras named by the
# second, if given. It changes nothing outside the checkout, unless the system's Python lacks `venv` and we may install it.
set -eu
venv=$1
extras=${2:-}

suitable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if suitable "$name"; then
            echo "$name"
            return
        fi
    done
    echo "anyhook needs Python 3.11 or newer and found none on PATH. Install it, or name it: make PYTHON=/path/to/python" >&2
    return 1
}

# Debian and its derivatives keep `venv` in a separate package.
make_venv() {
    if "$1" -m venv "$venv" 2>"$venv.log"; then
        rm -f "$venv.log"
        return
    fi
    version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if sh "$(dirname "$0")/tools.sh" "apt:python$version-venv" && "$1" -m venv --clear "$venv"; then
        rm -f "$venv.log"
        return
    fi
    cat "$venv.log" >&2
    echo "$1 cannot create a virtual environment. Install its venv module (Debian, Ubuntu: apt-get install python3-venv)." >&2
    rm -f "$venv.log"
    return 1
}

# An environment with a Python other than the requested one would run the tests with the wrong version.
version() {
    "$1" -c 'import sys; print(sys.version)' 2>/dev/null
}

if [ -n "${PYTHON:-}" ] && suitable "$venv/bin/python" && [ "$(version "$venv/bin/python")" != "$(version "$PYTHON")" ]; then
    echo "$venv has a Python other than $PYTHON. Name another folder, such as VENV=.venv-3.13, or remove this one." >&2
    exit 1
fi
if ! suitable "$venv/bin/python"; then
    python=$(find_python)
    echo "Setting up $venv with $("$python" --version) …"
    rm -rf "$venv"
    make_venv "$python"
fi
echo "Installing anyhook${extras:+ with $extras} into $venv …"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".${extras:+[$extras]}"
