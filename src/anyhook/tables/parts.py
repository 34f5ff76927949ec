"""The parts of an agent: `DIALECT` and `HOST` are values of its module, or of the module `dialect` or `host` in its
folder; `drive` and `sample` are functions, so that nobody waits for what only checks and tests want."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class BadTable(ValueError):  # noqa: N818 (it says what is wrong)
    """A mistake in an agent's table. The sentence names the table and the cell."""


def part(module: str, name: str) -> Any:
    """One part of an agent; None where it has no such part. An agent's module that is not there is an error."""
    found = _value(module, name)
    if found is None and hasattr(sys.modules[module], "__path__"):
        try:
            found = _value(f"{module}.{name.lower()}", name)
        except ModuleNotFoundError as error:
            if error.name != f"{module}.{name.lower()}":
                raise
        if found is not None:
            setattr(sys.modules[module], name, found)
    return found


def _value(module: str, name: str) -> Any:
    loaded = sys.modules.get(module)
    if loaded is None or name not in loaded.__dict__:  # another thread may be in the middle of it
        __import__(module)  # importlib is a package, and its import is not free
        loaded = sys.modules[module]
    return loaded.__dict__.get(name)
