"""What an organisation decides about an agent's hooks, in that agent's own managed files. It reads and reports; the
agent itself obeys them."""

from __future__ import annotations

import glob
from collections.abc import Iterator

from anyhook.documents.files import Files
from anyhook.documents.parse import syntax_of
from anyhook.install.entries import is_ours
from anyhook.model.json_types import Json
from anyhook.tables.host_rows import Host

ETC = "/etc"
ONLY_THEIRS = ("allowManagedHooksOnly", "allow_managed_hooks_only")


def decided(host: Host, etc: str = ETC) -> list[str]:
    """A message for each managed file that says something about hooks."""
    files = Files()
    found = []
    for pattern in host.managed:
        for path in sorted(glob.glob(pattern.format(etc=etc))):
            document = files.document(path, syntax_of(path, ""))
            said = "; ".join(_says(document, host)) if isinstance(document, dict) else "it cannot be read"
            if said:
                found.append(f"{path}: {said}")
    return found


def _says(document: dict[str, Json], host: Host) -> Iterator[str]:
    hooks = document.get("hooks")
    named = hooks.items() if isinstance(hooks, dict) else ()
    events = {event: groups for event, groups in named if isinstance(groups, list)}
    if events:
        ours = any(is_ours(command, host) for groups in events.values() for command in _commands(groups))
        called = "one of them calls anyhook" if ours else "none of them calls anyhook"
        yield f"hooks of the organisation run first on {', '.join(events)}; {called}"
    for key in ONLY_THEIRS:
        if document.get(key) is True:
            yield f"`{key}`: no other hooks run, so an entry in your own files is not called"
    if document.get("disableAllHooks") is True:
        yield "`disableAllHooks`: no hooks run"
    features = document.get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        yield "`features.hooks` is false: no hooks run"


def _commands(value: Json) -> Iterator[str]:
    """Every command in a group, however deep."""
    if isinstance(value, dict):
        for key in ("command", "bash"):
            if isinstance(value.get(key), str):
                yield str(value[key])
        for part in value.values():
            yield from _commands(part)
    for part in value if isinstance(value, list) else ():
        yield from _commands(part)
