"""Refused: the calls that an agent was told not to make. If one of them comes back as a call that ran, the agent did
not obey. Each has a separate small file, so that parallel calls need no lock. The files hold only digests. If one is
lost, the breach is not found."""

from __future__ import annotations

from os.path import exists

from anyhook.model import lean_json
from anyhook.model.lean_json import short_digest
from anyhook.platform.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

KIND = "refused"
MARK, MIN_MARK = 24, 8
"""How many characters of the reason show that an output only repeats it; shorter reasons show nothing."""
MAX_COMPARED = 10_000


class RefusedCall:
    """A call in a session of an agent that may have been refused. It is known by its id; if the agent gave it none, by
    its tool and input, until the same call is let through."""

    def __init__(self, state_dir: str, agent: str, session: str, data: Mapping[str, Json], given: Json) -> None:
        self._store, call_id = Store(state_dir, KIND), data.get("call_id")
        self._id = short_digest(str(call_id)) if call_id else ""
        try:
            text = repr((data.get("tool"), sorted(given.items()) if isinstance(given, dict) else given))
        except RecursionError:  # an input that is nested deeply
            text = repr(data.get("tool"))
        start = f"{agent} {session}"
        self._by_id, self._by_input = f"{start} id {self._id}", f"{start} input {short_digest(text)}"

    def may_be(self) -> bool:
        """Whether this call, or one that looks the same, was refused."""
        return exists(self._store.path(self._by_id)) or exists(self._store.path(self._by_input))

    def note(self, reason: str) -> None:
        """It was refused."""
        shown = reason[:MARK] if len(reason) >= MIN_MARK else ""
        made = lean_json.dumps({"id": self._id, "mark": short_digest(shown), "length": len(shown)}).encode()
        for key in (self._by_id, self._by_input) if self._id else (self._by_input,):
            self._store.write(key, made)

    def forget(self) -> None:
        """A call that looks the same was let through."""
        self._store.delete(self._by_input)

    def ran(self, output: str) -> bool:
        """Whether it was refused, now that it ran. An output that holds the reason is the refusal, and not a result."""
        found = self._store.read_object(self._by_id) if self._id else {}
        if not found:
            found = self._store.read_object(self._by_input)
            if self._id and found.get("id"):
                return False  # another call with the same input, which was known by its id
        length = found.get("length")
        if not isinstance(length, int):
            return False
        starts = range(min(len(output), MAX_COMPARED)) if length else ()
        return not any(short_digest(output[at : at + length]) == found["mark"] for at in starts)
