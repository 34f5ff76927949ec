"""Mastra Code: a file of events, each with flat entries whose matcher is an object; exit status 2 refuses, and output
is ignored."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, each_by_itself, family
from anyhook.agents.mastra import HOST
from anyhook.tables.cells import failed, native_name, output_text, project, session
from anyhook.tables.hosted import alone, event_rows
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import Field, Limits, Reply, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

EVENTS = event_rows(HOST, cells={"tool_output": output_text}, extra={"PostToolUse": (Field("tool_error", failed),)})


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
    base=(Field("session_id", session), Field("cwd", project), Field("hook_event_name", native_name)),
    variables=lambda hook, project_dir, session_id: {"MASTRA_HOOK_EVENT": hook.native_event},
    at_once=None,
    identity=each_by_itself,
    differences=differences(
        "0.32.1",
        "npm mastracode 0.32.1; run",
        "2026-11-16",
        ("MA-3", "The product documents no default time limit; 60 s apply."),
    ),
)
assert _MADE.scaffold is not None  # noqa: S101 (it is made with one)
DIALECT = _MADE.replace(scaffold=_MADE.scaffold.replace(matcher="matcher.tool_name"))
