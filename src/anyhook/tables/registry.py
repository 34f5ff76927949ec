"""The registry: every agent by name, loaded when it is asked for. A new agent is one line here; an agent of somebody
else's package has its line in that package: the entry-point group `anyhook.agents`, in which each line says
`name = module`.

The parts of an agent: `DIALECT` and `HOST` are values of its module, or of the module `dialect` or `host` in its
folder; `drive` and `sample` are functions, so that nobody waits for what only checks and tests want.
"""

from __future__ import annotations

import marshal
import os
import sys
from time import time_ns

from anyhook.model.event import EVENTS, FIELDS, understand_names
from anyhook.platform.places import SETTLED_NS, Stamp, content, stamp, state_dir
from anyhook.platform.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.host_rows import Host, ProductChange
    from anyhook.tables.past import Past
    from anyhook.tables.rows import Dialect
    from anyhook.tables.sample_rows import Sample

    Row = tuple[str, int, tuple[str, ...], str, str]
    """Name, what the agent does, the variables it reads, its module, and what is wrong with its tables."""
    Seen = tuple[str, Stamp | None, str]
    """A path that the list depends on, with its stamp and, for a file, its content."""

DECLARES, CALLS, BRIDGED = 1, 2, 4
"""It declares hooks; it calls us, by an entry that `anyhook install` writes; it calls us, by an entry of the user's."""
# In the order in which their hooks run: the name, what the agent does, and the variables that say where its hooks are,
# then those that say where its transcripts are.
AGENTS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("anyhook", DECLARES, ("ANYHOOK_MANAGED_DIR",)),
    ("kode", DECLARES | CALLS, ()),
    ("kodik", DECLARES | CALLS, ()),
    ("agenthooks", DECLARES, ()),
    ("kolega", DECLARES | CALLS, ("KOLEGA_CODE_STATE_DIR", "LOCALAPPDATA")),
    ("kodelet", DECLARES, ()),
    ("claude", DECLARES | CALLS, ("CLAUDE_CONFIG_DIR",)),
    ("codex", DECLARES | CALLS, ("CODEX_HOME",)),
    ("gemini", DECLARES | CALLS, ()),
    ("qwen", DECLARES | CALLS, ("QWEN_HOME", "QWEN_RUNTIME_DIR")),
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
    ("crush", DECLARES | CALLS, ("CRUSH_GLOBAL_CONFIG",)),
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
    ("muse", DECLARES | CALLS, ()),
    ("kimicli", CALLS, ()),
    ("opencode", CALLS, ()),
    ("kilo", CALLS, ()),
    ("pi", CALLS, ()),
    ("amp", CALLS, ()),
    ("openclaw", CALLS, ()),
)
GROUP = b"[anyhook.agents]"
FOLDERS = ("site-packages", "dist-packages")
FORMAT = 2


def installed(env: Mapping[str, str], path: Sequence[str], known: Sequence[str]) -> tuple[Row, ...]:
    """The agents of other packages, by name, without those in `known`. An agent waits while this is looked up, so
    nothing is imported: the answer is stored in our state folder, and is valid as long as the folders with installed
    packages, and the agents' own files, look the same. Only `site-packages` folders count. What is installed there is
    the user's own choice; any other folder on the path may be a cloned project."""
    folders = [folder for folder in path if folder.startswith("/") and folder.rstrip("/").endswith(FOLDERS)]
    if not folders:
        return ()
    key = (FORMAT, sys.version_info[:2], tuple(known), tuple(folders))
    store, name = Store(state_dir(env), "agents"), ":".join(folders)
    kept = _kept(store.read(name), key)
    if kept is not None:
        return kept
    from anyhook.tables.found_agents import found

    rows, seen = found(folders, known)
    if not any(row[4] for row in rows):  # broken agents are checked again each time
        _keep(store, name, (key, rows, tuple(seen)))
    return rows


def _kept(data: bytes | None, key: tuple[object, ...]) -> tuple[Row, ...] | None:
    """The stored answer, if everything it depends on still looks the same."""
    if data is None:
        return None
    try:
        made, rows, stamps = marshal.loads(data)  # noqa: S302 (our own file, for its owner only)
        if made != key:
            return None
        for path, seen, held in stamps:
            if stamp(path) != seen or (held and content(path) != held):
                return None
    except (OSError, ValueError, EOFError, TypeError):
        return None
    found: tuple[Row, ...] = rows
    return found


def _keep(store: Store, name: str, kept: Any) -> None:
    if time_ns() - max((max(stamped[:2]) for _, stamped, _ in kept[2] if stamped), default=0) >= SETTLED_NS:
        store.write(name, marshal.dumps(kept))


# -- the parts of an agent


class BadTable(ValueError):  # noqa: N818 (it says what is wrong)
    """A mistake in an agent's table. The sentence names the table and the cell."""


def part(module: str, name: str) -> Any:
    """One part of an agent; None if it has no such part. A missing module of an agent is an error."""
    for place in (module, f"{module}.{name.lower()}"):
        loaded = sys.modules.get(place)
        if loaded is None or name not in loaded.__dict__:  # another thread may be in the middle of it
            try:
                __import__(place)  # importing importlib takes time
            except ModuleNotFoundError as error:
                if place == module or error.name != place:
                    raise
                break
            loaded = sys.modules[place]
        if name in loaded.__dict__:
            found = loaded.__dict__[name]
            setattr(sys.modules[module], name, found)  # cached for the next call
            return found
        if not hasattr(loaded, "__path__"):
            return None
    setattr(sys.modules[module], name, None)
    return None


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
PARENT_KEYS = ("parent_session_id", "parent_conversation_id", "parentSessionId", "parentSessionID", "parentID")
"""How payloads spell the session that a sub-agent belongs to, in any agent."""
MADE = "-"
"""Instead of a field's name: a key that dialects' payloads have, with a value that is made and not given."""


class UnknownEvent(ValueError):  # noqa: N818 (it says what is wrong)
    """A name that is neither canonical nor any dialect's own."""


def module_of(name: str) -> str:
    """An agent's own module."""
    return _MODULES.get(name) or f"anyhook.agents.{name}"


def dialect(name: str) -> Dialect:
    """A dialect's table. If it cannot be loaded, a dialect without hooks that reports why."""
    try:
        if name in _WRONG:
            raise BadTable(_WRONG[name])
        found: Dialect | None = part(_MODULES.get(name) or f"anyhook.agents.{name}", "DIALECT")
        if found is None:
            raise BadTable(f"`{module_of(name)}` has no DIALECT")
    except Exception as error:  # noqa: BLE001 (a mistake in one agent's table takes no other agent down)
        from anyhook.tables.found_agents import broken

        return broken(name, module_of(name), error)
    return found


def host(name: str) -> Host:
    """A host's table; BadTable if it cannot be loaded."""
    try:
        if name in _WRONG:
            raise BadTable(_WRONG[name])
        found: Host | None = part(_MODULES.get(name) or f"anyhook.agents.{name}", "HOST")
    except Exception as error:
        why = str(error) if isinstance(error, BadTable) else f"{type(error).__name__}: {error}"
        raise BadTable(f"the agent `{name}` cannot be loaded: {why}") from error
    if found is None:
        raise BadTable(f"`{module_of(name)}` has no HOST")
    return found


def hosts(names: Iterable[str]) -> Iterator[Host]:
    """The tables of these agents, without those that cannot be loaded: one agent's file does not hide the others. The
    dialect in the same file says that its hooks are off."""
    for name in names:
        try:
            yield host(name)
        except BadTable:
            continue


def agent_of(sdk: str) -> Host | None:
    """The agent that comes with a framework."""
    return next((found for name in HOSTS if (found := host(name)).sdk == sdk), None)


def drive(name: str) -> Drive | None:
    """How an agent is driven without a person; None for one that is not."""
    made: Callable[[], Drive] | None = part(module_of(name), "drive")
    return made() if made is not None else None


def changes(name: str) -> tuple[ProductChange, ...]:
    """Where the product changed what our entry relies on."""
    found: tuple[ProductChange, ...] | None = part(module_of(name), "CHANGES")
    return found or ()


def past(name: str) -> Past | None:
    """How an agent's transcripts are read; None for one whose transcripts are not."""
    found: Past | None = part(module_of(name), "PAST")
    return found


def special(name: str, word: str) -> Any:
    """What one product alone has, or few do; None for most. Each word is a value or a function of its module:

    `APPROVALS`: its own record of approved hooks.
    `ASK_TYPE`: the argument that asks an executable for its event; its hooks describe themselves.
    `CARRIED`: variables that it does not pass on to hooks, so that the command of our entry sets them.
    `EXAMPLE_ANSWERS`: examples of answers that need more than their own key, by the key's path joined with dots.
    `FILLED`: for a live run: our tool → what its tool has to be given for that, where one tool does several things.
    `FLAT`: events of our entry without groups, in a file that has groups for the others.
    `FOREIGN_TOOLS`: other products' tool names that its own document uses in matchers: they are not reported as wrong.
    `HAS_TERMINALS`: whether people have terminals in it too, so that a program below it need not be the agent's.
    `LABELS`: its tool → required fields that describe a call and change nothing in it. A rewrite by a hook that does
    not know them keeps them.
    `OFFERED`: folders with what our own agent uses of it.
    `OFF_SUFFIX`: the file name ending that turns a hook off.
    `OUTDONE`: what is left of an outcome once another hook of the dialect replaces the history or calls a recipe.
    `OWN_FOLDERS`: where it keeps plans, memory and the like.
    `PLAIN_OUTPUT`: a replaced output as plain text, where the dialect wraps it in an object of its own.
    `SERVERS`: the MCP server that a hook names.
    `WORKING_FOLDERS`: the setting with folders that it works in besides the project.
    """
    module = module_of(name)
    try:
        __import__(module)
    except Exception:  # noqa: BLE001 (`dialect` and `host` say so)
        return None
    return part(module, word)


def sample(name: str) -> Sample:
    """An agent's sample."""
    made: Callable[[], Sample] | None = part(module_of(name), "sample")
    if made is None:
        raise BadTable(f"`{module_of(name)}` has no sample()")
    return made()


def native_names(chosen: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """Every dialect's event names and their canonical events, success first. If two dialects mean different events by
    one name, the chosen dialects' meaning counts, else the first's."""
    found: dict[str, tuple[str, ...]] = {}
    theirs = {row[0] for row in OTHERS}  # what they call an event changes no name that is known already
    for name in (*chosen, *DIALECTS):
        for row in dialect(name).events:
            known = found.setdefault(row.native, row.canonical)
            if len(row.canonical) > len(known) and known[0] == row.canonical[0] and name not in theirs:
                found[row.native] = row.canonical
    return found


def canonical_event(name: str, *, failed: bool, natives: dict[str, tuple[str, ...]] | None = None) -> str:
    """The canonical event of any spelling. If a name stands for success and failure, `failed` says which."""
    if name in EVENTS:
        return name
    natives = native_names() if natives is None else natives
    if name in natives:
        return natives[name][-1] if failed else natives[name][0]
    from anyhook.tables.shapes import guess

    hint = " To try a shell line: anyhook try 'COMMAND'." if " " in name else guess(name, [*EVENTS, *natives])
    raise UnknownEvent(
        f"unknown event `{name}`.{hint} Canonical events: {', '.join(EVENTS)}; any dialect's own name will do."
    )


def canonical_field(event: str, key: str) -> str | None:
    """The canonical field that `key` means in this event: the field itself, unless no hook of the event gets it and a
    dialect uses the word for another; else the field that a dialect spells so; or None."""
    spelled = "session" if key in SESSION_KEYS else "parent_session" if key in PARENT_KEYS else None
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


understand_names(lambda name, failed: canonical_event(name, failed=failed))
