"""The registry: every dialect by name, loaded when it is asked for. A new dialect is one line here."""

from __future__ import annotations

import sys

from anyhook.model.event import EVENTS, FIELDS, understand_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.rows import Dialect

# In the order in which their hooks run.
DIALECTS = ("kode", "kodik", "agenthooks", "kolega", "kodelet", "claude", "codex", "gemini", "qwen", "copilot", "goose")

# The variables that decide where hooks and their programs are looked for; no dialect's `find` sees any other.
VARIABLES = (
    "HOME",
    "PATH",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "KOLEGA_CODE_STATE_DIR",
    "LOCALAPPDATA",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
)


SESSION_KEYS = ("session_id", "sessionId", "conv_id")
"""How payloads spell the session, whose value is made where a host gives none."""
MADE = "-"
"""Instead of a field's name: a key that dialects' payloads have, with a value that is made and not given."""


class UnknownEvent(ValueError):  # noqa: N818 (it says what is wrong)
    """A name that is neither canonical nor any dialect's own."""


def dialect(name: str) -> Dialect:
    """A dialect's table."""
    module = f"anyhook.dialects.{name}"
    if not hasattr(sys.modules.get(module), "DIALECT"):  # another thread may be in the middle of it
        __import__(module)  # importlib is a package, and its import is not free
    found: Dialect = sys.modules[module].DIALECT
    return found


def native_names() -> dict[str, tuple[str, ...]]:
    """Every dialect's event names and the canonical events they stand for, success first."""
    found: dict[str, tuple[str, ...]] = {}
    for name in DIALECTS:
        for row in dialect(name).events:
            if len(row.canonical) >= len(found.get(row.native, ())):
                found[row.native] = row.canonical
    return found


def canonical_event(name: str, failed: bool, natives: dict[str, tuple[str, ...]] | None = None) -> str:
    """The canonical event of any spelling; where a name stands for success and failure, `failed` says which."""
    if name in EVENTS:
        return name
    natives = native_names() if natives is None else natives
    if name in natives:
        return natives[name][-1] if failed else natives[name][0]
    from anyhook.tables.shapes import guess

    hint = guess(name, [*EVENTS, *natives])
    raise UnknownEvent(
        f"unknown event `{name}`.{hint} Canonical events: {', '.join(EVENTS)}; any dialect's own name will do."
    )


def canonical_field(event: str, key: str) -> str | None:
    """The canonical field that is meant by `key` in this event: the field itself, unless none of the event's hooks
    hears of it and a dialect uses the word for another; else the one that a dialect spells so; or None."""
    spelled = "session" if key in SESSION_KEYS else None
    made = False
    for name in DIALECTS:
        table = dialect(name)
        row = table.row_for(event)
        for field in (*table.base, *(row.payload if row else ())):
            if field.cell == key:
                return key
            if field.key == key and isinstance(field.cell, str):
                spelled = spelled or field.cell
            made = made or field.key == key
    return spelled or (key if key in FIELDS else MADE if made else None)


understand_names(canonical_event)
