"""The special cases of a walk, as functions: they take values and return values, and change nothing. In this order:
hooks that run in parallel; hooks that were not asked; one program that several dialects declare; gates that have not
seen the final form of a call; callables of the embedding program."""

from __future__ import annotations

import os
from sys import getrefcount

from anyhook.engine.interpret import interpret
from anyhook.engine.match import HookStep, Route, match
from anyhook.engine.merge import Judged, ignore_block, judge, merge, posture_of
from anyhook.engine.near_miss import unless_never_ran
from anyhook.engine.present import Prepared, own_scene, scene_of, start_hook
from anyhook.model.call import Call, Run
from anyhook.model.decision import Report
from anyhook.model.event import GATES, Event
from anyhook.model.hook import ARMED, BROKEN, Hook
from anyhook.model.lean_json import same
from anyhook.model.outcome import ALLOW, BLOCK, EFFECTS, SILENT, STOPPING, STRENGTH, Failure, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.model.record import Record
from anyhook.platform.beside import watched
from anyhook.platform.places import find_program
from anyhook.platform.spawn import inside_hook
from anyhook.programs.commands import expand_home, words_of
from anyhook.programs.quick import SHELLS
from anyhook.tables.patterns import check_pattern
from anyhook.tables.rows import Dialect, EventRow, Launch, Scene
from anyhook.tables.translate import REWRITES, completed, to_host, to_native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import SupportsIndex

    from anyhook.engine.context import Context
    from anyhook.engine.match import Callback
    from anyhook.engine.walk import Progress, Queue
    from anyhook.gates.gate import GateStatus
    from anyhook.model.json_types import Json
    from anyhook.model.words import HookStatus
    from anyhook.state.plans import Setup

# Together: the hooks of a dialect that runs them in parallel. All are started before the first is waited for; their
# answers still count in the order of the queue.


def started_together(
    context: Context, steps: Sequence[HookStep], first: int, queue: Queue, known: Mapping[int, Prepared]
) -> dict[int, Prepared]:
    """The hooks of the dialect whose first hook is at this position: matched, and started if they will run, unless one
    of them has to run alone. Waiting for one process serves all of them; handlers of other kinds get a thread each."""
    table, prepared = steps[first].dialect, _matched(steps, first, queue, known)
    ready = [position for position, each in prepared.items() if _is_ready(steps[position].hook, each)]
    if len(ready) < 2 or not all(table.at_once and table.at_once(steps[position].hook) for position in ready):
        return prepared
    scenes = [scene_of(context, queue.seen, table, steps[each].row) for each in ready]
    started = [start_hook(context, steps[each], scene) for each, scene in zip(ready, scenes, strict=True)]
    for position, one, run in zip(ready, started, watched([each.run for each in started]), strict=True):
        prepared[position] = prepared[position].replace(started=one.replace(run=run), seen=queue.seen)
    return prepared


def _matched(steps: Sequence[HookStep], first: int, queue: Queue, known: Mapping[int, Prepared]) -> dict[int, Prepared]:
    """Which hooks of the dialect want the event, and which of them are the same as an earlier one."""
    table = steps[first].dialect
    prepared: dict[int, Prepared] = {}
    seen: dict[tuple[Json, ...], str] = {}
    for position, step in enumerate(steps[first:], first):
        hook, why, failed = step.hook, step.why, ""
        if step.dialect is not table:
            break
        if hook.status == BROKEN or step.off is not None or position in known:
            continue
        if why is None:
            why, failed = match(hook, table, step.row, queue.seen, queue.event)
        first_id = hook.id if why or failed else seen.setdefault(table.identity(hook), hook.id)
        prepared[position] = Prepared((why, failed), first_id if first_id != hook.id else "")
    return prepared


def _is_ready(hook: Hook, prepared: Prepared) -> bool:
    """Whether a hook that was matched runs, and is waited for."""
    why, failed = prepared.matched or (None, "")
    return not (why or failed or prepared.same_as or hook.background)


# Not asked: what counts for a hook that could not be asked, or whose gate is off.


def broken(context: Context, step: HookStep, why: str, messages: tuple[str, ...] = ()) -> NotAsked:
    """What counts for a hook that could not be asked, for example because its matcher failed. A gate is off then."""
    from anyhook.engine.settle import is_gate
    from anyhook.gates.off_gates import closed_if_wanted

    hook = step.hook
    outcome = Outcome(failure=Failure("not_started", why), messages=messages)
    outcome = judge(hook, step.dialect, step.row, outcome, posture_of(context, hook), {})
    if is_gate(hook) and outcome.verdict != BLOCK and step.dialect.name not in context.exhausted:
        outcome = closed_if_wanted(hook, step.row, outcome, context.routes.catalog)
    return NotAsked("broken", why, outcome)


def refused_as_off(context: Context, step: HookStep, gate: GateStatus) -> NotAsked:
    """The refusal for a gate that is off, because the user's `off` setting says so."""
    hook, why = step.hook, "it is off, and `off` in the settings is `deny`"
    refusal = Outcome.block(gate.refusal)
    outcome = judge(hook, step.dialect, step.row, refusal, posture_of(context, hook), {})
    problem = Problem("gate-off", f"`{hook.name}` is off, so what it guards is refused", hook.where(), hook.why)
    outcome = outcome.replace(problems=(*outcome.problems, problem))
    if step.dialect.name in context.exhausted:
        outcome = ignore_block(hook, step.row, outcome)
    return NotAsked("untrusted" if not hook.trusted else "broken", hook.why or why, outcome)


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
        if step.why or step.off is not None or hook.handler != "command" or hook.background or hook.status != ARMED:
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
    found = find_program(program, launch.env.get("PATH", env.get("PATH", "")), launch.cwd)
    return program if found is None else os.path.realpath(os.path.join(launch.cwd, found))


def _by_real_path(word: str, cwd: str) -> str:
    path = os.path.join(cwd, word)
    return os.path.realpath(path) if os.path.isfile(path) else word


# -- while an event walks


def read_by_all(
    context: Context,
    event: Event,
    now: Event,
    step: HookStep,
    again: Mapping[int, HookStep],
    call: Call,
    run: Run,
    outcome: Outcome,
) -> SharedReading:
    """The strictest reading of a run, with the names of the dialect that ran it, and the step that it counts for.
    `again` are the other declarations; one that cannot read the answer runs by itself. `now` is the event with every
    rewrite so far."""
    readings = [] if context.shadows(step.hook) else [(step.row, outcome)]
    speaker = step.hook if readings else None
    done: list[int] = []
    also: list[tuple[str, str]] = []
    for place, other in again.items():
        try:
            judged = _read(context, event, now, other, step.dialect, call, run)
        except Exception:  # noqa: BLE001 (a failure here must not cost the first reading)
            judged = None
        if judged is None:
            continue
        done.append(place)
        if not context.shadows(other.hook) and other.dialect.name not in context.exhausted:
            speaker = speaker or other.hook
            also.append((other.dialect.name, other.row.native))
            readings.append((other.row, judged))
    if speaker is None:
        return SharedReading(step, outcome, tuple(done))
    row, outcome = strictest(readings)
    return SharedReading(step.replace(hook=speaker, row=row), outcome, tuple(done), tuple(also))


def _read(
    context: Context, event: Event, now: Event, again: HookStep, table: Dialect, call: Call, run: Run
) -> Outcome | None:
    """How another declaration reads the run, with the names of `table`; None if it does not want the event."""
    hook, seen = again.hook, to_native(now, again.dialect)
    why, failed = ("", "") if again.why == "" else match(hook, again.dialect, again.row, seen, now)
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

AGAIN = "asked again about the final form"

CONFLICT_FIX = "Let one hook rewrite it, or let the second build on what the first made of it."

UNSEEN_FIX = "Let one hook do both, or declare the gate for another agent too: gates of other dialects are asked again."


class SecondLook(Record):
    """What gates are asked again about the final form of a call."""

    final: Event
    """The event as it will happen."""
    route: Route
    """Past the gates to ask again. They may refuse the final form; their rewrites are not used."""
    places: tuple[int, ...]
    """The positions of these gates on the first walk."""
    unseen: tuple[int, ...]
    """The positions of gates that have not seen it, and that their own dialect does not ask again."""
    problems: tuple[Problem, ...]


def look_again(event: Event, route: Route, progress: Progress) -> SecondLook | None:
    """Which gates to ask again; None if nothing was rewritten, or the action will not happen."""
    final = final_form(event, progress.entries)
    if final is None or progress.queue.is_over:
        return None
    problems = tuple(conflicts(event, progress.entries))
    places, unseen = _unseen(route, progress, final) if event.name in GATES else ((), ())
    index = {place: index for index, place in enumerate(places)}
    declared = {
        index[place]: tuple(index[other] for other in others if other in index)
        for place, others in route.declared_again.items()
        if place in index
    }
    again = route.replace(steps=tuple(route.steps[place] for place in places), declared_again=declared)
    return SecondLook(final, again, places, unseen, problems)


def after_second_look(
    context: Context, event: Event, route: Route, first: Progress, look: SecondLook, second: Progress | None
) -> tuple[Progress, tuple[Problem, ...]]:
    """The second answers merged into the first, and what is reported."""
    problems, unseen = [*look.problems], [*look.unseen]
    if second is not None:
        first = joined(first, second, look.places)
        problems += _overruled(first, second, look, problems)
        unseen += [
            look.places[entry.position]
            for entry in second.entries
            if entry.outcome.failure is not None and entry.outcome.verdict != BLOCK
        ]
    for place in unseen:
        step = route.steps[place]
        what = _unjudged(step.hook.id, event.name)
        if posture_of(context, step.hook) == "deny" and not context.shadows(step.hook):
            first = _refused(first, event, place, step, what)
        problems.append(_unseen_form(step, what))
    return first, tuple(problems)


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


def _unseen(route: Route, progress: Progress, final: Event) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions of the gates to ask again, and of those that their own dialect does not ask again."""
    read_with = progress.read_with
    concerned = [place for place, step in enumerate(route.steps) if _is_concerned(place, step, progress, final)]
    again = [place for place in concerned if _is_rewritten_after(place, route.steps[place], progress)]
    # A program that is declared several times runs once for all, so all of its declarations are asked.
    asked_for = {read_with.get(place, place) for place in again}
    shared = {place for pair in read_with.items() if pair[1] in asked_for for place in pair}
    asked = {*again, *shared}
    # Rules that rewrite come first, so the other rules have seen their result.
    unseen = [place for place in concerned if place not in asked and route.steps[place].hook.condition is None]
    return tuple(sorted(asked)), tuple(unseen)


def _is_concerned(place: int, step: HookStep, progress: Progress, final: Event) -> bool:
    """Whether a hook is a gate that has not judged the final form."""
    hook, table = step.hook, step.dialect
    if step.row.block not in STOPPING or hook.scope == "builtin" or hook.background:
        return False
    asked = progress.read_with.get(place, place)
    entry = next((entry for entry in progress.entries if entry.position == asked), None)
    if entry is not None:
        return not (_has_seen(entry, final) or _has_made(entry, final))
    # A matcher that looks at the content may want the final form only.
    unmatched = any(report.id == hook.id and report.status == "unmatched" for report in progress.reports)
    return step.why is None and unmatched and not match(hook, table, step.row, to_native(final, table), final)[0]


def _is_rewritten_after(place: int, step: HookStep, progress: Progress) -> bool:
    """Whether a hook of another dialect rewrote the call after this one had answered."""
    asked = progress.read_with.get(place, place)
    return any(
        other.position > asked and other.dialect is not step.dialect and _rewrites(other) for other in progress.entries
    )


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


def joined(first: Progress, second: Progress, places: tuple[int, ...]) -> Progress:
    """The second answers merged into the first."""
    entries, reports = [*first.entries], [*first.reports]
    for entry in second.entries:
        place = places[entry.position]
        index = next((index for index, known in enumerate(entries) if known.position == place), None)
        if index is None:
            entries.append(entry.replace(position=place))
        else:
            entries[index] = with_second(entries[index], entry.outcome)
    for later in second.reports:
        index = next(index for index, report in enumerate(reports) if report.id == later.id)
        reports[index] = _told(reports[index], later)
    runs = (*first.runs, *(run.replace(again=True) for run in second.runs))
    queue = first.queue.replace(stop=second.queue.stop) if second.queue.is_over else first.queue
    return first.replace(entries=tuple(entries), reports=tuple(reports), runs=runs, queue=queue)


def _told(first: Report, later: Report) -> Report:
    """The stricter of two reports about one hook."""
    told = first if first.status == "ran" and STRENGTH[later.verdict] <= STRENGTH[first.verdict] else later
    return told.replace(why=AGAIN) if told.status == "ran" else told


def _refused(progress: Progress, event: Event, place: int, step: HookStep, what: str) -> Progress:
    """The gate at a position refuses, whatever it said about another form."""
    known = [entry for entry in progress.entries if entry.position == place]
    entry = known[0] if known else Judged(place, step.hook, step.dialect, step.row, Outcome(), seen=event)
    others = [each for each in progress.entries if each.position != place]
    reports = [one.replace(verdict=BLOCK) if one.id == step.hook.id else one for one in progress.reports]
    return progress.replace(entries=(*others, _refusing(entry, what)), reports=tuple(reports))


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


def _overruled(first: Progress, second: Progress, look: SecondLook, known: Sequence[Problem]) -> Iterator[Problem]:
    """Rewrites of the final form that gates wanted."""
    by_place = {entry.position: entry for entry in first.entries}
    for position, outcome in second.wanted.items():
        entry = by_place[look.places[position]]
        entry = entry.replace(outcome=outcome, seen=to_native(look.final, entry.dialect))
        for field, rewrite in REWRITES:
            if getattr(outcome, rewrite) is None or field not in ASKED_ABOUT:
                continue
            winner = [other for other in first.entries if getattr(other.outcome, rewrite) is not None][-1]
            for name in _changes(look.final, entry, field, rewrite):
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


def _unseen_form(step: HookStep, what: str) -> Problem:
    """The problem of a gate that has not seen what will run."""
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
    """A callable as a hook; ValueError if its matcher cannot be read."""
    name = name or getattr(callback, "__qualname__", "callable")
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


def answer_of(callback: Callback, event: Event) -> object:
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
    event with a copy of them. Until then the object can be lent to the next one. A copy for each callable takes three
    times as long (`make bench`, "ten in-process hooks": 2.9 times pluggy instead of 1.2)."""

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


def _references_of_a_variable() -> int:
    """How many references an object has that only a local variable holds. Versions of Python count differently."""
    held = object()
    return getrefcount(held)


NOT_KEPT = _references_of_a_variable()


def _lent(event: Event) -> Event:
    lent = Event(event.name, event.data, event.raw, event.hosted, event.ours, event.inputs, event.also, event.refused)
    object.__setattr__(lent, "__class__", Lent)
    return lent


def _copied(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: item if type(item) is str else _copied(item) for name, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def outcome_of(answer: object) -> Outcome:
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


class NotAsked(Record):
    """What counts for a hook that was not asked, and what its report says."""

    status: HookStatus
    why: str
    outcome: Outcome


class SharedReading(Record):
    """How all dialects that declare a program read its answer."""

    step: HookStep
    """The declaration that it counts for."""
    outcome: Outcome
    """The strictest reading."""
    done: tuple[int, ...] = ()
    """The positions of the other declarations that it counts for."""
    also: tuple[tuple[str, str], ...] = ()
    """Dialect and native event of those whose reading counts."""
