"""Cline, the command line and the editor extension: one executable per event; exit statuses are ignored, a refusal ends
the whole run, and one call may hold several commands or files. Measured with 3.0.65.

As a dialect: a folder with one executable per event; its output decides and its exit status does not."""

from __future__ import annotations

from anyhook.agents._family import each_by_itself
from anyhook.agents._patches import (
    rejoin_commands,
    rejoin_editor,
    split_commands,
    split_editor,
    split_files,
    split_patch,
)
from anyhook.agents._results import unpacked
from anyhook.tables.vocabulary import *

VERSION = "3.0.65"


def _parameters(value: Json) -> Json:
    """Every value of this map is a text; some hold JSON."""
    if not isinstance(value, dict):
        return value
    return {
        key: unpacked(item) if isinstance(item, str) and item[:1] in ("[", "{") else item for key, item in value.items()
    }


CANCEL = Say({"cancel": True, "errorMessage": "{reason}"})
CONTEXT = Say({"contextModification": "{context}"})
TOOL = (
    Taken("tool", ("tool_call.name", "tool_result.name", "preToolUse.toolName", "postToolUse.toolName")),
    Taken(
        "input",
        ("tool_call.input", "tool_result.input", "preToolUse.parameters", "postToolUse.parameters"),
        _parameters,
    ),
    Taken("call_id", ("tool_call.id", "tool_result.id")),
)
DETACHED = "the agent does not wait for it"

HOST_EVENTS = (
    HostEvent("TaskStart", ("session_start",), fixed={"source": "startup"}, why_not=DETACHED),
    HostEvent("TaskResume", ("session_start",), fixed={"source": "resume"}, why_not=DETACHED),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        taken(prompt=("userPromptSubmit.prompt", "prompt_submit.prompt", "prompt")),
        why_not=DETACHED,
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {"block": CANCEL, "end_turn": CANCEL, "input": Say({"overrideInput": "{input}"}), "context": CONTEXT},
        limit_s=120,
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (
            *TOOL,
            Taken("output", ("postToolUse.result", "tool_result.output")),
            Taken("duration_ms", ("tool_result.durationMs", "postToolUse.executionTimeMs")),
        ),
        {"end_turn": CANCEL, "context": CONTEXT},
        error=("tool_result.error",),
        limit_s=120,
    ),
    HostEvent("TaskComplete", ("stop",), taken(last_message="turn.outputText"), why_not=DETACHED),
    HostEvent("SessionShutdown", ("session_end",), fixed={"reason": "other"}, why_not=DETACHED),
    *left_out("no canonical event", "TaskCancel", "TaskError"),
)

HOST = Host(
    name="cline",
    title="Cline CLI",
    events=HOST_EVENTS,
    base=taken(session="taskId"),
    tools={
        "run_commands": HostTool("shell", split=split_commands, rejoin=rejoin_commands),
        "execute_command": HostTool("shell"),
        "read_files": HostTool("read_file", split=split_files),
        "read_file": HostTool("read_file"),
        "write_to_file": HostTool("write_file"),
        "editor": HostTool("edit_file", split=split_editor, rejoin=rejoin_editor),
        "replace_in_file": HostTool("edit_file", {"new_text": "diff"}),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "search_codebase": HostTool("grep"),
        "web_fetch": HostTool("web_fetch"),
        "fetch_web_content": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "scripts",
        {"user": "{config}/hooks", "project": "{project}/.cline/hooks"},
        {"config": ("CLINE_DIR", "{home}/.cline")},
        owned=True,
    ),
    project=("workspaceRoots.0", "workspaceInfo.rootPath", "cwd"),
    reads={"cline": ("user", "project")},
    program="cline",
    marks=("CLINE_ACTIVE",),
    confirms=(),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    off_words=("--yolo",),
    # The runtime that it is built with reads these in the folder where it starts; seen with 3.0.65, 2026-11.
    variable_files=("{project}/.env", "{project}/.env.local", "{project}/.env.development"),
    moving_variables=("CLINE_DIR",),
    confirm="nothing to confirm, but it runs no hooks with `--yolo`.",
    gaps=("a reason for the model: a refusal ends the run", "runs with --yolo"),
    max_context=50_000,
)


ENDINGS = ("", ".sh", ".py", ".js", ".mjs", ".ts")
"""The suffixes that a hook's file name may have after the event."""
MARK = b"# Written by `anyhook install"
LIMIT_S = 30.0


def _strings(scene: Scene) -> Json:
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
    base=fields(hookName=native_name, taskId=session, workspaceRoots=projects),
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


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    provider = "openai-compatible"
    settings: Json = {"provider": provider, "apiKey": KEY, "model": "{model}", "baseUrl": "{url}/v1"}
    known: Json = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    words = ("--json", "-P", provider, "-m", "{model}", "-k", KEY, "--auto-approve", "true", "-t", "60", "{prompt}")
    usual = Drive(
        words,
        {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1"},
        writes={
            "{config}/data/settings/providers.json": {
                "version": 1,
                "lastUsedProvider": provider,
                "providers": {provider: known},
            }
        },
        tools={"write_file": ("editor",), "delegate_task": ("spawn_agent",)},
        cannot_show={
            "user_prompt_submit": "`cline` with a prompt does not fire it",
            "post_tool_failure": "a tool's failure is an ordinary result; seen only for calls that nobody approved",
            "session_end": "it starts this hook as it exits itself, so the hook is rarely seen to run",
        },
    )
    asked = tuple("false" if word == "true" else word for word in words)
    return usual.replace(scenarios={ASKING: usual.replace(words=asked)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"cancel": true, "errorMessage": "{REASON}"}}'
    return Sample(
        event="PreToolUse",
        files={".cline/hooks/PreToolUse": f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; fi\n"},
        script=f"echo '{deny}'",
        tool="execute_command",
        calls="PreToolUse",
        payload={"taskId": "s", "tool_call": {"name": "run_commands", "input": {"commands": [COMMAND]}}},
        stdout={"cancel": True, "errorMessage": f"{COMMAND}: {REASON}"},
    )
