"""Compares the rows of the specification with the vectors that cover them."""

from __future__ import annotations

from collections import defaultdict

from anyhook.extra.testing.conformance.vectors import Suite
from anyhook.model.record import Record


class Coverage(Record):
    """Per row of the loaded dialects, how it is accounted for."""

    shown: dict[str, tuple[str, ...]]
    """Row to the ids of the vectors that name it."""
    deferred: dict[str, str]
    """Row to the reason why no vector shows it yet."""
    missing: dict[str, str]
    """Row to title: neither shown nor deferred."""
    stale: dict[str, tuple[str, ...]]
    """Rows that are deferred although vectors show them."""

    def complete(self) -> bool:
        return not self.missing and not self.stale

    def as_dict(self) -> dict[str, dict[str, str] | dict[str, list[str]]]:
        return {
            "shown": {row: list(ids) for row, ids in self.shown.items()},
            "deferred": dict(self.deferred),
            "missing": dict(self.missing),
            "stale": {row: list(ids) for row, ids in self.stale.items()},
        }


def coverage(suite: Suite) -> Coverage:
    """How the rows of the suite's dialects are accounted for."""
    naming: dict[str, list[str]] = defaultdict(list)
    for row, name in ((row, vector.id) for vector in suite.all() for row in vector.rows):
        naming[row].append(name)
    titles = {row: title for dialect in suite.vectors for row, title in suite.rows.get(dialect, {}).items()}
    reasons = {row: reason for table in suite.deferred.values() for row, reason in table.items()}
    found = Coverage({}, {}, {}, {})
    for row, title in titles.items():
        ids = tuple(naming[row])
        if ids:
            found.shown[row] = ids
            found.stale.update({row: ids} if row in reasons else {})
        elif row in reasons:
            found.deferred[row] = reasons[row]
        else:
            found.missing[row] = title
    return found


def report(found: Coverage) -> str:
    """The same as text: a summary, then one line per row that needs work."""
    total = len(found.shown) + len(found.deferred) + len(found.missing)
    lines = [f"rows: {len(found.shown)} of {total} shown by vectors, {len(found.deferred)} deferred"]
    lines += [f"row {row} has no vector and no reason: {title}" for row, title in found.missing.items()]
    lines += [f"row {row} is deferred although shown by {', '.join(ids)}" for row, ids in found.stale.items()]
    return "\n".join(lines)
