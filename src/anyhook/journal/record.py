"""Record: one fired event → one line for the journal: event, calls, runs, decision. Nothing that looks like a secret
gets into it, and no secret of the environment, even if a hook printed it; payloads do if the user wants that."""

from __future__ import annotations

import time
from _operator import attrgetter  # `operator` would be another file to load

from anyhook.journal.suspect import TEXT_LIMIT, is_suspect
from anyhook.model import lean_json as json
from anyhook.model.decision import Decision, EarlierCall
from anyhook.model.json_types import Digits, Json
from anyhook.model.lean_json import digest, short_digest
from anyhook.model.record import Record
from anyhook.model.words import FULL, HASHED, NOT_MET, Mode, Posture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any

    from anyhook.model.call import Call, Run
    from anyhook.model.event import Event
    from anyhook.model.firing import HookRun
    from anyhook.model.hook import Hook

MAX_EACH = 100
"""How many events without hooks get their own line, of one kind within a quarter of a second."""
DEPTH_LIMIT = 64
RECORDED_OUTPUT = 262_144
"""The same for what a hook printed: a cut answer cannot be judged again, and hooks that print much usually rewrite
something large."""
MAX_WORD = 256
"""Longer words may be cut in the middle."""
ASKED_FOR = (
    "effect", "reason", "hook", "tool_input", "tool_output", "prompt", "context", "messages", "follow_ups", "history",
    "recipe", "end_turn",
)  # fmt: skip
_asked = attrgetter(*ASKED_FOR)
_objects = attrgetter("tool_input", "tool_output", "history", "recipe", "answered")
"""Those that cannot be part of a key."""
NO_OBJECTS = (None,) * 5
REPORTED = ("id", "status", "why", "verdict", "source", "shadow", "earlier")
"""The recorded fields of a hook's report; the last two only if they say something."""
BODY_FIELDS = frozenset(
    {
        "input", "output", "tool_error", "prompt", "message", "messages", "last_message", "final_message",
        "attachments", "task", "result", "context", "sub_agent_info",
    }
)  # fmt: skip
"""Fields of an event with texts of people and tools; the others are names and numbers."""
NO_BODIES = frozenset({"effect", "hook", "end_turn"})
"""Fields of a decision without such texts."""
SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE")


def known_by(host: str, call_id: str) -> str:
    """What a session's memory knows a call by."""
    return short_digest(f"{host} {call_id}")


class NoCache(dict["Hashable", str]):
    """A cache that stores nothing."""

    def __setitem__(self, key: Hashable, value: str) -> None:
        return


class JournalPolicy(Record):
    """What is recorded of an event."""

    secrets: tuple[tuple[str, str], ...] = ()
    """Texts that are never written, and their replacements."""
    bodies: str = FULL
    """Payloads: `full`, `hashed` (to see that two are the same) or `none`."""
    inherited: frozenset[str] = frozenset()
    """Names of variables that every hook gets from its host; of a hook's variables, only the others are recorded."""
    known: dict[Hashable, str] = NoCache()
    """A cache of parts of lines that often recur, by everything they are made from. `clean` fills it."""
    session: str = ""
    """The session of events that do not name one."""
    caller: tuple[str, str, str] = ("", "", "")
    """Host, project, and their trace context."""


ALL_KEPT = JournalPolicy()
MAX_KNOWN, MAX_KNOWN_SIZE = 1_000, 4_096
"""How many recurring parts are cached, and how long they may be."""


def secrets_of(env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables whose values must never be written: (value as JSON text, replacement)."""
    found: dict[str, str] = {}
    for name, value in env.items():
        if len(value) >= 8 and any(word in name.upper() for word in SECRET_NAMES):
            once = json.dumps(value)[1:-1]
            instead = f"[{name}]" if name.isidentifier() else "[a variable]"
            found[once] = found[json.dumps(once)[1:-1]] = instead  # a hook's JSON is a text in the line
    return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))


def without_secrets(line: str, secrets: Sequence[tuple[str, str]]) -> str:
    """The line, with the names of secret variables in place of their values."""
    for value, instead in secrets:
        if value in line:
            line = line.replace(value, instead)
    return line


def clean(value: Json, policy: JournalPolicy, *, cut: bool = False, key: Hashable = None) -> str:
    """A part of a line as JSON, without secrets; with `cut`, without long texts and deep nesting. With a `key`, it is
    cached in the policy."""
    suspect = is_suspect(value)
    if suspect and cut:
        value = clipped(value)
    text = json.dumps(value)
    for secret, _ in policy.secrets:
        if secret in text:
            text, suspect = json.dumps(_unnamed(value, policy.secrets)), True
            break
    if suspect:
        from anyhook.journal.redact import redacted

        plain = json.loads(text)
        made = redacted(plain)
        text = text if made is plain else json.dumps(made)
    if key is not None and len(text) <= MAX_KNOWN_SIZE:
        if len(policy.known) >= MAX_KNOWN:
            policy.known.clear()
        policy.known[key] = text
    return text


def _unnamed(value: Json, secrets: Sequence[tuple[str, str]]) -> Json:
    """The value with the names of secret variables in place of their values, in numbers too."""
    if isinstance(value, dict):
        return {str(_unnamed(key, secrets)): _unnamed(item, secrets) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unnamed(item, secrets) for item in value]
    text = json.dumps(value)
    made = without_secrets(text, secrets)
    if made is text:
        return value
    return json.loads(made) if isinstance(value, str) else made


def body(value: Json, policy: JournalPolicy) -> Json:
    """The part of a payload that is recorded; None if none is."""
    if policy.bodies == FULL:
        return clipped(value)
    if policy.bodies != HASHED or value is None:
        return None
    text = json.dumps(value).encode()
    return {"blake2b": digest(text), "bytes": len(text)}


def head_of(event: Event, mode: Mode, policy: JournalPolicy) -> str:
    """The part of a line that is known before anything is started. Data that is not JSON, which only an embedding
    program can pass, is left out."""
    who = policy.known.get((mode, policy.caller))
    if who is None:
        host, project, parent = policy.caller
        made: dict[str, Json] = {"host": host, "project": project, "mode": mode}
        if parent:
            made["parent"] = parent
        who = clean(made, policy, key=(mode, policy.caller))
    session = str(event.data.get("session") or policy.session)
    named = policy.known.get(session) or clean(session, policy, key=session)
    marks = ', "hosted": true' if event.hosted else ""
    if policy.bodies != FULL:
        marks += f', "bodies": "{policy.bodies}"'
    try:
        said = clean(event.data if policy.bodies == FULL else _named_only(event.data, policy), policy, cut=True)
    except (TypeError, ValueError, RecursionError) as error:
        said, marks = "{}", f'{marks}, "lost": {json.dumps(str(error))}'
    return f'{who[1:-1]}, "session": {named}, "event": "{event.name}", "data": {said}{marks}'


def _named_only(data: Mapping[str, Json], policy: JournalPolicy) -> Json:
    made = {key: body(value, policy) if key in BODY_FIELDS else clipped(value) for key, value in data.items()}
    return {key: value for key, value in made.items() if value is not None}


def call_text(hook: Hook, call: Call, posture: Posture, policy: JournalPolicy = ALL_KEPT, model: str = "") -> str:
    """The part of a line that is known once a hook is started: made while it runs. From this, a run can be judged again
    when neither the hook nor its files exist any more. `model` is the model that the hook asks."""
    key = (hook.id, posture, model, call.argv, call.cwd, call.limit_s, *call.env)
    text = policy.known.get(key)
    if text is None:
        made: dict[str, Json] = {"hook": hook.id, "name": hook.name, "dialect": hook.dialect}
        made["native"] = hook.native_event
        if hook.handler != "command":
            made["handler"] = hook.handler
        if posture != "native":
            made["posture"] = posture
        if model:
            made["model"] = model
        own: list[Json] = [name for name in call.env if name not in policy.inherited]
        made.update(argv=[*call.argv], cwd=call.cwd, env=own, limit_s=call.limit_s)
        text = clean(made, policy, key=key)
    # The trace differs each time, so it is not part of what is known.
    return f'{text[:-1]}, "trace": "{call.trace}"' if call.trace else text[:-1]


def record(
    head: str,
    decision: Decision,
    runs: Sequence[HookRun] = (),
    policy: JournalPolicy = ALL_KEPT,
    at_ns: int | None = None,
    own: Decision | None = None,
    decided: str = "",
) -> bytes:
    """The line: what was fired, what was started, what was decided. `own` is what the event's hooks alone decided, if
    the host was told something else. `decided` is the text of the decision, if it is known already."""
    calls: list[str] = []
    for started in runs:
        run, failed = started.run, started.cause
        text = started.text or call_text(started.hook, started.call, started.posture, policy, started.model)
        if started.also:
            text += f', "also": {json.dumps([[*names] for names in started.also])}'
        text += ', "again": true' if started.again else ""
        if run is None:
            calls.append(f'{text}, {clean({"failed": failed or None}, policy)[1:-1]}, "run": null}}')
            continue
        key = (failed, run.ending, run.exit_code, run.stdout, run.stderr, run.error)
        said = policy.known.get(key) if len(run.stdout) + len(run.stderr) <= MAX_KNOWN_SIZE else None
        if said is None:
            said = clean({"failed": failed or None, "run": _said(run, policy)}, policy, key=key)
        times = f'"started_ns": {run.started_ns}, "duration_s": {run.duration_s:.6f}'
        calls.append(f"{text}, {said[1:-2]}, {times}}}}}")
    decided = decided or _decision_text(decision, policy)
    apart = f', "own": {_decision_text(own, policy)}' if own is not None else ""
    at = at_ns or time.time_ns()
    return (f'{{"v": 1, "at": {at}, {head}{apart}, "calls": [{", ".join(calls)}], "decision": {decided}}}\n').encode()


def clipped(value: Json, depth: int = 0) -> Json:
    """The value with long texts and deep nesting cut: a journal is not a second copy of every file."""
    if isinstance(value, str):
        return value if len(value) <= TEXT_LIMIT else f"{_begin(value, TEXT_LIMIT)}… [{len(value)} characters in all]"
    if isinstance(value, (dict, list)) and depth > DEPTH_LIMIT:
        return "…"
    if isinstance(value, Digits):
        return clipped(value.text)
    if isinstance(value, dict):
        cut = {
            key: kept
            for key, item in value.items()
            if not (type(item) is str and len(item) <= TEXT_LIMIT) and (kept := clipped(item, depth + 1)) is not item
        }
        return {**value, **cut} if cut else value
    return [clipped(item, depth + 1) for item in value] if isinstance(value, list) else value


def record_quiet(taken: Sequence[tuple[int, Event, Decision]], mode: Mode, policy: JournalPolicy) -> list[bytes]:
    """The lines of events without hooks: time, event, answer. Beyond what an agent can cause, events with the same
    answer are only counted."""
    kinds: dict[int, list[tuple[int, Event, Decision]]] = {}
    for entry in taken:
        kinds.setdefault(id(entry[2]), []).append(entry)
    made: list[bytes] = []
    for entries in kinds.values():
        at, event, answer = entries[-1]
        decided = _decision_text(answer, policy)
        made += [
            record(head_of(each, mode, policy), answer, (), policy, at_ns, decided=decided)
            for at_ns, each, _ in entries[:MAX_EACH]
        ]
        if len(entries) > MAX_EACH:
            of_last = policy.replace(session=str(event.data.get("session") or policy.session))
            head = f'{head_of(event.replace(data={}), mode, of_last)}, "events": {len(entries) - MAX_EACH}'
            made.append(record(head, answer, (), policy, at, decided=decided))
    return made


def _decision_text(decision: Decision, policy: JournalPolicy) -> str:
    """The decision without empty fields, and each hook as one short row. A decision without problems and objects often
    recurs, so it is cached."""
    key: Hashable = None
    rows = [
        (
            *(report.id, report.status, report.why, report.verdict, report.source, report.shadow),
            tuple((each.call, each.at, each.record) for each in report.earlier),
        )
        for report in decision.hooks
        if report.why != NOT_MET
    ]
    unmet = len(decision.hooks) - len(rows)
    try:
        if not decision.problems and _objects(decision) == NO_OBJECTS:
            key = (decision.verdict, decision.enforced, *_asked(decision), unmet, *rows)
            if known := policy.known.get(key):
                return known
        made: dict[str, Json] = {
            "verdict": decision.verdict,
            "enforced": decision.enforced,
            **_effects(decision, policy),
        }
        others: dict[str, Json] = {"answered": decision.answered, "unmet": unmet}
        made["hooks"] = [_hook_row(*row) for row in rows]
        made.update({field: value for field, value in others.items() if value})
        made["problems"] = _problems(decision, policy)
        return clean(made, policy, key=key)
    except (TypeError, ValueError, RecursionError) as error:  # a callable's answer that is not JSON costs no event
        lost: dict[str, Json] = {"verdict": decision.verdict, "enforced": decision.enforced, "lost": str(error)}
        return clean(lost, policy)


def _hook_row(*values: Any) -> dict[str, Json]:
    """A hook's report, without what it does not say."""
    *plain, shadow, earlier = values
    row: dict[str, Json] = dict(zip(REPORTED, plain, strict=False))
    row |= {"shadow": True} if shadow else {}
    return row | ({"earlier": [EarlierCall(*each).as_dict() for each in earlier]} if earlier else {})


def _effects(decision: Decision, policy: JournalPolicy) -> dict[str, Json]:
    """What a decision asks for, without what is not recorded."""
    made: dict[str, Json] = {}
    for field, value in zip(ASKED_FOR, _asked(decision), strict=True):
        if value or not (value is None or value is False or isinstance(value, tuple)):
            plain: Json = list(value) if isinstance(value, tuple) else value
            kept = clipped(plain) if field in NO_BODIES else body(plain, policy)
            if kept is not None:
                made[field] = kept
    return made


def _problems(decision: Decision, policy: JournalPolicy) -> list[Json]:
    return [
        dict(problem.as_dict()) if policy.bodies == FULL else {"code": problem.code, "where": problem.where}
        for problem in decision.problems
    ]


def run_fields(run: Run, policy: JournalPolicy) -> dict[str, Json]:
    """A run as it is recorded."""
    return {**_said(run, policy), "started_ns": run.started_ns, "duration_s": round(run.duration_s, 6)}


def _said(run: Run, policy: JournalPolicy) -> dict[str, Json]:
    """The same without its times, which never recur."""
    made: dict[str, Json] = {"ending": run.ending, "exit_code": run.exit_code}
    for name, stream in (("stdout", run.stdout), ("stderr", run.stderr)):
        said: Json = ""
        if stream:
            said = clip(stream) if policy.bodies == FULL else body(stream.decode("utf-8", "replace"), policy)
        if said is not None:
            made[name] = said
    made["error"] = run.error
    return made


def clip(data: bytes) -> str:
    text = data[:RECORDED_OUTPUT].decode("utf-8", "replace")
    return text if len(data) <= RECORDED_OUTPUT else f"{_begin(text, len(text))}… [{len(data)} bytes in all]"


def _begin(text: str, limit: int) -> str:
    """A text up to about this many characters, without the word at the cut: half a secret does not look like one, and
    would be recorded."""
    low = limit - MAX_WORD
    end = max(text.rfind(blank, low, limit) for blank in (" ", "\n", "\t"))
    return text[: max(end, low)]
