"""Code Puppy: Claude's groups; exit status 1 refuses and 2 does not. A refusal on stdout and a timeout also refuse."""

from __future__ import annotations

from anyhook.agents._family import MODE, HookFile, Layout, aliased, family
from anyhook.agents.codepuppy import HOST
from anyhook.tables.cells import native_name, project, session
from anyhook.tables.hosted import alone, event_rows
from anyhook.tables.readers import object_or_prose
from anyhook.tables.rows import SPECIFIC, Failing, Field, Key, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Draft


def _prompt(scene: Scene) -> Json:
    return {"prompt": scene.event.get("prompt")}


def _called(name: str) -> Field:
    return Field("tool_name", lambda _scene: name)


def _empty(_scene: Scene) -> Json:
    return {}


NOTHING = Field("tool_input", _empty)
PAYLOADS = {
    "SessionStart": (_called("session"), NOTHING),
    "UserPromptSubmit": (_called("user_prompt"), Field("tool_input", _prompt)),
    "SubagentStop": (_called("code-puppy"), NOTHING),
    "SessionEnd": (_called("session"), NOTHING),
}
"""The payloads of events that are not about a tool; they still name one."""
EVENTS = tuple(row.replace(payload=PAYLOADS.get(row.native, row.payload)) for row in event_rows(HOST))
BEFORE = ("session_start", "user_prompt_submit", "pre_tool")


def _refused(draft: Draft, event: str) -> Draft:
    """`result: block` and `continue: false` refuse as well."""
    if event == "pre_tool" and (draft.get("result") == "block" or draft.get("continue") is False):
        return {**draft, "verdict": "block", "reason": draft.get("reason") or draft.get("stopReason")}
    return draft


REPLY = Reply(
    read=object_or_prose,
    exits={0: "pass", 1: "block"},
    text_on=BEFORE,
    json_reasons=("reason", "stderr"),
    keys=(
        Key(("decision",), "string", "verdict", on=("pre_tool",), words=(("block", "block", ()),)),
        Key(("result",), "string", "note", on=("pre_tool",), words=(("block", "block", ()),)),
        Key(("reason",), "string", "reason", on=("pre_tool",)),
        Key(("continue",), "bool", "note"),
        Key(("stopReason",), "string", "note"),
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=("pre_tool",),
            words=(("deny", "block", ()), ("allow", "none", ()), ("ask", "none", ()))),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=("pre_tool",)),
        Key((SPECIFIC, "additionalContext"), "string", "context", on=BEFORE),
    ),
    finish=_refused,
)  # fmt: skip


def _variables(hook: Hook, folder: str, _session: str) -> dict[str, str]:
    return {"CLAUDE_HOOK_EVENT": hook.native_event, "CLAUDE_PROJECT_DIR": folder, "CLAUDE_CODE_HOOK": "1"}


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{home}/.code_puppy/hooks.json"),),
        limits=Limits(5.0, unit_s=0.001),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY,
    base=(Field("session_id", session), Field("hook_event_name", native_name), Field("cwd", project), MODE),
    match=aliased(HOST),
    dense=False,
    variables=_variables,
    failing=Failing(gates_only=("timed_out",)),
    differences=differences(
        "0.0.946",
        "PyPI code-puppy 0.0.946; run",
        "2026-11-16",
        ("PU-5", "After a tool, a hook's output has no effect."),
    ),
)
