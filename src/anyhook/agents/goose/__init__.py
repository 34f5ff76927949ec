"""goose, by Block: plugins with Claude-like groups. It reads an answer before a tool and at the end of a turn, and
nowhere else. Measured with 1.52.0.

As a dialect: plugins with Claude-like groups, run one after the other; an answer counts before a tool and at the end
of a turn, and some events repeat a tool call."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, LAST, grouped
from anyhook.tables.vocabulary import *

VERSION = "1.52.0"

TOOL = taken(tool="tool_name", input="tool_input", call_id="tool_call_id", output="tool_output")
FACET = "the same call reaches PreToolUse and PostToolUse"
EDITS = {"old_text": "before", "new_text": "after"}

HOST_EVENTS = (
    HostEvent("SessionStart", ("session_start",), fixed={"source": "startup"}),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), taken(prompt=("message", "prompt"))),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": BLOCK}, limit_s=600),
    HostEvent("PostToolUse", ("post_tool",), TOOL, limit_s=600),
    HostEvent("PostToolUseFailure", ("post_tool_failure",), TOOL, limit_s=600),
    HostEvent("Stop", ("stop",), LAST, {"block": BLOCK}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
    *left_out(FACET, "BeforeShellExecution", "AfterShellExecution", "BeforeReadFile", "AfterFileEdit"),
)

HOST = Host(
    name="goose",
    title="goose",
    events=HOST_EVENTS,
    base=taken(session="session_id"),
    tools={
        "shell": HostTool("shell"),
        "developer__shell": HostTool("shell"),
        "write": HostTool("write_file"),
        "developer__write": HostTool("write_file"),
        "edit": HostTool("edit_file", EDITS),
        "developer__edit": HostTool("edit_file", EDITS),
        "read": HostTool("read_file"),
    },
    entry=Entry(
        "groups",
        {
            # A project's plugin hides the user's plugin in a folder of the same name; seen with 1.52.0, 2026-11.
            "user": "{home}/.agents/plugins/{own}/hooks/hooks.json",
            "project": "{project}/.agents/plugins/anyhook/hooks/hooks.json",
        },
        handler=grouped(),
        owned=True,
        beside={
            "../plugin.json": '{"name": "anyhook", "version": "1.0.0", "description": "Calls the hooks of anyhook"}\n'
        },
        names_tools=True,
    ),
    project=("working_dir", "cwd"),
    reads={"goose": ("user", "project", "plugin")},
    program="goose",
    marks=("GOOSE_TERMINAL",),
    confirms=(),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    confirm="nothing to confirm: the plugin is active as soon as it is there.",
    shows_stderr=False,  # seen with 1.52.0, 2026-11
    gaps=("sub-agents (`delegate`)", "context", "rewritten input and output", "refusing a prompt"),
)


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


MATCHED, FOLDER = fields(matcher_context=_matched, working_dir=project)
CALL = fields(tool_name="tool", tool_input="input")
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


launch, names = in_a_shell({"PLUGIN_ROOT": "{root}"})

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


CHANGES = (
    until("1.34", "has no hooks", "source of 1.29.1; phnx-labs/agi-cli#927 and zeph#3902 for 1.34.0", "2026-05-13"),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, TERMINAL, Drive

    usual = Drive(
        ("run", "--no-session", "--with-builtin", "developer", "-t", "{prompt}"),
        {
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "gpt-4o",
            "OPENAI_HOST": "{url}",
            "OPENAI_BASE_PATH": "v1/chat/completions",
            "OPENAI_API_KEY": KEY,
            "GOOSE_MODE": "auto",
            "GOOSE_DISABLE_KEYRING": "1",
            "GOOSE_TELEMETRY_OFF": "1",
            "GOOSE_TELEMETRY_ENABLED": "false",
        },
        tools={"delegate_task": ("delegate",)},
        cannot_show={"pre_tool allow": "the modes that ask for permission need a terminal"},
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, grouped, guarded

    entry = grouped("PreToolUse", "shell", '"$PLUGIN_ROOT"/scripts/guard')
    payload = {"session_id": "s", "event": "PreToolUse", **called("shell")}
    path, guard = ".agents/plugins/own/hooks/hooks.json", ".agents/plugins/own/scripts/guard"
    return guarded(path, "shell", payload, entry=entry, guard=guard, stdout=decided("block"))
