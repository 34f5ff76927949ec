"""Match: whether a hook wants an event, and if not, why not. It never changes either."""

from __future__ import annotations

from anyhook.tables.patterns import BadPattern, PatternTimeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.tables.rows import Dialect, EventRow


def match(hook: Hook, dialect: Dialect, row: EventRow, event: Event) -> tuple[str | None, str]:
    """None for a match, else the reason; and, where the matcher itself failed, how: then nobody knows, and the posture
    for broken hooks has to say what follows."""
    try:
        return dialect.match(hook, event, row), ""
    except PatternTimeout:
        return None, f"its matcher {hook.matcher!r} took too long on this event"
    except BadPattern as error:
        return None, f"its matcher {hook.matcher!r} is not a valid pattern: {error.what}"
    except Exception as error:  # noqa: BLE001 (whatever it is, it is this hook's failure and nobody else's)
        from anyhook.tables.isolation import told

        return None, f"its matcher could not be tried on this event ({told(error)})"
