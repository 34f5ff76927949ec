"""A gate as a value: its state, the cause, and what the cause is about. Every message about gates is made here from
that value: for `status`, `doctor`, `list`, `ci`, the page, the line that an agent shows, and a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import GateCause, GateState, HookScope

OFF_STATES = ("waiting", "changed", "broken", "unreadable")
"""The states that the setting `off` applies to."""
UNREADABLE = (
    "unreadable", "not-utf8", "dangling-link", "layer-failed", "no-front-matter", "invalid-json", "invalid-yaml",
    "invalid-toml", "invalid-python", "project-too-large", "broken-agent", "switches-damaged", "installs-damaged",
)  # fmt: skip
"""Problems after which it is unknown what a file declares."""
SAFE_STATES = ("armed", "native", "unmatched")
WAITING_STATES = ("waiting", "changed")
"""The states that an approval ends."""
BEFORE_ACTIONS = ("pre_tool", "permission_request")
"""The events at which a gate keeps an action from happening."""
KEEP_WORKING = ("stop", "subagent_stop")
"""The events at which a block keeps the agent working and refuses nothing."""
ONLY_TELLS = ("warn", "context")
"""What rules do that refuse nothing."""
TRUST, STATUS, CHECK, LOG = "anyhook trust", "anyhook status", "anyhook check", "anyhook log"
WITHOUT_SECRETS = "Refuse the calls that read them: anyhook add secrets"
WITH_SECRETS = "The pack `secrets` refuses the calls that read them; more cannot be done in this agent."
"""What a person can do about outputs that an agent cannot replace: without that pack, and with it."""
OWN_COMMAND = "anyhook "
"""How a fix begins that is a command."""
CAUSE_WORDS: dict[GateCause, tuple[str, str]] = {
    "": ("{why}", ""),
    "switched_off": ("{why}", "anyhook enable {id}"),
    "all_off": ("{why}", ""),
    "declared_off": ("{why}", ""),
    "host_runs_it": ("{why}", ""),
    "not_approved": ("{why}", "{fix}"),
    "changed": ("{why}", "{fix}"),
    "gone": ("{why}", TRUST),
    "unreadable": ("{why}", "{fix}"),
    "unusable": ("{why}", "{fix}"),
    "loaded_broken": ("{why}", CHECK),
    "cannot_start": ("{why}", CHECK),
    "entry_gone": ("{why}", "anyhook install {agent}"),
    "waits_too_short": (
        "{why} {limit} s, and a hook may take {needed} s; the entry has to be written again", "anyhook install {agent}",
    ),
    "never_asked": (
        "{agent} never asks at {event}", "Move it to an event that this agent has; `anyhook doctor` lists them.",
    ),
    "cannot_replace": (
        "{agent} cannot replace {output}, so the model reads the secrets in it", "{fix}",
    ),
    "never_matches": ("{why}", ""),
    "shadow": ("its decisions do not count: its `mode` is `shadow` in the settings", "anyhook enforce {id}"),
    "all_shadow": (
        "no decision counts: `mode` is `shadow` in the settings", 'Take `mode = "shadow"` out of the settings.',
    ),
    "left_out": ("the entry leaves out {missed}", "anyhook install {agent} --lean"),
    "agent_does_not_call": ("{why}", "anyhook doctor {agent}"),
    "not_judged": ("{why}", LOG),
    "ended_early": (
        "it was ended after {ran} s, because the agent waits no longer; its own limit is {limit} s", LOG,
    ),
}  # fmt: skip
"""Cause → why a gate is in its state, and what puts it on again. The words in braces are its facts."""
REASONS_SHOWN = 5
NAMES_LENGTH = 320
REASON_LENGTH = 200
COMMANDS_SHOWN = 5
"""The limits of one line: reasons, letters of names per reason, letters of each reason, commands."""
ITSELF = "it runs its own hooks itself, and no other hook that can refuse something runs through anyhook in this agent"


class GateStatus(Record):
    """One gate, and whether it works."""

    id: str
    name: str
    event: str | None
    """Canonical; None if it is not known."""
    dialect: str
    scope: HookScope
    source: str
    state: GateState
    cause: GateCause
    """Decisions look at the state and the cause, and never at the sentences."""
    facts: Mapping[str, str]
    """What the cause is about. `why` and `fix` are in the words of the hook, the problem or the entry that it is
    about."""
    agent: str | None = None
    excused: bool = False
    """Whether the user turned it off."""
    only_tells: bool = False
    """Whether it is a rule that warns or adds context, and so refuses nothing."""
    pack: str = ""
    """The pack that the rule is in; "" for any other gate."""

    @classmethod
    def of(cls, hook: Hook, state: GateState, cause: GateCause, **facts: str) -> GateStatus:
        """The gate that a hook is."""
        event = hook.events[0] if hook.events else None
        made = cls(hook.id, hook.name, event, hook.dialect, hook.scope, hook.where(), state, cause, facts)
        if hook.condition is None:
            return made
        return made.replace(only_tells=hook.spec.get("then") in ONLY_TELLS, pack=hook.group)

    @property
    def guards(self) -> bool:
        """Whether it is on and can refuse something. These are the guards that every view counts."""
        return self.state == "armed" and self.event not in KEEP_WORKING and not self.only_tells

    @property
    def why(self) -> str:
        return self._filled(CAUSE_WORDS[self.cause][0])

    @property
    def fix(self) -> str:
        return self._filled(CAUSE_WORDS[self.cause][1])

    def _filled(self, text: str) -> str:
        return text.format_map({"why": "", "fix": "", "id": self.id, **self.facts}) if "{" in text else text

    @property
    def command(self) -> str:
        """The command to run, in a line about several gates."""
        if self.state in WAITING_STATES:
            return TRUST
        if self.fix == LOG or (self.state not in OFF_STATES and self.fix.startswith(OWN_COMMAND)):
            return self.fix
        return STATUS

    @property
    def refusal(self) -> str:
        """Why a call is refused, because what guards it is off."""
        fix = TRUST if self.state in WAITING_STATES else CHECK
        return f"The guard `{self.name}` is OFF: {self.why}. What it guards is refused until it is on again: {fix}"

    @property
    def not_on(self) -> str:
        """That it is required and not on."""
        why = f": {self.why}" if self.why else ""
        return f"`{self.id}` is {self.state}{why}.{f' Run: {self.fix}' if self.fix.startswith(OWN_COMMAND) else ''}"

    def as_dict(self) -> dict[str, Json]:
        fields = ("id", "event", "dialect", "scope", "source", "state", "agent", "why", "fix")
        return {field: getattr(self, field) for field in fields}


# -- all gates of a project


def together(some: Sequence[GateStatus]) -> GateStatus:
    """The first of several gates, named after their pack where several in it are alike, so that its fix is for all."""
    first = some[0]
    alike = [gate for gate in some if (gate.pack, gate.state, gate.cause) == (first.pack, first.state, first.cause)]
    return first.replace(id=first.pack) if first.pack and len(alike) > 1 else first


def protected(found: Iterable[GateStatus]) -> bool:
    """Whether a gate before actions is on, and all gates work."""
    found = list(found)
    return not not_holding(found) and guards_actions(found)


def guards_actions(found: Iterable[GateStatus]) -> bool:
    """Whether a gate that is on is asked before actions."""
    return any(gate.guards and gate.event in BEFORE_ACTIONS for gate in found)


def not_holding(found: Iterable[GateStatus]) -> list[GateStatus]:
    """The gates that do not hold, although their user has not turned them off."""
    return [gate for gate in found if gate.state not in SAFE_STATES and not gate.excused]


def only_own_hooks(found: Sequence[GateStatus]) -> bool:
    """Whether all that guards an agent are hooks that it runs itself."""
    return not (protected(found) or not_holding(found)) and any(gate.state == "native" for gate in found)


def summary(found: Sequence[GateStatus]) -> str:
    """All guards in one line."""
    on, off = sum(gate.guards for gate in found), not_holding(found)
    said = f"{counted(on)} on"
    if not off:
        return "no guard is on" if not on else said if guards_actions(found) else f"{said}, none of them before a call"
    first = together(off)
    more = f" and {len(off) - 1} more" if len(off) > 1 else ""
    return f"{said}; {len(off)} OFF: {first.name} ({first.state}){more}{_help(first)}"


def _help(gate: GateStatus) -> str:
    return f". {'Run: ' if gate.fix.startswith(OWN_COMMAND) else ''}{gate.fix}" if gate.fix else ""


def unguarded(found: Sequence[GateStatus]) -> str:
    """Why an agent that asks us is not guarded by every guard; "" if it is."""
    if protected(found):
        return ""
    off = not_holding(found)
    if only_own_hooks(found):
        return ITSELF
    if not off:
        return "no guard is armed here: no hook that can refuse something runs through anyhook in this agent"
    first, armed = together(off), sum(gate.guards for gate in found)
    more = f", and {len(off) - 1} more" if len(off) > 1 else ""
    on = f"{counted(armed)} on; " if armed else "no guard is on; "
    return f"{on}{len(off)} OFF: {first.name} is {first.state} ({first.why}){more}{_help(first)}"


def off_line(guards: Sequence[GateStatus]) -> str:
    """What a person reads about guards that are off: one line, with the guards grouped by reason; "" for
    none."""
    if not guards:
        return ""
    alike: dict[str, list[str]] = {}
    for guard in guards:
        reason = " ".join(guard.why.split()).removesuffix(f"; see `{guard.command}`")
        reason = reason if len(reason) <= REASON_LENGTH else f"{reason[: REASON_LENGTH - 1]}…"
        alike.setdefault(reason, []).append(guard.name)
    shown = [f"{names_of(names)}: {reason}" for reason, names in [*alike.items()][:REASONS_SHOWN]]
    left = sum(len(names) for names in [*alike.values()][REASONS_SHOWN:])
    said = "; ".join([*shown, *([f"{left} more"] if left else [])])
    commands = [*dict.fromkeys(guard.command for guard in guards)]
    commands = commands if len(commands) <= COMMANDS_SHOWN else [STATUS]
    return f"anyhook: {counted(len(guards))} OFF: {said}. Run: {', '.join(commands)}"


def counted(count: int) -> str:
    return f"{count} guard{'' if count == 1 else 's'}"


def names_of(names: list[str]) -> str:
    """Names that share a reason, as many as fit. (Guards may have the same name.)"""
    shown, told = list[str](), 0
    for name in dict.fromkeys(names):
        many = names.count(name)
        shown.append(f"{name} ({many} times)" if many > 1 else name)
        told += many
        if sum(map(len, shown)) > NAMES_LENGTH:
            break
    left = len(names) - told
    return ", ".join(shown) + (f" and {left} more" if left else "")
