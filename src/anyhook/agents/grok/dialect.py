"""Grok Build: Claude's groups and answers; a hook can refuse a prompt but not add to it, and has five seconds."""

from __future__ import annotations

from anyhook.agents._family import MODE, HookFile, Layout, aliased, claude_reply, family, misplaced
from anyhook.agents.grok import HOST
from anyhook.tables.cells import native_name, project, session
from anyhook.tables.hosted import alone, event_rows, no_transcript, not_in_a_stop_hook, now
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import Field, Key, Limits, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.cell_names import Words


def _snake(scene: Scene) -> Json:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in scene.native).lstrip("_")


def _folder(scene: Scene) -> Json:
    return f"{scene.project}/"


def _whole(_scene: Scene) -> Json:
    return False


def _source(scene: Scene) -> Json:
    said = scene.event.get("source")
    return "new" if said == "startup" else said


CALL = (
    Field("toolName", "tool"), Field("toolInput", "input"), Field("toolUseId", "call_id"),
    Field("toolInputTruncated", _whole),
)  # fmt: skip
STOPPING = Field("stopHookActive", not_in_a_stop_hook)
EVENTS = event_rows(
    HOST,
    cells={"source": _source},
    extra={
        "PreToolUse": CALL,
        "PostToolUse": (*CALL, Field("toolResult", "output"), Field("toolResultTruncated", _whole)),
        "PostToolUseFailure": CALL,
        "Stop": (STOPPING, Field("reason", lambda scene: "end_turn")),
        "SubagentStop": (STOPPING, Field("phase", lambda scene: "gate")),
    },
    bound=8,
)
REFUSALS: Words = (("deny", "block", ()), ("block", "block", ()), ("allow", "none", ()), ("approve", "none", ()))
READ = claude_reply(EVENTS, read=object_or_nothing, text_on=(), also=("suppressOutput",))
REPLY = READ.replace(
    exit_reasons=("stderr",),
    keys=(
        Key(("decision",), "string", "verdict", words=REFUSALS),
        *(
            key.replace(on=tuple(event for event in key.on if event not in ("session_start", "user_prompt_submit")))
            for key in READ.keys
            if key.path != ("decision",)
        ),
    ),
)


def _variables(hook: Hook, folder: str, session_id: str) -> dict[str, str]:
    event = "".join(f"_{char.lower()}" if char.isupper() else char for char in hook.native_event).lstrip("_")
    return {
        "GROK_HOOK_EVENT": event,
        "GROK_SESSION_ID": session_id,
        "GROK_WORKSPACE_ROOT": f"{folder}/",
        "CLAUDE_PROJECT_DIR": f"{folder}/",
    }


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{config}/hooks/"),
            HookFile("user", "{config}/config.toml", "config"),
            HookFile("project", "{project}/.grok/hooks/"),
        ),
        skipped=("http",),
        limits=Limits(5.0),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY,
    base=(
        Field("hookEventName", _snake), Field("sessionId", session), Field("cwd", project),
        Field("workspaceRoot", _folder), Field("timestamp", now), Field("transcriptPath", no_transcript),
        Field("permissionMode", "permission_mode"), Field("hook_event_name", native_name),
        Field("session_id", session), Field("transcript_path", no_transcript), MODE,
    ),
    match=aliased(HOST),
    variables=_variables,
    at_once=None,
    together=False,
    misplaced=misplaced(("{project}/.grok/hooks.json", ".grok/hooks/<name>.json")),
    differences=differences("1.0.41", "xai-org/grok-build docs/user-guide/10-hooks.md; run", "2026-11-16",
        ("GK-1", "Managed files and plugins are not read."),
        ("GK-2", "`http` handlers are reported and not run."),
        ("GK-9", "A tool's result is the text that the model is given, not the product's own object."),
    ),
    mcp_tools="{server}__{tool}",
)  # fmt: skip
