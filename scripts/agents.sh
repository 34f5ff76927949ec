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

pinned() { # PACKAGE VERSION; without @latest, npm takes an older version that fits the Node of the system
    if [ -n "${ANYHOOK_LATEST:-}" ]; then echo "$1@latest"; else echo "$1@$2"; fi
}

packages() { # FOLDER PACKAGE...
    into=$folder/$1; shift
    mkdir -p "$into"
    npm install --prefix "$into" --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >"$into/install.log" 2>&1
}

fitting_python() { # the wheels need Python 3.12 or 3.13, OpenHands 3.12; pyenv may offer commands of versions not selected
    for name in python3.12 python3.13 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23]*/bin/python3; do
        "$name" -c "import sys; sys.exit(sys.version_info[:2] not in ((3, 12), (3, 13)))" 2>/dev/null && echo "$name" && return
    done
    echo "Python 3.12 or 3.13 is required and was not found" >&2
    return 1
}

wheels() { # FOLDER PACKAGE VERSION
    into=$folder/$1
    python=$(fitting_python) && "$python" -m venv --clear "$into" &&
        "$into/bin/pip" install -q "$(pinned "$2" "$3" | sed 's/@latest$//; s/@/==/')" >"$into/install.log" 2>&1
}

command_of() { # NAME PATH [VARIABLE=VALUE]: make FOLDER/bin/NAME start PATH, with our own Node first on the PATH
    [ -e "$folder/$2" ] || return 1
    chmod +x "$folder/$2"
    printf '#!/bin/sh\n%s PATH="%s:$PATH" exec "%s" "$@"\n' "${3:-}" "$folder/node/node_modules/node-$platform/bin" "$folder/$2" >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
}

token_tables() { # FOLDER: what tiktoken would fetch from another place; a wheel has these files as well
    into=$folder/$1/token_tables
    "$folder/$1/bin/pip" download -q --no-deps -d "$into" litellm==1.109.1 &&
        "$folder/$1/bin/python" -c 'import glob, os, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.whl")[0])
for name in wheel.namelist():
    if "/tokenizers/" in name and len(os.path.basename(name)) == 40:
        open(os.path.join(sys.argv[1], os.path.basename(name)), "wb").write(wheel.read(name))' "$into"
}

node() { # most agents need Node 22 or newer, which systems often lack
    [ -x "$folder/node/node_modules/node-$platform/bin/node" ] || packages node "node-$platform@22"
}

unpacked() { # FILE.br FILE: what the package's own install script would do
    PATH="$folder/node/node_modules/node-$platform/bin:$PATH" command node -e '
        const { createReadStream, createWriteStream } = require("fs"), { createBrotliDecompress } = require("zlib")
        createReadStream(process.argv[1]).pipe(createBrotliDecompress()).pipe(createWriteStream(process.argv[2]))
    ' "$folder/$1" "$folder/$2"
}

program_of() { # what an agent's command is called, where that is not its name
    case $1 in
        codepuppy) echo code-puppy ;;
        deepagents) echo dcode ;;
        kolega) echo kolega-code ;;
        mastra) echo mastracode ;;
        *) echo "$1" ;;
    esac
}

failed=0
for name in "$@"; do
    [ -x "$folder/bin/$(program_of "$name")" ] && continue
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
        vibe) wheels vibe mistral-vibe 3.0.2 && command_of vibe vibe/bin/vibe ;;
        cline) packages cline "$(pinned "@cline/cli-$platform" 3.0.65)" &&
            command_of cline "cline/node_modules/@cline/cli-$platform/bin/cline" ;;
        opencode) packages opencode "$(pinned "opencode-$platform" 1.18.33)" &&
            command_of opencode "opencode/node_modules/opencode-$platform/bin/opencode" ;;
        grok) node && packages grok "$(pinned "@xai-official/grok-$platform" 1.0.41)" &&
            unpacked "grok/node_modules/@xai-official/grok-$platform/bin/grok.br" grok/grok && command_of grok grok/grok ;;
        reasonix) packages reasonix "$(pinned "@reasonix/cli-$platform" 1.38.11)" &&
            command_of reasonix "reasonix/node_modules/@reasonix/cli-$platform/bin/reasonix" ;;
        kilo) packages kilo "$(pinned "@kilocode/cli-$platform" 7.7.9)" &&
            command_of kilo "kilo/node_modules/@kilocode/cli-$platform/bin/kilo" ;;
        pi) node && packages pi @earendil-works/pi-coding-agent@0.87.1 && # later ones ask for packages that npm does not have
            command_of pi pi/node_modules/.bin/pi ;;
        mastra) node && packages mastra "$(pinned mastracode 0.32.1)" && command_of mastracode mastra/node_modules/.bin/mastracode ;;
        openclaw) node && packages openclaw "$(pinned openclaw 2026.9.2)" &&
            command_of openclaw openclaw/node_modules/.bin/openclaw ;;
        codebuddy) wheels codebuddy codebuddy-agent-sdk 0.3.274 && # the SDK holds the program
            headless=$(cd "$folder" && echo codebuddy/lib/python3*/site-packages/codebuddy_agent_sdk/bin/codebuddy-headless) &&
            command_of codebuddy "$headless" ;;
        letta) wheels letta letta 0.34.12 && command_of letta letta/bin/letta ;;
        openhands) wheels openhands openhands 1.16.0 && command_of openhands openhands/bin/openhands ;;
        hermes) wheels hermes hermes-agent 0.19.0 && command_of hermes hermes/bin/hermes ;;
        deepagents) wheels deepagents deepagents-code 0.1.88 && command_of dcode deepagents/bin/dcode ;;
        codepuppy) wheels codepuppy code-puppy 0.0.946 && command_of code-puppy codepuppy/bin/code-puppy ;;
        kolega) wheels kolega kolega-code 0.45.1 && token_tables kolega &&
            command_of kolega-code kolega/bin/kolega-code "TIKTOKEN_CACHE_DIR=\"$folder/kolega/token_tables\"" ;;
        *) echo "unknown agent $name" >&2; false ;;
    esac || { echo "$name could not be installed; see $folder/$name/install.log" >&2; failed=1; }
done
exit $failed
