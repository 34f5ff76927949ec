"""`anyhook import --propose`: exceptions to rules, and rules, from what happened in one's own past."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from anyhook.cli import render
from anyhook.cli.person import may_change, require_person
from anyhook.cli.undo import tell_undo, undo
from anyhook.cli.verb_backtest import BacktestOptions, planned
from anyhook.cli.verb_rule import relaxed_in, spared, write_table
from anyhook.documents import edit
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.engine.match import Catalog
from anyhook.engine.routes import open_catalog
from anyhook.install.used_packs import rule_file, write_rules
from anyhook.journal.read import JournalLine
from anyhook.journal.search import Wanted
from anyhook.model.event import AFTER_CALL
from anyhook.model.hook import ARMED, Hook
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.platform.places import home_of
from anyhook.replay.imported import search_all
from anyhook.replay.rejudge import event_in, left_out
from anyhook.replay.report import past_rules
from anyhook.rules.calls import facts_of_event
from anyhook.state.plans import Setup

Key = tuple[str | None, str | None, str]

NOT_RELAXED = ("secrets", "system", "rules", "flow", "redact", "budget", "loops")
"""Packs to which no exception is proposed: secrets that leave, the system, the guards themselves."""
MIN_ALIKE, MIN_DECLINED = 3, 2
"""From how many calls an exception is proposed, and a rule."""
DECLINED = (
    "user doesn't want to",
    "rejected by user",
    "user rejected",
    "user declined",
    "user denied",
    "denied by user",
)
"""What agents tell the model if the person did not let a call run."""


class Proposal(Record):
    """A table for the user's rule file."""

    kind: str
    """`relax` or `rule`."""
    table: dict[str, Json]
    changes: int
    """How many past calls would be judged differently."""
    of: int
    """How many calls it was tried on."""
    why: str
    undo: str
    """The command that takes it back."""


class PastCalls:
    """The calls of the past: which ran, and which the person refused."""

    def __init__(self, folder: str, since_ns: int) -> None:
        self._ended: dict[Key, bool] = {}
        """The calls that have ended, and whether they ran."""
        self.lines: list[JournalLine] = []
        self.left_out: Counter[str] = Counter()
        for line in search_all(folder, Wanted(since_ns=since_ns or None)):
            if line.event == "pre_tool" and (why := left_out(line)):
                self.left_out[why] += 1
            elif line.event == "pre_tool":
                self.lines.append(line)
            elif line.event in AFTER_CALL:
                self._ended[_key(line)] = not (line.event == "post_tool_failure" and _was_declined(line))

    def ran(self, line: JournalLine) -> bool:
        return self._ended.get(_key(line), False)

    def declined(self, line: JournalLine) -> bool:
        return not self._ended.get(_key(line), True)


def _key(line: JournalLine) -> Key:
    return line.host, line.session, str(line.data.get("call_id") or "")


def _was_declined(line: JournalLine) -> bool:
    said = str(line.data.get("tool_error") or "").lower()
    return any(text in said for text in DECLINED)


def proposals(setup: Setup, folder: str, since_ns: int) -> list[Proposal]:
    past = PastCalls(folder, since_ns)
    for why, count in past.left_out.items():
        render.say(f"{count:,} past call(s) left out: {why}")
    catalog = open_catalog(setup)
    chosen = {hook.id for hook in catalog.hooks if _may_be_relaxed(hook)}
    stopped: dict[str, list[tuple[JournalLine, list[str]]]] = {}
    for rule, line, paths in _stopped(setup, catalog, chosen, past):
        stopped.setdefault(rule, []).append((line, paths))
    found = [_exception(rule, calls, past, setup) for rule, calls in stopped.items()]
    return [*filter(None, found), *_rules(setup, folder, past)]


def _stopped(
    setup: Setup, catalog: Catalog, chosen: Iterable[str], past: PastCalls
) -> Iterator[tuple[str, JournalLine, list[str]]]:
    """What these rules would stop today: the rule, the call, and the paths that it is about."""
    engine = open_engine(EngineOptions(setup, None, "shadow", host="backtest", one_shot=True), catalog)
    for line in past.lines:
        event = event_in(line)
        rules = past_rules(line, engine.context)
        steps = engine.context.routes.find(event).steps
        for position, step in enumerate(steps):
            if step.hook.id in chosen and not step.why and not rules.asked(steps, position, event):
                yield step.hook.short_name, line, rules.paths_of(step.hook)


def _may_be_relaxed(hook: Hook) -> bool:
    is_own = hook.scope == "user" and not hook.policy and hook.group not in NOT_RELAXED
    is_on = hook.handler == "rule" and hook.status == ARMED and hook.spec["then"] in ("deny", "ask")
    return is_own and is_on and not hook.listens


def _exception(
    rule: str, calls: Sequence[tuple[JournalLine, list[str]]], past: PastCalls, setup: Setup
) -> Proposal | None:
    """For the folder that all calls which a rule stops, and which ran, were about."""
    ran = [paths for line, paths in calls if past.ran(line)]
    if len(ran) < MIN_ALIKE or any(past.declined(line) for line, _ in calls) or not all(map(_are_known, ran)):
        return None
    home = os.path.realpath(home_of(setup.env))
    folder = os.path.commonpath([path for paths in ran for path in paths])
    if folder.count("/") < 2 or f"{home}/".startswith(f"{folder}/"):
        return None
    changes = sum(_are_known(paths) and os.path.commonpath([folder, *paths]) == folder for _, paths in calls)
    why = f"{rule} stops calls that ran, and all of them were in {render.short_path(folder)}"
    undone = undo("relax", [rule, "--path", folder, "--undo"])
    return Proposal("relax", {"rule": rule, "except": [spared(folder)]}, changes, len(past.lines), why, undone)


def _are_known(paths: list[str]) -> bool:
    return bool(paths) and all(path.startswith("/") and not set("*?[$") & {*path} for path in paths)


def _rules(setup: Setup, folder: str, past: PastCalls) -> Iterator[Proposal]:
    """For programs whose calls the person has refused again and again."""
    declined = [{*_conditions(line, home_of(setup.env))} for line in past.lines if past.declined(line)]
    refused = Counter(condition for conditions in declined for condition in conditions)
    for condition, count in refused.items():
        if count < MIN_DECLINED:
            continue
        table: dict[str, Json] = {"name": condition.replace("runs ", "ask before "), "when": condition, "then": "ask"}
        table["because"] = "You have refused this before."
        path = f"{folder}/proposed.toml"
        write_rules(path, edit.append("", "toml", ("rule",), table))
        try:
            plan = planned((path,), BacktestOptions(everywhere=True), Wanted())
        finally:
            os.unlink(path)
        changes = len([*_stopped(setup, plan.catalog, plan.chosen, past)])
        why, undone = f"you refused `{condition[5:]}` {count} times", undo("relax", [str(table["name"]), "--off"])
        yield Proposal("rule", table, changes, len(past.lines), why, undone)


def _conditions(line: JournalLine, home: str) -> Iterator[str]:
    """What the programs of a shell line are known by: `runs git push`."""
    for program in facts_of_event(event_in(line), cwd=line.project or "/", home=home).runs:
        words = [program.name, *program.args[:1]]
        if program.name.isidentifier() and all(word.replace("-", "").isalnum() for word in words):
            yield f"runs {' '.join(word for word in words if not word.startswith('-'))}"


def propose(setup: Setup, folder: str, since_ns: int, *, yes: bool, as_json: bool) -> list[dict[str, Json]]:
    """Show what is proposed, and write what the person says yes to."""
    path = rule_file("user", setup.project, setup.env)
    shown: list[dict[str, Json]] = []
    for each in proposals(setup, folder, since_ns):
        text, _ = relaxed_in(path)
        made = edit.append("", "toml", (each.kind,), each.table).strip()
        if made in text:
            continue
        if not as_json:
            render.out(f"{each.why}. It would change {each.changes} of {each.of:,} past calls:")
            render.out("\n".join(f"  {line}" for line in made.splitlines()))
        written = may_change(f"Write this to {render.short_path(path)}?", yes=yes, as_json=as_json)
        if written:
            require_person("import --propose")
            write_table(path, text, each.kind, each.table, setup)
            if not as_json:
                tell_undo([each.undo])
        shown.append({**each.as_dict(), "written": written})
    if not shown and not as_json:
        render.say("Nothing to propose.")
    return shown
