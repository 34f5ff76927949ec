"""A record of the journal as a person reads it, with everything about it. It prints nothing."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

from anyhook.journal.read import seconds
from anyhook.model import lean_json
from anyhook.replay.hook_requests import asked_for

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.replay.hook_requests import Asked

ASKED_FOR = ("tool_input", "tool_output", "prompt", "context", "messages", "follow_ups", "history", "recipe")
OURS = ("fire", "library")
"""Who fires for a program that we do not know by name."""
MAX_OUTPUT = 20
"""How many lines of a hook's output are shown."""
GOES_ON = "\n" + " " * 11
MAX_LINE = 400
"""How much of one text is shown; `--json` has the rest."""


def table(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def rows(value: Json) -> list[dict[str, Json]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def when(at: Json, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    try:
        return time.strftime(form, time.localtime(at / 1e9)) if isinstance(at, int) else "?"
    except (OverflowError, ValueError, OSError):
        return "?"


def short_time(at: int) -> str:
    """In eight letters: the time today, else the day."""
    today = when(at, "%Y-%m-%d") == time.strftime("%Y-%m-%d")
    return f"{when(at, '%H:%M:%S' if today else '%d %b') if at else '':<8}"


def span(seconds: float) -> str:
    """A duration with the unit that suits it."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def _took(run: dict[str, Json]) -> str:
    return f", {span(seconds(run.get('duration_s')))}" if run.get("duration_s") is not None else ""


def record_page(record: dict[str, Json]) -> list[str]:
    """Everything: who fired what, every hook with its place, its call, its end and its words, and what came of it. What
    others wrote in several lines is set in, so that none of theirs looks like one of ours."""
    return [line.replace("\n", GOES_ON) for line in _page(record)]


def tone(line: str) -> str:
    """How a line of the page stands out: `bad`, `warn`, `strong` or not at all."""
    if line.startswith(("  ✗", "decision  block")):
        return "bad"
    return "warn" if line.startswith("  !") else "" if line.startswith(" ") else "strong"


def _page(record: dict[str, Json]) -> list[str]:
    lines = [f"record {record.get('n', '-')}, {when(record.get('at'), '%Y-%m-%d %H:%M:%S %Z')}"]
    if "background" in record:
        call: dict[str, Json] = {**record, "hook": record["background"]}
        return [*lines, f"background run of {record['background']}", *_call_lines(call)]
    lines.append(f"  event    {record.get('event')}, fired by {record.get('host')}, mode {record.get('mode')}")
    lines.append(f"  project  {record.get('project')}")
    lines.append(f"  session  {record.get('session')}")
    lines.extend(f"  {key:<8} {_short(value)}" for key, value in table(record.get("data")).items() if key != "session")
    if record.get("lost"):
        lines.append(f"  lost     the event's data: {record['lost']}")
    decision = table(record.get("decision"))
    calls = {str(call.get("hook")): call for call in rows(record.get("calls"))}
    hooks, asked = rows(decision.get("hooks")), asked_for(record)
    lines.append("hooks" if hooks else "no hook was considered")
    for row in hooks:
        identity = str(row.get("id"))
        lines.extend(_hook_lines(row, calls.pop(identity, None), asked.get(identity)))
    for identity, call in calls.items():  # a product's own hook that had nothing to say
        lines.extend([f"  · {identity}  ran", *_call_lines(call)])
    host = "the program that fired" if record.get("host") in OURS else str(record.get("host"))
    return [*lines, *_decision_lines(decision, host)]


def _hook_lines(row: dict[str, Json], call: dict[str, Json] | None, asked: list[Asked] | None) -> list[str]:
    verdict = row.get("verdict")
    broken = call is not None and call.get("failed")
    mark = "✗" if verdict == "block" else "!" if broken else "·" if row.get("status") == "ran" else "-"
    line = f"  {mark} {row.get('id')}  {row.get('status')}"
    if row.get("why"):
        line += f": {row['why']}"
    lines = [line]
    if row.get("source"):
        lines.append(f"      from    {row['source']}")
    if call is not None:
        lines.extend(_call_lines(call))
    if asked is not None:
        lines.extend(_asked_line(*each) for each in asked)
    elif verdict not in (None, "none"):
        lines.append(f"      asks    {verdict}")
    return lines


def _asked_line(field: str, value: Json, became: str) -> str:
    said = _short(value) if field == "verdict" else f"{field} {_short(value)}"
    return f"      asks    {said}" + (f" ({became})" if became else "")


def _call_lines(call: dict[str, Json]) -> list[str]:
    argv, run = call.get("argv"), table(call.get("run"))
    words = shlex.join(str(word) for word in argv) if isinstance(argv, list) else str(argv)
    limit = call.get("limit_s")
    lines = [f"      run     {words}", f"      in      {call.get('cwd')}"]
    if limit is not None:
        lines[-1] += f", at most {limit} s"
    if not run:
        return [*lines, "      end     in the background; its run is a record of its own"]
    end = str(run.get("ending")).replace("_", " ")
    if run.get("exit_code") is not None:
        end += f", status {run['exit_code']}"
    if run.get("error"):
        end += f": {run['error']}"
    if call.get("failed"):
        end += f" (a failure: {str(call['failed']).replace('_', ' ')})"
    lines.append(f"      end     {end}{_took(run)}")
    for stream in ("stdout", "stderr"):
        lines.extend(_output_lines(stream, str(run.get(stream) or "")))
    return lines


def _output_lines(stream: str, text: str) -> list[str]:
    said = text.rstrip("\n").split("\n") if text.strip() else []
    shown = [f"      {stream if not number else '':<7} {_short(line)}" for number, line in enumerate(said[:MAX_OUTPUT])]
    rest = len(said) - MAX_OUTPUT
    return [*shown, f"              … {rest} more lines"] if rest > 0 else shown


def _decision_lines(decision: dict[str, Json], host: str) -> list[str]:
    verdict = str(decision.get("verdict"))
    if decision.get("effect"):
        verdict += f" ({decision['effect']})"
    if decision.get("hook"):
        verdict += f", by {decision['hook']}"
    lines = [f"decision  {verdict}"]
    if decision.get("reason"):
        lines.append(f"  reason   {decision['reason']}")
    lines.extend(f"  {key:<8} {_short(decision[key])}" for key in ASKED_FOR if key in decision)
    if decision.get("end_turn"):
        lines.append("  the turn ends")
    if decision.get("enforced") is False:
        lines.append("  not enforced: shadow mode, so the host went on as if there were no hooks")
    elif verdict.startswith("block"):
        lines.append(f"  told to {host}, which stops by this effect")
    elif any(key in decision for key in ASKED_FOR):
        lines.append(f"  told to {host}")
    for problem in rows(decision.get("problems")):
        lines.append(f"  problem  {problem.get('where')}: {problem.get('what')} [{problem.get('code')}]")
        lines.extend(f"           {word}: {problem[word]}" for word in ("why", "fix") if problem.get(word))
    return lines


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else lean_json.dumps(value, False)
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}… ({len(text):,} characters)"
