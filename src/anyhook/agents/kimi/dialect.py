"""Kimi Code and Kimi CLI: `[[hooks]]` in the user's config, which both read alike; exit status 2 refuses, and so does
Claude's permission; a hook can add context to a prompt and change nothing else."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, family
from anyhook.agents.kimi import HOST
from anyhook.tables.cells import MATCH_ALL, native_name, project, session
from anyhook.tables.hosted import event_rows, not_in_a_stop_hook, tool_rows
from anyhook.tables.patterns import BadPattern, compile_pattern
from anyhook.tables.readers import object_or_prose
from anyhook.tables.rows import SPECIFIC, EventRow, Field, Key, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

ALONE = frozenset(
    {
        "StopFailure", "Interrupt", "SessionHeartbeat", "UserPromptQueued", "TurnStarted", "TaskStarted",
        "PermissionResult",
    }
)  # fmt: skip


def _output(scene: Scene) -> Json:
    """The output, cut if it is long."""
    text = scene.event.get("output")
    return text[:2000] if isinstance(text, str) else text


def _error(scene: Scene) -> Json:
    return scene.event.get("tool_error")


def _excerpt(*fields: str) -> Callable[[Scene], Json]:
    """The beginning of the first text that is known, which is all that it gives to hooks."""
    return lambda scene: next((str(text) for field in fields if (text := scene.event.get(field))), "")[:500]


NOTE = (
    Field("sink", lambda scene: "llm"),
    Field("title", lambda scene: ""),
    Field("body", "message"),
    Field("severity", lambda scene: "info"),
)
EVENTS = event_rows(
    HOST,
    cells={"tool_output": _output, "error": _error, "response": _excerpt("result", "last_message")},
    extra={
        "Stop": (Field("stop_hook_active", not_in_a_stop_hook),),
        "Notification": NOTE,
        "SubagentStart": (Field("prompt", _excerpt("task")),),
        "PostCompact": (Field("estimated_token_count", lambda scene: 0),),
    },
    untold=(
        "SubagentStart.prompt",
        "PreToolUse.tool_output",
        "PostToolUseFailure.tool_output",
        "PermissionRequest.tool_output",
    ),
    bound=1,
)
# Kimi CLI has other names for the tools of Kimi Code, and both read the same hooks.
TOOLS = {
    ours: row.replace(also=tuple(name for name, tool in HOST.tools.items() if tool.ours == ours and name != row.native))
    for ours, row in tool_rows(HOST).items()
}
WORDS = {"source": {"compact": "resume", "*": "startup"}, "reason": {"*": "exit"}}
GATES = ("pre_tool", "user_prompt_submit", "stop")
REPLY = Reply(
    read=object_or_prose,
    exits={0: "pass", 2: "block"},
    text_on=("user_prompt_submit",),
    json_reasons=("reason", "stderr"),
    keys=(
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=GATES, words=(("deny", "block", ()),)),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=GATES),
    ),
)


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """A pattern to search for in the tool's name, the prompt, or the event's other target; an invalid one never
    matches."""
    target = "prompt" if row.native == "UserPromptSubmit" else row.target
    if not isinstance(hook.matcher, str) or hook.matcher in MATCH_ALL or target is None:
        return None
    seen = str(event.get(target))
    try:
        found = compile_pattern(hook.matcher).search(seen)
    except BadPattern as error:
        return f"matcher {hook.matcher!r} is not a valid pattern ({error.what}), so it never matches"
    return None if found else f"matcher {hook.matcher!r} is not found in {seen[:80]!r}"


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/config.toml"), HookFile("user", "{home}/.kimi/config.toml", "cli")),
        style="rows",
        event_key="event",
        needs_type=False,
        limits=Limits(30.0, min_s=1.0, max_s=600.0),
        elsewhere=ALONE,
        patterns=False,
    ),
    EVENTS,
    REPLY,
    base=(Field("hook_event_name", native_name), Field("session_id", session), Field("cwd", project)),
    match=match,
    variables=lambda hook, project_dir, session_id: {},
    tools=TOOLS,
    words=WORDS,
    differences=differences(
        "2.1.0",
        "MoonshotAI/kimi-code docs/en/customization/hooks.md; PyPI kimi-cli 1.52.0; run",
        "2026-11-15",
        ("KM-1", "Keys other than the four of an entry are reported; Kimi Code rejects the whole file."),
        (
            "KM-8",
            "PostCompact has an `estimated_token_count` of 0: no other agent says how long the conversation is then.",
        ),
        ("KM-6", "Text is added to a prompt, as Kimi Code does; Kimi CLI drops it."),
    ),
)
