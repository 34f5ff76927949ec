"""deepagents-code, by LangChain: Claude's payloads in its own file, tool names included, and Claude's answers without
rewrites. Measured with 0.1.88."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, TOOL, TOOLS, event, grouped
from anyhook.tables.host_rows import Entry, Host, HostTool, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "0.1.88"

CONFIG = """
[models]
default = "openai:{model}"

[models.providers.openai]
base_url = "{url}/v1"
api_key_env = "OPENAI_API_KEY"
models = ["{model}"]

[models.providers.openai.params]
use_responses_api = false
"""

EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context", limit_s=30),
    event("PreToolUse", "block context"),  # `continue: false` was seen to refuse only the call, 2026-11
    event("PermissionRequest", "block allow"),
    event(
        "PostToolUse",
        "block context",
        takes=(*TOOL, Taken("output", ("tool_response.content", "tool_response"))),
    ),
    event("PostToolUseFailure", "block"),
    event("Notification"),
    event("SubagentStart"),
    event("SubagentStop", "context", limit_s=60.0),
    event("PreCompact", "block"),
    event("Stop", "block"),
    event("SessionEnd"),
)

HOST = Host(
    name="deepagents",
    title="deepagents-code",
    events=EVENTS,
    base=BASE,
    tools={**TOOLS, "LS": HostTool("list_files")},
    entry=Entry(
        "groups",
        {"user": "{config}/hooks.json", "project": "{project}/.deepagents/hooks.json"},
        {"config": ("DEEPAGENTS_HOME", "{home}/.deepagents")},
        grouped(),
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    reads={"deepagents": ("user", "project")},
    program="dcode",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="It asks once about a project's hooks.",
    gaps=("asking the user", "rewritten input and output"),
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "has no hooks of this form before a tool",
            "wheels of deepagents-code 0.1.44 and 0.1.45; rulesync#2156 for the older form",
            "2026-07",
            before="0.1.45",
        ),
    )


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    usual = Drive(
        ("--no-tracing", "--no-mcp", "-M", "openai:{model}", "-S", "all", "-n", "{prompt}"),
        {
            "DEEPAGENTS_HOME": "{config}",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": "{url}/v1",
            "LANGSMITH_TRACING": "false",
            "DEEPAGENTS_CODE_NO_UPDATE_CHECK": "1",
        },
        writes={"{config}/config.toml": CONFIG},
        tools={
            "shell": ("execute",),
            "read_file": ("read_file",),
            "write_file": ("write_file",),
            "delegate_task": ("task",),
        },
        helper="general-purpose",
        cannot_show={"pre_compact": "a short run compacts nothing"},
    )
    asking = usual.replace(words=tuple("pwd" if word == "all" else word for word in usual.words))
    return usual.replace(scenarios={ASKING: asking})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("Bash")}
    return guarded(".deepagents/hooks.json", "Bash", payload)
