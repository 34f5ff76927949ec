"""Project files of every dialect, each with one hook and a placeholder for a number. Shared by tests of what a
project's files may do to the user's hooks."""

from __future__ import annotations

import json

from anyhook.tables.registry import DIALECTS, dialect, sample

COMMAND = '{"type": "command", "command": "true", "timeout": %s}'
GROUP = '{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [' + COMMAND + "]}]}}"

PROJECT_FILES: dict[str, tuple[tuple[str, str], ...]] = {
    "kode": (
        (".kode/config.yaml", "hooks:\n  tool_call_pre:\n    - exec: ['true']\n      timeout_ms: %s\n"),
        (".kode/config.yaml", '{"hooks": {"tool_call_pre": [{"exec": ["true"], "timeout_ms": %s, "timeout": %s}]}}'),
    ),
    "kodik": (
        (".kodik/hooks/hooks.json", GROUP),
        (
            ".kodik/hooks/hooks.toml",
            '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "true"\ntimeout = %s\n',
        ),
    ),
    "agenthooks": (
        (
            ".agents/hooks/it/HOOK.md",
            "---\nname: it\ndescription: d\ntrigger: before_tool\ntimeout: %s\npriority: %s\n---\n",
        ),
    ),
    "kolega": (
        (
            ".kolega/hooks.json",
            '{"schema_version": 1, "hooks": {"PreToolUse": [{"hooks": [' + COMMAND + "]}]}}",
        ),
        (".kolega/hooks.json", '{"schema_version": %s, "hooks": {}}'),
    ),
    "kodelet": ((".kodelet/hooks/it", "#!/bin/sh\necho %s\n"),),
    "claude": (
        (".claude/settings.json", GROUP),
        (".claude/settings.local.json", GROUP),
        (
            ".claude/agents/a.md",
            "---\nname: a\nhooks:\n  PreToolUse:\n"
            "    - hooks:\n        - {type: command, command: 'true', timeout: %s}\n---\n",
        ),
    ),
    "codex": (
        (".codex/hooks.json", GROUP),
        (
            ".codex/config.toml",
            '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "true"\ntimeout = %s\n',
        ),
    ),
    "gemini": ((".gemini/settings.json", GROUP.replace("PreToolUse", "BeforeTool")),),
    "qwen": ((".qwen/settings.json", GROUP),),
    "copilot": (
        (
            ".github/hooks/a.json",
            '{"version": %s, "hooks": {"preToolUse": [{"type": "command", "bash": "true", "timeoutSec": %s}]}}',
        ),
        (
            ".github/copilot/settings.json",
            '{"hooks": {"preToolUse": [{"type": "command", "bash": "true", "timeout": %s}]}}',
        ),
    ),
    "goose": ((".agents/plugins/it/hooks/hooks.json", GROUP),),
}  # fmt: skip

OF_PROJECTS = [name for name in DIALECTS if any(scope == "project" for scope, _ in dialect(name).files)]
"""Dialects that read files in a project."""

for name in DIALECTS:
    if name not in PROJECT_FILES and name in OF_PROJECTS:
        shown = sample(name).files.items()
        texts = ((path, value if isinstance(value, str) else json.dumps(value)) for path, value in shown)
        PROJECT_FILES[name] = tuple(texts)

CASES = [(name, path, text) for name, files in PROJECT_FILES.items() for path, text in files]
IDS = [f"{name}-{path.rsplit('/', 1)[-1]}-{number}" for number, (name, path, _) in enumerate(CASES)]
NUMBERED = [case for case in CASES if "%s" in case[2]]
"""Cases where the number is a hook's limit or its order."""


def filled(text: str, number: str) -> str:
    return text.replace("%s", number)
