"""CodeBuddy Code: Claude's table, except for its own files, a limit of sixty seconds, and that a timeout refuses."""

from __future__ import annotations

from anyhook.agents._family import BASE, MODE, HookFile, Layout, aliased, claude_reply, family
from anyhook.agents.codebuddy import HOST
from anyhook.tables.hosted import event_rows, not_in_a_stop_hook
from anyhook.tables.rows import Failing, Field, Limits, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json


def _null(_scene: Scene) -> Json:
    return None


def _none(_scene: Scene) -> Json:
    return []


CALL = (Field("call_id", "call_id"),)
STOPPING = (
    Field("stop_hook_active", not_in_a_stop_hook),
    Field("background_tasks", _none),
    Field("session_crons", _none),
)
EVENTS = event_rows(
    HOST,
    extra={
        "PreToolUse": CALL,
        "PostToolUse": CALL,
        "PostToolUseFailure": CALL,
        "Stop": STOPPING,
        "SubagentStop": STOPPING,
        "PreCompact": (Field("custom_instructions", _null),),
    },
    untold=("SubagentStart.last_assistant_message",),
    bound=8,
)


def _variables(_hook: Hook, project: str, session: str) -> dict[str, str]:
    return {
        "CODEBUDDY_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project, "CODEBUDDY_SESSION_ID": session,
        "CLAUDE_SESSION_ID": session,
    }  # fmt: skip


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{home}/.codebuddy/settings.json"),
            HookFile("project", "{project}/.codebuddy/settings.json"),
            HookFile("project", "{project}/.codebuddy/settings.local.json", "local"),
        ),
        keys=("statusMessage", "async", "once", "if"),
        skipped=("prompt", "http", "agent", "mcp_tool"),
        limits=Limits(60.0),
        off=(("disableAllHooks",), True),
    ),
    EVENTS,
    claude_reply(EVENTS),
    base=(*BASE, MODE, Field("model", "model")),
    match=aliased(HOST),
    variables=_variables,
    failing=Failing(gates_only=("timed_out",)),
    differences=differences(
        "2.163.0",
        "PyPI codebuddy-agent-sdk 0.3.274; run",
        "2026-11-16",
        ("CB-1", "Plugins and managed files are not read."),
        ("CB-2", "Handlers that are not commands are reported and not run; `if`, `once` and `async` have no effect."),
    ),
)
