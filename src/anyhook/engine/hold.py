"""Hold: a call that a hook asks about waits for a person elsewhere (`[ask]` in the settings). The process that judges
the call waits; an answer comes from `anyhook approvals` at a terminal, or from the page. Whatever else happens, the
call is refused, and the agent is told why."""

from __future__ import annotations

import difflib
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from anyhook.engine.context import Context
from anyhook.engine.merge import Judged, lasts, merge
from anyhook.journal.read import about
from anyhook.journal.record import clean
from anyhook.model import lean_json
from anyhook.model.call import Call, Run
from anyhook.model.event import Event
from anyhook.model.hook import Hook, Source
from anyhook.model.json_types import Json
from anyhook.model.outcome import ASK, BLOCK
from anyhook.model.problem import WARNING, Problem
from anyhook.model.record import Record
from anyhook.model.words import Ending
from anyhook.platform.places import NOWHERE, open_regular
from anyhook.platform.run import start
from anyhook.platform.watcher import Watched
from anyhook.rules.calls import facts_of_event
from anyhook.state.approvals import ANSWER_LOOK_S, SECOND_NS, Approvals, Waiting, grant, page_link
from anyhook.state.settings import NTFY, WAIT_S
from anyhook.tables.translate import restored

if TYPE_CHECKING:
    from anyhook.handlers import Waitable

MIN_HOLD_S = 1.0
"""A call that can wait no longer than this is refused at once: nobody answers so fast."""
LATE_NS = SECOND_NS
"""How much later than its time an answer may be read. If more has passed on the wall clock, the machine was asleep."""
NOTICE_S = 10.0
MAX_DIFF_LINES, MAX_SHOWN_FILE, MAX_NOTICE = 200, 1 << 18, 600
AS_AN_ANSWER = (
    "That is not for you to get around: do not try to reach the same in another way. Say what you wanted to do and why,"
    " and go on with something else or stop."
)
NOT_ANSWERED = "not-answered"
"""The code of the problem of a call that was refused because nobody answered."""


class Held(Record):
    """How a hold ended."""

    allows: bool
    why: str
    """Why the call is refused; "" if it is not."""
    answered: dict[str, Json] | None = None
    problems: tuple[Problem, ...] = ()


def asking(entries: Sequence[Judged]) -> list[Judged]:
    """The outcomes that ask, in the catalog's order."""
    return sorted((entry for entry in entries if entry.outcome.verdict == ASK), key=lambda entry: entry.position)


def holds(context: Context, event: str, entries: Sequence[Judged]) -> bool:
    """Whether the call has to wait for a person: a hook asks, none refuses, and the settings say that a person
    elsewhere answers here."""
    where = context.config.ask.get("where")
    if where is None or where == "agent" or context.mode == "shadow" or context.recorder.rehearses:
        return False
    if where == "both" and context.can_ask:
        return False
    return merge(event, entries).verdict == ASK


class Hold:
    """One call that waits. Any thread may wait for it or end it."""

    def __init__(self, context: Context, event: Event, entries: Sequence[Judged]) -> None:
        self._context, self._asking = context, asking(entries)
        self._over = threading.Event()
        self._posts: list[tuple[str, Waitable]] = []
        self._waiting: Waiting | None = None
        self.held = Held(allows=False, why="")
        self._approvals = Approvals(folder := context.setup.own_dir())
        configured = context.config.ask.get("wait_s")
        wait_s = float(configured) if isinstance(configured, int) else float(WAIT_S)
        if context.deadline_s is not None:
            wait_s = min(wait_s, context.deadline_s - monotonic())
        self._wait_s, self._until_s = wait_s, monotonic() + wait_s
        if wait_s < MIN_HOLD_S:
            self._refuse("it cannot wait for a person here, because its agent does not wait long enough")
        elif folder == NOWHERE:
            self._refuse("it cannot wait for a person: the state folder is inside the project")
        else:
            try:
                self._waiting = self._approvals.ask(_told(context, event, self._asking, wait_s))
            except (OSError, ValueError, RecursionError) as error:
                self._refuse(f"it could not be shown to a person ({getattr(error, 'strerror', None) or error})")
            else:
                self._posts = _notices(context, self._waiting, page_link(folder))

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def wait(self, grace_s: float | None = None) -> Run | None:
        """Wait for the answer, or for the end of the time."""
        until_s = self._until_s if grace_s is None else min(self._until_s, monotonic() + grace_s)
        while not self._over.is_set():
            self._look()
            if self._over.is_set() or (grace_s is not None and monotonic() >= until_s):
                break
            self._over.wait(min(ANSWER_LOOK_S, max(until_s - monotonic(), 0.0)))
        return Run("exited", 0, b"", b"", 0, 0.0) if self._over.is_set() else None

    def end(self, ending: Ending = "cancelled") -> None:
        """Nobody waits for it any more."""
        if self._waiting is not None and not self._over.is_set():
            try:
                self._approvals.close(self._waiting)
            except OSError:
                pass  # who would answer it sees that this process has ended
        self._refuse("its agent no longer waits for an answer")

    def _refuse(self, why: str, answered: dict[str, Json] | None = None) -> None:
        if not self._over.is_set():
            self.held = Held(allows=False, why=why, answered=answered)
            self._over.set()

    def _look(self) -> None:
        waiting = self._waiting
        assert waiting is not None  # noqa: S101 (without one, it is over)
        said = self._approvals.reply(waiting)
        is_due = monotonic() >= self._until_s or waiting.left_s <= 0
        if not said and is_due:
            try:
                is_closed = self._approvals.close(waiting)
            except OSError:
                is_closed = True  # then nobody could answer either
            if is_closed:
                self._refuse(self._nobody(waiting))
                return
            said = self._approvals.reply(waiting)
        if said or is_due:
            self._read(waiting, said)

    def _nobody(self, waiting: Waiting) -> str:
        slept = waiting.left_s < -LATE_NS / SECOND_NS
        return f"nobody answered within {self._wait_s:.0f} s" + (" (the computer slept meanwhile)" if slept else "")

    def _read(self, waiting: Waiting, said: Mapping[str, Json]) -> None:
        """What an answer means. Anything that is not exactly an answer to what was shown refuses."""
        self._approvals.close(waiting)
        by, at = said.get("by"), said.get("at")
        if said.get("digest") != waiting.digest or by not in ("terminal", "page") or not isinstance(at, int):
            self._refuse("what was written down as its answer is none to what was asked")
            return
        answered: dict[str, Json] = {"by": by, "at": at}
        if time_ns() > self._until_ns(waiting) + LATE_NS:
            self._refuse("the answer came when its time was over", answered)
        elif said.get("allows") is not True:
            because = said.get("because")
            self._refuse("a person refused it" + (f": {because}" if because else ""), answered)
        else:
            if said.get("lasts") is True and waiting.may_last:
                self._remember(waiting)
            self.held = Held(allows=True, why="", answered=answered)
            self._over.set()

    @staticmethod
    def _until_ns(waiting: Waiting) -> int:
        until = waiting.told.get("until")
        return until if isinstance(until, int) else 0

    def _remember(self, waiting: Waiting) -> None:
        folder, session = self._context.setup.own_dir(), str(waiting.told.get("session"))
        for entry in self._asking:
            try:
                grant(folder, self._context.host, session, self._context.setup.project, entry.hook.id)
            except OSError:
                return  # the next call is asked about again

    def concluded(self, entries: Sequence[Judged]) -> tuple[list[Judged], Held]:
        """The outcomes as they count after the answer, and how it ended. A yes is as if the hooks that asked had not;
        anything else is as if they had refused."""
        held = self.held.replace(problems=self._failed_notices())
        reasons = "; ".join(filter(None, dict.fromkeys(entry.outcome.reason for entry in self._asking)))
        made = list(entries)
        for at, entry in enumerate(made):
            if entry.outcome.verdict != ASK:
                continue
            if held.allows:
                made[at] = entry.replace(outcome=entry.outcome.replace(verdict="none", reason=None))
            else:
                refusal = f"A person has to confirm this, and {held.why}. {AS_AN_ANSWER} What was asked: {reasons}"
                made[at] = entry.replace(outcome=entry.outcome.replace(verdict=BLOCK, reason=refusal))
        if held.answered is None:
            where = self._asking[0].hook.where()
            found = Problem(
                NOT_ANSWERED, "a call waited for a person and is refused", where, held.why, severity=WARNING
            )
            held = held.replace(problems=(*held.problems, found))
        return made, held

    def _failed_notices(self) -> tuple[Problem, ...]:
        found = []
        for way, post in self._posts:
            run = post.wait(0.0)
            if run is None:
                post.end("cancelled")
            elif run.ending != "exited" or run.exit_code != 0:
                why = run.stderr.decode("utf-8", "replace").strip() or run.error or run.ending.replace("_", " ")
                fix = "Correct it under [ask] in config.toml, or remove it there."
                found.append(
                    Problem("notice-failed", "a person was not told that a call waits", way, why, fix, WARNING)
                )
        return tuple(found)


# What a person is shown.


def _told(context: Context, event: Event, asked: Sequence[Judged], wait_s: float) -> dict[str, Json]:
    """All of it, without secrets."""
    setup, policy, now = context.setup, context.recorder.policy, time_ns()

    def plain(value: Json) -> Json:
        return lean_json.loads_any(clean(value, policy, cut=True))

    facts = facts_of_event(event, cwd=setup.project, home=setup.env.get("HOME", ""), variables=setup.env).as_json()
    shown = event.replace(data={**event.data, "input": plain(event.data.get("input"))})
    names = [_name(entry.hook) for entry in asked]
    rules = [entry.hook for entry in asked if entry.hook.condition is not None]
    may_last = bool(event.data.get("session")) and all(lasts(entry.hook) for entry in asked)
    made: dict[str, Json] = {
        "at": now,
        "agent": context.host,
        "project": setup.project,
        "session": str(event.data.get("session") or context.session),
        "event": event.name,
        "tool": str(event.data.get("tool") or ""),
        "what": plain(_what(shown)),
        "reason": plain("; ".join(filter(None, dict.fromkeys(entry.outcome.reason for entry in asked)))),
        "rule": ", ".join(dict.fromkeys(names)),
        "until": now + int(wait_s * SECOND_NS),
        "facts": plain({key: value for key, value in facts.items() if value}),
        "diff": [*_diff(context, shown, plain)],
        "may_last": may_last,
        "always": [*_always(rules, setup.project)],
    }
    return made


def _what(event: Event) -> str:
    given = event.data.get("input")
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else about(event.data)


def _name(hook: Hook) -> str:
    return hook.short_name if hook.condition is not None else hook.id


def _always(rules: Sequence[Hook], project: str) -> list[str]:
    """The commands after which the rules ask no more in this project. A person runs them anywhere."""
    own, there = [rule for rule in rules if lasts(rule)], shlex.quote(project)
    ending = f"--off --project-only --project {there}"
    return [f"anyhook relax {rule.short_name} {ending}" for rule in own if "/" in rule.short_name]


def _diff(context: Context, event: Event, plain: Callable[[Json], Json]) -> list[str]:
    """An edit as the lines of a diff."""
    given = event.data.get("input")
    given = restored(given, event.inputs or {}) if isinstance(given, dict) else {}
    path, old, new = (given.get(key) for key in ("path", "old_text", "new_text"))
    if isinstance(given.get("content"), str) and isinstance(path, str):
        new, old = given["content"], _now(path, context)
    if not (isinstance(old, str) and isinstance(new, str)) or old == new:
        return []
    lines = [*difflib.unified_diff(str(plain(old)).splitlines(), new.splitlines(), n=2, lineterm="")][2:]
    more = len(lines) - MAX_DIFF_LINES
    return lines if more <= 0 else [*lines[:MAX_DIFF_LINES], f"… {more} more lines"]


def _now(path: str, context: Context) -> str:
    """What a file holds now; "" if that cannot be shown."""
    try:
        with open_regular(path if path.startswith("/") else f"{context.setup.project}/{path}", MAX_SHOWN_FILE) as file:
            return file.read().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


# Notices: they tell a person that a call waits. They carry no answer, and none of them can give one.


def _notices(context: Context, waiting: Waiting, link: str) -> list[tuple[str, Waitable]]:
    ways = context.config.ask.get("notify")
    told = waiting.told
    what = f"{told['agent']} waits for you: {told['tool']}: {told['what']}"[:MAX_NOTICE]
    answer = f"anyhook approvals allow {waiting.id}"
    reason = str(told["reason"])[:MAX_NOTICE]
    text = f"{what}\n{reason}\n{waiting.left_s:.0f} s left, in {told['project']}. At a terminal: {answer}"
    text += f"\n{link}" if link else ""
    started: list[tuple[str, Waitable]] = []
    for way in ways if isinstance(ways, list) else []:
        found = _desktop(context, what, reason) if way == "desktop" else _post(context, str(way), text, reason, link)
        started.append((str(way), found))
    return started


def _desktop(context: Context, title: str, text: str) -> Waitable:
    env = dict(context.setup.env)
    words = ("notify-send", "--app-name=anyhook", "--", title, text)
    child = start(Call(words, b"", env, "/", NOTICE_S, ""))
    return _Ended(child) if isinstance(child, Run) else Watched(child)


def _post(context: Context, way: str, text: str, reason: str, link: str) -> Waitable:
    from anyhook.handlers.http import HttpRun

    is_plain = way.startswith(NTFY)
    spec: dict[str, Json] = {"url": way.removeprefix(NTFY)}
    if is_plain:
        spec["headers"] = {
            "Content-Type": "text/plain; charset=utf-8",
            "Title": "anyhook",
            **({"Click": link} if link else {}),
        }
    body = text if is_plain else lean_json.dumps({"text": text, "reason": reason, "link": link or None})
    hook = Source("anyhook", "builtin", "", "").hook("notice", "notice", "", (), spec, NOTICE_S, handler="http")
    return HttpRun(hook, Call((), body.encode(), {}, "/", NOTICE_S, ""), {})


class _Ended:
    """A program that could not be started."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def wait(self, _grace_s: float | None = None) -> Run | None:
        return self._run

    def end(self, _ending: Ending = "cancelled") -> None:
        return
