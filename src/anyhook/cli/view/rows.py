"""A record → the one row that a list shows of it, and everything that is told of one record. Whatever a journal quotes
is made harmless here, once for every view; nothing is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.cli.view.record_text import record_page, rows, table
from anyhook.cli.view.visible import visible
from anyhook.journal.read import about, seconds, whole_number
from anyhook.journal.search import reached, record_of
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.journal.search import Found
    from anyhook.model.json_types import Json

MAX_CELL = 200
"""Longer texts are cut in a row; the record in full has them."""
DAMAGED = "damaged"
MARKS = {"block": "✗", "allow": "✓", "ask": "?", DAMAGED: "!"}
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
    """What is seen of a record in a list."""

    n: int | None
    """The record's number; None where it has none, so that it cannot be shown in full."""
    at: int
    host: str
    event: str
    tool: str
    verdict: str
    about: str
    """The first text of the tool's input, or what was asked: enough to know the event again."""
    hook: str
    """The hook that decided; else the one that failed; else those that were reached."""
    reason: str
    """The reason it gave; else how it failed; else what the hooks changed, or that they are not approved."""
    ms: float | None
    """How long the hooks took; None where none ran."""
    failed: bool = False
    shadow: bool = False
    events: int = 1
    """How many events this one record counts."""

    @property
    def said(self) -> str:
        """The verdict, with a mark, so that no colour has to tell it; of a block in shadow mode, what it would be."""
        if self.failed and self.verdict == "none":
            return "! failed"
        verdict = "would block" if self.verdict == "block" and self.shadow else self.verdict
        return f"{MARKS.get(self.verdict, '·')} {verdict}" + (" !" if self.failed else "")

    @property
    def what(self) -> str:
        what = f"{self.event} {self.tool}" if self.tool else self.event
        return f"{what} × {self.events:,}" if self.events > 1 else what

    @property
    def why(self) -> str:
        """Who, and why, as far as there is something to tell."""
        return f"{self.hook}: {self.reason}" if self.hook and self.reason else self.hook or self.reason

    def as_dict(self) -> dict[str, Json]:
        return {**{field: getattr(self, field) for field in self.fields}, "said": self.said}


def row_of(found: Found, most: int = MAX_CELL) -> Row:
    """Texts are cut after `most` characters."""

    def cell(value: Json) -> str:
        return _cell(value, most)

    record = found.record
    if record is None:
        return Row(None, 0, "", "", "", DAMAGED, "", "", cell(found.line.decode("utf-8", "replace")), None)
    number, at = whole_number(record.get("n")), whole_number(record.get("at")) or 0
    if "background" in record:
        run = table(record.get("run"))
        failed = run.get("ending") != "exited" or run.get("exit_code") != 0
        hook, reason = cell(record["background"]), cell(_cause(record)) if failed else ""
        return Row(number, at, "", "background", "", "none", "", hook, reason, _ms([run]), failed)
    data, decision, calls = table(record.get("data")), table(record.get("decision")), rows(record.get("calls"))
    broken = next((call for call in calls if _failed(call)), None)
    hook, reason = cell(decision.get("hook")), cell(decision.get("reason"))
    if broken is not None and not hook:
        hook, reason = cell(broken.get("hook")), reason or cell(_cause(broken))
    return Row(
        number,
        at,
        cell(record.get("host")),
        cell(record.get("event")),
        cell(data.get("tool")),
        cell(decision.get("verdict")),
        cell("" if record.get("bodies") else about(data)),  # a hash of it tells nobody anything
        hook or cell(_names(reached(record))),
        reason or _changes(decision),
        _ms([table(call.get("run")) for call in calls]) if calls else None,
        broken is not None,
        decision.get("enforced") is False,
        whole_number(record.get("events")) or 1,
    )


def _changes(decision: dict[str, Json]) -> str:
    """What hooks did without a word of their own; where none was allowed to, that."""
    done = [text for key, text in CHANGES.items() if key in decision]
    statuses = {str(row.get("status")) for row in rows(decision.get("hooks"))}
    if "untrusted" in statuses and not statuses & {"ran", "background", "broken"}:
        done.append("not approved")
    return ", ".join(done)


def _failed(call: dict[str, Json]) -> bool:
    return bool(call.get("failed")) or table(call.get("run")).get("ending", "exited") != "exited"


def _cause(call: dict[str, Json]) -> str:
    """How a hook failed, in a word or two."""
    run = table(call.get("run"))
    cause = str(call.get("failed") or run.get("ending")).replace("_", " ").replace("output", "unusable output")
    status = run.get("exit_code")
    return f"failed with status {status}" if cause in ("exit", "exited") and status is not None else f"failed: {cause}"


def _names(hooks: list[str]) -> str:
    return hooks[0] + (f" and {len(hooks) - 1} more" if len(hooks) > 1 else "") if hooks else ""


def _cell(value: Json, most: int) -> str:
    text = "" if value is None else value if isinstance(value, str) else str(value)
    if len(text) <= most and text.isprintable():
        return text
    text = visible(" ".join(text[: most + 1].split()))  # in a list, a text of several lines is one
    return text if len(text) <= most else f"{text[:most]}…"


def _ms(runs: list[dict[str, Json]]) -> float:
    return round(sum(seconds(run.get("duration_s")) for run in runs) * 1000, 3)


def told_in_full(folder: str, number: int) -> tuple[list[str], dict[str, Json]]:
    """All lines about one record, and the record; LookupError with a sentence where that is not possible."""
    found = record_of(folder, str(number))
    if found is None:
        raise LookupError(f"The journal has no record {number}. The oldest are deleted to make room.")
    if found.record is None:
        raise LookupError(f"Record {number} is damaged. `anyhook verify` shows what is.")
    return [visible(line, keep="\n\t") for line in record_page(found.record)], found.record
