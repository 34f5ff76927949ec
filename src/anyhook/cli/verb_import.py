"""`anyhook import`: import agents' transcripts, so that you can try rules before anything was recorded."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from anyhook.cli import FINDINGS, BadCall, render
from anyhook.cli.journal_input import time_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import JsonOptions, option, switch
from anyhook.cli.proposals import propose
from anyhook.cli.verbs import verb
from anyhook.documents.files import Files
from anyhook.journal.record import JournalPolicy, secrets_of
from anyhook.journal.writer import Bounds
from anyhook.model.json_types import JsonView
from anyhook.model.words import FULL
from anyhook.platform.places import config_file, home_of, make_private_dir, state_dir
from anyhook.replay.imported import IMPORTED_FOLDER, Imported, Importer
from anyhook.state.plans import Setup
from anyhook.state.settings import read_settings
from anyhook.tables.past import Past
from anyhook.tables.registry import HOSTS, past
from anyhook.tables.shapes import guess


class ImportOptions(JsonOptions):
    since: str | None = option("--since", "Only from this time on: 2h, 30d, 2026-11-15.", "TIME")
    propose: bool = switch("--propose", "Then propose exceptions and rules; nothing is written without a yes.")
    yes: bool = switch("--yes", "Write what is proposed without asking.")


@verb("import", ImportOptions, "anyhook import claude --since 30d", [click.Argument(["agents"], nargs=-1, type=AGENT)])
def import_(agents: tuple[str, ...], options: ImportOptions) -> int:
    """Import the transcripts that agents keep of their sessions; without a name, those of all agents that anyhook can
    read.

    Prompts and tool calls go into their own journal, next to the one of fired events. `anyhook backtest` and `anyhook
    report` read both. Nothing is imported twice, and secrets are left out, as in the other journal.

    With --propose it then looks for exceptions to your rules (calls that ran although a rule stops them, all in one
    folder; never for secrets and the system) and for rules (calls that you refused), each with the number of past
    calls that it would change.

    \b
    Exit status: 0 done, 1 a transcript could not be read, 3 bad call.
    """
    readers = {name: found for name in HOSTS if (found := past(name)) is not None}
    _check_known(agents, readers)
    since_ns = time_of("--since", options.since) or 0
    setup = Setup.of(os.getcwd(), dict(os.environ))
    folder = state_dir(os.environ)
    done: dict[str, Imported] = {}
    try:
        make_private_dir(f"{folder}/{IMPORTED_FOLDER}")
        importer = Importer(folder, *_policy())
        for name in agents or readers:
            done[name] = importer.read(name, readers[name], setup.roots(()), since_ns)
        importer.close()
    except OSError as error:
        raise BadCall(f"cannot write to {folder}/{IMPORTED_FOLDER} ({error.strerror}). Make it writable.") from None
    told: dict[str, JsonView] = {}
    if not options.json:
        _say(done)
    if options.propose:
        told["proposals"] = propose(setup, folder, since_ns, yes=options.yes, as_json=options.json)
    if options.json:
        rows = {name: one.as_dict() for name, one in done.items()}
        render.json_out({"agents": rows, **told}, indent=2)
    return FINDINGS if any(one.unread for one in done.values()) else 0


def _check_known(agents: tuple[str, ...], readers: Mapping[str, Past]) -> None:
    for name in agents:
        if name not in readers:
            raise BadCall(f"transcripts of `{name}` cannot be read.{guess(name, readers)} Known: {', '.join(readers)}.")


def _say(done: dict[str, Imported]) -> None:
    found = {name: one for name, one in done.items() if one.files}
    for name, one in found.items():
        sessions = "1 session" if one.sessions == 1 else f"{one.sessions:,} sessions"
        render.out(f"{name}: {one.new:,} new of {one.events:,} events, in {sessions}")
        for why in one.unread:
            render.say(f"  not read: {why}")
    without = [name for name in done if name not in found]
    if without:
        render.say(f"No transcripts of {', '.join(without)}.")
    if any(one.events for one in done.values()):
        render.say("Try a rule on them: anyhook report ID, or: anyhook backtest --everywhere ID")


def _policy() -> tuple[JournalPolicy, Bounds]:
    """What may be kept, and how much: the user's settings for the other journal."""
    kept = read_settings(config_file(os.environ), Files(), home_of(os.environ)).journal
    bounds = {key: value for key in Bounds.fields if isinstance(value := kept.get(key), int)}
    policy = JournalPolicy(secrets_of(os.environ), str(kept.get("bodies", FULL)), frozenset(os.environ), {})
    return policy, Bounds(**bounds)
