"""Junie CLI: Claude's groups in the user's config; exit status 2 refuses, and so does a refusal in either form that
others describe."""

from __future__ import annotations

from anyhook.agents._family import BASE, HookFile, Layout, claude_reply, family
from anyhook.agents.junie import HOST
from anyhook.model.hook import Hook
from anyhook.tables.cells import project
from anyhook.tables.hosted import event_rows, not_in_a_stop_hook
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import Failing, Field, Key, Limits, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.cell_names import Words

EVENTS = event_rows(
    HOST,
    extra={"Stop": (Field("stop_hook_active", not_in_a_stop_hook),)},
    untold=("PermissionRequest.tool_use_id",),
)
READ = claude_reply(EVENTS, read=object_or_nothing, text_on=(), exit_reasons=("stderr",))
REFUSALS: Words = (("block", "block", ()), ("deny", "block", ()), ("allow", "none", ()), ("approve", "none", ()))
REPLY = READ.replace(
    keys=(
        Key(("decision",), "string", "verdict", words=REFUSALS),
        *(key for key in READ.keys if key.path not in (("decision",), ("continue",), ("stopReason",))),
    )
)


def _made(hook: Hook) -> Hook:
    return hook.replace(background=True) if hook.spec.get("async") is True else hook


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{home}/.junie/config.json"),),
        keys=("blockOnError", "async"),
        limits=Limits(60.0),
        elsewhere=frozenset({"StopFailure"}),
        made=_made,
    ),
    EVENTS,
    REPLY,
    base=(*BASE, Field("project_path", project)),
    variables=lambda hook, project_dir, session: {},
    failing=Failing(strict=("blockOnError", False, True)),
    differences=differences(
        "3110",
        "junie.jetbrains.com/docs/junie-cli-hooks.html, read by others",
        "2026-11-16",
        ("JU-1", "Extensions are not read."),
        ("JU-4", "Others describe two forms of a refusal; here both refuse."),
        ("JU-6", "Hooks start in the project's folder, not in `~/.junie`."),
    ),
)
