"""Agents driven otherwise than usual: with their own questions on, with a conversation that grows too long, with
sub-agents switched on. The tables say how, and nothing here is started."""

from __future__ import annotations

from anyhook.hosts.drives import CODEX_SETTINGS, CODEX_UNASKING, DRIVES, codex_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.tables.drive_rows import Drive

ASKING, FULL, DELEGATING = "asking", "full", "delegating"
"""It asks before a tool runs, though nobody is there to answer; it compacts its conversation; it has sub-agents."""


def _with_words(agent: str, **renamed: str) -> Drive:
    """As usual, with some of its words put otherwise."""
    row = DRIVES[agent]
    return row.replace(words=tuple(renamed.get(word, word) for word in row.words))


def _without(agent: str, *words: str) -> Drive:
    row = DRIVES[agent]
    return row.replace(words=tuple(word for word in row.words if word not in words))


def _with_env(agent: str, **env: str) -> Drive:
    row = DRIVES[agent]
    return row.replace(env={**row.env, **env})


def _codex(*settings: str) -> Drive:
    return DRIVES["codex"].replace(words=codex_words((*CODEX_SETTINGS, *CODEX_UNASKING, *settings)))


MOODS: Mapping[str, Mapping[str, Drive]] = {
    ASKING: {
        "claude": _without("claude", "--allowedTools", "Bash", "Write", "Read", "Agent"),
        "codex": DRIVES["codex"].replace(words=codex_words(CODEX_SETTINGS, "--approve-for-me")),
        "copilot": _without("copilot", "--allow-all-tools"),
        "vibe": _without("vibe", "--auto-approve"),
        "cline": _with_words("cline", true="false"),
        "opencode": _without("opencode", "--auto").replace(
            env={**DRIVES["opencode"].env, "OPENCODE_CONFIG_CONTENT": '{"permission": {"bash": "ask"}}'}
        ),
    },
    FULL: {
        "claude": _with_env("claude", CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000"),
        "codex": _codex("model_auto_compact_token_limit=100000"),
    },
    DELEGATING: {"codex": _codex("features.multi_agent_v2=true")},
}

NO_ASKING = "without a person it offers its model no tool that it would ask about"
NEVER_ASKS = "`kimi -p` never asks"
UNDRIVEN: Mapping[str, Mapping[str, str]] = {
    "claude": {"notification": "it notifies people at a terminal only"},
    "gemini": {
        "pre_tool allow": NO_ASKING,
        "notification": "it notifies of questions only, and asks none without a person",
    },
    "qwen": {"pre_tool allow": NO_ASKING, "permission_request": NO_ASKING, "session_end": "`qwen -p` does not fire it"},
    "goose": {"pre_tool allow": "its modes that ask do not start without a terminal"},
    "kimi": {
        "pre_tool allow": NEVER_ASKS,
        "permission_request": NEVER_ASKS,
        "notification": "`kimi -p` does not fire it",
        "session_end": "`kimi -p` does not fire it",
    },
    "vibe": {"sub-agents": "its model is offered none"},
    "cline": {
        "user_prompt_submit": "`cline` with a prompt does not fire it",
        "post_tool_failure": "what fails inside a tool is a result there; seen only for calls that nobody approved",
        "session_end": "it starts such a hook as it ends itself, and seldom is the hook seen",
    },
    "opencode": {"session_end": "only people delete sessions"},
}
"""Agent → event, or event and effect → why no run without a person can show it."""


def drive_of(agent: str, mood: str = "") -> Drive:
    """How an agent is driven; as usual where a mood makes no difference to it."""
    return MOODS.get(mood, {}).get(agent) or DRIVES[agent]


def undriven(agent: str, event: str, effect: str) -> str:
    """Why it cannot be shown; "" where it can."""
    known = UNDRIVEN.get(agent, {})
    return known.get(event) or known.get(f"{event} {effect}", "")
