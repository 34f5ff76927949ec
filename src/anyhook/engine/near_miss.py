"""Near misses: an answer with something that its dialect does not read: a refusal in another dialect's format, an
unknown key, or anything that is not a clear yes in the dialect. Loaded only for a hook that prints a brace or other
JSON. It does not change the verdict; the posture decides that (`judge`)."""

from __future__ import annotations

from anyhook.model import lean_json as json
from anyhook.model.outcome import BLOCK, Failure, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.tables.registry import dialect
from anyhook.tables.rows import SPECIFIC, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.call import Call, Run
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

    Path = tuple[str, ...]

REFUSING_WORDS = {
    "permissionDecision": ("deny",),
    "permission": ("deny",),
    "behavior": ("deny",),
    "decision": ("block", "deny"),
    "action": ("block",),
    "result": ("block",),
}

REFUSING_FLAGS = {"block": True, "blocked": True, "cancel": True, "ok": False, "continue": False}
"""How known agents express a refusal."""

VERDICT_ROLES = ("verdict", "block", "block_unless", "end_turn_unless")
"""The roles of keys that let an action go on or refuse it."""


def look_closer(hook: Hook, reply: Reply, event: str, run: Run, outcome: Outcome, *, spoke: bool) -> Outcome:
    """The outcome, with problems for what its dialect does not read in the answer. `spoke` says whether its keys
    counted at all."""
    kind, value = reply.read(run.stdout)
    read = value if kind == "object" and isinstance(value, dict) else None
    answer = read if read is not None else _object_in(run.stdout) or {}
    heard = read is not None and spoke
    if heard and outcome.failure is None:  # otherwise the failure reports it
        unread, unclear = _unread(hook, reply, answer), _unclear(reply, event, answer)
        outcome = outcome.replace(problems=(*outcome.problems, *unread), doubt=outcome.doubt or unclear)
    if outcome.verdict == BLOCK:
        return outcome
    refusal = _refusal(reply, event, run, outcome, answer, heard=heard)
    if refusal is not None:
        return _with_refusal(outcome, hook, event, *refusal)
    if heard and outcome.failure is not None:
        outcome = _with_lost_refusal(outcome, hook, outcome.failure, answer)
    return outcome.replace(doubt=outcome.doubt or _half_said(run.stdout, kind, answer if heard else None))


def _refusal(
    reply: Reply, event: str, run: Run, outcome: Outcome, answer: dict[str, Json], *, heard: bool
) -> tuple[Path, Json] | None:
    """A refusal in the answer that counts for nothing."""
    failed = outcome.failure is not None
    found = next(_refusals(reply if heard or failed else None, event, answer), None)
    if found is None and heard:
        found = _overruled(run.stdout)
    if found is not None and failed and heard and any(key.path == found[0] and key.counts(event) for key in reply.keys):
        return None  # the failure reports it: the dialect reads this key, whatever its value
    return found


def _with_refusal(outcome: Outcome, hook: Hook, event: str, path: Path, item: Json) -> Outcome:
    key = ".".join(path)
    what = f"`{hook.name}` answered with a refusal that its dialect does not read here: `{key}` is {json.dumps(item)}"
    problem = Problem("foreign-refusal", what, hook.where(), fix=_own_words(hook, event), severity=WARNING)
    return outcome.replace(
        problems=(*outcome.problems, problem),
        messages=(*outcome.messages, f"anyhook: {what}. {problem.fix}"),
        doubt=outcome.doubt or f"it answered with a refusal that its dialect does not read: `{key}`",
    )


def _with_lost_refusal(outcome: Outcome, hook: Hook, failure: Failure, answer: dict[str, Json]) -> Outcome:
    """The outcome of a hook that failed, with a message if it refused."""
    if not any(_refusals(None, "", answer)):
        return outcome
    return outcome.replace(messages=(*outcome.messages, f"anyhook: `{hook.name}` refused, but {failure.detail}."))


def _half_said(stdout: bytes, kind: str, heard: dict[str, Json] | None) -> str:
    """Why an output looks like JSON, but is not an answer; `heard` is the answer that counts."""
    if b"{" in stdout and (_is_made(stdout, heard) if heard is not None else kind in ("text", "nothing")):
        return "its output holds the start of a JSON object, but cannot be read as one"
    return "its output is JSON, but not an object" if heard is None and _is_other_json(stdout) else ""


def _object_in(stdout: bytes) -> dict[str, Json] | None:
    """The JSON object in an output that its dialect does not read as one: a line of it, or from the first brace on."""
    lines = [line for line in stdout.splitlines()[-50:] if line.strip().startswith(b"{")]
    for candidate in (stdout[stdout.find(b"{") : stdout.rfind(b"}") + 1], *reversed(lines)):
        value = _parsed(candidate)
        if value is not None:
            return value
    return None


def _is_made(stdout: bytes, answer: dict[str, Json]) -> bool:
    """Whether the dialect read the answer as plain text, although it looks like JSON."""
    whole = stdout[stdout.find(b"{") : stdout.rfind(b"}") + 1]
    candidates = (whole, *(line[line.find(b"{") :] for line in stdout.splitlines()[-50:] if b"{" in line))
    return json.dumps(answer).lower() not in (json.dumps(_parsed(each)).lower() for each in candidates)


def _is_other_json(stdout: bytes) -> bool:
    try:
        value = json.loads(stdout.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return value is False or isinstance(value, (list, str))


def _overruled(stdout: bytes) -> tuple[Path, Json] | None:
    """A refusal in an earlier line than the one that counts."""
    lines = [line.strip() for line in stdout.splitlines() if line.strip()]
    if len(lines) < 2 or _parsed(stdout) is not None:
        return None
    for line in lines[-50:-1]:
        earlier = _parsed(line) if line.startswith(b"{") else None
        refusal = next(_refusals(None, "", earlier), None) if earlier else None
        if refusal is not None:
            return refusal
    return None


def _parsed(text: bytes) -> dict[str, Json] | None:
    try:
        value: Json = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refusals(reply: Reply | None, event: str, answer: dict[str, Json]) -> Iterator[tuple[Path, Json]]:
    """The refusals in an answer that its dialect does not read as refusals. The dialect is None if it reads none of the
    answer."""
    inner = answer.get(SPECIFIC, answer.get(SPECIFIC.lower()))
    for prefix, place in (((), answer), ((SPECIFIC,), inner)):
        if not isinstance(place, dict):
            continue
        for name, value in place.items():
            nested = value.get("behavior") if name == "decision" and isinstance(value, dict) else None
            path, item = ((*prefix, name, "behavior"), nested) if nested is not None else ((*prefix, name), value)
            if _refuses(path[-1], item) and not (reply and _is_read(reply, event, path, item)):
                yield path, item


def _refuses(name: str, value: Json) -> bool:
    if isinstance(value, bool):
        return REFUSING_FLAGS.get(name) is value
    for known, words in REFUSING_WORDS.items():
        if name in (known, known.lower()):  # a reader that ignores case has made it lower case
            return isinstance(value, str) and value.lower() in words
    return False


def _is_read(reply: Reply, event: str, path: Path, value: Json) -> bool:
    for key in reply.keys:
        if key.path != path or not key.counts(event):
            continue
        if key.does in ("block", "block_unless", "end_turn_unless"):
            return True
        word = str(value).lower() if key.any_case else str(value)
        return any(known == word for known, _ in key.meanings(event))
    return False


def _unread(hook: Hook, reply: Reply, answer: dict[str, Json]) -> list[Problem]:
    if reply.unknown is not None:
        return []  # the dialect has its own message for it
    known = {key.path for key in reply.keys} | {tuple(path.split(".")) for path in reply.also}
    names = sorted({path[0] for path in known})
    return [
        Problem("unread-key", f"the key `{'.'.join(path)}` of its answer is not read", hook.where(),
                fix=f"Correct its spelling, or remove it. Keys: {', '.join(names)}.", severity=WARNING)
        for path in _strangers(answer, known, ())
    ]  # fmt: skip


def _strangers(answer: dict[str, Json], known: set[Path], prefix: Path) -> Iterator[Path]:
    for name, value in answer.items():
        path = (*prefix, name)
        if path in known:
            continue
        if not any(other[: len(path)] == path for other in known):
            yield path
        elif isinstance(value, dict):
            yield from _strangers(value, known, path)


def _unclear(reply: Reply, event: str, answer: dict[str, Json]) -> str:
    """A verdict without a value, or a consent that is not true."""
    for key in reply.keys:
        if key.does not in VERDICT_ROLES or not key.counts(event):
            continue
        place: Json = answer
        for step in key.path[:-1]:
            place = place.get(step) if isinstance(place, dict) else None
        if not isinstance(place, dict) or key.path[-1] not in place:
            continue
        value = place[key.path[-1]]
        if value is None or (key.does == "block_unless" and value is not True):
            return f"`{'.'.join(key.path)}` in its output is {json.dumps(value)[:40]}, which is not a clear yes"
    return ""


def _own_words(hook: Hook, event: str) -> str:
    """How a hook of this dialect refuses."""
    from anyhook.tables.spoken import CANNOT, advice

    table = dialect(hook.dialect)
    row = table.row(hook.native_event) or table.row_for(event)
    return advice(table, row, event, hook.handler) if row is not None and not table.broken else CANNOT


# Hooks that cannot have run, because their shell or interpreter did not find the program or script. Such an exit
# status is not an answer (Python's own status for a missing script is 2, which would refuse), so it is a failure.
# Checked only after a run that would refuse by its status and printed an error.


COMPLAINTS = (
    b"an't open", b"annot open", b"not found", b"o such file", b"ermission denied", b"annot find", b"ormat error",
    b"s a directory", b"bad interpreter",
)  # fmt: skip
"""Parts of the messages of shells and interpreters about a file that they cannot use."""

NOT_FOUND = (126, 127)
"""A shell's exit statuses for a program that it cannot start."""

JOINTS = frozenset("|&;\n")


def unless_never_ran(call: Call, reply: Reply, event: str, run: Run) -> Run:
    """The run; if its program cannot have been started, as one that was not started."""
    reply = reply.on_event.get(event, reply)
    code = run.exit_code
    refuses = code is not None and reply.exits.get(code, reply.otherwise).startswith("block")
    if run.ending != "exited" or not refuses or run.stdout or not any(part in run.stderr for part in COMPLAINTS):
        return run
    line = call.argv[2] if len(call.argv) > 2 and call.argv[1] in ("-c", "-ec", "-lc") else ""
    if JOINTS & set(line) and code not in NOT_FOUND:
        return run  # `guard || exit 2` refuses on purpose
    from anyhook.programs.start import StartContext, fault_of

    fault = fault_of(call.argv, StartContext(call.env, call.cwd))
    if fault is not None:
        return run.replace(ending="not_started", error=fault.what)
    if line and code in NOT_FOUND:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines()[-1]
        return run.replace(ending="not_started", error=f"its shell could not start a program: {said}")
    return run
