"""One event's walk: match, present, run, interpret and judge each hook, then merge. A walk lives as long as its event.
It yields what has to be waited for, so that callers with and without an event loop share every line. It records
nothing: that is the last step, after the answer is made."""

from __future__ import annotations

from _functools import partial  # type: ignore[import-not-found]  # `functools` is this and much more
from time import monotonic

from anyhook.handlers import inside_hook, start
from anyhook.journal.record import call_text, head_of
from anyhook.model.call import Call, Run
from anyhook.model.decision import Report, idle_report
from anyhook.model.event import GATES
from anyhook.model.firing import HookRun, Part
from anyhook.model.hook import BROKEN, BUILTIN, Hook
from anyhook.model.outcome import BLOCK, SILENT, STOPPING, Failure, Outcome
from anyhook.model.problem import Problem
from anyhook.process.spawn import here
from anyhook.tables.translate import completed, rewritten, to_host, to_native
from anyhook.walk.interpret import read_again
from anyhook.walk.merge import REFUSING, Judged, ignore_block, judge, merge, posture_of, unless_exempt
from anyhook.walk.present import call_of, own_scene, present, scene_of, stdin_of
from anyhook.walk.routes import match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from anyhook.handlers import Waitable
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.words import HookStatus, Verdict
    from anyhook.tables.rows import Scene
    from anyhook.walk.context import Context
    from anyhook.walk.routes import HookStep, Route
    from anyhook.walk.rules import Rules

    Begun = tuple[Call, str, Waitable | Run]

GRACE_S, GRACE_PER_BYTE_S, MAX_GRACE_S = 0.002, 4e-9, 0.01
"""How long an async caller's loop waits for a hook before a thread takes over, plus an allowance per byte of payload.
Switching to a thread costs more time than most native hooks need."""
MIN_LIMIT_S = 0.01
"""The limit of a hook that starts when the host's time is already up. It counts as one that timed out."""


class Walk:
    """The state of one event on its way."""

    def __init__(self, context: Context, event: Event, route: Route, answers: Sequence[object] = ()) -> None:
        """`answers` holds what the first callables have returned already, or the exception that one raised."""
        self.context, self.event, self.route = context, event, route
        self.answers = list(answers)
        self.part: Part | None = None
        """The result; None until the walk ends."""
        self.grace_s = GRACE_S
        self.current = event
        """The event with every rewrite so far."""
        self.seen = event
        """The event as the next hook of this dialect sees it."""
        self.group = ""
        """The dialect whose hooks are being asked."""
        self.blocker = self.blocked_in = ""
        """The hook that ended the queue, and its dialect."""
        self.ended = self.stopped = False
        """Whether the dialect's own queue has ended, and whether the event is stopped for all dialects."""
        self.entries: list[Judged] = []
        self.reports: list[Report] = []
        self.runs: list[HookRun] = []
        self.head = ""
        """The first part of the journal line, made while a hook runs."""
        self.waiting: list[tuple[Hook, Call]] = []
        """Background hooks to start once the event has not been stopped."""
        self.running: Waitable | None = None
        """The hook that is being waited for."""

        # By position in the queue:
        self.started_early: dict[int, Begun] = {}
        self.shown: dict[int, Event] = {}
        """What hooks that were started early were shown."""
        self.known: dict[int, tuple[str | None, str]] = {}
        """What their matchers answered."""
        self.rules: Rules | None = None
        self.unmet: dict[int, Report] = {}
        """Rules whose condition does not hold for `unmet_for`."""
        self.unmet_for: Event | None = None
        self.same: dict[int, str] = {}
        """Hooks that repeat an earlier one → the earlier one's id."""
        self.read_with: dict[int, int] = {}
        """Hooks whose program another dialect has run → the position of that run."""

    def walk(self) -> Generator[Waitable, Run, None]:
        steps = self.route.steps
        try:
            for position, step in enumerate(steps):
                try:
                    if position in self.unmet and self.unmet_for is self.current:
                        self.reports.append(self.unmet[position])
                    else:
                        yield from self.step(position, steps)
                except Exception as error:  # noqa: BLE001 (one hook's failure, even ours, does not affect others)
                    self.fail(position, step, error)
            if self.current is not self.event:
                from anyhook.walk.final_form import judge_final_form

                yield from judge_final_form(self)
        except GeneratorExit:  # the caller was cancelled: what happened until then is still written down
            self.waiting.clear()
            self.end_started_early(steps)
            self.conclude()
            raise
        self.conclude()

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

    def step(self, position: int, steps: tuple[HookStep, ...]) -> Generator[Waitable, Run, None]:
        step = steps[position]
        if step.dialect.name != self.group:
            self.group, self.seen, self.ended = step.dialect.name, self.current, False
            if self.current.hosted:
                self.seen = to_native(self.current, step.dialect)
            if step.dialect.at_once and not self.stopped:
                self.start_together(position, steps)
        why, failed = self.known.get(position) or (step.why, "")
        if step.hook.status == BROKEN:
            failed = step.hook.why
        elif why is None and "tree" in step.hook.spec:
            from anyhook.walk.rules import ask_rule

            why = ask_rule(self, position)
        elif why is None:
            why, failed = match(step.hook, step.dialect, step.row, self.seen, self.current)
        if why:
            self.reports.append(idle_report(step.hook, why))
        elif (self.stopped or self.ended) and not (step.dialect.together and self.blocked_in == self.group):
            self.report(step.hook, "skipped", f"{self.blocker} came first")
        elif position in self.same:
            self.report(step.hook, "skipped", f"{self.same[position]} is the same")
        elif step.closed_because:
            self.refuse_as_off(position, step)
        elif failed:
            self.count_as_broken(position, step, failed)
        elif step.hook.background or (self.context.hurried and step.hook.handler == "command"):
            self.queue_background(step)
        else:
            yield from self.run(position, step)

    def fail(self, position: int, step: HookStep, error: Exception) -> None:
        """Our own code failed on this hook. It counts as broken, and the user is told."""
        from anyhook.tables.isolation import error_line

        left, self.running = self.running, None
        if left is not None:
            left.end("cancelled")
            left.wait(None)
        if not any(entry.position == position for entry in self.entries):
            why = error_line(error)
            message = f"anyhook: hook `{step.hook.name}` could not be asked: {why}"
            self.count_as_broken(position, step, f"anyhook failed while it was asked ({why})", (message,))

    def run(self, position: int, step: HookStep) -> Generator[Waitable, Run, None]:
        hook, table, row, context = step.hook, step.dialect, step.row, self.context
        posture, scene = posture_of(context, hook), scene_of(context, self.seen, table, row)
        if context.trace_step is not None:
            context.trace_step("run", hook.id)
        if hook.handler == "callable":
            outcome, run = self.call(hook), None
        elif self.rules is not None and hook.id in self.rules.answers:
            outcome, run = self.rules.answers[hook.id], None
        else:
            if self.rules is not None:
                step = self.rules.with_line(step, self.current)
            early = position in self.started_early
            call, model, started = self.started_early.pop(position) if early else self.begin(step, scene)
            self.running = None if isinstance(started, Run) else started
            self.head = self.head or head_of(self.event, context.mode, context.recorder.policy)  # while the hook runs
            text = call_text(hook, call, posture, context.recorder.policy, model)
            try:
                run = started if isinstance(started, Run) else (yield started)
                self.running = None
            except GeneratorExit:
                run = started if isinstance(started, Run) else started.wait(0.0)
                self.runs.append(HookRun(hook, call, posture, model, run, "cancelled", None, text))
                self.report(hook, "ran", run=run)
                raise
            if run.exit_code and hook.handler == "command":
                from anyhook.walk.never_ran import unless_never_ran

                run = unless_never_ran(call, table.replies[hook.handler], self.event.name, run)
            had = hook.replace(limit_s=call.limit_s) if run.ending == "timed_out" else hook  # a host may have had less
            outcome = read_again(context.interpreted, had, table.replies[hook.handler], self.event.name, run)
            failed = outcome.failure
            self.runs.append(HookRun(hook, call, posture, model, run, failed.cause if failed else "", outcome, text))
            if outcome.tool_input is not None:
                outcome = completed(outcome, self.seen, table)
        outcome = judge(hook, table, row, outcome, posture, scene.settings)
        if outcome.verdict in REFUSING or outcome.failure is not None:
            outcome = unless_exempt(context, self.event, hook, row, outcome)
        if run is not None and position in self.route.declared_again:
            from anyhook.walk.same_hook import read_by_all

            step, outcome = read_by_all(self, position, step, call, run, outcome)
        if run is not None and (outcome.spoke or hook.scope != BUILTIN or context.routes.shows(hook)):
            broken = run.ending == "not_started"
            self.report(hook, "broken" if broken else "ran", (run.error or "") if broken else "", run, outcome.verdict)
        elif run is None:
            self.report(hook, "ran", verdict=outcome.verdict)
        self.take(position, step, outcome, scene.settings.get("chaining") == "upstream")

    def call(self, hook: Hook) -> Outcome:
        """What a callable of the embedding program answers."""
        from anyhook.walk.callables import ask, outcome_of

        return outcome_of(self.answers.pop(0) if self.answers else ask(self.context.routes.callback(hook), self.seen))

    def begin(self, step: HookStep, scene: Scene) -> Begun:
        """The call, the model it asks, and what was started. A process gets its input while it starts."""
        hook, table, context = step.hook, step.dialect, self.context
        late = hook.handler == "command" and context.recorder.listener is None
        stdin = b"" if late else stdin_of(table, step.row, scene)
        call, missing = call_of(hook, table, scene, next(context.ids), context.trace, stdin)
        if context.deadline_s is not None:  # it gets no more time than the host has left for all of us
            call = call.replace(limit_s=min(call.limit_s, max(context.deadline_s - monotonic(), MIN_LIMIT_S)))
        if missing:
            return call, "", Run("not_started", None, b"", b"", 0, 0.0, missing)
        if here.warm_child is not None and context.config.may_be_warm(hook):
            call = call.replace(may_be_warm=True)
        if hook.handler == "command":
            from anyhook.process.run import start as start_process

            started = start_process(call, partial(stdin_of, table, step.row, scene) if late else None)
            if not isinstance(started, Run):
                self.grace_s = min(GRACE_S + started.sent * GRACE_PER_BYTE_S, MAX_GRACE_S)
            return call, "", started
        asked, model = context.asked(hook, table)
        return call, model, start(hook, table, call, own_scene(hook, scene), asked, context.config)

    def start_together(self, first: int, steps: tuple[HookStep, ...]) -> None:
        """Start the hooks of a dialect that runs them in parallel. Whoever waits for one process looks after all of
        them; handlers of other kinds get a thread each. Their answers still count in the order of the queue."""
        table = steps[first].dialect
        seen: dict[tuple[Json, ...], str] = {}
        ready: list[int] = []
        for position, step in enumerate(steps[first:], first):
            hook, why, failed = step.hook, step.why, ""
            if step.dialect is not table:
                break
            if hook.status == BROKEN or step.closed_because or position in self.same:
                continue
            if why is None:
                why, failed = match(hook, table, step.row, self.seen, self.current)
            self.known[position] = (why, failed)
            if why or failed:
                continue
            first_id = seen.setdefault(table.identity(hook), hook.id)
            if first_id != hook.id:
                self.same[position] = first_id
            elif not hook.background:
                ready.append(position)
        if len(ready) < 2 or any(map(table.in_turn, (steps[position].hook for position in ready))):
            return
        from anyhook.process.beside import watched

        for position in ready:
            scene = scene_of(self.context, self.seen, table, steps[position].row)
            self.started_early[position], self.shown[position] = self.begin(steps[position], scene), self.seen
        for position, started in zip(ready, watched([self.started_early[each][2] for each in ready]), strict=True):
            self.started_early[position] = (*self.started_early[position][:2], started)

    def end_started_early(self, steps: tuple[HookStep, ...]) -> None:
        """End the hooks that were started early and whose turn will not come."""
        for position, (call, model, started) in self.started_early.items():
            hook = steps[position].hook
            if not isinstance(started, Run):
                started.end("cancelled")
            run = started if isinstance(started, Run) else started.wait(None)
            self.runs.append(HookRun(hook, call, posture_of(self.context, hook), model, run, "cancelled"))
            self.report(hook, "ran", run=run)

    def count_as_broken(self, position: int, step: HookStep, why: str, messages: tuple[str, ...] = ()) -> None:
        """Count a hook as broken that could not be asked, for example because its matcher failed."""
        outcome = Outcome(failure=Failure("not_started", why), messages=messages)
        posture = posture_of(self.context, step.hook)
        outcome = judge(step.hook, step.dialect, step.row, outcome, posture, {})
        self.report(step.hook, "broken", why, verdict=outcome.verdict)
        self.take(position, step, outcome, upstream=False)

    def refuse_as_off(self, position: int, step: HookStep) -> None:
        """Refuse for a gate that is off, where the user's `off` setting says so."""
        hook, why = step.hook, "it is off, and `off` in the settings is `deny`"
        refusal, posture = Outcome.block(step.closed_because), posture_of(self.context, hook)
        outcome = judge(hook, step.dialect, step.row, refusal, posture, {})
        problem = Problem("gate-off", f"`{hook.name}` is off, so what it guards is refused", hook.where(), hook.why)
        outcome = outcome.replace(problems=(*outcome.problems, problem))
        if step.dialect.name in self.context.exhausted:
            outcome = ignore_block(hook, step.row, outcome)
        self.report(hook, "untrusted" if not hook.trusted else "broken", hook.why or why, verdict=outcome.verdict)
        self.take(position, step, outcome, upstream=False)

    def take(self, position: int, step: HookStep, outcome: Outcome, upstream: bool) -> None:
        """Let one outcome count, for the hooks that follow and for the decision."""
        if self.context.config.hook_mode.get(step.hook.id) == "shadow":
            outcome = Outcome(problems=outcome.problems)  # what it asked for is in its report
        if outcome.problems:
            outcome = outcome.replace(problems=self.context.without_repeats(outcome.problems))
        plain, seen = outcome, self.seen
        if outcome is not SILENT:
            plain = to_host(outcome, self.event, step.dialect)
            chains = () if upstream else step.dialect.chains
            self.current, self.seen = rewritten(self.current, seen, outcome, plain, chains)
        self.entries.append(
            Judged(position, step.hook, step.dialect, step.row, plain, upstream, self.shown.get(position, seen))
        )
        if outcome.verdict == BLOCK:
            if not self.ended:
                self.ended, self.blocker, self.blocked_in = True, f"a block by {step.hook.id}", step.dialect.name
            self.stopped = self.stopped or (self.event.name in GATES and step.row.block in STOPPING)
        elif step.hook.scope == BUILTIN and outcome.recipe is not None:
            self.ended, self.blocker = True, step.hook.id

    def queue_background(self, step: HookStep) -> None:
        """Background hooks start last, and only if nothing was stopped."""
        context = self.context
        scene = scene_of(context, self.seen, step.dialect, step.row)
        call, missing = present(step.hook, step.dialect, step.row, scene, next(context.ids), context.trace)
        if missing:
            self.report(step.hook, "broken", missing)
        else:
            self.waiting.append((step.hook, call))
            self.report(step.hook, "background", "runs in the background and decides nothing")

    def report(
        self, hook: Hook, status: HookStatus, why: str = "", run: Run | None = None, verdict: Verdict = "none"
    ) -> None:
        source = f"{hook.source}:{hook.line}" if hook.line else hook.source
        start = (hook.id, hook.name, hook.dialect, hook.scope, source, status, why)
        if run is None:
            self.reports.append(Report(*start, verdict=verdict))
            return
        stdout, stderr = run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")
        taken_ms = int(run.duration_s * 1_000_000 + 0.5) / 1000  # `round` takes many times as long
        self.reports.append(Report(*start, run.ending, run.exit_code, taken_ms, stdout, stderr, verdict))

    def conclude(self) -> None:
        if self.waiting:
            self.start_background()
        enforced = self.context.mode != "shadow"
        decision = merge(self.event.name, self.entries, tuple(self.reports), self.route.problems, enforced)
        self.part = Part(self.event, decision, tuple(self.runs), self.head)

    def start_background(self) -> None:
        for hook, call in self.waiting:
            if self.stopped:
                skipped = {"status": "skipped", "why": f"{self.blocker} came first"}
                self.reports = [one.replace(**skipped) if one.id == hook.id else one for one in self.reports]
            else:
                self.runs.append(HookRun(hook, call, posture_of(self.context, hook)))
                self.context.start_in_background(hook, call)


def begin(context: Context, event: Event) -> Walk | Part:
    """The walk of one event; if it reaches no hook, the finished result."""
    route = context.routes.find(event)
    if context.mode == "shadow" and context.config.hook_mode:
        from anyhook.walk.own_modes import with_own_modes

        context = with_own_modes(context, (event,))
    quiet, inside = route.quiet, inside_hook.get()
    if inside and (quiet is None or route.in_process):
        return Part(event, context.routes.inside(event, route.steps, "an in-process hook fired it"))
    if quiet is None:
        return Walk(context, event, route)
    if not route.in_process:
        return Part(event, quiet)
    from anyhook.walk.callables import acts, first_answers

    answers = first_answers(route.callbacks, event)
    if not answers and not any(acts(context, step, event) for step in route.builtins):
        return Part(event, quiet)
    return Walk(context, event, route, answers or [None] * len(route.callbacks))
