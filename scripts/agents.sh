#!/bin/sh
# Installs real agents for `make live`: scripts/agents.sh FOLDER AGENT... Only from npm and PyPI, pinned, and without running
# install scripts, because some of them download from other places. Each agent gets FOLDER/bin/NAME. Agents that are already
# installed stay as they are. ANYHOOK_LATEST=1 installs the newest versions instead, into an empty folder.
set -u
folder=$1; shift
mkdir -p "$folder/bin"
folder=$(cd "$folder" && pwd)
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) platform=linux-x64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-arm64) platform=darwin-arm64 ;;
    *) echo "agents cannot be installed on $(uname -s) $(uname -m)" >&2; exit 1 ;;
esac

pinned() { if [ -n "${ANYHOOK_LATEST:-}" ]; then echo "$1"; else echo "$1@$2"; fi; }

packages() { # FOLDER PACKAGE...
    into=$folder/$1; shift
    mkdir -p "$into"
    npm install --prefix "$into" --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >"$into/install.log" 2>&1
}

newer_python() { # the wheels need Python 3.12; pyenv may put commands on the PATH for versions that are not selected
    for name in python3.14 python3.13 python3.12 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3; do
        "$name" -c "import sys; sys.exit(sys.version_info < (3, 12))" 2>/dev/null && echo "$name" && return
    done
    echo "Python 3.12 or newer is required and was not found" >&2
    return 1
}

wheels() { # FOLDER PACKAGE...
    into=$folder/$1; shift
    python=$(newer_python) && "$python" -m venv --clear "$into" && "$into/bin/pip" install -q "$@" >"$into/install.log" 2>&1
}

command_of() { # NAME PATH: make FOLDER/bin/NAME start PATH, with our own Node first on the PATH
    [ -e "$folder/$2" ] || return 1
    chmod +x "$folder/$2"
    printf '#!/bin/sh\nPATH="%s:$PATH" exec "%s" "$@"\n' "$folder/node/node_modules/node-$platform/bin" "$folder/$2" >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
}

node() { # most agents need Node 22 or newer, which systems often lack
    [ -x "$folder/node/node_modules/node-$platform/bin/node" ] || packages node "node-$platform@22"
}

failed=0
for name in "$@"; do
    [ -x "$folder/bin/$name" ] && continue
    echo "installing $name ..." >&2
    case $name in
        claude) packages claude "$(pinned "@anthropic-ai/claude-code-$platform" 2.1.325)" &&
            command_of claude "claude/node_modules/@anthropic-ai/claude-code-$platform/claude" ;;
        codex) node && packages codex "$(pinned @openai/codex 0.166.0)" && command_of codex codex/node_modules/.bin/codex ;;
        gemini) node && packages gemini "$(pinned @google/gemini-cli 0.61.0)" && command_of gemini gemini/node_modules/.bin/gemini ;;
        qwen) node && packages qwen "$(pinned @qwen-code/qwen-code 0.24.4)" && command_of qwen qwen/node_modules/.bin/qwen ;;
        copilot) packages copilot "$(pinned "@github/copilot-$platform" 1.0.102)" &&
            command_of copilot "copilot/node_modules/@github/copilot-$platform/copilot" ;;
        goose) packages goose "$(pinned "@aaif/goose-binary-$platform" 1.52.0)" &&
            command_of goose "goose/node_modules/@aaif/goose-binary-$platform/bin/goose" ;;
        kimi) node && packages kimi "$(pinned @moonshot-ai/kimi-code 2.1.0)" && command_of kimi kimi/node_modules/.bin/kimi ;;
        vibe) wheels vibe "$(pinned mistral-vibe 3.0.2 | sed 's/@/==/')" && command_of vibe vibe/bin/vibe ;;
        cline) packages cline "$(pinned "@cline/cli-$platform" 3.0.65)" &&
            command_of cline "cline/node_modules/@cline/cli-$platform/bin/cline" ;;
        opencode) packages opencode "$(pinned "opencode-$platform" 1.18.33)" &&
            command_of opencode "opencode/node_modules/opencode-$platform/bin/opencode" ;;
        *) echo "unknown agent $name" >&2; false ;;
    esac || { echo "$name could not be installed; see $folder/$name/install.log" >&2; failed=1; }
done
exit $failed
