"""The words of a call → a catalog, for verbs that look at a project and start nothing."""

from __future__ import annotations

import os

from anyhook.cli.event_input import project_of
from anyhook.walk.build import build
from anyhook.walk.catalog import Catalog, Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import Values


def setup_of(values: Values, trust: str = "ask") -> Setup:
    return Setup.of(
        project_of(values),
        dict(os.environ),
        [str(name) for name in values["dialect"] or ()],  # type: ignore[union-attr]
        str(values.get("trust") or trust),
        [str(folder) for folder in values["plugin_dir"] or ()],  # type: ignore[union-attr]
        str(values["state_dir"]) if values["state_dir"] else None,
    )


def catalog_of(values: Values) -> Catalog:
    """Every hook with its line; executables that were not asked yet keep an unknown event."""
    return build(setup_of(values), may_start=False).with_lines()
