"""Recording: while `anyhook record -- COMMAND` runs, every event is also written whole into a folder of the recorder's,
whatever the journal keeps of it. Secrets are left out here as well, and the journal itself is not touched."""

from __future__ import annotations

from anyhook.journal.journal import Journal
from anyhook.journal.record import head_of, record
from anyhook.model.words import FULL, RECORD, RUN_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.journal.record import Keeping
    from anyhook.model.call import Run
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event


def recording_of(env: Mapping[str, str], keeping: Keeping) -> Recording | None:
    """The recording, where somebody records. What a hook itself fires reaches no hook, so there is nothing in it."""
    return Recording(env[RECORD], keeping) if RECORD in env and RUN_VARIABLE not in env else None


class Recording:
    """Takes events beside the journal; one that cannot be written is missing in the record, and nowhere else."""

    def __init__(self, folder: str, keeping: Keeping) -> None:
        self._journal, self._keeping = Journal(folder), keeping.replace(bodies=FULL)

    def add(
        self,
        event: Event,
        decision: Decision,
        who: str,
        session: str,
        calls: Sequence[tuple[str, Run | None, str]] = (),
    ) -> None:
        head = head_of(event, who, session, self._keeping, cut=False)  # a case with half an input shows nothing
        self._journal.append(record(head, decision, calls, self._keeping))
