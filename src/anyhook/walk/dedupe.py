"""Dedupe: one event, several anyhook entries. The first entry runs the hooks, and the others repeat its answer in their
own agent's format."""

from __future__ import annotations

import os
import time
from _operator import itemgetter  # `operator` is the same in Python, but one more file to import
from fcntl import LOCK_EX, LOCK_NB, flock

from anyhook.documents.places import make_private_dir, read_object, state_dir, write_private
from anyhook.model import lean_json
from anyhook.model.decision import Decision, Texts
from anyhook.model.lean_json import short_digest
from anyhook.process.spawn import here
from anyhook.tables.translate import renamed, restored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.walk.bridge import Incoming
    from anyhook.walk.context import Context

TEXTS = ("context", "messages", "follow_ups")
KEPT = ("verdict", "effect", "reason", "hook", "tool_input", "tool_output", "prompt", "end_turn", "enforced", *TEXTS)

REMEMBERED_S, AGAIN_S = 60.0, 5.0
"""How long a decision is remembered: for another agent's entry, and for a second entry of the same agent."""
POLL_S = 0.01
LOCK_S = 1.0
CLAIMS, SLOTS, SLOT_BYTES = "claims", 256, 256
"""The file in which an entry says that it runs the hooks, and how many calls of the last moments it can hold. If two
calls share a slot, the later one is kept."""


class Recent:
    """What another anyhook entry decided about this call a moment ago. If nothing can be remembered, every call is the
    first."""

    def __init__(self, context: Context, incoming: Incoming) -> None:
        received, catalog = incoming.received, context.routes.catalog
        event = received.events[0]
        self._agent, self._event, self._split = incoming.table.name, event.name, received.split
        self._deadline_s, self._begun_s = context.deadline_s or 0.0, 0.0
        self._inputs = event.inputs or {}
        given = event.data.get("input")
        ours = restored(given, self._inputs) if isinstance(given, dict) and not received.split else received.input
        key = (
            event.name,
            event.data.get("session"),
            event.ours or event.data.get("tool"),
            sorted(ours.items(), key=itemgetter(0)) if ours else event.data.get("prompt"),
            context.setup.project,
            [(hook.id, hook.definition, hook.status) for hook in catalog.hooks],
            sorted([item for item in catalog.stamps.items() if item[1] is not None], key=itemgetter(0)),
            (context.mode, context.on_failure),
        )
        try:
            text = repr(key)
        except RecursionError:  # a tool's input that is nested deeply
            text = lean_json.dumps(key)  # type: ignore[arg-type]
        call_id = str(event.data.get("call_id") or "")
        self._call_id = call_id and short_digest(call_id)
        self._key = short_digest(text)
        self._folder = f"{state_dir(context.setup.env)}/firings"
        self._path = f"{self._folder}/{self._key}"

    def decision(self) -> Decision | None:
        """What another entry decided, with a warning; waits for it no longer than the host waits. None if this entry is
        the first, which is recorded."""
        while (found := self._first()) is not None:
            decided = found.get("decision")
            if isinstance(decided, dict):
                return self._repeated(decided)
            if time.monotonic() >= self._deadline_s or not _is_alive(found.get("pid")):
                return None
            time.sleep(POLL_S)
        return None

    def _first(self) -> dict[str, Json] | None:
        """What is known about the entry that was first; None if this one is. Entries say so in one file, under a lock,
        because it takes much longer to create a file for each."""
        try:
            make_private_dir(self._folder)
            claims = os.open(f"{self._folder}/{CLAIMS}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        try:
            try:
                flock(claims, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                _wait_for(claims)
            offset = int(self._key, 16) % SLOTS * SLOT_BYTES
            slot = os.pread(claims, SLOT_BYTES, offset)
            if slot.startswith(self._key.encode()) and (found := self._same(slot)):
                return found
            self._begun_s = time.time()
            own: dict[str, Json] = {"agent": self._agent, "call": self._call_id, "pid": os.getpid()}
            slot = f"{self._key} {lean_json.dumps({**own, 'at': self._begun_s})}".encode()
            if len(slot) <= SLOT_BYTES:
                os.pwrite(claims, slot.ljust(SLOT_BYTES), offset)
        except OSError:
            pass  # then this entry is the first, and so is the next one
        finally:
            os.close(claims)
        return None

    def _same(self, slot: bytes) -> dict[str, Json] | None:
        """What another entry has said and decided, if it was called about the same call and not too long ago. If it has
        decided, note that this entry repeats it."""
        try:
            claim = lean_json.loads(slot.partition(b" ")[2].decode())
        except (ValueError, RecursionError):
            return None
        if not isinstance(claim, dict) or not self._may_be_same(claim):
            return None
        kept = f"{self._path}-{claim.get('at')}"
        found = {**claim, **(read_object(kept) or {})}
        if not self._is_recent(found):
            return None
        if "decision" in found:
            answered = found.get("answered")
            said = [*(answered if isinstance(answered, list) else []), self._agent]
            self._write(kept, {**found, "answered": said})
        return found

    def keep(self, decision: Decision, later: bool = True) -> None:
        """Store what this entry decided in a separate file, for the other entries; in a warm worker, after the agent
        has the answer. Deletes old decisions, because they contain everything that hooks printed."""
        if later and here.tell_duty is not None:
            here.afterwards.append(lambda: self.keep(decision, later=False))
            return
        made: dict[str, Json] = {field: getattr(decision, field) for field in KEPT}
        for field in TEXTS:
            made[field] = [*getattr(decision, field)]
        if decision.tool_input is not None and not self._split:
            made["tool_input"] = restored(decision.tool_input, self._inputs)
        self._write(f"{self._path}-{self._begun_s}", {"at": time.time(), "decision": made})
        oldest = time.time() - REMEMBERED_S
        try:
            for entry in os.scandir(self._folder):
                if entry.name != CLAIMS and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
        except OSError:
            return

    def _repeated(self, known: dict[str, Json]) -> Decision:
        from anyhook.model.problem import WARNING, Problem

        made: dict[str, object] = {field: known[field] for field in KEPT if field in known}
        for field in TEXTS:
            texts = known.get(field)
            made[field] = Texts(map(str, texts)) if isinstance(texts, list) else Texts()
        given = known.get("tool_input")
        if isinstance(given, dict) and not self._split:
            made["tool_input"] = renamed(given, self._inputs)
        problem = Problem(
            "fired-twice",
            "another anyhook entry had already run the hooks; its decision is repeated",
            self._agent,
            "agents have several entries of anyhook for one event",
            f"Take one of them out: anyhook uninstall {self._agent}, with --scope user or project.",
            WARNING,
        )
        return Decision(self._event).replace(**made, problems=(problem,))

    def _may_be_same(self, claim: dict[str, Json]) -> bool:
        theirs = claim.get("call")
        if claim.get("agent") == self._agent:
            return bool(self._call_id) and theirs == self._call_id
        return not (self._call_id and theirs) or theirs == self._call_id

    def _is_recent(self, found: dict[str, Json]) -> bool:
        at, answered = found.get("at"), found.get("answered")
        age_s = time.time() - at if isinstance(at, (int, float)) else REMEMBERED_S
        if found.get("agent") == self._agent:
            return age_s < AGAIN_S
        return age_s < REMEMBERED_S and not (isinstance(answered, list) and self._agent in answered)

    def _write(self, path: str, what: dict[str, Json]) -> None:
        try:
            write_private(path, lean_json.dumps(what).encode())
        except (OSError, TypeError, ValueError, RecursionError):
            return  # then the next one is the first as well


def _wait_for(claims: int) -> None:
    """Wait for the lock. Nobody holds it for long, unless it is stopped or its disk hangs."""
    until_s = time.monotonic() + LOCK_S
    while time.monotonic() < until_s:
        time.sleep(POLL_S / 10)
        try:
            return flock(claims, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            continue
    raise BlockingIOError


def _is_alive(pid: Json) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True
