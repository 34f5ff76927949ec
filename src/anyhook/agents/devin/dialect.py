"""Devin CLI: Claude's groups in its own files, decisions at the top of the answer, context and rewrites nested."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, claude_reply, family, misplaced
from anyhook.agents.devin import HOST
from anyhook.tables.cells import native_name, session
from anyhook.tables.hosted import event_rows, not_in_a_stop_hook
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import Field, Key, Limits, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.cell_names import Words


def _response(scene: Scene) -> Json:
    error = scene.event.get("tool_error") or None
    return {"success": error is None, "output": scene.event.get("output"), "error": error}


def _no_summary(_scene: Scene) -> Json:
    return None


EVENTS = event_rows(
    HOST,
    cells={"tool_response": _response},
    extra={
        "Stop": (Field("stop_hook_active", not_in_a_stop_hook),),
        "PostCompaction": (Field("summary", _no_summary),),
    },
)
READ = claude_reply(EVENTS, read=object_or_nothing, text_on=(), exit_reasons=("stderr",))
NESTED = ("additionalContext", "updatedInput")
CONTEXT = ("session_start", "user_prompt_submit", "post_tool", "post_tool_failure")
DECISIONS: Words = (("block", "block", ()), ("approve", "allow", ("pre_tool", "permission_request")))
REPLY = READ.replace(
    also=("suppressOutput", "systemMessage", "continue", "stopReason"),
    keys=(
        Key(("decision",), "string", "verdict", words=DECISIONS),
        Key(("reason",), "string", "reason"),
        Key(("hookSpecificOutput", "updatedInput"), "object", "tool_input", on=("pre_tool",)),
        Key(("hookSpecificOutput", "additionalContext"), "string", "context", on=CONTEXT),
    ),
)

DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{config}/devin/config.json"),
            HookFile("project", "{project}/.devin/config.json"),
            HookFile("project", "{project}/.devin/config.local.json", "local"),
            HookFile("project", "{project}/.devin/hooks.v1.json", "v1", under=()),
        ),
        skipped=("prompt",),
        limits=Limits(60.0),
    ),
    EVENTS,
    REPLY,
    base=(Field("hook_event_name", native_name), Field("session_id", session), Field("prompt_id", "call_id")),
    variables=lambda hook, project, session_id: {"DEVIN_PROJECT_DIR": project},
    whole_input=lambda given, changed: {**given, **changed},
    misplaced=misplaced(("{project}/.devin/hooks.json", ".devin/hooks.v1.json")),
    differences=differences(
        "3000.11",
        "docs.devin.ai/cli/extensibility/hooks",
        "2026-11-16",
        ("DV-1", "Files between the project's folder and the root of its repository are not read."),
        ("DV-2", "`prompt` handlers are reported and not run."),
        ("DV-3", "The product documents no default time limit; 60 s apply."),
    ),
)
