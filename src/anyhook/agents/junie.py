"""Junie CLI, by JetBrains: Claude's payloads, from a folder that is not the project. Reports disagree about the form of
an answer, so we refuse by exit status 2 only. It is not run here; the table comes from what others found out in
September 2026.

As a dialect: Claude's groups in the user's config; exit status 2 refuses, and so does a refusal in either form that
others describe."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, EXIT_2, FILE, PROMPT, REASON, SOURCE, TOOL, grouped
from anyhook.agents._family import BASE, HookFile, Layout, claude_reply, family
from anyhook.tables.vocabulary import *

VERSION = "3110"

HOST_EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, why_not="context of a hook that it waits for is dropped"),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), PROMPT, {"block": EXIT_2}),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": EXIT_2}, limit_s=600),
    HostEvent("PermissionRequest", ("permission_request",), TOOL, {"block": EXIT_2}, limit_s=600),
    HostEvent("Stop", ("stop",), (), {"block": EXIT_2}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), REASON),
    HostEvent("StopFailure", installed=False, why_not="no canonical event"),
)

HOST = Host(
    name="junie",
    title="Junie CLI",
    events=HOST_EVENTS,
    base=taken(session="session_id"),
    tools={
        "bash": HostTool("shell"),
        "Bash": HostTool("shell"),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
    },
    entry=Entry("groups", {"user": "{home}/.junie/config.json"}, handler=grouped(), closed={"blockOnError": True}),
    project=("project_path",),
    reads={"junie": ("user",)},
    program="junie",
    confirm="nothing to confirm; it ignores hooks in a project's file.",
    confirms=(),
    gaps=("everything after a tool", "the IDE and its chat, which run no hooks", "context", "rewritten input"),
    signs=(Sign(("project_path",)),),
)


EVENTS = event_rows(
    HOST,
    extra={"Stop": fields(stop_hook_active=not_in_a_stop_hook)},
    untold=("PermissionRequest.tool_use_id",),
)
READ = claude_reply(EVENTS, read=object_or_nothing, text_on=(), exit_reasons=("stderr",))
REFUSALS: Words = (("block", "block", ()), ("deny", "block", ()), ("allow", "none", ()), ("approve", "none", ()))
REPLY = READ.replace(
    keys=(
        Key(("decision",), "string", "verdict", words=REFUSALS),
        *(key for key in READ.keys if key.path not in (("decision",), ("continue",), ("stopReason",))),
    )
)


def _made(hook: Hook) -> Hook:
    return hook.replace(background=True) if hook.spec.get("async") is True else hook


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{home}/.junie/config.json"),),
        keys=("blockOnError", "async"),
        elsewhere=frozenset({"StopFailure"}),
        made=_made,
    ),
    EVENTS,
    REPLY,
    base=(*BASE, Field("project_path", project)),
    failing=Failing(strict=("blockOnError", False, True)),
    differences=differences(
        "3110",
        "junie.jetbrains.com/docs/junie-cli-hooks.html, read by others",
        "2026-11-16",
        ("JU-1", "Extensions are not read."),
        ("JU-4", "Others describe two forms of a refusal; here both refuse."),
        ("JU-6", "Hooks start in the project's folder, not in `~/.junie`."),
    ),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, grouped, guarded

    payload = {
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/h/.junie", "project_path": "/p", **called("bash"),
    }  # fmt: skip
    entry = grouped("PreToolUse", "", "~/.junie/scripts/guard")
    guard = ".junie/scripts/guard"
    return guarded(".junie/config.json", "bash", payload, entry=entry, guard=guard, scope="user", **BY_STATUS)
