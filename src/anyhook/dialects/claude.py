"""Claude Code: `hooks` in settings files and plugins; commands that all see the same event, JSON or exit 2 to refuse,
fail-open."""

from __future__ import annotations

import os

from anyhook.dialects.claude_replies import ASKING, COMMAND, MODEL
from anyhook.grammar.cells import native_name, project, session
from anyhook.grammar.commands import check_text, named_files, words_read
from anyhook.grammar.matchers import MATCH_ALL
from anyhook.grammar.patterns import BadPattern, compile_pattern
from anyhook.grammar.permission_rules import speaks_of
from anyhook.grammar.rows import (
    Dialect,
    EventRow,
    Failing,
    Field,
    Launch,
    Limits,
    Misplaced,
    Roots,
    Scaffold,
    Scene,
    ToolRow,
)
from anyhook.grammar.shapes import Entries, EntryShape, HandlerShape
from anyhook.model.hook import Hook, Layer, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.grammar.files import Files
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json


def _nowhere(_scene: Scene) -> Json:
    """Only the product keeps transcripts."""
    return ""


def _in_a_stop_hook(_scene: Scene) -> Json:
    return False


TOOL = (Field("tool_name", "tool"), Field("tool_input", "input"))
CALL = (*TOOL, Field("tool_use_id", "call_id"))
TRIGGER = (Field("trigger", "trigger"),)
AGENT = (Field("agent_id", "agent_name"), Field("agent_type", "agent_type"))
ENDING = (Field("stop_hook_active", _in_a_stop_hook), Field("last_assistant_message", "last_message"))

EVENTS = (
    EventRow("SessionStart", ("session_start",), "advisory", (Field("source", "source"),), "source"),
    EventRow("UserPromptSubmit", ("user_prompt_submit",), "abort", (Field("prompt", "prompt"),), in_subagents=False),
    EventRow("PreToolUse", ("pre_tool",), "deny_tool", CALL, "tool"),
    EventRow("PermissionRequest", ("permission_request",), "deny_permission", TOOL, "tool"),
    EventRow("PostToolUse", ("post_tool",), "feedback", (*CALL, Field("tool_response", "output")), "tool"),
    EventRow("PostToolUseFailure", ("post_tool_failure",), "feedback", (*CALL, Field("error", "tool_error")), "tool"),
    EventRow(
        "Notification",
        ("notification",),
        "advisory",
        (Field("message", "message"), Field("notification_type", "notification_type")),
        "notification_type",
    ),
    EventRow("SubagentStart", ("subagent_start",), "advisory", AGENT, "agent_type"),
    EventRow("SubagentStop", ("subagent_stop",), "keep_working", (*AGENT, *ENDING), "agent_type", bound=8),
    EventRow("PreCompact", ("pre_compact",), "skip", TRIGGER, "trigger"),
    EventRow("PostCompact", ("post_compact",), "advisory", TRIGGER, "trigger"),
    EventRow("Stop", ("stop",), "keep_working", ENDING, bound=8, in_subagents=False),
    EventRow("SessionEnd", ("session_end",), "advisory", (Field("reason", "reason"),), "reason"),
)
ELSEWHERE = frozenset(
    {
        "Setup", "PermissionDenied", "PostToolBatch", "UserPromptExpansion", "InstructionsLoaded", "MessageDisplay",
        "Elicitation", "ElicitationResult", "TaskCreated", "TaskCompleted", "TeammateIdle", "StopFailure",
        "ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate", "WorktreeRemove",
        "PreModelSwitch", "PostModelSwitch",
    }
)  # fmt: skip
"""Events of the product that happen nowhere else."""

LIMITS = {
    "command": Limits(600.0), "prompt": Limits(30.0), "agent": Limits(60.0), "http": Limits(600.0),
    "mcp_tool": Limits(600.0),
}  # fmt: skip
SHORT = {"UserPromptSubmit": 30.0, "SessionEnd": 1.5}
"""Events whose commands have less time, unless their declaration says otherwise."""
ASKERS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "Stop", "SubagentStop", "UserPromptSubmit",
)  # fmt: skip
"""Events under which a model may be asked."""


def _refuses(kind: str, event: str) -> str | None:
    if kind in ("http", "mcp_tool"):
        return f"{kind} handlers run in the product only; it is ignored"
    if kind in ("prompt", "agent") and event not in ASKERS:
        return f"a {kind} handler may not stand under {event}; it is ignored"
    return None


def _check_matcher(matcher: Json) -> str | None:
    if matcher is None:
        return None
    if not isinstance(matcher, str):
        return f"a matcher must be text, not {matcher!r}"
    try:
        if matcher not in MATCH_ALL and not _is_plain(matcher):
            compile_pattern(matcher)
    except BadPattern as error:
        return f"the matcher {matcher!r} is no valid pattern: {error.what}"
    return None


COMMON = ("if", "timeout", "statusMessage", "once")
SHAPE = EntryShape(
    dialect="claude",
    events=EVENTS,
    handlers=(
        HandlerShape(
            "command",
            "command",
            ("command", "args", "shell", "async", "asyncRewake", "onFailure", *COMMON),
            check_text,
        ),
        HandlerShape("prompt", "prompt", ("prompt", "model", "continueOnBlock", *COMMON), check_text),
        HandlerShape("agent", "prompt", ("prompt", "model", *COMMON), check_text),
        HandlerShape("http", "url", ("url", "headers", "allowedEnvVars", "onFailure", *COMMON), check_text),
        HandlerShape("mcp_tool", "tool", ("server", "tool", "input", *COMMON), check_text),
    ),
    limits=LIMITS,
    timeout_key="timeout",
    top_keys=None,
    check_matcher=_check_matcher,
    matcher_may_be_ignored=True,
    refuses=_refuses,
)


def config_dir(roots: Roots) -> str:
    """Where the product keeps the user's settings."""
    return roots.env.get("CLAUDE_CONFIG_DIR") or f"{roots.home}/.claude"


def find(roots: Roots) -> list[Source]:
    user, folder = config_dir(roots), f"{roots.project}/.claude"
    found = [
        Source("claude", "user", f"{user}/settings.json", user),
        Source("claude", "project", f"{folder}/settings.json", roots.project),
        Source("claude", "project", f"{folder}/settings.local.json", roots.project, "local"),
    ]
    found.extend(Source("claude", "plugin", f"{root}/hooks/hooks.json", root) for root in roots.plugin_dirs)
    return found


def load(source: Source, files: Files) -> Layer:
    if source.scope == "plugin":
        manifest = files.document(f"{source.root}/.claude-plugin/plugin.json", "json")
        if not isinstance(manifest, dict):
            return Layer(source, ())  # another product's plugin
        name = manifest.get("name")
        label = name if isinstance(name, str) and name else source.root.rstrip("/").rsplit("/", 1)[-1]
        source = source.replace(label=label)
    document = files.document(source.path, "json")
    if document is None:
        return Layer(source, ())
    if isinstance(document, dict) and document.get("disableAllHooks") is True:
        files.problem(
            "all-disabled",
            "`disableAllHooks` turns every hook of this file off",
            source.path,
            fix="Remove it to turn them on.",
            severity="warning",
        )
        return Layer(source, ())
    hooks = Entries(source, files, SHAPE).grouped(_of_ours(document, source, files))
    return Layer(source, tuple(_made(hook) for hook in hooks if not calls_us(hook.spec.get("command"))))


def _of_ours(document: Json, source: Source, files: Files) -> Json:
    """The document without events that happen in the product alone."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(hooks, dict):
        return document
    kept: dict[str, Json] = {}
    for event, groups in hooks.items():
        if event in ELSEWHERE:
            files.problem_at(
                "unsupported-event",
                f"`{event}` happens in the product alone; its hooks are not run here",
                source.path,
                ("hooks", event),
                fix="Nothing to do, unless you expected anyhook to run them.",
                severity="warning",
            )
            continue
        kept[event] = groups
    return {**document, "hooks": kept}


def calls_us(command: Json) -> bool:
    """Whether a command is what `anyhook install` writes: as a hook of ours it would only find itself."""
    words = command.split() if isinstance(command, str) else []
    return any(
        word == "bridge" and before.strip("'\"").rsplit("/", 1)[-1] == "anyhook"
        for before, word in zip(["", *words], words, strict=False)
    )


def _made(hook: Hook) -> Hook:
    """A loaded hook with what the shape cannot say."""
    if "timeout" not in hook.definition and hook.handler == "command" and hook.native_event in SHORT:
        hook = hook.replace(limit_s=SHORT[hook.native_event])
    if hook.spec.get("async") is True or hook.spec.get("asyncRewake") is True:
        hook = hook.replace(background=True)
    rule = hook.spec.get("if")
    if isinstance(rule, str):
        hook = hook.replace(matcher={"tool": hook.matcher, "pattern": rule})
    return hook


def _is_plain(matcher: str) -> bool:
    return all(char.isalnum() or char in "_- ,|" for char in matcher)


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """Names joined by `|` or `,` are compared exactly, anything else is searched for; then the rule under `if`."""
    matcher: Json = hook.matcher
    rule: Json = None
    if isinstance(hook.matcher, dict):
        matcher, rule = hook.matcher.get("tool"), hook.matcher.get("pattern")
    if isinstance(matcher, str) and matcher not in MATCH_ALL and row.target is not None:
        target = str(event.get(row.target))
        if _is_plain(matcher):
            names = [name.strip() for name in matcher.replace(",", "|").split("|")]
            if target not in names:
                return f"matcher {matcher!r} does not name {row.target} {target!r}"
        elif not compile_pattern(matcher).search(target):
            return f"matcher {matcher!r} does not match {row.target} {target!r}"
    if rule is None and "if" in hook.spec:
        return None  # asked before the event is known
    if isinstance(rule, str):
        if row.target != "tool":
            return "it has an `if`, and such rules are about tool calls only"
        given = event.get("input")
        where = hook.root if hook.scope == "project" else ""
        if not speaks_of(rule, str(event.get("tool")), given if isinstance(given, dict) else {}, where):
            return f"`if` {rule!r} is not about this call"
    return None


def claim(path: str, document: Json) -> tuple[str, int]:
    if path.endswith(("/.claude/settings.json", "/.claude/settings.local.json")):
        return path, 3
    named = isinstance(document, dict) and "hooks" in document
    return path, 2 if path.endswith(("/settings.json", "/settings.local.json")) and named else 0


def _variables(hook: Hook, project_dir: str) -> dict[str, str]:
    made = {"CLAUDE_PROJECT_DIR": project_dir}
    if hook.scope == "plugin":
        made["CLAUDE_PLUGIN_ROOT"] = hook.root
    return made


SHELL = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"


def launch(hook: Hook, scene: Scene) -> Launch:
    variables = _variables(hook, scene.project)
    env = {**scene.env, **variables}
    command, args = str(hook.spec["command"]), hook.spec.get("args")
    if not isinstance(args, list):
        return Launch((SHELL, "-c", command), env, scene.project)
    words = [command, *(str(word) for word in args)]
    for name, value in variables.items():
        words = [word.replace(f"${{{name}}}", value) for word in words]
    return Launch(tuple(words), env, scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    if hook.handler != "command":
        return ()
    args = hook.spec.get("args")
    words = words_read(str(hook.spec["command"]))
    if isinstance(args, list):
        words = [str(hook.spec["command"]), *(str(word) for word in args)]
    return named_files(words, project_dir, home, _variables(hook, project_dir), files)


FILE = {"path": "file_path"}
TOOLS = {
    "shell": ToolRow("Bash"),
    "read_file": ToolRow("Read", FILE),
    "write_file": ToolRow("Write", FILE),
    "edit_file": ToolRow("Edit", {**FILE, "old_text": "old_string", "new_text": "new_string"}),
    "list_files": ToolRow("Glob", {"glob": "pattern"}),
    "grep": ToolRow("Grep"),
    "delegate_task": ToolRow("Agent", {"agent_name": "subagent_type", "task": "prompt"}),
}

SCAFFOLD = Scaffold(
    shape="groups",
    scripts={"project": "{root}/.claude/hooks", "user": "{root}/hooks"},
    command={"project": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/{file}', "user": "{script}"},
    tool="Bash",
)

DIALECT = Dialect(
    name="claude",
    title="Claude Code",
    files=(
        ("user", "~/.claude/settings.json (CLAUDE_CONFIG_DIR)"),
        ("project", ".claude/settings.json, then .claude/settings.local.json"),
        ("plugin", "hooks/hooks.json of a folder with .claude-plugin/plugin.json"),
    ),
    find=find,
    claim=claim,
    misplaced=(
        Misplaced("{project}/.claude/hooks.json", ".claude/settings.json", "hooks"),
        Misplaced("{project}/.claude/hooks/hooks.json", ".claude/settings.json", "hooks"),
        Misplaced("{home}/.claude/hooks.json", "~/.claude/settings.json", "hooks"),
    ),
    load=load,
    layering="once",
    events=EVENTS,
    base=(
        Field("session_id", session),
        Field("transcript_path", _nowhere),
        Field("cwd", project),
        Field("permission_mode", "permission_mode"),
        Field("hook_event_name", native_name),
    ),
    match=match,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    tools=TOOLS,
    replies={"command": COMMAND, "prompt": MODEL, "agent": MODEL},
    failing=Failing(),
    limits=LIMITS,
    chains=(),
    together=True,
    asking=ASKING,
    differences=(
        ("C-2", "`http` and `mcp_tool` handlers, and hooks in the front matter of skills and agents, are not run."),
        ("C-5", "`disableAllHooks` counts for the hooks of its own file."),
        ("C-12", "`defer` counts as `ask`."),
        ("C-14", "Exit status 2 denies a PermissionRequest; the product ignores it there."),
        ("C-20", "Hooks of one event are run one after the other, though each sees the event as it came."),
        ("C-23", "`transcript_path` is empty where the host keeps no transcript."),
        ("C-24", "`onFailure` is taken from anyhook's settings instead."),
    ),
)
