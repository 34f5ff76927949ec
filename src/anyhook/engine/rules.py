"""Rules on the walk: whether a rule's condition holds for an event, and what it then asks for. The facts of a call are
computed once for all its rules, and again only if a hook has rewritten the call."""

from __future__ import annotations

import marshal
import os
from _functools import partial  # type: ignore[import-not-found]
from time import time

from anyhook.engine.match import Catalog, HookStep, match
from anyhook.engine.rule_calls import Calls, RuleIndex, condition_of, marked, may_be_downloaded
from anyhook.journal.record import known_by
from anyhook.model import lean_json
from anyhook.model.decision import Decision, EarlierCall, Report, idle_report
from anyhook.model.event import AFTER_CALL, Event
from anyhook.model.hook import ARMED, Hook
from anyhook.model.outcome import BLOCK, SILENT, Failure, Outcome
from anyhook.model.record import Record
from anyhook.model.words import NOT_MET
from anyhook.platform.places import head, state_dir
from anyhook.rules.evaluate import (
    Before,
    Hits,
    PastLost,
    RuleCall,
    applies,
    has_failed,
    host_of,
    may_hold,
)
from anyhook.rules.marks import (
    ANY,
    asks_for_seen,
    counts_what_is_told,
    is_about_downloads,
    is_about_files,
    is_about_the_past,
    needs_of,
    nodes_of,
)  # fmt: skip
from anyhook.rules.paths import matches
from anyhook.rules.templates import fill, shell_line
from anyhook.tables.isolation import error_line
from anyhook.tables.registry import HOSTS, past

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from anyhook.engine.context import Context
    from anyhook.model.json_types import Json
    from anyhook.rules.evaluate import SessionPast
    from anyhook.rules.language import Condition, Node, Packed
    from anyhook.rules.paths import PathPattern
    from anyhook.state.memory import Books, Deed, Memory, Seen

LEAKED = "leaked"
SEEN_VALUE = "a value seen in this session"
MAX_HOLDING_FILE = 1 << 20
"""How many bytes of a file that a call writes are searched for secrets that are in it already."""
MAX_INDEXES = 64
"""How many routes' indexes an engine keeps."""


class Rules(Calls):
    """Evaluates the rules for one event."""

    def __init__(self, context: Context, session: str, past: CallMemory | None = None) -> None:
        super().__init__(context.setup, context.host)
        self._context = context
        self.session, self.past = session, past
        self.answers: dict[str, Outcome] = {}
        """What the rules that hold ask for, by id; rules that run a command are not included."""
        self.unmet: dict[int, Report] = {}
        """Position in the queue → the report of a rule that does not apply to `unmet_for`."""
        self.unmet_for: Event | None = None
        self.left: list[int] = []
        """The positions of all other steps, and the end of the queue, in order."""
        self._hits: dict[str, Hits] = {}

    def call(self, event: Event, past: SessionPast | None = None) -> RuleCall:
        return super().call(event, past or self.past)

    def remember(
        self, wants: Remembering, event: Event, files: Books | None = None, *, look: bool = False, at_s: float = 0.0
    ) -> None:
        """See what the session did before, and let the call count; with `look`, only see. `at_s` is when, if that is
        not now."""
        if wants.only_downloads and not look and not may_be_downloaded(self.call(event).facts):
            return  # as for most calls: they have no part in it
        from anyhook.state.memory import MemoryFiles, Sketch

        context = self._context
        files = files or (Sketch() if context.recorder.rehearses else MemoryFiles(context.setup.own_dir()))
        self.past = CallMemory(context, wants, event, self.session, files, at_s or time())
        self.past.begin(self.call(event).after(self.past), look=look)

    def unmet_from(self, position: int) -> tuple[list[Report], int]:
        """The reports of the rules from this one on that do not apply, and the position of the next step."""
        following = next(each for each in self.left if each >= position)
        return [self.unmet[each] for each in range(position, following)], following

    def asked(self, steps: tuple[HookStep, ...], position: int, event: Event) -> str:
        """Why a rule does not apply; "" if it does. The first rule that is asked sorts out all rules that cannot apply
        to this call."""
        if self.unmet_for is not event:
            self.unmet, self.left = self._unmet(steps, self.call(event))
            self.unmet_for = event
            if position in self.unmet:
                return NOT_MET
        return self.wanted(steps[position], event)

    def _unmet(self, steps: tuple[HookStep, ...], call: RuleCall) -> tuple[dict[int, Report], list[int]]:
        """The reports of the rules that do not apply to the call, by position, and the positions of all other steps. A
        rule that cannot be evaluated here is asked again by itself."""
        index = self._index(steps)
        try:
            concerned = [*index.concerned(call)]
        except Exception:  # noqa: BLE001 (every rule that is asked will say so)
            return {}, []
        found, left = index.reports.copy(), [*index.others, *concerned]
        for position in concerned:
            del found[position]
        if call.facts.unread:
            for position in self._first_gates(steps, found, call):
                del found[position]
                left.append(position)
        return found, sorted(left)

    def _index(self, steps: tuple[HookStep, ...]) -> RouteRules:
        known = self._context.routes.rule_indexes
        found = known.get(id(steps))
        if found is None or found.steps is not steps:
            if len(known) >= MAX_INDEXES:
                known.clear()
            found = known[id(steps)] = RouteRules(steps)
        return found

    def _first_gates(self, steps: tuple[HookStep, ...], unmet: dict[int, Report], call: RuleCall) -> list[int]:
        """The gates among the rules that may hold, if a part of the call was not read: all that run something, and
        the first other one of each file, which speaks for the file. Those whose answer does not count are left out."""
        found = dict[str, int]()
        for position in unmet:
            hook = steps[position].hook
            if not self._context.shadows(hook) and is_gate(hook) and self._may_hold(hook, call):
                found.setdefault(hook.source if hook.handler == "rule" else hook.id, position)
        return [*found.values()]

    def _may_hold(self, hook: Hook, call: RuleCall) -> bool:
        """Whether a rule may hold for a call, if a part of it was not read."""
        try:
            return may_hold(condition_of(hook)[0], call)
        except Exception:  # noqa: BLE001 (it is asked, and says so)
            return True

    def wanted(self, step: HookStep, event: Event) -> str:
        """Why a rule does not apply; "" if it does, or if asking it failed: then the posture decides, and the rule is
        never skipped."""
        hook = step.hook
        why, failed = match(hook, step.dialect, step.row, event, event)
        if why:
            return why
        try:
            condition = condition_of(hook)
            hits = Hits(condition[2])
            if not failed and not applies(condition, self.call(event), hits):
                call = self.call(event)
                if not (is_gate(hook) and call.facts.unread and self._may_hold(hook, call)):
                    return NOT_MET
                if hook.handler == "rule":
                    self.answers[hook.id] = self._unread(hook, event)
                    return ""
            self._hits[hook.id] = hits
            if hook.handler == "rule":
                self.answers[hook.id] = self.outcome(hook, event)
        except PastLost as error:
            if self.past is not None and self.past.only_downloads and hook.spec["then"] == "ask":
                self.answers[hook.id] = Outcome(
                    verdict="ask", reason=f"The rule `{hook.name}` cannot judge this: {error}."
                )
                return ""
            failed = str(error)
        except Exception as error:  # noqa: BLE001 (one rule's failure, even ours, does not affect others)
            failed = f"asking it failed ({error_line(error)})"
        if failed:
            self.answers[hook.id] = Outcome(failure=Failure("exit", failed))
        return ""

    def explain(self, step: HookStep, event: Event) -> str:
        """Why a rule would not apply, or why asking it fails; "" if it would apply."""
        why = self.wanted(step, event)
        answer = self.answers.get(step.hook.id)
        return answer.failure.detail if not why and answer is not None and answer.failure is not None else why

    def earlier_of(self, hook: Hook) -> list[Json]:
        """What was before, and made a rule hold."""
        hits = self._hits.get(hook.id)
        return [each.text for each in hits.earlier] if hits is not None else []

    def paths_of(self, hook: Hook) -> list[str]:
        """The paths that made a rule hold."""
        hits = self._hits.get(hook.id)
        return [*hits.paths] if hits is not None else []

    def earlier_calls(self, hook: Hook) -> tuple[EarlierCall, ...]:
        """The calls among them, with the records that the journal has of them."""
        hits = self._hits.get(hook.id)
        calls = [each for each in hits.earlier if each.call] if hits is not None else []
        if not calls or self._context.recorder.rehearses:
            return ()
        from anyhook.journal.search import record_of_call

        folder, host = state_dir(self.env), self.host
        return tuple(
            EarlierCall(each.call, at := int(each.at_s * 1e9), record_of_call(folder, host, self.session, each.who, at))
            for each in calls
        )

    def values(self, hook: Hook, event: Event) -> dict[str, str]:
        """The values that a template may name."""
        data, hits = event.data, self._hits.get(hook.id)
        command = command_of(event)
        texts = {name: str(data.get(name) or "") for name in ("tool", "prompt", "message")}
        paths = hits.paths if hits else []
        return {
            **texts,
            "command": command[1] if command else "",
            "path": paths[0] if paths else "",
            "paths": " ".join(paths),
            "project": self.project,
            "folder": hook.source.rpartition("/")[0],
            "session": self.session,
            "event": event.name,
            "agent": self.host,
        }

    def with_line(self, step: HookStep, event: Event) -> HookStep:
        """A rule that runs a command, with the line for this call; a function, with its extra arguments; any other hook
        unchanged."""
        hook = step.hook
        if hook.id not in self._hits or hook.handler not in ("command", "function"):
            return step
        if hook.handler == "function":
            return step.replace(hook=hook.replace(spec={**hook.spec, "given": self._given(hook, event)}))
        paths = tuple(self._hits[hook.id].paths)
        line = shell_line(str(hook.spec["run"]), self.values(hook, event), paths)
        return step.replace(hook=hook.replace(spec={**hook.spec, "line": line}))

    def _given(self, hook: Hook, event: Event) -> dict[str, Json]:
        """What a function gets besides the event."""
        field, line = command_of(event) or ("", "")
        facts = self.call(event).facts.as_json() if "tool" in event.data else {}
        paths: list[Json] = [*self._hits[hook.id].paths]
        asked = next((node[1] for node in nodes_of(condition_of(hook)[0]) if node[0] == "asks"), ())
        earlier: dict[str, Json] = {
            text[1:-1]: self.past is not None and self.past.told(key, text) is not None for _, _, key, text in asked
        }
        given: dict[str, Json] = {"agent": self.host, "command": line, "command_key": field, "facts": facts}
        return {**given, "paths": paths, "earlier": earlier}

    def outcome(self, hook: Hook, event: Event) -> Outcome:
        """What a rule that holds asks for."""
        spec = hook.spec
        values = self.values(hook, event)
        said = " ".join(fill(str(spec[key]), values) for key in ("because", "instead") if spec.get(key))
        said = " ".join(filter(None, (said, *(f"Earlier: {each.text}." for each in self._hits[hook.id].earlier))))
        match spec["then"]:
            case "warn":
                return Outcome(messages=(f"{said} ({_named(hook)})",))
            case "context":
                return Outcome(context=(said,))
            case "rewrite":
                return self._rewrite(hook, event, values)
            case "redact":
                return _redacted(hook, event, said)
            case action:
                does = "asks about" if action == "ask" else "refuses"
                said = f"{self._where(hook)}{said or f'The rule `{hook.name}` {does} this.'}"
                reason = f"{said} ({_named(hook)})"
                return Outcome(verdict="ask" if action == "ask" else BLOCK, reason=reason)

    def _where(self, hook: Hook) -> str:
        """The file that holds what a rule refuses, if it is not the call itself; and what would be lost."""
        hits = self._hits[hook.id]
        path = hits.inside[-1].removeprefix(f"{self.project}/") if hits.inside else ""
        lost = f"{hits.lost}. " if hits.lost else ""
        return f"{f'In {path}, which this runs: ' if path else ''}{lost}"

    def _unread(self, hook: Hook, event: Event) -> Outcome:
        """What a gate asks for if a part of the call was not read: the rule cannot say no, so a person does."""
        why = self.call(event).facts.unread[0].removeprefix("not read: ")
        reason = (
            f"The rule `{hook.name}` cannot judge this: a part of it was not read ({why}). Do it in smaller, simpler"
        )
        return Outcome(verdict="ask", reason=f"{reason} steps.")

    def _rewrite(self, hook: Hook, event: Event, values: dict[str, str]) -> Outcome:
        given, to = event.data.get("input"), hook.spec["to"]
        if not isinstance(given, dict):
            return Outcome(failure=Failure("output", "there is no input to rewrite"))
        if isinstance(to, dict):
            made = {key: fill(text, values) if isinstance(text, str) else text for key, text in to.items()}
            return Outcome(tool_input={**given, **made})
        command = command_of(event)
        if command is None:
            return Outcome(failure=Failure("output", "the call has no command to rewrite"))
        return Outcome(tool_input={**given, command[0]: fill(str(to), values)})


def _redacted(hook: Hook, event: Event, said: str) -> Outcome:
    """A tool's output without its secrets; a prompt with one is refused."""
    from anyhook.journal.shown import without_secrets

    if event.name not in AFTER_CALL:
        _, kinds = without_secrets(event.data.get("prompt") or "")
        what = f"The prompt holds a secret ({', '.join(kinds)}). {said}".strip()
        return Outcome(verdict=BLOCK, reason=f"{what} ({_named(hook)})") if kinds else SILENT
    for field in ("output", "tool_error"):
        made, kinds = without_secrets(event.data.get(field))
        if kinds:
            return Outcome(tool_output=made)
    return SILENT


def _named(hook: Hook) -> str:
    """How a refusal ends: the rule's name, and where a person reads more about it."""
    return f"rule {hook.short_name}; a person can run: anyhook rule {hook.short_name}"


def is_gate(hook: Hook) -> bool:
    """Whether it is a rule that refuses or asks because of what a call does, or runs something that may refuse."""
    return hook.spec.get("then") in ("deny", "ask", "function") and any(mark != ANY for mark in condition_of(hook)[1])


class RouteRules(RuleIndex):
    """The rules of a route."""

    def __init__(self, steps: tuple[HookStep, ...]) -> None:
        self.steps = steps
        self.reports: dict[int, Report] = {}
        """The report of each rule that does not apply: always the same."""
        self.others = [len(steps)]
        """The positions of the steps that are not rules, and the end of the queue."""
        conditions: dict[int, Condition | Packed] = {}
        for position, step in enumerate(steps):
            if (condition := step.hook.condition) is not None and step.why is None and step.hook.status == ARMED:
                conditions[position] = condition
                self.reports[position] = idle_report(step.hook, NOT_MET)
            else:
                self.others.append(position)
        super().__init__(conditions)


def command_of(event: Event) -> tuple[str, str] | None:
    """The name of the input field that holds a command line, and the line."""
    given = event.data.get("input")
    if not isinstance(given, dict):
        return None
    for key in ((event.inputs or {}).get("command", "command"), "command", "cmd", "script"):
        value = given.get(key)
        if isinstance(value, str):
            return key, value
    return None


class Remembering(Record):
    """What rules want to know of the sessions they judge."""

    conditions: tuple[tuple[str, Condition], ...]
    """Those after `earlier`, and the key that each is remembered by."""
    by_day: bool
    """Whether a rule counts by the day,"""
    calls_by_day: bool
    """and whether it counts what we count, not only what the agent tells."""
    by_secret: bool
    """Whether a rule asks for secrets that the session has seen."""
    by_file: bool
    """Whether a rule asks for files that the session made."""
    by_spent: bool
    """Whether a rule counts what the agent tells."""
    only_downloads: bool = False
    """Whether all that rules ask for is if the session downloaded a file."""


def remembering(hooks: Iterable[Hook], event: str) -> Remembering | None:
    """What the rules that are on want to know of an event's session; None if nothing."""
    remembering = [hook for hook in hooks if hook.status == ARMED and hook.listens]
    heard = [hook for hook in remembering if event in (*hook.events, *hook.listens)]
    if not heard:
        return None
    asked = [(condition_of(hook)[2], node) for hook in heard for node in nodes_of(condition_of(hook)[0])]
    nodes = [node for _, node in asked]
    found: dict[str, tuple[str, Condition]] = {}
    for spared, node in asked:
        if node[0] == "earlier" and not is_about_files(node):
            key = _key_of(node[2], spared)
            found[key] = (key, (node[1], needs_of(node[1]), spared))
    by_day, by_day_and_known, by_spent = _counted(nodes)
    by_secret = any(map(asks_for_seen, nodes))
    by_file = any(is_about_files(node) for hook in remembering for node in nodes_of(condition_of(hook)[0]))
    only_downloads = all(map(is_about_downloads, filter(is_about_the_past, nodes)))
    return Remembering((*found.values(),), by_day, by_day_and_known, by_secret, by_file, by_spent, only_downloads)


def only_rules(catalog: Catalog) -> dict[str, bytes]:
    """The rules of each event that reaches nothing else, if there is nothing to do about a call that none of them
    applies to: no gate is off, and none of them remembers it. For `idle_rules`."""
    config, found = catalog.config, dict[str, bytes]()
    if config.off == "deny" or "deny" in config.hook_off.values() or config.hook_mode:
        return found
    for event in catalog.by_event():
        hooks = {position: hook for position, hook in enumerate(catalog.hooks) if event in hook.events}
        wants = remembering(catalog.hooks, event)
        if hooks and all(map(_is_plain_rule, hooks.values())) and (wants is None or wants.only_downloads):
            asked = {position: hook.condition for position, hook in hooks.items() if hook.status == ARMED}
            by_mark = marked({position: condition for position, condition in asked.items() if condition})
            found[event] = marshal.dumps(([*hooks], by_mark, wants is not None))
    return found


def _is_plain_rule(hook: Hook) -> bool:
    """Whether nothing but its condition and a person's switch decides if a hook is asked."""
    is_for_all = not isinstance(hook.matcher, dict) or not isinstance(hook.matcher.get("tool"), str)
    return hook.condition is not None and is_for_all and bool(hook.native_event)


def _counted(nodes: Iterable[Node]) -> tuple[bool, bool, bool]:
    """Whether rules count by the day, by the day what the agent need not tell, and what only the agent tells."""
    counted = {(node[3] == "day", counts_what_is_told(node)) for node in nodes if node[0] == "over"}
    by_day, by_spent = (any(each[place] for each in counted) for place in (0, 1))
    return by_day, (True, False) in counted, by_spent


class CallMemory:
    """What one call sees of its session before it, and what it leaves there. If the memory is lost, every rule that
    asks for it fails, and says so."""

    def __init__(
        self, context: Context, wants: Remembering, event: Event, session: str, files: Books, now_s: float
    ) -> None:
        from anyhook.state.memory import Memory, day_of, root_of

        self._wants, self._event, self._session = wants, event, lean_json.short_digest(session)
        self.only_downloads = wants.only_downloads
        self._native, self._setup = session, context.setup
        self._host, self._now_s = context.host, now_s
        self._who = _who(context, event)
        self._books: dict[str, Memory] = {}
        self._seen: dict[str, Seen] = {}
        self._came_back = frozenset[str]()
        """The keys of secrets that the session has seen and that are in this call."""
        self._lost: dict[str, Exception] = {}
        """Of the session or the day: why it is not known."""
        self._file_marks: dict[bool, list[str]] = {}
        """The marks of the files that the call runs, and of those that it reads, once a rule has asked."""
        try:
            parent = str(event.data.get("parent_session") or "")
            self._books["session"] = Memory(files, root_of(files, session, parent), now_s)
            if wants.by_day:
                self._books["day"] = Memory(files, day_of(now_s), now_s)
        except Exception as error:  # noqa: BLE001 (whatever it is: the rules that need it say so)
            self._lost = {"session": error, "day": error}

    def begin(self, call: RuleCall, *, look: bool = False) -> None:
        """Let the call count, and see what was before it; with `look`, only see."""
        self._call = call
        for period, book in self._books.items():
            try:
                if self._wants.by_secret and call.event.name == "pre_tool" and period == "session":
                    self._came_back = self._comes_back(call)
                    if self._came_back:
                        call.add_secret(SEEN_VALUE)
                deed = self._deed(call, period)
                if self._wants.by_spent and not look:
                    self._count(call.event, deed, period, book)
                counts = period in self._counting()
                if counts and call.event.name == "pre_tool":
                    made = book.look(deed) if look else book.enter(deed)
                elif counts and call.event.name in AFTER_CALL and not look:
                    made = book.ran(deed)
                else:
                    made = book.glance(deed, self._session, _tokens(call.event), begins=not look)
                self._seen[period] = made
            except Exception as error:  # noqa: BLE001 (the same)
                self._lost[period] = error

    def _counting(self) -> dict[str, Memory]:
        """Those in which calls count. A day with nothing but what agents tell is not written for each call."""
        return {each: book for each, book in self._books.items() if each == "session" or self._wants.calls_by_day}

    def _count(self, event: Event, deed: Deed, period: str, book: Memory) -> None:
        """Count what the transcript tells by now, if the agent has one that tells."""
        from anyhook.state.memory import begin_of_day
        from anyhook.tables.spent import place_of, read_on, transcript_of

        reader = past(self._host) if self._host in HOSTS else None
        if reader is None or not reader.tells:
            return
        path = transcript_of(event.raw) or place_of(reader, self._setup.roots(()), self._native)
        if path:
            since_s = begin_of_day(self._now_s) if period == "day" else 0.0
            of = lean_json.short_digest(f"{path} {self._native}" if reader.sums is not None else path)
            book.count(deed, of, partial(read_on, path, reader, self._native, since_s))

    def end(self, decision: Decision, call: RuleCall) -> None:
        """The call was decided."""
        shadowed = any(report.shadow and report.verdict in (BLOCK, "ask") for report in decision.hooks)
        asked = decision.verdict in (BLOCK, "ask") or shadowed
        self.conclude(call, refused=decision.stops and decision.enforced, asked=asked)

    def conclude(self, call: RuleCall, *, refused: bool, asked: bool) -> None:
        """What is remembered of a call that was refused, or that counts only once it has run."""
        rewritten = call.event is not self._event
        if call.event.name != "pre_tool" or not (refused or rewritten or asked):
            return
        for period, book in self._counting().items():
            try:
                if refused:
                    book.leave(self._deed(call, period))
                    continue
                if rewritten:  # what runs is the final form
                    book.enter(self._deed(call, period))
                if asked:
                    book.hold(self._deed(call, period))
            except Exception as error:  # noqa: BLE001 (the call is decided; the next one will find it as it is)
                self._lost[period] = error

    def _deed(self, call: RuleCall, period: str) -> Deed:
        """What is remembered of an event: for a day, only that it was."""
        from anyhook.state.memory import Deed

        event = call.event
        given = lean_json.short_digest(repr((call.field("tool"), event.data.get("input"))))
        facts = call.facts.as_json()
        digest = lean_json.short_digest(repr(facts)) if any(facts.values()) else given
        if event.name not in ("pre_tool", *AFTER_CALL):
            return Deed(self._who, digest, given)
        if period == "day":
            return Deed(self._who, digest, given, failed=event.name != "pre_tool" and has_failed(event))
        keys, has_run = self._keys(call), event.name != "pre_tool"
        if self._wants.by_file:
            keys |= _files_made(call, contents=has_run, leaks=bool(self._came_back))
        if not has_run:
            return Deed(self._who, digest, given, keys)
        return Deed(self._who, digest, given, keys, has_failed(event), tuple(self._secrets_of(call)))

    def _secrets_of(self, call: RuleCall) -> list[tuple[str, tuple[str, ...]]]:
        """The secrets in a tool's output, if a rule asks for them, each with the hosts that it belongs to: those beside
        it, and those that have sent it, if nothing else can have printed it."""
        if not self._wants.by_secret:
            return []
        from anyhook.journal.shown import alone_in, memorable_in

        facts = call.facts
        sent = tuple(map(host_of, facts.connects if len(facts.runs) < 2 and not (facts.reads or facts.secrets) else ()))
        data = call.event.data
        texts = [*map(data.get, ("output", "tool_error")), *alone_in(data.get("output"), data.get("input"))]
        said = [each for text in texts for each in memorable_in(text)]
        return [(part, (*each.hosts, *sent)) for each in said for part in each.parts()]

    def _comes_back(self, call: RuleCall) -> frozenset[str]:
        """The keys of the secrets that the session has seen and that a call's input takes somewhere. They may stay in a
        file that holds them."""
        known = self._books["session"].known()
        if not known.digests:
            return frozenset()
        from anyhook.journal.shown import spelled_in

        def keys_in(texts: Iterable[str]) -> set[str]:
            found = (known.key_of(each) for text in texts for each in spelled_in(text, known.sizes))
            return set(filter(None, found))

        found = keys_in(lean_json.every_text(call.event.data.get("input")))
        if not found or call.facts.runs or call.facts.connects or not call.facts.writes:
            return frozenset(found)
        kept = found
        for path in call.facts.writes:
            kept = kept & keys_in([(head(path, MAX_HOLDING_FILE) or b"").decode("utf-8", "replace")])
        return frozenset(found - kept)

    def is_service(self, host: str) -> bool:
        """Whether the secrets that came back belong to the service at a host."""
        known = self._books["session"].known() if self._came_back else None
        return known is not None and all(known.belongs(key, host) for key in self._came_back)

    def _keys(self, call: RuleCall) -> dict[str, str]:
        """The conditions that the call meets, and what makes each true. One that cannot be judged counts as met."""
        found: dict[str, str] = {}
        for key, condition in self._wants.conditions:
            hits = Hits(condition[2])
            try:
                if applies(condition, call, hits):
                    found[key] = _shown(hits.paths[0], call) if hits.paths else ""
            except Exception as error:  # noqa: BLE001 (the same)
                found[key] = f"it could not be judged: {error_line(error)}"
        return found

    def made_it(self, how: str) -> Before | None:
        """The earlier call that wrote or downloaded a file which this call runs, or put a secret into one that it
        reads."""
        met = self._of("session").met
        if how == LEAKED and not any(key.startswith(LEAKED) for key in met):
            return None
        marks = self._file_marks.get(how == LEAKED)
        if marks is None:
            from anyhook.programs.made import files_run, marks_of_files

            facts = self._call.facts
            paths = tuple(facts.whole().reads) if how == LEAKED else files_run(facts)
            marks = self._file_marks[how == LEAKED] = [mark for mark, _ in marks_of_files(paths)]
        found = next((met[key] for mark in marks if (key := f"{how} {mark}") in met), None)
        return found.told(how) if found is not None else None

    def told(self, key: str, text: str, spared: tuple[PathPattern, ...] = ()) -> Before | None:
        known = self._of("session").met
        met = known.get(_key_of(key, spared))
        if met is None and spared:  # from before the rule left them out
            met = known.get(key)
            places, path = self._call.places, met.what if met is not None else ""
            path = f"{places.home}{path[1:]}" if path.startswith("~") else path
            if any(matches(each, path, places, covers=False, may_be=False) for each in spared):
                met = None
        return met.told(text) if met is not None else None

    def came_back(self) -> Before | None:
        if not self._seen:  # what this call itself meets is being looked at
            return None
        met = self._of("session").met.get(min(self._came_back, default=""))
        return met.told("a tool printed it") if met is not None else None

    def is_over(self, limit: float, counted: str, period: str) -> bool:
        return self._of(period).is_over(limit, counted)

    def tells(self, counted: str, period: str) -> Before | None:
        return self._of(period).tells(counted)

    def _of(self, period: str) -> Seen:
        if period in self._lost:
            raise self._lost[period]
        return self._seen[period]


def _who(context: Context, event: Event) -> str:
    """What a call is known by; of a call without an id, the parts have the same bytes and the same time."""
    if call_id := event.data.get("call_id"):
        return known_by(context.host, str(call_id))
    if context.deadline_s is None:
        return os.urandom(16).hex()
    return lean_json.short_digest(f"{os.getpid()} {context.deadline_s!r} {event.raw!r}")


def _key_of(key: str, spared: tuple[PathPattern, ...]) -> str:
    """What a condition of a rule that leaves out paths is remembered by."""
    return lean_json.short_digest(f"{key} {spared}") if spared else key


def _tokens(event: Event) -> float:
    """How many tokens the session has used so far, if the event tells it."""
    usage = event.data.get("usage")
    told = [usage.get(name) for name in ("input_tokens", "output_tokens")] if isinstance(usage, dict) else []
    return float(sum(each for each in told if isinstance(each, (int, float))))


def _shown(path: str, call: RuleCall) -> str:
    """A path for a person, without what looks like a secret in it."""
    from anyhook.journal.redact import redacted

    home = call.places.home.rstrip("/")
    return str(redacted(f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path))


def _files_made(call: RuleCall, *, contents: bool, leaks: bool) -> dict[str, str]:
    """What is remembered of the files that a call wrote; with `leaks`, it has a secret that the session has seen."""
    from anyhook.programs.made import files_made, marks_of_files

    made = files_made(call.facts)
    marks = [*marks_of_files((*made,), contents=contents)]
    how = {path: ("wrote", *["downloaded"] * made[path], *[LEAKED] * leaks) for path in made}
    return {f"{word} {mark}": _shown(path, call) for mark, path in marks for word in how[path]}
