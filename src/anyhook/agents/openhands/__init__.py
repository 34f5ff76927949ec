"""OpenHands: its command line and its SDK, which read the same file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "1.16.0"


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, TERMINAL, Drive

    usual = Drive(
        ("--headless", "--override-with-envs", "--exit-without-confirmation", "-t", "{prompt}"),
        {
            "LLM_API_KEY": KEY,
            "LLM_MODEL": "openai/{model}",
            "LLM_BASE_URL": "{url}/v1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "OPENHANDS_SUPPRESS_BANNER": "1",
        },
        tools={"shell": ("terminal",), "write_file": ("file_editor",)},
        fills={"write_file": {"command": "create"}},
        cannot_show={"pre_tool allow": "it never asks in this mode", "sub-agents": "its model has no such tool"},
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    payload = {
        "event_type": "PreToolUse", "session_id": "s", "working_dir": "/p", **called("terminal"),
        "tool_response": None, "message": None, "metadata": {},
    }  # fmt: skip
    return guarded(".openhands/hooks.json", "terminal", payload, stdout=decided("deny"))
