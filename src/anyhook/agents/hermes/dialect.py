"""Hermes: lists in the user's YAML config; a command is split into words and started without a shell. Its output
decides, and its exit status is ignored."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, family
from anyhook.agents.hermes import HOST
from anyhook.programs.commands import words_of
from anyhook.programs.loose import words_read
from anyhook.programs.named import named_files
from anyhook.tables.cells import native_name, project, session, text_of, whole_value
from anyhook.tables.hosted import alone, event_rows
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import Failing, Field, Key, Launch, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.cell_names import Words
    from anyhook.tables.rows import Draft

KEYS = {
    "call_id": "tool_call_id", "prompt": "user_message", "last_message": "final_response", "reason": "reason",
    "model": "model", "duration_ms": "duration_ms", "tool_error": "error_message",
}  # fmt: skip
"""Our field → its key under `extra`."""


def _extra(scene: Scene) -> Json:
    made: dict[str, Json] = {key: scene.event.get(field) for field, key in KEYS.items() if scene.event.get(field)}
    if scene.native == "post_tool_call":
        error = scene.event.get("tool_error")
        made["result"] = text_of({"output": scene.event.get("output"), "error": error or None})
        made["status"] = "error" if error else "ok"
    return made


def _null(_scene: Scene) -> Json:
    return None


EVENTS = tuple(
    row.replace(
        payload=(
            Field("tool_name", "tool" if row.target == "tool" else _null),
            Field("tool_input", "input" if row.target == "tool" else _null),
            Field("extra", _extra),
        ),
        target=row.target if row.target == "tool" else None,
    )
    for row in event_rows(HOST)
)


def _blocked(draft: Draft, _event: str) -> Draft:
    """Either spelling of a refusal."""
    if draft.get("action") != "block":
        return draft
    return {**draft, "verdict": "block", "reason": draft.get("reason") or draft.get("message")}


WORDS: Words = (("block", "block", ()),)
REPLY = Reply(
    read=object_or_nothing,
    exits={0: "pass"},
    otherwise="pass",
    json_reasons=("reason",),
    keys=(
        Key(("decision",), "string", "verdict", on=("pre_tool", "stop"), words=WORDS),
        Key(("action",), "string", "note", on=("pre_tool", "stop"), words=WORDS),
        Key(("reason",), "string", "reason", on=("pre_tool", "stop")),
        Key(("message",), "string", "note", on=("pre_tool", "stop")),
        Key(("context",), "string", "context", on=("user_prompt_submit",)),
    ),
    finish=_blocked,
)


def _words(hook: Hook, home: str) -> list[str]:
    try:
        words = words_of(str(hook.spec["command"]))
    except ValueError:
        words = str(hook.spec["command"]).split()
    return [f"{home}{word[1:]}" if word.startswith("~/") else word for word in words]


def launch(hook: Hook, scene: Scene) -> Launch:
    env = {**scene.env, "HERMES_SESSION_ID": scene.session, "TERMINAL_CWD": scene.project}
    return Launch(tuple(_words(hook, scene.env.get("HOME", ""))), env, scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    return named_files(words_read(str(hook.spec["command"])), project_dir, home, {}, files)


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/config.yaml"),),
        style="list",
        keys=("fail_closed",),
        needs_type=False,
        limits=Limits(60.0, max_s=300.0),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY,
    base=(Field("hook_event_name", native_name), Field("session_id", session), Field("cwd", project)),
    match=whole_value,
    dense=False,
    variables=lambda hook, project_dir, session_id: {},
    launch=launch,
    names=names,
    at_once=None,
    failing=Failing(strict=("fail_closed", False, True)),
    differences=differences(
        "0.19.0",
        "PyPI hermes-agent 0.19.0, agent/shell_hooks.py; run",
        "2026-11-16",
        ("HE-1", "Profiles and plugins in Python are not read."),
        ("HE-5", "Newer versions read exit status 2 and rewrites; version 0.19 and anyhook do not."),
        ("HE-8", "It does not wait for Hermes' own consent: what the user's config declares runs."),
    ),
)
