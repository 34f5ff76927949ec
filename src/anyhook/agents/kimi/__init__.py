"""Kimi Code, and Kimi CLI before it, by Moonshot: `[[hooks]]` tables in the user's config, where any key but four makes
the whole file invalid. Three events act on an answer, and all output becomes context for a prompt. Measured with 2.1.0,
and with kimi-cli 1.51.0, which follows the same rules.

As a dialect: `[[hooks]]` in the user's config, which both read alike; exit status 2 refuses, and so does Claude's
permission; a hook can add context to a prompt and change nothing else."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EXIT_2, TASK, TRIGGER, event
from anyhook.agents._family import HookFile, Layout, family
from anyhook.agents._results import parts_text
from anyhook.tables.vocabulary import *

VERSION = "2.1.0"


MODEL = """

[providers.anyhook_live]
type = "openai"
base_url = "{url}/v1"
api_key = "sk-not-a-real-key"

[models.anyhook_live]
provider = "anyhook_live"
model = "{model}"
max_context_size = 200000
"""

TOOL = taken(tool="tool_name", input="tool_input", call_id="tool_call_id", output="tool_output")
ERROR = taken(tool_error=("error.message", "error"), output=("error.message", "error"))
AGENT = taken(agent_type=("agent_name", "agent_type"))
EDIT = {"old_text": "old_string", "new_text": "new_string"}
READ = {"offset": "line_offset", "limit": "n_lines"}

HOST_EVENTS = (
    event("SessionStart"),
    event(
        "UserPromptSubmit",
        "block context",
        {"block": EXIT_2, "context": Say(text="{context}")},
        takes=(Taken("prompt", ("prompt",), parts_text),),
    ),
    event("PreToolUse", "block", takes=TOOL),
    event("PostToolUse", takes=TOOL, why_not="often lost when the run ends at once"),
    event("PostToolUseFailure", takes=(*TOOL, *ERROR)),
    event("PermissionRequest", takes=TOOL, limit_s=60.0, why_not="its answer is not read"),
    event("Notification"),
    event("SubagentStart", takes=(*AGENT, Taken("task", ("prompt",)))),
    event("SubagentStop", takes=(*AGENT, Taken("result", ("response",))), limit_s=60.0),
    event("PreCompact", takes=(*TRIGGER, Taken("input_tokens", ("token_count",)))),
    event("PostCompact"),
    event("Stop", "block", {"block": EXIT_2}, takes=()),
    event("SessionEnd", why_not="not fired by `kimi -p`"),
)

HOST = Host(
    name="kimi",
    title="Kimi Code",
    events=HOST_EVENTS,
    base=BASE,
    tools={
        "Bash": HostTool("shell"),
        "Shell": HostTool("shell"),
        "Read": HostTool("read_file", READ),
        "ReadFile": HostTool("read_file", READ),
        "ReadMediaFile": HostTool("read_file"),
        "Write": HostTool("write_file"),
        "WriteFile": HostTool("write_file"),
        "Edit": HostTool("edit_file", EDIT),
        "StrReplaceFile": HostTool("edit_file", {"old_text": "edit.old", "new_text": "edit.new"}),
        "Glob": HostTool("list_files", {"glob": "pattern"}),
        "Grep": HostTool("grep"),
        "Agent": HostTool("delegate_task", TASK),
        "Task": HostTool("delegate_task", {"agent_name": "subagent_name", "task": "prompt"}),
        "FetchURL": HostTool("web_fetch"),
        "WebSearch": HostTool("web_search"),
        "SearchWeb": HostTool("web_search"),
    },
    entry=Entry(
        "tables",
        {"user": "{config}/config.toml"},
        {"config": ("KIMI_CODE_HOME", "{home}/.kimi-code")},
        {"event": "{event}", "command": "{command}", "timeout": "{seconds}"},
    ),
    reads={"kimi": ("user",)},
    own_files=("",),
    program="kimi",
    confirms=(),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    confirm="nothing to confirm: it reads only its user config.",
    shows_stderr=False,  # seen with 2.1.0, 2026-11: only context for a prompt has an effect
    gaps=("context after a tool", "rewritten input and output", "asking the user"),
)


ALONE = frozenset(
    {
        "StopFailure", "Interrupt", "SessionHeartbeat", "UserPromptQueued", "TurnStarted", "TaskStarted",
        "PermissionResult",
    }
)  # fmt: skip


def _output(scene: Scene) -> Json:
    """The output, cut if it is long."""
    text = scene.event.get("output")
    return text[:2000] if isinstance(text, str) else text


def _error(scene: Scene) -> Json:
    return scene.event.get("tool_error")


def _excerpt(*fields: str) -> Callable[[Scene], Json]:
    """The beginning of the first text that is known, which is all that it gives to hooks."""
    return lambda scene: next((str(text) for field in fields if (text := scene.event.get(field))), "")[:500]


NOTE = fields(sink=lambda scene: "llm", title=lambda scene: "", body="message", severity=lambda scene: "info")
EVENTS = event_rows(
    HOST,
    cells={"tool_output": _output, "error": _error, "response": _excerpt("result", "last_message")},
    extra={
        "Stop": fields(stop_hook_active=not_in_a_stop_hook),
        "Notification": NOTE,
        "SubagentStart": fields(prompt=_excerpt("task")),
        "PostCompact": fields(estimated_token_count=lambda scene: 0),
    },
    untold=(
        "SubagentStart.prompt",
        "PreToolUse.tool_output",
        "PostToolUseFailure.tool_output",
        "PermissionRequest.tool_output",
    ),
    bound=1,
)
# Kimi CLI has other names for the tools of Kimi Code, and both read the same hooks.
TOOLS = {
    ours: row.replace(also=tuple(name for name, tool in HOST.tools.items() if tool.ours == ours and name != row.native))
    for ours, row in tool_rows(HOST).items()
}
WORDS = {"source": {"compact": "resume", "*": "startup"}, "reason": {"*": "exit"}}
GATES = ("pre_tool", "user_prompt_submit", "stop")
REPLY = Reply(
    read=object_or_prose,
    exits={0: "pass", 2: "block"},
    text_on=("user_prompt_submit",),
    json_reasons=("reason", "stderr"),
    keys=(
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=GATES, words=(("deny", "block", ()),)),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=GATES),
    ),
)


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """A pattern to search for in the tool's name, the prompt, or the event's other target; an invalid one never
    matches."""
    target = "prompt" if row.native == "UserPromptSubmit" else row.target
    if not isinstance(hook.matcher, str) or hook.matcher in MATCH_ALL or target is None:
        return None
    seen = str(event.get(target))
    try:
        found = compile_pattern(hook.matcher).search(seen)
    except BadPattern as error:
        return f"matcher {hook.matcher!r} is not a valid pattern ({error.what}), so it never matches"
    return None if found else f"matcher {hook.matcher!r} is not found in {seen[:80]!r}"


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/config.toml"), HookFile("user", "{home}/.kimi/config.toml", "cli")),
        style="rows",
        event_key="event",
        needs_type=False,
        limits=Limits(30.0, min_s=1.0, max_s=600.0),
        elsewhere=ALONE,
        patterns=False,
    ),
    EVENTS,
    REPLY,
    base=fields(hook_event_name=native_name, session_id=session, cwd=project),
    match=match,
    tools=TOOLS,
    words=WORDS,
    differences=differences(
        "2.1.0",
        "MoonshotAI/kimi-code docs/en/customization/hooks.md; PyPI kimi-cli 1.52.0; run",
        "2026-11-15",
        ("KM-1", "Keys other than the four of an entry are reported; Kimi Code rejects the whole file."),
        (
            "KM-8",
            "PostCompact has an `estimated_token_count` of 0: no other agent says how long the conversation is then.",
        ),
        ("KM-6", "Text is added to a prompt, as Kimi Code does; Kimi CLI drops it."),
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import PROVIDER, TERMINAL, Drive

    never_asks, not_fired = "`kimi -p` never asks", "`kimi -p` does not fire it"
    usual = Drive(
        ("-p", "{prompt}"),
        {"KIMI_CODE_HOME": "{config}", "KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"},
        sets={"{config}/config.toml": {"default_model": PROVIDER, "telemetry": False}},
        appends={"{config}/config.toml": MODEL},
        helper="coder",
        cannot_show={
            "pre_tool allow": never_asks,
            "permission_request": never_asks,
            "notification": not_fired,
            "session_end": not_fired,
        },
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    row = 'event = "PreToolUse"\nmatcher = "Bash"\ncommand = "~/.kimi-code/scripts/guard"\n'
    path, guard = ".kimi-code/config.toml", ".kimi-code/scripts/guard"
    return guarded(path, "Bash", entry=f"[[hooks]]\n{row}", guard=guard, scope="user")
