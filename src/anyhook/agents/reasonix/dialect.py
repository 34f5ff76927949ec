"""Reasonix: flat entries with `match` and limits in milliseconds; exit status 2 refuses before something happens, and
so does a timeout."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, each_by_itself, family
from anyhook.agents.reasonix import HOST
from anyhook.tables.cells import native_name, project, session, whole_value
from anyhook.tables.hosted import alone, event_rows
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import Failing, Field, Key, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.call import Run
    from anyhook.model.json_types import Json
    from anyhook.tables.cell_names import Printed


def _turn(_scene: Scene) -> Json:
    return 1


def _shown(run: Run) -> Run:
    """After a tool, exit status 2 does not refuse: it shows stderr to the user."""
    return run.replace(stdout=run.stderr if run.exit_code == 2 else b"")


def _text(stdout: bytes) -> Printed:
    text = stdout.decode("utf-8", "replace").strip()
    return ("text", text) if text else ("nothing", None)


REPLY = Reply(
    read=object_or_nothing,
    exits={0: "pass", 2: "block"},
    keys=(Key(("hookSpecificOutput", "additionalContext"), "string", "context", on=("session_start",)),),
)
AFTER = Reply(read=_text, keys=(), exits={0: "pass", 2: "pass"}, text_does="messages", streams=_shown)
TURN = (Field("turn", _turn),)
EVENTS = event_rows(HOST, extra={"UserPromptSubmit": TURN, "Stop": TURN})

DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/settings.json"), HookFile("project", "{project}/.reasonix/settings.json")),
        style="list",
        matcher_key="match",
        keys=("name", "description"),
        needs_type=False,
        limits=Limits(60.0, unit_s=0.001),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY.replace(on_event=dict.fromkeys(("post_tool", "post_tool_failure"), AFTER)),
    base=(Field("event", native_name), Field("sessionId", session), Field("cwd", project)),
    match=whole_value,
    variables=lambda hook, project_dir, session_id: {},
    at_once=None,
    identity=each_by_itself,
    failing=Failing(gates_only=("timed_out",)),
    differences=differences(
        "1.38.11",
        "npm @reasonix/cli-linux-x64 1.38.11; run",
        "2026-11-16",
        ("RX-3", "The product documents no default time limit; 60 s apply."),
    ),
)
