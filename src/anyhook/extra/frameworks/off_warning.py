"""Off warning: one warning for a program that adds hooks to an agent's loop while guards are off."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

from anyhook.engine.tell import telling

if TYPE_CHECKING:
    from anyhook.extra.frameworks.lifecycle import Lifecycle


class GuardOffWarning(UserWarning):
    """A guard of the project is off."""


def warned(lifecycle: Lifecycle, framework: str) -> Lifecycle:
    """The lifecycle, after its one warning: through `warnings`, and the logger that the framework's users look at."""
    if lifecycle.warned:
        return lifecycle
    lifecycle.warned = True
    line = telling(lifecycle.engine.setup, lifecycle.engine.catalog)
    if line:
        warnings.warn(line, GuardOffWarning, stacklevel=4)
        logging.getLogger(framework).warning("%s", line)
    return lifecycle
