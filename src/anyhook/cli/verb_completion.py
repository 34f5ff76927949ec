"""`anyhook completion`: a shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from anyhook.cli import render
from anyhook.cli.app import app


@click.command(
    "completion",
    epilog="\b\nExample:\n  anyhook completion bash >> ~/.bashrc",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print SHELL's completion script."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    render.out(kind(app, {}, "anyhook", "_ANYHOOK_COMPLETE").source())
    return 0
