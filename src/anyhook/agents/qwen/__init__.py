"""Qwen Code, by Alibaba: a fork of Gemini CLI with the same files, but Claude's events and answers, and its own tool
names. Before a tool it honours only the permission (`continue: false` refuses the call, and the turn goes on), and
after a tool only the context. Measured with 0.24.4."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EDIT, FILE, TASK, TOOL, event, grouped
from anyhook.agents._results import content_text
from anyhook.tables.host_rows import Entry, Host, HostTool, OffSwitch, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "0.24.4"

EVENTS = (
    event("SessionStart", "context"),  # 0.24.4 writes messages only to its debug log, except for Stop
    event("UserPromptSubmit", "block context", why_not="it fires again after every tool result; a refusal is silent"),
    event("PreToolUse", "block ask allow"),
    event("PermissionRequest", "block allow", limit_s=60.0),
    event("PostToolUse", "context", takes=(*TOOL, Taken("output", ("tool_response",), content_text))),
    event("PostToolUseFailure", "context"),
    event("Notification"),
    event("SubagentStart"),
    event("SubagentStop", "block"),
    event("PreCompact"),
    event("PostCompact"),
    event("Stop", "block message"),
    event("SessionEnd", why_not="not fired by `qwen -p`"),
)

LAYERS = (
    "{config}/settings.json",
    "{project}/.qwen/settings.json",
    "/etc/qwen-code/settings.json",
    "/etc/qwen-code/system-defaults.json",
)
"""Every file that can turn its hooks off."""

HOST = Host(
    name="qwen",
    title="Qwen Code",
    events=EVENTS,
    base=BASE,
    tools={
        "run_shell_command": HostTool("shell"),
        "read_file": HostTool("read_file", FILE),
        "write_file": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep_search": HostTool("grep"),
        "agent": HostTool("delegate_task", TASK),
        "web_fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/settings.json", "project": "{project}/.qwen/settings.json"},
        {"config": ("QWEN_HOME", "{home}/.qwen")},
        # 0.15.10 reads every limit as milliseconds, 0.24.4 only those from 1000; run 2026-11.
        handler={"name": "anyhook", **grouped("{milliseconds}")},
        group={"matcher": "*"},
    ),
    project_variables=("QWEN_PROJECT_DIR",),
    reads={"qwen": ("user", "project", "plugin")},
    program="qwen",
    marks=("QWEN_CODE",),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    settings=LAYERS,
    switches=(OffSwitch(("disableAllHooks",)),),
    off_words=("--bare", "--safe-mode"),
    off_variables=("QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE"),
    variable_files=(
        "{here}/.qwen/.env",
        "{here}/.env",
        "{config}/.env",
        "{home}/.env",
        "{config}/settings.json",
        "{project}/.qwen/settings.json",
    ),
    confirm="Project hooks run in trusted folders only.",
    gaps=("rewritten input",),
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "runs hooks only if an experimental switch is on",
            "qwen-code#1988 (0.12), #2781 (on by default)",
            "2026-04-01",
            before="0.14",
        ),
    )


def drive() -> Drive:
    from anyhook.agents.gemini import NO_ASKING, QUIET
    from anyhook.tables.drive_rows import KEY, Drive

    no_memory = {"memory.enableManagedAutoMemory": False, "memory.enableManagedAutoDream": False}
    return Drive(
        ("-p", "{prompt}", "--approval-mode", "yolo"),
        {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": "{url}/v1",
            "OPENAI_MODEL": "{model}",
        },
        carries=("{config}/settings.json", "{config}/trustedFolders.json"),
        sets={"{config}/settings.json": {"security.auth.selectedType": "openai", **QUIET, **no_memory}},
        helper="general-purpose",
        cannot_show={
            "pre_tool allow": NO_ASKING,
            "permission_request": NO_ASKING,
            "session_end": "`qwen -p` does not fire it",
        },
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    return guarded(".qwen/settings.json", "run_shell_command")
