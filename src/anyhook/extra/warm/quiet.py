"""Tables of calls that reach no hook, for the native launcher, which then answers them without Python. A table lists
everything that this depends on: the arguments, variables and namespaces of the call, the server, the project, and the
stamps and contents of every file that the plan depends on. `native/quiet.c` checks each of them again, and in doubt
makes an ordinary call."""

from __future__ import annotations

import os
from time import time_ns

from anyhook.documents.managed import PLACE
from anyhook.engine.bridge import ABOUT_CALLS, KEEPING, named, read
from anyhook.engine.express import completed
from anyhook.engine.receive import project_of
from anyhook.extra.warm.likeness import KNOWN
from anyhook.extra.warm.place import READ_AT_START, READ_BY_NAME, checksum
from anyhook.guard.guard import CHANGERS, LOOKERS, READERS, REMOVERS, SPECIAL, telling
from anyhook.model.firing import NO_OPINION
from anyhook.model.lean_json import digest
from anyhook.model.words import RECORD
from anyhook.platform.places import (
    INSTALLS,
    config_file,
    make_private_dir,
    open_regular,
    read_object,
    replace_file,
    stamp,
    state_dir,
)
from anyhook.state.plans import SETTLED_NS, Setup, first_missing, read_plan
from anyhook.state.refused import KIND as REFUSED
from anyhook.tables.host_rows import opening
from anyhook.tables.registry import VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anyhook.platform.places import Stamp
    from anyhook.state.plans import CatalogPlan
    from anyhook.tables.host_rows import Host, HostEvent, Taken

    Entry = tuple[str, str | bytes]

FOLDER = "quiet"
UNKNOWN_PLACE = "\n"
"""A path that no payload has."""
MAX_READ = 1 << 22
"""No table is written if it depends on larger files: the launcher would read them at every call."""
MAX_TABLES = 1000
"""If there are more, all are deleted: projects come and go."""


def table_path(socket: str, agent: str, native: str) -> str:
    """The path of a call's table, for this process's current folder."""
    folder, _, name = socket.rpartition("/")
    key = checksum("".join([f"{word}\0" for word in (agent, native, os.getcwd())]))
    return f"{folder}/{FOLDER}/{name}-{key}"


def delete_tables(socket: str) -> None:
    """Delete all tables of one server."""
    folder, _, name = socket.rpartition("/")
    for entry in _listed(f"{folder}/{FOLDER}"):
        if entry.startswith(f"{name}-"):
            try:
                os.unlink(f"{folder}/{FOLDER}/{entry}")
            except OSError:
                continue  # another process was faster


def keep_tables(socket: str, words: Sequence[str], payload: bytes, env: Mapping[bytes, bytes]) -> None:
    """After a call that reached no hook and was answered in the ordinary way: write its table, and those of the agent's
    other events that reach no hook. `words` are the agent, the event and the entry's options, `env` is the caller's
    environment."""
    agent, native, *options = words
    host, row = named(agent, native)
    incoming = read(host, row, payload, 0.0, os.environ)
    if incoming.table is not host or incoming.doubts:
        return  # another agent is calling, or an unknown one
    setup = Setup.of(project_of(host, incoming.payload, os.environ), dict(os.environ))
    plan = read_plan(setup)
    if plan is None:
        return
    folder = f"{os.path.dirname(socket)}/{FOLDER}"
    make_private_dir(folder)
    if len(_listed(folder)) > MAX_TABLES:
        delete_tables(socket)
    fixed = "".join([f"{word}\n" for word in options])
    call = [("W", agent), ("Q", fixed), ("S", _shown(stamp(socket)) or "gone"), *_caller(host, setup, env)]
    held, refused_folder = _contents(plan), f"{state_dir(setup.env)}/{REFUSED}"
    if held is None:
        return
    disk = [*_disk(setup, plan), *held]
    protection = [*_self_protection(host, setup, plan)]
    for each in host.events:
        if not plan.is_quiet(*each.canonical, opens=opening(host) in each.canonical) or _is_counted(plan, each):
            continue
        entries: list[Entry] = [("E", each.native), *call]
        if {*each.canonical} & {*ABOUT_CALLS}:  # after a refusal, the session's calls are compared with it
            folder_seen = stamp(refused_folder)
            if folder_seen is not None and time_ns() - max(folder_seen[0], folder_seen[1]) < SETTLED_NS:
                continue
            entries += _files({refused_folder: folder_seen})
        if "pre_tool" in each.canonical:
            if not protection:
                continue
            entries += [("t", _plain_path(host, each, "tool")), ("i", _plain_path(host, each, "input")), *protection]
        elif _takes(host, each, "input"):
            entries.append(("i", _plain_path(host, each, "input")))
        answer = completed(NO_OPINION, each.silence).stdout if each.silence is not None else ""
        _write(table_path(socket, agent, each.native), [*entries, *disk, ("A", f"{answer}\n" if answer else "")])


def _caller(host: Host, setup: Setup, env: Mapping[bytes, bytes]) -> Iterator[Entry]:
    """Where the call comes from: namespaces, variables, project."""
    yield from [("N", f"{name}={os.readlink(f'/proc/self/ns/{name}')}") for name in KNOWN]
    root = os.stat("/")
    yield "/", f"{root.st_dev} {root.st_ino}"
    yield from _variables(host, env)
    yield from [("p", name) for name in host.project_variables]
    yield from [("P", path) for path in host.project]
    yield from [pair for key, own in host.lent for pair in (("y", key), ("o", own))]
    yield from (("R", setup.project), ("O", setup.outer))


def _disk(setup: Setup, plan: CatalogPlan) -> Iterator[Entry]:
    """Every file that the plan depends on."""
    yield from _files({**plan.checks, PLACE: stamp(PLACE)})
    for folder in (state_dir(setup.env), os.path.dirname(config_file(setup.env))):
        if os.path.exists(folder):
            yield from (("L", folder), ("l", os.path.realpath(folder)))
        else:
            yield from _files({first_missing(folder): None})


def _contents(plan: CatalogPlan) -> list[Entry] | None:
    """What the files held that the plan was made from; None if one is too large, or has changed. (A folder's stamp
    changes with its names.)"""
    found: list[Entry] = []
    for path, seen in plan.contents.items():
        if os.path.isdir(path):
            continue
        try:
            with open_regular(path, MAX_READ) as file:
                data = file.read(MAX_READ + 1)
        except OSError:
            return None
        if len(data) > MAX_READ or digest(data) != seen:
            return None
        found += [("H", path), ("h", content_checksum(data))]
    return found


def content_checksum(data: bytes) -> str:
    """The checksum that the launcher computes again."""
    sum_ = 0xCBF29CE484222325
    for word in memoryview(data + bytes(-len(data) % 8)).cast("Q"):
        sum_ = ((sum_ ^ word) * 0x100000001B3) & 0xFFFF_FFFF_FFFF_FFFF
    return f"{((sum_ ^ len(data)) * 0x100000001B3) & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def _is_counted(plan: CatalogPlan, row: HostEvent) -> bool:
    """Whether the event is part of a turn in which blocks are counted: the turn must be noted before the next call."""
    return not plan.events.keys().isdisjoint(KEEPING) and bool({"user_prompt_submit", *KEEPING} & {*row.canonical})


def _self_protection(host: Host, setup: Setup, plan: CatalogPlan) -> Iterator[Entry]:
    """How the launcher recognises a tool call that self-protection allows: a tool that only reads, an input that cannot
    name a protected file, or a command that only reads. Nothing if the list of installed entries may be written again
    without a new stamp."""
    index = f"{state_dir(setup.env)}/{INSTALLS}"
    seen = stamp(index)
    if seen is not None and time_ns() - max(seen[0], seen[1]) < SETTLED_NS:
        return
    yield from _files({index: seen})
    names, held = telling(setup.env, setup.project, (*plan.stamps, *(read_object(index) or ())), host)
    for name, tool in host.tools.items():
        if tool.split is not None:
            yield "s", name
        elif tool.ours in READERS:
            yield "r", name
    yield from [("c", word) for word in sorted(CHANGERS)]
    yield from [("k", word) for word in sorted(LOOKERS)]
    yield from [("m", word) for word in sorted(REMOVERS)]
    yield from [("g", sign) for sign in SPECIAL]
    yield from [("n", "" if "\n" in name else name) for name in sorted(names)]  # "" is in every text
    yield from [("h", path) for path in dict.fromkeys(held)]


def _takes(host: Host, row: HostEvent, field: str) -> list[Taken]:
    """Where a field of the event comes from, unless it is the same for every call."""
    return [each for each in (*host.base, *row.takes) if each.field == field and field not in row.fixed]


def _plain_path(host: Host, row: HostEvent, field: str) -> str:
    """The one place in the payload that a field is copied from. If there is none, a key that no payload has: the
    launcher then leaves every call to Python."""
    taken = _takes(host, row, field)
    plain = len(taken) == 1 and len(taken[0].paths) == 1 and taken[0].make is None
    return taken[0].paths[0] if plain else UNKNOWN_PLACE


def _variables(host: Host, env: Mapping[bytes, bytes]) -> Iterator[Entry]:
    names = {os.fsencode(name) for name in (*VARIABLES, *host.project_variables, RECORD)} | {*READ_BY_NAME}
    for prefix in map(str.encode, READ_AT_START):
        found = {name for name in env if name.startswith(prefix)}
        names |= found
        yield "X", b"%b=%d" % (prefix, len(found))
    for name in sorted(names):
        yield ("V", b"%b=%b" % (name, env[name])) if name in env else ("U", name)


def _files(stamps: Mapping[str, Stamp | None]) -> Iterator[Entry]:
    for path, seen in stamps.items():
        yield from (("F", path), ("f", _shown(seen)))


def _shown(seen: Stamp | None) -> str:
    return " ".join(map(str, seen)) if seen is not None else ""


def _write(path: str, entries: Iterable[Entry]) -> None:
    texts = [letter.encode() + (os.fsencode(text) if isinstance(text, str) else text) for letter, text in entries]
    data = b"".join([text + b"\0" for text in texts])
    if data.count(b"\0") != len(texts):
        return  # a path with a NUL cannot be written into a table
    try:
        with open_regular(path) as file:
            if file.read() == data:
                return
    except OSError:
        pass
    replace_file(path, data)


def _listed(folder: str) -> Sequence[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()
