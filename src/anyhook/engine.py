"""Engine: one project's hooks, ready to fire. It holds configuration, compiled routes and the session's warnings,
and no state of any single event, so that many tasks may use one engine at once."""

from __future__ import annotations

import os
from itertools import count
from time import monotonic, time_ns

from anyhook.corridor import Walk
from anyhook.grammar.registry import DIALECTS
from anyhook.grammar.rows import Dialect, EventRow, Scene
from anyhook.model.catalog import Catalog, Setup
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.hook import DISABLED, Hook
from anyhook.model.problem import Problem
from anyhook.model.words import MODE, ON_FAILURE, checked
from anyhook.routes import Routes
from anyhook.runners import inside_hook
from anyhook.steps.record import record, record_quiet, safe_head, secrets_of
from anyhook.stores.journal import Journal
from anyhook.stores.places import state_dir as own_state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from typing import TypedDict, Unpack

    from anyhook.model.call import Call, Run
    from anyhook.model.json_types import Json
    from anyhook.routes import Callback, Route
    from anyhook.runners import Waitable
    from anyhook.runners.model_client import AnyModel

    class Switches(TypedDict, total=False):
        """What `fire` takes besides its own: the switches of `open` that decide which hooks there are."""

        dialects: Sequence[str]
        dialect: str | Sequence[str]
        trust: str
        plugin_dirs: Sequence[str]
        plugin_dir: str | Sequence[str]
        state_dir: str | None
        session: str | None
        model: AnyModel | None


UNWRITTEN_MOST = 50_000
"""How many events that reached no hook are kept before their lines are written."""


class Engine:
    """Fires events at one project's hooks."""

    def __init__(
        self, setup: Setup, catalog: Catalog, *, on_failure: str | None, mode: str, session: str | None, host: str
    ) -> None:
        self.setup = setup
        self.catalog = catalog
        self.on_failure = on_failure or catalog.config.on_failure
        self.mode = mode
        self.session = session or f"session-{os.urandom(8).hex()}"
        self.host = host
        self.outlived = False
        """Whether this process ends before its background hooks do, so that another has to see them through."""
        self.model: AnyModel | None = None
        """For every handler that asks one; without it, the user's settings name one for each role."""
        self.note: Callable[[Decision], Decision] | None = None
        """Adds to a decision what its host cannot do, before the decision is written down."""
        self.answer_by_s: float | None = None
        """The moment, by the monotonic clock, by which the host wants its answer: no hook runs beyond it."""
        self.journal: Journal | None = Journal(own_state_dir(setup.env))
        self.secrets = secrets_of(setup.env)
        self._env = dict(setup.env)
        self.routes = Routes(setup, catalog, enforced=mode != "shadow")
        self._unwritten: list[tuple[int, Event, Decision]] = []
        """Events that the journal has yet to hear of, with their times and answers."""
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
        mode: str = "enforce",
        plugin_dirs: Sequence[str] = (),
        state_dir: str | None = None,
        dialect: str | Sequence[str] = (),
        plugin_dir: str | Sequence[str] = (),
        session: str | None = None,
        model: AnyModel | None = None,
        env: Mapping[str, str] | None = None,
        host: str = "library",
    ) -> Engine:
        """Discover, load and trust, once. The environment is taken as it is now. ValueError for a switch that is
        none."""
        from anyhook.plan import open_catalog

        given = dict(os.environ if env is None else env)
        setup = Setup.of(
            os.fspath(project), given, listed(dialects, dialect), trust, listed(plugin_dirs, plugin_dir), state_dir
        )
        checked("on_failure", on_failure, ON_FAILURE)
        checked("mode", mode, MODE)
        engine = cls(setup, open_catalog(setup), on_failure=on_failure, mode=mode, session=session, host=host)
        engine.model = model
        return engine

    # -- firing

    async def fire(
        self,
        event: Event,
        *,
        on_failure: str | None = None,
        mode: str | None = None,
        spent: frozenset[str] = frozenset(),
        **switches: Unpack[Switches],
    ) -> Decision:
        """Run the hooks of one event and answer with one decision. The loop is never held for more than a moment. Other
        switches of `open` are taken as well, at the price of another catalog the first time. `spent` are dialects that
        have kept the agent working as often as they may; their blocks are ignored."""
        if switches:
            event = _in_session(event, switches)
            if switches:
                return await self._other(switches).fire(event, on_failure=on_failure, mode=mode, spent=spent)
        begun = self._begin(event, on_failure, mode, spent)
        if isinstance(begun, Decision):
            return begun
        state, walk = begun
        try:
            waitable = next(walk)
            while True:
                run = waitable.wait(state.grace_s)
                if run is None:
                    from anyhook.runners.waiting import wait_in_thread

                    run = await wait_in_thread(waitable)
                waitable = walk.send(run)
        except StopIteration as done:
            decision: Decision = done.value
            return decision
        finally:
            walk.close()

    def fire_sync(
        self,
        event: Event,
        *,
        on_failure: str | None = None,
        mode: str | None = None,
        spent: frozenset[str] = frozenset(),
        **switches: Unpack[Switches],
    ) -> Decision:
        """The same for callers without an event loop."""
        if switches:
            event = _in_session(event, switches)
            if switches:
                return self._other(switches).fire_sync(event, on_failure=on_failure, mode=mode, spent=spent)
        begun = self._begin(event, on_failure, mode, spent)
        if isinstance(begun, Decision):
            return begun
        _, walk = begun
        try:
            waitable = next(walk)
            while True:
                waitable = walk.send(_ended(waitable))
        except StopIteration as done:
            decision: Decision = done.value
            return decision
        finally:
            walk.close()

    def _begin(
        self, event: Event, on_failure: str | None, mode: str | None, spent: frozenset[str] = frozenset()
    ) -> Decision | tuple[Walk, Generator[Waitable, Run, Decision]]:
        """The decision, where nothing has to be started; else the walk."""
        if on_failure is not None or mode is not None:
            checked("on_failure", on_failure, ON_FAILURE)
            checked("mode", mode, MODE)
        route = self.routes.find(event)
        answers: list[object] = []
        if route.quiet is not None or inside_hook.get():
            if not route.callbacks:
                return self._nothing_to_do(event, route, mode)
            if inside_hook.get():
                return self._odd_silence(event, route, mode or self.mode)
            answers = self._call(route.callbacks, event)
            if not answers:
                return self._nothing_to_do(event, route, mode)
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

    def _nothing_to_do(self, event: Event, route: Route, mode: str | None) -> Decision:
        quiet = route.quiet
        if quiet is None or (mode is not None and mode != self.mode) or self.outlived:
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
        if quiet is None or (route.callbacks and inside_hook.get()):
            quiet = self.routes.inside(event, route.steps, "an in-process hook fired it")
        quiet = quiet.replace(enforced=mode != "shadow")
        journal = self.journal
        if journal is None or journal.append(self._line(event, quiet, mode)):
            return quiet
        return quiet.replace(problems=(*quiet.problems, *self.journal_problem()))

    def _line(self, event: Event, decision: Decision, mode: str) -> bytes:
        return record(safe_head(event, self.about(mode)), decision, (), self.secrets)

    def _lines(self) -> list[bytes]:
        """The lines of events that reached no hook. One thread at a time takes them, while others may add to the
        end."""
        taken = self._unwritten[:]
        del self._unwritten[: len(taken)]
        return record_quiet(taken, self.about(self.mode), self.secrets)

    def explain(self, event: Event) -> list[dict[str, Json]]:
        """What firing the event would start, hook by hook, and why it would not start the rest. Starts nothing."""
        from anyhook.steps.explain import explain

        return [
            explain(step, event, self.scene(event, step.dialect, step.row), self.routes.where(step.hook))
            for step in self.routes.steps(event)
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

    def posture_of(self, hook: Hook, on_failure: str | None) -> str:
        return on_failure or self.catalog.config.hooks.get(hook.id) or self.on_failure

    def in_use(self, dialect_name: str) -> bool:
        """Whether somebody here writes hooks of this dialect; what it brings along stays out of everyone else's
        sight."""
        chosen = len(self.setup.dialects) < len(DIALECTS)
        return chosen or any(hook.dialect == dialect_name and hook.scope != "builtin" for hook in self.catalog.hooks)

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

    def about(self, mode: str) -> dict[str, Json]:
        return {"host": self.host, "project": self.setup.project, "session": self.session, "mode": mode}

    def journal_problem(self) -> list[Problem]:
        """Said once; the journal is not tried again by this engine."""
        journal, self.journal = self.journal, None
        return [journal.problem()] if journal is not None else []

    def start_in_background(self, hook: Hook, call: Call) -> None:
        from anyhook.runners import background

        if self.outlived:
            background.hand_over(hook.id, call, own_state_dir(self.setup.env))
        elif watched := background.watch(hook.id, call, self.journal):
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


def _ended(waitable: Waitable) -> Run:
    """Waits for the end; whatever interrupts that, Ctrl-C included, ends the hook as well."""
    try:
        run = waitable.wait(None)
    except BaseException:
        waitable.end("cancelled")
        waitable.wait(None)
        raise
    assert run is not None  # noqa: S101 (without a grace, wait() waits for the end)
    return run


def listed(many: Sequence[str], one: str | Sequence[str]) -> list[str]:
    """A switch that may be repeated, in the library's plural or the command's singular."""
    return [*many, *([one] if isinstance(one, str) else one)]


def _in_session(event: Event, switches: Switches) -> Event:
    """The event with the session that was named with it, which is no matter of the catalog's."""
    session = switches.pop("session", None)
    return event if session is None else event.replace(data={**event.data, "session": session})
