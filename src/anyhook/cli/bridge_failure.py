"""What an agent is told when we ourselves fail: what the posture says about broken hooks. It never raises."""

from __future__ import annotations

import os

from anyhook.model.event import GATES
from anyhook.steps.express import Answer, express

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import Values
    from anyhook.grammar.host_rows import Host, HostEvent
    from anyhook.model.decision import Decision


def failed(table: Host, row: HostEvent, values: Values, error: Exception) -> Answer:
    """A refusal where the user wants broken hooks to refuse and the event can be refused; else no opinion. Either way
    the failure is told and written down."""
    from anyhook.model.decision import Decision
    from anyhook.model.problem import Problem
    from anyhook.steps.settle import settle

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
    if _posture(values) == "deny" and event in GATES and values["mode"] != "shadow":
        decision = decision.replace(verdict="block", effect="deny_tool", reason=f"{problem.what}: {problem.why}")
    _record(table, decision)
    answer = express(settle(decision, row.says, where).effects, row.says)
    return answer.replace(stderr=answer.stderr or said)


def _posture(values: Values) -> str:
    """The posture for broken hooks: the call's, else the user's."""
    if values["on_failure"]:
        return str(values["on_failure"])
    import tomllib

    from anyhook.stores.places import config_file

    try:
        with open(config_file(os.environ), "rb") as file:
            return str(tomllib.load(file).get("on_failure", "native"))
    except (OSError, ValueError):
        return "native"


def _record(table: Host, decision: Decision) -> None:
    from anyhook.model.event import Event
    from anyhook.steps.record import Keeping, about, record, safe_head, secrets_of
    from anyhook.stores.journal import Journal
    from anyhook.stores.places import state_dir

    try:
        keeping = Keeping(secrets_of(os.environ))
        head = safe_head(Event(decision.event, {}), about(table.name, "", "enforce", keeping), "", keeping)
        Journal(state_dir(os.environ)).append(record(head, decision, (), keeping))
    except Exception:  # noqa: BLE001, S110 (an answer matters more than its record)
        pass
