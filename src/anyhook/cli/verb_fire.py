"""`anyhook fire` by way of the full command line: for `--help`, and for calls with something wrong in them."""

from __future__ import annotations

import click

from anyhook.cli import fire as fast
from anyhook.cli.options import FIRE
from anyhook.cli.verbs import verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import Values


@verb(
    "fire",
    FIRE,
    """anyhook fire PreToolUse --tool Bash --input '{"command": "ls"}' --json""",
    [click.Argument(["event"])],
)
def fire(event: str, values: Values) -> int:
    """Run the hooks of one event, as an agent would.

    EVENT is a canonical name or any dialect's own: pre_tool, PreToolUse, before_tool and tool_call_pre are the same.
    Options that take JSON or text also take @FILE, and - for stdin.

    \b
    Exit status: 0 nothing stopped, 2 blocked, 3 bad call.
    """
    return fast.fire(event, values)
