"""Discover: where a dialect's hooks may be declared for these roots."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyhook.model.hook import Source
    from anyhook.tables.rows import Dialect, Roots


def discover(dialect: Dialect, roots: Roots) -> list[Source]:
    """Every place to look, in the dialect's own order, whether or not it exists; a place that two scopes share counts
    once."""
    places: dict[str, Source] = {}
    for source in dialect.find(roots):
        places.setdefault(source.path, source)
    return list(places.values())
