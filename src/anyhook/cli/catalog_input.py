"""The options of a call → a catalog, for verbs that inspect a project and start nothing."""

from __future__ import annotations

import os

from anyhook.cli.fire import project_of
from anyhook.cli.options import ProjectOptions
from anyhook.engine.catalog import build
from anyhook.engine.match import Catalog
from anyhook.model.words import Trust
from anyhook.state.plans import Setup


def setup_of(options: ProjectOptions, trust: Trust | None = None) -> Setup:
    return Setup.of(
        project_of(options.project, options.plugin_dir),
        dict(os.environ),
        options.dialect,
        trust or "ask",
        options.plugin_dir,
        options.state_dir or None,
    )


def catalog_of(options: ProjectOptions) -> Catalog:
    """Every hook with its line. Executables that were not queried yet keep an unknown event."""
    return build(setup_of(options), may_start=False).with_lines()
