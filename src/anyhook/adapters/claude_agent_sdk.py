"""The adapter's documented path."""

from anyhook.extra.frameworks.claude_agent_sdk import *  # noqa: F403
