"""Replay: judge the whole journal again, in parallel parts. It starts no hook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from anyhook.journal.files import lines_of
from anyhook.journal.search import Wanted, chooser, open_parts
from anyhook.model.record import Record
from anyhook.model.words import Posture
from anyhook.platform.parallel import parallel_map
from anyhook.replay.rejudge import ALIEN, Change, Judge, Unjudgeable

MAX_CHANGES = 1_000
"""More than this are only counted."""


class Replayed(Record):
    """The result."""

    judged: int
    changed: int
    changes: list[Change]
    not_judged: Counter[str]


def replay_journal(
    state_dir: str,
    wanted: Wanted,
    settings: Mapping[str, Mapping[str, str]],
    posture: Posture | None,
    tell: Callable[[int, int], None],
) -> Replayed:
    """Judge the selected records; `settings` and `posture` as for a Judge. `tell` is called with the number of bytes
    done and the total."""
    judged = changed = read = 0
    changes: list[Change] = []
    not_judged = Counter[str]()
    with open_parts(state_dir, wanted) as parts:
        whole = sum(last - first for _, first, last in parts)
        answers = parallel_map(_Part(wanted, settings, posture), parts)
        for (_, first, last), (some, different, shown, reasons) in zip(parts, answers, strict=True):
            judged, changed = judged + some, changed + different
            changes += [Change(*values) for values in shown[: MAX_CHANGES - len(changes)]]
            not_judged.update(reasons)
            read += last - first
            tell(read, whole)
    return Replayed(judged, changed, changes, not_judged)


class _Part:
    """Judges one part of a file."""

    def __init__(self, wanted: Wanted, settings: Mapping[str, Mapping[str, str]], posture: Posture | None) -> None:
        self._judge, self._chosen = Judge(settings, posture), chooser(wanted)

    def __call__(self, part: tuple[int, int, int]) -> tuple[int, int, list[tuple[Any, ...]], dict[str, int]]:
        """How many were judged, how many would be decided differently, the first of these, and why others were not
        judged."""
        judged = 0
        changes: list[tuple[Any, ...]] = []
        not_judged = Counter[str]()
        different = 0
        for line in lines_of(*part):
            found = self._chosen(line)
            if found is None or (found.record is not None and "decision" not in found.record):
                continue
            if found.record is None:
                not_judged["its line is damaged"] += 1
                continue
            try:
                change = self._judge.judge(found)
            except Unjudgeable as why:
                not_judged[str(why)] += 1
                continue
            except ALIEN:
                not_judged["it is not a record in the format of this version"] += 1
                continue
            judged += 1
            if change is None:
                continue
            different += 1
            if len(changes) < MAX_CHANGES:
                changes.append(tuple(getattr(change, field) for field in change.fields))
        return judged, different, changes, dict(not_judged)
