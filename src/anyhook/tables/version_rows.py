"""The row type for what is known about the versions of a product: where it changed what our entry relies on. An agent's
module returns such rows from `changes()`; beside it is `VERSION`, the version that its tables are from."""

from __future__ import annotations

from anyhook.model.record import Record


class ProductChange(Record):
    """One change of a product."""

    since: str
    """The first version that has it; "" if all older ones do."""
    what: str
    """What it means for our entry, after the product's name and version."""
    source: str
    date: str
    before: str = ""
    """The first version that no longer has it; "" if every newer one does."""


def until(version: str, what: str, source: str, date: str) -> ProductChange:
    """What every version before this one has."""
    return ProductChange("", what, source, date, before=version)
