"""Decision and Report: what all hooks of one event together ask for, and one line about each of them."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.model.words import BLOCK, Effect, Ending, HookScope, HookState, HookStatus, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.problem import Problem

    Statuses = dict[HookState, HookStatus]


class EarlierCall(Record):
    """A call of the session that made a rule hold later."""

    call: int
    """Its number in the session."""
    at: int
    """When it was asked about, in nanoseconds."""
    record: int | None = None
    """The journal's record of it; None if there is none."""

    def as_dict(self) -> dict[str, Json]:
        """The fields; `record` only if there is one."""
        return {field: value for field in self.fields if (value := getattr(self, field)) is not None}


class Report(Record):
    """What happened to one hook of the catalog in one event."""

    id: str
    name: str
    dialect: str
    scope: HookScope
    source: str
    status: HookStatus
    why: str = ""
    ending: Ending | None = None
    exit_code: int | None = None
    duration_ms: float | None = None
    stdout: str = ""
    stderr: str = ""
    verdict: Verdict = "none"
    shadow: bool = False
    """Whether the hook itself is in shadow mode, so that its verdict does not count."""
    earlier: tuple[EarlierCall, ...] = ()
    """Calls of the session without which the rule would not hold."""

    def as_dict(self) -> dict[str, Json]:
        """All fields; `shadow` and `earlier` only if they say something."""
        made = {field: getattr(self, field) for field in self.fields if field not in ("shadow", "earlier")}
        made |= {"shadow": True} if self.shadow else {}
        return made | ({"earlier": [each.as_dict() for each in self.earlier]} if self.earlier else {})


IDLE: Statuses = {
    "armed": "unmatched",
    "untrusted": "untrusted",
    "changed": "untrusted",
    "disabled": "disabled",
    "broken": "broken",
}


def idle_report(hook: Hook, why: str) -> Report:
    """The line about a hook that does not run."""
    return Report(hook.id, hook.name, hook.dialect, hook.scope, hook.where(), IDLE[hook.status], why)


class Texts(tuple[str, ...]):
    """Immutable texts in order: empty decisions are shared. They equal a list with the same texts, because the contract
    calls them lists."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other


class Decision(Record):
    """One predictable result of many hooks."""

    event: str
    verdict: Verdict = "none"
    effect: Effect | None = None
    reason: str | None = None
    hook: str | None = None
    tool_input: dict[str, Json] | None = None
    tool_output: Json = None
    prompt: str | None = None
    context: Texts = Texts()
    messages: Texts = Texts()
    follow_ups: Texts = Texts()
    history: list[dict[str, str]] | None = None
    recipe: dict[str, Json] | None = None
    end_turn: bool = False
    enforced: bool = True
    hooks: tuple[Report, ...] = ()
    problems: tuple[Problem, ...] = ()
    answered: dict[str, Json] | None = None
    """Who answered when a hook asked, and when; None if nobody did."""

    def __repr__(self) -> str:
        """What a person can read at a prompt: what differs from silence, and how many hooks there were."""
        left_out = ("hooks", *(["enforced"] if self.enforced else []))
        fields = {field: getattr(self, field) for field in self.fields if field not in left_out}
        said = [f"{field}={value!r}" for field, value in fields.items() if value not in (None, (), False, "none")]
        if field_hooks := len(self.hooks):
            said.append(f"hooks=<{field_hooks}>")
        return f"Decision({', '.join(said)})"

    @property
    def stops(self) -> bool:
        """Whether the host has to stop something because of this."""
        return self.enforced and self.verdict == BLOCK and self.effect != "advisory"

    def as_dict(self) -> dict[str, Json]:
        """The object that `anyhook fire --json` prints."""
        made: dict[str, Json] = {field: getattr(self, field) for field in self.fields}
        if self.answered is None:
            del made["answered"]
        for field in ("context", "messages", "follow_ups"):
            made[field] = list(getattr(self, field))
        made["hooks"] = [report.as_dict() for report in self.hooks]
        made["problems"] = [dict(problem.as_dict()) for problem in self.problems]
        return made
