"""The indentation of lines that belong to a run of the agent: a sub-agent's lines are indented below it."""

from __future__ import annotations

INDENT = "  "


def nesting() -> str:
    """The prefix of each line of the current run; "" for the agent itself."""
    from anyhook.extra.frameworks.run_state import running

    run = running.get()
    return INDENT * (run.depth if run is not None else 0)
