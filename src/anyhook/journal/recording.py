"""Recording: while `anyhook record -- COMMAND` runs, every event is also written whole into a folder of the recorder's,
whatever the journal keeps of it. Secrets are left out here as well, and the journal itself is not touched."""

from __future__ import annotations

from anyhook.journal.journal import Journal
from anyhook.journal.record import head_of, record
from anyhook.model.words import FULL, RECORD, RUN_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.journal.record import JournalPolicy
    from anyhook.model.firing import Part
    from anyhook.model.words import Mode


def recording_of(env: Mapping[str, str], policy: JournalPolicy) -> Recording | None:
    """The recording, where somebody records. What a hook itself fires reaches no hook, so there is nothing in it."""
    return Recording(env[RECORD], policy) if RECORD in env and RUN_VARIABLE not in env else None


class Recording:
    """Takes events beside the journal; one that cannot be written is missing in the record, and nowhere else."""

    def __init__(self, folder: str, policy: JournalPolicy) -> None:
        self._journal, self._policy = Journal(folder), policy.replace(bodies=FULL)

    def add(self, part: Part, mode: Mode) -> None:
        head = head_of(part.event, mode, self._policy, cut=False)  # a case with half an input shows nothing
        self._journal.put(record(head, part.decision, part.runs, self._policy))
