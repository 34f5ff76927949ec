"""The banner above the journal: which guards are off in the folder that a view was opened in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.cli.view.render import short_path
from anyhook.state.plans import Setup
from anyhook.walk.build import build
from anyhook.walk.tell import guards_off, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def banner_of(project: str, env: Mapping[str, str]) -> Callable[[], str]:
    """Makes a new line whenever it is asked; "" where all guards are on, and where there is no such folder."""

    def line() -> str:
        try:
            setup = Setup.of(project, dict(env))
        except OSError:
            return ""
        off = guards_off(setup, build(setup, may_start=False))
        return f"{short_path(project)}: {sentence(off).removeprefix('anyhook: ')}" if off else ""

    return line


def here() -> Callable[[], str]:
    """For the current folder."""
    return banner_of(os.getcwd(), os.environ)
