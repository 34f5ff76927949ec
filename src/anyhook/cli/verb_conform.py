"""`anyhook conform`: run the conformance vectors against this very command."""

from __future__ import annotations

import click

from anyhook.cli.options import JSON, WHERE, Option
from anyhook.cli.verbs import verb
from anyhook.cli.view import render

DIALECT: Option = next(option for option in WHERE if option.flag == "--dialect")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import Values


@verb("conform", (DIALECT, JSON), "anyhook conform --dialect kode", [click.Argument(["directory"], required=False)])
def conform(directory: str | None, values: Values) -> int:
    """Run the conformance vectors that come along, or those in DIRECTORY. The last line counts them.

    Vectors run commands, unconfined: name a DIRECTORY only if you would run a script of its author's."""
    from anyhook.testing.conformance.runner import conform as run_vectors

    chosen = [str(name) for name in values["dialect"] or ()]  # type: ignore[union-attr]
    said: list[str] = []
    passed, failed, skipped = run_vectors(chosen, directory, said.append if values["json"] else render.out)
    if values["json"]:
        render.json_out({"passed": passed, "failed": failed, "skipped": skipped, "report": [*said]}, indent=2)
        return 1 if failed else 0
    if skipped:
        render.out(f"{skipped} skipped")
    render.out(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
