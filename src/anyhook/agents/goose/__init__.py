"""goose, by Block: plugins with Claude-like groups. It reads an answer before a tool and at the end of a turn, and
nowhere else. Measured with 1.52.0."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, LAST, grouped
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "1.52.0"

TOOL = (
    Taken("tool", ("tool_name",)),
    Taken("input", ("tool_input",)),
    Taken("call_id", ("tool_call_id",)),
    Taken("output", ("tool_output",)),
)
FACET = "the same call reaches PreToolUse and PostToolUse"
EDITS = {"old_text": "before", "new_text": "after"}

EVENTS = (
    HostEvent("SessionStart", ("session_start",), fixed={"source": "startup"}),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), (Taken("prompt", ("message", "prompt")),)),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": BLOCK}, limit_s=600),
    HostEvent("PostToolUse", ("post_tool",), TOOL, limit_s=600),
    HostEvent("PostToolUseFailure", ("post_tool_failure",), TOOL, limit_s=600),
    HostEvent("Stop", ("stop",), LAST, {"block": BLOCK}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
    *left_out(FACET, "BeforeShellExecution", "AfterShellExecution", "BeforeReadFile", "AfterFileEdit"),
)

HOST = Host(
    name="goose",
    title="goose",
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
    tools={
        "shell": HostTool("shell"),
        "developer__shell": HostTool("shell"),
        "write": HostTool("write_file"),
        "developer__write": HostTool("write_file"),
        "edit": HostTool("edit_file", EDITS),
        "developer__edit": HostTool("edit_file", EDITS),
        "read": HostTool("read_file"),
    },
    entry=Entry(
        "groups",
        {
            # A project's plugin hides the user's plugin in a folder of the same name; seen with 1.52.0, 2026-11.
            "user": "{home}/.agents/plugins/{own}/hooks/hooks.json",
            "project": "{project}/.agents/plugins/anyhook/hooks/hooks.json",
        },
        handler=grouped(),
        owned=True,
        beside={
            "../plugin.json": '{"name": "anyhook", "version": "1.0.0", "description": "Calls the hooks of anyhook"}\n'
        },
        names_tools=True,
    ),
    project=("working_dir", "cwd"),
    reads={"goose": ("user", "project", "plugin")},
    program="goose",
    marks=("GOOSE_TERMINAL",),
    confirms=(),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    confirm="nothing to confirm: the plugin is active as soon as it is there.",
    shows_stderr=False,  # seen with 1.52.0, 2026-11
    gaps=("sub-agents (`delegate`)", "context", "rewritten input and output", "refusing a prompt"),
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "has no hooks",
            "source of 1.29.1; phnx-labs/agi-cli#927 and zeph#3902 for 1.34.0",
            "2026-05-13",
            before="1.34",
        ),
    )


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, TERMINAL, Drive

    usual = Drive(
        ("run", "--no-session", "--with-builtin", "developer", "-t", "{prompt}"),
        {
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "gpt-4o",
            "OPENAI_HOST": "{url}",
            "OPENAI_BASE_PATH": "v1/chat/completions",
            "OPENAI_API_KEY": KEY,
            "GOOSE_MODE": "auto",
            "GOOSE_DISABLE_KEYRING": "1",
            "GOOSE_TELEMETRY_OFF": "1",
            "GOOSE_TELEMETRY_ENABLED": "false",
        },
        tools={"delegate_task": ("delegate",)},
        cannot_show={"pre_tool allow": "the modes that ask for permission need a terminal"},
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, grouped, guarded

    entry = grouped("PreToolUse", "shell", '"$PLUGIN_ROOT"/scripts/guard')
    payload = {"session_id": "s", "event": "PreToolUse", **called("shell")}
    path, guard = ".agents/plugins/own/hooks/hooks.json", ".agents/plugins/own/scripts/guard"
    return guarded(path, "shell", payload, entry=entry, guard=guard, stdout=decided("block"))
