"""How Codex reads a hook's answer: the keys that its schemas allow for each event, and what makes an answer
unusable."""

from __future__ import annotations

from anyhook.tables.readers import object_or_words
from anyhook.tables.rows import SPECIFIC, Key, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

ANY = ("continue", "stopReason", "suppressOutput", "systemMessage")
JUDGING = (*ANY, "decision", "reason")
CONTEXT = ("hookEventName", "additionalContext")
ALLOWED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "session_start": ((*ANY, SPECIFIC), CONTEXT),
    "user_prompt_submit": ((*JUDGING, SPECIFIC), CONTEXT),
    "pre_tool": (
        (*JUDGING, SPECIFIC),
        (*CONTEXT, "permissionDecision", "permissionDecisionReason", "updatedInput"),
    ),
    "permission_request": ((*ANY, SPECIFIC), ("hookEventName", "decision")),
    "post_tool": ((*JUDGING, SPECIFIC), (*CONTEXT, "updatedMCPToolOutput")),
    "subagent_start": ((*ANY, SPECIFIC), CONTEXT),
    "subagent_stop": (JUDGING, ()),
    "stop": (JUDGING, ()),
    "pre_compact": (ANY, ()),
    "post_compact": (ANY, ()),
    "session_end": ((), ()),
}
"""Canonical event → the keys that its answer may hold, and those inside `hookSpecificOutput`."""
REFUSED = {"pre_tool": ("continue", "stopReason", "suppressOutput")}
"""Keys that the schema has and the product rejects."""
HALTING = ("session_start", "user_prompt_submit", "post_tool", "subagent_start", "subagent_stop", "stop")
CONTEXT_EVENTS = ("session_start", "user_prompt_submit", "pre_tool", "post_tool", "subagent_start")


def spoils(answer: dict[str, Json], event: str) -> str:
    """Why the product would count this answer as a failed run."""
    top, inner = ALLOWED[event]
    given = answer.get(SPECIFIC)
    specific = given if isinstance(given, dict) else {}
    unknown = [key for key in answer if key not in top] + [f"{SPECIFIC}.{key}" for key in specific if key not in inner]
    if unknown:
        return f"`{unknown[0]}` is not a key of this event's answers"
    refused = [key for key in REFUSED.get(event, ()) if key in answer]
    if refused:
        return f"`{refused[0]}` is not taken before a tool runs"
    if given is not None and "hookEventName" not in specific:
        return f"`{SPECIFIC}` does not repeat the event's name as hookEventName"
    return _unreasoned(answer, specific, event)


def _unreasoned(answer: dict[str, Json], specific: dict[str, Json], event: str) -> str:
    word = specific.get("permissionDecision")
    if word == "ask":
        return "`ask` is not taken"
    if word == "allow" and "updatedInput" not in specific:
        return "`allow` counts with an `updatedInput` only"
    if word == "deny" and not str(specific.get("permissionDecisionReason") or "").strip():
        return "a refusal needs its `permissionDecisionReason`"
    decision = specific.get("decision")
    if event == "permission_request" and isinstance(decision, dict):
        extra = [
            key for key in ("updatedInput", "updatedPermissions", "interrupt") if decision.get(key) not in (None, False)
        ]
        return f"`decision.{extra[0]}` is not taken" if extra else ""
    if answer.get("decision") == "block" and not str(answer.get("reason") or "").strip():
        return "a block needs its `reason`"
    return ""


DOCUMENTED = tuple(
    dict.fromkeys(
        [key for top, _ in ALLOWED.values() for key in top if key != SPECIFIC]
        + [f"{SPECIFIC}.{key}" for _, inner in ALLOWED.values() for key in inner if key != "decision"]
        + [f"{SPECIFIC}.decision.{key}" for key in ("updatedInput", "updatedPermissions", "interrupt")]
    )
)
COMMAND = Reply(
    read=object_or_words,
    also=DOCUMENTED,
    exits={0: "pass", 2: "block_if_said"},
    exit_reasons=("stderr",),
    json_reasons=("reason",),
    spoils=spoils,
    text_on=("session_start", "subagent_start", "user_prompt_submit"),
    keys=(
        Key(("decision",), "string", "verdict", words=(("block", "block", ()), ("approve", "none", ()))),
        Key(("reason",), "string", "reason"),
        Key(
            (SPECIFIC, "permissionDecision"),
            "string",
            "verdict",
            on=("pre_tool",),
            words=(("deny", "block", ()), ("allow", "none", ())),
        ),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=("pre_tool",)),
        Key((SPECIFIC, "updatedInput"), "object", "tool_input", on=("pre_tool",)),
        Key(
            (SPECIFIC, "decision", "behavior"),
            "string",
            "verdict",
            on=("permission_request",),
            words=(("deny", "block", ()), ("allow", "allow", ())),
        ),
        Key((SPECIFIC, "decision", "message"), "string", "reason", on=("permission_request",)),
        Key((SPECIFIC, "additionalContext"), "string", "context", on=CONTEXT_EVENTS),
        Key(("systemMessage",), "string", "messages"),
        Key(("continue",), "bool", "end_turn_unless", on=HALTING),
        Key(("stopReason",), "string", "messages"),
    ),
)
_HALTS = tuple(key for key in COMMAND.keys if key.path != ("continue",))
COMMAND = COMMAND.replace(
    on_event={
        "pre_compact": COMMAND.replace(
            keys=(*_HALTS, Key(("continue",), "bool", "block_unless")), json_reasons=("message",)
        )
    }
)
"""Before a compaction, `continue: false` is the way to stop it."""
