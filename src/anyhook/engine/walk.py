"""One event's walk: match, present, run, interpret and judge each hook, then merge. It yields whenever it has to wait,
so that callers with and without an event loop share every line. The caller records the result, after the answer.

Only this module changes the state of a walk. The special cases (`cases.py`, `rules.py`) are functions: they take values
and return values, and the walk lets those count."""

from __future__ import annotations

from anyhook.engine.interpret import interpret
from anyhook.engine.match import HookStep, Route, match
from anyhook.engine.merge import REFUSING, Judged, judge, merge, posture_of, unless_exempt
from anyhook.engine.present import GRACE_S, UNPREPARED, Prepared, present, scene_of, start_hook
from anyhook.journal.record import call_text, head_of
from anyhook.model.call import Call, Run
from anyhook.model.decision import Decision, Report, idle_report
from anyhook.model.event import GATES, Event
from anyhook.model.firing import HookRun, Part
from anyhook.model.hook import BROKEN, BUILTIN, Hook
from anyhook.model.outcome import BLOCK, SILENT, STOPPING, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.model.record import Record
from anyhook.platform.spawn import inside_hook
from anyhook.tables.translate import REWRITES, completed, rewritten, to_host, to_native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from anyhook.engine.cases import NotAsked
    from anyhook.engine.context import Context
    from anyhook.engine.rules import CallMemory, Rules
    from anyhook.handlers import Waitable
    from anyhook.model.json_types import Json
    from anyhook.model.words import HookStatus, Posture, Verdict
    from anyhook.tables.rows import Dialect, EventRow, Scene

NO_REWRITE: dict[str, None] = {"tool_input": None, "prompt": None, "tool_output": None}


class Stop(Record):
    """Why the remaining hooks of a queue are skipped."""

    by: str
    """Who stopped it, for messages."""
    dialect: str
    """The dialect whose hook blocked; "" for a built-in hook that took over."""
    everywhere: bool
    """Whether the hooks of the other dialects are skipped too: the action will not happen."""


class Queue(Record):
    """The state between two hooks of an event: what the next hook sees, and whether it is asked. Walks and replays use
    it in the same way."""

    event: Event
    """The event with every rewrite so far, with the host's names."""
    seen: Event
    """The event as the next hook of this dialect sees it."""
    dialect: str = ""
    """The dialect whose hooks are being asked."""
    stop: Stop | None = None

    @property
    def is_over(self) -> bool:
        """Whether the action is stopped, for hooks of every dialect."""
        return self.stop is not None and self.stop.everywhere

    def entering(self, table: Dialect) -> Queue:
        """The queue at the first hook of a dialect. A block that stopped only the previous dialect no longer counts."""
        seen = to_native(self.event, table) if self.event.hosted else self.event
        stop = self.stop if self.stop is not None and self.stop.everywhere else None
        return Queue(self.event, seen, table.name, stop)

    def skips(self, table: Dialect) -> bool:
        """Whether a hook of the dialect is skipped. Some dialects run all hooks of an event, whatever one answers."""
        return self.stop is not None and not (table.together and self.stop.dialect == table.name)

    def after(
        self, hook: Hook, table: Dialect, row: EventRow, outcome: Outcome, plain: Outcome, *, upstream: bool
    ) -> Queue:
        """The queue after one hook's outcome; `plain` is the outcome with the host's names. The dialect's next hook
        sees what this one rewrote, if its table says so and the user has not chosen otherwise (`upstream`)."""
        event, seen = rewritten(self.event, self.seen, outcome, plain, () if upstream else table.chains)
        stop = self.stop
        if outcome.verdict == BLOCK:
            stop = stop or Stop(f"a block by {hook.id}", table.name, everywhere=False)
            if event.name in GATES and row.block in STOPPING:
                stop = stop.replace(everywhere=True)
        elif hook.scope == BUILTIN and outcome.recipe is not None:
            stop = stop or Stop(hook.id, "", everywhere=False)
        return Queue(event, seen, self.dialect, stop)


class Progress(Record):
    """What a walk has found so far, for a look at all of it."""

    entries: tuple[Judged, ...]
    reports: tuple[Report, ...]
    runs: tuple[HookRun, ...]
    queue: Queue
    read_with: Mapping[int, int]
    """The position of a hook whose program another dialect has run → the position of that run."""
    wanted: Mapping[int, Outcome]
    """What hooks would have rewritten on a second walk, whose rewrites do not count; by position."""


class Walk:
    """One event's walk and its state."""

    def __init__(self, context: Context, event: Event, route: Route, answers: Sequence[object] = ()) -> None:
        """`answers` holds what the first callables have returned already, or the exception that one raised. If the
        context asks again, about a final form, rewrites do not count."""
        self.context, self.event, self.route = context, event, route
        self.answers = list(answers)
        self.queue = Queue(event, event)
        self.prepared: dict[int, Prepared] = {}
        """By position in the queue."""
        self.rules: Rules | None = None
        """What the rules of this event say; None until the first is asked."""
        self.past: CallMemory | None = None
        """On a second walk: what the first one saw of the session."""
        self.read_with: dict[int, int] = {}
        self.wanted: dict[int, Outcome] = {}
        self.running: Waitable | None = None
        """The hook that is being waited for."""
        self.grace_s = GRACE_S
        self.background: list[tuple[Hook, Call]] = []
        """Hooks that start at the end, unless the action is stopped."""

        # The record of what happened:
        self.entries: list[Judged] = []
        self.reports: list[Report] = []
        self.runs: list[HookRun] = []
        self.answered: dict[str, Json] | None = None
        """Who answered when a hook asked, and when."""
        self.head = ""
        """The first part of the journal line, made while a hook runs."""
        self.part: Part | None = None
        """All of it as one value; None until the walk ends."""

    def walk(self) -> Generator[Waitable, Run, None]:
        steps, position = self.route.steps, 0
        try:
            if self.route.remembers is not None and not self.context.asked_again:
                self.asked_rules().remember(self.route.remembers, self.event)
            while position < len(steps):
                rules = self.rules
                if rules is not None and rules.unmet_for is self.queue.event and position in rules.unmet:
                    unmet, position = rules.unmet_from(position)
                    self.reports.extend(unmet)
                    continue
                try:
                    yield from self.step(position, steps[position])
                except Exception as error:  # noqa: BLE001 (one hook's failure, even ours, does not affect others)
                    self.failed(position, steps[position], error)
                position += 1
            if self.queue.event is not self.event and not self.context.asked_again:
                yield from self.judge_final_form()
            if self.context.config.ask and not self.context.asked_again:
                yield from self.ask_elsewhere()
        except BaseException:  # usually a cancelled caller; what happened until then is still recorded
            self.background.clear()
            self.end_prepared()
            raise
        finally:
            if self.background:
                self.start_background()
            self.part = Part(self.event, self.decided(), tuple(self.runs), self.head)

    def decided(self) -> Decision:
        """The decision. A call that it refuses is forgotten."""
        enforced = self.context.mode != "shadow"
        decision = merge(self.event.name, self.entries, tuple(self.reports), self.route.problems, enforced=enforced)
        if self.answered is not None:
            decision = decision.replace(answered=self.answered)
        if self.rules is not None and self.rules.past is not None and not self.context.asked_again:
            self.rules.past.end(decision, self.rules.call(self.queue.event))
        return decision

    async def run_async(self) -> None:
        """Walk to the end, in an event loop. It blocks the loop only briefly."""
        steps = self.walk()
        try:
            waitable = next(steps)
            while True:
                run = waitable.wait(self.grace_s)
                if run is None:
                    from anyhook.platform.async_wait import wait_in_thread

                    run = await wait_in_thread(waitable)
                waitable = steps.send(run)
        except StopIteration:
            pass
        except BaseException:
            steps.close()
            raise

    def run_to_end(self) -> Part:
        """Walk to the end, waiting where needed. An interruption, Ctrl-C included, ends the hook that is running."""
        steps = self.walk()
        waitable: Waitable | None = None
        try:
            waitable = next(steps)
            while True:
                run = waitable.wait(None)
                assert run is not None  # noqa: S101 (without a grace, wait() waits for the end)
                waitable = steps.send(run)
        except StopIteration:
            pass
        except BaseException:
            if waitable is not None:
                waitable.end("cancelled")
                waitable.wait(None)
            steps.close()
            raise
        assert self.part is not None  # noqa: S101 (the walk has ended)
        return self.part

    def step(self, position: int, step: HookStep) -> Generator[Waitable, Run, None]:
        hook, table = step.hook, step.dialect
        if table.name != self.queue.dialect:
            self.enter(position, table)
        prepared = self.prepared.get(position, UNPREPARED)
        why, failed = self.wanted_by(position, step, prepared)
        if why:
            self.reports.append(idle_report(hook, why))
        elif self.queue.stop is not None and self.queue.skips(table):
            self.report(hook, "skipped", f"{self.queue.stop.by} came first")
        elif prepared.same_as:
            self.report(hook, "skipped", f"{prepared.same_as} is the same")
        elif step.off is not None:
            from anyhook.engine.cases import refused_as_off

            self.count(position, step, refused_as_off(self.context, step, step.off))
        elif failed:
            from anyhook.engine.cases import broken

            self.count(position, step, broken(self.context, step, failed))
        elif hook.background or (self.context.hurried and hook.handler == "command"):
            self.queue_background(step)
        else:
            yield from self.run(position, step)

    def enter(self, position: int, table: Dialect) -> None:
        """Come to the first hook of a dialect. If its hooks run in parallel, all of them start now."""
        self.queue = self.queue.entering(table)
        following = self.route.steps[position + 1 : position + 2]
        if table.at_once and following and following[0].dialect is table and not self.queue.is_over:
            from anyhook.engine.cases import started_together

            self.prepared |= started_together(self.context, self.route.steps, position, self.queue, self.prepared)

    def wanted_by(self, position: int, step: HookStep, prepared: Prepared) -> tuple[str | None, str]:
        """Why the hook does not run, or None or ""; and how its matcher failed, if it did."""
        hook = step.hook
        why, failed = prepared.matched or (step.why, "")
        if hook.status == BROKEN:
            return why, hook.why
        if why is not None:
            return why, failed
        if hook.condition is None:
            return match(hook, step.dialect, step.row, self.queue.seen, self.queue.event)
        return self.asked_rules().asked(self.route.steps, position, self.queue.event), ""

    def asked_rules(self) -> Rules:
        """What the rules say about this event."""
        if self.rules is None:
            from anyhook.engine.rules import Rules

            self.rules = Rules(self.context, str(self.event.data.get("session") or self.context.session), self.past)
        return self.rules

    def count(self, position: int, step: HookStep, said: NotAsked) -> None:
        """Let what stands for a hook's answer count."""
        self.report(step.hook, said.status, said.why, verdict=said.outcome.verdict)
        self.take(position, step, said.outcome, upstream=False)

    def failed(self, position: int, step: HookStep, error: Exception) -> None:
        """Our own code failed on this hook. The hook counts as broken, and the user gets a message."""
        from anyhook.engine.cases import broken
        from anyhook.tables.isolation import error_line

        left, self.running = self.running, None
        if left is not None:
            left.end("cancelled")
            left.wait(None)
        if not any(entry.position == position for entry in self.entries):
            why = error_line(error)
            message = f"anyhook: hook `{step.hook.name}` could not be asked: {why}"
            said = broken(self.context, step, f"anyhook failed while it was asked ({why})", (message,))
            self.count(position, step, said)

    def end_prepared(self) -> None:
        """End the hooks that were started but whose turn will not come."""
        for position, prepared in self.prepared.items():
            if prepared.started is None:
                continue
            hook, started = self.route.steps[position].hook, prepared.started
            run: Run | None
            if isinstance(started.run, Run):
                run = started.run
            else:
                started.run.end("cancelled")
                run = started.run.wait(None)
            posture = posture_of(self.context, hook)
            self.runs.append(HookRun(hook, started.call, posture, started.model, run, "cancelled"))
            self.report(hook, "ran", run=run)

    def progress(self) -> Progress:
        return Progress(
            tuple(self.entries), tuple(self.reports), tuple(self.runs), self.queue, self.read_with, self.wanted
        )

    def judge_final_form(self) -> Generator[Waitable, Run, None]:
        """Ask the gates that have not seen the final form, on a second walk, and report conflicts on the way to it."""
        from anyhook.engine.cases import after_second_look, joined, look_again

        look = look_again(self.event, self.route, self.progress())
        if look is None:
            return
        second: Walk | None = None
        if look.places:
            second = Walk(self.context.replace(asked_again=True), look.final, look.route)
            second.head = self.head
            second.past = self.rules.past if self.rules is not None else None
            try:
                yield from second.walk()
            except BaseException:
                self.go_on_from(joined(self.progress(), second.progress(), look.places))
                raise
        seen = second.progress() if second is not None else None
        progress, problems = after_second_look(self.context, self.event, self.route, self.progress(), look, seen)
        self.go_on_from(progress)
        self.route = self.route.replace(problems=(*self.route.problems, *problems))

    def go_on_from(self, progress: Progress) -> None:
        self.entries, self.reports, self.runs = [*progress.entries], [*progress.reports], [*progress.runs]
        self.queue = progress.queue

    def ask_elsewhere(self) -> Generator[Waitable, Run, None]:
        """Let a person answer for the hooks that ask, if the settings say so and no hook refuses."""
        from anyhook.engine.hold import Hold, holds

        if not holds(self.context, self.event.name, self.entries):
            return
        try:
            hold = Hold(self.context, self.queue.event, self.entries)
            if not hold.is_over:
                self.grace_s = 0.0
                yield hold
            self.entries, held = hold.concluded(self.entries)
        except Exception as error:  # noqa: BLE001 (then it still asks: the agent does, or refuses)
            from anyhook.tables.isolation import error_line

            what, why = "a call could not wait for a person", error_line(error)
            problem = Problem("not-answered", what, self.event.name, why, severity=WARNING)
            self.route = self.route.replace(problems=(*self.route.problems, problem))
            return
        self.answered = held.answered
        self.route = self.route.replace(problems=(*self.route.problems, *held.problems))
        if not held.allows:
            self.queue = self.queue.replace(stop=Stop("a person's answer", "", everywhere=True))

    def run(self, position: int, step: HookStep) -> Generator[Waitable, Run, None]:
        """Run one hook, read and judge its answer, and let it count."""
        hook, table, row, context = step.hook, step.dialect, step.row, self.context
        posture, scene = posture_of(context, hook), scene_of(context, self.queue.seen, table, row)
        if context.trace_step is not None:
            context.trace_step("run", hook.id)
        run: Run | None = None
        if hook.handler == "callable":
            from anyhook.engine.cases import answer_of, outcome_of

            said = self.answers.pop(0) if self.answers else answer_of(context.routes.callback(hook), self.queue.seen)
            outcome = outcome_of(said)
        elif self.rules is not None and hook.id in self.rules.answers:
            outcome = self.rules.answers[hook.id]
        else:
            call, run, outcome = yield from self.start_and_wait(position, step, posture, scene)
        if outcome.tool_input is not None:
            outcome = completed(outcome, self.queue.seen, table, hook)
        outcome = judge(hook, table, row, outcome, posture, scene.settings)
        if outcome.verdict in REFUSING or outcome.failure is not None:
            outcome = unless_exempt(context, self.event, hook, row, outcome)
        if run is None:
            if outcome is not SILENT or context.routes.shows(hook):
                self.report(hook, "ran", verdict=outcome.verdict)
        else:
            if position in self.route.declared_again:
                step, outcome = self.read_by_all(position, step, call, run, outcome)
            self.report_run(hook, run, outcome)
        self.take(position, step, outcome, upstream=scene.settings.get("chaining") == "upstream")

    def report_run(self, hook: Hook, run: Run, outcome: Outcome) -> None:
        """Report a hook that was started; a built-in hook that stayed silent only if it is shown."""
        if run.ending == "not_started":
            self.report(hook, "broken", run.error or "", run, outcome.verdict)
        elif outcome.spoke or hook.scope != BUILTIN or self.context.routes.shows(hook):
            self.report(hook, "ran", run=run, verdict=outcome.verdict)

    def read_by_all(
        self, position: int, step: HookStep, call: Call, run: Run, outcome: Outcome
    ) -> tuple[HookStep, Outcome]:
        """Let every dialect that declares this program read its answer. The declarations that can are then done."""
        from anyhook.engine.cases import read_by_all

        declared = [place for place in self.route.declared_again[position] if not self.prepared_at(place).same_as]
        again = {place: self.route.steps[place] for place in declared}
        reading = read_by_all(self.context, self.event, self.queue.event, step, again, call, run, outcome)
        for place in reading.done:
            self.prepared[place] = self.prepared_at(place).replace(same_as=step.hook.id)
            self.read_with[place] = position
        if reading.also:
            self.runs[-1] = self.runs[-1].replace(also=reading.also)
        return reading.step, reading.outcome

    def prepared_at(self, position: int) -> Prepared:
        return self.prepared.get(position, UNPREPARED)

    def start_and_wait(
        self, position: int, step: HookStep, posture: Posture, scene: Scene
    ) -> Generator[Waitable, Run, tuple[Call, Run, Outcome]]:
        """Start a hook, unless it was started before its turn; wait for it, and read its answer."""
        hook, context, reply = step.hook, self.context, step.dialect.replies[step.hook.handler]
        if self.rules is not None:
            step = self.rules.with_line(step, self.queue.event)
        prepared = self.prepared.get(position, UNPREPARED)
        started = prepared.started or start_hook(context, step, scene)
        if prepared.started is not None:
            self.prepared[position] = prepared.replace(started=None)
        self.grace_s = started.grace_s
        call, model, run = started.call, started.model, started.run
        self.running = None if isinstance(run, Run) else run
        self.head = self.head or head_of(self.event, context.mode, context.recorder.policy)  # while the hook runs
        text = call_text(hook, call, posture, context.recorder.policy, model)
        if not isinstance(run, Run):
            try:
                run = yield run
            except GeneratorExit:
                ended = self.running.wait(0.0) if self.running is not None else None
                self.runs.append(HookRun(hook, call, posture, model, ended, "cancelled", None, text))
                self.report(hook, "ran", run=ended)
                raise
            self.running = None
        if run.exit_code and hook.handler == "command":
            from anyhook.engine.near_miss import unless_never_ran

            run = unless_never_ran(call, reply, self.event.name, run)
        had = hook.replace(limit_s=call.limit_s) if run.ending == "timed_out" else hook  # a host may have had less
        outcome = interpret(had, reply, self.event.name, run)
        cause = outcome.failure.cause if outcome.failure else ""
        self.runs.append(HookRun(hook, call, posture, model, run, cause, outcome, text))
        return call, run, outcome

    def take(self, position: int, step: HookStep, outcome: Outcome, *, upstream: bool) -> None:
        """Let one outcome count, for the hooks that follow and for the decision."""
        if self.context.asked_again and any(getattr(outcome, rewrite) is not None for _, rewrite in REWRITES):
            if not self.context.shadows(step.hook):
                self.wanted[position] = to_host(outcome, self.event, step.dialect)
            outcome = outcome.replace(**NO_REWRITE)
        if self.context.shadows(step.hook):
            outcome = Outcome(problems=outcome.problems)  # what it asked for is in its report
        if outcome.problems:
            outcome = outcome.replace(problems=self.context.without_repeats(outcome.problems))
        prepared, queue, plain = self.prepared.get(position, UNPREPARED), self.queue, outcome
        if outcome is not SILENT:
            plain = to_host(outcome, self.event, step.dialect)
            self.queue = queue.after(step.hook, step.dialect, step.row, outcome, plain, upstream=upstream)
        seen = prepared.seen or queue.seen
        self.entries.append(Judged(position, step.hook, step.dialect, step.row, plain, upstream, seen))

    def queue_background(self, step: HookStep) -> None:
        """Background hooks start last, and only if nothing was stopped."""
        context = self.context
        scene = scene_of(context, self.queue.seen, step.dialect, step.row)
        call, missing = present(step.hook, step.dialect, step.row, scene, next(context.ids), context.trace)
        if missing:
            self.report(step.hook, "broken", missing)
        else:
            self.background.append((step.hook, call))
            self.report(step.hook, "background", "runs in the background and decides nothing")

    def report(
        self, hook: Hook, status: HookStatus, why: str = "", run: Run | None = None, verdict: Verdict = "none"
    ) -> None:
        source = f"{hook.source}:{hook.line}" if hook.line else hook.source
        start = (hook.id, hook.name, hook.dialect, hook.scope, source, status, why)
        shadow = self.context.shadows(hook)
        earlier = self.rules.earlier_calls(hook) if self.rules is not None else ()
        if run is None:
            self.reports.append(Report(*start, verdict=verdict, shadow=shadow, earlier=earlier))
            return
        stdout, stderr = run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")
        taken_ms = int(run.duration_s * 1_000_000 + 0.5) / 1000  # `round` takes many times as long
        self.reports.append(
            Report(*start, run.ending, run.exit_code, taken_ms, stdout, stderr, verdict, shadow, earlier)
        )

    def start_background(self) -> None:
        stop = self.queue.stop
        for hook, call in self.background:
            if stop is not None and stop.everywhere:
                skipped = {"status": "skipped", "why": f"{stop.by} came first"}
                self.reports = [one.replace(**skipped) if one.id == hook.id else one for one in self.reports]
            else:
                self.runs.append(HookRun(hook, call, posture_of(self.context, hook)))
                self.context.start_in_background(hook, call)


def begin(context: Context, event: Event) -> Walk | Decision:
    """The walk of one event; if it reaches no hook, the decision."""
    route = context.routes.find(event)
    quiet = route.quiet
    if quiet is not None and not route.in_process:
        return quiet
    if inside_hook.get():
        return context.routes.inside(event, route.steps, "an in-process hook fired it")
    if not context.one_shot:
        route = context.routes.checked(event, route)
        quiet = route.quiet
        if quiet is not None and not route.in_process:
            return quiet
    context = context.for_call((event,))
    return Walk(context, event, route) if quiet is None else _in_process(context, event, route, quiet)


def _in_process(context: Context, event: Event, route: Route, quiet: Decision) -> Walk | Decision:
    """The same for an event that only callables and built-in hooks want: they are asked first, and most stay silent."""
    from anyhook.engine.cases import acts, first_answers

    answers = first_answers(route.callbacks, event) if route.callbacks else []
    if not answers and not (route.builtins and any(acts(context, step, event) for step in route.builtins)):
        return quiet
    return Walk(context, event, route, answers or [None] * len(route.callbacks))
