"""How far a line is indented that belongs to a run of the agent: each sub-agent's lines come below it."""

from __future__ import annotations

INDENT = "  "


def nesting() -> str:
    """What stands before each line of the run that is going on here: nothing for the agent itself."""
    from anyhook.adapters.run_state import running

    run = running.get()
    return INDENT * (run.depth if run is not None else 0)
