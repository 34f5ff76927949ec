"""How far a line is indented that belongs to a run of the agent: each sub-agent's lines come below it."""

from __future__ import annotations

INDENT = "  "


def nesting() -> str:
    """The prefix of each line of the current run: nothing for the agent itself."""
    from anyhook.adapters.run_state import running

    run = running.get()
    return INDENT * (run.depth if run is not None else 0)
