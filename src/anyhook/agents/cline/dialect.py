"""Cline: a folder with one executable per event; its output decides and its exit status does not."""

from __future__ import annotations

from anyhook.agents._family import each_by_itself
from anyhook.agents.cline import HOST
from anyhook.model.hook import Hook, Layer, Source
from anyhook.tables.cells import everything, native_name, session
from anyhook.tables.hosted import event_rows, tool_rows
from anyhook.tables.isolation import one_file
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import (
    Dialect,
    Field,
    Key,
    Launch,
    Limits,
    Reply,
    Roots,
    Scaffold,
    Scene,
    differences,
)
from anyhook.tables.shapes import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.files import Files
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Draft, EventRow

ENDINGS = ("", ".sh", ".py", ".js", ".mjs", ".ts")
"""The suffixes that a hook's file name may have after the event."""
MARK = b"# Written by `anyhook install"
LIMIT_S = 30.0


def _strings(scene: Scene) -> Json:
    from anyhook.tables.cells import text_of

    given = scene.event.get("input")
    return {key: text_of(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _before(scene: Scene) -> Json:
    return {"toolName": scene.event.get("tool"), "parameters": _strings(scene)}


def _after(scene: Scene) -> Json:
    error = scene.event.get("tool_error")
    result = scene.event.get("output") or error
    return {"toolName": scene.event.get("tool"), "parameters": _strings(scene), "result": result, "success": not error}


def _prompt(scene: Scene) -> Json:
    return {"prompt": scene.event.get("prompt"), "attachments": []}


def _roots(scene: Scene) -> Json:
    return [scene.project]


INNER = {
    "PreToolUse": Field("preToolUse", _before),
    "PostToolUse": Field("postToolUse", _after),
    "UserPromptSubmit": Field("userPromptSubmit", _prompt),
}


def _row(row: EventRow) -> EventRow:
    inner = INNER.get(row.native)
    return row.replace(payload=(inner,) if inner is not None else ())


EVENTS = tuple(_row(row) for row in event_rows(HOST))
BEFORE = ("pre_tool",)


def _cancelled(draft: Draft, _event: str) -> Draft:
    """`cancel` ends the run, and before a tool it also refuses the call."""
    return {**draft, "end_turn": True} if draft.get("cancel") is True else draft


REPLY = Reply(
    read=object_or_nothing,
    exits={0: "pass"},
    json_reasons=("reason",),
    speaks_anyway=True,
    keys=(
        Key(("cancel",), "bool", "block", on=BEFORE),
        Key(("cancel",), "bool", "note"),
        Key(("errorMessage",), "string", "reason"),
        Key(("contextModification",), "string", "context"),
        Key(("overrideInput",), "object", "tool_input", on=BEFORE),
    ),
    finish=_cancelled,
)


def find(roots: Roots) -> list[Source]:
    return [
        Source("cline", "user", f"{roots.home}/.cline/hooks", f"{roots.home}/.cline"),
        Source("cline", "user", f"{roots.home}/Documents/Cline/Hooks", f"{roots.home}/Documents/Cline", "editor"),
        Source("cline", "project", f"{roots.project}/.cline/hooks", roots.project),
        Source("cline", "project", f"{roots.project}/.clinerules/hooks", roots.project, "editor"),
    ]


def load(source: Source, files: Files) -> Layer:
    found: list[Hook] = []
    names = {f"{row.native}{ending}": row for row in EVENTS for ending in ENDINGS}
    folder = source.path if not source.path.rpartition("/")[2].startswith(tuple(names)) else source.root
    for name in files.names(folder):
        row, path = names.get(name), f"{folder}/{name}"
        if row is None or not files.is_file(path):
            continue
        with one_file(files, source, path):
            text = files.text(path)
            if text is not None and MARK not in text.encode("utf-8", "replace"):
                files.made_hook()
                found.append(_made(source, path, name, row))
    return Layer(source, tuple(found))


def _made(source: Source, path: str, name: str, row: EventRow) -> Hook:
    owner = f"{source.scope}:{source.label}" if source.label else source.scope
    definition = canonical({"event": row.native})
    declared = source.replace(path=path)
    return declared.hook(
        f"{owner}:{name}", name, row.native, row.canonical, {"command": path}, LIMIT_S, definition=definition
    )


STARTERS = {".py": ("python3",), ".js": ("node",), ".mjs": ("node",), ".ts": ("npx", "tsx"), ".sh": ("sh",)}


def launch(hook: Hook, scene: Scene) -> Launch:
    path = str(hook.spec["command"])
    starter = STARTERS.get(path[path.rfind(".") :], ()) if "." in path.rpartition("/")[2] else ()
    return Launch((*starter, path), {**scene.env}, scene.project)


def names(hook: Hook, _files: Files, _project: str, _home: str) -> tuple[str, ...]:
    return (str(hook.spec["command"]),)


def claim(path: str, _document: Json) -> tuple[str, int]:
    folder, _, name = path.rpartition("/")
    known = any(name == f"{row.native}{ending}" for row in EVENTS for ending in ENDINGS)
    return path, 3 if known and folder.endswith(("/.clinerules/hooks", "/.cline/hooks", "/Cline/Hooks")) else 0


DIALECT = Dialect(
    name="cline",
    title="Cline",
    dense=True,
    files=(
        ("user", "~/.cline/hooks/<event>, then ~/Documents/Cline/Hooks/<event>"),
        ("project", ".cline/hooks/<event>, then .clinerules/hooks/<event>"),
    ),
    find=find,
    load=load,
    claim=claim,
    events=EVENTS,
    base=(Field("hookName", native_name), Field("taskId", session), Field("workspaceRoots", _roots)),
    match=everything,
    launch=launch,
    names=names,
    tools=tool_rows(HOST),
    scaffold=Scaffold(
        shape="events",
        scripts={"project": "{path}", "user": "{path}"},
        tool="execute_command",
    ),
    replies={"command": REPLY},
    limits={"command": Limits(LIMIT_S)},
    together=True,
    identity=each_by_itself,
    differences=differences(
        "3.0.65",
        "cline/cline .clinerules/hooks/README.md; npm @cline/cli-linux-x64 3.0.65; run",
        "2026-11-15",
        ("CL-2", "Scripts for PowerShell are not run."),
        ("CL-5", "A hook has 30 s, as in the editor; the command line gives some of them 120."),
    ),
)
