"""The one place that prints: results on stdout, messages on stderr."""

from __future__ import annotations

import os
import sys

from anyhook.model import lean_json
from anyhook.model.words import NOT_MET, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anyhook.model.decision import Decision, Report
    from anyhook.model.json_types import JsonView
    from anyhook.model.problem import Problem

MARKS = {
    "ran": "·", "unmatched": "-", "untrusted": "?", "disabled": "-", "skipped": "-", "background": "~", "broken": "!",
}  # fmt: skip
ASCII = str.maketrans("…·×✗✓→—▏▎▍▌▋▊▉█▁▂▃▄▅▆▇", "~.xx+>-.:::::##_..::==")
"""ASCII replacements for our own marks and charts, each of the same width."""
ESCAPED_SIGNS = {mark: f"\\u{mark:04x}" for mark in ASCII}
"""The same characters in a text that is not ours."""
ONLY_ASCII = ("C", "POSIX")
MAX_SKIPPED = 2
"""If more hooks than this were skipped for the same reason, they share a line."""
AT_ONCE = 200
"""How many results are written at a time."""


def out(text: str, style: str = "") -> None:
    """A result for people. It may quote what a project wrote, which must not control the terminal."""
    shown = plain(text)
    if style:
        from anyhook.cli.view.console import styled

        shown = styled(shown, style)
    exact_out(shown)


def plain(text: str) -> str:
    """A text as `out` prints it, without a style."""
    return legible(_harmless(text))


def exact_out(text: str) -> bool:
    """Prints a result for programs; returns whether anyone reads it. A reader that has gone away is not an error."""
    if sys.stdout is None:  # closed when we started
        return False
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the rest of the buffer is dropped silently
        return False
    return True


def many_out(lines: Iterable[str]) -> bool:
    """Print many results without control characters, unchanged: each immediately on a terminal, otherwise in batches.
    Stops when the reader is gone; returns whether it is still there."""
    from itertools import islice

    at_once = 1 if sys.stdout is None or sys.stdout.isatty() else AT_ONCE
    lines = iter(lines)
    while some := [*islice(lines, at_once)]:
        if not exact_out("\n".join(some)):
            return False
    return True


def columns() -> int | None:
    """The width of the terminal; None if the output goes elsewhere, and then nothing is cut."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size((80, 24)).columns


def legible(text: str) -> str:
    """A text with marks that this terminal can show."""
    return text.translate(ASCII) if only_ascii() else text


def only_ascii() -> bool:
    """Whether the user's locale says that the terminal can only show ASCII."""
    said = os.environ.get("LC_ALL") or os.environ.get("LANG")
    # The interpreter itself sets LC_CTYPE to C.UTF-8 if the user's locale is C.
    return said in ONLY_ASCII and (os.environ.get("LC_CTYPE") or "C") in (*ONLY_ASCII, "C.UTF-8")


def piece(text: str, style: str = "") -> None:
    """Print a part of a line on a terminal, immediately."""
    from anyhook.cli.view.console import styled

    text = _harmless(text)
    try:
        body = text.removesuffix("\n")
        shown = styled(body, style) + text[len(body) :]
        # If the encoding lacks a character, show its number instead of dropping the line.
        sys.stdout.buffer.write(shown.encode(sys.stdout.encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except (OSError, ValueError, AttributeError):
        return  # the terminal is gone; a signal will end the session


def drawn_line(line: str) -> None:
    """Print a line that already has colours on a terminal."""
    try:
        sys.stdout.buffer.write(f"{line}\n".encode(sys.stdout.encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except (OSError, ValueError, AttributeError):
        return  # as above


def say(text: str, *, end: str = "\n") -> None:
    """Print a message. If stderr is closed, it is lost."""
    try:
        sys.stderr.write(f"{_harmless(text)}{end}")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return


def say_on_terminal(text: str) -> None:
    """Print a message on the terminal that this process was started from, even if a program hides our stderr. Without a
    terminal it is dropped."""
    import signal

    from anyhook.platform.above import open_terminal

    if sys.stderr is not None and sys.stderr.isatty():
        return  # stderr is the terminal
    try:
        # A terminal may stop background processes that write to it, and its user may have paused it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        terminal = open_terminal()
        try:
            os.write(terminal, f"\r\n{_harmless(text)}\r\n".encode("utf-8", "backslashreplace"))
        finally:
            os.close(terminal)
    except (OSError, AttributeError):
        return


def _harmless(text: str) -> str:
    if text.isprintable():
        return text
    from anyhook.cli.view.text import visible

    return visible(text, keep="\n\t")


def json_out(value: JsonView, indent: int | None = None) -> None:
    if indent is None:
        exact_out(lean_json.dumps(value))  # type: ignore[arg-type]  # it only reads
    else:
        exact_out(json_text(value, indent))


def json_text(value: JsonView, indent: int) -> str:
    """JSON for people and programs, without characters that control a terminal."""
    import json

    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join([char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text])


def short_path(path: str) -> str:
    """A path, relative to the current folder or with `~` if possible."""
    here, home = os.getcwd(), os.environ.get("HOME", "").rstrip("/")
    if path.startswith(f"{here}/"):
        return path[len(here) + 1 :]
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path


def problem_lines(problems: Sequence[Problem]) -> list[str]:
    """Problems as text, once each, even if two dialects read the same file."""
    lines: list[str] = []
    for problem in {(each.code, each.where, each.what): each for each in problems}.values():
        lines.append(f"{problem.severity}: {problem.where or 'anyhook'}: {problem.what} [{problem.code}]")
        if problem.why:
            lines.append(f"    why: {problem.why}")
        if problem.fix:
            lines.append(f"    fix: {problem.fix}")
    return lines


def decision_out(decision: Decision) -> None:
    """One line per hook, then the verdict and what comes with it."""
    for line in _report_lines(decision):
        out(line)
    for line in problem_lines(decision.problems):
        say(line)
    verdict: str = decision.verdict
    if decision.effect:
        verdict += f" ({decision.effect})"
    if not decision.enforced:
        verdict += ", not enforced: shadow mode"
    ran = any(report.status in ("ran", "broken", "background") for report in decision.hooks)
    out(f"{decision.event}: {verdict}" + ("" if ran else " — no hook ran"), verdict_style(decision.verdict))
    for line in _asked_for(decision):
        for part in [f"  {line}"] if columns() is None else _wrapped(line):
            out(part)


def verdict_style(verdict: Verdict) -> str:
    """Its colour, if the terminal has colours."""
    if sys.stdout is None or not sys.stdout.isatty():
        return ""
    from anyhook.cli.view.console import VERDICT_STYLES, wants_colour

    return VERDICT_STYLES[verdict] if wants_colour(os.environ) else ""


def _wrapped(line: str) -> list[str]:
    from anyhook.cli.view.console import prefixed

    return prefixed(line, "  ", "    ")


def _report_lines(decision: Decision) -> Iterator[str]:
    skipped = [report.why for report in decision.hooks if report.status == "skipped"]
    many = {why: skipped.count(why) for why in skipped if skipped.count(why) > MAX_SKIPPED}
    for report in decision.hooks:
        if report.why != NOT_MET and not (report.status == "skipped" and report.why in many):
            yield _report_line(report, decision.verdict)
    for why, count in many.items():
        yield f"- {count} others skipped: {why}"
    if unmet := sum(report.why == NOT_MET for report in decision.hooks):
        yield f"- {unmet} {'rule does' if unmet == 1 else 'rules do'} not apply"


def _asked_for(decision: Decision) -> Iterator[str]:
    """What comes with the verdict."""
    if decision.reason:
        yield f"reason: {decision.reason}"
    for title, value in (("input", decision.tool_input), ("output", decision.tool_output), ("prompt", decision.prompt)):
        if value is not None:
            yield f"{title} → {value if isinstance(value, str) else lean_json.dumps(value, ensure_ascii=False)}"
    said = {"context": decision.context, "message": decision.messages, "follow-up": decision.follow_ups}
    yield from (f"{title}: {text}" for title, texts in said.items() for text in texts)
    if decision.history is not None:
        yield f"history → {len(decision.history)} message(s)"
    if decision.recipe is not None:
        yield f"recipe → {decision.recipe.get('name')}"
    if decision.end_turn:
        yield "the turn ends"


def _report_line(report: Report, verdict: str) -> str:
    mark = "✗" if report.verdict == "block" else MARKS[report.status]
    line = f"{mark} {report.id}  {report.status}"
    if report.ending and report.ending != "exited":
        line += f", {report.ending.replace('_', ' ')}"
    elif report.exit_code is not None:
        line += f", exit {report.exit_code}"
    if report.duration_ms is not None:
        line += f", {report.duration_ms:.0f} ms"
    if report.verdict == "block" and (report.shadow or verdict != "block"):
        line += ": would refuse, but is in shadow mode"
    return f"{line}: {report.why}" if report.why else line
