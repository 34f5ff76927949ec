"""The closed sets of words: verdicts, effects, endings, and the values of switches, for the command, the library, the
settings and the tables."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Never, NoReturn, TypeVar

    Word = TypeVar("Word", bound=str)

    Verdict = Literal["none", "allow", "ask", "block"]
    Effect = Literal[
        "advisory", "feedback", "keep_working", "skip", "deny_permission", "deny_tool", "end_turn", "abort"
    ]
    """What a block does."""
    HostEffect = Literal[
        "block", "end_turn", "ask", "allow", "input", "output", "prompt", "context", "message", "follow_up"
    ]
    """What a host can be asked to do."""
    Ending = Literal["exited", "timed_out", "signalled", "not_started", "overflowed", "cancelled"]
    """How a run ended."""
    Cause = Literal["timed_out", "signalled", "not_started", "overflowed", "exit", "output", "cancelled"]
    """Why a hook failed."""
    Posture = Literal["native", "deny", "allow"]
    """What a broken hook means."""
    Mode = Literal["enforce", "shadow"]
    Trust = Literal["ask", "all", "native", "none"]
    """Which hooks of a project may run."""
    Off = Literal["tell", "deny", "pass"]
    WarmPython = Literal["user", "all", "off"]
    HandlerKind = Literal[
        "", "command", "python", "function", "callable", "builtin", "rule", "http", "mcp_tool", "prompt", "agent"
    ]
    """What a hook is; "" if unknown."""
    HookState = Literal["armed", "untrusted", "changed", "disabled", "broken"]
    """A hook in the catalog."""
    HookStatus = Literal["ran", "unmatched", "untrusted", "disabled", "skipped", "background", "broken"]
    """What happened to a hook in one event."""
    GateState = Literal[
        "disabled", "unreadable", "waiting", "changed", "broken", "native", "uncovered", "unmatched", "shadow", "armed"
    ]
    """Whether a gate works; the first state that applies, in this order."""
    OffCause = Literal["", "switched_off", "all_off", "declared_off", "host_runs_it"]
    """Why a hook is disabled: its user turned it off, a file turns all hooks off, its own declaration does (or a switch
    for it beside it), or the agent runs it itself. "" for a hook that is not disabled, or by no one of these."""
    GateCause = Literal[
        "", "switched_off", "all_off", "declared_off", "host_runs_it", "not_approved", "changed", "gone", "unreadable",
        "unusable", "loaded_broken", "cannot_start", "entry_gone", "waits_too_short", "never_asked", "never_matches",
        "shadow", "all_shadow", "left_out", "agent_does_not_call", "cannot_replace", "not_judged", "ended_early",
    ]  # fmt: skip
    """Why a gate is in its state; "" if it is armed."""
    AgentCause = Literal[
        "", "no_entry_known", "not_installed", "inert", "waits", "unguarded", "only_own_hooks", "unconfirmed",
        "borrowed", "version_changed",
    ]  # fmt: skip
    """Why an agent is in its state; "" if it is on."""
    Severity = Literal["error", "warning"]
    HookScope = Literal["", "managed", "user", "project", "plugin", "builtin"]
    """Whose files declare a hook; `builtin` for a hook that is part of a product, "" if unknown."""
    OwnScope = Literal["project", "user"]
    """Where a person's new entry goes."""
else:  # a word is a text; ordinary modules import these names as they do others
    Word = Verdict = Effect = HostEffect = Ending = Cause = Posture = Mode = Trust = Off = WarmPython = str
    HandlerKind = HookState = HookStatus = GateState = OffCause = GateCause = AgentCause = Severity = str
    HookScope = OwnScope = str

NONE: Verdict = "none"
ALLOW: Verdict = "allow"
ASK: Verdict = "ask"
BLOCK: Verdict = "block"
ERROR: Severity = "error"
WARNING: Severity = "warning"
VERDICTS: dict[str, Verdict] = {"none": "none", "allow": "allow", "ask": "ask", "block": "block"}
"""Weakest first, by the texts that tables and records use."""
ENDINGS: tuple[Ending, ...] = ("exited", "timed_out", "signalled", "not_started", "overflowed", "cancelled")
HANDLER_KINDS: tuple[HandlerKind, ...] = (
    "", "command", "python", "function", "callable", "builtin", "rule", "http", "mcp_tool", "prompt", "agent",
)  # fmt: skip
TRUST: tuple[Trust, ...] = ("ask", "all", "native", "none")
ON_FAILURE: tuple[Posture, ...] = ("native", "deny", "allow")
MODE: tuple[Mode, ...] = ("enforce", "shadow")
HOOK_SCOPES: tuple[HookScope, ...] = ("", "managed", "user", "project", "plugin", "builtin")
OWN_SCOPES: tuple[OwnScope, ...] = ("user", "project")
"""Where a person's new entry goes, the usual one first."""
OFF: tuple[Off, ...] = ("tell", "deny", "pass")
"""What happens if a gate is off: the person is told, what it guards is refused, or nothing."""
WARM = ("auto", "off")
"""Whether warm processes may serve calls."""
WARM_PYTHON: tuple[WarmPython, ...] = ("user", "all", "off")
"""Whose Python scripts may run in a warm interpreter: those of the user's own hooks, all, or none."""
ON_OR_OFF = ("on", "off")
TRACEPARENT = "TRACEPARENT"
"""The variable with a caller's trace context, as W3C names it."""
RUN_VARIABLE = "ANYHOOK_RUN"
"""Names the run that a process belongs to. Ending a run finds its processes by it, and an engine inside a hook sees
it."""
HOOK_DIALECT, HOOK_EVENT = "ANYHOOK_DIALECT", "ANYHOOK_EVENT"
"""The variables that tell `anyhook deny` and the like, called in a hook, which words to answer in."""
ASKED_AGAIN = "ANYHOOK_ASKED_AGAIN"
"""Tells a hook that it sees the final form of a call that it was asked about before."""
FULL, HASHED = "full", "hashed"
NOT_MET = "its condition does not hold"
"""Why a rule does not apply. Of many such rules only the number is shown and recorded."""
BODIES = (FULL, HASHED, "none")
"""What the journal keeps of payloads."""


def checked(switch: str, value: str | None, known: tuple[Word, ...]) -> Word | None:
    """The value as one of the known words; ValueError for an unknown one."""
    if value is not None and value not in known:
        raise ValueError(f"{switch}={value!r}: it must be one of {', '.join(known)}")
    return None if value is None else word_of(value, known)


def word_of(value: object, known: tuple[Word, ...]) -> Word:
    """The value as one of the known words; the first word for any other value."""
    return next((word for word in known if word == value), known[0])


def never(value: Never) -> NoReturn:
    """For the branch that no word of a closed set reaches; a type checker verifies that. (`typing` is too much to
    load.)"""
    raise AssertionError(f"{value!r} is not one of its words")


def listed(many: Sequence[str], one: str | Sequence[str]) -> list[str]:
    """A switch that may be repeated: the library's plural and the command's singular, as one list."""
    return [*many, *([one] if isinstance(one, str) else one)]
