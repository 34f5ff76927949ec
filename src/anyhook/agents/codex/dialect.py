"""Codex CLI: `hooks.json` or the `[hooks]` of `config.toml`; Claude's shapes with every key checked, and an answer that
fails the check, or refuses without a reason, refuses nothing."""

from __future__ import annotations

from anyhook.agents.codex import HOST
from anyhook.agents.codex.replies import COMMAND
from anyhook.model.hook import Hook, Layer, Source
from anyhook.programs.commands import check_text
from anyhook.tables.cells import agent_id, always, named_or_found, native_name, project, session
from anyhook.tables.hosted import (
    alone,
    event_rows,
    in_a_shell,
    not_in_a_stop_hook,
    plugin,
    switched,
    tool_rows,
    without,
)
from anyhook.tables.patterns import check_pattern
from anyhook.tables.rows import Dialect, Field, Limits, Misplaced, Roots, Scaffold, Scene, ToolRow, differences
from anyhook.tables.shapes import Entries, EntryShape, HandlerShape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.words import HandlerKind
    from anyhook.tables.rows import EventRow


def _nowhere(_scene: Scene) -> Json:
    return None


def _turn(scene: Scene) -> Json:
    return scene.event.get("turn_id") or f"{scene.session}-{scene.event.get('turn_number')}"


def _mode(scene: Scene) -> Json:
    return scene.event.get("permission_mode") or "default"


MODEL, MODE, TURN = Field("model", "model"), Field("permission_mode", _mode), Field("turn_id", _turn)
AGENT = Field("agent_id", agent_id)
STOPPING = Field("stop_hook_active", not_in_a_stop_hook)
EVENTS = event_rows(
    HOST,
    extra={
        "SessionStart": (MODEL, MODE),
        "UserPromptSubmit": (MODEL, MODE, TURN),
        "PreToolUse": (MODEL, MODE, TURN),
        "PermissionRequest": (MODEL, MODE, TURN),
        "PostToolUse": (MODEL, MODE, TURN),
        "SubagentStart": (MODEL, MODE, TURN, AGENT),
        "SubagentStop": (MODEL, MODE, TURN, AGENT, STOPPING, Field("agent_transcript_path", _nowhere)),
        "PreCompact": (MODEL, TURN),
        "PostCompact": (MODEL, TURN),
        "Stop": (MODEL, MODE, TURN, STOPPING),
    },
    untold=("PermissionRequest.tool_use_id", "SubagentStart.last_assistant_message"),
)
ELSEWHERE = alone(HOST, ("PreModelRequest",))
LIMITS = {"command": Limits(600.0)}
AT_THE_END_S, MAX_AT_THE_END_S = 1.0, 3.0
"""The default and the highest time limit of hooks when a session ends."""
SKIPPED: tuple[HandlerKind, ...] = ("prompt", "agent", "mcp_tool")
SHAPE = EntryShape(
    dialect="codex",
    events=EVENTS,
    handlers=(
        HandlerShape(
            "command",
            "command",
            ("command", "commandWindows", "timeout", "async", "statusMessage", "additionalContextLimit"),
            check_text,
        ),
        *(HandlerShape(kind, "type", (), check_text) for kind in SKIPPED),
    ),
    limits=LIMITS,
    timeout_key="timeout",
    top_keys=frozenset({"description"}),
    check_matcher=check_pattern,
    matcher_may_be_ignored=True,
    own_keys=("state",),  # its user's approvals, as 0.166.0 writes them into config.toml
    refuses=lambda kind, event: f"a handler of type {kind} is not run; it is ignored" if kind in SKIPPED else None,
)


def find(roots: Roots) -> list[Source]:
    user, folder = roots.env.get("CODEX_HOME") or f"{roots.home}/.codex", f"{roots.project}/.codex"
    return [
        Source("codex", "user", f"{user}/hooks.json", user),
        Source("codex", "user", f"{user}/config.toml", user, "config"),
        Source("codex", "project", f"{folder}/hooks.json", roots.project),
        Source("codex", "project", f"{folder}/config.toml", roots.project, "config"),
        *(Source("codex", "plugin", f"{root}/hooks/hooks.json", root) for root in roots.plugin_dirs),
    ]


def load(source: Source, files: Files) -> Layer:
    shape = SHAPE
    if source.scope == "plugin":
        ours = plugin(source, ".codex-plugin/plugin.json", files)
        if ours is None:
            return Layer(source, ())
        source = ours
    if source.path.endswith(".toml"):
        shape = SHAPE.replace(top_keys=None)
    document = files.document(source.path, "toml" if source.path.endswith(".toml") else "json")
    if document is None:
        return Layer(source, ())
    hooks = Entries(source, files, shape).grouped(without(document, ELSEWHERE, source, files))
    off = switched(document, ("features", "hooks"), source, files, off=False)
    made = tuple(map(_made, hooks))
    return Layer(source, made, all_off=off)


def _made(hook: Hook) -> Hook:
    if hook.native_event == "SessionEnd":
        given_s = hook.limit_s if '"timeout"' in hook.definition else AT_THE_END_S
        hook = hook.replace(limit_s=min(given_s, MAX_AT_THE_END_S))
    return hook.replace(background=True) if hook.spec.get("async") is True else hook


ALIASES = {"apply_patch": ("Write", "Edit"), "spawn_agent": ("Agent",)}
"""Other names for a tool in matchers."""


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    names = (str(event.get("tool")), *ALIASES.get(str(event.get("tool")), ())) if row.target == "tool" else ("",)
    why: str | None = None
    for name in reversed(names):  # its own name comes last, because messages use that one
        spelled = event.replace(data={**event.data, "tool": name}) if name else event
        why = named_or_found(hook.matcher, spelled, row, "_|")
        if why is None:
            break
    return why


def claim(path: str, document: Json) -> tuple[str, int]:
    return path, 3 if path.endswith(("/.codex/hooks.json", "/.codex/config.toml")) else 0


def _variables(hook: Hook, _project: str, _session: str) -> dict[str, str]:
    if hook.scope != "plugin":
        return {}
    return {"PLUGIN_ROOT": hook.root, "CLAUDE_PLUGIN_ROOT": hook.root}


launch, names = in_a_shell(_variables)

DIALECT = Dialect(
    name="codex",
    title="Codex CLI",
    dense=True,
    files=(
        ("user", "~/.codex/hooks.json, then [hooks] of ~/.codex/config.toml (CODEX_HOME)"),
        ("project", ".codex/hooks.json, then .codex/config.toml"),
        ("plugin", "hooks/hooks.json of a folder with .codex-plugin/plugin.json"),
    ),
    find=find,
    variables=("CODEX_HOME",),
    claim=claim,
    misplaced=(Misplaced("{project}/.codex/hooks/hooks.json", ".codex/hooks.json", "hooks"),),
    load=load,
    shape=SHAPE,
    events=EVENTS,
    base=(
        Field("session_id", session),
        Field("transcript_path", _nowhere),
        Field("cwd", project),
        Field("hook_event_name", native_name),
    ),
    match=match,
    launch=launch,
    names=names,
    scaffold=Scaffold(
        shape="groups",
        scripts={"project": "{project}/.codex/hooks", "user": "{root}/hooks"},
        command={"project": ".codex/hooks/{file}", "user": "{script}"},
        tool="Bash",
    ),
    tools={**tool_rows(HOST), "edit_file": ToolRow("apply_patch"), "write_file": ToolRow("apply_patch")},
    replies={"command": COMMAND},
    limits=LIMITS,
    together=True,
    at_once=always,
    withholds=True,
    differences=differences(
        "0.166.0",
        "npm @openai/codex 0.166.0 (schemas); openai/codex codex-rs/hooks; run",
        "2026-11-16",
        ("CX-5", "Commands run in a plain shell, not in the user's login shell."),
        ("CX-9", "`mcp_tool` handlers are reported and not run."),
        ("CX-14", "If several hooks rewrite, the last declared wins; in the product, the last to finish."),
        ("CX-16", "An edit by another agent's tool is named apply_patch, but has that agent's fields and no patch."),
        ("CX-17", "A project's hooks are approved by anyhook, not by Codex's own records."),
    ),
)
