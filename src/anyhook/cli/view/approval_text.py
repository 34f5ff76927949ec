"""A call that waits for a person, as text: for the terminal, and the same lines for the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anyhook.cli.view.text import visible
from anyhook.state.approvals import Waiting

SHOWN_FACTS = ("deletes", "writes", "connects", "secrets", "unknown")
MAX_OF_A_FACT = 6
MAX_WHAT = 120
TITLE = 12
"""How wide the titles are, with the blanks around them."""


def approval_lines(waiting: Waiting) -> Iterator[str]:
    told = waiting.told
    yield visible(f"{waiting.id}  {told.get('agent')} in {told.get('project')}, {left(waiting)}")
    yield from _titled(str(told.get("tool")), str(told.get("what")).split("\n"))
    facts = told.get("facts")
    for kind in SHOWN_FACTS:
        values = facts.get(kind) if isinstance(facts, dict) else None
        if isinstance(values, list):
            more = [f"… {len(values) - MAX_OF_A_FACT} more"] if len(values) > MAX_OF_A_FACT else []
            yield from _titled(kind, [*map(str, values[:MAX_OF_A_FACT]), *more])
    yield from _titled("changes", waiting.diff)
    yield from _titled("rule", [str(told.get("rule"))])
    yield from _titled("because", str(told.get("reason")).split("\n"))
    if waiting.may_last:
        yield from _titled("session", [f"anyhook approvals allow {waiting.id} --session   until this session ends"])
    always = told.get("always")
    yield from _titled("always", [f"{line}   in this project" for line in always] if isinstance(always, list) else [])


def waiting_line(found: Sequence[Waiting]) -> str:
    """One line about all calls that wait; "" without one."""
    if not found:
        return ""
    first = found[0]
    what = " ".join(str(first.told.get("what")).split())
    more = f"  (and {len(found) - 1} more: anyhook approvals)" if len(found) > 1 else ""
    line = f"{first.told.get('agent')} waits for you, {left(first)}: {first.told.get('tool')}: {what[:MAX_WHAT]}"
    return visible(f"{line}  →  anyhook approvals allow {first.id}{more}")


def left(waiting: Waiting) -> str:
    return f"{max(waiting.left_s, 0.0):.0f} s left"


def _titled(title: str, lines: list[str]) -> Iterator[str]:
    for at, line in enumerate(lines):
        yield visible(f"  {title if not at else '':<{TITLE - 3}} {line}")
