"""Mistral Vibe: `[[hooks]]` in separate files, wildcards for dotted tool names; every exit status but 0 is a failure,
which refuses if `strict` is set."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, each_by_itself, family
from anyhook.agents.vibe import HOST
from anyhook.model.hook import Hook
from anyhook.tables.cells import MATCH_ALL, native_name, output_text, project, session
from anyhook.tables.hosted import event_rows, no_transcript
from anyhook.tables.patterns import BadPattern, compile_pattern
from anyhook.tables.readers import whole_object
from anyhook.tables.rows import EventRow, Failing, Field, Key, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json


def _status(scene: Scene) -> Json:
    return "error" if scene.event.get("tool_error") else "success"


def _error(scene: Scene) -> Json:
    return scene.event.get("tool_error") or None


def _parent(scene: Scene) -> Json:
    return scene.event.get("parent_session") or None


EVENTS = event_rows(
    HOST,
    cells={"tool_output_text": output_text},
    extra={
        "post_tool": (
            Field("tool_status", _status), Field("tool_output", "output"), Field("tool_error", _error),
        ),
        "post_agent": (Field("agent_name", "agent_name"),),
    },
)  # fmt: skip
SPECIFIC = "hook_specific_output"
REPLY = Reply(
    read=whole_object,
    exits={0: "pass"},
    json_reasons=("reason",),
    keys=(
        Key(("decision",), "string", "verdict", words=(("deny", "block", ()), ("allow", "none", ()))),
        Key(("reason",), "string", "reason"),
        Key(("system_message",), "string", "messages"),
        Key((SPECIFIC, "tool_input"), "object", "tool_input", on=("pre_tool",)),
        Key((SPECIFIC, "additional_context"), "string", "context", on=("post_tool", "post_tool_failure")),
    ),
)


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """Wildcards, or a pattern after `re:`, for the dotted name, its last part, or the name with underscores."""
    matcher = hook.matcher
    if not isinstance(matcher, str) or matcher in MATCH_ALL or row.target != "tool":
        return None
    import fnmatch

    tool = str(event.get("tool")).lower()
    names = (tool, tool.rpartition(".")[2], tool.replace(".", "_"))
    if matcher.startswith("re:"):
        try:
            compiled = compile_pattern(f"(?i){matcher[3:]}")
        except BadPattern as error:
            return f"match {matcher!r} is not a valid pattern ({error.what}), so it never matches"
        fits = any(compiled.fullmatch(name) for name in names)
    else:
        fits = any(fnmatch.fnmatchcase(name, matcher.lower()) for name in names)
    return None if fits else f"match {matcher!r} does not match tool {tool!r}"


def _made(hook: Hook) -> Hook:
    name = hook.spec.get("name")
    # A hook without a name, which the product rejects, hides no other.
    return hook.replace(name=name if isinstance(name, str) and name else f"{hook.name} ({hook.scope})")


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/hooks.toml"), HookFile("project", "{project}/.vibe/hooks.toml")),
        style="rows",
        event_key="type",
        matcher_key="match",
        keys=("name", "strict", "description"),
        needs_type=False,
        limits=Limits(60.0),
        patterns=False,
        made=_made,
    ),
    EVENTS,
    REPLY,
    base=(
        Field("session_id", session),
        Field("transcript_path", no_transcript),
        Field("cwd", project),
        Field("parent_session_id", _parent),
        Field("hook_event_name", native_name),
    ),
    match=match,
    dense=False,
    variables=lambda hook, project_dir, session_id: {},
    at_once=None,
    layering="earlier_name_wins",
    identity=each_by_itself,
    failing=Failing(strict=("strict", False, True)),
    differences=differences(
        "3.0.2",
        "PyPI mistral-vibe 3.0.3, vibe/core/hooks; run",
        "2026-11-15",
        ("VB-1", "Plugins, and other agents' hooks in them, are not read."),
        ("VB-7", "A hook without a name is accepted; the product requires one."),
    ),
)
