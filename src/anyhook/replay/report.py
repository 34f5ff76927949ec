"""Report: which calls in the journal hooks and rules stopped, or would have stopped. Rules are also tried on calls from
before they existed, which starts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anyhook.engine.catalog import is_packaged
from anyhook.engine.context import Context
from anyhook.engine.match import HookStep
from anyhook.engine.rules import Rules
from anyhook.journal.read import JournalLine, RecordedDecision, about
from anyhook.journal.search import PROOF, Wanted
from anyhook.model.event import Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.outcome import ASK, BLOCK
from anyhook.model.record import Record
from anyhook.platform.places import lies_in
from anyhook.replay.imported import search_all
from anyhook.replay.rejudge import event_in, left_out
from anyhook.tables.registry import dialect

if TYPE_CHECKING:
    from anyhook.journal.run_index import Runs

EXAMPLES = 100
"""How many of the calls are shown; the rest is counted."""


class StoppedCall(Record):
    """One call that the hook stopped, asked about, or would have."""

    n: int | None
    at: int | None
    tool: str | None
    about: str
    verdict: str
    enforced: bool
    """Whether it was stopped then."""


class HookReport:
    """The counts of one hook while the journal is read."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.calls = self.stopped = self.would_stop = self.failed = self.asked_now = 0
        self.left_out: dict[str, int] = {}
        """How many calls cannot be judged today, by the reason."""
        self.examples: list[StoppedCall] = []

    def as_dict(self) -> dict[str, Json]:
        return {
            "id": self.hook.id,
            "calls": self.calls,
            "stopped": self.stopped,
            "would_have_stopped": self.would_stop,
            "failures": self.failed,
            "asked_now": self.asked_now,
            "left_out": {**self.left_out},
            "examples": [each.as_dict() for each in self.examples],
        }

    def take(self, line: JournalLine, verdict: str, *, enforced: bool) -> None:
        self.calls += line.events
        if verdict not in (BLOCK, ASK):
            return
        self.stopped += enforced
        self.would_stop += not enforced
        self.examples.append(StoppedCall(line.n, line.at_ns, line.tool, about(line.data), verdict, enforced))
        del self.examples[:-EXAMPLES]


def reports_of(hooks: Sequence[Hook], folder: str, since_ns: int | None, context: Context) -> list[HookReport]:
    """Reads the calls of the hooks' events, fired and imported: for a project's hook those of its project, for a user's
    hook all."""
    found = [HookReport(hook) for hook in hooks]
    for event in dict.fromkeys(event for hook in hooks for event in hook.events):
        asked = [each for each in found if event in each.hook.events]
        for line in search_all(folder, Wanted(since_ns=since_ns, event=event, project=_project(asked, context))):
            if line.own_decision is not None and line.host != PROOF:
                _take(asked, line, line.own_decision, context)
    return found


def hooks_in(known: Runs, wanted: Wanted) -> list[Hook]:
    """The hooks that ran, as their ids and events describe them. They cannot be tried on other calls."""
    events: dict[str, dict[str, None]] = {}
    for runs in known.between(wanted):
        if runs.hook.count(":") > 1:
            events.setdefault(runs.hook, {}).update(dict.fromkeys(str(kind[3]) for kind in runs.kinds if kind[3]))
    return [made for hook, named in events.items() if (made := _elsewhere(hook, (*named,))) is not None]


def _elsewhere(hook: str, events: tuple[str, ...]) -> Hook | None:
    """A hook that is not on this machine; it is about every project."""
    dialect, *owners, native, name = hook.split(":")
    return (
        Hook(hook, name, dialect, "user", "", (), "", "", native, events, None, "command", {}, 0.0) if owners else None
    )


def _project(asked: Sequence[HookReport], context: Context) -> str | None:
    """The one project whose calls are wanted; None for all."""
    projects = {_home(each.hook, context) for each in asked}
    return projects.pop() if len(projects) == 1 else None


def _home(hook: Hook, context: Context) -> str | None:
    """The project whose calls concern a hook; None for all, as for the user's own and those of their packages."""
    if hook.scope != "project" or (is_packaged(hook) and not lies_in(hook.project, context.setup.project)):
        return None
    return context.setup.project if is_packaged(hook) else hook.project or context.setup.project


def _take(asked: Sequence[HookReport], line: JournalLine, decision: RecordedDecision, context: Context) -> None:
    rules = past_rules(line, context)
    for found in asked:
        hook = found.hook
        if _home(hook, context) not in (None, line.project):
            continue
        then = next((each for each in decision.hooks if each.id == hook.id), None)
        if then is not None and then.status in ("ran", "broken", "unmatched"):
            found.failed += then.status == "broken"
            stopped = (
                decision.enforced
                and not then.shadow
                and decision.verdict in (BLOCK, ASK)
                and decision.hook in (hook.id, None)
            )
            found.take(line, then.verdict or "none", enforced=stopped)
        elif hook.handler != "rule" or hook.listens:
            continue
        elif why := left_out(line):
            found.left_out[why] = found.left_out.get(why, 0) + line.events
        else:
            found.asked_now += line.events
            found.take(line, _today(hook, rules, event_in(line)), enforced=False)


def past_rules(line: JournalLine, context: Context) -> Rules:
    """The rules, evaluated as if in the folder where the call was made."""
    where = context.setup.replace(project=line.project or context.setup.project)
    return Rules(context.replace(setup=where, host=line.host or context.host), line.session or "")


def _today(hook: Hook, rules: Rules, event: Event) -> str:
    """What a rule says today about a call of the past."""
    table = dialect(hook.dialect)
    row = table.row(hook.native_event)
    if row is None or hook.condition is None or rules.wanted(HookStep(hook, table, row, None), event):
        return "none"
    return rules.answers[hook.id].verdict
