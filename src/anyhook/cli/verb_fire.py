"""`anyhook fire` through the full command line: for `--help` and for calls with mistakes."""

from __future__ import annotations

import click

from anyhook.cli import fire as fast
from anyhook.cli.known_words import EVENT
from anyhook.cli.options import FireOptions
from anyhook.cli.verbs import verb


@verb(
    "fire",
    FireOptions,
    """anyhook fire PreToolUse --tool Bash --input '{"command": "ls"}' --json""",
    [click.Argument(["event"], type=EVENT)],
)
def fire(event: str, options: FireOptions) -> int:
    """Run the hooks of one event, as an agent would.

    EVENT is a canonical name or any dialect's own: pre_tool, PreToolUse, before_tool and tool_call_pre are the same.
    Options that take JSON or text also accept @FILE, and - for stdin.

    \b
    Exit status: 0 not blocked, 2 blocked, 3 bad call.
    """
    return fast.fire(event, options)
