"""Commands that start or configure an agent with its hooks off: `AGENT config set …`, settings on its command line,
another folder for its settings."""

from __future__ import annotations

from anyhook.model.pattern import later
from anyhook.tables.registry import HOSTS, host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anyhook.programs.facts import Program
    from anyhook.tables.host_rows import Host

TURNING = frozenset({
    "disable", "--disable", "disable-all", "off", "set", "unset", "remove", "rm", "delete", "uninstall", "reset",
    "false",
})  # fmt: skip
"""Words with which an agent's own command changes its settings about hooks."""
NAMES = ("hook", "hooks")


def turns_off(program: Program, caller: Host | None) -> str | None:
    """Why a program may not be run: it starts an agent without its hooks. None if it may."""
    table = _agent(program.name, caller)
    if table is None:
        return None
    texts = [word.text for word in program.words]
    turns = not TURNING.isdisjoint(texts) and not {*NAMES}.isdisjoint(texts)
    if turns or any(_is_switch(text, table) for text in texts):
        return f"`{program.name}` would turn off hooks of {table.title}."
    if any(text in table.off_words for text in texts) or any(name in table.variables for name, _ in program.set):
        return f"`{program.name}` would run without hooks of {table.title}."
    elsewhere = [name for name, _ in program.set if name in ("HOME", *roots_of(table)) or MOVES_US.fullmatch(name)]
    if elsewhere:
        return f"`{program.name}` would run with another {elsewhere[0]}, in which {table.title} has other hooks."
    return None


MOVES_US = later(r"ANYHOOK_\w+|XDG_(?:CONFIG|STATE|RUNTIME)_\w+|PYTHON(?:PATH|HOME|STARTUP)")
"""Variables with which anyhook below the agent finds other settings, or other code."""


def _agent(program: str, caller: Host | None) -> Host | None:
    if caller is not None and caller.program == program:
        return caller
    return host(program) if program in HOSTS else None


def _is_switch(text: str, table: Host) -> bool:
    """Whether a word sets a switch: `key`, `section.key=value`, or settings as JSON. A prompt that mentions it is a
    sentence."""
    if " " in text.strip() and not text.lstrip().startswith(("{", "[")):
        return False
    return any(_spelled(switch.key, text) for switch in table.switches)


def _spelled(key: Sequence[str], text: str) -> bool:
    if len(key) == 1:
        return key[0] in text
    return ".".join(key) in text or all(f'"{part}"' in text for part in key) if key else False


def roots_of(table: Host) -> Iterator[str]:
    """The variables that say where an agent's settings are, besides HOME."""
    yield from (variable for variable, _ in (table.entry.roots.values() if table.entry is not None else ()))
