"""`anyhook list`: the catalog, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType

from anyhook.cli import render
from anyhook.cli.catalog_input import setup_of
from anyhook.cli.options import ProjectJsonOptions, TrustOption
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import BAD, FAINT, GOOD, WARN, cell, grid, show
from anyhook.cli.view.text import cut
from anyhook.engine.catalog import build
from anyhook.engine.match import Catalog
from anyhook.gates.check import unread_files
from anyhook.gates.gate import GateStatus
from anyhook.gates.inspect import missing_program
from anyhook.gates.status import cannot_start, gates
from anyhook.model.hook import ARMED, BROKEN, CHANGED, DISABLED, UNTRUSTED, Hook
from anyhook.model.json_types import Json
from anyhook.model.problem import Problem
from anyhook.state.plans import Setup

WAITING = (UNTRUSTED, CHANGED)
MAX_MATCHER = 60
"""A rule may have a long condition; `--json` and `anyhook guards --rules` show more."""
MAX_UNREAD = 10
"""A folder may hold many plug-ins."""
STYLES = {ARMED: GOOD, BROKEN: BAD, UNTRUSTED: WARN, CHANGED: WARN, DISABLED: FAINT}


class ListOptions(TrustOption, ProjectJsonOptions):
    """`anyhook list`."""


@verb("list", ListOptions, "anyhook list --dialect kodik")
def list_(options: ListOptions) -> int:
    """List every hook, in the order they run: which are armed, which wait for approval, which are broken."""
    setup = setup_of(options, options.trust)
    catalog = build(setup, may_start=False).with_lines()
    states = {gate.id: gate for gate in gates(setup, catalog)}
    # A product's built-in hooks are listed separately, unless its dialect is named.
    apart = [] if options.dialect else [hook for hook in catalog.hooks if hook.scope == "builtin"]
    hooks = [_as_it_starts(hook, setup, catalog) for hook in catalog.hooks if hook not in apart]
    unread = unread_files(setup) if not options.dialect else []
    if options.json:
        problems = [problem.as_dict() for problem in (*catalog.problems, *unread)]
        listed = [{**as_dict(hook), "state": _state(hook, states)} for hook in hooks]
        render.json_out({"hooks": listed, "builtins": [*map(as_dict, apart)], "problems": problems}, indent=2)
        return 0
    show(hook_table(hooks, states, catalog.gone))
    for hook in apart:
        render.out(f"built in: {hook.id}  {hook.native_event}" + ("  (disabled)" if hook.status != ARMED else ""))
    for line in render.problem_lines(catalog.problems):
        render.say(line)
    _tell_unread(unread)
    return 0


def _as_it_starts(hook: Hook, setup: Setup, catalog: Catalog) -> Hook:
    """The hook; as a broken one, if its program cannot be started."""
    if hook.status != ARMED:
        return hook
    why = cannot_start(hook, setup, catalog) if hook.handler == "command" else missing_program(hook, setup)
    return hook.replace(status=BROKEN, why=why) if why else hook


def _tell_unread(unread: Sequence[Problem]) -> None:
    for problem in unread[:MAX_UNREAD]:
        render.say(f"not read: {render.short_path(problem.where)}: {problem.what}")
    if len(unread) > MAX_UNREAD:
        render.say(f"not read: {len(unread) - MAX_UNREAD} more; `anyhook check` names them")


def _state(hook: Hook, states: Mapping[str, GateStatus]) -> str | None:
    """The gate state of a hook; None for a hook that cannot block."""
    return states[hook.id].state if hook.id in states else None


def as_dict(hook: Hook) -> dict[str, Json]:
    """A hook as `list --json` shows it."""
    return {
        "id": hook.id,
        "name": hook.name,
        "dialect": hook.dialect,
        "scope": hook.scope,
        "source": hook.where(),
        "events": list(hook.events),
        "native_events": [hook.native_event or "unknown"],
        "matcher": hook.matcher,
        "handler": hook.handler,
        "limit_ms": round(hook.limit_s * 1000),
        "async": hook.background,
        "priority": hook.priority,
        "status": hook.status,
        "why": hook.why,
    }


def hook_table(hooks: list[Hook], states: Mapping[str, GateStatus], gone: Sequence[Hook] = ()) -> RenderableType:
    """The catalog as a table, with guards that are gone since their approval."""
    lost = [hook.replace(status=CHANGED) for hook in gone if hook.id in states]
    if not hooks and not lost:
        return cell("No hooks. `anyhook new` writes one; `anyhook dialects` shows where each dialect looks.")
    table = grid()
    table.add_column(min_width=8, no_wrap=True)
    table.add_column(overflow="fold")  # people copy ids, so they are never cut
    table.add_column(overflow="fold")
    for hook in (*hooks, *lost):
        event = f"{hook.native_event or 'unknown event'}{_matcher(hook.matcher)}"
        why = _why(hook, states.get(hook.id), shown=hook in lost)
        above = f"  from {hook.project}" if hook.project else ""
        table.add_row(cell(hook.status, STYLES.get(hook.status, "")), cell(hook.id), cell(f"{event}{why}{above}"))
    waiting = sum(hook.status in WAITING for hook in (*hooks, *lost))
    return Group(table, cell(f"{waiting} of them wait for approval: anyhook trust")) if waiting else table


def _why(hook: Hook, gate: GateStatus | None, *, shown: bool) -> str:
    """Why a hook is in its state. That it waits for approval is shown once, below the table."""
    if gate is not None and hook.status == ARMED and gate.why:
        return f"  ({gate.why})" if gate.state == "armed" else f"  ({gate.state}: {gate.why})"
    return f"  ({hook.why})" if hook.why and (shown or hook.status not in WAITING) else ""


def _matcher(matcher: Json) -> str:
    if isinstance(matcher, dict):
        return "".join(f" {key}={cut(' '.join(str(value).split()), MAX_MATCHER)}" for key, value in matcher.items())
    return "" if matcher in (None, "", "*") else f" {matcher}"
