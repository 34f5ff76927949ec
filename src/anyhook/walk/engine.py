"""Engine: one project's hooks, ready to fire. It holds configuration, compiled routes and the session's warnings,
and no state of any single event, so that many tasks may use one engine at once."""

from __future__ import annotations

import os
from itertools import count
from time import monotonic, time_ns

from anyhook.handlers import ended, inside_hook
from anyhook.journal.journal import Journal
from anyhook.journal.record import Keeping, about, head_of, record, record_quiet, secrets_of
from anyhook.journal.writer import bounds_of
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.hook import ASKING, DISABLED, Hook
from anyhook.model.problem import Problem
from anyhook.model.trace import Trace
from anyhook.model.words import FULL, MODE, ON_FAILURE, RECORD, checked, listed
from anyhook.state.places import state_dir as own_state_dir
from anyhook.tables.rows import Dialect, EventRow, Scene
from anyhook.walk.catalog import Catalog, Setup
from anyhook.walk.interpret import Interpreter
from anyhook.walk.routes import Routes
from anyhook.walk.walk import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from typing import Unpack

    from anyhook.handlers import Waitable
    from anyhook.handlers.model_client import AnyModel
    from anyhook.journal.recording import Recording
    from anyhook.model.call import Call, Run
    from anyhook.model.json_types import Json
    from anyhook.model.switches import Switches
    from anyhook.walk.routes import Callback, Route, Step

    Begun = tuple[Walk, Generator[Waitable, Run, Decision]]

UNWRITTEN_MOST = 50_000
"""How many events that reached no hook are kept before their lines are written."""


class Engine:
    """Fires events at one project's hooks."""

    def __init__(
        self,
        setup: Setup,
        catalog: Catalog,
        *,
        on_failure: str | None,
        mode: str | None,
        session: str | None,
        host: str,
    ) -> None:
        self.setup = setup
        self.catalog = catalog
        self.on_failure = on_failure or catalog.config.on_failure
        self.mode = mode or catalog.config.mode
        self.session = session or f"session-{os.urandom(8).hex()}"
        self.host = host
        self.outlived = False
        """Whether this process ends before its background hooks do, so that another has to see them through."""
        self.model: AnyModel | None = None
        """For every handler that asks one; without it, the user's settings name one for each role."""
        self.spare_model: AnyModel | None = None
        """The host's own, where the settings name none."""
        self.note: Callable[[Decision], Decision] | None = None
        """Adds to a decision what its host cannot do, before the decision is written down."""
        self.answer_by_s: float | None = None
        """The moment, by the monotonic clock, by which the host wants its answer: no hook runs beyond it."""
        self.journal: Journal | None = Journal(own_state_dir(setup.env), bounds_of(catalog.config.journal))
        bodies = str(catalog.config.journal.get("bodies", FULL))
        self.keeping = Keeping(secrets_of(setup.env), bodies, frozenset(setup.env), {})
        self.recording: Recording | None = None
        if RECORD in setup.env:
            from anyhook.journal.recording import recording_of

            self.recording = recording_of(setup.env, self.keeping)
        self.trace = Trace(setup.env)
        self._env = dict(setup.env)
        self.routes = Routes(setup, catalog, enforced=self.mode != "shadow")
        self.answers = Interpreter()
        self._unwritten: list[tuple[int, Event, Decision]] = []
        """Events that the journal has yet to hear of, with their times and answers."""
        self._whos: dict[str, str] = {}
        self._warned: set[tuple[str, str]] = set()
        self._background: list[Waitable] = []
        self._others: dict[str, Engine] = {}
        self._nonce = os.urandom(6).hex()
        self._runs = count(1)

    @classmethod
    def open(
        cls,
        project: str | os.PathLike[str] = ".",
        *,
        dialects: Sequence[str] = (),
        trust: str = "ask",
        on_failure: str | None = None,
        mode: str | None = None,
        plugin_dirs: Sequence[str] = (),
        state_dir: str | None = None,
        dialect: str | Sequence[str] = (),
        plugin_dir: str | Sequence[str] = (),
        session: str | None = None,
        model: AnyModel | None = None,
        env: Mapping[str, str] | None = None,
        host: str = "library",
        read_by_s: float | None = None,
    ) -> Engine:
        """Discover, load and trust, once. The environment is taken as it is now. ValueError for a switch that is
        none. `read_by_s`: where the project has not been read by then (monotonic clock), its hooks are left out."""
        from anyhook.walk.plan import open_catalog

        given = dict(os.environ if env is None else env)
        chosen, folders = listed(dialects, dialect), listed(plugin_dirs, plugin_dir)
        setup = Setup.of(os.fspath(project), given, chosen, trust, folders, state_dir).replace(read_by_s=read_by_s)
        checked("on_failure", on_failure, ON_FAILURE)
        checked("mode", mode, MODE)
        engine = cls(setup, open_catalog(setup), on_failure=on_failure, mode=mode, session=session, host=host)
        engine.model = model
        return engine

    # -- firing

    async def fire(self, event: Event, **switches: Unpack[Switches]) -> Decision:
        """Run the hooks of one event and answer with one decision. The loop is never held for more than a moment."""
        route = self.routes.find(event)
        if not switches and (quiet := self._at_once(event, route)) is not None:
            return quiet
        begun = self._begin(event, route, switches)
        if isinstance(begun, Decision):
            return begun
        state, walk = begun
        try:
            waitable = next(walk)
            while True:
                run = waitable.wait(state.grace_s)
                if run is None:
                    from anyhook.process.waiting import wait_in_thread

                    run = await wait_in_thread(waitable)
                waitable = walk.send(run)
        except StopIteration as done:
            decision: Decision = done.value
            return decision
        finally:
            walk.close()

    def fire_sync(self, event: Event, **switches: Unpack[Switches]) -> Decision:
        """The same for callers without an event loop."""
        route = self.routes.find(event)
        if not switches and (quiet := self._at_once(event, route)) is not None:
            return quiet
        begun = self._begin(event, route, switches)
        if isinstance(begun, Decision):
            return begun
        _, walk = begun
        try:
            waitable = next(walk)
            while True:
                waitable = walk.send(ended(waitable))
        except StopIteration as done:
            decision: Decision = done.value
            return decision
        finally:
            walk.close()

    def _at_once(self, event: Event, route: Route) -> Decision | None:
        """The answer to an event that reaches no hook, as nearly all do: within a microsecond. None where there is more
        to it."""
        journal = self.journal
        if route.quiet is None or route.speaks or journal is None or not journal.soon or self.outlived:
            return None
        self._unwritten.append((time_ns(), event, route.quiet))
        if len(self._unwritten) > UNWRITTEN_MOST:
            journal.flush()
        return route.quiet

    def _begin(self, event: Event, route: Route, switches: Switches) -> Decision | Begun:
        """The decision, where nothing has to be started; else the walk."""
        on_failure = mode = None
        spent: frozenset[str] = frozenset()
        if switches:
            on_failure, mode = switches.pop("on_failure", None), switches.pop("mode", None)
            spent, session = switches.pop("spent", spent), switches.pop("session", None)
            if session is not None:
                event = event.replace(data={**event.data, "session": session})
            if switches:
                other = self._other(switches)
                rest: Switches = {"on_failure": on_failure, "mode": mode, "spent": spent}
                return other._begin(event, other.routes.find(event), rest)
            checked("on_failure", on_failure, ON_FAILURE)
            checked("mode", mode, MODE)
        answers: list[object] = []
        if route.quiet is not None or inside_hook.get():
            if not route.speaks:
                return self._nothing_to_do(event, route, mode)
            if inside_hook.get():
                return self._odd_silence(event, route, mode or self.mode)
            answers = self._call(route.callbacks, event) if route.callbacks else []
            if not answers and not any(self._acts(step, event) for step in route.builtins):
                return self._nothing_to_do(event, route, mode)
            answers = answers or [None] * len(route.callbacks)
        state = Walk(self, event, route.problems, answers, on_failure, mode or self.mode, spent)
        return state, state.walk(route.steps)

    def _other(self, switches: Switches) -> Engine:
        """The same engine with other switches, kept for the next time."""
        key = repr(sorted(switches.items()))
        if key not in self._others:
            setup = self.setup
            chosen = () if "dialect" in switches else setup.dialects
            other = Engine.open(
                setup.project,
                dialects=listed(switches.get("dialects", chosen), switches.get("dialect", ())),
                trust=switches.get("trust", setup.trust),
                on_failure=self.on_failure,
                mode=self.mode,
                plugin_dirs=listed(switches.get("plugin_dirs", setup.plugin_dirs), switches.get("plugin_dir", ())),
                state_dir=switches.get("state_dir", setup.state_dir),
                session=self.session,
                model=switches.get("model", self.model),
                env=setup.env,
                host=self.host,
            )
            other.spare_model = self.spare_model
            other.routes.adopt(self.routes)
            self._others[key] = other
        return self._others[key]

    def _call(self, callbacks: tuple[Callback, ...], event: Event) -> list[object]:
        """Calls them in turn until one has something to say, or raises: the answers so far; [] where all stay
        silent."""
        token = inside_hook.set(True)
        index = 0
        try:
            for index, callback in enumerate(callbacks):
                answer = callback(event)
                if answer is not None:
                    return [None] * index + [answer]
        except Exception as error:  # noqa: BLE001 (one hook's failure is a value, whatever it is)
            return [None] * index + [error]
        finally:
            inside_hook.reset(token)
        return []

    def _acts(self, step: Step, event: Event) -> bool:
        return bool(step.dialect.builtin(step.hook.name).act(self.scene(event, step.dialect, step.row)))

    def _nothing_to_do(self, event: Event, route: Route, mode: str | None) -> Decision:
        quiet = route.quiet
        if quiet is None or (mode is not None and mode != self.mode) or self.outlived or self.recording is not None:
            return self._odd_silence(event, route, mode or self.mode)
        journal = self.journal
        if journal is None:
            return quiet
        self._unwritten.append((time_ns(), event, quiet))
        if not journal.soon:
            journal.later(self._lines)
        elif len(self._unwritten) > UNWRITTEN_MOST:
            journal.flush()
        return quiet if journal.broken is None else quiet.replace(problems=(*quiet.problems, *self.journal_problem()))

    def _odd_silence(self, event: Event, route: Route, mode: str) -> Decision:
        """No hook runs, but not for the usual reason or not in the usual mode; or there is no later."""
        quiet = route.quiet
        if quiet is None or (route.speaks and inside_hook.get()):
            quiet = self.routes.inside(event, route.steps, "an in-process hook fired it")
        quiet = quiet.replace(enforced=mode != "shadow")
        if self.note is not None:
            quiet = self.note(quiet)
        if self.recording is not None:
            self.recording.add(event, quiet, self.who(mode), self.session)
        journal = self.journal
        if journal is None or journal.append(record(self.head(event, mode), quiet, (), self.keeping)):
            return quiet
        return quiet.replace(problems=(*quiet.problems, *self.journal_problem()))

    def _lines(self) -> list[bytes]:
        """The lines of events that reached no hook. One thread at a time takes them, while others may add to the
        end."""
        taken = self._unwritten[:]
        del self._unwritten[: len(taken)]
        return record_quiet(taken, self.who(self.mode), self.session, self.keeping)

    def explain(self, event: Event) -> list[dict[str, Json]]:
        """What firing the event would start, hook by hook, and why it would not start the rest. Starts nothing."""
        from anyhook.walk.explain import explain

        return [
            explain(step, event, self.scene(event, step.dialect, step.row), self.routes.where(step.hook), model)
            for step in self.routes.steps(event)
            for _, model in [self.asked(step.hook, step.dialect)]
        ]

    # -- what a walk asks for

    def scene(self, event: Event, table: Dialect, row: EventRow) -> Scene:
        session = event.data.get("session") or self.session
        return Scene(
            event, row.native, self.setup.project, str(session), self._env, self._settings(table.name), self.outlived
        )

    def _settings(self, dialect_name: str) -> Mapping[str, str]:
        return self.catalog.config.dialects.get(dialect_name, {})

    def run_id(self) -> str:
        return f"{self._nonce}-{next(self._runs)}"

    def asked(self, hook: Hook, table: Dialect) -> tuple[AnyModel | None, str]:
        """Whom a handler asks that asks a model, and its name; nobody for any other, and where none is configured."""
        if hook.handler not in ASKING:
            return None, ""
        from anyhook.handlers.roles import asked

        return asked(hook, table, self.model, self.catalog.config, self.spare_model)

    def posture_of(self, hook: Hook, on_failure: str | None) -> str:
        return on_failure or self.catalog.config.hooks.get(hook.id) or self.on_failure

    def once(self, problems: Sequence[Problem]) -> list[Problem]:
        """Warnings about unknown keys come once a session."""
        kept = []
        for problem in problems:
            if problem.code == "unknown-output-key":
                key = (problem.where, problem.what)
                if key in self._warned:
                    continue
                self._warned.add(key)
            kept.append(problem)
        return kept

    def head(self, event: Event, mode: str) -> str:
        """The part of the event's line in the journal that is known before anything is started."""
        return head_of(event, self.who(mode), self.session, self.keeping)

    def who(self, mode: str) -> str:
        made = self._whos.get(mode)
        if made is None:
            made = self._whos[mode] = about(self.host, self.setup.project, mode, self.keeping, self.trace.parent)
        return made

    def journal_problem(self) -> list[Problem]:
        """Said once; the journal is not tried again by this engine."""
        journal, self.journal = self.journal, None
        return [journal.problem()] if journal is not None else []

    def start_in_background(self, hook: Hook, call: Call) -> None:
        from anyhook.handlers import background

        if self.outlived:
            background.hand_over(hook.id, call, own_state_dir(self.setup.env), self.keeping.bodies)
        elif watched := background.watch(hook.id, call, self.journal, self.keeping.bodies):
            self._background = [other for other in self._background if other.wait(0.0) is None]
            self._background.append(watched)

    # -- in-process hooks

    def on(self, event: str, callback: Callback, *, name: str = "", matcher: str | None = None) -> None:
        """Register a callable for an event, in front of all other hooks: it gets the Event, and returns an Outcome or
        None. It is the program's own code, so it needs no approval and has no time limit."""
        self.routes.add(Event.of(event).name, callback, name, matcher)
        for other in self._others.values():
            other.routes.forget()

    def leave_to_host(self, reads: Mapping[str, Sequence[str]], title: str) -> None:
        """Let hooks alone that the host runs itself: by dialect, those of these scopes."""
        why = f"{title} runs it itself"
        hooks = [
            hook.replace(status=DISABLED, why=why) if hook.scope in reads.get(hook.dialect, ()) else hook
            for hook in self.catalog.hooks
        ]
        self.catalog = self.routes.catalog = self.catalog.replace(hooks=hooks)
        self.routes.forget()

    # -- the end

    async def close(self, limit_s: float = 5.0) -> None:
        """Wait for background hooks, but no longer than the bound; then end what is left and write what was put off."""
        import asyncio

        await asyncio.to_thread(self.close_sync, limit_s)

    def close_sync(self, limit_s: float = 5.0) -> None:
        deadline = monotonic() + limit_s
        for other in self._others.values():
            other.close_sync(max(0.0, deadline - monotonic()))
        for waitable in self._background:
            if waitable.wait(max(0.0, deadline - monotonic())) is None:
                waitable.end("cancelled")
                waitable.wait(None)
        self._background.clear()
        if self.journal is not None:
            self.journal.close()
