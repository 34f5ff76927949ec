"""Codex's own record of which hooks its user has approved: `[hooks.state]` in its `config.toml`. A hook is kept by its
file, event and place, and approved by the hash of what it is. Measured with 0.166.0, 2026-11: `hooks/list` of
`codex app-server`, and what its own review wrote."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from anyhook.documents import edit
from anyhook.documents.read import MAX_FOREIGN_BYTES, Unreadable, read_bytes
from anyhook.model.json_types import Json
from anyhook.tables.cells import snake_case

if TYPE_CHECKING:
    from anyhook.tables.host_rows import Approval

USUAL_LIMIT_S = 600


def approvals(
    roots: Mapping[str, str], path: str, document: Json, ours: Callable[[Json], bool]
) -> dict[str, Approval] | None:
    """What the record says about our handler for each event; None if it cannot be read."""
    state = _state(f"{roots['config']}/config.toml")
    if state is None:
        return None
    found: dict[str, Approval] = {}
    for event, place, group, handler in _handlers(document):
        if ours(handler):
            label = snake_case(event)
            kept = state.get(f"{os.path.realpath(path)}:{label}:{place}")
            word = _word(kept, hash_of(label, group, handler))
            found[event] = word if found.get(event) != "given" else "given"
    return found


def _word(kept: Json, now: str) -> Approval:
    if not isinstance(kept, dict):
        return "missing"
    if kept.get("enabled") is False:
        return "off"
    approved = kept.get("trusted_hash")
    return "given" if approved == now else "missing" if approved is None else "changed"


def hash_of(label: str, group: Mapping[str, Json], handler: Mapping[str, Json]) -> str:
    """The hash of a command hook: its event, matcher and handler as JSON with sorted keys, defaults filled in."""
    whole: dict[str, Json] = {"async": False, "timeout": USUAL_LIMIT_S, **handler}
    value: dict[str, Json] = {"event_name": label, "hooks": [whole]}
    if isinstance(group.get("matcher"), str):
        value["matcher"] = group["matcher"]
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _handlers(document: Json) -> Iterator[tuple[str, str, dict[str, Json], dict[str, Json]]]:
    """Event, place (`GROUP:HANDLER`), group and handler."""
    hooks = edit.at(document, ("hooks",))
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(group, dict) and isinstance(handler, dict):
                    yield event, f"{number}:{index}", group, handler


def _state(path: str) -> dict[str, Json] | None:
    """The record by hook, with the paths of files resolved; {} if there is none yet."""
    try:
        document = edit.read(read_bytes(path, MAX_FOREIGN_BYTES).decode(), "toml")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, Unreadable, edit.CannotEdit):
        return None
    found = edit.at(document, ("hooks", "state"))
    made: dict[str, Json] = {}
    for key, kept in found.items() if isinstance(found, dict) else ():
        file, *place = key.rsplit(":", 3)
        made[":".join((os.path.realpath(file), *place))] = kept
    return made


APPROVALS = approvals
