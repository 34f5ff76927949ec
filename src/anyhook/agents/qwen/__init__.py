"""Qwen Code, by Alibaba: a fork of Gemini CLI, whose files it has, with Claude's events and answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "0.24.4"


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
        carries=("{home}/.qwen/settings.json", "{home}/.qwen/trustedFolders.json"),
        sets={"{home}/.qwen/settings.json": {"security.auth.selectedType": "openai", **QUIET, **no_memory}},
        helper="general-purpose",
        cannot_show={
            "pre_tool allow": NO_ASKING,
            "permission_request": NO_ASKING,
            "session_end": "`qwen -p` does not fire it",
        },
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, Sample, denied, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".qwen/settings.json": grouped("PreToolUse", "run_shell_command", ".qwen/hooks/guard"),
            ".qwen/hooks/guard": GUARD,
        },
        tool="run_shell_command",
        calls="PreToolUse",
        payload={"session_id": "s", "tool_name": "run_shell_command", "tool_input": {"command": COMMAND}},
        stdout=denied("PreToolUse"),
    )
