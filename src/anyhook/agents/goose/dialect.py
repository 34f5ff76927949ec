"""goose: plugins with Claude-like groups, run one after the other; an answer counts before a tool and at the end of a
turn, and some events repeat a tool call."""

from __future__ import annotations

from anyhook.agents.goose import HOST
from anyhook.model.hook import Hook, Layer, Source
from anyhook.programs.commands import check_text
from anyhook.tables.cells import MATCH_ALL, native_name, project, session
from anyhook.tables.hosted import event_rows, in_a_shell, tool_rows
from anyhook.tables.isolation import one_file
from anyhook.tables.patterns import check_pattern, compile_pattern
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import (
    Dialect,
    EventRow,
    Field,
    Key,
    Limits,
    Misplaced,
    Reply,
    Roots,
    Scaffold,
    Scene,
    differences,
)
from anyhook.tables.shapes import Entries, EntryShape, HandlerShape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json

FACETS = {
    "BeforeShellExecution": ("pre_tool", ("shell",), "command"),
    "BeforeReadFile": ("pre_tool", ("read_file",), "path"),
    "AfterShellExecution": ("post_tool", ("shell",), "command"),
    "AfterFileEdit": ("post_tool", ("write_file", "edit_file"), "path"),
}
"""Events that repeat a tool call: when they come, for which of our tools, and which part of its input a matcher
sees."""
OURS = {native: tool.ours for native, tool in HOST.tools.items()}


def _seen(event: Event, native: str, target: str | None) -> str | None:
    """The text that a matcher is tried against, or None."""
    if native in FACETS:
        given = event.get("input")
        return str(given.get(FACETS[native][2], "")) if isinstance(given, dict) else ""
    if native == "UserPromptSubmit":
        return str(event.get("prompt"))
    return str(event.get("tool")) if target == "tool" else None


def _matched(scene: Scene) -> Json:
    row = next(row for row in EVENTS if row.native == scene.native)
    return _seen(scene.event, scene.native, row.target)


MATCHED, FOLDER = Field("matcher_context", _matched), Field("working_dir", project)
CALL = (Field("tool_name", "tool"), Field("tool_input", "input"))
WITH_FOLDER = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop")
_ROWS = event_rows(HOST, extra=dict.fromkeys(WITH_FOLDER, (FOLDER,)), untold=("tool_output",))
EVENTS = (
    *(row.replace(target=row.target if row.target == "tool" else None) for row in _ROWS),
    *(
        EventRow(native, (when,), None, (*CALL, FOLDER), "tool", about=about)
        for native, (when, about, _) in FACETS.items()
    ),
)
BY_CONTENT = (*FACETS, "UserPromptSubmit")
"""Events whose matchers look at more than a name."""
LIMITS = {"command": Limits(30.0)}
SHAPE = EntryShape(
    dialect="goose",
    events=EVENTS,
    handlers=(HandlerShape("command", "command", ("command", "timeout"), check_text),),
    limits=LIMITS,
    timeout_key="timeout",
    top_keys=frozenset({"description"}),
    check_matcher=check_pattern,
)


def find(roots: Roots) -> list[Source]:
    return [
        Source("goose", "user", f"{roots.home}/.agents/plugins", f"{roots.home}/.agents/plugins"),
        Source("goose", "project", f"{roots.project}/.agents/plugins", roots.project),
    ]


def load(source: Source, files: Files) -> Layer:
    if source.path.endswith(".json"):
        return Layer(source, tuple(_of_plugin(source.replace(root=source.path.rsplit("/", 2)[0]), files)))
    found: list[Hook] = []
    for name in files.names(source.path):
        root = f"{source.path}/{name}"
        each = source.replace(path=f"{root}/hooks/hooks.json", root=root, label=name)
        with one_file(files, each):
            found.extend(_of_plugin(each, files))
    return Layer(source, tuple(found))


def _of_plugin(source: Source, files: Files) -> list[Hook]:
    document = files.document(source.path, "json")
    if document is None:
        return []
    hooks = Entries(source, files, SHAPE).grouped(document)
    return list(map(_made, hooks))


def _made(hook: Hook) -> Hook:
    if hook.native_event in BY_CONTENT and hook.matcher not in (None, *MATCH_ALL):
        return hook.replace(matcher={"pattern": hook.matcher})
    return hook


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    tool = str(event.get("tool"))
    if row.about and (event.ours or OURS.get(tool, tool)) not in row.about:
        return f"{row.native} is not about the tool {tool!r}"
    matcher = hook.matcher.get("pattern") if isinstance(hook.matcher, dict) else hook.matcher
    seen = _seen(event, row.native, row.target)
    if not isinstance(matcher, str) or matcher in MATCH_ALL or seen is None:
        return None
    return None if compile_pattern(matcher).search(seen) else f"matcher {matcher!r} is not found in {seen[:80]!r}"


def claim(path: str, document: Json) -> tuple[str, int]:
    return path, 3 if "/.agents/plugins/" in path and path.endswith("/hooks/hooks.json") else 0


def _variables(hook: Hook, _project: str, _session: str) -> dict[str, str]:
    return {"PLUGIN_ROOT": hook.root}


launch, names = in_a_shell(_variables)

REPLY = Reply(
    read=object_or_nothing,
    exits={0: "pass", 2: "block"},
    json_reasons=("reason",),
    keys=(
        Key(("decision",), "string", "verdict", on=("pre_tool", "stop"), words=(("block", "block", ()),)),
        Key(("reason",), "string", "reason", on=("pre_tool", "stop")),
    ),
)

DIALECT = Dialect(
    name="goose",
    title="goose",
    mcp_tools="{server}__{tool}",
    dense=True,
    files=(
        ("user", "~/.agents/plugins/<plugin>/hooks/hooks.json"),
        ("project", ".agents/plugins/<plugin>/hooks/hooks.json"),
    ),
    find=find,
    claim=claim,
    misplaced=(Misplaced("{project}/.agents/plugins/*/hooks.json", "hooks/hooks.json inside the plugin", "hooks"),),
    load=load,
    shape=SHAPE,
    events=EVENTS,
    base=(Field("event", native_name), Field("session_id", session), MATCHED),
    match=match,
    launch=launch,
    names=names,
    scaffold=Scaffold(
        shape="groups",
        scripts={"project": "{path}/own/scripts", "user": "{path}/own/scripts"},
        command=dict.fromkeys(("project", "user"), '"$PLUGIN_ROOT"/scripts/{file}'),
        declared_in=("own/hooks/hooks.json",),
        tool="shell",
    ),
    tools=tool_rows(HOST),
    replies={"command": REPLY},
    limits=LIMITS,
    differences=differences(
        "1.52.0",
        "aaif-goose/goose crates/goose/src/hooks/mod.rs; run",
        "2026-11-15",
        ("GO-9", "AfterFileEdit comes only after a successful tool."),
    ),
)
