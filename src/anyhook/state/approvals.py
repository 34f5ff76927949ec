"""Approvals: calls that wait for a person's answer, and the answers. A call waits in the process that judges it; this
is how a terminal or the page reaches that process.

A call that waits is a file, and so is its answer. The first one to create the answer has given it: a person, or the
process that waits, when the time is over. An answer names the digest of what was shown, so it counts for nothing
else."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from time import time, time_ns

from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.lean_json import dumps
from anyhook.model.record import Record
from anyhook.platform.places import NOWHERE
from anyhook.platform.spawn import is_running
from anyhook.platform.store import KINDS, Store

OF_ANSWER = ".answer"
FOR_JSON = ("id", "at", "agent", "project", "session", "tool", "what", "reason", "rule", "until")
"""What `anyhook approvals --json` prints."""
SECOND_NS = 1_000_000_000
ANSWER_LOOK_S = 0.25
"""How often a call that waits looks for its answer."""
MAX_BECAUSE = 2_000


class Waiting(Record):
    """A call that waits."""

    told: dict[str, Json]
    """What a person is shown, and the process that waits."""
    digest: str
    """Of all of that, as it was written."""

    @property
    def id(self) -> str:
        return str(self.told.get("id"))

    @property
    def left_s(self) -> float:
        until = self.told.get("until")
        return (until - time_ns()) / SECOND_NS if isinstance(until, int) else 0.0

    @property
    def may_last(self) -> bool:
        """Whether a yes may count for the rest of the session."""
        return self.told.get("may_last") is True

    @property
    def diff(self) -> list[str]:
        """An edit as the lines of a diff."""
        found = self.told.get("diff")
        return [*map(str, found)] if isinstance(found, list) else []

    def as_dict(self) -> dict[str, Json]:
        return {field: self.told.get(field) for field in FOR_JSON}


class PersonsAnswer(Record):
    """A person's answer."""

    allows: bool
    by: str
    """`terminal` or `page`."""
    because: str = ""
    lasts: bool = False
    """Whether a yes counts for the rest of the session."""


class Approvals:
    """The calls of one user that wait."""

    def __init__(self, folder: str) -> None:
        """`folder` is our state folder."""
        self._store = Store(folder, "asked")

    # -- for the process that waits

    def ask(self, told: Mapping[str, Json]) -> Waiting:
        """Let a call wait; OSError if that is not possible."""
        name = os.urandom(4).hex()
        made: dict[str, Json] = {**told, "id": name, "pid": os.getpid()}
        data = lean_json.dumps(made).encode()
        self._store.put(name, data)
        return Waiting(made, lean_json.digest(data))

    def reply(self, waiting: Waiting) -> dict[str, Json]:
        """The answer as it was written; {} if there is none."""
        return self._store.read_object(waiting.id + OF_ANSWER)

    def close(self, waiting: Waiting) -> bool:
        """Nobody can answer from now on; False if somebody has."""
        try:
            return self._store.put_once(waiting.id + OF_ANSWER, b"{}")
        finally:
            self._store.delete(waiting.id)

    # -- for a person

    def waiting(self) -> list[Waiting]:
        """All calls that wait now, the oldest first."""
        found = [self.find(name) for name in self._store.names() if not name.endswith(OF_ANSWER)]
        return sorted(filter(None, found), key=lambda each: (str(each.told.get("at")), each.id))

    def find(self, name: str) -> Waiting | None:
        """The call with this id; None if none waits."""
        if not name.isalnum() or not name.isascii():
            return None
        data = self._store.read(name)
        try:
            told = lean_json.loads(data.decode()) if data else None
        except (ValueError, RecursionError):
            return None
        if not isinstance(told, dict) or told.get("id") != name:
            return None
        found = Waiting(told, lean_json.digest(data or b""))
        if found.left_s <= 0 or not is_running(told.get("pid")) or self._store.read(name + OF_ANSWER) is not None:
            return None
        return found

    def answer(self, waiting: Waiting, reply: PersonsAnswer) -> bool:
        """Answer a call; whether this answer counts. OSError if it cannot be written."""
        now = self.find(waiting.id)
        if now is None or now.digest != waiting.digest or (reply.lasts and not now.may_last):
            return False
        made: dict[str, Json] = {field: getattr(reply, field) for field in reply.fields}
        made |= {"because": reply.because[:MAX_BECAUSE], "digest": waiting.digest, "at": time_ns()}
        return self._store.put_once(waiting.id + OF_ANSWER, lean_json.dumps(made).encode())

    def holds(self, pid: object) -> bool:
        """Whether this process waits for an answer."""
        return any(each.told.get("pid") == pid for each in self.waiting())


# A rule that a person has answered for the rest of a session.


def _of_session(agent: str, session: str, project: str, hook: str) -> str:
    return "\0".join((agent, session, project, hook))


def grant(folder: str, agent: str, session: str, project: str, hook: str) -> None:
    """The rule asks no more in this session; OSError if that cannot be kept."""
    Store(folder, "granted").put(_of_session(agent, session, project, hook), b'{"granted": true}')


def is_granted(folder: str, agent: str, session: str, project: str, hook: str) -> bool:
    return Store(folder, "granted").read_object(_of_session(agent, session, project, hook)).get("granted") is True


# Where the page is, for a link to it. Its secret address is nowhere on disk: an agent could read it there.


def page_is_at(folder: str, port: int) -> None:
    Store(folder, "page").write(str(os.getpid()), lean_json.dumps({"pid": os.getpid(), "port": port}).encode())


def page_link(folder: str) -> str:
    """Where the page of a running `anyhook serve` sends the browser that it was opened in; "" without one."""
    store = Store(folder, "page")
    for name in store.names():
        found = store.read_object(name)
        if is_running(found.get("pid")) and isinstance(found.get("port"), int):
            return f"http://127.0.0.1:{found['port']}/waiting"
    return ""


# Once, later: calls that a person lets pass once: one hook's refusal of one call, in one project, for ten minutes. A
# permission is used up, so of two calls at the same time only one passes.


HOLDS_S = int(KINDS["allowed"][0])
"""How long a permission is valid."""
BOUND_TO = ("tool", "input")


def key_of(hook: str, project: str, event: str, data: Mapping[str, Json]) -> str:
    """The key of the permission for exactly this call; ValueError for a call that has no JSON form."""
    bound: list[Json] = [hook, project, event, *[data.get(field) for field in BOUND_TO]]
    text = json.dumps(bound, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def allow(folder: str, key: str, record: int | None) -> None:
    """Lets the call pass once."""
    Store(folder, "allowed").put(key, dumps({"until": int(time()) + HOLDS_S, "record": record}).encode())


def use(folder: str, key: str) -> bool:
    """Use a permission; whether there was one."""
    if folder == NOWHERE:
        return False
    until = Store(folder, "allowed").take(key).get("until")
    return isinstance(until, int) and 0 <= until - time() <= HOLDS_S
