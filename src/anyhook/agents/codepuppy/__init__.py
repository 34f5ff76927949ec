"""Code Puppy: Claude's groups in its own file, with the meanings of exit statuses 1 and 2 swapped."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "0.0.946"


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, Drive

    settings = "[puppy]\npuppy_name = it\nowner_name = it\nmodel = {model}\nyolo_mode = true\nauto_update = false\n"
    endpoint: Json = {"url": "{url}/v1", "api_key": KEY}
    model: Json = {"type": "custom_openai", "name": "{model}", "custom_endpoint": endpoint, "context_length": 200000}
    folders = ("{home}/.code_puppy", "{home}/.config/code_puppy", "{home}/.local/share/code_puppy")
    return Drive(
        ("-m", "{model}", "--yolo", "true", "-p", "{prompt}"),
        {"NO_VERSION_UPDATE": "1", "CODE_PUPPY_NO_TUI": "1"},
        writes={
            **{f"{folder}/extra_models.json": {"{model}": model} for folder in folders},
            **{f"{folder}/puppy.cfg": settings for folder in folders},
        },
        helper="code-puppy",
        cannot_show={"pre_tool allow": "`--yolo` asks nothing"},
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample, grouped

    refuse = f"echo '{REASON}' >&2; exit 1"
    return Sample(
        event="PreToolUse",
        scope="user",
        files={
            ".code_puppy/hooks.json": grouped("PreToolUse", "shell", "~/.code_puppy/scripts/guard"),
            ".code_puppy/scripts/guard": f"#!/bin/sh\nif grep -q '{COMMAND}'; then {refuse}; fi\n",
        },
        script=refuse,
        tool="shell",
        calls="PreToolUse",
        payload={
            "session_id": "codepuppy-session", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "shell",
            "tool_input": {"command": COMMAND, "cwd": None, "timeout": 60, "background": False},
        },
        stdout={"decision": "block", "reason": REASON},
    )  # fmt: skip
