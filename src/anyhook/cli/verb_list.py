"""`anyhook list`: the catalog, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group

from anyhook.cli.catalog_input import catalog_of, setup_of
from anyhook.cli.options import ProjectJsonOptions
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.cli.view.console import cell, grid, show
from anyhook.cli.view.styles import BAD, FAINT, GOOD, WARN
from anyhook.model.hook import ARMED, BROKEN, CHANGED, DISABLED, UNTRUSTED, Hook
from anyhook.walk.inspect import missing_program

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anyhook.model.json_types import Json

WAITING = (UNTRUSTED, CHANGED)
STYLES = {ARMED: GOOD, BROKEN: BAD, UNTRUSTED: WARN, CHANGED: WARN, DISABLED: FAINT}


@verb("list", ProjectJsonOptions, "anyhook list --dialect kodik")
def list_(options: ProjectJsonOptions) -> int:
    """List every hook, in the order they run: which are armed, which wait for approval, which are broken."""
    setup = setup_of(options)
    catalog = catalog_of(options)
    hooks = []
    # Built-in hooks of a product are listed apart, unless its dialect is named.
    apart = [] if options.dialect else [hook for hook in catalog.hooks if hook.scope == "builtin"]
    for hook in [hook for hook in catalog.hooks if hook not in apart]:
        why = missing_program(hook, setup) if hook.status == ARMED else ""
        hooks.append(hook.replace(status=BROKEN, why=why) if why else hook)
    if options.json:
        problems: list[Json] = [dict(problem.as_dict()) for problem in catalog.problems]
        listed: list[Json] = [as_dict(hook) for hook in hooks]
        built_in: list[Json] = [as_dict(hook) for hook in apart]
        render.json_out({"hooks": listed, "builtins": built_in, "problems": problems}, indent=2)
        return 0
    show(hook_table(hooks))
    for hook in apart:
        render.out(f"built in: {hook.id}  {hook.native_event}" + ("  (disabled)" if hook.status != ARMED else ""))
    for line in render.problem_lines(catalog.problems):
        render.say(line)
    return 0


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


def hook_table(hooks: list[Hook]) -> RenderableType:
    """The catalog as a person reads it."""
    if not hooks:
        return cell("No hooks. `anyhook new` writes one; `anyhook dialects` shows where each dialect looks.")
    table = grid()
    table.add_column(min_width=8, no_wrap=True)
    table.add_column(overflow="fold")  # an id is there to be copied: it is never cut
    table.add_column(overflow="fold")
    for hook in hooks:
        event = f"{hook.native_event or 'unknown event'}{_matcher(hook.matcher)}"
        # That a hook waits for approval is shown once, below.
        why = f"  ({hook.why})" if hook.why and hook.status not in WAITING else ""
        above = f"  from {hook.project}" if hook.project else ""
        table.add_row(cell(hook.status, STYLES.get(hook.status, "")), cell(hook.id), cell(f"{event}{why}{above}"))
    waiting = sum(hook.status in WAITING for hook in hooks)
    return Group(table, cell(f"{waiting} of them wait for approval: anyhook trust")) if waiting else table


def _matcher(matcher: Json) -> str:
    if isinstance(matcher, dict):
        return "".join(f" {key}={value}" for key, value in matcher.items())
    return "" if matcher in (None, "", "*") else f" {matcher}"
