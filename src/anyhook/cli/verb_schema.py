"""`anyhook schema`: a dialect's hook file as JSON Schema, for editors."""

from __future__ import annotations

import click

from anyhook.cli import BadCall, render
from anyhook.cli.known_words import DIALECT
from anyhook.cli.options import JsonOptions
from anyhook.cli.verbs import check_dialects, verb
from anyhook.tables.registry import dialect as table_of
from anyhook.tables.schema import schema_of


@verb("schema", JsonOptions, "anyhook schema claude > hooks.schema.json", [click.Argument(["dialect"], type=DIALECT)])
def schema(dialect: str, _options: JsonOptions) -> int:
    """Print the JSON Schema of a dialect's hook file."""
    check_dialects([dialect])
    made = schema_of(table_of(dialect))
    if made is None:
        raise BadCall(f"{dialect} has no hook file: its hooks are programs that declare themselves.")
    render.json_out(made, indent=2)
    return 0
