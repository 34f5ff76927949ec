"""`anyhook fire`: run the hooks of one event, as an agent would. This is a path that an agent waits on: it imports no
command-line library, and where nothing is hooked, no engine either."""

from __future__ import annotations

import os

from anyhook import __version__
from anyhook.cli.event_input import event_of, project_of
from anyhook.cli.failure import BLOCKED, DONE, FINDINGS
from anyhook.state.places import believed_dir, state_dir
from anyhook.state.plans import plan_key, read_plan
from anyhook.tables.registry import DIALECTS, VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import FireOptions, RunOptions
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.problem import Problem
    from anyhook.walk.engine import Engine


def fire(name: str, options: FireOptions) -> int:
    """Carry out a checked call; the exit status."""
    project = os.path.realpath(project_of(options.project, options.plugin_dir))
    env = os.environ
    plan = read_plan(believed_dir(env, project), key_of(project, options))
    natives = plan["natives"] if plan else None
    event, unknown = event_of(name, options, natives)  # type: ignore[arg-type]
    if plan is not None and not unknown and not plan["problems"] and event.name not in plan["events"]:  # type: ignore[operator]
        settings, mode = plan.get("journal") or {}, str(options.mode or plan["mode"])
        return answer(silence(event, project, options.session, mode, "fire", settings), options.json)  # type: ignore[arg-type]
    from anyhook.cli.signals import OnDuty

    with OnDuty():
        engine = open_engine(project, options, "fire", options.session)
        engine.outlived = True
        decision = engine.fire_sync(event)
        engine.close_sync(0.0)
    return answer(_with_unknown(decision, unknown), options.json)


def key_of(project: str, options: RunOptions) -> tuple[object, ...]:
    chosen = options.dialect
    dialects = tuple(name for name in DIALECTS if name in chosen) if chosen else DIALECTS
    folders = tuple(os.path.realpath(folder) for folder in options.plugin_dir)
    state = options.state_dir
    return plan_key(
        __version__,
        os.environ,
        VARIABLES,
        project,
        dialects,
        options.trust or "ask",
        folders,
        os.path.abspath(state) if state else None,
    )


def open_engine(
    project: str, options: RunOptions, host: str, session: str | None = None, read_by_s: float | None = None
) -> Engine:
    from anyhook.walk.engine import Engine

    return Engine.open(
        project,
        dialects=options.dialect,
        trust=options.trust or "ask",
        on_failure=options.on_failure or None,
        mode=options.mode or None,
        plugin_dirs=options.plugin_dir,
        state_dir=options.state_dir or None,
        session=session or None,
        model=options.model or None,
        host=host,
        read_by_s=read_by_s,
    )


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


def silence(
    event: Event,
    project: str,
    session: str | None,
    mode: str,
    host: str,
    settings: dict[str, Json],
    problems: tuple[Problem, ...] = (),
) -> Decision:
    """Nothing is hooked: the same decision and line in the journal as the engine's, without loading the engine.
    `settings` are the journal's."""
    from anyhook.journal.journal import Journal
    from anyhook.journal.record import Keeping, about, head_of, record, secrets_of
    from anyhook.journal.writer import bounds_of
    from anyhook.model.decision import Decision
    from anyhook.model.words import FULL, RECORD, TRACEPARENT

    decision = Decision(event.name, enforced=mode != "shadow", problems=problems)
    journal = Journal(state_dir(os.environ), bounds_of(settings))
    keeping = Keeping(secrets_of(os.environ), str(settings.get("bodies", FULL)))
    session = session or f"session-{os.urandom(8).hex()}"
    parent = ""
    if TRACEPARENT in os.environ:
        from anyhook.model.trace import parent_of

        parent = parent_of(os.environ)
    who = about(host, project, mode, keeping, parent)
    if RECORD in os.environ:
        from anyhook.journal.recording import recording_of

        if (recording := recording_of(os.environ, keeping)) is not None:
            recording.add(event, decision, who, session)
    head = head_of(event, who, session, keeping)
    if not journal.append(record(head, decision, (), keeping)):
        decision = decision.replace(problems=(journal.problem(),))
    return decision
