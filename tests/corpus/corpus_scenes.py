"""The corpus's temporary homes and projects: hooks of every dialect, each of which does what a file next to it says."""

from __future__ import annotations

import json
from typing import Any

SCRIPT = """#!/bin/sh
cat >> "{home}/seen.$1.$2"
echo >> "{home}/seen.$1.$2"
if [ -f "{home}/behave.$1" ]; then . "{home}/behave.$1"; elif [ -f "{home}/behave.all" ]; then . "{home}/behave.all"; fi
"""
"""Stores its input, then answers as the case says. `$1` is its dialect, `$2` the event it is declared for."""

USER = {
    "kode": ".config/kode/config.yaml",
    "kodik": "Documents/Kodik/Hooks/hooks.json",
    "agenthooks": ".config/agents/hooks",
    "kolega": ".local/state/kolega-code/hooks.json",
    "kodelet": ".kodelet/hooks",
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "copilot": ".copilot/hooks/a.json",
    "goose": ".agents/plugins/g/hooks/hooks.json",
}
PROJECT = {
    "kode": ".kode/config.yaml",
    "kodik": ".kodik/hooks/hooks.json",
    "agenthooks": ".agents/hooks",
    "kolega": ".kolega/hooks.json",
    "kodelet": ".kodelet/hooks",
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "copilot": ".github/hooks/a.json",
    "goose": ".agents/plugins/g/hooks/hooks.json",
}
DIALECTS = tuple(USER)

MATCHERS = {
    "kodik": "^Ba", "kolega": "execute_*|Bash", "claude": "Bash|Edit", "codex": "Bash|apply_patch", "gemini": "run_.*",
    "qwen": "run_shell_command|Bash", "copilot": "bash|create", "goose": "shell",
}  # fmt: skip

Files = dict[str, Any]

POLICY = """from kolega_code.hooks import HookOutcome


def deny(event):
    return HookOutcome.deny(f"no {event.name}")


async def context(event):
    return HookOutcome(additional_context="from python", updated_input={"command": "pwd"})


def crash(event):
    raise ValueError("a mistake")


def odd(event):
    return 5
"""
KINDS: dict[str, dict[str, Any]] = {
    "kolega-deny": {"type": "python", "callable": "policy:deny"},
    "kolega-context": {"type": "python", "callable": "policy:context"},
    "kolega-crash": {"type": "python", "callable": "policy:crash"},
    "kolega-odd": {"type": "python", "callable": "policy:odd"},
    "kolega-gone": {"type": "python", "callable": "policy:gone"},
    "kolega-prompt": {"type": "prompt", "prompt": "Is this fine? $ARGUMENTS"},
    "kolega-agent": {"type": "agent", "prompt": "Look closely."},
    "kolega-unknown": {"type": "telepathy"},
    "claude-prompt": {"type": "prompt", "prompt": "Is this fine? $ARGUMENTS"},
    "claude-agent": {"type": "agent", "prompt": "Look closely."},
    "claude-unknown": {"type": "telepathy"},
    "codex-prompt": {"type": "prompt", "prompt": "Is this fine?"},
    "qwen-unknown": {"type": "telepathy"},
    "kodik-unknown": {"type": "telepathy"},
}
"""Handlers other than commands that answer without a network; no model is configured."""


def hook_files(dialect: str, place: str, events: list[str], call: str = "", matcher: str | None = None) -> Files:
    """One hook per event, in this dialect's own files. `call` replaces the script."""

    def command(event: str) -> str:
        return call or f"{{home}}/h.sh {dialect} {event}"

    if dialect == "kode":
        rows = "".join(f"  {name}:\n    - exec: {command(name)}\n      timeout_ms: 60000\n" for name in events)
        return {place: f"hooks:\n{rows}"}
    if dialect == "agenthooks":
        files: Files = {}
        for name in events:
            only = f"matcher:\n  tool: {matcher}\n" if matcher and "tool" in name else ""
            front = f"---\nname: on-{name}\ndescription: of the corpus\ntrigger: {name}\n{only}---\n"
            files[f"{place}/on-{name}/HOOK.md"] = front
            files[f"{place}/on-{name}/scripts/run.sh"] = runnable(f"exec {command(name)}")
        return files
    if dialect == "kodelet":
        return {
            f"{place}/on_{name}": runnable(f'if [ "$1" = hook ]; then echo {name}; exit 0; fi\nexec {command(name)}')
            for name in events
        }
    if dialect == "copilot":
        match: Files = {"matcher": matcher} if matcher else {}
        hooks: Files = {name: [{"type": "command", "bash": command(name), **match}] for name in events}
        return {place: json.dumps({"version": 1, "hooks": hooks}, indent=1)}
    match = {"matcher": matcher} if matcher is not None else {}
    hooks = {name: [{**match, "hooks": [{"type": "command", "command": command(name)}]}] for name in events}
    head = {"schema_version": 1} if dialect == "kolega" else {}
    return {place: json.dumps({**head, "hooks": hooks}, indent=1)}


def runnable(script: str) -> dict[str, str]:
    return {"text": f"#!/bin/sh\n{script}\n", "mode": "755"}


def scenes(native: dict[str, list[str]]) -> dict[str, Any]:
    """Every scene of the matrix, by name. `native` has each dialect's own event names."""
    script = {"h.sh": {"text": SCRIPT, "mode": "755"}}
    work = {"a.txt": "alpha\n", "src/b.py": "print(1)\n"}
    found: dict[str, Any] = {}
    for name in DIALECTS:
        user = hook_files(name, USER[name], native[name])
        project = hook_files(name, PROJECT[name], native[name], f"{{home}}/h.sh {name} project")
        found[f"user-{name}"] = {"home": {**script, **user}, "project": work}
        found[f"project-{name}"] = {"home": script, "project": {**work, **project}}
        both = hook_files(name, USER[name], native[name], f"{{home}}/h.sh {name} user")
        found[f"both-{name}"] = {"home": {**script, **both}, "project": {**work, **project}}
        matched = hook_files(name, USER[name], native[name], matcher=MATCHERS.get(name, "Shell|Bash"))
        found[f"matcher-{name}"] = {"home": {**script, **matched}, "project": work}
        missing = hook_files(name, USER[name], native[name], "{home}/not-there.sh --now")
        found[f"missing-{name}"] = {"home": missing, "project": work}
        cut = {path: text[:-9] + "!{" if isinstance(text, str) else text for path, text in user.items()}
        found[f"unreadable-{name}"] = {"home": {**script, **cut}, "project": work}
    everything: Files = dict(script)
    elsewhere: Files = dict(work)
    for name in DIALECTS:
        everything |= hook_files(name, USER[name], native[name])
        elsewhere |= hook_files(name, PROJECT[name], native[name], f"{{home}}/h.sh {name} project")
    found["all-user"] = {"home": everything, "project": work}
    found["all-project"] = {"home": script, "project": elsewhere}
    for kind, handler in KINDS.items():
        name = kind.partition("-")[0]
        hooks = {event: [{"matcher": "", "hooks": [handler]}] for event in ("PreToolUse", "Stop", "UserPromptSubmit")}
        head = {"schema_version": 1} if name == "kolega" else {}
        files = {PROJECT[name]: json.dumps({**head, "hooks": hooks}, indent=1), "policy.py": POLICY}
        found[f"kind-{kind}"] = {"home": {}, "project": {**work, **files}}
    found["empty"] = {"home": {}, "project": work}
    settings = {
        "deny": 'on_failure = "deny"\n', "shadow": 'mode = "shadow"\n', "off-deny": 'off = "deny"\n',
        "unprotected": "protect = false\n", "odd": 'mode = "loud"\nwords = 3\n',
    }  # fmt: skip
    for label, text in settings.items():
        found[f"settings-{label}"] = {
            "home": {**everything, ".config/anyhook/config.toml": text}, "project": elsewhere,
        }  # fmt: skip
    plugin = hook_files("kodik", "hooks/hooks.json", native["kodik"], "{home}/h.sh kodik plugin")
    found["plugin"] = {
        "home": {**script, **hook_files("kodik", USER["kodik"], native["kodik"])}, "project": work,
        "plugin": {**plugin, ".kodik-plugin/plugin.json": '{"id": "guard"}'},
    }  # fmt: skip
    return found


def say(value: object) -> str:
    """A line of shell that prints the value; a `$2` in it is the event."""
    return f"cat <<END\n{json.dumps(value, ensure_ascii=False)}\nEND\n"


def special(**fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": "$2", **fields}}


def answers() -> dict[str, str]:
    """What hooks do, by name: every documented answer of every dialect, and ways to be broken."""
    found = {
        "silent": "",
        "text": "echo be brief\n",
        "stderr": "echo only talk >&2\n",
        "empty-object": "echo '{}'\n",
        "exit-1": "echo oops >&2; exit 1\n",
        "exit-2": "echo hands off >&2; exit 2\n",
        "exit-2-silent": "exit 2\n",
        "exit-2-stdout": "echo said aloud; exit 2\n",
        "exit-2-unicode": "printf 'n\\303\\266 \\342\\234\\227\\nzwei\\n' >&2; exit 2\n",
        "exit-3": "exit 3\n",
        "exit-127": "exit 127\n",
        "crash": "kill -9 $$\n",
        "term": "kill -15 $$\n",
        "cut-json": 'printf \'{"decision": "block", "rea\'\n',
        "list": "echo '[1, 2]'\n",
        "bytes": "printf '\\377\\376 broken'\n",
        "noise-then-block": "echo checking\n" + say({"decision": "block", "reason": "after noise"}),
        "two-objects": say({"decision": "approve"}) + say({"decision": "block", "reason": "second"}),
        "block-and-exit-1": say({"decision": "block", "reason": "in JSON"}) + "exit 1\n",
        "deny-on-stderr": 'echo \'{"decision": "deny", "reason": "wrong stream"}\' >&2\n',
        "env": 'printf "%s|%s|%s|%s" "$CLAUDE_PROJECT_DIR" "$GEMINI_SESSION_ID" "$KIMI_HOOK_DIR" "$KODE_SESSION_ID"\n',
        "cwd": "pwd >&2; exit 2\n",
    }
    objects: dict[str, object] = {
        "block": {"decision": "block", "reason": "not now"},
        "deny": {"decision": "deny", "reason": "not here"},
        "ask": {"decision": "ask", "reason": "sure?"},
        "allow": {"decision": "allow", "reason": "fine"},
        "approve": {"decision": "approve", "reason": "known"},
        "bad-decision": {"decision": "perhaps", "reason": 5},
        "blocked": {"blocked": True, "reason": "frozen"},
        "block-key": {"block": True, "reason": "closed"},
        "permission-deny": {"permissionDecision": "deny", "permissionDecisionReason": "no"},
        "permission-ask": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"},
        "permission-allow": {"permissionDecision": "allow"},
        "special-deny": special(permissionDecision="deny", permissionDecisionReason="not this one"),
        "special-ask": special(permissionDecision="ask", permissionDecisionReason="sure?"),
        "special-allow": special(permissionDecision="allow", permissionDecisionReason="safe"),
        "special-input": special(permissionDecision="allow", updatedInput={"command": "pwd"}),
        "special-context": special(additionalContext="the branch is main"),
        "special-output": special(updatedToolOutput={"stdout": "hidden"}),
        "special-tool-input": special(tool_input={"command": "new", "extra": [1, 2.5, None]}),
        "behavior-deny": {"behavior": "deny", "message": "never"},
        "behavior-allow": {"behavior": "allow"},
        "request-deny": special(decision={"behavior": "deny", "message": "never"}),
        "request-allow": special(decision={"behavior": "allow"}),
        "stop-turn": {"continue": False, "stopReason": "enough"},
        "message": {"systemMessage": "for the person ✓"},
        "modified-input": {"modified_input": {"command": "ls -la"}},
        "modified-prompt": {"modified_prompt": "fix it, with tests ✓", "replace_prompt": "replaced"},
        "camel-prompt": {"modifiedPrompt": "another prompt"},
        "modified-args": {"modifiedArgs": {"command": "new"}},
        "modified-result": {"modifiedResult": {"textResultForLlm": "shorter", "resultType": "success"}},
        "input": {"input": {"command": "true"}},
        "replace-input": {"replace_tool_input": {"command": "true"}, "annotation": "changed"},
        "output": {"output": {"text": "redacted"}},
        "context": {"additional_context": "the build is red"},
        "camel-context": {"additionalContext": "the build is red"},
        "annotation": {"annotation": "seen by the guard"},
        "follow-up": {"result": "continue", "follow_up_messages": ["run the tests", "then stop"]},
        "history": {"result": "mutate", "messages": [{"role": "user", "content": "short"}]},
        "recipe": {"result": "callback", "callback": "tidy", "callback_args": {"a": "b"}},
        "unread-key": {"decison": "block", "reason": "misspelt"},
        "rewrite-and-block": {"decision": "deny", "reason": "r", "modified_input": {"command": "true"}},
    }
    return {**found, **{name: say(value) for name, value in objects.items()}}


OWN = {
    "kode": ["exit-1", "replace-input", "annotation", "modified-prompt", "block-key"],
    "kodik": ["exit-2", "block", "approve", "modified-input", "modified-prompt", "context"],
    "agenthooks": ["exit-2", "deny", "ask", "allow", "modified-input", "context"],
    "kolega": ["exit-2", "special-deny", "special-input", "special-context", "message", "stop-turn", "special-output"],
    "kodelet": ["blocked", "input", "output", "follow-up", "history", "recipe"],
    "claude": ["exit-2", "special-deny", "special-ask", "special-allow", "special-input", "special-context", "block",
               "stop-turn", "message", "request-deny", "request-allow", "special-output"],
    "codex": ["exit-2", "special-deny", "special-input", "block", "stop-turn", "message", "request-deny", "text"],
    "gemini": ["exit-2", "deny", "block", "allow", "special-tool-input", "stop-turn", "message", "special-context"],
    "qwen": ["exit-2", "special-deny", "special-ask", "special-input", "block", "approve", "special-context",
             "stop-turn"],
    "copilot": ["exit-2", "permission-deny", "permission-ask", "permission-allow", "modified-args", "behavior-deny",
                "modified-result", "camel-context", "camel-prompt", "block"],
    "goose": ["exit-2", "block", "special-deny", "exit-1", "text"],
}  # fmt: skip
"""The answers that a dialect documents, or that its users would try first."""
