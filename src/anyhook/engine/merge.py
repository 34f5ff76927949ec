"""Judge and merge: how each outcome counts, and what all of them together ask for. A failure becomes a block or
nothing, by the dialect's rule or the caller's; an effect that the event cannot have is dropped, with a problem. Judging
never looks at another hook. Merging sorts by the hooks' places in the catalog first, so that the order in which they
finished cannot matter; no rewrite and no allow lifts a block."""

from __future__ import annotations

from _operator import attrgetter  # `operator` is the same, but one more file to import
from os.path import exists

from anyhook.model.decision import Decision, Report, Texts
from anyhook.model.outcome import BLOCK, EFFECTS, NONE, SILENT, STOPPING, STRENGTH, Failure, Outcome
from anyhook.model.problem import ERROR, WARNING, Problem
from anyhook.model.record import Record
from anyhook.model.texts import text_of
from anyhook.tables.registry import dialect as dialect_of
from anyhook.tables.registry import special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from anyhook.engine.context import Context
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.words import Cause, Posture
    from anyhook.tables.rows import Dialect, EventRow

    Rejoin = Callable[[dict[str, Json], int, dict[str, Json]], dict[str, Json] | None]


GATING = STOPPING - {"keep_working"}
"""The effects of a block by a hook that cannot be started, in dialects that fail closed: all but keeping the agent
working."""

CODE_OF_ENDING: dict[Cause, str] = {
    "timed_out": "hook-timed-out",
    "signalled": "hook-signalled",
    "not_started": "hook-not-started",
    "overflowed": "hook-overflowed",
    "exit": "hook-failed",
    "output": "hook-output-invalid",
    "cancelled": "hook-cancelled",
}

FIXES = {
    "timed_out": "Make it faster, or raise its limit.",
    "not_started": "Check the path, the execute permission and the first line of the script.",
    "output": "Print one JSON object on stdout, or nothing. Print other messages on stderr.",
}

ASKED_FIXES = {
    "not_started": "Name a model with --model PROVIDER:NAME or under [models] in config.toml; see docs/config.md.",
    "exit": "Check the model's name, its endpoint and its key.",
    "output": "Let the prompt ask for nothing but the decision, or choose a model that answers with JSON.",
}

POSTED_FIXES = {
    "exit": "Check the address, and what answers there.",
    "output": "Let it answer with one JSON object, or with nothing.",
}

CALLED_FIXES = {
    "not_started": "Name a server of the agent's MCP settings, and install anyhook[mcp].",
    "exit": "Check that the server starts and has this tool.",
}

HANDLER_FIXES = {"prompt": ASKED_FIXES, "agent": ASKED_FIXES, "http": POSTED_FIXES, "mcp_tool": CALLED_FIXES}
"""Fixes for handlers that do not run the user's program."""


# -- judge


def posture_of(context: Context, hook: Hook) -> Posture:
    """The posture that applies to this hook if it fails: the caller's, the user's for this hook or for all. Without
    one, the declaration's own."""
    posture = context.posture or context.config.hooks.get(hook.id) or context.on_failure
    return "deny" if posture == "native" and dialect_of(hook.dialect).failing.closes(hook) else posture


def judge(
    hook: Hook, dialect: Dialect, row: EventRow, outcome: Outcome, posture: Posture, settings: Mapping[str, str]
) -> Outcome:
    """The outcome as it counts under a posture."""
    if outcome.failure is not None:
        return _failed(hook, dialect, row, outcome, posture, settings)
    if outcome.verdict != BLOCK:
        if outcome.doubt and posture == "deny" and row.block in STOPPING:
            doubted = Outcome(failure=Failure("output", outcome.doubt), problems=outcome.problems, spoke=outcome.spoke)
            return _failed(hook, dialect, row, doubted.replace(messages=outcome.messages), posture, settings)
        return outcome
    if row.block is None:
        problem = Problem(
            "cannot-block",
            f"a hook of {row.native} cannot block; the block is ignored",
            hook.where(),
            fix="Move it to an event that can be blocked.",
            severity=WARNING,
        )
        return outcome.replace(verdict=NONE, reason=None, problems=(*outcome.problems, problem))
    if row.notice:
        outcome = outcome.replace(context=(*outcome.context, row.notice.format(reason=outcome.reason)))
    code = dialect.failing.codes.get("blocked")
    if code is None:
        return outcome
    problem = Problem(
        code,
        f"hook `{hook.name}` blocked {row.native}",
        hook.where(),
        outcome.reason or "",
        "Do what it asks for, or turn it off with `anyhook disable`.",
    )
    return outcome.replace(problems=(*outcome.problems, problem), messages=(*outcome.messages, _banner(problem)))


def _failed(
    hook: Hook, dialect: Dialect, row: EventRow, outcome: Outcome, posture: Posture, settings: Mapping[str, str]
) -> Outcome:
    failure = outcome.failure
    assert failure is not None  # noqa: S101 (the caller looked)
    cause, failing = failure.cause, dialect.failing
    blocks = posture == "deny" or (posture != "allow" and _closes(hook, dialect, row, failure, settings))
    blocks = blocks and row.block is not None and cause != "cancelled"
    own_code = failing.codes.get(cause)
    fixes = FIXES | HANDLER_FIXES.get(hook.handler, {})
    meaning = "so it blocks" if blocks else "so the action goes on"
    rule = "the dialect's rule" if posture == "native" else f"--on-failure {posture}"
    rule = f"its own `{failing.key}`" if blocks and failing.closes(hook) else rule
    problem = Problem(
        own_code or CODE_OF_ENDING[cause],
        f"hook `{hook.name}` failed on {row.native}: {failure.detail}",
        hook.where(),
        f"{rule}, {meaning}",
        fixes.get(cause, "Run it by hand with the payload that `anyhook explain` shows."),
        ERROR,
    )
    messages = (*outcome.messages, _banner(problem)) if own_code else outcome.messages
    return outcome.replace(
        verdict=BLOCK if blocks else NONE,
        reason=f"{hook.name}: {failure.detail}" if blocks else None,
        problems=(*outcome.problems, problem),
        messages=messages,
    )


def _closes(hook: Hook, dialect: Dialect, row: EventRow, failure: Failure, settings: Mapping[str, str]) -> bool:
    """Whether a failure blocks by the dialect's own rule."""
    cause, failing = failure.cause, dialect.failing
    if failure.refuses or cause in failing.blocks or cause in row.closed_on or failing.closes(hook):
        return True
    return cause in failing.gates_only and row.block in GATING and settings.get("missing_binary") != "pass"


def _banner(problem: Problem) -> str:
    """The error as its product shows it: id and sentence first, details below."""
    details = "".join(f"\n  {line}" for line in problem.why.splitlines())
    return f"{problem.code}: {problem.what}{details}"


# -- merge


class Judged(Record):
    """One judged outcome and its position in the catalog."""

    position: int
    hook: Hook
    dialect: Dialect
    row: EventRow
    outcome: Outcome
    upstream: bool = False
    """Whether only the last answer of this dialect counts, even if it rewrites nothing."""
    seen: Event | None = None
    """The event it was asked about, with its dialect's names; None if that is not needed."""


def merge(
    event: str,
    entries: Iterable[Judged],
    hooks: tuple[Report, ...] = (),
    problems: tuple[Problem, ...] = (),
    *,
    enforced: bool = True,
) -> Decision:
    """What all of them together ask for. `hooks` and `problems` become part of the decision."""
    ordered = sorted(entries, key=attrgetter("position"))
    if all(entry.outcome is SILENT for entry in ordered):
        return Decision(event, enforced=enforced, hooks=hooks, problems=problems)
    prompt, end_turn = None, False
    context: list[str] = []
    messages: list[str] = []
    found = list(problems)
    for entry in ordered:
        outcome = entry.outcome
        end_turn = end_turn or outcome.end_turn or (outcome.verdict == BLOCK and entry.row.block == "end_turn")
        prompt = prompt if outcome.prompt is None else outcome.prompt
        context.extend(outcome.context)
        messages.extend(outcome.messages)
        found.extend(outcome.problems)
    voice = max(ordered, key=_loudness)
    verdict = voice.outcome.verdict
    blocks = verdict == BLOCK
    messages.extend(_unheard(ordered, voice))
    winner = next(filter(_acts, ordered), None)
    acted = SILENT if winner is None else winner.outcome
    return Decision(
        event=event,
        verdict=verdict,
        effect=voice.row.block if blocks else None,
        reason=voice.outcome.reason if verdict != NONE else None,
        hook=voice.hook.id if blocks else None,
        tool_input=_tool_input(ordered),
        tool_output=_tool_output(ordered),
        prompt=prompt,
        context=Texts(context),
        messages=Texts(messages),
        follow_ups=Texts(text for entry in ordered for text in _left(entry, winner).follow_ups),
        history=acted.history,
        recipe=acted.recipe,
        end_turn=end_turn,
        enforced=enforced,
        hooks=hooks,
        problems=(*found, *_lost(ordered, winner)),
    )


def _loudness(entry: Judged) -> tuple[int, int]:
    """Which outcome decides: of several blocks the one with the strongest effect, and of equal ones the first."""
    verdict = entry.outcome.verdict
    return STRENGTH[verdict], EFFECTS.index(entry.row.block) if verdict == BLOCK and entry.row.block else -1


def _unheard(ordered: list[Judged], voice: Judged) -> list[str]:
    """The other reasons, if the decision is an advisory block: such a block only shows its reason."""
    if voice.outcome.verdict != BLOCK or voice.row.block != "advisory":
        return []
    blocks = [entry for entry in ordered if entry.outcome.verdict == BLOCK and entry is not voice]
    told = {voice.outcome.reason, *(text for entry in ordered for text in entry.outcome.messages)}
    return [
        reason for reason in dict.fromkeys(entry.outcome.reason for entry in blocks) if reason and reason not in told
    ]


def _tool_input(ordered: list[Judged]) -> dict[str, Json] | None:
    current = before = None
    dialect = ""
    for entry in ordered:
        if entry.dialect.name != dialect:
            dialect, before = entry.dialect.name, current
        if entry.outcome.tool_input is not None:
            current = entry.outcome.tool_input
        elif entry.upstream and entry.outcome.spoke:
            current = before
    return current


def _tool_output(ordered: list[Judged]) -> Json:
    """The last replacement; a withheld output stays withheld whatever comes later."""
    for entry in ordered:
        if entry.dialect.withholds and entry.outcome.verdict == BLOCK and entry.row.block == "feedback":
            return entry.outcome.messages[-1] if entry.outcome.messages else entry.outcome.reason
    return next(
        (entry.outcome.tool_output for entry in reversed(ordered) if entry.outcome.tool_output is not None), None
    )


def _acts(entry: Judged) -> bool:
    """Whether it replaces the history or calls a recipe; the first that does so wins."""
    return entry.outcome.history is not None or entry.outcome.recipe is not None


def _left(entry: Judged, winner: Judged | None) -> Outcome:
    """What is left of an outcome when another hook of the same dialect has replaced the history or called a recipe."""
    if winner is None or entry.dialect is not winner.dialect:
        return entry.outcome
    outdone: Callable[[Outcome], Outcome] | None = special(entry.dialect.name, "OUTDONE")
    return outdone(entry.outcome) if outdone is not None else entry.outcome


def _lost(ordered: list[Judged], winner: Judged | None) -> list[Problem]:
    if winner is None:
        return []
    return [
        Problem(
            "action-lost",
            f"what `{entry.hook.name}` asked for is dropped",
            entry.hook.where(),
            f"`{winner.hook.name}` acted first",
            "Let one hook decide.",
            WARNING,
        )
        for entry in ordered
        if entry is not winner and (_acts(entry) or _left(entry, winner).follow_ups != entry.outcome.follow_ups)
    ]


def ignore_block(hook: Hook, row: EventRow, outcome: Outcome) -> Outcome:
    """Drop the block of a hook that has kept the agent working as often as its dialect allows."""
    problem = Problem(
        "bound-reached",
        f"`{hook.name}` has kept the agent working {row.bound} times in this turn; its block is ignored",
        hook.where(),
        outcome.reason or "",
        "Let the hook accept what the agent can reach, or the agent ends its turn without it.",
        WARNING,
    )
    return outcome.replace(verdict="none", reason=None, context=(), problems=(*outcome.problems, problem))


REFUSING = ("block", "ask")


def unless_exempt(context: Context, event: Event, hook: Hook, row: EventRow, outcome: Outcome) -> Outcome:
    """A refusal as it counts. It is dropped if the hook has kept the agent working as often as it may, or if a person
    lets exactly this call pass once. A gate that could not be started refuses if its user wants that."""
    if outcome.failure is not None and outcome.failure.cause == "not_started":
        from anyhook.gates.off_gates import closed_if_wanted

        outcome = closed_if_wanted(hook, row, outcome, context.routes.catalog)
    if outcome.verdict not in REFUSING:
        return outcome
    if outcome.verdict == BLOCK and hook.dialect in context.exhausted:
        return ignore_block(hook, row, outcome)
    if event.name != "pre_tool" or hook.scope == "managed" or context.recorder.rehearses:
        return outcome
    try:
        passed = _let_pass(context, event, hook, outcome)
    except Exception:  # noqa: BLE001 (nothing that goes wrong here opens a gate)
        return outcome
    if passed is None:
        return outcome
    return outcome.replace(verdict="none", reason=None, messages=(passed.what,), problems=(*outcome.problems, passed))


def _let_pass(context: Context, event: Event, hook: Hook, outcome: Outcome) -> Problem | None:
    """How a person has let this call pass; None if nobody has."""
    setup, folder = context.setup, context.setup.own_dir()
    if exists(f"{folder}/allowed"):
        from anyhook.state.approvals import key_of, use

        if use(folder, key_of(hook.id, setup.project, event.name, event.data)):
            what = f"`{hook.name}` refused this call, and a person let it pass once"
            return Problem("allowed-once", what, hook.where(), outcome.reason or "", severity=WARNING)
    if outcome.verdict == "ask" and exists(f"{folder}/granted"):
        from anyhook.state.approvals import is_granted

        session = str(event.data.get("session") or "")
        if session and lasts(hook) and is_granted(folder, context.host, session, setup.project, hook.id):
            what = f"`{hook.name}` asks no more in this session: a person said so"
            return Problem("allowed-for-session", what, hook.where(), outcome.reason or "", severity=WARNING)
    return None


# Combine: the decisions about the parts of one call → the decision about the call. One refused part refuses the whole
# call, and the reason names the part.


NAMED = ("command", "path")
"""The fields that name a part."""


def combine(
    parts: Sequence[tuple[Event, Decision]], given: dict[str, Json], rejoin: Rejoin | None
) -> tuple[Decision, bool]:
    """One decision, and whether a part's rewrite could not be put back."""
    event, decision = parts[deciding(parts)]
    verdict, reason = decision.verdict, decision.reason
    rewritten, lost = _rejoined(parts, given, rejoin)
    if decision.stops or verdict == "ask":
        reason = f"{_name(event)}: {reason or 'refused by a hook'}"
    elif verdict == "allow" and any(each.verdict != "allow" for _, each in parts):
        verdict, reason = NONE, None  # the call is allowed only if all parts are
    combined = decision.replace(
        verdict=verdict,
        reason=reason,
        tool_input=rewritten if rewritten is not given else None,
        tool_output=next((each.tool_output for _, each in parts if each.tool_output is not None), None),
        context=_distinct(each.context for _, each in parts),
        messages=_distinct(each.messages for _, each in parts),
        follow_ups=_distinct(each.follow_ups for _, each in parts),
        end_turn=any(each.end_turn for _, each in parts),
    )
    return combined, lost


def _rejoined(
    parts: Sequence[tuple[Event, Decision]], given: dict[str, Json], rejoin: Rejoin | None
) -> tuple[dict[str, Json], bool]:
    """The input of the call with the parts' rewrites, and whether one could not be put back."""
    rewritten, lost = given, False
    for index, (_, each) in enumerate(parts):
        if each.tool_input is not None:
            made = rejoin(rewritten, index, each.tool_input) if rejoin is not None else None
            lost, rewritten = lost or made is None, made or rewritten
    return rewritten, lost


def deciding(parts: Sequence[tuple[Event, Decision]]) -> int:
    """The index of the part with the strongest decision; the first of equals."""
    strengths = [(decision.stops, STRENGTH[decision.verdict]) for _, decision in parts]
    return strengths.index(max(strengths))


def _name(event: Event) -> str:
    given = event.data.get("input")
    for field in NAMED:
        if isinstance(given, dict) and given.get(field):
            return text_of(given[field])[:200]
    return str(event.data.get("tool"))


def _distinct(said: Iterable[Texts]) -> Texts:
    """Without repetitions, because the hooks of every part often say the same."""
    return Texts(dict.fromkeys(text for texts in said for text in texts))


def lasts(hook: Hook) -> bool:
    """Whether a person may answer once for the rest of a session: for a rule of theirs whose answer it is to ask."""
    return hook.condition is not None and hook.spec.get("then") == "ask" and hook.scope != "managed"
