"""Copilot CLI, by GitHub: camelCase, decisions at the top, and for a tool call every exit status but 0 is a refusal
without a reason. Measured with 1.0.102.

As a dialect: `hooks` in a folder's JSON files; two spellings of every event, each with its own payload, decisions at
the top of the answer, and before a tool every exit status but 0 refuses."""

from __future__ import annotations

import time

from anyhook.agents._claude_family import BLOCK, NOTE, REASON, TRIGGER
from anyhook.agents._claude_family import TOOLS as CLAUDE_TOOLS
from anyhook.agents._patches import split_patch
from anyhook.agents._results import as_text, result_text, unpacked
from anyhook.tables.vocabulary import *

VERSION = "1.0.102"


def _permission(word: str) -> Say:
    return Say({"permissionDecision": word, "permissionDecisionReason": "{reason}"})


CONTEXT = Say({"additionalContext": "{context}"})
TOOL = (
    Taken("tool", ("toolName", "tool_name")),
    Taken("input", ("toolArgs", "toolInput", "tool_input"), unpacked),
)
AGENT = taken(agent_type=("agentType", "agentName"), last_message="response")
STOP = taken(stop_reason=("stopReason", "stop_reason"))
FILE = {"content": "file_text"}
EDIT = {"old_text": "old_str", "new_text": "new_str"}
BORROWED = {
    "Bash": HostTool("shell"),
    "Read": HostTool("read_file"),
    "Write": HostTool("write_file", FILE),
    "Edit": HostTool("edit_file", EDIT),
    "Glob": HostTool("list_files", {"glob": "pattern"}),
    "Grep": HostTool("grep"),
}
"""Its names for tools in an entry of `.claude/settings.json`; their input stays its own. Measured with 1.0.102."""

HOST_EVENTS = (
    HostEvent("sessionStart", ("session_start",), (Taken("source", ("source",), read_new),), {"context": CONTEXT}),
    HostEvent(
        "userPromptSubmitted",
        ("user_prompt_submit",),
        taken(prompt="prompt"),
        {"context": CONTEXT, "prompt": Say({"modifiedPrompt": "{prompt}"})},
    ),
    HostEvent(
        "preToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": _permission("deny"),
            "ask": _permission("ask"),
            "allow": _permission("allow"),
            "input": Say({"modifiedArgs": "{input}"}),
        },
        limit_s=600,
    ),
    HostEvent(
        "permissionRequest",
        ("permission_request",),
        TOOL,
        {"block": Say({"behavior": "deny", "message": "{reason}"}), "allow": Say({"behavior": "allow"})},
        limit_s=600,
    ),
    HostEvent(
        "postToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("toolResult", "tool_result.text_result_for_llm"), result_text)),
        {
            "context": CONTEXT,
            "output": Say({"modifiedResult": {"textResultForLlm": "{output}", "resultType": "success"}}),
        },
        limit_s=600,
    ),
    HostEvent(
        "postToolUseFailure",
        ("post_tool_failure",),
        (*TOOL, Taken("tool_error", ("error.message", "error")), Taken("output", ("error.message", "error"))),
        {"context": CONTEXT},
        limit_s=600,
    ),
    HostEvent("notification", ("notification",), NOTE, {"context": CONTEXT}),
    HostEvent("subagentStart", ("subagent_start",), AGENT, {"context": CONTEXT}),
    HostEvent("subagentStop", ("subagent_stop",), AGENT, {"block": BLOCK}, limit_s=600),
    HostEvent("preCompact", ("pre_compact",), TRIGGER),
    HostEvent("agentStop", ("stop",), STOP, {"block": BLOCK}, limit_s=600),
    HostEvent("sessionEnd", ("session_end",), REASON),
)

OWN_FOLDERS = ("{config}/session-state/**",)
LAYERS = (
    "{config}/settings.json",
    "{config}/config.json",
    "{config}/hooks/anyhook.json",
    "{project}/.github/hooks/anyhook.json",
    "{project}/.github/copilot/settings.json",
    "{project}/.github/copilot/settings.local.json",
    "{project}/.claude/settings.json",
    "{project}/.claude/settings.local.json",
)
"""Every file that can turn its hooks off."""

HOST = Host(
    name="copilot",
    title="Copilot CLI",
    events=HOST_EVENTS,
    base=taken(session=("sessionId", "session_id")),
    tools={
        "bash": HostTool("shell"),
        "powershell": HostTool("shell"),
        "view": HostTool("read_file"),
        "create": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
        "str_replace_editor": HostTool("edit_file", EDIT),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep": HostTool("grep"),
        "rg": HostTool("grep"),
        "task": HostTool("delegate_task", {"agent_name": "agent_type", "task": "prompt"}),
        "web_fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "list",
        {"user": "{config}/hooks/anyhook.json", "project": "{project}/.github/hooks/anyhook.json"},
        {"config": ("COPILOT_HOME", "{home}/.copilot")},
        {"type": "command", "bash": "{command}", "timeoutSec": "{seconds}"},
        top={"version": 1},
        owned=True,
    ),
    project_variables=("COPILOT_PROJECT_DIR",),
    reads={"claude": ("project",), "copilot": ("user", "project")},  # it obeys Claude's nested refusal, 2026-11
    misreads=("claude",),  # the input of its tools has other fields: a gate that reads `file_path` finds none, 2026-11
    program="copilot",
    marks=("COPILOT_CLI",),
    without_us="refuses",  # exit 127 was seen to stop the call, like any status but 0, 2026-11
    settings=LAYERS,
    managed=("{etc}/github-copilot/policy.d/*.json",),
    switches=(OffSwitch(("disableAllHooks",)),),
    confirm="Project hooks run once the folder is trusted.",
    gaps=("refusing a prompt", "MCP calls of the cloud agent"),
    max_context=10_000,
    borrowed=BORROWED,
    lent=(("hook_event_name", "sessionId"), ("hookEventName", "toolName")),
    signs=(Sign(("timestamp", "hook_event_name", "cwd"), ("sessionId", "hookEventName")),),
    result=as_text,
)


def _milliseconds(_scene: Scene) -> Json:
    return time.time_ns() // 1_000_000


def _their_result(scene: Scene) -> Json:
    return {"resultType": "success", "textResultForLlm": scene.event.get("output")}


def _pascal_result(scene: Scene) -> Json:
    return {"result_type": "success", "text_result_for_llm": scene.event.get("output")}


def _error(scene: Scene) -> Json:
    return {"message": scene.event.get("tool_error")}


def _claude_tool(scene: Scene) -> Json:
    """The tool's name in Claude's hooks."""
    return CLAUDE_NAMES.get(str(scene.event.get("tool")), scene.event.get("tool"))


CLAUDE_NAMES = {
    native: next(name for name, theirs in CLAUDE_TOOLS.items() if theirs.ours == tool.ours)
    for native, tool in HOST.tools.items()
}
BASE = fields(sessionId=session, timestamp=_milliseconds, cwd=project)
PASCAL_BASE = fields(hook_event_name=native_name, session_id=session, timestamp=now, cwd=project)
STOPPING = Field("stop_hook_active", not_in_a_stop_hook)
CALL = fields(tool_name=_claude_tool, tool_input="input")
CAMEL = tuple(
    row.replace(payload=(*BASE, *row.payload))
    for row in event_rows(
        HOST,
        cells={"toolResult": _their_result, "error": _error, "source": said_new},
        extra={
            "agentStop": (STOPPING,),
            "subagentStop": (STOPPING,),
            "notification": fields(hook_event_name=lambda scene: "Notification"),
        },
        untold=("subagentStart.response",),
        bound=8,
    )
)
PASCAL = {
    "SessionStart": ("sessionStart", fields(source=said_new)),
    "UserPromptSubmit": ("userPromptSubmitted", fields(prompt="prompt")),
    "PreToolUse": ("preToolUse", CALL),
    "PermissionRequest": ("permissionRequest", CALL),
    "PostToolUse": ("postToolUse", (*CALL, Field("tool_result", _pascal_result))),
    "PostToolUseFailure": ("postToolUseFailure", (*CALL, Field("error", _error))),
    "SubagentStop": ("subagentStop", (Field("last_assistant_message", "last_message"), STOPPING)),
    "PreCompact": ("preCompact", fields(trigger="trigger")),
    "Stop": ("agentStop", (Field("stop_reason", "stop_reason"), STOPPING)),
    "SessionEnd": ("sessionEnd", fields(reason="reason")),
}
"""The other spelling of an event, and what its payload has besides the base."""


def _renamed(row: EventRow) -> EventRow:
    """`permissionRequest` has another key for the tool's input, and two more keys."""
    if row.native != "permissionRequest":
        return row
    kept = tuple(field.replace(key="toolInput") if field.key == "toolArgs" else field for field in row.payload)
    more = fields(hookName=native_name, permissionSuggestions=fixed([]))
    return row.replace(payload=(*kept, *more))


_ROWS = {row.native: _renamed(row) for row in CAMEL}
EVENTS = (
    *_ROWS.values(),
    *(
        _ROWS[camel].replace(native=pascal, payload=(*PASCAL_BASE, *fields))
        for pascal, (camel, fields) in PASCAL.items()
    ),
)
EDITORS = frozenset(PASCAL) - {"PermissionRequest", "PostToolUseFailure", "SessionEnd"} | {"SubagentStart"}
"""Events that the editor has as well."""
ELSEWHERE = frozenset({"userPromptTransformed", "errorOccurred", "ErrorOccurred", "preMcpToolCall"})
LIMITS = {"command": Limits(30.0)}
SKIPPED: tuple[HandlerKind, ...] = ("http", "prompt")
SHAPE = EntryShape(
    dialect="copilot",
    events=EVENTS,
    handlers=(
        HandlerShape(
            "command",
            "bash",
            ("bash", "command", "powershell", "matcher", "cwd", "env", "timeoutSec", "timeout", "comment"),
            check_text,
        ),
        *(HandlerShape(kind, "type", (), check_text) for kind in SKIPPED),
    ),
    limits=LIMITS,
    timeout_key="timeoutSec",
    refuses=lambda kind, event: f"a handler of type {kind} is not run here; it is ignored" if kind in SKIPPED else None,
    default_kind="command",
)


def find(roots: Roots) -> list[Source]:
    user, folder = roots.env.get("COPILOT_HOME") or f"{roots.home}/.copilot", f"{roots.project}/.github"
    return [
        Source("copilot", "user", f"{user}/hooks", user),
        Source("copilot", "user", f"{user}/settings.json", user, "settings"),
        Source("copilot", "project", f"{folder}/hooks", roots.project),
        Source("copilot", "project", f"{folder}/copilot/settings.json", roots.project, "settings"),
        Source("copilot", "project", f"{folder}/copilot/settings.local.json", roots.project, "local"),
    ]


def load(source: Source, files: Files) -> Layer:
    if source.path.endswith(".json"):
        return Layer(source, tuple(_of_file(source, files)))
    found: list[Hook] = []
    for name in files.names(source.path):
        if name.endswith(".json"):
            label = name.removesuffix(".json")
            each = source.replace(path=f"{source.path}/{name}", label=label)
            with one_file(files, each):
                found.extend(_of_file(each, files))
    return Layer(source, tuple(found))


def is_an_editors(document: Json) -> bool:
    """Whether a file is written for the editor: it has no version, and only the other spelling."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(hooks, dict) or not hooks:
        return False
    return not isinstance(document.get("version"), (int, float)) and all(event in EDITORS for event in hooks)


def _of_file(source: Source, files: Files) -> list[Hook]:
    document = files.document(source.path, "json")
    if document is None or is_an_editors(document):
        return []
    hooks = Entries(source, files, SHAPE).listed(_spelled(without(document, ELSEWHERE, source, files)))
    off = isinstance(document, dict) and document.get("disableAllHooks") is True
    if off:
        hooks = [hook.replace(status=DISABLED, why="`disableAllHooks` of its file turns it off") for hook in hooks]
    return hooks


def _spelled(document: Json) -> Json:
    """The document with one name for the command and one for its limit."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(hooks, dict):
        return document
    made: dict[str, Json] = {}
    for event, entries in hooks.items():
        made[event] = [_one_name(entry) for entry in entries] if isinstance(entries, list) else entries
    return {**document, "hooks": made}


def _one_name(entry: Json) -> Json:
    if not isinstance(entry, dict):
        return entry
    found = dict(entry)
    for name, alias in (("bash", "command"), ("timeoutSec", "timeout")):
        if name not in found and alias in found:
            found[name] = found.pop(alias)
    return found


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """A pattern for the whole target. In the other spelling, a list of names from either agent, or a pattern for all of
    Claude's name."""
    matcher = hook.matcher
    if not isinstance(matcher, str) or matcher in (*MATCH_ALL, "**") or row.target is None:
        return None
    target = str(event.get(row.target))
    claude = CLAUDE_NAMES.get(target, target) if row.native in PASCAL else target
    if row.native in PASCAL and is_plain(matcher, "_- ,|"):
        names = [name.strip() for name in matcher.replace(",", "|").split("|")]
        return None if target in names or claude in names else f"matcher {matcher!r} does not name {target!r}"
    try:
        found = compile_pattern(matcher).fullmatch(claude)
    except BadPattern as error:
        return f"matcher {matcher!r} is not a valid pattern ({error.what}), so the hook is skipped"
    return None if found else f"matcher {matcher!r} does not match {row.target} {claude!r}"


def claim(path: str, document: Json) -> tuple[str, int]:
    sure = "/.github/hooks/" in path or "/.copilot/hooks/" in path or "/.github/copilot/settings" in path
    return path, 3 if sure and path.endswith(".json") and not is_an_editors(document) else 0


_launch, names = in_a_shell(
    {"COPILOT_PROJECT_DIR": "{project}", "CLAUDE_PROJECT_DIR": "{project}", "COPILOT_HOOK_DIR": "{folder}"}, "bash"
)


def launch(hook: Hook, scene: Scene) -> Launch:
    made = _launch(hook, scene)
    cwd = hook.spec.get("cwd")
    place = scene.project if not isinstance(cwd, str) else cwd if cwd.startswith("/") else f"{scene.project}/{cwd}"
    return made.replace(env={**made.env, **env_of(hook)}, cwd=place)


def read(stdout: bytes) -> Printed:
    """One object, after lines that only report progress are removed."""
    lines = stdout.splitlines()
    kept = [line for line in lines if not (line.strip().startswith(b"{") and _is_progress(line))]
    return whole_object(b"\n".join(kept) if len(kept) < len(lines) else stdout)


def _is_progress(line: bytes) -> bool:
    kind, value = whole_object(line)
    return kind == "object" and isinstance(value, dict) and value.get("type") == "progress"


PERMISSIONS: Words = (("deny", "block", ()), ("allow", "allow", ()), ("ask", "ask", ()))
CONTEXT_EVENTS = (
    "session_start", "user_prompt_submit", "post_tool", "post_tool_failure", "subagent_start", "notification",
)  # fmt: skip
REPLY = Reply(
    read=read,
    also=("interrupt", "modifiedResult.resultType", "modifiedTransformedPrompt", "modifiedResponse"),
    json_reasons=("reason",),
    keys=(
        Key(("permissionDecision",), "string", "verdict", on=("pre_tool",), words=PERMISSIONS),
        Key(("permissionDecisionReason",), "string", "reason", on=("pre_tool",)),
        Key(("modifiedArgs",), "object", "tool_input", on=("pre_tool",)),
        Key(("behavior",), "string", "verdict", on=("permission_request",), words=PERMISSIONS[:2]),
        Key(("message",), "string", "reason", on=("permission_request",)),
        Key(("additionalContext",), "string", "context", on=CONTEXT_EVENTS),
        Key(("modifiedResult", "textResultForLlm"), "string", "output_text", on=("post_tool",)),
        Key(("modifiedPrompt",), "string", "prompt", on=("user_prompt_submit",)),
        Key(
            ("decision",),
            "string",
            "verdict",
            on=("stop", "subagent_stop"),
            words=(("block", "block", ()), ("allow", "none", ())),
        ),
        Key(("reason",), "string", "reason"),
    ),
)
REPLY = REPLY.replace(
    on_event={
        "pre_tool": REPLY.replace(otherwise="block"),
        "permission_request": REPLY.replace(exits={0: "pass", 2: "block"}),
    }
)
"""Before a tool, any failure of the command refuses it."""

DIALECT = Dialect(
    name="copilot",
    title="Copilot CLI",
    dense=True,
    files=(
        ("user", "~/.copilot/hooks/*.json, then ~/.copilot/settings.json (COPILOT_HOME)"),
        ("project", ".github/hooks/*.json, then .github/copilot/settings.json and settings.local.json"),
    ),
    find=find,
    variables=("COPILOT_HOME",),
    claim=claim,
    misplaced=(Misplaced("{project}/.github/hooks.json", ".github/hooks/<name>.json", "hooks"),),
    load=load,
    shape=SHAPE,
    events=EVENTS,
    base=(),
    match=match,
    launch=launch,
    names=names,
    scaffold=Scaffold(
        shape="list",
        scripts={"project": "{project}/.github/hooks/scripts", "user": "{root}/hooks/scripts"},
        command={"project": ".github/hooks/scripts/{file}", "user": "{script}"},
        declared_in=("hooks.json",),
        key="bash",
        fixed={"type": "command"},
        top={"version": 1},
        tool="bash",
    ),
    tools=tool_rows(HOST),
    replies={"command": REPLY},
    failing=Failing(gates_only=("signalled", "not_started")),
    limits=LIMITS,
    together=True,
    differences=differences(
        "1.0.102",
        "github/docs content/copilot/reference/hooks-reference.md; run",
        "2026-11-15",
        (
            "CP-3",
            "Administrators' policy files, plugins, and Claude's files, which the product reads too, are not read.",
        ),
        ("CP-6", "`http` and `prompt` handlers are reported and not run."),
        ("CP-9", "The reason of a refusal by exit status is stderr; the product drops it."),
        ("CP-10", "A command that crashes denies a permission request as well, not only a tool call."),
        ("CP-13", "If answers to a permission request differ, a refusal wins; in the product, the last answer does."),
    ),
)


CHANGES = (
    until(
        "0.0.422", "does not read hooks from its user's folder", "changelog.md of Copilot CLI, 0.0.422", "2026-03-05"
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    usual = Drive(
        ("-p", "{prompt}", "--allow-all-tools", "--no-auto-update"),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "{model}",
            "COPILOT_HOME": "{config}",
            "COPILOT_AUTO_UPDATE": "false",
        },
        carries=("{config}/settings.json", "{config}/config.json"),
        in_folder=lambda drive: drive.with_words("--trust-folder"),
        helper="general-purpose",
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--allow-all-tools")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, guarded

    path, guard = ".github/hooks/hooks.json", ".github/hooks/scripts/guard"
    entry: Json = {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": guard}]}}
    payload: dict[str, Json] = {"sessionId": "s", "toolName": "bash", "toolArgs": {"command": COMMAND}}
    told = {"permissionDecision": "deny", "permissionDecisionReason": REASON}
    return guarded(path, "bash", payload, entry=entry, guard=guard, event="preToolUse", stdout=told)
