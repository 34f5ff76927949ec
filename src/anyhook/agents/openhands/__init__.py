"""OpenHands: its command line and its SDK, which read the same file. Every key is in every payload, a decision at the
top of the answer, no rewrites. Measured with the command line 1.16.0 and the SDK 1.58.2."""

from __future__ import annotations

from anyhook.agents._claude_family import DENY, grouped
from anyhook.agents._results import parts_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "1.16.0"

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)))
CONTEXT = Say({"additionalContext": "{context}"})


def _split(given: dict[str, Json]) -> list[tuple[str, dict[str, Json]]]:
    """Splits the one tool for all file operations by its command."""
    path, command = given.get("path"), given.get("command")
    if command == "view":
        return [("read_file", {"path": path})]
    if command == "create":
        return [("write_file", {"path": path, "content": given.get("file_text", "")})]
    texts: dict[str, Json] = {"old_text": given.get("old_str", ""), "new_text": given.get("new_str", "")}
    return [("edit_file", {"path": path, **texts})]


EVENTS = (
    HostEvent(
        "SessionStart",
        ("session_start",),
        fixed={"source": "startup"},
        why_not="the command line 1.16.0 drops its context; the SDK 1.58.2 uses it",
    ),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        (Taken("prompt", ("message",)),),
        {"block": DENY, "context": CONTEXT},
    ),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": DENY}, limit_s=600),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("tool_response.content", "tool_response"), parts_text)),
        error=("tool_response.is_error",),
        limit_s=600,
    ),
    HostEvent("Stop", ("stop",), (Taken("stop_reason", ("metadata.reason",)),), {"block": DENY}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
)

HOST = Host(
    name="openhands",
    title="OpenHands",
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
    tools={
        "terminal": HostTool("shell"),
        "file_editor": HostTool("edit_file", split=_split),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep": HostTool("grep"),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.openhands/hooks.json", "project": "{project}/.openhands/hooks.json"},
        handler=grouped(),
        group={"matcher": "*"},
    ),
    project=("working_dir",),
    project_variables=("OPENHANDS_PROJECT_DIR",),
    reads={"openhands": ("user", "project")},
    program="openhands",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="A project's file replaces the user's: if there is one, install for the project as well.",
    confirms=(),
    gaps=("asking the user", "rewritten input and output", "context after a tool"),
    shows_stderr=False,  # seen with 1.16.0, 2026-11: only context for a prompt has an effect
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (ProductChange("", "runs no hooks", "wheels of openhands 1.11.0 and 1.12.0", "2026-11-19", before="1.12"),)


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, TERMINAL, Drive

    usual = Drive(
        ("--headless", "--override-with-envs", "--exit-without-confirmation", "-t", "{prompt}"),
        {
            "LLM_API_KEY": KEY,
            "LLM_MODEL": "openai/{model}",
            "LLM_BASE_URL": "{url}/v1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "OPENHANDS_SUPPRESS_BANNER": "1",
        },
        tools={"shell": ("terminal",), "write_file": ("file_editor",)},
        fills={"write_file": {"command": "create"}},
        cannot_show={"pre_tool allow": "it never asks in this mode", "sub-agents": "its model has no such tool"},
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    payload = {
        "event_type": "PreToolUse", "session_id": "s", "working_dir": "/p", **called("terminal"),
        "tool_response": None, "message": None, "metadata": {},
    }  # fmt: skip
    return guarded(".openhands/hooks.json", "terminal", payload, stdout=decided("deny"))
