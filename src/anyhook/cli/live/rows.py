"""A record → the one row that a live view shows of it, and everything that is told of one record. Whatever a journal
quotes is made harmless here, once for every view."""

from __future__ import annotations

from anyhook.cli.record_text import record_page, rows, table
from anyhook.cli.visible import visible
from anyhook.journal.search import reached, record_of
from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.journal.search import Found
    from anyhook.model.json_types import Json

CELL_MOST = 200
"""Longer texts are cut in a row; the record in full has them."""
DAMAGED = "damaged"


class Row(Record):
    """What is seen of a record in a list."""

    n: int | None
    """The record's number; None where it has none, so that it cannot be shown in full."""
    at: int
    host: str
    event: str
    tool: str
    verdict: str
    hook: str
    """The hook that decided; else those that were reached."""
    reason: str
    ms: float | None
    """How long the hooks took; None where none ran."""
    failed: bool = False
    shadow: bool = False
    events: int = 1
    """How many events this one record counts."""

    def as_dict(self) -> dict[str, Json]:
        return {field: getattr(self, field) for field in self.fields}


def row_of(found: Found) -> Row:
    record = found.record
    if record is None:
        return Row(None, 0, "", "", "", DAMAGED, "", _cell(found.line.decode("utf-8", "replace")), None)
    number, at = _whole(record.get("n")), _whole(record.get("at")) or 0
    if "background" in record:
        run = table(record.get("run"))
        failed = run.get("ending") != "exited" or run.get("exit_code") != 0
        hook, ending = _cell(record["background"]), _cell(run.get("ending"))
        return Row(number, at, "", "background", "", "none", hook, ending if failed else "", _ms([run]), failed)
    decision, calls = table(record.get("decision")), rows(record.get("calls"))
    return Row(
        number,
        at,
        _cell(record.get("host")),
        _cell(record.get("event")),
        _cell(table(record.get("data")).get("tool")),
        _cell(decision.get("verdict")),
        _cell(decision.get("hook")) or _names(reached(record)),
        _cell(decision.get("reason")),
        _ms([table(call.get("run")) for call in calls]) if calls else None,
        any(_failed(call) for call in calls),
        decision.get("enforced") is False,
        _whole(record.get("events")) or 1,
    )


def _failed(call: dict[str, Json]) -> bool:
    return bool(call.get("failed")) or table(call.get("run")).get("ending", "exited") != "exited"


def _names(hooks: list[str]) -> str:
    more = f" and {len(hooks) - 1} more" if len(hooks) > 1 else ""
    return _cell(hooks[0]) + more if hooks else ""


def _cell(value: Json) -> str:
    text = "" if value is None else value if isinstance(value, str) else str(value)
    text = visible(text[: CELL_MOST + 1])
    return text if len(text) <= CELL_MOST else f"{text[:CELL_MOST]}…"


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _ms(runs: list[dict[str, Json]]) -> float:
    spent = [each for run in runs if isinstance(each := run.get("duration_s"), (int, float))]
    total = sum(float(each) for each in spent if abs(each) < 1e12)  # neither NaN nor infinity, which are no JSON
    return round(total * 1000, 3)


def told_in_full(folder: str, number: int) -> tuple[list[str], dict[str, Json]]:
    """All lines about one record, and the record; LookupError with a sentence where that is not possible."""
    found = record_of(folder, str(number))
    if found is None:
        raise LookupError(f"The journal has no record {number}. The oldest are deleted to make room.")
    if found.record is None:
        raise LookupError(f"Record {number} is damaged. `anyhook verify` shows what is.")
    return [visible(line, keep="\n\t") for line in record_page(found.record)], found.record
