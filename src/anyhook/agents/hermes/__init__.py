"""Hermes, by Nous Research: hooks in the user's YAML config."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "0.19.0"

MODEL = """
model:
  default: "{model}"
  provider: custom
  base_url: "{url}/v1"
  api_key: sk-not-a-real-key
  context_length: 200000
approvals:
  mode: "off"
"""


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, TERMINAL, Drive

    usual = Drive(
        ("chat", "-Q", "-q", "{prompt}", "--yolo"),
        {"HERMES_HOME": "{config}", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "{url}/v1"},
        appends={"{config}/config.yaml": MODEL},
        trusting=("--accept-hooks",),
        carries=("{config}/shell-hooks-allowlist.json",),
        cannot_show={
            "pre_tool allow": "`--yolo` asks nothing",
            "session_end": "its process may exit before that",
            "stop": "it fires only if its own tools changed files",
        },
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"decision": "block", "reason": "{REASON}"}}'
    return Sample(
        event="pre_tool_call",
        scope="user",
        files={
            ".hermes/config.yaml": "hooks:\n  pre_tool_call:\n    - command: ~/.hermes/scripts/guard\n"
            "      matcher: terminal\n",
            ".hermes/scripts/guard": f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; fi\n",
        },
        script=f"echo '{deny}'",
        tool="terminal",
        calls="pre_tool_call",
        payload={
            "hook_event_name": "pre_tool_call", "session_id": "s", "cwd": "/p", "tool_name": "terminal",
            "tool_input": {"command": COMMAND}, "extra": {},
        },
        stdout={"decision": "block", "reason": REASON},
    )  # fmt: skip
