"""Explain: one hook and one event → what would be started, or why it would not. It starts nothing."""

from __future__ import annotations

from anyhook.engine.match import HookStep, match
from anyhook.engine.present import present, stdin_of
from anyhook.engine.rules import Rules
from anyhook.journal.journal import Trace
from anyhook.model.decision import idle_report
from anyhook.model.event import Event
from anyhook.model.hook import ASKING, Hook
from anyhook.model.json_types import Json
from anyhook.tables.isolation import error_line
from anyhook.tables.rows import Scene

SAYS_WHAT_IT_DOES = ("callable", "function", "prompt", "url", "file", "condition")
"""One word or line that says what a handler does, if it is not a command."""


def explain(step: HookStep, event: Event, scene: Scene, model: str = "", rules: Rules | None = None) -> dict[str, Json]:
    """A record as `fire` reports it, with the call in place of the run. `model` is the model it would ask; `rules`
    evaluates rules. A hook that cannot be explained hides no other."""
    try:
        return _explained(step, event, scene, model, rules)
    except Exception as error:  # noqa: BLE001 (one hook's failure, even ours, does not affect others)
        made = _row(step.hook, f"it cannot be explained ({error_line(error)})")
        made.update(status="broken", would_run=False, limit_ms=None, argv=None, env=[], cwd=scene.project, stdin="")
        return made


def _row(hook: Hook, why: str) -> dict[str, Json]:
    """A hook that does not run, as `fire` reports it."""
    return idle_report(hook, why).as_dict()


def _why_not(step: HookStep, event: Event, scene: Scene, rules: Rules | None) -> tuple[HookStep, str]:
    """Why a hook would not run, or ""; and its step, with the line that it would run."""
    hook = step.hook
    why = hook.why if hook.status == "broken" else step.why
    if why is None and rules is not None:
        why = rules.explain(step, event)
        step = step if why else rules.with_line(step, event)
    elif why is None:
        unmatched, failed = match(hook, step.dialect, step.row, scene.event, event)
        why = unmatched or failed
    if not hook.native_event and not why:
        why = "its event is unknown until anyhook asks it, which happens when an event is fired"
    return step, why


def _explained(step: HookStep, event: Event, scene: Scene, model: str, rules: Rules | None) -> dict[str, Json]:
    step, why = _why_not(step, event, scene, rules)
    hook = step.hook
    made = _row(hook, why)
    made["would_run"] = not why
    made["limit_ms"] = round(hook.limit_s * 1000)
    if not why:
        made["status"] = "background" if hook.background else "ran"
    if hook.handler == "command" and hook.native_event:
        call, missing = present(hook, step.dialect, step.row, scene, "…", Trace(scene.env))
        stdin = call.stdin.decode("utf-8", "replace")
        made.update(argv=[*call.argv], env=[*sorted(call.env)], cwd=call.cwd, stdin=stdin)
        if missing and not why:
            made.update(would_run=False, status="broken", why=missing)
        return made
    shown = stdin_of(step.dialect, step.row, scene).decode("utf-8", "replace") if hook.native_event else ""
    command = next((str(hook.spec[key]) for key in SAYS_WHAT_IT_DOES if hook.spec.get(key)), hook.name)
    made.update(argv=None, command=command, env=[], cwd=hook.project or scene.project, stdin=shown)
    if hook.handler == "rule":
        made["then"] = hook.spec.get("then")
        made["earlier"] = rules.earlier_of(hook) if rules is not None else []
    if hook.handler in ASKING:
        made["model"] = model or None
    return made
