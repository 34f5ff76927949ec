"""Who calls `anyhook get`, `deny`, `ask` or `context`: the hook's dialect, its event and its payload. The engine sets
the first two as variables. If an agent runs the hook itself, or its dialect does not allow our variables, the payload
tells. Standard input is put back for the next reader, or kept in a private file for a while."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Mapping

import click

from anyhook.cli import BLOCKED, DONE, FINDINGS, BadCall, render
from anyhook.cli.options import Options
from anyhook.cli.verbs import verb
from anyhook.engine.present import payload
from anyhook.engine.receive import receive
from anyhook.model import lean_json
from anyhook.model.event import FIELDS, Event
from anyhook.model.json_types import Json
from anyhook.model.outcome import ASK, BLOCK
from anyhook.model.record import Record
from anyhook.model.words import HOOK_DIALECT, HOOK_EVENT, RUN_VARIABLE
from anyhook.platform.pipes import put_back
from anyhook.platform.places import NoPlace, home_of, private_dir, state_dir
from anyhook.platform.store import Store
from anyhook.programs.facts import Facts
from anyhook.rules.calls import LINES, PATHS, facts_of
from anyhook.tables import spoken
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host
from anyhook.tables.rows import Dialect, EventRow, Scene
from anyhook.tables.shapes import guess
from anyhook.tables.spoken import Spoken
from anyhook.tables.translate import restored

MAX_PAYLOAD = 50_000_000
WAIT_S = 2.0
MARK = "‹{}›"


class CallingHook(Record):
    """The hook that calls us."""

    dialect: Dialect
    row: EventRow
    payload: dict[str, Json]
    """The payload it got; {} if something has already read it."""

    @property
    def canonical(self) -> str:
        return self.row.canonical[0] if self.row.canonical else self.row.native

    def canonical_fields(self) -> dict[str, Json]:
        """The canonical fields in the payload, with our own names."""
        found = self._received()
        for path, mark in _marked(self.dialect, self.row).items():
            value = _at(self.payload, path)
            if isinstance(mark, str) and mark[:1] == MARK[0] and value is not None:
                found.setdefault(mark.strip("‹›"), value)
        given, tool = found.get("input"), found.get("tool")
        rows = self.dialect.tools.values()
        known = next((row for row in rows if tool in (row.native, *row.also)), None)
        if known is not None and isinstance(given, dict):
            found["input"] = restored(given, known.inputs)
        return found

    def _received(self) -> dict[str, Json]:
        """The same, read with the agent's own table if it is a host."""
        table = host(self.dialect.name) if self.dialect.name in HOSTS else None
        row = table.row(self.row.native) if table is not None else None
        if table is None or row is None:
            return {}
        events = receive(table, row, self.payload, b"").events
        return {**events[0].data} if len(events) == 1 else {}


def calling_hook(env: Mapping[str, str], *, needs_payload: bool = False) -> CallingHook | None:
    """The hook that this process was started in, or None. Reads standard input if the variables are not enough."""
    named = env.get(HOOK_DIALECT, "")
    table = dialect(named) if named in DIALECTS else None
    row = table.row(env.get(HOOK_EVENT, "")) if table is not None else None
    given = _stdin(env) if needs_payload or row is None else {}
    if table is not None and row is not None:
        return CallingHook(table, row, given)
    return _by_payload(given) if given else None


def _by_payload(given: dict[str, Json]) -> CallingHook | None:
    """The dialect and the event that explain most keys of the payload; the first if there are several."""
    best: CallingHook | None = None
    most = 0
    for name in DIALECTS:
        table = dialect(name)
        for row in table.events:
            known = _fits(table, row, given) if "command" in table.replies else 0
            if known > most:
                best, most = CallingHook(table, row, given), known
    return best


def _fits(table: Dialect, row: EventRow, given: dict[str, Json]) -> int:
    """How many keys of the payload the event explains; 0 if it cannot be this event: a required key is missing, or no
    key names the event."""
    leaves = _marked(table, row)
    needed = {field.key for field in (*table.base, *row.payload) if not field.optional}
    names_it = any(value == row.native and _at(given, path) == value for path, value in leaves.items())
    return len(needed) if names_it and needed <= set(given) else 0


def _marked(table: Dialect, row: EventRow) -> dict[tuple[str, ...], Json]:
    """A map of this event's payload: where each canonical field is, found by filling it with its own marked name."""
    data: dict[str, Json] = {name: MARK.format(name) for name in FIELDS}
    canonical = row.canonical[0] if row.canonical else row.native
    scene = Scene(Event(canonical, data), row.native, MARK.format("project"), MARK.format("session"), {}, {})
    try:
        return _leaves(payload(table, row, scene))
    except Exception:  # noqa: BLE001 (a cell that takes a field apart is not one that can be found again)
        plain = {name: MARK.format(name) if empty == "" else empty for name, empty in FIELDS.items()}
        return _leaves(payload(table, row, scene.replace(event=Event(canonical, plain))))


def _leaves(value: Json, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Json]:
    if isinstance(value, dict) and value:
        return {leaf: item for key, inner in value.items() for leaf, item in _leaves(inner, (*path, key)).items()}
    return {path: value} if path else {}


def _at(value: Json, path: tuple[str, ...]) -> Json:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _stdin(env: Mapping[str, str]) -> dict[str, Json]:
    """The payload on standard input, or {}. It can be read again afterwards: by others too if the pipe can hold it, and
    by us in any case, from a private file."""
    try:
        seen = os.fstat(0)
        if stat.S_ISREG(seen.st_mode):
            data = _of_file()
        elif stat.S_ISFIFO(seen.st_mode) or stat.S_ISSOCK(seen.st_mode):
            data = _of_pipe(seen, env)
        else:
            return {}  # a terminal, or nothing
        found = lean_json.loads(data.decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_file() -> bytes:
    """What is left of a file; all of it if nothing is left. The next reader begins where this one did."""
    begun = os.lseek(0, 0, os.SEEK_CUR)
    data = _read_all(None)
    if not data:
        os.lseek(0, 0, os.SEEK_SET)
        data = _read_all(None)
    os.lseek(0, begun, os.SEEK_SET)
    return data


def _of_pipe(seen: os.stat_result, env: Mapping[str, str]) -> bytes:
    """What a pipe holds, or what an earlier call has read from the same pipe."""
    try:
        folder = private_dir(env)
    except NoPlace:
        folder = state_dir(env)
    store = Store(folder, "payloads")
    key = f"{seen.st_dev} {seen.st_ino} {os.getsid(0) if hasattr(os, 'getsid') else 0} {env.get(RUN_VARIABLE, '')}"
    kept = store.read(key)
    data = _read_all(WAIT_S if kept else None)
    if not data:
        return kept or b""
    if not (stat.S_ISFIFO(seen.st_mode) and put_back(data)):
        store.write(key, data)
    return data


def _read_all(first_s: float | None) -> bytes:
    """Everything up to the end, or up to the end of an object in a pipe that stays open. The first bytes may take
    `first_s` seconds. None has no limit: a guard that found no call would let it pass, and hooks have limits."""
    pieces = bytearray()
    while len(pieces) < MAX_PAYLOAD:
        if not select.select([0], [], [], WAIT_S if pieces else first_s)[0]:
            if pieces and not pieces.rstrip().endswith(b"}"):
                continue
            break
        piece = os.read(0, 1 << 20)
        if not piece:
            break
        pieces += piece
    return bytes(pieces)


# `anyhook get`, `deny`, `ask` and `context`: for hooks that are shell scripts. They read the payload and print the
# answer in the format of the dialect and event that called the hook.


FACTS = tuple(Facts().as_json())

OWN = ("event", "dialect", "project", "command", "path")

KNOWN = (*OWN, *FACTS, *FIELDS)

NO_HOOK = "no hook that anyhook knows called this. It is for scripts that are hooks of an agent: see docs/rules.md."


class AnswerOptions(Options):
    """Only the options that all verbs have."""


@verb("get", AnswerOptions, "command=$(anyhook get command)", [click.Argument(["fields"], nargs=-1, required=True)])
def get(fields: tuple[str, ...], _options: AnswerOptions) -> int:
    """In a hook: print what the call is about, a line for each field: command, path, tool, prompt, session, event, or
    what it does: runs, reads, writes, deletes, connects. `input.NAME` is a field of the tool's input. Every field has
    the same name in every dialect. It can be called again, and other programs can read standard input after it, if a
    pipe can hold the payload (64 KiB, on Linux 1 MiB).

    \b
    Exit status: 0 printed, 1 the call has no such field, 3 not called in a hook.
    """
    hook = calling_hook(os.environ, needs_payload=True)
    if hook is None:
        raise BadCall(NO_HOOK)
    if not hook.payload:
        raise BadCall("the payload on standard input has been read already. Call `anyhook get` before, or pipe it in.")
    status = DONE
    for field in fields:
        found = _value(hook, field)
        if found in (None, "", [], {}):
            status = FINDINGS
            if field not in KNOWN and not field.startswith("input."):
                render.say(f"anyhook get: there is no field `{field}`.{guess(field, KNOWN)} Known: {', '.join(KNOWN)}.")
        for each in found if isinstance(found, list) else [found]:
            if each is not None:
                render.exact_out(each if isinstance(each, str) else lean_json.dumps(each, ensure_ascii=False))
    return status


def _value(hook: CallingHook, field: str) -> Json:
    """The value of a field; None if the call has none."""
    given = hook.canonical_fields()
    tool, tool_input = str(given.get("tool") or ""), given.get("input")
    tool_input = tool_input if isinstance(tool_input, dict) else {}
    if field in ("event", "dialect"):
        return hook.canonical if field == "event" else hook.dialect.name
    if field in ("command", "path"):
        keys = LINES if field == "command" else PATHS
        return next((tool_input[key] for key in keys if isinstance(tool_input.get(key), str)), None)
    if field in FACTS:
        folder = str(given.get("project") or os.getcwd())
        agent = hook.dialect.name if hook.dialect.name in HOSTS else None
        home = home_of(os.environ)
        return facts_of(tool, tool_input, cwd=folder, home=home, project=folder, agent=agent).as_json()[field]
    if field in given:
        return given[field]
    value: Json = {**hook.payload, "input": tool_input}
    for key in field.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


@verb("deny", AnswerOptions, 'anyhook deny "Deploys wait for the release."; exit', [click.Argument(["why"])])
def deny(why: str, _options: AnswerOptions) -> int:
    """In a hook: refuse, and say why. It prints the refusal in the hook's dialect and exits with the status that
    refuses there, so end the script with `exit` right after it."""
    return _refuse(calling_hook(os.environ), why)


@verb("ask", AnswerOptions, 'anyhook ask "This deletes a branch."; exit', [click.Argument(["why"])])
def ask(why: str, _options: AnswerOptions) -> int:
    """In a hook: let a person decide, and say why. If the hook's dialect cannot ask, it refuses."""
    hook = calling_hook(os.environ)
    said = spoken.verdict(hook.dialect, hook.row, hook.canonical, ASK, why) if hook is not None else None
    return _refuse(hook, why) if said is None else _print(said)


@verb("context", AnswerOptions, 'anyhook context "The tests need a database."', [click.Argument(["text"])])
def context(text: str, _options: AnswerOptions) -> int:
    """In a hook: tell the model something."""
    hook = calling_hook(os.environ)
    if hook is None:
        raise BadCall(NO_HOOK)
    said = spoken.context(hook.dialect, hook.row, hook.canonical, text)
    if said is None:
        render.say(f"anyhook context: {_cannot(hook, 'tell the model anything')}")
        return DONE
    return _print(said)


def _refuse(hook: CallingHook | None, why: str) -> int:
    if hook is None:  # a script that has read its payload itself still refuses: most agents read it so
        render.say(f"{why}\nanyhook: {NO_HOOK} Status {BLOCKED} refuses in most agents.")
        return BLOCKED
    said = spoken.verdict(hook.dialect, hook.row, hook.canonical, BLOCK, why)
    if said is None:
        render.say(f"{why}\nanyhook: {_cannot(hook, 'refuse')}")
        return BLOCKED
    return _print(said)


def _cannot(hook: CallingHook, what: str) -> str:
    return f"a {hook.dialect.title} hook cannot {what} on {hook.row.native}."


def _print(said: Spoken) -> int:
    if said.stdout:
        render.exact_out(said.stdout)
    if said.stderr:
        render.say(said.stderr)
    return said.status
