"""`anyhook bridge` through the full command line: for `--help` and for calls with mistakes."""

from __future__ import annotations

import click

from anyhook.cli import bridge as fast
from anyhook.cli.known_words import AGENT, EVENT
from anyhook.cli.options import BridgeOptions
from anyhook.cli.verbs import verb

EXAMPLE = "anyhook bridge claude PreToolUse < payload.json"


@verb("bridge", BridgeOptions, EXAMPLE, [click.Argument(["agent"], type=AGENT), click.Argument(["event"], type=EVENT)])
def bridge(agent: str, event: str, options: BridgeOptions) -> int:
    """Answer an agent that runs its hooks.

    `anyhook install AGENT` writes this command into the agent's own config. It reads the agent's payload from stdin,
    runs the project's and the user's hooks, and answers with the stdout, stderr and exit status that this agent
    understands for this event. EVENT is the agent's own name for it.

    \b
    Exit status: what the agent expects; 3 for an unknown agent or event.
    """
    return fast.bridge(agent, event, options)
