"""Kode as a host, from its documents: any exit status but 0 refuses, and so does a hook that is missing or late. Its
hooks get four variables and no home, so the entry names the user's folders itself."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken

NOTE = Say({"annotation": "{message}"})
TOOL = Taken("tool", ("tool",))
EVENTS = (
    HostEvent(
        "session_start",
        ("session_start",),
        (Taken("provider", ("provider",)), Taken("model", ("model",))),
        {"block": EXIT_2, "message": NOTE},
    ),
    HostEvent(
        "user_prompt_submit",
        ("user_prompt_submit",),
        (Taken("prompt", ("prompt",)), Taken("attachments", ("attachments",))),
        {"block": EXIT_2, "prompt": Say({"replace_prompt": "{prompt}"}), "message": NOTE},
    ),
    HostEvent(
        "tool_call_pre",
        ("pre_tool",),
        (TOOL, Taken("input", ("input",)), Taken("auto_approve", ("auto_approve",))),
        {"block": EXIT_2, "input": Say({"replace_tool_input": "{input}"}), "message": NOTE},
        limit_s=600,
    ),
    HostEvent(
        "tool_call_post",
        ("post_tool", "post_tool_failure"),
        (
            TOOL,
            Taken("input", ("input",)),
            Taken("output", ("output",)),
            Taken("exit_code", ("exit_code",)),
            Taken("duration_ms", ("duration_ms",)),
        ),
        {"block": EXIT_2, "message": NOTE},
        error=("exit_code",),
        limit_s=600,
    ),
    HostEvent(
        "session_end", ("session_end",), (Taken("reason", ("reason",)), Taken("turns", ("turns",))), {"message": NOTE}
    ),
)

HOST = Host(
    name="kode",
    title="Kode",
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
    tools={"shell": HostTool("shell")},
    entry=Entry(
        "list",
        {"user": "{config}/kode/config.yaml"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        {"exec": "{command}", "timeout_ms": "{milliseconds}"},
        carries=("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"),
    ),
    project=("work_dir",),
    project_variables=("KODE_WORK_DIR",),
    reads={"kode": ("user", "project")},
    program="kode",
    without_us="refuses",
    confirms=(),
    confirm="nothing to confirm: it reads its config when it starts.",
    gaps=(
        "events for which the project's own config has a list: that list replaces the user's, our entry included",
        "context for the model",
        "asking the user",
    ),
)
