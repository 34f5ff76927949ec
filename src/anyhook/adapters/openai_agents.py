"""The adapter's documented path."""

from anyhook.extra.frameworks.openai_agents import *  # noqa: F403
