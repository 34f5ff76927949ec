"""What we answer an agent if we fail ourselves, or cannot read what it sent: the posture for broken hooks decides, and
`off` if no guard could be asked. The user gets a message through the host's channel. It never raises."""

from __future__ import annotations

from anyhook.engine.express import express
from anyhook.engine.receive import Unusable
from anyhook.model.event import GATES
from anyhook.model.firing import Answer
from anyhook.model.words import MODE, OFF, ON_FAILURE, HostEffect, Mode, Posture, word_of
from anyhook.tables.isolation import error_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.decision import Decision
    from anyhook.model.problem import Problem
    from anyhook.tables.host_rows import Host, HostEvent, Say


def failed(
    table: Host,
    row: HostEvent,
    error: Exception,
    env: Mapping[str, str],
    on_failure: Posture | None = None,
    mode: Mode | None = None,
    refusal: str = "",
) -> Answer:
    """A refusal if the user wants broken hooks, or guards that are off, to refuse and the event can be refused, or if
    self-protection refuses (`refusal`); else no opinion. Either way the failure is reported and recorded. Without
    `on_failure` and `mode` the user's settings count."""
    where = f"{table.name} {row.native}"
    was_ours = not isinstance(error, Unusable)
    why = f"{error_line(error)}; no guard was asked, all are OFF" if was_ours else str(error)
    try:
        if was_ours and _setting(env, "off", OFF) == "deny":
            on_failure = "deny"
        on_failure = on_failure or word_of(_setting(env, "on_failure", ON_FAILURE), ON_FAILURE)
    except Exception:  # noqa: BLE001 (what the user wants cannot be known)
        on_failure = "deny"
    try:
        return _failed(table, row, where, why, env, on_failure, mode, refusal)
    except Exception as second:  # noqa: BLE001 (the last resort: our own steps cannot be loaded)
        said = f"{sentence(where, why)} ({error_line(second)})"
        is_gate = not GATES.isdisjoint(row.canonical)
        return _barely(row, said, is_closed=bool(refusal) or (on_failure == "deny" and is_gate))


def _barely(row: HostEvent, said: str, *, is_closed: bool) -> Answer:
    """The answer if a module that is needed for a better one cannot be loaded."""
    wanted: tuple[HostEffect, ...] = ("block",) if is_closed else ("message", "context")
    try:
        found = next((effect for effect in wanted if effect in row.says), None)
        answer = express({found: said}, row.says) if found is not None else Answer(status=2 if is_closed else 0)
    except Exception:  # noqa: BLE001
        answer = Answer(status=2 if is_closed else 0)
    return answer.replace(stderr=answer.stderr or said)


def _failed(
    table: Host,
    row: HostEvent,
    where: str,
    why: str,
    env: Mapping[str, str],
    on_failure: Posture,
    mode: Mode | None,
    refusal: str,
) -> Answer:
    from anyhook.engine.settle import settle
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.firing import Firing, Part

    event = row.canonical[0] if row.canonical else ""
    mode = mode or word_of(_setting(env, "mode", MODE), MODE)
    decision = Decision(event, enforced=mode != "shadow")
    if refusal and _setting(env, "protect", (True, False)) is not False:
        decision = decision.replace(verdict="block", effect="deny_tool", reason=refusal)
    decision = doubted(decision, row.says, where, why, on_failure)
    settled = settle(decision, row.says, where)
    answer = express(settled.effects, row.says)
    answer = answer.replace(stderr=answer.stderr or sentence(where, why))
    try:
        from anyhook.journal.journal import Recorder

        recorder = Recorder(env, "", table.name, "", mode, {}, one_shot=True)
        recorder.write(Firing((Part(Event(event, {}), decision),), decision, mode))
    except Exception:  # noqa: BLE001, S110 (an answer matters more than its record)
        pass
    return answer


def doubted(decision: Decision, says: Mapping[HostEffect, Say], where: str, why: str, posture: Posture) -> Decision:
    """The decision about an event that could not be judged completely: under `deny` it is refused if it can be, else
    the person is told. A block stays a block."""
    problem = _problem(where, why)
    decision = decision.replace(problems=(*decision.problems, problem))
    if decision.stops:
        return decision
    if posture == "deny" and decision.event in GATES and decision.enforced:
        return decision.replace(verdict="block", effect="deny_tool", reason=f"{problem.what}: {why}")
    said = sentence(where, why)
    if "message" in says:
        return decision.replace(messages=(*decision.messages, said))
    if "context" in says and decision.event:
        return decision.replace(context=(*decision.context, f"Tell the user: {said}"))
    return decision


def _problem(where: str, why: str) -> Problem:
    from anyhook.model.problem import Problem

    fix = "Report it with this line; on_failure in the settings says what happens meanwhile."
    return Problem("bridge-failed", "this event could not be judged", where, why, fix)


def sentence(where: str, why: str) -> str:
    return f"anyhook bridge {where}: this event could not be judged: {why}"


def _setting(env: Mapping[str, str], name: str, known: tuple[object, ...]) -> object:
    """A setting of the user, or of the organisation if that refuses; the first known value if there is none, and the
    strictest if it is unknown or cannot be read."""
    from anyhook.documents.managed import managed_dir
    from anyhook.platform.places import config_file

    own, theirs = (_said(path, name, known) for path in (config_file(env), f"{managed_dir(env)}/config.toml"))
    return theirs if theirs == "deny" else own


def _said(path: str, name: str, known: tuple[object, ...]) -> object:
    import tomllib
    from os.path import lexists

    from anyhook.platform.places import open_regular

    if not lexists(path):
        return known[0]
    try:
        with open_regular(path) as file:
            said = tomllib.load(file).get(name, known[0])
    except (OSError, ValueError, RecursionError, MemoryError):
        said = None
    if said in known:
        return said
    from anyhook.state.settings import STRICTEST  # here, because a damaged package may not have it

    return STRICTEST.get(name, known[0])
