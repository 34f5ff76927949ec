"""What somebody has to know to write a hook of one dialect: its events, what they tell, and how a hook answers, out of
the rows. For a model that writes one from a description; it asks no model itself."""

from __future__ import annotations

from anyhook.model import lean_json as json
from anyhook.tables.describe import describe
from anyhook.testing.scaffold.script import EFFECTS, Script, answers, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.rows import Dialect, EventRow


def brief(dialect: Dialect) -> str:
    """The events of a dialect, and one whole script in either language."""
    told = describe(dialect)
    lines = [f"# Hooks of {told.title}", "", f"When a hook fails: {told.failure}.", "", "## Events", ""]
    for row, event in zip(dialect.events, told.events, strict=True):
        lines.append(f"- `{row.native}`. stdin: one JSON object with the keys {', '.join(event.payload)}.")
        lines.append(f"  A block: {EFFECTS.get(row.block or '', 'stops nothing')}.")
        if event.matched_against:
            lines.append(f"  The matcher is tried against: {event.matched_against}.")
        lines += [f"  May print {json.dumps(each.value, False)} to {each.does}." for each in answers(dialect, row)]
    if dialect.tools:
        known = ", ".join(sorted({tool.native for tool in dialect.tools.values()}))
        lines += ["", f"Tools are called: {known}."]
    example = _gate(dialect)
    for lang in ("bash", "python"):
        shown = text(Script("example", dialect, example), lang)
        lines += ["", f"## A script in {lang}, for {example.native}", "", f"```{lang}", shown.rstrip(), "```"]
    return "\n".join(lines)


def _gate(dialect: Dialect) -> EventRow:
    """The event that shows most: a tool's gate where there is one."""
    return next((row for row in dialect.events if row.block == "deny_tool"), dialect.events[0])
