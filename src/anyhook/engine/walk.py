"""One event's walk: match, present, run, interpret and judge each hook, then merge. It yields whenever it has to wait,
so that callers with and without an event loop share every line. The caller records the result, after the answer."""

from __future__ import annotations

from _functools import partial  # type: ignore[import-not-found]  # `functools` is this and much more
from time import monotonic

from anyhook.engine.interpret import read_again
from anyhook.engine.merge import REFUSING, Judged, judge, merge, posture_of, unless_exempt
from anyhook.engine.present import call_of, own_scene, present, scene_of, stdin_of
from anyhook.engine.routes import match
from anyhook.handlers import inside_hook, start
from anyhook.journal.record import call_text, head_of
from anyhook.model.call import Call, Run
from anyhook.model.decision import Report, idle_report
from anyhook.model.event import GATES
from anyhook.model.firing import HookRun, Part
from anyhook.model.hook import BROKEN, BUILTIN, Hook
from anyhook.model.outcome import BLOCK, SILENT, STOPPING, Outcome
from anyhook.model.record import Record
from anyhook.platform.spawn import here
from anyhook.tables.translate import completed, rewritten, to_host, to_native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from anyhook.engine.context import Context
    from anyhook.engine.routes import HookStep, Route
    from anyhook.engine.rules import Rules
    from anyhook.handlers import Waitable
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.words import HookStatus, Posture, Verdict
    from anyhook.tables.rows import Dialect, EventRow, Scene

GRACE_S, GRACE_PER_BYTE_S, MAX_GRACE_S = 0.002, 4e-9, 0.01
"""How long an async caller's loop waits for a hook before a thread takes over, plus an allowance per byte of payload.
Switching to a thread costs more time than most native hooks need."""
MIN_LIMIT_S = 0.01
"""The limit of a hook that starts when the host's time is already up. It counts as one that timed out."""


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
        self, hook: Hook, table: Dialect, row: EventRow, outcome: Outcome, plain: Outcome, upstream: bool
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


class StartedHook(Record):
    """A hook that was started."""

    call: Call
    model: str
    """The model that it asks, or ""."""
    run: Waitable | Run
    """What to wait for; or how it ended, if it could not be started or ended at once."""


class Prepared(Record):
    """What is known about a hook before its turn comes."""

    matched: tuple[str | None, str] | None = None
    """What `match` said; None if it has not been asked."""
    same_as: str = ""
    """The id of an earlier hook that runs for both."""
    started: StartedHook | None = None
    """Its run, if it was started before its turn."""
    seen: Event | None = None
    """The event that it was started with."""


UNPREPARED = Prepared()


class Walk:
    """One event's walk and its state."""

    def __init__(self, context: Context, event: Event, route: Route, answers: Sequence[object] = ()) -> None:
        """`answers` holds what the first callables have returned already, or the exception that one raised."""
        self.context, self.event, self.route = context, event, route
        self.answers = list(answers)
        self.queue = Queue(event, event)
        self.prepared: dict[int, Prepared] = {}
        """By position in the queue."""
        self.rules: Rules | None = None
        """What the rules of this event say; None until the first is asked."""
        self.read_with: dict[int, int] = {}
        """The position of a hook whose program another dialect has run → the position of that run."""
        self.running: Waitable | None = None
        """The hook that is being waited for."""
        self.grace_s = GRACE_S
        self.background: list[tuple[Hook, Call]] = []
        """Hooks that start at the end, unless the action is stopped."""

        # The record of what happened:
        self.entries: list[Judged] = []
        self.reports: list[Report] = []
        self.runs: list[HookRun] = []
        self.head = ""
        """The first part of the journal line, made while a hook runs."""
        self.part: Part | None = None
        """All of it as one value; None until the walk ends."""

    def walk(self) -> Generator[Waitable, Run, None]:
        steps, position = self.route.steps, 0
        try:
            while position < len(steps):
                rules = self.rules
                if rules is not None and rules.unmet_for is self.queue.event and position in rules.unmet:
                    position = rules.skip(position, self.reports)
                    continue
                try:
                    yield from self.step(position, steps[position])
                except Exception as error:  # noqa: BLE001 (one hook's failure, even ours, does not affect others)
                    from anyhook.engine.cases import fail

                    fail(self, position, steps[position], error)
                position += 1
            if self.queue.event is not self.event:
                from anyhook.engine.cases import judge_final_form

                yield from judge_final_form(self)
        except BaseException:  # usually a cancelled caller; what happened until then is still recorded
            from anyhook.engine.cases import end_prepared

            self.background.clear()
            end_prepared(self)
            raise
        finally:
            if self.background:
                self.start_background()
            enforced = self.context.mode != "shadow"
            decision = merge(self.event.name, self.entries, tuple(self.reports), self.route.problems, enforced)
            self.part = Part(self.event, decision, tuple(self.runs), self.head)

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
            self.queue = self.queue.entering(table)
            following = self.route.steps[position + 1 : position + 2]
            if table.at_once and following and following[0].dialect is table and not self.queue.is_over:
                from anyhook.engine.cases import start_together

                start_together(self, position)
        prepared = self.prepared.get(position, UNPREPARED)
        why, failed = prepared.matched or (step.why, "")
        if hook.status == BROKEN:
            failed = hook.why
        elif why is None and hook.condition is not None:
            from anyhook.engine.rules import ask_rule

            why = ask_rule(self, position)
        elif why is None:
            why, failed = match(hook, table, step.row, self.queue.seen, self.queue.event)
        if why:
            self.reports.append(idle_report(hook, why))
        elif self.queue.stop is not None and self.queue.skips(table):
            self.report(hook, "skipped", f"{self.queue.stop.by} came first")
        elif prepared.same_as:
            self.report(hook, "skipped", f"{prepared.same_as} is the same")
        elif step.closed_because or failed:
            from anyhook.engine.cases import count_as_broken, refuse_as_off

            if step.closed_because:
                refuse_as_off(self, position, step)
            else:
                count_as_broken(self, position, step, failed)
        elif hook.background or (self.context.hurried and hook.handler == "command"):
            self.queue_background(step)
        else:
            yield from self.run(position, step)

    def run(self, position: int, step: HookStep) -> Generator[Waitable, Run, None]:
        """Run one hook, read and judge its answer, and let it count."""
        hook, table, row, context = step.hook, step.dialect, step.row, self.context
        posture, scene = posture_of(context, hook), scene_of(context, self.queue.seen, table, row)
        if context.trace_step is not None:
            context.trace_step("run", hook.id)
        run: Run | None = None
        if hook.handler == "callable":
            from anyhook.engine.cases import next_answer

            outcome = next_answer(self, hook)
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
            self.report(hook, "ran", verdict=outcome.verdict)
        else:
            if position in self.route.declared_again:
                from anyhook.engine.cases import read_by_all

                step, outcome = read_by_all(self, position, step, call, run, outcome)
            if run.ending == "not_started":
                self.report(hook, "broken", run.error or "", run, outcome.verdict)
            elif outcome.spoke or hook.scope != BUILTIN or context.routes.shows(hook):
                self.report(hook, "ran", run=run, verdict=outcome.verdict)
        self.take(position, step, outcome, scene.settings.get("chaining") == "upstream")

    def start_and_wait(
        self, position: int, step: HookStep, posture: Posture, scene: Scene
    ) -> Generator[Waitable, Run, tuple[Call, Run, Outcome]]:
        """Start a hook, unless it was started before its turn; wait for it, and read its answer."""
        hook, context, reply = step.hook, self.context, step.dialect.replies[step.hook.handler]
        if self.rules is not None:
            step = self.rules.with_line(step, self.queue.event)
        prepared = self.prepared.get(position, UNPREPARED)
        started = prepared.started or self.start(step, scene)
        if prepared.started is not None:
            self.prepared[position] = prepared.replace(started=None)
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
        outcome = read_again(context.interpreted, had, reply, self.event.name, run)
        cause = outcome.failure.cause if outcome.failure else ""
        self.runs.append(HookRun(hook, call, posture, model, run, cause, outcome, text))
        return call, run, outcome

    def start(self, step: HookStep, scene: Scene) -> StartedHook:
        """Start a hook. A process gets its input while it starts."""
        hook, table, context = step.hook, step.dialect, self.context
        late = hook.handler == "command" and context.recorder.listener is None
        stdin = b"" if late else stdin_of(table, step.row, scene)
        call, missing = call_of(hook, table, scene, next(context.ids), context.trace, stdin)
        if context.deadline_s is not None:  # it gets no more time than the host has left for all hooks
            call = call.replace(limit_s=min(call.limit_s, max(context.deadline_s - monotonic(), MIN_LIMIT_S)))
        if missing:
            return StartedHook(call, "", Run("not_started", None, b"", b"", 0, 0.0, missing))
        if here.warm_child is not None and context.config.may_be_warm(hook):
            call = call.replace(may_be_warm=True)
        if hook.handler == "command":
            from anyhook.platform.run import start as start_process

            child = start_process(call, partial(stdin_of, table, step.row, scene) if late else None)
            if not isinstance(child, Run):
                self.grace_s = min(GRACE_S + child.sent * GRACE_PER_BYTE_S, MAX_GRACE_S)
            return StartedHook(call, "", child)
        asked, model = context.asked(hook, table)
        return StartedHook(call, model, start(hook, table, call, own_scene(hook, scene), asked, context.config))

    def take(self, position: int, step: HookStep, outcome: Outcome, upstream: bool) -> None:
        """Let one outcome count, for the hooks that follow and for the decision."""
        if self.context.config.hook_mode.get(step.hook.id) == "shadow":
            outcome = Outcome(problems=outcome.problems)  # what it asked for is in its report
        if outcome.problems:
            outcome = outcome.replace(problems=self.context.without_repeats(outcome.problems))
        prepared, queue, plain = self.prepared.get(position, UNPREPARED), self.queue, outcome
        if outcome is not SILENT:
            plain = to_host(outcome, self.event, step.dialect)
            self.queue = queue.after(step.hook, step.dialect, step.row, outcome, plain, upstream)
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
        shadow = self.context.config.hook_mode.get(hook.id) == "shadow"
        if run is None:
            self.reports.append(Report(*start, verdict=verdict, shadow=shadow))
            return
        stdout, stderr = run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")
        taken_ms = int(run.duration_s * 1_000_000 + 0.5) / 1000  # `round` takes many times as long
        self.reports.append(Report(*start, run.ending, run.exit_code, taken_ms, stdout, stderr, verdict, shadow))

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
    if context.mode == "shadow" and context.config.hook_mode:
        from anyhook.engine.merge import with_own_modes

        context = with_own_modes(context, (event,))
    if quiet is None:
        return Walk(context, event, route)
    from anyhook.engine.cases import acts, first_answers

    answers = first_answers(route.callbacks, event) if route.callbacks else []
    if not answers and not (route.builtins and any(acts(context, step, event) for step in route.builtins)):
        return quiet
    return Walk(context, event, route, answers or [None] * len(route.callbacks))
