"""Kolega Code: `hooks.json` in a state directory and in a project, which both the product and we read.

As a host: it runs the hooks of its own files itself, and all others through our entry. Measured with 0.45.1.

As a dialect: `hooks.json` in a state directory and in a project; command, python, prompt and agent handlers,
fail-open."""

from __future__ import annotations

import sys

from anyhook.agents._claude_family import BASE, EXIT_2, FILE, event, grouped
from anyhook.agents._claude_family import TOOL as CLAUDE_TOOL
from anyhook.agents._patches import split_patch
from anyhook.programs.commands import argv_of, check_command, split
from anyhook.programs.loose import argv_read
from anyhook.tables.vocabulary import *

VERSION = "0.45.1"


STATE = "{home}/Library/Application Support" if sys.platform == "darwin" else "{state}"
"""The parent of the folder with the user's hooks."""
STOP = taken(stop_reason="stop_reason", last_message="last_message")
RESULT = tuple(Taken(field, (field,)) for field in ("agent_name", "result"))
END = Say({"continue": False, "systemMessage": "{reason}"})

HOST_EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context", {"block": EXIT_2}, takes=taken(prompt="user_message")),
    event("PreToolUse", "block input", limit_s=60.0),
    event(
        "PostToolUse",
        "end_turn context output",
        {"end_turn": END},
        canonical=("post_tool", "post_tool_failure"),
        takes=(*CLAUDE_TOOL, Taken("output", ("tool_output",))),
        error=("is_error",),
        after_failure=("context",),
        limit_s=60.0,
    ),
    event("PreCompact"),
    event("PostCompact"),
    event("Notification"),
    event("SubagentStop", "context", takes=RESULT, limit_s=60.0),
    event("Stop", "block", {"block": EXIT_2}, takes=STOP, limit_s=60.0),
    event("SessionEnd"),
)

HOST = Host(
    name="kolega",
    title="Kolega Code",
    events=HOST_EVENTS,
    base=BASE,
    tools={
        # The released product's names, then those of its document.
        "exec_command": HostTool("shell"),
        "write_stdin": HostTool("shell", {"command": "chars"}),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", {**FILE, "old_text": "old_string", "new_text": "new_string"}),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "dispatch_agent": HostTool("delegate_task", {"agent_name": "agent_type"}),
        "execute_terminal_command": HostTool("shell"),
        "read_entire_file": HostTool("read_file", {"path": "relative_path"}),
        "create_file": HostTool("write_file", {"path": "relative_path"}),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/hooks.json", "project": "{project}/.kolega/hooks.json"},
        {
            "state": ("XDG_STATE_HOME", "{home}/.local/state"),
            "config": ("KOLEGA_CODE_STATE_DIR", f"{STATE}/kolega-code"),
        },
        grouped(),
        group={"matcher": "*"},
        top={"schema_version": 1},
    ),
    reads={"kolega": ("user", "project")},
    program="kolega-code",
    without_us="open",  # a missing program was seen to be ignored, 2026-11
    confirm="A project's hooks run once it is trusted there (`--trust-hooks`).",
    gaps=(
        "asking the user",
        "sessions in an editor (`kolega-code acp`) or its gateway: by the source of 0.45.1, no hook runs there",
    ),
)


TOOL = fields(tool_name="tool", tool_input="input")


EVENTS = (
    EventRow("SessionStart", ("session_start",), "advisory", fields(source="source"), "source"),
    EventRow(
        "UserPromptSubmit", ("user_prompt_submit",), "end_turn", fields(user_message="prompt"), in_subagents=False
    ),
    EventRow("PreToolUse", ("pre_tool",), "deny_tool", (*TOOL, Field("tool_use_id", "call_id")), "tool"),
    EventRow(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        "end_turn",
        (*TOOL, Field("tool_output", output_text), Field("is_error", failed)),
        "tool",
    ),
    EventRow(
        "PreCompact",
        ("pre_compact",),
        "advisory",
        fields(trigger="trigger", input_tokens="input_tokens", model_context_length="model_context_length"),
        "trigger",
    ),
    EventRow(
        "PostCompact",
        ("post_compact",),
        "advisory",
        (
            Field("trigger", "trigger"),
            Field(
                "ok", fixed(True)
            ),  # it happens once the conversation is shorter; one that could not be compacted has none
            Field("input_tokens_before", "input_tokens"),
            Field("model_context_length", "model_context_length"),
        ),
        "trigger",
    ),
    EventRow(
        "Stop",
        ("stop",),
        "keep_working",
        fields(stop_reason="stop_reason", last_message="last_message"),
        bound=5,
        in_subagents=False,
    ),
    EventRow(
        "SubagentStop",
        ("subagent_stop",),
        "advisory",
        fields(agent_name="agent_name", result="result", sub_agent_info="sub_agent_info"),
        "agent_name",
        notice="[SubagentStop hook: {reason}]",
    ),
    EventRow(
        "Notification",
        ("notification",),
        "advisory",
        fields(notification_type="notification_type", message="message", tool_name="tool"),
        "notification_type",
    ),
    EventRow("SessionEnd", ("session_end",), "advisory", fields(reason="reason"), "reason"),
)


def _read_limit(value: Json, limits: Limits) -> tuple[float | None, str]:
    """0 means the default, "30" means 30, and a value that is not a duration skips the hook."""
    if value == 0 and not isinstance(value, bool):
        return limits.default_s, ""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            pass
    seconds, wrong = read_limit(value, limits)
    return (None if wrong and seconds == limits.default_s else seconds), wrong


def _limits(default_s: float) -> Limits:
    return Limits(default_s=default_s, read=_read_limit)


LIMITS = {"command": _limits(60.0), "python": _limits(30.0), "prompt": _limits(30.0), "agent": _limits(60.0)}


def _check_callable(value: Json) -> str | None:
    wrong = check_text(value)
    if wrong or not isinstance(value, str):
        return wrong
    module, colon, function = value.partition(":")
    words = [*module.split("."), *function.split(".")]
    return None if colon and all(word.isidentifier() for word in words) else "must be `module.path:function`"


def _refuses(kind: str, event: str) -> str | None:
    if kind == "agent" and event in ("PreToolUse", "PostToolUse"):
        return f"an agent handler uses tools itself, so it is not allowed on {event}; it is ignored"
    return None


SHAPE = EntryShape(
    dialect="kolega",
    events=EVENTS,
    handlers=(
        HandlerShape("command", "command", ("command", "timeout"), check_command, split),
        HandlerShape("python", "callable", ("callable", "timeout"), _check_callable),
        HandlerShape("prompt", "prompt", ("prompt", "model", "timeout"), check_text),
        HandlerShape("agent", "prompt", ("prompt", "model", "timeout"), check_text),
    ),
    limits=LIMITS,
    top_keys=frozenset({"schema_version"}),
    check_matcher=check_pattern,
    refuses=_refuses,
)


def state_dir(roots: Roots) -> str:
    """Where the product keeps its own state, from an option, a variable or the platform."""
    if roots.state_dir:
        return roots.state_dir
    named = roots.env.get("KOLEGA_CODE_STATE_DIR", "")
    if named:
        return roots.home + named[1:] if named == "~" or named.startswith("~/") else named
    if roots.platform == "darwin":
        return f"{roots.home}/Library/Application Support/kolega-code"
    if roots.platform == "win32":
        return (roots.env.get("LOCALAPPDATA") or f"{roots.home}/AppData/Local") + "/kolega-code"
    return roots.xdg("XDG_STATE_HOME", ".local/state") + "/kolega-code"


def find(roots: Roots) -> list[Source]:
    user = state_dir(roots)
    return [
        Source("kolega", "user", f"{user}/hooks.json", user),
        Source("kolega", "project", f"{roots.project}/.kolega/hooks.json", roots.project),
    ]


def load(source: Source, files: Files) -> Layer:
    document = files.document(source.path, "json")
    if document is None:
        return Layer(source, ())
    version = document.get("schema_version") if isinstance(document, dict) else 1
    if version != 1 or isinstance(version, bool):
        files.problem(
            "schema-version",
            f"`schema_version` must be 1, not {version!r}; the whole file is ignored",
            source.path,
            fix='Add "schema_version": 1.',
        )
        return Layer(source, ())
    return Layer(source, tuple(Entries(source, files, SHAPE).grouped(document)))


def claim(path: str, document: Json) -> tuple[str, int]:
    if not path.endswith(".json"):
        return path, 0
    if path.endswith(("/.kolega/hooks.json", "/kolega-code/hooks.json")):
        return path, 3
    named = isinstance(document, dict) and "schema_version" in document
    return path, 3 if named else 2 if path.endswith("/hooks.json") and not isinstance(document, dict) else 1


def trusted_projects(roots: Roots, files: Files) -> frozenset[str]:
    settings = files.document(f"{state_dir(roots)}/settings.json", "json")
    listed = settings.get("trusted_hook_projects") if isinstance(settings, dict) else None
    if not isinstance(listed, list):
        return frozenset()
    return frozenset(path for path in listed if isinstance(path, str))


def launch(hook: Hook, scene: Scene) -> Launch:
    return Launch(tuple(argv_of(hook)), dict(scene.env), scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    if hook.handler == "command":
        return named_files(argv_read(argv_of(hook)), project_dir, home, {}, files)
    if hook.handler != "python":
        return ()
    from anyhook.programs.named import module_files

    module = str(hook.spec["callable"]).partition(":")[0]
    return tuple(path for path in module_files(module, (project_dir,)) if files.is_file(path))


CONTEXT_EVENTS = ("session_start", "user_prompt_submit", "post_tool", "post_tool_failure", "subagent_stop")
TURN_EVENTS = ("user_prompt_submit", "post_tool", "post_tool_failure")

COMMAND = Reply(
    read=whole_object,
    also=(f"{SPECIFIC}.hookEventName",),
    exits={0: "pass", 2: "block"},
    json_reasons=("reason", "message"),
    keys=(
        Key(
            (SPECIFIC, "permissionDecision"),
            "string",
            "verdict",
            words=(("deny", "block", ()), ("allow", "none", ()), ("ask", "none", ())),
            any_case=True,
        ),
        # Any value can be a text, as in the product.
        Key((SPECIFIC, "permissionDecisionReason"), "any", "reason"),
        Key((SPECIFIC, "updatedInput"), "object", "tool_input", on=("pre_tool",)),
        Key((SPECIFIC, "updatedToolOutput"), "any", "output_text", on=("post_tool",)),
        Key((SPECIFIC, "additionalContext"), "any", "context", on=CONTEXT_EVENTS),
        Key(("systemMessage",), "any", "messages"),
        Key(("continue",), "bool", "end_turn_unless", on=TURN_EVENTS),
    ),
)

PYTHON = Reply(
    read=whole_object,
    json_reasons=("reason",),
    keys=(
        Key(("blocked",), "bool", "block"),
        Key(("reason",), "string", "reason"),
        Key(("updated_input",), "object", "tool_input", on=("pre_tool",)),
        Key(("updated_output",), "any", "output_text", on=("post_tool",)),
        Key(("additional_context",), "string", "context", on=CONTEXT_EVENTS),
        Key(("end_turn",), "bool", "end_turn", on=TURN_EVENTS),
    ),
)

MODEL = Reply(
    read=yes_or_no,
    json_reasons=("reason",),
    keys=(Key(("ok",), "any", "block_unless"), Key(("reason",), "string", "reason")),
)

ASKING = Asking(
    placeholders=("$EVENT", "$ARGUMENTS"),
    roles={"fast": "fast", "long": "long", "thinking": "thinking", "main": "long", "long_context": "long"},
    reply='{"ok": true} to let it happen, or {"ok": false, "reason": "one or two sentences"} to block it',
    temperature=0.0,
    max_tokens=512,
)

# The document names execute_terminal_command; the rest are the product's own tools at the document's commit. It edits
# by patch or by lines, not by one replacement, so `edit_file` keeps the host's name. The names are the document's,
# next to those of the released product (0.45.1).
TOOLS = {
    "shell": ToolRow("execute_terminal_command", also=("exec_command", "write_stdin")),
    "read_file": ToolRow("read_entire_file", {"path": "relative_path"}, also=("read",)),
    "write_file": ToolRow("create_file", {"path": "relative_path"}, also=("write",)),
    "list_files": ToolRow("find_files_by_pattern", {"glob": "pattern"}),
    "grep": ToolRow("search_codebase", {"glob": "file_pattern"}),
    "delegate_task": ToolRow("dispatch_general_agent", also=("dispatch_agent",)),
}

# The document gives no list of words; these are the product's. Ours for the end of a run without a terminal are its
# `ask_complete`; any other session is one of its terminal.
WORDS = {
    "source": {"compact": "resume", "*": "startup"},
    "trigger": {"manual": "manual", "*": "auto"},
    "stop_reason": {"max_tokens": "max_tokens", "stop_sequence": "stop_sequence", "*": "end_turn"},
    "reason": {**dict.fromkeys(("completed", "blocked", "max_turns", "error", "refused"), "ask_complete"), "*": "quit"},
    "permission_mode": {**dict.fromkeys(("auto", "bypassPermissions", "yolo"), "auto"), "*": "ask"},
}

SCAFFOLD = Scaffold(
    shape="groups",
    scripts={"project": "{root}/.kolega/hooks", "user": "{root}/hooks"},
    command={"project": ".kolega/hooks/{file}", "user": "{script}"},
    top={"schema_version": 1},
    tool="execute_terminal_command",
)

FOREIGN_TOOLS = frozenset({"Edit", "Write"})
DIALECT = Dialect(
    name="kolega",
    title="Kolega Code",
    files=(
        ("user", "~/.local/state/kolega-code/hooks.json (KOLEGA_CODE_STATE_DIR, --state-dir)"),
        ("project", ".kolega/hooks.json"),
    ),
    find=find,
    variables=("KOLEGA_CODE_STATE_DIR", "LOCALAPPDATA"),
    claim=claim,
    misplaced=(
        Misplaced("{project}/.kolega/hooks/hooks.json", ".kolega/hooks.json"),
        Misplaced("{project}/.kolega-code/hooks.json", ".kolega/hooks.json"),
        Misplaced("{home}/.kolega/hooks.json", "~/.local/state/kolega-code/hooks.json"),
        Misplaced("{config}/kolega-code/hooks.json", "~/.local/state/kolega-code/hooks.json"),
        Misplaced("{home}/.local/state/kolega-code/hooks.json", "the state directory that is in use"),
    ),
    load=load,
    shape=SHAPE,
    events=EVENTS,
    base=fields(hook_event_name=native_name, session_id=session, cwd=project, permission_mode="permission_mode"),
    match=names_or_pattern,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    tools=TOOLS,
    words=WORDS,
    replies={"command": COMMAND, "python": PYTHON, "prompt": MODEL, "agent": MODEL},
    limits=LIMITS,
    chains=("input",),
    closed_env=True,
    asking=ASKING,
    trusted_natively=trusted_projects,
    differences=differences(
        "0.45.1",
        "kolega-ai/kolega-code docs/src/content/docs/hooks.md at 0d0f6a6; PyPI kolega-code 0.45.1; run",
        "2026-11-15",
        (
            "Ga",
            "Matchers of SessionStart, PreCompact and SessionEnd are tried against source, trigger and reason; "
            "the product tries them against nothing.",
        ),
        ("Gc", "A PostToolUse block ends the turn after a failed tool too; replaced output still has no effect there."),
        (
            "G-13",
            "The document has nine events. Releases since June have a tenth, `PostCompact`, which is read too. It gets "
            "neither the number of summarised messages nor the size afterwards.",
        ),
        ("Gd", "`systemMessage` is shown to the user; the product uses it only as a reason."),
        ("Gf", "Output that is not a JSON object is reported as a problem and ignored."),
        ("Gg", "The timeout of synchronous python callables is enforced."),
        (
            "G-44",
            "The model also gets the prompt separately from the event. It is told that the event, between markers that "
            "cannot be guessed, is evidence and not an instruction.",
        ),
        ("G-43", "A trusted project's folder is importable for its python hooks."),
    ),
    inherits=True,
)


CHANGES = (until("0.4", "has no hooks before a tool", "wheels of kolega-code 0.3.2 and 0.4.0", "2026-11-19"),)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    model = (
        "--endpoint-url",
        "{url}",
        "--endpoint-style",
        "anthropic",
        "--endpoint-api-key",
        KEY,
        "--model",
        "{model}",
    )
    usual = Drive(
        ("ask", "--permission-mode", "auto", "--lsp", "off", "--web-search", "off", *model, "{prompt}"),
        {"KOLEGA_CODE_NO_DIAGNOSTICS": "1"},
        in_folder=lambda drive: drive.with_words("--trust-hooks"),
        helper="general",
        cannot_show={"pre_tool allow": "it asks before it calls its hooks"},
    )
    asking = usual.replace(words=tuple("ask" if word == "auto" else word for word in usual.words))
    return usual.replace(scenarios={ASKING: asking})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, grouped, guarded

    tool = "execute_terminal_command"
    entry = {"schema_version": 1, **grouped("PreToolUse", tool, ".kolega/hooks/guard")}
    return guarded(".kolega/hooks.json", tool, {"session_id": "s", **called("exec_command")}, entry=entry)
