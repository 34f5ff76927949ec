"""Muse Code, by Meta: Claude's payloads and hook files, two events of its own, and hooks that run with a cleared
environment. Its documents name files and events only, and its program can be had from the vendor alone, so no run here
has seen it: the rest is what others measured with 1.0.2 to 1.4.0. Answers have only what they saw it read."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EXIT_2, event
from anyhook.tables.host_rows import Entry, Host, HostTool, Sign, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "1.4.1"

UNMEASURED = "nobody has measured what it reads here"
WITH_STATUS = {"block": EXIT_2}
ENTRY_WAIT_S = 30
"""Whether it takes a limit in the user's settings is disputed, and it documents no default."""
EVENTS = tuple(
    row.replace(limit_s=ENTRY_WAIT_S)
    for row in (
        event("SessionStart", "context message", why_not=f"{UNMEASURED}, and a resumed session does not fire it"),
        event("UserPromptSubmit", "block context message", WITH_STATUS),
        event("PreToolUse", "block message"),
        event("PermissionRequest", "block", WITH_STATUS),
        event("PostToolUse", "block", WITH_STATUS),
        event("SubagentStart", why_not=UNMEASURED),
        event("SubagentStop", why_not=UNMEASURED),
        event("PreCompact", why_not=UNMEASURED),
        event("PostCompact", why_not=UNMEASURED),
        event("Notification", why_not=UNMEASURED),
        event("Stop", "block", WITH_STATUS, why_not="1.2 does not fire it with Meta's models"),
        event("SessionEnd", why_not="its output has no effect"),
    )
) + left_out("no canonical event: it fires for every request, with the whole conversation", "PreLLMCall", "PostLLMCall")

HOST = Host(
    name="muse",
    title="Muse Code",
    events=EVENTS,
    base=BASE,
    tools={
        "bash": HostTool("shell"),
        "powershell": HostTool("shell"),
        "Bash": HostTool("shell"),
        "read_file": HostTool("read_file"),
        "write_file": HostTool("write_file"),
        "edit_file": HostTool("edit_file", {"old_text": "find", "new_text": "replace"}),
        "search": HostTool("grep"),
    },
    # A handler with a key that it does not know is dropped, so ours has only the two that all sources agree on.
    entry=Entry(
        "groups",
        {"user": "{config}/muse/settings.json", "project": "{project}/.muse/hooks.json"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        {"type": "command", "command": "{command}"},
        top={"schema_version": 1},
        names_tools=True,
    ),
    reads={"muse": ("user", "project")},
    program="muse",
    settings=("{config}/muse/settings.json",),
    confirm="It reads a project's hooks once you trust the folder.",
    gaps=(
        "requests to the model",
        "rewritten input",
        "asking the user",
        "failed calls, whose event it does not document",
        "plug-ins of its own, which may bring hooks",
    ),
    signs=(Sign(("model_provider", "turn_id")),),
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "was not seen to obey hooks: its events were published with 0.2",
            "meta-models/muse-code-sdk#4; agentic-control-plane/muse-code-acp-plugin, README",
            "2026-08",
            before="0.2",
        ),
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload = {
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "turn_id": "t", "transcript_path": None,
        "model_provider": "meta", "permission_mode": "default", **called("bash"),
    }  # fmt: skip
    return guarded(".muse/hooks.json", "bash", payload)
