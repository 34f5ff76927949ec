"""anyhook: one runtime for the lifecycle hooks of AI coding agents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.engine.engine import Engine
    from anyhook.model.decision import Decision, Report
    from anyhook.model.event import Event
    from anyhook.model.outcome import Outcome
    from anyhook.model.problem import Problem

__version__ = "0.1.0"
__all__ = ["Decision", "Engine", "Event", "Outcome", "Problem", "Report", "__version__"]

_HOMES = {
    "Engine": "anyhook.engine.engine",
    "Event": "anyhook.model.event",
    "Decision": "anyhook.model.decision",
    "Report": "anyhook.model.decision",
    "Outcome": "anyhook.model.outcome",
    "Problem": "anyhook.model.problem",
}


def __getattr__(name: str) -> object:
    """The public names, imported when they are asked for: the command's fast path asks for none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'anyhook' has no attribute {name!r}")
    from importlib import import_module

    import_module("anyhook.tables.registry")  # `Event.of` takes the agents' own names
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
