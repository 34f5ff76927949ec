"""The places that an agent's entry fixes. `install` writes into the entry whose home, settings, state and user hooks it
is for. An agent's environment may name others, because a project's `.env` or the agent's own settings change it: hooks
get that environment as it is, but our own places do not move, and the person is told."""

from __future__ import annotations

import os

from anyhook.documents.managed import VARIABLE as MANAGED
from anyhook.platform.places import state_dir
from anyhook.tables.registry import INSTALLABLE, VARIABLES, hosts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from anyhook.tables.host_rows import Entry

    Changing = MutableMapping[str, str]

HOME, PLACE = "--home", "--place"
"""The options of an entry: the home, and `NAME=VALUE` for each further variable that names a place."""
BASES = {"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state"}
"""The variables that name our own places, and where these are in the home otherwise."""
SEARCHED = "PATH"
"""It names none of our places, and hooks are found by it as the agent gives it."""
OWN = "{own}"
"""In an entry's paths and handlers: the user's own name for it."""


def roots_of(entry: Entry, home: str, project: str, env: Mapping[str, str]) -> dict[str, str]:
    """The values of `{home}`, `{project}` and the entry's own roots."""
    known = {"home": home, "project": project}
    if any(OWN in path for path in entry.files.values()):
        from anyhook.state.installs import PLAIN_NAME, own_name

        known["own"] = own_name(state_dir(env)) if env else PLAIN_NAME
    for root, (variable, usual) in entry.roots.items():
        known[root] = env.get(variable) or usual.format(**known)
    return known


class Caller:
    """What the environment of the call that this process answers says, beside what counts."""

    given: Mapping[str, str] | None = None
    """All of it, for hooks; None in a process that answers no agent."""
    home = ""
    """The home that the entry fixes."""
    is_gone = False
    """Whether that home is not there, so that the environment's counts."""


def fix_places(words: Sequence[str], env: Changing) -> None:
    """Let `env` name the places that the entry fixes. Before anything else in a process that answers an agent; what is
    done once stays."""
    if words[:1] != ["bridge"] or Caller.given is not None:
        return
    Caller.given = dict(env)
    env.pop(MANAGED, None)  # it is for tests, and no agent may name the organisation's folder
    fixed = fixed_places(words)
    Caller.home = fixed.get("HOME", "")
    Caller.is_gone = bool(Caller.home) and not os.path.isdir(Caller.home)
    if not Caller.home or Caller.is_gone:  # the agent's settings were copied from elsewhere
        return
    _replace(env, BASES, fixed)  # first: what is imported next may look there
    _replace(env, _variables(), fixed)


def fixed_places(words: Sequence[str]) -> dict[str, str]:
    """What the options of an entry name, by variable."""
    found: dict[str, str] = {}
    for index in range(len(words) - 1):
        value = words[index + 1]
        if words[index] == HOME:
            found["HOME"] = value
        elif words[index] == PLACE and "=" in value:
            name, _, found[name] = value.partition("=")
    return found


def env_of_entry(words: Sequence[str], env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The environment that names the places of an entry with these words, and what is there and not in `env`, as
    `NAME=VALUE`. Without a separate home, or if that is not there, `env` counts."""
    fixed, found = fixed_places(words), dict(env)
    home = fixed.get("HOME", "")
    if not home or not os.path.isdir(home):
        return found, []
    names = [name for name in _variables() if name != MANAGED]
    _replace(found, names, fixed)
    here = {name: env.get(name) or _usual(name, env.get("HOME", "")) for name in names}
    there = {name: found.get(name) or _usual(name, home) for name in names}
    return found, [f"{name}={there[name]}" for name in names if not _is_same(here[name], there[name])]


def places_to_fix(env: Mapping[str, str]) -> list[str]:
    """The options with which `install` fixes the places of this environment; none without a home."""
    home = env.get("HOME", "")
    if not home.startswith("/"):
        return []
    named = [name for name in _variables() if name not in ("HOME", MANAGED) and env.get(name, "").startswith("/")]
    kept = [f"{name}={env[name]}" for name in named if not _is_same(env[name], _usual(name, home))]
    return [HOME, home, *(word for each in kept for word in (PLACE, each))]


def moved_places() -> list[str]:
    """What the caller's environment names and what does not count, as `NAME=VALUE`."""
    given, named = Caller.given or {}, [MANAGED]
    if Caller.home and not Caller.is_gone:
        named = [*_variables()]
    found = {name: given[name] for name in named if given.get(name)}
    if MANAGED in found and not _has_files(found[MANAGED]):
        del found[MANAGED]
    return [f"{name}={value}" for name, value in found.items() if not _is_same(value, _counts(name))]


def notice(agent: str) -> str:
    """What a person is told if the agent's environment and its entry disagree; "" if they do not. A variable that is
    not set names nothing."""
    if Caller.is_gone:
        return (
            f"anyhook: its entry here was written for {Caller.home}, which is not there, so the home of the environment"
            f" counts. Run: anyhook install {agent}"
        )
    moved = moved_places()
    if not moved:
        return ""
    if all(each.startswith(f"{MANAGED}=") for each in moved):
        return f"anyhook: {moved[0]} in the environment does not count: it is for tests."
    return (
        f"anyhook: the environment names other places for hooks and settings ({', '.join(moved)}); those of"
        f" {Caller.home}, for which its entry was written, count. If the others are right, install from there: anyhook"
        f" install {agent}"
    )


def elsewhere(env: Mapping[str, str], given: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """The agent's environment, if it names other places than `env`: then a `~` means something else there."""
    if given is None or all(given.get(name) == env.get(name) for name in _variables() if name != MANAGED):
        return None
    return given


def own_env(env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment that names our own places, from a hook's."""
    return os.environ if env is Caller.given else env


def _has_files(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def _counts(name: str) -> str:
    """What counts for a variable here."""
    return os.environ.get(name, "") or (_usual(name, Caller.home) if name != MANAGED else "")


def _usual(name: str, home: str) -> str:
    """Where a variable's place is if it is not set; "" if that is not known."""
    if name in BASES:
        return f"{home.rstrip('/')}/{BASES[name]}" if BASES[name] else home
    for table in hosts(INSTALLABLE):
        entry = table.entry
        for variable, usual in entry.roots.values() if entry is not None else ():
            if variable == name and "{home}" in usual:
                return usual.replace("{home}", home.rstrip("/"))
    return ""


def _is_same(one: str, other: str) -> bool:
    if one.rstrip("/") == other.rstrip("/"):
        return True
    return one.startswith("/") and other.startswith("/") and os.path.realpath(one) == os.path.realpath(other)


def _variables() -> list[str]:
    """Every variable that names one of our places, or where a dialect has the user's hooks."""
    return [name for name in VARIABLES if name != SEARCHED]


def _replace(env: Changing, names: Sequence[str] | Mapping[str, str], fixed: Mapping[str, str]) -> None:
    for name in names:
        if name in fixed:
            env[name] = fixed[name]
        else:
            env.pop(name, None)
