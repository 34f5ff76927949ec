"""Harness: hooks in a sandbox, for test programs that fire one event after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from anyhook.extra.testing.conformance.matching import parse_json
from anyhook.extra.testing.kit.box import LIMIT_S
from anyhook.extra.testing.kit.cases import Case
from anyhook.extra.testing.kit.compare import hook_notes, reports
from anyhook.extra.testing.kit.events import ByAgent, ByDialect, Events
from anyhook.extra.testing.kit.form import LISTED, entries_of
from anyhook.extra.testing.kit.run import Fired, fire_case
from anyhook.extra.testing.kit.sandbox import Sandbox
from anyhook.journal.read import objects
from anyhook.model.decision import Decision, Report
from anyhook.model.event import Event
from anyhook.model.json_types import Json
from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.model.words import MODE, ON_FAILURE
from anyhook.tables.registry import DIALECTS
from anyhook.tables.shapes import guess


class HarnessOptions(TypedDict, total=False):
    """The same as the keys with these names in a case file."""

    files: Mapping[str, Json] | None
    home: Mapping[str, Json] | None
    env: Mapping[str, str | None] | None
    bring: Sequence[str]
    dialects: Sequence[str]
    on_failure: str
    mode: str
    limit_s: float


class BridgeReply(Record):
    """The answer that an agent gets."""

    status: int | None
    stdout: str
    stderr: str
    decision: Decision | None
    """What was decided, from the journal; None for an agent's event that anyhook does not handle."""

    @property
    def json(self) -> Json:
        return parse_json(self.stdout)


class Harness:
    """A copy of a project with its hooks, or with some of them. Each event is fired in a new process, all of them in
    the same copy. No approval is needed: the program that makes a harness is already running code."""

    def __init__(
        self,
        project: str | os.PathLike[str] = ".",
        hooks: Sequence[str] = (),
        **options: Unpack[HarnessOptions],
    ) -> None:
        """`hooks` by id, name or part of the id; () for all."""
        __tracebackhide__ = True
        for name in options:
            _check("option", name, tuple(HarnessOptions.__annotations__), TypeError)
        self._case = Case(
            "",
            dialects=tuple(options.get("dialects", ())),
            on_failure=options.get("on_failure", ""),
            mode=options.get("mode", ""),
            limit_s=options.get("limit_s", LIMIT_S),
            only=tuple(hooks),
        )
        _check("on_failure", self._case.on_failure, ("", *ON_FAILURE))
        _check("mode", self._case.mode, ("", *MODE))
        for name in self._case.dialects:
            _check("dialects", name, tuple(DIALECTS))
        self._sandbox = Sandbox(str(project), options.get("bring", ()))
        try:
            files, home = dict(options.get("files") or {}), dict(options.get("home") or {})
            self._sandbox.lay_out(entries_of(files), entries_of(home))
            self._sandbox.set(options.get("env") or {})
        except BaseException:
            self.close()
            raise
        self.events = Events(self._sandbox.project)
        self.tell: Callable[[str], None] = lambda _: None
        """Called with the result of each event, to find the cause of a failure."""

    @property
    def project(self) -> Path:
        """The copy, to look at what hooks left there."""
        return Path(self._sandbox.project)

    @property
    def home(self) -> Path:
        return Path(self._sandbox.home)

    def fire(self, event: str | Event | ByDialect, **fields: Json) -> Decision:
        """Fire an event, by any name with its fields, or ready made."""
        __tracebackhide__ = True
        if isinstance(event, Event):
            return self._fired(event=event.name, given={**event.data, **fields}, hosted=event.hosted)[1]
        if isinstance(event, ByDialect):
            return self._fired(event=event.native, given={**event.given, **fields})[1]
        return self._fired(event=event, given=fields)[1]

    def bridge(self, event: ByAgent) -> BridgeReply:
        """Let an agent call its hook, as `harness.events.agents` makes such calls."""
        __tracebackhide__ = True
        if self._case.only:
            raise ValueError("an agent reaches all hooks; load them all to call the bridge")
        fired, decision = self._fired(agent=event.owner, event=event.native, stdin=event.stdin)
        return BridgeReply(fired.exit, fired.stdout, fired.stderr, decision if fired.decision else None)

    def _fired(self, **what: object) -> tuple[Fired, Decision]:
        __tracebackhide__ = True
        case = self._case.replace(**what)
        fired = fire_case(case, self._sandbox)
        name, verdict = f"{case.agent} {case.event}".strip(), fired.decision.get("verdict", "nothing was decided")
        self.tell("\n".join([f"{name}: {verdict}", *hook_notes(fired)]))
        return fired, decision_of(fired.decision)

    def close(self) -> None:
        self._sandbox.close()


def _check(name: str, value: str, choices: Sequence[str], error: type[Exception] = ValueError) -> None:
    __tracebackhide__ = True
    if value not in choices:
        raise error(f"{name}={value!r} is not one of {', '.join(filter(None, choices))}.{guess(value, choices)}")


def decision_of(made: dict[str, Json]) -> Decision:
    """The decision that was printed as JSON."""
    plain: dict[str, object] = {field: made[field] for field in Decision.fields if field in made}
    for field in LISTED:
        texts = made.get(field)
        plain[field] = tuple(map(str, texts)) if isinstance(texts, list) else ()
    plain["hooks"] = tuple(Report("", "", "", "", "", "ran").replace(**_known(row, Report)) for row in reports(made))
    plain["problems"] = tuple(_problem(row) for row in objects(made.get("problems")))
    return Decision(str(made.get("event"))).replace(**plain)


def _problem(row: dict[str, Json]) -> Problem:
    code = str(row.get("code"))
    return Problem(code, str(row.get("what"))).replace(**_known(row, Problem))


def _known(row: dict[str, Json], kind: type[Record]) -> dict[str, object]:
    return {key: value for key, value in row.items() if key in kind.fields}
