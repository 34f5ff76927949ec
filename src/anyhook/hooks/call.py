"""The call that a function gets, and its session."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.record import Record
from anyhook.platform.locks import locked
from anyhook.platform.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json


class Programs(Record):
    """What a call would do, the same for every agent. Paths are absolute."""

    runs: tuple[tuple[str, ...], ...] = ()
    """The programs with their arguments, however deep they are in a line."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    executable: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    connects: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """What cannot be known before it runs."""


class HookSession:
    """The agent's session, and what the functions of this file keep for it."""

    def __init__(self, identity: str, state_dir: str, key: str, earlier: dict[str, Json]) -> None:
        self.id, self._earlier = identity, earlier
        self._store, self._key = Store(state_dir, "sessions"), key
        self._kept: dict[str, Json] | None = None
        self._before = b""
        self._lock = locked(self._store.folder, f"{key}.json.lock")

    def earlier(self, condition: str) -> bool:
        """Whether an earlier call of this session met a condition of the rule language. The condition is a literal:
        anyhook reads it from the source, and looks out for it from the session's start."""
        if condition not in self._earlier:
            raise ValueError(f"write the condition as a text in the call: session.earlier({condition!r})")
        return bool(self._earlier[condition])

    @property
    def store(self) -> dict[str, Json]:
        """JSON values that last as long as the session. From the first access until the function ends, other calls of
        the same session wait."""
        if self._kept is None:
            self._lock.__enter__()
            self._before, self._kept = self._store.read(self._key) or b"", self._store.read_object(self._key)
            if self._before and not self._kept and self._before != b"{}":
                # A function that counts must not begin again because of a damaged file.
                raise OSError(22, "what this session keeps is damaged; delete the file", self._store.path(self._key))
        return self._kept

    def close(self) -> None:
        """Store the changes. Raises TypeError for values that are not JSON, and OSError if they cannot be stored."""
        if self._kept is None:
            return
        data = lean_json.dumps(self._kept).encode()
        if data != self._before:
            self._store.put(self._key, data)
        self._lock.__exit__()


class HookCall(Record):
    """One call that a function gets. A field that its event does not have is empty."""

    event: str
    agent: str
    """The name of the agent that calls; `fire` for `anyhook fire`."""
    project: str
    tool: str
    input: dict[str, Json]
    """The tool's input, with the agent's own names."""
    command: str
    path: str
    paths: tuple[str, ...]
    """The paths that made the decorator's condition true; `path` is the first."""
    prompt: str
    message: str
    output: Json
    error: str
    facts: Programs
    data: dict[str, Json]
    """Every field of the event."""
    session: HookSession
