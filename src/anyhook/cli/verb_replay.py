"""`anyhook replay`: judge recorded runs again with today's tables. It starts nothing."""

from __future__ import annotations

import os

from anyhook.cli import render
from anyhook.cli.journal_input import RecordFilter, look_for_cycles_seldom, wanted_of
from anyhook.cli.options import JsonOptions, option
from anyhook.cli.verbs import verb
from anyhook.cli.view.difference import difference
from anyhook.cli.view.progress import progress
from anyhook.cli.view.record_text import when
from anyhook.documents.files import Files
from anyhook.model.json_types import JsonView
from anyhook.model.words import ON_FAILURE, Posture
from anyhook.platform.places import config_file, home_of, state_dir
from anyhook.replay.rejudge import Change
from anyhook.replay.replay import replay_journal
from anyhook.state.settings import read_settings


class ReplayOptions(JsonOptions, RecordFilter):
    on_failure: Posture | None = option(
        "--on-failure", "Judge broken hooks by this rule, not the recorded one.", "RULE", choices=ON_FAILURE
    )


@verb("replay", ReplayOptions, "anyhook replay --since 30d --on-failure deny")
def replay(options: ReplayOptions) -> int:
    """Judge recorded runs again by today's rules and settings, and show which events would be decided differently.
    Starts nothing."""
    look_for_cycles_seldom()
    posture = options.on_failure or None
    with progress("judging again") as tell:
        found = replay_journal(state_dir(os.environ), wanted_of(options), _settings(), posture, tell)
    if options.json:
        counts: dict[str, JsonView] = {"judged": found.judged, "changed": found.changed, "not_judged": found.not_judged}
        render.json_out({**counts, "changes": [change.as_dict() for change in found.changes]}, indent=2)
        return 0
    for change in found.changes:
        _print(change)
    if found.changed > len(found.changes):
        render.say(f"… and {found.changed - len(found.changes)} more")
    for reason, count in found.not_judged.most_common():
        render.say(f"{count} not judged: {reason}")
    render.out(f"{found.judged} events judged again, {found.changed} decided differently")
    return 0


def _settings() -> dict[str, dict[str, str]]:
    """The user's current settings of the dialects."""
    return read_settings(config_file(os.environ), Files(), home_of(os.environ)).dialects


def _print(change: Change) -> None:
    tool = f" {change.tool}" if change.tool else ""
    render.out(f"{change.n}  {when(change.at)}  {change.event}{tool}")
    for line in difference(change.before, change.after):
        render.out(f"    {line}")
    if change.unknown:
        render.out(f"    not known: what {', '.join(change.unknown)} would have said")
