"""The user's settings in `config.toml`: plugins, switches of dialects, postures of single hooks, models. A project has
no say."""

from __future__ import annotations

from time import time

from anyhook.model.problem import WARNING
from anyhook.model.record import Record
from anyhook.model.words import BODIES, MODE, OFF, ON_FAILURE, ON_OR_OFF, WARM, WARM_PYTHON, word_of
from anyhook.tables.registry import DIALECTS, dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.words import HookScope, Mode, Off, Posture, WarmPython, Word


ROLES = ("fast", "long", "thinking")
"""The roles of models; handlers name one of these, in their dialect's words."""
JOURNAL_BOUNDS = {"keep_days": 36_500, "keep_mb": 1_000_000}
"""The limits of the journal, and the largest value of each."""
ASK_WHERE = ("agent", "elsewhere", "both")
WAIT_S, MAX_WAIT_S = 60, 86_400
"""How long a call waits for a person; never longer than its agent waits."""
NTFY = "ntfy:"
ASK_KEYS = {"where": f"one of {', '.join(ASK_WHERE)}", "wait_s": f"a whole number from 1 to {MAX_WAIT_S}", "notify": ""}
"""The settings of `[ask]`, and what each must be."""
ENDPOINT = ("base_url", "api_key_env")
OF_A_HOOK: dict[str, tuple[str, ...]] = {"on_failure": ON_FAILURE, "off": OFF, "mode": MODE, "warm": ON_OR_OFF}
"""What can be set for one hook, and the values."""
STRICTEST = {"on_failure": "deny", "off": "deny", "mode": "enforce", "bodies": "none"}
"""What counts if a setting has a value that is not one of its own, or cannot be read: a slip does not open a guard."""


SETTINGS = {
    "plugins": "plugins", "on_failure": "on_failure", "mode": "mode", "protect": "protect", "dialect": "[dialect.NAME]",
    "off": "off", "require": "require", "hooks": '[hooks."ID"]', "models": "[models]", "providers": "[providers.NAME]",
    "journal": "[journal]", "ask": "[ask]", "agent": "[agent]", "warm": "warm",
    "warm_python": "warm_python", "facts": "facts", "update": "update",
}  # fmt: skip
"""Every key of the file, and how it is written there."""


class Settings(Record):
    """What the file says, checked. Dictionaries in it are stored unchanged in a compiled plan."""

    plugins: tuple[str, ...] = ()
    on_failure: Posture = "native"
    dialects: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never changed)
    hooks: dict[str, Posture] = {}  # noqa: RUF012 (never changed)
    """Hook id → posture."""
    models: dict[str, str] = {}  # noqa: RUF012 (never changed)
    """Role → provider:name."""
    providers: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never changed)
    """Provider → where it is and which variable holds its key."""
    journal: dict[str, Json] = {}  # noqa: RUF012 (never changed)
    """What the journal keeps, and how much of it."""
    protect: bool = True
    """Whether agents are kept from editing our own files and entries."""
    mode: Mode = MODE[0]
    """Whether decisions count, if the call does not say."""
    off: Off = OFF[0]
    """What happens if a gate is off: not approved, or broken."""
    hook_off: dict[str, Off] = {}  # noqa: RUF012 (never changed)
    """The same by hook id, or by the path of a file that cannot be read."""
    hook_mode: dict[str, Mode] = {}  # noqa: RUF012 (never changed)
    """Hook id → whether its decisions count."""
    hook_until: dict[str, int] = {}  # noqa: RUF012 (never changed)
    """Hook id → the time until which that is valid, in seconds since 1970."""
    require: tuple[str, ...] = ()
    """Gates that must be on for `anyhook ci`, by id."""
    facts: bool = False
    """Whether hooks on tools are handed the facts of the call."""
    warm_python: WarmPython = WARM_PYTHON[0]
    """Whose Python scripts may run in a warm interpreter."""
    hook_warm: dict[str, str] = {}  # noqa: RUF012 (never changed)
    """The same by hook id, `on` or `off`."""
    ask: dict[str, Json] = {}  # noqa: RUF012 (never changed)
    """Who answers when a hook asks (`where`), how long a call waits (`wait_s`), and how a person is told
    (`notify`)."""
    hook_env: dict[str, list[str]] = {}  # noqa: RUF012 (never changed)
    """Hook id → the only variables of the environment that it gets."""
    update: str = ""
    """Where `anyhook update` looks for newer versions of anyhook."""

    def may_be_warm(self, hook: Hook) -> bool:
        """Whether its Python may run in a warm interpreter. A function of a `hooks.py` is written for one; a project's
        script only if the user says so."""
        said = self.hook_warm.get(hook.id)
        if said is not None:
            return said == "on"
        own = hook.scope != "project" or hook.handler == "function"
        return self.warm_python == "all" or (self.warm_python == "user" and own)

    def at(self, now_s: float) -> Settings:
        """The same without expired modes."""
        over = [hook for hook, until_s in self.hook_until.items() if until_s <= now_s]
        return self.replace(hook_mode={hook: mode for hook, mode in self.hook_mode.items() if hook not in over})


def unread(path: str, settings: Settings | None = None) -> Settings:
    """The strictest settings, for a file that is there and cannot be read. The file itself refuses nothing: it is
    reported as a guard that is off."""
    settings = settings or Settings()
    return settings.replace(on_failure="deny", off="deny", hook_off={**settings.hook_off, path: OFF[0]})


def read_settings(path: str, files: Files, home: str, scope: HookScope = "user") -> Settings:
    errors, owner = files.errors, files.owner
    files.owner = ("", scope)  # a file that cannot be read is reported as a guard that is off
    document = files.document(path, "toml")
    files.owner = owner
    if not isinstance(document, dict):
        return unread(path) if files.errors > errors else Settings()

    def warn(key: str, what: str, fix: str, instead: str = "") -> None:
        line = files.line(path, tuple(key.split(".")))
        kept = f"`{instead}` counts" if instead else "it is ignored"
        files.problem("bad-setting", f"`{key}` {what}; {kept}", f"{path}:{line}" if line else path, "", fix, WARNING)

    def one_of(key: str, values: tuple[Word, ...]) -> Word:
        """A word; the first of its values if the file has none, and the strictest if it has an unknown one."""
        said = document.get(key, values[0])
        if said in values:
            return word_of(said, values)
        instead = STRICTEST.get(key, "")
        warn(key, f"must be one of {', '.join(values)}", "Correct it.", instead)
        return word_of(instead, values)

    posture = one_of("on_failure", ON_FAILURE)
    mode, off = one_of("mode", MODE), one_of("off", OFF)
    one_of("warm", WARM)  # read before anything else is, by `extra/warm/place.py`
    variables, rest = _variables_of_hooks(document.get("hooks"), warn)
    hooks = _hooks(rest, warn)
    for key in document:
        if key not in SETTINGS:
            from anyhook.tables.shapes import guess

            warn(key, "is not a setting", f"Settings: {', '.join(SETTINGS.values())}.{guess(key, SETTINGS)}")
    read = Settings(
        _plugins(document.get("plugins", []), home, warn),
        posture,
        _dialects(document.get("dialect"), warn),
        {hook: word_of(word, ON_FAILURE) for hook, word in hooks["on_failure"].items()},
        _models(document.get("models"), warn),
        _providers(document.get("providers"), warn),
        _journal(document.get("journal"), warn),
        _switch("protect", document.get("protect", True), True, warn),
        mode,
        off,
        {hook: word_of(word, OFF) for hook, word in hooks["off"].items()},
        {hook: word_of(word, MODE) for hook, word in hooks["mode"].items()},
        {hook: int(until) for hook, until in hooks["until"].items()},
        _required(document.get("require", []), warn),
        _switch("facts", document.get("facts", False), False, warn),
        one_of("warm_python", WARM_PYTHON),
        hooks["warm"],
        _ask(document.get("ask"), warn),
        variables,
        _source(document.get("update", ""), warn),
    )
    return read.at(time()) if read.hook_until else read


def _plugins(value: Json, home: str, warn: _Warn) -> tuple[str, ...]:
    listed: Json = [value] if isinstance(value, str) else value
    plugins = [home + folder[1:] if folder.startswith("~/") else folder for folder in _texts(listed)]
    if not isinstance(value, list) or not all(folder.startswith("/") for folder in plugins):
        # Read against the current folder, a relative one would let a cloned project bring a plugin along.
        warn("plugins", "must be a list of absolute folders (`~/` will do)", 'Write plugins = ["/path"].')
    return tuple(folder for folder in plugins if folder.startswith("/"))


def _journal(value: Json, warn: _Warn) -> dict[str, Json]:
    if value is not None and not isinstance(value, dict):
        warn("journal", "must be a table", f"Settings: bodies, {', '.join(JOURNAL_BOUNDS)}.")
    found: dict[str, Json] = {}
    for key, chosen in value.items() if isinstance(value, dict) else ():
        if key == "bodies" and chosen in BODIES:
            found[key] = chosen
        elif key == "bodies":
            found[key] = STRICTEST[key]
            warn("journal.bodies", f"must be one of {', '.join(BODIES)}", "Correct it.", STRICTEST[key])
        elif key not in JOURNAL_BOUNDS:
            warn(f"journal.{key}", "is not a setting", f"Settings: bodies, {', '.join(JOURNAL_BOUNDS)}.")
        elif not _is_number(chosen, JOURNAL_BOUNDS[key]):
            warn(f"journal.{key}", f"must be a whole number from 1 to {JOURNAL_BOUNDS[key]}", "Correct it.")
        else:
            found[key] = chosen
    return found


def _ask(value: Json, warn: _Warn) -> dict[str, Json]:
    """A slip leaves the agent to ask, and one that cannot ask refuses."""
    if value is not None and not isinstance(value, dict):
        warn("ask", "must be a table", f"Settings: {', '.join(ASK_KEYS)}.")
    found: dict[str, Json] = {}
    for key, chosen in value.items() if isinstance(value, dict) else ():
        if key not in ASK_KEYS:
            warn(f"ask.{key}", "is not a setting", f"Settings: {', '.join(ASK_KEYS)}.")
        elif key == "notify":
            ways = chosen if isinstance(chosen, list) else [chosen]
            found[key] = known = [way for way in ways if way == "desktop" or _is_address(way)]
            if known != chosen:
                warn("ask.notify", "must be a list of ways", 'Write "desktop", "ntfy:https://…" or "https://…".')
        elif chosen in ASK_WHERE if key == "where" else _is_number(chosen, MAX_WAIT_S):
            found[key] = chosen
        else:
            warn(
                f"ask.{key}",
                f"must be {ASK_KEYS[key]}",
                "Correct it.",
                str(WAIT_S if key == "wait_s" else ASK_WHERE[0]),
            )
    return found


def _is_number(value: Json, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_address(way: Json) -> bool:
    """Whether it is an address that a notice can be posted to."""
    if not isinstance(way, str):
        return False
    scheme, _, rest = way.removeprefix(NTFY).partition("://")
    host = rest.partition("/")[0]
    return scheme in ("http", "https") and bool(host) and way.isascii() and way.isprintable() and " " not in way


def _required(value: Json, warn: _Warn) -> tuple[str, ...]:
    """What does not name a gate stays in the list, so `anyhook ci` fails."""
    listed = value if isinstance(value, list) else [value]
    read = tuple(gate if isinstance(gate, str) else str(gate) for gate in listed)
    if list(read) != value or not all(read):
        warn("require", "must be a list of names of gates", 'Write require = ["git/forced-push"].', ", ".join(read))
    return read


def _source(value: Json, warn: _Warn) -> str:
    if not isinstance(value, str):
        warn("update", "must be a folder, or an address", 'Write update = "https://example.org/simple".')
    return value if isinstance(value, str) else ""


def _texts(value: Json) -> list[str]:
    return [text if isinstance(text, str) else "" for text in value] if isinstance(value, list) else []


def _dialects(value: Json, warn: _Warn) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    if value is not None and not isinstance(value, dict):
        warn("dialect", "must hold tables", "Write [dialect.NAME].")
    for name, settings in value.items() if isinstance(value, dict) else ():
        if name not in DIALECTS or not isinstance(settings, dict):
            warn(f"dialect.{name}", "is not the table of a dialect", f"Dialects: {', '.join(DIALECTS)}.")
            continue
        allowed = dialect(name).settings
        for key, chosen in settings.items():
            if key not in allowed or chosen not in allowed[key]:
                known = "; ".join(f"{known} = {' | '.join(values)}" for known, values in allowed.items()) or "none"
                warn(
                    f"dialect.{name}.{key}",
                    "is not a setting of this dialect, or not one of its values",
                    f"Settings: {known}.",
                )
            else:
                found.setdefault(name, {})[key] = str(chosen)
    return found


def _hooks(value: Json, warn: _Warn) -> dict[str, dict[str, str]]:
    """Setting → hook id → value."""
    found: dict[str, dict[str, str]] = {key: {} for key in (*OF_A_HOOK, "until")}
    known = "; ".join((*(f"{key} = {' | '.join(words)}" for key, words in OF_A_HOOK.items()), 'env = ["NAME", …]'))
    if not isinstance(value, dict):
        if value is not None:
            warn("hooks", "must hold tables", f'Write [hooks."ID"]. Settings: {known}.')
        return found
    for hook, settings in value.items():
        if not (isinstance(settings, dict) and settings):
            warn(f"hooks.{hook}", f"needs one of {', '.join(OF_A_HOOK)}", f"Settings: {known}.")
            continue
        for key, chosen in settings.items():
            if key == "until":
                if (until_s := _seconds(chosen)) is not None:
                    found[key][hook] = str(until_s)
                else:  # without its end, the mode would count forever
                    found["mode"][hook] = instead = STRICTEST["mode"]
                    warn(f"hooks.{hook}.{key}", "is not a time", "Write it as 2030-01-31T12:00:00Z.", instead)
            elif chosen not in OF_A_HOOK.get(key, ()):
                what, instead = "is not a setting of a hook, or not one of its values", STRICTEST.get(key, "")
                warn(f"hooks.{hook}.{key}", what, f"Settings: {known}.", instead)
                if instead:
                    found[key][hook] = instead
            elif key != "mode" or _seconds(settings.get("until", "9999-01-01")) is not None:
                found[key][hook] = str(chosen)
    return found


def _variables_of_hooks(value: Json, warn: _Warn) -> tuple[dict[str, list[str]], Json]:
    """Hook id → the names of variables, and the tables without them. With a slip a hook gets all variables, so that a
    guard does not fail."""
    if not isinstance(value, dict):
        return {}, value
    found: dict[str, list[str]] = {}
    rest: dict[str, Json] = {}
    for hook, settings in value.items():
        if not isinstance(settings, dict) or "env" not in settings:
            rest[hook] = settings
            continue
        names = settings["env"]
        if isinstance(names, list) and all(isinstance(name, str) and name.isidentifier() for name in names):
            found[hook] = [*map(str, names)]
        else:
            warn(f"hooks.{hook}.env", "must be a list of names of variables", 'Write env = ["PATH", "HOME"].')
        if len(settings) > 1:
            rest[hook] = {key: chosen for key, chosen in settings.items() if key != "env"}
    return found, rest


def _seconds(value: Json) -> int | None:
    """A time as ISO 8601 has it, in seconds since 1970; None for anything else."""
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(str(value)).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _models(value: Json, warn: _Warn) -> dict[str, str]:
    if value is not None and not isinstance(value, dict):
        warn("models", "must be a table", 'Write [models] and fast = "PROVIDER:NAME" under it.')
    found: dict[str, str] = {}
    for role, name in value.items() if isinstance(value, dict) else ():
        if role not in ROLES:
            warn(f"models.{role}", "is not a role", f"Roles: {', '.join(ROLES)}.")
        elif not isinstance(name, str) or not all(name.partition(":")):
            warn(f"models.{role}", "must be PROVIDER:NAME", f'Write {role} = "PROVIDER:NAME".')
        else:
            found[role] = name
    return found


def _switch(key: str, value: Json, usual: bool, warn: _Warn) -> bool:
    if not isinstance(value, bool):
        warn(key, "must be true or false", f"Write {key} = true or false.")
        return usual
    return value


def _providers(value: Json, warn: _Warn) -> dict[str, dict[str, str]]:
    if value is not None and not isinstance(value, dict):
        warn("providers", "must hold tables", 'Write [providers.NAME] and base_url = "URL" under it.')
    found: dict[str, dict[str, str]] = {}
    for provider, settings in value.items() if isinstance(value, dict) else ():
        if not isinstance(settings, dict):
            warn(f"providers.{provider}", "must be a table", f"Settings: {', '.join(ENDPOINT)}.")
            continue
        for key, chosen in settings.items():
            if key not in ENDPOINT or not isinstance(chosen, str) or not chosen:
                warn(
                    f"providers.{provider}.{key}",
                    "is not a setting, or not a text",
                    f"Settings: {', '.join(ENDPOINT)}.",
                )
            else:
                found.setdefault(provider, {})[key] = chosen
    return found


if TYPE_CHECKING:
    from typing import Protocol

    class _Warn(Protocol):
        def __call__(self, key: str, what: str, fix: str, instead: str = "") -> None: ...
