"""A record of the journal as text, with everything about it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator

from anyhook.journal.read import JournalLine, RecordedCall, RecordedDecision, RecordedHook, whole_number
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.replay.hook_requests import HookRequest, requests_of

ASKED_FOR = ("tool_input", "tool_output", "prompt", "context", "messages", "follow_ups", "history", "recipe")
OURS = ("fire", "library")
"""Who fired, for programs that we do not know by name."""
MAX_OUTPUT = 20
"""How many lines of a hook's output are shown."""
GOES_ON = "\n" + " " * 11
MAX_LINE = 400
"""How many characters of one text are shown; `--json` has all of it."""


def when(at: Json, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    try:
        return time.strftime(form, time.localtime(at / 1e9)) if isinstance(at, int) else "?"
    except (OverflowError, ValueError, OSError):
        return "?"


def short_time(at: int) -> str:
    """In eight characters: the time if it was today, otherwise the date."""
    today = when(at, "%Y-%m-%d") == time.strftime("%Y-%m-%d")
    return f"{when(at, '%H:%M:%S' if today else '%d %b') if at else '':<8}"


def span(seconds: float) -> str:
    """A duration with the unit that suits it."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{round(seconds, 1):g} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def record_page(line: JournalLine) -> list[str]:
    """Everything: who fired what, every hook with its place, call, ending and output, and the result. Quoted text of
    several lines is indented, so that none of its lines looks like ours."""
    return [each.replace("\n", GOES_ON) for each in _page(line)]


def tone(line: str) -> str:
    """How a line of the page is highlighted: `bad`, `warn`, `strong` or not at all."""
    if line.startswith(("  ✗", "decision  block")):
        return "bad"
    return "warn" if line.startswith("  !") else "" if line.startswith(" ") else "strong"


def _page(line: JournalLine) -> list[str]:
    record = line.record or {}
    lines = [f"record {record.get('n', '-')}, {when(line.at_ns, '%Y-%m-%d %H:%M:%S %Z')}"]
    if line.background is not None:
        return [*lines, f"background run of {line.background}", *_call_lines(line.calls[0])]
    lines.append(f"  event    {line.event}, fired by {line.host}, mode {line.mode}")
    lines.append(f"  project  {line.project}")
    lines.append(f"  session  {line.session}")
    lines.extend(f"  {key:<8} {_short(value)}" for key, value in line.data.items() if key != "session")
    if line.lost:
        lines.append(f"  lost     the event's data: {line.lost}")
    decision = line.decision
    unmet = whole_number(decision.raw.get("unmet")) or 0 if decision is not None else 0
    has_hooks = unmet or (decision is not None and decision.hooks)
    lines += ["hooks" if has_hooks else "no hook was considered", *_considered(line)]
    if unmet:
        lines.append(f"  - {unmet} {'rule did' if unmet == 1 else 'rules did'} not apply")
    host = "the program that fired" if line.host in OURS else str(line.host)
    return [*lines, *(_decision_lines(decision, host) if decision is not None else ["decision  None"])]


def _considered(line: JournalLine) -> Iterator[str]:
    """Every hook of the event, with what it was asked and what became of its answer."""
    calls: dict[str, list[RecordedCall]] = {}
    for call in line.calls:
        calls.setdefault(call.hook, []).append(call)
    requests = requests_of(line)
    for hook in line.decision.hooks if line.decision is not None else ():
        yield from _hook_lines(hook, calls.pop(hook.id, []), requests.get(hook.id))
        for each in hook.earlier:
            record = f"record {each.record + line.offset}" if each.record is not None else "a call without a record"
            yield f"      after   {record}: call {each.call} of the session, at {when(each.at_ns, '%H:%M:%S')}"
    for identity, asked in calls.items():  # a product's built-in hook that did nothing
        yield f"  · {identity}  ran"
        for call in asked:
            yield from _call_lines(call)


def _hook_lines(hook: RecordedHook, calls: list[RecordedCall], requests: list[HookRequest] | None) -> list[str]:
    broken = any(call.cause for call in calls)
    mark = "✗" if hook.verdict == "block" else "!" if broken else "·" if hook.status == "ran" else "-"
    lines = [f"  {mark} {hook.id}  {hook.status}" + (f": {hook.why}" if hook.why else "")]
    if hook.source:
        lines.append(f"      from    {hook.source}")
    for call in calls:
        lines.extend(_call_lines(call))
    if requests is not None:
        lines.extend(map(_request_line, requests))
    elif hook.verdict not in (None, "none"):
        lines.append(f"      asks    {hook.verdict}")
    if hook.shadow and hook.verdict in ("block", "ask"):
        lines.append(f"      in shadow mode: it would {hook.verdict}, and does not count")
    return lines


def _request_line(request: HookRequest) -> str:
    said = _short(request.value)
    asks = said if request.field == "verdict" else f"{request.field} {said}"
    return f"      asks    {asks}" + (f" ({request.became})" if request.became else "")


def _call_lines(call: RecordedCall) -> list[str]:
    run = call.run
    word = "again" if call.again else "run"
    lines = [f"      {word:<7} {None if call.argv is None else shlex.join(call.argv)}", f"      in      {call.cwd}"]
    if call.limit_s is not None:
        lines[-1] += f", at most {round(call.limit_s, 1):g} s"
    if run is None:
        return [*lines, "      end     in the background; its run is a separate record"]
    end = run.ending.replace("_", " ") or "unknown"
    if run.exit_code is not None:
        end += f", status {run.exit_code}"
    if run.error:
        end += f": {run.error}"
    if call.cause:
        end += f" (a failure: {call.cause.replace('_', ' ')})"
    took = "" if run.duration_s is None else f", {span(run.duration_s)}"
    lines.append(f"      end     {end}{took}")
    for stream, said in (("stdout", run.stdout), ("stderr", run.stderr)):
        lines.extend(_output_lines(stream, str(said or "")))
    return lines


def _output_lines(stream: str, text: str) -> list[str]:
    said = text.rstrip("\n").split("\n") if text.strip() else []
    shown = [f"      {stream if not number else '':<7} {_short(line)}" for number, line in enumerate(said[:MAX_OUTPUT])]
    rest = len(said) - MAX_OUTPUT
    return [*shown, f"              … {rest} more lines"] if rest > 0 else shown


def _decision_lines(decision: RecordedDecision, host: str) -> list[str]:
    verdict = str(decision.verdict)
    if decision.effect:
        verdict += f" ({decision.effect})"
    if decision.hook:
        verdict += f", by {decision.hook}"
    lines = [f"decision  {verdict}"]
    if decision.answered:
        lines.append(f"  answered by a person ({decision.answered.get('by')})")
    if decision.reason:
        lines.append(f"  reason   {decision.reason}")
    asked = [field for field in ASKED_FOR if field in decision.asked]
    lines.extend(f"  {field:<8} {_short(decision.asked[field])}" for field in asked)
    if decision.asked.get("end_turn"):
        lines.append("  the turn ends")
    if not decision.enforced:
        lines.append("  not enforced: shadow mode, so the host went on as if there were no hooks")
    elif verdict.startswith("block"):
        lines.append(f"  told to {host}, which stops by this effect")
    elif asked:
        lines.append(f"  told to {host}")
    for problem in decision.problems:
        lines.append(f"  problem  {problem.where}: {problem.what} [{problem.code}]")
        lines.extend(
            f"           {word}: {said}" for word, said in (("why", problem.why), ("fix", problem.fix)) if said
        )
    return lines


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else lean_json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}… ({len(text):,} characters)"
