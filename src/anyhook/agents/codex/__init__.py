"""Codex CLI, by OpenAI: Claude's shapes with every key checked, and an answer that fails the check does not refuse. So
answers have only keys of its schemas. Edits come as patches. Measured with 0.166.0.

How Codex reads a hook's answer: the keys that its schemas allow for each event, and what makes an answer unusable.

As a dialect: `hooks.json` or the `[hooks]` of `config.toml`; Claude's shapes with every key checked, and an answer
that fails the check, or refuses without a reason, refuses nothing."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, HALT, TASK, event, grouped, specific
from anyhook.agents._patches import rejoin_shell, split_patch, split_shell
from anyhook.tables.vocabulary import *

VERSION = "0.166.0"

REWRITE = specific("PreToolUse", permissionDecision="allow", updatedInput="{input}")
"""Without `allow`, Codex rejects a rewrite and runs the tool unchanged; with it, approvals still apply."""

HOST_EVENTS = (
    event("SessionStart", "context message"),
    event("UserPromptSubmit", "block end_turn context message"),
    event("PreToolUse", "block input context message", {"input": REWRITE}),
    event("PermissionRequest", "block allow message"),
    # `continue: false` is accepted here, but does not end the turn.
    event("PostToolUse", "block context message"),
    event("SubagentStart", "context message"),
    event("SubagentStop", "block message"),
    event("PreCompact", "block message", {"block": HALT}),
    event("PostCompact"),
    event("Stop", "block message"),
    event("SessionEnd", limit_s=3, why_not="a hook has 3 s when a session ends"),
    HostEvent("Interrupt", installed=False, why_not="no canonical event"),
)

OWN_FOLDERS = ("{config}/memories/**",)
WORKING_FOLDERS = (("{config}/config.toml", "toml", ("sandbox_workspace_write", "writable_roots")),)
"""docs/config.md of Codex, 0.166.0, 2026-11."""
LAYERS = (
    "{config}/config.toml",
    "{project}/.codex/config.toml",
    "/etc/codex/managed_config.toml",
    "/etc/codex/requirements.toml",
)
"""Every file that can turn its hooks off."""


HOST = Host(
    name="codex",
    title="Codex CLI",
    events=HOST_EVENTS,
    base=BASE,
    tools={
        # A shell call that only applies a patch arrives as `apply_patch`; one that does more does not.
        "Bash": HostTool("shell", split=split_shell, rejoin=rejoin_shell),
        "write_stdin": HostTool("shell", {"command": "chars"}),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "spawn_agent": HostTool("delegate_task", {"task": "message"}),
        "Agent": HostTool("delegate_task", TASK),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/hooks.json", "project": "{project}/.codex/hooks.json"},
        {"config": ("CODEX_HOME", "{home}/.codex")},
        grouped(),
        names_tools=True,
    ),
    reads={"codex": ("user", "project", "plugin")},
    program="codex",
    marks=("CODEX_SANDBOX", "CODEX_THREAD_ID"),
    confirms=("user", "project"),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    settings=LAYERS,
    managed=("{etc}/codex/requirements.toml", "{etc}/codex/managed_config.toml"),
    switches=(
        OffSwitch(("features", "hooks"), False),
        OffSwitch(("allow_managed_hooks_only",)),
    ),
    confirm="a new or changed hook waits until you have approved it there: start `codex` and open `/hooks`.",
    gaps=("hosted web search", "a rewritten part of a patch", "input written into a running shell (`write_stdin`)"),
    max_context=10_000,  # about 2,500 tokens
)


ANY = ("continue", "stopReason", "suppressOutput", "systemMessage")
JUDGING = (*ANY, "decision", "reason")
CONTEXT = ("hookEventName", "additionalContext")
ALLOWED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "session_start": ((*ANY, SPECIFIC), CONTEXT),
    "user_prompt_submit": ((*JUDGING, SPECIFIC), CONTEXT),
    "pre_tool": (
        (*JUDGING, SPECIFIC),
        (*CONTEXT, "permissionDecision", "permissionDecisionReason", "updatedInput"),
    ),
    "permission_request": ((*ANY, SPECIFIC), ("hookEventName", "decision")),
    "post_tool": ((*JUDGING, SPECIFIC), (*CONTEXT, "updatedMCPToolOutput")),
    "subagent_start": ((*ANY, SPECIFIC), CONTEXT),
    "subagent_stop": (JUDGING, ()),
    "stop": (JUDGING, ()),
    "pre_compact": (ANY, ()),
    "post_compact": (ANY, ()),
    "session_end": ((), ()),
}
"""Canonical event → the keys that its answer may hold, and those inside `hookSpecificOutput`."""
REFUSED = {"pre_tool": ("continue", "stopReason", "suppressOutput")}
"""Keys that the schema has and the product rejects."""
HALTING = ("session_start", "user_prompt_submit", "post_tool", "subagent_start", "subagent_stop", "stop")
CONTEXT_EVENTS = ("session_start", "user_prompt_submit", "pre_tool", "post_tool", "subagent_start")


def spoils(answer: dict[str, Json], event: str) -> str:
    """Why the product would count this answer as a failed run."""
    top, inner = ALLOWED[event]
    given = answer.get(SPECIFIC)
    specific = given if isinstance(given, dict) else {}
    unknown = [key for key in answer if key not in top] + [f"{SPECIFIC}.{key}" for key in specific if key not in inner]
    if unknown:
        return f"`{unknown[0]}` is not a key of this event's answers"
    refused = [key for key in REFUSED.get(event, ()) if key in answer]
    if refused:
        return f"`{refused[0]}` is not taken before a tool runs"
    if given is not None and "hookEventName" not in specific:
        return f"`{SPECIFIC}` does not repeat the event's name as hookEventName"
    return _unreasoned(answer, specific, event)


def _unreasoned(answer: dict[str, Json], specific: dict[str, Json], event: str) -> str:
    word = specific.get("permissionDecision")
    if word == "ask":
        return "`ask` is not taken"
    if word == "allow" and "updatedInput" not in specific:
        return "`allow` counts with an `updatedInput` only"
    if word == "deny" and not str(specific.get("permissionDecisionReason") or "").strip():
        return "a refusal needs its `permissionDecisionReason`"
    decision = specific.get("decision")
    if event == "permission_request" and isinstance(decision, dict):
        extra = [
            key for key in ("updatedInput", "updatedPermissions", "interrupt") if decision.get(key) not in (None, False)
        ]
        return f"`decision.{extra[0]}` is not taken" if extra else ""
    if answer.get("decision") == "block" and not str(answer.get("reason") or "").strip():
        return "a block needs its `reason`"
    return ""


DOCUMENTED = tuple(
    dict.fromkeys(
        [key for top, _ in ALLOWED.values() for key in top if key != SPECIFIC]
        + [f"{SPECIFIC}.{key}" for _, inner in ALLOWED.values() for key in inner if key != "decision"]
        + [f"{SPECIFIC}.decision.{key}" for key in ("updatedInput", "updatedPermissions", "interrupt")]
    )
)
COMMAND = Reply(
    read=object_or_words,
    also=DOCUMENTED,
    exits={0: "pass", 2: "block_if_said"},
    json_reasons=("reason",),
    spoils=spoils,
    text_on=("session_start", "subagent_start", "user_prompt_submit"),
    keys=(
        Key(("decision",), "string", "verdict", words=(("block", "block", ()), ("approve", "none", ()))),
        Key(("reason",), "string", "reason"),
        Key(
            (SPECIFIC, "permissionDecision"),
            "string",
            "verdict",
            on=("pre_tool",),
            words=(("deny", "block", ()), ("allow", "none", ())),
        ),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=("pre_tool",)),
        Key((SPECIFIC, "updatedInput"), "object", "tool_input", on=("pre_tool",)),
        Key(
            (SPECIFIC, "decision", "behavior"),
            "string",
            "verdict",
            on=("permission_request",),
            words=(("deny", "block", ()), ("allow", "allow", ())),
        ),
        Key((SPECIFIC, "decision", "message"), "string", "reason", on=("permission_request",)),
        Key((SPECIFIC, "additionalContext"), "string", "context", on=CONTEXT_EVENTS),
        Key(("systemMessage",), "string", "messages"),
        Key(("continue",), "bool", "end_turn_unless", on=HALTING),
        Key(("stopReason",), "string", "messages"),
    ),
)
_HALTS = tuple(key for key in COMMAND.keys if key.path != ("continue",))
COMMAND = COMMAND.replace(
    on_event={
        "pre_compact": COMMAND.replace(
            keys=(*_HALTS, Key(("continue",), "bool", "block_unless")), json_reasons=("message",)
        )
    }
)
"""Before a compaction, `continue: false` is the way to stop it."""
TOOL_ANSWER = COMMAND.replace(exits={0: "pass"}, text_doubted=True)
"""A tool of an MCP server has no exit status, and is called for its answer."""


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
        "SubagentStop": (MODEL, MODE, TURN, AGENT, STOPPING, Field("agent_transcript_path", fixed(None))),
        "PreCompact": (MODEL, TURN),
        "PostCompact": (MODEL, TURN),
        "Stop": (MODEL, MODE, TURN, STOPPING),
    },
    untold=("PermissionRequest.tool_use_id", "SubagentStart.last_assistant_message"),
)
ELSEWHERE = alone(HOST, ("PreModelRequest",))
LIMITS = {"command": Limits(600.0), "mcp_tool": Limits(600.0)}
AT_THE_END_S, MAX_AT_THE_END_S = 1.0, 3.0
"""The default and the highest time limit of hooks when a session ends."""
SKIPPED: tuple[HandlerKind, ...] = ("prompt", "agent")


def _refuses(kind: str, event: str) -> str | None:
    if kind in SKIPPED:
        return f"a handler of type {kind} is not run; it is ignored"
    # codex-rs/hooks, discovery of 0.159.3
    if (kind, event) == ("mcp_tool", "SessionEnd"):
        return "a handler of type mcp_tool is not run when a session ends; it is ignored"
    return None


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
        HandlerShape("mcp_tool", "tool", ("server", "tool", "input", "timeout", "statusMessage"), check_text),
        *(HandlerShape(kind, "type", (), check_text) for kind in SKIPPED),
    ),
    limits=LIMITS,
    top_keys=frozenset({"description"}),
    check_matcher=check_pattern,
    matcher_may_be_ignored=True,
    own_keys=("state",),  # its user's approvals, as 0.166.0 writes them into config.toml
    refuses=_refuses,
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


launch, named_in_the_line = in_a_shell({"PLUGIN_ROOT": "{plugin}", "CLAUDE_PLUGIN_ROOT": "{plugin}"})


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    if hook.handler != "mcp_tool":
        return named_in_the_line(hook, files, project_dir, home)
    from anyhook.agents._mcp_servers import pinned
    from anyhook.agents.codex.servers import PROJECT_CONFIG, server_of

    server = server_of(hook, {"HOME": home}, project_dir, {})
    return pinned(server, f"{hook.root}/{PROJECT_CONFIG}", project_dir, home, files)


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
    base=fields(session_id=session, transcript_path=fixed(None), cwd=project, hook_event_name=native_name),
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
    replies={"command": COMMAND, "mcp_tool": TOOL_ANSWER},
    limits=LIMITS,
    together=True,
    at_once=always,
    withholds=True,
    differences=differences(
        "0.166.0",
        "npm @openai/codex 0.166.0 (schemas); openai/codex codex-rs/hooks; run",
        "2026-11-16",
        ("CX-5", "Commands run in a plain shell, not in the user's login shell."),
        ("CX-9", "A server is started for each call of an `mcp_tool` handler; the product has it running."),
        ("CX-14", "If several hooks rewrite, the last declared wins; in the product, the last to finish."),
        ("CX-16", "An edit by another agent's tool is named apply_patch, but has that agent's fields and no patch."),
        ("CX-17", "A project's hooks are approved by anyhook, not by Codex's own records."),
    ),
)


CHANGES = (
    until(
        "0.124",
        "runs hooks only if an experimental switch is on",
        "openai/codex#15211 (PreToolUse, 0.117), #19012 (on by default, 0.124)",
        "2026-04-23",
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, DELEGATING, FULL, KEY, PROVIDER, Drive

    settings = (
        'model="gpt-5.5"',  # a model that it knows: it offers others no tool that writes files
        f'model_provider="{PROVIDER}"',
        f'model_providers.{PROVIDER}.name="{PROVIDER}"',
        f'model_providers.{PROVIDER}.base_url="{{url}}/v1"',
        f'model_providers.{PROVIDER}.env_key="ANYHOOK_LIVE_KEY"',
        f'model_providers.{PROVIDER}.wire_api="responses"',
        f"model_providers.{PROVIDER}.request_max_retries=0",
        f"model_providers.{PROVIDER}.stream_max_retries=0",
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
        "feedback.enabled=false",
    )
    unasking = (*settings, 'approval_policy="never"', 'sandbox_mode="danger-full-access"')
    usual = Drive(
        _words(unasking),
        {"ANYHOOK_LIVE_KEY": KEY, "CODEX_HOME": "{config}"},
        carries=("{config}/config.toml",),
        trusting=lambda drive: drive.with_words("--dangerously-bypass-hook-trust"),
        tools={
            "shell": ("exec_command", "shell_command", "shell"),
            "write_file": ("apply_patch",),
            "delegate_task": ("spawn_agent", "collaboration.spawn_agent"),
        },
        helper="anyhook_sub",
    )
    return usual.replace(
        scenarios={
            ASKING: usual.replace(words=_words(settings, "--approve-for-me")),
            FULL: usual.replace(words=_words((*unasking, "model_auto_compact_token_limit=100000"))),
            DELEGATING: usual.replace(words=_words((*unasking, "features.multi_agent_v2=true"))),
        }
    )


def _words(settings: tuple[str, ...], *more: str) -> tuple[str, ...]:
    given = [word for setting in settings for word in ("-c", setting)]
    return ("exec", "--json", *given, *more, "--skip-git-repo-check", "{prompt}")


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    return guarded(".codex/hooks.json", "Bash")
