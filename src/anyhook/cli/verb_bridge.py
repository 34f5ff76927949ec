"""`anyhook bridge` by way of the full command line: for `--help`, and for calls with something wrong in them."""

from __future__ import annotations

import click

from anyhook.cli import bridge as fast
from anyhook.cli.options import BridgeOptions
from anyhook.cli.verbs import verb

EXAMPLE = "anyhook bridge claude PreToolUse < payload.json"


@verb("bridge", BridgeOptions, EXAMPLE, [click.Argument(["agent"]), click.Argument(["event"])])
def bridge(agent: str, event: str, options: BridgeOptions) -> int:
    """Answer an agent that calls its hooks.

    This is what `anyhook install AGENT` writes into the agent's own config: the agent gives its payload on stdin, the
    project's and the user's hooks are fired, and stdout, stderr and exit status are what this agent honours for this
    event. EVENT is the agent's own name.

    \b
    Exit status: the agent's own; 3 for an agent or an event that there is not.
    """
    return fast.bridge(agent, event, options)
