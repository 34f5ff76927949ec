"""Gemini CLI, by Google: its own event names, `decision` at the top, time limits in milliseconds; any exit status but 0
and 1 is a refusal. Measured with 0.61.0.

As a dialect: `hooks` in settings files and extensions; its own event names, time limits in milliseconds, JSON on
either stream, and any exit status but 0 and 1 refuses."""

from __future__ import annotations

from anyhook.agents._claude_family import (
    BASE,
    DENY,
    EDIT,
    FILE,
    HALT,
    NOTE,
    PROMPT,
    REASON,
    SOURCE,
    TELL,
    TOOL,
    TRIGGER,
    context,
    grouped,
    specific,
)
from anyhook.agents._results import content_text
from anyhook.tables.vocabulary import *

VERSION = "0.61.0"
QUIET: Mapping[str, Json] = {
    "general.disableAutoUpdate": True,
    "general.enableAutoUpdate": False,
    "privacy.usageStatisticsEnabled": False,
    "telemetry.enabled": False,
}
"""Settings that turn off its telemetry."""
NO_ASKING = "without a person, it does not offer its model tools that need permission"

NO_EVENT = "no canonical event: it fires for every request or chunk"

HOST_EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, {"context": context("SessionStart"), "message": TELL}),
    HostEvent(
        "BeforeAgent",
        ("user_prompt_submit",),
        PROMPT,
        {"block": DENY, "context": context("BeforeAgent"), "end_turn": HALT, "message": TELL},
    ),
    HostEvent(
        "BeforeTool",
        ("pre_tool",),
        TOOL,
        {
            "block": DENY,
            "allow": Say({"decision": "allow"}),
            "input": specific("BeforeTool", tool_input="{input}"),
            "end_turn": HALT,
            "message": TELL,
        },
        limit_s=600,
    ),
    HostEvent(
        "AfterTool",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("tool_response",), content_text)),
        {"block": DENY, "end_turn": HALT, "context": context("AfterTool"), "message": TELL},
        error=("tool_response.error",),
        after_failure=("block", "end_turn", "message"),  # context was seen to be dropped, 2026-11
        limit_s=600,
    ),
    HostEvent(
        "AfterAgent",
        ("stop",),
        (*PROMPT, Taken("last_message", ("prompt_response",))),
        {"block": DENY, "message": TELL},
        limit_s=600,
    ),
    HostEvent("Notification", ("notification",), NOTE, {"message": TELL}),
    HostEvent(
        "PreCompress",
        ("pre_compact",),
        TRIGGER,
        {"message": TELL},
        installed=False,
        why_not="it fires before every model request, whether or not anything is compressed",
    ),
    HostEvent("SessionEnd", ("session_end",), REASON, why_not="the agent does not wait for it"),
    *left_out(NO_EVENT, "BeforeModel", "AfterModel", "BeforeToolSelection"),
)

OWN_FOLDERS = ("{home}/.gemini/tmp/**",)
WORKING_FOLDERS = (("{home}/.gemini/settings.json", "json", ("context", "includeDirectories")),)
"""docs/get-started/configuration.md of Gemini CLI, 0.61.0, 2026-11."""
LAYERS = ("{home}/.gemini/settings.json", "{project}/.gemini/settings.json", "/etc/gemini-cli/settings.json")
"""Every file that can turn its hooks off."""

HOST = Host(
    name="gemini",
    title="Gemini CLI",
    events=HOST_EVENTS,
    base=BASE,
    tools={
        "run_shell_command": HostTool("shell"),
        "read_file": HostTool("read_file", FILE),
        "write_file": HostTool("write_file", FILE),
        "replace": HostTool("edit_file", EDIT),
        "glob": HostTool("list_files", {"glob": "pattern", "path": "dir_path"}),
        "grep_search": HostTool("grep", {"path": "dir_path", "glob": "include_pattern"}),
        "search_file_content": HostTool("grep", {"path": "dir_path", "glob": "include_pattern"}),
        "web_fetch": HostTool("web_fetch"),
        "google_web_search": HostTool("web_search"),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.gemini/settings.json", "project": "{project}/.gemini/settings.json"},
        handler={"name": "anyhook", **grouped("{milliseconds}")},
        group={"matcher": "*"},
        names_tools=True,
    ),
    project_variables=("GEMINI_PROJECT_DIR",),
    reads={"gemini": ("user", "project", "plugin")},
    program="gemini",
    marks=("GEMINI_CLI",),
    without_us="refuses",  # exit 127 was seen to stop the call, 2026-11
    settings=LAYERS,
    switches=(
        OffSwitch(("hooksConfig", "enabled"), False),
        OffSwitch(("hooksConfig", "disabled"), "anyhook"),
    ),
    confirm="Project hooks run in trusted folders only, and Gemini warns once about each new one.",
    gaps=("model requests and answers", "compression"),
)


EVENTS = event_rows(
    HOST,
    cells={"tool_response": shown_result},
    untold=("tool_use_id",),
    extra={
        "AfterAgent": fields(stop_hook_active=not_in_a_stop_hook),
        "Notification": fields(details="context"),
    },
)
LIMITS = {"command": Limits(60.0, unit_s=0.001)}
SHAPE = EntryShape(
    dialect="gemini",
    events=EVENTS,
    handlers=(HandlerShape("command", "command", ("command", "name", "description", "timeout", "env"), check_text),),
    limits=LIMITS,
    group_keys=("sequential",),
    own_keys=("enabled", "disabled", "notifications"),  # which 0.61.0 skips where it reads events
)


def find(roots: Roots) -> list[Source]:
    user = f"{roots.home}/.gemini"
    return [
        Source("gemini", "user", f"{user}/settings.json", user),
        Source("gemini", "project", f"{roots.project}/.gemini/settings.json", roots.project),
        *(Source("gemini", "plugin", f"{root}/hooks/hooks.json", root) for root in roots.plugin_dirs),
    ]


def load(source: Source, files: Files) -> Layer:
    if source.scope == "plugin":
        ours = plugin(source, "gemini-extension.json", files)
        if ours is None:
            return Layer(source, ())
        source = ours
    document = files.document(source.path, "json")
    if document is None:
        return Layer(source, ())
    hooks = Entries(source, files, SHAPE).grouped(without(document, alone(HOST), source, files))
    switches = document.get("hooksConfig") if isinstance(document, dict) else None
    listed = switches.get("disabled") if isinstance(switches, dict) else None
    made = [_made(hook, listed if isinstance(listed, list) else []) for hook in hooks]
    off = switched(document, ("hooksConfig", "enabled"), source, files, off=False)
    return Layer(source, tuple(made), all_off=off)


def _made(hook: Hook, disabled: list[Json]) -> Hook:
    name = hook.spec.get("name")
    if name in disabled or hook.spec["command"] in disabled:
        return hook.replace(status=DISABLED, why="`hooksConfig.disabled` names it")
    return hook


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """For tools, a pattern to search for; for everything else, the exact word."""
    matcher = hook.matcher
    if not isinstance(matcher, str) or matcher in MATCH_ALL or row.target is None:
        return None
    target = str(event.get(row.target))
    if row.target == "tool":
        try:
            if compile_pattern(matcher).search(target):
                return None
        except BadPattern:
            pass  # compared as plain text, below
    return None if matcher == target else f"matcher {matcher!r} does not match {row.target} {target!r}"


def identity(hook: Hook) -> tuple[Json, ...]:
    return (hook.spec.get("name"), hook.spec["command"])


def at_once(hook: Hook) -> bool:
    return hook.spec.get("sequential") is not True


def nearest_first(hook: Hook) -> tuple[Json, ...]:
    return (("project", "user", "plugin").index(hook.scope),)


def claim(path: str, document: Json) -> tuple[str, int]:
    return path, 3 if path.endswith("/.gemini/settings.json") else 0


launch, names = in_a_shell(
    {
        "GEMINI_PROJECT_DIR": "{project}",
        "GEMINI_CWD": "{project}",
        "GEMINI_SESSION_ID": "{session}",
        "CLAUDE_PROJECT_DIR": "{project}",
    }
)


def _halted(draft: Draft, event: str) -> Draft:
    """Before a tool, ending the turn refuses the call."""
    return {**draft, "verdict": "block"} if event == "pre_tool" and draft.get("end_turn") else draft


DENIALS: Words = (("deny", "block", ()), ("block", "block", ()))
DOCUMENTED = (
    "suppressOutput",
    *(f"{SPECIFIC}.{key}" for key in (
        "hookEventName", "tailToolCallRequest", "clearContext", "llm_request", "llm_response", "toolConfig",
    )),
)  # fmt: skip


def _answer_on_stderr(run: Run) -> Run:
    """If stdout is empty, an object on stderr counts."""
    if run.stdout.strip() or object_or_prose(run.stderr)[0] != "object":
        return run
    return run.replace(stdout=run.stderr, stderr=b"")


REPLY = Reply(
    read=object_or_prose,
    also=DOCUMENTED,
    exits={0: "pass", 1: "fail"},
    otherwise="block_if_said",
    exit_reasons=("stderr", "stdout"),
    speaks_anyway=True,
    streams=_answer_on_stderr,
    text_does="messages",
    finish=_halted,
    keys=(
        Key(
            ("decision",),
            "string",
            "verdict",
            words=(*DENIALS, ("allow", "allow", ("pre_tool",)), ("approve", "allow", ("pre_tool",)),
                   ("ask", "ask", ("pre_tool",)))
        ),
        Key(("reason",), "string", "reason"),
        Key((SPECIFIC, "tool_input"), "object", "tool_input", on=("pre_tool",)),
        Key(
            (SPECIFIC, "additionalContext"),
            "string",
            "context",
            on=("session_start", "user_prompt_submit", "post_tool", "post_tool_failure")
        ),
        Key(("systemMessage",), "string", "messages"),
        Key(("continue",), "bool", "end_turn_unless"),
        Key(("stopReason",), "string", "messages"),
    ),
)  # fmt: skip

SCAFFOLD = Scaffold(
    shape="groups",
    scripts={"project": "{project}/.gemini/hooks", "user": "{root}/hooks"},
    command={"project": '"$GEMINI_PROJECT_DIR"/.gemini/hooks/{file}', "user": "{script}"},
    tool="run_shell_command",
)

DIALECT = Dialect(
    name="gemini",
    title="Gemini CLI",
    mcp_tools="mcp_{server}_{tool}",
    dense=True,
    files=(
        ("user", "~/.gemini/settings.json"),
        ("project", ".gemini/settings.json"),
        ("plugin", "hooks/hooks.json of a folder with gemini-extension.json"),
    ),
    find=find,
    claim=claim,
    misplaced=(Misplaced("{project}/.gemini/hooks.json", ".gemini/settings.json", "hooks"),),
    load=load,
    shape=SHAPE,
    events=EVENTS,
    base=fields(
        session_id=session, transcript_path=no_transcript, cwd=project, hook_event_name=native_name, timestamp=now
    ),
    match=match,
    launch=launch,
    names=names,
    scaffold=SCAFFOLD,
    tools=tool_rows(HOST),
    replies={"command": REPLY},
    limits=LIMITS,
    chains=("input",),
    together=True,
    at_once=at_once,
    sort=nearest_first,
    identity=identity,
    whole_input=merged,
    withholds=True,
    differences=differences(
        "0.61.0",
        "npm @google/gemini-cli-core 0.61.0, dist/docs/hooks; run",
        "2026-11-15",
        ("GM-3", "The system's settings file, and extensions that anyhook was not told about, are not read."),
        (
            "GM-4",
            "Hooks for single model requests are reported and not run.",
        ),
        ("GM-10", "`tailToolCallRequest` and `clearContext` have no effect."),
        ("GM-12", "The environment is passed on as it is; the product removes secrets."),
    ),
)


CHANGES = (
    until(
        "0.26",
        "runs hooks only if a switch is on",
        "`hooksConfig.enabled` in the settings of 0.26.0; gemini-cli#17247",
        "2026-01-27",
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, Drive

    return Drive(
        ("-p", "{prompt}", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-o", "json"),
        {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        carries=("{home}/.gemini/settings.json", "{home}/.gemini/trustedFolders.json"),
        sets={"{home}/.gemini/settings.json": {"security.auth.selectedType": "gemini-api-key", **QUIET}},
        tools={"delegate_task": ("invoke_agent",)},
        helper="generalist",
        in_folder=lambda drive: drive.with_env(GEMINI_CLI_TRUST_WORKSPACE="true"),
        cannot_show={
            "pre_tool allow": NO_ASKING,
            "notification": "it sends notifications only for questions, and asks none without a person",
        },
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import decided, guarded

    return guarded(".gemini/settings.json", "run_shell_command", event="BeforeTool", stdout=decided("deny"))
