"""`anyhook list`: the catalog, in order."""

from __future__ import annotations

from anyhook.cli.catalog_input import catalog_of, setup_of
from anyhook.cli.options import ProjectJsonOptions
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.model.hook import ARMED, BROKEN, CHANGED, UNTRUSTED, Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.json_types import Json


@verb("list", ProjectJsonOptions, "anyhook list --dialect kodik")
def list_(options: ProjectJsonOptions) -> int:
    """Show every hook, in the order in which they run: which are armed, which wait for approval, which are broken."""
    from anyhook.walk.inspect import missing_program

    setup = setup_of(options)
    catalog = catalog_of(options)
    hooks = []
    # What a product brings along is no news to those who never use it; whoever names the dialect sees it in the row.
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
    for line in lines(hooks):
        render.out(line)
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


def lines(hooks: list[Hook]) -> Iterator[str]:
    """The catalog as a person reads it."""
    if not hooks:
        yield "No hooks. `anyhook new` writes one; `anyhook dialects` shows where each dialect looks."
        return
    width = max(len(hook.id) for hook in hooks)
    for hook in hooks:
        event = hook.native_event or "unknown event"
        line = f"{hook.status:<10}{hook.id:<{width}}  {event}{_matcher(hook.matcher)}"
        # That a hook waits for its user is said once, below.
        waits = hook.status in (UNTRUSTED, CHANGED)
        yield line + (f"  ({hook.why})" if hook.why and not waits else "")
    waiting = sum(hook.status in (UNTRUSTED, CHANGED) for hook in hooks)
    if waiting:
        yield f"{waiting} of them wait for approval: anyhook trust"


def _matcher(matcher: Json) -> str:
    if isinstance(matcher, dict):
        return "".join(f" {key}={value}" for key, value in matcher.items())
    return "" if matcher in (None, "", "*") else f" {matcher}"
