"""A record of the journal as a person reads it: one line in the log, or everything about it. It prints nothing."""

from __future__ import annotations

import shlex
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

ASKED_FOR = ("tool_input", "tool_output", "prompt", "context", "messages", "follow_ups", "history", "recipe")
OUTPUT_MOST = 20
"""How many lines of a hook's output are shown."""


def table(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def rows(value: Json) -> list[dict[str, Json]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def when(at: Json, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    try:
        return time.strftime(form, time.localtime(at / 1e9)) if isinstance(at, int) else "?"
    except (OverflowError, ValueError, OSError):
        return "?"


def record_line(record: dict[str, Json]) -> str:
    """One line: number, time, event, tool, verdict, who blocked and why, how long the hooks took."""
    start = f"{_number(record):>7}  {when(record.get('at'))}"
    if "background" in record:
        run = table(record.get("run"))
        return f"{start}  background  {record['background']}  {run.get('ending')}{_took(run)}"
    decision, tool = table(record.get("decision")), table(record.get("data")).get("tool")
    line = f"{start}  {record.get('event')}" + (f" {tool}" if tool else "") + f"  {_verdict(decision)}"
    if decision.get("hook"):
        reason = str(decision.get("reason")).split("\n", 1)[0]
        line += f" by {decision['hook']}: {reason}"
    if decision.get("enforced") is False:
        line += "  (shadow)"
    if record.get("events"):
        line += f"  × {record['events']}"
    spent = sum(_seconds(table(call.get("run"))) for call in rows(record.get("calls")))
    return f"{line}  {spent * 1000:.0f} ms" if spent else line


def damaged_line(line: bytes) -> str:
    """What is said of a line that is no record."""
    return f"a line of the journal is damaged: {line[:60].decode('utf-8', 'replace')!r}"


def _verdict(decision: dict[str, Json]) -> str:
    """The verdict; of a block that stopped nothing, what it would have done."""
    verdict = str(decision.get("verdict"))
    return "would block" if verdict == "block" and decision.get("enforced") is False else verdict


def _number(record: dict[str, Json]) -> str:
    return str(record.get("n", "-"))


def _seconds(run: dict[str, Json]) -> float:
    spent = run.get("duration_s")
    return float(spent) if isinstance(spent, (int, float)) else 0.0


def _took(run: dict[str, Json]) -> str:
    return f"  {_seconds(run) * 1000:.0f} ms" if run.get("duration_s") is not None else ""


def record_page(record: dict[str, Json]) -> list[str]:
    """Everything: who fired what, every hook with its place, its call, its end and its words, and what came of it."""
    lines = [f"record {_number(record)}, {when(record.get('at'))}"]
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
    hooks = rows(decision.get("hooks"))
    lines.append("hooks" if hooks else "no hook was considered")
    for row in hooks:
        lines.extend(_hook_lines(row, calls.pop(str(row.get("id")), None)))
    for identity, call in calls.items():  # a product's own hook that had nothing to say
        lines.extend([f"  · {identity}  ran", *_call_lines(call)])
    return [*lines, *_decision_lines(decision)]


def _hook_lines(row: dict[str, Json], call: dict[str, Json] | None) -> list[str]:
    verdict = row.get("verdict")
    mark = "✗" if verdict == "block" else "·" if row.get("status") == "ran" else "-"
    line = f"  {mark} {row.get('id')}  {row.get('status')}"
    if row.get("why"):
        line += f": {row['why']}"
    lines = [line]
    if row.get("source"):
        lines.append(f"      from    {row['source']}")
    if call is not None:
        lines.extend(_call_lines(call))
    if verdict not in (None, "none"):
        lines.append(f"      asks    {verdict}")
    return lines


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
    lines.append(f"      end     {end}, {_took(run).strip()}".removesuffix(", "))
    for stream in ("stdout", "stderr"):
        lines.extend(_output_lines(stream, str(run.get(stream) or "")))
    return lines


def _output_lines(stream: str, text: str) -> list[str]:
    said = text.rstrip("\n").split("\n") if text.strip() else []
    shown = [f"      {stream if not number else '':<7} {line}" for number, line in enumerate(said[:OUTPUT_MOST])]
    rest = len(said) - OUTPUT_MOST
    return [*shown, f"              … {rest} more lines"] if rest > 0 else shown


def _decision_lines(decision: dict[str, Json]) -> list[str]:
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
        lines.append("  told to the host, which stops by this effect")
    for problem in rows(decision.get("problems")):
        lines.append(f"  problem  {problem.get('where')}: {problem.get('what')} [{problem.get('code')}]")
        lines.extend(f"           {word}: {problem[word]}" for word in ("why", "fix") if problem.get(word))
    return lines


def _short(value: Json) -> str:
    from anyhook.model import lean_json

    text = value if isinstance(value, str) else lean_json.dumps(value, False)
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text)} characters)"
