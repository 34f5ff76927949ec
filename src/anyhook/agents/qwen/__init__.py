"""Qwen Code, by Alibaba: a fork of Gemini CLI with the same files, but Claude's events and answers, and its own tool
names. Before a tool it honours only the permission (`continue: false` refuses the call, and the turn goes on), and
after a tool only the context. Measured with 0.24.4.

As a dialect: Gemini's table, except for Claude's events and answers; output counts only at exit status 0, and a limit
of 1000 or more is in milliseconds."""

from __future__ import annotations

from anyhook.agents import gemini
from anyhook.agents._claude_family import BASE, EDIT, FILE, TASK, TOOL, event, grouped
from anyhook.agents._claude_family import TOOLS as CLAUDE_TOOLS
from anyhook.agents._family import MODE, HookFile, Layout, claude_reply, family, misplaced
from anyhook.agents._results import content_text
from anyhook.agents.gemini import NO_ASKING, QUIET
from anyhook.tables.extend import extend
from anyhook.tables.vocabulary import *

VERSION = "0.24.4"

HOST_EVENTS = (
    event("SessionStart", "context"),  # 0.24.4 writes messages only to its debug log, except for Stop
    event("UserPromptSubmit", "block context", why_not="it fires again after every tool result; a refusal is silent"),
    event("PreToolUse", "block ask allow"),
    event("PermissionRequest", "block allow", limit_s=60.0),
    event("PostToolUse", "context", takes=(*TOOL, Taken("output", ("tool_response",), content_text))),
    event("PostToolUseFailure", "context"),
    event("Notification"),
    event("SubagentStart"),
    event("SubagentStop", "block"),
    event("PreCompact"),
    event("PostCompact"),
    event("Stop", "block message"),
    event("SessionEnd", why_not="not fired by `qwen -p`"),
)

OWN_FOLDERS = ("{config}/tmp/**",)
WORKING_FOLDERS = (("{config}/settings.json", "json", ("context", "includeDirectories")),)
"""docs/users/configuration/settings.md of Qwen Code, 0.15.10, 2026-11."""
LAYERS = (
    "{config}/settings.json",
    "{project}/.qwen/settings.json",
    "/etc/qwen-code/settings.json",
    "/etc/qwen-code/system-defaults.json",
)
"""Every file that can turn its hooks off."""

HOST = Host(
    name="qwen",
    title="Qwen Code",
    events=HOST_EVENTS,
    base=BASE,
    tools={
        "run_shell_command": HostTool("shell"),
        "read_file": HostTool("read_file", FILE),
        "write_file": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep_search": HostTool("grep"),
        "agent": HostTool("delegate_task", TASK),
        "web_fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/settings.json", "project": "{project}/.qwen/settings.json"},
        {"config": ("QWEN_HOME", "{home}/.qwen")},
        # 0.15.10 reads every limit as milliseconds, 0.24.4 only those from 1000; run 2026-11.
        handler={"name": "anyhook", **grouped("{milliseconds}")},
        group={"matcher": "*"},
    ),
    project_variables=("QWEN_PROJECT_DIR",),
    reads={"qwen": ("user", "project", "plugin")},
    program="qwen",
    marks=("QWEN_CODE",),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    settings=LAYERS,
    switches=(OffSwitch(("disableAllHooks",)),),
    off_words=("--bare", "--safe-mode"),
    off_variables=("QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"),
    variable_files=(
        "{here}/.qwen/.env",
        "{here}/.env",
        "{config}/.env",
        "{home}/.env",
        "{config}/settings.json",
        "{project}/.qwen/settings.json",
    ),
    confirm="Project hooks run in trusted folders only.",
    gaps=("rewritten input",),
)


CALL = fields(tool_call_id="call_id")
EVENTS = event_rows(
    HOST,
    cells={"tool_response": shown_result},
    extra={
        "UserPromptSubmit": fields(submitted_prompt="prompt"),
        "PreToolUse": CALL,
        "PostToolUse": CALL,
        "PostToolUseFailure": CALL,
        "Stop": fields(stop_hook_active=not_in_a_stop_hook, background_tasks=fixed([]), crons=fixed([])),
    },
    untold=("PermissionRequest.tool_use_id", "SubagentStart.last_assistant_message"),
    bound=8,
)  # fmt: skip
ELSEWHERE = frozenset(
    {
        "UserPromptExpansion", "InstructionsLoaded", "MessageDisplay", "PermissionDenied", "PostToolBatch",
        "TodoCreated", "TodoCompleted", "StopFailure", "SessionDelete",
    }
)  # fmt: skip
MILLISECONDS_FROM = 1000.0


def _made(hook: Hook) -> Hook:
    if hook.limit_s >= MILLISECONDS_FROM:
        hook = hook.replace(limit_s=hook.limit_s / MILLISECONDS_FROM)
    return hook.replace(background=True) if hook.spec.get("async") is True else hook


ALIASES = {
    native: tuple(name for name, tool in CLAUDE_TOOLS.items() if tool.ours == HOST.tools[native].ours)
    for native in HOST.tools
}
"""Claude's names for a tool, which matchers may use too."""


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """First a list of names, which may be Claude's names for tools; then a pattern to search for."""
    matcher = hook.matcher
    if not isinstance(matcher, str) or matcher in (*MATCH_ALL, ".*") or row.target is None:
        return None
    target = str(event.get(row.target))
    names = [name.strip() for name in matcher.split("|")] if matcher[0] not in "^(" else []
    if target in names or any(name in names for name in ALIASES.get(target, ())):
        return None
    found = compile_pattern(matcher).search(target)
    return None if found else f"matcher {matcher!r} does not match {row.target} {target!r}"


REPLY = claude_reply(EVENTS, exits={0: "pass", 2: "block_if_said"}, exit_reasons=("stderr",), speaks_anyway=False)

DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/settings.json"), HookFile("project", "{project}/.qwen/settings.json")),
        keys=("args", "name", "description", "async", "env", "shell", "statusMessage"),
        group_keys=("sequential",),
        own_keys=("enabled", "disabled", "notifications"),  # which 0.24.4 skips where it reads events
        skipped=("http", "prompt", "function"),
        elsewhere=ELSEWHERE,
        off=(("disableAllHooks",), True),
        made=_made,
    ),
    EVENTS,
    REPLY,
    variables=dict.fromkeys(("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), "{project}"),
    base=(*gemini.DIALECT.base, MODE),
    match=match,
    scaffold=extend(
        gemini.SCAFFOLD,
        scripts={"project": "{project}/.qwen/hooks"},
        command={"project": '"$QWEN_PROJECT_DIR"/.qwen/hooks/{file}'},
    ),
    chains=("input",),
    at_once=gemini.at_once,
    sort=gemini.nearest_first,
    identity=gemini.identity,
    misplaced=misplaced(("{project}/.qwen/hooks.json", ".qwen/settings.json")),
    differences=differences(
        "0.24.4",
        "npm @qwen-code/qwen-code 0.24.4, docs/features/hooks.md; run",
        "2026-11-15",
        ("QW-2", "`http`, `prompt` and `function` handlers are reported and not run."),
        ("QW-7", "A refusal wins over an allowance; in the product, the last `permissionDecision` counts."),
        ("QW-8", "`updatedInput` counts, as its documentation says; version 0.24.4 was seen to ignore it."),
    ),
)


CHANGES = (
    until(
        "0.14",
        "runs hooks only if an experimental switch is on",
        "qwen-code#1988 (0.12), #2781 (on by default)",
        "2026-04-01",
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, Drive

    no_memory = {"memory.enableManagedAutoMemory": False, "memory.enableManagedAutoDream": False}
    return Drive(
        ("-p", "{prompt}", "--approval-mode", "yolo"),
        {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": "{url}/v1",
            "OPENAI_MODEL": "{model}",
        },
        carries=("{config}/settings.json", "{config}/trustedFolders.json"),
        sets={"{config}/settings.json": {"security.auth.selectedType": "openai", **QUIET, **no_memory}},
        helper="general-purpose",
        cannot_show={
            "pre_tool allow": NO_ASKING,
            "permission_request": NO_ASKING,
            "session_end": "`qwen -p` does not fire it",
        },
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    return guarded(".qwen/settings.json", "run_shell_command")
