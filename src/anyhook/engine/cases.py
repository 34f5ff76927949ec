"""Together: the hooks of a dialect that runs them in parallel. All are started before the first is waited for; their
answers still count in the order of the queue."""

from __future__ import annotations

import os
from sys import getrefcount

from anyhook.engine.interpret import interpret
from anyhook.engine.merge import Judged, ignore_block, judge, merge, posture_of
from anyhook.engine.near_miss import unless_never_ran
from anyhook.engine.present import own_scene, scene_of
from anyhook.engine.routes import match
from anyhook.engine.walk import UNPREPARED, Prepared, Walk
from anyhook.handlers import inside_hook
from anyhook.model.call import Run
from anyhook.model.event import GATES, Event
from anyhook.model.firing import HookRun
from anyhook.model.hook import ARMED, BROKEN, Hook
from anyhook.model.lean_json import same
from anyhook.model.outcome import ALLOW, BLOCK, EFFECTS, SILENT, STOPPING, STRENGTH, Failure, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.platform.beside import watched
from anyhook.programs.commands import SHELLS, expand_home, words_of
from anyhook.tables.isolation import error_line
from anyhook.tables.rows import Scene
from anyhook.tables.translate import REWRITES, completed, to_host, to_native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from typing import SupportsIndex

    from anyhook.engine.context import Context
    from anyhook.engine.routes import Callback, HookStep
    from anyhook.engine.walk import Walk
    from anyhook.handlers import Waitable
    from anyhook.model.call import Call, Run
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome
    from anyhook.state.plans import Setup
    from anyhook.tables.rows import Dialect, EventRow, Launch


def start_together(walk: Walk, first: int) -> None:
    """Match the hooks of the dialect whose first hook is at this position, and start those that will run, unless one of
    them has to run alone. Waiting for one process serves all of them; handlers of other kinds get a thread each."""
    steps, queue, prepared = walk.route.steps, walk.queue, walk.prepared
    table = steps[first].dialect
    seen: dict[tuple[Json, ...], str] = {}
    ready: list[int] = []
    for position, step in enumerate(steps[first:], first):
        hook, why, failed = step.hook, step.why, ""
        if step.dialect is not table:
            break
        if hook.status == BROKEN or step.closed_because or position in prepared:
            continue
        if why is None:
            why, failed = match(hook, table, step.row, queue.seen, queue.event)
        same_as = ""
        if not why and not failed:
            first_id = seen.setdefault(table.identity(hook), hook.id)
            same_as = first_id if first_id != hook.id else ""
            if not same_as and not hook.background:
                ready.append(position)
        prepared[position] = Prepared((why, failed), same_as)
    if len(ready) < 2 or any(table.in_turn(steps[position].hook) for position in ready):
        return
    started = [walk.start(steps[each], scene_of(walk.context, queue.seen, table, steps[each].row)) for each in ready]
    for position, one, run in zip(ready, started, watched([each.run for each in started]), strict=True):
        prepared[position] = prepared[position].replace(started=one.replace(run=run), seen=queue.seen)


def end_prepared(walk: Walk) -> None:
    """End the hooks that were started but whose turn will not come."""
    for position, prepared in walk.prepared.items():
        if prepared.started is None:
            continue
        hook, started = walk.route.steps[position].hook, prepared.started
        run: Run | None
        if isinstance(started.run, Run):
            run = started.run
        else:
            started.run.end("cancelled")
            run = started.run.wait(None)
        posture = posture_of(walk.context, hook)
        walk.runs.append(HookRun(hook, started.call, posture, started.model, run, "cancelled"))
        walk.report(hook, "ran", run=run)


# Not run: what counts for a hook that could not be asked, or whose gate is off.


def fail(walk: Walk, position: int, step: HookStep, error: Exception) -> None:
    """Our own code failed on this hook. The hook counts as broken, and the user gets a message."""
    left, walk.running = walk.running, None
    if left is not None:
        left.end("cancelled")
        left.wait(None)
    if not any(entry.position == position for entry in walk.entries):
        why = error_line(error)
        message = f"anyhook: hook `{step.hook.name}` could not be asked: {why}"
        count_as_broken(walk, position, step, f"anyhook failed while it was asked ({why})", (message,))


def count_as_broken(walk: Walk, position: int, step: HookStep, why: str, messages: tuple[str, ...] = ()) -> None:
    """Count a hook as broken that could not be asked, for example because its matcher failed."""
    outcome = Outcome(failure=Failure("not_started", why), messages=messages)
    outcome = judge(step.hook, step.dialect, step.row, outcome, posture_of(walk.context, step.hook), {})
    walk.report(step.hook, "broken", why, verdict=outcome.verdict)
    walk.take(position, step, outcome, upstream=False)


def refuse_as_off(walk: Walk, position: int, step: HookStep) -> None:
    """Refuse for a gate that is off, because the user's `off` setting says so."""
    hook, why = step.hook, "it is off, and `off` in the settings is `deny`"
    refusal = Outcome.block(step.closed_because)
    outcome = judge(hook, step.dialect, step.row, refusal, posture_of(walk.context, hook), {})
    problem = Problem("gate-off", f"`{hook.name}` is off, so what it guards is refused", hook.where(), hook.why)
    outcome = outcome.replace(problems=(*outcome.problems, problem))
    if step.dialect.name in walk.context.exhausted:
        outcome = ignore_block(hook, step.row, outcome)
    walk.report(hook, "untrusted" if not hook.trusted else "broken", hook.why or why, verdict=outcome.verdict)
    walk.take(position, step, outcome, upstream=False)


# Same hook: a program that several dialects declare for one event runs once. Every dialect that declares it reads its
# answer, and the strictest reading counts.


SHELL_SIGNS = frozenset("|&;<>()`*?[]{}#!\\\n'")

"""Characters that make a shell line more than one program with arguments, or hide a variable's value."""


def declared_again(
    steps: Sequence[HookStep], event: Event, setup: Setup, settings: Mapping[str, Mapping[str, str]]
) -> dict[int, tuple[int, ...]]:
    """Position of a hook → the positions of later declarations of the same program in other dialects."""
    keys: list[tuple[int, Dialect, tuple[str, ...]]] = []
    for place, step in enumerate(steps):
        hook, table = step.hook, step.dialect
        if step.why or step.closed_because or hook.handler != "command" or hook.background or hook.status != ARMED:
            continue
        scene = Scene(event, step.row.native, setup.project, "", setup.for_hooks, settings.get(table.name, {}))
        launch = table.launch(hook, own_scene(hook, scene))
        if launch.argv and not launch.missing:
            keys.append((place, table, program_of(launch, setup.for_hooks)))
    found: dict[int, tuple[int, ...]] = {}
    for index, (place, table, key) in enumerate(keys):
        later = tuple(other for other, its, again in keys[index + 1 :] if again == key and its is not table)
        if later:
            found[place] = later
    return found


def program_of(launch: Launch, env: Mapping[str, str]) -> tuple[str, ...]:
    """The program that would run and its arguments: links followed, variables filled in, files by their real paths."""
    argv = launch.argv
    if len(argv) == 3 and argv[1] in ("-c", "-lc") and os.path.basename(argv[0]) in SHELLS:
        line = argv[2].strip()
        words = None if SHELL_SIGNS & set(line) else _words(line)
        if words is None:
            return (_resolved(argv[0], launch, env), argv[1], _filled(line, launch.env))
        argv = tuple(expand_home(_filled(word, launch.env), env.get("HOME", "")) for word in words)
    if not argv:
        return ()
    return (_resolved(argv[0], launch, env), *(_by_real_path(word, launch.cwd) for word in argv[1:]))


def _words(line: str) -> list[str] | None:
    """The words of a plain line; None for any other line."""
    try:
        return words_of(line)
    except ValueError:
        return None


def _filled(text: str, env: Mapping[str, str]) -> str:
    if "$" not in text:
        return text
    from string import Template

    return Template(text).safe_substitute(env)


def _resolved(program: str, launch: Launch, env: Mapping[str, str]) -> str:
    if "/" in program:
        return os.path.realpath(os.path.join(launch.cwd, program))
    for folder in launch.env.get("PATH", env.get("PATH", "")).split(os.pathsep):
        path = os.path.join(launch.cwd, folder, program)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.realpath(path)
    return program


def _by_real_path(word: str, cwd: str) -> str:
    path = os.path.join(cwd, word)
    return os.path.realpath(path) if os.path.isfile(path) else word


# -- while an event walks


def read_by_all(
    walk: Walk, place: int, step: HookStep, call: Call, run: Run, outcome: Outcome
) -> tuple[HookStep, Outcome]:
    """The strictest reading of a run, with the names of the dialect that ran it, and the step that it counts for. The
    other declarations that match are then done; one that cannot read the answer runs by itself."""
    shadowed = walk.context.config.hook_mode
    readings = [] if shadowed.get(step.hook.id) == "shadow" else [(step.row, outcome)]
    speaker = step.hook if readings else None
    also: list[tuple[str, str]] = []
    for other in walk.route.declared_again[place]:
        again = walk.route.steps[other]
        try:
            prepared = walk.prepared.get(other, UNPREPARED)
            judged = None if prepared.same_as else _read(walk, again, step.dialect, call, run)
        except Exception:  # noqa: BLE001 (a failure here must not cost the first reading)
            judged = None
        if judged is None:
            continue
        walk.prepared[other], walk.read_with[other] = prepared.replace(same_as=step.hook.id), place
        if shadowed.get(again.hook.id) != "shadow" and again.dialect.name not in walk.context.exhausted:
            speaker = speaker or again.hook
            also.append((again.dialect.name, again.row.native))
            readings.append((again.row, judged))
    if also:
        walk.runs[-1] = walk.runs[-1].replace(also=tuple(also))
    if speaker is None:
        return step, outcome
    row, outcome = strictest(readings)
    return step.replace(hook=speaker, row=row), outcome


def _read(walk: Walk, again: HookStep, table: Dialect, call: Call, run: Run) -> Outcome | None:
    """How another declaration reads the run, with the names of `table`; None if it does not want the event."""
    context, event, hook = walk.context, walk.event, again.hook
    seen = to_native(walk.queue.event, again.dialect)
    why, failed = ("", "") if again.why == "" else match(hook, again.dialect, again.row, seen, walk.queue.event)
    if why or failed:
        return None
    reply = again.dialect.replies[hook.handler]
    read = interpret(hook, reply, event.name, unless_never_ran(call, reply, event.name, run))
    settings = context.config.dialects.get(again.dialect.name, {})
    whole = completed(read, seen, again.dialect, hook)
    judged = judge(hook, again.dialect, again.row, whole, posture_of(context, hook), settings)
    return in_terms_of(table, judged, again.dialect, event)


def in_terms_of(table: Dialect, outcome: Outcome, read_by: Dialect, event: Event) -> Outcome:
    """One dialect's reading of an answer, with the names of another."""
    plain = to_host(outcome, event, read_by)
    if plain.tool_input is None or not event.hosted:
        return plain
    native = to_native(event.replace(data={**event.data, "input": plain.tool_input}), table)
    given = native.data["input"]
    return plain.replace(tool_input=given if isinstance(given, dict) else plain.tool_input)


def strictest(readings: Sequence[tuple[EventRow, Outcome]]) -> tuple[EventRow, Outcome]:
    """The strictest reading; the first of equals. A rewrite that only another reading has is kept."""
    row, outcome = max(readings, key=_strictness)
    for _, rewrite in REWRITES:
        if getattr(outcome, rewrite) is None:
            made = [value for _, other in readings if (value := getattr(other, rewrite)) is not None]
            outcome = outcome.replace(**{rewrite: made[0]}) if made else outcome
    return row, outcome


def _strictness(reading: tuple[EventRow, Outcome]) -> tuple[int, int, bool, bool, bool]:
    row, outcome = reading
    effect = EFFECTS.index(row.block) if outcome.verdict == "block" and row.block else -1
    speaks = bool(outcome.context or outcome.messages or outcome.spoke)
    return STRENGTH[outcome.verdict], effect, outcome.end_turn, outcome.failure is None, speaks


def explained(records: list[dict[str, Json]], declared: Mapping[int, tuple[int, ...]]) -> None:
    """Mark hooks that would not run because an earlier one is the same."""
    for place, record in enumerate(records):
        for other in declared.get(place, ()) if record["would_run"] else ():
            if records[other]["would_run"]:
                records[other].update(would_run=False, status="skipped", why=f"{record['id']} is the same")


# Final form: a call that was rewritten is shown again to the gates of other dialects that had answered before. Inside
# one dialect its own rule applies; a gate that has not seen what will run is reported, and so are conflicting
# rewrites.


ASKED_ABOUT = ("input", "prompt")

"""Fields of what will happen; an output has already happened."""

NO_REWRITE: dict[str, None] = {"tool_input": None, "prompt": None, "tool_output": None}

AGAIN = "asked again about the final form"

CONFLICT_FIX = "Let one hook rewrite it, or let the second build on what the first made of it."

UNSEEN_FIX = "Let one hook do both, or declare the gate for another agent too: gates of other dialects are asked again."


class SecondWalk(Walk):
    """The second walk, past the gates that judge the final form. They may refuse it; their rewrites are not used."""

    def __init__(self, walk: Walk, final: Event, places: Sequence[int]) -> None:
        route, index = walk.route, {place: index for index, place in enumerate(places)}
        declared = {
            index[place]: tuple(index[other] for other in others if other in index)
            for place, others in route.declared_again.items()
            if place in index
        }
        route = route.replace(steps=tuple(route.steps[place] for place in places), declared_again=declared)
        super().__init__(walk.context.replace(asked_again=True), final, route)
        self.places, self.head = places, walk.head
        self.wanted: dict[int, Outcome] = {}
        """What they would have rewritten, by position in the queue."""

    def take(self, position: int, step: HookStep, outcome: Outcome, upstream: bool) -> None:
        if any(getattr(outcome, rewrite) is not None for _, rewrite in REWRITES):
            if self.context.config.hook_mode.get(step.hook.id) != "shadow":
                self.wanted[self.places[position]] = to_host(outcome, self.event, step.dialect)
            outcome = outcome.replace(**NO_REWRITE)
        super().take(position, step, outcome, upstream)


def judge_final_form(walk: Walk) -> Generator[Waitable, Run, None]:
    """Ask the gates that have not seen the final form, and report conflicts on the way to it."""
    final = final_form(walk.event, walk.entries)
    if final is None or walk.queue.is_over:
        return
    problems = [*conflicts(walk.event, walk.entries)]
    if walk.event.name in GATES:
        places, unseen = _unseen(walk, final)
        if places:
            second = SecondWalk(walk, final, places)
            try:
                yield from second.walk()
            finally:
                _take_in(walk, second)
            problems += _overruled(walk, second, final, problems)
            unseen += [
                second.places[entry.position]
                for entry in second.entries
                if entry.outcome.failure is not None and entry.outcome.verdict != BLOCK
            ]
        problems += [_unseen_form(walk, place) for place in unseen]
    walk.route = walk.route.replace(problems=(*walk.route.problems, *problems))


def final_form(event: Event, entries: Sequence[Judged]) -> Event | None:
    """The event as it will happen, with its host's names; None if no hook rewrote it. It may equal the original event,
    which a hook between two rewrites has not seen."""
    decision = merge(event.name, entries)
    made = {field: value for field, rewrite in REWRITES if (value := getattr(decision, rewrite)) is not None}
    return event.replace(data={**event.data, **made}) if made else None


def with_second(first: Judged, second: Outcome) -> Judged:
    """One gate's two answers as one: the stricter verdict counts, and an approval counts only for the final form."""
    outcome = first.outcome
    problems = (*outcome.problems, *(problem for problem in second.problems if problem not in outcome.problems))
    if STRENGTH[second.verdict] > STRENGTH[outcome.verdict] or outcome.verdict == ALLOW:
        outcome = outcome.replace(verdict=second.verdict, reason=second.reason)
    return first.replace(
        outcome=outcome.replace(
            problems=problems,
            context=tuple(dict.fromkeys((*outcome.context, *second.context))),
            messages=tuple(dict.fromkeys((*outcome.messages, *second.messages))),
            end_turn=outcome.end_turn or second.end_turn,
        )
    )


def _unseen(walk: Walk, final: Event) -> tuple[list[int], list[int]]:
    """The positions of the gates to ask again, and of those that their own dialect does not ask again."""
    answered = {entry.position: entry for entry in walk.entries}
    unmatched = {report.id for report in walk.reports if report.status == "unmatched"}
    again: list[int] = []
    unseen: list[int] = []
    for place, step in enumerate(walk.route.steps):
        hook, table = step.hook, step.dialect
        if step.row.block not in STOPPING or hook.scope == "builtin" or hook.background:
            continue
        asked = walk.read_with.get(place, place)
        entry = answered.get(asked)
        if entry is not None:
            concerned = not (_has_seen(entry, final) or _has_made(entry, final))
        else:  # a matcher that looks at the content may want the final form only
            concerned = step.why is None and hook.id in unmatched
            concerned = concerned and not match(hook, table, step.row, to_native(final, table), final)[0]
        if not concerned:
            continue
        others = any(
            other.position > asked and other.dialect is not table and _rewrites(other) for other in walk.entries
        )
        if others:
            again.append(place)
        elif hook.condition is None:  # rules that rewrite come first, so the others have seen their result
            unseen.append(place)
    # A program that is declared several times runs once for all, so all of its declarations are asked.
    asked_for = {walk.read_with.get(place, place) for place in again}
    shared = {place for pair in walk.read_with.items() if pair[1] in asked_for for place in pair}
    again = sorted({*again, *shared})
    return again, [place for place in unseen if place not in again]


def refused_unseen(entry: Judged, final: Event) -> Judged:
    """The answer of a gate whose failures block, as it counts for the form that will run: it refuses what it has not
    seen."""
    if entry.row.block not in STOPPING or entry.outcome.verdict == BLOCK:
        return entry
    if _has_seen(entry, final) or _has_made(entry, final):
        return entry
    return _refusing(entry, _unjudged(entry.hook.id, final.name))


def _refusing(entry: Judged, what: str) -> Judged:
    return entry.replace(outcome=entry.outcome.replace(verdict=BLOCK, reason=f"{what}: a hook rewrote it."))


def _unjudged(hook: str, event: str) -> str:
    return f"{hook} has not judged the form of this {event} that will be used"


def _has_seen(entry: Judged, final: Event) -> bool:
    native, seen = to_native(final, entry.dialect), entry.seen
    return seen is not None and all(same(seen.data.get(field), native.data.get(field)) for field in ASKED_ABOUT)


def _has_made(entry: Judged, final: Event) -> bool:
    made = {field: getattr(entry.outcome, rewrite) for field, rewrite in REWRITES if field in ASKED_ABOUT}
    return any(value is not None and same(value, final.data.get(field)) for field, value in made.items())


def _rewrites(entry: Judged) -> bool:
    return any(getattr(entry.outcome, rewrite) is not None for field, rewrite in REWRITES if field in ASKED_ABOUT)


def _take_in(walk: Walk, second: SecondWalk) -> None:
    """Merge the second answers into the first."""
    for entry in second.entries:
        place = second.places[entry.position]
        index = next((index for index, first in enumerate(walk.entries) if first.position == place), None)
        if index is None:
            walk.entries.append(entry.replace(position=place))
        else:
            walk.entries[index] = with_second(walk.entries[index], entry.outcome)
    for later in second.reports:
        index = next(index for index, report in enumerate(walk.reports) if report.id == later.id)
        first = walk.reports[index]
        told = first if first.status == "ran" and STRENGTH[later.verdict] <= STRENGTH[first.verdict] else later
        walk.reports[index] = told.replace(why=AGAIN) if told.status == "ran" else told
    walk.runs += [run.replace(again=True) for run in second.runs]
    if second.queue.is_over:
        walk.queue = walk.queue.replace(stop=second.queue.stop)


def _refuse(walk: Walk, place: int, what: str) -> None:
    """Let the gate at a position refuse, whatever it said about another form."""
    step = walk.route.steps[place]
    known = [entry for entry in walk.entries if entry.position == place]
    entry = known[0] if known else Judged(place, step.hook, step.dialect, step.row, Outcome(), seen=walk.event)
    walk.entries = [*(each for each in walk.entries if each.position != place), _refusing(entry, what)]
    walk.reports = [one.replace(verdict=BLOCK) if one.id == step.hook.id else one for one in walk.reports]


# -- what is reported


def conflicts(event: Event, entries: Sequence[Judged]) -> Iterator[Problem]:
    """Rewrites that are lost because another hook rewrote the same differently. A hook that builds on an earlier
    rewrite does not conflict with it."""
    ordered = sorted(entries, key=lambda entry: entry.position)
    for place, entry in enumerate(ordered):
        for field, rewrite in REWRITES:
            later = [other for other in ordered[place + 1 :] if getattr(other.outcome, rewrite) is not None]
            if not later or getattr(entry.outcome, rewrite) is None:
                continue
            made = _changes(event, later[-1], field, rewrite, all_of_it=True)
            for name, value in _changes(event, entry, field, rewrite).items():
                final = made.get(name)
                if not same(value, final) and not _builds_on(final, value):
                    yield _conflict(entry, later[-1], name)


def _overruled(walk: Walk, second: SecondWalk, final: Event, known: Sequence[Problem]) -> Iterator[Problem]:
    """Rewrites of the final form that gates wanted."""
    by_place = {entry.position: entry for entry in walk.entries}
    for place, outcome in second.wanted.items():
        entry = by_place[place].replace(outcome=outcome, seen=to_native(final, by_place[place].dialect))
        for field, rewrite in REWRITES:
            if getattr(outcome, rewrite) is None or field not in ASKED_ABOUT:
                continue
            winner = [other for other in walk.entries if getattr(other.outcome, rewrite) is not None][-1]
            for name in _changes(final, entry, field, rewrite):
                problem = _conflict(entry, winner, name)
                if problem not in known:
                    yield problem


def _changes(event: Event, entry: Judged, field: str, rewrite: str, all_of_it: bool = False) -> dict[str, Json]:
    """Name → value of what a hook changed, with the names of the event's host."""
    value = getattr(entry.outcome, rewrite)
    if field != "input":
        return {field: value}
    seen = entry.seen.data.get("input") if entry.seen is not None else None
    before: dict[str, Json] = {}
    if isinstance(seen, dict) and not all_of_it:
        before = to_host(Outcome(tool_input=seen), event, entry.dialect).tool_input or {}
    return {name: value[name] for name in value if name not in before or not same(value[name], before[name])}


def _builds_on(later: Json, earlier: Json) -> bool:
    return isinstance(later, str) and isinstance(earlier, str) and earlier in later


def _conflict(loser: Judged, winner: Judged, name: str) -> Problem:
    return Problem(
        "rewrite-conflict",
        f"{loser.hook.id} and {winner.hook.id} rewrite `{name}` differently",
        loser.hook.where(),
        f"{winner.hook.id} won: what it made of `{name}` is used",
        CONFLICT_FIX,
        WARNING,
    )


def _unseen_form(walk: Walk, place: int) -> Problem:
    """The problem of a gate that has not seen what will run. If its failures block, it refuses."""
    step = walk.route.steps[place]
    what = _unjudged(step.hook.id, walk.event.name)
    shadowed = walk.context.config.hook_mode.get(step.hook.id) == "shadow"
    if posture_of(walk.context, step.hook) == "deny" and not shadowed:
        _refuse(walk, place, what)
    return Problem(
        "unseen-form",
        what,
        step.hook.where(),
        f"a hook rewrote it, and {step.dialect.title} does not show it again, or the hook failed on it",
        UNSEEN_FIX,
        WARNING,
    )


# Hooks that are called in this process: callables of the embedding program, and built-in hooks of products. An
# exception in one of them is that hook's failure.


def hook_of(event: str, callback: Callback, name: str, matcher: str | None) -> Hook:
    """A callable of the embedding program as a hook; ValueError if it cannot be one."""
    from inspect import iscoroutinefunction

    from anyhook.tables.patterns import check_pattern

    name = name or getattr(callback, "__qualname__", "callable")
    if iscoroutinefunction(callback):
        raise ValueError(f"{name} is a coroutine function; hooks of the program itself are called, not awaited")
    wrong = check_pattern(matcher)
    if wrong:
        raise ValueError(wrong)
    identity = f"inprocess:managed:{event}:{name}"
    return Hook(identity, name, "inprocess", "managed", name, (), "", "", event, (event,), matcher, "callable", {}, 0.0)


def first_answers(callbacks: tuple[Callback, ...], event: Event) -> list[object]:
    """Call them in turn until one answers or raises. Returns the answers so far; [] if all stay silent."""
    token = inside_hook.set(True)
    index = 0
    lent = _lent(event)
    try:
        for index, callback in enumerate(callbacks):
            answer = callback(lent)
            if type(lent) is Event or getrefcount(lent) > NOT_KEPT:
                lent = _lent(event)
            if answer is not None:
                return [None] * index + [answer]
    except Exception as error:  # noqa: BLE001 (one hook's failure is a value)
        return [None] * index + [error]
    finally:
        inside_hook.reset(token)
    return []


def acts(context: Context, step: HookStep, event: Event) -> bool:
    """Whether a built-in hook has anything to say."""
    return bool(step.dialect.builtin(step.hook.name).act(scene_of(context, event, step.dialect, step.row)))


def next_answer(walk: Walk, hook: Hook) -> Outcome:
    """What a callable of the embedding program asks for. The first may have been called before the walk."""
    if walk.answers:
        return _outcome_of(walk.answers.pop(0))
    return _outcome_of(_ask(walk.context.routes.callback(hook), walk.queue.seen))


def _ask(callback: Callback, event: Event) -> object:
    """What it returns, or the exception that it raises."""
    token = inside_hook.set(True)
    try:
        return callback(_lent(event))
    except Exception as error:  # noqa: BLE001 (one hook's failure is a value)
        return error
    finally:
        inside_hook.reset(token)


class Lent(Event):
    """The event for one callable. No other may see its changes, so the first look at the data makes it an ordinary
    event with a copy of them. Until then the object can be lent to the next one."""

    def _keep(self) -> Event:
        shared = DATA.__get__(self)
        object.__setattr__(self, "__class__", Event)
        try:
            DATA.__set__(self, _copied(shared))
        except RecursionError:  # nested more deeply than any tool's input
            pass
        return self

    @property  # type: ignore[misc]
    def data(self) -> dict[str, Json]:
        return self._keep().data

    def replace(self, **changes: object) -> Event:  # type: ignore[override]
        return self._keep().replace(**changes)

    def __eq__(self, other: object) -> bool:
        return self._keep() == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._keep())

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return self._keep().__reduce_ex__(protocol)


DATA = Event.__dict__["data"]

NOT_KEPT = 2

"""How many references an object has that only its variable holds: the second is the count's own."""


def _lent(event: Event) -> Event:
    lent = Event(event.name, event.data, event.raw, event.hosted, event.ours, event.inputs, event.also, event.refused)
    object.__setattr__(lent, "__class__", Lent)
    return lent


def _copied(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: item if type(item) is str else _copied(item) for name, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _outcome_of(answer: object) -> Outcome:
    """What an answer asks for."""
    if answer is None:
        return SILENT
    if isinstance(answer, Exception):
        return Outcome(failure=Failure("exit", f"it raised {type(answer).__name__}: {answer}"))
    if not isinstance(answer, Outcome):
        return Outcome(failure=Failure("output", f"it returned {type(answer).__name__}, not an Outcome or None"))
    if answer.verdict not in STRENGTH:
        return Outcome(failure=Failure("output", f"it returned the verdict {answer.verdict!r}"))
    return answer
