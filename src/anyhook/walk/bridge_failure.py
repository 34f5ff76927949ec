"""What an agent is told when we ourselves fail: what the posture says about broken hooks. It never raises."""

from __future__ import annotations

import os

from anyhook.model.event import GATES
from anyhook.model.words import MODE, ON_FAILURE
from anyhook.walk.express import Answer, express

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import RunOptions
    from anyhook.model.decision import Decision
    from anyhook.tables.host_rows import Host, HostEvent


def failed(table: Host, row: HostEvent, options: RunOptions, error: Exception) -> Answer:
    """A refusal where the user wants broken hooks to refuse and the event can be refused; else no opinion. Either way
    the failure is told and written down."""
    from anyhook.model.decision import Decision
    from anyhook.model.problem import Problem
    from anyhook.walk.settle import settle

    event = row.canonical[0] if row.canonical else ""
    where = f"{table.name} {row.native}"
    why = str(error) or type(error).__name__
    problem = Problem(
        "bridge-failed",
        "this event could not be judged",
        where,
        f"{type(error).__name__}: {why}" if type(error).__name__ != "Unusable" else why,
        "Report it with this line; on_failure in the settings says what happens meanwhile.",
    )
    said = f"anyhook bridge {where}: {problem.what}: {problem.why}"
    decision = Decision(event, problems=(problem,))
    mode = _switch("mode", options.mode, MODE[0])
    decision = decision.replace(enforced=mode != "shadow")
    if _switch("on_failure", options.on_failure, ON_FAILURE[0]) == "deny" and event in GATES and decision.enforced:
        decision = decision.replace(verdict="block", effect="deny_tool", reason=f"{problem.what}: {problem.why}")
    _record(table, decision, mode)
    answer = express(settle(decision, row.says, where).effects, row.says)
    return answer.replace(stderr=answer.stderr or said)


def _switch(name: str, given: str | None, default: str) -> str:
    """The call's word, else the user's."""
    if given:
        return given
    import tomllib

    from anyhook.state.places import config_file

    try:
        with open(config_file(os.environ), "rb") as file:
            return str(tomllib.load(file).get(name, default))
    except (OSError, ValueError):
        return default


def _record(table: Host, decision: Decision, mode: str) -> None:
    from anyhook.journal.journal import Journal
    from anyhook.journal.record import Keeping, about, head_of, record, secrets_of
    from anyhook.model.event import Event
    from anyhook.state.places import state_dir

    try:
        keeping = Keeping(secrets_of(os.environ))
        head = head_of(Event(decision.event, {}), about(table.name, "", mode, keeping), "", keeping)
        Journal(state_dir(os.environ)).append(record(head, decision, (), keeping))
    except Exception:  # noqa: BLE001, S110 (an answer matters more than its record)
        pass
