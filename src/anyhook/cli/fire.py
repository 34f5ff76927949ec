"""`anyhook fire`: run the hooks of one event, as an agent would. This is a path that an agent waits on: it imports no
command-line library, and where nothing is hooked, no engine either."""

from __future__ import annotations

import os

from anyhook.cli.event_input import event_of, project_of
from anyhook.cli.failure import BLOCKED, DONE, FINDINGS
from anyhook.state.plans import Setup, read_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.cli.options import FireOptions, RunOptions
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.state.plans import CatalogPlan
    from anyhook.tables.host_rows import Host
    from anyhook.walk.engine import Engine


def fire(name: str, options: FireOptions) -> int:
    """Carry out a checked call; the exit status."""
    setup = setup_of(project_of(options.project, options.plugin_dir), options)
    plan = read_plan(setup)
    event, unknown = event_of(name, options, plan.natives if plan else None)
    if plan is not None and not unknown and plan.is_quiet(event.name):
        return answer(quiet(setup, plan, [event], "fire", options, options.session), options.json)
    from anyhook.cli.signals import OnDuty

    with OnDuty():
        engine = open_engine(setup, plan, options, options.session)
        decision = engine.fire_sync(event)  # nothing is put off here, so the engine need not be closed
    return answer(_with_unknown(decision, unknown), options.json)


def setup_of(project: str, options: RunOptions, read_by_s: float | None = None) -> Setup:
    """Whose hooks a call means."""
    return Setup.of(
        project,
        dict(os.environ),
        options.dialect,
        options.trust or "ask",
        options.plugin_dir,
        options.state_dir,
        read_by_s,
    )


def open_engine(
    setup: Setup, plan: CatalogPlan | None, options: RunOptions, session: str | None = None, serves: Host | None = None
) -> Engine:
    """The engine of a process that ends with the answer."""
    from anyhook.walk.catalog import load_catalog
    from anyhook.walk.engine import Engine

    return Engine(
        setup,
        load_catalog(setup, plan),
        on_failure=options.on_failure,
        mode=options.mode,
        session=session,
        host="fire",
        model=options.model or None,
        one_shot=True,
        serves=serves,
    )


def quiet(
    setup: Setup, plan: CatalogPlan, events: Sequence[Event], host: str, options: RunOptions, session: str | None = None
) -> Decision:
    """Nothing is hooked: the same decision and line in the journal as the engine's, without loading the engine."""
    from anyhook.journal.journal import Recorder
    from anyhook.model.decision import Decision

    mode = options.mode or plan.mode
    recorder = Recorder(setup.env, setup.project, host, session or None, mode, plan.journal, one_shot=True)
    for event in events:
        decision = recorder.quiet(event, Decision(event.name), mode)
    return decision


def _with_unknown(decision: Decision, unknown: list[str]) -> Decision:
    if not unknown:
        return decision
    from anyhook.model.problem import WARNING, Problem

    found = [
        Problem(
            "unknown-field",
            f"no dialect knows the field `{key}` of --data; it is ignored",
            "--data",
            fix="See `anyhook fire --help` for the canonical names.",
            severity=WARNING,
        )
        for key in unknown
    ]
    return decision.replace(problems=(*decision.problems, *found))


def answer(decision: Decision, as_json: bool) -> int:
    """Print a decision; the exit status that goes with it."""
    from anyhook.cli.view import render

    status = BLOCKED if decision.stops else DONE
    try:
        if as_json:
            render.json_out(decision.as_dict())
        else:
            render.decision_out(decision)
    except OSError as error:  # a block stays a block, though nobody could be told why
        render.say(f"anyhook fire: the answer could not be written ({error.strerror})")
        return status or FINDINGS
    return status
