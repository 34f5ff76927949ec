"""`anyhook dialects`: print the tables."""

from __future__ import annotations

from anyhook.cli import render
from anyhook.cli.options import JsonOptions
from anyhook.cli.verbs import verb
from anyhook.tables.describe import describe
from anyhook.tables.registry import DIALECTS, dialect


@verb("dialects", JsonOptions, "anyhook dialects --json")
def dialects(options: JsonOptions) -> int:
    """Show every dialect: its files, its events, what a hook of each event may do, and what a broken hook means."""
    described = [describe(dialect(name)) for name in DIALECTS]
    if options.json:
        render.json_out({"dialects": [entry.as_dict() for entry in described]}, indent=2)
        return 0
    for entry in described:
        render.out(f"{entry.name} — {entry.title}")
        for scope, place in entry.files:
            render.out(f"  {scope:<10}{place}")
        render.out(f"  a broken hook: {entry.failure}")
        for event in entry.events:
            names = (
                event.native if event.native in event.canonical else f"{event.native} ({', '.join(event.canonical)})"
            )
            render.out(f"  {names:<44} {', '.join(event.powers)}")
        render.out("")
    return 0
