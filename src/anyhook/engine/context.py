"""Context: what a walk needs from its engine, as one value."""

from __future__ import annotations

from anyhook.documents.managed import SCOPE
from anyhook.model.hook import ASKING, Hook
from anyhook.model.record import Record
from anyhook.platform.places import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anyhook.engine.engine import RunIds
    from anyhook.engine.routes import Routes
    from anyhook.handlers import Waitable
    from anyhook.handlers.model_client import AnyModel
    from anyhook.journal.journal import Recorder, Trace
    from anyhook.model.call import Call
    from anyhook.model.event import Event
    from anyhook.model.problem import Problem
    from anyhook.model.words import Mode, Posture
    from anyhook.state.plans import Setup
    from anyhook.state.settings import Settings
    from anyhook.tables.rows import Dialect


class Context(Record):
    """One engine's settings and services; `replace` makes a variant for one call."""

    setup: Setup
    config: Settings
    routes: Routes
    recorder: Recorder
    trace: Trace
    ids: RunIds
    warned: set[tuple[str, str]]
    """Warnings given so far: some are given once a session."""
    background: list[Waitable]
    """Background hooks that are being watched."""
    session: str
    host: str
    mode: Mode
    on_failure: Posture
    """The posture for hooks that have none of their own."""
    one_shot: bool = False
    """Whether this process ends before its background hooks do, so that another process has to wait for them."""
    hands_over: bool = False
    """Whether background hooks go to another process although this one continues, so that it can end at any time."""
    posture: Posture | None = None
    """Overrides every other posture, for one call."""
    deadline_s: float | None = None
    """The time, on the monotonic clock, by which the host needs its answer: no hook runs beyond it."""
    exhausted: frozenset[str] = frozenset()
    """Dialects that have kept the agent working as often as they may; their blocks no longer count in this turn."""
    hurried: bool = False
    """Whether the host gives this event's hooks no time to run in: then they run in the background."""
    can_ask: bool = True
    """Whether the host can ask a person itself at this event."""
    asked_again: bool = False
    """Whether hooks are asked a second time, about the final form of a call."""
    model: AnyModel | None = None
    """For every handler that asks a model; without it, the user's settings name one for each role."""
    spare_model: AnyModel | None = None
    """The host's own model, used if the settings name none."""
    trace_step: Callable[[str, str], None] | None = None
    """Called with every step and its subject, for debugging."""

    def asked(self, hook: Hook, table: Dialect) -> tuple[AnyModel | None, str]:
        """The model that a handler asks, and its name; (None, "") for other handlers, or if no model is configured."""
        if hook.handler not in ASKING:
            return None, ""
        from anyhook.handlers.roles import asked

        return asked(hook, table, self.model, self.config, self.spare_model)

    def shadows(self, hook: Hook) -> bool:
        """Whether the hook itself is in shadow mode: it is asked, and what it asks for is reported but does not
        count."""
        return self.config.hook_mode.get(hook.id) == "shadow"

    def under(self, mode: Mode) -> Context:
        """For a call that asks for this mode. In shadow mode only the organisation's hooks enforce."""
        if mode != "shadow":
            return self.replace(mode=mode)
        kept = {hook.id for hook in self.routes.catalog.hooks if hook.scope == SCOPE}
        modes = {key: own for key, own in self.config.hook_mode.items() if own == "shadow" or key in kept}
        return self.replace(mode=mode, config=self.config.replace(hook_mode=modes))

    def for_call(self, events: Sequence[Event]) -> Context:
        """For one call. If a hook of one of its events enforces although all else is in shadow mode, the call is
        enforced and every other hook gets shadow mode itself: it then neither decides nor prevents an enforcing hook
        from being asked."""
        modes = self.config.hook_mode
        if self.mode != "shadow" or not modes:
            return self
        found = {step.hook.id for event in events for step in self.routes.steps(event)}
        if not any(modes.get(key) == "enforce" for key in found):
            return self
        own = {key: modes.get(key, "shadow") for key in found | modes.keys()}
        return self.replace(mode="enforce", config=self.config.replace(hook_mode=own))

    def without_repeats(self, problems: Sequence[Problem]) -> tuple[Problem, ...]:
        """Without warnings about unknown keys that were given before in this session."""
        kept = []
        for problem in problems:
            if problem.code in ("unknown-output-key", "unread-key"):
                key = (problem.where, problem.what)
                if key in self.warned:
                    continue
                self.warned.add(key)
            kept.append(problem)
        return tuple(kept)

    def start_in_background(self, hook: Hook, call: Call) -> None:
        """Start a background hook."""
        from anyhook.handlers import background

        bodies = self.recorder.policy.bodies
        if self.one_shot or self.hands_over:
            background.hand_over(hook.id, call, state_dir(self.setup.env), bodies)
        elif watched := background.watch(hook.id, call, self.recorder.journal, bodies):
            self.background[:] = [other for other in self.background if other.wait(0.0) is None]
            self.background.append(watched)
