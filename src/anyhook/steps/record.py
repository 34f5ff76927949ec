"""Record: one fired event → one line for the journal: event, calls, runs, decision. Values of the environment that look
like secrets never get into it, not even where a hook printed them."""

from __future__ import annotations

import time
from _operator import attrgetter  # `operator` is this and more, from one more file

from anyhook.model import lean_json as json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.model.call import Call, Run
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json

EACH_MOST = 100
"""How many events that reached no hook get a line each, of one kind within a quarter of a second."""
DEPTH_LIMIT = 64
TEXT_LIMIT = 16_384
"""Longer texts are cut in the journal, and say so."""
ASKED_FOR = (
    "effect", "reason", "hook", "tool_input", "tool_output", "prompt", "context", "messages", "follow_ups", "history",
    "recipe", "end_turn",
)  # fmt: skip
_asked_for = attrgetter(*ASKED_FOR)
SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE")


def secrets_of(env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables whose values may never be written down: (value as JSON text, what stands there instead)."""
    found: dict[str, str] = {}
    for name, value in env.items():
        if len(value) >= 8 and any(word in name.upper() for word in SECRET_NAMES):
            once = json.dumps(value)[1:-1]
            found[once] = found[json.dumps(once)[1:-1]] = f"[{name}]"  # a hook's JSON stands in the line as a text
    return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))


def without_secrets(line: str, secrets: Sequence[tuple[str, str]]) -> str:
    """The line, with the names of secret variables where their values stood."""
    for value, instead in secrets:
        if value in line:
            line = line.replace(value, instead)
    return line


def head_of(event: Event, about: Mapping[str, Json]) -> str:
    """The part of a line that is known before anything is started; `about` says who fired, where and how."""
    session = event.data.get("session") or about.get("session")
    return json.dumps({**about, "session": session, "event": event.name, "data": clipped(event.data)})[1:-1]


def call_text(hook: str, call: Call) -> str:
    """The part of a line that is known once a hook is started: made while it runs."""
    return json.dumps(
        {"hook": hook, "argv": [*call.argv], "cwd": call.cwd, "env": [*call.env], "limit_s": call.limit_s}
    )[:-1]


def record(
    head: str,
    decision: Decision,
    calls: Sequence[tuple[str, Run | None]] = (),
    secrets: Sequence[tuple[str, str]] = (),
    at_ns: int | None = None,
) -> bytes:
    """The line: what was fired, what was started (text and run of each call), what was decided."""
    started = [f'{text}, "run": {"null" if run is None else json.dumps(run_fields(run))}}}' for text, run in calls]
    line = (
        f'{{"v": 1, "at": {at_ns or time.time_ns()}, {head}, "calls": [{", ".join(started)}], '
        f'"decision": {_decision_text(decision)}}}'
    )
    return without_secrets(line, secrets).encode() + b"\n"


def clipped(value: Json, depth: int = 0) -> Json:
    """The value with long texts and deep nesting cut: a journal is no second copy of every file that went through."""
    if isinstance(value, str):
        return value if len(value) <= TEXT_LIMIT else f"{value[:TEXT_LIMIT]}… [{len(value)} characters in all]"
    if isinstance(value, (dict, list)) and depth > DEPTH_LIMIT:
        return "…"
    if isinstance(value, dict):
        return {key: clipped(item, depth + 1) for key, item in value.items()}
    return [clipped(item, depth + 1) for item in value] if isinstance(value, list) else value


def record_quiet(
    taken: Sequence[tuple[int, Event, Decision]], about: Mapping[str, Json], secrets: Sequence[tuple[str, str]]
) -> list[bytes]:
    """The lines of events that reached no hook: time, event, answer. Beyond what an agent can cause, those with
    the same answer are only counted."""
    kinds: dict[int, list[tuple[int, Event, Decision]]] = {}
    for entry in taken:
        kinds.setdefault(id(entry[2]), []).append(entry)
    made: list[bytes] = []
    for entries in kinds.values():
        for at, event, answer in entries[:EACH_MOST]:
            made.append(record(safe_head(event, about), answer, (), secrets, at))
        if len(entries) > EACH_MOST:
            at, event, answer = entries[-1]
            counted = {**about, "events": len(entries) - EACH_MOST}
            made.append(record(head_of(event.replace(data={}), counted), answer, (), secrets, at))
    return made


def safe_head(event: Event, about: Mapping[str, Json]) -> str:
    """The same for an event of an embedding program, which may hold what is no JSON: then without its data."""
    try:
        return head_of(event, about)
    except (TypeError, ValueError, RecursionError) as error:
        return head_of(event.replace(data={}), {**about, "lost": str(error)})


def _decision_text(decision: Decision) -> str:
    try:
        return json.dumps(_decision(decision))
    except (TypeError, ValueError, RecursionError) as error:  # a callable's answer that is no JSON costs no event
        return json.dumps({"verdict": decision.verdict, "enforced": decision.enforced, "lost": str(error)})


def _decision(decision: Decision) -> dict[str, Json]:
    """The decision without what it does not ask for, and every hook in one short row."""
    made: dict[str, Json] = {"verdict": decision.verdict, "enforced": decision.enforced}
    for field, value in zip(ASKED_FOR, _asked_for(decision), strict=True):
        if value is not None and value is not False and value != ():
            made[field] = clipped(list(value) if isinstance(value, tuple) else value)
    made["hooks"] = [
        {"id": report.id, "status": report.status, "why": report.why, "verdict": report.verdict}
        for report in decision.hooks
    ]
    if decision.problems:
        made["problems"] = [dict(problem.as_dict()) for problem in decision.problems]
    return made


def run_fields(run: Run) -> dict[str, Json]:
    return {
        "ending": run.ending,
        "exit_code": run.exit_code,
        "stdout": clip(run.stdout),
        "stderr": clip(run.stderr),
        "started_ns": run.started_ns,
        "duration_s": round(run.duration_s, 6),
        "error": run.error,
    }


def clip(data: bytes) -> str:
    text = data[:TEXT_LIMIT].decode("utf-8", "replace")
    return text if len(data) <= TEXT_LIMIT else f"{text}… [{len(data)} bytes in all]"
