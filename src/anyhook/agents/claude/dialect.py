"""Claude Code: `hooks` in settings files and plugins; commands that all see the same event, JSON or exit 2 to refuse,
fail-open."""

from __future__ import annotations

from anyhook.agents._claude_replies import ASKING, CALLED, COMMAND, MODEL, POSTED
from anyhook.agents._mcp_servers import pinned
from anyhook.agents.claude.events import EVENTS
from anyhook.agents.claude.files import find
from anyhook.agents.claude.files import load as load_source
from anyhook.agents.claude.permission_rules import speaks_of
from anyhook.agents.claude.servers import PROJECT_FILE, server_of
from anyhook.programs.commands import SHELL
from anyhook.tables.vocabulary import *

LIMITS = {
    "command": Limits(600.0), "prompt": Limits(30.0), "agent": Limits(60.0), "http": Limits(600.0),
    "mcp_tool": Limits(600.0),
}  # fmt: skip
SHORT = {
    "UserPromptSubmit": 30.0, "PreModelSwitch": 30.0, "PostModelSwitch": 30.0, "MessageDisplay": 10.0,
    "SessionEnd": 1.5,
}  # fmt: skip
"""Events whose commands have less time, unless the declaration sets a limit."""
ASKERS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied", "Stop",
    "SubagentStop", "TaskCreated", "TaskCompleted", "TeammateIdle", "UserPromptSubmit", "UserPromptExpansion",
)  # fmt: skip
"""Events under which a model may be asked."""
COMMANDS_ONLY = ("SessionStart", "Setup")
"""Events that come before there is a model to ask, or a server to post to."""


def _refuses(kind: str, event: str) -> str | None:
    if (kind in ("prompt", "agent") and event not in ASKERS) or (kind == "http" and event in COMMANDS_ONLY):
        return f"a handler of type {kind} is not allowed on {event}; it is ignored"
    return None


def _check_url(value: Json) -> str | None:
    wrong = check_text(value)
    if wrong or not isinstance(value, str):
        return wrong
    from urllib.parse import urlsplit

    try:
        url = urlsplit(value)
        fine = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError as error:
        return f"is not a URL ({error})"
    return None if fine else "must be a URL that begins with http:// or https://"


def _check_matcher(matcher: Json) -> str | None:
    if matcher is None:
        return None
    if not isinstance(matcher, str):
        return f"a matcher must be text, not {matcher!r}"
    try:
        if matcher not in MATCH_ALL and not is_plain(matcher, SIGNS):
            compile_pattern(matcher)
    except BadPattern as error:
        return f"the matcher {matcher!r} is not a valid pattern: {error.what}"
    return None


SIGNS = "_- ,|"
"""What a matcher may contain besides letters and digits and still be a list of names."""
EXACT = ("FileChanged", "StopFailure")
"""Events whose matchers are names and never patterns."""
COMMON = ("if", "timeout", "statusMessage", "once")
SHAPE = EntryShape(
    dialect="claude",
    events=EVENTS,
    handlers=(
        HandlerShape(
            "command", "command", ("command", "args", "shell", "async", "asyncRewake", "onFailure", *COMMON), check_text
        ),
        HandlerShape("prompt", "prompt", ("prompt", "model", "continueOnBlock", *COMMON), check_text),
        HandlerShape("agent", "prompt", ("prompt", "model", *COMMON), check_text),
        HandlerShape("http", "url", ("url", "headers", "allowedEnvVars", "onFailure", *COMMON), _check_url),
        HandlerShape("mcp_tool", "tool", ("server", "tool", "input", *COMMON), check_text),
    ),
    limits=LIMITS,
    check_matcher=_check_matcher,
    matcher_may_be_ignored=True,
    refuses=_refuses,
)


def load(source: Source, files: Files) -> Layer:
    layer = load_source(source, files, SHAPE)
    return layer.replace(hooks=tuple(map(_made, layer.hooks)))


def _made(hook: Hook) -> Hook:
    """A loaded hook, with what the shape cannot express."""
    if "timeout" not in hook.definition and hook.handler == "command" and hook.native_event in SHORT:
        hook = hook.replace(limit_s=SHORT[hook.native_event])
    if hook.spec.get("async") is True or hook.spec.get("asyncRewake") is True:
        hook = hook.replace(background=True)
    rule = hook.spec.get("if")
    if isinstance(rule, str):
        matcher = hook.matcher if isinstance(hook.matcher, dict) else {"tool": hook.matcher, "pattern": {}}
        hook = hook.replace(matcher={**matcher, "pattern": {**_object(matcher["pattern"]), "if": rule}})
    return hook


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def identity(hook: Hook) -> tuple[Json, ...]:
    """Commands with the same text are the same hook, and so are requests to the same address; a plugin's or an agent's
    hooks are never the same as others."""
    if hook.handler not in ("command", "http"):
        return (hook.id,)
    owner = f"{hook.scope}:{hook.label}" if hook.label not in ("", "local") else ""
    return (owner, hook.handler, *(str(hook.spec.get(key)) for key in ("command", "args", "shell", "url")))


def _unnamed(matcher: Json, event: Event, row: EventRow) -> str | None:
    """Names joined by `|`, with any characters; a file's name is the last part of its path."""
    if not isinstance(matcher, str) or matcher in MATCH_ALL:
        return None
    target = str(event.get(row.target or "")).rsplit("/", 1)[-1]
    names = [name.strip() for name in matcher.split("|")]
    return None if target in names else f"matcher {matcher!r} does not name {row.target} {target!r}"


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """Names joined by `|` or `,` are compared exactly, anything else is a pattern to search for. Then the rule under
    `if` is tried."""
    matcher: Json = hook.matcher
    asked: dict[str, Json] = {}
    if isinstance(hook.matcher, dict):
        matcher, asked = hook.matcher.get("tool"), _object(hook.matcher.get("pattern"))
    why = _unnamed(matcher, event, row) if row.native in EXACT else named_or_found(matcher, event, row, SIGNS)
    if why:
        return why
    agent, rule = asked.get("agent"), asked.get("if")
    if agent is not None and event.get("agent_type") != agent:
        return f"it belongs to the sub-agent {agent!r}"
    skill, loaded = asked.get("skill"), event.get("skills")
    if skill is not None and not (isinstance(loaded, list) and skill in loaded):
        return f"it runs only while the skill {skill!r} is loaded"
    if isinstance(rule, str):
        if row.target != "tool":
            return "it has an `if`, and such rules are for tool calls only"
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


def launch(hook: Hook, scene: Scene) -> Launch:
    variables = _variables(hook, scene.project)
    env = {**scene.env, **env_of(hook), **variables}
    command, args = str(hook.spec["command"]), hook.spec.get("args")
    if not isinstance(args, list):
        return Launch((SHELL, "-c", command), env, scene.project)
    words = [command, *(str(word) for word in args)]
    for name, value in variables.items():
        words = [word.replace(f"${{{name}}}", value) for word in words]
    return Launch(tuple(words), env, scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    if hook.handler == "mcp_tool":
        server = server_of(hook, {"HOME": home}, project_dir, {})
        return pinned(server, f"{hook.root}/{PROJECT_FILE}", project_dir, home, files)
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
    "web_fetch": ToolRow("WebFetch"),
    "web_search": ToolRow("WebSearch"),
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
    dense=True,
    files=(
        ("user", "~/.claude/settings.json (CLAUDE_CONFIG_DIR)"),
        ("project", ".claude/settings.json, then .claude/settings.local.json"),
        ("plugin", "hooks/hooks.json of a folder with .claude-plugin/plugin.json, given or installed"),
        ("sub-agent", "`hooks` in the front matter of agents/*.md next to the settings"),
        ("skill", "`hooks` in the front matter of skills/*/SKILL.md next to the settings"),
    ),
    find=find,
    variables=("CLAUDE_CONFIG_DIR",),
    claim=claim,
    misplaced=(
        Misplaced("{project}/.claude/hooks.json", ".claude/settings.json", "hooks"),
        Misplaced("{project}/.claude/hooks/hooks.json", ".claude/settings.json", "hooks"),
        Misplaced("{home}/.claude/hooks.json", "~/.claude/settings.json", "hooks"),
    ),
    load=load,
    shape=SHAPE,
    events=EVENTS,
    base=(
        Field("session_id", session),
        Field("transcript_path", no_transcript),
        Field("cwd", project),
        Field("permission_mode", "permission_mode"),
        Field("hook_event_name", native_name),
        Field("agent_id", agent_id, optional=True),
        Field("agent_type", "agent_type", optional=True),
    ),
    match=match,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    tools=TOOLS,
    replies={"command": COMMAND, "http": POSTED, "mcp_tool": CALLED, "prompt": MODEL, "agent": MODEL},
    failing=Failing(strict=("onFailure", "continue", "block")),
    limits=LIMITS,
    together=True,
    at_once=always,
    identity=identity,
    asking=ASKING,
    differences=differences(
        "2.1.325",
        "code.claude.com/docs/en/hooks; npm @anthropic-ai/claude-agent-sdk 0.3.325; run",
        "2026-11-16",
        (
            "C-2",
            "Hooks in the front matter of commands are reported and not run. A server whose tool a hook calls is"
            " started for that call.",
        ),
        ("C-5", "A project's `disableAllHooks` waits for approval, as its hooks do."),
        ("C-12", "`defer` counts as `ask`."),
        ("C-14", "Exit status 2 denies a PermissionRequest; the product ignores it there."),
        (
            "C-20",
            "If several hooks rewrite, the last declared wins; in the product, the last to finish.",
        ),
        ("C-23", "`transcript_path` is empty if the host keeps no transcript."),
        ("C-24", "With `onFailure: block` an answer that is not a clear yes blocks as well."),
        ("C-32", "A skill's hooks run for events whose `skills` name it (`--data`, the library); `once` is not kept."),
    ),
)
