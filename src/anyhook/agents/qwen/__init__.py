"""Qwen Code, by Alibaba: a fork of Gemini CLI with the same files, but Claude's events and answers."""

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
