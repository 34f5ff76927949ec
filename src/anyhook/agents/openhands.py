"""OpenHands: its command line and its SDK, which read the same file. Every key is in every payload, a decision at the
top of the answer, no rewrites. Measured with the command line 1.16.0 and the SDK 1.58.2.

As a dialect: Claude's groups, with event names in either spelling and with or without a wrapper; a refusal is exit
status 2, or a decision at the top of the answer with any exit status."""

from __future__ import annotations

from anyhook.agents._claude_family import DENY, grouped
from anyhook.agents._family import ONE_BY_ONE, HookFile, Layout, family
from anyhook.agents._results import parts_text
from anyhook.tables.vocabulary import *

VERSION = "1.16.0"

TOOL = taken(tool="tool_name", input="tool_input")
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


HOST_EVENTS = (
    HostEvent(
        "SessionStart",
        ("session_start",),
        fixed={"source": "startup"},
        why_not="the command line 1.16.0 drops its context; the SDK 1.58.2 uses it",
    ),
    HostEvent(
        "UserPromptSubmit", ("user_prompt_submit",), taken(prompt="message"), {"block": DENY, "context": CONTEXT}
    ),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": DENY}, limit_s=600),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("tool_response.content", "tool_response"), parts_text)),
        error=("tool_response.is_error",),
        limit_s=600,
    ),
    HostEvent("Stop", ("stop",), taken(stop_reason="metadata.reason"), {"block": DENY}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
)

FILLED = {"write_file": {"command": "create"}}
HOST = Host(
    name="openhands",
    title="OpenHands",
    events=HOST_EVENTS,
    base=taken(session="session_id"),
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


def _result(scene: Scene) -> Json:
    text, error = scene.event.get("output"), scene.event.get("tool_error")
    return {"content": [{"type": "text", "text": text or error}], "is_error": bool(error)}


NULLS = tuple(Field(key, fixed(None)) for key in ("tool_name", "tool_input", "tool_response", "message"))
ROWS = event_rows(HOST, cells={"tool_response": _result}, untold=("metadata",))
EVENTS = tuple(
    row.replace(payload=(*row.payload, *(f for f in NULLS if f.key not in {field.key for field in row.payload})))
    for row in ROWS
)
NAMES = {snake_case(row.native): row.native for row in EVENTS}
"""The other spelling of an event."""


def _opened(document: Json) -> Json:
    """The document with its wrapper, and with event names in one spelling."""
    if not isinstance(document, dict):
        return document
    hooks = document.get("hooks", document)
    if not isinstance(hooks, dict):
        return document
    return {"hooks": {NAMES.get(name, name): groups for name, groups in hooks.items()}}


def _halted(draft: Draft, _event: str) -> Draft:
    """`continue: false` is a refusal."""
    return {**draft, "verdict": "block"} if draft.get("continue") is False else draft


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{home}/.openhands/hooks.json"), HookFile("project", "{project}/.openhands/hooks.json")),
        keys=("name", "async"),
        skipped=("prompt", "agent"),
        opened=_opened,
        needs_type=False,
    ),
    EVENTS,
    Reply(
        read=object_or_nothing,
        exits={0: "pass", 2: "block"},
        json_reasons=("reason", "stderr"),
        speaks_anyway=True,
        keys=(
            Key(("decision",), "string", "verdict", words=(("deny", "block", ()), ("allow", "none", ()))),
            Key(("continue",), "bool", "note"),
            Key(("reason",), "string", "reason"),
            Key(("additionalContext",), "string", "context", on=("session_start", "user_prompt_submit")),
        ),
        finish=_halted,
    ),
    base=fields(event_type=native_name, session_id=session, working_dir=project, metadata=fixed({})),
    match=names_or_pattern,
    variables={
        "OPENHANDS_EVENT_TYPE": "{event}",
        "OPENHANDS_PROJECT_DIR": "{project}",
        "OPENHANDS_SESSION_ID": "{session}",
    },
    together=False,
    **ONE_BY_ONE,
    differences=differences(
        "1.16.0",
        "PyPI openhands-sdk 1.58.2; run",
        "2026-11-16",
        ("OH-1", "The user's file and the project's both count; in the product, only the first that is found."),
        ("OH-2", "`prompt` and `agent` handlers are reported and not run."),
        ("OH-3", "An unknown key is reported; the product rejects the whole file."),
    ),
)


CHANGES = (until("1.12", "runs no hooks", "wheels of openhands 1.11.0 and 1.12.0", "2026-11-19"),)


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
