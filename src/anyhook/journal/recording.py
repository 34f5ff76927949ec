"""Recording: while `anyhook record -- COMMAND` runs, every event is also written in full into the recorder's folder,
whatever the journal keeps. Secrets are left out here too, and the journal itself is not touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.journal.journal import Journal
from anyhook.journal.record import head_of, record
from anyhook.model.words import FULL, RECORD, RUN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.journal.record import JournalPolicy
    from anyhook.model.firing import Part
    from anyhook.model.words import Mode


def recording_of(env: Mapping[str, str], policy: JournalPolicy) -> Recording | None:
    """The recording, if there is one. Events that a hook itself fires reach no hook, so they are not recorded."""
    return Recording(env[RECORD], policy) if RECORD in env and RUN_VARIABLE not in env else None


class Recording:
    """Records events besides the journal; an event that cannot be written is missing here only."""

    def __init__(self, folder: str, policy: JournalPolicy) -> None:
        self._journal, self._policy = Journal(folder), policy.replace(bodies=FULL)

    def add(self, part: Part, mode: Mode) -> None:
        head = head_of(part.event, mode, self._policy, cut=False)  # a case with half an input shows nothing
        self._journal.put(record(head, part.decision, part.runs, self._policy))
