"""What an agent's config files have to hold for it to call us, and the same files without it. Texts in, texts out:
nothing is written here, and an edit that would change anything else is refused."""

from __future__ import annotations

import json
import math
import shlex

from anyhook.documents import json_text, toml_text
from anyhook.documents.toml_text import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Entry, Host, HostEvent

PROGRAM = "anyhook"
MARK = "Written by `anyhook install"


def command_of(launcher: Sequence[str], host: Host, row: HostEvent) -> str:
    """The command line that the agent runs for one event."""
    return shlex.join([*launcher, "bridge", host.name, row.native])


def is_ours(command: Json, host: Host) -> bool:
    """Whether a command line calls us for this agent, whichever launcher it names."""
    if not isinstance(command, str) or PROGRAM not in command:
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return any(
        words[index : index + 2] == ["bridge", host.name] and words[index - 1].rsplit("/", 1)[-1] == PROGRAM
        for index in range(1, len(words))
    )


def handlers(host: Host, entry: Entry, launcher: Sequence[str]) -> dict[str, dict[str, Json]]:
    """Our handler for each event that is hooked up."""
    return {
        row.native: _filled(
            entry.handler,
            {
                "{command}": command_of(launcher, host, row),
                "{seconds}": math.ceil(row.limit_s),
                "{milliseconds}": int(row.limit_s * 1000),
                "{event}": row.native,
            },
        )
        for row in host.events
        if row.installed
    }


def _filled(template: Mapping[str, Json], values: Mapping[str, Json]) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for key, given in template.items():
        made[key] = values[given] if isinstance(given, str) and given in values else given
        if isinstance(given, str) and given not in values:
            made[key] = given.replace("{event}", str(values["{event}"]))
    return made


# -- files that are ours alone


def own_text(host: Host, entry: Entry, launcher: Sequence[str], row: HostEvent | None = None) -> str:
    """The whole text of a file of our own; of one event's script where a row is given."""
    if entry.style == "scripts" and row is not None:
        return f"#!/bin/sh\n# {MARK} {host.name}`.\nexec {command_of(launcher, host, row)}\n"
    if entry.style == "module":
        seconds = max(event.limit_s for event in host.events)
        return entry.module.replace("{launcher}", json.dumps(list(launcher))).replace("{seconds}", str(int(seconds)))
    made = handlers(host, entry, launcher)
    hooks: dict[str, Json] = {
        event: [{**entry.group, "hooks": [handler]}] if entry.style == "groups" else [handler]
        for event, handler in made.items()
    }
    return json.dumps({**entry.top, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"


def is_own_text(text: str, host: Host) -> bool:
    """Whether a file that stands in the place of one of ours is one."""
    if MARK in text:
        return True
    try:
        found = json_text.scan(text).value
    except json_text.Malformed:
        return False
    return isinstance(found, dict) and (_calls(found, host) or found.get("name") == PROGRAM)


def _calls(value: Json, host: Host) -> bool:
    if isinstance(value, dict):
        return any(_calls(item, host) for item in value.values())
    return any(_calls(item, host) for item in value) if isinstance(value, list) else is_ours(value, host)


# -- files that belong to the agent and its user


def with_ours(text: str, host: Host, entry: Entry, launcher: Sequence[str]) -> str:
    """The text with our handlers, each exactly once and as they have to be."""
    made = handlers(host, entry, launcher)
    if entry.style == "tables":
        return toml_text.with_block(text, list(made.values()), lambda command: is_ours(command, host))
    kept = others(text, host)
    text = text if text.strip() else "{}\n"
    if not isinstance(_scanned(text).value, dict):
        raise Refused("it holds no JSON object")
    if json_text.scan(text).at(("hooks",)) is None:
        text = json_text.added(text, (), "hooks", {})
    for event, handler in made.items():
        text = _with_handler(text, host, event, {**entry.group, "hooks": [handler]})
    for event in _events(text):
        if event not in made:
            text = _without(text, host, event)
    return _checked(text, host, kept)


def without_ours(text: str, host: Host, entry: Entry) -> str:
    """The text without our handlers, and without what held nothing but them."""
    if entry.style == "tables":
        return toml_text.without_block(text, lambda command: is_ours(command, host))
    if not text.strip():
        return text
    kept = others(text, host)
    found = text
    for event in _events(text):
        left = _without(text, host, event)
        if left != text and _value(left, ("hooks", event)) == []:
            left = json_text.removed(left, ("hooks", event))
        text = left
    if text != found and _value(text, ("hooks",)) == {}:
        text = json_text.removed(text, ("hooks",))
    return _checked(text, host, kept)


def others(text: str, host: Host) -> Json:
    """Everything in a file that is not ours, to see that an edit leaves it alone. An empty list of hooks says nothing,
    so it may come and go."""
    if not text.strip():
        return {}
    value = _scanned(text).value
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(hooks, dict):
        return value
    left: dict[str, Json] = {}
    for event, groups in hooks.items():
        kept = [group for group in groups if not _is_ours_alone(group, host)] if isinstance(groups, list) else groups
        kept = [_without_handlers(group, host) for group in kept] if isinstance(kept, list) else kept
        if kept != []:
            left[event] = kept
    return {**value, "hooks": left} if left else {key: item for key, item in value.items() if key != "hooks"}


def _scanned(text: str) -> json_text.Node:
    try:
        return json_text.scan(text)
    except json_text.Malformed as error:
        raise Refused(f"line {error.line}: it is no JSON ({error.what})") from None


def _value(text: str, path: json_text.Path) -> Json:
    node = json_text.scan(text).at(path)
    return None if node is None else node.value


def _events(text: str) -> list[str]:
    node = _scanned(text).at(("hooks",)) if text.strip() else None
    return [str(key) for key, child, _ in node.items if isinstance(child.value, list)] if node is not None else []


def _handlers_of(group: Json) -> list[Json]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _is_our_handler(handler: Json, host: Host) -> bool:
    return isinstance(handler, dict) and is_ours(handler.get("command"), host)


def _is_ours_alone(group: Json, host: Host) -> bool:
    found = _handlers_of(group)
    return bool(found) and all(_is_our_handler(handler, host) for handler in found)


def _without_handlers(group: Json, host: Host) -> Json:
    if not isinstance(group, dict) or not any(_is_our_handler(handler, host) for handler in _handlers_of(group)):
        return group
    return {**group, "hooks": [handler for handler in _handlers_of(group) if not _is_our_handler(handler, host)]}


def _with_handler(text: str, host: Host, event: str, group: dict[str, Json]) -> str:
    node = json_text.scan(text).at(("hooks", event))
    if node is None:
        return json_text.added(text, ("hooks",), event, [group])
    if not isinstance(node.value, list):
        raise Refused(f"`hooks.{event}` is no list")
    mine = [index for index, found in enumerate(node.value) if _is_ours_alone(found, host)]
    if not mine:
        return json_text.added(text, ("hooks", event), None, group)
    if node.value[mine[0]] != group:
        text = json_text.replaced(text, ("hooks", event, mine[0]), group)
    for index in reversed(mine[1:]):
        text = json_text.removed(text, ("hooks", event, index))
    return text


def _without(text: str, host: Host, event: str) -> str:
    groups = json_text.scan(text).at(("hooks", event))
    found = groups.value if groups is not None and isinstance(groups.value, list) else []
    for index in reversed(range(len(found))):
        if _is_ours_alone(found[index], host):
            text = json_text.removed(text, ("hooks", event, index))
            continue
        mine = _handlers_of(found[index])
        for place in reversed(range(len(mine))):
            if _is_our_handler(mine[place], host):
                text = json_text.removed(text, ("hooks", event, index, "hooks", place))
    return text


def _checked(text: str, host: Host, kept: Json) -> str:
    """The text, if nothing but our own entries is different in it."""
    if others(text, host) != kept:
        raise Refused("its layout is too unusual to be edited without harm; add the entries by hand")
    return text
