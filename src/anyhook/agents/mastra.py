"""Mastra Code: flat entries in a file of events. Exit status 2 refuses a tool, and its model is not told why. Measured
with 0.32.1, which fires two events without a person; the others are from its source.

As a dialect: a file of events, each with flat entries whose matcher is an object; exit status 2 refuses, and output
is ignored."""

from __future__ import annotations

from anyhook.agents._claude_family import BY_EXIT_2, event
from anyhook.agents._family import ONE_BY_ONE, HookFile, Layout, family
from anyhook.tables.vocabulary import *

VERSION = "0.32.1"
UNFIRED = ("session_start", "user_prompt_submit", "notification", "subagent_start", "stop", "session_end")
SETTINGS = "{home}/.local/share/mastracode/settings.json"

TOOL = taken(tool="tool_name", input="tool_input")
UNSEEN = "`mastracode -p` does not fire it"
ALONE = "no canonical event"

HOST_EVENTS = (
    event("SessionStart", takes=(), fixed={"source": "startup"}, why_not=UNSEEN),
    event("UserPromptSubmit", "block", BY_EXIT_2, why_not=UNSEEN),
    event("PreToolUse", "block", BY_EXIT_2, takes=TOOL),
    event(
        "PostToolUse",
        canonical=("post_tool", "post_tool_failure"),
        takes=(*TOOL, Taken("output", ("tool_output",))),
        error=("tool_error",),
    ),
    event("Notification", why_not=UNSEEN),
    event("SubagentStart", takes=(), why_not=UNSEEN),
    event("Stop", "block", BY_EXIT_2, takes=(), why_not=UNSEEN),
    event("SessionEnd", takes=(), fixed={"reason": "other"}, why_not=UNSEEN),
    *left_out(ALONE, "AgentStart", "AgentEnd"),
    *left_out("what an answer does was not seen", "PermissionRequest"),
    *left_out(ALONE, "PermissionResult", "Interrupt"),
    *left_out("what an answer does was not seen", "SubagentEnd"),
)

HOST = Host(
    name="mastra",
    title="Mastra Code",
    events=HOST_EVENTS,
    base=taken(session="session_id"),
    tools={
        "execute_command": HostTool("shell"),
        "view": HostTool("read_file"),
        "write_file": HostTool("write_file"),
        "string_replace_lsp": HostTool("edit_file", {"old_text": "old_string", "new_text": "new_string"}),
        "find_files": HostTool("list_files", {"glob": "pattern"}),
        "search_content": HostTool("grep"),
    },
    entry=Entry(
        "list",
        {"user": "{home}/.mastracode/hooks.json", "project": "{project}/.mastracode/hooks.json"},
        handler={"type": "command", "command": "{command}", "timeout": "{milliseconds}"},
        under=(),
    ),
    reads={"mastra": ("user", "project")},
    program="mastracode",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="nothing to confirm: it reads its file when it starts.",
    confirms=(),
    shows_stderr=False,  # seen with 0.32.1, 2026-11
    gaps=("a reason for the model", "context", "asking the user", "rewritten input and output"),
)


EVENTS = event_rows(HOST, cells={"tool_output": output_text}, extra={"PostToolUse": fields(tool_error=failed)})


def _one(entry: Json) -> Json:
    """An entry with its matcher as plain text."""
    matcher = entry.get("matcher") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(matcher, dict):
        return entry
    return {**entry, "matcher": matcher.get("tool_name", "")}


_MADE = family(
    HOST,
    Layout(
        (HookFile("user", "{home}/.mastracode/hooks.json"), HookFile("project", "{project}/.mastracode/hooks.json")),
        style="list",
        under=(),
        keys=("description",),
        limits=Limits(60.0, unit_s=0.001),
        elsewhere=alone(HOST),
        spelled=_one,
    ),
    EVENTS,
    Reply(read=object_or_nothing, keys=(), exits={0: "pass", 2: "block"}),
    base=fields(session_id=session, cwd=project, hook_event_name=native_name),
    variables={"MASTRA_HOOK_EVENT": "{event}"},
    **ONE_BY_ONE,
    differences=differences(
        "0.32.1",
        "npm mastracode 0.32.1; run",
        "2026-11-16",
        ("MA-3", "The product documents no default time limit; 60 s apply."),
    ),
)
assert _MADE.scaffold is not None  # noqa: S101 (it is made with one)
DIALECT = _MADE.replace(scaffold=_MADE.scaffold.replace(matcher="matcher.tool_name"))


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, PROVIDER, TERMINAL, Drive

    provider = PROVIDER.replace("_", "-")  # its own spelling of names
    name = f"{provider}/{{model}}"
    modes: Json = {"build": name, "plan": name, "fast": name}
    settings: Json = {
        "customProviders": [{"name": provider, "url": "{url}/v1", "apiKey": KEY, "models": ["{model}"]}],
        "models": {"modeDefaults": modes, "omModelOverride": name},
        "onboarding": {"completedAt": "2026-01-01T00:00:00.000Z", "version": 99},
    }
    usual = Drive(
        ("--settings", SETTINGS, "--permission-mode", "auto", "-p", "{prompt}"),
        {"MASTRA_TELEMETRY_DISABLED": "1", "MASTRACODE_DISABLE_UPDATE_CHECK": "1"},
        writes={SETTINGS: settings},
        cannot_show={
            "pre_tool allow": "`mastracode -p` asks nobody",
            **dict.fromkeys(UNFIRED, "`mastracode -p` does not fire it"),
        },
    )
    asking = usual.replace(words=("--settings", SETTINGS, "--permission-mode", "deny", "-p", "{prompt}"))
    return usual.replace(scenarios={ASKING: asking, TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    tool = "execute_command"
    handler: Json = {"type": "command", "command": ".mastracode/hooks/guard", "matcher": {"tool_name": f"^{tool}$"}}
    payload = {"session_id": "session-init", "cwd": "/p", "hook_event_name": "PreToolUse", **called(tool)}
    return guarded(".mastracode/hooks.json", tool, payload, entry={"PreToolUse": [handler]}, **BY_STATUS)
