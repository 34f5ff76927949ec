"""What an agent's config files must contain so that it calls us, and the same files without it. Text in, text out:
nothing is written here, and an edit that would change anything else is refused."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from os.path import basename
from typing import TYPE_CHECKING

from anyhook.documents import edit
from anyhook.documents.edit import CannotEdit
from anyhook.documents.edit_toml import tables
from anyhook.documents.lines import in_lines_of, line_end
from anyhook.model.firing import Answer
from anyhook.model.json_types import Json
from anyhook.model.pattern import later
from anyhook.model.record import Record
from anyhook.programs.commands import words_of
from anyhook.programs.table import row_of
from anyhook.state.entry_places import HOME
from anyhook.tables.host_rows import Entry, Host, HostEvent
from anyhook.tables.registry import special

if TYPE_CHECKING:
    from anyhook.documents.parse import Place, Syntax

    Closed = Mapping[str, Answer]
    """The agent's own event → what it is told where we cannot be run; empty for an entry that is not closed."""

PROGRAM = "anyhook"
BEGIN = "# >>> anyhook: written by `anyhook install`, taken out by `anyhook uninstall`"
END = "# <<< anyhook"
BLOCK = later(rf"(?:\r?\n)?{re.escape(BEGIN)}\r?\n.*?{re.escape(END)}(?:\r?\n|$)", re.DOTALL)
"""With the line end before it, which we added: a last line without a line end has none again afterwards."""
INLINE = "its hooks are not written as [[hooks]] tables; rewrite them that way first"
MARK = "Written by `anyhook install"
CLOSED = "anyhook-closed"
"""The `$0` of a closed entry's shell, by which we recognise one."""


class EntryStart(Record):
    """How an entry starts us."""

    program: tuple[str, ...]
    places: tuple[str, ...] = ()
    """Options that fix whose settings and hooks count; none in a project's entry, which others share."""


def command_of(launch: EntryStart, host: Host, row: HostEvent, closed: Closed) -> str:
    """The command line that the agent runs for one event."""
    words = [*launch.program, "bridge", host.name, row.native, *launch.places]
    refusal = closed.get(row.native)
    return shlex.join(words if refusal is None else ["/bin/sh", "-c", _or_refuse(refusal, row), CLOSED, *words])


def _or_refuse(refusal: Answer, row: HostEvent) -> str:
    """A shell line that runs the command after it, and refuses if that cannot be run or exits with a status that we
    never use."""
    statuses = "|".join(str(status) for status in sorted({0, *(say.status for say in row.says.values())}))
    said = "; ".join(
        f"printf '%s\\n' {shlex.quote(text)}{where}"
        for text, where in ((refusal.stdout, ""), (refusal.stderr, " >&2"))
        if text
    )
    # Half an answer before it must not make the refusal unreadable.
    told = f'case $s in {statuses}) test -z "$o" || printf \'%s\\n\' "$o"; exit $s;; esac'
    run = f'if command -v "$1" >/dev/null 2>&1; then o=$("$@"); s=$?; {told}; fi'
    return f"{run}; cat >/dev/null 2>&1; {said}; exit {refusal.status}"


def launched(command: str) -> tuple[list[str], bool]:
    """The program and arguments with which one of our command lines starts us, and whether it is closed."""
    words = words_of(command)
    closed = words[3:4] == [CLOSED]
    words = words[4:] if closed else words
    while words and (row_of(basename(words[0])).wraps is not None or "=" in words[0]):
        words = words[1:]
    return words, closed


def event_of(command: str, host: Host) -> str:
    """The event for which one of our command lines is."""
    words = words_of(command)
    at = next((index for index in range(len(words)) if words[index : index + 2] == ["bridge", host.name]), len(words))
    return words[at + 2] if at + 2 < len(words) else ""


def fixes_places(command: str) -> bool:
    """Whether a command line, or the text of a module, fixes whose settings and hooks count."""
    return HOME in command


def is_ours(command: Json, host: Host) -> bool:
    """Whether a command line calls us for this agent, whichever launcher it names."""
    if not isinstance(command, str) or PROGRAM not in command:
        return False
    try:
        words = words_of(command)
    except ValueError:
        return False
    return any(
        words[index : index + 2] == ["bridge", host.name] and words[index - 1].rsplit("/", 1)[-1] == PROGRAM
        for index in range(1, len(words))
    )


def handlers(host: Host, entry: Entry, launch: EntryStart, closed: Closed) -> dict[str, dict[str, Json]]:
    """Our handler for each event that is hooked up."""
    return {
        row.native: _filled(
            {**entry.handler, **(entry.closed if row.native in closed else {})},
            {
                "{command}": command_of(launch, host, row, closed),
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
        if isinstance(given, dict):
            made[key] = _filled(given, values)
        elif isinstance(given, str) and given not in values:
            made[key] = given.replace("{event}", str(values["{event}"]))
    return made


def _entry_of(host: Host, entry: Entry, event: str, handler: dict[str, Json]) -> dict[str, Json]:
    """The entry in the list of an event: a group, or the handler itself."""
    if entry.style != "groups" or event in (special(host.name, "FLAT") or ()):
        return handler
    row = host.row(event)
    only: dict[str, Json] = {"matcher": "|".join(row.tools)} if row is not None and row.tools else {}
    return {**entry.group, **only, "hooks": [handler]}


# -- files that are ours alone


def own_text(host: Host, entry: Entry, launch: EntryStart, closed: Closed, row: HostEvent | None = None) -> str:
    """The text of one of our own files; with a row, the script of that event."""
    if entry.style == "scripts" and row is not None:
        return f"#!/bin/sh\n# {MARK} {host.name}`.\nexec {command_of(launch, host, row, closed)}\n"
    if entry.style == "module":
        seconds = max(event.limit_s for event in host.events)
        filled = {"launcher": list(launch.program), "places": list(launch.places), "seconds": int(seconds)}
        text = entry.module
        for name, value in {**filled, "closed": bool(closed)}.items():
            text = text.replace(f"{{{name}}}", json.dumps(value))
        return text
    made = handlers(host, entry, launch, closed)
    hooks: Json = {event: [_entry_of(host, entry, event, handler)] for event, handler in made.items()}
    if entry.style == "rows":
        hooks = list(made.values())
    for key in reversed(entry.under):
        hooks = {key: hooks}
    return json.dumps({**entry.top, **(hooks if isinstance(hooks, dict) else {})}, indent=2, ensure_ascii=False) + "\n"


def is_own_text(text: str, host: Host) -> bool:
    """Whether a file at the path of our file is ours."""
    if MARK in text:
        return True
    try:
        found = edit.read(text, "json")
    except CannotEdit:
        return False
    return isinstance(found, dict) and (_calls(found, host) or found.get("name") == PROGRAM)


def _calls(value: Json, host: Host) -> bool:
    if isinstance(value, dict):
        return any(_calls(item, host) for item in value.values())
    return any(_calls(item, host) for item in value) if isinstance(value, list) else is_ours(value, host)


# -- files that belong to the agent and its user


def with_ours(text: str, host: Host, entry: Entry, launch: EntryStart, closed: Closed) -> str:
    """The text with our handlers, each exactly once and up to date."""
    made = handlers(host, entry, launch, closed)
    if entry.style == "tables":
        return _with_block(text, host, list(made.values()))
    syntax, kept = entry_syntax(entry, text), others(text, host, entry)
    if syntax == "yaml" and text.strip() == "{}":
        text = ""  # the rest of a file that contained only our entry
    if edit.is_blank(text) and entry.top:
        text, kept = json.dumps(entry.top, indent=2) + "\n", dict(entry.top)
    for event, handler in made.items():
        text = _with_entry(text, host, syntax, (*entry.under, event), _entry_of(host, entry, event, handler))
    for event in _events(text, entry):
        if event not in made:
            text = _without(text, host, syntax, (*entry.under, event))
    return _checked(text, host, entry, kept)


def without_ours(text: str, host: Host, entry: Entry) -> str:
    """The text without our handlers, and without containers that had only them."""
    if entry.style == "tables":
        return _without_block(text, host)
    if edit.is_blank(text):
        return text
    syntax, kept = entry_syntax(entry, text), others(text, host, entry)
    found = text
    for event in _events(text, entry):
        place = (*entry.under, event)
        left = _without(text, host, syntax, place)
        if left != text and _value(left, syntax, place) == []:
            left = edit.remove(left, syntax, place)
        text = left
    for depth in range(len(entry.under), 0, -1):
        if text != found and _value(text, syntax, entry.under[:depth]) == {}:
            text = edit.remove(text, syntax, entry.under[:depth])
    return _checked(text, host, entry, kept)


def entry_syntax(entry: Entry, text: str) -> Syntax:
    """The syntax of an entry's file. JSON is YAML too, and some write it into a file of YAML."""
    is_yaml = next(iter(entry.files.values())).endswith((".yaml", ".yml"))
    return "yaml" if is_yaml and (text.strip() == "{}" or not _is_json(text)) else "json"


def cannot_edit(path: str, host: Host, why: CannotEdit) -> str:
    """What people are told about a config that has to stay as it is."""
    fix = "Write it in the usual layout, one key per line, and correct it where it is not valid"
    again = f"then run: anyhook install {host.name}"
    return f"{path} is left alone: {why}. So {host.title} is not guarded. {fix}; {again}"


def _is_json(text: str) -> bool:
    try:
        return text.lstrip().startswith("{") and isinstance(edit.read(text, "json"), dict)
    except CannotEdit:
        return False


def others(text: str, host: Host, entry: Entry) -> Json:
    """Everything in a file that is not ours, to check that an edit leaves it alone. Empty lists of hooks are
    ignored."""
    value = {} if edit.is_blank(text) else edit.read(text, entry_syntax(entry, text))
    return _others(value, host, entry.under)


def _others(value: Json, host: Host, under: tuple[str, ...]) -> Json:
    if not isinstance(value, dict):
        return value
    left: dict[str, Json] = dict(value)
    if under:
        inner = left.pop(under[0], None)
        found = _others(inner, host, under[1:])
        return {**left, under[0]: found} if found not in (None, {}) else left
    for event, groups in value.items():
        kept = [group for group in groups if not _is_ours_alone(group, host)] if isinstance(groups, list) else groups
        left[event] = [_without_handlers(group, host) for group in kept] if isinstance(kept, list) else kept
        if left[event] == []:
            del left[event]
    return left


def _value(text: str, syntax: Syntax, place: Place) -> Json:
    return edit.at(edit.read(text, syntax), place)


def _events(text: str, entry: Entry) -> list[str]:
    hooks = None if edit.is_blank(text) else _value(text, entry_syntax(entry, text), entry.under)
    return [event for event, groups in hooks.items() if isinstance(groups, list)] if isinstance(hooks, dict) else []


def _handlers_of(group: Json) -> list[Json]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def is_our_handler(handler: Json, host: Host) -> bool:
    return isinstance(handler, dict) and any(is_ours(value, host) for value in handler.values())


def _is_ours_alone(group: Json, host: Host) -> bool:
    found = _handlers_of(group) or [group]
    return bool(found) and all(is_our_handler(handler, host) for handler in found)


def _without_handlers(group: Json, host: Host) -> Json:
    if not isinstance(group, dict) or not any(is_our_handler(handler, host) for handler in _handlers_of(group)):
        return group
    return {**group, "hooks": [handler for handler in _handlers_of(group) if not is_our_handler(handler, host)]}


def _with_entry(text: str, host: Host, syntax: Syntax, place: Place, group: dict[str, Json]) -> str:
    groups = None if edit.is_blank(text) else _value(text, syntax, place)
    listed = groups if isinstance(groups, list) else []
    mine = [index for index, found in enumerate(listed) if _is_ours_alone(found, host)]
    if not mine:
        return edit.append(text, syntax, place, group)
    if listed[mine[0]] != group:
        text = edit.put(text, syntax, (*place, mine[0]), group)
    for index in reversed(mine[1:]):
        text = edit.remove(text, syntax, (*place, index))
    return text


def _without(text: str, host: Host, syntax: Syntax, place: Place) -> str:
    groups = _value(text, syntax, place)
    found = groups if isinstance(groups, list) else []
    for index in reversed(range(len(found))):
        if _is_ours_alone(found[index], host):
            text = edit.remove(text, syntax, (*place, index))
            continue
        mine = _handlers_of(found[index])
        for number in reversed(range(len(mine))):
            if is_our_handler(mine[number], host):
                text = edit.remove(text, syntax, (*place, index, "hooks", number))
    return text


def _checked(text: str, host: Host, entry: Entry, kept: Json) -> str:
    """The text, if nothing but our own entries is different in it."""
    if others(text, host, entry) != kept:
        raise CannotEdit("its layout is too unusual to be edited without harm; add the entries by hand")
    return text


# -- TOML: our tables are between two comments


def _with_block(text: str, host: Host, hooks: Sequence[Json]) -> str:
    """The text with our block, at the end or where it was."""
    end, kept = line_end(text), _other_tables(text, host)
    block = in_lines_of(text, f"{BEGIN}\n{tables(('hooks',), list(hooks))}{END}\n")
    before, after = _around_block(text, host)
    return _checked_tables(before + (end if before or after else "") + block + after, host, kept)


def _without_block(text: str, host: Host) -> str:
    """The text without our block, and without our tables whose block is gone."""
    before, after = _around_block(text, host)
    glue = line_end(text) if after and before and not before.endswith("\n") else ""
    made = before + glue + after
    return text if made == text else _checked_tables(made, host, _other_tables(text, host))


def _around_block(text: str, host: Host) -> tuple[str, str]:
    """What is before our block, and what is after it, without stray tables: an agent that rewrites its config
    drops the comments."""
    found = BLOCK.search(text)
    before, after = (text[: found.start()], text[found.end() :]) if found is not None else (text, "")
    return _without_tables(before, host), _without_tables(after, host)


def _without_tables(text: str, host: Host) -> str:
    try:
        hooks = edit.at(edit.read(text, "toml"), ("hooks",))
    except CannotEdit:
        return text  # then the whole text is not valid either, and that is reported
    listed = hooks if isinstance(hooks, list) else []
    for index in reversed(range(len(listed))):
        if is_our_handler(listed[index], host):
            text = edit.remove(text, "toml", ("hooks", index))
    return text


def _checked_tables(text: str, host: Host, kept: Json) -> str:
    """The text, if nothing but our own tables is different in it."""
    try:
        same = _other_tables(text, host) == kept
    except CannotEdit:
        same = False
    if not same:
        raise CannotEdit(INLINE)
    return text


def _other_tables(text: str, host: Host) -> Json:
    document = edit.read(text, "toml")
    found = edit.at(document, ("hooks",)) or []
    hooks = found if isinstance(found, list) else [found]
    others = [hook for hook in hooks if not is_our_handler(hook, host)]
    return {**(document if isinstance(document, dict) else {}), "hooks": others}
