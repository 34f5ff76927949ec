"""The registry: every agent by name, loaded when it is asked for. A new agent is one line here; an agent of somebody
else's package has its line in that package (the entry-point group `anyhook.agents`)."""

from __future__ import annotations

import os
import sys

from anyhook.model.event import EVENTS, FIELDS, understand_names
from anyhook.tables.installed import BRIDGED, CALLS, DECLARES, BadTable, installed, part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.host_rows import Host
    from anyhook.tables.rows import Dialect
    from anyhook.tables.sample_rows import Sample

# In the order in which their hooks run: the name, what the agent does, and the variables that say where its hooks are.
AGENTS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("kode", DECLARES, ()),
    ("kodik", DECLARES, ()),
    ("agenthooks", DECLARES, ()),
    ("kolega", DECLARES | BRIDGED, ("KOLEGA_CODE_STATE_DIR", "LOCALAPPDATA")),
    ("kodelet", DECLARES, ()),
    ("claude", DECLARES | CALLS, ("CLAUDE_CONFIG_DIR",)),
    ("codex", DECLARES | CALLS, ("CODEX_HOME",)),
    ("gemini", DECLARES | CALLS, ()),
    ("qwen", DECLARES | CALLS, ()),
    ("copilot", DECLARES | CALLS, ("COPILOT_HOME",)),
    ("goose", DECLARES | CALLS, ()),
    ("vscode", DECLARES | CALLS, ("COPILOT_HOME",)),
    ("cursor", DECLARES | CALLS, ()),
    ("antigravity", DECLARES | CALLS, ()),
    ("kiro", DECLARES | CALLS, ()),
    ("grok", DECLARES | CALLS, ("GROK_HOME",)),
    ("devin", DECLARES | CALLS, ()),
    ("droid", DECLARES | CALLS, ("FACTORY_HOME_OVERRIDE",)),
    ("augment", DECLARES | CALLS, ()),
    ("junie", DECLARES | CALLS, ()),
    ("crush", DECLARES | CALLS, ()),
    ("openhands", DECLARES | CALLS, ()),
    ("hermes", DECLARES | CALLS, ("HERMES_HOME",)),
    ("deepagents", DECLARES | CALLS, ("DEEPAGENTS_HOME",)),
    ("reasonix", DECLARES | CALLS, ("REASONIX_HOME",)),
    ("codebuddy", DECLARES | CALLS, ()),
    ("letta", DECLARES | CALLS, ()),
    ("mastra", DECLARES | CALLS, ()),
    ("codepuppy", DECLARES | CALLS, ()),
    ("kimi", DECLARES | CALLS, ("KIMI_CODE_HOME",)),
    ("vibe", DECLARES | CALLS, ("VIBE_HOME",)),
    ("cline", DECLARES | CALLS, ()),
    ("opencode", CALLS, ()),
)
BASE_VARIABLES = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
OTHERS = installed(os.environ, sys.path, tuple(name for name, _, _ in AGENTS))
"""Agents of other packages; their hooks run last."""

_ALL = (*AGENTS, *(row[:3] for row in OTHERS))
_MODULES = {"inprocess": "anyhook.tables.inprocess", **{row[0]: row[3] for row in OTHERS}}
_WRONG = {row[0]: row[4] for row in OTHERS if row[4]}

# Every dialect, in the order in which their hooks run.
DIALECTS = tuple(name for name, does, _ in _ALL if does & DECLARES)
# Every agent with a bridge, by the name that the command takes.
HOSTS = tuple(name for want in (CALLS, BRIDGED) for name, does, _ in _ALL if does & want)
# Those that `anyhook install` has an entry for.
INSTALLABLE = tuple(name for name, does, _ in _ALL if does & CALLS)
# The variables that decide where hooks and their programs are looked for; no dialect's `find` sees any other.
VARIABLES = tuple(dict.fromkeys((*BASE_VARIABLES, *(variable for _, _, read in _ALL for variable in read))))

SESSION_KEYS = ("session_id", "sessionId", "conv_id")
"""How payloads spell the session, whose value is made where a host gives none."""
MADE = "-"
"""Instead of a field's name: a key that dialects' payloads have, with a value that is made and not given."""


class UnknownEvent(ValueError):  # noqa: N818 (it says what is wrong)
    """A name that is neither canonical nor any dialect's own."""


def module_of(name: str) -> str:
    """An agent's own module."""
    return _MODULES.get(name) or f"anyhook.agents.{name}"


def dialect(name: str) -> Dialect:
    """A dialect's table. One that cannot be loaded declares nothing, and its place among the hooks says why."""
    try:
        if name in _WRONG:
            raise BadTable(_WRONG[name])
        found: Dialect | None = part(module_of(name), "DIALECT")
        if found is None:
            raise BadTable(f"`{module_of(name)}` has no DIALECT")
    except Exception as error:  # noqa: BLE001 (a mistake in one agent's table takes no other agent down)
        from anyhook.tables.broken import broken

        return broken(name, module_of(name), error)
    return found


def host(name: str) -> Host:
    """A host's table; BadTable where it cannot be loaded."""
    try:
        if name in _WRONG:
            raise BadTable(_WRONG[name])
        found: Host | None = part(module_of(name), "HOST")
    except Exception as error:
        why = str(error) if isinstance(error, BadTable) else f"{type(error).__name__}: {error}"
        raise BadTable(f"the agent `{name}` cannot be loaded: {why}") from error
    if found is None:
        raise BadTable(f"`{module_of(name)}` has no HOST")
    return found


def drive(name: str) -> Drive | None:
    """How an agent is driven without a person; None for one that is not."""
    made: Callable[[], Drive] | None = part(module_of(name), "drive")
    return made() if made is not None else None


def sample(name: str) -> Sample:
    """An agent's sample."""
    made: Callable[[], Sample] | None = part(module_of(name), "sample")
    if made is None:
        raise BadTable(f"`{module_of(name)}` has no sample()")
    return made()


def native_names() -> dict[str, tuple[str, ...]]:
    """Every dialect's event names and the canonical events they stand for, success first."""
    found: dict[str, tuple[str, ...]] = {}
    theirs = {row[0] for row in OTHERS}  # what they call an event changes no name that is known already
    for name in DIALECTS:
        for row in dialect(name).events:
            if len(row.canonical) >= len(found.get(row.native, ())) and not (name in theirs and row.native in found):
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
    gets it and a dialect uses the word for another; else the one that a dialect spells so; or None."""
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
