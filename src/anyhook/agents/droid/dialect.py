"""Factory Droid: Claude's table, except that a file is keyed by event (older versions use the settings), a filter for
commands adds to the matcher, and a rewrite names only the fields that change."""

from __future__ import annotations

from anyhook.agents._family import BASE, MODE, HookFile, Layout, aliased, claude_reply, family, misplaced
from anyhook.agents.droid import HOST
from anyhook.tables.hosted import event_rows, not_in_a_stop_hook
from anyhook.tables.patterns import compile_pattern
from anyhook.tables.rows import Field, Limits, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.tables.rows import EventRow

STOPPING = (Field("stop_hook_active", not_in_a_stop_hook),)
EVENTS = event_rows(HOST, extra={"Stop": STOPPING, "SubagentStop": STOPPING}, bound=8)
_named = aliased(HOST)


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """The matcher, and for commands the pattern under `commandRegex`."""
    pattern, given = hook.spec.get("commandRegex"), event.get("input")
    if isinstance(pattern, str) and row.target == "tool":
        command = str(given.get("command", "")) if isinstance(given, dict) else ""
        if not compile_pattern(pattern).search(command):
            return f"`commandRegex` {pattern!r} is not found in the command"
    return _named(hook, event, row)


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{config}/.factory/hooks.json"),
            HookFile("user", "{config}/.factory/settings.json", "settings", ("hooks",), "hooks.json"),
            HookFile("project", "{project}/.factory/hooks.json"),
            HookFile("project", "{project}/.factory/settings.json", "settings", ("hooks",), "hooks.json"),
            HookFile("project", "{project}/.factory/settings.local.json", "local", ("hooks",), "hooks.json"),
        ),
        under=(),
        group_keys=("commandRegex",),
        limits=Limits(60.0),
        off=(("hooksDisabled",), True),
    ),
    EVENTS,
    claude_reply(EVENTS),
    base=(*BASE, MODE),
    match=match,
    variables=lambda hook, project, session: {"FACTORY_PROJECT_DIR": project, "CLAUDE_PROJECT_DIR": project},
    whole_input=lambda given, changed: {**given, **changed},
    misplaced=misplaced(("{project}/.factory/hooks/hooks.json", ".factory/hooks.json")),
    differences=differences(
        "0.225",
        "Factory-AI/factory docs/reference/hooks-reference.mdx",
        "2026-11-16",
        ("FD-1", "Managed files and plugins are not read."),
    ),
)
