"""Antigravity, by Google: `agy` and the editor, which replaced Gemini CLI for individuals. Its payloads have no event
name, and before a tool an answer without a decision refuses. From the guide and the descriptors in its SDK's package
0.1.22, and from payloads that others captured with 1.0.14."""

from __future__ import annotations

from anyhook.agents._claude_family import DENY, grouped
from anyhook.agents._results import unpacked
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "1.2.7"

TOOL = (Taken("tool", ("toolCall.name",)), Taken("input", ("toolCall.args",), unpacked))
OUTPUT = (Taken("output", ("toolCall.result", "result")),)
WRITE = HostTool("write_file", {"path": "TargetFile", "content": "CodeContent"})
EDIT = HostTool("edit_file", {"path": "TargetFile", "old_text": "TargetContent", "new_text": "ReplacementContent"})
INJECT = Say({"injectSteps": [{"ephemeralMessage": "{context}"}]})
FLAT = ("SessionStart", "PreInvocation", "PostInvocation", "Stop")
"""Events whose lists hold handlers instead of groups."""


def _begins(payload: dict[str, Json]) -> bool:
    """Whether this is a turn's first model request, which comes with the prompt."""
    return payload.get("invocationNum") in (0, None)


def _names_a_tool(payload: dict[str, Json]) -> bool:
    """Whether the payload names the tool; the editor names only the step."""
    return isinstance(payload.get("toolCall"), dict)


def _is_idle(payload: dict[str, Json]) -> bool:
    """Whether the turn has ended: it has not while tasks run in the background."""
    return payload.get("fullyIdle") is not False


EVENTS = (
    HostEvent(
        "SessionStart",
        ("session_start",),
        (),
        {"context": INJECT},
        fixed={"source": "startup"},
        silence={},
        why_not="not every version fires it",
    ),
    HostEvent(
        "PreInvocation",
        ("user_prompt_submit",),
        (Taken("prompt", ("lastUserInput",)),),
        {"context": INJECT},
        silence={},
        when=_begins,
        why_not="a prompt cannot be refused",
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": DENY,
            "ask": Say({"decision": "force_ask", "reason": "{reason}"}),
            "input": Say({"overwrite": "{input}"}),
        },
        limit_s=600,
        silence={"decision": "allow"},
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (*TOOL, *OUTPUT),
        error=("error",),
        limit_s=600,
        silence={},
        when=_names_a_tool,
        why_not="the editor does not say which tool it was",
    ),
    HostEvent(
        "Stop",
        ("stop",),
        (Taken("stop_reason", ("terminationReason",)),),
        {"block": Say({"decision": "continue", "reason": "{reason}"})},
        limit_s=600,
        silence={},
        when=_is_idle,
    ),
    HostEvent("PostInvocation", installed=False, why_not="it fires for every request"),
)

HOST = Host(
    name="antigravity",
    title="Antigravity",
    events=EVENTS,
    base=(Taken("session", ("conversationId",)), Taken("model", ("modelName",)), Taken("agent_type", ("agentName",))),
    tools={
        "run_command": HostTool("shell", {"command": "CommandLine"}),
        "view_file": HostTool("read_file", {"path": "AbsolutePath"}),
        "write_to_file": WRITE,
        "replace_file_content": EDIT,
        "create_file": WRITE,  # the SDK's names for these two
        "edit_file": EDIT,
        "multi_replace_file_content": HostTool("edit_file", {"path": "TargetFile"}),
        "find_by_name": HostTool("list_files", {"glob": "Pattern"}),
        "grep_search": HostTool("grep", {"pattern": "Query", "path": "SearchPath"}),
        "read_url_content": HostTool("web_fetch", {"url": "Url"}),
        "invoke_subagent": HostTool("delegate_task"),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.gemini/config/hooks.json", "project": "{project}/.agents/hooks.json"},
        handler=grouped(),
        group={"matcher": "*"},
        under=("anyhook",),
        flat=FLAT,
    ),
    project=("workspacePaths.0",),
    reads={"antigravity": ("user", "project")},
    program="agy",
    marks=("ANTIGRAVITY_AGENT",),
    sdk="google.antigravity",
    confirm="`agy -p /hooks` lists what it has read.",
    confirms=(),
    gaps=(
        "refusing a prompt",
        "calls of sub-agents",
        "sessions with an API key, which run no hooks",
        "agents made with its SDK, which reads no hook files (seen with 0.1.22, 2026-11-18); `anyhook[antigravity]` is "
        "for those",
    ),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"decision": "deny", "reason": "{REASON}"}}'
    guard = f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; else echo '{{\"decision\": \"allow\"}}'; fi\n"
    handler: dict[str, Json] = {"type": "command", "command": "scripts/guard", "timeout": 10}
    call: dict[str, Json] = {
        "name": "run_command",
        "args": {"CommandLine": COMMAND, "Cwd": "/p", "SafeToAutoRun": True},
    }
    return Sample(
        event="PreToolUse",
        files={
            ".agents/hooks.json": {"mine": {"PreToolUse": [{"matcher": "run_command", "hooks": [handler]}]}},
            ".agents/scripts/guard": guard,
        },
        script=f"echo '{deny}'",
        tool="run_command",
        input={"CommandLine": COMMAND},
        calls="PreToolUse",
        payload={"conversationId": "s", "workspacePaths": ["/p"], "toolCall": call, "stepIdx": 3},
        stdout={"decision": "deny", "reason": REASON},
    )
