"""The live check of one agent: a harmless command that a hook must refuse, with a word nobody has used before, and then
three questions: did the command run, does our journal hold the word, what did the agent do instead. The answer is about
the user's own entry, copied to the stage."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Mapping

from anyhook.agents._probe import PROBE_HOOK, probe_hook
from anyhook.extra.live.drive import DriveResult, drive
from anyhook.extra.live.script import Step
from anyhook.extra.live.stage import Stage, fill
from anyhook.gates.diagnosis import ARMED, INERT, REFUSING, UNKNOWN
from anyhook.install.changes import places
from anyhook.model import lean_json
from anyhook.model.record import Record
from anyhook.platform.places import home_of
from anyhook.tables import registry
from anyhook.tables.host_rows import Host

BEFORE = ("pre_tool", "permission_request")
"""The events at which a refusal keeps a command from running."""
RAN = "ran.txt"
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
"""The codes by which a terminal is told colours, places and titles."""


class Verdict(Record):
    """What the live check found."""

    status: str
    reason: str
    network: str = ""
    """"" if the agent had none, else why it could not be cut off."""
    copied: tuple[str, ...] = ()
    """The user's files that the agent was given copies of."""


def check(table: Host, program: str, project: str, env: Mapping[str, str], limit_s: float, dead: str = "") -> Verdict:
    """Drives the agent once. `dead` says why our entry cannot be run, where that is known."""
    row, entry = registry.drive(table.name), table.entry
    if row is None or entry is None:
        return Verdict(UNKNOWN, "there is no way to drive it without a person")
    with tempfile.TemporaryDirectory(prefix="anyhook-live-", ignore_cleanup_errors=True) as folder:
        stage = Stage(os.path.realpath(folder))
        stage.build()
        try:
            copied = stage.bring(table, entry, row, project, env)
        except OSError as error:
            return Verdict(UNKNOWN, f"{error.filename} cannot be copied: {error.strerror}")
        word = f"anyhook-live-{os.urandom(8).hex()}"
        refusal = f"if grep -q {word}; then echo 'refused by the live check {word}' >&2; exit 2; fi"
        stage.write(fill(PROBE_HOOK, stage.roots(entry)), probe_hook(f"sh -c {shlex.quote(refusal)}"))
        steps = [Step(tool="shell", input={"command": f"echo {word} > {RAN}"}), Step("all done")]
        of_user = places(table, entry, "user", home_of(env), project, env)
        seen = drive(
            table.name, program, stage, steps, env, limit_s=limit_s, trusts_folder=not set(of_user).isdisjoint(copied)
        )
        ran = os.path.exists(f"{stage.project}/{RAN}")
        status, reason = judge(table, seen, refusals(stage, word), limit_s, ran=ran)
        if dead and not ran:  # where prompts are refused as well, it never asks its model
            status, reason = REFUSING, dead
    return Verdict(status, reason, seen.network, tuple(copied))


def refusals(stage: Stage, word: str) -> list[str]:
    """The verdicts of the journal's records that hold the word and were made before the command could run."""
    found: list[str] = []
    try:
        with open(f"{stage.home}/.local/state/anyhook/journal.jsonl", encoding="utf-8") as file:
            for line in file:
                record = lean_json.loads(line) if word in line else None
                decision = record.get("decision") if isinstance(record, dict) else None
                if isinstance(decision, dict) and isinstance(record, dict) and record.get("event") in BEFORE:
                    found.append(str(decision.get("verdict")))
    except (OSError, ValueError):
        pass  # no journal: the entry was never called
    return found


def judge(table: Host, seen: DriveResult, refused: list[str], limit_s: float, *, ran: bool) -> tuple[str, str]:
    """The status and its reason, from what was seen alone."""
    tried = any(request.answered for request in seen.requests)
    if "block" in refused and not ran:
        return ARMED, "it called the entry, and what the hook refused did not happen"
    if refused and ran:
        return INERT, "it called the entry and still ran the refused command"
    if ran:
        return INERT, (
            f"it ran a command without calling the entry. {_upper(table.confirm)} If that is not it: see whether its "
            f"settings turn hooks off, or install the entry again (`anyhook uninstall {table.name}`, then `install`)."
        )
    if refused:
        return UNKNOWN, "it called the entry, whose hook did not refuse; `anyhook log` of such a call says why"
    if seen.ending == "timed_out":
        return UNKNOWN, f"it was not done after {limit_s:g} s{_last(seen)}"
    if not seen.requests:
        return UNKNOWN, f"it did not get as far as asking its model{_last(seen)}"
    if not tried:
        return UNKNOWN, f"it offers no tool for commands; its tools: {', '.join(seen.tools) or 'none'}"
    return UNKNOWN, f"it neither ran the command nor called the entry{_last(seen)}"


def _last(seen: DriveResult) -> str:
    """The last thing that the agent printed, as a clue: only words, because it may contain terminal escapes."""
    said = _ESCAPE.sub("", seen.stderr.strip() or seen.stdout.strip())
    printable = "".join(character if character.isprintable() or character == "\n" else " " for character in said)
    lines = [line.strip() for line in printable.split("\n") if line.strip()]
    how = f" (exit {seen.exit_code})" if seen.exit_code else ""
    return f"{how}: {lines[-1][:200]}" if lines else how


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
