"""Kodik: an IDE with hooks from projects, users and plugins. It is not public, so it was never run here. Everything
comes from its documents and from the plugins that its maker publishes.

As a host: one JSON object on the last line, or exit status 2. The names of its tools are those of its pages on the
agent, and the shorter ones that its page on hooks uses.

As a dialect: `hooks.json` or `hooks.toml` of a project, a user or a plugin; shell commands with variables that depend
on their source."""

from __future__ import annotations

import os

from anyhook.agents._claude_family import BLOCK, EDIT, FILE, event, grouped
from anyhook.tables.vocabulary import *

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.words import OwnScope


VERSION = "2026-11"
"""The month of its documents, because it has no public version number."""


def chat_scope() -> OwnScope:
    """Where a hook goes that a user describes in the chat, as its document suggests."""
    return "project"


HOST_TOOL = taken(tool="tool_name", input="tool_input")
HOST_AGENT = taken(agent_type="agent_type")
EXPRESSED = {
    "block": BLOCK, "context": Say({"additional_context": "{context}"}),
    "input": Say({"modified_input": "{input}"}), "prompt": Say({"modified_prompt": "{prompt}"}),
    "allow": Say({"decision": "approve", "reason": "{reason}"}),
}  # fmt: skip

HOST_EVENTS = (
    event("PreToolUse", "block input context", EXPRESSED, takes=HOST_TOOL, limit_s=300),
    event(
        "PostToolUse",
        "block context",
        EXPRESSED,
        canonical=("post_tool", "post_tool_failure"),
        takes=(*HOST_TOOL, Taken("output", ("tool_output",)), Taken("tool_error", ("error",))),
        error=("error",),
        limit_s=300,
    ),
    event("PermissionRequest", "block allow", EXPRESSED, takes=HOST_TOOL, limit_s=300),
    event("SubagentStart", "block context", EXPRESSED, takes=HOST_AGENT),
    event("SubagentStop", "block", EXPRESSED, takes=HOST_AGENT, limit_s=60.0),
    event("SessionStart", "context", EXPRESSED),
    event("PreCompact", "block", EXPRESSED),
    event("PostCompact"),
    event("UserPromptSubmit", "block prompt context", EXPRESSED),
    event("Stop", "block", EXPRESSED, takes=(), limit_s=300),
)

HOST = Host(
    name="kodik",
    title="Kodik",
    events=HOST_EVENTS,
    base=taken(session=("context.session_id", "session_id")),
    tools={
        "shell": HostTool("shell"),
        "read_file": HostTool("read_file"),
        "edit_file": HostTool("edit_file"),
        "edit_files": HostTool("edit_file"),
        "glob": HostTool("list_files"),
        "rg": HostTool("grep"),
        "web_fetch": HostTool("web_fetch"),
        "sub_agent": HostTool("delegate_task"),
        "Bash": HostTool("shell"),
        "Edit": HostTool("edit_file", EDIT),
        "Write": HostTool("write_file", FILE),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/Documents/Kodik/Hooks/hooks.json", "project": "{project}/.kodik/hooks/hooks.json"},
        handler=grouped(),
    ),
    project=("context.cwd", "cwd"),
    project_variables=("KODIK_PROJECT_ROOT",),
    reads={"kodik": ("user", "project", "plugin")},
    program="kodik",
    confirm="Project hooks run once the folder is trusted; reload the window after installing.",
    gaps=("asking the user", "replaced output", "the end of a session"),
)


def _context(scene: Scene) -> Json:
    """Ambient data. The fields that matter for a decision are at the top level."""
    given = scene.event.get("context")
    return {**(given if isinstance(given, dict) else {}), "session_id": scene.session, "cwd": scene.project}


TOOL = fields(tool_name="tool", tool_input="input")
AGENT = fields(agent_type="agent_type")
TRIGGER = fields(trigger="trigger")

EVENTS = (
    EventRow("PreToolUse", ("pre_tool",), "deny_tool", TOOL, "tool"),
    EventRow(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        "feedback",
        (*TOOL, Field("tool_output", "output"), Field("error", "tool_error", optional=True)),
        "tool",
    ),
    EventRow("PermissionRequest", ("permission_request",), "deny_permission", TOOL, "tool"),
    EventRow("SubagentStart", ("subagent_start",), "skip", AGENT, "agent_type"),
    EventRow("SubagentStop", ("subagent_stop",), "keep_working", AGENT, "agent_type", bound=5),
    EventRow("SessionStart", ("session_start",), "advisory", fields(source="source"), "source"),
    EventRow("PreCompact", ("pre_compact",), "skip", TRIGGER, "trigger"),
    EventRow("PostCompact", ("post_compact",), "advisory", TRIGGER, "trigger"),
    EventRow("UserPromptSubmit", ("user_prompt_submit",), "end_turn", fields(prompt="prompt"), in_subagents=False),
    EventRow("Stop", ("stop",), "keep_working", bound=5, in_subagents=False),
)

LIMITS = {"command": Limits(default_s=30.0, min_s=1.0, max_s=300.0)}

SHAPE = EntryShape(
    dialect="kodik",
    events=EVENTS,
    handlers=(HandlerShape("command", "command", ("command", "timeout"), check_text),),
    limits=LIMITS,
    top_keys=frozenset({"description"}),
    check_matcher=check_pattern,
    matcher_may_be_ignored=True,
)


def find(roots: Roots) -> list[Source]:
    user = f"{roots.home}/Documents/Kodik/Hooks"
    found = [
        Source("kodik", "project", f"{roots.project}/.kodik/hooks", roots.project),
        Source("kodik", "user", user, user),
    ]
    found.extend(Source("kodik", "plugin", f"{folder}/hooks", folder) for folder in roots.plugin_dirs)
    return found


def load(source: Source, files: Files) -> Layer:
    if source.scope == "plugin":
        if files.look(source.root) is None:
            what, fix = "this plugin is not there", "Install it again, or take it out of `plugins` in config.toml."
            files.problem("unreadable", what, source.root, fix=fix)
            return Layer(source, ())
        if _is_anothers(source.root, files):
            return Layer(source, ())
        source = source.replace(label=_plugin_id(source.root, files))
    in_json, in_toml = f"{source.path}/hooks.json", f"{source.path}/hooks.toml"
    has_toml = source.scope != "plugin" and _there(in_toml, files)
    path, syntax = (in_json, "json") if _there(in_json, files) or not has_toml else (in_toml, "toml")
    if has_toml and path == in_json:
        files.problem(
            "two-hook-files",
            "both hooks.json and hooks.toml are there; hooks.toml is ignored",
            in_toml,
            fix="Keep one of them.",
            severity="warning",
        )
    document = files.document(path, syntax)
    if document is None:
        return Layer(source, ())
    hooks = Entries(source.replace(path=path), files, SHAPE).grouped(document)
    return Layer(source, tuple(hooks))


OTHERS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json")
"""Manifests of other products' plugins."""


def _is_anothers(folder: str, files: Files) -> bool:
    """Whether a plugin says that it is for another product, which keeps its hooks in the same place."""
    theirs = any(_there(f"{folder}/{manifest}", files) for manifest in OTHERS)
    return theirs and not _there(f"{folder}/.kodik-plugin/plugin.json", files)


def _there(path: str, files: Files) -> bool:
    """Whether there is anything at the path. A broken link counts: it must be reported, not ignored."""
    return files.look(path) is not None or os.path.lexists(path)


def claim(path: str, document: Json) -> tuple[str, int]:
    folder, _, name = path.rpartition("/")
    if name not in ("hooks.json", "hooks.toml") or (isinstance(document, dict) and "schema_version" in document):
        return folder, 0
    return folder, 3 if folder.endswith(("/.kodik/hooks", "/Kodik/Hooks")) or name == "hooks.toml" else 2


def _plugin_id(folder: str, files: Files) -> str:
    manifest = files.document(f"{folder}/.kodik-plugin/plugin.json", "json")
    name = manifest.get("id") if isinstance(manifest, dict) else None
    return name if isinstance(name, str) and name else folder.rstrip("/").rsplit("/", 1)[-1]


def _variables(hook: Hook, _project: str, _session: str) -> dict[str, str]:
    if hook.scope == "plugin":
        return {"KODIK_PLUGIN_ROOT": hook.root, "KODIK_PLUGIN_ID": hook.label}
    return {"KODIK_PROJECT_ROOT": hook.root} if hook.scope == "project" else {"KODIK_HOOKS_ROOT": hook.root}


launch, names = in_a_shell(_variables)


def _finish(draft: Draft, _event: str) -> Draft:
    """A reason is for the user. That of a block is shown with it; any other becomes a message."""
    if draft.get("verdict") != "block" and draft.get("reason"):
        draft["messages"] = [draft["reason"]]
    return draft


REPLY = Reply(
    read=last_line_object,
    finish=_finish,
    exits={0: "pass", 2: "block"},
    exit_reasons=("stderr", "reason"),
    json_reasons=("reason", "stderr"),
    keys=(
        Key(
            ("decision",),
            "string",
            "verdict",
            words=(("block", "block", ()), ("approve", "allow", ("permission_request",))),
        ),
        Key(("reason",), "string", "reason"),
        Key(("modified_input",), "object", "tool_input", on=("pre_tool",)),
        Key(("modified_prompt",), "string", "prompt", on=("user_prompt_submit",)),
        Key(("additional_context",), "string", "context"),
    ),
)

# The document names Bash (with `command`), Edit and Write, whose fields are taken from the agent that this system
# follows (`file_path`, `old_string`, `new_string`); the vendor's pages name `rg` and `sub_agent`. Of the other tools
# nothing is known but that some have the host's own names (`read_file`, `web_fetch`), so they go through as they are.
TOOLS = {
    "shell": ToolRow("Bash"),
    "write_file": ToolRow("Write", {"path": "file_path"}),
    "edit_file": ToolRow("Edit", {"path": "file_path", "old_text": "old_string", "new_text": "new_string"}),
    "grep": ToolRow("rg"),
    "delegate_task": ToolRow("sub_agent"),
}

WORDS = {
    "source": {"compact": "resume", "*": "startup"},
    "trigger": {"manual": "manual", "*": "auto"},
}

SCAFFOLD = Scaffold(
    shape="groups",
    scripts={"project": "{path}", "user": "{path}"},
    command={"project": '"$KODIK_PROJECT_ROOT"/.kodik/hooks/{file}', "user": '"$KODIK_HOOKS_ROOT"/{file}'},
    declared_in=("hooks.json", "hooks.toml"),
    tool="Bash",
)

DIALECT = Dialect(
    name="kodik",
    title="Kodik",
    files=(
        ("project", ".kodik/hooks/hooks.json or .kodik/hooks/hooks.toml"),
        ("user", "~/Documents/Kodik/Hooks/hooks.json or hooks.toml"),
        ("plugin", "<plugin>/hooks/hooks.json"),
    ),
    find=find,
    claim=claim,
    misplaced=(
        Misplaced("{project}/.kodik/hooks.json", ".kodik/hooks/hooks.json"),
        Misplaced("{project}/.kodik/hooks.toml", ".kodik/hooks/hooks.toml"),
        Misplaced("{home}/.kodik/hooks/hooks.json", "~/Documents/Kodik/Hooks/hooks.json"),
        Misplaced("{home}/.kodik/hooks.json", "~/Documents/Kodik/Hooks/hooks.json"),
        Misplaced("{plugin}/hooks.json", "hooks/hooks.json inside the plugin"),
        Misplaced("{plugin}/hooks/hooks.toml", "hooks/hooks.json inside the plugin, as JSON"),
        Misplaced("{plugin}/.kodik-plugin/hooks.json", "hooks/hooks.json inside the plugin"),
    ),
    load=load,
    shape=SHAPE,
    events=EVENTS,
    base=fields(hook_event_name=native_name, context=_context),
    match=whole_value,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    tools=TOOLS,
    words=WORDS,
    replies={"command": REPLY},
    limits=LIMITS,
    chains=("input", "prompt"),
    trusted_natively=lambda roots, files: frozenset(),  # it keeps no record that we read
    differences=differences(
        "2026-11",
        "docs.kodik.ru/en/customization/hooks; plugins of Kodik-AI/kodik at fa90cbb",
        "2026-11-14",
        (
            "Di",
            "Vendor plugins print JSON over several lines; if the last line is not an object, all of stdout is tried.",
        ),
        ("Dr", "`*` is not a valid pattern, but plugins use it; it matches everything, as an empty matcher does."),
        ("Dn", "Stop and SubagentStop may keep the agent working five times a turn."),
        (
            "Dd",
            "Hooks run one after another and a block skips the rest; a ported plugin guide describes another product.",
        ),
        ("D-25", "The nested camel-case answers of ported plugins (`hookSpecificOutput`) are not read."),
    ),
    inherits=True,
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".kodik/hooks/hooks.json": grouped("PreToolUse", "Bash", ".kodik/hooks/guard"),
            ".kodik/hooks/guard": GUARD,
        },
        tool="Bash",
        calls="PreToolUse",
        payload={
            "hook_event_name": "PreToolUse", "tool_name": "shell", "tool_input": {"command": COMMAND},
            "context": {"session_id": "s", "cwd": "/p"},
        },
        stdout={"decision": "block", "reason": REASON},
    )  # fmt: skip
