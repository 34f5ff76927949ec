"""Recent decisions: what was decided a moment ago about a call, so that several anyhook entries in agents' configs run
the hooks once and all give the same answer. Where nothing can be remembered, every call is the first."""

from __future__ import annotations

import os
import time

from anyhook.documents.places import file_name, read_object, write_private
from anyhook.model import lean_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

REMEMBERED_S, AGAIN_S = 60.0, 5.0
"""How long for another agent's entry, and for a second entry of the same agent."""
POLL_S = 0.01


class RecentDecision:
    """The decision on one call, as one entry sees it."""

    def __init__(self, state_dir: str, key: object, agent: str, call_id: str) -> None:
        self.folder = f"{state_dir}/firings"
        self.path = f"{self.folder}/{file_name(_text(key))}"
        self.agent, self.call_id = agent, call_id

    def decided(self, until_s: float) -> dict[str, Json] | None:
        """What another entry decided about this very call, waited for until then; None where this is the first, which
        is noted."""
        while True:
            found = read_object(self.path)
            if found is None or not self._is_same(found):
                self._write({"agent": self.agent, "call": self.call_id, "pid": os.getpid(), "at": time.time()})
                return None
            decision = found.get("decision")
            if isinstance(decision, dict):
                answered = found.get("answered")
                self._write({**found, "answered": [*(answered if isinstance(answered, list) else []), self.agent]})
                return decision
            if time.monotonic() >= until_s or not _is_alive(found.get("pid")):
                return None
            time.sleep(POLL_S)

    def keep(self, decision: dict[str, Json]) -> None:
        """What this entry decided, for the others."""
        self._write({"agent": self.agent, "call": self.call_id, "at": time.time(), "decision": decision})
        self._sweep()

    def _is_same(self, found: dict[str, Json]) -> bool:
        at, theirs, answered = found.get("at"), found.get("call"), found.get("answered")
        age_s = time.time() - at if isinstance(at, (int, float)) else REMEMBERED_S
        if found.get("agent") == self.agent:
            return bool(self.call_id) and theirs == self.call_id and age_s < AGAIN_S
        if self.call_id and theirs and theirs != self.call_id:
            return False
        return age_s < REMEMBERED_S and not (isinstance(answered, list) and self.agent in answered)

    def _write(self, what: dict[str, Json]) -> None:
        try:
            write_private(self.path, lean_json.dumps(what).encode())
        except (OSError, TypeError, ValueError, RecursionError):
            return  # then the next one is the first as well

    def _sweep(self) -> None:
        """Forget what nobody asks for any more: decisions are stored as they are, with whatever hooks said."""
        oldest = time.time() - REMEMBERED_S
        try:
            for entry in os.scandir(self.folder):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)
        except OSError:
            return


def _text(key: object) -> str:
    try:
        return repr(key)
    except RecursionError:  # a tool's input that is nested deeply
        return lean_json.dumps(key)  # type: ignore[arg-type]


def _is_alive(pid: Json) -> bool:
    try:
        os.kill(int(pid), 0)  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError):
        return False
    return True
