"""The user's settings in `config.toml`: plugins, switches of dialects, postures of single hooks. A project has no
say."""

from __future__ import annotations

from anyhook.model.problem import WARNING
from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.grammar.files import Files
    from anyhook.model.json_types import Json

POSTURES = ("native", "deny", "allow")


class Config(Record):
    """What the file says, checked."""

    plugins: tuple[str, ...] = ()
    on_failure: str = "native"
    dialects: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never changed)
    hooks: dict[str, str] = {}  # noqa: RUF012 (never changed)
    """Hook id → posture."""


def read_config(path: str, files: Files, home: str) -> Config:
    document = files.document(path, "toml")
    if not isinstance(document, dict):
        return Config()

    def warn(key: str, what: str, fix: str) -> None:
        line = files.line(path, tuple(key.split(".")))
        files.problem(
            "bad-setting", f"`{key}` {what}; it is ignored", f"{path}:{line}" if line else path, "", fix, WARNING
        )

    plugins = _texts(document.get("plugins", []))
    if plugins is None:
        warn("plugins", "must be a list of folders", 'Write plugins = ["/path"].')
    posture = document.get("on_failure", "native")
    if posture not in POSTURES:
        warn("on_failure", f"must be one of {', '.join(POSTURES)}", "Correct it.")
        posture = "native"
    for key in document:
        if key not in ("plugins", "on_failure", "dialect", "hooks", "agent"):
            warn(key, "is no setting", 'Settings: plugins, on_failure, [dialect.NAME], [hooks."ID"], [agent].')
    return Config(
        tuple(home + folder[1:] if folder.startswith("~/") else folder for folder in plugins or ()),
        str(posture),
        _dialects(document.get("dialect"), warn),
        _hooks(document.get("hooks"), warn),
    )


def _texts(value: Json) -> list[str] | None:
    return (
        [str(text) for text in value]
        if isinstance(value, list) and all(isinstance(text, str) for text in value)
        else None
    )


def _dialects(value: Json, warn: _Warn) -> dict[str, dict[str, str]]:
    from anyhook.grammar.registry import DIALECTS, dialect

    found: dict[str, dict[str, str]] = {}
    for name, settings in value.items() if isinstance(value, dict) else ():
        if name not in DIALECTS or not isinstance(settings, dict):
            warn(f"dialect.{name}", "is no dialect's table", f"Dialects: {', '.join(DIALECTS)}.")
            continue
        allowed = dialect(name).settings
        for key, chosen in settings.items():
            if key not in allowed or chosen not in allowed[key]:
                known = "; ".join(f"{known} = {' | '.join(values)}" for known, values in allowed.items()) or "none"
                warn(
                    f"dialect.{name}.{key}",
                    "is no setting of this dialect, or not one of its values",
                    f"Settings: {known}.",
                )
            else:
                found.setdefault(name, {})[key] = str(chosen)
    return found


def _hooks(value: Json, warn: _Warn) -> dict[str, str]:
    found: dict[str, str] = {}
    for hook, settings in value.items() if isinstance(value, dict) else ():
        posture = settings.get("on_failure") if isinstance(settings, dict) else None
        if posture in POSTURES:
            found[hook] = str(posture)
        else:
            warn(f"hooks.{hook}", f"needs on_failure = {' | '.join(POSTURES)}", "Correct it.")
    return found


if TYPE_CHECKING:
    from collections.abc import Callable

    _Warn = Callable[[str, str, str], None]
