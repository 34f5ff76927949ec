"""A record → its row in a list, and the full view of one record. Quoted text is escaped here, for every view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anyhook.cli.view.record_text import record_page
from anyhook.cli.view.text import visible
from anyhook.journal.read import JournalLine, RecordedCall, RecordedDecision, about
from anyhook.journal.search import PROOF, record_of
from anyhook.model.json_types import Json
from anyhook.model.record import Record

MAX_CELL = 200
"""Longer texts are cut in a row; the full record has all of them."""
DAMAGED = "damaged"
DISOBEYED = "disobeyed"
"""The code of the problem that a record has then."""
MARKS = {"block": "✗", "allow": "✓", "ask": "?", DAMAGED: "!"}
WORDS = {"block": "refused", "allow": "allowed", "ask": "asked", "none": "passed"}
"""Words for verdicts, for the page."""
CHANGES = {
    "tool_input": "rewrote the input",
    "tool_output": "replaced the output",
    "prompt": "rewrote the prompt",
    "context": "added context",
    "follow_ups": "made the agent go on",
    "history": "replaced the conversation",
    "recipe": "started a recipe",
}
"""What a decision without a reason did."""


class Row(Record):
    """A record in a list."""

    n: int | None
    """The record's number; without one it cannot be shown in full."""
    at: int
    host: str
    event: str
    tool: str
    verdict: str
    about: str
    """The first text of the tool's input, or the prompt: enough to recognise the event."""
    hook: str
    """The hook that decided, or the one that failed, or all that were reached."""
    reason: str
    """The reason it gave, or how it failed, or what the hooks changed, or that they are not approved."""
    ms: float | None
    """How long the hooks took; None if none ran."""
    failed: bool = False
    shadow: bool = False
    events: int = 1
    """How many events this record stands for."""
    disobeyed: bool = False
    """Whether the call ran although it was refused."""
    machine: str = ""
    """The machine that it is from, if it is one of many."""
    earlier: tuple[int, ...] = ()
    """The records of earlier calls that it is because of."""

    @property
    def said(self) -> str:
        """The verdict with a mark, so that colour is not needed; `would block` and `would ask` in shadow mode."""
        return self._said({})

    def _said(self, words: Mapping[str, str]) -> str:
        if self.disobeyed:
            return "! disobeyed"
        if self.failed and self.verdict == "none":
            return "! failed"
        verdict = f"would {self.verdict}" if self.verdict in ("block", "ask") and self.shadow else self.verdict
        return f"{MARKS.get(self.verdict, '·')} {words.get(verdict, verdict)}" + (" !" if self.failed else "")

    @property
    def refused(self) -> bool:
        """Whether it counts as refused; what `setup` tries to prove itself does not, nor what shadow mode let pass."""
        return self.verdict == "block" and not self.shadow and self.host != PROOF

    @property
    def what(self) -> str:
        what = f"{self.event} {self.tool}" if self.tool else self.event
        return f"{what} × {self.events:,}" if self.events > 1 else what

    @property
    def why(self) -> str:
        """Who, and why, if there is something to show."""
        who = f"{self.hook} (after {self.after})" if self.earlier else self.hook
        return f"{who}: {self.reason}" if who and self.reason else who or self.reason

    @property
    def after(self) -> str:
        """The records of earlier calls, as text."""
        return f"record {', '.join(map(str, self.earlier))}"

    def as_dict(self) -> dict[str, Json]:
        return {**super().as_dict(), "said": self._said(WORDS), "refused": self.refused}


def row_of(found: JournalLine, most: int = MAX_CELL) -> Row:
    """Texts are cut after `most` characters."""

    def cell(value: Json) -> str:
        return _cell(value, most)

    if found.record is None:
        return Row(
            None,
            0,
            "",
            "",
            "",
            DAMAGED,
            "",
            "",
            cell(found.raw.decode("utf-8", "replace")),
            None,
            machine=found.machine,
        )
    number, at, calls = found.n, found.at_ns or 0, found.calls
    if found.background is not None:
        return _background(found, cell)
    decision = found.decision
    broken = next((call for call in calls if call.failed), None)
    verdict, hook, reason = map(cell, _speaker(decision, broken))
    breach = next((each.what for each in decision.problems if each.code == DISOBEYED), "") if decision else ""
    return Row(
        number,
        at,
        cell(found.host),
        cell(found.event),
        cell(found.tool),
        verdict,
        cell(about(found.data) if found.has_bodies else ""),  # a hash is of no use to a reader
        hook or cell(_names(found.reached)),
        "; ".join(filter(None, (cell(breach), reason or _changes(decision), cell(_off(decision))))),
        _ms(calls) if calls else None,
        broken is not None,
        decision is not None and (not decision.enforced or decision.shadowed is not None),
        found.events,
        bool(breach),
        found.machine,
        tuple(found.earlier),
    )


def _background(found: JournalLine, cell: Callable[[Json], str]) -> Row:
    call, at, hook = found.calls[0], found.at_ns or 0, cell(found.background)
    failed = call.run is None or call.run.ending != "exited" or call.run.exit_code != 0
    reason = cell(_cause(call)) if failed else ""
    return Row(
        found.n, at, "", "background", "", "none", "", hook, reason, _ms(found.calls), failed, machine=found.machine
    )


def _speaker(decision: RecordedDecision | None, broken: RecordedCall | None) -> tuple[Json, Json, Json]:
    """The verdict, the hook that it is from, and its reason."""
    shadowed = None if decision is None else decision.shadowed
    if shadowed is not None:
        return shadowed.verdict, shadowed.id, ""
    said = RecordedDecision({}) if decision is None else decision
    if broken is not None and not said.hook:
        return said.verdict, broken.hook, said.reason or _cause(broken)
    return said.verdict, said.hook, said.reason


def _changes(decision: RecordedDecision | None) -> str:
    """What hooks did without giving a reason."""
    if decision is None:
        return ""
    return ", ".join(text for key, text in CHANGES.items() if key in decision.asked)


def _off(decision: RecordedDecision | None) -> str:
    """The hooks that waited for approval; with their names if others ran."""
    hooks = decision.hooks if decision is not None else []
    waited = [hook.id for hook in hooks if hook.status == "untrusted"]
    others = any(hook.status in ("ran", "background", "broken") for hook in hooks)
    return f"OFF: {_names(waited) + ' ' if others else ''}not approved" if waited else ""


def _cause(call: RecordedCall) -> str:
    """How a hook failed, in a word or two."""
    ending, status = (call.run.ending, call.run.exit_code) if call.run is not None else ("", None)
    cause = str(call.cause or ending or "unknown").replace("_", " ").replace("output", "unusable output")
    return f"failed with status {status}" if cause in ("exit", "exited") and status is not None else f"failed: {cause}"


def _names(hooks: list[str]) -> str:
    return hooks[0] + (f" and {len(hooks) - 1} more" if len(hooks) > 1 else "") if hooks else ""


def _cell(value: Json, most: int) -> str:
    text = "" if value is None else value if isinstance(value, str) else str(value)
    if len(text) <= most and text.isprintable():
        return text
    text = visible(" ".join(text[: most + 1].split()))  # in a list, a text is always one line
    return text if len(text) <= most else f"{text[:most]}…"


def _ms(calls: Sequence[RecordedCall]) -> float:
    return round(sum([run.duration_s or 0.0 for call in calls if (run := call.run) is not None], 0.0) * 1000, 3)


def told_in_full(folder: str, number: int) -> tuple[list[str], JournalLine]:
    """All lines about one record, and the record; raises LookupError with a message if that is not possible."""
    found = record_of(folder, str(number))
    if found is None:
        raise LookupError(f"The journal has no record {number}. The oldest are deleted to make room.")
    if found.record is None:
        raise LookupError(f"Record {number} is damaged. `anyhook verify` shows what is.")
    return [visible(line, keep="\n\t") for line in record_page(found)], found
