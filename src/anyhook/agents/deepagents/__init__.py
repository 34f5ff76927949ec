"""deepagents-code, by LangChain: Claude's table with its own file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

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
