"""Report: what one hook or rule stopped, or would have stopped, of the calls that the journal has. A rule is asked
about calls of before its time as well: that starts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.journal.read import about
from anyhook.journal.search import Wanted
from anyhook.model.outcome import ASK, BLOCK
from anyhook.model.record import Record
from anyhook.replay.imported import search_all
from anyhook.replay.rejudge import event_in
from anyhook.tables.registry import dialect
from anyhook.walk.routes import HookStep
from anyhook.walk.rules import Rules

if TYPE_CHECKING:
    from anyhook.journal.read import JournalLine
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.walk.context import Context

EXAMPLES = 100
"""How many of the calls are told; the rest is counted."""


class StoppedCall(Record):
    """One call that the hook stopped, asked about, or would have."""

    n: int | None
    at: int | None
    tool: str | None
    about: str
    verdict: str
    enforced: bool
    """Whether it was stopped then."""

    def as_dict(self) -> dict[str, Json]:
        return {field: getattr(self, field) for field in self.fields}


class HookReport:
    """What is counted while the journal is read."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.calls = self.stopped = self.would_stop = self.failed = self.asked_now = 0
        self.examples: list[StoppedCall] = []

    def as_dict(self) -> dict[str, Json]:
        return {
            "id": self.hook.id,
            "calls": self.calls,
            "stopped": self.stopped,
            "would_have_stopped": self.would_stop,
            "failures": self.failed,
            "asked_now": self.asked_now,
            "examples": [each.as_dict() for each in self.examples],
        }

    def take(self, line: JournalLine, verdict: str, enforced: bool) -> None:
        self.calls += line.events
        if verdict not in (BLOCK, ASK):
            return
        self.stopped += enforced
        self.would_stop += not enforced
        self.examples.append(StoppedCall(line.n, line.at_ns, line.tool, about(line.data), verdict, enforced))
        del self.examples[:-EXAMPLES]


def report_of(hook: Hook, folder: str, since_ns: int | None, context: Context) -> HookReport:
    """Reads the calls of the hook's event, fired and imported: those of its project, or of all for a hook of the
    user's."""
    found = HookReport(hook)
    project = (hook.project or context.setup.project) if hook.scope == "project" else None
    for event in hook.events:
        for line in search_all(folder, Wanted(since_ns=since_ns, event=event, project=project)):
            decision = line.own_decision
            if decision is None:
                continue
            then = next((each for each in decision.hooks if each.id == hook.id), None)
            if then is not None and then.status in ("ran", "broken", "unmatched"):
                found.failed += then.status == "broken"
                stopped = decision.enforced and decision.verdict in (BLOCK, ASK) and decision.hook in (hook.id, None)
                found.take(line, then.verdict or "none", stopped)
            elif hook.handler == "rule" and line.has_data and line.has_bodies:
                found.asked_now += line.events
                found.take(line, _today(hook, line, context), enforced=False)
    return found


def _today(hook: Hook, line: JournalLine, context: Context) -> str:
    """What a rule says today about a call of the past."""
    table = dialect(hook.dialect)
    row = table.row(hook.native_event)
    if row is None or "tree" not in hook.spec:
        return "none"
    where = context.setup.replace(project=line.project or context.setup.project)
    rules = Rules(context.replace(setup=where, host=line.host or context.host), line.session or "")
    event = event_in(line)
    if rules.wanted(HookStep(hook, table, row, None), event):
        return "none"
    return rules.answers[hook.id].verdict
