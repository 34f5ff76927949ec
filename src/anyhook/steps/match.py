"""Match: whether a hook wants an event, and if not, why not. It never changes either."""

from __future__ import annotations

from anyhook.grammar.patterns import BadPattern, PatternTimeout
from anyhook.model.problem import WARNING, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.grammar.rows import Dialect, EventRow
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook


def match(hook: Hook, dialect: Dialect, row: EventRow, event: Event) -> tuple[str | None, Problem | None]:
    """None for a match, else the reason; and a problem where the matcher itself gave up."""
    try:
        return dialect.match(hook, event, row), None
    except PatternTimeout:
        # The hook runs: a guard may not be evaded by an input on which its pattern is slow.
        return None, Problem("matcher-timeout", "its matcher took too long, so it runs as if it had matched", hook.where(),
                             f"{hook.matcher!r}", "Simplify the pattern.", WARNING)  # fmt: skip
    except BadPattern as error:
        return f"its matcher is no valid pattern: {error.what}", None
