"""Engine: one project's hooks, ready to fire. It is complete when it is constructed, and holds no state of any single
event: several agents, many tasks, threads and forks can use one engine. `open_engine` is the only place that builds
one, from its options."""

from __future__ import annotations

import os
import sys
from time import monotonic

from anyhook.engine.context import Context
from anyhook.engine.match import Catalog
from anyhook.engine.present import scene_of
from anyhook.engine.routes import Routes, open_catalog
from anyhook.engine.walk import Walk, begin
from anyhook.journal.journal import Recorder, Trace
from anyhook.model.event import Event
from anyhook.model.firing import Answer, Firing
from anyhook.model.hook import DISABLED
from anyhook.model.record import Record
from anyhook.model.words import MODE, ON_FAILURE, TRUST, Mode, Posture, checked, listed
from anyhook.state.plans import Setup
from anyhook.tables.translate import to_native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Unpack

    from anyhook.engine.bridge import Incoming
    from anyhook.engine.match import Callback
    from anyhook.engine.switches import FireSwitches
    from anyhook.handlers.model_client import AnyModel
    from anyhook.model.decision import Decision
    from anyhook.model.json_types import Json
    from anyhook.model.problem import Problem
    from anyhook.tables.host_rows import Host


class EngineOptions(Record):
    """All that an engine is built from, besides its catalog."""

    setup: Setup
    on_failure: Posture | None = None
    """The posture for broken hooks; the user's settings say it otherwise."""
    mode: Mode | None = None
    """The same for the mode."""
    session: str | None = None
    """The session of events that do not name one; without it, one is invented."""
    host: str = "library"
    """Who fires, for the journal."""
    model: AnyModel | None = None
    """Answers every handler that asks a model."""
    spare_model: AnyModel | None = None
    """Answers those that neither `model` nor the settings serve."""
    one_shot: bool = False
    """Whether the process ends with the answer."""
    hands_over: bool = False
    """Whether the process must not wait for background hooks when it ends."""
    deadline_s: float | None = None
    """When the host stops waiting, on the monotonic clock."""
    serves: Host | None = None
    """The agent whose calls it answers: hooks that this agent runs itself are left to it."""


def open_engine(options: EngineOptions, catalog: Catalog | None = None) -> Engine:
    """An engine. Without a catalog, the project's: from its plan if that is still valid, else from the files."""
    return Engine(options, open_catalog(options.setup) if catalog is None else catalog)


class RunIds:
    """A unique name for each run. Processes are found and ended by it, so a fork must not continue its parent's."""

    def __init__(self) -> None:
        self._pid = -1
        self._ids: Iterator[str] = iter(())

    def __next__(self) -> str:
        if self._pid != (pid := os.getpid()):
            self._ids = map(f"{os.urandom(6).hex()}-{{}}".format, range(1, sys.maxsize))
            self._pid = pid
        return next(self._ids)


class Engine:
    """Fires events at one project's hooks. `open_engine` makes it."""

    def __init__(self, options: EngineOptions, catalog: Catalog) -> None:
        setup, config, mode, host, serves = options.setup, catalog.config, options.mode, options.host, options.serves
        self._options, self._whole = options, catalog
        if serves is not None:
            host, hooks = serves.name, list(catalog.hooks)
            for index, hook in enumerate(hooks):
                if hook.dialect in serves.reads:
                    from anyhook.engine.settle import runs_it, runs_itself

                    if runs_itself(serves, hook):
                        hooks[index] = hook.replace(status=DISABLED, why=runs_it(serves), off_cause="host_runs_it")
            catalog = catalog.replace(hooks=hooks, serves=serves.name)
        if options.model is not None or options.spare_model is not None:
            catalog = catalog.replace(has_model=True)
        self._catalog = catalog
        mode = mode or config.mode
        recorder = Recorder(
            setup.env, setup.project, host, options.session or None, mode, config.journal, one_shot=options.one_shot
        )
        context = Context(
            setup, config, Routes(setup, catalog, enforced=mode != "shadow"), recorder, Trace(setup.env), RunIds(),
            set(), [], recorder.session, host, mode, options.on_failure or config.on_failure, options.one_shot,
            options.hands_over, deadline_s=options.deadline_s, model=options.model, spare_model=options.spare_model,
        )  # fmt: skip
        self._context = context if options.mode is None else context.under(options.mode)
        self._others: dict[str, Engine] = {}

    @staticmethod
    def open(
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
        spare_model: AnyModel | None = None,
        env: Mapping[str, str] | None = None,
        host: str = "library",
        hands_over: bool = False,
        deadline_s: float | None = None,
    ) -> Engine:
        """Discover, load and trust, once. The environment is copied now. With `hands_over`, background hooks continue
        to their own limits after this process has ended. ValueError for an unknown switch."""
        given = dict(os.environ if env is None else env)
        chosen, folders = listed(dialects, dialect), listed(plugin_dirs, plugin_dir)
        setup = Setup.of(os.fspath(project), given, chosen, checked("trust", trust, TRUST) or "ask", folders, state_dir)
        return open_engine(
            EngineOptions(
                setup,
                checked("on_failure", on_failure, ON_FAILURE),
                checked("mode", mode, MODE),
                session,
                host,
                model,
                spare_model,
                hands_over=hands_over,
                deadline_s=deadline_s,
            )
        )

    # -- what callers can read

    @property
    def catalog(self) -> Catalog:
        """All hooks, in the order in which they would run."""
        return self._catalog

    @property
    def setup(self) -> Setup:
        """The project, the environment, and the switches that decided what the catalog holds."""
        return self._context.setup

    @property
    def context(self) -> Context:
        """What its walks use: settings, routes, session, what the journal keeps."""
        return self._context

    @property
    def session(self) -> str:
        """The session of events that do not name one."""
        return self._context.session

    def problems(self, event: str) -> list[Problem]:
        """Problems from loading, and which of the event's hooks wait for approval."""
        return self._context.routes.problems(event)

    # -- firing

    async def fire(self, event: Event, **switches: Unpack[FireSwitches]) -> Decision:
        """Run the hooks of one event and return one decision. It blocks the event loop only briefly."""
        context, event = self._switched(event, switches) if switches else (self._context, event)
        begun = begin(context, event)
        if not isinstance(begun, Walk):
            return context.recorder.quiet(event, begun, context.mode)
        try:
            await begun.run_async()
        finally:  # what happened is recorded even if the caller was cancelled
            if (part := begun.part) is not None:
                decision = begun.context.recorder.write(Firing((part,), part.decision, begun.context.mode))
        return decision

    def fire_sync(self, event: Event, **switches: Unpack[FireSwitches]) -> Decision:
        """The same for callers without an event loop."""
        context, event = self._switched(event, switches) if switches else (self._context, event)
        begun = begin(context, event)
        if not isinstance(begun, Walk):
            return context.recorder.quiet(event, begun, context.mode)
        try:
            begun.run_to_end()
        finally:
            if (part := begun.part) is not None:
                decision = begun.context.recorder.write(Firing((part,), part.decision, begun.context.mode))
        return decision

    def bridge(self, host: str, event: str, payload: bytes | str | dict[str, Json] | Incoming) -> Answer:
        """Answer one call of an agent's hook, in the agent's format: `host` and `event` are its own names, `payload` is
        what it sent. If the payload shows that another agent made the call, the answer is in that agent's format. Any
        failure is answered by the posture for broken hooks. ValueError for an unknown name, TypeError for a payload of
        another type."""
        from anyhook.engine.bridge import Incoming, answer_call, named

        table, row = named(host, event)
        if isinstance(payload, str):
            payload = payload.encode("utf-8", "surrogatepass")
        if not isinstance(payload, (bytes, dict, Incoming)):
            raise TypeError(f"payload must be bytes, str or dict, not {type(payload).__name__}")
        return answer_call(self._context, lambda agent: self._serving(agent)._context, table, row, payload)

    def _switched(self, event: Event, switches: FireSwitches) -> tuple[Context, Event]:
        """The context and the event, for a call with switches."""
        context = self._context
        on_failure, mode = switches.pop("on_failure", None), switches.pop("mode", None)
        exhausted, session = switches.pop("exhausted", context.exhausted), switches.pop("session", None)
        can_ask = switches.pop("can_ask", context.can_ask)
        if session is not None:
            event = event.replace(data={**event.data, "session": session})
        if switches:
            context = self._other(switches)._context
        checked("on_failure", on_failure, ON_FAILURE)
        if (own_mode := checked("mode", mode, MODE)) is not None:
            context = context.under(own_mode)
        return context.replace(posture=on_failure, exhausted=exhausted, can_ask=can_ask), event

    def _other(self, switches: FireSwitches) -> Engine:
        """The same engine with other switches, cached."""
        setup = self.setup
        chosen = () if "dialect" in switches else setup.dialects
        own = Setup.of(
            setup.project,
            setup.env,
            listed(switches.get("dialects", chosen), switches.get("dialect", ())),
            checked("trust", switches.get("trust", setup.trust), TRUST) or "ask",
            listed(switches.get("plugin_dirs", setup.plugin_dirs), switches.get("plugin_dir", ())),
            switches.get("state_dir", setup.state_dir),
        )
        model = switches.get("model", self._options.model)
        return self._variant(repr(sorted(switches.items())), self._options.replace(setup=own, model=model), None)

    def _serving(self, table: Host) -> Engine:
        """The same engine for the calls of an agent, cached."""
        serves = self._options.serves
        if serves is not None and serves.name == table.name:
            return self
        return self._variant(f"serves {table.name}", self._options.replace(serves=table), self._whole)

    def _variant(self, key: str, options: EngineOptions, catalog: Catalog | None) -> Engine:
        """An engine with other options, which shares the session and the callables of this one."""
        found = self._others.get(key)
        if found is None:
            found = open_engine(options.replace(session=self.session), catalog)
            found._context.routes.adopt(self._context.routes)
            found = self._others.setdefault(key, found)  # unless another thread was faster
        return found

    def explain(self, event: Event) -> list[dict[str, Json]]:
        """What firing the event would start, hook by hook, and why the other hooks would not start. Starts nothing."""
        from anyhook.engine.cases import explained
        from anyhook.engine.rules import Rules
        from anyhook.gates.explain import explain

        context = self._context
        rules = Rules(context, str(event.data.get("session") or context.session))
        if (wants := context.routes.find(event).remembers) is not None:
            rules.remember(wants, event, look=True)
        made: list[dict[str, Json]] = []
        for step in context.routes.steps(event):
            scene = scene_of(context, to_native(event, step.dialect), step.dialect, step.row)
            _, model = context.asked(step.hook, step.dialect)
            made.append(explain(step, event, scene, model, rules if step.hook.condition is not None else None))
        explained(made, context.routes.find(event).declared_again)
        return made

    # -- in-process hooks

    def on(self, event: str, callback: Callback, *, name: str = "", matcher: str | None = None) -> None:
        """Register a callable for an event, before all other hooks: it gets the Event, and returns an Outcome or None.
        It is the program's own code, so it needs no approval and has no time limit."""
        self._context.routes.add(Event.of(event).name, callback, name, matcher)
        for other in self._others.values():
            other._context.routes.forget()

    # -- the end

    def flush(self) -> None:
        """Write deferred journal lines now."""
        self._context.recorder.flush()

    async def close(self, limit_s: float = 5.0) -> None:
        """Wait for background hooks, but no longer than the limit; then end the rest and write deferred journal
        lines."""
        import asyncio

        await asyncio.to_thread(self.close_sync, limit_s)

    def close_sync(self, limit_s: float = 5.0) -> None:
        deadline = monotonic() + limit_s
        for other in self._others.values():
            other.close_sync(max(0.0, deadline - monotonic()))
        background = self._context.background
        for waitable in background:
            if waitable.wait(max(0.0, deadline - monotonic())) is None:
                waitable.end("cancelled")
                waitable.wait(None)
        background.clear()
        self._context.recorder.close()
