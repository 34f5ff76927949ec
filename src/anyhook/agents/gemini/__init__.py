"""Gemini CLI, by Google: its own event names, `decision` at the top, time limits in milliseconds; any exit status but 0
and 1 is a refusal. Measured with 0.61.0."""

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
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, OffSwitch, Say, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

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

EVENTS = (
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

LAYERS = ("{home}/.gemini/settings.json", "{project}/.gemini/settings.json", "/etc/gemini-cli/settings.json")
"""Every file that can turn its hooks off."""

HOST = Host(
    name="gemini",
    title="Gemini CLI",
    events=EVENTS,
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


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "runs hooks only if a switch is on",
            "`hooksConfig.enabled` in the settings of 0.26.0; gemini-cli#17247",
            "2026-01-27",
            before="0.26",
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
