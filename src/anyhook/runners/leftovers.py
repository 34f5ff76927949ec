"""What a host's own commands have left running: found by the mark that each of them inherits, and ended. It looks for
nothing else."""

from __future__ import annotations

from anyhook.steps.process_tree import Tree

VARIABLE = "ANYHOOK_AGENT"
"""Not the variable of hooks' runs: an event that a command of the agent fires is one like any other."""


def mark_of(name: str) -> str:
    return f"{VARIABLE}={name}"


def end_leftovers(name: str) -> None:
    """End every process that was started with this name in the variable, and what these have started."""
    Tree(0, mark_of(name)).end()
