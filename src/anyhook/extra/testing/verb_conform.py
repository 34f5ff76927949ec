"""`anyhook conform`: run the conformance vectors against this command."""

from __future__ import annotations

import click

from anyhook.cli import render
from anyhook.cli.options import JsonOptions, repeated
from anyhook.cli.verbs import verb
from anyhook.extra.testing.conformance.runner import conform as run_vectors


class ConformOptions(JsonOptions):
    dialect: tuple[str, ...] = repeated("--dialect", "Only this dialect's vectors; may be repeated.", "DIALECT")


@verb("conform", ConformOptions, "anyhook conform --dialect kode", [click.Argument(["directory"], required=False)])
def conform(directory: str | None, options: ConformOptions) -> int:
    """Run the conformance vectors that come with anyhook, or those in DIRECTORY. The last line counts them.

    Vectors run commands without a sandbox: name a DIRECTORY only if you would run its author's scripts."""
    said: list[str] = []
    passed, failed, skipped = run_vectors(options.dialect, directory, said.append if options.json else render.out)
    if options.json:
        render.json_out({"passed": passed, "failed": failed, "skipped": skipped, "report": [*said]}, indent=2)
        return 1 if failed else 0
    if skipped:
        render.out(f"{skipped} skipped")
    render.out(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
