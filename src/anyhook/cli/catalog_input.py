"""The words of a call → a catalog, for verbs that look at a project and start nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.cli.fire import project_of
from anyhook.state.plans import Setup
from anyhook.walk.build import build
from anyhook.walk.routes import Catalog

if TYPE_CHECKING:
    from anyhook.cli.options import ProjectOptions


def setup_of(options: ProjectOptions, trust: str | None = None) -> Setup:
    return Setup.of(
        project_of(options.project, options.plugin_dir),
        dict(os.environ),
        options.dialect,
        trust or "ask",
        options.plugin_dir,
        options.state_dir or None,
    )


def catalog_of(options: ProjectOptions) -> Catalog:
    """Every hook with its line; executables that were not asked yet keep an unknown event."""
    return build(setup_of(options), may_start=False).with_lines()
