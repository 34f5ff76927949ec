"""What `--debug` shows about the agent's hooks: the lines that a dialect's documentation shows for this flag, and below
them a hook's input and its stderr."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from anyhook.cli.view.text import visible
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.firing import Firing, HookRun
from anyhook.tables.registry import DIALECTS, dialect, module_of, part

MAX_SHOWN = 4000
"""How many characters of a hook's input, and of its stderr, are shown."""


def debugged(env: Mapping[str, str], *, debug: bool) -> frozenset[str]:
    """The dialects whose hooks are shown: all of them, or those whose own variable asks for it."""
    if debug:
        return frozenset(DIALECTS)
    asks: dict[str, Callable[[Mapping[str, str]], bool] | None] = {
        name: part(module_of(name), "wants_debug") for name in DIALECTS
    }
    return frozenset(name for name, wants in asks.items() if wants is not None and wants(env))


def debug_lines(firing: Firing, dialects: Collection[str]) -> Iterator[str]:
    """What happened in one event, hook by hook."""
    for each in firing.parts:
        for run in each.runs:
            if run.hook.dialect in dialects and run.hook.scope != "builtin":
                yield from _run_lines(run, each.event, each.decision)


def _run_lines(ran: HookRun, event: Event, decision: Decision) -> Iterator[str]:
    hook, run = ran.hook, ran.run
    row = dialect(hook.dialect).row_for(event.name)
    mode = "ASYNC" if run is None else "SYNC"
    native = row.native if row is not None else event.name
    yield f"[HOOK DEBUG] [{mode}] Starting hook '{hook.name}' for event '{native}'"
    yield from _block("input", ran.call.stdin)
    if run is None:
        return
    blocked = any(report.id == hook.id and report.verdict == "block" for report in decision.hooks)
    yield f"[HOOK DEBUG] [{mode}] Completed hook '{hook.name}' in {int(run.duration_s * 1000)}ms: blocked={blocked}"
    if blocked and decision.hook == hook.id:
        yield f"[HOOK DEBUG] Reason: {decision.reason}"
    yield from _block("stderr", run.stderr)
    if ran.cause:
        yield f"  failed: {visible(ran.cause)}"


def _block(title: str, data: bytes) -> Iterator[str]:
    text = data.decode("utf-8", "replace").strip()
    rest = len(text) - MAX_SHOWN
    if rest > 0:
        text = f"{text[:MAX_SHOWN]} [cut: {rest:,} more characters]"
    for number, line in enumerate(text.split("\n") if text else []):
        yield f"  {title + ':' if number == 0 else '':<{len(title) + 1}} {visible(line)}"
