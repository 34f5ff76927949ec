"""Calls as rules see them, and which rules a call concerns. Most calls concern none; if an event reaches nothing but
rules, that is known without a walk."""

from __future__ import annotations

import marshal
import os
from _functools import partial  # type: ignore[import-not-found]

from anyhook.model import lean_json
from anyhook.model.decision import Report, idle_report
from anyhook.model.event import AFTER_CALL, Event
from anyhook.model.hook import ARMED, Hook
from anyhook.model.pattern import cached
from anyhook.model.words import NOT_MET
from anyhook.platform.places import head
from anyhook.programs.loose import HIDDEN
from anyhook.programs.paths import slashed
from anyhook.programs.table import row_of
from anyhook.rules.calls import facts_of_event
from anyhook.rules.evaluate import CLEAN, NOTHING_SAID, TOLD, Hits, RuleCall, applies, has_failed
from anyhook.rules.marks import marks_of, needs_of
from anyhook.rules.paths import Places
from anyhook.state.entry_places import elsewhere
from anyhook.state.plans import CatalogPlan, Setup, kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from anyhook.programs.facts import Facts, Program
    from anyhook.rules.evaluate import SessionPast
    from anyhook.rules.language import Condition, Node, Packed
    from anyhook.state.plans import Values

    Part = tuple[tuple[str, ...], Node]
    """A part of a condition, and its marks: it can hold only for a call that has one of them."""
    Marked = dict[str, list[int]]
    """Mark → the positions of the rules that have it."""

TEMPORARY = ("tmp", "temp", "/var/folders/")
"""What the path of a folder for temporary files contains."""
MAX_VARIABLES = 1 << 16
"""From how many bytes on a file of variables is not searched for secrets."""
MAX_VARIABLE_FILES = 16
"""How many such files are searched for one pattern."""


def temp_of(env: Mapping[str, str]) -> str:
    """The folder for temporary files that a variable names; "" if it looks like another one: what is in a temporary
    folder is not worth a guard, and a project's environment could call the user's files so."""
    named = env.get("TMPDIR", "").rstrip("/")
    return named if any(part in named.lower() for part in TEMPORARY) else ""


class Calls:
    """Events as rules see them."""

    looked_at: RuleCall | None = None
    """The call that `idle_rules` has left to the walk: what it has read is not read again."""

    def __init__(self, setup: Setup, host: str) -> None:
        self.project, self.env, self.host = setup.project, setup.env, host
        self.given = elsewhere(setup.env, setup.given)
        self._call: RuleCall | None = None
        self._known_folders: dict[bool, tuple[str, ...]] = {}

    def call(self, event: Event, past: SessionPast | None = None) -> RuleCall:
        """The event as rules see it, until a hook rewrites it."""
        known = self._call or Calls.looked_at
        if known is None or known.event is not event:
            facts = partial(self._facts, event)
            known = RuleCall(event, self.host, self._places(event), facts, past, _printed)
        self._call, Calls.looked_at = known, None
        return known

    def _places(self, event: Event) -> Places:
        places = Places(slashed(self.env.get("HOME", ""), "/"), slashed(self.project, "/"))
        places = places.replace(
            own=lambda: self._folders(event, by_agent=True),
            more=lambda: self._folders(event, by_agent=False),
            may_hold_secret=lambda path: may_show_secret(path, self.call(event).facts),
        )
        temp = temp_of(self.env)
        return places.replace(temp=(*places.temp, temp)) if temp else places

    def _folders(self, event: Event, *, by_agent: bool) -> tuple[str, ...]:
        """The folders that the agent keeps for itself, or those that the session works in besides the project."""
        found = self._known_folders.get(by_agent)
        if found is None:
            from anyhook.install.working_places import own_folders, working_folders

            given = (self.host, self.given or self.env, self.project)
            cwd = str(event.data.get("cwd") or self.project)
            found = own_folders(*given) if by_agent else working_folders(*given, cwd)
            self._known_folders[by_agent] = found
        return found

    def _facts(self, event: Event) -> Facts:
        facts = facts_of_event(event, cwd=self.project, home=self.env.get("HOME", ""), variables=self.env)
        if self.given is None:
            return facts
        # The agent's `~` may be another: what either of them names counts.
        more = facts_of_event(event, cwd=self.project, home=self.given.get("HOME", ""), variables=self.given)
        added = {
            name: [each for each in getattr(more, name) if each not in getattr(facts, name)] for name in facts.fields
        }
        return facts.replace(**{name: (*getattr(facts, name), *found) for name, found in added.items()})


def _printed(event: Event) -> str:
    """What an event tells of what a tool printed: that it has no secret, that all secrets in it are remembered, that it
    is nothing and nothing caught it, or "". What failed may have printed nothing."""
    if event.name not in AFTER_CALL:
        return ""
    said = [each for field in ("output", "tool_error") for each in lean_json.every_text(event.data.get(field))]
    if not has_failed(event) and not any(map(str.strip, said)):
        catches = any(sign in text for text in lean_json.every_text(event.data.get("input")) for sign in HIDDEN)
        return NOTHING_SAID if said and not catches else ""
    from anyhook.journal.shown import all_known

    each = [all_known(text) for text in said]
    if None in each:
        return ""
    return TOLD if any(each) else CLEAN


def may_show_secret(path: str, facts: Facts) -> bool:
    """Whether a call that reads a file, or all files of a pattern, may show a secret. If it does more than look, they
    may be others by then."""
    rows = [row_of(each.name) for each in facts.runs]
    if {*facts.all_changed} - {os.devnull} or not all(row.has("looks") or row.has("filters") for row in rows):
        return True
    from glob import glob

    found = glob(path, include_hidden=True) or [path]
    return len(found) > MAX_VARIABLE_FILES or any(map(_may_hold_secret, found))


def _may_hold_secret(path: str) -> bool:
    content = head(path, MAX_VARIABLES)
    if content is None or len(content) == MAX_VARIABLES or b"\0" in content:
        return True
    from anyhook.journal.shown import all_known

    try:
        return all_known(content.decode()) is not False
    except UnicodeDecodeError:
        return True


def condition_of(hook: Hook) -> Condition:
    """The condition of a hook that is a rule."""
    assert hook.condition is not None  # noqa: S101 (only rules are asked here)
    tree, marks, spared = hook.condition
    if isinstance(tree, bytes):
        trees = tuple([part for _, part in _unpacked(tree)])
        tree = ("or", trees) if len(trees) > 1 else trees[0]
    return tree, marks, spared


def packed(condition: Condition | Packed) -> Packed:
    """The condition as a plan has it: in parts, unpacked when it is asked, because most calls ask few rules."""
    tree, marks, spared = condition
    return tree if isinstance(tree, bytes) else marshal.dumps(_parts(tree)), marks, spared


def _parts(tree: Node) -> tuple[Part, ...]:
    """The parts of a condition. It holds if one of them does."""
    return tuple([(needs_of(part), part) for part in (tree[1] if tree[0] == "or" else (tree,))])


_unpacked: Callable[[bytes], tuple[Part, ...]] = cached(marshal.loads)
"""What a condition from a plan says."""


class RuleIndex:
    """Rules by mark: a call must have one of a rule's marks for the rule to apply."""

    def __init__(self, conditions: Mapping[int, Condition | Packed], by_mark: Marked | None = None) -> None:
        self.conditions, self.by_mark = conditions, marked(conditions) if by_mark is None else by_mark
        self._parts: dict[int, tuple[Part, ...]] = {}

    def concerned(self, call: RuleCall) -> Iterator[int]:
        """The positions of the rules that apply to a call, or that cannot be evaluated here."""
        marks = marks_of(call.facts).union(*(has for _, has in call.parts))
        for position in {position for mark in marks for position in self.by_mark.get(mark, ())}:
            if self._may_apply(position, marks, call):
                yield position

    def _may_apply(self, position: int, marks: set[str], call: RuleCall) -> bool:
        tree, needs, spared = self.conditions[position]
        parts = self._parts.get(position)
        if parts is None:
            parts = self._parts[position] = _unpacked(tree) if isinstance(tree, bytes) else _parts(tree)
        try:
            trees = [part for has, part in parts if not marks.isdisjoint(has)]
            return any(applies((part, needs, spared), call, Hits(spared)) for part in trees)
        except Exception:  # noqa: BLE001 (it is asked by itself, and says so)
            return True


def marked(conditions: Mapping[int, Condition | Packed]) -> Marked:
    """The marks of rules."""
    found: Marked = {}
    for position, (_, marks, _) in conditions.items():
        for mark in marks:
            found.setdefault(mark, []).append(position)
    return found


def may_be_downloaded(facts: Facts) -> bool:
    """Whether a call downloads something, or runs a file that could have been."""
    return bool(facts.parts) or any(map(_may_run_a_file, facts.runs))


def _may_run_a_file(program: Program) -> bool:
    row = row_of(program.name)
    runs_code = row.language or row.state == "eval" or row.has("fed")
    return bool(row.fetch_to) or "/" in program.path or (bool(runs_code) and program.code is None)


# -- events that reach nothing but rules

CONDITION, STATUS = Hook.fields.index("condition"), Hook.fields.index("status")
UNMET = Report("", "", "", "", "", "unmatched", NOT_MET)
"""Stands for each rule that does not apply: they are counted."""


def idle_rules(plan: CatalogPlan, setup: Setup, host: str, event: Event) -> tuple[Report, ...]:
    """The reports of an event that reaches nothing but rules, if none of them applies; else (). What is not certain is
    left to the walk."""
    if event.name not in plan.rules:
        return ()
    try:
        made = kept.made_from(plan)
        if made is None or (known := made.get(("rules", event.name))) is None:
            positions, by_mark, asks_of_downloads = marshal.loads(plan.rules[event.name])  # noqa: S302 (of the plan)
            index = RuleIndex({each: plan.hooks[each][CONDITION] for each in positions}, by_mark)
            known = index, tuple([_idle(plan.hooks[each]) for each in positions]), asks_of_downloads
            if made is not None:
                made["rules", event.name] = known
        index, reports, asks_of_downloads = known
        call = Calls(setup, host).call(event)
        if (
            call.facts.unread
            or (asks_of_downloads and may_be_downloaded(call.facts))
            or any(True for _ in index.concerned(call))
        ):
            Calls.looked_at = call
            return ()
        return reports
    except Exception:  # noqa: BLE001 (the walk finds out, and says so)
        return ()


def _idle(values: Values) -> Report:
    if values[STATUS] == ARMED:
        return UNMET
    hook = Hook(*values)
    return idle_report(hook, hook.why or hook.status)
