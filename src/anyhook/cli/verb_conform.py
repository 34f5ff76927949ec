"""`anyhook conform`: run the conformance vectors against this very command."""

from __future__ import annotations

import click

from anyhook.cli import render
from anyhook.cli.options import WHERE, Option, Values
from anyhook.cli.verbs import verb

DIALECT: Option = next(option for option in WHERE if option.flag == "--dialect")


@verb("conform", (DIALECT,), "anyhook conform --dialect kode", [click.Argument(["directory"], required=False)])
def conform(directory: str | None, values: Values) -> int:
    """Run the conformance vectors that come along, or those in DIRECTORY. The last line counts them."""
    from anyhook.conformance.runner import conform as run_vectors

    chosen = [str(name) for name in values["dialect"] or ()]  # type: ignore[union-attr]
    passed, failed, skipped = run_vectors(chosen, directory, render.out)
    if skipped:
        render.out(f"{skipped} skipped")
    render.out(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
